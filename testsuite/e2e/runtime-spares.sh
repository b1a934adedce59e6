#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Files that are made ahead of the threads that need them: none is left when a process ends, those of a process that
# was killed are no damage, and a child makes its own.
from=$PWD/testsuite/fixtures/threads
. testsuite/lib.sh
at_once=1
export PKG_CONFIG_PATH=$B/lib/pkgconfig DPROF_QUIET=1
cd "$dir" || exit 1

# shellcheck disable=SC2046
gcc -O2 -D_GNU_SOURCE -pthread $(pkg-config --cflags dprof) -o many "$from/many.c" $(pkg-config --libs dprof) ||
	fail "many.c does not compile"

visits() { # trace expected
	local n
	n=$("$analyze" dump "$1" 2>/dev/null | awk '$1 == "site" && $4 == "name=short" { site[$2] = 1 }
		$1 == "e" && $4 in site && $5 == "exit" { n++ } END { print n + 0 }')
	[ "$n" = "$2" ] || fail "$1: expected $2 visits, found $n"
}
files() { find "$1" -name '*.events' | wc -l; }

./many 40 || fail "status $?"
"$analyze" check dprof-many.* >out || fail "$(cat out)"
visits dprof-many.* 41
[ "$(files dprof-many.*)" -eq 41 ] || fail "expected 41 files of events, found $(files dprof-many.*)"
rm -r dprof-many.*

./many 40 fork || fail "fork: status $?"
"$analyze" check dprof-many.* >out || fail "fork: $(cat out)"
visits dprof-many.* 121
[ "$(files dprof-many.*)" -eq 122 ] || fail "fork: expected 122 files of events, found $(files dprof-many.*)"
rm -r dprof-many.*

# The spare ones are there, enough for a burst of threads, and nothing is said of them.
(./many 40 kill) 2>/dev/null
[ "$(files dprof-many.*)" -eq 61 ] || fail "killed: expected 20 files made ahead, found $(files dprof-many.*) for 41 threads"
"$analyze" check dprof-many.* >out
grep -q '^dprof-many.*: 1 problem;.* 41 threads' out || fail "killed: $(cat out)"
visits dprof-many.* 41
echo "as expected"

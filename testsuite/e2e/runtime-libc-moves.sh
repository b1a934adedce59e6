#!/bin/bash
# SPDX-License-Identifier: MIT
#
# An offset that is recorded is true: in random programs that move bytes in all ways, counted ones and others behind
# the back of whoever counts (asynchronously, by streams, sendfile, splice, other programs, copied descriptors, children
# of vfork), each one recorded is what the program itself has counted. And where all was counted, there is one.
# SEED=N runs the one program N.
from=$PWD/testsuite/fixtures/libc
. testsuite/lib.sh
at_once=1
about() { echo "SEED=$seed: "; }
export PKG_CONFIG_PATH=$B/lib/pkgconfig
cd "$dir" || exit 1

# shellcheck disable=SC2046
gcc -O2 -D_GNU_SOURCE -pthread -Wall -Wextra -Werror -o moves "$from/moves.c" $(pkg-config --libs dprof) || exit 1

for seed in ${SEED:-$(seq 6)}; do
	rm -rf dprof-*
	DPROF_BLOCKED_NS=0 timeout 120 ./moves "$seed" >truth || fail "exit status $?"
	# children of vfork end by _exit, and so do those of which nothing is written down
	"$analyze" dump dprof-* 2>/dev/null | awk '
	function value(key) { return match($0, " " key "=[0-9]+") ? substr($0, RSTART + length(key) + 2, RLENGTH - length(key) - 2) : "" }
	NR == FNR { at[$1, $2] = $3; seen[$1, $2] = $4; next }
	$1 == "site" { kind[$2] = $3 }
	$1 == "e" && $5 == "enter" && kind[$4] == "kind=wait" && / channel=/ {
		key = (/ role=1/ ? "give" : "take") SUBSEP value("bytes")
		if (!(key in at) || !/ offset=/) next
		if (value("offset") != at[key]) { print "expected offset " at[key] ", found " $0; bad = 1 }
		told[key] = 1
	}
	END {
		for (key in seen) {
			if (seen[key] && !told[key]) { split(key, k, SUBSEP); print "no offset of " k[1] " " k[2]; bad = 1 }
			checked += told[key]
		}
		if (checked < 100) { print checked + 0 " checked"; bad = 1 }
		exit bad
	}' truth - >wrong || fail "$(head -5 wrong)"
done
echo "as expected"

#!/bin/bash
# SPDX-License-Identifier: MIT
#
# A TCP connection between two hosts has the same numbers at both ends, and both have counted the same bytes.
from=$PWD/testsuite/fixtures/libc
hosts=$PWD/testsuite/hosts.sh
. testsuite/lib.sh
at_once=1
set=$("$hosts" up 2) || exit $?
trap '"$hosts" down "$set"; rm -rf "$dir"' EXIT
export PKG_CONFIG_PATH=$B/lib/pkgconfig DPROF_BLOCKED_NS=0
cd "$dir" || exit 1

# shellcheck disable=SC2046
gcc -O2 -D_GNU_SOURCE -Wall -Wextra -Werror -o hosts "$from/hosts.c" $(pkg-config --libs dprof) || exit 1
mkdir h0 h1
DPROF_DIR=$dir/h0 timeout 60 "$hosts" exec "$set" 0 ./hosts 7777 &
DPROF_DIR=$dir/h1 timeout 60 "$hosts" exec "$set" 1 ./hosts 7777 10.77.0.1 || fail "who asks: exit status $?"
wait $! || fail "who is asked: exit status $?"

# "CHANNEL BYTES", if each offset is what went before.
moved() { # host name
	"$analyze" dump "$1"/dprof-* | awk -v name="$2" '
	function value(key) { return match($0, " " key "=[0-9]+") ? substr($0, RSTART + length(key) + 2, RLENGTH - length(key) - 2) : "none" }
	$1 == "site" { site[$2] = $4 " " $3 }
	$1 == "e" && $5 == "enter" && site[$4] == "name=" name " kind=wait" && / channel=/ {
		if (value("offset") != at + 0) { print "expected offset " at + 0 ", found " $0; exit }
		channel = value("channel")
		at += value("bytes")
	}
	END { print channel, at + 0 }'
}

moved h1 write >asked
moved h0 read | diff asked - >wrong || fail "questions: $(cat wrong)"
moved h0 write >answered
moved h1 read | diff answered - >wrong || fail "answers: $(cat wrong)"
grep -qx '[0-9]* 21000' asked || fail "expected 21000 bytes of questions, found $(cat asked)"
grep -qx '[0-9]* 10500' answered || fail "expected 10500 bytes of answers, found $(cat answered)"
echo "as expected"

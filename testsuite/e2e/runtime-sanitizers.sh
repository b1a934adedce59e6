#!/bin/bash
# SPDX-License-Identifier: MIT
#
# A program that a sanitizer watches, and its children: they print and return what they do without dprof, and what
# they record is in the trace; whether the sanitizer is a library or in the program.
from=$PWD/testsuite/fixtures/runtime
. testsuite/lib.sh
cd "$dir" || exit 1
tried=0

lives() { # of the threads that the program makes: how many are made, begin, end and are joined
	awk '$1 == "site" { sub(/^name=/, "", $4); name[$2] = $4 } $1 == "e" && $5 != "exit" { n[name[$4]]++ }
		END { print n["pthread_create"] + 0, n["thread%20begin"] + 0, n["thread%20end"] + 0, n["pthread_join"] + 0 }'
}

try() { # NAME OPTIONS...
	local name=$1
	shift
	gcc -O1 -Wno-unknown-pragmas "$@" -pthread "$from/sanitized.c" -o "bare-$name" && "./bare-$name" >expected 2>&1 || {
		echo "$name does not work here: $(head -3 expected)"
		return
	}
	"$B/bin/dprof-cc" -O1 "$@" -pthread "$from/sanitized.c" -o "$name" || fail "$name does not compile"
	rm -rf dprof-*
	timeout 60 "./$name" >said 2>&1 || fail "$name: exit status $?"
	cmp -s expected said || fail "$name: $(diff expected said)"
	"$analyze" check dprof-* >verdict || fail "$name: $(cat verdict)"
	"$analyze" dump dprof-* >text
	[ "$(lives <text)" = "2 2 2 2" ] || fail "$name: expected 2 threads to be made, begin, end and be joined, found $(lives <text)"
	visits=$(awk '$1 == "site" && $4 == "name=work" { site = $2 } $1 == "e" && $4 == site && $5 == "exit"' text | wc -l)
	[ "$visits" = 7 ] || fail "$name: expected 7 visits, found $visits"
	tried=$((tried + 1))
}

try address -fsanitize=address
try thread -fsanitize=thread
try leak -fsanitize=leak
try undefined -fsanitize=undefined
try static-address -fsanitize=address -static-libasan
try static-thread -fsanitize=thread -static-libtsan
[ "$tried" -ge 3 ] || fail "only $tried sanitizers work here"

[ "$failed" = 0 ] && echo "as expected"
exit "$failed"

#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The byte with a number arrives after it was sent: in random programs of several processes and threads, of each way
# every byte, or message where those are kept apart, is counted once at either end, and whoever took a byte left the call after the one
# who gave it had entered his. SEED=N runs the one program N.
from=$PWD/testsuite/fixtures/libc
. testsuite/lib.sh
at_once=1
about() { echo "SEED=$seed: "; }
export PKG_CONFIG_PATH=$B/lib/pkgconfig
cd "$dir" || exit 1

# shellcheck disable=SC2046
gcc -O2 -pthread -Wall -Wextra -Werror -o channels "$from/channels.c" $(pkg-config --libs dprof) || exit 1

# Lines "CHANNEL OFFSET BYTES STAMP take|give": when it was left, or entered; messages, where there is a tag.
moves() {
	"$analyze" dump "$1" | awk '
	function value(key) { return match($0, " " key "=[0-9]+") ? substr($0, RSTART + length(key) + 2, RLENGTH - length(key) - 2) : "none" }
	function moved() { return value("tag") == "none" ? value("bytes") : value("tag") }
	$1 == "site" { name[$2] = $4 }
	$1 == "e" && name[$4] == "name=write" && $5 == "enter" { print value("channel"), value("offset"), moved(), $3, "give" }
	$1 == "e" && name[$4] == "name=read" && $5 == "exit" { print value("channel"), value("offset"), moved(), $3, "take" }'
}

for seed in ${SEED:-$(seq 8)}; do
	rm -rf dprof-*
	DPROF_BLOCKED_NS=0 timeout 60 ./channels "$seed" || fail "exit status $?"
	"$analyze" check dprof-* >verdict || fail "$(cat verdict)"
	moves dprof-* >moves
	sort -k1,1 -k5,5 -k2,2n moves | awk '
	{
		way = $1 " " $5
		if ($2 != next_byte[way] + 0) { print "expected byte " next_byte[way] + 0 ", found " $0; bad = 1; exit }
		next_byte[way] = $2 + $3
		if ($5 == "give") {
			n[$1]++; end[$1, n[$1]] = $2 + $3; entered[$1, n[$1]] = $4
		} else {
			take[++takes] = $1 " " $2 + $3 " " $4
		}
	}
	END {
		for (i = 1; i <= takes && !bad; i++) {
			split(take[i], t)
			if (!n[t[1]]) { print "nobody gave what was taken of " t[1]; bad = 1 }
			while (end[t[1], at[t[1]] + 1] != "" && end[t[1], at[t[1]] + 0] + 0 < t[2])
				at[t[1]]++
			if (entered[t[1], at[t[1]]] > t[3]) { print "byte " t[2] " of " t[1] " was taken before it was given"; bad = 1 }
			checked++
		}
		for (way in next_byte) {
			ways++
			if (next_byte[way] != 20008 && next_byte[way] != 101) { print way ": " next_byte[way] " bytes"; bad = 1 }
			messages += next_byte[way] == 101
		}
		if (messages != 4) { print messages " ways of messages"; bad = 1 }
		if (ways != 12 || checked < 300) { print ways " ways, " checked " checked"; bad = 1 }
		exit bad
	}' >wrong || fail "$(head -3 wrong)"
done
echo "as expected"

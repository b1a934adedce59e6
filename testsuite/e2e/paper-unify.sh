#!/bin/bash
# SPDX-License-Identifier: MIT
#
# unify: a trace as a method of others sees it. Where packets take no time at all, every method must give
# the true times back; and packets that cannot be true are refused with a status of their own.
. testsuite/lib.sh
set -o pipefail
at_once=1
# Clock 1 runs at 1.25 and is 1000 ticks ahead: an event at time t is stamped 1.25 * t + 1000 there.
trace() { # a tick too many on the packets back
	awk -v lie="$1" 'BEGIN {
		print "dprof-text 1\nclock 0 host=h0 ghz=1\nclock 1 host=h1 ghz=1"
		print "thread 0 clock=0 rank=0\nthread 1 clock=1 rank=1\nsite 0 kind=region name=body file=a.c line=1"
		for (t = 4000; t <= 400000; t += 4000) {
			printf "link 0 %d 1 %d\n", t, 1.25 * t + 1000
			printf "link 1 %d 0 %d\n", 1.25 * t + 1000, t + 4 - lie
		}
		for (t = 10000; t <= 300000; t += 1000) for (thread = 0; thread < 2; thread++)
			printf "e %d %d 0 %s\n", thread, thread ? 1.25 * t + 1000 : t, t % 2000 ? "exit" : "enter"
	}'
}

trace 0 >"$dir/text"
for method in dprof-affine dprof-drift freezer-formula lp-per-stamp convex-hull regression fastest-middles; do
	"$B/bench/paper/unify" $method <"$dir/text" >"$dir/unified" || fail "$method: status $?"
	awk '$1 == "e" { by[$2, ++n[$2]] = $3 }
		END {
			for (i = 1; i <= n[0]; i++) { off = by[1, i] - by[0, i]; if (off < -6 || off > 6) exit 1 }
			exit n[0] != 291 || n[1] != 291
		}' "$dir/unified" || fail "$method: other times than the true ones"
	grep -q '^clock 1\|^link\|clock=1' "$dir/unified" && fail "$method: something of the other clock is left"
	rm -rf "$dir/trace"
	"$analyze" pack "$dir/unified" "$dir/trace" &&
		[ "$("$analyze" dump "$dir/trace" | grep -c '^e ')" -eq 582 ] || fail "$method: no trace"
done
trace 100 >"$dir/text"
"$B/bench/paper/unify" lp-per-stamp <"$dir/text" >"$dir/unified" 2>"$dir/err"
[ $? -eq 3 ] || fail "packets that arrive before they leave: $(cat "$dir/err")"
echo "as expected"

#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The region that a process ends in lasts until then, and so does the run: in the table, the scores and what-ifs.
. testsuite/fixtures/analysis/setup.sh
export DPROF_DIR=$tmp DPROF_QUIET=1
"$B/bin/dprof-cc" -O2 -pthread "$fixtures/ends-inside.c" -o inside || fail "ends-inside.c does not compile"

# Runs it, anew where a thread was blocked and nobody knows in what, as when a virtual machine stands still: then
# nothing is proved of z.
run() { # way
	for _ in 1 2 3 4 5; do
		rm -rf dprof-*
		[ "$1" = exit ] && ./inside || ./inside "$1" || fail "$1: status $?"
		"$analyze" coz --region z --reduce 100 dprof-* | tr -s ' \n' ' ' | grep -q 'blocked where nothing was recorded' || break
	done
}

for way in exit _exit; do
	run $way
	"$analyze" query --json dprof-* 'count(z) == 1' >out || fail "$way: query says $?"
	read -r lo hi < <(interval holds_s <out)
	is_true "${lo:-0} >= 0.3 && ${hi:-0} >= 0.3" || fail "$way: z takes 0.3 s or more, found $lo .. $hi"
	"$analyze" csp --json dprof-* >out || fail "$way: csp says $?"
	grep -q '"verdict": "proved"' out || fail "$way: nothing is proved: $(cat out)"
	"$analyze" coz --region z --reduce 100 --json dprof-* >out || fail "$way: coz says $?"
	read -r lo hi < <(interval speedup_percent <out)
	is_true "${lo:-0} > 10 && ${hi:-0} < 100" || fail "$way: z is most of the run, found $lo .. $hi"
done

# The stamp of the end may be of another core than the thread's: where cores differ, that is in the region's time.
read -r lo hi < <("$analyze" query --json dprof-* 'count(z) == 1' | interval holds_s)
sed -i -e '1s/2$/1/' -e '/^sum /d' -e '/^cores /d' dprof-*/*.process
echo 'cores halfwidth=1000000 pairs=1' >>"$(echo dprof-*/*.process)"
"$analyze" query --json dprof-* 'count(z) == 1' >out || fail "cores that differ: query says $?"
read -r least most < <(interval holds_s <out)
is_true "$least > 0.25 && $least < $lo - 1e-4 && $most > $hi + 1e-4" ||
	fail "cores that differ by up to 1000000 ticks: z took $lo .. $hi, found $least .. $most"
exit $failed

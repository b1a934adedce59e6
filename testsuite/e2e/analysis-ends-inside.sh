#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The region that a process ends in lasts until then, and so does the run: in the table, the scores and what-ifs.
. testsuite/fixtures/analysis/setup.sh
export LC_ALL=C DPROF_DIR=$tmp DPROF_QUIET=1
unset DPROF_OFF DPROF_EVENTS DPROF_BUFFER
"$B/bin/dprof-cc" -O2 -pthread "$fixtures/ends-inside.c" -o inside || fail "ends-inside.c does not compile"

bounds() { # key: of the first interval of that name
	tr -d ' \n' <out | grep -o "\"$1\":{[^}]*}" | head -1 | sed 's/.*"lo":\([^,]*\),"hi":\([^}]*\)}/\1 \2/'
}
for way in exit _exit; do
	rm -rf dprof-*
	[ $way = exit ] && ./inside || ./inside $way || fail "$way: status $?"
	"$analyze" query --json dprof-* 'count(z) == 1' >out || fail "$way: query says $?"
	read -r lo hi < <(bounds holds_s)
	awk "BEGIN { exit !(${lo:-0} >= 0.3 && ${hi:-0} >= 0.3) }" || fail "$way: z takes 0.3 s or more, found $lo .. $hi"
	"$analyze" csp --json dprof-* >out || fail "$way: csp says $?"
	grep -q '"verdict": "proved"' out || fail "$way: nothing is proved: $(cat out)"
	"$analyze" coz --region z --reduce 100 --json dprof-* >out || fail "$way: coz says $?"
	read -r lo hi < <(bounds speedup_percent)
	awk "BEGIN { exit !(${lo:-0} > 10 && ${hi:-0} < 100) }" || fail "$way: z is most of the run, found $lo .. $hi"
done

# The stamp of the end may be of another core than the thread's: where cores differ, that is in the region's time.
read -r lo hi < <("$analyze" query --json dprof-* 'count(z) == 1' | tr -d ' \n' | grep -o '"holds_s":{[^}]*}' | tr -c '0-9.e\n-' ' ' |
	awk '{ print $(NF - 1), $NF }')
sed -i -e '1s/2$/1/' -e '/^sum /d' -e '/^cores /d' dprof-*/*.process
echo 'cores halfwidth=1000000 pairs=1' >>"$(echo dprof-*/*.process)"
"$analyze" query --json dprof-* 'count(z) == 1' >out || fail "cores that differ: query says $?"
read -r least most < <(bounds holds_s)
awk "BEGIN { exit !($least > 0.25 && $least < $lo - 1e-4 && $most > $hi + 1e-4) }" ||
	fail "cores that differ by up to 1000000 ticks: z took $lo .. $hi, found $least .. $most"
exit $failed

#!/bin/bash
# SPDX-License-Identifier: MIT
#
# bench/balance: an overloaded run and a balanced one, and what coz predicts from the first for the second.
# The work is paced, so the prediction is known: half a share of 1 us for each node and neighbour, ten times.
. testsuite/fixtures/examples/setup.sh
[ -z "${SAN:-}" ] || { echo "beside a sanitizer MPI's own threads are recorded, too"; exit 77; }
ROUNDS=1 MODES=paced B=$B "$root/bench/balance" cc >table || fail "status $?"
grep -qE '^  cc +paced +[0-9.]+ \([0-9. ]+\) ' table || fail "expected a row of cc, found: $(cat table)"
[ "$(awk '!/^#/ { print $1, $2, $3, NF }' "$B/balance.tsv")" = "cc paced 1 7" ] ||
	fail "expected one run, found: $(cat "$B/balance.tsv")"
read -r nodes _ neighbours _ iterations _ < <("$B/examples/plain/cc" -t 1 "$B/data/debian.txt.gz" | tr -d ,)
awk -v units="$((nodes + neighbours))" -v n="$iterations" '
!/^#/ {
	known = units / 4 * 0.5 * 1e-6 * n
	print "predicted " $6 " .. " $7 " s, by design " known
	exit !($6 <= $7 && $7 - $6 < 0.001 && $6 > 0.8 * known && $7 < 1.2 * known)
}' "$B/balance.tsv" || fail "the prediction is more than a fifth off: $(cat "$B/balance.tsv")"
exit 0

#!/bin/bash
# SPDX-License-Identifier: MIT
#
# bench/balance: an overloaded run and a balanced one, and what coz predicts from the first for the second.
# The work is paced, so the prediction is known: half a share of 1 us for each node and neighbour, ten times. (Where the
# machine kept ranks from running, others than the overloaded one were waited for, too, and less is to be gained: then once more.)
. testsuite/fixtures/examples/setup.sh
[ -z "${SAN:-}" ] || { echo "beside a sanitizer MPI's own threads are recorded, too"; exit 77; }
read -r nodes _ neighbours _ iterations _ < <("$B/examples/plain/cc" -t 1 "$B/data/debian.txt.gz" | tr -d ,)
known=$(awk "BEGIN { print ($nodes + $neighbours) / 4 * 0.5e-6 * $iterations }") # s
for _ in 1 2 3; do
	ROUNDS=1 MODES=paced B=$B "$root/bench/balance" cc >table || fail "status $?"
	grep -qE '^  cc +paced +[0-9.]+ \([0-9. ]+\) ' table || fail "expected a row of cc, found: $(cat table)"
	[ "$(awk '!/^#/ { print $1, $2, $3, NF }' "$B/balance.tsv")" = "cc paced 1 7" ] ||
		fail "expected one run, found: $(cat "$B/balance.tsv")"
	read -r lo hi < <(awk '!/^#/ { print $6, $7 }' "$B/balance.tsv")
	echo "predicted $lo .. $hi s, by design $known"
	is_true "$lo <= $hi && $hi - $lo < 0.001" || fail "one host, one clock, and: $(cat "$B/balance.tsv")"
	is_true "$lo > 0.8 * $known && $hi < 1.2 * $known" && exit 0
done
fail "the prediction is more than a fifth off: $(cat "$B/balance.tsv")"

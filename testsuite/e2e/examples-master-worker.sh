#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Master and workers: the count does not depend on who counts; every message of whoever is first finds its two
# sides; dealt in large pieces a slow worker is the proved straggler, dealt in small ones none straggles as much.
. testsuite/fixtures/examples/setup.sh
[ -z "${SAN:-}" ] || { echo "beside a sanitizer MPI's own threads are recorded, too"; exit 77; }

# The same points, the obvious way.
expected=$(awk 'BEGIN { n = 40
	for (j = 0; j < n; j++) for (i = 0; i < n; i++) {
		re = (i + 0.5) * 4 / n - 2; im = (j + 0.5) * 4 / n - 2; x = y = 0
		for (s = 0; s < 1000 && x * x + y * y <= 4; s++) { t = x * x - y * y + re; y = 2 * x * y + im; x = t }
		count += s == 1000 }
	print count }')
for shape in "1 4" "2 1" "3 7" "4 40" "4 1"; do
	read -r ranks chunk <<<"$shape"
	mpi "$ranks" "$B/examples/master_worker" --rows 40 --chunk "$chunk" --iterations 2 >out 2>&1 || fail "$shape: $(cat out)"
	grep -q "^40 rows, $expected points" out || fail "$shape: expected $expected points, found $(cat out)"
done
mpi 2 "$B/examples/master_worker" --chunk 0 >out 2>&1
[ $? = 2 ] && grep -q 'chunk: expected a number from 1' out || fail "--chunk 0: $(cat out)"

record() { # chunk: 48 rows of 2 ms on three workers, rank 1 takes 6 for each of its own
	rm -rf dprof-*
	mpi 4 "$B/examples/master_worker" --rows 48 --chunk "$1" --pace 2000000 --imbalance 1:200 >line 2>&1 || fail "$(cat line)"
	trace=$(echo dprof-master_worker.*)
	"$analyze" check "$trace" >out || fail "check: $(cat out)"
	"$analyze" coz "$trace" >/dev/null 2>diagnostics || fail "coz: $(cat diagnostics)"
	[ ! -s diagnostics ] || fail "coz: $(cat diagnostics)"
	"$analyze" csp --json "$trace" | "$root/testsuite/scores.sh" | grep -v span | sort -g -k2 >scores
}

for _ in 1 2 3 4 5; do # where the kernel cannot tell whether a thread waited for a core, the report points at nobody
	record 16 # a piece for each: 32, 32 and 96 ms
	"$analyze" report "$trace" | grep -q 'Look at rank 1' && pointed=1 && break
done
awk 'NR == 4 { proved = $1 == 1 && $2 > most } { most = $3 > most ? $3 : most }
     END { exit !(NR == 4 && proved) }' scores || fail "large pieces: expected rank 1 as the straggler, found (rank, lo, hi): $(cat scores)"
[ -n "${pointed:-}" ] || fail "large pieces: the report does not point at rank 1"

large=$(awk '$1 == 1 { print $2 }' scores)
for _ in 1 2 3 4 5; do # a worker that waits for a core at its end straggles, too
	record 1 # 7 rows of 6 ms, and 20 or 21 of 2 ms
	awk -v large="$large" '$3 >= large { worse = 1 } END { exit !(NR == 4 && !worse) }' scores && dealt=1 && break
done
[ -n "${dealt:-}" ] ||
	fail "small pieces: expected none to straggle by $large %, found (rank, lo, hi): $(cat scores)"
"$analyze" dump "$trace" >text
# 48 pieces and 3 that say it is over, each asked for, each with its two sides
[ "$(grep -c '^e . [0-9]* [0-9]* enter group=1 .*bytes=' text)" -ge 204 ] ||
	fail "51 questions and answers: $(grep -c 'enter group=1' text)"
echo "as expected"

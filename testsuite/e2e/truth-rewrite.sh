#!/bin/bash
# SPDX-License-Identifier: MIT
#
# truth-rewrite.sh - records K-Means on two hosts (two names for this machine, so its counter is the
# truth), gives the hosts 1,200 other pairs of clocks, of every kind, and demands the truth in every bound and score.
. testsuite/lib.sh
cd "$dir" || exit 1
[ "$(printf 'clock %s ghz=2\n' 0 1 | "$B/test/rewrite-clocks" --clock 1 --rate 1.35 | tr '\n' ,)" = 'clock 0 ghz=2,clock 1 ghz=2.7,' ] ||
	fail "a clock that is 1.35 times as fast has not as many ticks more in a nanosecond"

kmeans=("$B/examples/kmeans" --clusters 8 --iterations 20 --threads 1 --imbalance 1:100 "$B/data/digits.csv.gz")
mpirun --allow-run-as-root --oversubscribe --quiet --mca mpi_yield_when_idle 1 \
	-n 2 env DPROF_HOST=a "${kmeans[@]}" : -n 2 env DPROF_HOST=b "${kmeans[@]}" || exit 1
"$B/test/truth" dprof-kmeans.* 1200 "${SEED:-1}" || fail "truth"
exit $failed

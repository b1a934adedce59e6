#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Random programs of messages and collective operations: what is recorded is what the ranks themselves wrote down, a
# communicator is one group on all of them, each message has its two sides. SEEDS="4 5 6" for others.
: "${SEEDS:=${ANEW:-1} $((${ANEW:-1} + 1))}"
. testsuite/lib.sh
about() { echo "$mpi, SEEDS=$seed, $ranks ranks: "; }
export PKG_CONFIG_PATH=$B/lib/pkgconfig
from=$PWD/testsuite/fixtures/runtime
cd "$dir" || exit 1

for mpi in openmpi mpich; do
	command -v mpicc.$mpi >/dev/null && [ -e "$B/lib/libdprof-$mpi.so" ] || continue
	tested=1
	run=$(mpirun_of "$mpi")
	# shellcheck disable=SC2046
	mpicc.$mpi -O1 -w $(pkg-config --cflags dprof-$mpi) "$from/random.c" -o program $(pkg-config --libs dprof-$mpi) || exit 1
	for seed in $SEEDS; do
		ranks=$((2 + seed % 3))
		rm -rf dprof-* said.*
		# shellcheck disable=SC2086
		timeout 60 $run -n $ranks ./program "$seed" said 80 >out 2>&1 || { fail "exit status $?: $(head -3 out)"; continue; }
		"$analyze" check dprof-* >out 2>&1 || fail "check: $(cat out)"
		"$analyze" coz dprof-* 2>diagnostics >/dev/null
		[ ! -s diagnostics ] || fail "coz: $(cat diagnostics)"
		"$analyze" dump dprof-* >text
		# shellcheck disable=SC2046
		awk -f "$from/random.awk" $(seq -f said.%g 0 $((ranks - 1))) text >wrong
		[ ! -s wrong ] || fail "$(wc -l <wrong) differences: $(head -5 wrong)"
	done
done
[ -n "${tested:-}" ] || { echo "no MPI here"; exit 77; }
[ "$failed" = 0 ] && echo "as expected"
exit "$failed"

#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What MPI refuses on one rank, which then goes on, moves no message and synchronises with no other: what is recorded
# behind it is not taken for what the others did at that time, neither for a proof about clocks nor for a cause. Nothing is damaged
# by that.
. testsuite/lib.sh
about() { echo "$mpi: "; }
export PKG_CONFIG_PATH=$B/lib/pkgconfig
from=$PWD/testsuite/fixtures/runtime/errors.c
cd "$dir" || exit 1

cat >on-hosts <<'END'
#!/bin/sh
DPROF_HOST=h$OMPI_COMM_WORLD_RANK exec ./program
END
chmod +x on-hosts
# MPICH, as Debian builds it, does not refuse such arguments but dies of them.
mpi=openmpi
if ! command -v mpicc.$mpi >/dev/null || [ ! -e "$B/lib/libdprof-$mpi.so" ]; then
	echo "no OpenMPI here"
	exit 77
fi
run=$(mpirun_of openmpi)
for plugin in "$(pkg-config --cflags dprof-$mpi)" ""; do
	rm -rf dprof-*
	# shellcheck disable=SC2046,SC2086
	mpicc.$mpi -O2 -w $plugin "$from" -o program $(pkg-config --libs dprof-$mpi) || { fail "cannot compile"; continue; }
	# shellcheck disable=SC2086
	timeout 60 $run -n 2 ./on-hosts >out 2>&1 || fail "exit status $?: $(head -5 out)"
	"$analyze" check dprof-* >said 2>&1 && grep -q "^note: rank 0, thread 0: MPI returned an error at 'MPI_Allreduce'" said ||
		fail "check: $(cat said)"
	"$analyze" clocks dprof-* >said 2>&1 || fail "clocks: $(cat said)"
	grep -q "^ *h1 *proven" said || fail "expected proven bounds of h1, found $(cat said)"
	"$analyze" coz --json dprof-* >diagnostics 2>said
	grep -q "lacks participants: 12 times" diagnostics ||
		fail "expected 6 operations of each rank without the other, found $(cat diagnostics)"
	grep -q "its send is not in the trace or not certain: 6 times" diagnostics ||
		fail "expected 6 receives of which the send is unknown, found $(cat diagnostics)"
done
exit $failed

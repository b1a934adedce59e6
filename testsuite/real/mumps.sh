#!/bin/bash
# SPDX-License-Identifier: MIT
#
# MUMPS (Fortran, some C): a direct solver; its example dsimpletest solves Poisson's equation on a grid, on three ranks.
#
# What is found: half of the time rank 0 is alone: it reads the matrix, and PORD (C) orders it. MUMPS prints the
# time of its phases.
. "$here/common.sh"
source_of mumps
build() {
	cp Make.inc/Makefile.debian.PAR Makefile.inc
	DPROF_WRAPPER_FLAGS=-fplugin-arg-dprof-auto=functions make d CC=dprof-mpicc FC=dprof-mpifort FL=dprof-mpifort \
		ORDERINGSF=-Dpord LMETIS= IMETIS= LSCOTCH= ISCOTCH= SCALAP=-lscalapack-openmpi \
		OPTF="-O -fopenmp -fallow-argument-mismatch"
}
built program build

# N, entries, "row column value" each, right-hand side.
awk -v k=200 'BEGIN {
	print k * k; print 5 * k * k - 4 * k
	for (y = 0; y < k; y++) for (x = 0; x < k; x++) {
		i = y * k + x + 1
		print i, i, "4.0"
		if (x < k - 1) { print i, i + 1, "-1.0"; print i + 1, i, "-1.0" }
		if (y < k - 1) { print i, i + k, "-1.0"; print i + k, i, "-1.0" }
	}
	for (i = 0; i < k * k; i++) print "1.0" }' >grid
profile 3 program/examples/dsimpletest <grid
report
opinions

say "  Phases on the slowest rank, beside the times that MUMPS prints (four digits; each ends with a barrier)"
slowest() { for r in 0 1 2; do region_s "$1" $r; done | sort -g | tail -1; }
timer() { sed -n "s/ *Elapsed time in $1 driver= *//p" out; }
for phase in "analysis dmumps_ana_driver" "factorization dmumps_fac_driver" "solve dmumps_solve_driver"; do
	# shellcheck disable=SC2086
	set -- $phase
	near "$2" "$(slowest "$2")" "$(timer "$1")" MUMPS 0.0005
done

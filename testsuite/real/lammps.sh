#!/bin/bash
# SPDX-License-Identifier: MIT
#
# LAMMPS (C++): molecular dynamics, the Lennard-Jones melt of its folder bench on two ranks, in a box that is filled
# to two thirds only, so that one rank has some three times the atoms of the other.
#
# What is found: that rank straggles in PairLJCut::compute while the other is stuck in MPI_Send; what its load is in
# excess is what balancing would save. LAMMPS prints timers, and has a command that balances: both are asked.
. "$here/common.sh"
source_of lammps
build() {
	cd src
	DPROF_WRAPPER_FLAGS=-fplugin-arg-dprof-auto=functions make -j2 mpi CC=dprof-mpicxx LINK=dprof-mpicxx
}
built program build

cat >in.melt <<'EOT'
units		lj
atom_style	atomic
lattice		fcc 0.8442
region		box block 0 20 0 20 0 20
processors	2 1 1
create_box	1 box
region		part block 0 13.33 0 20 0 20
create_atoms	1 region part
mass		1 1.0
velocity	all create 1.0 87287 loop geom
pair_style	lj/cut 2.5
pair_coeff	1 1 1.0 1.0 2.5
neighbor	0.3 bin
neigh_modify	delay 0 every 20 check no
fix		1 all nve
if "$(v_balanced) == 1" then "balance 1.0 shift x 20 1.002"
run		300
EOT
run() { # balanced?: LAMMPS's own time of its loop
	rm -rf "$dir/again"
	mkdir "$dir/again"
	DPROF_DIR=$dir/again mpi 2 program/src/lmp_mpi -var balanced "$1" -in in.melt -log none |
		awk '/^Loop time of/ { print $4 }'
}

profile 2 program/src/lmp_mpi -var balanced 0 -in in.melt -log none
report
opinions

say "  Regions, beside the timers that LAMMPS prints (of Pair the least and the most of its ranks, without the visit"
echo "  before the loop)"
read -r loop least most <<<"$(awk '/^Loop time of/ { loop = $4 } /^Pair / { print loop, $3, $7 }' out)"
near "LAMMPS_NS::Verlet::run, rank 0" "$(region_s LAMMPS_NS::Verlet::run 0)" "$loop" LAMMPS \
	"$(awk -v l="$loop" 'BEGIN { print 0.001 * l }')"
in_loop() { # rank: seconds in Pair during the loop
	dprof-analyze query --json "$trace" "rank $1 in \"LAMMPS_NS::PairLJCut::compute\" and rank $1 in \"LAMMPS_NS::Verlet::run\"" |
		python3 -c 'import json, sys; t = json.load(sys.stdin)["holds_s"]; print(t["lo"], t["hi"])'
}
near "LAMMPS_NS::PairLJCut::compute, rank 0" "$(in_loop 0)" "$most" "LAMMPS at most" 0.005
near "LAMMPS_NS::PairLJCut::compute, rank 1" "$(in_loop 1)" "$least" "LAMMPS at least" 0.005

excess=$(awk '/^Nlocal:/ { print 100 * (1 - $2 / $4) }' out)
say "  What if rank 0 had an average load, $excess % less? LAMMPS's command 'balance' says."
pairs "run 0" "run 1"
what_if "$(predicted --region LAMMPS_NS::Verlet::run --rank 0 --reduce "$excess")"

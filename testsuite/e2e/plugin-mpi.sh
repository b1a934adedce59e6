#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The operations of a real MPI are recorded without annotation, on every rank, as what they
# are.
from=testsuite/fixtures/plugin
. testsuite/lib.sh

command -v mpicc >/dev/null && command -v mpirun >/dev/null || { echo "no mpicc and mpirun"; exit 77; }
gcc -O2 -I. -c $from/recorder.c -o "$dir/recorder.o" || exit 1
sed -n 's|.*/\* expect: *\(.*\)\*/.*|\1|p' $from/mpi.c | tr -s ' \t\n' '\n' | sed '/^$/d' >"$dir/want"

printf '#define DPROF_CALL(function, kind, name, by) @ function kind\n#include "plugin/calls.def"\n' |
	gcc -E -P -I. -x c - | tr '@' '\n' | sed -nE 's/^ "MPI_" "(.*)" ([A-Z]+) *$/MPI_\1 \2/p' >"$dir/kinds"
[ -s "$dir/want" ] && [ -s "$dir/kinds" ] || fail "mpi.c or calls.def says nothing"
for level in -O0 -O2; do
	mpicc $level -Wall -Wextra -Werror -fplugin="$B/plugin/dprof.so" $from/mpi.c "$dir/recorder.o" \
		-o "$dir/a.out" || exit 1
	rm -f "$dir"/events.*
	# shellcheck disable=SC2016
	timeout 60 mpirun --allow-run-as-root --oversubscribe --mca mpi_yield_when_idle 1 -n 2 \
		sh -c 'RECORDER_EVENTS=$1/events.$OMPI_COMM_WORLD_RANK exec "$1/a.out"' - "$dir" \
		>"$dir/out" 2>&1 ||
		fail "$level: $(tail -5 "$dir/out")"
	for rank in 0 1; do
		awk '{ print $2 }' "$dir/events.$rank" | diff "$dir/want" - ||
			fail "$level rank $rank"
		awk 'NR == FNR { kind[$1] = tolower($2); next }
		     $4 != kind[substr($2, 2)] { print; bad = 1 }
		     END { exit bad }' "$dir/kinds" "$dir/events.$rank" ||
			fail "$level rank $rank: wrong kind"
	done
done

# The same in Fortran, with and without the module for Fortran 2008.
command -v mpifort >/dev/null || exit $failed
sed -n 's|.*/\* expect: *\(.*\)\*/.*|\1|p' $from/mpi.f90 | tr -s ' \t\n' '\n' | sed '/^$/d' >"$dir/want"
[ -s "$dir/want" ] || fail "mpi.f90 says nothing"
for options in "-O0" "-O2 -DF08"; do
	# shellcheck disable=SC2086
	mpifort -cpp -ffree-line-length-none $options -fplugin="$B/plugin/dprof.so" $from/mpi.f90 \
		"$dir/recorder.o" -o "$dir/a.out" || { echo "FAILED: mpifort $options"; failed=1; continue; }
	rm -f "$dir"/events
	RECORDER_EVENTS=$dir/events timeout 60 mpirun --allow-run-as-root -n 1 "$dir/a.out" >"$dir/out" 2>&1 ||
		fail "Fortran $options: $(tail -5 "$dir/out")"
	awk '{ print $2 }' "$dir/events" | diff "$dir/want" - || fail "Fortran $options"
done
exit $failed

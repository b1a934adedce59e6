#!/bin/bash
# SPDX-License-Identifier: MIT
#
# MPI called from Fortran, by each of its three interfaces: recorded once, with what C would say.
# MPI=mpich: with that instead of OpenMPI.
: "${MPI:=openmpi}"
command -v mpifort.$MPI >/dev/null && [ -e "$B/lib/libdprof-$MPI.so" ] ||
	{ echo "no mpifort of $MPI here"; exit 77; }
. testsuite/lib.sh
run=$(mpirun_of "$MPI")
export PKG_CONFIG_PATH=$B/lib/pkgconfig
from=$PWD/testsuite/fixtures/runtime/messages.F90
cd "$dir" || exit 1
for interface in MPIFH MPI F08; do
	# with the plugin and without
	for flags in "$(pkg-config --cflags dprof-$MPI)" ""; do
		# shellcheck disable=SC2046,SC2086
		mpifort.$MPI -w -D$interface $flags "$from" -o program $(pkg-config --libs dprof-$MPI) ||
			{ fail "$interface: cannot compile"; continue; }
		rm -rf dprof-*
		# shellcheck disable=SC2086
		timeout 60 $run -n 2 ./program >out 2>&1 || fail "$interface: exit status $?: $(head -5 out)"
		"$analyze" check dprof-* >out 2>&1 || fail "$interface: check: $(cat out)"
		"$analyze" coz dprof-* >/dev/null 2>out
		[ ! -s out ] || fail "$interface: coz: $(cat out)"
		"$analyze" dump dprof-* >text
		awk -v seen="${flags:+1}" '
			$1 == "site" { kind[$2] = substr($3, 6); named[$2] = $4; own[$2] = / file= / }
			$1 != "e" { next }
			$5 == "enter" && / group=.* peer=.* tag=.* bytes=/ { n[kind[$4]]++ }
			$5 == "enter" && / seq=/ { n["all"]++ }
			$5 == "enter" && named[$4] ~ /MPI_(Wait|Send|Recv|Barrier)$/ && own[$4] != !seen { bad++ }
			# 7 messages, two of whose receives are of any; 1 barrier, 2 sums, 1 copy, MPI_Finalize
			END { print n["send"], n["recv"], n["all"], bad + 0 }' text >counts
		[ "$(cat counts)" = "14 10 10 0" ] || fail "$interface: sends, receives, of all, wrong: $(cat counts)"
	done
done

# Another tool that stands before MPI's functions in C: calls from Fortran, which go past it, are still recorded. (MPICH's
# Fortran library does not go past it: such a tool gets the calls, and hands them on or does not.)
if [ $MPI = openmpi ]; then
	echo 'int MPI_Send(void) { __builtin_abort(); } int MPI_Isend(void) { __builtin_abort(); }' >tool.c
	gcc -w -shared -fPIC tool.c -o tool.so
	rm -rf dprof-*
	# shellcheck disable=SC2086
	LD_PRELOAD=$PWD/tool.so timeout 60 $run -n 2 ./program >out 2>&1 || fail "with another tool: exit status $?: $(head -5 out)"
	"$analyze" dump dprof-* | grep -c ' group=.* peer=.* tag=' >with
	grep -c ' group=.* peer=.* tag=' text >without
	cmp with without || fail "with another tool: $(cat with) messages, $(cat without) without"
fi
[ "$failed" = 0 ] && echo "as expected"
exit "$failed"

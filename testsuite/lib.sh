# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034
#
# lib.sh - what all scripts of e2e share; each sources it from the root of the tree, before it makes a file.
#
#   $dir       a folder of its own, which goes when the script ends (a trap of the script's own must see to that)
#   $analyze   dprof-analyze
#   fail WHAT  says what is wrong. The script goes on, and ends with status $failed; with at_once=1 it ends there
#   about      prints what the script is at, for messages: a script that repeats itself replaces it
#   interval KEY <JSON   "LO HI" of the first interval of that name
#   is_true EXPRESSION   whether that, of numbers as awk has them, is true; no expression, as where one is missing, is not
#   fits_80 [FILE [BUT]] whether there are lines and all fit 80 columns; those that do not and do not match BUT are shown
#   mpirun_of MPI        the command that runs programs of openmpi or mpich here, before "-n"
#   job FILE COMMAND...  runs that, with its stderr in the file, anew where mpirun itself failed
#
# Nothing of the user's DPROF_ variables or locale is left. An MPI job of three ranks starts at 60 % of the processor
# time where nothing looks for devices and networks that no test needs: every rank reads all of the PCI bus, in a
# virtual machine at an exit each. And it loads hwloc's plugins, with OpenCL's, X11's and ICU's libraries.
set -u
export HWLOC_COMPONENTS=-pci,-linuxio,-gl,-opencl HWLOC_PLUGINS_PATH=/nowhere OMPI_MCA_pml=ob1 PMIX_MCA_gds=hash
unset "${!DPROF_@}"
export LC_ALL=C
: "${B:?the build folder}"
unset MAKEFLAGS MFLAGS MAKEOVERRIDES # how many jobs we are made with is not for the makes of a test
analyze=$B/bin/dprof-analyze
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
# Jobs share a folder otherwise, and one that ends may remove it just as another makes its own there.
mkdir "$dir/.ompi" && export OMPI_MCA_orte_tmpdir_base=$dir/.ompi
failed=0 at_once=

about() { :; }

# A misspelt command, or a function that is called before it is defined, ends the script, also from within "if" or "$(...)".
command_not_found_handle() {
	echo "FAILED: $1 is no command and no function" >&2
	kill $$
}

# Debian's, whatever stands before it: a version manager's shim takes 70 ms to find it.
python3() { /usr/bin/python3 "$@"; }

# The same language, in a program that starts in 1 ms; jq takes 17, in which it parses its own library.
jq() { gojq "$@"; }

# What fails in "$(...)" or behind a pipe the script is told of.
trap 'failed=1; [ -z "$at_once" ] || exit 1' USR1

fail() {
	if [ $BASHPID != $$ ]; then
		echo "FAILED: $(about)$*" >&2
		kill -USR1 $$
	else
		echo "FAILED: $(about)$*"
	fi
	failed=1
	[ -z "$at_once" ] || exit 1
}

interval() {
	awk -v key="\"$1\":{" 'BEGIN { RS = "\001" }
		{ gsub(/[ \n]/, ""); if (at = index($0, key)) { $0 = substr($0, at + length(key)); sub(/}.*/, ""); sub(/.*"lo":/, ""); sub(/,"hi":/, " "); print } }'
}

is_true() {
	awk "BEGIN { exit !($1) }"
}

# Of a run that waits for cores less may hold than of others: whether this is true once of six times.
one_of_six() { # command...
	local _
	for _ in 1 2 3 4 5 6; do
		"$@" && return
	done
	return 1
}

fits_80() {
	LC_ALL=C tr -d '\200-\277' <"${1:-/dev/stdin}" | # a character has one other byte
		awk -v but="${2:-^$}" 'length > 80 && $0 !~ but { print; bad = 1 } END { exit bad || NR == 0 }'
}

mpirun_of() {
	case $1 in
	openmpi) echo mpirun.openmpi --allow-run-as-root --oversubscribe --mca mpi_yield_when_idle 1 ;;
	*) echo "mpirun.$1" ;;
	esac
}

# MPICH's mpirun is ended by SIGPIPE now and then, where what it has started is over first; OpenMPI's may see a process end before
# it knows that this had begun, and calls that improper. Not each time.
job() { # file command...
	local _ status
	for _ in {1..8}; do
		"${@:2}" >"$dir/job.out" 2>"$1"
		status=$?
		[ $status = 141 ] || grep -q 'process rank [0-9]* with PID 0 on' "$1" || break
	done
	cat "$dir/job.out"
	return $status
}

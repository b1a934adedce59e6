#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What recorded locks, conditions and teams are good for: coz says what a program would gain, and the program that was
# really changed gains that, within 1 % of the run. The programs sleep; of several runs the
# shortest counts, which was disturbed least.
set -u
: "${B:?the build folder}"
from=$PWD/testsuite/fixtures/threads
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export PKG_CONFIG_PATH=$B/lib/pkgconfig OMP_WAIT_POLICY=passive
unset DPROF_DIR DPROF_OFF DPROF_LOCKS
failed=0
cd "$dir" || exit 1

# Who may lets the sleepers wake before all others; they do not compute.
first=$(chrt -f 1 true 2>/dev/null && echo chrt -f 1)

# The shortest of some runs -> milliseconds, and its trace as DIRECTORY
shortest() { # directory program arguments...
	local to=$1 best=1e9 took
	shift
	for _ in 1 2 3 4 5; do
		rm -rf dprof-*
		took=$($first "$@") || exit 1
		awk -v x="$took" -v best="$best" 'BEGIN { exit !(x < best) }' || continue
		best=$took
		rm -rf "$to"
		mv dprof-* "$to"
	done
	echo "$best"
}

try() { # program region that_it_takes half_of_that
	# shellcheck disable=SC2046
	gcc -O2 -D_GNU_SOURCE -fopenmp -Wall -Wextra -Werror $(pkg-config --cflags dprof) "$from/$1.c" \
		-o "$1" $(pkg-config --libs dprof) || exit 1
	before=$(shortest before "./$1" "$3")
	after=$(shortest after "./$1" "$4")
	"$B/bin/dprof-analyze" check before >verdict || { cat verdict; failed=1; }
	"$B/bin/dprof-analyze" coz --region "$2" --reduce 50 --json before >coz.json 2>faults ||
		{ cat faults; failed=1; }
	found=$(sed -n 's/^ "speedup_percent": {"lo": \(.*\), "hi": \(.*\)},$/\1 \2/p' coz.json)
	awk -v before="$before" -v after="$after" -v what="$1: half of $2" '{
		real = 100 * (before - after) / before
		printf "%s: %s .. %s %% less said, %.2f %% less when really changed\n", what, $1, $2, real
		exit !(NF == 2 && $1 - 1 <= real && real <= $2 + 1 && $2 - $1 < 1)
	}' <<<"$found" || { echo "FAILED: $1: expected agreement within 1 % of the run"; failed=1; }
}

try contend held 6 3
try imbalance heavy 12 6
try handover held 8 4
exit "$failed"

#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What recorded locks, conditions and teams are good for: coz says what a program would gain, and the program that was
# really changed gains that, within 1 % of the run. The programs sleep, so it is known how long they take; a
# run counts that was not disturbed for more than a few ms.
set -u
: "${B:?the build folder}"
from=$PWD/testsuite/fixtures/threads
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export PKG_CONFIG_PATH=$B/lib/pkgconfig OMP_WAIT_POLICY=passive
unset DPROF_DIR DPROF_OFF DPROF_EVENTS
failed=0
cd "$dir" || exit 1

# Who may lets the sleepers wake before all others; they do not compute.
first=$(chrt -f 1 true 2>/dev/null && echo chrt -f 1)

# A run that takes what it should (what it sleeps, and some 0.1 ms to wake each time), if that can be had -> milliseconds, and its trace as DIRECTORY
punctual() { # directory milliseconds program arguments...
	local to=$1 ideal=$2 took
	shift 2
	for _ in $(seq 12); do
		rm -rf dprof-* "$to"
		took=$($first "$@") || exit 1
		mv dprof-* "$to"
		echo "$took"
		awk -v x="$took" -v ideal="$ideal" 'BEGIN { exit !(x < ideal + 2) }' && return
	done
	echo "not tried: 12 times $* took longer than $ideal ms, last $took" >>late
}

# Half of a region, by coz and by other arguments; each with the milliseconds that it should take.
try() { # program region arguments milliseconds other_arguments milliseconds
	# shellcheck disable=SC2046
	gcc -O2 -D_GNU_SOURCE -fopenmp -Wall -Wextra -Werror $(pkg-config --cflags dprof) "$from/$1.c" \
		-o "$1" $(pkg-config --libs dprof) || exit 1
	# shellcheck disable=SC2086
	before=$(punctual before "$4" "./$1" $3 | tail -1)
	# shellcheck disable=SC2086
	after=$(punctual after "$6" "./$1" $5 | tail -1)
	"$B/bin/dprof-analyze" check before >verdict || { cat verdict; failed=1; }
	"$B/bin/dprof-analyze" coz --region "$2" --reduce 50 --json before >coz.json 2>faults ||
		{ cat faults; failed=1; }
	! grep -q "12 times ./$1" late 2>/dev/null || return
	found=$(sed -n 's/^ "speedup_percent": {"lo": \(.*\), "hi": \(.*\)},$/\1 \2/p' coz.json)
	awk -v before="$before" -v after="$after" -v what="$1: half of $2" '{
		real = 100 * (before - after) / before
		printf "%s: %s .. %s %% less said, %.2f %% less when really changed\n", what, $1, $2, real
		exit !(NF == 2 && $1 - 1 <= real && real <= $2 + 1 && $2 - $1 < 4)
	}' <<<"$found" || { echo "FAILED: $1: expected agreement within 1 % of the run"; failed=1; }
}

try contend held 6 227 3 128
try imbalance heavy '12 3' 219 '6 3' 123
try imbalance alone '6 10' 179 '6 5' 139
try handover held 8 147 4 99
[ "$failed" = 0 ] && [ -f late ] && cat late && exit 77
exit "$failed"

#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Who straggles in a program without marks is found by what its threads run: teams of OpenMP in C, C++ and
# Fortran, pthreads and std::thread; without automatic regions and with them. The work sleeps, so how fast the
# machine is plays no part.
export PKG_CONFIG_PATH=$B/lib/pkgconfig
from=$PWD/testsuite/fixtures/analysis
. testsuite/lib.sh
about() { echo "$what: "; }
cd "$dir" || exit 1

line() { grep -n -- "$2" "$1" | head -1 | cut -d: -f1; }

# Thread $1 straggles, proved, where region $2 says; it sleeps for 0.3 s, and what the others do is next to nothing: that takes as
# long as each ran, waited for a core or was blocked by the kernel's count.
straggles() { # thread, region; wrapper, source, options...
	local thread=$1 region=$2
	shift 2
	for auto in "" -fplugin-arg-dprof-auto=functions -fplugin-arg-dprof-auto=functions,loops; do
		what="${*##*/} $auto"
		rm -rf dprof-*
		DPROF_WRAPPER_FLAGS=$auto "$B/bin/$1" "${@:2}" -O2 -o program && timeout 60 ./program || fail "exit status $?"
		"$analyze" check dprof-* >verdict || fail "$(cat verdict)"
		"$analyze" csp --json dprof-* >json || fail "csp: exit status $?"
		jq -e --argjson t "$thread" '
			(.machine | map({ key: "\(.thread)", value: (.cpu_s.hi + .delay_s.hi) }) | from_entries) as $busy |
			[.threads[] | { thread, verdict, alone: .alone_s, own: ($busy["\(.thread)"] + .blocked_unrecorded_s.hi + 0.01) }] |
			(0.3 - (map(.own) | add)) as $least | (map(select(.thread != $t).own) | max) as $others |
			length > 1 and all(if .thread != $t then .alone.hi <= .own
				else .alone.lo >= $least and (.verdict == "proved" or $least <= $others) end)' json >held ||
			fail "thread $thread does not straggle: $(jq -c '.machine, .threads' json)"
		awk -v t="$thread" -v region="$region" '/"thread":/ { at = $2 + 0 }
			at == t && /"site":/ && !n++ { sub(/.*"site": "/, ""); sub(/",$/, ""); where = $0 }
			END { if (where != region) print "works in " where ", not in " region }' json >wrong
		[ ! -s wrong ] || fail "$(cat wrong)"
	done
}

f=$from/straggles-team.c
cp "$f" straggles-team.cc
straggles 1 "parallel straggles-team.c:$(line "$f" omp.parallel)" dprof-cc "$f" -fopenmp
straggles 1 "parallel straggles-team.cc:$(line "$f" omp.parallel)" dprof-c++ straggles-team.cc -fopenmp
f=$from/straggles-team.f90
straggles 1 "parallel straggles-team.f90:$(line "$f" omp.parallel)" dprof-fort "$f" -fopenmp
straggles 2 late dprof-cc "$from/straggles-pthread.c" -pthread
straggles 2 late dprof-c++ "$from/straggles-thread.cc" -pthread
exit $failed

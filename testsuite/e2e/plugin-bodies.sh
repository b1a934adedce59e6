#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What threads run is a region by itself: bodies of OpenMP's teams and tasks, start functions of pthreads, of C11's
# threads and of C++'s, functions that MPI calls, signal handlers; with marks and without, in C, C++ and Fortran, whatever is taken
# automatically besides.
plugin=$B/plugin/dprof.so
from=testsuite/fixtures/plugin
. testsuite/lib.sh

gcc -O2 -I. -c $from/recorder.c -o "$dir/recorder.o" || exit 1
auto=-fplugin-arg-dprof-auto

# The names that are entered, sorted, once each; a record without partner, or one that is not automatic, is an
# extra word.
bodies() { # compiler, source, options...
	: >"$dir/events"
	"$1" -fplugin="$plugin" "${@:3}" "$2" "$dir/recorder.o" -o "$dir/a.out" -pthread &&
		RECORDER_EVENTS=$dir/events timeout 20 "$dir/a.out" >/dev/null || echo "DOES-NOT-WORK"
	awk '$4 != "region" { next }
	     $5 != "automatic" { print "MARKED" $2 }
	     $2 ~ /^\+/ { print substr($2, 2); stack[$1, ++depth[$1]] = substr($2, 2) }
	     $2 ~ /^-/ && (!depth[$1] || stack[$1, depth[$1]--] != substr($2, 2)) { print "ODD" $2 }
	     END { for (t in depth) if (depth[t]) print "OPEN" stack[t, depth[t]] }' "$dir/events" 2>/dev/null |
		sort -u | paste -sd ' '
}

expect() { # names; compiler, source, options...
	local got want
	# shellcheck disable=SC2086
	want=$(printf '%s\n' $1 | sort | paste -sd ' ')
	got=$(bodies "${@:2}")
	[ "$got" = "$want" ] || fail "${*:2}: records $got, not $want"
}

line() { grep -n -- "$2" "$1" | head -1 | cut -d: -f1; }

# ---- Threads ------------------------------------------------------------------------------------------
c=$from/threads.c
for level in -O0 -O2 -O3 "-O2 -flto"; do
	# shellcheck disable=SC2086
	expect "worker converted leaves handed this_one that_one c11" gcc $c $level -Wall -Wextra -Werror
done
expect "worker converted leaves handed this_one that_one c11 main outer one_of" gcc $c -O2 $auto=functions -fplugin-arg-dprof-min=6
printf 'SCOREP_REGION_NAMES_BEGIN EXCLUDE * SCOREP_REGION_NAMES_END' >"$dir/all"
printf 'SCOREP_REGION_NAMES_BEGIN EXCLUDE * INCLUDE main EXCLUDE work* SCOREP_REGION_NAMES_END' >"$dir/some"
expect "worker converted leaves handed this_one that_one c11" gcc $c -fplugin-arg-dprof-filter="$dir/all" $auto=functions
expect "converted leaves handed this_one that_one c11 main" gcc $c -fplugin-arg-dprof-filter="$dir/some" $auto=functions

cc=$from/threads.cc
lambda=thread_threads.cc:$(line $cc 'a lambda') generic=thread_threads.cc:$(line $cc 'generic') stops=thread_threads.cc:$(line $cc 'stop_token')
names="worker functor::operator() object::run throws answer handed $lambda $generic thread_threads.cc:$(line $cc 'x - 6')"
expect "$names" g++ $cc -O0 -std=c++17 -Wall -Wextra -Werror
for level in -O0 -O2 "-O2 -flto" "-O1 -fsanitize=address,undefined"; do
	# shellcheck disable=SC2086
	expect "$names $stops" g++ $cc $level -std=c++20 -Wall -Wextra -Werror
done

# ---- Handlers of signals --------------------------------------------------------------------------------
c=$from/handlers.c
functions="by_signal both assigned assigned_info designated designated_info positional of_static of_file literal handed jumps jumps_within \
	this_one that_one"
names=$(printf 'handler_%s ' $functions)
for options in -O0 -O2 "-O2 -flto" "-O1 -fsanitize=address,undefined"; do
	# shellcheck disable=SC2086
	expect "$names" gcc $c $options -Wall -Wextra -Werror -Wno-deprecated-declarations
done
printf 'SCOREP_REGION_NAMES_BEGIN EXCLUDE install main SCOREP_REGION_NAMES_END' >"$dir/no-jumped" # over these is jumped
expect "$names raises with_info with_number none in_table" \
	gcc $c -Wno-deprecated-declarations -fplugin-arg-dprof-filter="$dir/no-jumped" $auto=functions -fplugin-arg-dprof-min=0
printf 'SCOREP_REGION_NAMES_BEGIN EXCLUDE b* SCOREP_REGION_NAMES_END' >"$dir/no-b"
expect "${names/handler_by_signal handler_both/}" gcc $c -Wno-deprecated-declarations -fplugin-arg-dprof-filter="$dir/no-b"

cc=$from/handlers.cc
names=$(printf 'handler_%s ' by_signal assigned handed generic of_file some::info object::method \
	"handlers.cc:$(line $cc 'a lambda')" "handlers.cc:$(line $cc 'another one')")
for options in "-O0 -std=c++11" "-O2 -std=c++17" "-O2 -std=c++20 -flto"; do
	# shellcheck disable=SC2086
	expect "$names" g++ $cc $options -Wall -Wextra -Werror
done

# ---- Functions that MPI calls ---------------------------------------------------------------------------
names=$(sed -n 's/BODY(name)//; s/BODY(none)//; s/^BODY(/BODY(/p' $from/callbacks.c | grep -o '(\w*)' | tr -d '()' | xargs)
for compiler in gcc g++; do
	for level in -O0 -O2; do
		# shellcheck disable=SC2086
		expect "$names" $compiler $from/callbacks.c $level
	done
done

# ---- Teams --------------------------------------------------------------------------------------------
c=$from/teams.c
cp $c "$dir/teams.cc"
names=$(for w in 'num_threads(2)' 'parallel for' 'parallel sections' 'nested'; do echo "parallel_teams.c:$(line $c "omp.*$w")"; done)
for options in -O0 -O2 "-O2 -flto" "-O2 -fexceptions -fnon-call-exceptions" "-O2 -fsanitize=undefined" "-O2 $auto=loops"; do
	# shellcheck disable=SC2086
	expect "$names" gcc $c -fopenmp $options -Wall -Wextra -Werror
	# shellcheck disable=SC2086
	expect "$(sed "s/teams.c/teams.cc/" <<<"$names")" g++ "$dir/teams.cc" -fopenmp $options
done
expect "$names main" gcc $c -fopenmp -O2 $auto=functions
printf 'SCOREP_REGION_NAMES_BEGIN EXCLUDE parallel\\ teams* SCOREP_REGION_NAMES_END' >"$dir/no-teams"
expect "$names" gcc $c -fopenmp -O2 -fplugin-arg-dprof-filter="$dir/all"
expect "" gcc $c -fopenmp -O2 -fplugin-arg-dprof-filter="$dir/no-teams"
exit $failed

#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The analysis, and the test of its pool of threads, built with a sanitizer that notices data races, find none.
. testsuite/lib.sh
at_once=1
[ -z "${SAN:-}" ] || { echo "SKIP: another sanitizer is asked for"; exit 77; }

# Functions of which the loader chooses one (target_clones) would be called before the sanitizer is there.
flags=(-std=gnu17 -O0 -frounding-math -fsanitize=thread -pthread -I. "-Dtarget_clones(...)=unused")
# What is over MPI is a library of its own.
sources=$(ls analysis/*/*.c freezer/*.c testsuite/unit/analysis_pool.c | grep -v analysis/driver/peers_mpi.c)
mkdir "$dir/o"
for source in $sources; do
	gcc "${flags[@]}" -c "$source" -o "$dir/o/${source//\//_}.o" || fail "$source: cannot be compiled"
done
ar rcs "$dir/all.a" $(ls "$dir"/o/*.o | grep -v 'main.c.o\|_unit_') || fail "no archive"
libs=$(sed -n 's/^LIBS_analysis *:= //p' analysis/room.mk)
link() { # program object
	# shellcheck disable=SC2086,SC2046
	gcc -fsanitize=thread -pthread "$dir/o/$2.c.o" "$dir/all.a" -o "$dir/$1" $libs $(pkg-config --libs check) ||
		fail "$1 cannot be linked"
}
mkdir "$dir/bin" && ln -s "$B/share" "$dir/share" || exit 1 # the rules of diagnose are found from where the program is
link bin/analyze analysis_commands_main
link pool testsuite_unit_analysis_pool

# It wants addresses as they are without randomness.
export TSAN_OPTIONS=exitcode=66
without_races() { # what command...
	local what=$1 status
	shift
	setarch -R "$@" >"$dir/out" 2>"$dir/err"
	status=$?
	[ $status -eq 0 ] || fail "$what: status $status: $(head -40 "$dir/err")"
}
CK_FORK=no without_races "the test of the pool" "$dir/pool"
"$B/test/synthesize" --hosts 3 --ranks 5 --threads 3 --messages 1500 --work 20 | "$analyze" pack - "$dir/many" || fail "no trace"
for command in csp report check; do
	without_races "$command" "$dir/bin/analyze" $command --jobs 4 "$dir/many"
	"$analyze" $command --jobs 1 "$dir/many" | cmp -s - "$dir/out" || fail "$command: another answer"
done
exit $failed

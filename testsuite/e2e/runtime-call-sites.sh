#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What threads wait for is told apart by where they wait: calls of locks, conditions, joins, of OpenMP's
# constructs and of libstdc++ are recorded at their lines, and at no other; calls that the plugin has not seen at none.
from=$PWD/testsuite/fixtures/sites
. testsuite/lib.sh
about() { echo "$what: "; }
export PKG_CONFIG_PATH=$B/lib/pkgconfig

gcc -c -O2 -I. -o "$dir/unseen.o" "$from/unseen.c" || exit 1
cd "$dir" || exit 1

build() { # compiler and options
	# shellcheck disable=SC2046
	"$@" -g -Wall -Wextra $(pkg-config --cflags dprof) -o program $(pkg-config --libs dprof) || fail "does not compile"
}

run() { # source: the lines at which something is recorded
	rm -rf dprof-*
	./program || fail "exit status $?"
	"$analyze" check dprof-* >verdict || fail "$(cat verdict)"
	"$analyze" dump dprof-* >text || fail "dump: exit status $?"
	awk '$1 == "site" { sub(/name=/, "", $4); sub(/line=/, "", $6); at[$2] = $6 " " $4 }
	     $1 == "e" && $5 != "exit" { n[at[$4]]++ }
	     END { for (place in n) print place, n[place] }' text | sort -n >found
	awk 'match($0, /(\/\*|!) at /) { n = split(substr($0, RSTART + RLENGTH), place, ", ")
		for (i = 1; i <= n; i++) { sub(/ *\*\/$/, "", place[i]); sub(/ contended/, "", place[i]); print FNR, place[i] } }' "$1" |
		sort -n >expected
	[ -s expected ] || fail "the source says nothing"
	grep -v '^0 ' found | sed 's/ [0-9]*$//' | diff expected - >wrong || fail "$(cat wrong)"
}

# Of the locks it is that one for which threads have waited most often for 2 ms and more: it is held for 4 ms each time.
# On a busy machine any call may take long once or twice, and threads may come one after the other.
is_contended() { # source, the name of the locks
	run "$1"
	place=${1##*/}:$(sed -n '/ contended/=' "$1")
	"$analyze" query dprof-* "count(\"$place\") >= 1" >/dev/null || fail "no query about $place"
	awk '$1 == "clock" { sub(/ghz=/, "", $4); long = 2e6 * $4 }
	     $1 == "site" { sub(/name=/, "", $4); sub(/line=/, "", $6); at[$2] = $6; name[$2] = $4 }
	     $1 == "e" && $5 == "enter" { since[$2, $4] = $3 }
	     $1 == "e" && $5 == "exit" && name[$4] == wanted { t[at[$4]] += $3 - since[$2, $4] > long }
	     END { for (line in t) if (t[line] > most) { most = t[line]; best = line } print best }' \
		wanted="$2" text >best
	[ "$(cat best)" = "${place##*:}" ]
}

contended() {
	one_of_six is_contended "$@" || fail "line $(cat best) was waited at most often, not $place"
}

for options in "gcc -O0" "gcc -O2" "gcc -O3 -flto"; do
	what="pthreads.c, $options"
	# shellcheck disable=SC2086
	build $options -pthread "$from/pthreads.c" unseen.o
	contended "$from/pthreads.c" pthread_mutex_lock
	for name in "sem_post 4" "sem_trywait 1"; do
		grep -q "^0 $name\$" found || fail "expected $name at no line, found $(grep '^0 sem' found)"
	done
	# once, and after each wait for the condition, which names itself
	grep -q '^0 pthread_mutex_lock [1-9]' found || fail "expected pthread_mutex_lock at no line"
done
for options in "gcc -O0" "gcc -O2" "g++ -O2"; do
	what="openmp.c, $options"
	# shellcheck disable=SC2086
	build $options -fopenmp "$from/openmp.c"
	contended "$from/openmp.c" omp%20critical
done
what="library.cpp"
build g++ -std=c++20 -O0 -flto "$from/library.cpp"
run "$from/library.cpp"
for given in "std::promise 2" "std::latch::count_down 3" "std::counting_semaphore::release 5" \
	"std::counting_semaphore::counting_semaphore 2" "std::atomic::notify 2" "std::barrier::barrier 5" \
	"std::stop_source::request_stop 1" "std::barrier::arrive 2" "std::barrier 1" "std::barrier::arrive_and_drop 2" "std::barrier%20completion%20function 5"; do
	grep -q "^0 $given\$" found || fail "expected $given at no line, found $(grep '^0 std' found)"
done
! grep -q 'handler' found || fail "no signal has come, found $(grep handler found)"
# Of five attempts to have a permit the last one has none.
took=$(awk '$1 == "site" && $4 ~ /acquire$/ { at[$2] = 1 } $1 == "e" && $4 in at && $5 == "enter" { print $6 ~ /^id=/ ? "one" : $6 }' text |
	uniq -c | awk '{ $1 = $1; print }' | paste -sd,)
[ "$took" = "4 one,1 until=0" ] || fail "expected four permits and one that was not there, found $took"
for options in "g++ -O0" "g++ -O2" "g++ -O3 -flto"; do
	what="conditions.cpp, $options"
	# shellcheck disable=SC2086
	build $options -pthread "$from/conditions.cpp"
	run "$from/conditions.cpp"
	locks=$(awk '$1 == "site" && $3 == "kind=lock" { is[$2] = 1 } $1 == "e" && $4 in is && $5 == "enter" { print $6 }' text | sort -u | wc -l)
	[ "$locks" = 1 ] || fail "the program has one lock, recorded are $locks"
	what="locks.cpp, $options"
	# shellcheck disable=SC2086
	build $options -std=c++20 -pthread "$from/locks.cpp"
	run "$from/locks.cpp"
done
what="openmp.f90"
build gfortran -O2 -fopenmp "$from/openmp.f90"
contended "$from/openmp.f90" omp%20critical
grep -q '^0 omp_fulfill_event 1$' found || fail "an event of Fortran is not recorded"

[ "$failed" = 0 ] && echo "as expected"
exit "$failed"

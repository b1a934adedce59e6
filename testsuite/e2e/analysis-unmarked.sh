#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Programs without any mark have stragglers. Each of these knows its own: it sleeps three times as long as the
# others, so load does not matter. It is named, and no other is proved to be one.
from=$PWD/testsuite/fixtures/unmarked
. testsuite/lib.sh
export PKG_CONFIG_PATH=$B/lib/pkgconfig
read -r -a flags < <(pkg-config --cflags dprof)
read -r -a libs < <(pkg-config --libs dprof)
programs=0
cd "$dir" || exit 1

# The first place is the straggler's; none before or beside it is proved. What a silent one does may not be work,
# for all that dprof knows: then it is enough that its score may be the highest.
named() { # NAME ranks|threads NUMBER|pidNUMBER
	"$analyze" csp --json dprof-* >json 2>err || fail "$1: csp: $(cat err)"
	tr -d '"{},:' <json | awk -v kind="$2" -v who="$3" -v silent="$([[ $1 = *-silent ]] && echo 1)" '
		$1 == "threads" || $1 == "ranks" { part = $1 }
		$1 == "rank" { rank = $2 }
		$1 == "pid" { rank = "pid" $2 }
		$1 == "thread" { thread = $2 }
		$1 == "straggler_percent" { lo = $3; hi = $5 }
		$1 == "verdict" && part == kind {
			name = kind == "ranks" ? rank : thread
			if (name == who) { own = silent ? hi : lo; proved = $2 == "proved" }
			else if (hi > other) other = hi
		}
		END { exit !((proved || silent) && own > 15 && own > other) }'
}

# A sleeper that did not get a core when its time was over worked for so long, and may be the straggler. By the kernel's
# counts it was without one for more than a tenth of the run, or was blocked so long in what is not recorded, as where a page
# has to be read again.
was_held_back() {
	tr -d '"{},:' <json | awk '
		$1 == "span_s" { run = $3 }
		$1 == "delay_percent" && $3 > 10 || $1 == "blocked_unrecorded_s" && $5 > run / 10 { held = 1 }
		END { exit !held }'
}

# On a machine that holds it back again and again it may be that nobody is proved to be it.
nobody() {
	was_held_back && jq -e '.verdict == "undecided"' json >held
}

# Runs a program and looks whom it names; once more where it names another and was held back.
judge() { # NAME ranks|threads NUMBER|pid COMMAND...
	local name=$1 part=$2 who=$3
	shift 3
	for _ in {1..8}; do
		rm -rf dprof-*
		timeout 60 "$@" >out 2>&1 || fail "$name: $(cat out)"
		[ "$part" != ranks ] || [[ $who != pid* ]] || who=pid$(cat out)
		named "$name" "$part" "$who" && break
		was_held_back || break
	done
	named "$name" "$part" "$who" || nobody || fail "$name: expected $part $who to be proved the straggler: $(cat json)"
	programs=$((programs + 1))
}

build() { # NAME COMPILER... SOURCE
	local name=$1
	shift
	"$@" -O2 "${flags[@]}" -o "$name" "${libs[@]}" || fail "$name does not compile"
	rm -rf dprof-*
}

alone() { # NAME THREAD COMPILER... SOURCE: of one process
	local name=$1 who=$2
	shift 2
	build "$name" "$@"
	judge "$name" threads "$who" "./$name"
}

children() { # NAME COMPILER... SOURCE: of several processes; the straggler's number is what it prints
	local name=$1
	shift
	build "$name" "$@"
	judge "$name" ranks pid "./$name"
}

parallel() { # NAME RANK COMPILER... SOURCE: of three ranks
	local name=$1 who=$2
	shift 2
	build "$name" "$@"
	judge "$name" ranks "$who" mpirun --allow-run-as-root --oversubscribe --quiet --mca mpi_yield_when_idle 1 -n 3 "./$name"
	"$analyze" report dprof-* | tr -s ' \n' ' ' >report
	grep -q "all work of rank $who " report || fail "$name: no what-if for rank $who: $(cat report)"
}

parallel mpi-barrier 1 mpicc "$from/mpi_barrier.c"
parallel mpi-reduce 2 mpicc -DWHO=2 -DREDUCE "$from/mpi_barrier.c"
parallel mpi-ring 1 mpicc "$from/mpi_ring.c"
parallel mpi-cxx 0 mpicxx -DWHO=0 "$from/mpi_barrier.cc"
parallel mpi-fortran 2 mpifort "$from/mpi_barrier.f90"
parallel mpi-op 0 mpicc -DOPERATION "$from/mpi_callback.c"
parallel mpi-op-cxx 0 mpicxx -DOPERATION -x c++ "$from/mpi_callback.c"
parallel mpi-grequest 0 mpicc -DREQUEST "$from/mpi_callback.c"
parallel mpi-keyval 0 mpicc "$from/mpi_callback.c"
parallel mpi-finalize 0 mpicc -DFINALIZE "$from/mpi_callback.c"
parallel mpi-test 1 mpicc "$from/mpi_polling.c"
parallel mpi-iprobe 1 mpicc -DPROBE "$from/mpi_polling.c"
alone openmp-parallel 1 gcc -fopenmp "$from/openmp.c"
alone openmp-barrier 2 gcc -fopenmp -DWHO=2 -DINNER "$from/openmp.c"
alone openmp-cxx 1 g++ -fopenmp -x c++ "$from/openmp.c"
alone pthread-barrier 2 gcc -pthread "$from/pthread.c"
alone pthread-join 3 gcc -pthread -DWHO=3 -DONCE "$from/pthread.c"
alone destructor-silent 2 gcc -pthread -DONCE -DLATE "$from/pthread.c"
alone destructor-again-silent 2 gcc -pthread -DONCE -DLATE=4 "$from/pthread.c"
alone pthread-cxx 1 g++ -pthread -DWHO=1 -x c++ "$from/pthread.c"
alone threads-cxx 2 g++ -std=c++17 -pthread "$from/threads.cc"
alone pipes 2 gcc -pthread "$from/pipes.c"
alone pipes-cxx 1 g++ -std=c++17 -pthread "$from/pipes.cc"
alone sockets-cxx 1 g++ -std=c++17 -pthread "$from/sockets.cc"
children sockets gcc "$from/sockets.c"
children fork gcc "$from/fork.c"
children fork-silent gcc -DSILENT "$from/fork.c"
children fork-cxx g++ -std=c++17 "$from/fork.cc"
alone async-cxx 1 g++ -std=c++20 -pthread "$from/async.cc"
alone openmp-fortran 2 gfortran -fopenmp "$from/openmp.f90"
alone epoll-cxx 1 g++ -std=c++17 -pthread "$from/epoll.cc"
alone c11 1 gcc -pthread "$from/c11.c"
alone rwlock 2 gcc -pthread "$from/rwlock.c"
alone openmp-nested 0 gcc -fopenmp "$from/nested.c"

# Who keeps main waiting is a thread of which nothing was recorded: no other is proved, and that is said.
undecided() { # NAME NOTE
	rm -rf dprof-*
	timeout 60 "./$1" >out 2>&1 || fail "$1: $(cat out)"
	"$analyze" csp dprof-* >csp || fail "$1: csp: exit status $?"
	"$analyze" report dprof-* | tr -s ' \n' ' ' >report
	grep -q ' proved' csp && fail "$1: $(cat csp)"
	grep -q 'Look at' report && fail "$1: $(cat report)"
	grep -q "$2" report || fail "$1: expected a note: $(cat report)"
	programs=$((programs + 1))
}

gcc -O2 -shared -fPIC -DLIBRARY "$from/foreign.c" -o libforeign.so -pthread || fail "the library does not compile"
build foreign gcc "$from/foreign.c" -L. -lforeign -Wl,-rpath,"$PWD" -pthread
undecided foreign '1 thread waited for the end of a thread that was not recorded: thread 0;'
called='1 thread had something done where nothing is recorded: thread 0 (SIGEV_THREAD);'
build timer gcc "$from/notified.c" -pthread
undecided timer "$called"
build queue gcc -DQUEUE "$from/notified.c" -pthread
undecided queue "$called"
build killed gcc -DSILENT -DKILLED "$from/fork.c"
undecided killed '1 thread had something done where nothing is recorded: pid [0-9]* thread 0 (killed child);'
echo "$programs programs"
exit $failed

#!/bin/bash
# SPDX-License-Identifier: MIT
#
# A region that encloses everything, such as main, is no headline and no advice: what lies inside of it is, or all
# work of who straggles, rank or thread, and how to see more, in the program's language.
. testsuite/fixtures/analysis/setup.sh

head_of() { # ranks file
	echo "dprof-text 1"
	echo "clock 0 host=here ghz=1"
	for r in $(seq 0 $(($1 - 1))); do echo "thread $r clock=0 rank=$r"; done
	echo "site 0 kind=region name=main file=$2 line=5"
	echo "site 1 kind=barrier name=MPI_Barrier file=$2 line=9"
	echo "site 2 kind=region name=solve file=$2 line=7"
}

at() { # thread stamp site enter|exit
	echo "e $1 $2 $3 $4"
}

# Rank 1 works longest; `solve` is or is not marked inside.
program() { # first-stamp-of-main solve...
	for r in 0 1; do
		work=$((1000 + 3000 * r))
		at $r $((1000 + $1)) 0 enter
		for i in 0 1; do
			begin=$((2000 + 5000 * i)) end=$((2000 + 5000 * i + work))
			[ "$2" = solve ] && at $r $begin 2 enter && at $r $end 2 exit
			at $r $end 1 enter
			at $r $((6500 + 5000 * i)) 1 exit
		done
		at $r 13000 0 exit
		echo "e $r 13001 1 enter"
		echo "e $r 13002 1 exit"
	done
}

page() { # directory -> page: the report in one line
	expect 0 report "$1"
	tr '\n' ' ' <out >page
	fits_80 out || fail "wider than 80 columns"
	grep -Eq '^ *(s|%|GHz\.)( |$)' out && fail "a unit stands apart from its number: $(cat out)"
}

# Nothing inside: all work of the rank, and how to see more.
{ head_of 2 main.c; program 0 -; } | trace bare
page bare
says page "% of the run (proved). Its work is inside of main (main.c:5), and most of it in no region there: to see where, mark it with #pragma dprof region(NAME), or compile with -fplugin-arg-dprof-auto=functions. Half of all work of rank 1 would make the run "
says page "More: dprof-analyze coz --all-work --rank 1 bare"
says_not page "Half the time in region main"
says_not page "mostly in region main"
grep -q '^  all work of rank 1 ' out || fail "no row for all work of rank 1: $(cat out)"

# auto=functions made it: that is not advised again. In Fortran's words.
{ head_of 2 main.f90; program 0 -; } | sed 's/^site 0 .*/& auto=1/' | trace functions
page functions
says page "mark it with call dprof_enter('NAME') and call dprof_exit('NAME') (include 'dprof.inc'). Half of all"

# A region inside of main, where the work is.
{ head_of 2 main.c; program 0 solve; } | trace inside
page inside
says page "% of the run (proved), mostly in region solve (main.c:7). Halved there: "
grep -Eq '^  main +[0-9]' out && fail "main is among the what-ifs: $(cat out)"
expect 0 coz inside
grep -Eq '^  main +[0-9]' out || fail "coz says nothing of main: $(cat out)"

# None straggles: the best region inside, or nothing.
for inside in solve -; do
	{ head_of 1 main.c; program 0 $inside | grep '^e 0 '; } | trace alone
	page alone
	says page "Only one thread works or waits, so no other waits for it."
	says_not page "Half the time in region main"
	[ $inside = - ] || says page "Half the time in region solve (main.c:7) would make the run"
done

# What is entered after a while does not enclose what was before.
{
	head_of 2 main.c
	for r in 0 1; do at $r 900 1 enter; at $r 901 1 exit; done
	program 900 -
} | trace late
page late
says page "(proved), mostly in region main (main.c:5). Halved there: "

# Where others wait for it counts, not where it was longest since it waited last: two threads that work alike in A, and one alone
# in B; two ranks of two threads, on one host or two, of which each has one that then waits for the other rank.
balanced() { # threads hosts ticks-of-a-packet left-of-A
	awk -v threads="$1" -v hosts="$2" -v packet="$3" -v left="$4" '
	function visit(thread, from, to, site, more) {
		printf "e %d %.0f %d enter%s\ne %d %.0f %d exit\n", thread, (i * 100 + from) * 1e6, site, more, thread, (i * 100 + to) * 1e6, site
	}
	function enclose(what, at) { for (t = 0; t < threads; t++) printf "e %d %.0f 4 %s\n", t, at * 1e6, what }
	BEGIN {
		print "dprof-text 1"
		for (h = 0; h < hosts; h++) print "clock " h " host=h" h " ghz=1"
		for (t = 0; t < threads; t++) print "thread " t " clock=" (hosts > 1 ? int(t / 2) : 0) " rank=" int(t / 2) " number=" t % 2
		if (threads > 2) print "group 1 threads=0,2"
		print "site 0 kind=region name=A file=b.c line=1\nsite 1 kind=region name=B file=b.c line=2"
		print "site 2 kind=barrier name=pthread_barrier_wait file=b.c line=3\nsite 3 kind=coll name=MPI_Allreduce file=b.c line=4"
		print "site 4 kind=region name=main file=b.c line=5"
		for (at = 50e6; hosts > 1 && at < 1e9; at += 100e6) {
			printf "link 0 %.0f 1 %.0f\nlink 1 %.0f 0 %.0f\n", at, at + packet, at, at + packet
		}
		enclose("enter", 99)
		for (i = 1; i < 9; i++) {
			for (t = 0; t < threads; t++) visit(t, 0, 60 + (t == threads - 2 ? left : 0), 0)
			if (threads > 2) {
				visit(0, 60, 70, 1); visit(2, 60 + left, 90, 1)
				visit(0, 70, 91, 3, " group=1 seq=" i - 1 " bytes=8"); visit(2, 90, 91, 3, " group=1 seq=" i - 1 " bytes=8")
				visit(0, 91, 92, 2); visit(2, 91, 92, 2); visit(1, 60, 92, 2); visit(3, 60, 92, 2)
			} else {
				visit(0, 60, 80, 1); visit(0, 80, 81, 2); visit(1, 60, 81, 2)
			}
		}
		enclose("exit", 900)
	}'
}
for program in "2 1" "4 1" "4 2"; do
	balanced $program 1000 0 | trace balanced
	page balanced
	says page "(proved), mostly in region B (b.c:2)."
	expect 0 csp --json --jobs 1 balanced
	jq -e '[.threads[], .ranks[]] | max_by(.straggler_percent.lo).site == "B"' out >is ||
		fail "$program: $(jq -c '[.threads, .ranks]' out)"
	cp out one
	expect 0 csp --json --jobs 2 balanced
	cmp -s out one || fail "$program: another answer with --jobs 2"
done

# Clocks leave open whether it is A or B: neither is claimed beside what is proved.
balanced 4 2 1000 19 | trace balanced
page balanced
says page "(proved), mostly in region B (b.c:2)."
balanced 4 2 3000000 19 | trace balanced
page balanced
says page "Look at rank 1: "
says page "(proved)"
says_not page "mostly in region"

# ---- Programs ------------------------------------------------------------------------------------

export PKG_CONFIG_PATH=$B/lib/pkgconfig
unset DPROF_DIR DPROF_OFF DPROF_EVENTS
cat >team.c <<'C'
#include <omp.h>
#include <unistd.h>

int main(void)
{
#pragma dprof region(main)
	{
#pragma omp parallel num_threads(3)
		for (int i = 0; i < 5; i++) {
			usleep(omp_get_thread_num() == 1 ? 30000 : 10000);
#pragma omp barrier
		}
	}
	return 0;
}
C
cat >threads.cc <<'C'
#include <pthread.h>
#include <unistd.h>

static pthread_barrier_t barrier;

static void *worker(void *me)
{
	for (int i = 0; i < 5; i++) {
		usleep(me ? 30000 : 10000);
		pthread_barrier_wait(&barrier);
	}
	return me;
}

int main()
{
	pthread_t thread;
	pthread_barrier_init(&barrier, nullptr, 2);
	pthread_create(&thread, nullptr, worker, OTHER);
#ifdef BY_ITSELF
	for (int i = 0; i < 5; i++) {
		usleep(30000);
		pthread_barrier_wait(&barrier);
	}
#else
	worker(nullptr);
#endif
	pthread_join(thread, nullptr);
	return 0;
}
C

# One sleeps for 100 ms more than the others, and keeps them waiting, if by the kernel's count they did less than half of that
# besides: ran, waited for a core or were blocked.
is_calm() { # NAME
	"$analyze" csp --json dprof-"$1".* |
		jq -e '([.machine[] | .cpu_s.hi + .delay_s.hi] + [.threads[].blocked_unrecorded_s.hi] | add) < 0.05' >held &&
		! grep -q 'by the kernel.s count these were blocked' page
}

record() { # NAME COMPILER...; false where nothing is known of who straggles
	local name=$1 compiler=$2
	shift 2
	# shellcheck disable=SC2046
	$compiler -O2 $(pkg-config --cflags dprof) "$@" -o "$name" $(pkg-config --libs dprof) || fail "$name"
	for _ in {1..8}; do
		rm -rf dprof-*
		"./$name" || fail "$name fails"
		page dprof-"$name".*
		is_calm "$name" && return
	done
	echo "$name: this machine is too busy to say who straggles"
	return 1
}

# Members of the team are in main, too; the body of the team says where.
if record team gcc -fopenmp team.c; then
	says page "(proved), mostly in region parallel team.c:8. Halved there: "
	grep -q 'More: dprof-analyze coz --region .parallel team.c:8. --thread 1 ' out || fail "no command: $(cat out)"
	grep -q '^  all work of thread 1 ' out || fail "no row for all work of thread 1: $(cat out)"
fi
"$analyze" coz --all-work --thread 1 --reduce 50 dprof-team.* >answer || fail "$(cat answer)"
grep -q '^Had all work taken 50 % less time on thread 1 and' answer || fail "coz: $(cat answer)"
"$analyze" coz --all-work --thread 7 dprof-team.* >answer 2>&1 && fail "thread 7 is there"
says answer "--thread: expected the number of a thread of this trace, such as "
"$analyze" coz --json --all-work --thread 1 dprof-team.* >json || fail "$(cat json)"

# main does it outside of regions, or in a start function that it calls like the others.
if record unmarked g++ -pthread -DOTHER=nullptr -DBY_ITSELF threads.cc; then
	says page ", mostly outside regions"
	says page "To see where, mark the work with #pragma dprof region(NAME), or compile with -fplugin-arg-dprof-auto=functions."
fi
if record by-functions g++ -pthread -fplugin-arg-dprof-auto=functions -DOTHER='&barrier' threads.cc; then
	says page ", mostly in region worker (threads.cc:6)"
	says page "Halved there: "
fi

# In MPI_Init a rank waits for the others, whatever region that is in.
cat >init.c <<'C'
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
#pragma dprof region(main)
	{
		const char *rank = getenv("OMPI_COMM_WORLD_RANK");
		usleep(rank && *rank == '1' ? 600000 : 1000);
		MPI_Init(&argc, &argv);
		MPI_Barrier(MPI_COMM_WORLD);
		MPI_Finalize();
	}
	return 0;
}
C
# shellcheck disable=SC2046
mpicc -O2 $(pkg-config --cflags dprof) init.c -o into-init $(pkg-config --libs dprof) || fail "into-init"
# Rank 0 came there so much earlier, in seconds, and rank 1 had slept for 600 ms. A machine that keeps a rank where nothing is
# recorded leaves open whether that was work.
waits_in_init() {
	rm -rf dprof-*
	timeout 60 mpirun --allow-run-as-root --oversubscribe --quiet -n 2 ./into-init || fail "into-init fails"
	earlier=$(awk '$1 == "ghz" { ghz = $2 } $1 == "init" { came[FILENAME ~ /-1\.process$/] = $2 / ghz / 1e9 }
		END { early = came[1] - came[0]; printf "%.6f", early < 0.6 ? early : 0.6 }' dprof-into-init.*/*.process)
	"$analyze" csp --json dprof-into-init.* >csp
	jq -e "any(.ranks[]; .rank == 1 and .alone_s.hi >= $earlier - 0.01)" csp >held || fail "rank 1 is not waited for in MPI_Init: $(cat csp)"
	jq -e "any(.ranks[]; .rank == 1 and .alone_s.lo >= $earlier - 0.01)" csp >held
}
one_of_six waits_in_init || fail "rank 1 is not waited for in MPI_Init for $earlier s: $("$analyze" csp dprof-into-init.*)"

# And it is no work of that region, that could take less time. In `shortest` seconds each was in MPI_Init.
shortest=$(awk '$1 == "ghz" { ghz = $2 } $1 == "init" { s = ($3 - $2) / ghz / 1e9; if (!n++ || s < least) least = s }
	END { printf "%.9f", least }' dprof-into-init.*/*.process)
for what in "--region main" --all-work; do
	# shellcheck disable=SC2086
	"$analyze" coz --json $what --reduce 100 dprof-into-init.* >json || fail "coz: $(cat json)"
	tr -d '"{},:' <json | awk -v shortest="$shortest" '$1 == "speedup_percent" && !gain { gain = $5 } $1 == "span_s" { span = $3 }
		END { exit !(shortest > 0 && gain > 0 && gain <= 100 * (1 - shortest / span) + 0.1) }' ||
		fail "$what: MPI_Init took $shortest s, yet: $(cat json)"
done
echo "as expected"

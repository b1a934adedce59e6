#!/bin/bash
# SPDX-License-Identifier: MIT
#
# efficiency says POP's factors of runs in which they are known by hand, and of each that is low where it comes from: of the
# run, by region, of MPI and threads apart, and over several runs. (Random programs: testsuite/unit/truth_efficiency.c.)
. testsuite/fixtures/analysis/setup.sh

# A trace of one clock that shows nanoseconds.
sites() {
	two_regions
	cat <<-END
	site 5 kind=barrier name=omp%20barrier file=x.c line=6
	site 6 kind=fork name=pthread_create file=x.c line=7
	END
}

# All factors of what `jq` finds in the answer hold these truths, and are no wider than 0.1 points; serialisation and transfer: the
# bounds for what operations may take.
factors() { # directory filter parallel load-balance communication serialisation transfer (each LO or LO..HI)
	local name each=true truths=("${@:3}")
	expect 0 efficiency --json "$1"
	for name in parallel load_balance communication serialisation transfer; do
		each+=", holds(.$name; ${truths[0]%..*}; ${truths[0]#*..})"
		truths=("${truths[@]:1}")
	done
	jq -e "def holds(\$x; \$lo; \$hi): \$x | .lo <= \$lo and .hi >= \$hi and .lo >= \$lo - 0.1 and .hi <= \$hi + 0.1; $2 | all($each; .)" out >is ||
		fail "$1: $2: expected ${*:3}, found $(jq -c "$2" out)"
	jq -e "$2 | .load_balance as \$l | .communication as \$c | .serialisation as \$s | .transfer as \$t |
		\$l.lo * \$c.lo / 100 <= .parallel.hi and \$l.hi * \$c.hi / 100 >= .parallel.lo and
		\$s.lo * \$t.lo / 100 <= \$c.hi and \$s.hi * \$t.hi / 100 >= \$c.lo" out >is || fail "$1: products do not hold"
	expect 0 efficiency "$1"
	fits_80 out || fail "$1: wider than 80 columns"
	! uniq -d out | grep -qx '' || fail "$1: two blank lines in a row: $(cat out)"
}

causes() { # directory [factor,rank,name,line] of all
	expect 0 efficiency --json "$1"
	[ "$(jq -c '[.causes[] | [.factor, .rank, .name, .line, .verdict]]' out)" = "$2" ] ||
		fail "$1: expected causes $2, found $(jq -c .causes out)"
}

# ---- One run ---------------------------------------------------------------------------------------------

# Rank 0 has two and a half times as much to do. Nobody waits on an ideal network but for that.
{ ranks 2; work 0 0 1000 101000; op 0 2 101000 102000 group=1 seq=0; work 1 1 1000 41000; op 1 2 41000 102000 group=1 seq=0; } |
	trace imbalance
factors imbalance . 69.307 70 99.01 99.01..100 99.01..100
causes imbalance '[["load_balance",0,"a",1,"proved"]]'
expect 0 efficiency imbalance
says out 'Low: load balance, at most 70.01 %'
says out 'Rank 0 is useful in a (x.c:1)'

# Both have the same to do: nothing is low, and what would be said of that leaves no gap.
{ ranks 2; work 0 0 1000 101000; op 0 2 101000 102000 group=1 seq=0; work 1 1 1000 101000; op 1 2 101000 102000 group=1 seq=0; } |
	trace balanced
factors balanced . 99.01 100 99.01 99.01..100 99.01..100
causes balanced '[]'

# One after the other: the second waits for what the first sends.
{ ranks 2; work 0 0 1000 61000; op 0 3 61000 62000 group=1 peer=1 tag=1 bytes=8; op 0 2 62010 103000 group=1 seq=0
	op 1 4 1000 62000 group=1 peer=0 tag=1 bytes=8; work 1 1 62000 102000; op 1 2 102000 103000 group=1 seq=0; } | trace serial
factors serial . 49.02 83.333 58.824 58.824..60 98.04..100
causes serial '[["serialisation",1,"MPI_Recv",5,"proved"]]'
jq -e '.causes[0].caused_by | .rank == 0 and .region == "a"' out >is || fail "serial: $(jq -c .causes out)"

# One message takes 99 us, another 1 us: an ideal network needs no more for any.
{ ranks 2; work 0 0 1000 51000; op 0 3 51000 52000 group=1 peer=1 tag=1 bytes=8; op 0 3 52000 53000 group=1 peer=1 tag=2 bytes=8
	op 0 2 53000 152000 group=1 seq=0
	work 1 1 1000 51000; op 1 4 51000 150000 group=1 peer=0 tag=1 bytes=8; op 1 4 150000 151000 group=1 peer=0 tag=2 bytes=8
	op 1 2 151000 152000 group=1 seq=0; } | trace transfer
factors transfer . 33.113 100 33.113 94.34..100 33.113..35.099
causes transfer '[["transfer",1,"MPI_Recv",5,"proved"]]'

# Neither load balance nor communication is low, but their product is: the lesser of the two has the cause.
{ ranks 2; work 0 0 1000 91000; op 0 2 91000 101000 group=1 seq=0; work 1 1 1000 65000; op 1 2 65000 101000 group=1 seq=0; } |
	trace product
factors product . 77 85.555 90 90..100 90..100
causes product '[["load_balance",0,"a",1,"proved"]]'
jq -e '.causes[0].low == "parallel"' out >is || fail "product: $(jq -c .causes out)"
expect 0 efficiency product
says out 'Low: parallel efficiency, at most 77.01 %'

# What only begins is an operation, too: it is not useful.
{ ranks 1; work 0 0 1000 51000; op 0 6 51000 101000; } | trace begins
factors begins . 50 100 50 50..100 50..100

# ---- Regions ---------------------------------------------------------------------------------------------

# Both are in a for 100 us. There rank 1 waits for 60 us, and rank 0 for 1 us, which is no one else's fault.
{ ranks 2; for r in 0 1; do
	echo "e $r 1000 0 enter"
	op $r 2 $((r ? 41000 : 100000)) 101000 group=1 seq=0
	echo "e $r 101000 0 exit"
	work $r 1 101000 $((r ? 121000 : 201000))
	op $r 2 $((r ? 121000 : 201000)) 202000 group=1 seq=1
done; } | trace regions
factors regions '.regions[] | select(.region == "a")' 69.5 70.202 99 100 99
factors regions '.regions[] | select(.region == "b")' 60 60 100 100 100
expect 0 efficiency --json regions
jq -e '[.regions[] | select(.region == "b")] | .[0].threads == 2 and .[0].longest.rank == 0' out >is ||
	fail "regions: $(jq -c .regions out)"
expect 0 efficiency regions
says out 'longest on rank 0'

# ---- MPI and threads -------------------------------------------------------------------------------------

# Both processes are outside of MPI for 100 us of 125, in which the second thread of each works 20.
{ sites
	for t in 0 1 2 3; do echo "thread $t clock=0 rank=$((t / 2)) number=$((t % 2))"; done
	echo 'group 1 threads=0,2'; echo 'group 2 threads=0,1'; echo 'group 3 threads=2,3'
	for r in 0 1; do
		work $((2 * r)) 0 1000 101000
		op $((2 * r)) 5 101000 101000 group=$((2 + r)) seq=0
		op $((2 * r)) 2 101000 126000 group=1 seq=0
		work $((2 * r + 1)) 0 1000 21000
		op $((2 * r + 1)) 5 21000 101000 group=$((2 + r)) seq=0
		op $((2 * r + 1)) 5 101000 126000 group=$((2 + r)) seq=1
		op $((2 * r)) 5 126000 126000 group=$((2 + r)) seq=1
	done; } | trace hybrid
factors hybrid . 48 60 80 80..100 80..100
expect 0 efficiency --json hybrid
jq -e '(.mpi.parallel | .lo <= 80 and .hi >= 80 and .hi - .lo < 0.1) and (.openmp.parallel | .lo <= 60 and .hi >= 60 and .hi - .lo < 0.1) and
	(.mpi.load_balance | .lo > 99.9) and (.mpi.communication | .lo <= 80 and .hi >= 80)' out >is || fail "hybrid: $(jq -c '.mpi, .openmp' out)"
jq -e '[.causes[] | select(.factor == "openmp")] | length == 1 and .[0].name == "omp barrier" and .[0].thread == 1' out >is ||
	fail "hybrid: $(jq -c .causes out)"
# The second threads are there for 30 us of 100 only, and wait for nobody then: that is why they are not useful.
{ sites
	for t in 0 1 2 3; do echo "thread $t clock=0 rank=$((t / 2)) number=$((t % 2))"; done
	echo 'group 1 threads=0,2'
	for r in 0 1; do
		work $((2 * r)) 0 1000 91000
		op $((2 * r)) 2 91000 101000 group=1 seq=0
		work $((2 * r + 1)) 0 31000 61000
	done; } | trace away
expect 0 efficiency --json away
jq -e '[.causes[] | select(.factor == "openmp")] | length == 1 and .[0].name == "before its first event or behind its last" and .[0].thread == 1 and
	(.[0].percent | .lo <= 35 and .hi >= 35 and .hi - .lo < 0.1)' out >is || fail "away: $(jq -c .causes out)"
expect 0 efficiency away
tr -s ' \n' ' ' <out | grep -q 'They are not there yet, or are over, for 35.00 ±0.01 % of all threads. time; most of it rank . thread 1' || fail "away: $(cat out)"
fits_80 out || fail "away: wider than 80 columns"
expect 0 efficiency --json imbalance
jq -e 'has("mpi") or has("openmp") | not' out >is || fail "imbalance: there is but one thread in each process"

# ---- Several runs ----------------------------------------------------------------------------------------

# Twice as many do together 4/3 of the work of one.
{ ranks 1; work 0 0 1000 106000; } | trace one
{ ranks 2; for r in 0 1; do work $r 0 1000 71000; op $r 2 71000 72000 group=1 seq=0; done; } | trace two
expect 0 efficiency --json two one
jq -e '[.runs[].directory] == ["one", "two"] and [.runs[].threads] == [1, 2]' out >is || fail "runs: $(cat out)"
jq -e '.runs[1] | (.computation_scaling | .lo <= 75 and .hi >= 75 and .hi - .lo < 0.1) and
	(.global | .lo <= 73.943 and .hi >= 73.944 and .hi - .lo < 0.2) and (.parallel | .lo <= 98.591 and .hi >= 98.592)' out >is ||
	fail "runs: $(jq -c '.runs[1]' out)"
jq -e '.runs[0] | .computation_scaling == {"lo": 100, "hi": 100} and .global == .parallel' out >is || fail "runs: $(jq -c '.runs[0]' out)"
expect 0 efficiency one two
fits_80 out || fail "runs: wider than 80 columns"
says_not out "different programs"
"$analyze" dump two | sed 's/ program=[^ ]*/ program=other/' | trace other
expect 0 efficiency one other
noted "these are runs of different programs"
# What has recorded nothing is none to compare others with; of a thread that has not it is said that it is left out.
ranks 2 | trace empty
expect 1 efficiency --json empty two one
jq -e '[.runs[].threads] == [1, 2, 0] and .runs[1].computation_scaling.lo > 74 and .runs[2].parallel == {"lo": 0, "hi": 100}' out >is ||
	fail "empty: $(jq -c .runs out)"
{ ranks 3; work 0 0 1000 51000; work 1 0 1000 51000; } | trace silent
expect 0 efficiency --json silent
jq -e '.threads == 2 and .threads_without_events == 1' out >is || fail "silent: $(cat out)"
expect 0 efficiency silent
says out 'Left out: 1 thread without any event, first rank 2. What it did is not known.'
expect 0 efficiency two
says_not out 'Left out'

expect 2 efficiency one nowhere
says err 'expected a trace directory'

# ---- What is not known -----------------------------------------------------------------------------------

# Nobody sent what was received: the ideal run may be as long as this one, or only as long as it must.
{ ranks 2; work 0 0 1000 51000; work 1 1 1000 41000; op 1 4 41000 103000 group=1 peer=0 tag=1 bytes=8; } | trace unsent
expect 0 efficiency --json unsent
jq -e '.ideal_s.lo <= 50e-6 and .ideal_s.hi >= 102e-6' out >is || fail "unsent: $(jq -c .ideal_s out)"

# Attempts in vain, in one record: between them the thread may have worked, and they may have gone on for as long anyway.
{ ranks 2; echo 'site 7 kind=wait name=MPI_Test file=x.c line=8'; none='peer=72057594037927935'
	work 0 0 1000 41000; op 0 2 41000 92000 group=1 seq=0
	op 1 7 1000 2000 $none tag=10; work 1 1 2000 3000; op 1 7 3000 91000 $none tag=40000; op 1 2 91000 92000 group=1 seq=0; } | trace vain
expect 0 efficiency --json vain
jq -e '.ideal_s.lo <= 41e-6 and .ideal_s.hi >= 90e-6 and .useful_s.lo <= 41e-6 and .useful_s.hi >= 81e-6' out >is ||
	fail "vain: $(jq -c '.ideal_s, .useful_s' out)"
expect 0 profile --json vain
jq -e '.operations[] | select(.name == "MPI_Test") | .count == 2 and (.waiting_s | .lo <= 49e-6 and .lo > 48e-6 and .hi >= 89e-6) and
	(.transfer_s.lo == 0)' out >is || fail "vain: $(jq -c .operations out)"

# Likewise, and later a message takes 50 us, another 1 us: that part of the ideal run is known.
{ ranks 2; work 0 0 1000 51000; op 0 3 51000 52000 group=1 peer=1 tag=2 bytes=8; op 0 3 52000 53000 group=1 peer=1 tag=2 bytes=8; op 0 2 53000 103000 group=1 seq=0
	work 1 1 1000 41000; op 1 4 41000 45000 group=1 peer=0 tag=1 bytes=8; work 1 1 45000 50000
	op 1 4 50000 101000 group=1 peer=0 tag=2 bytes=8; op 1 4 101000 102000 group=1 peer=0 tag=2 bytes=8; op 1 2 102000 103000 group=1 seq=0; } | trace later
expect 0 efficiency --json later
jq -e '.ideal_s.lo <= 50e-6 and .ideal_s.hi >= 50e-6 and .ideal_s.hi < 55e-6' out >is || fail "later: $(jq -c .ideal_s out)"

# Which of two signals woke the third thread is not known.
{ sites
	echo 'site 7 kind=wait name=pthread_cond_wait file=x.c line=8'; echo 'site 8 kind=wait name=pthread_cond_signal file=x.c line=9'
	for t in 0 1 2; do echo "thread $t clock=0 rank=0 number=$t"; done
	work 0 0 1000 51000; echo 'e 0 51000 8 point id=5'; work 1 0 1000 101000; echo 'e 1 101000 8 point id=5'
	op 2 7 1000 102000 id=5; work 2 1 102000 162000; } | trace woken
expect 0 efficiency --json woken
jq -e '.ideal_s.lo <= 110e-6 and .ideal_s.lo > 109e-6 and .ideal_s.hi >= 160e-6' out >is || fail "woken: $(jq -c .ideal_s out)"

# What a thread does from stamp 0 on is useful, too: rank 0 is in a for 60 us, and nobody else is.
{ ranks 2; work 0 0 0 60000; work 0 1 60000 100000; op 0 2 100000 101000 group=1 seq=0; work 1 1 0 40000; op 1 2 40000 101000 group=1 seq=0; } | trace zero
expect 0 efficiency --json zero
jq -e '.causes[0] | .factor == "load_balance" and .name == "a" and .rank == 0 and .percent.lo > 29 and .percent.hi < 30' out >is ||
	fail "zero: $(jq -c .causes out)"

# Lost records: what was useful there is open.
"$analyze" dump imbalance | sed '/^e 1 1000 1 enter/a lost 1 3' | trace lossy
expect 1 efficiency --json lossy
jq -e '.useful_s.lo <= 100e-6 and .useful_s.lo > 99e-6 and .useful_s.hi >= 140e-6 and .ideal_s.hi >= 101e-6 and
	(.regions[] | select(.region == "b") | .useful_s.lo < 1e-8 and .useful_s.hi >= 40e-6)' out >is || fail "lossy: $(jq -c .useful_s out)"

"$analyze" dump imbalance | sed '/^group/a without barrier' | trace without
expect 0 efficiency without
says out 'Who waited for whom is not known'
expect 2 efficiency imbalance --region a
exit $failed

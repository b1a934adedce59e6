#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The programs that show how ranks and threads wait for each other: of each case, waits says the kind, who waited and where, for
# whom, and in which region that one was, and the wait is about as long as that one was in there.
. testsuite/fixtures/examples/setup.sh
[ -z "${SAN:-}" ] || { echo "beside a sanitizer MPI's own threads are recorded, too"; exit 77; }

# The wait that is mostly somebody's in a region: its kind, who waited (rank or thread) in which operation, for whom.
# Half as long as that, or twice, since either may have waited for a core.
holds() { # kinds who operation for region verdict
	local took
	took=$(jq --arg region "$5" '[.regions[] | select(.region == $region) | .time_s.lo] | add' report.json)
	jq -e --arg kinds "$1" --argjson who "$2" --arg operation "$3" --argjson for "$4" --arg region "$5" --arg verdict "$6" \
		--argjson took "$took" --arg me "$by" '
		def number: if $me == "rank" then .rank else .thread end;
		[.waits[] | select(.caused_by.region == $region)] | max_by(.seconds.hi) |
			(.kind | IN($kinds | split("|")[])) and number == $who and .name == $operation and
			(.caused_by | number) == $for and (.verdict | IN($verdict | split("|")[])) and
			.seconds.hi > $took / 2 and .seconds.lo < $took * 2' waits.json >is 2>err
}

# Of a run in which one has waited long for a core that need not be so: once of six it is.
waited() {
	for _ in {1..6}; do
		holds "$@" && return
		run "$program" "${command[@]}"
	done
	fail "$program: expected $*, found
$(jq -c '.waits[] | [.kind, .rank, .thread, .name, .seconds, .verdict, .caused_by]' waits.json)"
}

run() { # program command...
	program=$1 command=("${@:2}")
	rm -rf dprof-*
	"${command[@]}" "$B/examples/$program" --late 200 >line 2>&1 || fail "$program: $(cat line)"
	trace=$(echo "dprof-$program".*)
	"$analyze" check "$trace" >out || fail "$program: check: $(cat out)"
	"$analyze" waits --json "$trace" >waits.json || fail "$program: waits"
	"$analyze" report --json "$trace" >report.json || fail "$program: report"
}

by=rank
run waits_mpi mpi 2
waited late_sender 1 MPI_Recv 0 before_send proved
waited late_receiver 0 MPI_Ssend 1 before_recv proved
waited wait_at_barrier 0 MPI_Barrier 1 before_barrier proved
waited wait_at_nxn 0 MPI_Allreduce 1 before_allreduce proved
waited late_broadcast 1 MPI_Bcast 0 before_bcast proved
waited early_reduce 0 MPI_Reduce 1 before_reduce proved
waited late_sender 0 MPI_Test 1 before_answer proved

by=thread
run waits_threads env
waited lock 0 pthread_mutex_lock 1 with_the_lock proved
waited condition 0 sem_wait 3 before_the_post proved
waited join 0 pthread_join 4 until_its_end proved
waited condition 0 sem_trywait 5 before_the_permit 'proved|undecided' # by how long it was between attempts
waited condition 0 pthread_cond_wait 2 before_the_signal proved

run waits_openmp env OMP_WAIT_POLICY=passive
waited imbalance 0 "omp parallel end" 1 until_its_end proved
waited wait_at_barrier 0 "omp barrier" 1 before_barrier proved
waited task_starvation 1 "omp parallel" 0 between_teams proved
waited lock 0 "omp critical" 1 in_critical proved
# To begin a team and to end it are two things, and have two names.
"$analyze" path --json "$trace" >path.json || fail "$program: path"
jq -e '[.slack[] | [.thread, .name, .line]] | length > 4 and length == (unique | length)' path.json >is ||
	fail "$program: rows that nothing tells apart: $(jq -c '.slack[]' path.json)"

# One case by its name, and what is no case.
"$B/examples/waits_threads" join lock --late 1 >out 2>&1 || fail "two cases: $(cat out)"
"$B/examples/waits_threads" --help | grep -q '^  lock  *another one has the lock$' || fail "no help"
for wrong in nothing --late "--late 0" "--late 1x"; do
	# shellcheck disable=SC2086
	"$B/examples/waits_threads" $wrong >out 2>&1
	[ $? = 2 ] && grep -q '^expected .*, found "' out || fail "$wrong: $(cat out)"
done
mpi 1 "$B/examples/waits_mpi" >out 2>&1 && fail "one rank: $(cat out)"
grep -q 'expected 2 ranks, found 1' out || fail "one rank: $(cat out)"
echo "as expected"

#!/bin/bash
# SPDX-License-Identifier: MIT
#
# path, waits, efficiency, profile and check of traces that lack what they ask for: a part of the run without events, or
# all of it; one that stops within a record; waits whose causes are missing, or later than they are over; what
# DPROF_EVENTS left out. Each says so in a sentence, with the right exit status, and gives no number that cannot be
# known.
. testsuite/fixtures/analysis/setup.sh
commands="path waits efficiency profile check"

# Two ranks on one host, or on two whose clocks only their messages relate.
ranks() { # hosts
	printf '%s\n' "dprof-text 1" "clock 0 host=h0 ghz=1" ${2:+"$2"}
	[ "$1" = 1 ] || echo "clock 1 host=h1 ghz=1"
	printf '%s\n' "thread 0 clock=0 rank=0" "thread 1 clock=$(($1 - 1)) rank=1" "group 1 threads=0,1" \
		"site 0 kind=region name=a file=x.c line=1" "site 1 kind=barrier name=MPI_Barrier file=x.c line=2" \
		"site 2 kind=send name=MPI_Send file=x.c line=3" "site 3 kind=recv name=MPI_Recv file=x.c line=4" \
		"site 4 kind=lock name=pthread_mutex_lock file=x.c line=5"
}

# Of each command: its status, what its page or stderr says, and that its data have no interval.
unknown() { # status trace text
	local command
	for command in $commands; do
		expect "$1" $command "$2"
		tr -s '\n ' ' ' <out | cat - err >line
		says line "$3"
		expect "$1" $command --json "$2"
		jq -e '[.. | objects | select(has("lo"))] == []' out >is || fail "$command of $2: a number that cannot be known: $(cat out)"
	done
}

# Nothing that these commands say is sure, and each names what is wrong.
undecided() { # status trace text
	local command
	for command in $commands; do
		expect "$1" $command "$2"
		cat out err | tr -s '\n ' ' ' >line
		says line "$3"
	done
	expect "$1" path --json "$2"
	jq -e '[.segments[] | .share_percent.lo] | all(. == 0)' out >is || fail "$2: a path that cannot be known: $(jq -c .segments out)"
	expect "$1" waits --json "$2"
	jq -e '.waits == [] and .delays == [] and .waiting_s.lo == 0' out >is ||
		fail "$2: waits that cannot be known: $(jq -c '[.waits, .waiting_s]' out)"
}

# ---- Nothing there ---------------------------------------------------------------------------------

ranks 1 | trace none
unknown 0 none "Nothing was recorded: "

# Between 1 and 9 ms no thread has an event: both were there, and in no region.
{ ranks 1; for rank in 0 1; do work $rank 0 $rank 100000; work $rank 0 9000000 9100000; done; } | trace gap
expect 0 path --json gap --from 1ms --to 2ms
jq -e '([.segments[] | .name] | unique) == ["outside regions"] and ([.segments[] | .share_percent | .lo == 0 and .hi == 100] | all)' out >is ||
	fail "a part without events: $(jq -c .segments out)"
expect 0 path gap --every 1ms
for part in "--from 10ms" "--from 10ms --to 11ms"; do
	expect 2 path gap $part
	says err "expected a part of the run, found none of it"
done
for command in waits efficiency profile check; do
	expect 2 $command gap --from 1ms
	says err "$command has no option --from"
done

# ---- It stops ----------------------------------------------------------------------------------------

# Within a word: of rank 0 nothing is left, for whom rank 1 waited, or who for it.
{ ranks 1; work 0 0 0 100000; op 0 1 100000 200000 group=1 seq=0; work 1 0 0 190000; op 1 1 190000 200000 group=1 seq=0; } |
	trace cut
truncate -s -13 cut/h0-0-0.events
undecided 1 cut "expected a word of 8 bytes, found 3: the file is cut short"
# In two calls: whether they would have been over is not known, nor for whom they waited.
{ ranks 1; work 0 0 0 100000; echo "e 0 100000 1 enter group=1 seq=0"; work 1 0 0 60000; echo "e 1 60000 1 enter group=1 seq=0"; } |
	trace within
for command in $commands; do
	expect 1 $command within
	cat out err >line
	says line "'MPI_Barrier' (x.c:2) is entered and never left, 1 time, first at stamp 60000"
done
expect 1 waits --json within
jq -e '.waits == []' out >is || fail "a wait that is not over: $(jq -c .waits out)"
expect 1 efficiency --json within
jq -e '.parallel | .lo <= 80.001 and .hi == 100' out >is ||
	fail "what rank 1 does in the end may be anything: $(jq -c .parallel out)"

# ---- No cause ----------------------------------------------------------------------------------------

# What rank 1 receives nobody has sent; who held the lock is not there; the other one never comes.
{ ranks 1; work 0 0 0 100000; work 1 0 0 60000; op 1 3 60000 100000 group=1 peer=0 tag=1 bytes=8; } | trace receive
undecided 0 receive " in the trace"
{ ranks 1; work 0 0 0 100000; work 1 0 0 60000; op 1 1 60000 100000 group=1 seq=0; } | trace alone
undecided 1 alone "expected each participant as often as the others"
while read -r status directory; do
	expect $status profile --json $directory
	jq -e '.operations[0] | (.waiting_s, .transfer_s) | .lo == 0 and .hi >= 0.00004' out >is ||
		fail "$directory: all of it may be waiting, or none: $(jq -c .operations out)"
	expect $status check $directory
	says out "ended by none"
done <<<$'0 receive\n1 alone'

# Each receives what the other one sends behind that: they cannot be each other's. On two hosts no clocks fit, whatever they show.
circle() {
	op 0 3 0 50000 group=1 peer=1 tag=1 bytes=8; op 0 2 55000 60000 group=1 peer=1 tag=2 bytes=8
	op 1 3 0 50000 group=1 peer=0 tag=2 bytes=8; op 1 2 55000 60000 group=1 peer=0 tag=1 bytes=8
}
{ ranks 1; circle; } | trace circle
undecided 1 circle "a wait was over before what ended it: of that nothing is known: 2 times"
expect 1 check circle
says out "cause is later MPI_Recv (x.c:4)"
{ ranks 2; circle; } | trace circles
unknown 1 circles "clocks of some hosts could not be related"

# ---- An enter is missing ---------------------------------------------------------------------------------

# A thread that enters no parallel body: less of its task lies behind all that it is known to wait for.
trace no-enter <<'END'
dprof-text 1
clock 0 host=h0 ghz=2.09599311
process 0 pid=10 started=14662
thread 0 clock=0 process=0 number=0 jumps=0 ran_on=2 ended=67184420
thread 1 clock=0 process=0 number=1 jumps=0 ran_on=1 ended=67184420
site 2 kind=join name=omp%20parallel%20end file=x.c line=8
site 6 kind=barrier name=omp%20barrier file=x.c line=8
site 7 kind=region name=parallel%20x.c:8 file=x.c line=8 auto=1
site 17 kind=fork name=omp%20depend
site 18 kind=fork name=omp%20task
site 27 kind=fork name=single
e 1 22762040 27 point group=36265737479782400
e 1 22770083 17 point id=140729881307096 role=1
e 1 23138402 6 enter group=36265737479782400 seq=0
e 1 66926393 7 exit
e 1 66929879 2 enter group=36265737479782400 seq=0 role=0
e 1 66929879 2 exit group=36265737479782400 seq=0 role=0
END
for command in coz report diagnose; do
	"$analyze" $command no-enter >out 2>err
	[ $? -le 1 ] || fail "$command of a trace without an enter: $(cat err)"
done

# ---- Left out ----------------------------------------------------------------------------------------

# As with DPROF_EVENTS=region: that both waited is not there, so who was useful is not either.
{ ranks 1 "without barrier"; work 0 0 0 100000; work 1 0 0 190000; work 0 0 200000 300000; work 1 0 200000 300000; } | trace without
unknown 0 without "Who waited for whom is not known, since it was left out"
{ ranks 1 "without io"; work 0 0 0 100000; work 1 0 0 190000; op 0 1 100000 200000 group=1 seq=0; op 1 1 190000 200000 group=1 seq=0; } | trace other
expect 0 waits --json other
jq -e '.waits | length == 1' out >is || fail "files are no matter for waits: $(cat out)"
echo "as expected"

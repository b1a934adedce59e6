#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Threads that are not always there: regions that some ranks never enter, late starts, early ends, and ends
# inside of something. Scores stay true, and the reader is told.
. testsuite/fixtures/analysis/setup.sh

# Only rank 0 ever writes, from 82 to 100 ms of 200; none waits then.
trace run <"$fixtures/iterations.txt"
expect 0 csp --json --work write run
says out '3 threads never work in \"write\": rank 1 thread 0'
expect 0 csp --json --wait MPI_Recv run
says out '3 threads never wait in \"MPI_Recv\"'
expect 0 query --work write run 'count(working) == 1'
says out '3 threads never work in'
says out " 9.000 ±0.001 %"

# Rank 3 recorded nothing: it has no part in anything, which is said; and not where nothing at all was recorded.
sed '/^e 3 /d; s/^\(group .*threads=0,1,2\),3/\1/' "$fixtures/iterations.txt" | trace silent
for words in "csp silent" "report silent" "query silent count(body)>0"; do
	expect 0 $words
	noted "1 thread recorded nothing: rank 3 thread 0; what was done there is not known, and has no part in scores or conditions"
done
expect 0 csp run
says_not out "recorded nothing"

# Rank 3 begins with iteration 1: before that no rank is alone, and it is alone as before.
sed '/^e 3 5[0-9]*000000[0-9]* /d; /^e 3 60[0-9]* 0 exit/d; /^e 3 5999999/d' "$fixtures/iterations.txt" |
	awk '!(/^e 3/ && $3 < 610000000)' | trace late
expect 1 csp --json late
says out "1 thread began late: rank 3 thread 0 (there for at most 50.1 % of the run)"
tr -d ' \n' <out | grep -o '"rank":[0-3],"straggler_percent":{[^}]*}' >scores
grep -q '"rank":1,"straggler_percent":{"lo":0,' scores || fail "rank 1 cannot be alone: $(cat scores)"
grep -E '"rank":3,.*"lo":9.99[0-9]*,"hi":10.00' scores >/dev/null || fail "rank 3 is alone 10 %: $(cat scores)"

# Threads that begin and end within the run, as those of std::thread: who works on is alone, and who has ended
# is no late comer. One of a team that is never in a region is named: what it does is not seen.
tee threads.text <<'END' | trace threads
dprof-text 1
clock 0 host=h0 ghz=1
process 0 pid=7 program=p job=j
thread 0 clock=0 process=0 number=0
thread 1 clock=0 process=0 number=1
thread 2 clock=0 process=0 number=2
thread 3 clock=0 process=0 number=3
site 0 kind=region name=body file=app.c line=12
site 1 kind=join name=pthread_join
site 2 kind=fork name=thread%20begin
site 3 kind=join name=thread%20end
site 4 kind=barrier name=omp%20barrier
site 5 kind=region name=unused file=app.c line=99
e 0 1000 1 enter thread=2
e 0 11000 1 exit thread=2
e 1 1500 2 point
e 1 1600 0 enter
e 1 4000 0 exit
e 1 4010 3 point
e 2 1500 2 point
e 2 1600 0 enter
e 2 9010 0 exit
e 2 9020 3 point
e 3 1500 2 point
e 3 3000 4 enter
e 3 3900 4 exit
e 3 4000 3 point
END
expect 0 report threads
says out "Look at thread 2: it keeps everybody waiting for 50.00 ±0.02 % of the run"
says_not out "began late"
tr '\n' ' ' <out | tr -s ' ' >one-line
says one-line "1 thread is never in a region: thread 3; mark the work, or it is not seen"

# The third one's begin was not recorded, nor anything else of it, but it was joined: nothing is damaged, but whoever
# straggled may not be who it was. A dump says that as the trace does.
"$analyze" dump threads | sed 's/ thread=2$//' | trace joined
expect 0 report joined
tr '\n' ' ' <out | tr -s ' ' >one-line
says one-line "1 thread waited for the end of a thread that was not recorded: thread 0; that may have done"
says one-line "a thread was not recorded (see the notes)"
says_not out "Look at"
says_not out "missing"
expect 0 query joined 'count(working) == 1'
tr '\n' ' ' <out | tr -s ' ' >one-line
says one-line "1 thread waited for the end of a thread that was not recorded"
"$analyze" dump joined >first && trace again <first && "$analyze" dump again | diff first - || fail "another dump"
expect 0 check joined

# Where nobody can be seen to wait, who goes on alone is no place to halve "there".
grep -vE '^e [03] |^site [14]|^thread [03]' threads.text | sed 's/^thread 1 /thread 0 /; s/^thread 2 /thread 1 /; s/^e 1 /e 0 /; s/^e 2 /e 1 /; s/number=1/number=0/; s/number=2/number=1/' |
	trace apart
expect 0 report apart
tr '\n' ' ' <out | tr -s ' ' >one-line
says one-line "nobody can be seen to wait"
says_not one-line "Halved there"
says one-line "Half the time in region body"

# A region that was not entered has no row, unless it is asked for.
expect 0 coz threads
says out body
says_not out unused
expect 0 coz --region unused threads
says out unused

# Without the events of locks, who is at one seems to work: no scores.
"$analyze" dump threads | sed '2i without lock' | trace unlocked
expect 1 report unlocked
tr '\n' ' ' <out >one-line
says one-line "Who straggles is not known: events of work or of waiting were left out (see the notes)"
says_not out "Look at"

# Killed in the barrier: it may wait until the end. One that never reaches it is missing there.
sed '/^thread 0/s/$/ complete=0/' "$fixtures/iterations.txt" | awk '!(/^e 0/ && $3 >= 192000000)' | trace killed
expect 1 csp --json killed
says out "1 thread ended inside of something: rank 0 thread 0 in MPI_Barrier (app.c:20)"
# What it did behind its last record is not known where it was in nothing then: it was not gone.
awk '!(/^e 0/ && $3 >= 110000000)' "$fixtures/iterations.txt" | sed '/^thread 0/s/$/ complete=0/' | trace outside
expect 1 csp --json outside
says_not out "there for"
awk '!(/^e 0/ && $3 >= 160000000)' "$fixtures/iterations.txt" | sed '/^thread 0/s/$/ complete=0/' | trace missing
expect 1 query --json missing 'rank 0 in body'
says out "1 thread ended inside of something: rank 0 thread 0 in body (app.c:12)"
expect 1 check missing
says out "group 1: expected each participant as often as the others (2), found rank 0, thread 0 less often (1)"

# What a thread did outside of regions could make it the straggler: then none is proved to be one.
trace unclassified <<'END'
dprof-text 1
clock 0 host=h0 ghz=1
thread 0 clock=0 rank=0
thread 1 clock=0 rank=1
group 1 threads=0,1
site 0 kind=region name=a file=a.c line=5
site 1 kind=barrier name=bar file=a.c line=6
e 0 1000 0 enter
e 0 4000 0 exit
e 0 4000 1 enter group=1 seq=0
e 0 4010 1 exit
e 0 4020 1 enter group=1 seq=1
e 0 9000 1 exit
e 1 1000 1 enter group=1 seq=0
e 1 4010 1 exit
e 1 8990 1 enter group=1 seq=1
e 1 9000 1 exit
END
expect 0 csp unclassified
tr -s ' \n' ' ' <out >line
says line 'unclassified, up to 62.4 % of the run in one thread): mark that work'
says_not line ' proved '
"$analyze" dump unclassified | sed 's/file=a\.c/file=a.f90/' | trace fortran
expect 0 csp fortran
tr -s ' \n' ' ' <out >line
says line "mark that work with call dprof_enter('NAME') and call dprof_exit('NAME')"
says_not out '#pragma'

# Even where it changes no verdict, the report says of whom it is how much; and what what-ifs assume of it.
trace little <<'END'
dprof-text 1
clock 0 host=h0 ghz=1
thread 0 clock=0 rank=0
thread 1 clock=0 rank=1
group 1 threads=0,1
site 0 kind=region name=a file=a.c line=5
site 1 kind=barrier name=bar file=a.c line=6
e 0 1000 0 enter
e 0 9000 0 exit
e 0 9000 1 enter group=1 seq=0
e 0 9010 1 exit
e 0 9020 1 enter group=1 seq=1
e 0 10000 1 exit
e 1 1000 1 enter group=1 seq=0
e 1 9010 1 exit
e 1 9990 1 enter group=1 seq=1
e 1 10000 1 exit
END
for command in csp report; do
	expect 0 $command little
	tr -s ' \n' ' ' <out >line
	says line 'Look at rank 0: it keeps everybody waiting for 88.'
	says line 'note: outside of regions and operations, where work cannot be told from waiting (unclassified): rank 1 for 10.8 .. 11.0 % of the run. Mark what they do there with #pragma dprof region(NAME)'
done
# All commands say the same, also of what lies behind a thread's last event.
"$analyze" dump little | sed '$a e 0 10000 0 enter\ne 0 19000 0 exit' | trace behind
for command in csp report coz diagnose; do
	expect 0 $command behind
	tr -s ' \n' ' ' <out >line
	says line '(unclassified): rank 1 for 5.4 .. 55.5 % of the run.'
done
expect 0 coz -v little
tr -s ' \n' ' ' <out >line
says line 'Unclassified time, outside of regions and operations, is work of no region and as long as it was.'
# What every answer assumes of a program is among the data, and on the page where somebody asks.
expect 0 coz little
says_not out 'Assumed: '
says out 'or in the kernel. What else they assume: -v.'
expect 0 coz --json little
jq -r .assumptions out | grep -q '^Proved: .* Expected: .* Assumed: .* as long as it was\. What came before .* in any run\.$' ||
	fail "coz --json: $(jq -r .assumptions out)"
sed 's/^e 1 9990 /e 1 9060 /' < <("$analyze" dump little) | trace less
expect 0 report less
says_not out unclassified

# Rank 0 looks for what rank 1 does, outside of marks: what-ifs take that for work, and prove nothing but if it is.
# Marked, it is known.
trace spins <<'END'
dprof-text 1
clock 0 host=h0 ghz=1
thread 0 clock=0 rank=0
thread 1 clock=0 rank=1
group 1 threads=0,1
site 0 kind=region name=fast file=a.c line=5
site 1 kind=region name=slow file=a.c line=6
site 2 kind=region name=looks file=a.c line=7
site 3 kind=barrier name=bar file=a.c line=8
e 0 1000 0 enter
e 0 101000 0 exit
e 0 501000 3 enter group=1 seq=0
e 0 501100 3 exit
e 1 1000 1 enter
e 1 400900 1 exit
e 1 400950 3 enter group=1 seq=0
e 1 501100 3 exit
END
"$analyze" dump spins | sed 's/^e 0 501000 3.*/e 0 101000 2 enter\ne 0 501000 2 exit\n&/' | trace marked
condition() { # TRACE IF VERDICT
	for command in report coz diagnose; do
		expect 0 $command --json "$1"
		[ "$(jq .proved_if out)" = "$2" ] || fail "$command $1: proved if $(jq .proved_if out)"
		jq -e "[.regions, .profile | arrays | .[] | .verdict // empty] | all(. == \"$3\")" out >/dev/null ||
			fail "$command $1: $(jq -c "[.regions, .profile | arrays | .[] | .verdict]" out)"
	done
}
condition spins '"unclassified time is work"' undecided
condition marked null proved
expect 0 coz --region slow --reduce 50 spins
tr -s ' \n' ' ' <out >line
says line '0 % shorter (proved if unclassified time is work)'
says line 'unclassified): rank 0 for 79'
expect 0 coz spins
says out 'Proved only if unclassified time is work'
expect 0 report spins
tr -s ' \n' ' ' <out >line
says line 'Half the time in region fast (a.c:5) on all ranks would make the run 10.00 ±0.01 % shorter (proved if unclassified time is work)'
expect 0 report marked
tr -s ' \n' ' ' <out >line
says_not line 'if unclassified'
# Alone it waits for nobody.
"$analyze" dump spins | sed '/^process 1/d; /^thread 1/d; /^e 1/d; s/threads=0,1/threads=0/; s/size=2/size=1/' | trace alone
condition alone null proved

# What the kernel counted while records were lost may be the thread's, too: of 50 us of delay, 10 us came between the
# events that are here, and 40 us when others may have been lost.
trace delayed <<'END'
dprof-text 1
clock 0 host=h ghz=1
process 0 clock=0 pid=1
thread 0 clock=0 process=0 number=0
site 0 kind=region name=a file=x.c line=1
sched 0 100 110 cpu=0 delay=0
sched 0 100000 100010 cpu=50000 delay=40000
sched 0 400000 400010 cpu=60000 delay=50000
lost 0 3
e 0 200000 0 enter
e 0 300000 0 exit
END
expect 1 report --json delayed
[ "$(jq '.machine[0] | .delay_s.hi > 4.9e-5 and .cpu_s.hi > 5.9e-5 and .delay_s.hi < 6e-5' out)" = true ] ||
	fail "lost records do not widen what the kernel counted: $(jq -c .machine out)"
echo "as expected"

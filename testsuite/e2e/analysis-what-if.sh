#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What coz expects and proves of traces that were recorded once, beside what the program saved when its region X was really
# halved: no machine that is busy now can change that. `make whatif` measures both anew, of many more programs.
traces=$PWD/testsuite/fixtures/whatif/traces
. testsuite/lib.sh
cd "$dir" || exit 1

# NAME, what it saved in percent, how far off the middle of what is expected may be, and what it is. Of meeting, long, headed,
# named, places, senders and those of crews (crew_) both runs were simulated.
while read -r name real within _; do
	"$analyze" pack "$traces/$name.txt" "$name" || fail "$name: pack"
	"$analyze" dump "$name" >text && "$analyze" pack text "$name.again" && "$analyze" dump "$name.again" | cmp - text || fail "$name: dump, pack, dump"
	"$analyze" coz --region X --reduce 50 --json "$name.again" >again.json 2>diagnostics
	"$analyze" coz --region X --reduce 50 --json "$name" >json 2>diagnostics || fail "$name: coz: $(cat diagnostics)"
	jq -r --argjson real "$real" --argjson within "$within" --slurpfile again again.json '
		if .speedup_percent == $again[0].speedup_percent then empty else "another answer behind dump and pack" end,
		(.expected_percent | if (.lo + .hi) / 2 > $real - $within and (.lo + .hi) / 2 < $real + $within then empty
			else "it saved \($real) %, expected \(tojson)" end),
		(.speedup_percent | if .lo < $real + 1 and .hi > $real - 1 then empty else "it saved \($real) %, proved \(tojson)" end),
		"compared"' json >held
	[ "$(<held)" = compared ] || fail "$name: $(cat held)"
done <<'T'
flag       43.5  3    a thread looks every 4 ms whether a number under a lock has changed
cancel     51.3  3    a team that one of two cancels
discards   29.5  2    tasks of a taskgroup that one of them cancels
found      40    1    likewise, and as many of them are done as there is time for until it does so
ends       50.1  1    the process ends as another thread works
single     4.0   3.8  a single with two regions, a critical section and a task, in which whoever comes first runs it
pool       19.3  3.5  jobs that an atomic counter gives out
timer      35.8  2    a thread works after each time limit of a wait, until it is told to stop
timed_out  39.6  2    time limits that are over just as what is waited for comes
kept_off   39.6  2    likewise, and who says that it has come was kept from the lock for a while
poll_over  39.9  1    waits at a pipe with a time limit (poll), between which a thread looks under a lock whether all is over
looks_over 39.8  1    or for a condition, and the flag's lock no other thread takes
yields_lock 47.6 2   it yields between looks under a lock (simulated)
looks_at_moments 46.9 2 it sleeps until moments, each a millisecond behind the last, since it read the clock
try_looks  45.5  2    a thread looks every millisecond with a lock that it tries to have
stop_token 47.1  2    waits of 5 ms for a condition or a std::stop_token, for each of which the mutex is taken anew
stop_drains 17.9 1   a thread that is to stop works first on all that is left (std::condition_variable_any with a std::stop_token)
tries      46.6  2    and between tries for a permit
reduce     12.5  2    of four threads the last to come to a lock does more behind it
lazy       13.3  2    and the first does more while it has the lock
polled     42.7  2    a thread looks every millisecond whether a pipe has bytes (poll)
looks      44.1  2    likewise, and few such looks take long enough for a record
reads      44.1  2    or it tries to read them
sent       36.3  2    a thread's own handler of a signal posts what it waits for
all_works  25.2  2    one takes all that is in a queue, and works on each
sem_works  25.2  2    or all that a semaphore has
poll_comes 48.2  2    one does a piece of work whenever a pipe has no bytes (poll without waiting)
all_once   40.7  2    one takes all that is in a queue, and works on all of it at once
accepted   32.8  2    a server accepts connections of three clients
crews      29.0  2    three crews of threads, one after the other, share a counter
replace    24.2  2    ranks send more than goes without the receiver, of which in another run others come late
idle       20.8  1.5  the last task that is done in a pool says so, of which one thread has done two
helpers    16.3  2    two threads are told when to do what each does alone
results    30.9  2    three take tasks, whose results are got in order
reports    33.0  1.2  who says that a job is done takes the next one at once
grid       31.0  1.2  broadcasts in rows and columns, whose roots wait until others call MPI for another one
elsewhere  0.0   1    or for a message, before what it does itself
returns    3.5   2    collective operations that are only begun, over only when others come back to MPI
ireduce    33.4  1    likewise, where a rank needs nobody's data
ordered    34.5  1    a loop that is given out iteration by iteration, each of which goes on in its turn
gaps       49.6  1    or likewise, of whose iterations some have no turn
gaps_before 49.6 10   recorded when nothing of these was
behind     10.8  1    or in a critical section
busy       43.8  2    a server works between looks for messages from anyone (MPI_Iprobe)
found_both 35.5  2    likewise, and finds two of them at the same time, once
alike      43.4  1.5  or waits in pieces for whatever comes (MPI_Testsome), which are of one region with what it does with that
some       23.5  2    a rank works on what the others send as it comes, and has two of them at once (MPI_Waitsome)
tags       39.7  1    and answers only those with one tag
kinds      18.5  1.5  or it looks for those of two kinds in turn, which it receives at two places
in_order   20.2  1.5  or for two kinds one after the other
improbe    44.5  2    a server with threads works between looks (MPI_Improbe), each of which is recorded
overlap    46.1  1    a halo, while each works in pieces, behind which it tests whether that is complete, which leaves no record
persists   23.0  2    likewise, requests that are begun again and again, and tests only behind all work
alltoall   32.6  3    or MPI_Ialltoall
combine    37.2  1    a reduction of four whose function is the program's, in which two go on while another one is late
taken      37.7  2    work in pieces until a message is taken (MPI_Test)
meeting    26.0  1    three wait until rank 0 takes what they send (MPI_Ssend), from anyone
long       4.8   1    likewise, 1,000,000 bytes (MPI_Send), to a rank that is busy
calls      37.5  2    or to a server, and who waits until that is through with another one does not so in another run
headed     39.3  1    a message from anyone, and the next one from who sent that
heads      38.3  1.2  likewise, of a real run
named      26.2  1    one from anyone, the next one from rank 1, which sends two, and then from anyone
places     6.9   1    likewise, and who came later is taken first in no run
senders    49.8  1    two threads of a rank send, and wait until their messages are received
tagged     38.6  1    two threads each receive from anyone, but not with the same tag
stages     30.5  2    threads wait for different things with one condition variable
writer     48.1  2    likewise, and one takes what three make
counts     32.2  2    or counts what each of three says with it
posted     39.6  1.2  two post a semaphore, of whom another is faster in another run
put        39.6  1.2  or put things for which one waits
goodbyes   40.3  2    likewise, and each says when it has put all
takers     33.5  1.2  or two take them
told       39.6  1.2  and tell others that they are there
shut       36.5  1.2  one takes all until the other side shuts its way
listens    31.4  1.2  or listens to two until both have ended
flags_over 25.1  1    what one thread stores, another finds stored (std::atomic::wait)
sem_over   25.1  1    or has, without waiting (std::counting_semaphore)
room       28.5  1    three take what two put, for which there is not always room, until they are told that there is no more
room_over  28.2  1    likewise, and those who take say so still when nobody puts any more
wavefront  31.1  1    whoever is through with a tile puts into a queue those that are ready then, and wakes all
dependences 21.7 2    or whoever is free looks for the first job whose dependences are done
chain_of_jobs 48.2 2   likewise, and a chain of long ones lasts longer than all else
ticket     33.8  1    a lock that the program has made, for which each draws a number
burst      22.4  3    jobs that come at once wake two who wait for them, the one who has waited longer a moment later
locks_work 18.5  1    two locks, with which three work, and of whom one comes far later for the last time: no work is given out
two        9.9   1    something of which there are two, which the program gives out with a mutex
flag_three 26.9  1    one stores what three wait for, and is sooner than one of them in another run
count_two  26.8  1    one waits until two have said that they are there, the other goes on
asks_pool  26.7  2    three children ask for the next job by socket pairs, each as often, of whom one has longer ones
asks_next  14.6  1    a server asks its clients one after the other, and has waited before for it is not known whom
asks_each  14.8  1    or has looked at several before
jobs_even  22.8  2    two processes take messages with jobs as often as each other
serial     31.3  2    whoever is the last at a barrier does more behind it (PTHREAD_BARRIER_SERIAL_THREAD), then its own
serial_again 21.4 2   likewise, and comes to the next round with what it does more and its own work
letters_urgent 37.6 2  the more urgent message is taken first (mq_receive)
letters_kinds 39.4 2   and what is done with it depends on how urgent it is
letters_least 34.4 2   that of the lowest type is taken first (msgrcv)
not_polled 17.4  1    one of two pipes is polled no more, and has bytes of what comes later
by_name    21.5  1    a child is waited for by its number, in a process that waits for any later
crew_pipe  32.1 1    three processes wait at the same time for jobs from one pipe
crew_slow  9.3  1    likewise, and the jobs come one by one
crew_accept 32.1 1   three processes accept the connections of one queue
crew_lock  12.8 1    three take turns at a file's lock, before which one works for less
crew_turns 19.9 1    or while it has that
relocks    10.2  1    who gives a lock back and takes it again is before those who sleep there, of whom here there were none
readers    -0.2 1     a lock for reading and writing: readers who wait go before a writer who came first
rw_work    15.5 1     likewise, of which each thread has both, not as often as others
numbers    11.0 1     work by an atomic counter, of which two threads take as much
in_vain    12.4 1     a pool of which both threads take as much, and come once more for nothing
closing    13.5 1     a queue whose last job is said to be the last one by whoever takes it
claims     28.5  2    a lock for each job, which whoever tries it first has
guards     29.2 3    jobs that a lock gives out, and behind each several other locks are taken, for hardly any time
put_back   17.4 3    two work between two buffers, and who takes what says that there is no more puts it back
begun      25.7 3    each job that a lock gives out is counted, with another lock, when it begins
steals     24.1 5    each takes from its own queue, and from those of others when that is empty
slices     1.7  2     threads with slices of which some have one piece more, whose results are added with a mutex
signalled  26.7 1     somebody has signalled before another comes, who waits for that elsewhere, and in another run here
counted    22.8 1     or four, and then three, whose counter is at the same address
wrapped    45.5  4     a lock that all take with a function of the program: one makes, one waits for four of it or for 25 ms
phased     40.3  6     likewise: three work whenever they are told, and one waits until all have
library    19.4 1.2   jobs for three threads of a library's, of which one always finds some, and tells the others when there is more, and when all are done
strand     10.0 1.2   or each of which gives that pool another job, and of these one is done at a time
watch_condition 34.8 1 a thread that says every 50 ms how far the run has come, until it is told to stop (pthread_cond_timedwait)
watch_bare 34.8  1    likewise, without a region around that
watch_crew 49.1  1    likewise, while three work
watch_sleeps 48.6 12  or it sleeps for 50 ms, and looks at a std::stop_token then: it goes on until it has slept
timer_armed 29.9 1    a loop that sets a timer behind its work, and polls and reads it
timer_rest 0.0   1    or before its work, for longer than that
timer_late 29.3  1    one that goes on and on, and the work takes longer than from one time to the next
timer_beats 29.8 1.2  two timers: one is set behind the work, the other one goes on and on
queue_again 11.7 1    a queue, and then another one at the same address, each with a thread of its own that is told to stop
deques     27.2 1.5   threads with a stack of jobs each, who steal, and sleep where there is none, until all are done (simulated)
commit     28.8 1.2   one of three who have put something does for all what takes long, which is X (simulated)
commit_4   22 4.5     or one of four, the last of whom is left alone (simulated: 18 to 25)
commits    41.2 1.5   likewise, and X is what each does before (simulated)
throttle   12.2 1     one makes tasks and runs some where it waits for them, but none at the barrier behind that
tasks_own  19.9 1     one task waits for three of its own, of which whoever has nothing else to do runs one (simulated)
T

# In each of eight rounds the path goes through 20 ms of whoever is late, and twice through the function.
"$analyze" path --json combine >json
jq -e '.regions | map({ (.name): .share_percent }) | add | .other.lo < 24.9 and .other.hi > 24.9 and .X.lo < 75 and .X.hi > 74' json >held ||
	fail "combine: the path is $(jq -c '.regions | map([.name, .share_percent])' json)"

# Where an order may make the run longer, and all of it may be saved, people read that nothing is proved; and no less of X is this run.
"$analyze" coz asks_each >out 2>&1
grep -q '^    proved.*: *nothing  *nothing  *nothing ' out || fail "asks_each: $(head -8 out)"
"$analyze" coz --region X --reduce 0 --json asks_each >json
jq -e '.speedup_percent == { lo: 0, hi: 0 }' json >held || fail "asks_each: no less is $(jq -c .speedup_percent json)"
# Who waits for a taskgroup that was cancelled waits for no task that never began.
"$analyze" coz --region X --reduce 50 discards >said 2>&1
! grep "does not say" said >held || fail "discards: $(<held)"

[ "$failed" = 0 ] && echo "as expected"
exit "$failed"

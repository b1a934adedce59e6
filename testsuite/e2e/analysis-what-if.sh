#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What coz expects and proves of traces that were recorded once, beside what the program saved when its region X was really
# halved: no machine that is busy now can change that. `make whatif` measures both anew, of many more programs.
traces=$PWD/testsuite/fixtures/whatif/traces
. testsuite/lib.sh
cd "$dir" || exit 1

# Who looks every 4 ms whether a number under a lock has changed; a team that one of two cancels; the process ends as another thread
# works; a single with two regions, a critical section and a task, in which whoever comes first runs it; jobs that an atomic counter
# gives out; a thread that works after each time limit of a wait, until it is told to stop; and one that works between tries for a permit; four of
# which the last to come to a lock does more behind it; and of which the first does more while it has the lock; a
# thread that looks every millisecond whether a pipe has bytes (poll), and where few such looks take long enough for a record; or that
# tries to read them; one whose own handler of a signal posts what it waits for; one that takes all that is in a queue, or all
# that a semaphore has, and works on each, or on all of it at once; one that
# does a piece of work whenever a pipe has no bytes (poll without waiting); a server that accepts connections of three clients; three crews
# of threads, one after the other, who share a counter; ranks that send more than goes without the receiver, of which in another run others
# come late; two threads that are told when to do what each does alone; three that take tasks, whose results are got in order;
# those who say that a job is done and take the next one at once; and ranks that begin collective operations, which are over only when others
# come back to MPI.
# those who say that a job is done and take the next one at once; and a loop that is given out iteration by iteration, each of
# which goes on in its turn, or in a critical section.
# those who say that a job is done and take the next one at once; a loop that is given out iteration by iteration, each of
# which goes on in its turn, or in a critical section; a server that works between looks for messages from anyone (MPI_Iprobe); one that
# answers only those with one tag; one of two threads that each receive from anyone, but not with the same tag; a reduction of four
# whose function is the program's, in which two go on while another one is late; and work in pieces until a message is taken (MPI_Test).
# threads that wait for different things with one condition variable, or count what each of three says with it; and two who post a
# semaphore, or put things for which one waits, of whom another is faster in another run; and one who
# takes all until the other side shuts its way, or listens to two until both have ended.
while read -r name real within; do
	"$analyze" pack "$traces/$name.txt" "$name" || fail "$name: pack"
	"$analyze" dump "$name" >text && "$analyze" pack text again && "$analyze" dump again | cmp - text || fail "$name: dump, pack, dump"
	"$analyze" coz --region X --reduce 50 --json again >json 2>diagnostics
	[ "$(interval speedup_percent <json)" = "$("$analyze" coz --region X --reduce 50 --json "$name" | interval speedup_percent)" ] ||
		fail "$name: another answer behind dump and pack"
	rm -r again
	"$analyze" coz --region X --reduce 50 --json "$name" >json 2>diagnostics || fail "$name: coz: $(cat diagnostics)"
	jq -e --argjson real "$real" --argjson within "$within" '.expected_percent |
		(.lo + .hi) / 2 > $real - $within and (.lo + .hi) / 2 < $real + $within' json >held ||
		fail "$name: it saved $real %, expected $(interval expected_percent <json)"
	jq -e --argjson real "$real" '.speedup_percent | .lo < $real + 1 and .hi > $real - 1' json >held ||
		fail "$name: it saved $real %, proved $(interval speedup_percent <json)"
done <<'T'
flag   43.5 3
cancel 51.3 3
ends   50.1 1
single 4.0  3.8
pool   19.3 3.5
timer  35.8 2
tries  46.6 2
reduce 12.5 2
lazy   13.3 2
polled 42.7 2
looks  44.1 2
reads  44.1 2
sent   36.3 2
all_works 25.2 2
sem_works 25.2 2
poll_comes 48.2 2
all_once 40.7 2
accepted 32.8 2
crews  29.0 2
replace 24.2 2
helpers 16.3 2
results 30.9 2
reports 33.0 1.2
returns 3.5 2
ireduce 33.4 1
ordered 34.5 1
behind 10.8 1
busy   43.8 2
tags   39.7 1
combine 37.2 1
taken  37.7 2
tagged 38.6 1
stages 30.5 2
writer 48.1 2
counts 32.2 2
posted 39.6 1.2
put 39.6 1.2
takers 33.5 1.2
told 39.6 1.2
shut 36.5 1.2
listens 31.4 1.2
T

# In each of eight rounds the path goes through 20 ms of whoever is late, and twice through the function.
"$analyze" path --json combine >json
jq -e '.regions | map({ (.name): .share_percent }) | add | .other.lo < 24.9 and .other.hi > 24.9 and .X.lo < 75 and .X.hi > 74' json >held ||
	fail "combine: the path is $(jq -c '.regions | map([.name, .share_percent])' json)"

[ "$failed" = 0 ] && echo "as expected"
exit "$failed"

#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Who asks again and again in vain waits; between one attempt and the next it may work. Where that is little the scores are
# wider by just that, and where it is much, or it sleeps in between, it is not known what it does.
. testsuite/fixtures/analysis/setup.sh

none=72057594037927935
{
	cat <<-END
	dprof-text 1
	clock 0 host=h0 ghz=1
	thread 0 clock=0 rank=0
	thread 1 clock=0 rank=1
	group 1 threads=0,1
	site 0 kind=wait name=MPI_Test file=x.c line=1
	site 1 kind=recv name=MPI_Irecv file=x.c line=2
	site 2 kind=send name=MPI_Send file=x.c line=3
	site 3 kind=barrier name=MPI_Barrier file=x.c line=4
	site 4 kind=sleep name=usleep file=x.c line=5
	site 5 kind=wait name=MPI_Iprobe file=x.c line=6
	site 6 kind=recv name=MPI_Recv file=x.c line=7
	END
} >sites

# Rank 1 sends after 100 us, and waits then; rank 0 waits for that as what is read says, and then works for 50 us.
two() {
	cat sites
	op 0 1 1000 1010 group=1 peer=1 tag=1 bytes=8 id=1
	cat
	echo "e 0 102000 0 enter"
	echo "e 0 102050 1 point id=1 bytes=8"
	echo "e 0 102050 0 exit"
	op 0 3 152000 153000 group=1 seq=0
	op 1 2 1000 1000 group=1 peer=1 tag=7 bytes=1 id=5
	op 1 2 101900 101950 group=1 peer=0 tag=1 bytes=8
	op 1 3 102000 153000 group=1 seq=0
}

# For how many ns a rank works alone, within 20 of what is expected.
alone() { # trace rank lo hi
	expect 0 csp --json "$1"
	jq -e --argjson rank "$2" --argjson lo "$3" --argjson hi "$4" '.threads[] | select(.rank == $rank) | .alone_s |
		(.lo * 1e9 - $lo | fabs) < 20 and (.hi * 1e9 - $hi | fabs) < 20' out >is ||
		fail "$1: rank $2: expected $3 .. $4 ns, found $(jq -c '.threads' out)"
}

op 0 0 2000 102000 tag=5000 peer=$none | two | trace spins
alone spins 1 94960 99960
alone spins 0 49950 54950
jq -e '[.threads[].verdict] == ["proved", "proved"]' out >is || fail "spins: $(jq -c .threads out)"

# The same where it takes no time to do anything else.
op 0 0 2000 102000 tag=0 peer=$none | two | trace asks
alone asks 1 99960 99960
alone asks 0 49950 49950

# What takes most of the time may be work.
op 0 0 2000 102000 tag=60000 peer=$none | two | trace works
alone works 1 10 99960
alone works 0 49950 50000

# It sleeps before it asks again.
{
	op 0 0 2000 3000 tag=0 peer=$none
	op 0 4 3010 90000
	op 0 0 90010 91000 tag=0 peer=$none
	op 0 4 91010 101000
	op 0 0 101010 102000 tag=0 peer=$none
} | two | trace sleeps
alone sleeps 1 2940 99960
alone sleeps 0 49950 49950
{
	op 0 0 2000 3000 tag=0 peer=$none
	op 0 4 3010 90000 until=7000000000
	op 0 0 90010 102000 tag=0 peer=$none
} | two | trace sleeps-until # a moment: so it does not work then, or it waits
alone sleeps-until 1 12940 99960
alone sleeps-until 0 49950 49950
# Or it does not ask for a while.
{ op 0 0 2000 42000 tag=0 peer=$none; op 0 0 82000 102000 tag=0 peer=$none; } | two | trace stops
alone stops 1 59960 99960
# Likewise by calls that wait, too, unless they are told not to.
for call in std::future::wait_for wait waitpid waitid fcntl flock lockf accept read write; do
	sed -i "/^site 4 /i site 9 kind=wait name=$call file=x.c line=10" sites
	op 0 9 2000 102000 tag=5000 peer=$none | two | trace call-spins
	alone call-spins 1 94960 99960
	alone call-spins 0 49950 54950
	op 0 9 2000 102000 tag=60000 peer=$none | two | trace call-works
	alone call-works 1 10 99960
	{ op 0 9 2000 3000 tag=0 peer=$none; op 0 4 3010 90000; op 0 9 90010 102000 tag=0 peer=$none; } | two | trace call-sleeps
	alone call-sleeps 1 12930 99960
	{ op 0 9 2000 42000 tag=0 peer=$none; op 0 9 82000 102000 tag=0 peer=$none; } | two | trace call-stops
	alone call-stops 1 59960 99960
	op 0 9 2000 102000 until=0 peer=$((none - 1)) | two | trace call-expires
	"$analyze" csp --json call-expires >out 2>err # for whom it waited is not known
	jq -e '.threads[] | select(.rank == 1) | .alone_s.lo < 20e-9 and .alone_s.hi > 99e-6' out >is ||
		fail "$call: $(jq -c .threads out)"
	sed -i '/^site 9 /d' sites
done
# It yields between attempts, for long: the wait goes on, and in yields perhaps.
sed -i '/^site 4 /i site 9 kind=wait name=sched_yield file=x.c line=10' sites
{
	op 0 0 2000 12000 tag=0 peer=$none
	op 0 9 12010 62000 until=0 peer=$((none - 1))
	op 0 0 62010 82000 tag=0 peer=$none
	op 0 9 82010 101990 until=0 peer=$((none - 1))
} | two | trace yields
expect 0 waits --json yields
jq -e '[.waits[] | select(.rank == 0)] | length == 1 and (.[0] | .name == "MPI_Test" and .caused_by.rank == 1 and
	(.seconds | .lo > 29.8e-6 and .lo < 29.9e-6 and .hi > 99.9e-6 and .hi < 100.1e-6))' out >is || fail "yields: $(jq -c .waits out)"
sed -i '/^site 9 /d' sites

# The profile has as much waiting as waits finds, and no less of it open: not what is asked behind the message, and perhaps what
# lies between attempts. So it is of a call that only asks how things stand.
agree() { # trace
	expect 0 waits --json "$1"
	cp out waits.json
	expect 0 profile --json "$1"
	jq -e --slurpfile w waits.json '.calls[0].waiting_s | .lo < $w[0].waiting_s.lo + 1e-7 and .hi > $w[0].waiting_s.hi - 1e-7' out >is ||
		fail "$1: profile: waiting $(jq -c '.calls[0].waiting_s' out), waits: $(jq -c .waiting_s waits.json)"
}
op 0 0 2000 102000 tag=0 peer=$none | two | sed 's/^e 1 101900 /e 1 61900 /; s/^e 1 101950 /e 1 61950 /' | trace past
for name in past sleeps yields; do agree $name; done
"$analyze" dump past | sed 's/name=MPI_Test /name=MPI_Request_get_status /' | trace status
agree status

# But does something else in the end: then it slept for itself.
{ op 0 0 2000 3000 tag=0 peer=$none; op 0 4 3010 90000; op 0 2 90010 90020 group=1 peer=1 tag=8 bytes=1 id=6; } | two |
	trace sleeps-not
alone sleeps-not 1 1020 1020

# It does nothing but sleep, again and again: it waits, or that is its work. Not so if the user marked it, if it sleeps but twice,
# or is longer awake than it slept.
asleep() { op 0 4 2000 35000; op 0 4 35010 68000; }
third() { op 0 4 68010 102000; }
{ asleep; third; } | two | trace asleep
alone asleep 1 10 99960
jq -e '[.threads[].verdict] == ["undecided", "undecided"]' out >is || fail "asleep: $(jq -c .threads out)"
expect 0 csp asleep
noted 'these slept again and again, and did nothing in between, or asked in vain: rank 0 thread 0 at usleep (x.c:5).'
noted 'Mark a loop that asks for something with #pragma dprof poll(NAME)'
expect 0 coz asleep
says_not out ' proved '
noted 'these slept again and again'
"$analyze" dump asleep | sed 's/file=x\.c/file=x.f90/' | trace fortran
expect 0 csp fortran
noted 'Mark work with call dprof_enter'
asleep | two | trace twice
alone twice 1 10 10
# Likewise who sleeps until moments. It does not work then.
until_moments() { "$@" | awk '$5 == "enter" { $0 = $0 " until=7" $3 } 1'; } # awk: each ENTER a moment of its own
until_moments asleep >slept
{ cat slept; until_moments third; } | two | trace moments
alone moments 1 10 99960
alone moments 0 49950 49950
jq -e '[.threads[].verdict] == ["undecided", "undecided"]' out >is || fail "moments: $(jq -c .threads out)"
expect 0 csp moments
noted 'these slept again and again, and did nothing in between, or asked in vain: rank 0 thread 0 at usleep (x.c:5).'
two <slept | trace moments-twice
alone moments-twice 1 10 10
{ op 0 4 2000 22000; op 0 4 50000 60000; op 0 4 80000 102000; } | two | trace awake
alone awake 1 10 10
# A loop may sleep at two places, for long and for short in turn, and look in between for longer than the short one. One that
# is passed once before is not of the loop; and three places, once each, are none.
two_sleeps() { op 0 4 "$1" $(($1 + 20000)); op 0 7 $(($1 + 20010)) $(($1 + 20100)); }
{ echo 'site 7 kind=sleep name=nanosleep file=x.c line=8'; echo 'site 8 kind=sleep name=usleep file=x.c line=9'; } >>sites
{ op 0 8 2000 3000; two_sleeps 3010; two_sleeps 23300; two_sleeps 43600; op 0 4 63900 102000; } | two | trace turns
alone turns 1 10 98950
{ op 0 4 2000 22000; op 0 7 22010 60000; op 0 8 60010 102000; } | two | trace once
alone once 1 10 10
sed -i '/^site [78]/d' sites
{ echo 'site 7 kind=region name=body file=x.c line=8'; echo 'e 0 1900 7 enter'; asleep; third; echo 'e 0 102000 7 exit'; } >marked
sed -n '/^site/p' marked >>sites
sed '/^site/d' marked | two | trace body
expect 0 csp --json body
jq -e '.threads[] | select(.rank == 1) | .alone_s.hi < 3e-6' out >is || fail "body: $(jq -c .threads out)"
awk '$4 == 4 && $5 == "enter" { $0 = $0 " until=7" $3 } !/^site/' marked | two | trace body-until
expect 0 csp --json body-until
jq -e '.threads[] | select(.rank == 1) | .alone_s.hi < 3e-6' out >is || fail "body-until: $(jq -c .threads out)"
sed -i '/ name=body /d' sites

# Who waits, and nothing but a time limit ends that, has waited or slept for itself; by whatever name, at a moment or not.
sed -i '/^site 4 /i site 9 kind=wait name=pthread_cond_wait file=x.c line=10\nsite 10 kind=wait name=poll file=x.c line=11' sites
op 0 9 2000 102000 until=1700000000000000000 | two | trace expires
alone expires 1 10 99960
alone expires 0 49950 50000
jq -e '[.threads[].verdict] == ["undecided", "undecided"]' out >is || fail "expires: $(jq -c .threads out)"
expect 0 csp expires
noted 'yields, and waits that a time limit or a signal ended: rank 0 thread 0 for 0.0001 s at pthread_cond_wait (x.c:10)'
op 0 10 2000 102000 until=0 peer=$((none - 1)) | two | trace unanswered
"$analyze" csp --json unanswered >out 2>err # for whom it waited is not known
jq -e '.threads[] | select(.rank == 1) | .alone_s.lo < 20e-9 and .alone_s.hi > 99e-6' out >is ||
	fail "unanswered: $(jq -c .threads out)"
op 0 9 2000 102000 | two | trace woken
alone woken 1 99960 99960
# But who tries again at once, and is told in the end, has waited all the time. Not so who does something else for a part of the
# time, waits in another place, gives something to others, or is never told.
sed -i '/^site 4 /i site 11 kind=lock name=pthread_mutex_lock file=x.c line=12' sites
over=until=1700000000000000000
row() { # how long between two, what is done meanwhile, arguments of the last
	op 0 9 2000 32000 $over
	"$2" 32010
	op 0 9 $((32000 + $1)) 62000 $over
	op 0 9 $((62000 + $1)) 102000 "$3"
}
locks() { op 0 11 "$1" "$1" id=5; echo "e 0 $(($1 + 10)) 11 point id=5"; }
polls() { op 0 10 "$1" $(($1 + 60)) until=0 peer=$((none - 1)); }
posts() { echo "e 0 $1 9 point id=7"; }
row 100 locks id=6 | two | trace row
alone row 1 99760 99760
row 3000 locks id=6 | two | trace row # but for the last
alone row 1 36960 93960
row 100 posts id=6 | two | trace row # but for the last two
alone row 1 69760 99760
row 100 locks $over | two | trace row
alone row 1 10 99760
row 100 polls id=6 | two | trace row # what it did there may be its own
alone row 1 99760 99820
sed -i '/^site \(9\|10\|11\) /d' sites

# It looks for something before it sleeps again: asks for it in vain, or perhaps, looks under a lock, says what it does,
# in a function of its own. Or it sleeps between two attempts, once. Not so if it gets something each time, or gives
# something, sleeps with a lock, or does something else in the end.
unknown=$((none - 1))
sed -i '/^site 4 /i site 9 kind=wait name=read file=x.c line=10\nsite 10 kind=wait name=msgrcv file=x.c line=11\nsite 11 kind=lock name=pthread_mutex_lock file=x.c line=12\nsite 12 kind=io name=write file=x.c line=13\nsite 13 kind=region name=look file=x.c line=14 auto=1\nsite 14 kind=wait name=sem_post file=x.c line=15' sites
between() { # what it does, ENTER and EXIT as of a time, between its sleeps
	local at
	for at in 2000 22000 42000 62000 82000; do
		op 0 4 $at $((at + 19900))
		"$1" $((at + 19910))
	done
}
in_vain() { op 0 9 "$1" $(($1 + 30)) peer=$unknown until=0 channel=5 offset=0; }
perhaps() { op 0 10 "$1" $(($1 + 30)) peer=$unknown; }
locked() { op 0 11 "$1" $(($1 + 10)) id=5; echo "e 0 $(($1 + 20)) 11 point id=5"; }
output() { op 0 12 "$1" $(($1 + 30)) bytes=1; }
routine() { op 0 13 "$1" $(($1 + 30)); }
gets() { op 0 9 "$1" $(($1 + 30)) channel=5 offset=0 bytes=1; }
gives() { echo "e 0 $1 14 point id=6"; }
holds() { echo "e 0 $1 11 point id=5"; op 0 11 $(($1 + 10)) $(($1 + 20)) id=5; }
once() { op 0 9 2000 2030 peer=$unknown until=0; op 0 4 2040 "$1"; op 0 9 101910 101940 ${2:-peer=$unknown until=0}; }
else_sends() { in_vain 2000; op 0 4 2040 101900; op 0 2 101910 101920 group=1 peer=1 tag=8 bytes=1 id=6; }
waits() { # trace, and whether it may have waited
	expect 0 csp --json "$1"
	jq -e --argjson may "$2" '.threads[] | select(.rank == 1) | .alone_s | .lo < 1e-6 and (if $may then .hi > 98e-6 else .hi < 1e-6 end)' out >is ||
		fail "$1: expected rank 1 to be waited for: $2; found $(jq -c .threads out)"
}
for look in in_vain perhaps locked output routine gets gives holds; do
	between $look | two | trace $look
	[[ $look = g* || $look = holds ]] && may=false || may=true
	waits $look $may
done
# Likewise a semaphore, a lock of a file or a token in a pipe that it takes and gives back, and bytes that it gives and takes itself. Not
# so if it gives less back, or to another one, or has it while it sleeps, or if that is a message.
cat >>sites <<-END
	site 15 kind=wait name=sem_wait file=x.c line=16
	site 16 kind=wait name=flock file=x.c line=17
	site 17 kind=wait name=semop file=x.c line=18
	site 18 kind=wait name=write file=x.c line=19
	site 19 kind=wait name=msgsnd file=x.c line=20
END
permit() { op 0 15 "$1" $(($1 + 10)) id=6; echo "e 0 $(($1 + 20)) 14 point id=6"; }
file() { op 0 16 "$1" $(($1 + 10)) peer=$unknown object=8; echo "e 0 $(($1 + 20)) 16 point object=8"; }
shared() { op 0 17 "$1" $(($1 + 10)) peer=$unknown object=8; echo "e 0 $(($1 + 20)) 17 point object=8"; }
token() { op 0 9 "$1" $(($1 + 10)) channel=5 offset=0 bytes=2; op 0 18 $(($1 + 20)) $(($1 + 30)) channel=5 offset=2 bytes=${2:-2} role=1; }
itself() { op 0 18 "$1" $(($1 + 10)) channel=5 offset=2 bytes=1 role=1; op 0 9 $(($1 + 20)) $(($1 + 30)) channel=5 offset=2 bytes=1; }
half() { token "$1" 1; }
passes_on() { op 0 15 "$1" $(($1 + 10)) id=6; echo "e 0 $(($1 + 20)) 14 point id=7"; }
keeps() { echo "e 0 $1 14 point id=6"; op 0 15 $(($1 + 10)) $(($1 + 20)) id=6; }
message() { op 0 10 "$1" $(($1 + 10)) object=8; op 0 19 $(($1 + 20)) $(($1 + 30)) object=8 role=1; }
for look in permit file shared token itself half passes_on keeps message; do
	between $look | two | trace $look
	[[ $look = half || $look = passes_on || $look = keeps || $look = message ]] && may=false || may=true
	waits $look $may
done
# Likewise a signal of a condition, if nobody waits for one.
echo 'site 20 kind=wait name=pthread_cond_signal file=x.c line=21' >>sites
echo 'site 21 kind=wait name=pthread_cond_wait file=x.c line=22' >>sites
signals() { echo "e 0 $1 20 point id=6"; }
between signals | two | trace signals
waits signals true
{ op 0 21 1900 1950 id=6; between signals; } | two | trace signalled
waits signalled false
once 101900 | two | trace again
waits again true
once 101900 'channel=5 offset=0 bytes=1' | two | trace comes
waits comes true
once 22000 | two | trace seldom
waits seldom false
else_sends | two | trace else
waits else false
expect 0 csp again
noted 'these slept again and again, and did nothing in between, or asked in vain: rank 0 thread 0 at usleep (x.c:5).'
sed -i '/^site \(9\|1[0-9]\|2[01]\) /d' sites

# Nobody is told that it surely waited, where it may have worked for a moment.
expect 0 query --json spins 'count(waiting) == 1'
jq -e '.holds_s.lo < 1e-6 * 55 and .holds_s.hi > 1e-6 * 149' out >is || fail "spins: $(cat out)"
# Its wait is as long as it asked for sure, and at most as long since it asked first, before which a program without
# marks works: what was sent may go on only in its sender's next call, at 102,000.
waited() { # trace lo hi
	"$analyze" waits --json "$1" >out 2>err # of one message it is not known who took it
	jq -e --argjson lo "$2" --argjson hi "$3" '[.places[] | select(.kind == "late_sender")] | length == 1 and (.[0].seconds |
		(.lo * 1e9 - $lo | fabs) < 20 and (.hi * 1e9 - $hi | fabs) < 20)' out >is ||
		fail "$1: expected a wait of $2 .. $3 ns, found $(jq -c .places out)"
}
waited spins 94900 100000
waited asks 99900 100000
waited sleeps 2880 100000
waited works 39900 100000
# Who looks for a message again and again, and then receives it, has waited where it looked; what that goes back to is found, too.
{
	cat sites
	op 0 4 1000 62000
	op 0 5 62800 63000 tag=26 peer=$none
	op 0 5 63004 217786 tag=542822 peer=$none
	op 0 5 217786 217820
	op 0 6 217858 217871 group=1 peer=1 tag=0 bytes=4
	op 0 3 217889 217948 group=1 seq=0
	op 0 3 217952 217986 group=1 seq=1
	op 1 4 2400 209300
	op 1 2 209907 209936 group=1 peer=0 tag=0 bytes=4
	op 1 3 209953 217953 group=1 seq=0
	op 1 3 217960 217998 group=1 seq=1
} | trace looks
for command in waits diagnose report; do
	expect 0 $command --json looks
	jq -e . out >is || fail "looks: $command: $(cat err)"
done
expect 0 waits --json looks
jq -e 'any(.places[]; .rank == 0 and .seconds.hi > 140000e-9)' out >is || fail "looks: $(jq -c .places out)"

# A wait for no request (id 0) is none: who sends on after it is as early as its work lets it.
{
	cat <<-END
	dprof-text 1
	clock 0 host=h0 ghz=1
	thread 0 clock=0 rank=0
	thread 1 clock=0 rank=1
	group 1 threads=0,1
	site 0 kind=wait name=MPI_Wait file=x.c line=1
	site 1 kind=send name=MPI_Send file=x.c line=2
	site 2 kind=recv name=MPI_Recv file=x.c line=3
	site 3 kind=region name=X file=x.c line=4
	END
	work 0 3 1000 101000
	op 0 0 101010 101020 id=0
	op 0 1 101030 101040 group=1 peer=1 tag=1 bytes=8
	op 1 2 1000 101050 group=1 peer=0 tag=1 bytes=8
} | trace nothing
expect 0 coz --region X --reduce 50 --json nothing
jq -e '[.speedup_percent, .expected_percent][] | .lo > 49 and .hi < 50' out >is ||
	fail "nothing: $(jq -c '[.speedup_percent, .expected_percent]' out)"

# Of a rank with threads every look for a message is recorded (MPI_Improbe): until there is one it waits for whoever sends that.
{
	cat <<-END
	dprof-text 1
	clock 0 host=h0 ghz=1
	thread 0 clock=0 rank=0
	thread 1 clock=0 rank=1
	group 1 threads=0,1
	site 0 kind=recv name=MPI_Improbe file=x.c line=1
	site 1 kind=recv name=received file=x.c line=1
	site 2 kind=wait name=MPI_Mrecv file=x.c line=2
	site 3 kind=send name=MPI_Send file=x.c line=3
	site 4 kind=barrier name=MPI_Barrier file=x.c line=4
	site 5 kind=sleep name=usleep file=x.c line=5
	site 6 kind=region name=X file=x.c line=6
	END
	for look in 1000 21000 41000 61000 81000; do
		echo "e 0 $look 0 enter group=1"
		echo "e 0 $((look + 10)) 1 point peer=$none"
		echo "e 0 $((look + 20)) 0 exit"
		op 0 5 $((look + 30)) $((look + 19990))
	done
	echo "e 0 101200 0 enter group=1"
	echo "e 0 101210 1 point peer=1 tag=1 bytes=8"
	echo "e 0 101220 0 exit"
	op 0 2 101230 101240
	op 0 4 101300 101400 group=1 seq=0
	work 1 6 1000 101000
	op 1 3 101050 101100 group=1 peer=0 tag=1 bytes=8
	op 1 4 101350 101400 group=1 seq=0
} | trace probes
expect 0 coz --region X --reduce 50 --json probes
jq -e '.speedup_percent.hi > 49 and .expected_percent.lo > 49 and .expected_percent.hi < 50' out >is ||
	fail "probes: $(jq -c '[.speedup_percent, .expected_percent]' out)"

# Who polls brings on what others wait for; but he would have polled then in any case, so nobody waited for that.
{
	cat <<-END
	dprof-text 1
	clock 0 host=h0 ghz=1
	thread 0 clock=0 rank=0
	thread 1 clock=0 rank=1
	thread 2 clock=0 rank=2
	group 1 threads=0,1,2
	site 0 kind=coll name=MPI_Ibarrier file=x.c line=1
	site 1 kind=wait name=MPI_Test file=x.c line=2
	site 2 kind=sleep name=usleep file=x.c line=3
	site 3 kind=region name=X file=x.c line=4
	site 4 kind=region name=other file=x.c line=5
	site 5 kind=coll name=completed file=x.c line=2
	END
	for rank in 0 2; do
		end=$((101400 + 100 * rank))
		op $rank 0 2000 2010 group=1 seq=0 id=1
		for look in 2100 22100 42100 62100 82100; do
			op $rank 1 $look $((look + 10)) tag=0 peer=$none
			op $rank 2 $((look + 20)) $((look + 19000))
		done
		echo "e $rank $((end - 5)) 1 enter"
		echo "e $rank $end 5 point id=1"
		echo "e $rank $end 1 exit"
		work $rank 4 $((end + 20)) $((end + 10020))
	done
	work 1 3 1000 101000
	op 1 0 101010 101020 group=1 seq=0 id=1
	op 1 1 101030 101040 tag=0 peer=$none
	op 1 2 101050 101400
	echo "e 1 101410 1 enter"
	echo "e 1 101420 5 point id=1"
	echo "e 1 101420 1 exit"
	work 1 4 101430 151430
} | trace begun
expect 0 coz --region X --reduce 50 --json begun
jq -e '.expected_percent | .lo > 33 and .hi < 34' out >is || fail "begun: $(jq -c .expected_percent out)"

[ "$failed" = 0 ] && echo "as expected"
exit "$failed"

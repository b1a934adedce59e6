#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What coz expects and proves of what processes share, and of how threads and processes begin and end.
. testsuite/fixtures/analysis/setup.sh
. "$fixtures/coz.sh"

# Processes that share a semaphore; a queue of messages with room for one, or for many: then nothing waits to give; a lock,
# which is free when another process has given it back. Nothing of that is certain.
processes() {
	ranks 2
	echo "site 40 kind=wait name=msgsnd file=x.c line=41"
	echo "site 41 kind=wait name=msgrcv file=x.c line=42"
}
{
	processes
	op 0 0 1000000 1400000
	echo "e 0 1400000 28 point id=1 object=7"
	op 1 8 1000000 1400010 peer=72057594037927934 object=7
	op 1 1 1400010 2000000
} | trace shared
unsure shared 20 20
{
	processes | sed 's/^clock 0 .*/&\nclock 1 host=h1 ghz=1/; s/^thread 1 clock=0/thread 1 clock=1/'
	for at in 900000 2100000; do
		echo "link 0 $at 1 $((at + 50))"
		echo "link 1 $((at + 60)) 0 $((at + 110))"
	done
	op 0 0 1000000 1400000
	echo "e 0 1400000 28 point id=1 object=7"
	op 1 8 1000000 1400010 peer=72057594037927934 object=7
	op 1 1 1400010 2000000
} | trace elsewhere
unsure elsewhere 0 0 # another host's has the same number
queue() { # whether who gives has to wait
	processes
	op 0 40 1000000 1000001 object=7 bytes=8 role=1
	op 0 40 1000001 1500020 object=7 bytes=8 role=1 ${1:-}
	op 0 1 1500020 2000000
	op 1 0 1000000 1500000
	op 1 41 1500000 1500010 object=7 bytes=8
	op 1 41 1500020 1500030 object=7 bytes=8
	op 1 1 1500030 2000000
}
queue peer=72057594037927934 | trace full
unsure full 25 25
queue | trace empty
unsure empty 0 0
# There was room for a connection, of whose other end nothing is recorded: who asks for it earlier may wait.
{
	head_of 1
	echo "site 40 kind=wait name=connect file=x.c line=41"
	op 0 0 1000000 1500000
	op 0 40 1500000 1500010 object=7 role=1
	op 0 1 1500010 2000000
} | trace connects
proves connects a 50 0 250000
# Who wakes somebody may take long, though there is room.
{
	processes
	op 0 0 1000000 1600000
	op 0 40 1600000 1600020 object=7 bytes=8 role=1 peer=72057594037927934
	op 0 1 1600020 1900020
	op 1 1 1000000 1400000
	op 1 41 1400000 1600030 object=7 bytes=8 peer=72057594037927934
} | trace woke
unsure woke 33.33 33.33
# Of two messages that are there the one of the lower type is taken, though it came later (msgrcv is told -2, then 2).
kinds() { # type of the first
	processes | sed "s/^thread 1 .*/&\nthread 2 clock=0 rank=2/"
	op 0 0 1000000 1800000
	op 0 40 1800000 1800010 object=7 bytes=8 role=1 tag="$1"
	op 1 1 1000000 1100000
	op 1 40 1100000 1100010 object=7 bytes=8 role=1 tag=2
	op 1 1 1100010 1900000
	op 1 40 1900000 1900010 object=7 bytes=8 role=1 tag=2
	op 2 1 1000000 1500000
	op 2 41 1500000 1500010 object=7 bytes=8 tag=2 offset=18446744073709551614
	op 2 41 1500010 1900020 object=7 bytes=8 tag=2 offset=2 peer=72057594037927934
	op 2 1 1900020 3000000
	op 2 41 3000000 3000010 object=7 bytes=8 tag="$1" offset=18446744073709551614
}
kinds 1 | trace lower
unsure lower 20 20
kinds 3 | trace higher
unsure higher 0 0
{
	processes
	op 0 6 1000000 1000000 id=8 object=9 peer=72057594037927934
	op 0 0 1000000 1400000
	echo "e 0 1400000 6 point id=8 object=9"
	op 1 6 1000010 1400010 id=6 object=9 peer=72057594037927934
	op 1 1 1400010 2000000
	echo "e 1 2000000 6 point id=6 object=9"
} | trace ours
unsure ours 20 20
# A barrier of theirs: a round is over when one of it has left; who lacks others, that are not recorded, is neither damaged nor
# certain of anything.
meet() { # arguments of a visit...
	op 0 0 1000000 1400000
	op 0 10 1400000 1400010 object=7 "$@"
	op 0 1 1400010 1500000
	op 0 10 1500000 2000010 object=7 "$@"
	op 1 10 1000000 1400020 object=7 "$@"
	op 1 1 1400020 1900020
	op 1 10 2000000 2000020 object=7 "$@"
}
{
	processes
	meet tag=2
} | trace met
unsure met 20 20
{
	processes
	meet
} | trace untold
unsure untold 20 20
{
	processes
	meet tag=3
} | trace third
unsure third 20 20 # the last of them hardly waited, and the other did until this one came
grep -q 'a collective operation lacks participants: 4 times' out || fail "third: $(cat out)"
# A thread that is cancelled goes on until then in any run; but not one that ends much later.
cancelled() { # when thread 1 ends
	head_of 2
	echo "site 40 kind=join name=pthread_cancel file=x.c line=41"
	echo "site 41 kind=join name=thread%20end file=x.c line=42"
	echo "site 42 kind=join name=pthread_join file=x.c line=43"
	op 0 39 1000000 1000010 thread=1
	op 0 0 1000010 1400010
	echo "e 0 1400010 40 point thread=1"
	op 0 42 1400020 $(($1 + 10)) thread=1
	op 0 1 $(($1 + 10)) 2000000
	op 1 1 1000010 "$1"
	echo "e 1 $1 41 point"
}
cancelled 1410000 | trace cancelled
expects cancelled 20 20
cancelled 1900000 | trace later
expects later 0 0
may_buy later a 50 699980 # it may not have let itself be cancelled meanwhile
{
	head_of 2
	echo "site 40 kind=join name=pthread_cancel file=x.c line=41"
	echo "site 41 kind=join name=thread%20end file=x.c line=42"
	echo "site 42 kind=join name=pthread_join file=x.c line=43"
	op 0 39 1000000 1000010 thread=1
	op 0 0 1000010 1400000
	echo "e 0 1400000 40 point thread=1"
	op 0 42 1400000 1400010 thread=1
	op 1 1 1000010 1320000
	echo "e 1 1320000 41 point"
} | trace over # before it is cancelled; so it ends sooner where that is
may_buy over a 100 999950
# What it does in the end, as its handlers do, comes behind the cancel: a post here, for which thread 2 waits.
cleaned() { # when thread 1 does
	cancelled "$(($1 + 10))" | sed "s/^thread 1 .*/&\nthread 2 clock=0 rank=0 number=2/
		s/^e 1 $(($1 + 10)) 1 exit.*/e 1 $1 1 exit\ne 1 $(($1 + 5)) 28 point id=9/"
	op 2 8 1000010 $(($1 + 7)) id=9
	op 2 1 $(($1 + 7)) 2000000
}
cleaned 1410000 | trace cleaned
buys cleaned a 50 200000
cleaned 1600000 | trace cleaned-later
may_buy cleaned-later a 50 200000

# A thread of which it is not recorded who made it may have been made earlier.
{
	head_of 2
	op 0 0 1000000 1500000
	op 1 1 1500010 2000000
} | trace unmade
buys unmade a 50 250000
may_buy unmade a 50 0

# A thread ends its process while the first one waits for another, which sleeps: in another run that may be over before.
{
	head_of 3 | sed '/^thread/d'
	echo "process 0 pid=7 program=p job=7 started=1000"
	for t in 0 1 2; do echo "thread $t clock=0 process=0 number=$t jumps=0 ran_on=1 ended=1750010"; done
	echo "site 50 kind=join name=pthread_join file=x.c line=50"
	op 0 39 1000000 1000010 thread=1
	op 0 39 1000010 1000020 thread=2
	op 0 0 1000020 1500000
	echo "e 0 1500000 28 point id=9"
	echo "e 0 1500010 50 enter thread=1"
	op 1 8 1000020 1500010 id=9
	echo "e 1 1500020 30 enter"
	op 2 1 1000020 1750000
} | trace watched
may_buy watched a 100 466000 # it sleeps for 400,000

# Who created a thread is in no record, so who waits for its end is in none, either: where the first one is through with a
# sooner, it may wait for b.
untied() { # events: more
	head_of 2 | sed '/^thread/d'
	echo "process 0 pid=7 program=p job=7 started=1000"
	echo "thread 0 clock=0 process=0 number=0 ran_on=1 ended=1150010"
	echo "thread 1 clock=0 process=0 number=1 ended=1050010"
	"$@"
	op 0 0 1000000 1100000
	op 0 1 1100000 1150000
	op 1 1 1000000 1050000
}
untied true | trace untied
may_buy untied a 90 333333
noted "no record says who created a thread"
says out "Of thread 1 no record says who created it"
slack_of_other() { # trace, in seconds
	expect 0 path --json "$1"
	jq -c '[.slack[] | select(.thread == 1) | .slack_s.lo] | min' out
}
[ "$(slack_of_other untied)" = 0 ] || fail "a thread for which another one may wait has slack: $(cat out)"
notified() { # a timer's
	echo "site 60 kind=fork name=SIGEV_THREAD file= line=0"
	echo "e 0 999990 60 point"
}
untied notified | trace notified
expect 0 coz --json --region a --reduce 90 notified
says_not out "no record says who created" # nobody waits for it
untied op 0 39 999990 1000000 thread=1 | trace tied
buys tied a 90 599960
[ "$(slack_of_other tied)" != 0 ] || fail "a thread for which nobody waits has no slack: $(cat out)"

# A process begins with its fork, and who learns of its end comes behind it.
processes() { # arguments of the wait...
	head_of 0
	for p in 0 1 2; do
		echo "process $p pid=1$p program=x job=10"
		echo "thread $p clock=0 process=$p number=0"
	done
	cat <<-END
	site 16 kind=fork name=fork file=x.c line=17
	site 17 kind=wait name=waitpid file=x.c line=18
	site 18 kind=region name=c file=x.c line=19
	END
	op 0 0 0 1000000
	op 0 16 1000000 1000010 process=11
	op 0 16 1000010 1000020 process=12
	op 1 1 1000100 1600000
	op 2 18 1000200 1400000
	op 0 17 1000030 1600100 process=11 "$@"
	op 0 17 1600110 1600120 process=12 "$@"
	op 0 0 1600200 2000000
}
processes role=1 peer=72057594037927934 | trace forked
buys forked a 50 349950 # half of both
buys forked b 50 100010
# Nor is a thread asked that the child has joined: that was over before.
{
	printf '%s\n' "dprof-text 1" "clock 0 host=h0 ghz=1"
	printf 'process %s\n' "0 pid=10 program=x job=10" "1 pid=11 program=x job=10"
	printf 'thread %s\n' "0 clock=0 process=0 number=0" "1 clock=0 process=1 number=0" "2 clock=0 process=1 number=1"
	echo "$sites"
	printf 'site %s file=x.c line=17\n' "16 kind=fork name=fork" "17 kind=wait name=waitpid" "18 kind=fork name=pthread_create" \
		"19 kind=join name=pthread_join"
	op 0 16 1000000 1000010 process=11
	op 1 18 1000100 1000110 thread=1
	op 1 0 1000120 1600000
	op 1 19 1600000 1600010 thread=1
	op 2 1 1000200 1300000
	op 0 17 1000030 1640000 process=11 peer=72057594037927934
	op 0 0 1640000 2000000
} | trace joined_there
buys joined_there a 50 479940 # 299,940 of it in the child
# Pieces of work between looks whether a child has ended go on until it has, where the last look is not long behind that.
looks_for_child() { # how long a piece takes
	printf '%s\n' "dprof-text 1" "clock 0 host=h0 ghz=1"
	for p in 0 1; do
		echo "process $p pid=1$p program=x job=10"
		echo "thread $p clock=0 process=$p number=0"
	done
	echo "$sites"
	echo "site 16 kind=fork name=fork file=x.c line=17"
	echo "site 17 kind=wait name=waitpid file=x.c line=18"
	echo "site 18 kind=region name=c file=x.c line=19"
	op 0 16 1000000 1000010 process=11
	op 1 1 1000100 1600000
	local at=1000020
	for i in 1 2 3 4 5 6 7 8; do
		op 0 18 $at $((at += $1))
	done
	op 0 17 $at $((at + 10)) process=11 role=1
	op 0 0 $((at + 10)) 2000000
}
looks_for_child 80000 | trace child_looks
expects_b child_looks 29.995
may_buy child_looks b 50 0
looks_for_child 100000 | trace child_looks_late # they are as many as they are
expects_b child_looks_late 0
# Who waits for nobody knows what (a signalfd), and learns next that a child has ended meanwhile, has waited for that; but not where
# it had ended before.
learns() { # when the wait begins
	looks_for_child 1 | grep -v "^e 0"
	op 0 16 1000000 1000010 process=11
	op 0 29 "$1" 1700000 peer=72057594037927934
	op 0 29 1700000 1700010 peer=72057594037927934 bytes=128
	op 0 17 1700010 1700020 process=11
	op 0 0 1700020 2000000
}
learns 1000020 | trace learns
expects_b learns 29.995
may_buy learns b 50 0
learns 1600010 | trace learns_late
may_buy learns_late b 50 0
grep -q 'does not say for whom: 2 times' out || fail "a wait that began behind an end was for that: $(cat out)"
# Of a child that has no end in the trace it is likely that it takes as long as it did, since its fork; or that it was killed
# by who waits for it, if that is over at once.
child() { # until
	head_of 1
	echo "site 18 kind=fork name=fork file=x.c line=19"
	echo "site 17 kind=wait name=waitpid file=x.c line=18"
	op 0 18 1000000 1000000 process=77
	op 0 0 1000000 1400000
	op 0 17 1400000 "$1" process=77 role=1 peer=72057594037927934
	op 0 1 "$1" 2000000
}
child 1600000 | trace other
expects other 0 0
child 1400010 | trace killed
expects killed 20 20
# One that works until a process of the trace has killed it works until then in any run, and nobody waits for what it did last;
# whether that was its parent, or another one while its parent waits for it.
killed() { # process that kills, when its parent begins to wait
	head_of 0
	for p in 0 1 2; do
		echo "process $p pid=1$p program=x job=10$([ $p = 1 ] && echo ' finished=0')"
		echo "thread $p clock=0 process=$p number=0$([ $p = 1 ] && echo ' complete=0')"
	done
	printf 'site %s file=x.c line=9\n' "16 kind=fork name=fork" "17 kind=wait name=waitpid" "18 kind=wait name=kill" "19 kind=region name=c"
	op 0 16 1000000 1000010 process=11
	op 0 16 1000010 1000020 process=12
	for at in 1000100 1130100 1260100; do op 1 19 $at $((at + 130000)); done
	op "$1" 0 1000030 1400000
	echo "e $1 1400000 18 point process=11 tag=15"
	[ "$1" = 2 ] || op 2 1 1000100 1100000
	op 0 17 "$2" 1400020 process=11 role=1 tag=15 peer=72057594037927934
	op 0 1 1400020 1500000
}
killed 0 1400010 | trace by_parent
expects by_parent 40 40
killed 2 1000030 | trace by_sibling
expects by_sibling 40 40

# The end of any child would have done, so another run may wait for the other one first; as even this one would, if who is
# first was waited for first, and then 20 sooner.
processes peer=72057594037927934 | trace any
buys any b 50 100001
gains "hi > 14.9" || fail "any: $(cat out)"

# One join was woken late, and of joins that waited for nobody only one was seen: another that took longer than that need not have
# waited for its thread, which was over long before. With nothing left of a it does, and may be woken at once.
joins() { # when the thread that is joined first goes on
	head_of 5
	echo "site 16 kind=join name=pthread_join file=x.c line=17"
	echo "site 17 kind=join name=thread%20end file=x.c line=18"
	for t in 1 2 4; do op 0 39 $((1000000 + 2 * t)) $((1000001 + 2 * t)) thread=$t; done
	op 0 16 1000100 1500010 thread=1
	op 0 16 1500020 1500050 thread=2
	op 0 16 1500060 1500070 thread=4
	op 0 1 1500070 2000000
	op 1 0 1000100 1500000
	echo "e 1 1500000 17 point"
	op 2 39 1000100 1000110 thread=3
	op 2 16 1000200 "$1" thread=3
	op 2 1 "$1" 1470000
	echo "e 2 1470000 17 point"
	echo "e 3 1100000 17 point"
	echo "e 4 1100000 17 point"
}
for late in 1110000 1175000; do
	joins $late | trace joins$late
	may_buy joins$late a 100 30000
done
echo "as expected"

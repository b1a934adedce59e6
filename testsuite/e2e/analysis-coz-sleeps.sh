#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What coz makes of a thread's own time: sleeps, input and output, waits until a moment, and timers.
. testsuite/fixtures/analysis/setup.sh
. "$fixtures/coz.sh"

# A sleep outside of regions may be what is left of a period: then nothing is saved. In a region it is work.
{
	head_of 1
	op 0 0 1000000 1600000
	op 0 30 1600000 2000000
} | trace rest
may_buy rest a 50 0
may_buy rest a 50 300000
{
	head_of 1
	op 0 0 1000000 1600000
	echo "e 0 1600000 1 enter"
	op 0 30 1600000 2000000
	echo "e 0 2000000 1 exit"
} | trace work
buys work a 50 300000

# A sleep that a signal ended, of another thread perhaps, may end as much earlier as that saves.
{
	head_of 2
	op 0 0 1000000 1900000
	op 1 1 1000000 1100000
	op 1 30 1100000 1900010 peer=72057594037927934
	op 1 1 1900010 2000000
} | trace signal
may_buy signal a 50 450000

# Waited until a moment, for nothing: a faster region waits longer.
{
	head_of 1
	op 0 0 1000000 1300000
	op 0 8 1300000 1400000
	op 0 0 1400000 1800000
	op 0 8 1800000 2000000
} | trace moment
may_buy moment a 50 0

# Nobody can tell whether that moment is so far from when the wait began; nor if the mutex is taken again behind it. A sleep
# until a moment most likely is until that in any run.
{
	head_of 1
	op 0 6 1000000 1000000 id=5
	op 0 0 1000000 1400000
	echo "e 0 1400000 6 point id=5"
	op 0 7 1400000 1600000
	op 0 6 1600000 1600000 id=5
	op 0 1 1600000 2000000
} | trace moment
expects moment 0 30
# Such moments that are equally far apart stay; any other is so far from when the wait began.
paced() { # moments of three waits
	head_of 1
	for i in 1 2 3; do
		op 0 0 $((i * 300000)) $((i * 300000 + 200000))
		op 0 8 $((i * 300000 + 200000)) $((i * 300000 + 300000)) until="$1"
		shift
	done
}
paced 7000300001 7000600001 7000900001 | trace paced
expects paced 0 0
paced 7000300001 7000600001 7000900002 | trace paced
expects paced 33.3333 33.3333
paced 7000300001 7000600001 7000900002 | grep -v -e "^e 0 [68]00000 0 " -e "^e 0 900000 0 enter" -e "^e 0 1100000 0 exit" |
	trace paced
expect 0 coz --json --region a --reduce 50 paced # it has looked three times
is_true "$(interval expected_percent <out | awk '{ print $2 - $1 }') > 10" || fail "who looks again knows: $(cat out)"
{
	head_of 1
	op 0 0 1000000 1400000
	op 0 30 1400000 1600000 until=5
	op 0 1 1600000 2000000
} | trace moment
expects moment 0 0
# Where it is over already nobody sleeps; nor does one that begins earlier, but for until then.
{
	head_of 1
	op 0 0 1000000 1400000
	op 0 30 1400000 1400010 until=5 tag=100000
	op 0 1 1400010 2000000
} | trace over
expects over 10 10
# A moment so long behind a reading of the clock: that was at the begin of b, as moments are as far apart as those.
{
	head_of 1
	begin=1000000
	for more in 0 37000 11000 23000; do
		read_at=$((begin + 100000 + 2 * more))
		op 0 0 $begin $read_at
		op 0 1 $read_at $((read_at + 50000 + more))
		op 0 30 $((read_at + 50000 + more)) $((read_at + 200000)) until=$((read_at + 700000200123))
		op 0 1 $((read_at + 200000)) $((read_at + 300000 + more))
		begin=$((read_at + 300000 + more))
	done
} | trace read
expects read 14.9476 14.9476

# What was left of a time is until a moment that is not exact: if it is steadily behind an event before the last work, it comes as
# long behind that in any run, and else, or in a region, the sleep is as long. A loop that waits for a moment does so in any case.
rests() { # of, role: a period of 300,000 ns, which begins with a or was laid down; or a sleep of its own, as long as a or not
	head_of 1
	begin=1000000 next=1000000
	for work in 110000 147000 121000 133000 118000; do
		next=$((next + 300000)) late=0
		case $1 in
		period) slept=$((300000 - work - 30000)) ;;
		plan) slept=$((next - begin - work - 30000)) late=$((work % 10000 * 4)) ;; # it wakes up late
		work) slept=$work ;;
		same) slept=100000 ;;
		esac
		off=$((work / 1000 % 7 * 100)) # what passed between the two readings of clocks
		op 0 0 $begin $((begin + work))
		op 0 1 $((begin + work)) $((begin + work + 30000))
		op 0 30 $((begin + work + 30000)) $((begin + work + 30000 + slept + late)) until=$((begin + work + 700000030000 + slept - off)) role="$2"
		begin=$((begin + work + 30000 + slept + late))
	done
	op 0 1 $begin $((begin + 1000))
}
rests period 1 | trace rests
expects rests 0 0
rests plan 1 | trace rests
expects rests 0 0
rests work 1 | trace rests
expects rests 22.3208 22.3208
rests same 1 | trace rests
expects rests 24.5703 24.5703
rests period 1 | awk '$4 == 1 && $5 == "exit" { last = $3; next } { print } $4 == 30 && $5 == "exit" { print "e 0", $3, 1, "exit" }
	END { print "e 0", last, 1, "exit" }' |
	trace rests # b goes on until the end of the sleep
expects rests 20.9527 20.9527
rests work 3 | trace rests
expects rests 0 0

# Who did as much as there was time for would do more, or less, in another run: that has no bound.
filled() { # arguments...
	head_of 1
	op 0 0 1000000 1600000
	op 0 30 1600000 1600000 role=2 "$@"
	op 0 1 1600000 2000000
}
filled | trace filled
may_buy filled a 50 -1000000
may_buy filled a 50 300000
expects filled 30 30
filled offset=600000 | trace filled
may_buy filled a 50 -1000000
expects filled 0 0
expect 0 coz -v filled
tr "\n" " " <out | grep -q 'What is done before .*(x.c:.*) is as much as a clock leaves time for, so nothing is proved' || fail "why nothing is proved: $(cat out)"

# How often a signal's handler comes in the midst of work may be a timer's.
{
	head_of 1
	echo "site 50 kind=region name=handler%20tick file=x.c line=50 auto=1"
	echo "e 0 1000000 1 enter"
	for at in 1200000 1400000 1600000 1800000; do
		echo "e 0 $at 50 enter"
		op 0 0 $at $((at + 100000))
		echo "e 0 $((at + 100000)) 50 exit"
	done
	echo "e 0 2000000 1 exit"
} | trace handled
may_buy handled a 50 250000
expects handled 20 20

# ---- A thread's own time --------------------------------------------------------------------------

# Input, output and sleeps inside of a region are part of it; a sleep until a moment ends when it does, so that
# only what the region does behind it is certain to count.
own() { # kind arguments...
	head_of 1
	echo "site 16 kind=$1 name=own file=x.c line=17"
	op 0 0 1000000 1300000
	echo "e 0 1400000 0 enter"
	echo "e 0 1400010 16 enter ${*:2}"
	echo "e 0 1600000 16 exit"
	echo "e 0 1700000 0 exit"
	op 0 1 1700000 2000000
}
own io bytes=10 | trace io
buys io a 100 600000
own sleep | trace sleep
buys sleep a 100 600000
own sleep until=12345 | trace until
buys until a 100 100000 600020
expect 0 check until
expect 0 query until 'count(sleep) == 1'
echo "as expected"

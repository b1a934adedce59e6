#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What coz expects and proves of what is there for good once it is given, and of memory that another thread changes.
. testsuite/fixtures/analysis/setup.sh
. "$fixtures/coz.sh"

# ---- What is there for good once it is given --------------------------------------------------------

# Who finds it there would have to wait for it if it came earlier; of what another thread had done by then, a counter in
# memory may have decided who gives it: if that one was at work then, nothing is proved; if it was waiting or over, it
# cannot have come later.
future() { # the address at which it is given
	head_of 3
	echo "site 16 kind=wait name=std::future file=x.c line=17"
	echo "site 17 kind=wait name=std::promise file= line=0"
	op 0 0 1000000 1400000
	op 0 16 1400000 1400010 id=5
	op 0 1 1400010 2000000
	op 1 1 1000000 1360000
	echo "e 1 1360000 17 point id=$1"
}
future 5 | trace future
buys future a 100 40000
proves future a 100 40000 40000
proves future a 2 8000 8000
{ future 5; op 2 1 1000000 1340000; } | trace future-over
proves future-over a 100 40000 40000
{ future 5; op 2 1 1000000 1340000; op 2 8 1340000 1700000 peer=$((2 ** 56 - 2)); } | trace future-waits
expect 0 coz --json --region a --reduce 100 future-waits # in another run that wait, for nobody knows whom, may be longer
gains "lo < 0 && hi < 4.001" || fail "future-waits: $(cat out)"
{ future 5; op 2 1 1000000 1500000; } | trace future-works
buys future-works a 100 40000
may_buy future-works a 100 0
future 6 | trace future-other
expect 0 coz future-other
noted "an operation waits for others, but the trace does not say for whom: 1 time, first rank 0 thread 0 at std::future (x.c:17), stamp 1400010"
may_buy future-other a 100 0
# Another one may have given it first, if it went on before the look was over: so it need not have been waited for.
{
	future 5
	op 2 1 1000000 1200000
	op 2 8 1200000 1380000 peer=$((2 ** 56 - 2))
	op 2 1 1380000 1390000
} | trace future-first
expect 0 coz --json --region a --reduce 100 future-first
gains "lo < 0 && hi > 39.99 && hi < 40.001" ||
	fail "future-first: $(cat out)"
# For a latch, everybody who has counted it down since it was made.
latch() { # how thread 1 counts down
	head_of 3
	echo "site 16 kind=wait name=std::latch file=x.c line=17"
	echo "site 17 kind=wait name=std::latch::count_down file= line=0"
	op 0 1 1000000 1100000
	op 0 16 1100000 1600020 id=5
	op 0 1 1600020 2000000
	op 1 1 1000000 1300000
	echo "e 1 1300000 17 point id=5 tag=$1"
	op 2 0 1000000 1600000
	echo "e 2 1600000 17 point id=5 tag=1"
}
latch 2 | trace latch
buys latch a 100 300000
latch 1 | trace latch-again # at the address of one that was there before
buys latch-again a 100 500000

# What whoever comes first makes, another one makes in another run.
once() { # the address of what is made
	head_of 2
	echo "site 16 kind=wait name=pthread_once file=x.c line=17"
	echo "site 17 kind=wait name=pthread_once%20done file= line=0"
	op 0 0 1000000 1400000
	op 0 16 1400000 1400010 id=5
	op 0 1 1400010 2000000
	op 1 1 1000000 1360000
	echo "e 1 1360000 17 point id=$1"
}
once 5 | trace once
buys once a 100 40000
may_buy once a 100 -100000
once 6 | trace once-other
buys once-other a 100 400000

# ---- Memory that another thread changes ------------------------------------------------------------

# Whoever was woken had waited for the last one who woke somebody at this address; of nothing is it proved.
futex() { # address that thread 1 wakes, arguments of the wait...
	head_of 3
	echo "site 16 kind=wait name=futex file=x.c line=17"
	echo "site 17 kind=wait name=futex%20wake file=x.c line=18"
	op 1 0 0 1000000
	echo "e 1 1000000 17 point id=$1"
	op 2 1 0 600000
	echo "e 2 600000 17 point id=5"
	op 0 16 100000 1000020 "${@:2}"
	op 0 12 1500000 1500000
}
futex 5 id=5 | trace woken
buys woken a 30 200000
buys woken b 100 0
may_buy woken a 30 0 # another may have stored it
says out "Who does not block at futex"
# Who wakes others does not end it, nor does the thread itself.
futex 6 id=5 | trace other
buys other b 50 200000 30
futex 5 id=6 | trace nobody
expect 0 coz nobody
noted "an operation waits for others, but the trace does not say for whom: 1 time, first rank 0 thread 0 at futex (x.c:17), stamp 1000020"
# A barrier: the one who woke both others would have waited for the later of them, and so would the other. But not if
# somebody else, who never waited here, has to do with futexes.
at_barrier() { # who else wakes somebody
	head_of 4
	echo "site 16 kind=wait name=futex file=x.c line=17"
	echo "site 17 kind=wait name=futex%20wake file=x.c line=18"
	op 0 1 1000000 1300000
	op 0 16 1300000 1600000 id=5
	op 0 1 1600000 1700000
	op 1 1 1000000 1400000
	op 1 16 1400000 1600000 id=5
	op 1 1 1600000 1700000
	op 2 0 1000000 1600000
	echo "e 2 1600000 17 point id=5"
	op 2 1 1600000 1800000
	echo "e ${1:-2} 1800000 17 point id=6"
}
at_barrier | trace futex-barrier
buys futex-barrier a 50 250000
at_barrier 3 | trace futex-flag
buys futex-flag a 50 375000
# Whoever comes last does something once for all, before it wakes the other: in another run that begins when the later
# one has come. But not if both have begun as much since they met.
does_once() { # what thread 0 does besides
	head_of 2
	echo "site 16 kind=wait name=futex file=x.c line=17"
	echo "site 17 kind=wait name=futex%20wake file=x.c line=18"
	for at in 1000000 1250010; do
		op 0 1 $at $((at + 100000))
		[ -z "${1:-}" ] || op 0 1 $((at + 100000)) $((at + 140000))
		op 0 16 $((at + 140000)) $((at + 250010)) id=5
		op 1 0 $at $((at + 200000))
		op 1 1 $((at + 200000)) $((at + 250000))
		echo "e 1 $((at + 250000)) 17 point id=5"
	done
}
does_once | trace futex-once
buys futex-once a 50 239990
does_once more | trace futex-leader
buys futex-leader a 50 399984
# Who wakes one at a time wakes whoever came first: with half of a thread 0 does, at 50,000 and not at 100,000.
{
	head_of 3
	echo "site 16 kind=wait name=futex file=x.c line=17"
	echo "site 17 kind=wait name=futex%20wake file=x.c line=18"
	op 2 1 1000000 1300000
	echo "e 2 1300000 17 point id=5"
	op 2 1 1300000 1500000
	echo "e 2 1500000 17 point id=5"
	op 0 0 1000000 1100000
	op 0 16 1100000 1500010 id=5
	op 0 1 1500010 1600000
	op 1 1 1000000 1080000
	op 1 16 1080000 1300010 id=5
	op 1 1 1300010 1350000
} | trace futex-queue
buys futex-queue a 50 83333.33

# Nor anybody, if it was a moment, or a signal.
futex 5 id=5 peer=72057594037927934 | trace moment
expect 0 coz moment
noted "the trace does not say for whom: 1 time, first rank 0 thread 0 at futex"
# Who comes earlier may have to wait for what was there in time here.
{
	futex 5 id=5
	op 0 0 1500000 2000000
} | trace there
may_buy there a 50 0
may_buy there a 50 375000
echo "as expected"

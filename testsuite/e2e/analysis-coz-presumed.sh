#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Where nobody says what has ended a wait, coz presumes it; what is proved does not depend on that.
. testsuite/fixtures/analysis/setup.sh
. "$fixtures/coz.sh"

# What was waited for is not known, and it may have been called in vain before.
{
	ranks 2
	op 0 0 1000000 1500000
	op 1 29 1500000 1500010 peer=72057594037927934
	op 1 1 1500010 2000000
} | trace read
may_buy read a 50 250000

# Nobody says what has ended a wait: most likely what another thread did just before, where that is hardly chance; and
# where it was over at once, nothing has.
unsaid() { # until when another works beside
	head_of 3
	op 0 0 1000000 1400000
	op 1 29 1000000 1400010 peer=72057594037927934
	op 1 1 1400010 2000000
	op 2 1 1000000 "$1"
}
unsaid 1100000 | trace presumed
unsure presumed 20 20
unsaid 1399950 | trace undecided
unsure undecided 0 20
{
	head_of 2
	op 1 29 1000000 1000010
	op 1 0 1000010 1400000
	op 1 29 1400000 1400010 peer=72057594037927934
	op 1 1 1400010 2000000
} | trace at_once
unsure at_once 20 20
# Likewise of one that was tried again, until a time limit each; and of sleeps in which nothing else is done, unless
# they are in a marked region.
{
	head_of 2
	op 0 0 1000000 1400000
	op 1 29 1000000 1200000 peer=72057594037927934 until=0
	op 1 29 1200010 1350000 peer=72057594037927934 until=0
	op 1 29 1350010 1400010 peer=72057594037927934
	op 1 1 1400010 2000000
} | trace limited
unsure limited 20 20
sleeps() { # what comes before, and behind, and when the other one is done
	head_of 2
	op 0 0 1000000 "${3:-1400000}"
	$1
	op 1 30 1000000 1150000
	op 1 30 1150010 1300000
	op 1 30 1300010 1390010
	op 1 30 1390020 1400010
	$2
	op 1 1 1400010 2000000
}
sleeps : : | trace asks
unsure asks 20 20
sleeps : : 1390015 | trace raced # behind the last look, before the last sleep
unsure raced 19.5 19.5
sleeps 'echo e 1 1000000 1 enter' 'echo e 1 1400010 1 exit' | trace works
expects works 0 0
# So it is for whoever asks for causes, where nothing is marked: half of what thread 1 does behind its sleeps is 30 %.
{
	head_of 3 | sed -e '/ kind=region /d; /^thread 2/a group 1 threads=0,1,2'
	for t in 0 1 2; do op $t 14 999990 999999 group=1 peer=$t tag=$t; done
	sleeps : : | grep '^e 1 .* 30 '
	op 0 2 1400000 2000000 group=1 seq=0
	op 1 2 2000000 2000000 group=1 seq=0
	op 2 2 1100000 2000000 group=1 seq=0
} | trace later
expect 0 diagnose --json later
jq -e '.findings[] | select(.cause == "imbalance").expected_percent | .lo > 29.9 and .hi < 30.1' out >is ||
	fail "later: $(jq -c '.findings[] | [.cause, .expected_percent]' out)"
# A number under a lock, looked at until it is there: what a look in vain does at its time here is no part of another run, in which
# the number is there before.
looks() {
	head_of 2
	local length at=1003900 raised=1000000
	for length in 50000 40000 30000; do
		op 0 0 $raised $((raised += length))
		op 0 6 $raised $((raised + 10)) id=5
		echo "e 0 $((raised += 20)) 6 point id=5"
		for ((; at < raised; at += 5010)); do
			op 1 6 $at $((at + 2)) id=5
			echo "e 1 $((at + 4)) 6 point id=5"
			op 1 30 $((at + 6)) $((at + 5006))
		done
		op 1 6 $at $((at + 2)) id=5
		echo "e 1 $((at + 4)) 6 point id=5"
		op 1 1 $((at + 6)) $((at += 5010))
	done
}
looks | trace looks
expects looks 46.46 46.46
# Where most such sleeps have been ended by one thread, it has ended another row as well, though that was seen later.
rows() {
	head_of 2
	local n at=1001000
	for n in 0 40000 80000; do op 0 0 $((1000000 + n)) $((1040000 + n)); done
	for n in 8 6 5; do
		for ((; n > 0; n--)); do op 1 30 $at $((at += 5000)); done
		op 1 1 $at $((at += 12200))
	done
}
rows | trace rows
expects rows 45.25 45.25
# Who yields looks once more behind the last yield that is recorded; and is late where others have its core, as often as not.
yields() { # when the last one is over of the first wait, and of the last
	head_of 2
	echo "site 17 kind=wait name=sched_yield file=x.c line=18"
	local n at=1000000 until
	for n in 0 40000 80000; do op 0 0 $((1000000 + n)) $((1040000 + n)); done
	for until in "$1" 1080010 "$2"; do
		op 1 17 $at "$until" until=0 peer=72057594037927934
		at=$((until < 1040010 ? 1040010 : until + 2))
		op 1 1 $at $((at += 12000))
	done
}
yields 1040005 1120005 | trace yields
unsure yields 45.45 45.45
yields 1039900 1120005 | trace looks_once_more
unsure looks_once_more 45.45 45.45
yields 1040005 1123000 | trace yields_late
unsure yields_late 44.44 44.44
# What ended a wait is not known: that may be anything, but not a region that is not there. So no proof is refuted by it.
{
	head_of 2
	echo "site 16 kind=wait name=system file=x.c line=17"
	for at in 1000000 1200000 1400000; do
		op 0 0 $at $((at + 50000))
		op 0 2 $((at + 50000)) $((at + 199999))
		op 1 16 $at $((at + 199000)) peer=72057594037927934
		op 1 2 $((at + 199000)) $((at + 199999))
	done
} | trace system
expect 0 coz --json --region a --thread 1 --reduce 50 system
gains "lo == 0 && hi == 0" || fail "system: $(cat out)"
echo "as expected"

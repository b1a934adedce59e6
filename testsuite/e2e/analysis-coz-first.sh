#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What coz proves holds whoever is first: to a lock, with a question, to a message, or to what is made once.
. testsuite/fixtures/analysis/setup.sh
. "$fixtures/coz.sh"

# ---- Messages with any tag, and what is made once ----------------------------------------------------

# Of two threads of a rank that send with tags of their own to receives with any tag either may be first: thread 1 sends at once
# without a, and the run is over after 280,000 of 510,000. Not so if one of them sends both.
of_any_tag() { # rank from to tag
	echo "e $1 $2 15 enter group=1 peer=1"
	echo "e $1 $3 15 point peer=1 tag=$4 bytes=8"
	echo "e $1 $3 15 exit"
}
any_tag() { # the thread of rank 1 that sends last, and that works for it
	ranks 2
	echo "thread 2 clock=0 rank=1 number=1"
	of_any_tag 0 1000000 1250010 1
	op 0 1 1250010 1500000
	of_any_tag 0 1500000 1500010 2
	op 0 1 1500010 1510000
	op 1 39 1000000 1000010 thread=1
	op 1 1 1000010 1250000
	op 1 14 1250000 1250005 group=1 peer=0 tag=1 bytes=8
	op "$1" 0 $((1500005 - 249995 * $1)) 1350000 # since 1250010, or 1000015
	op "$1" 14 1350000 1350005 group=1 peer=0 tag=2 bytes=8
}
any_tag 2 | trace any-tag
may_buy any-tag a 100 450980
any_tag 1 | trace any-tag-of-one
expect 0 coz --json --region a --reduce 100 any-tag-of-one
interval speedup_percent <out | { read -r _ hi && is_true "$hi < 0.01"; } || fail "any-tag-of-one: $(cat out)"

# Who made what is made by whoever comes first may find it made: thread 1 would make it in 50,000, and thread 0 go on 10,000
# sooner, whom nothing of a concerns. And what was made there another one would make, at another time. Not where nobody else asks
# for it.
makes() { # who finds it made
	head_of 3
	echo "site 16 kind=wait name=pthread_once file=x.c line=17"
	echo "site 17 kind=wait name=pthread_once%20done file= line=0"
	op 0 1 1000000 1012000
	op 0 39 1012000 1012010 thread=2
	op 0 1 1012010 1060000
	echo "e 0 1060000 17 point id=5"
	op 0 1 1060000 1160000
	op 1 0 1000000 1012000
	[ -z "$1" ] || op "$1" 16 1012000 1060010 id=5
	op 1 1 1060010 1070000
	op 2 1 1012010 1170000
}
makes 1 | trace once-makes
expect 0 coz --json --region a --reduce 100 once-makes
interval speedup_percent <out | { read -r _ hi && is_true "$hi > 5.9"; } || fail "once-makes: $(cat out)"
makes "" | trace once-alone
buys once-alone a 100 0
proves once-alone a 100 0 0

echo "as expected"

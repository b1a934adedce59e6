#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What coz proves holds whoever is first: to a lock, with a question, to a message, to what is made once, or to an exchange of data.
. testsuite/fixtures/analysis/setup.sh
. "$fixtures/coz.sh"

# ---- What is given to whoever is first, and done later ---------------------------------------------

# Whoever takes a lock, or counts, does what that gives it at any time up to a barrier of all who do: behind another lock, a team
# of its own, a barrier with somebody who takes nothing, a collective operation of its own, or one that only begins. Thread 0
# comes first, and does 900,000, and 500,000 of its own; without a thread 1 comes first, and does the 900,000, while thread 0 does
# 100,000.
once_each() { # what each does with its thread and time, after what region of its own comes
	op 0 1 1000000 1010000
	"$1" 0 1010000
	op 0 1 1010010 1910010
	op 0 1 1910010 2410010
	op 1 0 1000000 1020000
	"$1" 1 1020000
	op 1 1 1020010 1120010
}
locks() { # thread at number
	op "$1" 6 "$2" $(($2 + 1)) id="$3"
	echo "e $1 $(($2 + 1)) 6 point id=$3"
}
locks_then() { # with something else behind it
	locks "$1" "$2" 5
	"$then" "$1" $(($2 + 2))
}
other_lock() { locks "$1" "$2" $((6 + $1)); }
own_team() { # with a helper
	local t
	for t in "$1" $(($1 + 2)); do
		op "$t" 9 "$2" $(($2 + 1)) group=$((11 + $1)) seq=0 role=$((t < 2))
		op "$t" 11 $(($2 + 2)) $(($2 + 3)) group=$((11 + $1)) seq=0 role=$((t < 2))
	done
}
own_pair() {
	op "$1" 10 "$2" $(($2 + 1)) group=$((11 + $1)) seq=0
	op $(($1 + 2)) 10 "$2" $(($2 + 1)) group=$((11 + $1)) seq=0
}
none() { :; }
for then in other_lock own_team own_pair; do
	{ head_of 4; echo "group 11 threads=0,2"; echo "group 12 threads=1,3"; once_each locks_then; } | trace "later-$then"
	may_buy "later-$then" a 100 361699
	says out "may be decided by the order of pthread_mutex_lock (x.c:7)"
done
# Or a team does it that it opens, with a helper, for whom it waits.
helped() { # thread until
	op "$1" 9 $((1010002 + 10000 * $1)) $((1010003 + 10000 * $1)) group=$((11 + $1)) seq=0 role=1
	op "$1" 11 $((1010004 + 10000 * $1)) $(($2 + 1)) group=$((11 + $1)) seq=0 role=1
	op $(($1 + 2)) 9 $((1010002 + 10000 * $1)) $((1010003 + 10000 * $1)) group=$((11 + $1)) seq=0 role=0
	op $(($1 + 2)) 1 $((1010010 + 10000 * $1)) "$2"
	op $(($1 + 2)) 11 "$2" $(($2 + 1)) group=$((11 + $1)) seq=0 role=0
}
{
	head_of 4
	echo "group 11 threads=0,2"
	echo "group 12 threads=1,3"
	op 0 1 1000000 1010000
	locks 0 1010000 5
	helped 0 1910010
	op 2 1 1910012 2410010
	op 1 0 1000000 1020000
	locks 1 1020000 5
	helped 1 1120010
} | trace later-helped
may_buy later-helped a 100 361699
counts_then() { # rank at
	echo "e $1 $2 50 point offset=5"
	"$then" "$1" $(($2 + 2))
}
of_one() { op "$1" 26 "$2" $(($2 + 1)) group=$((11 + $1)) seq=0 role=1 bytes=4; }
only_begun() { op "$1" 31 "$2" $(($2 + 1)) group=1 seq=0 role=$((1 - $1)) bytes=4 id=3; }
for then in none of_one only_begun; do
	{
		ranks 2
		echo "group 11 threads=0"
		echo "group 12 threads=1"
		echo "site 50 kind=wait name=MPI_Win%20counts"
		once_each counts_then
	} | trace "later-$then"
	may_buy "later-$then" a 100 361699
done
# Who asks once somebody who listens to anyone, and is answered; and two threads of a rank that receive once.
receives_of() { # since at: rank 2, from this rank; and answers it
	echo "e 2 $1 15 enter group=1 tag=0"
	echo "e 2 $(($2 + 2)) 15 point peer=$3 bytes=8"
	echo "e 2 $(($2 + 2)) 15 exit"
	op 2 14 $(($2 + 3)) $(($2 + 4)) group=1 peer="$3" tag=1 bytes=8
}
asks_once() { # rank at
	op "$1" 14 "$2" $(($2 + 1)) group=1 peer=2 tag=0 bytes=8
	op "$1" 15 $(($2 + 1)) $(($2 + 5)) group=1 peer=2 tag=1 bytes=8
}
{ ranks 3; once_each asks_once; receives_of 1000000 1010000 0; receives_of 1010004 1020000 1; } | trace asks-once
may_buy asks-once a 100 361699
receives_one() { op "$1" 15 "$2" $(($2 + 5)) group=1 peer=1 tag=1 bytes=4; }
{
	head_of 2
	echo "thread 2 clock=0 rank=1 number=0"
	echo "group 1 threads=0,2"
	once_each receives_one
	op 2 14 1000000 1000001 group=1 peer=0 tag=1 bytes=4
	op 2 14 1000002 1000003 group=1 peer=0 tag=1 bytes=4
} | trace receives-once
may_buy receives-once a 100 361699
# Nothing that comes behind a barrier of all who take.
before_barrier() { # what each does with its thread and time
	op 0 1 1000000 1010000
	"$1" 0 1010000
	op 0 10 1010010 1020020 group=9 seq=0
	op 0 1 1020020 1920020
	op 1 0 1000000 1020000
	"$1" 1 1020000
	op 1 10 1020010 1020020 group=9 seq=0
	op 1 1 1020020 1120020
	echo "group 9 threads=0,1"
}
then=other_lock
{ head_of 2; before_barrier locks_then; } | trace later-barrier
{ ranks 3; before_barrier asks_once; receives_of 1000000 1010000 0; receives_of 1010004 1020000 1; } | trace asks-barrier
for of in later-barrier asks-barrier; do
	expect 0 coz --json --region a --reduce 100 $of
	gains "hi < 2.2" || fail "$of: $(cat out)"
done

# Or of which only the length is recorded, with the lock or behind it: each goes on with what it was at, unmarked or in a region
# that it was in before. Thread 0 comes first, and without a thread 1 does, which then does what thread 0 did with the lock, and
# 900,000 of what it did behind it.
lengths() { # thread 0 has the lock for so long, and goes on for so long; thread 1 likewise; with what sleeps there
	local has=$((1200001 > 1190001 + $1 ? 1200001 : 1190001 + $1))
	head_of 3
	echo "e 0 1000000 1 enter"
	op 0 6 1190000 1190001 id=5
	[ -z "$5" ] || op 0 30 1190002 $((1190000 + $1))
	echo "e 0 $((1190001 + $1)) 6 point id=5"
	goes_on $((1190001 + $1)) "$2"
	op 1 0 1000000 1200000
	echo "e 1 1200000 1 enter"
	op 1 6 1200000 $has id=5
	[ -z "$5" ] || op 1 30 $((has + 1)) $((has + $3))
	echo "e 1 $((has + $3)) 6 point id=5"
	echo "e 1 $((has + $3 + $4)) 1 exit"
}
goes_on() { echo "e 0 $(($1 + $2)) 1 exit"; } # since for so long
lengths 1 1400000 1 100000 "" | trace longer-behind
may_buy longer-behind a 100 433962
lengths 1 1400000 1 100000 "" | sed -E '/^e . [0-9]+ 1 enter/d; s/ 1 exit$/ 13 point/' | trace longer-unmarked
may_buy longer-unmarked a 100 433962
says out '"proved_if"'
for sleeps in "" yes; do
	lengths 400000 300000 3 300000 "$sleeps" | trace longer-inside
	may_buy longer-inside a 100 213482
done
# Not where all take as long, but for what they wait there.
lengths 1 600000 1 600100 "" | trace as-long
goes_on() { # it waits for a helper, for 300,000
	echo "group 11 threads=0,2"
	op 0 10 $(($1 + 100000)) $(($1 + 400000)) group=11 seq=0
	op 2 1 1000000 $(($1 + 399990))
	op 2 10 $(($1 + 399990)) $(($1 + 400000)) group=11 seq=0
	echo "e 0 $(($1 + $2 + 300000)) 1 exit"
}
lengths 1 600000 1 600100 "" | trace as-long-but-waits
for of in as-long as-long-but-waits; do
	expect 0 coz --json --region a --reduce 100 $of
	gains "hi < 2" || fail "$of: $(cat out)"
done

# Locks that several threads take at one place, each its own: without a thread 1 takes half of what thread 0 has left. Not so where
# they take them at different places.
own_locks() { # where thread 1 does
	local i at
	head_of 2
	echo "site 51 kind=lock name=pthread_mutex_lock file=x.c line=52"
	for ((i = 0; i < 4; i++)); do
		at=$((1000000 + 100000 * i))
		locks 0 $at 5
		op 0 1 $((at + 10)) $((at + 100000))
		op 1 "$1" $at $((at + 1)) id=6
		echo "e 1 $((at + 1)) $1 point id=6"
		op 1 0 $((at + 10)) $((at + 100000))
	done
}
own_locks 6 | trace own-locks
may_buy own-locks a 100 500000
own_locks 51 | trace own-locks-apart
buys own-locks-apart a 100 0
proves own-locks-apart a 100 0 0

# Children: thread 1 waits for any first, and does 60,000 for one that ends first, and thread 0 then 200,000 for the other; without
# a it is the other way round.
{
	printf '%s\n' "dprof-text 1" "clock 0 host=h0 ghz=1" "process 0 pid=10"
	printf '%s\n' "process 1 pid=11 started=999000 forked=1 parent=0" "process 2 pid=12 started=999020 forked=1 parent=0"
	printf '%s\n' "thread 0 clock=0 process=0 number=0" "thread 1 clock=0 process=0 number=1"
	printf '%s\n' "thread 2 clock=0 process=1 number=0" "thread 3 clock=0 process=2 number=0" "$sites"
	printf '%s\n' "site 50 kind=fork name=fork file=x.c line=50" "site 51 kind=wait name=wait file=x.c line=51"
	op 0 50 999000 999010 process=11
	op 0 50 999020 999030 process=12
	op 0 39 999040 999050 thread=1
	op 2 1 1000000 1040000
	op 3 0 1000000 1060000
	op 1 51 1010000 1040010 process=11 peer=72057594037927934
	op 1 1 1040010 1100010
	op 0 1 1000000 1090000
	op 0 51 1090000 1090010 process=12 peer=72057594037927934
	op 0 1 1090010 1290010
	op 0 1 1290010 1340010
} | trace children
may_buy children a 100 381000

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
gains "hi < 0.01" || fail "any-tag-of-one: $(cat out)"

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
gains "hi > 5.9" || fail "once-makes: $(cat out)"
makes "" | trace once-alone
buys once-alone a 100 0
proves once-alone a 100 0 0

# Two threads take their work by an atomic number. Thread 1 had the first piece, and was kept from its core before it said so, until
# thread 2 had said that it has the second. Without region c thread 2 comes first, and does what takes 750,000.
{
	head_of 3
	echo "site 50 kind=wait name=atomic%20counter file=x.c line=50"
	echo "site 51 kind=region name=c file=x.c line=51"
	echo "site 52 kind=join name=pthread_join file=x.c line=52"
	for t in 1 2; do op 0 39 1000000 1000000 thread=$t; done
	op 0 52 1000000 1900010 thread=1
	op 0 52 1900010 1900020 thread=2
	op 1 1 1000000 1100000
	echo "e 1 1150010 50 point offset=64 tag=0"
	op 1 0 1150010 1900000
	op 2 51 1000000 1150000
	echo "e 2 1150000 50 point offset=64 tag=1"
	op 2 1 1150000 1250000
} | trace counted-late
may_buy counted-late c 100 166677
# Each has a range and a number of its own, and who is done takes what others have left: without region c thread 2 takes one of thread 1's
# four pieces of 100,000. Not if they count in different functions.
own_numbers() { # where thread 2 counts
	local i
	head_of 3
	echo "site 50 kind=wait name=atomic%20counter file=x.c line=50"
	echo "site 51 kind=region name=c file=x.c line=51"
	echo "site 52 kind=join name=pthread_join file=x.c line=52"
	echo "site 53 kind=wait name=atomic%20counter file=x.c line=53"
	for t in 1 2; do op 0 39 1000000 1000000 thread=$t; done
	op 0 52 1000000 1400010 thread=1
	op 0 52 1400010 1400020 thread=2
	op 2 51 1000000 1250000
	for i in 0 1 2 3; do
		echo "e 1 $((1000000 + i * 100000)) 50 point offset=64 tag=$i"
		op 1 0 $((1000000 + i * 100000)) $((1100000 + i * 100000))
		[ $i -lt 2 ] || echo "e 2 $((1100000 + i * 75000)) $1 point offset=128 tag=$((i - 2))"
		[ $i -lt 2 ] || op 2 1 $((1100000 + i * 75000)) $((1175000 + i * 75000))
	done
}
own_numbers 50 | trace own-numbers
may_buy own-numbers c 100 250000
own_numbers 53 | trace own-places
proves own-places c 100 0 0

# ---- Data that go from all to all, before the last one comes -------------------------------------------

# Where much data go from all to all, those who come early may exchange theirs before the last comes. That takes 100,000 where all
# come together, and 20,000 behind rank 1 where that comes 400,000 later: without a it is over after 100,000, not 20,000.
exchanges() { # bytes, how long it takes where all come together
	local r
	ranks 3
	echo "site 50 kind=coll name=MPI_Alltoall file=x.c line=50"
	op 1 0 1000000 1400000
	for r in 0 1 2; do
		op $r 50 $((r == 1 ? 1400000 : 1000000)) 1420000 group=1 seq=0 bytes="$1"
		op $r 50 1420000 $((1420000 + $2)) group=1 seq=1 bytes="$1"
		op $r 1 $((1420000 + $2)) 2000000
	done
}
exchanges 1000000 100000 | trace exchange
may_buy exchange a 100 320000
may_buy exchange a 100 400000
# Nothing of that where there are few data, or where no such operation was seen to take longer.
for of in "8 100000" "1000000 20000"; do
	exchanges $of | trace exchange-soon
	proves exchange-soon a 100 400000 400000
done

echo "as expected"

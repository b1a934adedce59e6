#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What coz expects and proves of bytes: who gives them, who takes them, and whether there is room.
. testsuite/fixtures/analysis/setup.sh
. "$fixtures/coz.sh"

# Who takes bytes comes behind whoever gave them, whether it had to wait or would have if it had come sooner.
bytes() { # when region b of who takes begins and ends, and the read, arguments of the read...
	head_of 2
	op 1 0 0 1000000
	op 1 29 1000000 1000010 channel=7 offset=0 bytes=4 role=1
	op 0 1 "$1" "$2"
	op 0 29 "$3" "$4" channel=7 "${@:5}"
	op 0 12 1500000 1500000
}
bytes 0 100000 100000 1000020 peer=72057594037927934 offset=0 bytes=4 | trace waits
buys waits a 50 333333
buys waits b 100 0
bytes 0 1200000 1200000 1200010 offset=0 bytes=4 | trace late
buys late b 50 133333
buys late a 50 0
# Who writes to itself, and took long over it, did not wait for its own read, which came only later; nor, when it finds that
# there are no more bytes, for anything else that it did itself.
{
	head_of 1
	op 0 0 0 500000
	op 0 29 500000 600000 channel=7 offset=0 bytes=4 peer=72057594037927934 role=1
	op 0 29 600000 600010 channel=7 offset=0 bytes=4
	op 0 1 600010 1000000
	op 0 29 1000000 1000010 channel=7 offset=4 bytes=0 peer=72057594037927934
} | trace own
for region in 'a 25' 'b 20'; do
	may_buy own "${region% *}" 50 "${region#* }0000"
	interval expected_percent <out | { read -r lo hi && is_true "$lo > ${region#* } - .01 && $hi < ${region#* } + .01"; } ||
		fail "own: $(cat out)"
done
# Of what was not given in the trace it is not known when it came.
bytes 0 100000 100000 1000020 peer=72057594037927934 offset=0 bytes=5 | trace not-given
expect 0 coz not-given
noted "an operation waits for others, but the trace does not say for whom: 1 time, first rank 0 thread 0 at read (x.c:30), stamp 1000020"
# Nor of bytes that nobody counted, which a stream took.
bytes 0 100000 100000 1000020 peer=72057594037927934 | trace not-counted
expect 0 coz not-counted
noted "the trace does not say for whom: 1 time, first rank 0 thread 0 at read"
# The channel's number stood for another one before.
{
	bytes 0 100000 100000 1000020 peer=72057594037927934 offset=0 bytes=4
	op 1 29 1100000 1100010 channel=7 offset=0 bytes=4 role=1
} | trace reused
expect 0 coz reused
noted "the trace does not say for whom: 1 time, first rank 0 thread 0 at read"
# Messages are counted where there is a tag, not bytes: the rest of one that is not read is gone.
{
	bytes 0 100000 100000 1200020 peer=72057594037927934 tag=1 offset=1 bytes=1 | sed 's/offset=0 /tag=1 offset=0 /'
	op 1 0 1000020 1200000
	op 1 29 1200000 1200010 channel=7 tag=1 offset=1 bytes=9 role=1
} | trace messages
buys messages a 50 399993
! grep -q "for whom: 1 time" out || fail "messages: $(cat out)"
# A read that took what two had given could have been over with the first of it.
{
	bytes 0 100000 100000 1200020 peer=72057594037927934 offset=0 bytes=8
	op 1 0 1000020 1200000
	op 1 29 1200000 1200010 channel=7 offset=4 bytes=4 role=1
} | trace two
buys two a 50 399993
gains "hi > 46.6 && hi < 46.7" || fail "two: $(cat out)"

# Who takes as many bytes as there are (role=0) may take those of two at once, and work half as much; who goes on until he has
# all that he wants may not.
pieces() { # what stands between two reads of 4 bytes
	head_of 2
	for i in 1 2 3 4; do
		op 1 0 $((800000 + i * 200000)) $((1000000 + i * 200000))
		op 1 29 $((1000000 + i * 200000)) $((1000000 + i * 200000)) channel=7 offset=$((i * 4 - 4)) bytes=4 role=1
		op 0 29 $((980000 + i * 200000)) $((1000020 + i * 200000)) channel=7 offset=$((i * 4 - 4)) bytes=4 role=0 \
			peer=72057594037927934
		[ "$1" = 0 ] || op 0 1 $((1000020 + i * 200000)) $((1180000 + i * 200000))
	done
	op 1 29 1995000 1995010 channel=7 offset=16 bytes=4 role=1
	op 0 29 1990000 2000000 channel=7 offset=16 bytes=4 peer=72057594037927934
	op 0 1 2000030 2180000
}
pieces 1 | trace as-they-come
may_buy as-they-come a 90 500000
says out "may be decided by the order of read (x.c:30)"
pieces 0 | trace until-all
expect 0 coz until-all
says_not out "decided by the order"

# Of two that give, another run may have the other one first: what is done with the first bytes is begun earlier then,
# though whoever gave them here was not made faster.
first() { # offset of what a is behind, channel of what b is behind, and when it is first waited for that
	head_of 3
	echo "site 16 kind=wait name=poll file=x.c line=17"
	op 1 0 0 500000
	op 1 29 500000 500010 channel=7 offset="$1" bytes=1 role=1
	op 2 1 0 300000
	op 2 29 300000 300010 channel="$2" offset=0 bytes=1 role=1
	[ "$3" = 0 ] || op 0 16 0 300010 peer=72057594037927934
	op 0 29 "$3" 300020 peer=72057594037927934 channel="$2" offset=0 bytes=1
	op 0 12 300020 600020
	op 0 29 600030 600040 peer=72057594037927934 channel=7 offset="$1" bytes=1
	op 0 12 900040 900040
}
may_buy_either() { # trace: nothing, or 250 of 900
	may_buy "$1" a 90 0
	may_buy "$1" a 90 277000
}
first 1 7 0 | trace writers
may_buy_either writers
# Likewise of two channels, if it may have been told which one has something.
first 0 8 300012 | trace polled
may_buy_either polled

# Who has looked which of two has asked turns to the one that asks first in another run; but not who has only waited for a signal.
asked() { # what it has waited in
	head_of 3
	echo "site 16 kind=wait name=$1 file=x.c line=17"
	op 0 16 0 100000 peer=72057594037927934
	op 0 1 100000 1000000
	op 0 29 1000000 1000010 channel=1 offset=0 bytes=1 peer=72057594037927934
	op 0 1 1000010 2000000
	op 0 29 2000000 2000010 channel=3 offset=0 bytes=1 role=1
	op 0 29 2000010 2000020 channel=2 offset=0 bytes=1 peer=72057594037927934
	op 0 1 2000020 2200000
	op 0 29 2200000 2200010 channel=4 offset=0 bytes=1 role=1
	op 1 1 0 400000
	op 1 29 400000 400010 channel=1 offset=0 bytes=1 role=1
	op 1 29 400010 2000020 channel=3 offset=0 bytes=1 peer=72057594037927934
	op 2 0 0 800000
	op 2 29 800000 800010 channel=2 offset=0 bytes=1 role=1
	op 2 29 800010 2200020 channel=4 offset=0 bytes=1 peer=72057594037927934
	op 2 1 2200020 5000000
}
expects_about() { # directory, percent
	expect 0 coz --json --region a --reduce 90 "$1"
	jq -e --argjson truth "$2" '.expected_percent | .lo >= $truth - 2 and .hi <= $truth + 2' out >found || fail "$1: expected $2 %, found: $(cat out)"
}
asked poll | trace polled-first
asked sigwait | trace signalled
expects_about polled-first 20
expects_about signalled 0

# Of two threads that look at one place, each at a channel of its own, none takes what is the other's, though it came for something
# when that was there already.
looks() { # thread from to, of the look; until, of taking it; and what is taken
	op "$1" 16 "$2" "$3" peer=72057594037927934
	op "$1" 29 "$3" "$4" peer=72057594037927934 "$5" "$6" bytes=1
}
{
	head_of 3
	echo "site 16 kind=wait name=poll file=x.c line=17"
	op 0 29 0 10 channel=7 offset=0 bytes=1 role=1
	op 0 0 10 50000
	looks 0 50000 600020 600030 channel=8 offset=0
	op 1 0 0 200000
	looks 1 200000 200010 200020 channel=7 offset=0
	op 1 1 200020 650000
	looks 1 650000 650010 650020 channel=7 offset=1
	op 1 0 650020 750020
	op 2 0 0 600000
	op 2 29 600000 600010 channel=7 offset=1 bytes=1 role=1
	op 2 29 600010 600020 channel=8 offset=0 bytes=1 role=1
} | trace own-looks
buys own-looks a 100 399989.3 5

# It is not known here who takes bytes, and so makes room; but of two that give them either may have it first.
{
	head_of 2
	echo "site 50 kind=wait name=write file=x.c line=50"
	op 0 0 1000000 1250000
	op 0 50 1250000 1700000 peer=72057594037927934 channel=5 offset=1000 bytes=10 role=1
	op 0 1 1700000 2200000
	op 1 1 1000000 1200000
	op 1 50 1200000 1699500 peer=72057594037927934 channel=5 offset=0 bytes=1000 role=1
} | trace room
may_buy room a 100 416666

# Nor is anything recorded of who takes bytes that nobody counts and does not block, but that there are such calls; who
# gives them may have to wait for room.
uncounted() { # what thread 0 does first
	head_of 2
	echo "$1"
	op 0 0 0 1000000
	op 0 29 1000000 1000000 channel=7 bytes=4 role=1
	op 0 1 1000000 2000000
	op 1 12 0 0
}
uncounted "" | trace gives
may_buy gives a 50 0
may_buy gives b 50 250000
expect 0 coz --json --region b --reduce 50 gives
gains "lo > 24.9" || fail "gives: $(cat out)"
uncounted "e 0 0 29 point" | trace takes
may_buy takes b 50 0
says out "Who does not block at read (x.c:30) leaves no record"
echo "as expected"

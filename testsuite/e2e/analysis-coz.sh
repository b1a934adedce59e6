#!/bin/bash
# SPDX-License-Identifier: MIT
#
# coz: the Coz paper's Figure 1, a barrier, the ticks of stamps, progress points, what cannot be meant, and what is printed.
# analysis-coz-*.sh have a kind of waiting each. (Random programs: testsuite/unit/truth_coz.c.)
. testsuite/fixtures/analysis/setup.sh
. "$fixtures/coz.sh"

# ---- The Coz paper's Figure 1 ------------------------------------------------------------------

trace figure <"$fixtures/coz-two-threads.txt"
buys figure a 100 44776.119403 0.01
buys figure b 100 0 0
buys figure a 0 0 0
buys figure a 4.477611 44776.11 0.01
expect 0 coz figure
says out "a                    4.48 ±0.01      4.48 ±0.01      4.48 ±0.01      proved"
# Of no trace it is known which waits have had a time limit, or who has asked how much there is: so that is said.
expect 0 coz --json --region a --reduce 50 figure
says out "nor on how much there is to take (sem_getvalue, FIONREAD), what a file holds, or"
says out "Who has waited with a time limit, and had what it waited for, has that within the limit in any run."

# In a barrier inside of a region nothing is cut; what comes behind it moves.
{
	ranks 2
	echo "e 0 1000000 0 enter"
	op 0 2 1200000 1600000 group=1 seq=0
	echo "e 0 2000000 0 exit"
	op 1 1 1000000 1600000
	op 1 2 1600000 1600000 group=1 seq=0
} | trace barrier
buys barrier a 100 400000 # only the second half
buys barrier b 100 400000 # until rank 0 is the last
buys barrier b 50 300000

# Each visit may have lasted a tick more or less than its stamps say.
{
	ranks 1
	for i in $(seq 1000); do op 0 0 $((1000000 + i * 100)) $((1000001 + i * 100)); done
	op 0 1 1200000 2000100
} | trace short
buys short a 100 10 2010
buys short a 100 1990 2010

# ---- Progress points -----------------------------------------------------------------------------

# Three requests, begun by rank 0, ended by rank 1 in another order; b is the time on the way.
{
	head_of 1
	for i in 0 1 2; do
		echo "e 0 $((1000000 + i * 300000)) 12 point"
		op 0 1 $((1000000 + i * 300000)) $((1200000 + i * 300000))
		echo "e 0 $((1200000 + i * 300000)) 13 point"
		op 0 0 $((1200000 + i * 300000)) $((1300000 + i * 300000))
	done
} | trace requests
expect 0 coz --from begun --to ended --region b --reduce 50 requests
says out "50 %       50.000 ±0.002"
says out "(3 set out, 3 arrived)"
expect 0 coz --from begun --to ended --region a --reduce 50 requests
says out "50 %       -0.00"
expect 0 coz --progress begun --region a --reduce 100 requests # 600 to 400
says out "100 %      50.000 ±0.001"
expect 0 coz --progress begun --region a --json requests
says out '"throughput_percent"'

# ---- What cannot be meant -------------------------------------------------------------------------

for percent in -1 100.0000001 101 1e3 "" x 5% 99999999999999999999; do
	expect 2 coz --reduce "$percent" figure
	says err "--reduce: expected a percentage from 0 to 100 with at most 6 decimals; found \"$percent\""
done
expect 2 coz --region aa figure
says err '--region: expected the name of a region of this trace, such as a; found "aa"'
expect 2 coz --rank 3 barrier
says err '--rank: expected a rank of this trace, such as 0; found "3"'
expect 2 coz --rank 0 figure
says err "the pid of a process, as there are no ranks, such as"
expect 2 coz --progress begin requests
says err "such as begun"
expect 2 coz --from begun requests
says err "--from: expected --to as well; found \"begun\""
expect 2 coz --transfer best figure
says err '--transfer: expected worst; found "best"'
expect 0 coz --rank 1 --region a --transfer worst barrier

# Where nothing was recorded, nothing is known of the run either.
two_regions | sed '2a thread 0 clock=0 rank=0' | trace unrecorded
for arguments in "" "--region b --reduce 30"; do
	expect 0 coz $arguments unrecorded
	[ "$(<out)" = "Nothing was recorded: nothing is known of what a region would buy." ] || fail "nothing was recorded: $(cat out)"
done

# 80 columns.
for arguments in "" "--region b" "--region b --reduce 30" "--from begun --to ended" "--progress ended"; do
	expect 0 coz $arguments requests
	fits_80 out || fail "coz $arguments: nothing, or wider than 80 columns"
done
echo "as expected"

#!/bin/bash
# SPDX-License-Identifier: MIT
#
# diagnose finds time that is lost in many places of which none costs enough to be a finding, and what others wait for
# while an operation itself takes long; and proves of it what the trace shows.
. testsuite/fixtures/analysis/setup.sh

sites() { # ranks
	printf '%s\n' "dprof-text 1" "clock 0 host=h0 ghz=1" "site 0 kind=barrier name=MPI_Barrier file=x.c line=1" \
		"site 1 kind=region name=all file=x.c line=2" "site 2 kind=send name=MPI_Send file=x.c line=3" \
		"site 3 kind=recv name=MPI_Recv file=x.c line=4"
	for ((r = 0; r < $1; r++)); do echo "thread $r clock=0 rank=$r"; done
	echo "group 1 threads=$(seq -s, 0 $(($1 - 1)))"
	for i in {1..60}; do
		echo "site $((100 + i)) kind=region name=r$i file=x.c line=$((100 + i))"
		echo "site $((200 + i)) kind=send name=MPI_Send file=x.c line=$((200 + i))"
		echo "site $((300 + i)) kind=recv name=MPI_Recv file=x.c line=$((300 + i))"
	done
}

found() { # trace expression: of the findings
	expect 0 diagnose --model generic --json "$1"
	jq -e ".findings | $2" out >is ||
		fail "$1: $(jq -c '[.findings[] | [.cause, .rank, .proved, .cost_percent, .what, .expected_percent]]' out)"
}

# Rank 0 works alone in 60 regions, one after the other, each for 1.6 % of the run; rank 1 waits meanwhile. (The 61st
# place is the barrier.)
alone() { # ranks that work
	sites 2
	for i in {1..60}; do
		for r in 0 1; do
			end=$((i * 1000 + (r < $1 ? 990 : 0)))
			[ $end = $((i * 1000)) ] || work $r $((100 + i)) $((i * 1000)) $((end - r * 900))
			op $r 0 $((end - (end > i * 1000) * r * 900)) $((i * 1000 + 1000)) group=1 seq=$i
		done
	done
}
alone 1 | trace alone
found alone 'length == 1 and (.[0] | .cause == "sequential" and .proved and .rank == 0 and (.what | contains("in 61 places")) and
	.cost_percent.lo < 49.5 and .cost_percent.hi > 49.5 and .cost_percent.hi - .cost_percent.lo < 0.4 and
	.less_percent == 50 and .expected_percent.lo < 49.5 and .expected_percent.hi > 49.5)'
# Of 60 supersteps it is said likewise, and what less of all work of rank 0 would buy.
bsp() { # trace cause text buys
	expect 0 diagnose --model bsp --json "$1"
	jq -e --arg cause "$2" --arg text "$3" --argjson buys "$4" '.model == "bsp" and (.findings[0] | .cause == $cause and .proved and .rank == 0 and
		(.what | endswith($text)) and .expected_percent.lo < $buys and .expected_percent.hi > $buys)' out >is ||
		fail "$1: expected $*, found $(jq -c '[.model, .findings]' out)"
}
bsp alone sequential "what one does alone, most rank 0, in many regions, longest in r1" 49.5
# Both work there, rank 0 for longer: that is no sequential work, and of each region it is not proved that others are
# longer in none.
alone 2 | trace both
found both 'length == 1 and (.[0] | .cause == "imbalance" and (.proved | not) and .rank == 0 and .cost_percent.hi > 44)'
bsp both imbalance "superstep for superstep, in many regions, longest in r1" 49.5

# 60 messages from 60 places; each side takes 0.8 % of the run for each.
{ sites 2; for i in {1..60}; do
	op 0 $((200 + i)) $((i * 1000)) $((i * 1000 + 900)) group=1 peer=1 tag=1 bytes=8
	op 1 $((300 + i)) $((i * 1000)) $((i * 1000 + 900)) group=1 peer=0 tag=1 bytes=8
	for r in 0 1; do work $r 1 $((i * 1000 + 900)) $((i * 1000 + 1000)); done
done; } | trace messages
found messages 'any(.cause == "granularity" and .proved and (.what | startswith("120 operations")) and .cost_percent.lo > 89 and .cost_percent.hi < 91)'

# The message is there when rank 0 still sends, for 4 of 9 of the run: 19 ranks wait for that.
{ sites 20; for r in {0..19}; do
	work $r 1 0 1000
	[ $r != 0 ] || op 0 2 1010 5000 group=1 peer=1 tag=1 bytes=8
	[ $r != 1 ] || op 1 3 1005 1100 group=1 peer=0 tag=1 bytes=8
	op $r 0 $((r > 1 ? 1000 : r ? 1100 : 5000)) 5010 group=1 seq=0; work $r 1 5010 9000
done; } | trace sends
found sends '.[0] | .cause == "communication" and .rank == 0 and .proved and .where == "x.c:3" and .cost_percent.lo > 40 and
	(.what | endswith("longest in MPI_Barrier (x.c:1)"))'

# Of 66 regions that of rank 0 alone takes least of all threads' time, and costs others most.
{ sites 20; for i in {61..65}; do echo "site $((100 + i)) kind=region name=r$i file=x.c line=$((100 + i))"; done
	for r in {0..19}; do
		[ $r != 0 ] || work 0 1 0 15000
		op $r 0 $((r ? 0 : 15000)) 15100 group=1 seq=0
		for i in {1..65}; do work $r $((100 + i)) $((14100 + 1000 * i)) $((15100 + 1000 * i)); done
		op $r 0 80100 80200 group=1 seq=1
	done; } | trace regions
found regions 'length == 1 and (.[0] | .cause == "sequential" and .proved and .region == "all" and .cost_percent.lo < 17.767 and
	.cost_percent.hi > 17.767)'

# Thread 1 waits for what thread 0 holds in 60 regions, for 0.7 % of all time in each; then thread 0 waits for thread 1.
{ sites 2; echo "site 5 kind=lock name=pthread_mutex_lock file=x.c line=6"
	for i in {1..60}; do
		at=$((i * 1000))
		op 0 5 $at $((at + 1)) id=5; work 0 $((100 + i)) $((at + 1)) $((at + 900)); echo "e 0 $((at + 900)) 5 point id=5"
		op 1 5 $((at + 100)) $((at + 905)) id=5; work 1 1 $((at + 905)) $((at + 920)); echo "e 1 $((at + 920)) 5 point id=5"
		op 0 0 $((at + 900)) $((at + 930)) group=1 seq=$i; op 1 0 $((at + 920)) $((at + 930)) group=1 seq=$i
	done; } | sed 's/^thread 1 clock=0 rank=1/thread 1 clock=0 rank=0 number=1/; s/^thread 0 clock=0 rank=0/& number=0/' | trace locks
found locks 'any(.cause == "lock" and .proved and (.what | contains("in one of 60 places")) and .cost_percent.lo > 39 and .cost_percent.hi < 41) and
	all(.[]; .cause == "lock" or (.proved | not))'

# Outside of regions rank 1 reads a file for 6 of 10 of the run, or for 4 (less than half of what it does there), and
# rank 0 waits for it. In a program with marks nobody knows whether the rest is work, so what less of all work would buy
# is not asked.
reads() { # how long, marked
	sites 2 | grep -v "$([ "$2" = yes ] && echo nothing || echo kind=region)"
	echo "site 3000 kind=io name=fread file=x.c line=9"
	[ "$2" = no ] || work 1 1 0 10
	op 1 3000 1000 $((1000 + $1))
	op 0 0 1000 10000 group=1 seq=0
	op 1 0 9990 10000 group=1 seq=0
}
outside() { # trace text suggestion asked
	found "$1" "any(.what == \"others wait for who is longest outside of regions, rank 1 most$2; threads may take turns in that\" and
		.suggestion == \"$3\" and (.expected_percent == null) == $4)"
}
reads 6000 no | trace reads
outside reads ", mostly in fread (x.c:9)" "make fread shorter, share it among threads, or let others work meanwhile" false
reads 6000 yes | trace marked-reads
outside marked-reads ", mostly in fread (x.c:9)" "make fread shorter, share it among threads, or let others work meanwhile" true
reads 4000 yes | trace short-reads
outside short-reads "" "mark what rank 1 does there as a region, to see what it is" true
exit $failed

#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What coz expects and proves where ranks exchange messages, and where one thread waits for what another has begun.
. testsuite/fixtures/analysis/setup.sh
. "$fixtures/coz.sh"

# Ranks that exchange 20,000 bytes, in turns one is late. Once a message took long, for reasons of its own: who came far
# behind the other was waited for all the same.
{
	ranks 2
	for i in 0 1 2 3; do
		from=$((1000000 + i * 250000)) slow=$((i == 1 ? 60000 : 10))
		end=$((from + 150000 + slow))
		op $((i % 2)) 0 $from $((from + 150000))
		op $((1 - i % 2)) 1 $from $((from + 50000))
		for r in 0 1; do
			at=$((r == i % 2 ? from + 150000 : from + 50000))
			echo "e $r $at 5 enter"
			echo "e $r $at 4 enter group=1 peer=$((1 - r)) tag=0 bytes=20000 id=$i"
			echo "e $r $((at + 1)) 3 enter group=1 peer=$((1 - r)) tag=0 bytes=20000 id=9"
			echo "e $r $end 4 point id=$i bytes=20000"
			echo "e $r $end 3 point id=9"
			echo "e $r $end 3 exit"
			echo "e $r $end 4 exit"
			echo "e $r $end 5 exit"
			op $r 1 $end $((from + 250000))
		done
	done
} | sed 's/name=MPI_Waitall/name=MPI_Sendrecv/' | trace exchange
buys exchange a 40 240000 4000

# Who only begins an exchange waits for it later: to begin it was no attempt in vain.
{
	ranks 2
	echo "site 99 kind=wait name=MPI_Isendrecv file=x.c line=100"
	for r in 0 1; do
		begins=$((1100000 + 300000 * r)) waits=$((1150000 + 300000 * r)) ends=$((1400020 + 50000 * r))
		op $r $((1 - r)) 1000000 $begins
		echo "e $r $begins 99 enter"
		op $r 3 $begins $begins group=1 peer=$((1 - r)) tag=0 bytes=8 id=1
		op $r 4 $begins $begins group=1 peer=$((1 - r)) tag=0 bytes=8 id=2
		echo "e $r $begins 99 exit"
		op $r 1 $begins $waits
		echo "e $r $waits 5 enter"
		echo "e $r $ends 4 point id=2 bytes=8"
		echo "e $r $ends 3 point id=1"
		echo "e $r $ends 5 exit"
		op $r 1 $ends $((2000000 - 100000 * r))
	done
} | trace begun-exchange
buys begun-exchange a 50 200000 100

# Who waits once, for a message and for whoever takes another one: both came with the other rank, and nothing tells what it takes.
{
	ranks 2
	for r in 0 1; do
		begins=$((1100000 + 300000 * r)) ends=1400090
		op $r $((1 - r)) 1000000 $begins
		op $r 4 $begins $((begins + 20)) group=1 peer=$((1 - r)) tag=0 bytes=8 id=1
		op $r 3 $((begins + 20)) $((begins + 40)) group=1 peer=$((1 - r)) tag=0 bytes=8 id=2
		echo "e $r $((begins + 50)) 5 enter"
		echo "e $r $ends 4 point id=1 bytes=8"
		echo "e $r $ends 3 point id=2"
		echo "e $r $ends 5 exit"
		op $r 1 $ends $((2000000 - 100000 * r))
	done
} | sed "s/name=MPI_Isend /name=MPI_Issend /" | trace once-for-both
buys once-for-both a 50 200000 100

# Ranks in a ring work 8,000, one of them in turns longer, and exchange messages: with the next one by MPI_Sendrecv, with
# it or with both neighbours by MPI_Irecv, MPI_Isend and MPI_Waitall. It is expected that each waits for the others.
rings() { # way, bytes, how long the longer work takes
	ranks 3
	echo "site 99 kind=wait name=MPI_Sendrecv file=x.c line=100"
	awk -v way="$1" -v bytes="$2" -v long="$3" -v n=3 '
	function op(t, site, from, to, more) { print "e", t, from, site, "enter", more; print "e", t, to, site, "exit" }
	function begins(t, site, from, peer, id) {
		op(t, site, from, from, "group=1 peer=" peer " tag=" (id > 2) " bytes=" bytes " id=" id)
	}
	function got(t, peer, id) {
		print "e", t, done, 4, "point id=" id " peer=" peer " tag=" (id > 2) " bytes=" bytes " group=1"
	}
	function arrives(from) { done = sent[from] + 20 + bytes / 1000 > done ? sent[from] + 20 + bytes / 1000 : done }
	BEGIN {
		for (t = 0; t < n; t++) end[t] = 1000000
		for (i = 0; i < 9; i++) {
			for (t = 0; t < n; t++) {
				if (way != "sendrecv") begins(t, 4, end[t], (t + 2) % n, 1)
				if (way == "halo") begins(t, 4, end[t], (t + 1) % n, 3)
				sent[t] = end[t] + (i % n == t ? long : 8000)
				op(t, i % n != t, end[t], sent[t])
				if (way == "sendrecv") {
					print "e", t, sent[t], 99, "enter"
					begins(t, 4, sent[t], (t + 2) % n, 1)
				}
				begins(t, 3, sent[t], (t + 1) % n, 2)
				if (way == "halo") begins(t, 3, sent[t], (t + 2) % n, 4)
				if (way != "sendrecv") print "e", t, sent[t] + 3, 5, "enter"
			}
			for (t = 0; t < n; t++) {
				done = sent[t] + 10
				arrives((t + 2) % n)
				if (way == "halo") arrives((t + 1) % n)
				got(t, (t + 2) % n, 1)
				print "e", t, done, 3, "point id=2 group=1"
				if (way == "halo") { got(t, (t + 1) % n, 3); print "e", t, done, 3, "point id=4 group=1" }
				print "e", t, done, way == "sendrecv" ? 99 : 5, "exit"
				end[t] = done
			}
		}
	}'
}
last_of() { awk '$1 == "e" && $3 > last { last = $3 } END { print last - 1000000 }'; }
for way in sendrecv waitall halo; do
	for bytes in 1000 20000 1000000; do
		rings $way $bytes 20000 | trace $way-$bytes
		buys $way-$bytes a 50 "$(echo "$(rings $way $bytes 20000 | last_of) $(rings $way $bytes 10000 | last_of)" |
			awk '{ printf "%.6f", 1e6 * ($1 - $2) / $1 }')" 100
	done
done

# What one thread of a rank has begun another one may wait for: a receive, a send and a barrier of ranks. It waits for the other rank,
# which is late by a. Of what no record tells it is not known for whom that is.
completes() { # what the first thread begins, and what the other rank calls, with keys
	head_of 2
	echo "thread 2 clock=0 rank=1"
	echo "group 1 threads=0,2"
	op 0 $1 1000000 1000010 $2 id=3
	op 0 39 1000010 1000020 thread=1
	op 1 5 1001000 1501000 id=3
	op 1 1 1501000 2000000
	op 2 0 1000000 1500000
	op 2 $3 1500000 1500010 $4
}
completes 4 "group=1 peer=1 tag=7 bytes=8" 14 "group=1 peer=0 tag=7 bytes=8" | trace completed-receive
buys completed-receive a 50 250000
completes 3 "group=1 peer=1 tag=7 bytes=8" 15 "group=1 peer=0 tag=7 bytes=8" | sed "s/name=MPI_Isend /name=MPI_Issend /" | trace completed-send
buys completed-send a 50 250000
{ completes 31 "group=1 seq=0" 31 "group=1 seq=0 id=9"; op 2 5 1500020 1501000 id=9; } | sed "s/name=MPI_Ibcast /name=MPI_Ibarrier /" | trace completed-barrier
buys completed-barrier b 50 249500 1100
expect 0 coz --json --region a --reduce 50 completed-barrier
gains "lo < 0.001 && 24.999 <= hi && hi < 25.1" || fail "who has begun a barrier waits for the other rank: $(cat out)"
completes 30 "" 30 "" | trace completed-unknown
expect 0 coz --json --region a --reduce 50 completed-unknown
gains "lo < 0.001 && 24.999 <= hi" || fail "who waits for what nobody knows waits as long in any run: $(cat out)"
echo "as expected"

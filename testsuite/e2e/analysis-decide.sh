#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What would decide a verdict that is undecided: how well clocks must be known, and the DPROF_SYNC_INTERVAL that gets
# there; and who runs the program with that has it decided. Where packets take too long no interval is advised, where it
# is not for the clocks nothing is.
. testsuite/fixtures/analysis/setup.sh

# A run of 1 s on two hosts whose clocks show the same: packets take so many ns each way, and go every so many ms. Rank 0 waits
# for 50 us for rank 1 at each of 1000 barriers.
world() { # travel_ns interval_ms
	awk -v travel="$1" -v interval="$2" '
	function e(thread, at, rest) { printf "e %d %.0f %s\n", thread, at, rest }
	BEGIN {
		print "dprof-text 1\nclock 0 host=h0 ghz=1\nclock 1 host=h1 ghz=1"
		print "thread 0 clock=0 rank=0\nthread 1 clock=1 rank=1\ngroup 1 threads=0,1"
		print "site 0 kind=region name=a file=x.c line=1\nsite 1 kind=barrier name=MPI_Barrier file=x.c line=2"
		begin = 1e9; end = 2e9
		for (at = begin - 5e6; at <= end + 6e6; at += at >= begin && at < end ? interval * 1e6 : 1e5) {
			printf "link 0 %.0f 1 %.0f\n", at, at + travel
			printf "link 1 %.0f 0 %.0f\n", at + travel + 1000, at + 2 * travel + 1000
		}
		for (i = 0; i < 1000; i++) {
			at = begin + i * 1e6
			for (rank = 0; rank < 2; rank++) {
				came = at + 500e3 + rank * 50e3
				e(rank, at + 1e3, "0 enter"); e(rank, came, "0 exit")
				e(rank, came, "1 enter group=1 seq=" i); e(rank, at + 600e3, "1 exit")
			}
		}
	}'
}

asked() { # command travel_ns interval_ms: the page goes to the file page, the JSON to out
	world "$2" "$3" | trace decide
	expect 0 "$1" --clock-model drift:100 "$dir/decide"
	fits_80 out || fail "$*: wider than 80 columns: $(cat out)"
	cp out page
	expect 0 "$1" --clock-model drift:100 --json "$dir/decide"
}

for command in waits path; do
	asked $command 1000 1000
	jq -e '.undecided | .verdicts > 0 and .by_clocks == .verdicts and .by_sync_interval == .verdicts and
		.known_s > 1.5 * .needed_s and .needed_s > 2e-6' out >is || fail "$command: $(jq -c .undecided out)"
	advised=$(jq '.undecided.sync_interval_s // 0 | . * 1000 + 0.5 | floor' out)
	[ "$advised" -ge 5 ] && [ "$advised" -le 125 ] || fail "$command: advised an interval of $advised ms"
	says page "Run it with DPROF_SYNC_INTERVAL=${advised}ms: that most likely decides "
	asked $command 1000 "$advised"
	jq -e '.undecided == null' out >is || fail "$command: with the advised interval of $advised ms: $(jq -c .undecided out)"
done

# Packets that take longer than rank 0 waits: more of them make clocks better known, and decide nothing.
asked waits 60000 1000
jq -e '.undecided | .by_clocks > 0 and .by_sync_interval == 0 and .sync_interval_s == null and .larger > 1' out >is ||
	fail "slow packets: $(jq -c .undecided out)"
says page 'No DPROF_SYNC_INTERVAL gets there (the fastest packet there and back took '

# No packets at all: what the program says of clocks leaves it open, and better clocks would decide all. In a run of few barriers, at
# which rank 0 waits now longer, now shorter, the rate of a clock is not known, either.
for barriers in 1000 12; do
	world 1000 1000 | awk -v most=$barriers '
		/^link/ || (/^e/ && $3 > 1e9 + most * 1e6) { next }
		/^e 0/ && most < 1000 && $3 % 1e6 == 500e3 { i = int($3 / 1e6) % 3; $3 = sprintf("%.0f", $3 - i * i % 3 * 20e3) }
		{ print }' | trace decide
	for command in waits path; do
		expect 0 $command --json "$dir/decide"
		jq -e '.undecided | .verdicts > 0 and .by_clocks == .verdicts and .needed_s > 0 and .needed_s < .known_s / 2 and
			.sync_interval_s == null and .larger > 1' out >is || fail "$command without packets, $barriers barriers: $(jq -c .undecided out)"
		expect 0 $command "$dir/decide"
		tr -s ' \n' ' ' <out >page
		says page 'No packets went between the hosts: with some, clocks may be known so well; pieces of work that take '
		says_not page 'No DPROF_SYNC_INTERVAL'
	done
done

# Rank 2 may have waited for rank 1 in a broadcast from rank 0, which is on its host: whatever clocks show, that stays open.
{
	world 4000 250 | sed -e 's/^group 1 .*/thread 2 clock=0 rank=2\ngroup 2 threads=0,1,2\nsite 2 kind=coll name=MPI_Bcast file=x.c line=3/' \
		-e '/^e/d'
	for i in 0 1 2; do echo "e $i 1000000000 0 enter"; done
	echo 'e 0 2000000000 0 exit'; op 0 2 2000000000 2000010000 group=2 seq=0 bytes=8 role=1
	echo 'e 1 3000000000 0 exit'; op 1 2 3000000000 3000010000 group=2 seq=0 bytes=8
	echo 'e 2 1500000000 0 exit'; op 2 2 1500000000 3100000000 group=2 seq=0 bytes=8
} | trace decide
expect 0 waits --json "$dir/decide"
jq -e '.undecided | .verdicts > 0 and .by_clocks == 0 and .sync_interval_s == null' out >is ||
	fail "candidates: $(jq -c .undecided out)"
expect 0 waits "$dir/decide"
says out ' undecided, which no better clocks would decide.'

# Years between two packets: packets that are made up do not go by how long the run took, and what was not tried is not denied.
trace decide <<-END
	dprof-text 1
	clock 0 host=h0 ghz=1
	clock 1 host=h1 ghz=1
	site 0 kind=region name=a file=x.c line=1
	site 1 kind=barrier name=MPI_Barrier file=x.c line=2
	link 0 0 1 300000
	link 1 0 0 300000
	thread 0 clock=0 rank=0
	thread 1 clock=1 rank=1
	group 1 threads=0,1
	$(work 0 0 0 100000000000000000)
	$(op 0 1 100000000000000000 200000000123456789 group=1 seq=0)
	$(work 1 0 0 190000000000000000)
	$(op 1 1 190000000000000000 200000000123456789 group=1 seq=0)
END
for command in waits path csp report; do
	(ulimit -t 5; "$analyze" $command "$dir/decide" >out 2>err) ||
		fail "$command of years: status $?, expected an answer in 5 s: $(cat err)"
	tr -s ' \n' ' ' <out >page
	says page 'Whether a DPROF_SYNC_INTERVAL gets there was not tried: in a run as long as this one packets are too many.'
done

# One host: clocks are not to blame for anything.
world 4000 1000 | sed 's/clock=1/clock=0/' | grep -v '^link' | trace decide
expect 0 waits --json "$dir/decide"
jq -e '.undecided == null' out >is || fail "one host: $(jq -c .undecided out)"
exit $failed

#!/bin/bash
# SPDX-License-Identifier: MIT
#
# coz decides again who comes first: random programs, each beside a simulator of the same program with region a shortened
# by half, which is the truth of what is expected. In runs of 1 GHz, so stamps are ns.
. testsuite/fixtures/analysis/setup.sh

# simulator [text]: what the run takes (before, after); or before that the trace. It defines run(share, emit), which
# returns when all is over, and reads seed and others as variables.
simulate() { # name seed program
	awk -v seed="$2" '
	function op(t, site, from, to, more) {
		if (emits)
			text[t] = text[t] "e " t " " from " " site " enter " more "\ne " t " " to " " site " exit\n"
	}
	function point(t, site, at, more) {
		if (emits)
			text[t] = text[t] "e " t " " at " " site " point " more "\n"
	}
	function work(t, from, ticks, is_a, share) {
		if (is_a)
			ticks = int(ticks * (1 - share))
		op(t, is_a ? 0 : 1, from, from + ticks)
		return from + ticks
	}
	function below(n) { return int(rand() * n) }
	function first_of(at, n,   t, least) {
		least = 0
		for (t = 1; t < n; t++)
			if (at[t] < at[least])
				least = t
		return least
	}
	'"$3"'
	BEGIN {
		srand(seed)
		make()
		emits = 1
		before = run(0)
		emits = 0
		print before, run(0.5) >"'"$1"'.truth"
		print "dprof-text 1\nclock 0 host=h0 ghz=1"
		heads()
		print "site 0 kind=region name=a file=x.c line=1\nsite 1 kind=region name=b file=x.c line=2"
		print "site 2 kind=lock name=pthread_mutex_lock file=x.c line=3\nsite 3 kind=wait name=sem_wait file=x.c line=4"
		print "site 4 kind=send name=MPI_Send file=x.c line=5\nsite 5 kind=recv name=MPI_Recv file=x.c line=6"
		print "site 6 kind=wait name=read file=x.c line=7\nsite 7 kind=wait name=poll file=x.c line=8"
		print "site 9 kind=wait name=MPI_Sendrecv file=x.c line=9"
		for (t = 0; t < n; t++)
			printf "%s", text[t]
	}' | trace "$1"
}

# What is expected is the truth, within a thousandth of the run, and as narrow.
expects_truth() { # name seed program
	simulate "$@"
	expect "${status:-0}" coz --json --region a --reduce 50 "$1"
	interval expected_percent <out | awk -v seed="$2" -v name="$1" '
		NR == FNR { truth = 100 * ($1 - $2) / $1; next }
		{ n++; good = $1 - 0.1 <= truth && truth <= $2 + 0.1 && $2 - $1 < 0.1; found = $1 " .. " $2 }
		END { if (n != 1 || !good) { print name ", seed " seed ": expected " truth ", found " found; exit 1 } }' "$1.truth" - ||
		fail "$(cat "$1.truth")"
}

threads='function heads() { for (t = 0; t < n; t++) print "thread " t " clock=0 rank=0 number=" t }'

# Threads take jobs under a lock, of which the first is long and is a.
pool=$threads'
function make() {
	n = 2 + below(3)
	jobs = 3 * n + below(10)
	for (j = 1; j < jobs; j++)
		all += ticks[j] = 20000 + below(40000)
	ticks[0] = int(all / n)
}
function run(share,   t, j, at, free, got, end) {
	for (t = 0; t < n; t++)
		at[t] = 1000 + 100 * t
	for (j = 0; j < jobs + n; j++) {
		t = first_of(at, n)
		got = at[t] > free ? at[t] : free
		op(t, 2, at[t], got, "id=5")
		free = got + 20
		point(t, 2, free, "id=5")
		if (free > end)
			end = free
		at[t] = j < jobs ? work(t, free, ticks[j], j == 0, share) : 1e12
		if (j < jobs && at[t] > end)
			end = at[t]
	}
	return end - 1000
}'

# Jobs take as long as the thread that has them takes for any, and those of the slowest one are a.
paced=${pool%function make*}'function make() {
	n = 2 + below(3)
	jobs = 8 * n + below(10)
	for (t = 1; t < n; t++)
		own[t] = 20000 + below(8000)
	own[0] = 50000 + below(30000)
}'
paced+=${pool#*"int(all / n)"?'}'}
paced=${paced/'ticks[j], j == 0'/'own[t], t == 0'}

# Each thread has work of its own, before it takes a lock and while it has it.
locks=$threads'
function make() {
	n = 3
	rounds = 2 + below(3)
	for (t = 0; t < n; t++)
		for (i = 0; i < 2 * rounds; i++) {
			ticks[t, i] = 20000 + below(40000)
			is_a[t, i] = below(3) == 0
		}
}
function run(share,   t, i, k, at, free, got, end, done) {
	for (t = 0; t < n; t++)
		at[t] = work(t, 1000, ticks[t, 0], is_a[t, 0], share)
	for (k = 0; k < n * rounds; k++) {
		t = first_of(at, n)
		i = 2 * done[t]++
		got = at[t] > free ? at[t] : free
		op(t, 2, at[t], got, "id=5")
		free = work(t, got, ticks[t, i + 1], is_a[t, i + 1], share)
		point(t, 2, free, "id=5")
		end = free
		at[t] = i + 2 < 2 * rounds ? work(t, free, ticks[t, i + 2], is_a[t, i + 2], share) : 1e12
	}
	return end - 1000
}'

# Two permits for four threads, which do work of their own before and with one.
permits=${locks%%function run*}'
function run(share,   t, i, k, at, free, got, end, done, p) {
	n = 4
	free[0] = free[1] = 0
	for (t = 0; t < n; t++)
		at[t] = work(t, 1000, ticks[t % 3, 0] + 7 * t, is_a[t % 3, 0], share)
	for (k = 0; k < n * rounds; k++) {
		t = first_of(at, n)
		p = first_of(free, 2)
		i = 2 * done[t]++
		got = at[t] > free[p] ? at[t] : free[p]
		op(t, 3, at[t], got, "id=5")
		free[p] = work(t, got, ticks[t % 3, i + 1] + 7 * t, is_a[t % 3, i + 1], share)
		point(t, 3, free[p], "id=5")
		end = free[p] > end ? free[p] : end
		at[t] = i + 2 < 2 * rounds ? work(t, free[p], ticks[t % 3, i + 2], is_a[t % 3, i + 2], share) : 1e12
	}
	return end - 1000
}'

# Several come to one, who works behind each of them; the first of them works longest.
comers='
function make() {
	n = 3 + below(3)
	for (t = 1; t < n; t++) {
		ticks[t] = 20000 + below(100000)
		after[t] = 20000 + below(40000)
	}
	ticks[1] += 60000
}'

# Rank 0 receives a message from anyone, and works behind each.
inbox='
function heads() {
	for (t = 0; t < n; t++)
		print "thread " t " clock=0 rank=" t
	printf "group 1 threads=0"
	for (t = 1; t < n; t++)
		printf ",%d", t
	print ""
}'$comers'
function run(share,   t, k, at, now, came) {
	at[0] = 1e12
	for (t = 1; t < n; t++) {
		at[t] = work(t, 1000, ticks[t], t == 1, share)
		op(t, 4, at[t], at[t] + 10, "group=1 peer=0 tag=7 bytes=8")
	}
	now = 1000
	for (k = 1; k < n; k++) {
		t = first_of(at, n)
		came = at[t] > now ? at[t] + 10 : now + 10
		if (emits)
			text[0] = text[0] "e 0 " now " 5 enter group=1\ne 0 " came " 5 point peer=" t " tag=7 bytes=8 group=1\ne 0 " came " 5 exit\n"
		at[t] = 1e12
		now = work(0, came, after[k], 0, share)
	}
	return now - 1000
}'

# Rank 0 gives a job to whoever asks, by MPI_Sendrecv; the first one is long and is a.
asked=${inbox%%"$comers"*}'
function make() {
	n = 3 + below(2)
	jobs = 3 * n + below(10)
	for (j = 1; j < jobs; j++)
		all += ticks[j] = 20000 + below(40000)
	ticks[0] = int(all / (n - 1))
}
function asks(t, at, came, id) {
	text[t] = text[t] "e " t " " at " 9 enter\ne " t " " at " 4 enter group=1 peer=0 tag=7 bytes=8 id=" id "\n" \
		"e " t " " at " 5 enter group=1 peer=0 tag=8 id=" id + 1 "\ne " t " " came " 5 point id=" id + 1 "\n" \
		"e " t " " came " 4 point id=" id "\ne " t " " came " 5 exit\ne " t " " came " 4 exit\ne " t " " came " 9 exit\n"
}
function run(share,   t, j, at, now, came, end) {
	at[0] = 1e12
	for (t = 1; t < n; t++)
		at[t] = 1000 + 100 * t
	end = now = 1000
	for (j = 0; j < jobs + n - 1; j++) {
		t = first_of(at, n)
		came = at[t] > now ? at[t] + 10 : now + 10
		if (emits) {
			text[0] = text[0] "e 0 " now " 5 enter group=1\ne 0 " came " 5 point peer=" t " tag=7 bytes=8 group=1\ne 0 " came " 5 exit\n"
			asks(t, at[t], came + 15, 2 * j + 1)
		}
		now = came
		op(0, 4, now, now + 5, "group=1 peer=" t " tag=8 bytes=8")
		at[t] = j < jobs ? work(t, came + 15, ticks[j], j == 0, share) : 1e12
		end = came + 15 > end ? came + 15 : end
		end = j < jobs && at[t] > end ? at[t] : end
		now += 5
	}
	return end - 1000
}'

# A thread looks which of the others has written to it, each over a pipe of its own, and works behind each.
looks=$threads$comers'
function run(share,   t, k, at, now, came) {
	at[0] = 1e12
	for (t = 1; t < n; t++) {
		at[t] = work(t, 1000, ticks[t], t == 1, share)
		op(t, 6, at[t], at[t] + 10, "channel=" t " offset=0 bytes=1 role=1")
	}
	now = 1000
	for (k = 1; k < n; k++) {
		t = first_of(at, n)
		came = at[t] > now ? at[t] + 10 : now + 10
		op(0, 7, now, came - 5, "peer=72057594037927934")
		op(0, 6, came - 5, came, "channel=" t " offset=0 bytes=1 peer=72057594037927934")
		at[t] = 1e12
		now = work(0, came, after[k], 0, share)
	}
	return now - 1000
}'

for seed in 1 2 3 4 5 6 7 8; do
	expects_truth pool "$seed" "$pool"
	expects_truth paced "$seed" "$paced"
	expects_truth locks "$seed" "$locks"
	expects_truth permits "$seed" "$permits"
	expects_truth inbox "$seed" "$inbox"
	expects_truth asked "$seed" "$asked"
	expects_truth looks "$seed" "$looks" # whom poll waits for is not said
done

# Where there is too much to be decided again, all orders are kept, and the answer says so.
says out "is decided again, by when everybody would have come."
awk 'BEGIN {
	print "dprof-text 1\nclock 0 host=h0 ghz=1\nthread 0 clock=0 rank=0 number=0\nthread 1 clock=0 rank=0 number=1"
	print "site 64 kind=lock name=pthread_mutex_lock file=x.c line=3"
	for (r = 0; r < 64; r++)
		print "site " r " kind=region name=r" r " file=x.c line=" r + 1
	for (t = 0; t < 2; t++)
		for (i = 0; i < 4200; i++) {
			at = 1000 + 100 * i + 50 * t
			print "e", t, at, i % 64, "enter\ne", t, at + 10, i % 64, "exit"
			print "e", t, at + 10, 64, "enter id=5\ne", t, at + 11, 64, "exit\ne", t, at + 12, 64, "point id=5"
		}
}' | trace much
expect 0 coz --json much
says out "All orders stay as they were: there is too much to be decided again."
echo "as expected"

#!/bin/bash
# SPDX-License-Identifier: MIT
#
# profile says of each call path, and of each region and operation, how often threads were there and for how long, how
# long they waited there and for whom, and who sent whom how much. (Random programs: testsuite/unit/truth_profile.c.)
. testsuite/fixtures/analysis/setup.sh

# A trace of one clock that shows nanoseconds.
sites() {
	cat <<-END
	dprof-text 1
	clock 0 host=h0 ghz=1
	site 0 kind=region name=main file=x.c line=1
	site 1 kind=region name=solve file=x.c line=2
	site 2 kind=region name=solve file=x.c line=3
	site 3 kind=barrier name=MPI_Barrier file=x.c line=4
	site 4 kind=barrier name=MPI_Barrier file=x.c line=5
	site 5 kind=send name=MPI_Send file=x.c line=6
	site 6 kind=recv name=MPI_Recv file=x.c line=7
	site 7 kind=recv name=MPI_Irecv file=x.c line=8
	site 8 kind=wait name=MPI_Wait file=x.c line=9
	END
}

enter() { echo "e $1 $3 $2 enter ${*:4}"; } # thread site stamp keys...
leave() { echo "e $1 $3 $2 exit ${*:4}"; }

# What the filter finds has these: number, or ns that an interval in seconds holds and is not 100 ns wide.
has() { # directory filter key=value...
	local filter=$2 pair each=true
	for pair in "${@:3}"; do
		each+=", holds(.${pair%%=*}; ${pair#*=})"
	done
	jq -e "def holds(\$x; \$v): \$x | if type == \"object\" then .lo <= \$v * 1e-9 and .hi >= \$v * 1e-9 and .hi - .lo < 1e-7 else . == \$v end;
		[$filter] | length == 1 and (.[0] | all($each; .))" "$1.json" >is ||
		fail "$1: $filter: expected ${*:3}, found $(jq -c "$filter" "$1.json")"
}

profile() { # directory [status]
	expect "${2:-0}" profile --json "$1"
	mv out "$1.json"
	for how in "" --calls --flat -v; do
		# shellcheck disable=SC2086
		expect "${2:-0}" profile $how "$1"
		fits_80 out || fail "$1: profile $how is wider than 80 columns"
	done
}

# ---- Call paths, and the list ----------------------------------------------------------------------------

# main is there for 100 us, of which solve has 80 on rank 0 and 40 on rank 1, at two lines, each with its barrier.
{ ranks 2
	enter 0 0 1000; enter 0 1 11000; op 0 3 71000 91000 group=1 seq=0; leave 0 1 91000; leave 0 0 101000
	enter 1 0 1000; enter 1 2 51000; op 1 3 90000 91000 group=1 seq=0; leave 1 2 91000; leave 1 0 101000; } | trace paths
profile paths
has paths . span_s=100000
has paths '.calls[0]' depth=0 visits=2 inclusive_s=200000 exclusive_s=0 threads=2
has paths '.calls[] | select(.name == "main")' parent=0 depth=1 visits=2 inclusive_s=200000 exclusive_s=80000 waiting_s=19000 threads=2
has paths '.calls[] | select(.name == "solve")' visits=2 inclusive_s=120000 exclusive_s=99000 least_s=40000 mean_s=60000 most_s=80000
has paths '.calls[] | select(.name == "MPI_Barrier")' line=4 depth=3 visits=2 inclusive_s=21000 waiting_s=19000 transfer_s=2000
has paths '.flat[] | select(.name == "solve")' visits=2 inclusive_s=120000 exclusive_s=99000
jq -e '.flat[] | select(.name == "solve") | .imbalance_percent | .lo <= 25 and .hi >= 25 and .hi - .lo < 0.1' paths.json >is ||
	fail "paths: imbalance $(jq -c '.flat[] | select(.name == "solve").imbalance_percent' paths.json)"
has paths '.flat[] | select(.name == "solve").each[] | select(.rank == 0)' visits=1 inclusive_s=80000 exclusive_s=60000 waiting_s=19000
has paths '.flat[] | select(.name == "solve").each[] | select(.rank == 1)' visits=1 inclusive_s=40000 exclusive_s=39000 waiting_s=0
has paths '.operations[]' line=4 count=2 seconds=21000 waiting_s=19000 transfer_s=2000 threads=2 caused_by.rank=1 caused_by.seconds=19000
jq -e '.operations[0].caused_by.region == "main"' paths.json >is ||
	fail "paths: cause $(jq -c '.operations[0].caused_by' paths.json)"
expect 0 profile paths --calls
says out '  all threads'
grep -q '^      solve (x.c:2)' out || fail "paths: no tree in $(cat out)"
says_not out 'transfer, ms'
expect 0 profile paths --flat
says out '0.03 to 0.09, most on rank 0; mean 0.06 ±0.01; imbalance'
says out '25.0 ±0.1 %'
says_not out 'transfer, ms'
expect 0 profile paths
says out 'longest for rank 1, that was in main (x.c:1): 0.019 ±0.001 ms'

# Two wait for one.
{ ranks 3; for r in 0 1 2; do
	enter $r 0 1000; leave $r 0 $((r ? 41000 : 101000)); op $r 3 $((r ? 41000 : 101000)) 102000 group=1 seq=0
done; } | trace both
profile both
has both '.operations[]' count=3 waiting_s=120000 caused_by.rank=0 caused_by.seconds=120000

# Who waits for a condition variable waits from there on until its mutex is free, too: 60 us for the signal, and once
# more 10 for the mutex, of which 4 are in the call that takes it again. Without any signal in the trace all of it may
# be.
waits_for_signal() { # stamp at which the mutex is given back, and the signal's event
	sites
	echo "site 9 kind=lock name=pthread_mutex_lock file=x.c line=10
site 10 kind=wait name=pthread_cond_wait file=x.c line=11
site 11 kind=wait name=pthread_cond_signal file=x.c line=12
site 12 kind=lock name=pthread_mutex_lock
thread 0 clock=0 rank=0 number=0
thread 1 clock=0 rank=0 number=1"
	op 1 9 900 900 id=5; echo 'e 1 40000 9 point id=5'; op 1 10 40000 106000 id=7; op 1 12 106000 111000 id=5; echo 'e 1 113000 9 point id=5'
	enter 0 0 1000; leave 0 0 100000; op 0 9 100000 100000 id=5; echo "$2"; echo "e 0 $1 9 point id=5"
}
waits_for_signal 110000 'e 0 100000 11 point id=7' | trace condition
profile condition
has condition '.operations[] | select(.line == 11)' count=1 seconds=66000 waiting_s=66000 transfer_s=0 caused_by.seconds=70000
has condition '.operations[] | select(.name == "pthread_mutex_lock" and .line != 10)' count=1 seconds=5000 waiting_s=4000 transfer_s=1000
waits_for_signal 102000 'e 0 101950 11 point id=7' | trace woken
profile woken
has woken '.operations[] | select(.line == 11)' waiting_s=62000 transfer_s=4000 caused_by.seconds=62000
has woken '.operations[] | select(.name == "pthread_mutex_lock" and .line != 10)' waiting_s=0 transfer_s=5000
waits_for_signal 102000 '' | trace unsignalled
profile unsignalled
jq -e '.operations[] | select(.line == 11) | [.waiting_s, .transfer_s] | all(.lo == 0 and .hi >= 66e-6)' unsignalled.json >is ||
	fail "unsignalled: $(jq -c .operations unsignalled.json)"

# Recursion counts once in the list; each call is a path of its own.
{ ranks 1; enter 0 1 1000; enter 0 1 2000; leave 0 1 8000; leave 0 1 11000; } | trace recursion
profile recursion
has recursion '.flat[]' visits=2 inclusive_s=10000 exclusive_s=10000
has recursion '.calls[] | select(.depth == 2)' visits=1 inclusive_s=6000 exclusive_s=6000

# Deeper than CALLS_DEPTH only the innermost is told apart, and nothing is lost: a region and a barrier at the bottom.
{ ranks 1; for ((i = 0; i < 300; i++)); do enter 0 1 $((1000 + i)); done
	enter 0 0 1400; op 0 3 1500 1600 group=1 seq=0; leave 0 0 1800
	for ((i = 0; i < 300; i++)); do leave 0 1 $((2000 + i)); done; } | trace deep
profile deep
has deep '.flat[] | select(.name == "solve")' visits=300 inclusive_s=1299
has deep '.flat[] | select(.name == "main")' visits=1 inclusive_s=400
has deep '.flat[] | select(.name == "MPI_Barrier")' visits=1 inclusive_s=100 exclusive_s=100
has deep '.calls[] | select(.depth == 256 and .name == "solve")' visits=45 inclusive_s=789
jq -e '([.calls[].depth] | max == 256) and ([.flat[] | select(.name == "solve")][0].exclusive_s | .lo <= 8.99e-7 and .hi >= 8.99e-7 and .lo > 0.3e-6)' deep.json >is ||
	fail "deep: $(jq -c '[.calls[].depth] | max, .flat' deep.json)"

# ---- Messages --------------------------------------------------------------------------------------------

{ ranks 2
	op 0 5 1000 2000 group=1 peer=1 tag=1 bytes=100; op 0 5 2000 3000 group=1 peer=1 tag=2 bytes=50
	op 0 6 3000 9000 group=1 peer=1 tag=3 bytes=7
	op 1 6 1000 3000 group=1 peer=0 tag=1 bytes=400; op 1 7 3000 3500 group=1 peer=0 tag=2 bytes=400 id=1
	enter 1 8 4000 id=1; echo 'e 1 5000 7 point id=1 group=1 peer=0 tag=2 bytes=50'; leave 1 8 5000
	op 1 5 7000 8000 group=1 peer=0 tag=3 bytes=7; } | trace messages
profile messages
has messages '.messages[] | select(.from.rank == 0)' to.rank=1 count=2 bytes=150
has messages '.messages[] | select(.from.rank == 1)' to.rank=0 count=1 bytes=7
has messages '.operations[] | select(.name == "MPI_Send")' count=3 bytes=157
has messages '.operations[] | select(.name == "MPI_Irecv")' count=1 bytes=0
has messages '.operations[] | select(.name == "MPI_Wait")' count=1 bytes=50
has messages '.operations[] | select(.name == "MPI_Recv" and .threads == 2)' count=2 bytes=407
has messages '.operations[] | select(.name == "MPI_Recv")' waiting_s=4000 caused_by.rank=1

# A receive with more room than what comes; and one that begins within a send, as in MPI_Sendrecv: what comes is not sent.
{ ranks 2
	op 0 5 1000 2000 group=1 peer=1 tag=1 bytes=100
	enter 0 8 3000; enter 0 5 3001 group=1 peer=1 tag=2 bytes=30 id=1; enter 0 7 3002 group=1 peer=1 tag=2 bytes=400 id=2
	echo 'e 0 4000 7 point id=2 bytes=40'; leave 0 7 4001; leave 0 5 4002; leave 0 8 4003
	enter 1 6 1000 group=1 peer=0 tag=1 bytes=400; echo 'e 1 2000 7 point bytes=100'; leave 1 6 2001
	op 1 5 3000 3100 group=1 peer=0 tag=2 bytes=40; op 1 6 3200 4100 group=1 peer=0 tag=2 bytes=30; } | trace room
profile room
has room '.operations[] | select(.name == "MPI_Recv")' count=2 bytes=130
has room '.operations[] | select(.name == "MPI_Send")' count=3 bytes=170
has room '.operations[] | select(.name == "MPI_Wait")' count=1 bytes=70
has room '.messages[] | select(.from.rank == 0)' to.rank=1 count=2 bytes=130
expect 0 profile messages
grep -q '^  rank 0  *- *2$' out || fail "messages: no matrix in $(cat out)"
grep -q '^  rank 1  *7 *-$' out || fail "messages: no bytes in $(cat out)"

# Between many there is a list.
{ ranks 9; for ((r = 0; r < 9; r++)); do
	op $r 5 $((1000 + r)) 2000 group=1 peer=$(((r + 1) % 9)) tag=1 bytes=$((r + 1))
	op $r 6 2000 3000 group=1 peer=$(((r + 8) % 9)) tag=1 bytes=9
done; } | trace many
profile many
jq -e '[.messages[] | .count] | length == 9 and all(. == 1)' many.json >is || fail "many: $(jq -c .messages many.json)"
expect 0 profile many
grep -q '^  rank 8 *rank 0 *1 *9$' out || fail "many: no list in $(cat out)"

# ---- What is not known -----------------------------------------------------------------------------------

# Behind lost records: what was open may have been so until it is known again, and the rest is exact.
{ ranks 1; enter 0 0 1000; echo 'lost 0 3'; enter 0 1 51000; leave 0 1 61000; } | trace lossy
profile lossy 1
jq -e '.flat[] | select(.name == "main") | .inclusive_s.lo < 1e-8 and .inclusive_s.hi >= 50e-6' lossy.json >is ||
	fail "lossy: $(jq -c .flat lossy.json)"
jq -e '.flat[] | select(.name == "solve") | .exclusive_s.lo >= 9e-6 and .visits == 1' lossy.json >is ||
	fail "lossy: $(jq -c .flat lossy.json)"
says out 'not known'

# Of a rank without any record it is not known how long it was anywhere, nor is the mean of all.
{ sites; for r in {0..3}; do echo "process $r rank=$r size=5 pid=$((r + 1)) program=x job=1"; done; for r in {0..3}; do echo "thread $r clock=0 rank=$r process=$r"; done
	for r in {0..3}; do enter $r 0 1000; leave $r 0 $((2000 + 1000 * r)); done; } | trace missing
profile missing 1
jq -e '.flat[] | select(.name == "main") | .most_s.hi == null and .mean_s.hi == null' missing.json >is || fail "missing: $(jq -c .flat missing.json)"
expect 1 profile missing
grep -q " inf,\|[1-9][0-9]\{8\}" out && fail "missing: $(cat out)"

# What was left without an exit may have been left at once.
{ ranks 1; enter 0 0 1000; enter 0 1 2000; leave 0 0 101000; } | trace left
profile left 1
has left '.flat[] | select(.name == "main")' visits=1
jq -e '.flat[] | select(.name == "solve") | .inclusive_s.lo == 0 and .inclusive_s.hi >= 99e-6' left.json >is ||
	fail "left: $(jq -c .flat left.json)"

# Nobody takes what was sent.
{ ranks 2; op 0 5 1000 2000 group=1 peer=1 tag=1 bytes=100; enter 1 0 1000; leave 1 0 3000; } | trace untaken
profile untaken
jq -e '.messages == [] and .unmatched == 1' untaken.json >is || fail "untaken: $(jq -c .messages untaken.json)"
says out 'Of 1 message the other side is not known; it is not among these.'

"$analyze" dump paths | sed '/^group/a without barrier' | trace without
expect 0 profile without
says out 'Who waited for whom is not known'
expect 2 profile paths --region main
# Times of seven digits, at names of any length.
{ ranks 2
	for t in 0 1; do enter $t 0 1000; enter $t 1 11000; op $t 3 71000 "$((700123456 + t))" group=1 seq=0; leave $t 1 800654321; leave $t 0 980000000; done
} | trace wide
profile wide
# Without operations there is no table of them.
{ ranks 1; work 0 0 0 5000; } | trace alone
expect 0 profile alone
grep -c '^$' out | grep -qx 2 || fail "a table without rows: $(cat out)"
# A matrix is as wide as its numbers of bytes; what it has no room for is a list.
for n in 4 5; do
	{ ranks $n
		for ((t = 0; t < n; t++)); do
			op $t 5 1000 2000 group=1 peer=$(((t + 1) % n)) tag=1 bytes=12345678901234
			op $t 6 3000 4000 group=1 peer=$(((t + n - 1) % n)) tag=1 bytes=12345678901234
		done
	} | trace bytes$n
	expect 0 profile bytes$n
	fits_80 out || fail "bytes$n: wider than 80 columns"
done
grep -q '^  rank 4 *rank 0 *1 *12345678901234$' out || fail "bytes5: $(cat out)"
expect 0 profile bytes4
grep -q '^  rank 1 * -              - 12345678901234              -$' out || fail "bytes4: $(cat out)"
exit $failed

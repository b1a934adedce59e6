#!/bin/bash
# SPDX-License-Identifier: MIT
#
# diff says by how much each quantity differs between two runs whose times are known by hand, and between sets of runs only
# what is no chance; and refuses what cannot be meant. (How often chance is taken for a change: testsuite/unit/analysis_compare.c;
# dprof-ab: toolchain-ab.sh.)
. testsuite/fixtures/analysis/setup.sh

# Two ranks on one clock: rank 0 works for 100 us, rank 1 for so many, then both meet; that 10 times, in nanoseconds.
# With $turns they take turns.
job() { # us [folder] [host] [extra site]
	cat <<-END
	dprof-text 1
	clock 0 host=${3:-h0} ghz=1
	thread 0 clock=0 rank=0
	thread 1 clock=0 rank=1
	group 1 threads=0,1
	site 0 kind=region name=solve file=${2:-/a/}x.c line=$1
	site 1 kind=region name=even file=${2:-/a/}x.c line=2
	site 2 kind=barrier name=MPI_Barrier file=${2:-/a/}x.c line=3
	site 3 kind=region name=${4:-solve} file=${2:-/a/}x.c line=4
	END
	local i from=1000 us=$1 to
	for i in 1 2 3 4 5 6 7 8 9 10; do
		to=$((from + (us > 100 ? us : 100) * 1000))
		local fast=$((${turns:-0} * (i % 2)))
		work $fast 1 $from $((from + 100000))
		op $fast 2 $((from + 100000)) $to group=1 seq=$i
		work $((1 - fast)) 3 $from $((from + us * 1000))
		op $((1 - fast)) 2 $((from + us * 1000)) $to group=1 seq=$i
		from=$to
	done
}

# What is said of one row holds that difference, in percent, and is no wider than 0.05.
differs() { # what name percent verdict
	jq -r --arg what "$1" --arg name "$2" '.rows[] | select(.what == $what and .name == $name) |
		"\(.difference_percent.lo) \(.difference_percent.hi) \(.verdict)"' out >found
	read -r lo hi verdict <found
	is_true "$lo <= $3 && $hi >= $3 && $hi - $lo < 0.05" || fail "$1 $2: expected $3 %, found $(cat found)"
	[ "$verdict" = "$4" ] || fail "$1 $2: expected $4, found $verdict"
}

# ---- Two runs -------------------------------------------------------------------------------------

job 200 | trace slow
job 150 /b/ | trace fast # built in another folder, and the line of solve has moved
expect 0 diff --json slow fast
differs run run -25 faster
differs region solve -25 faster
differs region 'all of it' -16.66667 faster
differs region even 0 undecided
differs path solve -25 faster
differs wait MPI_Barrier -50 faster
differs score 'rank 1' -50 faster
differs efficiency 'parallel efficiency' 11.11111 faster
differs efficiency 'load balance' 11.11111 faster
jq -e '.verdict == "faster" and .a == ["slow"] and .b == ["fast"]' out >shape || fail "$(cat out)"
expect 0 diff --json fast slow
differs run run 33.33333 slower
differs wait MPI_Barrier 100 slower
differs efficiency 'load balance' -10 slower
expect 0 diff slow fast
says out 'B takes 25.000 ±0.002 % less time than A (proved of these two runs)'
fits_80 out || fail "the page is too wide"
tr '\n' ' ' <out >page
says page 'A and B: seconds, in the middle of their bounds (~ where these are a tenth apart or more); --json has the bounds.'
expect 0 diff -v slow fast
fits_80 out || fail "the page with -v is too wide"
expect 0 diff --json slow slow
jq -e 'all(.rows[]; .verdict == "undecided" and .difference_percent.lo <= 0 and .difference_percent.hi >= 0)' out >alike ||
	fail "a run differs from itself: $(cat out)"

# What surely is on one side of 0 is not rounded to it, however near it comes.
solve() { # ns
	printf '%s\n' "dprof-text 1" "clock 0 host=h0 ghz=1" "thread 0 clock=0 rank=0" "site 0 kind=region name=solve file=x.c line=1"
	work 0 0 1000 $((1000 + $1))
}
for ns in 1000000000 1000021000 1000020003; do solve $ns | trace near$ns; done
for more in "" -v; do
	expect 0 diff $more near1000000000 near1000021000
	says out 'B takes 0.00009 .. 0.005 % more time than A'
	expect 0 diff $more near1000021000 near1000000000
	says out ' -0.005 .. -0.00009 faster'
	says out 'B takes 0.00009 .. 0.005 % less time than A'
	fits_80 out || fail "near 0: wider than 80 columns"
	expect 0 diff $more near1000000000 near1000020003
	says out ' above 0 .. 0.005 slower'
	expect 0 diff $more near1000020003 near1000000000
	says out ' -0.005 .. below 0 faster'
done

# What is on the critical path of several threads is one quantity.
turns=1 job 200 | trace turns
expect 0 diff --json slow turns
differs path solve 0 undecided
differs region solve 0 undecided

# Whose counters tick at rates that are not known to the last digit; and on other hosts to less.
sed 's/ghz=1$/ghz=1.0001/' <(job 200) | trace measured
expect 0 diff --json slow measured
differs run run 0 undecided
job 200 /a/ h1 | trace elsewhere
expect 0 diff --json slow elsewhere
jq -e '.rows[0].difference_percent | .lo <= -0.0999 and .hi >= 0.0999' out >rate || fail "two hosts: $(cat out)"

# Percent are no seconds: of a run of days efficiencies are compared, too.
expect 0 dump slow
awk '$1 == "e" { $3 = (int($3 / 1000) - 1) "00000000000" } { print }' out | trace days
expect 0 dump fast
awk '$1 == "e" { $3 = (int($3 / 1000) - 1) "00000000000" } { print }' out | trace day
expect 0 diff --json days day
[ "$(jq '[.rows[] | select(.what == "efficiency")] | length' out)" = 5 ] || fail "days: $(jq -c '[.rows[] | [.what, .name]]' out)"
differs efficiency 'load balance' 11.1111111111 faster

# A region that is only in one of them.
job 200 /a/ h0 new | trace renamed
expect 0 diff --json slow renamed
jq -e '[.rows[] | select(.name == "new" and .what == "region")][0] |
	.verdict == "slower" and .difference_percent == {"lo": 1000000, "hi": null} and .a[0] == {"lo": 0, "hi": 0}' out >new || fail "new region: $(cat out)"
jq -e '[.rows[] | select(.name == "solve" and .what == "region")][0].difference_percent.hi <= -99.9' out >gone || fail "$(cat out)"
expect 0 diff slow renamed
says out ' new '

# Of a run that recorded nothing it is not known what took how long: nothing is slower than there.
{ job 200 | grep -v '^e'; } | trace none
for sides in "none slow" "slow none"; do
	expect 1 diff --json $sides
	jq -e 'all(.rows[]; .verdict == "undecided")' out >unknown ||
		fail "diff $sides: what recorded nothing is compared: $(jq -c '.rows[] | select(.verdict != "undecided")' out)"
	says err 'none: Nothing was recorded: nothing is compared with it'
done

# Nobody waits for the only thread of a run. Scores of threads, where there is one process, are none of ranks.
{ job 200 | grep -v '^thread 1\|^group\|^e 1\| 2 enter\| 2 exit'; } | trace alone
expect 0 diff --json alone slow
jq -e '[.rows[] | select(.what == "score") | [.name, .a[0].hi]] == [["rank 1", 0]]' out >score ||
	fail "a score of one alone: $(jq -c '.rows[] | select(.what == "score")' out)"
job 200 | sed 's/^thread 1 .*/thread 1 clock=0 rank=0/' | trace threads
for sides in "threads slow" "slow threads"; do
	expect 0 diff --json $sides
	jq -e '[.rows[] | select(.what == "score") | [.name, .verdict]] | sort == [["rank 1", "undecided"], ["thread 1", "undecided"]]' out >score ||
		fail "diff $sides: $(jq -c '.rows[] | select(.what == "score")' out)"
done

# A region is told by its name, in whatever file it is marked; of operations of one name the file stands on the page.
job 200 | sed '/name=solve/s,/a/x.c,/a/y.c,' | trace moved
expect 0 diff --json slow moved
differs region solve 0 undecided
differs path solve 0 undecided
job 200 | sed '/name=MPI_Barrier/s,/a/x.c,/a/y.c,' | trace elsewhere
expect 0 diff slow elsewhere
says out 'wait: MPI_Barrier (x.c) '
says out 'wait: MPI_Barrier (y.c) '

# However long a name is, a line is not.
long=$(printf 'n%.0s' {1..200})
job 200 | sed "s/name=even/name=$long/" | trace long
job 300 | sed "s/name=even/name=$long/; s/name=MPI_Barrier/name=$long/" | trace longer
expect 0 diff -v long longer
fits_80 out || fail "a long name: wider than 80 columns: $(cat out)"

# What is wrong with a trace is said with its name, once.
sed '$d' <(job 200) | trace broken
expect 1 diff broken slow
[[ $(<err) = "dprof-analyze: broken: rank "* ]] || fail "whose damage is it: $(cat err)"
job 200 | sed '2i without region' | trace without
expect 1 diff slow without
[ "$(grep -c 'without: events of these kinds' err) $(grep -c 'without: without' err)" = "1 0" ] || fail "named twice: $(cat err)"

# What there is to note is said of both, and of which; of more traces that there is more.
for i in 1 2 3; do
	job 200 | sed "1a note made%20by%20$i" | trace noted$i
done
expect 0 diff noted1 noted2
noted 'noted1: made by 1'
noted 'noted2: made by 2'
expect 0 diff noted1 -- noted2 noted3
noted 'noted1: made by 1'
noted 'what there is to note of the other traces is not said here: dprof-analyze report DIR, of each'
says_not out 'made by 2'

# ---- Several runs ---------------------------------------------------------------------------------

for i in 0 1 2 3 4 5 6 7; do
	job $((200 + i)) | trace a$i
	job $((210 + i)) | trace b$i
done
expect 0 diff --json a? -- b?
jq -r '.rows[0] | "\(.difference_percent.lo) \(.difference_percent.hi) \(.verdict)"' out >found
read -r lo hi verdict <found
is_true "$lo <= 5 && $hi >= 4.7 && $lo > 2 && $hi < 8" && [ "$verdict" = slower ] || fail "eight runs: $(cat found)"
expect 0 diff --json a0 a2 a4 a6 -- a1 a3 a5 a7
jq -e 'all(.rows[]; .verdict == "undecided")' out >alike || fail "four runs of each decide something: $(cat out)"
expect 0 diff a0 a2 a4 a6 -- b1 b3 b5 b7
says out 'So few runs can decide nothing: it takes 5 of each'
expect 0 diff a0 a1 a2 a3 a4 -- b0 b1 b2 b3 b4
says out 'So few runs can decide only the first row'
says out 'To find a change of the run by 2 % nine times in ten takes about 11 runs of'
expect 0 diff --json a0 a1 a2 a3 a4 -- b0 b1 b2 b3 b4
jq -e ".runs_needed == 11" out >held || fail "runs needed: $(jq .runs_needed out)"
expect 0 diff a? -- b?
says out 'B takes'
fits_80 out || fail "the page is too wide"
for i in 0 1 2 3 4 5 6 7; do
	job $((200 + 100 * i)) | trace w$i
	job $((210 + 100 * i)) | trace x$i
done
expect 0 diff w? -- x?
tr '\n' ' ' <out | grep -qF 'even 200 of each may not find a change of 2 %' || fail "runs that vary: $(cat out)"

# ---- For tests ------------------------------------------------------------------------------------

expect 3 diff --gate fast slow
expect 0 diff --gate slow fast
expect 0 diff --gate slow slow
expect 3 diff --gate a? -- b?
sed '$d' <(job 200) | trace cut
expect 1 diff --gate --json fast cut
says err 'cut: '
jq -e 'all(.rows[]; .verdict == "undecided")' out >unknown ||
	fail "a damaged trace decides: $(jq -c '.rows[] | select(.verdict != "undecided")' out)"
expect 1 diff cut slow
says out '1 of 2 traces is damaged'

expect 2 diff slow
expect 2 diff slow fast renamed
expect 2 diff -- slow fast
expect 2 diff slow nowhere
expect 2 diff a0 a1 -- b0 b0
says err "found 'b0' again"
expect 2 diff slow fast --every 1s
says err 'diff has no option --every'
expect 2 csp --gate slow
exit $failed

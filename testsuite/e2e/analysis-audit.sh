#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Another tool's traces: what is known of one that is made here is what audit says of it, whatever one of its clocks shows; one that
# EZTrace made has impossible times, is noticed and analysed; damaged ones are refused or read in part, and do no harm.
. testsuite/lib.sh

fixtures=testsuite/fixtures/otf2
ez=$fixtures/eztrace/eztrace_log.otf2
gcc -std=c17 -D_GNU_SOURCE -O1 $fixtures/make.c -o "$dir/make" -lotf2 || fail "the maker of traces does not compile"

contains() { # INTERVAL TRUTH, the interval as "LO HI"
	is_true "${1% *} <= $2 && $2 <= ${1#* }"
}

claims() { # VERDICT <JSON: what is claimed with that
	jq -r --arg v "$1" '.findings[] | select(.verdict == $v) | .claim'
}

# ---- Traces of known truth: the same run, seen by different clocks ------------------------------------

for case in "0 1 0" "30000000 1 0" "-30000000 1 0" "700000 1 0" "30000000 1000 0" "0 1 40000"; do
	read -r ahead coarse bend <<<"$case"
	rm -rf "$dir/made"
	truth=$("$dir/make" "$dir/made" "$ahead" "$coarse" told "$bend")
	"$analyze" audit --json "$dir/made/traces.otf2" >"$dir/json" || fail "$case: exit status $?"
	about() { echo "ahead by $ahead ns, ticks of $coarse ns, bent by $bend ns: "; }
	impossible=$(jq .impossible_orders "$dir/json")
	if [ "$bend" != 0 ]; then
		[ "$impossible" -ge 10 ] || fail "only $impossible orders are impossible"
	elif [ "$ahead" = 0 ]; then
		[ "$impossible" = 0 ] || fail "$impossible orders are impossible"
		[ -z "$(claims flips <"$dir/json")" ] || fail "flips: $(claims flips <"$dir/json")"
		claims holds <"$dir/json" | grep -q "solve has 99" || fail "the critical path is not found"
	else
		[ "$impossible" -ge 100 ] || fail "only $impossible orders are impossible"
	fi
	for end in first last; do
		offset=$(jq -r ".clocks[] | select(.process == \"MPI Rank 1\") | .${end}_offset_s | \"\(.lo) \(.hi)\"" "$dir/json")
		contains "$offset" "$ahead / 1e9" || fail "its offset is $offset s"
		is_true "${offset#* } - ${offset% *} < 4e-5" || fail "its offset is known only to $offset s"
	done
	score=$(jq -r '[.findings[] | select(.claim | test("wait for rank 1|rank 1 keeps"))][0].bounds_percent | "\(.lo) \(.hi)"' "$dir/json")
	contains "$score" "$truth" || fail "rank 1's score is $score, in truth $truth"
	claims holds <"$dir/json" | grep -qx "rank 1 keeps the others waiting longest" ||
		fail "the straggler is not confirmed: $(cat "$dir/json")"
done
about() { :; }

rm -rf "$dir/made"
"$dir/make" "$dir/made" 30000000 >/dev/null
"$analyze" audit "$dir/made/traces.otf2" >"$dir/text" || fail "exit status $?"
fits_80 "$dir/text" || fail "the text is wider than 80 columns"
grep -q "^Its times are impossible: 700 of 2100 orders" "$dir/text" || fail "impossible times are not said: $(cat "$dir/text")"
grep -q "^ *flips .* others wait for rank 1 for 24" "$dir/text" || fail "a false score does not flip: $(cat "$dir/text")"

# A rank whose events are not there is no straggler, and nobody's waiting is what is missing.
cp -r "$dir/made" "$dir/missing"
rm "$dir/missing/traces/1.evt"
"$analyze" audit --json "$dir/missing/traces.otf2" >"$dir/json" 2>"$dir/err" && fail "a missing rank is no problem"
jq -e 'all(.findings[]; .claim | test("wait") | not)' "$dir/json" >"$dir/is" ||
	fail "a rank is missing, and the recorded times say: $(jq -r '.findings[].claim' "$dir/json")"
"$analyze" audit "$dir/missing/traces.otf2" 2>"$dir/err" | tr -s ' \n' ' ' | grep -q "Records are missing.* do not say who keeps others waiting" ||
	fail "it is not said why nothing is claimed"
"$analyze" pack "$dir/missing/traces.otf2" "$dir/packed" && for command in "audit $dir/missing/traces.otf2" "csp $dir/packed"; do
	"$analyze" $command >"$dir/text" 2>&1
	grep -iE "pragma|fplugin" "$dir/text" >"$dir/is" && fail "to the user of another tool $command says: $(cat "$dir/is")"
done
"$analyze" audit "$dir/missing/traces.otf2" 2>&1 | grep "dprof-analyze check" >"$dir/is" && fail "check does not read that file: $(cat "$dir/is")"
rm -rf "$dir/packed"

# Packed, it is a trace like any other: messages of all kinds are matched, and the two answers agree.
"$analyze" pack "$dir/made/traces.otf2" "$dir/packed" && "$analyze" check "$dir/packed" >"$dir/text" ||
	fail "packed, it is not sound: $(cat "$dir/text")"
"$analyze" profile --json "$dir/packed" >"$dir/json"
[ "$(jq '[.messages[].count] | add' "$dir/json")" = 700 ] || fail "expected 700 messages, found $(jq -c .messages "$dir/json")"
"$analyze" dump "$dir/packed" | grep -c "^clock .* halfwidth=1$" | grep -qx 3 || fail "expected three clocks, each known to a tick"

# Where requests never say what they took, only messages of which as many were taken as sent are told apart: 200 of 700.
rm -rf "$dir/made" "$dir/packed"
"$dir/make" "$dir/made" 30000000 1 silent >/dev/null
"$analyze" pack "$dir/made/traces.otf2" "$dir/packed" && "$analyze" check "$dir/packed" >"$dir/text" ||
	fail "silent: it is not sound: $(cat "$dir/text")"
"$analyze" profile --json "$dir/packed" >"$dir/json"
[ "$(jq '[.messages[].count] | add' "$dir/json")" = 200 ] ||
	fail "silent: expected 200 messages, found $(jq -c .messages "$dir/json")"

# Nothing was recorded of rank 1's first barriers, so that the n-th of it is not the n-th of others: its times are right, and which
# belong together is not known.
rm -rf "$dir/made"
"$dir/make" "$dir/made" 0 1 late >/dev/null
"$analyze" audit --json "$dir/made/traces.otf2" >"$dir/json" 2>"$dir/err" &&
	fail "late: nothing is said of clocks that nothing relates"
jq -e '.impossible_orders == 0 and .orders == 0 and any(.notes[]; contains("processes recorded different numbers of collective operations"))' "$dir/json" >"$dir/is" ||
	fail "late: $(jq -c '[.impossible_orders, .orders, .worst_s, .notes]' "$dir/json")"

# ---- What dprof exports itself: who sleeps waits for nobody ------------------------------------------

"$analyze" pack - "$dir/sleeps" <<-END || fail "pack refused a trace"
	dprof-text 1
	clock 0 host=h0 ghz=1
	thread 0 clock=0 rank=0
	site 0 kind=sleep name=nanosleep file=x.c line=1
	site 1 kind=wait name=poll file=x.c line=2
	e 0 0 0 enter
	e 0 100 0 exit
	e 0 200 1 enter
	e 0 300 1 exit
END
"$analyze" export --to otf2 "$dir/sleeps.otf2" "$dir/sleeps" >/dev/null 2>"$dir/err" &&
	"$analyze" pack "$dir/sleeps.otf2"/*.otf2 "$dir/again" || fail "it is not read back: $(cat "$dir/err")"
"$analyze" dump "$dir/again" >"$dir/text"
grep -q "kind=sleep name=nanosleep" "$dir/text" && grep -q "kind=wait name=poll" "$dir/text" ||
	fail "sleep is not told from waiting: $(grep site "$dir/text")"

# A mark stays one: who sleeps there works, however often. And nothing is said to wait behind its last record.
"$analyze" pack - "$dir/marked" <<-END || fail "pack refused a trace"
	dprof-text 1
	clock 0 host=h0 ghz=1
	thread 0 clock=0 rank=0
	thread 1 clock=0 rank=0 number=1
	site 0 kind=region name=work file=x.c line=1
	site 1 kind=sleep name=nanosleep file=x.c line=2
	site 2 kind=region name=f file=x.c line=3 auto=1
	$(for thread in 0 1; do
		printf 'e %d %d %d %s\n' $thread 0 0 enter
		for at in 10000 20000 30000 40000; do printf 'e %d %d 1 %s\n' $thread $at enter $thread $((at + 9990)) exit; done
		printf 'e %d %d %d %s\n' $thread 50000 0 exit $thread 50000 2 enter $thread 60000 2 exit
	done)
END
"$analyze" export --to otf2 "$dir/marked.otf2" "$dir/marked" >/dev/null && "$analyze" pack "$dir/marked.otf2"/*.otf2 "$dir/unmarked" &&
	"$analyze" dump "$dir/unmarked" >"$dir/text" || fail "marked: not read back"
grep -q "kind=region name=work file=x.c line=1$" "$dir/text" && grep -q "kind=region name=f file=x.c line=3 auto=1$" "$dir/text" ||
	fail "a mark is not told from a function: $(grep site "$dir/text")"
[ "$(grep "^e 1 " "$dir/text" | tail -1 | cut -d' ' -f5)" = exit ] || fail "it waits behind its end: $(grep "^e 1 " "$dir/text" | tail -1)"

# Two who slept again and again, which may have been work or waiting: not both worked while the other one waited.
"$analyze" pack - "$dir/both" <<-END || fail "pack refused a trace"
	dprof-text 1
	clock 0 host=h0 ghz=1
	thread 0 clock=0 rank=0
	thread 1 clock=0 rank=1
	group 1 threads=0,1
	site 0 kind=barrier name=MPI_Barrier file=x.c line=1
	site 1 kind=sleep name=nanosleep file=x.c line=2
	$(for thread in 0 1; do
		printf 'e %d %d 0 %s\n' $thread 0 "enter group=1 seq=0" $thread 100 exit
		for at in 10000 20000 30000 40000; do printf 'e %d %d 1 %s\n' $thread $at enter $thread $((at + 9990)) exit; done
		printf 'e %d %d 0 %s\n' $thread 50000 "enter group=1 seq=1" $thread 50100 exit
	done)
END
"$analyze" export --to otf2 "$dir/both.otf2" "$dir/both" >/dev/null || fail "both: not exported"
"$analyze" audit --json "$dir/both.otf2/traces.otf2" >"$dir/json" 2>"$dir/err"
jq -e '[.findings[] | select(.claim | startswith("others wait for")) | .recorded_percent] | add // 0 | . <= 101' "$dir/json" >"$dir/is" ||
	fail "both: $(jq -c .findings "$dir/json")"

# Of clocks of which nothing is known no number is said, and what is wrong with that once.
"$analyze" pack - "$dir/once" <<-END || fail "pack refused a trace"
	dprof-text 1
	clock 0 host=h0 ghz=1
	thread 0 clock=0 rank=0
	thread 1 clock=0 rank=1
	group 1 threads=0,1
	site 0 kind=barrier name=MPI_Barrier file=x.c line=1
	e 0 1000 0 enter group=1 seq=0
	e 0 9000 0 exit
	e 1 2000 0 enter group=1 seq=0
	e 1 9000 0 exit
END
"$analyze" export --to otf2 "$dir/once.otf2" "$dir/once" >/dev/null && "$analyze" audit "$dir/once.otf2/traces.otf2" >"$dir/text" 2>"$dir/err" &&
	fail "clocks of which nothing is known are no problem"
grep -q "^  rank 1  *unknown  *unknown$" "$dir/text" || fail "what is not known is a number: $(cat "$dir/text")"
[ "$(sort "$dir/err" | uniq -d | wc -l)" = 0 ] || fail "a problem is said twice: $(cat "$dir/err")"
"$analyze" audit "$dir/sleeps.otf2/traces.otf2" | grep -q ": 1 process, 1 thread$" || fail "one process: $("$analyze" audit "$dir/sleeps.otf2/traces.otf2")"

# ---- EZTrace: two ranks whose clocks are some 360 ms apart -------------------------------------------

"$analyze" audit --json "$ez" >"$dir/json" || fail "EZTrace's: exit status $?"
[ "$(jq .impossible_orders "$dir/json")" = 12 ] || fail "EZTrace's: $(jq .impossible_orders "$dir/json") orders are impossible"
is_true "$(jq .clocks[0].first_offset_s.lo "$dir/json") > 0.3" ||
	fail "EZTrace's: its clocks are not seen apart: $(cat "$dir/json")"
claims flips <"$dir/json" | grep -q "^others wait for rank 1 for" || fail "EZTrace's: no score flips: $(cat "$dir/json")"

"$analyze" audit "$ez" | tr -s ' \n' ' ' | grep -q "entered by rank 1 (MPI_Barrier) before" ||
	fail "EZTrace's: a call without a line is not named by its name alone"

# ---- What is none, or damaged -----------------------------------------------------------------------

refused() { # WHAT WORDS command...
	"$analyze" "${@:3}" >"$dir/out" 2>"$dir/err"
	local status=$?
	[ $status -ge 1 ] && [ $status -le 2 ] || fail "$1: exit status $status"
	grep -q "$2" "$dir/err" || fail "$1: expected '$2', found: $(cat "$dir/err")"
}
refused "no trace" "expected one OTF2 trace" audit "$dir/text"
refused "nothing" "cannot be opened as such" audit "$dir/none.otf2"
head -c 300 /dev/urandom >"$dir/noise.otf2"
refused "noise" "noise.otf2: expected the anchor file" audit "$dir/noise.otf2"
refused "a folder that is there" "exists" pack "$ez" "$dir/made"

# Its buffers may be 256 kB (for events, and for definitions): six of 16 MB, as EZTrace has them, take a second for each copy.
cp -r $fixtures/eztrace "$dir/whole"
for at in 12 20; do
	printf '\0\0\4\0' | dd of="$dir/whole/eztrace_log.otf2" bs=1 seek=$at conv=notrunc status=none
done
"$analyze" audit --json "$ez" >"$dir/text"
"$analyze" audit --json "$dir/whole/eztrace_log.otf2" | diff "$dir/text" - >"$dir/out" || fail "EZTrace's with smaller buffers: $(cat "$dir/out")"
tried=0
for file in eztrace_log.otf2 eztrace_log.def eztrace_log/0.evt eztrace_log/1073741823.evt; do
	size=$(wc -c <"$fixtures/eztrace/$file")
	for at in $(seq 3 $((size / 3 + 1)) "$size"); do
		for damage in cut flip; do
			rm -rf "$dir/bad"
			cp -r "$dir/whole" "$dir/bad"
			if [ $damage = cut ]; then
				truncate -s "$at" "$dir/bad/$file"
			else
				printf '\377' | dd of="$dir/bad/$file" bs=1 seek="$at" conv=notrunc status=none
			fi
			timeout 20 "$analyze" audit --json "$dir/bad/eztrace_log.otf2" >"$dir/json" 2>"$dir/err"
			status=$?
			tried=$((tried + 1))
			[ $status -le 1 ] || fail "$file, $damage at $at: exit status $status: $(cat "$dir/err")"
			[ $status -eq 0 ] || [ -s "$dir/err" ] || fail "$file, $damage at $at: nothing is said"
		done
	done
done
[ $tried -ge 20 ] || fail "only $tried ways of damage were tried"
# Any byte of an anchor file is another one (here alone, so that no more than that is read): the library would not come to an end.
mkdir "$dir/alone"
for at in $(seq 0 $(($(wc -c <"$ez") - 1))); do
	cp "$ez" "$dir/alone/traces.otf2"
	printf '\315' | dd of="$dir/alone/traces.otf2" bs=1 seek="$at" conv=notrunc status=none
	timeout 20 "$analyze" audit "$dir/alone/traces.otf2" >"$dir/out" 2>"$dir/err"
	status=$?
	[ $status -eq 1 ] && [ -s "$dir/err" ] || fail "byte $at of the anchor file: exit status $status: $(cat "$dir/err")"
	[ "$at" != 46 ] || grep -q "traces.otf2: offset 50 of the anchor file: expected a number of properties .* found 117440512$" "$dir/err" ||
		fail "byte 46 of the anchor file: $(cat "$dir/err")"
done
exit $failed

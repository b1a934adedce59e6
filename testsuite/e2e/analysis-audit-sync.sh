#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Another tool's trace beside a log of freezer measure: of a run of known truth its clocks are bounded more closely,
# what was undecided is decided, and truly; a log that is none, or damaged, or of other hosts or clocks, is refused, and
# one that contradicts the program is told.
. testsuite/lib.sh

fixtures=testsuite/fixtures/otf2
freezer=$B/bin/freezer
gcc -std=c17 -D_GNU_SOURCE -O1 $fixtures/make.c -o "$dir/make" -lotf2 || fail "the maker of traces does not compile"
gcc -std=c17 -D_GNU_SOURCE -O1 -I. $fixtures/log.c -o "$dir/log" "$B/lib/libfreezer.a" || fail "the maker of logs does not compile"
cd "$dir" || exit 1

interval() { # JQ-PATH
	jq -r "$1 | \"\(.lo) \(.hi)\"" json
}

encloses() { # WHAT INTERVAL TRUTH WIDTH
	is_true "${2% *} <= $3 && $3 <= ${2#* }" || fail "$1 is [$2], in truth $3"
	is_true "${2#* } - ${2% *} <= $4" || fail "$1 is known only to [$2]"
}

audited() { # STATUS OPTION...
	"$analyze" audit --json "${@:2}" >json 2>err
	local status=$?
	[ $status = "$1" ] || fail "${*:2}: exit status $status: $(cat err)"
}

verdict() { # of who keeps others waiting longest
	jq -r '.findings[0].verdict + ": " + .findings[0].claim' json
}

# ---- Known truth ------------------------------------------------------------------------------------

for case in "30000000 tsc" "-70000 monotonic"; do
	read -r ahead clock <<<"$case"
	rm -rf made log.sync before.sync behind.sync
	truth=$(./make made "$ahead" 1 barriers)
	./log log.sync "$clock" "$ahead" -20 700 && ./log before.sync "$clock" "$ahead" -200 -100 &&
		./log behind.sync "$clock" "$ahead" 600 700
	audited 0 made/traces.otf2
	is_true "$(jq '.clocks[0].last_offset_s | .hi - .lo' json) > 1e-3" || fail "without a log: $(jq -c .clocks json)"
	[ "$(verdict)" = "undecided: rank 1 keeps the others waiting longest" ] || fail "without a log: $(verdict)"
	logs_of=("--sync=log.sync")
	[ "$clock" = tsc ] && logs_of+=("--sync before.sync --sync behind.sync")
	for logs in "${logs_of[@]}"; do
		# shellcheck disable=SC2086
		audited 0 $logs --trace-clock "$clock" made/traces.otf2
		for end in first last; do
			encloses "$case: h1's offset" "$(interval ".clocks[] | select(.process == \"h1\").${end}_offset_s")" "$ahead / 1e9" 2e-5
			encloses "$case: h2's offset" "$(interval ".clocks[] | select(.process == \"h2\").${end}_offset_s")" 0 2e-5
		done
		[ "$(jq '.clocks | length' json)" = 2 ] || fail "$case: expected two clocks beside the first: $(jq -c .clocks json)"
		[ "$(verdict)" = "holds: rank 1 keeps the others waiting longest" ] || fail "$case, $logs: $(verdict)"
		encloses "$case: the score of rank 1" "$(interval .findings[0].bounds_percent)" "$truth" 1
	done
done

# ---- Measured here: all hosts are this one ------------------------------------------------------------

serve() { # NAME
	timeout 300 "$freezer" serve --bind 127.0.0.1 --port 0 --name "$1" >"$1.out" 2>"$1.err" &
	servers+=($!)
	for _ in $(seq 200); do
		grep -q "^answering" "$1.out" && break
		sleep 0.05
	done
}
servers=()
serve h1
serve h2
port() { sed -n 's/^answering on port \([0-9]*\);.*/127.0.0.1:\1/p' "$1.out"; }
"$freezer" measure --name h0 --for 30s --log=live.sync "$(port h1)" "$(port h2)" >measured 2>measured.err &
measuring=$!
servers+=($measuring)
trap 'kill "${servers[@]}" 2>/dev/null; rm -rf "$dir"' EXIT
for _ in $(seq 2000); do # cores are compared before, which takes long where both have much to do
	grep -qs "^freezer: live.sync: begun" measured.err && break
	kill -0 $measuring || break
	sleep 0.05
done
rm -rf made
truth=$(./make made 0 1 barriers 0 now)
sleep 0.55 # its run of 0.5 s has not been yet
kill -TERM $measuring
wait $measuring || fail "freezer measure: $(cat measured measured.err)"
if grep -q "not all cores" measured.err; then
	audited 1 --sync live.sync --trace-clock monotonic made/traces.otf2
	grep -q "expected all cores of host h0 to be compared" err || fail "cores that were too busy to be compared: $(cat err)"
elif grep -q "begun.*not that of" measured.err; then # and that was said: too busy to answer for 2 s
	"$analyze" audit --sync live.sync --trace-clock monotonic made/traces.otf2 >out 2>err ||
		grep -q "expected stamps that the logs of --sync enclose" err || fail "a host that answers late: $(cat err measured.err)"
else
	audited 0 --sync live.sync --trace-clock monotonic made/traces.otf2
	encloses "live: h1's offset" "$(interval '.clocks[0].last_offset_s')" 0 1e-3
	encloses "live: the score of rank 1" "$(interval .findings[0].bounds_percent)" "$truth" 100
fi
audited 1 --sync live.sync made/traces.otf2
grep -q "host h0's tsc, [0-9]* ticks a second, found 1000000000: .*SCOREP_TIMER=tsc" err ||
	fail "live, as if of the tsc: $(cat err)"
"$freezer" measure --for 1ms --log=live.sync "$(port h1)" >out 2>err && fail "a log is written over"
grep -q "live.sync: cannot be made: File exists" err || fail "a log that is there: $(cat err)"
"$freezer" measure --for 1ms --log=none.sync --key 000102030405060708090a0b0c0d0e0f "$(port h1)" >out 2>err &&
	fail "a log of nothing is fine"
grep -q "none.sync: nothing of $(port h1) is in it" err || fail "a host that does not answer: $(cat err)"

# ---- What cannot be used ------------------------------------------------------------------------------

rm -rf made
./make made 30000000 1 barriers >out
rm -f log.sync && ./log log.sync tsc 30000000 -20 700
./log false.sync tsc 0 -20 700 && ./log short.sync tsc 30000000 -20 400 && ./log other.sync monotonic 30000000 -20 700
./log scattered.sync tsc 30000000 -20 700 scattered
sed 's/\(frzsync\)1/\12/' log.sync >version.sync
head -c 1000 log.sync >cut.sync
{ cat log.sync && head -c 64 /dev/zero; } >zeros.sync
cp log.sync sparse.sync && truncate -s 100G sparse.sync
{ head -c 160 log.sync && tail -c +417 log.sync; } >nameless.sync
mkfifo fifo.sync
: >empty.sync
while IFS='|' read -r words options; do
	# shellcheck disable=SC2086
	"$analyze" audit $options made/traces.otf2 >out 2>err
	status=$?
	[ $status -ge 1 ] && [ $status -le 2 ] || fail "$options: exit status $status"
	grep -q -- "$words" err || fail "$options: expected '$words', found: $(cat err)"
	[ -s out ] && fail "$options: there is an answer"
done <<-'END'
	none.sync.log: cannot be opened: No such file|--sync none.sync.log
	expected a file of packets, found a FIFO|--sync fifo.sync
	expected a file of packets, found a directory|--sync made
	empty.sync: offset 0: expected a header|--sync empty.sync
	traces.otf2: offset [0-9]*: expected|--sync made/traces.otf2
	expected "frzsync1", found other bytes|--sync version.sync
	cut.sync: offset 992: expected a record of 64 bytes, found the end after 8|--sync log.sync --sync cut.sync
	zeros.sync: offset [0-9]*: expected check|--sync zeros.sync
	sparse.sync: offset [0-9]*: expected check|--sync sparse.sync
	nameless.sync: offset 672: expected a log of freezer measure --log, clocks whose hosts it has told|--sync nameless.sync
	host h0: expected stamps that the logs of --sync enclose, of its tsc from 980000000 to|--sync short.sync
	host h0's tsc, 2500000000 ticks a second, found 1000000000: .*SCOREP_TIMER=tsc|--sync other.sync
	of its realtime none, found .*; they fit its monotonic|--sync other.sync --trace-clock realtime
	log.sync and live.sync: expected one boot of host h0, found two|--sync log.sync --sync live.sync
	expected all cores of host h0 to be compared|--sync scattered.sync
	--sync: expected a file that freezer measure --log has made|--sync=
	--trace-clock: expected tsc, monotonic|--trace-clock cpu --sync log.sync
	--trace-clock: expected logs of freezer measure|--trace-clock tsc
END
"$analyze" audit --sync log.sync "$OLDPWD/$fixtures/eztrace/eztrace_log.otf2" >out 2>err &&
	fail "a trace of another host is analysed"
grep -q "process P#0 on a host that the logs of --sync have (h0, h1, h2), found it on small " err || fail "other hosts: $(cat err)"
./make alike 0 1 silent >out
"$analyze" audit --sync log.sync alike/traces.otf2 >out 2>err && fail "hosts of one name are one"
grep -q "found MPI Rank 0 and MPI Rank 1 on two of one name" err || fail "hosts of one name: $(cat err)"
echo '{"traceEvents": []}' >rank0.json
"$analyze" audit --sync log.sync rank0.json >out 2>err && fail "PyTorch's times are taken for a clock's"
grep -q "computed from those of several clocks" err || fail "PyTorch's: $(cat err)"

audited 1 --sync false.sync made/traces.otf2
grep -q "clock h1: its links from packets agree with, and those from the program contradict, the assumption" err ||
	fail "a false log: $(cat err)"
jq -e '[.findings[].verdict] | all(. == "undecided")' json >out || fail "a false log decides: $(jq -c .findings json)"
./log kernel.sync monotonic 30000000 -20 700
"$analyze" audit --sync kernel.sync --trace-clock monotonic made/traces.otf2 >text && fits_80 text ||
	fail "the text is wider than 80 columns"
grep -q ": 3 processes, 4 threads$" text || fail "a clock of the log counts as a process: $(head -1 text)"
exit $failed

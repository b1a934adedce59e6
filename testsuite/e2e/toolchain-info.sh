#!/bin/bash
# SPDX-License-Identifier: MIT
#
# dprof-info: what it says is there is there, what is not is said, and it knows the variables that the manual page has.
. testsuite/lib.sh
info=$B/bin/dprof-info
"$info" -h | grep -q '^Usage: dprof-info' || fail "-h is not --help"
"$info" >"$dir/out" 2>"$dir/err" && [ ! -s "$dir/err" ] || fail "status $?: $(cat "$dir/err")"
fits_80 "$dir/out" 'in /' || fail "wider than 80 columns"
"$info" --json >"$dir/json" || fail "--json: status $?"
gcc=$(gcc -dumpversion)
jq -e --arg gcc "$gcc" '(.version | test("^[0-9]+\\.[0-9]+$")) and (.trace_format > 3) and any(.plugins[]; tostring == $gcc) and
	any(.compilers[]; .name == "gcc" and .plugin) and (.cores.count > 0) and (.clock.nominal_ghz > 0) and .traces.writable' \
	"$dir/json" >/dev/null || fail "$(cat "$dir/json")"
[ "$(jq .cores.count "$dir/json")" = "$(nproc)" ] || fail "other cores than nproc's $(nproc): $(jq .cores "$dir/json")"
compared='(which|of which [0-9]+) share a clock to within [0-9]+ ns'
tr -s ' \n' ' ' <"$dir/out" | grep -qE "cores: $(nproc)(, $compared|, too busy to be compared now: whether| kernel:)" ||
	fail "of the cores: $(grep -A 1 cores: "$dir/out")"
taskset -c "$(taskset -cp $$ | sed 's/.*: //; s/[,-].*//')" "$info" | grep -qx '  cores: 1' ||
	fail "more is said of one core than that it is one"
for mpi in openmpi mpich; do
	there=$([ -e "$B/lib/libdprof-$mpi.so" ] && echo true || echo false)
	[ "$(jq --arg mpi $mpi '.mpi[] | select(.name == $mpi).adapter' "$dir/json")" = $there ] || fail "$mpi: $(jq -c .mpi "$dir/json")"
done

# A copy elsewhere has neither plugin nor adapter.
mkdir "$dir/bin" && cp "$info" "$dir/bin"
[ "$("$dir/bin/dprof-info" --json | jq -c '[.plugins, (.compilers | map(.plugin) | any), (.mpi | map(.adapter) | any)]')" = '[[],false,false]' ] ||
	fail "alone: $("$dir/bin/dprof-info")"

# The environment.
DPROF_EVNTS=1 DPROF_DIR=/proc "$info" >"$dir/out"
grep -qF 'did you mean DPROF_EVENTS' "$dir/out" || fail "no word of a variable that is misspelt: $(cat "$dir/out")"
# Values that are not understood, in the words of the runtime, which a trace has as notes.
bad=(DPROF_EVENTS=regoin DPROF_QUIET=maybe DPROF_BUFFER=big DPROF_BLOCKED_NS=soon DPROF_GATHER=perhaps)
env "${bad[@]}" DPROF_OFF=maybe DPROF_SYNC_INTERVAL=often DPROF_SYNC_TOPOLOGY=ring "$info" >"$dir/out"
for wrong in "DPROF_EVENTS has 'regoin', which is no kind of event" "DPROF_OFF is 'maybe', which is neither 1" "DPROF_QUIET is 'maybe'" \
	"DPROF_BUFFER is not a size" "DPROF_BLOCKED_NS is not a number" "DPROF_GATHER is 'perhaps'" "DPROF_SYNC_INTERVAL is not 0" "DPROF_SYNC_TOPOLOGY is not star"; do
	tr -s ' \n' ' ' <"$dir/out" | grep -qF "$wrong" || fail "no word of a value that is not understood ($wrong): $(cat "$dir/out")"
done
DPROF_EVENTS=-lock,region DPROF_OFF=no DPROF_BUFFER=64K DPROF_BLOCKED_NS=0 DPROF_SYNC_INTERVAL=1s DPROF_SYNC_TOPOLOGY=tree:4 "$info" --json |
	jq -e '[.environment[].not_understood] | all(. == null)' >"$dir/out" || fail "a value that is fine is not understood"
echo 'int main(void) {
	volatile int n = 0;
#pragma dprof region(r)
	n++;
	return n - 1; }' >"$dir/one.c"
"$B/bin/dprof-cc" -o "$dir/one" "$dir/one.c" && env "${bad[@]}" DPROF_DIR="$dir" "$dir/one" 2>"$dir/err" || fail "a program with such values: $(cat "$dir/err")"
env "${bad[@]}" "$info" --json | jq -r '.environment[].not_understood // empty' | sort >"$dir/info"
sed -n 's/^note //p' "$dir"/dprof-one.*/*.process | sed 's/%20/ /g' | grep '^DPROF_' | sort | diff - "$dir/info" >"$dir/out" || fail "dprof-info and the runtime: $(cat "$dir/out")"

DPROF_DIR=$dir/none "$info" | grep -qF 'nothing can be written there' || fail "no word of a folder that is not there"
DPROF_HOST=$(printf 'a\033[31m') "$info" | grep -qF 'a\x1b[31m' || fail "an escape sequence is shown as it is"
for name in $(grep -ohE '\*DPROF_[A-Z_]+\*(=|$| has| name)' docs/dprof.7.scd | grep -oE 'DPROF_[A-Z_]+'); do
	[ "$(env "$name=1" "$info" --json | jq --arg name "$name" '.environment[] | select(.name == $name).known')" = true ] ||
		fail "$name stands in dprof(7), and dprof-info does not know it"
done
"$info" --json extra >"$dir/out" 2>&1
[ $? -eq 2 ] && grep -qF "expected no more than options, found 'extra'" "$dir/out" || fail "wrong usage: $(cat "$dir/out")"
exit $failed

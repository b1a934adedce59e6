#!/bin/bash
# SPDX-License-Identifier: MIT
#
# dprof-info: what it says is there is there, what is not is said, and it knows the variables that the manual page has.
. testsuite/lib.sh
info=$B/bin/dprof-info
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
DPROF_DIR=$dir/none "$info" | grep -qF 'nothing can be written there' || fail "no word of a folder that is not there"
DPROF_HOST=$(printf 'a\033[31m') "$info" | grep -qF 'a\x1b[31m' || fail "an escape sequence is shown as it is"
for name in $(grep -ohE '\*DPROF_[A-Z_]+\*(=|$| has| name)' docs/dprof.7.scd | grep -oE 'DPROF_[A-Z_]+'); do
	[ "$(env "$name=1" "$info" --json | jq --arg name "$name" '.environment[] | select(.name == $name).known')" = true ] ||
		fail "$name stands in dprof(7), and dprof-info does not know it"
done
"$info" --json extra >"$dir/out" 2>&1
[ $? -eq 2 ] && grep -qF "expected no more than options, found 'extra'" "$dir/out" || fail "wrong usage: $(cat "$dir/out")"
exit $failed

#!/bin/bash
# SPDX-License-Identifier: MIT
#
# A task that waits for what it made is recorded as waiting also where its thread has come to the end of the team: else it
# would seem to work meanwhile, and be the straggler.
. testsuite/lib.sh

for how in "" -DGROUP; do
	name=$dir/waits$how
	# shellcheck disable=SC2086
	"$B/bin/dprof-cc" -O2 -fopenmp $how -o "$name" testsuite/fixtures/threads/task_waits.c 2>"$dir/err" || fail "$(cat "$dir/err")"
	mkdir "$dir/trace$how"
	DPROF_DIR=$dir/trace$how "$name" || fail "task_waits $how: status $?"
	"$analyze" waits --json "$dir/trace$how"/dprof-* >"$dir/out" 2>"$dir/err" || fail "task_waits $how: $(cat "$dir/err")"
	jq -e '[.waits[] | select(.kind == "join" and .caused_by.region == "big")] | length == 1 and .[0].seconds.lo > 0.2' "$dir/out" >"$dir/is" ||
		fail "task_waits $how: $(jq -c .waits "$dir/out")"
	"$analyze" csp --json "$dir/trace$how"/dprof-* >"$dir/out" || fail "task_waits $how: csp"
	jq -e '.threads | max_by(.straggler_percent.lo) | .site == "big"' "$dir/out" >"$dir/is" ||
		fail "task_waits $how: $(jq -c .threads "$dir/out")"
done

# So is what target constructs wait for in place of a device, and what a target region does there is work.
name=$dir/targets
"$B/bin/dprof-cc" -O2 -fopenmp -o "$name" testsuite/fixtures/threads/targets.c 2>"$dir/err" || fail "$(cat "$dir/err")"
mkdir "$dir/trace-targets"
OMP_WAIT_POLICY=active DPROF_DIR=$dir/trace-targets "$name" || fail "targets: status $?"
"$analyze" waits --json "$dir/trace-targets"/dprof-* >"$dir/out" 2>"$dir/err" || fail "targets: $(cat "$dir/err")"
jq -e '[.waits[] | select(.kind == "join" and .caused_by.region == "made" and .seconds.lo > 0.05)] | length == 3' "$dir/out" >"$dir/is" ||
	fail "targets: $(jq -c .waits "$dir/out")"
"$analyze" csp --json "$dir/trace-targets"/dprof-* >"$dir/out" || fail "targets: csp"
jq -e '[.threads[] | select((.site | startswith("target targets.c:")) and .straggler_percent.lo > 35)] | length == 1' "$dir/out" >"$dir/is" ||
	fail "targets: $(jq -c .threads "$dir/out")"
exit $failed

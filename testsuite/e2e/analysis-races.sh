#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The analysis, and the test of its pool of threads, built with a sanitizer that notices data races, find none.
. testsuite/lib.sh
at_once=1
[ -z "${SAN:-}" ] || { echo "SKIP: another sanitizer is asked for"; exit 77; }

# Made once (analysis/room.mk), and again where a source has changed.
make --no-print-directory B="$B" "$B/races/bin/dprof-analyze" "$B/races/bin/analysis_pool" >"$dir/made" 2>&1 ||
	fail "cannot be built: $(tail -20 "$dir/made")"

# It wants addresses as they are without randomness.
export TSAN_OPTIONS=exitcode=66
without_races() { # what command...
	local what=$1 status
	shift
	setarch -R "$@" >"$dir/out" 2>"$dir/err"
	status=$?
	[ $status -eq 0 ] || fail "$what: status $status: $(head -40 "$dir/err")"
}
CK_FORK=no without_races "the test of the pool" "$B/races/bin/analysis_pool"
"$B/test/synthesize" --hosts 3 --ranks 5 --threads 3 --messages 1500 --work 20 | "$analyze" pack - "$dir/many" || fail "no trace"
for command in csp report check; do
	without_races "$command" "$B/races/bin/dprof-analyze" $command --jobs 4 "$dir/many"
	"$analyze" $command --jobs 1 "$dir/many" | cmp -s - "$dir/out" || fail "$command: another answer"
done
exit $failed

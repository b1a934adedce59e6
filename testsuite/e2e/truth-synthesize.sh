#!/bin/bash
# SPDX-License-Identifier: MIT
#
# truth-synthesize.sh - synthetic traces on clocks of each kind are fine traces, and the analysis of
# each shows the scores that the same program has on one true clock.
. testsuite/lib.sh

# Each clock is within 10 ppm of some rate, so two differ by at most 40 from the mean of their ratio.
scores() { # trace [OPTION]...
	"$analyze" csp --json "${@:2}" "$1" | testsuite/scores.sh | grep -v span
}

compare() { # no true score may lie apart from the one shown
	paste "$dir/true" "$dir/shown" | awk '
		$1 != $4 || $2 > $6 || $3 < $5 { print "the truth " $0; bad = 1 }
		END { exit bad || NR == 0 }'
}

program=(--hosts 3 --ranks 5 --messages 3000 --seed "${SEED:-1}")
"$B/test/synthesize" "${program[@]}" --true | "$analyze" pack - "$dir/truth" || exit 1
scores "$dir/truth" >"$dir/true"
for clock in affine sine walk switch ramp; do
	for topology in star mesh; do
		trace=$dir/$clock.$topology
		"$B/test/synthesize" "${program[@]}" --clock $clock --wander 20000 --topology $topology |
			"$analyze" pack - "$trace" && "$analyze" check --clock-model drift:41 "$trace" >"$dir/check" ||
			{ cat "$dir/check"; echo "FAILED $clock, $topology: not a fine trace"; failed=1; }
		scores "$trace" --clock-model drift:41 >"$dir/shown"
		compare || fail "$clock, $topology"
	done
done

"$B/test/synthesize" --clock sundial 2>"$dir/err" && failed=1
grep -q "'sundial' is no kind of clock" "$dir/err" || fail "$(cat "$dir/err")"
exit $failed

# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154
#
# truth.sh - made-up clocks whose every tick is known: no bound may exclude the truth, and clocks that break the
# assumption are to be reported.

conversions=2e7 broken=300
[ -z "${LONG:-}" ] || conversions=1e9 broken=3000
for model in affine drift; do
	progress "truth, $model"
	"$B/test/truth-clocks" --model $model -n $conversions -b 0 >"$here/truth" || echo "VIOLATION or worse" >>"$here/truth"
	"$B/test/truth-clocks" --model $model -n 0 -b $broken >"$here/broken"
	table "The truth of made-up clocks, $model" "$(awk '$1 == "all" { print $3 " conversions in " $2 " worlds" }' "$here/truth"); \
$broken breaks of the assumption of each kind, 1 us to 17 min."
	row "bounds without the truth" "$(grep -c VIOLATION "$here/truth")" "" "<= 0"
	row "breaks of 10 widths, reported" "$(awk '$1 == "10" { print $8 }' "$here/broken")" % ">= 99.9" \
		"$(awk '$1 == "10" { print $7 " of " $4 " silent" }' "$here/broken")"
	why "see testsuite/truth/truth-clocks.c: packets were late for long around the break"
	row "all breaks, reported" "$(awk '$1 == "all" { print $6 }' "$here/broken")" % ">= 99.9" \
		"$(awk '$1 == "all" { print $5 " of " $2 " silent" }' "$here/broken")"
	why "the links admit a clock that keeps the assumption: a break of less than two widths does not show in the packets"
done

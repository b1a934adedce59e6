#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The order in which a trace names its hosts and threads changes no byte of csp and query, even where hundreds of
# changes fall on the same moment: ties have one order.
. testsuite/lib.sh

# Clocks that tick a thousandth as often as they were made to, so that ties are many.
"$B/test/synthesize" --hosts 5 --messages 3000 --work 4 --barrier 3 --seed 3 | awk '
	function coarse(stamp) { return substr(stamp, 1, length(stamp) - 3) }
	$1 == "clock" { sub(/ghz=.*/, "ghz=0.001") }
	$1 == "e" { $3 = coarse($3) }
	$1 == "link" { $3 = coarse($3); $5 = sprintf("%.0f", coarse($5) + 1) }
	{ print }' >"$dir/forward"

# Clock and thread n become n + 2 modulo 5, and their lines stand in that order.
turn() { awk -v by="$1" '
	function turned(n) { return (n + by) % 5 }
	$1 == "clock" { $2 = turned($2); clocks[$2] = $0; next }
	$1 == "thread" { $2 = turned($2); sub(/clock=[0-9]+/, "clock=" turned(substr($3, 7))); threads[$2] = $0; next }
	$1 == "group" { group = $2; n = split(substr($3, 9), t, ","); members = turned(t[1])
		for (i = 2; i <= n; i++) members = members "," turned(t[i])
		$3 = "threads=" members }
	$1 == "e" { $2 = turned($2) }
	$1 == "link" { $2 = turned($2); $4 = turned($4) }
	NR > 1 && !told && $1 != "dprof-text" {
		for (i = 0; i < 5; i++) print clocks[i]
		for (i = 0; i < 5; i++) print threads[i]
		told = 1
	}
	{ print }' "$dir/forward"; }

answers() { # directory
	"$analyze" csp --json --base h0 "$1"
	"$analyze" query --json --base h0 "$1" "count(body) == 2"
	"$analyze" query --json --base h0 "$1" "count(recv) >= 2 and count(working) == 1"
}

"$analyze" pack "$dir/forward" "$dir/first" || fail "pack"
answers "$dir/first" >"$dir/expected" || fail "no answer"
[ "$(grep -c '"lo"' "$dir/expected")" -gt 20 ] || fail "the answer says nothing: $(cat "$dir/expected")"
for by in 1 2 3 4; do
	turn $by >"$dir/turned"
	cmp -s "$dir/forward" "$dir/turned" && fail "not turned by $by"
	"$analyze" pack "$dir/turned" "$dir/turned.$by" || fail "pack, turned by $by"
	answers "$dir/turned.$by" >"$dir/found" || fail "no answer, turned by $by"
	cmp "$dir/expected" "$dir/found" || fail "turned by $by: $(diff "$dir/expected" "$dir/found" | head -6)"
done
exit $failed

# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154
#
# analysis.sh - what the analyses cost: straggler scores per event, and a complete causal profile.

table "Straggler scores of 10^7 events on 4 hosts, one core" "In events per second of processor time. $rounds rounds."
progress "scores"
"$B/test/synthesize" --hosts 4 --messages 1500000 --work 200 | "$B/bin/dprof-analyze" pack - "$here/csp"
"$B/bench/csp" "$here/csp" "$rounds" >"$here/csp.ns"
events_per_second() { # column: of the ns in each round
	sed 1d "$here/csp.ns" | awk -v c="$1" '$c > 0 { print 1e3 / $c }' | estimate
}
row "csp --links packets" "$(events_per_second 3)" M/s ">= 50"
why "all events of this trace change a state, so each is decoded twice and goes through a stack, a merge by \
stamps, two conversions and a merge by times: 870 instructions in all"
row "csp" "$(events_per_second 4)" M/s ">= 50"
why "two of three events belong to messages, which are matched one by one: another 600 instructions; and \
the links that other links do not imply are solved"
row "decoding alone" "$(events_per_second 2)" M/s
row "adding up the files' words" "$(events_per_second 1)" M/s
rm -rf "$here/csp"

seconds() { # command... : of the processor
	local TIMEFORMAT=%U
	{ time "$@" >/dev/null 2>&1; } 2>&1
}
table "A complete causal profile, 20 regions by 21 percentages" "In multiples of csp on the same trace. $rounds rounds."
for visits in 20 2; do
	awk -v rounds=$((480000 / (8 * visits + 8))) -v visits=$visits -f bench/profile_trace.awk |
		"$B/bin/dprof-analyze" pack - "$here/profile.$visits"
	for round in $(seq "$rounds"); do
		progress "causal profile, round $round of $rounds"
		echo "$round csp $(seconds "$B/bin/dprof-analyze" csp --json "$here/profile.$visits")"
		echo "$round coz $(seconds "$B/bin/dprof-analyze" coz --json "$here/profile.$visits")"
	done >"$here/profile"
	row "$visits visits between barriers" "$(paired ratio coz csp <"$here/profile" | estimate)" x "<= 3"
	why "each barrier costs 800 sums for each thread, shared by too few region visits"
done

# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154
#
# verdicts.sh - of the verdicts that clocks leave undecided, how many are decided by the run that is advised: five examples on two
# hosts, with packets at the start and the end only, and again with the DPROF_SYNC_INTERVAL that csp, path, waits and efficiency
# ask for. A verdict counts as left if in the second run better clocks would still decide one more.

export DPROF_QUIET=1
declare -A examples=(
	[kmeans]="kmeans -q -n 60 --pace 400 --imbalance 1:1 $B/data/cities.csv.gz"
	[pagerank]="pagerank -q -n 60 --pace 150 --imbalance 1:1 $B/data/debian.txt.gz"
	[cc]="cc -q -n 900 --pace 150 --imbalance 1:1 $B/data/debian.txt.gz"
	[bfs]="bfs -q -s 13 -n 1200 --pace 200 --imbalance 1:1"
	[ring]="ring -q -n 1200 --pace 1000 --imbalance 1:1"
)

# In lines "COMMAND by clocks, by the interval that is advised, that interval in ms".
asks_for() { # example, DPROF_SYNC_INTERVAL
	local to=$here/$1.trace command
	rm -rf "$to" && mkdir "$to"
	# shellcheck disable=SC2086
	DPROF_DIR=$to DPROF_SYNC_INTERVAL=$2 timeout 100 testsuite/hosts.sh run 2 -n 4 --bind-to none -x DPROF_DIR -x DPROF_SYNC_INTERVAL \
		"$B/examples/"${examples[$1]} >"$here/out" 2>&1 || return
	for command in csp path waits efficiency; do
		echo "$command $("$B/bin/dprof-analyze" $command --json -v "$to"/* 2>/dev/null |
			jq -r '.undecided // {} | "\(.by_clocks // 0) \(.by_sync_interval // 0) \((.sync_interval_s // 0) * 1000)"')"
	done
}

once() { # example -> how many were to be decided, and how many were not
	local interval
	asks_for "$1" 0 >"$here/before" || return
	interval=$(awk '$4 > 0 && (!least || $4 < least) { least = $4 } END { if (least) print least }' "$here/before")
	[ -n "$interval" ] || { echo 0 0; return; }
	asks_for "$1" "${interval}ms" >"$here/after" || return
	paste -d' ' "$here/before" "$here/after" | awk '{ asked += $3; left += $6 < $3 ? $6 : $3 } END { print asked, left }'
}

decided() { # name, file of such lines, goal
	local asked left
	read -r asked left < <(awk '{ asked += $1; left += $2 } END { print asked + 0, left + 0 }' "$2")
	if [ "$asked" -gt 0 ]; then
		row "$1 ($asked)" "$(awk "BEGIN { print 100 - 100 * $left / $asked }")" % "$3"
	else
		echo "  $1: no run was said to decide any"
	fi
}

table "Verdicts that the advised run decides" "In percent of those that it was said to decide (so many in brackets), of $rounds runs."
for example in kmeans pagerank cc bfs ring; do
	for round in $(seq "$rounds"); do
		progress "$example, run $round of $rounds"
		once $example
	done >"$here/$example"
	decided $example "$here/$example" ""
done
cat "$here"/{kmeans,pagerank,cc,bfs,ring} >"$here/all"
decided all "$here/all" ">= 90"
why "the second run is another run, with other delays: others of its verdicts may be near"

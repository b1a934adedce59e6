# SPDX-License-Identifier: MIT
#
# Records what two ranks really send each other (traffic.c), over an idle network and over one whose way
# back is congested: host 1 sends bursts of other packets through a slow queue, to an address where
# none is. The other experiments read these recordings.
rm -f "$data"/*.run

congest() { # SET: until killed
	ip netns exec "$1-1" tc qdisc add dev port root tbf rate 100mbit burst 5kb latency 100ms &&
		ip -n "$1-1" neigh add 10.77.0.77 lladdr 02:00:00:00:00:77 dev port || return
	exec testsuite/hosts.sh exec "$1" 1 bash -c '
		while sleep 0.008; do dd if=/dev/zero bs=1400 count=40 status=none >/dev/udp/10.77.0.77/9; done'
}

record() { # SET NAME
	progress "recording $record_s s over the $2 network"
	testsuite/hosts.sh run "$1" -n 2 "$programs/traffic" "$record_s" 10.77.0.2 "$data/$2.part" &&
		mv "$data/$2.part" "$data/$2.run"
}

loopback() {
	progress "recording $record_s s over loopback"
	mpirun --allow-run-as-root --oversubscribe --quiet --mca mpi_yield_when_idle 1 -n 2 \
		"$programs/traffic" "$record_s" 127.0.0.1 "$data/loopback.run"
}

summary() { # NAME
	awk -v title="$(network_title "$1")" -v name="$1" '
		$1 == "ghz" { ghz = $2 }
		$1 == "packet" || $1 == "message" { n[$1]++; if (!first) first = $3; last = $5
			if (!(($1, $2) in least) || $5 - $3 < least[$1, $2]) least[$1, $2] = $5 - $3 }
		END { printf "  %-10s %s:\n  %10s %.1f s, %d packets, %d messages; fastest packet %.1f us there, " \
			"%.1f us back, fastest message %.1f and %.1f us\n", name, title, "", (last - first) / ghz / 1e9, n["packet"], n["message"],
			least["packet", 0] / ghz / 1e3, least["packet", 1] / ghz / 1e3,
			least["message", 0] / ghz / 1e3, least["message", 1] / ghz / 1e3 }' "$data/$1.run"
}

hosts=$(testsuite/hosts.sh up 2 2>"$data/why") || true
if [ -n "$hosts" ]; then
	trap 'testsuite/hosts.sh down "$hosts"' EXIT
	record "$hosts" quiet
	congest "$hosts" 2>"$data/why" &
	traffic=$!
	sleep 0.2
	if kill -0 $traffic 2>/dev/null; then
		record "$hosts" congested
		kill $traffic
	else
		echo "  No congested network: $(tail -1 "$data/why")"
	fi
	wait $traffic 2>/dev/null || true # ended by us
else
	loopback
fi
[ -n "$(networks)" ]
echo "Recordings: two ranks that send each other messages through MPI, and FreeZer's packets beside them"
for name in $(networks); do summary "$name"; done
rates=$(for c in $steady; do printf '%s ' "${c%%,*}"; done)
echo "  Rates of the made-up clocks: $rates(paper: $(known clock-rates))"

# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154
#
# clocks.sh - how wide the bounds of clocks are, measured and simulated, what they cost while a program
# runs, and whether they are as tight as the links allow.

sets=${SETS:-2000}

limit() { # model: the goal of its width
	case $1 in drift:10) echo "<= 1.5" ;; *) echo "<= 1.1" ;; esac
}

durations="1 60${LONG:+ 600}"
progress "clock bounds of runs of $durations s"
bench/width "$here" $durations >"$here/width"

table "Width of the clock bounds" "In multiples of fastest packet there + fastest packet back, of all packets of the run."
while read -r network seconds model ratio flat us; do
	row "$network, $seconds s, $model" "$ratio" x "$(limit "$model")"
	why "between two intervals the clock may drift, and the fastest of an interval's few packets is slower than the \
fastest of the hundreds in a burst ($us us wide, at most $flat x that)"
done < <(sed -n 's/^width //p' "$here/width")

table "The thread that measures, beside a sleeping program" "In percent of one core, over 60 s, an exchange every 250 ms. \
A bare wake-up of a sleeping thread costs $("$B/bench/wake") us of the core here."
while read -r network seconds side percent; do
	row "$side, $network" "$percent" % "<= 0.1"
	why "most of it is the kernel's, to wake a thread and to send"
done < <(sed -n 's/^cost //p' "$here/width" | awk '$2 == 60')

table "Time of the start burst, hosts that are network namespaces" "They share $cores cores. In brackets the width of \
the median and the worst clock in us."
progress "topologies"
while read -r hosts topology ms median worst; do
	row "$hosts hosts, $topology ($median, $worst)" "$ms" ms
done < <(bench/topology "$here" ${LONG:+2} 4 ${LONG:+8 16})

table "Width over simulated runs, median" "In multiples of 12 us: packets of 6 us and a tail each way, an exchange \
every 250 ms. The interval ends at the widest."
progress "simulated runs"
while read -r seconds model median most; do
	row "$seconds s, $model" "$median" x "$(limit "$model")"
done < <("$B/bench/clock-width" 1 60 600)

table "Bounds against the optimum of a linear program" "$sets random sets of links for each assumption."
progress "bounds against linear programs"
if "$B/bench/clock-optimum" "$sets" >"$here/optimum"; then
	while read -r model _ bounds before after share; do
		case $model in
		affine)
			row "affine, before rounding" "$before" ticks "<= 0" "$bounds bounds"
			row "affine, rounded, at most" "$after" ticks "<= 2"
			;;
		drift)
			row "drift to 30 %, within 2 ticks" "$share" % "" "$bounds bounds of at most 10 links, none inside the optimum"
			;;
		esac
	done <"$here/optimum"
else
	row "bounds inside the optimum" 1 "" "<= 0" "$(cat "$here/optimum")"
	why "a bug; SEED repeats it"
fi

table "Solving 4096 simulated clocks" "200 links on each edge, packets of 6 us each way. In brackets megabytes, and the \
median width in multiples of 12 us."
for topology in star tree:8 mesh; do
	progress "4096 clocks, $topology"
	"$B/bench/clock-network" $topology 4096 200
done >"$here/network"
while read -r topology clocks model seconds megabytes width placed; do
	row "$topology, $model ($megabytes, $width)" "$seconds" s
done <"$here/network"

table "Time of the start burst, simulated" "Packets of 5 us, clocks that wander 10 ppm, 256 exchanges an edge. In \
brackets the width of the median and the worst clock in us."
progress "simulated topologies"
while read -r hosts topology ms median worst bytes solve unproven; do
	row "$hosts hosts, $topology ($median, $worst)" "$ms" ms
done < <("$B/test/topologies" 64 256 ${LONG:+1024 4096})

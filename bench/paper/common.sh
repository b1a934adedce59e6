# SPDX-License-Identifier: MIT
#
# common.sh - what the scripts of one experiment each share; they are sourced into it by run.
#
# $OUT is where everything goes: NAME.tsv, NAME.txt (the printed table), NAME.png, NAME.svg; recordings
# are in $OUT/data. $programs are the C programs of this folder.
set -u
: "${B:?the build folder}" "${OUT:=$B/paper}"
QUICK=${QUICK:-}
data=$OUT/data
programs=$B/bench/paper
mkdir -p "$data"

# Seconds of each recording. Of the rates that the paper's machines had, four; offsets of milliseconds.
record_s=${RECORD_S:-$([ -n "$QUICK" ] && echo 5 || echo 20)}
steady="1.235,3.7 1.290,-8.1 1.345,0.4 1.400,6.5"
wandering="1.235,3.7,7,$record_s 1.400,6.5,7,$record_s" # 7 ppm, one wave a run: breaks affine, keeps drift:10

progress() { [ ! -t 2 ] || printf '\r\033[K  %s' "$*" >&2; }

# A figure of the paper by its key in known.tsv.
known() { awk -v key="$1" "$figures"' BEGIN { print paper(key) }'; }

# The same for awk; "" where the paper has none.
figures='BEGIN { while ((getline line < "bench/paper/known.tsv") > 0) if (split(line, column, "\t") > 1) figure[column[1]] = column[2] }
function paper(key) { return figure[key] }'

# What the recordings are called, and what to say of them.
networks() { for n in quiet congested loopback; do [ ! -f "$data/$n.run" ] || echo $n; done; }
network_title() {
	case $1 in
	quiet) echo "an idle network between two network namespaces" ;;
	congested) echo "the way back through a 100 Mbit/s queue that other traffic fills" ;;
	loopback) echo "the loopback interface (no network namespaces here)" ;;
	*) echo "$1" ;;
	esac
}

# Methods as they are called in tables: for awk. Of barriers the plain ones are "two barriers", those that
# are synchronised by packets (StarPU) "fastest middles".
labels='function label(m) {
	if (m == "dprof-affine") return "dprof, affine"
	if (m == "dprof-drift") return "dprof, drift:10"
	if (m == "freezer-formula") return "FreeZer formula (*)"
	if (m == "lp-per-stamp") return "LP per stamp"
	if (m == "convex-hull") return "convex hull"
	if (m == "regression") return "linear regression"
	if (m == "fastest-middles") return "fastest middles"
	if (m == "two-barriers") return "two barriers"
	return m
}'
footnote="(*) The paper's formula, its sections 3.1, 3.2 and 4.3, with this run's packets (bench/baseline/freezer.c)."
all_methods="dprof-affine dprof-drift freezer-formula lp-per-stamp convex-hull regression fastest-middles two-barriers"

# dprof's intervals that did not hold the truth, of how many: counted over all experiments by run.
count_outside() { # outside of
	echo "$1 $2" >>"$OUT/outside"
}

# How a method's curve looks, the same in all figures; widths and points differ, so that curves that lie
# on each other are seen.
lines() {
	case $1 in
	dprof-affine) echo "lc rgb '#1b5e20' lw 5" ;;
	dprof-drift) echo "lc rgb '#66bb6a' lw 2.5" ;;
	freezer-formula) echo "lc rgb '#6a1b9a' lw 2" ;;
	lp-per-stamp) echo "lc rgb '#000000' lw 1 dt 2" ;;
	convex-hull) echo "lc rgb '#1565c0' lw 1.5" ;;
	regression) echo "lc rgb '#e65100' lw 2" ;;
	fastest-middles) echo "lc rgb '#00838f' lw 2" ;;
	two-barriers) echo "lc rgb '#b71c1c' lw 2" ;;
	esac
}
points() {
	case $1 in
	dprof-affine) echo "pt 7 ps 1.1" ;;
	dprof-drift) echo "pt 5 ps 0.9" ;;
	freezer-formula) echo "pt 9 ps 1.2" ;;
	lp-per-stamp) echo "pt 6 ps 1.6" ;;
	convex-hull) echo "pt 2 ps 1.2" ;;
	regression) echo "pt 13 ps 1.3" ;;
	fastest-middles) echo "pt 12 ps 1.2" ;;
	two-barriers) echo "pt 3 ps 1.3" ;;
	esac
}
dotted() { lines "$1" | sed 's/lw [0-9.]*/lw 2.5 dt (6,6)/'; }
title() { awk -v m="$1" "$labels"' BEGIN { t = label(m); sub(/ \(\*\)/, "", t); print t }'; }

# Of numbers, a line each: "median (least .. greatest)", each in FORMAT; "-" without any.
spread() { # FORMAT
	sort -g | awk -v f="$1" '{ v[NR] = $1 }
		END {
			if (!NR) { print "-"; exit }
			m = NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2
			printf f " (" f " .. " f ")\n", m, v[1], v[NR]
		}'
}

# plot NAME: gnuplot's commands on standard input, drawn as PNG and as SVG.
plot() {
	local commands
	commands=$(cat)
	command -v gnuplot >/dev/null || { echo "no gnuplot: $1 is not drawn"; return; }
	local terminal
	for terminal in "png pngcairo size 1100,700 font 'sans,13'" \
		"svg svg size 1100,700 font 'sans,15' background 'white'"; do
		gnuplot <<-END || return 1
			set terminal ${terminal#* }
			set output '$OUT/$1.${terminal%% *}'
			set datafile separator '\t'
			set datafile missing '-'
			set grid lt 1 lw 1 lc rgb '#d0d0d0'
			set autoscale xfix
			set key outside right center samplen 2.5 spacing 1.4
			set border 3
			set tics nomirror
			$commands
		END
	done
}

# SPDX-License-Identifier: MIT
#
# Figure 6: what it takes to capture events: time, memory, and beyond the paper what is then in the trace.
tsv=$OUT/figure6-capture.tsv
rounds=$([ -n "$QUICK" ] && echo 3 || echo 7)
printf 'way\tevents\tround\tms\tpeak_mb\ttrace_mb\n' >"$tsv"
ghz=$("$B/bench/ghz")

# One run; its trace goes into a folder of its own, and away.
capture() { # way events round
	local here=$data/capture bytes
	rm -rf "$here" && mkdir "$here"
	(cd "$here" && "$programs/peak" "$B/bench/record-$1" 1 "$2" >ticks 2>kib) || return 1
	bytes=$(find "$here" -path '*/dprof-*' -type f -printf '%b\n' | awk '{ n += $1 } END { print 512 * n + 0 }')
	awk -v way="$1" -v n="$2" -v round="$3" -v ghz="$ghz" -v kib="$(tail -1 "$here/kib")" -v bytes="$bytes" '
		{ printf "%s\t%d\t%d\t%.4f\t%.3f\t%.3f\n", way, n, round, $3 * n / ghz / 1e6, kib * 1024 / 1e6, bytes / 1e6 }' "$here/ticks"
	rm -rf "$here"
}

sizes="100000 250000 500000 750000 1000000"
for round in $(seq "$rounds"); do
	for n in $sizes; do
		progress "Figure 6: $n events, round $round of $rounds"
		for way in bare dprof; do capture $way "$n" "$round" >>"$tsv"; done
	done
done

cat <<END
Figure 6: time and memory to capture events (paper: $(known figure6))
  Entries and exits of a region by one thread. Time: the mean cost of an event, no stall left out, times the
  events. Memory: the most that the whole program had at once. Trace: blocks of the files. Bare: the counter is
  read and 8 bytes are stored, in a buffer of 1 MiB. Medians of $rounds rounds (least .. greatest).
END
printf '  %-8s %9s %28s %28s %28s\n' way events "time, ms" "memory, MB" "trace, MB"
for way in dprof bare; do
	for n in $sizes; do
		of() { awk -F '\t' -v w=$way -v n="$n" '$1 == w && $2 == n { print '"$1"' }' "$tsv"; }
		printf '  %-8s %9d %28s %28s %28s\n' $way "$n" "$(of '$4' | spread %.2f)" "$(of '$5' | spread %.1f)" "$(of '$6' | spread %.2f)"
	done
done

awk -F '\t' '$1 == "dprof" { print $2 "\t" $4 "\t" $5 }' "$tsv" | sort -g >"$data/figure6.dprof"
plot figure6-capture <<END
set title 'time and memory to capture events'
set xlabel 'events'
set ylabel 'time (ms)'
set y2label 'memory (MB)'
set y2tics
set border 11
set yrange [0:*]
set y2range [0:*]
plot '$data/figure6.dprof' using 1:2 with points lc rgb '#1b5e20' pt 7 title 'time', \\
	'' using 1:3 axes x1y2 with points lc rgb '#1565c0' pt 5 title 'memory (right)'
END

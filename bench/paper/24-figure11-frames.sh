# SPDX-License-Identifier: MIT
#
# Figure 11: how many events the aggregated event view merges; from what 20-programs.sh left.
tsv=$OUT/figure11-frames.tsv
ls "$data"/programs/*.frames >/dev/null 2>&1 || { echo "Figure 11: no programs were run (20-programs.sh)"; return 1; }
printf 'program\tmode\tsize_from\tsize_to\tgroups\tevents\n' >"$tsv"
for file in "$data"/programs/*.frames; do
	name=$(basename "$file" .frames)
	tr -d ' \n' <"$file" | grep -o '"histogram":\[[^]]*\]' | tr '{' '\n' |
		sed -n 's/.*"size_from":\([0-9]*\),"size_to":\([0-9]*\),"groups":\([0-9]*\),"events":\([0-9]*\).*/\1\t\2\t\3\t\4/p' |
		sed "s/^/${name%.*}\t${name#*.}\t/" >>"$tsv"
done
echo "Figure 11: sizes of aggregated events: of how many events is the order not known (paper: $(known figure11))"
printf '  %-9s %-6s  %s\n' "" "" "events merged into one: how many such groups"
for mode in real paced; do
	for program in kmeans pagerank cc; do
		printf '  %-9s %-6s  %s\n' $program $mode "$(awk -F '\t' -v p=$program -v m=$mode '$1 == p && $2 == m {
			printf "%s: %d   ", $3 == $4 ? $3 : $3 "-" $4, $5 }' "$tsv")"
	done
done
for mode in real paced; do
	for program in kmeans pagerank cc; do
		awk -F '\t' -v p=$program -v m=$mode '$1 == p && $2 == m { print $4 "\t" $5 }' "$tsv" >"$data/figure11.$program.$mode"
	done
done
plot figure11-frames <<END
set title 'aggregated events: how many events have no known order'
set xlabel 'events in one group, at most'
set ylabel 'groups'
set logscale x 2
set logscale y
set yrange [0.5:]
plot '$data/figure11.kmeans.real' with linespoints lc rgb '#1b5e20' lw 2 pt 7 title 'K-Means, real', \\
	'$data/figure11.pagerank.real' with linespoints lc rgb '#1565c0' lw 2 pt 5 title 'PageRank, real', \\
	'$data/figure11.cc.real' with linespoints lc rgb '#e65100' lw 2 pt 9 title 'CC, real', \\
	'$data/figure11.kmeans.paced' with linespoints lc rgb '#1b5e20' dt 2 pt 6 title 'K-Means, paced', \\
	'$data/figure11.pagerank.paced' with linespoints lc rgb '#1565c0' dt 2 pt 4 title 'PageRank, paced', \\
	'$data/figure11.cc.paced' with linespoints lc rgb '#e65100' dt 2 pt 8 title 'CC, paced'
END

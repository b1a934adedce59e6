# SPDX-License-Identifier: MIT
#
# Table 3: straggler scores, method by method; from what 20-programs.sh left.
scores=$OUT/programs-scores.tsv
[ -s "$scores" ] || { echo "Table 3: no programs were run (20-programs.sh)"; return 1; }
cp "$scores" "$OUT/table3-scores.tsv"
cat <<END
Table 3: straggler score of rank 1, in percent of the run
  The truth is the score by the one counter that both hosts really have. Width: of the interval, median
  and largest over all rounds, in points. Error: of the middle or of the point, largest, in points.
  "outside": rounds in which the truth (of any rank) is not within the interval. "paper": what its own runs
  gave, on other data, for 1 straggler of 40 threads; FreeZer's there are intervals.
END
for mode in real paced; do
	for program in kmeans pagerank cc; do
		printf '\n  %s, %s\n' $program "$mode"
		printf '  %-20s %22s %10s %10s %10s %8s  %s\n' method "score of round 1" width largest error outside paper
		awk -F '\t' -v p=$program -v m=$mode "$labels$figures"'
			$1 != p || $2 != m || $5 != "score" { next }
			$4 == "truth" { lo[$3, $6] = $7; hi[$3, $6] = $8; next }
			{
				if (!($4 in n)) order[++methods] = $4
				n[$4]++
				points = $4 !~ /^dprof/
				wide = points ? 0 : $8 - $7
				off = ($7 + $8) / 2 - (lo[$3, $6] + hi[$3, $6]) / 2
				if (off < 0) off = -off
				if (off > error[$4]) error[$4] = off
				width[$4, ++k[$4]] = wide
				if (wide > widest[$4]) widest[$4] = wide
				if (!points && !($7 <= hi[$3, $6] && lo[$3, $6] <= $8)) outside[$4]++
				if ($3 == 1 && $6 == 1) first[$4] = points ? sprintf("%.4f", ($7 + $8) / 2) : sprintf("%.4f .. %.4f", $7, $8)
			}
			function median(method,    i, j, x) {
				for (i = 2; i <= k[method]; i++)
					for (j = i; j > 1 && width[method, j] < width[method, j - 1]; j--) {
						x = width[method, j]; width[method, j] = width[method, j - 1]; width[method, j - 1] = x
					}
				return width[method, int((k[method] + 1) / 2)]
			}
			END {
				for (i = 1; i <= methods; i++) {
					method = order[i]
					printf "  %-20s %22s ", label(method), first[method]
					if (method ~ /^dprof/) printf "%10.4f %10.4f %10.4f %8d\n", median(method), widest[method], error[method], outside[method]
					else printf "%10s %10s %10.4f %8s  %s\n", "-", "-", error[method], "-", paper("score." p "." method)
				}
			}' "$scores"
	done
done
echo "  $footnote"

# dprof-affine may be false where the clock wandered unnoticed (run says why), so only drift:10 counts.
awk -F '\t' '$5 != "score" { next }
	$4 == "truth" { lo[$1, $2, $3, $6] = $7; hi[$1, $2, $3, $6] = $8; next }
	$4 == "dprof-drift" { of++; outside += !($7 <= hi[$1, $2, $3, $6] && lo[$1, $2, $3, $6] <= $8) }
	END { print outside + 0, of + 0 }' "$scores" | { read -r outside of && count_outside "$outside" "$of"; }

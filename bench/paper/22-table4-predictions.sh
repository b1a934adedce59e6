# SPDX-License-Identifier: MIT
#
# Table 4: what balance is predicted to buy, method by method; from what 20-programs.sh left.
scores=$OUT/programs-scores.tsv
[ -s "$scores" ] || { echo "Table 4: no programs were run (20-programs.sh)"; return 1; }
grep -e '	balance	' -e '^program' "$scores" >"$OUT/table4-predictions.tsv"
cat <<END
Table 4: predicted speed-up if rank 1 did as much work as the others, in percent of the run
  dprof: coz on the recorded trace, an interval. Others: coz on a trace whose stamps are the method's
  estimates. "from the score": nothing but rank 1's straggler score by dprof, as if all of it were saved.
  "outside": rounds in which the true prediction, by the one real counter, is not within the interval.
  "paper": what it predicts of its own runs, and what balance really saved there (by its execution times):
  less than FreeZer's interval says, all three times.
END
for mode in real paced; do
	for program in kmeans pagerank cc; do
		printf '\n  %s, %s\n' $program "$mode"
		printf '  %-20s %22s %10s %10s %8s  %s\n' method "speed-up of round 1" width error outside "paper (saved $(known saved.$program))"
		awk -F '\t' -v p=$program -v m=$mode "$labels$figures"'
			$1 != p || $2 != m { next }
			$5 == "score" && $6 == 1 && $4 == "dprof-drift" { $4 = "from the score"; $5 = "balance"; score = 1 }
			$5 != "balance" { next }
			$4 == "truth" { lo[$3] = $7; hi[$3] = $8; next }
			{
				method = $4
				if (!(method in n)) order[++methods] = method
				round[method, ++n[method]] = $3
				from[method, n[method]] = $7; to[method, n[method]] = $8
				if ($3 == 1) first[method] = method ~ /^dprof|score/ ? sprintf("%.3f .. %.3f", $7, $8) : sprintf("%.3f", ($7 + $8) / 2)
			}
			END {
				for (i = 1; i <= methods; i++) {
					method = order[i]; error = widest = outside = 0
					for (k = 1; k <= n[method]; k++) {
						r = round[method, k]
						off = (from[method, k] + to[method, k]) / 2 - (lo[r] + hi[r]) / 2
						if (off < 0) off = -off
						if (off > error) error = off
						if (to[method, k] - from[method, k] > widest) widest = to[method, k] - from[method, k]
						outside += !(from[method, k] <= hi[r] && lo[r] <= to[method, k])
					}
					printf "  %-20s %22s ", label(method), first[method]
					if (method ~ /^dprof/) printf "%10.4f %10.4f %8d\n", widest, error, outside
					else printf "%10s %10.4f %8s  %s\n", "-", error, "-", paper("balance." p "." method)
				}
			}' OFS='\t' "$scores"
	done
done
echo "  $footnote"
awk -F '\t' '$5 != "balance" { next }
	$4 == "truth" { lo[$1, $2, $3] = $7; hi[$1, $2, $3] = $8; next }
	$4 == "dprof-drift" { of++; outside += !($7 <= hi[$1, $2, $3] && lo[$1, $2, $3] <= $8) }
	END { print outside + 0, of + 0 }' "$scores" | { read -r outside of && count_outside "$outside" "$of"; }

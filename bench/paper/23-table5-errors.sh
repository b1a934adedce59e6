# SPDX-License-Identifier: MIT
#
# Table 5: the prediction against the run that really is balanced; from what 20-programs.sh left.
scores=$OUT/programs-scores.tsv runs=$OUT/programs.tsv tsv=$OUT/table5-errors.tsv
[ -s "$runs" ] || { echo "Table 5: no programs were run (20-programs.sh)"; return 1; }
printf 'program\tmode\tround\tpredicted_lo_s\tpredicted_hi_s\tbalanced_s\terror_percent\n' >"$tsv"
awk -F '\t' '
	NR == FNR { if ($4 == "dprof-drift" && $5 == "balance") { lo[$1, $2, $3] = $7; hi[$1, $2, $3] = $8 }
		    if ($4 == "dprof-drift" && $5 == "span") span[$1, $2, $3] = $6
		    next }
	($1, $2, $3) in lo && $4 > 0 {
		early = $4 - hi[$1, $2, $3] / 100 * span[$1, $2, $3]; late = $4 - lo[$1, $2, $3] / 100 * span[$1, $2, $3]
		printf "%s\t%s\t%s\t%.6f\t%.6f\t%s\t%.4f\n", $1, $2, $3, early, late, $5, 100 * ((early + late) / 2 - $5) / $4
	}' "$scores" "$runs" >>"$tsv"
cat <<END
Table 5: the predicted time against that of the balanced run (paper's errors: $(known prediction-error) of the run)
  Error: predicted less measured, in percent of the overloaded run, round by round. What coz cannot know
  is in it: the noise of either run, and what else changes when ranks share cores, caches and memory.
  "all but noise": the same of the fastest overloaded and the fastest balanced run.
END
printf '  %-9s %-6s %26s %26s %27s %14s\n' "" "" "predicted, s" "balanced, s" "error, %" "all but noise"
for mode in real paced; do
	for program in kmeans pagerank cc; do
		column() { awk -F '\t' -v p=$program -v m=$mode '$1 == p && $2 == m { print '"$1"' }' "$tsv"; }
		best=$(awk -F '\t' -v p=$program -v m=$mode '
			NR == FNR { if ($1 == p && $2 == m && (!least || $4 < least)) { least = $4; round = $3 }; next }
			$1 == p && $2 == m { if ($3 == round) predicted = ($4 + $5) / 2; if (!fastest || $6 < fastest) fastest = $6 }
			END { if (least) printf "%+.2f", 100 * (predicted - fastest) / least }' "$runs" "$tsv")
		printf '  %-9s %-6s %26s %26s %27s %14s\n' $program $mode "$(column '($4 + $5) / 2' | spread %.3f)" \
			"$(column '$6' | spread %.3f)" "$(column '$7' | spread %+.2f)" "$best"
	done
done

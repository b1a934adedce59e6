# SPDX-License-Identifier: MIT
#
# Table 5: the prediction against the run that really is balanced; from what 20-programs.sh left.
scores=$OUT/programs-scores.tsv runs=$OUT/programs.tsv tsv=$OUT/table5-errors.tsv
[ -s "$runs" ] || { echo "Table 5: no programs were run (20-programs.sh)"; return 1; }
printf 'program\tmode\tround\tmethod\tpredicted_lo_s\tpredicted_hi_s\toverloaded_s\tbalanced_s\terror_percent\n' >"$tsv"
awk -F '\t' '
	NR == FNR { key = $1 SUBSEP $2 SUBSEP $3
		    if ($5 == "balance") { lo[key, $4] = $7; hi[key, $4] = $8 }
		    if ($5 == "span") span[key, $4] = $6
		    if ($5 == "balance" && !seen[$4]++) method[++n] = $4
		    next }
	$4 > 0 {
		key = $1 SUBSEP $2 SUBSEP $3
		for (i = 1; i <= n; i++) {
			k = key SUBSEP method[i]
			if (!(k in lo) || method[i] == "truth") continue
			early = $4 - hi[k] / 100 * span[k]; late = $4 - lo[k] / 100 * span[k]
			printf "%s\t%s\t%s\t%s\t%.6f\t%.6f\t%s\t%s\t%.4f\n", $1, $2, $3, method[i], early, late, $4, $5,
				100 * ((early + late) / 2 / $5 - 1)
		}
	}' "$scores" "$runs" >>"$tsv"
cat <<END
Table 5: the predicted time against that of the balanced run
  Error: predicted less measured, in percent of the balanced run, as the paper has it (there without its sign);
  median of the rounds. What coz cannot know is in it: the noise of either run, and what else changes when
  ranks share cores, caches and memory. "all but noise": the same of the fastest overloaded and the fastest
  balanced run. "paper": the errors of its table 5.
END
errors_of() { # program mode method
	column() { awk -F '\t' -v p="$program" -v m="$mode" -v method="$method" '$1 == p && $2 == m && $4 == method { print '"$1"' }' "$tsv"; }
	local program=$1 mode=$2 method=$3 best
	[ -n "$(column 1)" ] || return 0
	best=$(awk -F '\t' -v p="$program" -v m="$mode" -v method="$method" '
		$1 != p || $2 != m || $4 != method { next }
		!least || $7 < least { least = $7; predicted = ($5 + $6) / 2 }
		!fastest || $8 < fastest { fastest = $8 }
		END { printf "%+.2f", 100 * (predicted / fastest - 1) }' "$tsv")
	printf '  %-20s %26s %26s %27s %14s  %s\n' "$(awk -v m="$method" "$labels"' BEGIN { print label(m) }')" \
		"$(column '($5 + $6) / 2' | spread %.3f)" "$(column '$8' | spread %.3f)" \
		"$(column '$9' | spread %+.2f)" "$best" "$(known "error.$program.$method")"
}
for mode in real paced; do
	for program in kmeans pagerank cc; do
		printf '\n  %s, %s\n' $program $mode
		printf '  %-20s %26s %26s %27s %14s  %s\n' method "predicted, s" "balanced, s" "error, %" "all but noise" paper
		for method in $all_methods; do errors_of $program $mode "$method"; done
	done
done
echo "  $footnote"

# SPDX-License-Identifier: MIT
#
# How far the estimates of other methods are from where the truth must be, on the traces of the programs'
# first round (20-programs.sh left them): not a figure of the paper.
estimates=$OUT/estimates.tsv
[ -s "$estimates" ] || { echo "Estimates: no programs were run (20-programs.sh)"; return 1; }
cat <<END
Estimates of the programs' stamps by other methods, beside the bounds that dprof proves (drift:10)
  "outside": percent of host 1's stamps whose estimate is not within the bounds, so is wrong; "by": at
  least so far, in us. Width: of the method's own intervals, median and most.
END
for mode in real paced; do
	for program in kmeans pagerank cc; do
		printf '\n  %s, %s\n  %-20s %8s %10s %10s %10s %10s\n' $program $mode method stamps width most outside by
		awk -F '\t' -v p=$program -v m=$mode "$labels"'
			$1 != p || $2 != m { next }
			NF < 11 { printf "  %-20s %s\n", label($3), $5; next }
			$10 == "-" { printf "  %-20s %8d %10s %10s %10s %10s\n", label($3), $6, $8, $9, "-", "-"; next }
			{ printf "  %-20s %8d %10s %10s %10.2f %10s\n", label($3), $6, $8, $9, 100 * $10 / $6, $11 }' "$estimates"
	done
done
echo "  $footnote"

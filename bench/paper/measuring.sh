# SPDX-License-Identifier: MIT
#
# measuring.sh - what Figures 3 and 4 share: one program looks at both errors.

# NAME WHAT COLUMN UNIT TITLE: COLUMN of the program's output has the error, the next one the uncertainty
# of the interval; the .tsv has two columns before them.
measuring_time() {
	local name=$1 what=$2 column=$(($3 + 2)) unit=$4 tsv=$OUT/$1.tsv network clock
	local heading="method seconds windows rate_ppb rate_uncertainty_ppb zero_us zero_uncertainty_us outside unfitted contradicted"
	printf 'network\trate\t%s\n' "${heading// /$'\t'}" >"$tsv"
	for network in $(networks); do
		for clock in $steady; do
			progress "$name: $network network, clock ${clock%%,*}"
			"$programs/measuring" "$data/$network.run" "$clock" |
				sed "s/^/$network\t${clock%%,*}\t/" >>"$tsv" || return 1
		done
	done
	cat <<-END
		$5
		  (paper: $(known "$name")).
		  Medians over 15 windows of that length; largest of the clocks.
		  In parentheses half the width of the proven interval, where a method gives one.
	END
	for network in $(networks); do
		printf '\n  %s\n' "$(network_title "$network")"
		measured_table "$network" "$column"
	done
	echo "  $footnote"
	measured_plot "$name" "$what" "$column" "$unit"
	awk -F '\t' '$3 ~ /^dprof/ { outside += $10 + $12; of += $5 } END { print outside + 0, of + 0 }' "$tsv" |
		{ read -r outside of && count_outside "$outside" "$of"; }
}

# One line for each length, one column for each method; largest over the clocks.
measured_table() { # network column
	awk -F '\t' -v network="$1" -v c="$2" -v methods="$all_methods" "$labels"'
		BEGIN { m = split(methods, method, " ") }
		$1 != network { next }
		{ if (!($4 in seen)) { seen[$4]; length_of[++n] = $4 }
		  if ($c != "-" && $c >= error[$3, $4]) error[$3, $4] = $c
		  if (!(c + 1 > NF) && $(c + 1) != "-" && $(c + 1) > half[$3, $4]) half[$3, $4] = $(c + 1)
		  if ($10 != "-") outside[$3] += $10 }
		function number(x) { return x >= 100 ? sprintf("%.0f", x) : sprintf("%.3g", x) }
		END {
			printf "  %9s", "seconds"
			for (i = 1; i <= m; i++) printf " %19s", label(method[i])
			print ""
			for (j = 1; j <= n; j++) {
				printf "  %9.2f", length_of[j]
				for (i = 1; i <= m; i++) {
					k = method[i] SUBSEP length_of[j]
					printf " %19s", !(k in error) ? "-" : number(error[k]) ((k in half) ? " (" number(half[k]) ")" : "")
				}
				print ""
			}
			printf "  %9s", "outside"
			for (i = 1; i <= m; i++) printf " %19s", (method[i] in outside) ? outside[method[i]] : "-"
			print ""
		}' "$OUT/$name.tsv"
}

# The first clock's curves: estimates as points on lines, dprof's and the formula's uncertainties dashed.
measured_plot() { # name what column unit
	local network=$(networks | grep -x congested || networks | head -1) method curves=
	for method in $all_methods; do
		awk -F '\t' -v n="$network" -v m="$method" -v rate="${steady%%,*}" \
			'$1 == n && $3 == m && $2 == rate' "$OUT/$1.tsv" >"$data/$1.$method"
		[ -s "$data/$1.$method" ] || continue
		curves+="'$data/$1.$method' using 4:$3 with linespoints $(lines "$method") $(points "$method") title '$(title "$method")', "
		case $method in dprof-affine | freezer-formula)
			curves+="'' using 4:$(($3 + 1)) with lines $(dotted "$method") title '$(title "$method"), uncertainty', " ;;
		esac
	done
	plot "$1" <<-END
		set title "$2 against the time of measuring\\n$(network_title "$network")"
		set xlabel 'time of measuring (s)'
		set ylabel "$2 ($4)"
		set logscale xy
		set format y '%g'
		plot ${curves%, }
	END
}

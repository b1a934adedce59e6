# SPDX-License-Identifier: MIT
#
# Figure 5: how often two events on different hosts come out the wrong way round, by their distance.
tsv=$OUT/figure5-inversions.tsv
heading="method delay_us pairs inverted undecided proved_wrong"
printf 'network\trate\t%s\n' "${heading// /$'\t'}" >"$tsv"
for network in $(networks); do
	for clock in ${steady%% *} ${steady##* }; do
		progress "Figure 5: $network network, clock ${clock%%,*}"
		"$programs/inversions" "$data/$network.run" "$clock" |
			sed "s/^/$network\t${clock%%,*}\t/" >>"$tsv" || return 1
	done
done

cat <<END
Figure 5: inversions against delay (paper: $(known figure5))
  Percentage of pairs of events on different hosts, the second some delay after the first (a message of
  that travel time), that a method's estimates show the other way round. Of methods with intervals, in
  parentheses: the percentage whose order they leave undecided; "proved wrong" counts orders that a
  method's intervals prove and that are false. Fitted to the packets; sums over clocks
  ${steady%%,*} and $(c=${steady##* }; echo "${c%%,*}").
END
for network in $(networks); do
	printf '\n  %s\n' "$(network_title "$network")"
	awk -F '\t' -v network="$network" -v methods="$all_methods" "$labels"'
		BEGIN { m = split(methods, method, " ") }
		$1 != network { next }
		{ if (!($4 in seen)) { seen[$4]; delay[++n] = $4 }
		  pairs[$3, $4] += $5; inverted[$3, $4] += $6
		  if ($7 != "-") { undecided[$3, $4] += $7; wrong[$3] += $8 } }
		END {
			printf "  %9s", "delay, us"
			for (i = 1; i <= m; i++) printf " %19s", label(method[i])
			print ""
			for (j = 1; j <= n; j++) {
				if (j % 2 == 0) continue
				printf "  %9.4g", delay[j]
				for (i = 1; i <= m; i++) {
					k = method[i] SUBSEP delay[j]
					if (!pairs[k]) { printf " %19s", "-"; continue }
					text = sprintf("%.2f", 100 * inverted[k] / pairs[k])
					if (k in undecided) text = text sprintf(" (%.1f)", 100 * undecided[k] / pairs[k])
					printf " %19s", text
				}
				print ""
			}
			printf "  %9s", "proved"
			for (i = 1; i <= m; i++) printf " %19s", (method[i] in wrong) ? wrong[method[i]] " wrong" : "-"
			print ""
		}' "$tsv"
done
echo "  $footnote"

network=$(networks | grep -x congested || networks | head -1)
curves=
for method in $all_methods; do
	awk -F '\t' -v n="$network" -v m="$method" -v rate="${steady%%,*}" \
		'$1 == n && $3 == m && $2 == rate' "$tsv" >"$data/figure5.$method"
	[ -s "$data/figure5.$method" ] || continue
	curves+="'$data/figure5.$method' using 4:(100*\$6/\$5) with linespoints $(lines "$method") \
		$(points "$method") title '$(title "$method")', "
	case $method in dprof-affine | freezer-formula)
		curves+="'' using 4:(100*\$7/\$5) with lines $(dotted "$method") title '$(title "$method"), undecided', " ;;
	esac
done
plot figure5-inversions <<END
set title "inversions against delay\\n$(network_title "$network")"
set xlabel 'delay between the two events (us)'
set ylabel 'pairs of events (%)'
set logscale x
set format x '%g'
set yrange [-2:102]
plot ${curves%, }
END

awk -F '\t' '$3 ~ /^dprof/ { outside += $8; of += $5 } END { print outside + 0, of + 0 }' "$tsv" |
	{ read -r outside of && count_outside "$outside" "$of"; }

# SPDX-License-Identifier: MIT
#
# How wide the intervals are over the run: not a figure of the paper, but what its formula is known for.
tsv=$OUT/widths.tsv
printf 'network\tclocks\tmethod\tseconds\twidth_us\tinside\n' >"$tsv"
for network in $(networks); do
	for kind in steady wandering; do
		clock=${steady%% *}
		[ $kind = steady ] || clock=${wandering%% *}
		progress "widths: $network network, $kind clock"
		"$programs/widths" "$data/$network.run" "$clock" 2>"$data/widths.$network.$kind.why" |
			sed "s/^/$network\t$kind\t/" >>"$tsv" || return 1
	done
done

cat <<END
Widths of the intervals over the run, in us, at its start, in its middle and at its end; clock ${steady%%,*}
  (paper's zeros, before the run: $(known figure4-zero-error))
  "floor" is the fastest packet there plus the fastest packet back. Growth: end against start. "Outside":
  stamps of 101 in the run whose true time is not in the interval; "before": of 100 in as long a time before
  the run. There the paper's formula, as printed, need not hold: its bounds draw near and cross.
END
for network in $(networks); do
	for kind in steady wandering; do
		printf '\n  %s; %s clock\n' "$(network_title "$network")" $kind
		awk -F '\t' -v network="$network" -v kind=$kind "$labels"'
			$1 != network || $2 != kind { next }
			$3 == "fastest-packets" { floor = $5; next }
			!seen[$3]++ { order[++m] = $3 }
			$4 < 0 { before[$3] += !$6; next }
			{ width[$3, ++n[$3]] = $5; outside[$3] += !$6 }
			END {
				printf "  %-20s %8s %8s %8s %8s %9s %8s %8s\n", "method", "start", "middle", "end", "growth", "x floor", "outside", "before"
				for (i = 1; i <= m; i++) {
					k = order[i]; a = width[k, 1]; b = width[k, int((n[k] + 1) / 2)]; c = width[k, n[k]]
					printf "  %-20s %8.2f %8.2f %8.2f %8.2f %9.2f %8d %8d\n", label(k), a, b, c, c / a, b / floor, outside[k], before[k]
				}
				printf "  %-20s %8.2f %8.2f %8.2f\n", "floor", floor, floor, floor
			}' "$tsv"
		sed 's/^\(.*\): \(.*\)$/  \1: \2/' "$data/widths.$network.$kind.why"
	done
done
echo "  $footnote"

network=$(networks | grep -x quiet || networks | head -1)
curves=
for method in $all_methods; do
	awk -F '\t' -v n="$network" -v m="$method" '$1 == n && $2 == "steady" && $3 == m && $4 >= 0' "$tsv" >"$data/widths.$method"
	[ -s "$data/widths.$method" ] || continue
	curves+="'$data/widths.$method' using 4:5 with lines $(lines "$method") title '$(title "$method")', "
done
floor=$(awk -F '\t' -v n="$network" '$1 == n && $3 == "fastest-packets" { print $5; exit }' "$tsv")
plot widths <<END
set title "width of the intervals over the run\\n$(network_title "$network")"
set xlabel 'time in the run (s)'
set ylabel 'width of the interval (us)'
set yrange [0:*]
plot ${curves}$floor with lines lc rgb '#888888' dt 3 lw 2 title 'fastest packet round trip'
END

awk -F '\t' '($3 == "dprof-drift" || $3 == "dprof-affine" && $2 == "steady") { outside += !$6; of++ }
	END { print outside + 0, of + 0 }' "$tsv" | { read -r outside of && count_outside "$outside" "$of"; }

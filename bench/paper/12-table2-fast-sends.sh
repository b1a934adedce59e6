# SPDX-License-Identifier: MIT
#
# Table 2: the percentage of fast sends, method by method.
tsv=$OUT/table2-fast-sends.tsv
heading="method evidence messages before too_fast impossible undecided outside stamps width_us error_us"
printf 'network\tclocks\trate\t%s\n' "${heading// /$'\t'}" >"$tsv"

look() { # network kind clocks...
	local network=$1 kind=$2 clock
	shift 2
	for clock in "$@"; do
		progress "Table 2: $network network, $kind clock ${clock%%,*}"
		"$programs/sends" "$data/$network.run" "$clock" |
			sed "s/^/$network\t$kind\t${clock%%,*}\t/" >>"$tsv" || return 1
	done
}

table() { # network kind: sums over the clocks
	awk -F '\t' -v network="$1" -v kind="$2" "$labels$figures"'
		function percent(n, of) { return sprintf("%.2f %%", 100 * n / of) }
		$1 != network || $2 != kind { next }
		{ key = $4 "\t" $5; if (!(key in clocks)) order[++n] = key; clocks[key]++ }
		NF < 9 { why[key] = $6; unfitted[key]++; next }
		{ messages[key] += $6; before[key] += $7; fast[key] += $8; stamps[key] += $12
		  if ($9 != "-") { impossible[key] += $9; undecided[key] += $10; outside[key] += $11; bounds[key] = 1 }
		  if ($13 > width[key]) width[key] = $13
		  if ($14 > error[key]) error[key] = $14 }
		END {
			for (i = 1; i <= n; i++) {
				split(order[i], k, "\t"); key = order[i]
				printf "  %-20s %-9s", label(k[1]), k[2]
				if (!messages[key]) { printf " %10s\n", why[key]; continue }
				printf " %10s %10s", percent(before[key], messages[key]), percent(fast[key], messages[key])
				if (bounds[key]) printf " %10s %10s %8d %9.2f", percent(impossible[key], messages[key]),
					percent(undecided[key], messages[key]), outside[key], width[key]
				else printf " %10s %10s %8s %9s", "-", "-", "-", "-"
				known = k[2] == (k[1] == "freezer-formula" ? "packets" : "messages") ? paper("fast-sends." k[1]) : ""
				printf " %9.2f  %s%s\n", error[key], known, unfitted[key] ? " (" why[key] " on " unfitted[key] " clock(s))" : ""
			}
		}' "$tsv"
}

cat <<END
Table 2: fast sends, in percent of the messages
  A fast send is a message that a method's converted times show as received before it was sent
  ("before"), or as travelling faster than the fastest packet or message of the run really did ("too fast",
  which includes the former). Methods are fitted to FreeZer's packets (StarPU's barriers to the middles of the
  fastest ones), to the program's messages of every second round trip, or to two plain barriers; they are
  judged on the messages of the other round trips.
  Of methods with intervals: "impossible" is a message whose whole interval of arrival lies before that
  of its departure, "undecided" one whose intervals overlap, "outside" a stamp whose true time is not
  in its interval. Width: median, error: largest, both in us. Sums over the clocks.
  "paper": the percentages of its table 2, mean (least .. most) of 100 trials.
END
for network in $(networks); do
	for kind in steady wandering; do
		clocks=$steady
		[ $kind = steady ] || clocks=$wandering
		look "$network" $kind $clocks || return 1
		printf '\n  %s; %s clocks\n' "$(network_title "$network")" "$kind"
		printf '  %-20s %-9s %10s %10s %10s %10s %8s %9s %9s  %s\n' method "fitted to" before "too fast" \
			impossible undecided outside width error paper
		table "$network" $kind
	done
done
echo "  $footnote"

# The assumption that holds: either for steady clocks, drift:10 for those that wander by 7 ppm.
awk -F '\t' '($4 == "dprof-drift" || $4 == "dprof-affine" && $2 == "steady") { outside += $11 + (NF < 9); of += $12 }
	END { print outside + 0, of + 0 }' "$tsv" | { read -r outside of && count_outside "$outside" "$of"; }

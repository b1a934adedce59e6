# SPDX-License-Identifier: MIT
#
# Figure 7: how long it takes to synchronise a trace, by its size.
tsv=$OUT/figure7-sync-time.tsv
heading="method evidence messages stamps fit_s ns_per_stamp total_s"
rounds=$([ -n "$QUICK" ] && echo 3 || echo 7)
lp_stamps=$([ -n "$QUICK" ] && echo 5000 || echo 100000)
printf '%s\n' "${heading// /$'\t'}" >"$tsv"
for size in ${SIZES:-10000 31623 100000 316228 1000000}; do
	progress "Figure 7: $size messages"
	"$programs/sync" "$size" "$rounds" "$lp_stamps" >>"$tsv" || return 1
done

cat <<END
Figure 7: seconds to synchronise a made trace (fit to the evidence, then convert one stamp a message), against
  its messages. Medians of $rounds interleaved rounds, one core.
END
awk -F '\t' -v lp="$lp_stamps" "$labels"'
	NR == 1 { next }
	{ key = label($1) "\t" $2; if (!(key in last)) order[++n] = key
	  if (!($3 in seen)) { seen[$3]; size[++m] = $3 }
	  total[key, $3] = sprintf("%.3g%s", $7, $4 < $3 ? "+" : ""); fit[key] = $5; last[key] = $6
	  if ($4 < $3) scaled = 1 }
	END {
		printf "  %-20s %-9s", "method", "fitted to"
		for (j = 1; j <= m; j++) printf " %11s", size[j]
		printf "  %12s\n", "ns a stamp"
		for (i = 1; i <= n; i++) {
			split(order[i], k, "\t")
			printf "  %-20s %-9s", k[1], k[2]
			for (j = 1; j <= m; j++) printf " %11s", total[order[i], size[j]]
			printf "  %12.4g\n", last[order[i]]
		}
		if (scaled) printf "  + of these, %d stamps were converted and the time scaled to all.\n", lp
	}' "$tsv"
awk -F '\t' "$figures"'
	NR > 1 && ($2 == "packets" || $1 == "regression" || $1 == "lp-per-stamp") {
		if (!first) first = $3
		last = $3; ns[$1, $3] = $6; total[$1, $3] = $7 }
	function speeds(what, of, size, known,    r) {
		r = of["regression", size]
		printf "    %-28s dprof affine %.2f, dprof drift:10 %.2f, FreeZer formula (*) %.2f%s\n", what " " size, r / of["dprof-affine", size],
			r / of["dprof-drift", size], r / of["freezer-formula", size], known
	}
	END {
		print ""
		print "  Speed, that of linear regression being 1:"
		speeds("fit and convert all,", total, first, "   paper: FreeZer " paper("speed.smallest"))
		speeds("fit and convert all,", total, last, "   paper: FreeZer " paper("speed.largest"))
		speeds("convert one stamp,", ns, last, "")
		printf "    LP per stamp, %d: 1/%.0f of dprof affine, 1/%.0f of the formula   paper: %s\n", first,
			total["lp-per-stamp", first] / total["dprof-affine", first],
			total["lp-per-stamp", first] / total["freezer-formula", first], paper("speed.lp")
		print "  Two proven bounds come out of each conversion of dprof, the formula and the LP; one number without"
		print "  an error out of the others."
	}' "$tsv"
echo "  $footnote"

curves=
while read -r method evidence; do
	awk -F '\t' -v m="$method" -v e="$evidence" '$1 == m && $2 == e' "$tsv" >"$data/figure7.$method.$evidence"
	curve="$(lines "$method") $(points "$method")" name=$(title "$method")
	[ "$method $evidence" != "dprof-affine messages" ] ||
		curve=$(sed 's/lw [0-9.]*/lw 2 dt 4/; s/pt 7/pt 8/' <<<"$curve") name="$name, all messages"
	curves+="'$data/figure7.$method.$evidence' using 3:7 with linespoints $curve title '$name', "
done < <(awk 'NR > 1 && !seen[$1, $2]++ { print $1, $2 }' "$tsv")
plot figure7-sync-time <<END
set title 'time to synchronise a trace against its size'
set xlabel 'messages in the trace'
set ylabel 'time to fit and to convert all stamps (s)'
set logscale xy
set format x '10^{%L}'
set format y '10^{%L}'
plot ${curves%, }
END

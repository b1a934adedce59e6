# SPDX-License-Identifier: MIT
#
# Runs the paper's three programs with rank 1 overloaded and really balanced, by turns, on two hosts, and
# asks every method for the ranks' straggler scores and for what balance would buy. Tables 3 to 5, Figure 11
# and the estimates of single stamps are views of what this leaves: programs.tsv, programs-scores.tsv,
# estimates.tsv, and in data/programs/ what csp says of the frames.
#
#   real    nothing but the computation, one rank for each of two cores
#   paced   each unit of work takes a known time, of which most is slept: 4 ranks
#
# Host 1's stamps are rewritten to the rates of the paper's machines, in turn, and to offsets of
# milliseconds. The truth is the same trace with all threads on the one counter that both hosts really
# have. A method that gives points is believed: its times replace the stamps (unify.c).
rounds=${ROUNDS:-$([ -n "$QUICK" ] && echo 2 || echo 10)}
percent=50 # more work for rank 1
coarse=$([ -n "$QUICK" ] && echo 2 || echo 1)
analyze=$B/bin/dprof-analyze
here=$data/programs
runs=$OUT/programs.tsv scores=$OUT/programs-scores.tsv estimates=$OUT/estimates.tsv
rm -rf "$here" && mkdir -p "$here"
export OMP_WAIT_POLICY=passive
clocks=(1.235,4 1.290,-8 1.345,1 1.400,6) # rate, offset in ms
reduction=$(awk -v p="$percent" 'BEGIN { printf "%.6f", 100 * p / (100 + p) }')

declare -A region=([kmeans]=assign [pagerank]=gather [cc]=propagate)
declare -A ranks=([paced]=4 [real]=2)
declare -A work=(
	[kmeans.paced]="--clusters 8 --iterations $((16 / coarse)) --pace 2000 $B/data/cities.csv.gz"
	[kmeans.real]="--clusters 256 --iterations $((30 / coarse)) $B/data/cities.csv.gz"
	[pagerank.paced]="--iterations $((20 / coarse)) --pace 1000 $B/data/debian.txt.gz"
	[pagerank.real]="--iterations $((200 / coarse)) $here/graph"
	[cc.paced]="--pace $((1000 / coarse)) $B/data/debian.txt.gz"
	[cc.real]="--iterations $((200 / coarse)) $here/graph"
)

hosts=$(testsuite/hosts.sh up 2 2>"$data/why") || true
[ -z "$hosts" ] || trap 'testsuite/hosts.sh down "$hosts"' EXIT

across() { # RANKS PROGRAM...: on two hosts, in namespaces if they can be had
	local n=$1
	shift
	if [ -n "$hosts" ]; then
		testsuite/hosts.sh run "$hosts" -n "$n" "$@"
	else
		mpirun --allow-run-as-root --oversubscribe --quiet --mca mpi_yield_when_idle 1 \
			-n $((n / 2)) -x DPROF_HOST=h0 "$@" : -n $((n / 2)) -x DPROF_HOST=h1 "$@"
	fi
}

# -> the seconds that its iterations took; the trace is $here/dprof-*
execute() { # program mode more-percent-for-rank-1
	rm -rf "$here"/dprof-*
	DPROF_DIR=$here across "${ranks[$2]}" "$B/examples/$1" --threads 1 --imbalance "1:$3" ${work[$1.$2]} \
		2>"$here/err" </dev/null | sed -n 's/.* \([0-9.]*\) s$/\1/p' | grep . ||
		{ cat "$here/err" >&2; return 1; }
}

# What the analyses say of a trace, as lines of the tables: scores, and what balance would buy.
ask() { # trace program key: the first columns
	"$analyze" csp "${@:4}" --json "$1" | testsuite/scores.sh | awk -v key="$3" '
		$1 == "span" { print key "\tspan\t" ($3 + $2) / 2 "\t0\t0"; next }
		{ print key "\tscore\t" $1 "\t" $2 "\t" $3 }'
	"$analyze" coz "${@:4}" --region "${region[$2]}" --rank 1 --reduce "$reduction" --json "$1" | awk -v key="$3" '
		/^ "expected_percent"/ { split($0, x, /[:,}]/); printf "%s\tbalance\t1\t%s\t%s\n", key, x[3], x[5] }'
}

# The same trace as each method sees it.
methods_of() { # program mode round
	local key=$1$'\t'$2$'\t'$3 clock=${clocks[($3 - 1) % 4]} method
	"$analyze" dump "$here"/dprof-* >"$here/recorded"
	"$B/test/rewrite-clocks" --clock 1 --rate "${clock%,*}" --offset-ms "${clock#*,}" <"$here/recorded" >"$here/rewritten"
	rm -rf "$here/trace"
	"$B/test/rewrite-clocks" --merge <"$here/recorded" | "$analyze" pack - "$here/trace"
	ask "$here/trace" "$1" "$key"$'\t'truth
	[ "$3" -ne 1 ] || "$analyze" csp --frames --json "$here/trace" >"$here/$1.$2.frames"
	rm -rf "$here/trace"
	"$analyze" pack - "$here/trace" <"$here/rewritten"
	[ "$3" -ne 1 ] || "$programs/compare" "$here/trace" | sed "s/^/$1\t$2\t/" >>"$estimates"
	ask "$here/trace" "$1" "$key"$'\t'dprof-drift
	ask "$here/trace" "$1" "$key"$'\t'dprof-affine --clock-model affine
	for method in freezer-formula regression convex-hull fastest-middles two-barriers; do
		rm -rf "$here/trace"
		"$programs/unify" $method <"$here/rewritten" >"$here/unified" 2>"$here/err" || continue
		"$analyze" pack - "$here/trace" <"$here/unified"
		ask "$here/trace" "$1" "$key"$'\t'$method
	done
}

both() { # program mode round
	local overloaded balanced
	[ $(($3 % 2)) -eq 0 ] || balanced=$(execute "$1" "$2" 0)
	overloaded=$(execute "$1" "$2" "$percent")
	methods_of "$1" "$2" "$3" >>"$scores"
	[ $(($3 % 2)) -eq 1 ] || balanced=$(execute "$1" "$2" 0)
	printf '%s\t%s\t%s\t%s\t%s\n' "$1" "$2" "$3" "$overloaded" "$balanced" >>"$runs"
}

"$B/examples/rmat" --scale $([ -n "$QUICK" ] && echo 16 || echo 18) --edges 16 >"$here/graph"
printf 'program\tmode\tround\toverloaded_s\tbalanced_s\n' >"$runs"
printf 'program\tmode\tround\tmethod\twhat\trank\tlo\thi\n' >"$scores"
printf 'program\tmode\tmethod\thost\trate\tstamps\tleast_us\tmedian_us\tmost_us\toutside\tfurthest_us\n' >"$estimates"
for round in $(seq "$rounds"); do
	for mode in real paced; do
		for program in kmeans pagerank cc; do
			progress "$program, $mode, round $round of $rounds"
			both $program $mode "$round"
		done
	done
done

echo "Programs: rank 1 has $percent % more work, and then as much as the others; $rounds rounds, by turns"
echo "  on two hosts$([ -n "$hosts" ] || echo ' by name only (no network namespaces here)'); host 1's clock rewritten to ${clocks[*]} (rate, ms)"
printf '  %-9s %-6s %5s %26s %26s\n' "" "" ranks "overloaded, s" "balanced, s"
for mode in real paced; do
	for program in kmeans pagerank cc; do
		printf '  %-9s %-6s %5s %26s %26s\n' $program $mode "${ranks[$mode]}" \
			"$(awk -v p=$program -v m=$mode '$1 == p && $2 == m { print $4 }' "$runs" | spread %.3f)" \
			"$(awk -v p=$program -v m=$mode '$1 == p && $2 == m { print $5 }' "$runs" | spread %.3f)"
	done
done

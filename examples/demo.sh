#!/bin/bash
# SPDX-License-Identifier: MIT
#
# demo.sh [FOLDER] - dprof's main job from end to end, on real points; `make demo` runs it.
#
# Ranks find clusters of the world's cities while rank 1 has twice the work. Who straggles, and
# what would it buy to mend that? The same again as if one host had quite another clock. Then the
# balanced run, for comparison. As root the ranks run on two hosts (testsuite/hosts.sh), otherwise
# on one that goes by two names. B is the build folder; FOLDER, $B/demo, is made anew and keeps all
# that is made; ITERATIONS says how long each run takes.
set -u -o pipefail
: "${B:?the build folder}"
ITERATIONS=${ITERATIONS:-60}
demo=${1:-$B/demo}
# No more ranks than cores: a rank that waits for a core has other troubles than its work.
ranks=$(($(nproc) < 4 ? 2 : 4))
hosts= # name of the set, when there are two
child= # what runs in the background
analyze=$B/bin/dprof-analyze

clean_up() {
	[ -z "$child" ] || kill "$child" 2>/dev/null
	[ -z "$hosts" ] || testsuite/hosts.sh down "$hosts"
}
trap clean_up EXIT
trap 'exit 130' INT TERM HUP

say() {
	printf '[%3d s] %s\n' $SECONDS "$*"
}

die() {
	echo "demo: $*" >&2
	exit 1
}

# Runs a command with its output in a file; on a terminal, the seconds go by meanwhile.
watch() { # file command...
	local out=$1 start=$SECONDS
	shift
	"$@" >"$out" 2>"$out.err" </dev/null &
	child=$!
	while [ -t 2 ] && kill -0 "$child" 2>/dev/null; do
		printf '\r        ... %d s \r' $((SECONDS - start)) >&2
		sleep 0.2
	done
	wait "$child" || { cat "$out" "$out.err" >&2; die "failed: $*"; }
	child=
}

# Each rank has a core of its own, as it would have on a machine of its own: mpirun takes the hosts for machines, and
# would bind the first rank of each to the first core.
# shellcheck disable=SC2016
own_core='core=$((OMPI_COMM_WORLD_RANK % $(nproc))); taskset -c $core true 2>/dev/null && exec taskset -c $core "$0" "$@"; exec "$0" "$@"'

all_ranks() { # PROGRAM...
	set -- --bind-to none sh -c "$own_core" "$@"
	if [ -n "$hosts" ]; then
		exec testsuite/hosts.sh run "$hosts" -n "$ranks" "$@"
	fi
	exec mpirun --allow-run-as-root --oversubscribe --quiet --mca mpi_yield_when_idle 1 \
		-n $((ranks / 2)) -x DPROF_HOST=h0 "$@" : -n $((ranks / 2)) -x DPROF_HOST=h1 "$@"
}

# Runs K-Means; the trace is then $demo/NAME/dprof-kmeans.JOB, its result line in $demo/NAME.out.
kmeans() { # name options...
	local name=$1
	shift
	mkdir "$demo/$name" || exit 1
	DPROF_DIR=$demo/$name watch "$demo/$name.out" all_ranks "$B/examples/kmeans" \
		--clusters 1024 --iterations "$ITERATIONS" --threads 1 "$@" "$points"
	say "  took $(seconds "$name") s"
}

seconds() { # name of a run
	sed -n 's/.* \([0-9.]*\) s$/\1/p' "$demo/$1.out"
}

csp() { # trace file
	"$analyze" csp --json "$1" | testsuite/scores.sh >"$2" || die "no straggler scores in $1"
}

# The trace with other clocks, and its scores.
rewritten() { # trace name options-of-rewrite-clocks...
	local trace=$1 name=$2
	shift 2
	"$analyze" dump "$trace" | "$B/test/rewrite-clocks" "$@" | "$analyze" pack - "$demo/$name" ||
		die "cannot rewrite $trace"
	csp "$demo/$name" "$demo/$name.scores"
}

# The scores side by side, rounded outward: true ones, as recorded, with the other clock. The truth
# must be in both intervals. (All hosts are this machine, so its one counter is the truth.)
compare() { # scores scores scores
	awk '
	function down(x) { return int(x * 10000) / 10000 }
	function up(x) { return (int(x * 10000) + (int(x * 10000) < x * 10000)) / 10000 }
	function interval(lo, hi) { return sprintf("%.4f .. %.4f", down(lo), up(hi)) }
	$1 == "span" { next }
	FILENAME == ARGV[1] { true_lo[$1] = $2; true_hi[$1] = $3; next }
	FILENAME == ARGV[2] { lo[$1] = $2; hi[$1] = $3; next }
	!head++ {
		print "  straggler score, %"
		printf "  rank  %-20s  %-20s  %s\n", "as recorded", "with the other clock", "truth"
	}
	{
		right = lo[$1] <= true_hi[$1] && true_lo[$1] <= hi[$1] &&
			$2 <= true_hi[$1] && true_lo[$1] <= $3
		bad += !right
		printf "  %4d  %-20s  %-20s  %.5f  %s\n", $1, interval(lo[$1], hi[$1]),
			interval($2, $3), (true_lo[$1] + true_hi[$1]) / 2, right ? "in both" : "NOT IN BOTH"
	}
	END { exit bad > 0 || !head }' "$@"
}

# "LO HI" of the speed-up in percent, and of the span in seconds, had rank 1's work been like others'.
coz() { # trace
	"$analyze" coz --region assign --rank 1 --reduce 50 --json "$1" | awk '
		/"expected_percent"|"span_s"/ && !seen[$1]++ { split($0, x, /[:,}]/); print x[3], x[5] }'
}

# What coz promised, against what the balanced run took.
verdict() { # trace
	coz "$1" | awk -v overloaded="$(seconds overloaded)" -v balanced="$(seconds balanced)" \
		-v cores="$(nproc)" '
	NR == 1 { gain_lo = $1 / 100; gain_hi = $2 / 100 }
	NR == 2 { span_lo = $1; span_hi = $2 }
	END {
		lo = overloaded - gain_hi * span_hi
		hi = overloaded - gain_lo * span_lo
		printf "Predicted for the balanced run: %.3f .. %.3f s; ", lo, hi
		printf "it took %.3f s (%+.1f %%).\n", balanced, (balanced / ((lo + hi) / 2) - 1) * 100
		print "(dprof-analyze coz --region assign --rank 1 --reduce 50. The bounds are those of"
		print " the clocks and of waiting, not those of noise: whatever else ran on the " cores
		print " cores meanwhile.)"
		exit NR != 2
	}' || die "no prediction from $1"
}

# ---- the show ----------------------------------------------------------------------------------

rm -rf "$demo" && mkdir -p "$demo" || exit 1
points=$B/data/cities.csv.gz
count=$(zcat "$points" | wc -l)
if [ "$count" -lt 100000 ]; then
	copies=$((135233 / count))
	say "only the committed sample of $count cities is here: each one counts $copies times"
	for _ in $(seq $copies); do cat "$points"; done >"$demo/cities.csv.gz"
	points=$demo/cities.csv.gz
fi

if hosts=$(testsuite/hosts.sh up 2 2>"$demo/hosts"); then
	say "$ranks ranks on 2 hosts (namespaces $hosts-*), half of them on each"
else
	hosts=
	why=$(cat "$demo/hosts")
	say "$ranks ranks on one host: ${why#*: }"
	say "half of them call it h1 (DPROF_HOST): so it counts as two hosts"
fi

say "K-Means on $count cities; rank 1 has twice the work"
kmeans overloaded --imbalance 1:100
trace=$(echo "$demo"/overloaded/dprof-kmeans.*)

say "what dprof-analyze says of it"
echo
"$analyze" "$trace" || die "dprof-analyze $trace failed"
echo
"$analyze" report --html "$demo/report.html" "$trace" >/dev/null || die "dprof-analyze report --html failed"
say "the same for the browser: $demo/report.html"
csp "$trace" "$demo/overloaded.scores"

say "the same trace, had h1 a clock 1.35 times as fast, 5 hours ahead"
rewritten "$trace" truth --merge
rewritten "$trace" rewritten --clock 1 --rate 1.35 --offset-hours 5
compare "$demo/truth.scores" "$demo/overloaded.scores" "$demo/rewritten.scores" ||
	die "the clock changed the answer"

say "the balanced run"
kmeans balanced
echo
verdict "$trace"
say "done; all that was made is in $demo"

#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What PageRank and connected components record: of each thread all its work and its barriers, of each
# master every update, exchange and unit of progress, each begin with its end. With --pace, the work takes
# as long as was asked for. And an overloaded rank is the proved straggler.
. testsuite/fixtures/examples/setup.sh
[ -z "${SAN:-}" ] || { echo "beside a sanitizer MPI's own threads are recorded, too"; exit 77; }
graph=$root/examples/data/debian.txt

record() { # program ranks options... -> $trace, and its text form
	rm -rf dprof-"$1".*
	mpi "$2" "$B/examples/$1" "${@:3}" "$graph" >line || fail "$1 on $2 ranks failed"
	trace=$(echo dprof-"$1".*)
	"$analyze" dump "$trace" >text || fail "$1: dump failed"
}

expect() { # lines of "THREADS NAME OPERATION COUNT"
	awk -f "$root/testsuite/fixtures/examples/counts.awk" text >counts
	while read -r expected; do
		grep -qx "$expected" counts || fail "$trace: expected \"$expected\", found:
$(sort -k2 counts)"
	done
}

events() { # region updates ranks threads iterations exchanges-before-and-after
	local all=$(($3 * $4)) exchanges=$(($5 + $6))
	expect <<-END
		$all $1 enter $5
		$all $1 exit $5
		$3 update enter $(($2 * $5))
		$3 update exit $(($2 * $5))
		$3 iteration point $5
		$3 MPI_Allreduce enter $exchanges
		$3 MPI_Allreduce exit $exchanges
		$3 MPI_Allgatherv enter $exchanges
		$3 MPI_Allgatherv exit $exchanges
		$all omp%20barrier enter $((2 * $5 + 1))
		$all omp%20barrier exit $((2 * $5 + 1))
	END
}

rounds=$("$B/examples/plain/cc" -t 1 "$graph" | sed 's/.* \([0-9]*\) iterations.*/\1/')
for shape in "4 1" "2 3"; do
	read -r ranks threads <<<"$shape"
	record pagerank "$ranks" --iterations 5 --threads "$threads"
	events gather 2 "$ranks" "$threads" 5 2
	record cc "$ranks" --threads "$threads"
	events propagate 1 "$ranks" "$threads" "$rounds" 0
done

# Rank 2 has 3 times the work, so its shortest visit is 3 times as long as that of any other; and all of
# them together take as long as their nodes and neighbours are to take.
paced() { # program region
	record "$1" 4 --iterations 6 --threads 1 --imbalance 2:200 --pace 5000
	awk -v region="name=$2" -v units="$(awk '{ print $1 + $3 }' line)" '
	$1 == "clock" { split($4, ghz, "=") }
	$1 == "thread" { match($0, / rank=[0-9]*/); rank[$2] = substr($0, RSTART + 6, RLENGTH - 6) }
	$1 == "site" { wanted[$2] = $4 == region }
	$1 == "e" && wanted[$4] && $5 == "enter" { begin[$2] = $3 }
	$1 == "e" && wanted[$4] && $5 == "exit" {
		took = $3 - begin[$2]
		r = rank[$2]
		least[r] = least[r] && least[r] < took ? least[r] : took
	}
	END {
		for (r = 0; r < 4; r++) {
			ratio = least[2] / least[r]
			if (r != 2 && !(ratio > 2.8 && ratio < 3.1))
				bad = bad " " ratio " times rank " r
			ns += least[r] / ghz[2] / (r == 2 ? 3 : 1)
		}
		if (!(ns > 0.999 * 5000 * units && ns < 1.1 * 5000 * units))
			bad = bad " " ns " ns for " units " units"
		if (bad)
			print bad
		exit bad != ""
	}' text || fail "$1: expected rank 2 to take 3 times as long, all at the pace"
	"$analyze" csp --json "$trace" | "$root/testsuite/scores.sh" | grep -v span >scores
	sort -g -k2 scores | awk '
	NR == 4 { proved = $1 == 2 && $2 > most }
	$3 > most { most = $3 }
	END { exit !(NR == 4 && proved) }' || fail "$1: expected rank 2 as the proved straggler, found (rank, lo, hi): $(cat scores)"
}
paced pagerank gather
paced cc propagate
echo "as expected"

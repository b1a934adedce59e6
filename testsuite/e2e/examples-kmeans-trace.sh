#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What K-Means records: of each thread every assignment and both its barriers, of each master every update,
# reduction and unit of progress, each begin with its end. And an overloaded rank is the proved straggler.
. testsuite/fixtures/examples/setup.sh
[ -z "${SAN:-}" ] || { echo "beside a sanitizer MPI's own threads are recorded, too"; exit 77; }

record() { # folder ranks options...
	mkdir "$1" || exit 1
	DPROF_DIR=$tmp/$1 mpi "$2" "$B/examples/kmeans" "${@:3}" "$root/examples/data/cities.csv" >"$1/line" ||
		fail "K-Means on $2 ranks failed"
	trace=$(echo "$tmp/$1"/dprof-kmeans.*)
	[ -d "$trace" ] || fail "no trace in $(ls "$1")"
}

iterations=5
all=$((iterations + 1))
for shape in "4 1" "2 3"; do
	read -r ranks threads <<<"$shape"
	record "$ranks-$threads" "$ranks" --iterations $iterations --threads "$threads"
	"$analyze" dump "$trace" >text || fail "dump failed"
	awk -f "$root/testsuite/fixtures/examples/counts.awk" text >counts
	while read -r expected; do
		grep -qx "$expected" counts || fail "$ranks x $threads: expected \"$expected\", found:
$(sort -k2 counts)"
	done <<-END
		$((ranks * threads)) assign enter $all
		$((ranks * threads)) assign exit $all
		$ranks update enter $((2 * all))
		$ranks update exit $((2 * all))
		$ranks iteration point $all
		$ranks MPI_Allreduce enter $all
		$ranks MPI_Allreduce exit $all
		$((ranks * threads)) omp%20barrier enter $((2 * all + 1))
		$((ranks * threads)) omp%20barrier exit $((2 * all + 1))
	END
done

# Four ranks share what cores there are with whatever else runs: another rank may have been kept from them for longer.
for try in 1 2 3 4 5; do
	record "overloaded-$try" 4 --clusters 200 --iterations 60 --threads 1 --imbalance 2:300
	"$analyze" csp --json "$trace" | "$root/testsuite/scores.sh" | grep -v span >scores
	sort -g -k2 scores | awk '
		NR == 4 { proved = $1 == 2 && $2 > most }
		$3 > most { most = $3 }
		END { exit !(NR == 4 && proved) }' && proved=1 && break
done
[ -n "${proved:-}" ] || fail "expected rank 2 as the proved straggler, found (rank, lo, hi): $(cat scores)"
echo "as expected"

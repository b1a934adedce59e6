#!/bin/bash
# SPDX-License-Identifier: MIT
#
# K-Means: the same result, bit for bit, with any number of ranks and threads, with and without the
# plugin, balanced or not, from plain, gzipped and blank-separated files; and the right one, as an awk
# script of fifty lines finds it too.
. testsuite/fixtures/examples/setup.sh
fixtures=$root/testsuite/fixtures/examples

inertia() { # line with the result
	sed 's/.*inertia \([^,]*\),.*/\1/' "$1"
}

check() { # points clusters iterations
	local points=$1 name=${1##*/} i=0 options program
	options=(--clusters "$2" --iterations "$3")
	awk -F, -v clusters="$2" -v iterations="$3" -f "$fixtures/kmeans.awk" "$points" >oracle
	cp "$points" points.csv
	gzip -c "$points" >points.gz
	tr , ' ' <"$points" | sed 's/^/  /; s/$/ \r/' >points.txt
	mpi 1 "$B/examples/plain/kmeans" "${options[@]}" --threads 1 --output first "$points" >line ||
		fail "$name: K-Means on one rank failed"
	"$fixtures/compare" first line oracle || fail "$name: not what the awk script finds"

	for program in "$B/examples/plain/kmeans" "$B/examples/kmeans"; do
		while read -r ranks more; do
			mpi "$ranks" "$program" "${options[@]}" --output other $more >line2 ||
				fail "$program $more on $ranks ranks failed"
			cmp first other || fail "$program $more on $ranks ranks: another result"
			[ "$(inertia line)" = "$(inertia line2)" ] ||
				fail "$program $more on $ranks ranks: $(cat line2) instead of $(cat line)"
			i=$((i + 1))
		done <<-END
			2 --threads 1 points.csv
			4 --threads 1 --imbalance 1:150 points.gz
			3 --threads 3 --imbalance 0:30 points.txt
		END
	done
	echo "$name: $i other ways give the same bits"
}

check "$root/examples/data/cities.csv" 8 12
check "$root/examples/data/digits.csv" 10 8
for x in 0 1 2 3 4 5; do printf "$x,%s\n" 0 1 2 3 4 5; done >grid # full of equal distances
check grid 7 3

#!/bin/bash
# SPDX-License-Identifier: MIT
#
# K-Means on the real points against an implementation that was not written here: npm's ml-kmeans.
. testsuite/fixtures/examples/setup.sh
fixtures=$root/testsuite/fixtures/examples
modules=$B/oracle/node_modules

[ -f "$modules/ml-kmeans/lib/index.js" ] ||
	timeout 60 npm install --fetch-retries=1 --fetch-retry-maxtimeout=1000 \
	--fetch-retry-mintimeout=1000 --silent --no-audit --no-fund --prefix "$B/oracle" ml-kmeans@7.0.1 >log 2>&1 || {
	echo "npm's ml-kmeans cannot be had: $(head -1 log)"
	exit 77
}

check() { # points clusters iterations
	local points=$B/data/$1.csv.gz
	mpi 4 "$B/examples/plain/kmeans" --clusters "$2" --iterations "$3" --threads 1 --output centres \
		"$points" >line || fail "$1: K-Means failed"
	node "$fixtures/oracle.mjs" "$modules" "$points" "$2" "$3" >oracle || fail "$1: ml-kmeans failed"
	printf '%s: ' "$1"
	"$fixtures/compare" centres line oracle || fail "$1: not what ml-kmeans finds"
}

check digits 10 20
check cities 16 10

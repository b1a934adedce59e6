#!/bin/bash
# SPDX-License-Identifier: MIT
#
# K-Means refuses what it cannot read with the file, the line, and what it expected and found: once, with
# status 1 on all ranks and without hanging; and wrong usage with status 2.
. testsuite/fixtures/examples/setup.sh

ranks= # none: without mpirun
expect() { # status message options...
	local status=$1 message=$2 found
	shift 2
	${ranks:+mpirun --allow-run-as-root --oversubscribe --quiet -n $ranks} \
		timeout 30 "$B/examples/plain/kmeans" --threads 1 "$@" >out 2>err </dev/null
	found=$?
	[ "$found" -eq "$status" ] || fail "$*: expected status $status, found $found: $(cat err)"
	[ "$(grep -cF -e "$message" err)" -eq 1 ] || fail "$*: expected once \"$message\", found: $(cat err)"
	[ ! -s out ] || fail "$*: expected nothing on stdout, found: $(cat out)"
}

refused() { # text-of-file message
	printf "$1" >points
	expect 1 "points$2" --clusters 2 points
}

refused '1,2\n3,x\n' ':2: expected a number in column 3, found "x"'
refused '1,2\n3,4k\n' ':2: expected a number in column 3, found "4k"'
refused '1 2\n\n# three:\n3 4 5\n' ':4: expected 2 numbers as in the first point, found 3'
refused '1,2\n3\n' ':2: expected 2 numbers as in the first point, found 1'
refused '1,2\n3,\n' ':2: expected a number behind the last comma, found the end of the line'
refused '1,2\n3,,4\n' ':2: expected a number in column 3, found ""'
refused '1,2\n3,nan\n' ':2: expected a finite number in column 3, found "nan"'
refused '1,2\n-inf,4\n' ':2: expected a finite number in column 1, found "-inf"'
refused '1,2\n3,1e999\n' ':2: expected a finite number in column 3, found "1e999"'
refused '1,2\n3,1e200\n' ':2: expected coordinates up to 1e+150, found 1e+200'
refused '1,2\n3,\0004\n5,6\n' ':2: expected text, found a NUL byte'
refused '' ': expected points, found none'
refused '# nothing\n\n' ':2: expected points, found none'
refused '1,2\n1,2\n' ': expected at least 2 distinct points for as many clusters, found 1'

gzip -c "$root/examples/data/digits.csv" | head -c 5000 >cut.gz
expect 1 'cut.gz:' --clusters 2 cut.gz
grep -q '^cut.gz:159: cannot read on: unexpected end of file$' err || fail "a cut gzip file: $(cat err)"
expect 1 'missing: No such file or directory' missing
expect 1 '.:1: cannot read on: Is a directory' .
printf '1,2\n3,4\n' >good
expect 1 'no/such/folder/out: No such file or directory' --clusters 2 --quiet --output no/such/folder/out good

expect 2 'which FILE?'
expect 2 'Too many arguments' good good
expect 2 '--clusters: expected a number from 1 to 1000000, found "0"' --clusters 0 good
expect 2 '--iterations: expected a number from 1 to 1000000, found "ten"' --iterations ten good
expect 2 '--threads: expected a number from 1 to 4096, found "0"' --threads 0 good
expect 2 '--imbalance: expected RANK:PERCENT with 0 to 10000 percent, found "1"' --imbalance 1 good
expect 2 '--imbalance: expected RANK:PERCENT with 0 to 10000 percent, found "1:-5"' --imbalance 1:-5 good
expect 2 '--imbalance: expected a rank from 0 to 0, found 1' --imbalance 1:50 good
expect 2 "unrecognized option '--sideways'" --sideways good

ranks=3
printf '1,2\n3,x\n' >points
expect 1 'points:2: expected a number in column 3, found "x"' --clusters 2 points
expect 2 '--imbalance: expected a rank from 0 to 2, found 3' --imbalance 3:50 good

mpi 2 "$B/examples/plain/kmeans" --help >out 2>err || fail "--help: status $?"
[ "$(grep -c '^Usage:' out)" -eq 1 ] && [ ! -s err ] || fail "--help: expected it once, on stdout"
echo "refused as expected"

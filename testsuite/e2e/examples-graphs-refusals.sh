#!/bin/bash
# SPDX-License-Identifier: MIT
#
# PageRank and connected components refuse what is no graph with the file, the line, and what they expected
# and found: once, with status 1 on all ranks and without hanging; and wrong usage with status 2.
. testsuite/fixtures/examples/setup.sh

program=plain/cc
ranks= # none: without mpirun
expect() { # status message options...
	local status=$1 message=$2 found
	shift 2
	${ranks:+mpirun --allow-run-as-root --oversubscribe --quiet -n $ranks} \
		timeout 30 "$B/examples/$program" "$@" >out 2>err </dev/null
	found=$?
	[ "$found" -eq "$status" ] || fail "$*: expected status $status, found $found: $(cat err)"
	[ "$(grep -cF -e "$message" err)" -eq 1 ] || fail "$*: expected once \"$message\", found: $(cat err)"
	[ ! -s out ] || fail "$*: expected nothing on stdout, found: $(cat out)"
}

refused() { # text-of-file message
	printf "$1" >edges
	expect 1 "edges$2" edges
}

id='expected the id of a node, 0 to 4294967295, in column'
refused '1\t2\n3\tx\n' ":2: $id 3, found \"x\""
refused '1 2\n3 4k\n' ":2: $id 3, found \"4k\""
refused '1 2\n\n# three:\n3\n' ":4: $id 2, found \"\""
refused '1 2\n3,4\n' ":2: $id 1, found \"3,4\""
refused '1 2\n3 -4\n' ":2: $id 3, found \"-4\""
refused '1 2\n 3 4294967296\n' ":2: $id 4, found \"4294967296\""
nines=9999999999999999999999999999999999999999
refused "1 2\n3 ${nines}999\n" ":2: $id 3, found \"$nines\""
refused '1 2\n3 1e3\n' ":2: $id 3, found \"1e3\""
refused '1 2\n3 4 5\n' ':2: expected two ids, found more in column 5'
refused '1 2\n3 \0004\n' ':2: expected text, found a NUL byte'
refused '' ': expected edges, found none'
refused '# nothing\n\n' ':2: expected edges, found none'

gzip -c "$root/examples/data/debian.txt" | head -c 5000 >cut.gz
expect 1 'cut.gz:' cut.gz
grep -qE '^cut.gz:[0-9]{4}: cannot read on: unexpected end of file$' err || fail "a cut gzip file: $(cat err)"
expect 1 'missing: No such file or directory' missing
printf '4294967295 0\n' >good
expect 1 'no/such/folder/out: No such file or directory' --quiet --output no/such/folder/out good

expect 2 'which FILE?'
expect 2 'Too many arguments' good good
expect 2 '--pace: expected a number from 0 to 1000000000, found "-1"' --pace -1 good
program=plain/pagerank
expect 2 '--damping: expected a number from 0 to 0.999999, found "1"' --damping 1 good
expect 2 '--damping: expected a number from 0 to 0.999999, found "nan"' --damping nan good

ranks=3
printf '1 2\n3 x\n' >edges
expect 1 'edges:2: expected the id' edges
mpi 3 "$B/examples/pagerank" -t 1 good | grep -q '^2 nodes, 1 edges, .* first is 0 ' || fail "more ranks than nodes"

program=rmat ranks=
expect 2 '--scale: expected a number from 1 to 31, found "32"' --scale 32
"$B/examples/rmat" 2>err >/dev/full && fail "rmat: a full disk is no error"
grep -q '^rmat: cannot write: No space left on device$' err || fail "rmat: $(cat err)"
echo "refused as expected"

#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Threads that are not always there: regions that some ranks never enter, late starts, early ends, and ends
# inside of something. Scores stay true, and the reader is told.
. testsuite/fixtures/analysis/setup.sh

# Only rank 0 ever writes, from 82 to 100 ms of 200; nobody waits then.
trace run <"$fixtures/iterations.txt"
expect 0 csp --json --work write run
says out '3 threads never work in \"write\": rank 1 thread 0'
expect 0 csp --json --wait MPI_Recv run
says out '3 threads never wait in \"MPI_Recv\"'
expect 0 query --work write run 'count(working) == 1'
says out '3 threads never work in'
says out " 9.000 %"

# Rank 3 begins with iteration 1: before that nobody is alone, and it is alone as before.
sed '/^e 3 5[0-9]*000000[0-9]* /d; /^e 3 60[0-9]* 0 exit/d; /^e 3 5999999/d' "$fixtures/iterations.txt" |
	awk '!(/^e 3/ && $3 < 610000000)' | trace late
expect 0 csp --json late
says out "1 thread began late or ended early: rank 3 thread 0 (50.1 %)"
tr -d ' \n' <out | grep -o '"rank":[0-3],"straggler_percent":{[^}]*}' >scores
grep -q '"rank":1,"straggler_percent":{"lo":0,' scores || fail "rank 1 cannot be alone: $(cat scores)"
grep -E '"rank":3,.*"lo":9.99[0-9]*,"hi":10.00' scores >/dev/null || fail "rank 3 is alone 10 %: $(cat scores)"

# Killed in the barrier: it may wait until the end. One that never reaches it is missing there.
sed '/^thread 0/s/$/ complete=0/' "$fixtures/iterations.txt" | awk '!(/^e 0/ && $3 >= 192000000)' | trace killed
expect 0 csp --json killed
says out "1 thread ended inside of something: rank 0 thread 0 in MPI_Barrier (app.c:20)"
awk '!(/^e 0/ && $3 >= 160000000)' "$fixtures/iterations.txt" | sed '/^thread 0/s/$/ complete=0/' | trace missing
expect 0 query --json missing 'rank 0 in body'
says out "1 thread ended inside of something: rank 0 thread 0 in body (app.c:12)"
expect 1 check missing
says out "group 1: expected each participant as often as the others (2), found rank 0, thread 0 less often (1)"
echo "as expected"

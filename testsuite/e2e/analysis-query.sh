#!/bin/bash
# SPDX-License-Identifier: MIT
#
# dprof-analyze query: the manual's examples give what is known of their trace, and what cannot be read is
# pointed at.
manual=$PWD/docs/dprof-query.7.scd
. testsuite/fixtures/analysis/setup.sh

trace run <"$fixtures/iterations.txt"

# The truth is inside, and the share is known to within 0.01 points.
examples=0
while IFS=$'\t' read -r percent condition; do
	[ "${percent:0:1}" != "#" ] || continue
	grep -qxF -- "$condition" "$manual" || fail "not in the manual: $condition"
	expect 0 query --json run "$condition"
	interval share_percent <out >share
	awk -v truth="$percent" '{ n++; if (!($1 <= truth && truth <= $2 && $2 - $1 < 0.01)) exit 1 } END { exit n != 1 }' share ||
		fail "$condition: expected $percent %, found $(cat share)"
	examples=$((examples + 1))
done <"$fixtures/queries"
[ "$examples" -ge 10 ] || fail "only $examples examples"

# The longest stretches say where everybody was.
expect 0 query run "count(barrier) == threads-1 and count(body) == 1"
says out "certain in 2 stretches"
says out "body (app.c:12)                rank 3"
says out "MPI_Barrier (app.c:20)         ranks 0-2"
expect 0 query run "thread 2.0 at barrier and not (ranks(waiting on rank 1) >= 1)"

# Errors: the caret stands below the place.
points_at() { # column text condition
	expect 2 query run "$3"
	says err "$2"
	[ "$(tail -1 err)" = "$(printf '  %*s^' "$1" '')" ] || fail "the caret is elsewhere: $(cat err)"
}
points_at 6 'found "barier": did you mean barrier?' 'count(barier) == 1'
points_at 6 'found "MPI_Barier": did you mean MPI_Barrier?' 'count(MPI_Barier) == 1'
points_at 17 'expected count(...)' 'count(barrier) =='
points_at 15 'expected "==", found "="' 'count(barrier) = 1'
points_at 0 'expected a condition' 'count(barrier) + 1'
points_at 23 'expected a condition' 'count(barrier) > 1 and 2'
points_at 0 'expected a number, found a condition' '(1 < 2) + 1 == 2'
points_at 5 'expected a rank from 0 to 3, found 7' 'rank 7 in body'
points_at 7 'expected a thread of rank 2, from 0 to 0, found 1' 'thread 2.1 in body'
points_at 22 'such as h1; found "h11"' 'count(barrier on host h11) == 1'
points_at 19 'expected an operator or the end, found ")"' 'count(barrier) == 1)'
points_at 6 "expected a closing '\"'" 'count("body) == 1'
points_at 0 'found the end' ''
points_at 20 'found "%"' 'count(barrier) == 1 % 2'
expect 2 query run
says err "expected a trace directory and a condition"
expect 2 query --region body run "count(body) == 0"
says err "query has no option --region"

# A word of the language that is a region's name as well: said.
sed 's/name=write/name=working/' "$fixtures/iterations.txt" | trace homonym
expect 0 query homonym 'count(working) == 0'
says out 'write "working" in double quotes'
expect 0 query homonym 'count("working") == 1'
says out "8.999 .. 9.000 %"

# A thread that was killed inside of something: said, and possible until the end of the run.
sed '/^thread 3/s/$/ complete=0/; /^e 3/{/690000002/,$d}' "$fixtures/iterations.txt" | trace killed
expect 1 query killed 'rank 3 in body'
says out "rank 3 thread 0 in"
echo "as expected"

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

# Lines fit where threads of many processes are at one place.
{
	echo 'dprof-text 1'
	echo 'clock 0 host=h ghz=1'
	for rank in 10001 10002 10003 10004 10005 10006; do
		echo "process $((rank - 10001)) rank=$rank size=20000 pid=$rank program=a job=1"
	done
	for thread in 0 1 2 3 4 5 6 7 8 9 10 11; do
		echo "thread $thread clock=0 rank=$((10001 + thread / 2)) process=$((thread / 2)) number=$((thread % 2)) name=a"
	done
	echo 'site 0 kind=region name=body file=a.c line=1 column=1 function=main'
	for thread in 0 1 2 3 4 5 6 7 8 9 10 11; do
		echo "e $thread 1000 0 enter"
		echo "e $thread 9000 0 exit"
	done
} | trace wide
"$analyze" query wide 'count(body) > 0' >out 2>err
fits_80 out || fail "lines are wide: $(cat out)"
says out 'threads 10001.0-10001.1, 10002.0-10002.1, ...'

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

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

# Threads of processes without ranks have the names that report and csp print: what is asked of one is its score.
team() { # process pid first: three threads, each works for 2 ms longer than the one before
	local i
	for i in 0 1 2; do
		echo "thread $(($3 + i)) clock=0 process=$1 number=$i"
	done
	for i in 0 1 2; do
		work $(($3 + i)) 0 1000 $((2000000 * (1 + $3 + i)))
		op $(($3 + i)) 1 $((2000000 * (1 + $3 + i))) 20000000
	done
}
{
	printf '%s\n' 'dprof-text 1' 'clock 0 host=h ghz=1' 'process 0 pid=5439 program=a job=1' 'site 0 kind=region name=body file=a.c line=1' \
		'site 1 kind=barrier name=GOMP_barrier file=a.c line=2'
	team 0 5439 0
} | trace team
{
	printf '%s\n' 'dprof-text 1' 'clock 0 host=h ghz=1' 'process 0 pid=5439 program=a job=1' 'process 1 pid=5440 program=a job=1' \
		'site 0 kind=region name=body file=a.c line=1' 'site 1 kind=barrier name=GOMP_barrier file=a.c line=2'
	team 0 5439 0
	team 1 5440 3
} | trace teams
expect 0 csp --json team
jq -c '.threads[] | select(.pid == 5439 and .thread == 2).straggler_percent' out >score
jq -e '.lo > 9.9 and .hi < 10.1' score >held || fail "thread 2 works alone for 10 %: $(cat score)"
for name in 'thread 5439.2' 'pid 5439 thread 2' 'thread 2'; do
	expect 0 query --json team "$name working and count(waiting) == threads-1"
	jq -c .share_percent out | cmp -s - score || fail "$name: the score is $(cat score), found $(jq -c .share_percent out)"
done
expect 0 query team "thread 5439.2 working and count(waiting) == threads-1"
says out "body (a.c:1)                   thread 5439.2"
expect 0 csp --json teams
jq -c '.threads[] | select(.pid == 5440 and .thread == 2).straggler_percent' out >score
for name in 'thread 5440.2' 'pid 5440 thread 2'; do
	expect 0 query --json teams "$name working and count(waiting) == threads-1"
	jq -c .share_percent out | cmp -s - score || fail "$name: the score is $(cat score), found $(jq -c .share_percent out)"
done
expect 0 query --json run 'rank 2 thread 0 at barrier'
mv out named
expect 0 query --json run 'thread 2.0 at barrier'
diff <(jq .holds_s named) <(jq .holds_s out) >differs || fail "a thread of a rank has two names, and they differ: $(cat differs)"

# Errors: the caret stands below the place.
points_at() { # column text condition [trace]
	expect 2 query "${4:-run}" "$3"
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
points_at 7 'expected thread RANK.N or thread PID.N, since this trace has several processes; found thread 2' 'thread 2 in body'
points_at 5 'expected a thread of rank 2, from 0 to 0, found 1' 'rank 2 thread 1 in body'
points_at 7 'expected thread PID.N, such as thread 5439.0, since no process of this trace has a rank; found 0.1' 'thread 0.1 in body' team
points_at 7 'expected a thread of pid 5439, from 0 to 2, found 3' 'thread 5439.3 in body' team
points_at 4 'expected a thread of pid 5439, from 0 to 2, found 3' 'pid 5439 thread 3 in body' team
points_at 4 'expected the pid of a process of this trace, found 0' 'pid 0 in body' team
points_at 7 'expected a thread, from 0 to 2, found 3' 'thread 3 in body' team
points_at 5 'expected pid N, since no process of this trace has a rank; found rank 0' 'rank 0 in body' team
points_at 22 'such as h1; found "h11"' 'count(barrier on host h11) == 1'
points_at 19 'expected an operator or the end, found ")"' 'count(barrier) == 1)'
points_at 6 "expected a closing '\"'" 'count("body) == 1'
points_at 0 'found the end' ''
points_at 20 'found "%"' 'count(barrier) == 1 % 2'
expect 2 query run
says err "expected a trace directory and a condition"
expect 2 query --region body run "count(body) == 0"
says err "query has no option --region"

# Where nothing was recorded, nothing is known of any condition; but whether it is one.
grep -v '^e' "$fixtures/iterations.txt" | trace unrecorded
expect 0 query unrecorded 'count(body) == 0'
[ "$(<out)" = "Nothing was recorded: nothing is known of the condition." ] || fail "nothing was recorded: $(cat out)"
expect 2 query unrecorded 'count(bodyy) == 0'

# A word of the language that is a region's name as well: said.
sed 's/name=write/name=working/' "$fixtures/iterations.txt" | trace homonym
expect 0 query homonym 'count(working) == 0'
says out 'write "working" in double quotes'
expect 0 query homonym 'count("working") == 1'
says out "9.000 ±0.001 %"

# A progress point has no time, whatever it is called by.
sed '$a site 99 kind=progress name=tick file=app.c line=99' "$fixtures/iterations.txt" | trace ticks
for place in tick progress '"app.c:99"'; do
	expect 0 query ticks "count($place) > 0"
	noted "is a progress point, which takes no time: no thread is ever in it"
done

# A thread that was killed inside of something: said, and possible until the end of the run.
sed '/^thread 3/s/$/ complete=0/; /^e 3/{/690000002/,$d}' "$fixtures/iterations.txt" | trace killed
expect 1 query killed 'rank 3 in body'
says out "rank 3 thread 0 in"

# Of an instance that is none it is said, and not of one that is.
expect 0 query run 'count(iteration[1]) > 0'
says_not out "no visit says"
# Any number may be one, also those that are less than 0.
sed '/^e /s/ id=1$/ id=18446744073709551615/' "$fixtures/iterations.txt" | trace negative
expect 0 query --json negative 'count(iteration[-1]) > 0'
jq .holds_s out >found
expect 0 query --json run 'count(iteration[1]) > 0'
jq .holds_s out | diff found - >differs || fail "instance -1: $(cat differs)"
expect 0 csp --json --instances iteration negative
jq -e '.by_instance | (.instances | map(.instance) | sort) == [-1, 0] and (.counted | not)' out >is || fail "instance -1: $(jq -c .by_instance out)"
points_at 17 'expected the number of an instance, found "]"' 'count(iteration[-]) > 0'
expect 0 query run 'count(iteration[7]) > 0 or count(body[1]) > 0'
noted "[7]: no visit says that it is this instance."
noted "[1]: no visit says that it is this instance."
expect 0 query --json run 'count(iteration[7]) > 0'
jq -e '.holds_s.hi == 0 and (.remarks | length == 1)' out >is || fail "remarks: $(cat out)"
echo "as expected"

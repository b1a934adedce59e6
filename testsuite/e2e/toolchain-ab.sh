#!/bin/bash
# SPDX-License-Identifier: MIT
#
# dprof-ab runs two programs in turn and finds the one that was changed; it says what it was not given, what failed and what did
# not record, and never writes to what is there.
. testsuite/fixtures/analysis/setup.sh

ab=$B/bin/dprof-ab
cat >sleeps.c <<-END
	#include <stdlib.h>
	#include <unistd.h>
	int main(int n, char **words)
	{
		for (int i = 0; i < 3; i++) {
			#pragma dprof region(nap)
			usleep(1000u * (unsigned)atoi(words[n - 1]));
		}
		return 0;
	}
END
"$B/bin/dprof-cc" -O2 -o sleeps sleeps.c 2>err || fail "$(cat err)"
"$ab" -n 5 -o ab -- ./sleeps 100 -- ./sleeps 30 >out 2>err || fail "dprof-ab: $(cat out err)"
says out 'less time than A'
"$ab" -h >out && fits_80 out || fail "its help is wider than 80 columns"
[ "$(ls ab/a | wc -l) $(ls ab/b | wc -l)" = "5 5" ] || fail "expected five traces of each: $(ls ab/*)"
"$ab" -g -n 5 -o ab-slower -- ./sleeps 30 -- ./sleeps 100 >out 2>err
[ $? -eq 3 ] || fail "dprof-ab -g: expected status 3: $(cat out err)"
for words in "-o ab -- ./sleeps 1 -- ./sleeps 1" "-n 0 -- a -- b" "-n 201 -- true -- true" "-- ./sleeps 1" "./sleeps" "-n" "-- a -- b -- c"; do
	# shellcheck disable=SC2086
	"$ab" $words >out 2>err
	[ $? -eq 2 ] || fail "dprof-ab $words: expected status 2: $(cat out err)"
done
"$ab" -o nothing -- true -- true >out 2>err
[ $? -eq 1 ] && says err 'left no trace' || fail "a program without dprof: $(cat out err)"
# shellcheck disable=SC2016
"$ab" -n 1 -o several -- bash -c './sleeps 1; ./sleeps 1' -- ./sleeps 1 >out 2>err
[ $? -eq 1 ] && says err "left 2 traces in $PWD/several/a: expected one of each run" || fail "two programs: $(cat out err)"
"$ab" -n 1 -o one -- bash -c 'DPROF_OFF=1 ./sleeps 1; ./sleeps 1' -- ./sleeps 1 >out 2>err || fail "DPROF_OFF=1: $(cat out err)"
"$ab" -o broken -- false -- false >out 2>err
[ $? -eq 1 ] && says err 'ended with status 1' || fail "a program that fails: $(cat out err)"
exit $failed

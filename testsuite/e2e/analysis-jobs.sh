#!/bin/bash
# SPDX-License-Identifier: MIT
#
# --jobs changes no byte: not of an answer, not of what is said of damage, not with few file descriptors. And it runs on
# several threads.
. testsuite/fixtures/analysis/setup.sh

. "$OLDPWD/testsuite/fixtures/analysis/answers.sh"

damaged=0 jobs=7
for kind in $kinds; do
	answers $kind --jobs 1 >truth
	grep -q '^status 2' truth && fail "$kind: a command was refused: $(cat truth)"
	damaged=$((damaged + $(grep -c '^status 1' truth)))
	jobs=$((9 - jobs)) # 2 and 7 in turns, of whole traces and of damaged ones
	answers $kind --jobs $jobs >out
	cmp -s out truth || fail "$kind: --jobs $jobs changes this: $(diff truth out | head -20)"
done
[ "$damaged" -ge 27 ] || fail "of three damaged traces only $damaged answers say so"

answers many --jobs 10000 >out
answers many --jobs 1 >truth
cmp -s out truth || fail "--jobs 10000 changes this: $(diff truth out | head -20)"
answers many >out
cmp -s out truth || fail "without --jobs this is another answer: $(diff truth out | head -20)"

# Few descriptors are enough for few readers.
"$analyze" csp --json --jobs 1 many >truth || fail "no answer"
(ulimit -n 16 && exec "$analyze" csp --json --jobs 7 many) >out 2>err || fail "with 16 descriptors: $(cat err)"
cmp -s out truth || fail "with 16 descriptors the answer is another one"

for jobs in 0 -1 '' x 2x 1.5; do
	"$analyze" csp --jobs "$jobs" many >out 2>err
	[ $? -eq 2 ] || fail "--jobs '$jobs' is not refused"
	says err "--jobs: expected a number from 1 on, found '$jobs'"
done

#!/bin/bash
# SPDX-License-Identifier: MIT
#
# testsuite-sabotage.sh - each row of testsuite/sabotage still fits the source: the text that it replaces is there, and
# so are the tests that must fail. (That they do fail, `make sabotage` shows; it takes too long to be part of this.)
. testsuite/lib.sh

rows=0
for list in testsuite/sabotage/*; do
	[ "$list" != testsuite/sabotage/run ] || continue
	while IFS='~' read -r file from to tests what; do
		rows=$((rows + 1))
		[ "$from" != "$to" ] && [ -n "$what" ] || fail "$list: a row that breaks nothing: $file ~ $from"
		TEXT=$from awk 'BEGIN { RS = "\001" } { found = index($0, ENVIRON["TEXT"]) } END { exit !found }' "$file" ||
			fail "$list: $file has no such text: $from"
		for test in $tests; do
			[ "$test" = truth-clocks ] || [ -f "testsuite/unit/$test.c" ] || [ -f "testsuite/e2e/$test.sh" ] ||
				fail "$list: there is no test $test"
		done
	done <"$list"
done
[ "$rows" -gt 100 ] || fail "expected more than 100 rows, found $rows"
exit $failed

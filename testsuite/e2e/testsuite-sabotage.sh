#!/bin/bash
# SPDX-License-Identifier: MIT
#
# testsuite-sabotage.sh - each row of testsuite/sabotage still fits the source: the text that it replaces is there, and
# so are the tests that must fail. (That they do fail, `make sabotage` shows; it takes too long to be part of this.)
. testsuite/lib.sh

lists=()
for list in testsuite/sabotage/*; do
	[ "$list" = testsuite/sabotage/run ] || lists+=("$list")
done
printf '%s\n' truth-clocks testsuite/unit/*.c testsuite/e2e/*.sh | awk -F '~' '
	function content(file) { # whole
		if (!(file in is)) {
			RS = "\001"
			getline is[file] <file
			RS = "\n"
		}
		return is[file]
	}
	FILENAME == "-" || FILENAME == "" { sub(/.*\//, ""); sub(/\.(c|sh)$/, ""); known[$0]; next }
	{ rows++ }
	$2 == $3 || $5 == "" { print FILENAME ": a row that breaks nothing: " $1 " ~ " $2 }
	!index(content($1), $2) { print FILENAME ": " $1 " has no such text: " $2 }
	{
		n = split($4, tests, " ")
		for (i = 1; i <= n; i++)
			if (!(tests[i] in known))
				print FILENAME ": there is no test " tests[i]
	}
	END { if (rows <= 100) print "expected more than 100 rows, found " rows + 0 }' - "${lists[@]}" >"$dir/wrong" || fail "awk"
[ ! -s "$dir/wrong" ] || fail "$(cat "$dir/wrong")"
exit $failed

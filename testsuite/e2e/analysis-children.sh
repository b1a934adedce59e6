#!/bin/bash
# SPDX-License-Identifier: MIT
#
# A straggler that was forked has another pid in the next run: so it is said which of the children it is.
. testsuite/fixtures/analysis/setup.sh
export DPROF_DIR=$tmp DPROF_QUIET=1
"$B/bin/dprof-cc" -O2 "$fixtures/children.c" -o children || fail "children.c does not compile"
./children || fail "children: status $?"
"$analyze" csp dprof-* 2>err | tr '\n' ' ' >out
grep -Eq '(Look at|Undecided:) pid [0-9]+ \(the 2nd of 3 forked children, by pid\)[: ]' out ||
	fail "the second child straggles: $(cat out err)"

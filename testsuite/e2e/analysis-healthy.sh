#!/bin/bash
# SPDX-License-Identifier: MIT
#
# A program that ends, or forks, in the middle of a region or of a team, or cancels one, or has its threads end, is healthy:
# nothing is damaged, for any command.
. testsuite/fixtures/analysis/setup.sh
at_once=
export DPROF_DIR=$tmp DPROF_QUIET=1 OMP_CANCELLATION=true

healthy() { # NAME COMMAND...
	local name=$1
	shift
	"$analyze" "$1" dprof-* "${@:2}" >out 2>err || fail "$name: $*: exit status $?: $(cat out err)"
	[ ! -s err ] || fail "$name: $*: $(cat err)"
	grep -q 'Damaged' out && fail "$name: $*: $(cat out)"
}

# Whether the parent waits for its child for most of the run, and no machine may have stopped one of them: else nothing is proved.
is_clear() {
	"$analyze" csp dprof-* | tr -s ' \n' ' ' | grep -q 'dprof does not know in what' && return 1
	is_true "$alone > 0.6 * $(interval span_s <json | cut -d' ' -f1)"
}

# A child works in what its parent was in when it forked, and leaves that. It keeps its parent waiting for its 20 ms, or as much of
# them as that waits, of however long a run on a busy machine.
forked() { # NAME
	local from to since alone try
	for try in 1 2 3 4 5 6; do
		[ $try = 1 ] || { rm -rf dprof-* && ./healthy fork >said; } || fail "$1: exit status $?"
		read -r from to since <said
		alone=$(awk "BEGIN { print $to - ($from > $since ? $from : $since) }")
		"$analyze" csp --json dprof-* >json || fail "$1: csp: exit status $?"
		jq -e "[.ranks[].alone_s.hi] | max >= $alone - 0.001" json >held || fail "$1: the child is alone for $alone s: $(cat json)"
		is_clear && break
	done
	! is_clear || jq -e "any(.ranks[]; .verdict == \"proved\" and .alone_s.lo >= $alone / 2)" json >held ||
		fail "$1: the child is alone for $alone s, and not proved: $(cat json)"
	"$analyze" query dprof-* 'count(outer) == 2' --json | interval holds_s >out
	read -r lo hi <out
	is_true "${lo:-0} > 0.01 && ${hi:-9} < 9" || fail "$1: parent and child are in outer for 20 ms: $(cat out)"
}

for auto in '' -fplugin-arg-dprof-auto=functions; do
	# shellcheck disable=SC2086
	"$B/bin/dprof-cc" -O1 -fopenmp -pthread $auto "$fixtures/healthy.c" -o healthy || fail "healthy.c does not compile"
	for way in pthread_exit exit team cancel pause fork fork-exit fork-thread; do
		rm -rf dprof-*
		./healthy $way >said || fail "$way: exit status $?"
		for command in check csp report coz; do
			healthy "$way $auto" $command
		done
		healthy "$way $auto" query 'count(step) >= 1'
		[ $way = fork ] && forked "$way $auto"
	done
done
exit $failed

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

# A child works in what its parent was in when it forked, and leaves that. It keeps its parent waiting for its 20 ms, of however
# long a run on a busy machine.
forked() { # NAME
	for _ in 1 2 3 4 5 6; do # nothing is proved where a machine may have stopped one of them
		"$analyze" csp dprof-* | tr -s ' \n' ' ' | grep -q 'dprof does not know in what' || break
		rm -rf dprof-*
		./healthy fork || fail "$1: exit status $?"
	done
	"$analyze" csp --json dprof-* | tr -d '"{},:' | awk '
		$1 == "ranks" { ranks = 1 }
		ranks && $1 == "alone_s" { lo = $3 }
		ranks && $1 == "verdict" { best = best || (lo > 0.01 && $2 == "proved") }
		END { exit !best }' || fail "$1: no child is proved: $("$analyze" csp dprof-*)"
	"$analyze" query dprof-* 'count(outer) == 2' --json | interval holds_s >out
	read -r lo hi <out
	is_true "${lo:-0} > 0.01 && ${hi:-9} < 9" || fail "$1: parent and child are in outer for 20 ms: $(cat out)"
}

for auto in '' -fplugin-arg-dprof-auto=functions; do
	# shellcheck disable=SC2086
	"$B/bin/dprof-cc" -O1 -fopenmp -pthread $auto "$fixtures/healthy.c" -o healthy || fail "healthy.c does not compile"
	for way in pthread_exit exit team cancel pause fork fork-exit fork-thread; do
		rm -rf dprof-*
		./healthy $way || fail "$way: exit status $?"
		for command in check csp report coz; do
			healthy "$way $auto" $command
		done
		healthy "$way $auto" query 'count(step) >= 1'
		[ $way = fork ] && forked "$way $auto"
	done
done
exit $failed

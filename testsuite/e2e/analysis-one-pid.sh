#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Processes of one job may have one process id: the kernel gives numbers again, and each namespace counts from 1. All are in one
# trace, and who waited for one of them waited for that one, or for whom is not known.
fixtures=$PWD/testsuite/fixtures/analysis
. testsuite/fixtures/analysis/setup.sh
at_once=
export DPROF_QUIET=1
cd "$dir" || exit 1
"$B/bin/dprof-cc" -O1 -Wall -Wextra -Werror "$fixtures/one-pid.c" -o one-pid || exit 1
if ! unshare -pf --mount-proc true 2>/dev/null; then
	echo "skipped: namespaces of process ids can be made by root only"
	exit 77
fi

while read -r way processes least command; do
	mkdir $way && DPROF_DIR=$way $command ./one-pid $way || fail "$way: exit status $?"
	[ "$(ls $way | wc -l)" = 1 ] || fail "$way: expected one trace, found $(ls $way)"
	"$analyze" check $way/* >out 2>&1 || fail "$way: $(cat out)"
	[ "$(ls $way/*/*.process | wc -l)" = $processes ] || fail "$way: expected $processes processes, found $(ls $way/*/*.process)"
	"$analyze" --json coz --region X --reduce 100 $way/* >coz 2>&1
	read -r lo hi <<<"$(interval speedup_percent <coz)"
	# It is nearly all of a run that nobody disturbs; half of one that takes twice as long.
	is_true "$lo >= $least && $hi >= 50" ||
		fail "$way: X without its time: expected $least .. 50 % and more to be proved, found $lo .. $hi"
	"$analyze" dump $way/* | "$analyze" pack - $way.packed || fail "$way: the text is refused"
	"$analyze" --json coz --region X --reduce 100 $way.packed >packed 2>&1
	[ "$(interval speedup_percent <packed)" = "$lo $hi" ] ||
		fail "$way: expected $lo .. $hi behind dump and pack, found $(interval speedup_percent <packed)"
done <<-'END'
	spaces 5 50
	again 3 50 unshare -pf --mount-proc
	nested 7 0
END
# Where there are no ranks, data says of which process it is.
"$analyze" --json report spaces/* >report 2>&1
jq -e '[.regions[], .machine[], .ranks[]] | length > 5 and all(.pid > 0)' report >/dev/null || fail "regions, machine or ranks without pid: $(cat report)"
"$analyze" --json query spaces/* 'count(X) >= 1' >query 2>&1
jq -e '[.longest[].places[].threads[]] | length > 1 and all(.pid > 0)' query >/dev/null || fail "longest frames without pid: $(cat query)"
[ "$failed" = 0 ] && echo "as expected"
exit "$failed"

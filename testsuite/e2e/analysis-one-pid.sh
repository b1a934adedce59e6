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

saved() { # trace: what coz proves for X without its time, in percent
	"$analyze" --json coz --region X --reduce 100 "$1" >coz 2>&1
	interval speedup_percent <coz
}

# X is nearly all of a run, unless its process had to wait for a core, or who waits for it did.
once() { # way, processes, least command: false if X is less than half of the run
	rm -rf $way $way.packed
	mkdir $way && DPROF_DIR=$way $4 ./one-pid $way || fail "$way: exit status $?"
	[ "$(ls $way | wc -l)" = 1 ] || fail "$way: expected one trace, found $(ls $way)"
	"$analyze" check $way/* >out 2>&1 || fail "$way: $(cat out)"
	[ "$(ls $way/*/*.process | wc -l)" = $2 ] || fail "$way: expected $2 processes, found $(ls $way/*/*.process)"
	read -r lo hi <<<"$(saved $way/*)"
	"$analyze" dump $way/* | "$analyze" pack - $way.packed || fail "$way: the text is refused"
	[ "$(saved $way.packed)" = "$lo $hi" ] || fail "$way: expected $lo .. $hi behind dump and pack, found $(saved $way.packed)"
	is_true "$lo >= $3 && $hi >= 50"
}

while read -r way processes least command; do
	one_of_six once $way $processes $least "$command" ||
		fail "$way: X without its time: expected $least .. 50 % and more to be proved, found $lo .. $hi"
done <<-'END'
	spaces 5 50
	again 3 50 unshare -pf --mount-proc
	nested 7 -1e9
END
# (Where it is not known for which child one waits, that may be longer in another run.)
# Where there are no ranks, data says of which process it is.
"$analyze" --json report spaces/* >report 2>&1
jq -e '[.regions[], .machine[], .ranks[]] | length > 5 and all(.pid > 0)' report >/dev/null ||
	fail "regions, machine or ranks without pid: $(cat report)"
"$analyze" --json query spaces/* 'count(X) >= 1' >query 2>&1
jq -e '[.longest[].places[].threads[]] | length > 1 and all(.pid > 0)' query >/dev/null ||
	fail "longest frames without pid: $(cat query)"

# Two processes have a child with pid 2 each, in namespaces of their own; that of the first begins last. So Y, before
# which the other one did not fork, is nothing that it waits for, and it is not surely in B, in which that one forked.
cat >two.txt <<'END'
dprof-text 1
clock 0 host=h0 ghz=1
process 0 clock=0 pid=10 started=100
process 1 clock=0 pid=20 started=100
process 2 clock=0 pid=2 started=5000 forked=1 parent=0
process 3 clock=0 pid=2 started=4000 forked=1 parent=1
thread 0 clock=0 process=0 number=0
thread 1 clock=0 process=1 number=0
thread 2 clock=0 process=2 number=0 jumps=0 ran_on=1 ended=9000
thread 3 clock=0 process=3 number=0 jumps=0 ran_on=1 ended=4500
site 0 kind=region name=A file=x.c line=1
site 1 kind=region name=B file=x.c line=2
site 2 kind=region name=X file=x.c line=3
site 3 kind=fork name=fork file=x.c line=4
site 4 kind=region name=Y file=x.c line=5
e 0 100 0 enter
e 0 1000 3 enter process=2
e 0 1100 3 exit process=2
e 0 1100 0 exit
e 1 100 4 enter
e 1 2900 4 exit
e 1 2950 1 enter
e 1 3000 3 enter process=2
e 1 3100 3 exit process=2
e 1 3100 1 exit
e 2 5000 2 enter
e 2 9000 2 exit
e 3 4000 2 enter
e 3 4500 2 exit
END
trace two <two.txt
expect 1 check two
says out "pid 2: expected one process that forked it, found several, in different regions"
grep -v '^e [01] [0-9]* [01] ' two.txt | trace outside # of A and B
expect 0 coz --region Y --reduce 100 --json outside
read -r lo hi <<<"$(interval speedup_percent <out)"
is_true "$lo <= 0 && $hi >= 0" || fail "outside: Y saves nothing, and $lo .. $hi are proved"
"$analyze" profile --json two >profile 2>err
jq -e '[.flat[] | select(.name == "B")][0].inclusive_s | .lo < 0.66e-6 and (.hi == null or .hi > 0.64e-6)' profile >held ||
	fail "two: expected 0.65 us in B, with the child that was forked in it: $(jq -c '[.flat[] | select(.name == "B")]' profile)"
[ "$failed" = 0 ] && echo "as expected"
exit "$failed"

#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What a jump left without an exit makes no time wide in which the thread was elsewhere for certain: of what ended
# before that, or began behind it, the profile is exact; only what was left, and what is around it, may have had the
# time in which neither is known.
. testsuite/lib.sh
cd "$dir" || exit 1
"$analyze" pack - made <<'T' || fail "pack"
dprof-text 1
clock 0 host=h ghz=1
process 0 pid=1 program=made job=1
thread 0 clock=0 process=0 number=0
site 0 kind=region name=all file=a.c line=1
site 1 kind=region name=before file=a.c line=2
site 2 kind=region name=left file=a.c line=3
site 3 kind=region name=after file=a.c line=4
site 4 kind=barrier name=barrier file=a.c line=5
group 1 threads=0
e 0 1000000 0 enter
e 0 2000000 1 enter
e 0 42000000 1 exit
e 0 50000000 2 enter
e 0 100000000 3 enter
e 0 150000000 3 exit
e 0 150000000 1 enter
e 0 190000000 1 exit
e 0 200000000 4 enter group=1 seq=0
e 0 210000000 4 exit group=1 seq=0
e 0 220000000 0 exit
T
"$analyze" profile --json made >json 2>err # that it is left is damage: the text form has no thread that may have jumped
[ -s json ] || fail "profile: $(cat err)"
took() { # NAME KEY LO HI: milliseconds
	jq -e "[.flat[] | select(.name == \"$1\").$2][0] | (.lo * 1000 - $3 | fabs) < 0.01 and (.hi * 1000 - $4 | fabs) < 0.01" json >held ||
		fail "$1: expected $2 $3 .. $4 ms, found $(jq -c ".flat[] | select(.name == \"$1\").$2" json)"
}
took before exclusive_s 80 80
took before inclusive_s 80 80
took after exclusive_s 50 50
took after waiting_s 0 0
took barrier inclusive_s 10 10
took barrier waiting_s 0 10
took left exclusive_s 0 70
took left inclusive_s 0 170
took all exclusive_s 9 79
took all inclusive_s 219 219
exit $failed

#!/bin/bash
# SPDX-License-Identifier: MIT
#
# A trace of twice as many processes, each on a host of its own and with a thread whose file is missing, takes twice as
# long to open, and not four times: by instructions, which are the same in every run. And it needs little memory.
. testsuite/fixtures/analysis/setup.sh

many() { # processes
	awk -v n="$1" 'BEGIN {
		print "dprof-text 1"
		for (i = 0; i < n; i++) printf "clock %d host=h%d ghz=1\n", i, i
		for (i = 0; i < 2 * n; i++) printf "thread %d clock=%d rank=%d number=%d\n", i, i / 2, i / 2, i % 2
		for (i = 0; i < n; i++) printf "group %d threads=%d,%d\n", i + 1, 2 * i, 2 * i + 1
		print "site 0 kind=barrier name=b"
		for (i = 0; i < 2 * n; i++) printf "e %d 1000 0 enter group=%d seq=0\ne %d 2000 0 exit\n", i, i / 2 + 1, i
	}' | trace "many-$1"
	for file in "many-$1"/*-1.events; do
		case $file in *[05]-1.events) rm "$file" ;; esac
	done
}
instructions() { # trace
	valgrind --tool=callgrind --callgrind-out-file=/dev/null "$analyze" check "$1" 2>&1 >/dev/null |
		sed -n 's/.*I *refs: *//p' | tr -d ,
}
many 400
many 800
few=$(instructions many-400) more=$(instructions many-800)
is_true "${few:-0} > 0 && $more < 2.4 * $few" || fail "400 processes take $few instructions, 800 take $more"

# Of very many ranks that are missing the first stand for all, and all are counted.
sed '$d' <<-END | trace gone
	dprof-text 1
	clock 0 host=h0 ghz=1
	process 0 rank=0 size=5000 pid=1
	process 1 rank=7 size=5000 pid=2
	thread 0 clock=0 rank=0 process=0 number=0
	thread 1 clock=0 rank=7 process=1 number=0
	site 0 kind=region name=a file=x.c line=1
	e 0 1000 0 enter
	e 0 2000 0 exit
	e 1 1000 0 enter
	e 1 3000 0 exit
	-
END
expect 1 report gone
says out '5000 ranks on 1 host'
expect 1 check gone
says out '1 host, 5000 processes, at least 5000 threads'
expect 1 efficiency gone
says out 'Left out: at least 4998 threads without any event'
for command in check report; do
	expect 1 $command --json gone
	[ "$(jq .processes out)" = 5000 ] || fail "$command counts $(jq .processes out) processes"
done

# What ids of words say is kept of one process at a time.
if [ -z "${SAN:-}" ]; then
	(ulimit -d 40000 && exec "$analyze" check many-800) >out 2>err
	says out "800 processes"
	says_not err "out of memory"
fi

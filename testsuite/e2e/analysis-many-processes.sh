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

# What ids of words say is kept of one process at a time.
if [ -z "${SAN:-}" ]; then
	(ulimit -d 40000 && exec "$analyze" check many-800) >out 2>err
	says out "800 processes"
	says_not err "out of memory"
fi

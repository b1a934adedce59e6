#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Threads that are in calls of the C library when their process ends: that they wait there, or sleep, is in the trace, though such
# a call is recorded when it is over; not so of one with a time limit, or that is over. So it is known that all wait for the one
# that works.
fixtures=$PWD/testsuite/fixtures/runtime
. testsuite/lib.sh
cd "$dir" || exit 1
"$B/bin/dprof-cc" -O2 -pthread -Wall -Wextra -Werror "$fixtures/open-calls.c" -o open-calls || exit 1
export DPROF_QUIET=1 DPROF_BLOCKED_NS=20000000

last_events() { # of each thread but main
	awk '$1 == "site" { name[$2] = $4 " " $5; gsub(/name=|file=.*\//, "", name[$2]) }
		$1 == "e" { last[$2] = $5 " " name[$4] } END { for (t in last) if (t > 0) print last[t] }' text | sort
}
threads() { "$analyze" csp --json dprof-* | jq -r ".threads[] | select(.routine | test(\"^$1 \")) | $2"; }

for more in "" usleep works_on limit; do
	rm -rf dprof-* again
	./open-calls $more || fail "$more: exit status $?"
	{ printf 'enter %s open-calls.c\n' poll read sigwaitinfo
	  case $more in usleep | works_on) echo "enter $more open-calls.c" ;; limit) echo "enter polls open-calls.c" ;; esac
	  echo "exit write open-calls.c"; } | sort >expected
	"$analyze" dump dprof-* >text
	last_events | diff expected - >differ || fail "$more: $(cat differ)"
	grep -q "^thread 0 .* ran_on=2" text || fail "$more: it is not known that the first thread has ended the process"
	"$analyze" check dprof-* >said 2>&1 || fail "$more: $(cat said)"
	"$analyze" pack text again && "$analyze" dump again | diff text - >differ || fail "$more: its text is another one's: $(cat differ)"
	is_true "$(threads reads .waiting_s.lo) > 0.3" || fail "$more: who reads waits for $(threads reads .waiting_s)"
	[ "$more" ] || is_true "$(threads works .straggler_percent.hi) > 50" ||
		fail "who works has the score $(threads works .straggler_percent)"
	[ "$more" = limit ] || is_true "$(threads "(reads|polls|awaits_signal)" .straggler_percent.hi | sort -g | tail -1) < 25" ||
		fail "who waits has the score $(threads "(reads|polls|awaits_signal)" .straggler_percent)"
done
# What is not to be recorded is not recorded then either.
rm -rf dprof-*
DPROF_EVENTS=-wait,-sleep ./open-calls usleep || fail "without waits: exit status $?"
"$analyze" dump dprof-* | awk '$1 == "site" { kind[$2] = $3 } $1 == "e" && kind[$4] ~ /wait|sleep/' >found
[ ! -s found ] || fail "without waits and sleeps: $(cat found)"
[ "$failed" = 0 ] && echo "as expected"
exit "$failed"

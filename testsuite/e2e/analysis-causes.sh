#!/bin/bash
# SPDX-License-Identifier: MIT
#
# check says which waits and which begins of threads have no cause in the trace, where, how often and who was first; and
# that all waited meanwhile. None of that is damage. Of a program that waits in many ways all causes are there, and a
# time that is over is one.
from=$PWD/testsuite/fixtures/analysis
. testsuite/lib.sh
export PKG_CONFIG_PATH=$B/lib/pkgconfig
cd "$dir" || exit 1

# The violations: property, place, how often, whose was the first (rank, or process, and thread).
violations() {
	jq -c '.causes.violations[] | [.property, .name // "-", .site // "-", .count, .rank, .thread]' json
}

checked() { # what [status]; what is expected comes from standard input
	cat >expected
	"$analyze" check --json dprof-* >json
	[ $? -eq "${2:-0}" ] || fail "$1: expected exit status ${2:-0}"
	violations | diff - expected >differs || fail "$1: $(cat differs)"
	"$analyze" check dprof-* >page
	fits_80 page 'dprof-[^ ]*: (fine:|[0-9]+ problem)|expected|: [0-9]+ times?, first' || fail "$1: too wide: $(cat page)"
}

text() { # lines of a trace
	rm -rf dprof-*
	printf '%s\n%b\n' 'dprof-text 1
clock 0 host=h0 ghz=1
thread 0 clock=0 rank=0
thread 1 clock=0 rank=1
group 1 threads=0,1
site 0 kind=region name=a file=x.c line=1
site 1 kind=recv name=MPI_Recv file=x.c line=2
site 2 kind=send name=MPI_Send file=x.c line=5
site 3 kind=barrier name=MPI_Barrier file=x.c line=9' "$1" | "$analyze" pack - dprof-text || fail "pack $1"
}

# ---- Text
text 'e 0 10 2 enter group=1 peer=1 tag=1\ne 0 20 2 exit\ne 1 5 1 enter group=1 peer=0 tag=1\ne 1 30 1 exit'
checked 'a message' </dev/null
grep -qx 'All 2 waits and begins of threads have a cause in the trace\.' page || fail "a message: $(cat page)"

# Rank 0 works until 40000, and then waits until 90000; rank 1 waits from 10000 to 70000, and from 80000 until it ends.
text 'e 0 0 0 enter\ne 0 40000 0 exit\ne 0 40000 1 enter group=1 peer=1 tag=1\ne 0 90000 1 exit
e 1 10000 1 enter group=1 peer=0 tag=1\ne 1 70000 1 exit\ne 1 80000 1 enter group=1 peer=0 tag=1\ne 1 85000 1 exit'
checked 'messages that nobody sent' <<'END'
["wait_state_termination","MPI_Recv","x.c:2",3,1,0]
["communication_existence","MPI_Recv","x.c:2",2,1,0]
END
jq -e '.causes | .known and .waits == 3 and .missing == 3 and
	(.all_waited_s | .lo > 0.0000399 and .hi < 0.0000401) and
	(.violations[0].first_s | .lo > 0.0000699 and .hi < 0.0000701) and
	(.violations[0].seconds | .lo > 0.0001149 and .hi < 0.0001151)' json >is || fail "messages that nobody sent: $(cat json)"
grep -q '^ *3 ended by none  *MPI_Recv (x.c:2)$' page || fail "the row: $(cat page)"
grep -q '^ *first rank 1, over at 0\.000070' page || fail "the first: $(cat page)"
grep -q '^For 0\.000040 .* s all threads waited' page || fail "a standstill: $(cat page)"

# Sleeps that follow each other are one wait, perhaps: that is said in words of their own.
text "site 4 kind=sleep name=usleep file=x.c line=7
$(awk 'BEGIN { for (t = 0; t < 50000; t += 10000) printf "e 0 %d 4 enter\ne 0 %d 4 exit\n", t, t + 9900 }')"
checked 'sleeps' <<'END'
["wait_state_termination","usleep","x.c:7",1,0,0]
END
grep -q '^1 of 1 waits and begins of threads has no cause' page || fail "sleeps: $(cat page)"
grep -q '^ *1 slept again  *usleep (x.c:7)$' page || fail "the row of sleeps: $(cat page)"
grep -q '^What slept again and again' page || fail "sleeps, explained: $(cat page)"

# Threads of a process that nobody made; the first thread of each may have been begun from outside.
text 'thread 2 clock=0 rank=1\ne 0 10 0 enter\ne 0 20 0 exit\ne 1 30 0 enter\ne 1 40 0 exit\ne 2 35 0 enter\ne 2 38 0 exit'
checked 'a thread' <<'END'
["minimum_in_degree","-","-",1,1,1]
END

# Each rank sends only when it has received what the other one sends then: that is no order in which anything happens.
text 'e 0 2000 1 enter group=1 peer=1 tag=1\ne 0 3000 1 exit\ne 0 3100 2 enter group=1 peer=1 tag=2\ne 0 3200 2 exit
e 1 2000 1 enter group=1 peer=0 tag=2\ne 1 3000 1 exit\ne 1 3100 2 enter group=1 peer=0 tag=1\ne 1 3200 2 exit'
checked 'a circle' 1 <<'END'
["wait_state_termination","MPI_Recv","x.c:2",2,0,0]
["communication_existence","MPI_Recv","x.c:2",1,1,0]
END
grep -q '^a wait was over before what ended it: of that nothing is known: 2 times, first rank 0 thread 0' page ||
	fail "a circle: $(cat page)"
for command in waits path efficiency profile; do
	"$analyze" $command --json dprof-text >out 2>err
	[ $? = 1 ] && grep -q 'a wait was over before what ended it: of that nothing is known: 2 times' err ||
		fail "a circle: $command: $(cat err)"
	jq -e '[.. | objects | select(has("lo") and has("hi") and .hi != null) | .lo <= .hi] | all' out >is ||
		fail "a circle: $command has an interval without a number in it: $(cat out)"
	[ $command != waits ] || jq -e '.waits == [] and .unknown == 2' out >is || fail "a circle: waits knows who waited: $(cat out)"
done

# What check calls fine all others do, too, and what it does not they do not: what is missing may never have been recorded.
agree() { # what [status]
	local command
	for command in check report coz path waits efficiency profile diagnose; do
		"$analyze" $command dprof-text >out 2>&1
		[ $? = "${2:-0}" ] || fail "$1: $command: expected exit status ${2:-0}: $(cat out)"
	done
}
agree 'a circle' 1
text 'e 0 10 2 enter group=1 peer=1 tag=1\ne 0 20 2 exit\ne 1 5 0 enter\ne 1 30 0 exit'
agree 'a message that nobody receives'
text 'e 0 10 1 enter group=1 peer=1 tag=1\ne 0 20 1 exit\ne 1 5 0 enter\ne 1 30 0 exit'
agree 'a message that nobody sent'
text 'site 4 kind=wait name=poll\ne 0 10 4 enter peer=72057594037927934\ne 0 20 4 exit\ne 1 5 0 enter\ne 1 30 0 exit'
agree 'a wait for anybody'

# A rank's files are missing: that is damage, and its messages have no cause.
text 'e 0 10 1 enter group=1 peer=1 tag=1\ne 0 90000 1 exit\ne 1 5 2 enter group=1 peer=0 tag=1\ne 1 30 2 exit'
rm dprof-text/h0-1*
checked 'a missing rank' 1 <<'END'
["wait_state_termination","MPI_Recv","x.c:2",1,0,0]
["communication_existence","MPI_Recv","x.c:2",1,0,0]
END
jq -e '.verdict == "damaged" and (.problems | length == 1)' json >is || fail "a missing rank: $(cat json)"

# ---- Programs
# shellcheck disable=SC2046
cp "$from/causes.c" . && gcc -O2 -pthread -Wall -Wextra -Werror -o causes causes.c $(pkg-config --cflags --libs dprof) -ldl ||
	exit 1
line_of() { grep -n "$1" causes.c | head -1 | cut -d: -f1; }

rm -rf dprof-*
DPROF_OFF=1 ./causes wake word &
./causes wait word
wait $!
checked 'another process, which is not recorded' <<END
["wait_state_termination","futex","causes.c:$(line_of FUTEX_WAIT,)",2,-1,0]
["communication_existence","futex","causes.c:$(line_of FUTEX_WAIT,)",2,-1,0]
END

rm -rf dprof-*
./causes thread || fail "causes thread: exit status $?"
"$analyze" check --json dprof-* >json || fail "a thread that was made behind our back: exit status $?"
violations >found
grep -q '^\["minimum_in_degree","-","-",1,-1,1\]$' found || fail "a thread that was made behind our back: $(cat found)"
grep -q "^\\[\"wait_state_termination\",\"pthread_join\",\"causes.c:$(line_of 'return pthread_join')\",1,-1,0\\]$" found ||
	fail "the wait for it: $(cat found)"

rm -rf dprof-*
./causes times || fail "causes times: exit status $?"
checked 'times that are over' </dev/null
"$analyze" waits --json dprof-* | jq -e '.waits == [] and .unknown == 0' >is || fail 'a time that is over is an unknown wait'

rm -rf dprof-*
DPROF_EVENTS=region ./causes times
"$analyze" check --json dprof-* >json || fail "waits that are left out: exit status $?"
jq -e '.causes | .known == false and (.why | contains("left out"))' json >is || fail "waits that are left out: $(cat json)"
exit $failed

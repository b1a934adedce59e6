#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Who asks again and again in vain leaves one record for as long as it does nothing else, and whoever asks now and then
# leaves none. The trace is whole, also where the process ends meanwhile, or signals come.
from=$PWD/testsuite/fixtures/threads
. testsuite/lib.sh
export PKG_CONFIG_PATH=$B/lib/pkgconfig
sources=$PWD unmarked=$PWD/testsuite/fixtures/unmarked
cd "$dir" || exit 1

# shellcheck disable=SC2046
gcc -O2 -pthread -Wall -Wextra -Werror -I"$sources" $(pkg-config --cflags dprof) -o polling "$from/polling.c" \
	$(pkg-config --libs dprof) || exit 1

# Records of what was in vain: how many; for how many ns; how many of these between two attempts; how many that are not
# possible. And how often it was there at last.
record() { # way
	rm -rf dprof-*
	timeout 60 ./polling "$1" >out 2>&1 || fail "$1: exit status $?: $(cat out)"
	"$analyze" check dprof-* >verdict || fail "$1: $(cat verdict)"
	"$analyze" dump dprof-* >text || fail "$1: dump: exit status $?"
	read -r n ns between odd got < <(awk '
		$1 == "clock" { split($4, ghz, "=") }
		$1 == "site" && $4 == "name=sem_trywait" { asks[$2] = 1 }
		$1 != "e" || !asks[$4] { next }
		/ peer=72057594037927935/ && $5 == "enter" {
			split($6, tag, "="); begin = $3; gaps = tag[2]; n++; odd += $6 !~ /^tag=/
		}
		/ peer=72057594037927935/ && $5 == "exit" { all += $3 - begin; between += gaps; odd += gaps > $3 - begin }
		/ id=/ && $5 == "exit" { got++ }
		END { printf "%d %d %d %d %d\n", n, all / ghz[2], between / ghz[2], odd, got }' text)
	[ "$odd" = 0 ] || fail "$1: $odd records say that it asked for less than no time"
}

# What is not there was no time to ask: another process had its core, for more than a moment. Where that was nearly
# always, it asks anew.
for _ in {1..5}; do
	record spin
	! is_true "$ns > 5e6" || break
done
is_true "$n >= 1 && $n < 1000 && $got == 1" || fail "spin: found $n records in vain, and $got that were not"
is_true "$ns > 5e6 && $ns < 1e9 && $between < $ns" || fail "spin: asked for $ns ns, of which $between in no attempt"
is_true "$between > 0" || fail "spin: it never did anything else"

# As often as it sleeps, which is rarely where others have the cores.
record pause
sleeps=$(awk '$1 == "site" { sleep[$2] = $4 == "name=usleep" } $1 == "e" && $2 == 1 && sleep[$4] && $5 == "enter"' text | wc -l)
is_true "$n > 0 && $n == $sleeps && $got == 1" || fail "pause: found $n records in vain, $got that were not, and $sleeps sleeps"
"$analyze" csp --json dprof-* | jq -e '.threads | map(select(.thread == 1)) | .[0].straggler_percent.lo < 1' >is ||
	fail "pause: who sleeps and asks is proved to work: $("$analyze" csp dprof-*)"

record work
is_true "$n == 0 && $got == 1" || fail "work: found $n records in vain, and $got that were not"
record twice
is_true "$n < 10 && $got >= 1" || fail "twice: found $n records in vain, and $got that were not"

for _ in {1..5}; do
	record signals
	is_true "$n >= 1 && $n < 3000 && $got == 1" || fail "signals: found $n records in vain, and $got that were not"
done

# 100 ms each time, of which the thread has a core for some; but for all of them it may have none, now and then.
asked=0 times=0
for _ in {1..10}; do
	record leave
	is_true "$n < 1000 && $got == 0" || fail "leave: found $n records in vain, and $got that were not"
	asked=$((asked + ns)) times=$((times + (n > 0)))
done
is_true "$asked > 5e7 && $times >= 7" || fail "leave: asked for $asked ns, in $times of 10 times"
# Who has a lock, or has not posted, or set a flag (poll), is the straggler, and no other is proved to be one. (Who
# polls, and has no core, may work, for all that is known.)
for way in "1" "2 -DSEMAPHORE" "1 -DFLAG"; do
	# shellcheck disable=SC2046,SC2086
	gcc -O2 -pthread -Wall -Wextra -Werror $(pkg-config --cflags dprof) -DWHO=$way -o keeping "$unmarked/polling.c" \
		$(pkg-config --libs dprof) || exit 1
	named=
	for _ in {1..6}; do # what is claimed must hold each time; on a busy machine little may be, which another try tells
		rm -rf dprof-*
		timeout 60 ./keeping || fail "$way: exit status $?"
		"$analyze" csp --json dprof-* >json || fail "$way: csp: exit status $?"
		judged=$(jq -r --argjson who "${way%% *}" --arg way "$way" '
			([.machine[].delay_percent.hi] | max > 3) as $delayed | ($way != "1 -DFLAG" and $delayed) as $busy |
			(.threads | map(select(.thread == $who))[0].straggler_percent) as $own |
			([.threads[] | select(.thread != $who) | .straggler_percent]) as $others |
			if any($others[]; .lo >= $own.hi) or ($own.hi <= 30 and ($delayed | not)) then "wrong"
			elif $busy or ($own.lo > 15 and all($others[]; .hi < $own.lo)) then "named" else "open" end' json)
		[ "$judged" = named ] || [ "$judged" = open ] || fail "$way: $(jq -c '.threads' json)"
		[ "$judged" != named ] || { named=yes && break; }
	done
	[ -n "$named" ] || fail "$way: $(jq -c '.threads' json)"
done
# Who asks for a child's end, a file's lock, a byte, a message, a permit or a connection again and again, without waiting, waits
# for the child meanwhile, for all that is known: by the program's own stamps. The trace has its number, which is larger than the
# child's where numbers of processes begin again.
# shellcheck disable=SC2046
gcc -O2 -D_GNU_SOURCE -pthread -Wall -Wextra -Werror $(pkg-config --cflags dprof) -o spinning "$unmarked/spinning.c" \
	$(pkg-config --libs dprof) || exit 1
for way in fcntl flock lockf waitpid waitid read accept poll SYS_poll select epoll_wait msgrcv mq_receive semop; do
	rm -rf dprof-*
	spun=$(timeout 60 ./spinning $way) || fail "$way: exit status $?"
	"$analyze" check dprof-* >verdict || fail "$way: $(cat verdict)"
	"$analyze" csp --json dprof-* >json || fail "$way: csp: exit status $?"
	trace=$(echo dprof-*) asks=${trace##*.}
	jq -e --argjson spun "$spun" --argjson asks "$asks" '(100 * $spun / (.span_s.hi * 1e9)) as $share | (.threads | length) == 2 and
		all(.threads[]; if .pid == $asks then .straggler_percent.lo < 100.1 - $share else .straggler_percent.hi > $share - 0.1 end)' json >is ||
		fail "$way: asked for $spun ns: $(jq -c '[.span_s, .threads]' json)"
	records=$("$analyze" dump dprof-* | awk -v asks="pid=$asks" '$1 == "process" && $3 == asks { process = "process=" $2 }
		$1 == "thread" && $4 == process { thread = $2 }
		$1 == "e" && $2 == thread && $5 == "enter" && / peer=72057594037927935/' | wc -l)
	is_true "$records >= 1 && $records < 3000" || fail "$way: $records records of attempts in vain"
done
# Who asks for what another gives, and sleeps before it asks again, may wait for that one: so it is not proved that it
# keeps anybody waiting, nor that the other does not. Who takes something before each of its sleeps is busy there. All
# attempts are recorded, or those that took long.
# shellcheck disable=SC2046
gcc -D_GNU_SOURCE -O2 -pthread -Wall -Wextra -Werror $(pkg-config --cflags dprof) -o retrying "$unmarked/retrying.c" \
	$(pkg-config --libs dprof) || exit 1
# By the stamps, in percent of the run: for how long main slept while the other was there, and for how long it did not sleep. It does
# not, and works, for all that is known, where it has no core.
main_slept() {
	"$analyze" dump dprof-* | awk '
		$1 == "site" { sleeps[$2] = $3 == "kind=sleep" }
		$1 != "e" { next }
		{ first[$2] = first[$2] ? first[$2] : $3; last[$2] = $3 }
		$2 == 0 && sleeps[$4] && $5 == "enter" { from[++n] = $3 }
		$2 == 0 && sleeps[$4] && $5 == "exit" { to[n] = $3; slept += $3 - from[n] }
		END {
			run = ((last[0] > last[1] ? last[0] : last[1]) - first[0]) / 100
			for (i = 1; i <= n; i++) beside += from[i] > first[1] && to[i] < last[1] ? to[i] - from[i] : 0
			printf "%.6f %.6f\n", beside / run, 100 - slept / run
		}'
}

# One run of it: whether it says as much as it may. What it must not say it never says: that main works where it slept, that the other did
# not meanwhile, or that main is the straggler where it slept for longer than not.
says_who_gives() { # way, DPROF_BLOCKED_NS
	rm -rf dprof-*
	DPROF_BLOCKED_NS=$2 timeout 60 ./retrying "$1"
	ran=$?
	[ "$ran" = 77 ] && return
	[ "$ran" = 0 ] || fail "$1: exit status $ran"
	"$analyze" csp --json dprof-* >json || fail "$1: csp: exit status $?"
	read -r beside awake < <(main_slept)
	judged=$(jq -r --arg way "$1" --argjson beside "$beside" --argjson awake "$awake" '
		[.threads[] | { key: "\(.thread)", value: . }] | from_entries |
		.["0"] as $main | .["1"].straggler_percent as $other |
		if $way == "stage" then $main.verdict == "proved" and $main.straggler_percent.lo > 50
		elif $main.straggler_percent.lo > $awake + 0.1 or $other.hi < $beside - 0.1 or ($beside > $awake and
			($main.straggler_percent.lo > $other.hi or ($main.verdict == "proved" and $main.straggler_percent.hi >= $other.lo))) then "wrong"
		else $other.hi > 50 and $main.straggler_percent.lo < 20 end' json)
	[ "$judged" != wrong ] && [ -n "$judged" ] ||
		fail "$1: $2: main slept for $beside % beside the other and was awake for $awake %: $(jq -c .threads json)"
	[ "$judged" = true ]
}
for way in read recv poll msgrcv semop queue lock output connect flock stage; do
	for ns in 0 1000; do
		one_of_six says_who_gives $way $ns || fail "$way: $ns: $(jq -c .threads json)"
		[ "$ran" = 77 ] && continue 2
		[ $ns = 0 ] && [[ $way != lock && $way != output && $way != stage ]] || continue
		"$analyze" dump dprof-* >text
		grep -Eq '^e 0 .* (until=0|peer=72057594037927935)' text || fail "$way: no record says that an attempt was in vain"
	done
done
[ "$failed" = 0 ] && echo "as expected"
exit "$failed"

#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Who waits for a signal that another thread of the process sends surely waits, and for that thread, however it waits and
# whatever sends it. Where a timer or another process sends it, nobody knows.
from=$PWD/testsuite/fixtures/libc
. testsuite/lib.sh
export PKG_CONFIG_PATH=$B/lib/pkgconfig
cd "$dir" || exit 1

# shellcheck disable=SC2046
"$B/bin/dprof-cc" -D_GNU_SOURCE -O2 -pthread -Wall -Wextra -Werror -Wno-deprecated-declarations -o signals "$from/signals.c" || exit 1

# What the first thread waits in: its name, place, arguments; and what was sent.
recorded() {
	"$analyze" dump dprof-* | awk '
	$1 == "site" { sub(/^name=/, "", $4); name[$2] = $4; line[$2] = $6 }
	$1 == "e" && name[$4] ~ /^(sig|pause)/ && name[$4] != "sigqueue" && $5 == "enter" && $2 == 0 { waits[$6] += line[$4] != "line=0" }
	$1 == "e" && name[$4] ~ /^(kill|killpg|sigqueue|pthread_kill|pthread_sigqueue)$/ { sent[$6] += line[$4] != "line=0" }
	END { for (id in waits) { print id, waits[id], sent[id] + 0; n++ } exit n != 1 }'
}

# By the stamps, in percent of the run: how long X took, for how long its thread was outside of that, and for how long the first one
# did not yet wait for it. A machine that starts a thread late has the rest.
shares() {
	"$analyze" dump dprof-* | awk '
	$1 == "site" { sub(/^name=/, "", $4); name[$2] = $4 }
	$1 != "e" { next }
	{ first = first && first < $3 ? first : $3; last = last > $3 ? last : $3 }
	$2 == 1 { told[0] = told[0] ? told[0] : $3; ended = $3 }
	name[$4] == "X" { x += $5 == "enter" ? -$3 : $3 }
	name[$4] == "X" && $5 == "exit" { told[++rounds] = $3 }
	$2 == 0 && name[$4] ~ /^(sig|pause)/ && $5 == "enter" { waits[++n] = $3 }
	END {
		for (i = 1; i <= n; i++) late += waits[i] > told[i - 1] ? waits[i] - told[i - 1] : 0
		run = (last - first) / 100
		printf "%.6f %.6f %.6f\n", x / run, (ended - told[0] - x) / run, late / run
	}'
}

# A thread that a busy machine keeps from waiting for longer than a round has missed a signal; one that a virtual machine stopped
# was blocked nobody knows where; and where X is less than half of the run others may keep everybody waiting for as long.
all_come() { # way
	rm -rf dprof-*
	timeout 20 ./signals "$1" && "$analyze" check dprof-* >verdict && read -r id waits sent < <(recorded) && read -r x outside late < <(shares) &&
		"$analyze" report dprof-* | tr -s ' \n' ' ' >report &&
		[[ $id = id=* && $waits = 3 && $sent = 3 && $(<report) != *'dprof does not know in what'* ]] && is_true "$x > 50"
}
for way in sigwait sigwaitinfo sigtimedwait sigsuspend pause sigpause; do
	one_of_six all_come $way ||
		fail "$way: expected three sent and waited for, and X for half of the run, found $id: $sent, $waits; $x %; $(cat verdict)"
	score=$(sed -n 's/.*Look at thread 1: it keeps everybody waiting for \([0-9.]*\) [^(]*(proved), mostly in region X.*/\1/p' report)
	is_true "${score:--9} < $x + $outside + 0.1 && ${score:--9} > $x - $late - 0.1" || fail "$way: X takes $x % of the run: $(cat report)"
	"$analyze" coz --region X --reduce 50 --json dprof-* >coz || fail "$way: $(cat coz)"
	read -r lo hi < <(interval expected_percent <coz)
	is_true "${lo:-0} > $x / 2 - $late - 0.1 && ${hi:-99} < $x / 2 + 0.1" ||
		fail "$way: expected that half of X saves half of its $x %, found $lo .. $hi"
done
for way in alarm outside; do
	rm -rf dprof-*
	timeout 60 ./signals $way || fail "$way: exit status $?"
	read -r id waits sent < <(recorded)
	[[ $id = until=0 && $waits = 3 && $sent = 0 ]] || fail "$way: expected that nobody is known, found $(recorded)"
done

# Thread 1 sends what thread 0 waits for, though thread 2 is through with its work nearer to the end of that. What is proved of
# threads that meet at a barrier has nothing to do with a signal that nobody of them sends.
three() {
	cat <<-END
	dprof-text 1
	clock 0 host=h0 ghz=1
	process 0 pid=7 program=/x started=0
	thread 0 clock=0 process=0 number=0
	thread 1 clock=0 process=0 number=1
	thread 2 clock=0 process=0 number=2
	site 0 kind=region name=a file=x.c line=1
	site 1 kind=region name=b file=x.c line=2
	site 2 kind=wait name=sigwait file=x.c line=3
	site 3 kind=wait name=kill file=x.c line=4
	site 4 kind=barrier name=pthread_barrier_wait file=x.c line=5
	END
}
op() { # thread site from to [arguments]
	printf 'e %s %s %s enter %s\ne %s %s %s exit\n' "$1" "$3" "$2" "${5:-}" "$1" "$4" "$2"
}
{
	three
	op 0 2 0 1000000 id=5
	op 0 1 1000000 2000000
	op 1 0 0 999900
	echo "e 1 999900 3 point id=5"
	op 2 1 0 999990
} >sent.txt
{
	three
	op 0 2 0 300000 "until=0 peer=72057594037927934"
	op 0 1 300000 400000
	op 1 0 0 1000000
	op 1 4 1000000 1000010 "id=9 tag=2"
	op 1 0 1000010 2000000
	op 2 1 0 600000
	op 2 4 600000 1000010 "id=9 tag=2"
	op 2 1 1000010 1900000
} >apart.txt
saves() { # trace, region, member, truth
	rm -rf trace
	{ "$analyze" pack "$1.txt" trace && "$analyze" coz --json --region "$2" --reduce 50 trace; } >coz 2>&1 || fail "$1: $(cat coz)"
	interval "$3" <coz | awk -v truth="$4" '$1 < truth + 0.2 && $2 > truth - 0.2 && $2 < truth + 0.2 { ok = 1 } END { exit !ok }' ||
		fail "$1: expected that half of $2 saves $4 %, found $(interval "$3" <coz)"
}
saves sent a expected_percent 25
interval speedup_percent <coz | awk '$2 > 99 { ok = 1 } END { exit !ok }' ||
	fail "sent: another thread may take the signal, but proved is $(interval speedup_percent <coz)"
saves apart a speedup_percent 25

# What is done until a timer's handler has set a flag is as long in any run.
"$B/bin/dprof-cc" -D_GNU_SOURCE -O2 -Wall -Wextra -Werror -o clocks "$from/../whatif/clocks.c" || exit 1
rm -rf dprof-*
timeout 20 ./clocks alarm >took || fail "alarm: exit status $?"
"$analyze" dump dprof-* | awk '
	$1 == "site" && /name=loop%20until%20a%20timer/ { loop = $2 }
	$1 == "e" && $4 == loop && loop != "" && $5 == "enter" { sub(/.*offset=/, ""); ns[++n] = $1 }
	END { exit n != 2 || ns[1] < 90e6 || ns[2] < 90e6 || ns[2] > ns[1] + 90e6 }' || fail "expected two loops of 100 ms until a timer's signal, found: $("$analyze" dump dprof-* | grep "timer\|role=2")"
"$analyze" coz --region X --reduce 50 --json dprof-* >coz || fail "alarm: $(cat coz)"
read -r lo hi < <(interval expected_percent <coz)
is_true "${lo:-9} == 0 && ${hi:-9} == 0" || fail "expected that half of X saves nothing, found $lo .. $hi"

[ "$failed" = 0 ] && echo "as expected"
exit "$failed"

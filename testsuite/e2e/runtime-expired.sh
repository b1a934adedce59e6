#!/bin/bash
# SPDX-License-Identifier: MIT
#
# A wait that only its time limit or a signal, perhaps a timer's, ended may have been for nobody: whoever slept so is
# not proved to have waited, nor is whoever was done sooner proved the straggler; in whatever call that was. In which
# waits that was so is said.
from=$PWD/testsuite/fixtures/libc
. testsuite/lib.sh
export PKG_CONFIG_PATH=$B/lib/pkgconfig
cd "$dir" || exit 1

# shellcheck disable=SC2046
gcc -D_GNU_SOURCE -O2 -pthread -Wall -Wextra -Werror -Wno-unused-result $(pkg-config --cflags dprof) -o expired \
	"$from/expired.c" $(pkg-config --libs dprof) || exit 1

# Of the two threads that were made, slow and fast: their scores, and verdicts.
scores() {
	jq -r '[.threads[] | select(.thread > 0)] | sort_by(.thread) |
		"\([.[] | .straggler_percent | .lo, .hi | tostring] | join(" ")) \([.[].verdict] | join(","))"' json
}

# By the stamps, in percent of the run: how long slow waited so, and may have worked, while both others waited; it was in no
# wait; fast was in none, and in how much of that slow was; all three waited for sure, or were gone. And the seconds that are
# one percent. A thread that was made may work before it says that it begins.
truth() {
	"$analyze" dump dprof-* >text
	grep '^e ' text | sort -s -n -k3,3 >events
	awk '
	BEGIN { state[0] = state[1] = state[2] = "-" }
	FILENAME == "text" {
		if ($1 == "clock") { sub(/.*ghz=/, ""); ghz = $1 }
		if ($1 == "site") waits[$2] = $3 ~ /^kind=(wait|lock|barrier|join)$/
		if ($1 == "e") left[$2]++
		next
	}
	at { t[state[0] state[1] state[2]] += $3 - at }
	{ begun = begun ? begun : $3; at = $3 }
	$5 == "enter" { of[$2, ++depth[$2]] = $4; is[$2, depth[$2]] = / until=/ ? "perhaps" : waits[$4] ? "waits" : "works" }
	$5 == "exit" { while (depth[$2] && of[$2, depth[$2]--] != $4); }
	{ state[$2] = --left[$2] == 0 ? "-" : depth[$2] ? is[$2, depth[$2]] : "works" }
	match($0, / enter thread=/) { made = substr($0, RSTART + RLENGTH); if (!(made in depth)) state[made] = "new" }
	END {
		for (s in t) {
			may += s == "waitsperhapswaits" ? t[s] : 0
			slow += s ~ /^(-|waits|works)works/ ? t[s] : 0
			fast += s ~ /(works|perhaps|new)$/ ? t[s] : 0
			late += s ~ /^(-|waits|works)(-|new|waits)(works|perhaps)$/ ? t[s] : 0
			sure += s !~ /works|perhaps/ ? t[s] : 0
		}
		one = (at - begun) / 100
		printf "%.6f %.6f %.6f %.6f %.6f %.9f\n", may / one, slow / one, fast / one, late / one, sure / one, one / (ghz * 1e9)
	}' text events
}

# A busy machine may have fast sleep as long as slow waits.
waits_so() {
	local ran
	rm -rf dprof-*
	timeout 60 ./expired "$1"
	ran=$?
	[ "$ran" != 77 ] || { skipped=yes && return; }
	[ "$ran" = 0 ] || fail "$1: exit status $ran"
	read -r may slow fast late sure one < <(truth)
	is_true "$may > 20"
}

for way in condition clock join clockjoin semaphore mutex rwlock poll ppoll select pselect epoll signal recv read queue semop futex syscall pause sigwait sigsuspend msgrcv \
	timer_poll timer_ppoll timer_select timer_pselect timer_epoll timer_syscall fgets fread getline ring; do
	skipped=
	one_of_six waits_so $way || fail "$way: slow waits until its time limit while all others wait for $may % of the run"
	[ -z "$skipped" ] || continue
	"$analyze" check dprof-* >verdict || fail "$way: $(cat verdict)"
	"$analyze" csp --json dprof-* >json || fail "$way: $(head -5 json)"
	read -r slow_lo slow_hi fast_lo fast_hi verdicts < <(scores)
	! grep -q "the kernel's count" json || fast=100 # on a machine that had too little memory, or time, more is open
	is_true "$slow_lo < $slow + 0.1 && $slow_hi > $may - 0.1 && $fast_lo < $late + 0.1 && $fast_hi < $fast + 0.1" ||
		fail "$way: expected 0 .. $slow and $may for slow, 0 .. $late and $fast for fast; found $slow_lo .. $slow_hi, $fast_lo .. $fast_hi"
	[ "$verdicts" = undecided,undecided ] || is_true "$slow > $fast_hi || $late > $slow_hi" || fail "$way: $(jq -c .threads json)"
	"$analyze" report dprof-* >page 2>diagnostics || fail "$way: $(cat page diagnostics)"
	tr -s ' \n' ' ' <page >line
	grep -q '^Undecided: ' page || jq -e '[.threads[].verdict] | contains(["proved"])' json >held ||
		fail "$way: expected no verdict, found $(grep -A 3 '^Look at' page)"
	grep -q 'note: yields, and waits that a time limit or a signal ended: thread 1 for \(0\.[1-9]\|[1-9]\)' line ||
		fail "$way: expected a note of these waits, found $(grep -o 'note: .*' line)"
	"$analyze" query --json dprof-* 'count(waiting) == 3' >query 2>diagnostics || fail "$way: $(cat query diagnostics)"
	read -r lo hi < <(interval holds_s <query)
	is_true "$lo < ($sure + 0.1) * $one && $hi > ($may - 0.1) * $one" ||
		fail "$way: all wait for $sure % of the run, and perhaps for $may % more, $one s each: found $lo .. $hi s"
	"$analyze" coz --all-work --thread 2 --reduce 100 --json dprof-* >coz 2>&1 || fail "$way: $(cat coz)"
	read -r lo _ < <(interval speedup_percent <coz)
	is_true "$lo < $late + 1" ||
		fail "$way: coz proves that less of fast, which was late by $late %, makes the run shorter: $(head -3 coz)"
done

# A timer that is waited for as well, and is not ready, takes nothing away.
rm -rf dprof-*
timeout 60 ./expired beside || fail "beside: exit status $?"
"$analyze" dump dprof-* | awk '/^site .* name=poll / { poll[$2] = 1 } $1 == "e" && poll[$4] && $5 == "enter"' >text
{ grep -q 'peer=' text && ! grep -q 'until=' text; } || fail "beside: expected waits for another, found $(cat text)"

[ "$failed" = 0 ] && echo "as expected"
exit "$failed"

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

# Of the two threads that were made: their scores, and verdicts; the machine may be busy, which only adds.
scores() {
	jq -r '[.threads[] | select(.thread > 0)] | sort_by(.thread) |
		"\([.[] | .straggler_percent | .lo, .hi | tostring] | join(" ")) \([.[].verdict] | join(","))"' json
}

# All three perhaps wait for a while, but not surely; query has the answer.
perhaps() {
	interval holds_s <query | awk '$1 < 0.02 && $2 + 0 > 0.05 { ok = 1 } END { exit !ok }'
}

for way in condition clock join clockjoin semaphore mutex rwlock poll ppoll select pselect epoll signal recv read queue semop futex syscall pause sigwait sigsuspend msgrcv \
	timer_poll timer_ppoll timer_select timer_pselect timer_epoll timer_syscall fgets fread getline ring; do
	for _ in {1..6}; do # fast may have to wait for a core, when slow has come
		rm -rf dprof-*
		timeout 60 ./expired $way
		ran=$?
		[ "$ran" = 77 ] && continue 2
		[ "$ran" = 0 ] || fail "$way: exit status $ran"
		"$analyze" check dprof-* >verdict || fail "$way: $(cat verdict)"
		"$analyze" csp --json dprof-* >json || fail "$way: $(head -5 json)"
		read -r slow_lo slow_hi fast_lo fast_hi verdicts < <(scores)
		held="$slow_hi > 40 && $slow_lo < 40 && $fast_lo < 10 && $fast_hi < $slow_hi"
		"$analyze" query --json dprof-* 'count(waiting) == 3' >query 2>diagnostics || fail "$way: $(cat query diagnostics)"
		is_true "$held" && perhaps && break
	done
	is_true "$held" ||
		fail "$way: expected 0 .. more than 40 for slow, 0 .. less for fast; found $slow_lo .. $slow_hi, $fast_lo .. $fast_hi"
	[ "$verdicts" = undecided,undecided ] || fail "$way: $(jq -c .threads json)"
	"$analyze" report dprof-* >page 2>diagnostics || fail "$way: $(cat page diagnostics)"
	tr -s ' \n' ' ' <page >line
	grep -q '^Undecided: ' page || fail "$way: expected no verdict, found $(grep -A 3 '^Look at' page)"
	grep -q 'note: yields, and waits that a time limit or a signal ended: thread 1 for \(0\.[1-9]\|[1-9]\)' line ||
		fail "$way: expected a note of these waits, found $(grep -o 'note: .*' line)"
	perhaps || fail "$way: all surely wait, or surely do not: $(interval holds_s <query)"
	"$analyze" coz --all-work --thread 2 --reduce 100 --json dprof-* >coz 2>&1 || fail "$way: $(cat coz)"
	interval speedup_percent <coz | awk '$1 < 1 { ok = 1 } END { exit !ok }' ||
		fail "$way: coz proves that less of fast makes the run shorter: $(head -3 coz)"
done

# A timer that is waited for as well, and is not ready, takes nothing away.
rm -rf dprof-*
timeout 60 ./expired beside || fail "beside: exit status $?"
"$analyze" dump dprof-* | awk '/^site .* name=poll / { poll[$2] = 1 } $1 == "e" && poll[$4] && $5 == "enter"' >text
{ grep -q 'peer=' text && ! grep -q 'until=' text; } || fail "beside: expected waits for another, found $(cat text)"

[ "$failed" = 0 ] && echo "as expected"
exit "$failed"

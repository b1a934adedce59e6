#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Who yields its core may wait for others, or be polite: it is proved neither to work then nor to wait. Yields that follow each other
# are one record. Who waits for a latch, a barrier, a semaphore or an atomic variable, whose waits are recorded as a whole, does not
# work.
from=$PWD/testsuite/fixtures/libc
. testsuite/lib.sh
export PKG_CONFIG_PATH=$B/lib/pkgconfig
sources=$PWD
cd "$dir" || exit 1

# shellcheck disable=SC2046
g++ -std=c++20 -O2 -pthread -Wall -Wextra -Werror -I"$sources" $(pkg-config --cflags dprof) -o yields "$from/yields.cc" \
	$(pkg-config --libs dprof) || exit 1
core=$(taskset -cp $$ | sed 's/.*[ ,-]//')

record() { # name command...
	local name=$1
	shift
	rm -rf dprof-*
	timeout 60 "$@" || fail "$name: exit status $?"
	"$analyze" check dprof-* >verdict || fail "$name: $(cat verdict)"
	"$analyze" csp --json dprof-* >json || fail "$name: $(head -5 json)"
	"$analyze" dump dprof-* >text || fail "$name: dump: exit status $?"
}

# Of thread 2, which is `fast`: how many records of yields, for how many ns, and how many from the first to the last.
yields() {
	awk '
	$1 == "clock" { split($4, ghz, "=") }
	$1 == "site" && $4 == "name=sched_yield" { yields[$2] = 1 }
	$1 != "e" || $2 != 2 || !yields[$4] { next }
	/ enter until=0 peer=72057594037927934/ { begin = $3; first = first ? first : begin }
	$5 == "exit" && begin { n++; all += $3 - begin; last = $3; begin = 0 }
	END { printf "%d %d %d\n", n, all / ghz[2], (last - first) / ghz[2] }' text
}

of_thread() { # number field: its ends
	jq -r ".threads[] | select(.thread == $1) | .$2 | \"\(.lo) \(.hi)\"" json
}

# For how much of the run, in percent, fast was behind slow: from the end of slow's work to what fast does next after its own, in
# each turn, and to the end of fast. On a busy core it may be all of fast's work that comes after slow's.
behind() {
	awk '
	$1 == "site" && ($4 == "name=slow" || $4 == "name=fast") { region[$2] = $4 }
	$1 != "e" { next }
	{ begun = begun && begun < $3 ? begun : $3; ended = $3 > ended ? $3 : ended }
	$2 == 2 { last = $3; if (ending) { next_of[++fast] = $3; ending = 0 } }
	region[$4] == "name=fast" && $5 == "exit" { ending = 1 }
	region[$4] == "name=slow" && $5 == "exit" { end_of[++slow] = $3 }
	function after(a, b) { return a > b ? a - b : 0 }
	END {
		if (ending) next_of[++fast] = last
		for (i = 1; i <= slow; i++) all += after(next_of[i], end_of[i])
		printf "%.6f\n", 100 * (all + after(last, end_of[slow])) / (ended - begun)
	}' text
}

# From the records alone, in percent of the run: how long fast worked (was in a region) as the others waited or were
# gone; for how much of that it had done as much as slow (then slow does not wait for fast to come: it has been woken,
# and has no core yet); and how long it may have worked so, too, because somebody was nowhere: a thread has been
# created, or comes from a region to a latch, and a busy core is another one's.
works_alone() {
	grep '^e ' text | sort -s -n -k3,3 >events
	grep '^site ' text | cat - events | awk -v events=events '
	BEGIN { while ((getline line < events) > 0) { split(line, e); last[e[2]] = e[3]; if (e[6] ~ /^thread=/ && !((t = substr(e[6], 8)) in born)) born[t] = e[3] } }
	$1 == "site" { kind[$2] = substr($3, 6); name[$2] = substr($4, 6); next }
	function place(t) { return depth[t] ? stack[t, depth[t]] : "" }
	function nowhere(t) { return at >= born[t] && at < last[t] && !depth[t] }
	function waits(t) { return at >= last[t] || (kind[place(t)] ~ /^(wait|join|barrier)$/ && name[place(t)] != "sched_yield") }
	at && kind[place(2)] == "region" && waits(0) && waits(1) { alone += $3 - at; woken += done["fast"] >= done["slow"] ? $3 - at : 0 }
	at && (kind[place(2)] == "region" || nowhere(2)) && (waits(0) || nowhere(0)) && (waits(1) || nowhere(1)) { perhaps += $3 - at }
	{ begun = begun ? begun : $3; at = $3 }
	$5 == "enter" { stack[$2, ++depth[$2]] = $4 }
	$5 == "exit" { while (depth[$2] && stack[$2, depth[$2]--] != $4) ; done[name[$4]]++ }
	END { printf "%.6f %.6f %.6f\n", 100 * alone / (at - begun), 100 * woken / (at - begun), 100 * (perhaps - alone) / (at - begun) }'
}

# Slow is the straggler, and its score may be unknown; fast is proved one for no more than the time in which slow was
# done, and that in which slow was woken and had no core: a thread waits until it goes on.
not_the_wrong_one() { # name
	local fast late woken
	read -r fast _ < <(of_thread 2 straggler_percent)
	read -r _ woken _ < <(works_alone)
	late=$(behind)
	is_true "$fast <= $late + $woken + 1e-3" ||
		fail "$1: fast keeps others waiting for at least $fast %, was behind slow for $late %, and slow without a core for $woken %"
}

# What is recorded of such waits leaves nothing open, but time that is in no record.
all_is_known() { # name
	local lo hi alone open
	read -r lo hi < <(of_thread 2 straggler_percent)
	read -r alone _ open < <(works_alone)
	is_true "$lo <= $alone + 1e-3 && $hi >= $alone - 1e-3 && $hi - $lo < $open + 0.01" ||
		fail "$1: fast worked for $alone % of the run as all others waited, and perhaps for $open % more, and is said to for $lo .. $hi %"
}

# What was in yields is open: for all of that time it may have worked, or waited.
open_for() { # name ns
	is_true "$(of_thread 2 waiting_s | awk '{ print $2 - $1 }') >= 0.9e-9 * $2" ||
		fail "$1: $2 ns in yields, and it waits for $(of_thread 2 waiting_s) s"
	is_true "$(of_thread 2 working_s | awk '{ print $2 - $1 }') >= 0.9e-9 * $2" ||
		fail "$1: $2 ns in yields, and it works for $(of_thread 2 working_s) s"
}

for way in latch barrier semaphore atomic; do
	surely=0
	for _ in {1..12}; do
		record $way taskset -c "$core" ./yields $way
		not_the_wrong_one $way
		grep -q "the kernel's count" json || all_is_known $way # on a machine that had too little memory, or time, not all is
		read -r n _ < <(yields)
		[ "$n" = 0 ] || fail "$way: fast yields for $n times outside of its waits"
		read -r surely _ < <(of_thread 2 waiting_s)
		is_true "$surely > 0.001" && break
	done
	is_true "$surely > 0.001" || fail "$way: on one core fast is proved to wait for $surely s"
done

# As long as the flag is not set; on a core of its own each yield is shorter than what counts as blocked.
for where in "$core" "$(taskset -cp $$ | sed 's/.*: //')"; do
	for _ in {1..5}; do
		record flag taskset -c "$where" ./yields flag
		not_the_wrong_one flag
		read -r n ns span < <(yields)
		open_for flag "$ns"
		is_true "$ns > 1e6" && break
	done
	is_true "$ns > 1e6 && $ns > 0.5 * $span" || fail "flag: on $where fast yields for $ns ns of $span"
	is_true "$n * 5000 < $ns" || fail "flag: $n records of yields in $ns ns"
	"$analyze" coz --region slow --reduce 100 --json dprof-* >coz 2>diagnostics
	interval speedup_percent <coz | awk '$2 > 10 { ok = 1 } END { exit !ok }' ||
		fail "flag: coz excludes what slow really buys: $(head -3 coz)"
done

record number ./yields number
not_the_wrong_one number
read -r n ns span < <(yields)
open_for number "$ns"
is_true "$n > 0 && $ns > 0.5 * $span" || fail "number: fast yields $n times, for $ns ns of $span"

record polite taskset -c "$core" ./yields polite
read -r n _ < <(yields)
is_true "$n > 0" || fail "polite: no yield is recorded"
read -r surely _ < <(of_thread 2 waiting_s)
is_true "$surely < 0.001" || fail "polite: who only yields is proved to wait for $surely s"

# Between two attempts a yield is a part of what lies there.
record try ./yields try
not_the_wrong_one try
grep -q 'pthread_mutex_trylock' text || fail "try: no attempt is recorded"

[ "$failed" = 0 ] && echo "as expected"
exit "$failed"

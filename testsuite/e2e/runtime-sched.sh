#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What the kernel counts of each thread is in the trace: who shared its core is said; and a duration allows for
# a difference between cores where the thread may have moved between them, and only there.
from=$PWD/testsuite/fixtures/threads
. testsuite/lib.sh
at_once=1
export PKG_CONFIG_PATH=$B/lib/pkgconfig
cd "$dir" || exit 1

# shellcheck disable=SC2046
compile() { # name
	gcc -O2 -D_GNU_SOURCE -pthread $(pkg-config --cflags dprof) -o "$1" "$from/$1.c" \
		$(pkg-config --libs dprof) || fail "$1.c does not compile"
}

# ---- Who shared its core -------------------------------------------------------------------------------------

first=$(taskset -cp $$ | sed 's/.*: \([0-9]*\).*/\1/')
compile share
./share "$first" || fail "share: exit status $?"
"$analyze" report --json dprof-share.* >json || fail "report of share"
if [ "$(cat /proc/self/schedstat 2>/dev/null)" != "0 0 0" ]; then
	"$analyze" dprof-share.* >out || fail "report"
	grep -q '^Cores were shared: .* could have run' out || fail "no thread shared a core: $(cat out)"
	"$analyze" csp dprof-share.* | grep -q '^Cores were shared: .* could have run' || fail "csp is silent"
	# Each ran for 0.2 s, which is in its interval; one waited as long.
	tr -d ' \n' <json | grep -o '"cpu_s":[^}]*},"delay_s":[^}]*}' | tr -c '0-9.\n' ' ' |
		awk '{ if ($2 < 0.2) exit 1; if ($4 >= 0.2) waited = 1 } END { exit !(waited && NR == 2) }' ||
		fail "expected two threads that ran 0.2 s, and one that waited as long: $(grep -A20 machine json)"
fi

# ---- Who moved -----------------------------------------------------------------------------------------------

# Two cores on which we may run.
cores=$(taskset -cp $$ | sed 's/.*: //; s/\([0-9]*\)-\([0-9]*\)/\1,\2/; s/\([0-9]*,[0-9]*\).*/\1/')
[ "${cores%,*}" != "$cores" ] || { echo "there is one core only: nothing can move"; exit 77; }

compile moves
./moves "${cores%,*}" "${cores#*,}" || fail "moves: exit status $?"
"$analyze" check dprof-moves.* >out || fail "the trace is damaged: $(cat out)"
"$analyze" dump dprof-moves.* >text || fail "dump"

# Of a thread that was made nothing had been counted then, and that is known before it recorded anything.
awk '$1 == "thread" { made += $2 > 0 }
	$1 == "sched" && !($2 in seen) { seen[$2]; zeros += /cpu=0 delay=0 involuntary=0 moves=0/ && $3 <= $4 }
	END { exit !(made > 0 && zeros == made) }' text || fail "expected zeros of each thread that was made: $(grep '^sched' text)"

# The thread that is in a region of that name.
thread_in() {
	awk -v name="name=$1" '$1 == "site" && $4 == name { site[$2] = 1 }
		$1 == "e" && $4 in site { print $2; exit }' text
}
moving=$(thread_in moving) staying=$(thread_in staying)
said() { # thread key -> the last such number
	sed -n "s/^sched $1 .* $2=\([0-9]*\).*/\1/p" text | tail -1
}
[ "$(said "$moving" moves)" -ge 60 ] || fail "moved 60 times, but: $(grep "^sched $moving " text)"
exact=
# A kernel that counts moves says that this one never did; any other one how often it slept.
if grep -q se.nr_migrations /proc/self/sched 2>/dev/null; then
	[ "$(said "$staying" moves)" -eq 0 ] || fail "never moved, but: $(grep "^sched $staying " text)"
	exact=1
fi
[ "$(said "$moving" cpu)" -gt 0 ] || fail "never ran: $(grep "^sched $moving " text)"

seconds() { # trace region -> lo hi
	"$analyze" report --json "$1" >json || fail "report: $1"
	tr -d ' \n' <json | grep -o "{\"region\":\"$2\"[^}]*\"time_s\":{[^}]*}" |
		sed 's/.*"lo":\([^,]*\),"hi":\([^}]*\)}/\1 \2/'
}
overlap() { # two intervals
	echo "$@" | awk '{ exit !($1 <= $4 && $3 <= $2) }'
}
width() { echo "$@" | awk '{ print $2 - $1 }'; }
within() { is_true "$1 <= $2"; } # two numbers

true_moving=$(seconds dprof-moves.* moving) true_staying=$(seconds dprof-moves.* staying)

# The second core is 400,000 ticks ahead of the first one: what the mover recorded there says so. That is all
# behind its entry into the region; and its stamps never go back, for it rests for longer behind the exit.
differ() { # sed expression for its lines "sched"
	awk -v moving="$moving" '$1 == "clock" { $0 = $0 " halfwidth=200000" }
		$1 == "site" && $4 == "name=moving" { site = $2 }
		$1 == "e" && $2 == moving && inside { $3 = sprintf("%.0f", $3 + 400000) }
		$1 == "e" && $2 == moving && $4 == site { inside = $5 == "enter" }
		{ print }' text | sed "$1"
}
differ '' >apart
"$analyze" pack apart apart.trace || fail "pack"
apart=$(seconds apart.trace moving)
# shellcheck disable=SC2086
overlap $apart $true_moving || fail "moving: $apart s, but really $true_moving"
# shellcheck disable=SC2086
[ -z "$exact" ] || within "$(width $(seconds apart.trace staying))" "$(width $true_staying) + 1e-7" ||
	fail "staying: $(seconds apart.trace staying) s, but $true_staying where cores agree"

# Without what the kernel said, both may have moved; and what it said is what makes the difference.
differ '/^sched /d' >silent
"$analyze" pack silent silent.trace || fail "pack"
# shellcheck disable=SC2086
overlap $(seconds silent.trace moving) $true_moving || fail "of unknown moves: $(seconds silent.trace moving)"
# shellcheck disable=SC2086
within "30 * 2 * 400000 / 1e10" "$(width $(seconds silent.trace staying))" ||
	fail "of unknown moves: $(seconds silent.trace staying)"
differ 's/ moves=[0-9]*/ moves=0/' >false
"$analyze" pack false false.trace || fail "pack"
# shellcheck disable=SC2086
overlap $(seconds false.trace moving) $true_moving && fail "moves that were denied made no difference"

# All of it survives dump and pack; and what cannot be is named.
"$analyze" dump apart.trace | cmp -s - apart || {
	"$analyze" dump apart.trace | diff - apart | head; fail "dump, pack, dump"; }
sed '0,/^sched [0-9]* \([0-9]*\) /s//sched 0 99999999999999999 /' apart >back
"$analyze" pack back back.trace || fail "pack"
"$analyze" check back.trace >out 2>&1 && fail "an answer before it was asked is fine"
grep -q 'counts of the kernel that only grow' out || fail "$(cat out)"
echo "as expected"

#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Every function of the C library that may block is recorded where another thread or process ends it: each is waited
# in once, compiled with and without checks of buffers. What may block is known from a list, POSIX's of points at
# which a thread may be cancelled and more; so each of these is recorded, or has a reason why not.
from=$PWD/testsuite/fixtures/libc
. testsuite/lib.sh
export PKG_CONFIG_PATH=$B/lib/pkgconfig
cd "$dir" || exit 1

# shellcheck disable=SC2046
gcc -O2 -D_GNU_SOURCE -pthread -w $(pkg-config --cflags dprof) -o waits "$from/waits.c" $(pkg-config --libs dprof) ||
	exit 1
# shellcheck disable=SC2046
gcc -O1 -D_FORTIFY_SOURCE=2 -D_GNU_SOURCE -pthread -w $(pkg-config --cflags dprof) -o waits-checked "$from/waits.c" $(pkg-config --libs dprof) ||
	exit 1

# Names of the waits of the first thread that may end at another's will. A machine that is busy may add some.
recorded() { # trace
	"$analyze" dump "$1" | awk '
	BEGIN { first = "none" }
	$1 == "site" { sub(/^name=/, "", $4); kind[$2] = $3; name[$2] = $4 }
	$1 == "e" && name[$4] == "begins" { first = $2 } # children may come before, where numbers of processes begin again
	$1 == "e" && $2 == first && $5 == "enter" && kind[$4] == "kind=wait" && / peer=72057594037927934/ { print name[$4] }'
}

# A first thread that a busy machine keeps from waiting in time does not wait: then once more.
all_ways() { # program: or says which way is not there
	rm -rf dprof-*
	DPROF_BLOCKED_NS=10000000 timeout 120 ./$1 >out 2>&1 || fail "$1: exit status $?: $(tail -3 out)"
	"$analyze" check dprof-* >verdict || fail "$1: $(cat verdict)"
	recorded dprof-* >found
	[ -s found ] || fail "$1: no wait is recorded"
	DPROF_OFF=1 ./$1 list | awk '
	NR == FNR { found[++n] = $1; next }
	{
		while (at < n && found[at + 1] != $1)
			at++
		if (at++ >= n) { print "way " FNR ", " $1 ", is not there"; exit 1 }
	}' found - >wrong
}
for program in waits waits-checked; do
	all_ways $program || all_ways $program || all_ways $program || fail "$program: $(cat wrong)"
done

# ---- The list -----------------------------------------------------------------------------------------------

# Lines "NAMES: REASON": recorded, or why not.
nm -D --defined-only "$B/lib/libdprof-pthread.so" | awk '{ print $3 }' | sort >exported
nm -D --defined-only "$(ldconfig -p | awk '/libc\.so\.6 .*x86-64/ { print $NF; exit }')" |
	awk '$2 ~ /[TWi]/ { sub(/@.*/, "", $3); print $3 }' | sort -u >of_libc
sed '/^#/d;/^$/d' "$from/may_block" >list
[ "$(wc -l <list)" -gt 30 ] || fail "the list has $(wc -l <list) lines"
sed -n 's/: recorded$//p' list | tr -s ' ' '\n' | sort >must
sed -n '/: recorded$/!s/:.*//p' list | tr -s ' ' '\n' | sort >may_not
sed -n 's/: seen, .*//p' list | tr -s ' ' '\n' | sort >seen
comm -12 must of_libc | comm -23 - exported | grep . && fail "these functions may block and are not recorded"
comm -12 must may_not | grep . && fail "these are recorded, and have a reason why not"
comm -23 seen exported | grep . && fail "these are not seen"
comm -12 may_not exported | comm -23 - seen | grep . && fail "these are recorded, and the list says that they are not"

# Other forms of what is recorded: with large offsets, with checks of buffers, without a lock, of another standard.
forms() {
	sed 's/.*/&64 __&_chk __&64_chk &_unlocked __&_unlocked_chk __isoc99_& __isoc23_& _IO_&/' | tr ' ' '\n'
}
forms <must | sort -u | comm -12 - of_libc | comm -23 - exported | comm -23 - may_not | grep . &&
	fail "these forms of functions that are recorded are not"

[ "$failed" = 0 ] && echo "as expected"
exit "$failed"

#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What is missing, cut or changed in the file that threads share, or in what they have besides, is named; all commands
# say so, and nothing that it could change is proved.
from=$PWD/testsuite/fixtures/threads
. testsuite/lib.sh
export PKG_CONFIG_PATH=$B/lib/pkgconfig DPROF_QUIET=1
cd "$dir" || exit 1

# shellcheck disable=SC2046
gcc -O2 -D_GNU_SOURCE -pthread $(pkg-config --cflags dprof) -o many "$from/many.c" $(pkg-config --libs dprof) ||
	fail "many.c does not compile"
DPROF_HOST=h ./many 6 long || fail "status $?"
mv dprof-many.* whole
"$analyze" check whole >out || fail "the whole trace: $(cat out)"
# Threads 3 and 6 have files besides.
stem=$(cd whole && echo h-p*.nursery)
stem=${stem%.nursery}
(cd whole && ls "$stem"-*.events) >out
[ "$(wc -l <out)" -eq 3 ] && [ -e "whole/$stem-3.events" ] || fail "expected files of 3 threads, found $(cat out)"

poke() { printf '%b' "$3" | dd of="$1" bs=1 seek="$2" conv=notrunc status=none; } # file offset bytes
slot() { echo $(($1 * 4096 + ${2:-0})); }                                         # thread [offset in it]

# Another byte than there is.
change() { # file offset
	poke "$1" "$2" "\\x$(od -An -tx1 -j "$2" -N 1 "$1" | tr ' 0-9a-f' 'x1-9a-f0' | tr -d x)"
}

named() { # name diagnostic command...
	local name=$1 diagnostic=$2 ask line
	shift 2
	rm -rf t && cp -r whole t && (cd t && "$@") || fail "$name: cannot be damaged"
	for ask in check report csp coz 'query count(working)>=1'; do
		"$analyze" ${ask%% *} t ${ask#"${ask%% *}"} >out 2>err
		[ $? -eq 1 ] || fail "$name: ${ask%% *}: expected status 1: $(head -3 out err)"
		grep -qE "^(dprof-analyze: )?$diagnostic" out err || fail "$name: ${ask%% *} does not name it: $(cat err out | head -5)"
		read -r line <out
		[ "$ask" = check ] || [[ $line = 'Damaged: '* ]] || fail "$name: ${ask%% *}: $line"
	done
	"$analyze" check t >out
	[ "$(grep -c "${threads:-7} threads" out)" -eq 1 ] || fail "$name: expected ${threads:-7} threads: $(tail -1 out)"
}

named 'no nursery' "$stem-1.events: expected the events of a thread that $stem.process names, found no such file, nor its slot in $stem.nursery" \
	rm "$stem.nursery"
named 'no nursery, but what follows' "$stem-3.events: expected the slot of thread 3 in $stem.nursery, where it began, found none" \
	rm "$stem.nursery"
named 'cut between slots' "$stem-5.events: expected the events of a thread that $stem.process names, found no such file, nor" \
	truncate -s "$(slot 5)" "$stem.nursery"
named 'cut in a header' "$stem.nursery: expected a header of 512 bytes, found a file that is cut short \(100 bytes\)" \
	truncate -s "$(slot 5 100)" "$stem.nursery"
named 'cut in a chunk' "$stem.nursery: offset $(slot 5 512): expected a chunk of [0-9]* words, found 5: the file is cut short" \
	truncate -s "$(slot 5 552)" "$stem.nursery"
named 'another magic' "$stem.nursery: offset $(slot 5): expected 'dprofev2', found 'Xprofev2': no file of events" \
	poke "$stem.nursery" "$(slot 5)" X
named 'another thread' "$stem.nursery: offset $(slot 5 20): expected thread 5, found 8" \
	poke "$stem.nursery" "$(slot 5 20)" '\x08'
named 'another process' "$stem.nursery: offset $(slot 5 32): expected pid [0-9]*, found " \
	poke "$stem.nursery" "$(slot 5 35)" '\x08'
named 'another end' "$stem.nursery: offset [0-9]*: expected the sum 0x[0-9a-f]* of the header, found" \
	change "$stem.nursery" "$(slot 5 56)"
named 'another word' "$stem.nursery: offset $(slot 5 512): expected [0-9]* words with the sum 0x[0-9a-f]*, found 0x" \
	change "$stem.nursery" "$(slot 5 540)"
named 'no chunk' "$stem.nursery: expected chunk 0 here or in $stem-5.packed, found neither" \
	poke "$stem.nursery" "$(slot 5 512)" '\0\0\0\0\0\0\0\0'
named 'no slot' "$stem-5.events: expected the events of a thread that $stem.process names, found no such file, nor" \
	dd if=/dev/zero of="$stem.nursery" bs=4096 seek=5 count=1 conv=notrunc status=none
named 'a file that is none of events' "$stem-3.events: expected what thread 3 recorded behind its slot in $stem.nursery, found another header" \
	cp "$stem-0.events" "$stem-3.events"
named 'nothing of what follows' "$stem-3.events: expected chunk 1 here or in $stem-3.packed, found neither" \
	rm -f "$stem-3.events" "$stem-3.packed"
# Where all of that was packed no record is lost; but it is named.
for size in 0 2048 none; do
	[ "$(stat -c %s "whole/$stem-3.events")" -eq 4096 ] || break
	rm -rf t && cp -r whole t && if [ $size = none ]; then rm "t/$stem-3.events"; else truncate -s $size "t/$stem-3.events"; fi
	"$analyze" check t >out || fail "$size bytes: status $?: $(cat out)"
	grep -q "^note: $stem-3.events: expected the file in which thread 3 of $stem.process went on" out || fail "$size bytes: $(cat out)"
done
"$analyze" check whole >out
! grep note: out || fail "the whole trace has notes"

# A process that was killed has not said which of its threads have files: the first one has, and who was joined.
killed() { # command...
	{ grep -vE '^(threads|finished|sum) ' "$stem.process"; head -c 512 /dev/zero; } >process && mv process "$stem.process" && "$@"
}
threads=2 named 'killed, and no nursery' "$stem-6.events: expected the events of a thread of $stem.process, of which others are here" \
	killed rm "$stem.nursery" "$stem-3.events" "$stem-3.packed" "$stem-6.events" "$stem-6.packed"
named 'killed, and no first thread' "$stem-0.events: expected the events of a thread of $stem.process, of which others are here" \
	killed rm -f "$stem-0.events" "$stem-0.packed"

# Slots of each other.
both() {
	dd if="$stem.nursery" of=four bs=4096 skip=4 count=1 status=none
	dd if="$stem.nursery" of=five bs=4096 skip=5 count=1 status=none
	dd if=four of="$stem.nursery" bs=4096 seek=5 conv=notrunc status=none
	dd if=five of="$stem.nursery" bs=4096 seek=4 conv=notrunc status=none
	rm four five
}
named 'slots of each other' "$stem.nursery: offset $(slot 4 20): expected thread 4, found 5" both

# The same bytes for several jobs, and for several processes.
mpirun=$(command -v mpirun.openmpi) && [ -e "$B/lib/dprof/driver-openmpi.so" ] || mpirun=
rm -rf cut && cp -r whole cut && truncate -s "$(slot 5 552)" "cut/$stem.nursery"
for trace in whole cut; do
	for words in check dump 'report --json'; do
		"$analyze" $words --jobs 1 $trace >truth 2>&1
		"$analyze" $words --jobs 3 $trace >out 2>&1
		cmp -s out truth || fail "$words --jobs 3 $trace: $(diff truth out | head -5)"
		[ -n "$mpirun" ] || continue
		job err $mpirun --allow-run-as-root --oversubscribe -n 3 "$analyze" $words --jobs 1 $trace >out
		grep '^dprof-analyze: ' err >>out
		"$analyze" $words --jobs 1 $trace >truth 2>err
		grep '^dprof-analyze: ' err >>truth
		cmp -s out truth || fail "$words $trace in 3 processes: $(diff truth out | head -5)"
	done
done

# Much that is none is read once, and named once.
rm -rf t && cp -r whole t && head -c 40000000 /dev/zero | tr '\0' 'x' >>"t/$stem.nursery"
timeout 60 "$analyze" check t >out
[ $? -eq 1 ] && [ "$(wc -l <out)" -lt 1100 ] && grep -q "expected slots of threads, found 97[0-9][0-9] that are none" out ||
	fail "40 MB of something else: $(tail -2 out)"
truncate -s 100G "t/$stem.nursery"
timeout 60 "$analyze" check t >out
[ $? -eq 1 ] || fail "100 GB of nothing: $(tail -2 out)"
[ "$failed" = 0 ] && echo "as expected"
exit "$failed"

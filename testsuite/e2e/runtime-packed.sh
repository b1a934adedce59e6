#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What a thread packed while it recorded is read back whole, also while the program runs and after it was
# killed, and in the forms before; and what is damaged of it is named, by file and offset, and the rest analysed.
. testsuite/lib.sh
export PKG_CONFIG_PATH=$B/lib/pkgconfig
fixtures=$PWD/testsuite/fixtures/analysis
visits=100000 # 1.6 MB in each thread

# shellcheck disable=SC2046
gcc -O2 $(pkg-config --cflags dprof) testsuite/fixtures/runtime/loop.c -o "$dir/loop" $(pkg-config --libs dprof) ||
	exit 1
from=$PWD/testsuite/fixtures/runtime
cd "$dir" || exit 1

events() { # directory thread: of the region
	"$analyze" dump "$1" 2>/dev/null |
		awk -v t="$2" '/^site .* name=body / { s = $2 } $1 == "e" && $2 == t && $4 == s { n++ } END { print n + 0 }'
}

# That there is no end of it, and nothing else.
unfinished() { # what
	"$analyze" check dprof-loop.* >text 2>&1
	[ $? = 1 ] && [ "$(grep -vc '^note: .* when \(its\|their\) records end: ' text)" = 2 ] && grep -q "expected a line 'finished'" text &&
		grep -q '^dprof-loop.*: 1 problem; .* [1-9][0-9]* events' text || fail "$1: $(cat text)"
}

# ---- packed ----------------------------------------------------------------------------------------------

DPROF_DIR=$dir DPROF_BUFFER=64K ./loop $visits >out || fail "exit status $?"
mv dprof-loop.* whole
"$analyze" check whole >text 2>&1 || fail "check: $(cat text)"
for thread in 0 1; do
	[ "$(events whole $thread)" = $((2 * visits)) ] || fail "thread $thread: $(events whole $thread) events"
done
packed=$(ls whole/*-0.packed) || { fail "thread 0 packed nothing"; exit 1; }
name=${packed#whole/}
[ "$(stat -c %s "$packed")" -lt $((4 * 2 * visits)) ] || fail "packed: $(stat -c %s "$packed") bytes"

# ---- the forms before --------------------------------------------------------------------------------------

# Recorded when parts were one zstd frame each, and when they did not say whose they are: two threads that lock, sleep
# and are in a region 300 times. Their events are those that were read then.
old() { # trace form events sum
	cat "$1"/*-1.packed | head -c 4 | grep -q "$2" || fail "$1: not of the form $2"
	"$analyze" check "$1" >text 2>&1 || fail "$1: $(cat text)"
	grep -q ", $3 events$" text || fail "$1: $(cat text)"
	[ "$("$analyze" dump "$1" | grep '^e ' | cksum)" = "$4" ] || fail "$1: other events"
}
[ "$(head -c 4 "$packed")" = DPR4 ] || fail "not of the form that is now"
old "$fixtures/packed-1" DPRT 3136 "3921524885 115878"
old "$fixtures/packed-2" DPR2 3138 "171573704 115951"
old "$fixtures/packed-3" DPR3 3050 "2196573926 116673"

# ---- threads that run on when their process ends ------------------------------------------------------------

# Four of them have recorded much, and wait for ever; with "later" until dprof has finished, then they record on.
cat >on.c <<'END'
#include <pthread.h>
#include <string.h>
#include <time.h>
enum { THREADS = 4 };
void run_on(void);
extern int later_on, recorded_on;
static pthread_barrier_t barrier;
static void nap(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, 0);
}
static void visit(int times)
{
	static volatile int n;
	for (int i = 0; i < times; i++) {
#pragma dprof region(body)
		n = i;
	}
}
static void *work(void *unused)
{
	visit(50000);
	pthread_barrier_wait(&barrier);
	while (!__atomic_load_n(&later_on, __ATOMIC_SEQ_CST))
		nap();
	visit(5);
	__atomic_add_fetch(&recorded_on, 1, __ATOMIC_SEQ_CST);
	for (;;)
		nap();
	return unused;
}
int main(int argc, char **argv)
{
	pthread_t thread;
	pthread_barrier_init(&barrier, 0, THREADS + 1);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&thread, 0, work, 0);
	pthread_barrier_wait(&barrier);
	if (argc > 1 && !strcmp(argv[1], "later"))
		run_on();
	return 0;
}
END
cat >later.c <<'END'
#include <time.h>
int later_on, recorded_on;
static int wanted;
void run_on(void) { wanted = 4; }
static void __attribute__((destructor)) end(void)
{
	__atomic_store_n(&later_on, wanted, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&recorded_on, __ATOMIC_SEQ_CST) < wanted)
		nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, 0);
}
END
# liblater stands last, so its destructor runs behind that of libdprof.
# shellcheck disable=SC2046
gcc -shared -fPIC later.c -o liblater.so && gcc -O2 $(pkg-config --cflags dprof) on.c -o on -pthread \
	$(pkg-config --libs dprof) -L. -llater -Wl,-rpath,"$dir" || fail "on.c does not compile"
runs_on() { # events of a thread, arguments...
	rm -rf dprof-on.*
	DPROF_EVENTS=region DPROF_DIR=$dir timeout 60 ./on "${@:2}" || fail "on ${*:2}: exit status $?"
	"$B/bin/dprof-analyze" check dprof-on.* >text 2>&1 || fail "on ${*:2}: $(cat text)"
	for thread in 0 1 2 3; do
		[ "$(events dprof-on.* $thread)" = "$1" ] || fail "on ${*:2}: $(events dprof-on.* $thread) events of thread $thread"
	done
}
# What they have in memory is packed: in one of some tries the helper comes to that in time, also on a busy machine. How small
# that is then depends on how alike the stamps' differences are: 4 to 9 bits an event, more where the cores are shared. So
# what is told is that it is half of the words at most, and what else stays is no more than is not worth packing.
worth=65536 # DPROF_MUCH_WORDS
for try in $(seq 5); do
	runs_on 100000
	kept=$(du -cB1 dprof-on.*/*.events | tail -1 | cut -f1)
	small=$(du -cB1 dprof-on.*/*.packed | tail -1 | cut -f1)
	[ "$kept" -gt $((4 * (worth + 8192))) ] || break
done
[ "$kept" -le $((4 * (worth + 8192))) ] && [ "$small" -le 1600000 ] ||
	fail "400,000 events of threads that run on take $kept bytes as they are and $small packed, $try times: $(ls -s dprof-on.*)"
for try in 1 2 3; do runs_on 100010 later; done
rm -rf dprof-on.*

# ---- what cannot be packed -----------------------------------------------------------------------------------

# The report says so, and why: beside a sanitizer, and where each event may be one in a signal handler.
unpacked() { # program cause
	rm -rf "dprof-$1".*
	DPROF_DIR=$dir ASAN_OPTIONS=detect_leaks=0 "./$1" >out || fail "$1: exit status $?"
	"$analyze" "dprof-$1".* >text 2>&1 || fail "$1: $(cat text)"
	tr -s ' \n' ' ' <text | grep -Eq " [89]\.[0-9] MB of records stand as they were recorded; .*: $2" || fail "$1: $(cat text)"
	rm -rf "dprof-$1".*
}
# shellcheck disable=SC2046
gcc -O2 $(pkg-config --cflags dprof) "$from/kept.c" -o kept $(pkg-config --libs dprof) &&
	gcc -O2 -fsanitize=address $(pkg-config --cflags dprof) "$from/kept.c" -o beside $(pkg-config --libs dprof) || exit 1
unpacked kept "each event that might have started dprof's helper may have been one in a signal handler"
unpacked beside "dprof starts no helper beside a sanitizer"
"$analyze" whole | tr -s ' \n' ' ' | grep "as they were recorded" | grep -v "the process ended before its helper came to that" &&
	fail "what is packed counts as unpacked"

# ---- a running program, and one that was killed ------------------------------------------------------------

DPROF_DIR=$dir DPROF_BUFFER=64K ./loop 200000000 >/dev/null &
pid=$!
until ls dprof-loop.*/*-0.packed >/dev/null 2>&1; do
	kill -0 $pid || { fail "the program ended before anything was packed"; break; }
done
for look in 1 2 3; do
	unfinished "look $look"
done
kill -9 $pid
wait $pid 2>/dev/null
unfinished killed

# ---- the end of a run --------------------------------------------------------------------------------------

# Nothing is left reserved, and what is not packed is little: some pages of either thread.
rm -rf dprof-loop.*
DPROF_DIR=$dir ./loop 50000 >out || fail "exit status $?"
mv dprof-loop.* ended
kept=$(du -cB1 ended/*.events | tail -1 | cut -f1)
[ "$kept" -le 131072 ] || fail "$kept bytes of files of events stay on disk: $(du -B1 ended/*)"
"$analyze" check ended >text 2>&1 || fail "ended: $(cat text)"
[ "$(events ended 0)" = 100000 ] || fail "ended: $(events ended 0) events"

# What is recorded behind that is kept, whether or not it comes to be packed.
# shellcheck disable=SC2046
gcc -O2 -shared -fPIC $(pkg-config --cflags dprof) "$from/late-library.c" -o liblate.so &&
	gcc -O2 $(pkg-config --cflags dprof) "$from/late.c" -o late $(pkg-config --libs dprof) -L. -llate -Wl,-rpath,"$dir" ||
	fail "late.c cannot be built"
for run in 1 2 3 4 5 6 7 8; do
	DPROF_DIR=$dir ./late || fail "late: exit status $?"
	"$analyze" check dprof-late.* >text 2>&1 && grep -q ' 140000 events' text || fail "late: $(cat text)"
	rm -r dprof-late.*
done

# What the helper is packing then is whole where it was, however long that still takes.
# shellcheck disable=SC2046
gcc -O2 $(pkg-config --cflags dprof) "$from/unpacked.c" -o unpacked $(pkg-config --libs dprof) || fail "unpacked.c cannot be built"
DPROF_BUFFER=4K DPROF_DIR=. ./unpacked 3000 || fail "unpacked: exit status $?"
fifo=$(echo dprof-unpacked.*/*-1.packed)
[ -p "$fifo" ] && mv kept "$fifo" || fail 'unpacked: no FIFO'
"$analyze" check dprof-unpacked.* >text 2>&1 || fail "unpacked: $(cat text)"
[ "$(events dprof-unpacked.* 1)" = 12000 ] || fail "unpacked: $(events dprof-unpacked.* 1) events"

# ---- damage ------------------------------------------------------------------------------------------------

# Byte OFFSET becomes another one.
flip() { # file offset
	local byte
	byte=$(od -An -tu1 -j "$2" -N1 "$1")
	# shellcheck disable=SC2059
	printf "\\x$(printf %02x $((byte ^ 0x55)))" | dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}

damaged() { # what diagnostic command...
	local what=$1 diagnostic=$2 status
	shift 2
	rm -rf copy
	cp -r whole copy
	"$@"
	"$analyze" check copy >text 2>&1
	status=$?
	[ $status = 1 ] || fail "$what: exit status $status"
	grep -q "$diagnostic" text || fail "$what: $(cat text)"
	local rest
	rest=$(events copy 0)
	[ "$rest" -lt $((2 * visits)) ] && [ "$rest" -gt 0 ] || fail "$what: $rest events of thread 0 are left"
	[ "$(events copy 1)" = $((2 * visits)) ] || fail "$what: events of thread 1 are missing"
}

size=$(stat -c %s "$packed")
damaged "a file cut short" \
	"^[^ ]*-0.events: expected chunk [0-9]* here or in $name, found neither ([0-9]* of [0-9]* chunks are missing)" \
	truncate -s $((size / 2)) "copy/$name"
damaged "packed words" \
	"^$name: offset 0: expected the packed records that its checksum tells, found others ([0-9]* words are left out)" \
	flip "copy/$name" 100
damaged "a header" "^$name: offset 0: expected packed records of this thread, found 0x" flip "copy/$name" 16
damaged "zeros" "^$name: offset [0-9]*: expected packed records of this thread, found 0x" \
	dd if=/dev/zero of="copy/$name" bs=1 seek=$((size / 3)) count=50000 conv=notrunc status=none
damaged "the records of another thread" "^$name: offset 0: expected packed records of this thread, found 0x" \
	cp copy/*-1.packed "copy/$name"
damaged "no file" "^[^ ]*-0.events: expected chunk [0-9]* here or in $name, found neither" rm "copy/$name"
flip_numbers() { # of all chunks that are left in the file of events, whose places double up to 64 KiB
	local file size bytes at=4096
	file=$(echo copy/*-0.events)
	size=$(stat -c %s "$file")
	bytes=$(od -An -tu8 -j 88 -N8 "$file" | tr -d ' ')
	while [ $at -lt "$size" ]; do
		[ "$(od -An -tu8 -j $at -N8 "$file" | tr -d ' ')" = 0 ] || flip "$file" $at
		at=$((at + bytes))
		bytes=$((bytes < 32768 ? 2 * bytes : 65536))
	done
}
damaged "the number of a chunk" "^[^ ]*-0.events: offset [0-9]*: expected the number of a chunk, found 0x.* left out)" \
	flip_numbers

exit $failed

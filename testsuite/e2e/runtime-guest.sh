#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The recorder is a guest: whatever the environment says or the disk refuses, the program prints
# what it prints without us and ends as it would; and nothing that exists is overwritten.
. testsuite/lib.sh
trap '[ -d "$dir/tiny" ] && mountpoint -q "$dir/tiny" && umount "$dir/tiny"; rm -rf "$dir"' EXIT
export PKG_CONFIG_PATH=$B/lib/pkgconfig
lines=

# What the program says of itself, and not one byte more; but where nothing at all can be recorded one line.
runs() { # what, command...
	local what=$1
	shift
	"$@" >out 2>err || fail "$what: exit status $?"
	[ -z "$lines" ] || sed -i '1{/^dprof: nothing is recorded: /d}' err
	[ "$(cat out)" = "ran 6" ] || [ "$(cat out)" = "ran 9999900000" ] || fail "$what: printed $(cat out)"
	[ ! -s err ] || fail "$what: wrote to stderr: $(cat err)"
}

traces() {
	find "$1" -maxdepth 1 -name 'dprof-*' 2>/dev/null | wc -l
}

# shellcheck disable=SC2046
gcc -O2 $(pkg-config --cflags dprof) testsuite/fixtures/runtime/loop.c -o "$dir/loop" $(pkg-config --libs dprof) ||
	fail "cannot compile with what pkg-config says"
# shellcheck disable=SC2046
gcc -O2 -Wno-unknown-pragmas testsuite/fixtures/runtime/loop.c -o "$dir/bare" $(pkg-config --libs dprof)
for s in address undefined thread; do
	# shellcheck disable=SC2046
	gcc -O1 -fsanitize=$s $(pkg-config --cflags dprof) testsuite/fixtures/runtime/loop.c -o "$dir/loop-$s" -pthread \
		$(pkg-config --libs dprof) || fail "cannot compile with -fsanitize=$s"
done
# shellcheck disable=SC2046
gcc -O2 $(pkg-config --cflags dprof) testsuite/fixtures/threads/robust.c -o "$dir/robust" -pthread $(pkg-config --libs dprof) ||
	fail "cannot compile robust.c"
# shellcheck disable=SC2046
gcc -O1 $(pkg-config --cflags dprof) testsuite/fixtures/threads/cancelled-joins.c -o "$dir/cancelled-joins" -pthread \
	$(pkg-config --libs dprof) || fail "cannot compile cancelled-joins.c"
# shellcheck disable=SC2046
gcc -O1 $(pkg-config --cflags dprof) testsuite/fixtures/libc/no-null.c -o "$dir/no-null" $(pkg-config --libs dprof) &&
	gcc -O1 testsuite/fixtures/libc/no-null.c -o "$dir/no-null-bare" || fail "cannot compile no-null.c"
# shellcheck disable=SC2046
gcc -O1 -fno-builtin $(pkg-config --cflags dprof) testsuite/fixtures/threads/own-malloc.c -o "$dir/own-malloc" -pthread $(pkg-config --libs dprof) ||
	fail "cannot compile own-malloc.c"
cd "$dir" || exit 1
[ "$(timeout -s KILL 20 ./own-malloc)" = fine ] || fail "a program with a malloc of its own, under a lock, did not end"
"$analyze" check dprof-* >said
if ! grep -q "dropped: dprof itself called the C library, and it the program's malloc" said || grep -q 'signal handler' said; then
	fail "events in a malloc that dprof called are dropped: $(cat said)"
fi
rm -rf dprof-*
mkdir -p root/dev
echo "a file" >root/dev/null
timeout -s KILL 20 ./no-null-bare root >said
[ $? = 77 ] || [ "$(timeout -s KILL 20 ./no-null root)" = "$(cat said)" ] ||
	fail "daemon() where /dev/null is a file: expected $(cat said)"
[ "$(cat root/dev/null)" = "a file" ] || fail "a daemon has written into the file /dev/null"
rm -rf dprof-* root
timeout -s KILL 60 ./cancelled-joins >said || fail "joins that are cancelled keep memory: exit status $?, $(cat said)"
rm -rf dprof-*
[ "$(timeout 20 ./robust)" = "130 0 131" ] || fail "a robust mutex that is not recoverable: expected EOWNERDEAD, 0, ENOTRECOVERABLE"
rm -rf dprof-*
readelf -d loop | grep -q libdprof-openmpi && fail "a program without MPI has the adapter"

runs plain ./loop
[ "$(traces .)" = 1 ] || fail "no trace directory in the current one"
process=$(echo dprof-loop.*/*.process)
for key in program job host hostid pid ghz clock started module finished; do
	grep -q "^$key [^ ]" "$process" || fail "no line '$key' in the process file"
done
grep -q '^note' "$process" && fail "a note where all is well: $(grep '^note' "$process")"
sites=$(sed -n 's/.*sites=\([^ ]*\) .*loop$/\1/p' "$process")
grep -q body "dprof-loop."*/"$sites" || fail "the copy of the sites does not name the region"
rm -rf dprof-*

for yes in 1 true YES on; do
	runs "DPROF_OFF=$yes" env DPROF_OFF=$yes ./loop
done
[ "$(traces .)" = 0 ] || fail "DPROF_OFF leaves a trace"

mkdir there
runs DPROF_DIR env DPROF_DIR=there ./loop 3 /
[ "$(traces there)" = 1 ] || fail "DPROF_DIR: no trace there when the program changes its directory"

lines=1
runs "a DPROF_DIR that does not exist" env DPROF_DIR=nowhere/at/all ./loop
touch file
runs "a DPROF_DIR that is a file" env DPROF_DIR=file ./loop
lines=

runs "values that are none" env DPROF_DIR=there DPROF_BUFFER=many DPROF_SYNC_INTERVAL=-3 DPROF_SYNC_TOPOLOGY=knot ./loop
for name in BUFFER SYNC_INTERVAL SYNC_TOPOLOGY; do
	[ "$(cat there/dprof-*/*.process | grep -c "^note DPROF_$name%20is%20not")" = 1 ] || fail "no note about DPROF_$name, or two"
done
runs "a DPROF_BUFFER that is too small" env DPROF_DIR=there DPROF_BUFFER=1 ./loop
grep -rq '^note DPROF_BUFFER%20is%20less%20than%204K' there || fail "no note about a DPROF_BUFFER of 1"

# Two processes of one job with one rank, one after the other: two directories.
job() {
	env PMIX_NAMESPACE=a/b@7 PMIX_RANK=3 DPROF_HOST='x y/../z' ./loop
}
runs "a job" job
runs "the job again" job
[ -s dprof-loop.a_b_7/x_y_.._z-3.process ] && [ -s dprof-loop.a_b_7.2/x_y_.._z-3.process ] ||
	fail "expected dprof-loop.a_b_7 and .2, found $(ls -d dprof-*)"
[ "$(find . '(' -name '*.events' -o -name '*.nursery' ')' -path '*a_b_7*' | wc -l)" = 4 ] ||
	fail "the second run wrote over the first"

runs "nothing instrumented" ./bare
# It may have been compiled with the plugin, with nothing in it to record; and be of any language.
grep -q '^note bare:.*fplugin.*nothing%20was%20marked' dprof-bare.*/*.process || fail "no note that nothing was instrumented"
"$analyze" csp dprof-bare.* | tr -s '\n ' ' ' >page
grep -q 'pragma dprof region(NAME) (in Fortran: call dprof_enter' page || fail "no advice in Fortran: $(cat page)"

# No address space, no bytes in files: unharmed.
runs "files of at most 16 KiB" bash -c 'ulimit -f 16; exec ./loop 100000'
lines=1
runs "files of no bytes" bash -c 'set -o pipefail; (ulimit -f 0; exec ./loop 100000) | cat'
lines=
runs "no address space" bash -c 'ulimit -v 8000; exec ./loop 100000'

if [ "$(id -u)" = 0 ] && mkdir tiny && mount -t tmpfs -o size=256k none tiny 2>/dev/null; then
	runs "a full disk" env DPROF_DIR=tiny ./loop 100000
	"$analyze" dump tiny/dprof-loop.* >text 2>&1
	grep -q '^e .* enter' text || fail "a full disk: nothing of what fitted can be read"
	umount tiny
	mount -t tmpfs -o size=256k,ro none tiny && lines=1 && runs "a read-only disk" env DPROF_DIR=tiny ./loop
	lines=
	umount tiny
fi

# Where the counter is not to be used each event takes the slow path and reads another clock.
mkdir clock
FREEZER_CLOCK=monotonic_raw DPROF_DIR=clock ./loop 1000 >out || fail "another clock: status $?"
"$analyze" check clock/dprof-loop.* >text 2>&1 || fail "another clock: $(cat text)"
"$analyze" dump clock/dprof-loop.* >text
grep -q '^clock 0 .* ghz=1 source=monotonic_raw' text || fail "another clock: $(grep '^clock' text)"
awk 'NR == FNR { now = $1 * 1e9; next } # nanoseconds since the machine started, or nearly so
	/^e 1 [0-9]+ [0-9]+ (enter|exit)/ { n++; if ($3 < now * 0.8 || $3 > now * 1.2) bad = $0 }
	END { if (n != 2000 || bad) { print n " events, " bad; exit 1 } }' /proc/uptime text >said ||
	fail "another clock: $(cat said)"

# Sanitizers watch the program, and find nothing of ours.
for s in address undefined thread; do
	runs "-fsanitize=$s" ./loop-$s 100000
	events=$("$analyze" dump dprof-loop-$s.* | grep -c '^e 1 .* e[nx][ti][et]')
	[ "$events" = 200000 ] || fail "-fsanitize=$s: the second thread's records: $events"
done

# What the helper holds must not keep a pipe open, and the numbers of descriptors are the program's.
timeout 10 bash -c './loop 100000 | cat' >out || fail "a pipe stays open"

[ "$failed" = 0 ] && echo "as expected"
exit "$failed"

#!/bin/bash
# SPDX-License-Identifier: MIT
#
# `dprof-analyze sites` lists of an object, an archive, a shared library and an executable, without running them, just those
# sites that a trace of the program names; and whatever a file holds, it comes to an end and says what is wrong.
. testsuite/lib.sh
export DPROF_DIR=$dir/traces
mkdir "$DPROF_DIR"
cat >"$dir/app.c" <<'END_C'
#include <pthread.h>
static int n;
static pthread_mutex_t lock;
static void *body(void *unused)
{
#pragma dprof region(evilname)
	n++;
	return unused;
}
int main(void)
{
	pthread_t t;
	pthread_create(&t, 0, body, 0);
	pthread_join(t, 0);
#pragma dprof progress(done)
#pragma dprof region(begun) instance(n) role(stage:12)
	n += 0;
	pthread_mutex_lock(&lock);
	pthread_mutex_unlock(&lock);
	return n - 1;
}
END_C
echo 'int nothing(void) { return 0; }' >"$dir/nothing.c"
(cd "$dir" && "$B/bin/dprof-cc" -O2 -c app.c && gcc -c nothing.c && ar rc all.a app.o nothing.o && "$B/bin/dprof-cc" app.o -o app &&
	"$B/bin/dprof-cc" -O2 -flto -c app.c -o lto.o && "$B/bin/dprof-cc" -O2 -flto lto.o -o lto &&
	"$B/bin/dprof-cc" -O2 -fPIC -shared app.c -o lib.so &&
	strip -o stripped app && ./app) || exit 1
"$analyze" dump --json "$DPROF_DIR"/dprof-app.* >"$dir/trace.json" || exit 1

sites() { # file: a line for each
	"$analyze" sites --json "$1" 2>/dev/null | jq -c '.objects[].sites[] | del(.column)'
}
[ "$(sites "$dir/app" | wc -l)" -ge 5 ] || fail "few sites: $(sites "$dir/app")"
jq -c '.sites[] | del(.column)' "$dir/trace.json" | sort >"$dir/recorded"
sites "$dir/app" | sort | comm -13 - "$dir/recorded" | grep -v '"line":0' && fail "sites of the trace that the executable lacks"
for file in app.o all.a lib.so stripped lto; do
	sites "$dir/$file" | diff - <(sites "$dir/app") >"$dir/diff" ||
		fail "$file has other sites than the executable: $(cat "$dir/diff")"
done

# What people see.
(cd "$dir" && "$analyze" sites app all.a lto.o) >"$dir/out" || fail "status $?"
fits_80 "$dir/out" || fail "wider than 80 columns"
grep -qxE '  region +evilname \(app.c:6\)' "$dir/out" || fail "no region evilname: $(cat "$dir/out")"
grep -qxE '  region +stage:12 +begun \(app.c:16\)' "$dir/out" || fail "no region with a role: $(cat "$dir/out")"
grep -qxE '  region +automatic +body \(app.c:4\)' "$dir/out" || fail "no automatic region: $(cat "$dir/out")"
tr -s '\n ' ' ' <"$dir/out" >"$dir/line"
grep -qE 'app: executable, [0-9]+ sites: .*1 progress.*; linked with .*libdprof.so' "$dir/line" ||
	fail "no summary: $(cat "$dir/out")"
grep -qF 'all.a(nothing.o): object, 0 sites.' "$dir/out" || fail "no word of a member without sites: $(cat "$dir/out")"
grep -qF -e '(-flto)' "$dir/out" || fail "no word of -flto: $(cat "$dir/out")"
[ "$("$analyze" sites --json "$dir/lto.o" | jq '.objects[0].lto')" = true ] || fail "lto.o is not said to wait for linking"
[ "$("$analyze" sites --json "$dir/app" | jq '.objects[0].libraries | any(startswith("libdprof.so"))')" = true ] ||
	fail "the executable is not said to be linked with libdprof.so"

# ---- What is no such file, or a damaged one
refused() { # file, what is said
	"$analyze" sites "$1" >"$dir/out" 2>"$dir/err"
	[ $? -eq 1 ] && grep -qF -e "$2" "$dir/err" || fail "$1: expected status 1 and '$2': $(cat "$dir/err")"
}
refused "$dir/none" 'found nothing of that name'
refused "$dir" 'found a directory'
refused "$dir/app.c" 'expected an object, an archive'
: >"$dir/empty"
refused "$dir/empty" 'expected an object, an archive'
mkfifo "$dir/fifo"
refused "$dir/fifo" 'found a FIFO'
"$analyze" sites "$dir/none" "$dir/app" 2>/dev/null | grep -q evilname || fail "a file that is not there hides the next one"
"$analyze" sites 2>/dev/null && fail "no file: expected status 2"

sed 's/evilname/\x1b[31mabc/' "$dir/app" >"$dir/evil"
"$analyze" sites "$dir/evil" | grep -qF '\x1b[31mabc' || fail "an escape sequence is shown as it is"
sed 's/TISD/TISX/; s/DSIT/XXXX/' "$dir/app.o" >"$dir/magic.o"
refused "$dir/magic.o" 'bytes that are none'

# Any damage: an end in time, and no crash.
python3 - "$dir/app.o" "$dir/all.a" "$dir/app" "$dir" <<'END_PY'
import random, sys
random.seed(7)
for k in range(60):
    data = bytearray(open(sys.argv[1 + k % 3], 'rb').read())
    for _ in range(random.choice([1, 4, 30])):
        data[random.randrange(random.choice([64, 200, len(data)]))] = random.choice([0, 0xff, random.randrange(256)])
    if k % 4 == 0:
        data = data[:random.randrange(len(data))]
    open('%s/damaged-%d' % (sys.argv[4], k), 'wb').write(data)
END_PY

# Without its end a file may have had any sites.
head -c 3000 "$analyze" >"$dir/cut"
"$analyze" sites "$dir/cut" >"$dir/out" 2>"$dir/err" && fail "a file that is cut short is fine"
grep -q "cut: expected a table of sections, found the end of the file: it is cut short" "$dir/err" || fail "cut: $(cat "$dir/err")"

(cd "$dir" && ar rcT thin.a app.o) || fail "ar makes no thin archive"
"$analyze" sites "$dir/thin.a" >"$dir/out" 2>"$dir/err" && fail "a thin archive has objects"
grep -q "thin.a: expected an archive with objects, found a thin one" "$dir/err" || fail "thin: $(cat "$dir/err")"

for file in "$dir"/damaged-*; do
	(ulimit -t 10; exec timeout 60 "$analyze" sites --json "$file") >"$file.json" 2>"$dir/err"
	status=$?
	[ $status -le 1 ] || fail "$file: status $status: $(cat "$dir/err")"
done
jq -n '[inputs] | length' "$dir"/damaged-*.json >"$dir/out" 2>"$dir/err" &&
	[ "$(cat "$dir/out")" = "$(find "$dir" -name 'damaged-*.json' -size +0 | wc -l)" ] ||
	fail "no JSON: $(cat "$dir/out" "$dir/err")"
exit $failed

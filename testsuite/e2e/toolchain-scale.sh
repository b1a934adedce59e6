#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Each event is resolved to the right site: of 10,000 in one program; of 100 shared objects that are linked, and of
# 100 that come and go; and where two objects lie so that 24 bits of an address do not tell them apart.
. testsuite/lib.sh
export DPROF_DIR=$dir/traces
mkdir "$DPROF_DIR"
bin=$B/bin
cd "$dir" || exit 1
names() { # of the regions that thread 0 enters, in order
	"$bin/dprof-analyze" dump "$DPROF_DIR"/* 2>problems | awk '$1 == "site" { sub("name=", "", $4); name[$2] = $4; kind[$2] = $3 }
		$1 == "e" && $2 == 0 && $5 == "enter" && !($4 in name) { print "unresolved" }
		$1 == "e" && $2 == 0 && $5 == "enter" && kind[$4] == "kind=region" { print name[$4] }'
}
expect() { # what; the names on standard input
	names >got
	diff - got >difference || fail "$1: (< expected, > found) $(wc -l <difference) lines, first: $(head -5 difference)"
	[ ! -s problems ] || fail "$1: dump says $(head -3 problems)"
	rm -rf "$DPROF_DIR"/*
}
notes() { grep -ah '^note' "$DPROF_DIR"/*/*.process; }

# ---- 10,000 sites, in ten files, one function each ---------------------------------------------------------------------
for f in 0 1 2 3 4 5 6 7 8 9; do
	awk -v f=$f 'BEGIN {
		print "extern volatile int work; void file" f "(void); void file" f "(void) {"
		for (i = 0; i < 1000; i++) print "#pragma dprof region(r" f "_" i ")\nwork++;"
		print "}" }' >"file$f.c"
done
printf 'volatile int work;\n%s\nint main(void) { %s return 0; }\n' "$(printf 'void file%s(void);' 0 1 2 3 4 5 6 7 8 9)" \
	"$(printf 'file%s();' 0 1 2 3 4 5 6 7 8 9)" >main.c
"$bin/dprof-cc" -O1 main.c file?.c -o many && ./many || fail "10,000 sites"
for f in 0 1 2 3 4 5 6 7 8 9; do for ((i = 0; i < 1000; i++)); do echo "r${f}_$i"; done; done | expect "10,000 sites"

# ---- 6,000 in one function, and as much time and memory as that takes --------------------------------------------------------
awk 'BEGIN { print "extern volatile int work; void all(void); void all(void) {"
	for (i = 0; i < 6000; i++) print "#pragma dprof region(all" i ")\nwork++;"
	print "}" }' >all.c
cost() { # file, command... -> user seconds and KB
	/usr/bin/time -f '%U %M' -o "$1" "${@:2}" || fail "all.c"
}
if [ -x /usr/bin/time ]; then
	{ sed -n '1,4001p' all.c; echo "}"; } >third.c
	# Three times as many take three times as long, not nine times; the compiler itself is a little worse than that.
	# Of five tries the best counts: whatever else the machine does only adds to a time.
	for try in 1 2 3 4 5; do
		cost third "$bin/dprof-cc" -O2 -c -x c third.c -o all.o
		cost whole "$bin/dprof-cc" -O2 -c all.c
		paste third whole | awk '{ print "2000 regions in one function: " $1 " s, " $2 " KB; 6000: " $3 " s, " $4 " KB"
			exit $3 > 6 * $1 + 0.2 }' && break
		[ $try -lt 5 ] || fail "regions of one function take each other's time"
	done
fi

# ---- 100 shared objects ----------------------------------------------------------------------------------------------------
cat >object.c <<'END'
#define PASTE(a, b) a##b
#define NAMED(a, b) PASTE(a, b)
volatile int work;
void NAMED(call, N)(void);
void NAMED(call, N)(void)
{
#pragma dprof region(NAMED)
	work++;
}
END
for i in 100 101; do
	sed "s/region(NAMED)/region(object$i)/; s/volatile int work/static &/" object.c >"o$i.c"
done
# As if each had been compiled: they differ in these names alone, which are all as long. None calls the C library.
"$bin/dprof-cc" -DN=100 -O1 -fPIC -S o100.c || fail "o100.c"
for ((i = 100; i < 200; i++)); do
	sed "s/object100/object$i/g; s/call100/call$i/g" o100.s >"libo$i.s"
	gcc -shared -nostdlib "libo$i.s" -o "libo$i.so" || fail "libo$i.so"
done
{
	for ((i = 100; i < 200; i++)); do echo "void call$i(void);"; done
	echo 'int main(void) { for (int n = 0; n < 3; n++) {'
	for ((i = 100; i < 200; i++)); do echo "call$i();"; done
	echo '} return 0; }'
} >linked.c
# shellcheck disable=SC2046
"$bin/dprof-cc" linked.c -L. $(printf -- '-lo%d ' $(seq 100 199)) -Wl,-rpath,"$dir" -o linked && ./linked || fail "100 objects"
for n in 1 2 3; do for ((i = 100; i < 200; i++)); do echo "object$i"; done; done | expect "100 linked objects"

cat >load.c <<'END'
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
	int close_at_once = atoi(argv[1]);
	void *object[100];
	for (int n = 0; n < 3; n++)
		for (int i = 0; i < 100; i++) {
			char path[64], name[32];
			snprintf(path, sizeof(path), "./libo%d.so", 100 + i);
			snprintf(name, sizeof(name), "call%d", 100 + i);
			object[i] = dlopen(path, RTLD_NOW);
			if (!object[i])
				return puts(dlerror());
			((void (*)(void))dlsym(object[i], name))();
			if (close_at_once && dlclose(object[i]))
				return puts(dlerror());
		}
	return argc != 2;
}
END
"$bin/dprof-cc" load.c -ldl -o load
for close in 0 1; do
	./load $close || fail "dlopen of 100 objects, closed at once: $close"
	notes | grep unseen && fail "an object was closed unseen"
	for n in 1 2 3; do for ((i = 100; i < 200; i++)); do echo "object$i"; done; done |
		expect "100 objects with dlopen, closed at once: $close"
done

# ---- a clash: two objects 128 MiB apart, so that words do not tell their sites apart ---------------------------------------
cat >clash.c <<'END'
#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>
static void call(const char *path, const char *name)
{
	void *object = dlopen(path, RTLD_NOW);
	if (object)
		((void (*)(void))dlsym(object, name))();
	else
		puts(dlerror());
}
int main(int argc, char **argv)
{
	call("./low.so", "call100");
	usleep(200000); /* from here on records are short, unless the machine is very busy */
	call("./low.so", "call100");
	call("./high.so", "call101"); /* it says that there is a clash */
	while (access("noted", F_OK))
		usleep(10000);
	for (int i = 0; i < 1000; i++) {
		call("./low.so", "call100");
		call("./high.so", "call101");
	}
	return argc != 1;
}
END
"$bin/dprof-cc" clash.c -ldl -o clash &&
	"$bin/dprof-cc" -DN=100 -O1 -fPIC -shared -Wl,-Ttext-segment=0x610000000000 o100.c -o low.so &&
	"$bin/dprof-cc" -DN=101 -O1 -fPIC -shared -Wl,-Ttext-segment=0x610008000000 o101.c -o high.so || fail "clash"
./clash &
pid=$!
for _ in $(seq 1200); do # a minute
	notes 2>/dev/null | grep -q 'end%20alike' && break
	sleep 0.05
done
notes | grep -q 'end%20alike' || fail "no note of the clash: do the objects lie where they should?"
touch noted
wait $pid || fail "the program with a clash fails"
names >got
# No event has another one's name. Those of the first calls that were recorded short before the note are left out, and
# counted: an enter and an exit each.
{ printf 'object%d\n' 100 100 101; yes 'object100
object101' | head -2000; } >called
[ "$(tail -2000 got)" = "$(tail -2000 called)" ] || fail "with a clash: $(diff <(tail -2000 got) <(tail -2000 called) | head -5)"
first=$(head -n -2000 got | tr '\n' ' ')
case 'object100 object100 object101 ' in *"$first"*) ;; *) fail "with a clash the first calls are $first" ;; esac
left_out=$((2 * (2003 - $(wc -l <got))))
if [ $left_out = 0 ]; then
	[ ! -s problems ] || fail "expected no problems, found $(cat problems)"
else
	grep -q "expected an address in one module of its process, found .*, which is in several (and $((left_out - 1)) more like it)" problems ||
		fail "expected $left_out events that are in several modules, found $(cat problems)"
fi
exit $failed

#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What does not go together is refused when it is linked or loaded, by a message that names dprof; and 10,000
# threads are recorded or counted.
. testsuite/lib.sh
export DPROF_DIR=$dir/traces
mkdir "$DPROF_DIR"
plugin=$(PKG_CONFIG_PATH=$B/lib/pkgconfig pkg-config --variable=plugin dprof)
cd "$dir" || exit 1
printf 'int main(void)\n{\n\tvolatile int n = 0;\n#pragma dprof region(body)\n\tn++;\n\treturn n - 1;\n}\n' >app.c
gcc -fplugin="$plugin" -c app.c && gcc -fplugin="$plugin" -S app.c || fail "does not compile"

# Another compiler that is told to load the plugin: it says which one it needs. `foreign` does what clang does.
cat >foreign.c <<'END'
#include <dlfcn.h>
#include <stdio.h>
int main(int argc, char **argv)
{
	puts(argc > 1 && dlopen(argv[1], RTLD_NOW) ? "loaded" : dlerror());
	return 0;
}
END
gcc foreign.c -o foreign || fail "foreign does not compile"
needs="dprof's plugin needs GCC $(gcc -dumpfullversion)"
./foreign "$plugin" >out 2>err && fail "a compiler that is no GCC goes on: $(cat out err)"
grep -qF "$needs" err || fail "a compiler that is no GCC: $(cat out err)"
if command -v clang >/dev/null; then
	clang -fplugin="$plugin" -c app.c 2>err && fail "clang compiles"
	grep -qF "$needs" err || fail "clang: $(cat err)"
fi
for other in 9 10 11 13 14 15; do
	[ "$other" != "$(gcc -dumpversion)" ] && command -v gcc-$other >/dev/null || continue
	gcc-$other -fplugin="$plugin" -c app.c 2>err && fail "GCC $other compiles"
	grep -q "dprof was built for GCC .* but this is GCC $other" err || fail "GCC $other: $(cat err)"
done

# No library: the linker says what is needed.
gcc app.o -o app 2>err && fail "links without libdprof"
grep -q 'undefined reference to .__dprof_[0-9]*_needs_libdprof' err || fail "no library: the linker says $(cat err)"

# An object of another version does not link with this one's library, even beside objects of this version.
sed 's/__dprof_[0-9]*_needs/__dprof_1_needs/; s/main/older/g' app.s >older.s
"$B/bin/dprof-cc" app.o older.s -o app 2>err && fail "an object of another version links"
grep -q 'undefined reference to .__dprof_1_needs_libdprof' err || fail "another version: the linker says $(cat err)"

# A program of this version does not start with the library of another one.
"$B/bin/dprof-cc" app.o -o app && ./app || fail "does not run"
echo '__thread void *__dprof_cursor[2]; void __dprof_1_needs_libdprof(void) {}' >lib.c
name=$(readelf -d "$B/lib/libdprof.so" | sed -n 's/.*soname: \[\(.*\)\]/\1/p')
mkdir other && gcc -fPIC -shared lib.c -Wl,-soname,"$name" -o other/"$name"
gcc app.o -o moved -L"$B/lib" -ldprof && LD_LIBRARY_PATH=other LD_BIND_NOW=1 ./moved 2>err &&
	fail "runs with another version's library"
grep -q 'undefined symbol: __dprof_[0-9]*_needs_libdprof' err || fail "another library: the loader says $(cat err)"

# 10,000 threads, of which 1,000 at a time: all are recorded, or the loss is counted.
cat >threads.c <<'END'
#include <pthread.h>
#include <stdio.h>
static int started;
static void *work(void *unused)
{
#pragma dprof region(body)
	__atomic_fetch_add(&started, 1, __ATOMIC_RELAXED);
	return unused;
}
int main(void)
{
	pthread_attr_t small;
	static pthread_t thread[1000];
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 64 << 10);
	for (int n = 0; n < 10; n++) {
		for (int i = 0; i < 1000; i++)
			if (pthread_create(&thread[i], &small, work, NULL))
				return puts("no thread");
		for (int i = 0; i < 1000; i++)
			pthread_join(thread[i], NULL);
	}
	return printf("%d\n", started) < 0;
}
END
DPROF_WRAPPER_FLAGS=-w "$B/bin/dprof-cc" -Wno-unknown-pragmas -O1 -pthread threads.c -o threads || fail "threads.c"
rm -rf "${DPROF_DIR:?}"/*
[ "$(timeout 100 ./threads)" = 10000 ] || fail "10,000 threads: the program does not end as it should"
"$analyze" dump "$DPROF_DIR"/* 2>err | awk '$1 == "site" { sub("name=", "", $4); name[$2] = $4 }
	$1 == "e" && $5 == "enter" && name[$4] == "body" { n++ } END { print n + 0 }' >n
lost=$(sed -n 's/^note \([0-9]*\)%20records%20are%20lost.*/\1/p' "$DPROF_DIR"/*/*.process)
[ "$(cat n)" = 10000 ] || [ -n "$lost" ] || fail "10,000 threads: $(cat n) regions, and no loss is told: $(head -3 err)"
echo "10,000 threads: $(cat n) regions recorded, ${lost:-0} records lost"
exit $failed

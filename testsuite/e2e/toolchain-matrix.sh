#!/bin/bash
# SPDX-License-Identifier: MIT
#
# A program of C, C++, inline functions, templates, an archive and shared objects records the same events,
# however it is compiled and linked. LONG=1: all options with all shapes of the program.
#
# What plugin-events.sh tries with the events of one file is not repeated here: this is about several files,
# the real runtime, and the trace as it is analysed.
. testsuite/lib.sh
export DPROF_EVENTS=-wait,-io,-sleep # whether what prints blocks is chance
export DPROF_DIR=$dir/traces CCACHE_DIR=$dir/ccache TSAN_OPTIONS=${TSAN_OPTIONS:-}
mkdir "$DPROF_DIR"
bin=$B/bin
ran=0
cd "$dir" || exit 1

# ---- the program: main -> a template in two files (one copy is kept), an archive, a function that is never called ---------
cat >common.h <<'END'
#ifndef COMMON_H
#define COMMON_H
#include "dprof.h"
template <class T> inline T scaled(T x)
{
	DPROF_REGION(scaled)
	x *= 3;
	return x;
}
inline int shared_by_all(int x)
{
	static int calls;
	DPROF_REGION(shared)
	calls += x;
	return calls;
}
extern "C" int from_archive(int), unused(int);
int other(int);
#endif
END
cat >main.cc <<'END'
#include "common.h"
#include <cstdio>
int main()
{
	int n = 1;
	DPROF_REGION(main)
	{
		n = scaled(n);
		n = other(n);
		n = from_archive(n);
		n += shared_by_all(1);
	}
	return std::printf("ran %d\n", n) < 0;
}
END
cat >other.cc <<'END'
#include "common.h"
int other(int n)
{
	DPROF_REGION_BEGIN(other)
	n = scaled(n);
	n += shared_by_all(2);
	DPROF_REGION_END(other)
	return n;
}
END
cat >archive.c <<'END'
#include "dprof.h"
int from_archive(int);
int unused(int);
int from_archive(int n)
{
	DPROF_REGION(archive)
	n += 4;
	return n;
}
int unused(int n)
{
	DPROF_REGION(unused)
	n += 5;
	return n;
}
END
expected="+main +scaled -scaled +other +scaled -scaled +shared -shared -other +archive -archive +shared -shared -main"

events() { # of the first thread of the only trace; children, whose pids may be lower, are of their parent's job
	local trace=("$DPROF_DIR"/dprof-*)
	[ -d "${trace[0]}" ] || return
	"$bin/dprof-analyze" dump "${trace[0]}" 2>&1 | awk '$1 == "site" { sub("name=", "", $4); name[$2] = $4 }
		$1 == "process" { for (i = 3; i <= NF; i++) if (sub("^pid=", "", $i)) pid = $i; else if (sub("^job=", "", $i) && $i == pid) root = "process=" $2 }
		$1 == "thread" && !found && root != "" { for (i = 3; i <= NF; i++) if ($i == root) { found = 1; first = $2 } }
		$1 == "e" && $2 == first + 0 { printf "%s%s%s", n++ ? " " : "", $5 == "enter" ? "+" : "-", name[$4] }'
}
runs() { # what, command...
	rm -rf "$DPROF_DIR"/*
	"${@:2}" >out 2>err || fail "$1: status $?: $(tail -5 err)"
	[ "$(cat out)" = "ran 18" ] || fail "$1: expected ran 18, found $(cat out)"
	[ ! -s err ] || fail "$1: wrote $(head -5 err)"
	[ "$(events)" = "$expected" ] || fail "$1: expected $expected, found $(events)"
	ran=$((ran + 1))
}
strict="-Wall -Wextra -Wpedantic -Werror"

# Shapes of the program. Options are for compiling and for linking.
# shellcheck disable=SC2086
at_once() { "$bin/dprof-c++" $strict $1 main.cc other.cc -x c archive.c -o app; }
# shellcheck disable=SC2086
apart() {
	local ar=ar
	case $1 in *-flto*) ar=gcc-ar ;; esac
	rm -f libarchive.a
	"$bin/dprof-cc" $strict $1 -c archive.c && $ar rcs libarchive.a archive.o &&
		"$bin/dprof-c++" $strict $1 -c main.cc && "$bin/dprof-c++" $strict $1 -c other.cc &&
		"$bin/dprof-c++" $1 main.o other.o -L. -larchive -o app
}
# shellcheck disable=SC2086
shared() {
	"$bin/dprof-cc" $strict $1 -fPIC -shared archive.c -o libarchive.so &&
		"$bin/dprof-c++" $strict $1 -fPIC -shared other.cc -o libother.so &&
		"$bin/dprof-c++" $strict $1 main.cc -L. -lother -larchive -Wl,-rpath,"$dir" -o app
	local status=$?
	rm -f libarchive.a
	return $status
}
try() { # shape options
	rm -f app libarchive.so ./*.gcda
	"$1" "$2" >log 2>&1 && [ ! -s log ] || { fail "$1 $2: $(cat log)"; return; }
	runs "$1 $2" timeout 20 ./app
}

options=("-O0" "-O1 -g" "-O2" "-O3" "-Os" "-O2 -flto" "-Og -g3" "-O2 -fno-inline" "-O2 -ffunction-sections -fdata-sections -Wl,--gc-sections"
	"-O1 -fsanitize=address" "-O1 -fsanitize=undefined" "-O1 -fsanitize=thread" "-O2 -fPIE -pie" "-O2 -fno-pie -no-pie"
	"-O2 -fvisibility=hidden" "-O2 -Wl,-z,now,-z,relro" "-O2 -Wl,-z,separate-code" "-O2 -gz -g")
shapes=(at_once apart shared)
for i in "${!options[@]}"; do
	for s in "${!shapes[@]}"; do
		case ${shapes[s]}${options[i]} in shared*visibility*) continue ;; esac
		[ -n "${LONG:-}" ] || [ $(((i + s) % 3)) = 0 ] || continue
		try "${shapes[s]}" "${options[i]}"
	done
done

# What changes code or sections in ways of its own; linkers that are there; the other compiler.
rarer=("-O2 -flto -fuse-linker-plugin" "-O2 -flto -fno-fat-lto-objects -fwhole-program" "-O2 -flto=auto -ffat-lto-objects -g"
	"-O1 -pg" "-O0 --coverage" "-O2 -fprofile-generate" "-O2 -fsplit-stack" "-O2 -mno-red-zone" "-O2 -fcf-protection=full"
	"-O2 -fstack-protector-strong -D_FORTIFY_SOURCE=2" "-O2 -fstack-clash-protection" "-O2 -fno-plt" "-O2 -fPIC"
	"-O3 -ffast-math -march=native" "-O2 -fno-exceptions -fno-asynchronous-unwind-tables" "-O2 -fomit-frame-pointer -fipa-pta"
	"-O2 -Wl,--as-needed" "-O2 -Wl,-Bsymbolic-functions" "-O2 -Wl,--no-undefined" "-O2 -Wl,--gc-sections,-s" "-O2 -gsplit-dwarf -g")
for linker in bfd gold lld mold; do
	command -v "ld.$linker" >/dev/null || { echo "no ld.$linker: not tested"; continue; }
	rarer+=("-O2 -fuse-ld=$linker" "-O2 -fuse-ld=$linker -ffunction-sections -Wl,--gc-sections,--icf=all")
done
for option in "${rarer[@]}"; do
	[ -n "${LONG:-}" ] || break
	case $option in *bfd*icf*) continue ;; esac # is not one of ld.bfd
	for shape in "${shapes[@]}"; do
		case $shape$option in shared*whole-program*) continue ;; esac
		try $shape "$option"
	done
done
plugin=$(PKG_CONFIG_PATH=$B/lib/pkgconfig pkg-config --variable=plugin dprof)
for option in -O0 "-O2 -flto" -O3; do
	command -v g++-11 >/dev/null && [ -e "${plugin%/*}/11/dprof.so" ] && [ -n "${LONG:-}" ] || break
	export DPROF_CC=gcc-11 DPROF_CXX=g++-11
	try at_once "$option"
	try shared "$option"
done
unset DPROF_CC DPROF_CXX
try apart "-O2 -static"
try at_once "-O2 -static-pie -fPIE"
try apart "-O2 -flto -ffat-lto-objects"

# ---- what is thrown away by the linker has no site, and what is merged has one --------------------------------------
apart "-O2 -fno-inline -ffunction-sections -Wl,--gc-sections" && runs "gc-sections" ./app || fail "gc-sections: does not build"
"$bin/dprof-analyze" dump "$DPROF_DIR"/* >text
[ "$(grep -c 'name=scaled ' text)" = 1 ] ||
	fail "a template's region in two files: expected one site, found $(grep 'name=scaled' text)"
nm app | grep -q ' T unused$' && fail "--gc-sections kept what is never called"

# ---- tools that rewrite objects and programs ------------------------------------------------------------------------
apart "-O2 -g" && cp app whole && strip app && runs "strip" ./app || fail "strip: does not build"
objcopy --only-keep-debug whole app.debug && objcopy --strip-debug --add-gnu-debuglink=app.debug whole app &&
	runs "debug apart" ./app || fail "debug apart: does not build"
ld -r main.o other.o -o both.o && objcopy --rename-section .text=.text.moved both.o moved.o &&
	"$bin/dprof-c++" moved.o -L. -larchive -o app && runs "ld -r, objcopy" ./app || fail "ld -r, objcopy: does not build"
shared "-O2 -g" && strip --strip-unneeded app libother.so libarchive.so && runs "strip of shared objects" ./app ||
	fail "strip of shared objects: does not build"
rm libother.so libarchive.so
"$bin/dprof-c++" -O2 -c -x c++ - -o one.o <<<"$(cat main.cc other.cc)" && "$bin/dprof-cc" -O2 -c archive.c &&
	"$bin/dprof-c++" one.o archive.o -o app &&
	runs "from standard input" ./app || fail "from standard input: does not build"

# ---- precompiled headers ----------------------------------------------------------------------------------------------
"$bin/dprof-c++" -O1 -x c++-header common.h -o common.h.gch 2>log &&
	"$bin/dprof-c++" -O1 -Winvalid-pch -H main.cc other.cc -c 2>log &&
	grep -q '^! .*common.h.gch' log && "$bin/dprof-cc" -c archive.c && "$bin/dprof-c++" main.o other.o archive.o -o app ||
	fail "precompiled header: $(cat log)"
rm -f common.h.gch
runs "precompiled header" ./app

# ---- preprocess, carry away, compile (distcc) ---------------------------------------------------------------------------
"$bin/dprof-c++" -E main.cc -o main.ii && "$bin/dprof-c++" -E -fdirectives-only other.cc -o other.ii &&
	"$bin/dprof-cc" -E archive.c -o archive.i && mkdir away && mv ./*.i ./*.ii away && (cd away &&
	"$bin/dprof-c++" -O2 -c main.ii && "$bin/dprof-c++" -O2 -fpreprocessed -fdirectives-only -c other.ii &&
	"$bin/dprof-cc" -O2 -c archive.i && "$bin/dprof-c++" main.o other.o archive.o -o ../app) || fail "-E, then compile"
runs "-E, then compile" ./app

# ---- ccache: an object from a hit has its sites; another plugin is another compiler -------------------------------------------
if command -v ccache >/dev/null; then
	export DPROF_CC="ccache gcc" DPROF_CXX="ccache g++"
	apart -O2 && apart -O2 || fail "ccache"
	ccache --print-stats | awk '$1 ~ /^(direct|preprocessed)_cache_hit$/ { n += $2 } END { exit n != 3 }' ||
		fail "ccache: expected 3 hits, found $(ccache --print-stats | grep _hit)"
	runs "from ccache" ./app
	ccache -z >/dev/null
	DPROF_WRAPPER_FLAGS=-fplugin-arg-dprof-fence apart -O2 && runs "ccache, another option" ./app ||
		fail "ccache, another option: does not build"
	objdump -d app | grep -A1 lfence | grep -q rdtsc || fail "ccache: an option of the plugin was not seen"
	unset DPROF_CC DPROF_CXX
else
	echo "no ccache: not tested"
fi

# ---- dlopen, dlclose, another object at the same place ---------------------------------------------------------------------------
cat >load.c <<'END'
#include <dlfcn.h>
#include <stdio.h>
#include "dprof.h"
int main(int argc, char **argv)
{
	int n = 0;
	for (int i = 1; i < argc; i++) {
		void *object = dlopen(argv[i], RTLD_NOW | RTLD_LOCAL);
		int (*work)(int) = object ? (int (*)(int))dlsym(object, "from_archive") : NULL;
		DPROF_REGION(call)
		n = work ? work(n) : -1;
		if (!object || dlclose(object))
			return puts(dlerror());
	}
	printf("ran %d\n", n);
	return 0;
}
END
objects=
for i in 1 2 3; do
	sed "s/REGION(archive)/REGION(archive$i)/" archive.c >"a$i.c"
	"$bin/dprof-cc" -O2 -fPIC -shared "a$i.c" -o "./a$i.so" || fail "a$i.so"
	objects="$objects ./a$i.so"
done
"$bin/dprof-cc" load.c -ldl -o load && rm -rf "${DPROF_DIR:?}"/* && [ "$(./load $objects $objects)" = "ran 24" ] || fail "dlopen"
want=
for i in 1 2 3 1 2 3; do want="$want${want:+ }+call +archive$i -archive$i -call"; done
[ "$(events)" = "$want" ] || fail "dlopen, dlclose: expected $want, found $(events)"
grep -h '^note' "$DPROF_DIR"/*/*.process && fail "dlopen, dlclose: a note"

# Where only the objects are linked with dprof, by a plain program, they lie where another was, at new places (what was
# there is mapped for good), or are others of the same name.
cat >plain.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
static int n;
static const char *taken(const char *path)
{
	unlink("same.so");
	return symlink(path, "same.so") ? NULL : "./same.so";
}
static void load(const char *path, const char *how)
{
	void *object = dlopen(!strcmp(how, "renamed") ? taken(path) : path, RTLD_NOW | RTLD_LOCAL);
	int (*work)(int) = object ? (int (*)(int))dlsym(object, "from_archive") : NULL;
	n = work ? work(n) : -1;
	if (!object || dlclose(object))
		exit(puts(dlerror()));
	if (!strcmp(how, "moved"))
		mmap((void *)((uintptr_t)work & -4096), 4096, PROT_NONE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
}
int main(int argc, char **argv)
{
	for (int round = 0; round < atoi(argv[2]); round++)
		for (int i = 3; i < argc; i++) {
			load(argv[i], argv[1]);
			if (!strcmp(argv[1], "forked") && !fork()) {
				load(argv[3 + (i - 2) % (argc - 3)], argv[1]);
				exit(0);
			}
			while (wait(NULL) > 0)
				;
		}
	printf("ran %d\n", n);
	return 0;
}
END
gcc plain.c -ldl -o plain || fail "plain.c"
for how in again moved renamed forked; do
	rm -rf "${DPROF_DIR:?}"/* && [ "$(./plain $how 40 $objects)" = "ran 480" ] || fail "a plain program, $how"
	"$bin/dprof-analyze" check "$DPROF_DIR"/* >check || fail "a plain program, $how: $(head -3 check)"
	grep -h '^note' "$DPROF_DIR"/*/*.process && fail "a plain program, $how: a note"
	want=$(for ((i = 0; i < 40; i++)); do for j in 1 2 3; do echo "+archive$j -archive$j"; done; done | xargs)
	[ "$(events)" = "$want" ] || fail "a plain program, $how: expected $want, found $(events)"
done
found=$("$bin/dprof-analyze" dump "$DPROF_DIR"/* | awk '$1 == "site" { sub("name=", "", $4); name[$2] = $4 }
	$1 == "e" { n[name[$4]]++ } END { print n["archive1"], n["archive2"], n["archive3"] }')
[ "$found" = "160 160 160" ] || fail "a plain program, forked: expected 160 events of each object, found $found"

echo "$ran programs ran"
exit $failed

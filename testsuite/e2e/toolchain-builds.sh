#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Build systems take the wrappers for the compilers that they stand for: what configure, CMake and Meson find out by
# trying is what they find out of the plain compilers, and what they build records. (Plain make is in
# toolchain-wrappers.sh.) LONG=1: configure and Meson, too. A build system that is not installed is left out; without
# any nothing is tested, and that is said.
. testsuite/lib.sh
export DPROF_DIR=$dir/traces DPROF_EVENTS=-wait,-io,-sleep # whether what prints blocks is chance
mkdir "$DPROF_DIR"
tested=0
has() { command -v "$1" >/dev/null && tested=$((tested + 1)) || { echo "no $1: not tested"; return 1; }; }
cd "$dir" || exit 1

cat >main.c <<'END'
#include "config.h"
#include <stdio.h>
int twice(int);
int main(void)
{
	int n = 1;
#pragma dprof region(outer)
	n = twice(n);
	return printf("%d %d %d\n", n, HAVE_MEMFD_CREATE, SIZEOF_LONG) < 0;
}
END
cat >twice.cc <<'END'
extern "C" int twice(int n)
{
#pragma dprof region(inner)
	n *= 2;
	return n;
}
END
records() { # what, program
	rm -rf "$DPROF_DIR"/*
	[ "$("$2")" = "2 1 8" ] || fail "$1: printed $("$2")"
	rm -rf "$DPROF_DIR"/* && "$2" >/dev/null
	[ "$("$analyze" dump "$DPROF_DIR"/* | awk '$1 == "site" { sub("name=", "", $4); name[$2] = $4 }
		$1 == "e" { printf "%s ", name[$4] }')" = "outer inner inner outer " ] || fail "$1: $("$analyze" dump "$DPROF_DIR"/*)"
}
with="$B/bin/dprof-cc $B/bin/dprof-c++" without="gcc g++"

# ---- configure ------------------------------------------------------------------------------------------------------
if [ -n "${LONG:-}" ] && has autoconf; then
	mkdir auto && cp main.c twice.cc auto && cd auto || exit 1
	cat >configure.ac <<'END'
AC_INIT([trial], [1])
AC_CONFIG_HEADERS([config.h])
AC_PROG_CC
AC_PROG_CXX
AC_PROG_CPP
AC_USE_SYSTEM_EXTENSIONS
AC_C_INLINE
AC_C_RESTRICT
AC_C_BIGENDIAN
AC_CHECK_SIZEOF([long])
AC_CHECK_HEADERS([sys/mman.h windows.h])
AC_CHECK_FUNCS([memfd_create strlcpy])
AC_SEARCH_LIBS([sqrt], [m])
AC_CHECK_LIB([nosuchlibrary], [nothing])
AC_CONFIG_FILES([Makefile])
AC_OUTPUT
END
	printf '%s\n' 'app: main.o twice.o' '	@CXX@ -o $@ main.o twice.o @LIBS@' '%.o: %.c' '	@CC@ @CFLAGS@ -I. -c $< -o $@' \
		'%.o: %.cc' '	@CXX@ @CXXFLAGS@ -c $< -o $@' >Makefile.in
	echo '@TOP@' >config.h.in && autoheader -f 2>/dev/null && autoconf 2>/dev/null || fail "autoconf"
	./configure -q CC=gcc CXX=g++ >log 2>&1 && mv config.h plain.h || fail "configure: $(tail -5 log)"
	for wrapper in off on; do
		DPROF_WRAPPER=$wrapper ./configure -q CC="${with% *}" CXX="${with#* }" >log 2>&1 ||
			fail "configure, wrapper $wrapper: $(tail -5 log)"
		diff plain.h config.h || fail "configure finds out other things with the wrapper $wrapper"
		make -s >log 2>&1 && [ ! -s log ] && records "configure, wrapper $wrapper" ./app || fail "make: $(cat log)"
		make -s clean 2>/dev/null
		rm -f app ./*.o
	done
	cd ..
fi

# ---- CMake -----------------------------------------------------------------------------------------------------------
if has cmake; then
	mkdir cmake && cp main.c twice.cc cmake && cd cmake || exit 1
	cat >CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.16)
project(trial C CXX)
include(CheckSymbolExists)
include(CheckTypeSize)
include(CheckCCompilerFlag)
include(CheckIPOSupported)
set(CMAKE_REQUIRED_DEFINITIONS -D_GNU_SOURCE)
check_symbol_exists(memfd_create sys/mman.h HAVE_MEMFD_CREATE)
check_symbol_exists(nosuchfunction stdio.h HAVE_NOSUCHFUNCTION)
check_type_size(long SIZEOF_LONG)
check_c_compiler_flag(-fno-such-flag HAVE_NO_SUCH_FLAG)
check_c_compiler_flag(-Wpedantic HAVE_PEDANTIC)
check_ipo_supported(RESULT HAVE_IPO)
file(WRITE "${CMAKE_BINARY_DIR}/config.h" "#define HAVE_MEMFD_CREATE ${HAVE_MEMFD_CREATE}\n#define SIZEOF_LONG ${SIZEOF_LONG}\n#define HAVE_IPO \"${HAVE_IPO}\"\n")
add_library(twice STATIC twice.cc)
set_property(TARGET twice PROPERTY INTERPROCEDURAL_OPTIMIZATION ON)
add_executable(app main.c)
target_include_directories(app PRIVATE "${CMAKE_BINARY_DIR}")
target_link_libraries(app twice)
END
	findings() { grep -E '^(HAVE|SIZEOF)_[A-Z_]*:' "$1/CMakeCache.txt"; cat "$1/config.h"; sed -nE 's/^set\((CMAKE_CX*_(COMPILER_(ID|VERSION|ABI)|IMPLICIT_[A-Z_]*|.*FEATURES)) /\1 /p' "$1"/CMakeFiles/*/CMakeCX*Compiler.cmake; }
	for side in without with; do
		CC=${!side% *} CXX=${!side#* } cmake -S . -B $side >log 2>&1 || fail "cmake $side the wrappers: $(tail -5 log)"
		findings $side >found-$side
	done
	# Of its own a wrapper adds one folder of headers and libraries: that is what it is for.
	diff <(grep -v IMPLICIT_ found-without) <(grep -v IMPLICIT_ found-with) || fail "CMake finds out other things with the wrappers"
	cmake --build with >log 2>&1 && ! grep -q warning log && records CMake with/app || fail "cmake --build: $(tail -5 log)"
	cd ..
fi

# ---- Meson -----------------------------------------------------------------------------------------------------------
if [ -n "${LONG:-}" ] && has meson; then
	mkdir meson && cp main.c twice.cc meson && cd meson || exit 1
	cat >meson.build <<'END'
project('trial', 'c', 'cpp')
cc = meson.get_compiler('c')
conf = configuration_data()
conf.set10('HAVE_MEMFD_CREATE', cc.has_function('memfd_create', prefix: '#define _GNU_SOURCE\n#include <sys/mman.h>'))
conf.set10('HAVE_STRANGE', cc.has_function('nosuchfunction') or cc.has_argument('-fno-such-flag'))
conf.set('SIZEOF_LONG', cc.sizeof('long'))
conf.set10('HAVE_M', cc.find_library('m').found())
conf.set_quoted('COMPILER', cc.get_id() + ' ' + cc.version() + ' ' + cc.get_linker_id())
configure_file(output: 'config.h', configuration: conf)
executable('app', 'main.c', link_with: shared_library('twice', 'twice.cc'))
END
	for side in without with; do
		CC=${!side% *} CXX=${!side#* } meson setup $side >log 2>&1 || fail "meson $side the wrappers: $(tail -5 log)"
	done
	diff {without,with}/config.h || fail "Meson finds out other things with the wrappers"
	meson compile -C with >log 2>&1 && ! grep -q warning: log && records Meson with/app || fail "meson compile: $(tail -5 log)"
	cd ..
fi
[ $tested -gt 0 ] || { echo "no CMake here, and no other build system was asked for"; exit 77; }
exit $failed

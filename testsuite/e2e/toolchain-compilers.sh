#!/bin/bash
# SPDX-License-Identifier: MIT
#
# A compiler that dprof has no plugin for is refused by wrappers and CMake, which say what they expected; wrappers say
# what they are; and CMake's dprof::dprof records MPI in whichever order the libraries stand.
. testsuite/lib.sh
export DPROF_DIR=$dir/traces CMAKE_PREFIX_PATH=$B
mkdir "$DPROF_DIR"
unset CC
cp testsuite/fixtures/toolchain/* "$dir"
cd "$dir" || exit 1
major=$(sed -n 's/^gcc=//p' "$B/lib/pkgconfig/dprof.pc")
[ "$major" = "$(gcc -dumpversion | cut -d. -f1)" ] || fail "dprof.pc is for GCC '$major'"
printf 'int main(void)\n{\n#pragma dprof region(body)\n\treturn 0;\n}\n' >plain.c
echo 'int unused;' >empty.c

# ---- Wrappers -----------------------------------------------------------------------------------------------------
mkdir bin # a compiler that is no GCC, and GCCs without a plugin, of which one says less than the other
printf '#!/bin/sh\n[ "$1" != --version ] || { echo strange version 14; exit; }\nexec terse-gcc "$@"\n' >bin/strange
printf '#!/bin/sh\n[ "$1" != -dumpversion ] || { echo 99; exit; }\nexec terse-gcc "$@"\n' >bin/gcc-99
printf '#!/bin/sh\n{ gcc "$@" 2>&1 >&3 3>&- | sed "/^gcc version/d" >&2; } 3>&1\n' >bin/terse-gcc
printf '#!/bin/sh\n{ gcc "$@" 2>&1 >&3 3>&- | sed "s/^gcc version [0-9]*/gcc version 98/" >&2; } 3>&1\n' >bin/gcc-98
chmod +x bin/*
PATH=$dir/bin:$PATH
for cc in strange gcc-99 gcc-98; do
	DPROF_CC=$cc "$B/bin/dprof-cc" -c plain.c 2>err && fail "dprof-cc takes $cc"
	grep -q "^dprof-cc: expected a GCC that dprof was built for ($major[, 0-9]*), found '.*' as $cc; " err || fail "$cc: $(cat err)"
	DPROF_CC=$cc DPROF_WRAPPER=off "$B/bin/dprof-cc" -Wno-unknown-pragmas -c plain.c 2>err && [ ! -s err ] ||
		fail "$cc off: $(cat err)"
done
OMPI_CC=strange MPICH_CC=strange "$B/bin/dprof-mpicc" -c mpi.c 2>err && fail "dprof-mpicc takes another compiler"
grep -q "found 'strange version 14' as mpicc; OMPI_CC and its kin" err || fail "dprof-mpicc: $(cat err)"
DPROF_CC=missing "$B/bin/dprof-cc" -c plain.c 2>err
[ $? = 127 ] && grep -q missing err || fail "a compiler that is not there: $(cat err)"

for wrapper in cc:gcc c++:g++ fort:gfortran mpicc:mpicc mpicxx:mpicxx mpic++:mpicxx mpifort:mpifort; do
	plain=${wrapper#*:} wrapper=dprof-${wrapper%:*}
	command -v "$plain" >/dev/null || continue
	"$B/bin/$wrapper" --version >out 2>err && [ ! -s err ] || fail "$wrapper --version: $(cat err)"
	diff -B <("$plain" --version; echo "$wrapper: with the plugin of dprof $(sed -n 's/^Version: //p' "$B/lib/pkgconfig/dprof.pc")") out ||
		fail "$wrapper --version"
	"$B/bin/$wrapper" --help >out 2>err && [ ! -s err ] || fail "$wrapper --help: $(cat err)"
	head -1 out | grep -qx "Usage: $wrapper .*" && grep -q DPROF_WRAPPER=off out || fail "$wrapper --help: $(head -12 out)"
	"$plain" --help | tail -1 | grep -qxF "$(tail -1 out)" || fail "$wrapper --help does not end as that of $plain"
	sed '/^$/,$d' out | fits_80 || fail "$wrapper --help is wider than 80 columns"
done

# ---- CMake --------------------------------------------------------------------------------------------------------
command -v cmake >/dev/null || { [ $failed = 0 ] && echo "no cmake: not tested" && exit 77; exit 1; }
other="-DWITHOUT=1 -DCMAKE_C_COMPILER_FORCED=1 -DCMAKE_C_COMPILER_ID=Clang -DCMAKE_C_COMPILER_VERSION=14.0.6"
refuses() { # what it finds, cmake's options
	cmake -S . -B refused "${@:2}" >log 2>&1 && fail "cmake ${*:2} succeeds"
	tr -s ' \n' ' ' <log | grep -q "dprof: expected GCC $major\( (also here: [0-9][0-9, ]*)\)\? as the C compiler, found $1 " ||
		fail "cmake ${*:2}: $(cat log)"
	rm -rf refused
}
# shellcheck disable=SC2086
refuses "Clang 14.0.6" $other
# shellcheck disable=SC2086
refuses "GNU 99.1" ${other/Clang/GNU} -DCMAKE_C_COMPILER_VERSION=99.1
# shellcheck disable=SC2086
DPROF_WRAPPER=off cmake -S . -B off $other -DCMAKE_C_FLAGS=-Wno-unknown-pragmas >log 2>&1 && cmake --build off >>log 2>&1 &&
	./off/plain ||
	fail "cmake, wrapper off: $(tail -5 log)"
[ -z "$(ls "$DPROF_DIR")" ] || fail "cmake, wrapper off: it records"

cmake -S . -B made >log 2>&1 && cmake --build made >>log 2>&1 || fail "cmake: $(tail -5 log)"
adapters() { readelf -d "$1" | grep -c 'NEEDED.*libdprof-\(openmpi\|mpich\)'; }
[ "$(adapters made/plain)" = 0 ] || fail "a program without MPI has the adapter"
for order in before behind path library; do
	[ "$(adapters made/$order)" = 1 ] || { fail "$order: no adapter"; continue; }
	readelf -d made/$order | sed -n 's/.*NEEDED.*\[\(lib.*mpi.*\)\.so.*/\1/p' | head -1 | grep -q dprof ||
		fail "$order: the adapter stands behind libmpi"
done
rm -rf "${DPROF_DIR:?}"/* && timeout 60 ./made/behind || fail "behind: status $?"
"$analyze" dump "$DPROF_DIR"/* | grep -q ' name=MPI_Barrier file=.*/mpi.c ' || fail "behind: the barrier is not recorded"

# ---- Without an adapter, or with one that no call comes by: the report says so ------------------------------------------
says() { # what, how it was linked
	rm -rf "${DPROF_DIR:?}"/* && timeout 60 ./app || fail "$2: status $?"
	"$analyze" "$DPROF_DIR"/* >report
	tr -s '\n ' ' ' <report >line
	grep -q "note: $1, so calls of MPI are not recorded, nor ranks: link with dprof-mpicc" line || fail "$2: no note: $(cat report)"
	grep -q 'events of these kinds were not recorded .*or MPI without dprof.s library' line ||
		fail "$2: calls are not missed: $(cat report)"
	grep -q '; proved\.' line && fail "$2: who waits in MPI is not known, yet: $(cat report)"
}
export PKG_CONFIG_PATH=$B/lib/pkgconfig
# shellcheck disable=SC2046
mpicc $(pkg-config --cflags dprof) mpi.c -o app -Wl,--no-as-needed -lmpi $(pkg-config --libs dprof)
says "libmpi is there and dprof's library for it is not" "-lmpi before dprof"
adapter=$(sed -n 's/.*-l\(dprof-openmpi\|dprof-mpich\) .*/\1/p' "$B/lib/pkgconfig/dprof.pc")
# shellcheck disable=SC2046
mpicc $(pkg-config --cflags dprof) mpi.c -o app -Wl,--no-as-needed -lmpi -L"$B/lib" "-l$adapter" $(pkg-config --libs dprof)
says "dprof's library for MPI stands behind libmpi" "-lmpi before the adapter"

# So it does of joins and locks, where the C library comes first or stands in the program.
cat >waits.c <<'C'
#include <pthread.h>
static volatile int done;
static void *nothing(void *p)
{
#pragma dprof region(a)
	done++;
	return p;
}
int main(void)
{
	pthread_t t;
	int failed = pthread_create(&t, 0, nothing, 0) || pthread_join(t, 0);
#pragma dprof region(b)
	return failed + done - 1;
}
C
unseen() { # what the note begins with, how it was linked
	rm -rf "${DPROF_DIR:?}"/* && ./waits || fail "$2: status $?"
	"$analyze" "$DPROF_DIR"/* | tr -s '\n ' ' ' >line
	grep -q "note: $1" line || fail "$2: no note: $(cat line)"
	grep -q "note: no record says who created a thread" line || fail "$2: who waits for the thread is known: $(cat line)"
}
# shellcheck disable=SC2046
gcc $(pkg-config --cflags dprof) waits.c -o waits -lc $(pkg-config --libs dprof) 2>/dev/null
unseen "dprof's libraries stand behind the C library, so joins, locks" "-lc before dprof"
# shellcheck disable=SC2046
gcc -static $(pkg-config --cflags dprof) waits.c -o waits -L"$B/lib" -ldprof
unseen "the program is linked with -static, so nothing that blocks is recorded" "-static"

"$B/bin/dprof-mpicc" mpi.c -o app && rm -rf "${DPROF_DIR:?}"/* && timeout 60 ./app
# On a busy machine it may not be known whether the cores share a clock.
grep ^note "$DPROF_DIR"/*/*.process | grep -v '^note not%20all%20cores' && fail "a note where all is well"
exit $failed

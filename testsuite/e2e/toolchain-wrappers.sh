#!/bin/bash
# SPDX-License-Identifier: MIT
#
# A wrapper does what the plain compiler does with the same arguments, and what it links records.
#
# "Does the same": prints the same, ends with the same status and makes the same files, but for the plugin's
# and the libraries' own names in what -v shows.
. testsuite/lib.sh
export DPROF_DIR=$dir
bin=$B/bin
cd "$dir" || exit 1

cat >main.c <<'END'
#include "dprof.h"
int twice(int);
int main(void)
{
	int n = 0;
	DPROF_REGION(body)
	n = twice(0);
	return n;
}
END
printf '#include "dprof.h"\nint twice(int n)\n{\n\tDPROF_REGION(inner)\n\tn *= 2;\n\treturn n;\n}\n' >twice.c
cp twice.c twice.cc
printf '\t.globl\tnothing\nnothing:\n\tret\n\t.section .note.GNU-stack,"",@progbits\n' >plain.s
printf "include 'dprof.inc'\ncall dprof_enter('work')\nopen(10, status='scratch')\nwrite(10, *) 1\ncall dprof_exit('work')\nend\n" \
	>written.f90
printf '#define NAME nothing\n\t.globl\tNAME\nNAME:\n\tret\n\t.section .note.GNU-stack,"",@progbits\n' >cpp.S
echo 'int broken(' >broken.c
printf -- '-O2 "main.c"\n-o app twice.c\n' >response
printf -- '-c\nmain.c' >compile-only

# ---- what records: the events of thread 0 -----------------------------------------------------------------
records() { # expected, program
	local trace
	rm -rf dprof-app* && timeout 20 "./${2:-app}" || fail "$what: status $?"
	for trace in dprof-app*; do
		"$bin/dprof-analyze" dump "$trace" | awk '$1 == "site" { sub("name=", "", $4); name[$2] = $4 }
			$1 == "e" { printf "%s%s ", $5 == "enter" ? "+" : "-", name[$4] }' >events
	done
	[ "$(cat events)" = "$1" ] || fail "$what: expected $1, found $(cat events)"
}
both="+body +inner -inner -body "
builds() { # arguments of dprof-cc
	what="dprof-cc $*"
	rm -f app
	"$bin/dprof-cc" "$@" >out 2>&1 && [ ! -s out ] || fail "$what: $(cat out)"
}
builds main.c twice.c -o app && records "$both"
builds -O2 @response && records "$both"
builds -c main.c twice.c && builds main.o twice.o -o app && records "$both"
builds @compile-only && builds -flto -O2 -c twice.c && builds -flto -O2 main.o twice.o -o app && records "$both"
builds -S -O1 main.c twice.c && builds -c main.s twice.s plain.s && builds main.o twice.o plain.o -o app && records "$both"
builds -E main.c -o main.i && builds -c main.i -o main.o && builds main.o twice.c cpp.S -o app && records "$both"
builds -r main.o twice.o -o partial.o && builds partial.o -o app && records "$both"
builds -static main.c twice.c -o app && records "$both"
if command -v gfortran >/dev/null; then # GCC's libraries take a static program that has one function of threads for one that has all
	what="dprof-fort -static"
	"$bin/dprof-fort" -static written.f90 -o app >out 2>&1 && records "+work -work " || fail "$what: $(cat out)"
	# shellcheck disable=SC2046
	nm $(gfortran -print-file-name=libgfortran.a) $(gcc -print-file-name=libgcc_eh.a) 2>/dev/null |
		awk '$1 == "w" && /pthread|sched_/ { print $2 }' | sort -u >called
	nm app | awk '$2 ~ /[TtWi]/ { print $3 }' | sort -u | comm -13 - called >lacking
	[ -s called ] && [ ! -s lacking ] || fail "$what: $(wc -l <called) functions are called, not linked are: $(paste -sd ' ' lacking)"
fi
builds -shared -fPIC twice.c -o libtwice.so -Wl,-z,defs && builds main.c ./libtwice.so -o app && records "$both"
builds -shared -fPIC twice.c -o libtwice.so && gcc -Wall -Werror -I"$B/../pragmas" -idirafter . -D__unused__ \
	-include /dev/null -Wno-unknown-pragmas -idirafter "$(PKG_CONFIG_PATH=$B/lib/pkgconfig pkg-config --variable=includedir dprof)" \
	main.c ./libtwice.so -o app && what="only the shared object" && records "+inner -inner " ||
	fail "an application beside a recorded object does not build"
what="dprof-c++" && builds -c main.c && sed -i 's/^int twice/extern "C" &/' twice.cc &&
	"$bin/dprof-c++" twice.cc main.o -o app && records "$both" || fail "$what: does not build"
what="two words" && DPROF_CC="env gcc" "$bin/dprof-cc" main.c twice.c -o app && records "$both" || fail "$what: does not build"
what=DPROF_WRAPPER_FLAGS && DPROF_WRAPPER_FLAGS="-fplugin-arg-dprof-auto=functions -fplugin-arg-dprof-min=0" \
	"$bin/dprof-cc" main.c twice.c -o app && records "+main +body +twice +inner -inner -twice -body -main " ||
	fail "$what: does not build"
mkdir "$dir/links" && ln -s "$bin/dprof-cc" links/ && what="a link to dprof-cc" && rm app &&
	links/dprof-cc main.c twice.c -o app && records "$both" || fail "$what: does not build"
plugin=$(PKG_CONFIG_PATH=$B/lib/pkgconfig pkg-config --variable=plugin dprof)
if command -v gcc-11 >/dev/null && [ -e "${plugin%/*}/11/dprof.so" ]; then
	what=gcc-11 && DPROF_CC=gcc-11 "$bin/dprof-cc" main.c twice.c -o app && records "$both" || fail "$what: does not build"
	what="objects of two compilers" && DPROF_CC=gcc-11 "$bin/dprof-cc" -c twice.c && builds -c main.c &&
		builds main.o twice.o -o app && records "$both" || fail "$what: does not build"
fi

# ---- off: not a byte of difference ----------------------------------------------------------------------------
what="DPROF_WRAPPER=off"
DPROF_WRAPPER=off "$bin/dprof-cc" -I"$(PKG_CONFIG_PATH=$B/lib/pkgconfig pkg-config --variable=includedir dprof)" main.c twice.c -o app-off || fail "$what"
gcc -I"$(PKG_CONFIG_PATH=$B/lib/pkgconfig pkg-config --variable=includedir dprof)" main.c twice.c -o app-plain
cmp app-off app-plain || fail "$what differs from gcc"

# ---- the same as the plain compiler --------------------------------------------------------------------------
plainly() { sed -E 's/ -fplugin=[^ ]*| -idirafter [^ ]*| -iplugindir=[^ ]*//g; s|/tmp/cc[^ ]*||g; s/^dprof-cc/gcc/' "$1"; }
same() { # arguments
	rm -rf with without && mkdir with without
	cp main.c twice.c twice.cc plain.s cpp.S broken.c compile-only with
	cp main.c twice.c twice.cc plain.s cpp.S broken.c compile-only without
	(cd without && gcc -w "$@" </dev/null >out 2>err; echo "$?" >status)
	(cd with && "$bin/dprof-cc" -w "$@" </dev/null >out 2>err; echo "$?" >status)
	plainly with/out | cmp -s - <(plainly without/out) || fail "$*: prints $(plainly with/out | diff - without/out | head -5)"
	plainly with/err | cmp -s - <(plainly without/err) || fail "$*: says $(plainly with/err | diff - <(plainly without/err) | head -5)"
	cmp -s with/status without/status || fail "$*: status $(cat with/status), gcc's is $(cat without/status)"
	diff <(ls with) <(ls without) || fail "$*: makes other files"
}
same
same -v
same -dumpmachine
same -dumpversion
same -print-file-name=libc.a
same -print-search-dirs
same -E plain.s
same -E cpp.S
same -E -dM -xc /dev/null -D__DPROF__=1
same -M cpp.S
same -c plain.s cpp.S
same -c broken.c
same -x assembler -c plain.s
same -c missing.c
same missing.o
same -o
same -c plain.s -o
same @missing
same -no-such-option -c plain.s
same -r plain.s -o out.o
# What refers to a header of ours needs it from the plain compiler, too.
sed 's/"dprof.h"/<stddef.h>/; s/DPROF_[A-Z]*(.*)//' twice.c >t && mv t twice.c
cp twice.c twice.cc
same -fsyntax-only twice.cc
same -M twice.c
same -MM twice.c -MT target
same -MMD -MF dep -c twice.c
same -E twice.c
cmp -s with/out without/out || fail "-E is not the same"
same -S twice.c
cmp -s with/twice.s without/twice.s || fail "-S of what marks nothing is not the same"

# ---- MPI: the adapter comes before libmpi, whichever way that is linked ------------------------------------------
cat >mpi.c <<'END'
#include <mpi.h>
int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Finalize();
	return 0;
}
END
run() { timeout 60 $mpirun -n 2 ./app; }
barriers() {
	rm -rf dprof-app* && run || fail "$1: does not run"
	[ "$("$bin/dprof-analyze" dump dprof-app* | grep -c '^e .* enter group=1 seq=0')" = 2 ] ||
		fail "$1: expected a barrier of a known group on both ranks"
}
if command -v mpicc.mpich >/dev/null; then
	mpirun=mpirun.mpich
	DPROF_MPICC=mpicc.mpich "$bin/dprof-mpicc" mpi.c -o app && barriers "dprof-mpicc is MPICH's" ||
		fail "dprof-mpicc with MPICH: does not build"
	DPROF_CC=mpicc.mpich "$bin/dprof-cc" mpi.c -o app && barriers "dprof-cc is MPICH's mpicc" ||
		fail "dprof-cc with MPICH's mpicc: does not build"
	mpi=$(mpicc.mpich -show | tr ' ' '\n' | sed -n 's/^-I//p')
	"$bin/dprof-cc" -I"$mpi" mpi.c -lmpich -o app && barriers "-lmpich" || fail "-lmpich: does not build"
	ln -s "$(gcc -print-file-name=libmpich.so)" libmpi.so # as Debian's alternatives do
	"$bin/dprof-cc" -I"$mpi" mpi.c ./libmpi.so -o app && barriers "libmpi.so is MPICH's" || fail "libmpi.so: does not build"
fi
if command -v mpicc >/dev/null && mpicc -show | grep -q openmpi; then
	mpirun="mpirun --allow-run-as-root --oversubscribe --quiet --mca mpi_yield_when_idle 1"
	"$bin/dprof-mpicc" mpi.c -o app && barriers dprof-mpicc || fail "dprof-mpicc: does not build"
	cp mpi.c mpi.cc && "$bin/dprof-mpic++" mpi.cc -o app && barriers dprof-mpic++ || fail "dprof-mpic++: does not build"
	# As CMake does it: the plain compiler's wrapper, and the library by its path.
	mpi=$(mpicc -showme:libdirs | tr ' ' '\n' | head -1)
	# shellcheck disable=SC2046
	"$bin/dprof-cc" $(mpicc -showme:compile) -c mpi.c && ar rc libcalls.a mpi.o && echo 'int unused;' >empty.c &&
		"$bin/dprof-cc" empty.c -Wl,-u,main libcalls.a -o app -Wl,-rpath,"$mpi" "$mpi/libmpi.so" &&
		barriers "libmpi by path" || fail "libmpi by path: does not build"
	if command -v mpifort >/dev/null; then
		printf '%s\n' 'program p' 'use mpi' 'integer e' 'call mpi_init(e)' 'call mpi_barrier(mpi_comm_world, e)' \
			'call mpi_finalize(e)' 'end program' >mpi.f90
		rm -rf dprof-app* && "$bin/dprof-mpifort" mpi.f90 -o app && run &&
			[ "$("$bin/dprof-analyze" dump dprof-app* | grep -c "^e .* $("$bin/dprof-analyze" dump dprof-app* |
				awk '$4 == "name=MPI_Barrier" && /file=mpi.f90/ { print $2 }') enter")" = 2 ] ||
			fail "dprof-mpifort: expected the barrier on both ranks"
	fi
fi
exit $failed

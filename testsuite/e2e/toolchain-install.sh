#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What `make install` puts under a prefix is enough to build a project with, in every way that is offered (pkg-config,
# CMake's package, the wrappers), also when it was moved elsewhere; DESTDIR puts the same there, for the prefix; and
# `make uninstall` takes it away again, and nothing else.
. testsuite/lib.sh
export DPROF_DIR=$dir/traces
mkdir "$DPROF_DIR"
prefix=$dir/prefix source=$PWD
make --no-print-directory B="$B" PREFIX="$prefix" now-install >"$dir/log" 2>&1 || fail "make install: $(cat "$dir/log")"
make --no-print-directory B="$B" DESTDIR="$dir/stage" PREFIX=/usr now-install >"$dir/log" 2>&1 ||
	fail "make install DESTDIR=: $(cat "$dir/log")"
for gcc in gcc $(cd "$prefix/lib/dprof" && ls -d ?? 2>/dev/null | sed 's/^/gcc-/'); do
	cmp -s "$dir/stage$($gcc -print-file-name=plugin)/dprof.so" \
		"$prefix/lib/dprof/$(echo "$gcc" | sed -n 's|gcc-\(.*\)|\1/|p')dprof.so" ||
		fail "DESTDIR: no plugin where $gcc looks for it, or not the one for it"
done
(cd "$dir/stage/usr" && find . ! -type d ! -path './lib/gcc/*') | sort >"$dir/staged"
(cd "$prefix" && find . ! -type d) | sort | diff "$dir/staged" - || fail "DESTDIR= and PREFIX= install other files"
grep -rl "$dir" "$dir/stage" && fail "files that name the DESTDIR"
grep -rlI -e "$B" -e "$PWD" "$prefix" && fail "files that name the build folder or the source"
(export PKG_CONFIG_PATH=$dir/stage/usr/lib/pkgconfig && pkg-config --variable=plugin dprof) | grep -qx /usr/lib/dprof/dprof.so ||
	fail "plugin= in dprof.pc"
if command -v mpirun.openmpi >/dev/null; then
	"$prefix/bin/dprof-analyze" pack testsuite/fixtures/analysis/job.txt "$dir/job" || fail "the installed command"
	$(mpirun_of openmpi) -n 2 "$prefix/bin/dprof-analyze" csp "$dir/job" >"$dir/by-two" 2>&1 ||
		fail "two processes: $(cat "$dir/by-two")"
	"$prefix/bin/dprof-analyze" csp "$dir/job" | cmp -s - "$dir/by-two" ||
		fail "two processes say something else: $(cat "$dir/by-two")"
fi
for page in man1/dprof-analyze.1 man1/dprof-ab.1 man1/dprof-info.1 man1/freezer.1 man7/dprof.7; do
	grep -q '^\.SH COMMANDS\|^\.SH COMPILING\|^\.SH SYNOPSIS' "$prefix/share/man/$page" || fail "$page is no manual page"
done
for document in README.md docs/tutorial.md docs/building.md docs/formats.md docs/concepts/guarantees.md; do
	[ -s "$prefix/share/doc/dprof/$document" ] || fail "$document is not installed"
done
(cd "$prefix/share/doc/dprof" && grep -o '](\([^):#]*\)' -r . | while IFS=: read -r file link; do
	[ -e "$(dirname "$file")/${link#](}" ] || echo "$file: ${link#](}"
done) | grep . && fail "documents link to what is not installed"

# Libraries are asked for by the first part of their version.
version=$(sed -n 's/^Version: //p' "$prefix/lib/pkgconfig/dprof.pc")
for library in "$prefix"/lib/libdprof*.so; do
	[ "$(readelf -d "$library" | sed -n 's/.*soname: \[\(.*\)\]/\1/p')" = "$(basename "$library").${version%%.*}" ] &&
		[ -L "$library.${version%%.*}" ] && [ "$(readlink -f "$library")" = "$library.$version" ] || fail "$library: no version"
done

# Completion: commands, and of each its own options.
complete_line() { # word...
	(PATH=$prefix/bin:$PATH && . "$prefix/share/bash-completion/completions/dprof-analyze" && COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) &&
		"_${1//-/_}" "$1" && printf '%s ' "${COMPREPLY[@]}")
}
[ "$(complete_line dprof-analyze wai)" = 'waits ' ] || fail "completion of wai: $(complete_line dprof-analyze wai)"
[ "$(complete_line dprof-analyze coz --reg)" = '--region= ' ] ||
	fail "completion of coz --reg: $(complete_line dprof-analyze coz --reg)"
[ -z "$(complete_line dprof-analyze csp --reg | tr -d ' ')" ] ||
	fail "completion of csp --reg: $(complete_line dprof-analyze csp --reg)"
[ "$(complete_line dprof-analyze audit --syn)" = '--sync= ' ] ||
	fail "completion of audit --syn: $(complete_line dprof-analyze audit --syn)"
[ "$(complete_line dprof-analyze export --to cs)$(complete_line dprof-analyze export --to = sq)$(complete_line dprof-analyze export -T co)" = 'csv sqlite coz ' ] ||
	fail "completion of formats: $(complete_line dprof-analyze export --to '')"
[ "$(complete_line dprof-analyze diagnose --model = ma)$(complete_line dprof-analyze diagnose -M au)" = 'master-worker auto ' ] ||
	fail "completion of models: $(complete_line dprof-analyze diagnose --model '')"
# A file where a file is meant; and no option that is only spoken of.
touch "$dir/some.clp" "$dir/some.html"
[ "$(complete_line dprof-analyze diagnose --rules "$dir/some.c")$(complete_line dprof-analyze report --html "$dir/some.h")$(complete_line dprof-analyze csp "$dir/some.c")" = \
	"$dir/some.clp $dir/some.html  " ] || fail "completion of files: $(complete_line dprof-analyze diagnose --rules "$dir/some.c")"
[ -z "$(complete_line dprof-analyze coz --gat | tr -d ' ')" ] || fail "completion of coz --gat: $(complete_line dprof-analyze coz --gat)"
# The lists are those of --help, and of the models that there are; each is taken.
offered() { # command option
	complete_line dprof-analyze "$1" "$2" '' | tr ' ' '\n' | grep . | sort
}
"$analyze" export --help | awk '/^Formats:/ { on = 1; next } /^$/ { on = 0 } on { print $1 }' | sort | diff - <(offered export --to) >"$dir/out" ||
	fail "formats of --help and of the completion: $(cat "$dir/out")"
{ echo auto; basename -s .clp analysis/diagnose/rules/*.clp | grep -vx facts; } | sort | diff - <(offered diagnose --model) >"$dir/out" ||
	fail "models that there are and of the completion: $(cat "$dir/out")"
"$analyze" pack testsuite/fixtures/analysis/job.txt "$dir/any" || fail "pack"
for one in $(offered diagnose --model); do
	"$analyze" diagnose --model="$one" "$dir/any" >"$dir/out" 2>&1 || fail "model $one: $(cat "$dir/out")"
done
for one in $(offered export --to); do
	"$analyze" export --to="$one" "$dir/exported.$one" "$dir/any" >"$dir/out" 2>&1 || fail "format $one: $(cat "$dir/out")"
done
[ "$(complete_line dprof-analyze export --to coz --forc)" = '--force ' ] || fail "--to coz is taken for the command coz"
[ "$(cd "$prefix/bin" && complete_line dprof-analyze audit dprof-inf)" = 'dprof-info ' ] || fail "completion of a file for audit"
[ "$(cd "$prefix" && complete_line dprof-analyze csp sha)" = 'share ' ] || fail "completion of a directory"

# The module file says where things are, wherever that is.
if command -v tclsh >/dev/null; then
	cat >"$dir/module.tcl" <<'END_TCL'
proc module-whatis {text} {}
proc prepend-path {name value} { puts "$name=$value" }
set ModulesCurrentModulefile [lindex $argv 0]
source $ModulesCurrentModulefile
END_TCL
	tclsh "$dir/module.tcl" "$prefix/share/modulefiles/dprof/$version" >"$dir/module" || fail "the module file"
	grep -qx "PATH=$prefix/bin" "$dir/module" && grep -qx "PKG_CONFIG_PATH=$prefix/lib/pkgconfig" "$dir/module" ||
		fail "module: $(cat "$dir/module")"
fi

touch "$dir/stage/usr/lib/another" "$dir/stage/usr/bin/another"
make --no-print-directory B="$B" DESTDIR="$dir/stage" PREFIX=/usr now-uninstall >"$dir/log" 2>&1 ||
	fail "make uninstall: $(cat "$dir/log")"
[ "$(cd "$dir/stage/usr" && find . ! -type d | sort | tr '\n' ' ')" = "./bin/another ./lib/another " ] ||
	fail "make uninstall: there remains $(find "$dir/stage" -type f)"
[ "$(cd "$dir/stage/usr" && find . ! -name another | sort | tr '\n' ' ')" = ". ./bin ./lib " ] ||
	fail "make uninstall leaves $(find "$dir/stage")"

mkdir "$dir/project" && cd "$dir/project" || exit 1
cat >work.cc <<'END'
#include "dprof.h"
extern "C" int work(int n)
{
	DPROF_REGION(inner)
	n *= 2;
	return n;
}
END
cat >app.c <<'END'
#include "dprof.h"
int work(int n);
int main(void)
{
	int n = 0;
	DPROF_REGION(outer)
	n = work(n);
	return n;
}
END
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
regions() { # what, program, arguments...
	rm -rf "$DPROF_DIR"/* && timeout 30 "${@:2}" || { fail "$1: does not run"; return; }
	[ "$("$prefix/bin/dprof-analyze" dump "$DPROF_DIR"/* | awk '$1 == "site" { sub("name=", "", $4); name[$2] = $4 }
		$1 == "e" { printf "%s ", name[$4] }')" = "outer inner inner outer " ] ||
		fail "$1: expected the regions outer and inner, found $("$prefix/bin/dprof-analyze" dump "$DPROF_DIR"/*)"
}
barriers() { # what, program
	rm -rf "$DPROF_DIR"/*
	timeout 60 ${3:-mpirun.openmpi --allow-run-as-root --oversubscribe --quiet --mca mpi_yield_when_idle 1} -n 2 "$2" ||
		fail "$1: does not run"
	[ "$("$prefix/bin/dprof-analyze" dump "$DPROF_DIR"/* | grep -c '^e .* enter group=1 seq=0')" = 2 ] ||
		fail "$1: expected a barrier of a known group on both ranks"
}

"$prefix/bin/dprof-c++" -O2 -c work.cc && "$prefix/bin/dprof-cc" -O2 app.c work.o -o app && regions wrappers ./app ||
	fail "wrappers: do not build"

export PKG_CONFIG_PATH=$prefix/lib/pkgconfig
# shellcheck disable=SC2046
g++ -O2 $(pkg-config --cflags dprof) -c work.cc && gcc -O2 $(pkg-config --cflags dprof) -c app.c &&
	gcc app.o work.o -o app2 $(pkg-config --libs dprof) && regions pkg-config ./app2 || fail "pkg-config: does not build"
[ "$(pkg-config --modversion dprof)" = "$(sed -n 's/^Version: //p' "$prefix/lib/pkgconfig/dprof.pc")" ] || fail "version"

command -v cmake >/dev/null || { echo "no cmake: its package is not tested"; exit $((failed ? 1 : 77)); }
have_openmpi=$(command -v mpicc.openmpi >/dev/null && [ -e "$prefix/lib/libdprof-openmpi.so" ] && echo yes)
have_mpich=$(command -v mpicc.mpich >/dev/null && [ -e "$prefix/lib/libdprof-mpich.so" ] && echo yes)
cat >CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.16)
project(project C CXX)
if(NOT MPI)
	find_package(dprof 0.1 REQUIRED)
else()
	find_package(MPI REQUIRED COMPONENTS C)
	find_package(dprof 0.1 REQUIRED COMPONENTS mpi)
endif()
add_library(work STATIC work.cc)
add_library(work-shared SHARED work.cc)
add_executable(app app.c)
add_executable(app-shared app.c)
target_link_libraries(work PUBLIC dprof::dprof)
target_link_libraries(work-shared PRIVATE dprof::dprof)
target_link_libraries(app PRIVATE work)
target_link_libraries(app-shared PRIVATE work-shared dprof::dprof)
if(MPI)
	add_executable(mpi-app mpi.c)
	target_link_libraries(mpi-app PRIVATE MPI::MPI_C dprof::mpi)
endif()
END
# What it knows of the compilers it need not find out again, which takes longer than all else; of dprof and MPI it must.
configures() { # options of cmake...
	cmake -U 'dprof*' -U 'MPI*' -S . -B build "$@" >log 2>&1
}
builds() { # what, target, options of cmake...
	configures -DCMAKE_BUILD_TYPE=Release "${@:3}" && cmake --build build --clean-first --target "$2" >>log 2>&1 ||
		fail "cmake with $1: $(tail -20 log)"
}
for tree in "$prefix" "$B"; do
	builds "$tree" all -DCMAKE_PREFIX_PATH="$tree" ${have_openmpi:+-DMPI=yes -DMPI_C_COMPILER=mpicc.openmpi}
	regions "cmake $tree" build/app
	regions "cmake $tree, shared object" build/app-shared
	[ -z "$have_openmpi" ] || barriers "cmake $tree, OpenMPI" build/mpi-app
done
if [ "$have_mpich" ]; then
	builds MPICH mpi-app -DCMAKE_PREFIX_PATH="$prefix" -DMPI=yes -DMPI_C_COMPILER=mpicc.mpich
	barriers "cmake, MPICH" build/mpi-app mpirun.mpich
	mv build kept
	builds "CC=mpicc.mpich" mpi-app -DCMAKE_PREFIX_PATH="$prefix" -DMPI=yes -DCMAKE_C_COMPILER=mpicc.mpich
	barriers "cmake, CC=mpicc.mpich" build/mpi-app mpirun.mpich
	rm -r build && mv kept build
fi
configures -DCMAKE_PREFIX_PATH="$prefix" &&
	sed -i 's/dprof 0.1/dprof 7.0/' CMakeLists.txt && configures -DCMAKE_PREFIX_PATH="$prefix" &&
	fail "version 7.0 was found"
grep -q 'version: 0' log || fail "expected to hear which version is there, found: $(cat log)"
sed -i 's/dprof 7.0 REQUIRED)/dprof REQUIRED COMPONENTS grpc)/' CMakeLists.txt &&
	configures -DCMAKE_PREFIX_PATH="$prefix" &&
	fail "COMPONENTS grpc was found"
tr -s ' \n' ' ' <log | grep -q 'dprof has no target dprof::grpc: expected mpi, openmpi or mpich' ||
	fail "expected to hear which components there are, found: $(cat log)"
sed -i 's/dprof REQUIRED COMPONENTS grpc)/dprof REQUIRED)/' CMakeLists.txt

# ---- moved elsewhere ----------------------------------------------------------------------------------------
mv "$prefix" "$dir/moved" && prefix=$dir/moved
rm -f app app2 ./*.o
"$prefix/bin/dprof-c++" -O2 -c work.cc && "$prefix/bin/dprof-cc" -O2 app.c work.o -o app && regions "moved: wrappers" ./app ||
	fail "wrappers: do not build"
builds moved app -DCMAKE_PREFIX_PATH="$prefix" && regions "moved: cmake" build/app || fail "moved: cmake does not build"
export PKG_CONFIG_PATH=$prefix/lib/pkgconfig
# shellcheck disable=SC2046
g++ -O2 $(pkg-config --define-prefix --cflags dprof) -c work.cc && gcc -O2 $(pkg-config --define-prefix --cflags dprof) -c app.c &&
	gcc app.o work.o -o app2 $(pkg-config --define-prefix --libs dprof) && regions "moved: pkg-config" ./app2 ||
	fail "pkg-config: does not build"

# A prefix that was made for it goes with it, also where it is named from here.
cd "$source" || exit 1
make --no-print-directory B="$B" PREFIX="$(realpath --relative-to=. "$prefix")" now-uninstall >"$dir/log" 2>&1 ||
	fail "make uninstall: $(cat "$dir/log")"
[ ! -e "$prefix" ] || fail "make uninstall leaves $(find "$prefix")"
exit $failed

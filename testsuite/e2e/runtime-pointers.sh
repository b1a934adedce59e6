#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What the kernel, or MPI, refuses since a pointer is bad, a traced program is refused, too: nothing follows the pointer
# before. So it prints what it prints without dprof.
from=$PWD/testsuite/fixtures
. testsuite/lib.sh
export PKG_CONFIG_PATH=$B/lib/pkgconfig
cd "$dir" || exit 1

both() { # compiler module source flags
	$1 -O2 -w ${4:-} -o plain "$from/$3" || exit 1
	# shellcheck disable=SC2046,SC2086
	$1 -O2 -w ${4:-} $(pkg-config --cflags "$2") -o traced "$from/$3" $(pkg-config --libs "$2") || exit 1
	timeout 60 ./plain >expected 2>said || fail "$3: without dprof: exit status $?: $(cat said)"
	timeout 60 ./traced >found 2>said || fail "$3: exit status $?: $(cat said)"
	[ -s expected ] && diff expected found || fail "$3: a refused call does something else"
	"$analyze" check dprof-traced.* >verdict || fail "$3: $(cat verdict)"
	"$analyze" dump dprof-traced.* >dumped
	rm -rf dprof-traced.*
}

# How many such calls say that they wait for nothing.
idle() { # name
	awk -v name="name=$1" '$1 == "site" && $4 == name { is[$2] } $1 == "e" && $4 in is && $5 == "enter" && / id=0( |$)/ { n++ }
		END { print n + 0 }' dumped
}

# shellcheck disable=SC2086
both gcc dprof libc/pointers.c "-D_GNU_SOURCE -pthread"
# MPICH dies of these as it is.
if command -v mpicc.openmpi >/dev/null && [ -e "$B/lib/libdprof-openmpi.so" ]; then
	export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
	both mpicc.openmpi dprof-openmpi runtime/nulls.c
	[ "$(idle MPI_Wait) $(idle MPI_Waitall)" = "1 1" ] ||
		fail "expected one MPI_Wait and one MPI_Waitall for nothing, found $(idle MPI_Wait) and $(idle MPI_Waitall)"
fi
exit $failed

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
	rm -rf dprof-traced.*
}

# shellcheck disable=SC2086
both gcc dprof libc/pointers.c "-D_GNU_SOURCE -pthread"
# MPICH dies of these as it is.
if command -v mpicc.openmpi >/dev/null && [ -e "$B/lib/libdprof-openmpi.so" ]; then
	export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
	both mpicc.openmpi dprof-openmpi runtime/nulls.c
fi
exit $failed

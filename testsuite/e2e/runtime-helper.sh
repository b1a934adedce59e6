#!/bin/bash
# SPDX-License-Identifier: MIT
#
# A process that records has a helper, whatever signals it began with, and the same one until its end, whichever of
# its threads record.
from=$PWD/testsuite/fixtures/runtime
. testsuite/lib.sh
export DPROF_EVENTS=-io,-wait,-sleep
cd "$dir" || exit 1
gcc -O1 -shared -fPIC "$from/unseen.c" -o libunseen.so || exit 1
"$B/bin/dprof-cc" -Wall -Wextra -O1 -pthread "$from/helped.c" -o helped -L. -lunseen -Wl,-rpath,"$dir" || exit 1

for way in blocked workers; do
	timeout 100 ./helped $way >said 2>&1 || fail "$way: exit status $?"
	[ "$(cat said)" = "1 helper" ] || fail "$way: expected 1 helper, found $(cat said)"
done

[ "$failed" = 0 ] && echo "as expected"
exit "$failed"

#!/bin/bash
# SPDX-License-Identifier: MIT
#
# A process that records has a helper, whatever signals it began with or has blocked, and the same one until its end,
# whichever of its threads record. Only a signal handler starts none.
from=$PWD/testsuite/fixtures/runtime
. testsuite/lib.sh
export DPROF_EVENTS=-io,-wait,-sleep
cd "$dir" || exit 1
gcc -O1 -shared -fPIC "$from/unseen.c" -o libunseen.so || exit 1
"$B/bin/dprof-cc" -Wall -Wextra -O1 -pthread "$from/helped.c" -o helped -L. -lunseen -Wl,-rpath,"$dir" || exit 1

for way in blocked masked workers handled; do
	expected='1 helper'
	[ $way != handled ] || expected='no helper'
	timeout 100 ./helped $way >said 2>&1 || fail "$way: exit status $?"
	[ "$(cat said)" = "$expected" ] || fail "$way: expected $expected, found $(cat said)"
done

# Whoever closes a copy of a message queue's descriptor, as the helper does that wants none of the program's, takes back
# what its process has asked for there.
"$B/bin/dprof-cc" -Wall -Wextra -O1 "$from/notified.c" -o notified -lrt || exit 1
rm -rf dprof-*
./notified >said || fail "notified: exit status $?"
[ "$(cat said)" = told ] || fail "notified: the program is $(cat said) of a message"
"$analyze" check dprof-* >verdict || fail "notified: $(cat verdict)"

[ "$failed" = 0 ] && echo "as expected"
exit "$failed"

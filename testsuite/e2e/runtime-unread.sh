#!/bin/bash
# SPDX-License-Identifier: MIT
#
# A program is known by its file: where no /proc is, that is found by the name by which it was called; and of one that may be run
# but not read the trace says why its regions have no names, not that it was compiled without.
[ -n "${OWN_MOUNTS-}" ] || ! unshare -m true 2>/dev/null || OWN_MOUNTS=1 exec unshare -m "$0"
. testsuite/lib.sh
export PKG_CONFIG_PATH=$B/lib/pkgconfig
# shellcheck disable=SC2046
gcc -O1 $(pkg-config --cflags dprof) testsuite/fixtures/runtime/loop.c -o "$dir/loop" $(pkg-config --libs dprof) || exit 1
cd "$dir" || exit 1

# Root may read whatever it likes, unless it gives that up.
unprivileged() {
	if [ "$(id -u)" = 0 ]; then
		setpriv --bounding-set=-dac_override,-dac_read_search "$@"
	else
		"$@"
	fi
}

chmod 111 loop
unprivileged cat loop >out 2>&1 && { echo "skipped: any file may be read here"; exit 77; }
unprivileged ./loop >out || fail "a program that may not be read: exit status $?"
"$analyze" dprof-loop.* >page 2>&1
tr -s ' \n' ' ' <page | grep -q "note: the program's file cannot be read (Permission denied)" ||
	fail "expected that the file cannot be read: $(cat page)"
! grep -q 'nothing in it is instrumented' page || fail "it is said not to be instrumented: $(cat page)"
rm -rf dprof-*
chmod 755 loop

if [ -n "${OWN_MOUNTS-}" ] && umount -l /proc 2>/dev/null; then
	./loop >out || fail "no /proc: exit status $?"
	mount -t proc proc /proc || exit 1
	[ -n "$(find . -name "dprof-loop.*")" ] || fail "no /proc: expected a trace of loop, found $(ls)"
	"$analyze" dump dprof-* | grep -q '^site.* file=.*loop.c' || fail "no /proc: the names of regions are not known"
	"$analyze" dprof-* >page 2>&1 || fail "no /proc: exit status $?: $(cat page)"
fi

[ "$failed" = 0 ] && echo "as expected"
exit "$failed"

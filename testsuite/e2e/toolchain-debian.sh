#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The Debian package is built, installs beside what is on this machine, does what debian/tests/smoke asks of it, and leaves
# nothing behind when it is purged. What it writes goes to a layer over the machine's files, of which only the commands in here
# know, and which is memory. For root only.
. testsuite/lib.sh
[ "$(id -u)" -eq 0 ] || { echo 'only root may install a package'; exit 77; }
unshare -m true 2>"$dir/log" || { echo "no mount namespaces here: $(cat "$dir/log")"; exit 77; }
# It is not packed small, without a package of what debuggers want (which dwz would make smaller before it is thrown away), and the
# index of the manual pages is not made anew: none of it is ours, and it takes more than half of the time.
mkdir "$dir/bin" && ln -s "$(command -v true)" "$dir/bin/dwz"
PATH=$dir/bin:$PATH DEB_BUILD_OPTIONS=noautodbgsym DPKG_DEB_COMPRESSOR_TYPE=none make --no-print-directory B="$B" now-deb \
	>"$dir/log" 2>&1 || fail "make deb: $(tail "$dir/log")"
[ $failed -eq 0 ] || exit 1
dpkg-deb -c "$B"/deb/dprof_*_amd64.deb | grep -q ' \./usr/share/doc/dprof/docs/tutorial\.md$' || fail "the package has no tutorial, or a packed one"
mkdir "$dir/layer"

# shellcheck disable=SC2016
unshare -m bash -euc '
	cd "$1"
	mount -t tmpfs tmpfs layer && mkdir layer/new layer/work layer/root &&
		mount -t overlay overlay -o lowerdir=/,upperdir=layer/new,workdir=layer/work layer/root || exit 77
	root=layer/root
	mount -t tmpfs tmpfs $root/tmp
	mount --rbind /dev $root/dev
	mount --rbind /proc $root/proc
	mount --rbind /sys $root/sys
	rm -f $root/var/lib/man-db/auto-update
	cp "$2"/deb/dprof_*_amd64.deb "$3/debian/tests/smoke" $root/tmp
	chroot $root sh -c "cd /tmp && dpkg -i dprof_*.deb && dpkg -s dprof | grep -q ^Status:.install.ok.installed && bash smoke && dpkg -P dprof"
	find layer/new -iname "*dprof*" ! -type c ! -path "*/var/log/*"
' - "$dir" "$B" "$PWD" >"$dir/log" 2>"$dir/err"
status=$?
[ $status -ne 77 ] || { echo "no layer over the machine's files: $(cat "$dir/err")"; exit 77; }
[ $status -eq 0 ] && grep -qx 'dprof: smoke test passed' "$dir/log" || fail "status $status: $(tail "$dir/log" "$dir/err")"
grep '^layer/new/' "$dir/log" && fail 'what is left behind is above'
exit $failed

#!/bin/bash
# SPDX-License-Identifier: MIT
#
# On a machine where Debian packages are missing, `make` says exactly which and how to install them, before it does
# anything else; where it may, it installs just those. `make help` fits a terminal.
. testsuite/lib.sh
make help >"$dir/help" || fail "make help"
fits_80 "$dir/help" || fail "make help is wider than 80 columns"
grep -q '^  make uninstall ' "$dir/help" || fail "make help does not know uninstall"

# The Debian package is of this version, and is built with the libraries that the Makefile asks for, but for those that only
# programs of the tests use.
version=$(sed -n 's/^#define DPROF_VERSION "\(.*\)"/\1/p' runtime/version.h)
head -1 debian/changelog | grep -qF "dprof ($version)" || fail "debian/changelog is not of version $version"
for library in $(grep -oE '\blib[a-z0-9-]+-dev\b' <<<"$(sed -n '/^PACKAGES /,/[^\\]$/p' Makefile)" | grep -vE 'csmith|tbb'); do
	grep -qw -- "$library" debian/control || fail "debian/control lacks $library"
done

# Stand-ins: two packages are missing, apt-get says what it was asked, and who we are is in the file `who`.
mkdir "$dir/bin"
cat >"$dir/bin/dpkg-query" <<'END'
#!/bin/sh
for package; do
	case $package in -* | *'{'* | scdoc) ;; libsodium-dev) echo "$package deinstall ok config-files" ;; *) echo "$package install ok installed" ;; esac
done
exit 1
END
printf '#!/bin/sh\ncat "%s/who"\n' "$dir" >"$dir/bin/id"
printf '#!/bin/sh\necho "$*" >>"%s/asked"\nexit $(cat "%s/status")\n' "$dir" "$dir" >"$dir/bin/apt-get"
chmod +x "$dir"/bin/*
makes() { PATH=$dir/bin:$PATH make --no-print-directory B="$dir/build" "$dir/build/packages" >"$dir/out" 2>&1; }

echo 1000 >"$dir/who"
makes && fail "without packages make succeeds"
head -2 "$dir/out" | diff - <(printf '%s\n' "dprof needs these Debian packages; install them and try again:" \
	"  apt-get install libsodium-dev scdoc") || fail "the packages are not named"
[ ! -e "$dir/asked" ] || fail "one who is not root runs apt-get $(cat "$dir/asked")"

echo 0 >"$dir/who"
echo 100 >"$dir/status"
makes && fail "apt-get fails, and make succeeds"
grep -q '^apt-get install libsodium-dev scdoc failed, see above$' "$dir/out" || fail "apt-get fails: $(cat "$dir/out")"

echo 0 >"$dir/status"
rm "$dir/asked"
makes || fail "apt-get does its work, and make fails: $(cat "$dir/out")"
[ "$(cat "$dir/asked")" = "install -y --no-install-recommends libsodium-dev scdoc" ] ||
	fail "apt-get was asked: $(cat "$dir/asked")"

# Without any compiler: that which Debian's gcc stands for.
if command -v apt-cache >/dev/null; then
	mkdir "$dir/few"
	for tool in sh sed apt-cache make; do ln -s "$(command -v $tool)" "$dir/few"; done
	PATH=$dir/few make -pn help 2>/dev/null | grep -Eq '^PACKAGES := gcc g\+\+ gcc-[0-9]+-plugin-dev ' ||
		fail "without a compiler: $(PATH=$dir/few make -pn help 2>&1 | grep '^PACKAGES')"
fi
exit $failed

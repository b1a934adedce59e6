#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The real points are all there, or it was said that a sample takes their place, as it must be on a machine
# that reaches no package.
. testsuite/fixtures/examples/setup.sh

rows() { # file columns range: how many rows are so many numbers within the range
	zcat "$1" | awk -F, -v columns="$2" -v low="$3" -v high="$4" '
	NF == columns { for (i = 1; i <= NF; i++) if ($i !~ /^-?[0-9.]+$/ || $i < low || $i > high) next; n++ }
	END { print n + 0 "/" NR }'
}

mkdir stub
for program in apt-get npm; do
	printf '#!/bin/sh\necho "E: nothing to be had"; exit 100\n' >stub/$program
done
chmod +x stub/*
PATH=$tmp/stub:$PATH "$root/examples/data/fetch" sample 2>said || fail "offline: status $?"
[ "$(rows sample/digits.csv.gz 64 0 16)" = 300/300 ] || fail "the sample of digits is not whole"
[ "$(rows sample/cities.csv.gz 2 -180 180)" = 2019/2019 ] || fail "the sample of cities is not whole"
for line in 'digits: could not fetch the 1797 points (E: nothing to be had); the committed sample of 300' \
	'cities: could not fetch the 135233 points (E: nothing to be had); the committed sample of 2019'; do
	grep -qF "$line" said || fail "expected \"$line\", found: $(cat said)"
done

case $(rows "$B/data/digits.csv.gz" 64 0 16) in 1797/1797 | 300/300) ;; *) fail "digits are damaged" ;; esac
case $(rows "$B/data/cities.csv.gz" 2 -180 180) in 135233/135233 | 2019/2019) ;; *) fail "cities are damaged" ;; esac
echo "as expected"

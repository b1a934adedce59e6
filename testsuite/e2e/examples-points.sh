#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The real points and the real graph are all there, or it was said that a sample takes their place, as it must be on a machine
# that reaches no package.
. testsuite/fixtures/examples/setup.sh

rows() { # file columns range: how many rows are so many numbers within the range
	zcat "$1" | awk -F, -v columns="$2" -v low="$3" -v high="$4" '
	NF == columns { for (i = 1; i <= NF; i++) if ($i !~ /^-?[0-9.]+$/ || $i < low || $i > high) next; n++ }
	END { print n + 0 "/" NR }'
}

edges() { # folder: how many edges between different nodes, and lines that are no remark
	zcat "$1/debian.txt.gz" | awk '/^#/ { next } { n++ } /^[0-9]+\t[0-9]+$/ && $1 != $2 { good++ } END { print good "/" n }'
}

mkdir refusing
for program in apt-get apt-cache npm; do
	printf '#!/bin/sh\necho "E: nothing to be had"; exit 100\n' >refusing/$program
done
chmod +x refusing/*
PATH=$tmp/refusing:$PATH "$root/examples/data/fetch" sample 2>said || fail "offline: status $?"
[ "$(rows sample/digits.csv.gz 64 0 16)" = 300/300 ] || fail "the sample of digits is not whole"
[ "$(rows sample/cities.csv.gz 2 -180 180)" = 2019/2019 ] || fail "the sample of cities is not whole"
for line in 'digits: could not fetch the 1797 points (E: nothing to be had); the committed sample of 300' \
	'cities: could not fetch the 135233 points (E: nothing to be had); the committed sample of 2019'; do
	grep -qF "$line" said || fail "expected \"$line\", found: $(cat said)"
done
grep -q "^debian: could not fetch the 100000 edges (apt's lists are empty; .*); the committed sample of 36121" said ||
	fail "the empty lists of apt: $(cat said)"
[ "$(edges sample)" = 36121/36121 ] || fail "the sample of packages is not whole"

case $(rows "$B/data/digits.csv.gz" 64 0 16) in 1797/1797 | 300/300) ;; *) fail "digits are damaged" ;; esac
case $(rows "$B/data/cities.csv.gz" 2 -180 180) in 135233/135233 | 2019/2019) ;; *) fail "cities are damaged" ;; esac
case $(edges "$B/data") in 36121/36121) ;; [1-9][0-9][0-9][0-9][0-9][0-9]/*) ;; *) fail "the graph is damaged" ;; esac

awk -v names=names -f "$root/examples/data/packages.awk" >graph <<-END
	Package: beta-x
	Depends: alpha (>= 2) | virtual, c++:any, alpha
	Recommends: delta

	Package: alpha
	Version: 3
	Pre-Depends: c++

	Package: alpha
	Version: 2
	Depends: delta|beta-x

	Package: c++
	Suggests: alpha

	Package: delta
END
printf '%d\t%s\n' 0 alpha 1 beta-x 2 c++ 3 delta | diff names - || fail "packages have other names"
printf '%d\t%d\n' 0 1 0 2 0 3 1 0 1 2 | diff <(sed '/^#/d' graph) - || fail "packages depend otherwise"
echo "as expected"

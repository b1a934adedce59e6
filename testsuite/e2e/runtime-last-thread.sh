#!/bin/bash
# SPDX-License-Identifier: MIT
#
# A process that ends with its last thread: what the program prints, at exit too, is what it prints without us, and
# each of its events is in the trace; whichever thread is the last, and whoever started it.
from=$PWD/testsuite/fixtures/runtime
. testsuite/lib.sh
export DPROF_EVENTS=-io,-sleep
cd "$dir" || exit 1
gcc -Wall -Wextra -O1 -shared -fPIC -o libunseen.so "$from/unseen.c" || exit 1
g++ -Wall -Wextra -Wno-unknown-pragmas -O1 -pthread -o bare "$from/last.cc" -L. -lunseen -Wl,-rpath,"$dir" || exit 1
"$B/bin/dprof-c++" -Wall -Wextra -O1 -pthread -o last "$from/last.cc" -L. -lunseen -Wl,-rpath,"$dir" || exit 1

recorded() { # trace
	"$analyze" dump "$1" 2>>problems |
		awk '$1 == "site" && $4 == "name=work" { site[$2] = 1 } $1 == "e" && $4 in site && $5 == "exit" { n++ }
			END { print "visits " n + 0 }'
}

ends() { # the arguments
	local what="$*"
	rm -rf dprof-last.*
	timeout 60 ./last "$@" | sort >said
	[ "${PIPESTATUS[0]}" = 0 ] || fail "$what: does not end"
	cmp -s expected said || fail "$what: $(diff expected said)"
	: >problems
	found=$(recorded dprof-last.*)
	[ "$found" = "$visits" ] || fail "$what: expected $visits, recorded $found"
	"$analyze" check dprof-last.* >check 2>&1 || fail "$what: $(cat check problems)"
}

for way in joinable detached cplusplus c11 many following much cancel unseen unseen-that-visits joining main-last early; do
	for main in "" records; do
		# shellcheck disable=SC2086
		timeout 60 ./bare $way $main | sort >expected
		visits=$(grep visits expected)
		# shellcheck disable=SC2086
		for ((i = 0; i < 2; i++)); do ends $way $main; done
	done
done

[ "$failed" = 0 ] && echo "as expected"
exit "$failed"

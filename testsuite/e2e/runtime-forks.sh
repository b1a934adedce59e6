#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What other libraries have a fork call, before it and behind it in the parent or the child, may do what it may without us:
# record, fork, make threads and wait for them, meet at a barrier, load a library that is instrumented. And a handler that
# forks returns, whatever it interrupts; and a child that records nothing makes no thread to end.
from=$PWD/testsuite/fixtures/runtime
. testsuite/lib.sh
export DPROF_EVENTS=-io,-sleep PKG_CONFIG_PATH=$B/lib/pkgconfig
cd "$dir" || exit 1
# The library stands last, so it begins first.
# shellcheck disable=SC2046
gcc -Wall -Wextra -O1 -shared -fPIC -o libforks.so "$from/forks-library.c" &&
	gcc -O1 -shared -fPIC $(pkg-config --cflags dprof) -o libloaded.so "$from/late-library.c" &&
	gcc -Wall -Wextra -O1 $(pkg-config --cflags dprof) -pthread -o forks "$from/forks.c" $(pkg-config --libs dprof) \
		-Wl,--no-as-needed -L. -lforks -Wl,-rpath,"$dir" || exit 1

recorded() { # trace
	"$analyze" dump "$1" 2>>problems |
		awk '$1 == "site" && $4 == "name=work" { site[$2] = 1 } $1 == "e" && $4 in site && $5 == "exit" { n++ } END { print n + 0 }'
}

for when in 0 1 2; do
	for what in visit fork threads barrier load; do
		rm -rf dprof-forks.*
		timeout 20 ./forks $when $what
		status=$?
		[ $status = 3 ] || fail "$what in function $when: exit status $status"
		visits=70
		[ $what != visit ] || visits=100 # ten at each fork
		[ $what != threads ] || visits=130 # two threads at each fork
		: >problems
		[ "$(recorded dprof-forks.*)" = $visits ] ||
			fail "$what in function $when: expected $visits visits, found $(recorded dprof-forks.*): $(cat problems)"
		"$analyze" check dprof-forks.* >check 2>&1 || fail "$what in function $when: $(cat check)"
		# What is called before a fork is no part of it.
		[ $when != 0 ] || "$analyze" dump dprof-forks.* | awk '
			$1 == "site" { name[$2] = substr($4, 6) }
			$1 == "e" && name[$4] == "fork" && $5 != "point" { forks[$2] += $5 == "enter" ? 1 : -1; n++ }
			$1 == "e" && name[$4] == "work" && forks[$2] { inside = 1 }
			END { exit !n || inside }' || fail "$what in function $when: a fork has begun before that"
	done
done

# The child goes on where the handler has interrupted its parent, at each instruction of a visit: in a chunk that has room, or
# that is full now, too.
# shellcheck disable=SC2046
gcc -Wall -Wextra -O1 $(pkg-config --cflags dprof) -o forks-stepped "$from/forks-stepped.c" $(pkg-config --libs dprof) ||
	exit 1
for visits in 0 30 300; do
	rm -rf dprof-forks-stepped.*
	DPROF_BUFFER=4K timeout 60 ./forks-stepped $visits || fail "a handler visits $visits times and forks: exit status $?"
	"$analyze" check dprof-forks-stepped.* >check 2>&1 || fail "a handler visits $visits times and forks: $(cat check)"
done

for what in forks-within silent; do
	# shellcheck disable=SC2046
	gcc -Wall -Wextra -O1 -pthread $(pkg-config --cflags dprof) -o $what "$from/$what.c" $(pkg-config --libs dprof) || exit 1
	timeout 100 ./$what >said || fail "$what: exit status $?, $(cat said)"
done
"$analyze" check dprof-silent.* >check 2>&1 || fail "silent: $(cat check)"
[ "$("$analyze" dump dprof-silent.* | grep -c '^process ')" = 3 ] ||
	fail "silent: expected 3 processes, found $("$analyze" dump dprof-silent.* | grep '^process ')"

[ "$failed" = 0 ] && echo "as expected"
exit "$failed"

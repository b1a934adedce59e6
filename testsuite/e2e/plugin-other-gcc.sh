#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What holds for the default GCC holds for each other one whose plugin was built.
from=testsuite/fixtures/plugin
. testsuite/lib.sh
about() { echo "GCC $n: "; }
tried=

expected() { # fixture
	sed -n 's|.*/\* expect: *\(.*\)\*/.*|\1|p' "$1" | tr -s ' \t\n' '\n' | sed '/^$/d'
}

records() { # compiler fixture options...
	[ -n "$(expected "$2")" ] || fail "$2 expects nothing"
	"$1" -I. -w -pthread -fplugin="$plugin" "${@:3}" "$2" "$dir/recorder.o" -o "$dir/a.out" &&
		RECORDER_EVENTS=$dir/events timeout 20 "$dir/a.out" >/dev/null ||
		{ fail "${*:2} does not work"; return; }
	awk '$1 == 0 { print $2 }' "$dir/events" | diff <(expected "$2") - >"$dir/diff" ||
		fail "${*:2}: $(head -5 "$dir/diff")"
}

# "LINE COLUMN" of what must be said of a C body without braces, and of what is.
bodies() {
	diff <(awk 'match($0, /expect-error [0-9]+/) { print NR, substr($0, RSTART + 13, RLENGTH - 13) }' \
		$from/wrong-body.c) \
		<("gcc-$n" -I. -fdiagnostics-plain-output -fplugin="$plugin" -c $from/wrong-body.c -o "$dir/o" 2>&1 |
			sed -nE 's/^[^:]+:([0-9]+):([0-9]+): error: .*where GCC before 12.*/\1 \2/p') ||
		fail "bodies without braces (line, column)"
}

gcc -O2 -I. -c $from/recorder.c -o "$dir/recorder.o" || exit 1
for plugin in "$B"/plugin/*/dprof.so; do
	n=$(basename "$(dirname "$plugin")")
	command -v "gcc-$n" >/dev/null && command -v "g++-$n" >/dev/null || continue
	tried="$tried $n"
	for level in -O0 -O2 "-O2 -flto"; do
		# shellcheck disable=SC2086
		records "g++-$n" $from/cplusplus.cc -std=c++17 $level
		# shellcheck disable=SC2086
		records "gcc-$n" $from/gnu89.c -std=gnu89 $level
		# shellcheck disable=SC2086
		records "gcc-$n" $from/calls.c $level
	done
	[ "$n" -ge 12 ] || bodies
	PROGRAMS=${PROGRAMS:-8} GCC=gcc-$n PLUGIN=$plugin testsuite/e2e/plugin-random.sh || fail "random programs"
	! gcc-"$n" -fplugin="$B/plugin/dprof.so" -x c -c /dev/null -o "$dir/o" 2>"$dir/err" ||
		fail "takes the plugin of another GCC"
	grep -q "dprof was built for GCC" "$dir/err" || fail "$(cat "$dir/err")"
done
[ -n "$tried" ] || { echo "no other GCC has a plugin here"; exit 77; }
echo "tried GCC$tried"
exit $failed

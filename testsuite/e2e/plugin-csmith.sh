#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Programs that csmith makes up print the same checksum with every function and loop instrumented as
# without the plugin, at -O0 and -O3, and what they record is balanced. PROGRAMS=1000 is the long form,
# FIRST the first seed.
set -u
: "${B:?the build folder}"
plugin=${PLUGIN:-$B/plugin/dprof.so} gcc=${GCC:-gcc}
from=testsuite/fixtures/plugin
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
first=${FIRST:-1} programs=${PROGRAMS:-4} failed=0 compared=0 events=0

command -v csmith >/dev/null || { echo "no csmith"; exit 77; }
include=$(find /usr/include /usr/include/* -maxdepth 1 -name 'csmith*' -type d | head -1)
gcc -O2 -I. -c $from/recorder.c -o "$dir/recorder.o" || exit 1

fail() {
	echo "FAILED: $*, seed $seed"
	failed=1
}

# Each exit belongs to the innermost region that is open, and nothing stays open but at exit().
balanced() {
	awk '$2 ~ /^\+/ { stack[++depth] = substr($2, 2) }
	     $2 ~ /^-/ && (!depth || stack[depth--] != substr($2, 2)) { bad = 1 }
	     END { exit bad || depth }' "$1"
}

build() { # executable options...
	"$gcc" -w "-I$include" "${@:2}" "$dir/p.c" -o "$1"
}

for ((seed = first; seed < first + programs; seed++)); do
	(cd "$dir" && csmith --seed "$seed" --max-funcs 5 --no-argc >p.c) || continue # it leaves a file
	for level in -O0 -O3; do
		build "$dir/plain" $level || { fail "csmith's program does not compile"; continue; }
		timeout 5 "$dir/plain" >"$dir/want" 2>&1
		status=$?
		[ $status -ne 124 ] || continue # some never end
		build "$dir/marked" $level -fplugin="$plugin" -fplugin-arg-dprof-auto=functions,loops \
			-fplugin-arg-dprof-min=0 "$dir/recorder.o" || { fail "$level does not compile"; continue; }
		RECORDER_EVENTS=$dir/events timeout 60 "$dir/marked" >"$dir/got" 2>&1
		[ $? -eq $status ] || { fail "$level exit status"; continue; }
		cmp -s "$dir/want" "$dir/got" || fail "$level prints $(head -1 "$dir/got"), not $(head -1 "$dir/want")"
		compared=$((compared + 1))
		[ $status -eq 0 ] || continue
		n=$(wc -l <"$dir/events")
		events=$((events + n))
		# The recorder drops what comes after so many.
		[ "$n" -ge 262000 ] || balanced "$dir/events" || fail "$level is not balanced"
	done
done
echo "$compared programs compared, $events events"
[ "$compared" -gt 0 ] && [ "$events" -gt 0 ] || failed=1
exit $failed

#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Programs that csmith makes up print the same checksum with everything instrumented (every function, every
# loop, and the pragmas that fixtures/plugin/mark.awk finds room for) as without the plugin, at -O0 and
# -O3, and what they record is balanced. Other programs in every run; FIRST=N begins with that of seed N again.
# PROGRAMS=1000 is the long form (half an hour).
#
# csmith's programs have no undefined behaviour, so one run without the plugin, at -O0, is the truth for
# every level; only where a level disagrees is it compiled without the plugin too.
plugin=${PLUGIN:-$B/plugin/dprof.so} gcc=${GCC:-gcc}
from=testsuite/fixtures/plugin
. testsuite/lib.sh
about() { echo "seed $seed: "; }
first=${FIRST:-$((RANDOM << 15 | RANDOM))} programs=${PROGRAMS:-4} judged=0 compared=0 endless=0 events=0
echo "again: FIRST=$first make check CHECK=plugin-csmith"

command -v csmith >/dev/null || { echo "no csmith"; exit 77; }
include=$(find /usr/include /usr/include/* -maxdepth 1 -name 'csmith*' -type d | head -1)
gcc -O2 -I. -c $from/recorder.c -o "$dir/recorder.o" || exit 1

# Each exit belongs to the innermost region that is open, and nothing stays open but at exit().
balanced() {
	awk '$2 ~ /^\+/ { stack[++depth] = substr($2, 2) }
	     $2 ~ /^-/ && (!depth || stack[depth--] != substr($2, 2)) { bad = 1 }
	     END { exit bad || depth }' "$1"
}

build() { # executable options...
	"$gcc" -w "-I$include" "${@:2}" "$dir/p.c" -o "$1" || { fail "${*:2} does not compile"; return 1; }
}

# At most so many seconds of processor time. Leaves what it prints, and its exit status in the last line.
run() { # executable seconds
	(ulimit -t "$2" && "$1" 2>&1; echo "status $?")
}

check_level() { # -O0 or -O3
	build "$dir/marked" "$1" -fplugin="$plugin" -fplugin-arg-dprof-auto=functions,loops \
		-fplugin-arg-dprof-min=0 "$dir/recorder.o" || return
	rm -f "$dir/events"
	RECORDER_EVENTS=$dir/events run "$dir/marked" 60 >"$dir/got"
	grep -qx 'status 1\(37\|52\)' "$dir/got" && return # all those events took more than its time
	if ! cmp -s "$dir/want" "$dir/got"; then
		build "$dir/plain" "$1" && run "$dir/plain" 5 >"$dir/plain.out"
		cmp -s "$dir/want" "$dir/plain.out" && fail "$1 prints $(xargs <"$dir/got"), not $(xargs <"$dir/want")"
		return
	fi
	compared=$((compared + 1))
	grep -qx 'status 0' "$dir/got" || return
	n=$(wc -l <"$dir/events")
	events=$((events + n))
	# The recorder drops what comes after so many.
	[ "$n" -ge 262000 ] || balanced "$dir/events" || fail "$1 is not balanced"
}

# About one of four never ends, so of so many seeds enough do.
for ((seed = first; seed < first + 10 * programs + 10; seed++)); do
	((judged < programs)) || break
	(cd "$dir" && csmith --seed "$seed" --max-funcs 4 --max-block-depth 4 --no-argc >bare.c) || continue # it leaves a file
	awk -f $from/mark.awk "$dir/bare.c" "$dir/bare.c" >"$dir/p.c"
	build "$dir/plain" -O0 || continue
	run "$dir/plain" 2 >"$dir/want" 2>&1
	grep -q 'status 1[0-9][0-9]' "$dir/want" && { endless=$((endless + 1)); continue; }
	check_level -O0
	check_level -O3
	judged=$((judged + 1))
done
echo "$judged programs, and $endless that never end: $compared comparisons, $events events"
[ "$judged" = "$programs" ] && [ "$compared" -ge "$programs" ] && [ "$events" -gt 0 ] || fail "too little was compared"
exit $failed

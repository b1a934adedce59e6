# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154,SC2086
#
# plugin.sh - what the plugin costs besides time in the program: bytes of code at each marked place, and time to
# compile.

plugin=$B/plugin/dprof.so
arg=-fplugin-arg-dprof

# ---- code ------------------------------------------------------------------------------------------------

# What a region adds to an empty function -> "HOT COLD" bytes: on the fast path, and out of the way. The function's
# own size ends where the code that is out of the way begins.
region_bytes() { # optimisation
	local way code=()
	for way in "" "-fplugin=$plugin"; do
		gcc -w -$1 $way -c "$here/empty.c" -o "$here/empty.o" || return
		code+=("$(nm -S "$here/empty.o" | awk '$4 == "f" { print $2 }')"
			"$(size -A "$here/empty.o" | awk '$1 == ".text" { print $2 }')")
	done
	echo $((16#${code[2]} - 16#${code[0]})) $((code[3] - code[1] - 16#${code[2]} + 16#${code[0]}))
}

table "Code of a region, begin and end" "What a region adds to an empty function; goals: none."
printf 'void f(void) {\n#pragma dprof region(empty)\n{} }\n' >"$here/empty.c"
for optimisation in O0 O2; do
	read -r hot cold <<<"$(region_bytes $optimisation)"
	row "fast path, -$optimisation" "$hot" B
	row "out of the way, -$optimisation" "$cold" B
done
row "static data of a site" "$(size -A "$here/empty.o" | awk '$1 == "dprof_sites" { print $2 }')" B

# ---- time to compile ---------------------------------------------------------------------------------------

# Functions that do as little as is worth a region, with one in each.
generated() {
	awk 'BEGIN {
		for (i = 0; i < 1000; i++) {
			printf "int f%d(int *v, int n)\n{\n\tint sum = %d;\n", i, i
			print "#pragma dprof region(loop)"
			print "\tfor (int i = 0; i < n; i++)\n\t\tsum += v[i] > sum ? v[i] : i;"
			print "\treturn sum;\n}"
		}
	}'
}

# Functions and loops as random as they can be that are still a program.
random() {
	if command -v csmith >/dev/null; then
		csmith --seed 11 --max-funcs 100 --no-argc
	else
		gcc -O1 -o "$here/generate" testsuite/fixtures/plugin/generate.c && "$here/generate" 1
	fi
}

compile() { # file options -> seconds of a processor
	local TIMEFORMAT=%U file=$1
	shift
	{ time gcc -w -O2 -I/usr/include/csmith "$@" -c "$here/$file.c" -o "$here/$file.o"; } 2>&1
}

with="-fplugin=$plugin"
generated >"$here/marked.c"
grep -v '#pragma' "$here/marked.c" >"$here/plain.c"
random >"$here/random.c"
for round in $(seq "$rounds"); do
	progress "compiling, round $round of $rounds"
	echo "$round plain $(compile plain)"
	echo "$round loaded $(compile plain $with)"
	echo "$round marked $(compile marked $with)"
	echo "$round random $(compile random)"
	echo "$round random-loaded $(compile random $with)"
	echo "$round random-functions $(compile random $with $arg-auto=functions)"
	echo "$round random-all $(compile random $with $arg-auto=functions,loops $arg-min=0)"
done >"$here/compiled"

more() { # way base
	paired percent $1 $2 <"$here/compiled" | estimate
}

table "Time to compile, gcc -O2" "In percent of the processor time without the plugin, $rounds rounds. Small: 1,000 functions of 4 lines, \
$(only plain <"$here/compiled" | estimate | cut -d' ' -f1) s. Random: $(wc -l <"$here/random.c") lines by csmith, \
$(only random <"$here/compiled" | estimate | cut -d' ' -f1) s. (sqlite3.c: BENCH=real.)"
row "small, plugin loaded" "$(more loaded plain)" %
row "small, a region a function" "$(more marked plain)" %
row "random, plugin loaded" "$(more random-loaded random)" %
row "random, auto=functions" "$(more random-functions random)" %
row "random, auto=functions,loops" "$(more random-all random)" %

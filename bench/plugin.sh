# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154
#
# plugin.sh - what the plugin costs besides time in the program: bytes of code, time to compile; and what
# marking every function costs, with and without a filter. Sourced by run.

plugin=$B/plugin/dprof.so
auto=-fplugin-arg-dprof-auto

section "One region in the object file, gcc -O2"
printf 'void f(void) {\n#pragma dprof region(empty)\n{} }\n' >"$here/empty.c"
gcc -O2 -fplugin="$plugin" -c "$here/empty.c" -o "$here/empty.o"
hot=$((16#$(nm -S "$here/empty.o" | awk '$4 == "f" { print $2 }') - 1)) # but the ret
all=$(size -A "$here/empty.o" | awk '$1 == ".text" { print $2 - 1 }')
row "code on the fast path" "$hot" B
row "code out of the way" $((all - hot)) B
row "static data" "$(size -A "$here/empty.o" | awk '$1 == "dprof_sites" { print $2 }')" B

# A large file that nobody wrote: csmith's, or else one of the test suite's random programs.
large_file() {
	if command -v csmith >/dev/null; then
		(cd "$here" && csmith --seed 11 --max-funcs 100 --no-argc >large.c)
	else
		gcc -O1 -o "$here/generate" testsuite/fixtures/plugin/generate.c
		"$here/generate" 1 >"$here/large.c"
	fi
}
compile() { # options -> seconds of a processor
	local TIMEFORMAT='%U'
	{ time gcc -w -O2 -I/usr/include/csmith "$@" -c "$here/large.c" -o "$here/large.o"; } 2>&1
}
large_file
section "Time to compile $(wc -l <"$here/large.c") lines, gcc -O2, against without the plugin ($rounds rounds)"
ways=("" "-fplugin=$plugin" "-fplugin=$plugin $auto=functions" "-fplugin=$plugin $auto=functions,loops -fplugin-arg-dprof-min=0")
for round in $(seq "$rounds"); do
	for j in 0 1 2 3; do
		i=$(((round + j) % 4))
		progress "compiling, round $round of $rounds"
		# shellcheck disable=SC2086
		echo "$round $i $(compile ${ways[i]})"
	done
done >"$here/compiled"
more() { # which, file: the paired differences to which 0, in percent
	awk -v w="$1" '{ t[$1 " " $2] = $3 } END { for (i = 1; t[i " 0"]; i++) print (t[i " " w] / t[i " 0"] - 1) * 100 }' \
		"$2" | spread
}
names=("" "plugin loaded, nothing marked" "auto=functions" "auto=functions,loops, all")
for i in 1 2 3; do
	read -r median low high <<<"$(more $i "$here/compiled")"
	row "${names[i]}" "$median" % "" "" "$(printf '%.3g .. %.3g' "$low" "$high")"
done

section "K-Means with every function a region, against only its pragmas ($rounds rounds)"
printf 'SCOREP_REGION_NAMES_BEGIN\nEXCLUDE *\nINCLUDE main\nSCOREP_REGION_NAMES_END\n' >"$here/filter"
ways=("" "$auto=functions" "$auto=functions -fplugin-arg-dprof-min=0" "$auto=functions -fplugin-arg-dprof-min=0 -fplugin-arg-dprof-filter=$here/filter")
names=("" "auto=functions" "auto=functions, min=0" "the same with a filter that leaves main")
for i in 0 1 2 3; do
	# shellcheck disable=SC2046,SC2086
	mpicc -std=gnu17 -O2 -I. -fopenmp -w -fplugin="$plugin" ${ways[i]} examples/kmeans.c examples/common/*.c \
		$(PKG_CONFIG_PATH=$B/lib/pkgconfig pkg-config --libs dprof) -lz -lm -o "$here/kmeans.$i"
done
for round in $(seq "$rounds"); do
	for j in 0 1 2 3; do
		i=$(((round + j) % 4))
		progress "K-Means, round $round of $rounds"
		rm -rf "$here"/dprof-kmeans.[0-3]*
		echo "$round $i $(cd "$here" && OMP_NUM_THREADS=$cores "./kmeans.$i" --clusters 16 --iterations 4 "$B/data/cities.csv.gz" |
			sed -n 's/.* \([0-9.]*\) s$/\1/p')"
	done
done >"$here/marked"
for i in 1 2 3; do
	read -r median low high <<<"$(more $i "$here/marked")"
	row "${names[i]}" "$median" % "" "" "$(printf '%.3g .. %.3g' "$low" "$high")"
done

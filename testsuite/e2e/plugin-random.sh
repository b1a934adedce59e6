#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Random programs record what their twin says (testsuite/fixtures/plugin/generate.c), at a random
# optimisation level each. SEEDS="7 8" runs just those, PROGRAMS=1000 more; GCC and PLUGIN
# name another compiler and its plugin.
plugin=${PLUGIN:-$B/plugin/dprof.so} gcc=${GCC:-gcc}
from=testsuite/fixtures/plugin
. testsuite/lib.sh
levels=(-O0 -O1 -O2 -O3 -Os "-O2 -g" "-O2 -flto" "-O2 -fopenmp -fPIC")
events=0

gcc -O1 -o "$dir/generate" $from/generate.c && gcc -O1 -c $from/twin.c -o "$dir/twin.o" &&
	gcc -O2 -I. -c $from/recorder.c -o "$dir/recorder.o" || exit 1
for seed in ${SEEDS:-$(seq 1 "${PROGRAMS:-24}")}; do
	level=${levels[$((seed % ${#levels[@]}))]}
	"$dir/generate" "$seed" >"$dir/p.c"
	# shellcheck disable=SC2086
	if ! "$gcc" $level -Wall -Werror -fplugin="$plugin" "$dir/p.c" "$dir/twin.o" "$dir/recorder.o" \
		-o "$dir/p" 2>"$dir/err"; then
		echo "seed $seed $level does not compile:" && head -10 "$dir/err"
		failed=1
		continue
	fi
	RECORDER_EVENTS=$dir/events timeout 20 "$dir/p" >"$dir/want" ||
		{ echo "seed $seed $level: exit status $?"; failed=1; }
	awk '{ print $2 }' "$dir/events" >"$dir/got"
	events=$((events + $(wc -l <"$dir/got")))
	if [ ! -s "$dir/want" ] || ! diff "$dir/want" "$dir/got" >"$dir/diff"; then
		echo "seed $seed $level records (>) something else than its twin says (<):"
		head -10 "$dir/diff"
		failed=1
	fi
done
echo "$events events"
[ "$events" -gt 0 ] || failed=1
exit $failed

#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Annotated programs record exactly the events that stand in them, compiled in every way that matters,
# and print what they print without the plugin.
#
# In a fixture "expect: +a .p -a" says what thread 0 records, in the order of the text, "expect 1:"
# what thread 1 does; "options:" are always given to the compiler. Every event's line must be one
# that names it.
plugin=$B/plugin/dprof.so
from=testsuite/fixtures/plugin
. testsuite/lib.sh
ran=0 wanted=

expected() { # fixture thread
	local who=
	[ "$2" = 0 ] || who=" $2"
	sed -n "s|.*/\* expect$who: *\(.*\)\*/.*|\1|p" "$1" | tr -s ' \t\n' '\n' | sed '/^$/d'
}

# Events whose line in the fixture does not name them, and ends that have another site than their begins. A
# barrier that OpenMP makes up has no word there, and of "parallel FILE:LINE" only the first.
misplaced() { # fixture events
	awk 'NR == FNR { line[NR] = $0; next }
	     { name = substr($2, 2); sub(/=-?[0-9]+$/, "", name); gsub(/ /, "_", line[$3])
	       if ($5 == "automatic" && name ~ "^parallel_.*:" $3 "$") name = "parallel" }
	     $2 !~ /omp_barrier/ && !index(line[$3], name) { print "line " $3 " does not name " $2 }
	     NF != 4 + ($5 == "automatic") { print "odd: " $0 }
	     $2 ~ /^\+/ { begun[$1, name] = $3 }
	     $2 ~ /^-/ && begun[$1, name] != $3 { print name " begins in line " begun[$1, name] " and ends in line " $3 }' "$1" "$2"
}

run() { # fixture executable config
	rm -f "$dir/events"
	if ! GMON_OUT_PREFIX=$dir/gmon RECORDER_EVENTS=$dir/events timeout 20 "$2" >"$dir/out" 2>"$dir/err"; then
		fail "$1 $3: exit status $?: $(head -3 "$dir/err")"
		return
	fi
	ran=$((ran + 1))
	cmp -s "$dir/out" "$dir/out.without" || fail "$1 $3: does not print what it does without the plugin"
	if [ "$1" != "$wanted" ]; then
		wanted=$1
		for thread in 0 1; do expected "$1" $thread | sed "s/^/$thread /"; done >"$dir/want"
		grep -q '^0 ' "$dir/want" || fail "$1 expects nothing"
	fi
	awk '$1 < 2 { got[$1] = got[$1] $1 " " $2 "\n" } END { printf "%s%s", got[0], got[1] }' "$dir/events" >"$dir/got"
	diff "$dir/want" "$dir/got" >"$dir/diff" || {
		fail "$1 $3: a thread, 0 or 1, records (>) something else than expected (<):"
		head -20 "$dir/diff"
	}
	misplaced "$1" "$dir/events" >"$dir/diff"
	[ ! -s "$dir/diff" ] || fail "$1 $3: $(head -5 "$dir/diff")"
}

# Fixtures are full of odd blocks; what the plugin adds must still not warn.
options() {
	echo "-I. -pthread -Wall -Wextra -Werror -Wno-unknown-pragmas -Wno-empty-body -Wno-clobbered" \
		"$(sed -n 's|^/\* options: ||p' "$1")"
}

build_and_run() { # fixture config
	# shellcheck disable=SC2046,SC2086
	gcc $(options "$1") -fplugin="$plugin" $2 "$1" "$dir/recorder.o" -o "$dir/a.out" 2>"$dir/err" ||
		{ fail "$1 $2: does not compile: $(head -20 "$dir/err")"; return; }
	run "$1" "$dir/a.out" "$2"
}

build_shared_and_run() { # fixture config
	# shellcheck disable=SC2046,SC2086
	gcc $(options "$1") -fplugin="$plugin" $2 -Dmain=fixture_main -fPIC -shared "$1" \
		-o "$dir/libf.so" &&
		gcc -pthread $from/call-main.c "$dir/recorder.o" -rdynamic -L"$dir" -lf \
			-Wl,-rpath,"$dir" -o "$dir/a.out" ||
		{ fail "$1 $2: does not compile"; return; }
	run "$1" "$dir/a.out" "$2 shared"
}

# -c and link apart, so that -flto streams what the plugin made through a file.
build_lto_and_run() { # fixture config
	# shellcheck disable=SC2046,SC2086
	gcc $(options "$1") -fplugin="$plugin" $2 -c "$1" -o "$dir/f.o" &&
		gcc $(options "$1") $2 "$dir/f.o" "$dir/recorder.o" -o "$dir/a.out" ||
		{ fail "$1 $2: does not compile"; return; }
	run "$1" "$dir/a.out" "$2 linked apart"
}

gcc -O2 -g -I. -c $from/recorder.c -o "$dir/recorder.o" || exit 1
for f in ways-out macros gnu89 openmp calls instances; do
	f=$from/$f.c
	# shellcheck disable=SC2046
	gcc $(options "$f") -O1 "$f" -o "$dir/without" && "$dir/without" >"$dir/out.without" ||
		{ fail "$f: does not work without the plugin"; continue; }
	for config in -O0 -O1 -O3 "-O2 -g" "-O2 -flto"; do
		build_and_run $f "$config"
	done
	build_shared_and_run $f -O2
done
f=$from/ways-out.c
gcc -w "$f" -o "$dir/without-ways-out" && "$dir/without-ways-out" >"$dir/out.without"
while read -r config; do
	build_and_run $f "$config"
done <<END
-Os
-Og
-O0 -g
-O3 -g3
-O2 -fopenmp
-O2 -masm=intel
-O2 -static
-O2 -static-pie
-O2 -no-pie
-O2 -mcmodel=large
-O2 -mcmodel=medium -fPIC
-O2 -fsanitize=address,undefined
-O1 -fsanitize=thread
-O2 -pg
-O2 --coverage -fprofile-dir=$dir
-O2 -ffunction-sections -fdata-sections -Wl,--gc-sections
-O2 -fcf-protection=full -fstack-protector-all
-O2 -save-temps=obj -dumpdir $dir/
-O2 -fnon-call-exceptions -fexceptions
-O2 -fno-omit-frame-pointer -mno-red-zone
-O2 -fplugin-arg-dprof-fence
END
build_lto_and_run $f "-O2 -flto"
build_lto_and_run $f "-O2 -flto -ffat-lto-objects -g"
build_shared_and_run $f "-O0 -g"

# C++ and Fortran.
for f in $from/cplusplus.cc $from/positions.cc; do
	g++ -I. -w "$f" -o "$dir/without" && "$dir/without" >"$dir/out.without"
	for config in -O0 -O2 "-O3 -g" "-O2 -flto -std=c++20"; do
		# shellcheck disable=SC2086
		g++ -I. -Wall -Wextra -Werror -Wno-unknown-pragmas -fplugin="$plugin" $config "$f" \
			"$dir/recorder.o" -o "$dir/a.out" &&
			run $f "$dir/a.out" "$config" || fail "$f $config"
	done
done
f=$from/instances.c
gcc -I. -w "$f" -o "$dir/without" && "$dir/without" >"$dir/out.without"
g++ -I. -Wall -Wextra -Werror -O2 -fplugin="$plugin" -x c++ "$f" -x none "$dir/recorder.o" -o "$dir/a.out" &&
	run $f "$dir/a.out" "as C++" || fail "$f as C++"
if command -v gfortran >/dev/null; then
	for f in $from/fortran.f90 $from/fixed.f; do
		# shellcheck disable=SC2046
		gfortran $(sed -n 's|^. */\* options: ||p' $f) -J"$dir" -Ipragmas $f -L"$B/lib" -Wl,-rpath,"$B/lib" \
			-ldprof -o "$dir/without" && DPROF_OFF=1 "$dir/without" >"$dir/out.without" ||
			fail "$f: does not work without the plugin"
		for config in -O0 -O2 "-O3 -g" "-O2 -flto" "-Os -fcheck=all"; do
			# shellcheck disable=SC2046,SC2086
			gfortran $(sed -n 's|^. */\* options: ||p' $f) -Wall -Werror -J"$dir" -Ipragmas -fplugin="$plugin" \
				$config $f "$dir/recorder.o" -o "$dir/a.out" &&
				run $f "$dir/a.out" "$config" || fail "$f $config"
		done
	done
fi

# The short name, found where -iplugindir says.
f=$from/ways-out.c
"$dir/without-ways-out" >"$dir/out.without"
gcc -w -iplugindir="$B/plugin" -fplugin=dprof "$f" "$dir/recorder.o" -o "$dir/a.out" &&
	run $f "$dir/a.out" "short name" || fail "short name"

# A full buffer drops events, and the program goes on.
gcc -w -O2 -fplugin="$plugin" "$f" "$dir/recorder.o" -o "$dir/a.out" &&
	RECORDER_ROOM=7 RECORDER_EVENTS=$dir/events timeout 20 "$dir/a.out" >"$dir/out" &&
	cmp -s "$dir/out" "$dir/out.without" ||
	fail "a full buffer disturbs the program"
[ "$(wc -l <"$dir/events")" = 6 ] || fail "a full buffer holds $(wc -l <"$dir/events") events, not 6"

# dprof.h without the plugin: not one warning, in several dialects.
for std in gnu89 c99 c11 gnu17; do
	gcc -std=$std -Wall -Wextra -Wpedantic -Werror -fsyntax-only \
		-include pragmas/dprof.h -x c - <<'END' ||
int f(int n);
int f(int n)
{
	DPROF_REGION(a)
	{
		n++;
	}
	DPROF_REGION_BEGIN(b)
	DPROF_PROGRESS(c)
	n++;
	DPROF_REGION_END(b)
	return n;
}
END
		fail "dprof.h warns under -std=$std"
done

echo "$ran programs ran"
exit $failed

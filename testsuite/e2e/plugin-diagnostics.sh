#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What is wrong is said at the line and column where it is wrong, and nothing else is said.
#
# In a fixture, 'expect-error COLUMN "TEXT"', expect-warning or expect-note stands on the line it is about; column 0
# is any.
plugin=$B/plugin/dprof.so
from=testsuite/fixtures/plugin
. testsuite/lib.sh

# Both lists have lines "LINE COLUMN error|warning|note TEXT".
wanted() {
	awk '{ rest = $0
	       while (match(rest, /expect-(error|warning|note) [0-9]+ "/)) {
		       split(substr(rest, RSTART, RLENGTH), w, /[- ]/)
		       rest = substr(rest, RSTART + RLENGTH)
		       print NR, w[3], w[2], substr(rest, 1, index(rest, "\" */") - 1)
	       } }' "$1"
}

diagnostics() { # fixture options...
	# shellcheck disable=SC2046
	gcc -I. -fdiagnostics-plain-output -fplugin="$plugin" $(sed -n 's|^/\* options: ||p' "$1") "${@:2}" \
		-c "$1" -o "$dir/out.o" 2>&1 |
		sed -nE 's/^[^:]+:([0-9]+):([0-9]+): ([Ee]rror|warning|note): (.*)/\1 \2 \L\3\E \4/p'
}

compare() { # fixture options...
	wanted "$1" >"$dir/wanted"
	diagnostics "$@" >"$dir/got"
	[ -s "$dir/wanted" ] || fail "$1 expects nothing"
	awk 'NR == FNR { n++; line[n] = $1; column[n] = $2; kind[n] = $3
			 sub(/^[^ ]+ [^ ]+ [^ ]+ /, ""); text[n] = $0; next }
	     { for (i = 1; i <= n; i++)
		       if (!met[i] && line[i] == $1 && (!column[i] || column[i] == $2) &&
			   kind[i] == $3 && index($0, text[i])) { met[i] = 1; next }
	       if ($3 != "note") print "not expected: " $0 }
	     END { for (i = 1; i <= n; i++)
		       if (!met[i]) print "not said: " line[i], column[i], kind[i], text[i] }' \
		"$dir/wanted" "$dir/got" >"$dir/diff"
	[ ! -s "$dir/diff" ] || { fail "$* (line, column)"; cat "$dir/diff"; }
}

for o in -O0 -O2 "-O2 -g" "-fopenmp"; do
	# shellcheck disable=SC2086
	compare $from/wrong.c $o
	# shellcheck disable=SC2086
	compare $from/wrong.cc $o
	# shellcheck disable=SC2086
	compare $from/wrong-coroutine.cc $o
	# shellcheck disable=SC2086
	! command -v gfortran >/dev/null || compare $from/wrong.f90 -Ipragmas $o
	# shellcheck disable=SC2086
	compare $from/doubtful.c $o
done
gcc -I. -fplugin="$plugin" -c $from/wrong.c -o "$dir/out.o" 2>/dev/null && fail "wrong.c compiles"

refuses() { # what it must say, then the compiler's options
	echo 'int main(void) { return 0; }' >"$dir/main.c"
	if gcc "${@:2}" -c "$dir/main.c" -o "$dir/main.o" 2>"$dir/err"; then
		fail "gcc ${*:2} succeeds"
	elif ! grep -qF "$1" "$dir/err"; then
		fail "gcc ${*:2} says: $(cat "$dir/err")"
	fi
}

refuses "unknown plugin option '-fplugin-arg-dprof-fense'; did you mean 'fence'?" \
	-fplugin="$plugin" -fplugin-arg-dprof-fense
refuses "unknown plugin option '-fplugin-arg-dprof-xyzzy'; '-fplugin-arg-dprof-help' lists" \
	-fplugin="$plugin" -fplugin-arg-dprof-xyzzy
refuses "takes no value" -fplugin="$plugin" -fplugin-arg-dprof-fence=2
refuses "only for 64-bit x86" -fplugin="$plugin" -m32
refuses "only for 64-bit x86" -fplugin="$plugin" -mx32

# Twice the same file is once; a second copy is one too many.
mkdir "$dir/copy"
cp "$plugin" "$dir/copy/dprof2.so"
refuses "dprof is loaded twice, from '$plugin' and from '$dir/copy/dprof2.so'" -fplugin="$plugin" \
	-fplugin="$dir/copy/dprof2.so"
gcc -fplugin="$plugin" -fplugin="$plugin" -c "$dir/main.c" -o "$dir/main.o" || fail "twice the same file"

# Another compiler's plugin: the same file with another version in it.
mkdir "$dir/other"
sed "s/$(gcc -dumpfullversion)/99.9.9/g" "$plugin" >"$dir/other/dprof.so"
if [ "$(gcc -dumpfullversion | wc -c)" -eq 7 ]; then
	refuses "dprof was built for GCC 99.9.9" -fplugin="$dir/other/dprof.so"
fi

help=$(gcc -fplugin="$plugin" -fplugin-arg-dprof-help -fsyntax-only "$dir/main.c")
for word in "region(NAME)" "region begin(NAME)" "region end(NAME)" "progress(NAME)" "barrier(NAME)" "instance(VALUE)" "role(ROLE)" "dprof-fence"; do
	case $help in *"$word"*) ;; *) fail "the help does not name $word: $help" ;; esac
done

# What the table has, the manual explains and dprof.h has a macro for.
manual=$(tr -d '*_\\' <docs/dprof.7.scd) directives=0
while read -r directive; do
	case $manual in *"$directive"*) ;; *) fail "docs/dprof.7.scd does not name $directive" ;; esac
	macro="(dprof $(sed 's/^#pragma dprof //; s/NAME/name/' <<<"$directive"))"
	grep -qF "$macro" pragmas/dprof.h || fail "dprof.h has no macro for $directive"
	directives=$((directives + 1))
done < <(grep -o '#pragma dprof .*' <<<"$help" | sed 's/ \[.*//')
[ $directives -ge 5 ] || fail "the help lists $directives directives"
exit $failed

#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Regions without pragmas: which there are, what a filter and a threshold leave of them, and that each
# record has its partner.
plugin=$B/plugin/dprof.so
from=testsuite/fixtures/plugin
. testsuite/lib.sh

gcc -O2 -I. -c $from/recorder.c -o "$dir/recorder.o" || exit 1
g++ -O1 -w $from/auto.cc -o "$dir/plain" && "$dir/plain" >"$dir/want.out" || exit 1

# The names in the order of their ENTERs; a record without partner, or one that is not automatic, is an extra word.
records() { # options...
	: >"$dir/events"
	g++ -Wall -Werror -fplugin="$plugin" "$@" $from/auto.cc "$dir/recorder.o" -o "$dir/a.out" &&
		RECORDER_EVENTS=$dir/events "$dir/a.out" >"$dir/out" && cmp -s "$dir/out" "$dir/want.out" ||
		echo "DOES-NOT-WORK"
	awk '$2 ~ /^\+/ { print substr($2, 2); stack[++depth] = substr($2, 2) }
	     $5 != "automatic" { print "MARKED" $2 }
	     $2 ~ /^-/ && (!depth || stack[depth--] != substr($2, 2)) { print "ODD" $2 }
	     END { if (depth) print "OPEN" }' "$dir/events" 2>/dev/null | paste -sd ' '
}

expect() { # the names, then options
	local got
	got=$(records "${@:2}")
	[ "$got" = "$1" ] || fail "${*:2}: records $got, not $1"
}

line() { grep -n -- "$1" $from/auto.cc | head -1 | cut -d: -f1; }
for_line=$(line 'for (int i = 0; i < 10') while_line=$(line 'while (list') do_line=$(($(line 'n += is_off') - 1))
auto=-fplugin-arg-dprof-auto all=-fplugin-arg-dprof-min=0
functions="main object::object throws adds<int> jumps main()::<lambda(int)>::operator() object::~object"
printf 'SCOREP_REGION_NAMES_BEGIN EXCLUDE *object SCOREP_REGION_NAMES_END\n' >"$dir/no-object"
for level in -O0 "-O2 -fno-inline" "-O2 -flto -fno-inline"; do
	# shellcheck disable=SC2086
	expect "$functions" $level $auto=functions $all
	# shellcheck disable=SC2086
	expect "throws:$for_line adds<int>:$while_line main:$do_line" $level $auto=loops $all
	# shellcheck disable=SC2086
	expect "main object::object throws throws:$for_line adds<int> adds<int>:$while_line jumps \
main()::<lambda(int)>::operator() main:$do_line object::~object" $level $auto=functions,loops $all
done
# Small functions that are inlined are none, unless they have loops.
for level in -O2 "-O2 -flto" "-O3 -g"; do
	# shellcheck disable=SC2086
	expect "main throws throws:$for_line adds<int> adds<int>:$while_line jumps main:$do_line" $level $auto=functions,loops $all \
		-fplugin-arg-dprof-filter=$dir/no-object
done
expect "" $auto=mpi $all
expect "main throws adds<int> jumps" -O2 $auto=functions,loops -fplugin-arg-dprof-min=1000 # these have loops
with_loops="main throws adds<int> jumps"
expect "main object::object ${with_loops#main } main()::<lambda(int)>::operator() object::~object" -O1 -fno-inline \
	$auto=functions -fplugin-arg-dprof-min=2 # that many has the constructor
expect "$with_loops main()::<lambda(int)>::operator() object::~object" -O1 -fno-inline $auto=functions -fplugin-arg-dprof-min=3

# Loops that are left alone: what is to be vectorised, what a computed goto leaves.
cat >"$dir/alone.c" <<'END'
void simd(int n, double *x)
{
#pragma omp simd
	for (int i = 0; i < n; i++)
		for (int j = 0; j < 3; j++)
			x[3 * i + j] += j;
}

int computed(const int *p)
{
	void *labels[] = { &&again, &&out };
	int n = 0;
again:
	n++;
	while (*p)
		goto *labels[*p++];
out:
	return n;
}

int left_by_asm(const int *p)
{
	int n = 0;
	while (*p++) {
		asm goto("test %0, %0; jz %l1" : : "r"(n) : "cc" : out);
		n++;
	}
out:
	return n;
}
END
gcc -O2 -fopenmp -fplugin="$plugin" $auto=loops $all -S "$dir/alone.c" -o "$dir/alone.s" && ! grep -q dprof_site "$dir/alone.s" ||
	fail "a loop is no region that cannot be one"

# Loops of Fortran, whichever way they are left.
if command -v gfortran >/dev/null; then
	f=$from/auto.f90
	wanted=$(for at in nested:8 nested:13 ways_out:20 ways_out:20 ways_out:29 auto:43 ways_out:20; do printf '+%s -%s ' $at $at; done)
	for level in -O0 -O2 "-O2 -flto" "-O3 -fopenmp"; do
		# shellcheck disable=SC2086
		gfortran $level $f -o "$dir/plain" && "$dir/plain" >"$dir/want.fortran" &&
			gfortran $level -Wall -Werror -fplugin="$plugin" $auto=loops $all $f "$dir/recorder.o" -o "$dir/a.out" &&
			RECORDER_EVENTS=$dir/events "$dir/a.out" | cmp - "$dir/want.fortran" || fail "$f $level"
		got=$(awk '{ printf "%s ", $2 }' "$dir/events")
		[ "$got" = "$wanted" ] || fail "$f $level: $got"
		grep -qv ' region automatic$' "$dir/events" && fail "$f $level: $(grep -v ' automatic' "$dir/events")"
	done
	# What begins in a loop ends before it, also where it ends on a way out of the loop.
	left=$from/loops-left.f90
	wanted="+exits:7 +a -a +a -a -exits:7 +a -a +returns:28 +b -b +b -b -returns:28 +endless:40 +c +d -d -c +c +d -d -c -endless:40"
	wanted+=" +perhaps:56 +e -e +e -e -perhaps:56"
	for level in -O0 -O2; do
		gfortran $level -Ipragmas -w -fplugin="$plugin" $auto=loops $all $left "$dir/recorder.o" -o "$dir/a.out" &&
			RECORDER_EVENTS=$dir/events "$dir/a.out" >"$dir/out" || fail "$left $level"
		got=$(awk '{ print $2 }' "$dir/events" | paste -sd ' ')
		[ "$got" = "$wanted" ] || fail "$left $level: $got"
	done
	gfortran -O2 -Ipragmas -w -fplugin="$plugin" $auto=functions,loops $all $left "$dir/recorder.o" -o "$dir/a.out" &&
		RECORDER_EVENTS=$dir/events "$dir/a.out" >"$dir/out" || fail "$left as functions"
	got=$(awk '{ print $2 }' "$dir/events" | paste -sd ' ')
	[[ $got = *" +returns +returns:28 +b -b +b -b -returns:28 -returns +"* ]] || fail "$left as functions: $got"
	gfortran -fplugin="$plugin" $auto=loops -fplugin-arg-dprof-min=60 -S $f -o "$dir/f.s" && ! grep -q '^dprof_site' "$dir/f.s" ||
		fail "$f: the threshold plays no part"
fi

# Filters: the last rule that matches decides.
filter() { # lines on standard input; expected names
	cat >"$dir/filter"
	expect "$1" -O1 -fno-inline $auto=functions $all -fplugin-arg-dprof-filter="$dir/filter"
}
filter "main adds<int>" <<'END'
# only these
SCOREP_REGION_NAMES_BEGIN
  EXCLUDE *         # everything
  INCLUDE main adds*
SCOREP_REGION_NAMES_END
END
# What an INCLUDE names is taken, however short and wherever it is inlined.
for level in -O0 -O2 "-O2 -flto" -O3; do
	printf 'SCOREP_REGION_NAMES_BEGIN EXCLUDE * INCLUDE object::object INCLUDE jump? SCOREP_REGION_NAMES_END' >"$dir/filter"
	# shellcheck disable=SC2086
	expect "object::object jumps" $level $auto=functions -fplugin-arg-dprof-min=1000 -fplugin-arg-dprof-filter="$dir/filter"
done
filter "throws jumps" <<'END'
SCOREP_REGION_NAMES_BEGIN EXCLUDE main* object::* MANGLED _Z*adds* SCOREP_REGION_NAMES_END
END
filter "main throws jumps" <<'END'
SCOREP_REGION_NAMES_BEGIN
  EXCLUDE * INCLUDE m?in [jt]*
SCOREP_REGION_NAMES_END
END
filter "" <<'END'
SCOREP_FILE_NAMES_BEGIN
  INCLUDE *.cc
  EXCLUDE */auto.cc
SCOREP_FILE_NAMES_END
END

refuses() { # what it must say; options
	g++ -fplugin="$plugin" "${@:2}" -c $from/auto.cc -o "$dir/o" 2>"$dir/err" && fail "${*:2} is taken"
	grep -qF -- "$1" "$dir/err" || fail "${*:2} says $(cat "$dir/err")"
}
refuses "unknown value 'function' of plugin option '-fplugin-arg-dprof-auto'; did you mean 'functions'?" $auto=function
refuses "unknown value 'xyzzy' of plugin option '-fplugin-arg-dprof-auto'; expected functions, loops or mpi" $auto=loops,xyzzy
refuses "'-fplugin-arg-dprof-auto' lacks its value: '-fplugin-arg-dprof-auto=WHAT'" $auto
refuses "value '1k' of plugin option '-fplugin-arg-dprof-min' is not a number of statements" -fplugin-arg-dprof-min=1k
refuses "cannot open filter '$dir/none': No such file" -fplugin-arg-dprof-filter="$dir/none"
printf 'SCOREP_REGION_NAMES_BEGIN\nEXCLUD main\n' >"$dir/filter"
refuses "$dir/filter:2: unknown word 'EXCLUD'; did you mean 'EXCLUDE'?" -fplugin-arg-dprof-filter="$dir/filter"
printf '\nREGIONS\n' >"$dir/filter"
refuses "$dir/filter:2: found 'REGIONS', expected one of SCOREP_FILE_NAMES_BEGIN" -fplugin-arg-dprof-filter="$dir/filter"
printf 'SCOREP_FILE_NAMES_BEGIN\nEXCLUDE a.c\n' >"$dir/filter"
refuses "$dir/filter:2: the block that began is not ended" -fplugin-arg-dprof-filter="$dir/filter"

# What export --to filter writes the plugin reads: it leaves out what is short, whatever the characters of its name.
cat >"$dir/short.cc" <<'END'
template <class T, int N> struct list {
	T x[N];
	__attribute__((noinline)) T operator[](int i) { return x[i % N]; }
};
__attribute__((noinline)) int longer(int n) { volatile int m = 0; for (int i = 0; i < 20000; i++) m = m + n; return m; }
int main() {
	list<int, 4> l = { { 1, 2, 3, 4 } };
	int sum = 0;
	for (int i = 0; i < 1000; i++) sum += l[i];
	for (int i = 0; i < 10; i++) sum += longer(i);
	return sum == 0;
}
END
short() { "$B/bin/dprof-c++" -O1 $auto=functions $all "$@" "$dir/short.cc" -o "$dir/short" || fail "short.cc: does not compile"; }
regions() { "$B/bin/dprof-analyze" sites --json "$dir/short" | jq -r '[.objects[].sites[] | select(.automatic) | .name] | sort | join(" ")'; }
short
DPROF_DIR=$dir "$dir/short" && "$B/bin/dprof-analyze" export --to filter "$dir/short.filter" "$dir"/dprof-short.* >"$dir/out" || fail "short: $(cat "$dir/out")"
[ "$(regions)" = "list<int, 4>::operator[] longer main" ] || fail "short: $(regions)"
short -fplugin-arg-dprof-filter="$dir/short.filter"
[ "$(regions)" = "longer main" ] || fail "with the filter of export: $(regions), by $(cat "$dir/short.filter")"

# Functions that call MPI.
if command -v mpicc >/dev/null; then
	printf '%s\n' '#include <mpi.h>' 'int plain(int n) { return n * n; }' \
		'void meets(void) { MPI_Barrier(MPI_COMM_WORLD); }' >"$dir/mpi.c"
	mpicc -O0 -fplugin="$plugin" $auto=mpi -S "$dir/mpi.c" -o "$dir/mpi.s"
	sites=$(grep -c '^dprof_site' "$dir/mpi.s")
	[ "$sites" = 2 ] || fail "auto=mpi makes $sites sites, not the barrier's and one function's"
fi

# What an ifunc's resolver calls runs before there are thread-local variables; what it chooses from does not.
for level in -O0 "-O2 -static-pie -flto"; do
	rm -rf "$dir"/dprof-*
	# shellcheck disable=SC2086
	"$B/bin/dprof-cc" $level $auto=functions,loops $all $from/resolvers.c -o "$dir/resolvers" 2>"$dir/err" &&
		DPROF_DIR=$dir "$dir/resolvers" || fail "resolvers.c $level: exit status $?"
	grep -q "resolvers.c:18:.*warning: dprof leaves out 'found': an 'ifunc' resolver calls" "$dir/err" || fail "resolvers.c $level: $(cat "$dir/err")"
	got=$("$analyze" dump "$dir"/dprof-resolvers.* | awk '$1 == "site" { sub("name=", "", $4); name[$2] = $4 }
		$1 == "e" && $5 == "enter" { print name[$4] }' | paste -sd ' ')
	[ "$got" = "main main:28 fast fast:6 fast fast:6" ] || fail "resolvers.c $level: $got"
done

# A function that ends the program, as most Fortran programs do, is left before.
printf '%s\n' 'program ends' '  integer :: i, n = 0' '  do i = 1, command_argument_count() + 9' '    n = n + i' \
	'    if (n > 40) stop' '    print *, n' '  end do' '  error stop 3' 'end program' >"$dir/ends.f90"
printf '%s\n' '#include <stdlib.h>' 'int main(int n, char **v) { while (n < 9) n += n; if (n > 8) exit(0); return n; }' >"$dir/ends.c"
for level in -O0 -O2 "-O2 -flto"; do
	for source in ends.f90 ends.c; do
		rm -rf "$dir"/dprof-*
		# shellcheck disable=SC2086
		DPROF_WRAPPER_FLAGS="$auto=functions $all" "$B/bin/dprof-fort" $level "$dir/$source" -o "$dir/ends" &&
			DPROF_DIR=$dir "$dir/ends" >/dev/null || fail "$source $level: exit status $?"
		"$analyze" check "$dir"/dprof-ends.* >"$dir/out" 2>&1 || fail "$source $level: $(cat "$dir/out")"
		grep -q ' [1-9][0-9]* events' "$dir/out" || fail "$source $level: $(cat "$dir/out")"
		"$analyze" dump "$dir"/dprof-ends.* |
			awk '$1 == "e" { n[$5]++ } END { exit !n["enter"] || n["enter"] != n["exit"] }' || fail "$source $level: not left"
	done
done
exit $failed

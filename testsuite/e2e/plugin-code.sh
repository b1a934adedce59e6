#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The machine code of events: no call on the fast path, work stays on its side of the clock reading,
# the sites are as runtime/format.h says, and nothing is left to do at run time.
plugin=$B/plugin/dprof.so
from=testsuite/fixtures/plugin
source=$from/motion.c
. testsuite/lib.sh

compile() { # options...
	gcc -fplugin="$plugin" "$@" -c $source -o "$dir/o.o" || fail "$* does not compile"
}

disassemble() { # function
	objdump -d --no-show-raw-insn --disassemble="$1" "$dir/o.o"
}

# The heavy work of each function is where its name says: before, in or after the region, on every way.
check_work() { # source suffix-of-symbols what
	local n=0
	objdump -d --no-show-raw-insn -j .text "$dir/o.o" >"$dir/code"
	for f in $(sed -nE 's/^([a-z_].* \*?|[a-z0-9() ]*)((in|before|after)_[a-z_]+)\(.*[a-z]\)$/\2/p' "$1"); do
		case $f in before_in_*) where=01 ;; before_*) where=0 ;; in_*) where=1 ;; after_*) where=2 ;; esac
		awk -v name="$f$2" -v where=$where -f $from/paths.awk "$dir/code" >"$dir/said"
		[ ! -s "$dir/said" ] || fail "$3 $1 $f $(cat "$dir/said")"
		n=$((n + 1))
	done
	[ $n -ge 3 ] || fail "$3 $1: only $n functions were looked at"
}

check_motion() { # options...
	compile -fno-optimize-sibling-calls "$@"
	check_work $source "" "$*"
	disassemble with_constant >"$dir/code"
	grep -q rdtsc "$dir/code" || fail "$*: with_constant has no region"
	grep -q 'div' "$dir/code" && [ "$1" != -O1 ] && fail "$*: a constant is not known in a region"
	gcc "$@" -fplugin="$plugin" -fplugin-arg-dprof-auto=functions -fplugin-arg-dprof-min=0 \
		-c $from/motion-auto.c -o "$dir/o.o" || fail "$* motion-auto.c does not compile"
	check_work $from/motion-auto.c "" "$*"
	disassemble no_region >"$dir/code"
	grep -q ret "$dir/code" || fail "$*: there is no function no_region"
	grep -q rdtsc "$dir/code" && fail "$*: a small function is a region where it is inlined"
	command -v gfortran >/dev/null || return
	gfortran "$@" -fplugin="$plugin" -Ipragmas -c $from/motion.f90 -o "$dir/o.o" || fail "$* motion.f90 does not compile"
	check_work $from/motion.f90 _ "$*"
}

# A leaf with a region calls nothing: the way to the runtime is in the cold part.
check_fast_path() { # options...
	compile "$@"
	for f in in_division in_loop in_memory; do
		disassemble $f >"$dir/code"
		calls=$(sed '/ret$/q' "$dir/code" | grep -E '\s(call|jmp +[*])')
		[ -z "$calls" ] || fail "$* $f calls on its fast path: $calls"
		grep -q xadd "$dir/code" || fail "$* $f claims no slot"
	done
}

for options in -O1 -O2 -O3 -Os "-O2 -fPIC" "-O3 -march=haswell -ffast-math"; do
	# shellcheck disable=SC2086
	check_motion $options
done
for options in -O0 -O2 "-O2 -fPIC" "-O3 -g"; do
	# shellcheck disable=SC2086
	check_fast_path $options
done

# The fence is there when it is wanted, around every reading.
compile -O2 -fplugin-arg-dprof-fence
readings=$(objdump -d "$dir/o.o" | grep -c rdtsc)
[ "$readings" -gt 0 ] && [ "$(objdump -d "$dir/o.o" | grep -A1 lfence | grep -c rdtsc)" = "$readings" ] ||
	fail "not every rdtsc follows an lfence"

# What may be the receiving end of a link is behind one in any case, and only that.
printf '%s\n' '#include <pthread.h>' 'void f(pthread_barrier_t *b) { pthread_barrier_wait(b); }' >"$dir/barrier.c"
for options in -O0 -O3; do
	gcc -fplugin="$plugin" $options -c "$dir/barrier.c" -o "$dir/barrier.o" || fail "barrier $options"
	order=$(objdump -dr --no-show-raw-insn "$dir/barrier.o" |
		grep -oE 'rdtsc|lfence|pthread_barrier_wait' | xargs)
	[ "$order" = "rdtsc pthread_barrier_wait lfence rdtsc" ] || fail "barrier $options: $order"
done

# Sites: read-only, allocated, 16-aligned, and no relocation in them, even in a shared object.
for options in -O0 -O2 "-O2 -fPIC" "-O2 -fdata-sections"; do
	# shellcheck disable=SC2086
	compile $options
	readelf -SW "$dir/o.o" | grep -qE ' dprof_sites +PROGBITS .* A +0 +0 +16$' ||
		fail "$options: $(readelf -SW "$dir/o.o" | grep dprof_sites)"
	readelf -SW "$dir/o.o" | grep -q 'rela\?dprof_sites' && fail "$options: sites have relocations"
done
gcc -fplugin="$plugin" -O2 -fPIC -shared -fsanitize=address $source -o "$dir/a.so" ||
	fail "address sanitizer"
readelf -SW "$dir/a.so" | grep -q dprof_sites || fail "no sites under the address sanitizer"

# What is known of a function when it is parsed is known when GCC comes back to it, though it has collected all that it does not
# need meanwhile, and used the memory again: the return in the middle is a way out of the region.
{
	cat <<'END'
int f(int x)
{
#pragma dprof region begin(alpha)
	if (x == 1)
		return 7;
	if (x == 2) {
#pragma dprof region end(alpha)
		return 3;
	}
#pragma dprof region end(alpha)
	return x + 1;
}
const char *g(int x)
{
	switch (x) {
END
	seq 1000 | awk '{ printf "\tcase %d: return \"%05d%s\";\n", $1, $1, substr("zzzzzzzzzzzzzzzzzzzzzzzz", 1, 5 + $1 % 20) }'
	printf '\t}\n\treturn 0;\n}\n'
} >"$dir/collected.c"
gcc -O1 -fplugin="$plugin" --param ggc-min-expand=0 --param ggc-min-heapsize=0 -S "$dir/collected.c" -o "$dir/collected.s" ||
	fail "collected.c does not compile"
events=$(grep -c xadd "$dir/collected.s")
[ "$events" = 4 ] || fail "a region that ends by hand has $events events and not 4 when GCC has collected its names"

# An object without directives and calls is the same as without the plugin.
echo 'int f(int a) { return a / 3; }' >"$dir/plain.c"
gcc -O2 -c "$dir/plain.c" -o "$dir/1.o" && gcc -O2 -fplugin="$plugin" -c "$dir/plain.c" -o "$dir/2.o"
cmp "$dir/1.o" "$dir/2.o" || fail "the plugin changes a file that does not use it"

# Bytes of two events.
echo 'void f(void) {
#pragma dprof region(empty)
{} }' >"$dir/empty.c"
gcc -O2 -fplugin="$plugin" -c "$dir/empty.c" -o "$dir/o.o"
hot=$((16#$(nm -S "$dir/o.o" | awk '$4 == "f" { print $2 }')))
all=$(size -A "$dir/o.o" | awk '$1 == ".text" { print $2 }')
echo "an empty region: $hot bytes in line, $((all - hot)) out of line, $(size -A "$dir/o.o" |
	awk '$1 == "dprof_sites" { print $2 }') of site data"
[ "$hot" -le 112 ] && [ $((all - hot)) -le 64 ] || fail "that is more than it was"
exit $failed

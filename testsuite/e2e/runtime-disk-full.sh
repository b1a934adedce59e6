#!/bin/bash
# SPDX-License-Identifier: MIT
#
# A disk that fills, and a limit of a file's size that is reached, while a program records: it computes what it
# computes without dprof, and what is reported of it contains what its own clock says, names the cause, proves
# nothing that the losses could change, and ends with status 1.
[ -n "${OWN_MOUNTS-}" ] || ! unshare -m true 2>/dev/null || OWN_MOUNTS=1 exec unshare -m "$0"
. testsuite/lib.sh
about() { echo "$name: "; }
export PKG_CONFIG_PATH=$B/lib/pkgconfig
visits=300000
from=$PWD/testsuite/fixtures/runtime

# shellcheck disable=SC2046
gcc -O2 $(pkg-config --cflags dprof) testsuite/fixtures/runtime/full.c -o "$dir/full" $(pkg-config --libs dprof) -pthread ||
	exit 1
# Prints for how many ticks a command ran, start and end included, and what it ends with.
gcc -O2 -x c - -o "$dir/around" <<'C' || exit 1
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
#include <x86intrin.h>
int main(int argc, char **argv)
{
	int status = 0;
	unsigned long long from = __rdtsc();
	if (fork() == 0)
		return execv(argv[2], argv + 2);
	wait(&status);
	FILE *out = fopen(argv[1], "w");
	fprintf(out, "%llu\n", (unsigned long long)__rdtsc() - from);
	fclose(out);
	return WEXITSTATUS(status);
}
C
cd "$dir" || exit 1
DPROF_OFF=1 ./full $visits >plain 2>/dev/null
[ $? = 7 ] || { echo 'FAILED without dprof'; exit 1; }

ratio() { # ticks: as seconds of the trace
	awk -v ticks="$1" '$1 == "ghz" { printf "%.17g\n", ticks / ($2 * 1e9) }' "$trace"/*.process
}

holds() { # command filter...: all of them, by jq, of its JSON
	local each=true
	for filter in "${@:2}"; do each+=", ($filter)"; done
	jq -e "all($each; .)" "$1.json" >/dev/null || fail "$1: not ${*:2}: $(head -c 2000 "$1.json")"
}

# What is left to itself records everything it can; what is lost is lost for this reason.
recorded() { # directory, a cause or "any": whether any is lost is chance
	trace=$(echo "$1"/dprof-full.*)
	read -r run work <said
	[ "$(cat out)" = "$(cat plain)" ] || fail "it printed $(cat out)"
	[ "$(wc -l <said)" = 1 ] || fail "on stderr: $(cat said)"
	"$analyze" check "$trace" >check
	local status=$? command
	[ "$2" = any ] && [ $status = 0 ] && return
	[ $status = 1 ] || fail "check: status $status"
	cause=${2/any/the disk is full}
	grep -q "expected \(all records\|room\).*: $cause" check || fail "check does not say that $cause: $(cat check)"
	grep 'it jumped' check && fail "check: a jump, though records are lost"
	for command in report csp 'query --' coz clocks; do
		local words=("${command% --}" "$trace")
		[ "$command" = 'query --' ] && words+=('count(work) >= 1')
		"$analyze" "${words[@]}" >text 2>problems
		[ $? = 1 ] || fail "$command: status $?"
		head -1 text | grep -q '^Damaged: [0-9]* problems\? (dprof-analyze check); ' || fail "$command: on top $(head -1 text)"
		grep -q "expected \(all records\|room\).*: $cause" problems || fail "$command does not say that $cause: $(cat problems)"
		grep -q 'thread 0: .*; proved' text && fail "$command: the wrong thread: $(cat text)"
		"$analyze" "${words[@]}" --json >"${command% --}.json" 2>/dev/null
		[ $? = 1 ] || fail "$command --json: status $?"
	done
	said_by=$(jq -r --arg cause "expected (all records|room).*: $cause" 'select(.problems | any(test($cause))) | input_filename' {report,csp,query,coz,clocks}.json)
	[ "$(xargs <<<"$said_by")" = "report.json csp.json query.json coz.json clocks.json" ] ||
		fail "not each names that $cause: only $said_by"
	"$analyze" report "$trace" 2>/dev/null | tr '\n' ' ' | grep -q "Records are missing, at least [0-9]*: $cause" ||
		fail "report does not say that $cause"
	contained
}

# What the program measured inside of what the trace speaks of, and the driver around it.
contained() {
	local least most worked
	least=$(ratio "$run") most=$(ratio "$(cat ticks)") worked=$(ratio "$work")
	local whole=".span_s | .lo <= $most and (.hi == null or .hi >= $least)" score="[.threads[] | select(.thread == 1)] | length == 1 and
		all(.straggler_percent.hi >= 100 * $worked / $most)"
	holds csp "$whole" "$score"
	holds report "$whole" "$score" "[.regions[] | select(.region == \"work\")] | length == 1 and
		all(.time_s.lo <= $most and (.time_s.hi == null or .time_s.hi >= $worked))"
	holds query ".holds_s | .lo <= $most and (.hi == null or .hi >= $worked)"
	# Whatever was in the records that are lost.
	holds coz '.regions | length > 0 and all(.verdict != "proved")' "[.regions[] | select(.region == \"work\") | .speedup_percent[-1]] | length == 1"
}

record() { # directory
	DPROF_DIR=$dir/$1 ./around ticks ./full $visits >out 2>said
	[ $? = 7 ] || fail 'another exit status'
}

# ---- A limit of a file's size --------------------------------------------------------------------------------

for name in 'a limit of 20 KB' 'a limit of 100 KB'; do
	kb=${name//[!0-9]/}
	mkdir "limit$kb"
	(ulimit -f "$kb" && record "limit$kb"; exit $failed) || failed=1
	recorded "limit$kb" "the limit of a file's size is reached: raise it"
done

# A record that is lost costs no more than one that is kept, within a factor of 4 (10, where the system was called for each).
took() { # a limit of a file's size: milliseconds of processor time
	(ulimit -f "$1"; TIMEFORMAT='%U %S'
		time for _ in 1 2 3; do DPROF_DIR=$dir/took$1 ./full 500000 >/dev/null 2>&1; done) 2>&1 | awk '{ print ($1 + $2) * 1000 }'
}
name='what lost records cost'
mkdir took20 tookunlimited
lost=$(took 20) kept=$(took unlimited)
"$analyze" check "$(echo took20/dprof-full.* | cut -d' ' -f1)" | grep -q 'found [0-9]* dropped' || fail 'nothing was lost'
is_true "$lost <= 4 * $kept" || fail "$lost ms of the processor, and $kept where all is kept"

# Nor is there one for each event of a thread that could not even begin, and has no file.
homeless() { # folder, arguments: milliseconds
	TIMEFORMAT='%U %S'
	{ time DPROF_DIR=$dir/$1 ./homeless "${@:2}" >/dev/null 2>&1; } 2>&1 | awk '{ print ($1 + $2) * 1000 }'
}
name='a thread without a file'
# shellcheck disable=SC2046
gcc -O2 $(pkg-config --cflags dprof) "$from/homeless.c" -o homeless $(pkg-config --libs dprof) || fail 'homeless.c does not compile'
mkdir with without
lost=$(homeless without any) kept=$(homeless with)
"$analyze" check without/dprof-homeless.* | grep -q 'found 1000000 dropped of threads that had no file' || fail "$("$analyze" check without/*)"
is_true "$lost <= 4 * $kept" || fail "$lost ms of the processor, and $kept where all is kept"

# ---- A disk of its own, where that may be mounted ------------------------------------------------------------

disk() { # size cause
	name="a disk of $1"
	mkdir "disk$1"
	mount -t tmpfs -o "size=$1" none "disk$1" || return
	record "disk$1"
	recorded "disk$1" "$2"
	umount "disk$1"
}
if [ -n "${OWN_MOUNTS-}" ]; then
	disk 100k 'the disk is full'
	# Where nothing fits, and on a terminal only, the line at the end says so.
	name='a disk of 8k'
	mkdir none
	if mount -t tmpfs -o size=8k none none; then
		DPROF_DIR=none script -qec "./full 20000" /dev/null </dev/null >out
		grep -q '^dprof: 0 events in none/dprof-full\.[0-9]*, [0-9]* more are lost: the disk is full: set DPROF_DIR to another; ' out ||
			fail "on a terminal: $(cat out)"
		umount none
	fi
	disk 300k 'the disk is full'
	disk 1m any
	# A thread that goes on behind its slot has a file with a header, or none, wherever the disk was full.
	visits=20000 # fill as much
	for pages in {8..24}; do
		name="a disk of $pages pages"
		mkdir pages
		mount -t tmpfs -o "size=$((pages * 4))k" none pages || break
		record pages
		for file in pages/dprof-full.*/*.events; do
			[ ! -e "$file" ] || [ "$(head -c 1 "$file" | tr -d '\0')" ] || fail "$file has no header"
		done
		umount pages && rmdir pages
	done
fi
exit $failed

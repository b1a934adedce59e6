# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154,SC2086
#
# real.sh - a program that was not written here: SQLite from Debian's sources, one C file of 240,000 lines, under its
# own benchmark speedtest1. What it costs to compile, how much code there is, and how much slower it runs with regions
# where a user would put them, and with all functions as regions. Then K-Means with all its functions as regions.
# Filters say which; no source is changed.

sqlite=$B/sqlite
plugin=-fplugin=$B/plugin/dprof.so
arg=-fplugin-arg-dprof
libs=$(PKG_CONFIG_PATH=$B/lib/pkgconfig pkg-config --libs dprof)

only_these() { # functions...: a filter
	printf 'SCOREP_REGION_NAMES_BEGIN\n  EXCLUDE *\n  INCLUDE %s\nSCOREP_REGION_NAMES_END\n' "$*"
}
statements=(sqlite3_exec sqlite3_prepare_v2 sqlite3_finalize sqlite3BtreeCommitPhaseOne sqlite3RunVacuum)
only_these "${statements[@]}" >"$here/statements"
only_these "${statements[@]}" sqlite3_step sqlite3_reset >"$here/steps"
only_these main iterate assign update >"$here/phases"
declare -A options=([plain]= [loaded]="$plugin"
	[statements]="$plugin $arg-auto=functions $arg-min=0 $arg-filter=$here/statements"
	[steps]="$plugin $arg-auto=functions $arg-min=0 $arg-filter=$here/steps"
	[phases]="$plugin $arg-auto=functions $arg-min=0 $arg-filter=$here/phases"
	[functions]="$plugin $arg-auto=functions" [all]="$plugin $arg-auto=functions $arg-min=0")

amalgamation() { # sqlite3.c and speedtest1.c -> $sqlite
	[ ! -s "$sqlite/sqlite3.c" ] || return 0
	progress "the sources of SQLite"
	mkdir -p "$sqlite"
	{
		testsuite/debian-source sqlite3 "$sqlite/source" && (cd "$sqlite" && source/configure && make sqlite3.c) &&
			cp "$sqlite/source/test/speedtest1.c" "$sqlite"
	} >"$sqlite/log" 2>&1
}

build() { # way -> $here/speedtest.WAY; processor seconds of compiling sqlite3.c
	local TIMEFORMAT='%U' adapters=$libs
	[ $1 != plain ] || adapters=
	{ time gcc -w -O2 ${options[$1]} -c "$sqlite/sqlite3.c" -o "$here/sqlite3.$1.o"; } 2>&1
	gcc -w -O2 "$sqlite/speedtest1.c" "$here/sqlite3.$1.o" -o "$here/speedtest.$1" $adapters -lpthread -ldl -lm
}

# User and system seconds of a command run in $here, whose traces are removed.
processor() {
	local TIMEFORMAT='%U %S'
	{ time (cd "$here" && "$@" >/dev/null 2>&1); } 2>&1 | awk '{ print $1 + $2 }'
	rm -rf "$here"/dprof-*
}

compare() { # rounds, way...: each in turn, by a function of one argument, $run -> $here/$run: round way seconds
	local n=$1 i way
	shift
	for i in $(seq $n); do
		for way; do
			progress "$run, $way, round $i of $n"
			echo "$i $way $($run $way)"
		done
	done >"$here/$run"
}
more() { paired percent $2 plain <"$here/$1" | estimate; }

speedtest() { DPROF_EVENTS=${events--lock} processor "$here/speedtest.$1" --memdb --size ${size:-25}; }

instructions() { # way: of all threads in user space; from one size to the next, so that start and finish are left out
	local n
	for n in 2 5; do
		(cd "$here" && DPROF_EVENTS=-lock valgrind --tool=callgrind --callgrind-out-file=/dev/null "./speedtest.$1" --memdb --size $n 2>&1) |
			sed -n 's/.*Collected : //p'
		rm -rf "$here"/dprof-*
	done | awk 'NR == 1 { first = $1 } END { if (NR == 2) print $1 - first }'
}

percent() { awk -v a="$1" -v b="$2" 'BEGIN { if (a != "" && b > 0) print (a / b - 1) * 100 }'; }

sqlite_compiled() {
	local way
	declare -A seconds sites bytes
	for way in plain loaded functions; do
		progress "compiling SQLite, $way"
		seconds[$way]=$(build $way)
	done
	for way in statements steps all; do
		build $way >/dev/null &
	done
	wait
	for way in plain functions all; do
		bytes[$way]=$(size "$here/sqlite3.$way.o" | awk 'NR == 2 { print $1 }')
		sites[$way]=$(nm "$here/sqlite3.$way.o" | grep -c ' dprof_site\.')
	done

	table "SQLite, sqlite3.c of $(wc -l <"$sqlite/sqlite3.c") lines, gcc -O2: to compile, once" "In percent of the processor \
time without the plugin, ${seconds[plain]} s. The first row shows how much the machine's other work disturbs."
	row "plugin loaded, nothing marked" "$(percent ${seconds[loaded]} ${seconds[plain]})" %
	row "auto=functions" "$(percent ${seconds[functions]} ${seconds[plain]})" %

	table "SQLite, its code" "Sites, and how much greater for each the text of sqlite3.o is than without the plugin, \
${bytes[plain]} B. A region has one begin and an end at each way out."
	for way in functions all; do
		row "sites by auto=functions$([ $way = functions ] || echo ", min=0")" "${sites[$way]}" ""
		row "  code of each" "$(awk -v a=${bytes[$way]} -v b=${bytes[plain]} -v n=${sites[$way]} 'BEGIN { if (n) print (a - b) / n }')" B
	done
}

sqlite_run() {
	run=speedtest compare $pairs plain statements steps
	run=speedtest_locks compare $pairs plain steps
	run=speedtest_all compare 3 plain functions all
	table "SQLite, speedtest1 in memory: slow-down" "In percent of the program built without dprof; processor time, $pairs rounds; \
DPROF_EVENTS=-lock. Statements: ${statements[*]/#sqlite3/*}; steps: *_step and *_reset too, 1.3 million a second."
	if command -v valgrind >/dev/null; then
		progress "counting instructions of SQLite"
		row "statements, instructions" "$(percent $(instructions statements) $(instructions plain))" % "<= 1"
		why "SQLite takes and releases a mutex for each microsecond of work, 9 instructions more each where dprof stands before it"
	fi
	row "statements" "$(more speedtest statements)" % "<= 1"
	why "the instructions, and what else the machine does (load now $(cut -d' ' -f1 /proc/loadavg) on $cores cores)"
	row "steps" "$(more speedtest steps)" %
	row "steps, SQLite's locks, too" "$(more speedtest_locks steps)" %
	row "auto=functions" "$(more speedtest_all functions)" %
	row "auto=functions, min=0" "$(more speedtest_all all)" %
	read -r records bytes <<<"$(recorded functions 3)"
	row "bytes on disk for each record" "$(awk -v b=$bytes -v n=$records 'BEGIN { if (n) print b / n }')" B "<= 4"
	why "records of a program with many regions are less alike than those of a loop"
}

# One run, auto=functions -> its records and the bytes of its trace on disk.
recorded() { # way size
	progress "the records of SQLite"
	(cd "$here" && DPROF_EVENTS=-lock "./speedtest.$1" --memdb --size $2 >/dev/null)
	echo "$("$B/bin/dprof-analyze" dump "$here"/dprof-* | grep -c '^e ') $(du -s -B1 "$here"/dprof-* | cut -f1)"
	rm -rf "$here"/dprof-*
}
speedtest_locks() { events= speedtest $1; }
speedtest_all() { size=5 speedtest $1; }

if amalgamation; then
	sqlite_compiled
	sqlite_run
else
	table "SQLite" "Not measured: $(tail -1 "$sqlite/log")"
fi

# ---- K-Means, every function a region ------------------------------------------------------------------------

kmeans() { # way -> seconds of its iterations
	(cd "$here" && OMP_NUM_THREADS=$cores "./kmeans.$1" --clusters 16 --iterations 4 "$B/data/cities.csv.gz") |
		sed -n 's/.* \([0-9.]*\) s$/\1/p'
	rm -rf "$here"/dprof-*
}

for way in plain functions all phases; do
	mpicc -std=gnu17 -O2 -I. -fopenmp -w ${options[$way]} examples/kmeans.c examples/common/*.c -o "$here/kmeans.$way" \
		$([ $way = plain ] || echo $libs) -lz -lm
done
run=kmeans compare $rounds plain functions all phases
table "K-Means, its functions as regions: slow-down" "In percent of the program built without dprof; time of its iterations, \
$rounds rounds. Filter: main, iterate, assign, update."
row "auto=functions" "$(more kmeans functions)" %
row "auto=functions, min=0" "$(more kmeans all)" %
row "the same with the filter" "$(more kmeans phases)" %

# The second to the sixth iteration, on one thread. An event that is switched off takes about as many instructions;
# valgrind runs one thread at a time, so the recorder's helper would come too late.
kmeans_instructions() { # way
	local of iterations
	for iterations in 1 6; do
		of[iterations]=$(cd "$here" && DPROF_OFF=1 OMP_NUM_THREADS=1 valgrind --tool=callgrind --callgrind-out-file=/dev/null \
			"./kmeans.$1" --clusters 16 --iterations $iterations points.csv 2>&1 >/dev/null | sed -n 's/.*Collected : //p')
	done
	[ -z "${of[1]}" ] || [ -z "${of[6]}" ] || echo $((of[6] - of[1]))
}

if command -v valgrind >/dev/null; then
	for n in {1..30}; do cat examples/data/cities.csv; done >"$here/points.csv"
	progress "counting instructions of K-Means"
	bare=$(kmeans_instructions plain)
	row "auto=functions, instructions" "$(percent "$(kmeans_instructions functions)" "$bare")" %
	row "the same with the filter" "$(percent "$(kmeans_instructions phases)" "$bare")" %
fi

# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154
#
# record.sh - what one record costs, and how many bytes it takes, beside peers: each recorder is a program
# behind the same harness (harness.h says what median, p99.9 and mean are).

sizes=${RECORDS:-1e6 1e7${LONG:+ 1e8}}
peers_size=${sizes%% *} # peers are measured at the first size only
export LTTNG_HOME=$here/lttng LTTNG_RUNDIR=$here/lttng-run
trap 'end_lttng' EXIT

begin_lttng() { # a daemon of our own, so that no other's sessions are touched
	command -v lttng-sessiond >/dev/null || return 1
	mkdir -p "$LTTNG_HOME" "$LTTNG_RUNDIR"
	lttng-sessiond --no-kernel >"$here/sessiond.log" 2>&1 &
	sessiond=$!
	sleep 1
	lttng create bench --output="$here/lttng-trace" >/dev/null 2>&1 &&
		lttng enable-channel --userspace --num-subbuf=8 --subbuf-size=8M c >/dev/null 2>&1 &&
		lttng enable-event --userspace --channel=c 'dprof_bench:*' >/dev/null 2>&1 &&
		lttng start >/dev/null 2>&1
}

end_lttng() {
	[ -n "${sessiond:-}" ] || return
	lttng destroy -a >/dev/null 2>&1
	kill "$sessiond" 2>/dev/null
	wait "$sessiond" 2>/dev/null
}

declare -A title=([dprof]=dprof [hook]="-finstrument-functions, no-op" [uftrace]="uftrace (-pg)" [otf2]="OTF2 writer"
	[fxt]=FxT [lttng]=LTTng-UST)
recorders="bare dprof hook"
for peer in uftrace otf2 fxt lttng; do
	[ -x "$B/bench/record-$peer" ] || continue
	[ $peer != uftrace ] || command -v uftrace >/dev/null || continue
	[ $peer != lttng ] || begin_lttng || continue
	recorders="$recorders $peer"
done

# Runs one recorder in a folder of its own, $here/of.NAME, where it leaves its files.
recorder() { # name threads records
	local way=()
	[ "$1" != uftrace ] || way=(uftrace record --data=uftrace --no-libcall --no-event --no-sched --buffer=8M)
	rm -rf "$here/of.$1"
	mkdir "$here/of.$1"
	(cd "$here/of.$1" && "${way[@]}" "$B/bench/record-$1" "$2" "$3")
}

# One round: every recorder in turn, so that a ratio compares neighbours in time. Of several threads the
# slowest counts, in each column. -> $here/SIZE.THREADS.COLUMN: round recorder ticks
measure() { # size threads recorders...
	local size=$1 threads=$2 round r
	shift 2
	for round in $(seq "$rounds"); do
		for r; do
			progress "one record: $r, $threads thread(s), $size records, round $round of $rounds"
			recorder "$r" "$threads" "$size" >"$here/out" || continue
			for column in 1 2 3; do
				echo "$round $r $(cut -d' ' -f$column "$here/out" | sort -g | tail -1)" >>"$here/$size.$threads.$column"
			done
			rm -rf "$here/of.$r"
		done
	done
}

threads_of() { [ "$1" -eq 1 ] && echo "1 thread" || echo "$1 threads"; }

rows_of() { # recorder size threads "goal"
	local column=0 what s
	for what in median p99.9 mean; do
		column=$((column + 1))
		row "$what, $(threads_of "$3"), ${2/1e/10^}" "$(paired ratio "$1" bare <"$here/$2.$3.$column" | estimate)" x "$4"
		[ "$1" != dprof ] || why "in the mean the loop wants $(only bare <"$here/$2.$3.1" | estimate | awk -v g="$ghz" \
			'{ printf "%.1f", g / $1 * 8 }') GB/s of memory for each thread; where no chunk is ready, it waits for pages"
	done
}

threads=$(printf '1\n%s\n' "$cores" | sort -un)
for size in $sizes; do
	for n in $threads; do
		measure "$size" "$n" $([ "$size" = "$peers_size" ] && echo "$recorders" || echo bare dprof)
	done
done

table "One region record" "In multiples of bare rdtsc + 8-byte store into a warm buffer, which costs \
$(only bare <"$here/$peers_size.1.1" | estimate | awk -v g="$ghz" '{ printf "%.1f", $1 / g }') ns. Of several threads the slowest \
counts. p99.9 of batches of 20 records; mean of all: no stall is left out. $rounds rounds."
for size in $sizes; do
	for n in $threads; do
		rows_of dprof "$size" "$n" "<= 1.10"
	done
done
for r in ${recorders#bare dprof}; do
	table "The same, ${title[$r]}" "Likewise in multiples of bare rdtsc + 8-byte store."
	for n in $threads; do
		rows_of "$r" "$peers_size" "$n" ""
	done
done

# ---- bytes -----------------------------------------------------------------------------------------------

# What is on disk afterwards, in blocks of the file system, for each record; dprof's chunks that are still to be packed
# and are ready for what comes included. LTTng's session goes on, so its files already hold what was recorded before.
stored() { # recorder records
	local before=0
	progress "bytes of a record: $1, $2"
	[ "$1" != lttng ] || before=$(bytes_of lttng)
	recorder "$1" 1 "$2" >/dev/null
	awk -v bytes=$(($(bytes_of "$1") - before)) -v records="$2" 'BEGIN { print bytes / records }'
	rm -rf "$here/of.$1"
}

bytes_of() {
	local files
	case $1 in
	dprof) files=("$here"/of.dprof/dprof-*/*) ;;
	uftrace) files=("$here"/of.uftrace/uftrace/[0-9]*.dat) ;;
	otf2) files=("$here"/of.otf2/otf2/trace/*.evt) ;;
	fxt) files=("$here/of.fxt/fxt.trace") ;;
	lttng)
		lttng stop >/dev/null 2>&1
		files=("$here"/lttng-trace/ust/uid/*/*/c_*)
		lttng start >/dev/null 2>&1
		;;
	esac
	du -c -B1 "${files[@]}" | tail -1 | cut -f1
}

# A recorder that drops records is fast: of half a million regions each thread should have all.
progress "lost records"
recorder dprof "$cores" 1e6 >/dev/null
table "Records lost" "$cores threads that do nothing else, 10^6 records each, from the trace."
row "dprof" "$("$B/bin/dprof-analyze" dump "$here"/of.dprof/dprof-* | awk -v want=$((cores * 1000000)) \
	'$1 == "e" && $5 != "point" { n++ } END { print want - n }')" "" "<= 0"
why "no chunk was ready and none could be made in time; the trace says where"

# ---- the stored form ---------------------------------------------------------------------------------------

stored_rows() { # title program...
	local title=$1 what column=0
	shift
	progress "the stored form: $title"
	mkdir "$here/stored"
	(cd "$here/stored" && DPROF_QUIET=1 "$@" >/dev/null 2>&1 && "$B/bench/stored" dprof-* "$rounds" >"$here/stored.ns") || return
	rm -rf "$here/stored"
	for what in "B" "ns to pack" "ns to unpack"; do
		column=$((column + 1))
		row "$title, $what" "$(cut -d' ' -f$column "$here/stored.ns" | estimate)" "${what%% *}"
	done
}

table "The stored form (packed.h)" "Of each event, with its arguments, of traces as they are recorded; processor time."
[ ! -x "$B/bench/operations" ] || stored_rows "many messages" "$B/bench/operations" mpi 400000
stored_rows "20 nested regions" "$B/bench/nested" 50000
if [ -x "$B/examples/kmeans" ] && command -v mpirun >/dev/null; then
	seq 60 | awk '{ print $1 * 7 % 13 "," $1 * 5 % 11 }' >"$here/points"
	stored_rows "K-Means, 2 ranks of 2 threads" \
		mpirun --allow-run-as-root --oversubscribe -n 2 "$B/examples/kmeans" -k 3 -n 20000 -t 2 -q "$here/points"
fi

progress "the helper thread"
table "The recorder's helper thread" "Which packs what was recorded. Per record, in ns of a processor; $rounds rounds."
for round in $(seq "$rounds"); do
	mkdir "$here/helping"
	DPROF_DIR=$here/helping "$B/bench/helper" >>"$here/helper"
	rm -rf "$here/helping"
done
row "a million records a second" "$(cut -d' ' -f1 "$here/helper" | estimate)" ns
row "a loop that does nothing else" "$(cut -d' ' -f2 "$here/helper" | estimate)" ns

table "Bytes of a region record" "On disk: 1 thread; blocks of all files, for each record. Peers write what is in memory as it is, \
10^7 records. A loop is easy to pack; BENCH=real has a program's records."
row "dprof, in memory" "$(cd "$here" && "$B/bench/word")" B "<= 8"
for n in 1e6 1e7; do
	row "dprof, on disk, ${n/1e/10^} records" "$(stored dprof $n)" B "<= 4"
	why "the chunks that were not full, or not packed yet when the program ended, are a good part of a short trace"
done
for r in ${recorders#bare dprof hook}; do
	row "${title[$r]}" "$(stored "$r" 1e7)" B
done

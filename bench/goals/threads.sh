# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154
#
# threads.sh - what it costs to record what threads and ranks do with each other.

export DPROF_DIR=$here

# One round: each way in turn. -> $here/lock, $here/team, $here/start, $here/burst: round way ns
for what in "lock 1000000" "team 10000" "start 200" "burst 30"; do
	for round in $(seq "$rounds"); do
		progress "threads: $what, round $round of $rounds"
		for way in plain off no-locks recorded; do
			case $way in
			plain) ns=$("$B/bench/threads-plain" $what) ;;
			off) ns=$(DPROF_OFF=1 "$B/bench/threads" $what) ;;
			no-locks) ns=$(DPROF_EVENTS=-lock "$B/bench/threads" $what) ;;
			recorded) ns=$("$B/bench/threads" $what) ;;
			esac
			echo "$round $way $ns" >>"$here/${what% *}"
			rm -rf "$here"/dprof-threads.*
		done
	done
done

ways() { # file "WAY TITLE"...
	local file=$1 way
	shift
	for way; do
		row "  ${way#* }" "$(paired ratio "${way%% *}" plain <"$here/$file" | estimate)" x
	done
}

table "Threads" "In multiples of the same program without dprof. $rounds rounds."
row "lock + unlock, no wait" "$(only plain <"$here/lock" | estimate)" ns
ways lock "recorded recorded" "no-locks DPROF_EVENTS=-lock" "off DPROF_OFF=1"
row "empty parallel, 2 threads" "$(only plain <"$here/team" | estimate)" ns
ways team "recorded recorded" "off DPROF_OFF=1"
row "thread start, one every 2 ms" "$(only plain <"$here/start" | estimate)" ns
row "  recorded, more than that" "$(paired difference recorded plain <"$here/start" | estimate)" ns "<= 30000"
why "a thread maps memory for its records, and what the kernel has counted of it is read at its start and end"
row "thread start to join, 32 at once" "$(only plain <"$here/burst" | estimate)" ns
row "  recorded, more than that" "$(paired difference recorded plain <"$here/burst" | estimate)" ns "<= 30000"
why "a thread maps memory for its records, and what the kernel has counted of it is read at its start and end"

# ---- messages --------------------------------------------------------------------------------------------

pingpong() { mpirun --allow-run-as-root --oversubscribe -n 2 "$@" 400; }
for round in $([ ! -x "$B/bench/pingpong" ] || seq "$rounds"); do
	progress "messages, round $round of $rounds"
	echo "$round plain $(pingpong "$B/bench/pingpong-plain")"
	echo "$round off $(DPROF_OFF=1 pingpong "$B/bench/pingpong")"
	echo "$round recorded $(pingpong "$B/bench/pingpong")"
	rm -rf "$here"/dprof-pingpong.*
done >"$here/messages"
if [ -s "$here/messages" ]; then
	table "8 bytes from rank to rank over shared memory" "In multiples of the same program without dprof. $rounds rounds."
	row "MPI_Send + MPI_Recv" "$(only plain <"$here/messages" | estimate)" ns
	ways messages "recorded recorded" "off DPROF_OFF=1"
fi

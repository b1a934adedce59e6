# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154
#
# operations.sh - what an operation costs: a call of MPI, a lock, a parallel region, and a stencil that does little
# but exchange. Beside a wrapper that reads the counter twice and does nothing else, and EZTrace, where they are.

[ -x "$B/bench/operations" ] || return 0
export DPROF_DIR=$here OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

one() { # way what times: ns
	local run=(mpirun --bind-to none -n 1) program=$B/bench/operations
	case $1 in
	plain) program+=-plain ;;
	wrapper) program+=-wrapped ;;
	eztrace) program+=-plain run+=(eztrace -t openmpi -o "$here/eztrace") ;;
	off) run+=(env DPROF_OFF=1) ;;
	left_out) run+=(env DPROF_EVENTS=region) ;;
	esac
	(cd "$here" && "${run[@]}" "$program" "$2" "$3" 2>/dev/null)
	rm -rf "$here"/dprof-* "$here"/*_trace "$here/eztrace"
}

ways=(plain wrapper recorded off left_out)
command -v eztrace >/dev/null && ways+=(eztrace)
for round in $(seq "$rounds"); do
	for what in "mpi 400000" "lock 2000000" "parallel 80000"; do
		progress "operations: $what, round $round of $rounds"
		for way in "${ways[@]}"; do
			case $what:$way in lock*:wrapper | parallel*:wrapper | lock*:eztrace | parallel*:eztrace) continue ;; esac
			# shellcheck disable=SC2086
			echo "$round $way $(one $way $what)" >>"$here/${what% *}"
		done
	done
done

table "A call of MPI: MPI_Irecv, MPI_Isend, MPI_Wait to oneself" "What is added to the same program without dprof: the \
thread's processor time, $rounds rounds."
row "the call" "$(only plain <"$here/mpi" | estimate)" ns
row "  recorded" "$(paired difference recorded plain <"$here/mpi" | estimate)" ns "<= 40"
why "six words a call; where the helper has no core of its own, packing them takes the thread's"
row "  DPROF_EVENTS=region" "$(paired difference left_out plain <"$here/mpi" | estimate)" ns "<= 5"
row "  DPROF_OFF=1" "$(paired difference off plain <"$here/mpi" | estimate)" ns "<= 5"
row "  counter read twice, no more" "$(paired difference wrapper plain <"$here/mpi" | estimate)" ns
[[ " ${ways[*]} " != *" eztrace "* ]] || row "  EZTrace" "$(paired difference eztrace plain <"$here/mpi" | estimate)" ns

table "A lock that nobody else wants, locked and unlocked" "Likewise."
row "lock + unlock" "$(only plain <"$here/lock" | estimate)" ns
row "  recorded" "$(paired difference recorded plain <"$here/lock" | estimate)" ns "<= 40"
why "a fenced stamp and another one take 28 ns here, five words the rest"
row "  DPROF_EVENTS=region" "$(paired difference left_out plain <"$here/lock" | estimate)" ns "<= 5"
row "  DPROF_OFF=1" "$(paired difference off plain <"$here/lock" | estimate)" ns "<= 5"

table "An empty parallel region of two threads" "Likewise, but the least time of 400 each round: the threads spin, and \
both need a core."
row "the region" "$(only plain <"$here/parallel" | estimate)" ns
row "  recorded" "$(paired difference recorded plain <"$here/parallel" | estimate)" ns "<= 150"
why "ten words and three or four stamps of each thread, and who opens the region waits for the other"
row "  DPROF_OFF=1" "$(paired difference off plain <"$here/parallel" | estimate)" ns "<= 5"

# ---- a program -------------------------------------------------------------------------------------------

ranks=8 edge=48 steps=60
stencil() { # way
	(cd "$here" && mpirun --oversubscribe --mca mpi_yield_when_idle 1 -n $ranks "$B/bench/stencil${mark[$1]}" $edge $steps |
		cut -d' ' -f1)
	rm -rf "$here"/dprof-*
}
declare -A mark=([plain]=-plain [recorded]=)
for round in $(seq "$pairs"); do
	progress "stencil, round $round of $pairs"
	for way in $([ $((round % 2)) = 0 ] && echo plain recorded || echo recorded plain); do
		echo "$round $way $(stencil $way)" >>"$here/stencil"
	done
done

# One rank, so that no instruction depends on wait dependencies: the neighbours are the rank itself.
instructions() { # way steps
	(cd "$here" && valgrind --tool=callgrind --callgrind-out-file=/dev/null "$B/bench/stencil${mark[$1]}" $edge "$2" 2>&1 |
		sed -n 's/.*Collected : //p')
	rm -rf "$here"/dprof-*
}
more_instructions() {
	local few=2 many=6 way n=()
	command -v valgrind >/dev/null || return
	for way in recorded plain; do
		n+=("$(instructions $way $many)" "$(instructions $way $few)")
	done
	awk -v a="${n[0]}" -v b="${n[1]}" -v c="${n[2]}" -v d="${n[3]}" 'BEGIN { if (c > d) print ((a - b) / (c - d) - 1) * 100 }'
}

table "A stencil with 26 neighbours, nothing marked" "In percent of the same program without dprof. Time: $ranks ranks on \
$cores cores, $edge^3 cells each, $(only plain <"$here/stencil" | estimate | cut -d' ' -f1) s, $pairs pairs of runs. \
Instructions: of a step of one rank, in all threads, by callgrind."
row "time" "$(paired percent recorded plain <"$here/stencil" | estimate)" % "<= 2"
why "ranks that wait yield, and what other work the machine has is in the time"
row "instructions" "$(more_instructions)" % "<= 1"
why "53 calls a step begin or complete 52 messages: some hundred instructions each, and as many to pack them"

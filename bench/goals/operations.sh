# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154
#
# operations.sh - what an operation costs: a call of MPI, a lock, a parallel region, and a stencil that does little
# but exchange. Beside a wrapper that reads the counter twice and does nothing else, and EZTrace, where they are.

[ -x "$B/bench/operations" ] || return 0
export DPROF_DIR=$here OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

one() { # way what times: ns, and ns of other threads
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

beside() { # way: what the other threads do for it
	awk -v way="$1" '$2 == way { print $4 }'
}

table "A call of MPI: MPI_Irecv, MPI_Isend, MPI_Wait to oneself" "What is added to the same program without dprof: the \
thread's processor time, the least of 200 batches, $rounds rounds."
row "the call" "$(only plain <"$here/mpi" | estimate)" ns
row "  recorded" "$(paired difference recorded plain <"$here/mpi" | estimate)" ns "<= 40"
why "two stamps and six words a call; where the helper has no core of its own, it takes the thread's"
row "  dprof's helper, meanwhile" "$(beside recorded <"$here/mpi" | estimate)" ns
row "  DPROF_EVENTS=region" "$(paired difference left_out plain <"$here/mpi" | estimate)" ns "<= 5"
why "the call goes through a function of dprof, which looks at what is recorded"
row "  DPROF_OFF=1" "$(paired difference off plain <"$here/mpi" | estimate)" ns "<= 5"
why "the call goes through a function of dprof, which looks whether it is on"
row "  counter read twice, no more" "$(paired difference wrapper plain <"$here/mpi" | estimate)" ns
[[ " ${ways[*]} " != *" eztrace "* ]] || row "  EZTrace" "$(paired difference eztrace plain <"$here/mpi" | estimate)" ns

table "A lock without contention, locked and unlocked" "Likewise."
row "lock + unlock" "$(only plain <"$here/lock" | estimate)" ns
row "  recorded" "$(paired difference recorded plain <"$here/lock" | estimate)" ns "<= 40"
why "a fenced stamp and another one take 23 to 28 ns here, five words the rest"
row "  dprof's helper, meanwhile" "$(beside recorded <"$here/lock" | estimate)" ns
row "  DPROF_EVENTS=region" "$(paired difference left_out plain <"$here/lock" | estimate)" ns "<= 5"
why "the call goes through a function of dprof, which looks at what is recorded"
row "  DPROF_OFF=1" "$(paired difference off plain <"$here/lock" | estimate)" ns "<= 5"
why "the call goes through a function of dprof, which looks whether it is on"

table "An empty parallel region of two threads" "Likewise, but the least time of 400 each round: the threads spin, and \
both need a core."
row "the region" "$(only plain <"$here/parallel" | estimate)" ns
row "  recorded" "$(paired difference recorded plain <"$here/parallel" | estimate)" ns "<= 150"
why "ten words and three or four stamps of each thread, and both need a core for all of a batch"
row "  DPROF_OFF=1" "$(paired difference off plain <"$here/parallel" | estimate)" ns "<= 5"
why "the call goes through a function of dprof, which looks whether it is on"

# ---- programs --------------------------------------------------------------------------------------------

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

collected() { # way program arguments... [-- options]: instructions
	local way=$1 program=$2 arguments=()
	shift 2
	while [ $# -gt 0 ] && [ "$1" != -- ]; do arguments+=("$1"); shift; done
	(cd "$here" && OMP_WAIT_POLICY=passive valgrind --tool=callgrind --callgrind-out-file=/dev/null "${@:2}" \
		"$B/bench/$program${mark[$way]}" "${arguments[@]}" 2>&1 | sed -n 's/.*Collected : //p')
	rm -rf "$here"/dprof-*
}

# Of the thread that works and of dprof's helper, from the first step to the last: nothing else, such as what MPI does
# at its begin for as long as that takes. One rank, whose neighbours are itself, so that nothing waits.
steps() { # way edge steps
	collected "$1" stencil "$2" "$3" -- --toggle-collect=simulate --toggle-collect=dprof_chunks_pack \
		--toggle-collect=dprof_chunks_make_wanted
}

# Of all threads, without what so few take: the begin and the end of the program.
beyond_few() { # way what many few
	local many few
	many=$(collected "$1" unmarked "$2" "$3") few=$(collected "$1" unmarked "$2" "$4")
	[ -z "$many" ] || [ -z "$few" ] || echo $((many - few))
}

more_instructions() { # function arguments...: in percent
	local round way
	for round in 1 2 3; do
		progress "instructions of $*, round $round of 3"
		for way in recorded plain; do
			echo "$round $way $("$1" $way "${@:2}")"
		done
	done | paired percent recorded plain | estimate
}

table "A stencil with 26 neighbours, nothing marked" "In percent of the same program without dprof. Time: $ranks ranks on \
$cores cores, $edge^3 cells each, $(only plain <"$here/stencil" | estimate | cut -d' ' -f1) s, $pairs pairs of runs. \
Instructions: of all steps of one rank and of the helper, which packs, by callgrind, 3 rounds. A step of $edge^3 cells is \
14 million instructions for 53 calls of MPI; one of CoMD, with 32,000 atoms a rank, is more for fewer calls. One of 24^3 \
cells is the hardest case that we know."
row "time" "$(paired percent recorded plain <"$here/stencil" | estimate)" % "<= 2"
why "ranks that wait yield, and what other work the machine has is in the time"
if command -v valgrind >/dev/null; then
	row "instructions" "$(more_instructions steps $edge 20)" % "<= 1"
	why "an event takes instructions to record, and some twice as many to pack"
	row "instructions, 24^3 cells" "$(more_instructions steps 24 100)" % "<= 1"
	why "a call takes some 500 instructions, and packing its words 1,050, of which splitting them by class and zstd take \
450 each"

	table "Programs of threads, nothing marked" "In percent of the same program without dprof: instructions of all threads, \
by callgrind, 3 rounds."
	row "200 parallel loops" "$(more_instructions beyond_few loops 220 20)" % "<= 1"
	why "an event takes instructions to record, and some twice as many to pack"
	row "mutex and condition variable" "$(more_instructions beyond_few queue 220 20)" % "<= 1"
	why "an event takes instructions to record, and some twice as many to pack"
	row "5,166 tiny OpenMP tasks" "$(more_instructions beyond_few tasks 17 2)" % "<= 1"
	why "such a task takes 600 instructions, and its 3 stamps and 10 words in three events at least as many with packing"
fi

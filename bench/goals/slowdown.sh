# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154,SC2086
#
# slowdown.sh - what recording costs whole programs: K-Means, PageRank and Connected Components, with their
# regions marked, against the same sources compiled and linked without dprof.
#
# Times of one run differ by some percent on a machine that does anything else, so there are many pairs that
# take turns, each long enough (half a second and more) that the clock's steps and start and finish, which
# have their own table, are below 0.1 %; and the instructions are counted, which nothing disturbs.

programs=(kmeans pagerank cc)
{ # many iterations: a path, along which one label a node and iteration changes, beside Debian's packages
	zcat "$B/data/debian.txt.gz"
	seq 1000000 1002000 | awk '{ print $1 "\t" $1 + 1 }'
} >"$here/debian+path"

declare -A many=([kmeans]=45 [pagerank]=1500 [cc]=1500) # iterations of a timed run
declare -A few=([kmeans]=1 [pagerank]=100 [cc]=100)     # and by how many the counted runs differ

arguments() { # program iterations
	case $1 in
	kmeans) echo "--clusters 128 --iterations $2 $B/data/cities.csv.gz" ;;
	pagerank) echo "--iterations $2 $B/data/debian.txt.gz" ;;
	cc) echo "--iterations $2 $here/debian+path" ;;
	esac
}

path_of() { # program way
	[ "$2" = plain ] && echo "$B/examples/plain/$1" || echo "$B/examples/$1"
}

# Runs a command in $here -> seconds of its iterations, as it prints them; user and system time of it and all
# its children.
timed() {
	local TIMEFORMAT='%U %S'
	rm -rf "$here"/dprof-*
	{ time (cd "$here" && "$@" 2>"$here/err" | sed -n 's/.* \([0-9.]*\) s$/\1/p'); } 2>&1 |
		awk 'NF == 1 { wall = $1 } NF == 2 { cpu = $1 + $2 } END { print wall, cpu }'
}

team="OMP_NUM_THREADS=$cores OMP_PLACES=cores OMP_PROC_BIND=spread"
declare -A off=([off]=1) interval=([silent]=0 [exchange]=250ms)

one_process() { # program way
	timed env $team DPROF_OFF=${off[$2]:-} "$(path_of $1 $2)" $(arguments $1 ${many[$1]})
}

two_hosts() { # program way: two ranks of one thread on this machine, which take it for two hosts
	local what rank=(-n 1 env OMP_NUM_THREADS=1 DPROF_SYNC_INTERVAL=${interval[$2]:-})
	what="$(path_of $1 $2) $(arguments $1 ${many[$1]})"
	timed mpirun --allow-run-as-root --oversubscribe --quiet --mca mpi_yield_when_idle 1 \
		"${rank[@]}" DPROF_HOST=a $what : "${rank[@]}" DPROF_HOST=b $what
}

# -> $here/FILE.wall, $here/FILE.cpu: pair way seconds
take_turns() { # function program ways...
	local run=$1 program=$2 i j way wall cpu
	shift 2
	for i in $(seq "$pairs"); do
		progress "$program, round $i of $pairs"
		for j in $(seq $#); do
			way=${*:$(((i + j) % $# + 1)):1}
			read -r wall cpu <<<"$($run $program $way)"
			echo "$i $way $wall" >>"$here/$run.$program.wall"
			echo "$i $way $cpu" >>"$here/$run.$program.cpu"
		done
	done
}

against_plain() { # file way
	paired percent "$2" plain <"$here/$1" | estimate
}

# Instructions of all threads in user space, of so many iterations -> $here/count.PROGRAM.WAY.ITERATIONS
count_instructions() { # program way iterations
	(cd "$here" && env $team OMP_WAIT_POLICY=passive valgrind --tool=callgrind --callgrind-out-file=/dev/null "$(path_of $1 $2)" \
		$(arguments $1 $3)) 2>&1 >"$here/out.$2.$3" | sed -n 's/.*Collected : //p' >"$here/count.$1.$2.$3"
}

# By how much the instructions of an iteration are more: start and finish are the same in both counted runs.
more_instructions() { # program
	local n
	command -v valgrind >/dev/null || return
	for n in ${few[$1]} $((2 * few[$1])); do
		progress "$1, counting instructions of $n iterations"
		count_instructions $1 plain $n &
		count_instructions $1 on $n
		wait $!
	done
	paste -d' ' "$here"/count.$1.{on,plain}.{$n,${few[$1]}} | awk 'NF == 4 && $3 > $4 { print (($1 - $2) / ($3 - $4) - 1) * 100 }'
}

# The reason to print: times include what else the machine does.
disturbed() {
	why "instructions say what recording costs; times of a machine with other work to do (load now $(cut -d' ' -f1 /proc/loadavg) \
on $cores cores) say no more than their interval"
}

for program in "${programs[@]}"; do
	take_turns one_process $program plain off on
	table "Slow-down of $program, 1 process, $cores threads" "In percent of the same program built without dprof; $pairs rounds. \
Time: of its iterations, $(only plain <"$here/one_process.$program.wall" | estimate | cut -d' ' -f1) s. Processor: user and system \
time of all of the process. Instructions: of an iteration, in all threads, by callgrind."
	row "instructions" "$(more_instructions $program)" % "<= 1"
	why "each event is 13 instructions, and what an adapter adds"
	row "time" "$(against_plain one_process.$program.wall on)" % "<= 1"
	why "where no core is free the helper takes the program's, to pack; so does all else that the machine does"
	disturbed
	row "processor" "$(against_plain one_process.$program.cpu on)" % "<= 1"
	why "where no core is free the helper takes the program's, to pack; so does all else that the machine does"
	disturbed
	row "time, DPROF_OFF=1" "$(against_plain one_process.$program.wall off)" % "<= 1"
	why "nothing is recorded: what else the machine did meanwhile is in it"
	disturbed
	row "processor, DPROF_OFF=1" "$(against_plain one_process.$program.cpu off)" % "<= 1"
	why "nothing is recorded: what else the machine did meanwhile is in it"
	disturbed
done

for program in "${programs[@]}"; do
	take_turns two_hosts $program plain silent exchange
	table "Slow-down of $program, 2 ranks on 2 hosts" "Likewise; 1 thread each. Processor: of mpirun and all that it \
starts; ranks that wait yield. Exchange: of packets, every 250 ms while it runs."
	row "time, with exchange" "$(against_plain two_hosts.$program.wall exchange)" % "<= 1"
	why "the exchange wakes a thread, and where no core is free it takes the program's; so does all else that the machine does"
	disturbed
	row "processor, with exchange" "$(against_plain two_hosts.$program.cpu exchange)" % "<= 1"
	why "the exchange wakes a thread, and where no core is free it takes the program's; so does all else that the machine does"
	disturbed
	row "time, without exchange" "$(against_plain two_hosts.$program.wall silent)" % "<= 1"
	why "the exchange wakes a thread, and where no core is free it takes the program's; so does all else that the machine does"
	disturbed
	row "processor, without exchange" "$(against_plain two_hosts.$program.cpu silent)" % "<= 1"
	why "the exchange wakes a thread, and where no core is free it takes the program's; so does all else that the machine does"
	disturbed
done

# ---- start and finish ------------------------------------------------------------------------------------

# Milliseconds of time and of processor of each of so many runs.
each_ms() { # runs command...
	local TIMEFORMAT='%R %U %S' n=$1
	shift
	{ time (cd "$here" && for _ in $(seq $n); do "$@" >/dev/null; done); } 2>&1 |
		awk -v n=$n '{ print $1 * 1e3 / n, ($2 + $3) * 1e3 / n }'
	rm -rf "$here"/dprof-*
}

each_start() { # round: -> $here/start.THREADS.wall and .cpu: round way ms
	local threads way wall cpu
	for threads in 0 100; do
		for way in plain on; do
			read -r wall cpu <<<"$(each_ms 20 "$B/bench/start${mark[$way]}" $threads)"
			echo "$1 $way $wall" >>"$here/start.$threads.wall"
			echo "$1 $way $cpu" >>"$here/start.$threads.cpu"
		done
	done
}
declare -A mark=([plain]=-plain [on]=)

more_ms() { paired difference on plain <"$here/start.$1"; }

for round in $(seq "$rounds"); do
	progress "start and finish, round $round of $rounds"
	each_start $round
done
table "Start and finish of a program that is in one region in each thread" "What is added to the same program without dprof; \
$rounds rounds of 20 runs."
for what in wall cpu; do
	name=$([ $what = wall ] && echo time || echo processor)
	row "a process, $name" "$(more_ms 0.$what | estimate)" ms
	row "a thread, $name" "$(paste <(more_ms 100.$what) <(more_ms 0.$what) | awk '{ print ($1 - $2) / 100 }' | estimate)" ms
done

#!/bin/bash
# SPDX-License-Identifier: MIT
#
# `mpirun -n K dprof-analyze` changes no byte of an answer: not with several jobs each, not of a damaged trace, not where the
# files lie on several disks (--local) or are seen twice. Only one process speaks, and none waits for ever.
. testsuite/fixtures/analysis/setup.sh
. "$OLDPWD/testsuite/fixtures/analysis/answers.sh"

mpis=
for each in openmpi mpich; do
	[ -e "$B/lib/dprof/driver-$each.so" ] && command -v "mpirun.$each" >/dev/null && mpis+=" $each"
done
[ -n "$mpis" ] || fail "no MPI is here"
first=${mpis# } first=${first%% *} mpi=$first
next_mpi() { # in turns
	case $mpis in *" $mpi "*) mpi=${mpis#*" $mpi "} mpi=${mpi%% *} ;; *) mpi=$first ;; esac
}

# What a command says, its status, and its own lines on stderr: mpirun adds its own to those.
said() { # command...
	job said.err timeout -k 5 120 "$@" >said.out
	echo "status $?" | cat - said.out
	grep -a '^dprof-analyze: ' said.err
}

run() { # processes words...
	local n=$1
	shift
	# shellcheck disable=SC2046
	said $(mpirun_of "$mpi") -n "$n" "$analyze" "$@"
}

# Each in a folder of its own.
run_in() { # folders -- words...
	local folder words=() each=
	for folder; do
		shift
		[ "$folder" = -- ] && break
		words+=($each -n 1 -wdir "$tmp/$folder" "$analyze" WORDS)
		each=:
	done
	local all=() word
	for word in "${words[@]}"; do
		if [ "$word" = WORDS ]; then all+=("$@"); else all+=("$word"); fi
	done
	# shellcheck disable=SC2046
	said $(mpirun_of "$mpi") "${all[@]}"
}

same() { # what
	cmp -s out truth || fail "$*: $(diff truth out | head -20; echo "mpirun says:"; grep -av '^dprof-analyze: ' said.err | head -20)"
}

# ---- One disk for all -------------------------------------------------------------------------

# Numbers of processes and of jobs take turns: each command meets both, or many.
turn=0 commands=(check dump "report --json")
for kind in $kinds; do
	case $kind in
	many* | long-damaged) asked=("${commands[@]}") ;;
	*) asked=("${commands[turn % 3]}") ;; # what is small or whole is nothing new to the others
	esac
	for words in "${asked[@]}"; do
		n=$((2 + turn % 2)) jobs=$((1 + turn * 5 % 9))
		said "$analyze" $words --jobs 1 $kind >truth
		run $n $words --jobs $jobs $kind >out
		same "$kind: $words in $n processes with $jobs jobs"
		turn=$((turn + 1))
	done
done

# What mpirun shows as a terminal is none.
for n in 1 2; do
	said "$analyze" report --jobs 1 many >truth
	run $n report many >out
	same "report for people in $n processes"
done

while read -r -a words; do
	said "$analyze" "${words[@]}" --jobs 1 many-damaged >truth
	jobs=$((1 + turn * 5 % 9))
	run 3 "${words[@]}" --jobs $jobs many-damaged >out
	same "${words[*]} in 3 processes with $jobs jobs"
	turn=$((turn + 1))
done <<-END
	csp --json
	coz --json --region work
	efficiency --json
	profile --json
	diagnose --json
	clocks
	dump --bounds
END
said "$analyze" query many "count(waiting) >= 1" >truth
for n in 1 2 5; do
	next_mpi
	run $n query many "count(waiting) >= 1" >out
	same "$mpi: query in $n processes"
done

# ---- What only one says -----------------------------------------------------------------------

for words in "csp" "csp nothing-there" "csp --jobs 0 many" "csp --bogus many" "--version" "csp --base nowhere many"; do
	said "$analyze" $words >truth
	next_mpi
	run 3 $words >out
	same "$mpi: dprof-analyze $words in 3 processes"
done
run 3 --help >out
[ "$(grep -c '^Usage: ' out)" -eq 1 ] || fail "--help in 3 processes: $(cat out)"
run 2 pack "$fixtures/job.txt" packed-by-two >out
says out "status 0"
diff -r job packed-by-two || fail "pack makes another trace in two processes"
run 2 csp --jobs 10000 many >out
said "$analyze" csp many >truth
same "--jobs 10000"

# Without libraries of MPI one process does it all, and says why.
mkdir -p alone/bin
cp "$analyze" alone/bin/
with=$analyze analyze=$tmp/alone/bin/dprof-analyze
run 3 csp --json many >out
analyze=$with
[ "$(grep -c 'mpirun has started several processes, but this one works alone: ' out)" -eq 1 ] ||
	fail "without libraries of MPI one process should say so: $(cat out)"
said "$analyze" csp --json many >truth
sed -i '/works alone/d' out
same "without libraries of MPI"

# A shell that was started as the only process of a job.
PMIX_RANK=0 SLURM_STEP_NUM_TASKS=1 said alone/bin/dprof-analyze csp --json many >out
same "the only process of a job"
PMIX_RANK=0 said alone/bin/dprof-analyze csp --json many >out
says out "works alone"
PMI_RANK=1 PMI_SIZE=2 said alone/bin/dprof-analyze csp --json many >out
[ "$(cat out)" = "status 0" ] || fail "without libraries of MPI the second process speaks: $(cat out)"

# Few descriptors: each reads with what is left.
said "$analyze" csp --json many >truth
# shellcheck disable=SC2046,SC2016
said $(mpirun_of "$first") -n 2 sh -c 'ulimit -n 64 && exec "$@"' - "$analyze" csp --json --jobs 7 many >out
same "with 64 descriptors"

"$B/test/synthesize" --hosts 4 --messages 60000 --work 20 | trace big
# A rank that has no room for what it decodes says which one it is.
# shellcheck disable=SC2046,SC2016
said $(mpirun_of "$first") -n 2 sh -c '[ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" = 0 ] || export TMPDIR=/nowhere; exec "$@"' \
	- "$analyze" csp --json --jobs 1 big >out
grep -q '^dprof-analyze: rank 1 on .*: no temporary file has room' out ||
	fail "rank 1 has no room, and does not say so: $(head -c 300 out)"
sed -i '/^dprof-analyze: rank 1 on .*: no temporary file/d' out
said "$analyze" csp --json big >truth
same "a rank without room for a temporary file"

# A rank that is killed takes the job along.
# shellcheck disable=SC2046,SC2016
said $(mpirun_of "$first") -n 3 sh -c '[ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" != 1 ] || kill -9 $$; exec "$@"' \
	- "$analyze" csp --json --jobs 1 big >out
grep -q '^status 0$\|^status 124$' out && fail "a rank is killed, and: $(head -c 300 out)"
grep -q span_s out && fail "a rank is killed, and there is an answer"

# ---- Each its own disk ------------------------------------------------------------------------

# The files of host 0 in one folder, those of host 1 in another, the rest in the third; each has its own file of sites.
for kind in many many-damaged; do
	mkdir -p {a,b,c,none}/$kind
	cp $kind/*.sites a/$kind
	cp $kind/*.sites b/$kind
	cp $kind/*.sites c/$kind
	cp $kind/h0* a/$kind
	cp $kind/h1* b/$kind
	cp $kind/h2* c/$kind
	[ "$(ls {a,b,c}/$kind | sort -u | grep -c '^[h0-9]')" -eq "$(ls $kind | wc -l)" ] || fail "$kind is not in three parts"
	for words in check dump "report --json"; do
		said "$analyze" $words $kind >truth
		next_mpi
		run_in a b c -- $words --local --jobs 2 $kind >out
		same "$mpi: $words --local of $kind"
	done
done
said "$analyze" report --json many >truth
run_in b a c -- report --json --local many >out
same "--local with the folders in another order"

# A process that has nothing, two that see the same files, one that is given all.
run_in none a c b -- report --json --local many >out
sed -i '/^dprof-analyze: rank 0 on .* has no file of the trace/d' out
same "--local, and rank 0 has nothing"
says said.err "has no file of the trace: many: expected a trace"
run_in a a b c c -- report --json --local many >out
same "--local, and two see the same files"
run 3 report --json --local many >out
same "--local, and all see all"
run 3 report --json --local nothing-there >out
says out "status 1"
[ "$(grep -c 'nothing-there: expected a trace directory' out)" -ge 1 ] || fail "--local without a trace: $(cat out)"

# Parts without --local: only those of rank 0 are read, and there is a hint.
said "$analyze" check a/many >truth
run_in a b -- check many >out
says out "rank 1 on"
says out "with --local, each rank reads what is on its own disk"
grep -q 'expected the files of 5 ranks' out || fail "rank 0's part alone is whole: $(cat out)"

# Two files of one name, of different lengths.
mkdir d
cp -r b/many d
file=$(cd many && ls h0*.events | head -1)
head -c 5000 many/"$file" >d/many/"$file"
run_in a d c -- report --json --local many >out
says out "status 1"
says out "$file: expected one file of this name, found another on rank 1"

# ---- Whoever cannot read its part -------------------------------------------------------------

run_in . none -- report --json many >out
sed -i '/^dprof-analyze: rank 1 on .* reads nothing, others do/d' out
said "$analyze" report --json many >truth
same "a process without the trace"
cp -r many none/other
mkdir e
cp -rp many e
truncate -s +8 e/many/"$file"
run_in . e -- report --json many >out
says out "it cannot read $file, or another one of that name"
sed -i '/^dprof-analyze: rank 1 on .* others read what it cannot/d' out
same "a process that sees another file"

# ---- Files that change meanwhile --------------------------------------------------------------

cp -r many changing
(
	while :; do
		for f in changing/*; do
			truncate -s -96 "$f"
			cp many-damaged/"${f#*/}" "$f"
			cp many/"${f#*/}" "$f"
		done
	done 2>/dev/null
) &
changer=$!
trap 'kill $changer; rm -rf "$dir"' EXIT
for _ in 1 2 3 4; do
	run 3 report --json changing >out
	grep -q '^status [01]$' out || fail "files that change: $(cat out said.err)"
done
kill $changer
wait $changer 2>/dev/null
trap 'rm -rf "$dir"' EXIT

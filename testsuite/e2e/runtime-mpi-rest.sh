#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Windows, files, copies that are only begun, other jobs and what only MPI 4 has: each is recorded as what it
# is, nothing is claimed that MPI does not promise, and no message is without its other side.
. testsuite/lib.sh
about() { echo "$mpi: "; }
export PKG_CONFIG_PATH=$B/lib/pkgconfig
from=$PWD/testsuite/fixtures/runtime/rest.c
cd "$dir" || exit 1

job() { # arguments
	rm -rf dprof-*
	# shellcheck disable=SC2086
	timeout 60 $run -n 2 ./program "$@" >out 2>&1 || fail "$*: exit status $?: $(head -5 out)"
	"$analyze" check dprof-* >out 2>&1 || fail "$*: check: $(cat out)"
	"$analyze" coz --json dprof-* >said 2>diagnostics
	"$analyze" dump dprof-* >text
}

# How often `thread` enters `name` with arguments that match.
entered() { # thread name pattern
	awk -v thread="$1" -v name="name=$2" -v pattern="$3" '
		$1 == "site" { is[$2] = $4 == name }
		$1 == "e" && $2 == thread && is[$4] && $5 == "enter" && $0 ~ pattern { n++ }
		END { print n + 0 }' text
}

fences() {
	local t
	for t in 0 1; do # of the first window: the first one, and two that assert something, do not say so
		[ "$(entered $t MPI_Win_fence 'group=[0-9]+ seq=[0-9]+$')" = $((2 + t)) ] ||
			fail "rank $t: $(entered $t MPI_Win_fence 'seq=[0-9]+$') fences are for all"
		[ "$(entered $t MPI_Win_fence role=2)" = $((5 - t)) ] ||
			fail "rank $t: $(entered $t MPI_Win_fence role=2) fences are for unknown peers"
	done
}

# A lock is the same for all of a host, and is given back; each wait says at which rank, or at all, something is to be complete, and
# where somebody counts, unless it only reads.
locks() {
	local t all=72057594037927935
	for t in 0 1; do
		awk -v thread=$t '$1 == "site" { name[$2] = substr($4, 6); gsub(/%20/, "_", name[$2]) }
			$1 == "e" && $2 == thread && (/ enter .*peer=72057594037927934/ || / point / && name[$4] ~ /MPI_Win/) {
				sub(/ peer=72057594037927934/, "")
				$1 = $2 = $3 = ""
				$4 = name[$4]
				print }' text | tr -s ' ' | sed 's/^ //' >waits.$t
		sed 's/\(id\|object\|offset\)=[0-9]*/\1/g' waits.$t | diff - <(printf '%s\n' \
			"MPI_Win_lock enter id role=0 tag=$((1 - t)) object" "MPI_Wait enter" \
			"MPI_Win_flush enter tag=$((1 - t))" "MPI_Win_is_unlocked point id object" \
			"MPI_Win_unlock enter tag=$((1 - t))" "MPI_Win_lock_all enter tag=$all" \
			"MPI_Win_unlock_all enter tag=$all" "MPI_Win_lock_all enter tag=$all" \
			"MPI_Win_counts point offset" "MPI_Win_flush enter tag=$((1 - t))" \
			"MPI_Win_unlock_all enter tag=$all") ||
			fail "rank $t: waits at windows"
		[ "$(grep -o 'object=.*' waits.$t | sort -u | wc -l)" = 1 ] || fail "another lock is given back"
	done
}

# What need not wait is recorded if it took long, as a wait for whoever is at that rank; what it counts is said before it.
one_sided() {
	local t name
	for t in 0 1; do
		for name in Put Get Accumulate Get_accumulate Fetch_and_op Compare_and_swap Rput Rget Raccumulate Rget_accumulate; do
			[ "$(entered $t MPI_$name " tag=$((1 - t)) peer=72057594037927934\$")" = 1 ] || fail "rank $t: MPI_$name"
		done
		[ "$(awk -v thread=$t '$1 == "site" { counts[$2] = $4 == "name=MPI_Win%20counts" }
			$1 == "e" && $2 == thread && counts[$4] { n++ } END { print n + 0 }' text)" = 4 ] || fail "rank $t: who counts"
	done
}

# What ranks do together to a file is of all of them and its next operation, whoever fails; for whom one waits is unknown.
together() {
	local t
	for t in 0 1; do
		awk -v thread=$t '$1 == "site" && $4 ~ /^name=MPI_File_/ { name[$2] = substr($4, 10) }
			$1 == "e" && $2 == thread && $5 == "enter" && $4 in name {
				sub(/ id=[0-9]+/, " begun")
				print name[$4], $6, $7, $8, $9 }' text >file.$t
	done
	diff file.0 file.1 || fail "two ranks do not say the same of a file"
	awk '$2 == group { seq++ } $2 != group { group = $2; seq = $1 ~ /open/ ? substr($3, 5) : 0 }
	     $2 !~ /^group=[0-9]+$/ || $3 != "seq=" seq || $4 != "role=2" || $5 != (/iread/ ? "begun" : NR == 1 ? "peer=72057594037927935" : "")
	     END { if (NR != 10) print NR " operations" }' file.0 >wrong
	[ ! -s wrong ] || fail "of a file: $(cat wrong)"
}

for mpi in openmpi mpich; do
	command -v mpicc.$mpi >/dev/null && [ -e "$B/lib/libdprof-$mpi.so" ] || continue
	tested=1
	run=$(mpirun_of "$mpi")
	for plugin in "$(pkg-config --cflags dprof-$mpi)" ""; do
		# shellcheck disable=SC2046,SC2086
		mpicc.$mpi -O2 -w $plugin "$from" -o program $(pkg-config --libs dprof-$mpi) || { fail "cannot compile"; continue; }
		job
		[ ! -s diagnostics ] || fail "coz: $(cat diagnostics)"
		fences
		large=0
		[ $mpi = openmpi ] || large=10 # of MPI 4
		sends=$(awk '$1 == "site" { kind[$2] = $3 }
			$1 == "e" && kind[$4] == "kind=send" && / enter .*group=.* peer=.* tag=/ { n++ } END { print n + 0 }' text)
		[ "$sends" = $((2 * (3 + large))) ] || fail "$sends sends of $((2 * (3 + large)))"
		for process in dprof-*/*.process; do
			[ -z "$(awk '$1 == "group" { print $2 }' "$process" | sort | uniq -d)" ] ||
				fail "one number for two: $(grep '^group' "$process")"
		done
		# the two pairs that send in parts with one tag are told apart, by both sides alike
		awk '$1 == "site" { part[$2] = $4 ~ /MPI_P(send|recv)_init/ }
		     $1 == "e" && part[$4] && / enter / && match($0, / tag=[0-9]+/) { n[substr($0, RSTART, RLENGTH)]++ }
		     END { for (t in n) print n[t] }' text >pairs
		[ $mpi = openmpi ] || [ "$(tr '\n' ' ' <pairs)" = "8 8 " ] || fail "messages in parts by their tags: $(cat pairs)"
		DPROF_BLOCKED_NS=0 job one-sided
		one_sided
		DPROF_BLOCKED_NS=1000000000 job file data
		locks
		together
		# of the other kind of epochs each rank tells the next one that it may begin, and the one before that it is over
		awk '$1 == "site" && match($0, /name=MPI_Win%20[^ ]*/) { name[$2] = substr($0, RSTART + 15, RLENGTH - 15) }
		     $1 == "e" && $5 == "enter" && $4 in name && match($0, /peer=[0-9]+/) {
			print name[$4] ($2 != substr($0, RSTART + 5, RLENGTH - 5) ? "" : " itself") (/ bytes=0/ ? " nothing" : "") }' \
			text | sort | uniq -c | tr -s ' \n' ' ' >told
		[ "$(cat told)" = " 2 completes 2 is%20completed 2 is%20posted nothing 2 posts nothing " ] || fail "epochs: $(cat told)"
		[ ! -s diagnostics ] || fail "coz: $(cat diagnostics)"
		grep -q 'For whom one waits at .*MPI_Win_.* and [0-9]* more is not known' said || fail "coz: $(cat said)"
	done
done

mpi=openmpi # MPICH 4.0 of Debian cannot spawn
if command -v mpicc.openmpi >/dev/null && [ -e "$B/lib/libdprof-openmpi.so" ]; then
	# shellcheck disable=SC2046
	mpicc.openmpi -w "$from" -o program $(pkg-config --libs dprof-openmpi)
	rm -rf dprof-*
	# shellcheck disable=SC2046
	timeout 60 $(mpirun_of openmpi) -n 2 ./program spawn >out 2>&1 ||
		fail "MPI_Comm_spawn: exit status $?: $(head -5 out)"
	[ "$(echo dprof-* | wc -w)" = 2 ] || fail "expected a trace of each job, found $(echo dprof-*)"
	for trace in dprof-*; do
		"$analyze" check "$trace" >out 2>&1 || fail "check: $(cat out)"
		"$analyze" dump "$trace" >text
		for ((t = 0; t < $(grep -c '^process' text); t++)); do
			[ "$(entered $t MPI_Barrier ' enter role=2$')" = 1 ] ||
				fail "rank $t: the barrier with another job is not for unknown ranks: $(grep '^e' text)"
		done
		"$analyze" coz "$trace" | tr -s ' \n' ' ' | grep -q 'note: processes of another job may take part' ||
			fail "coz: no note of the other job"
	done
fi
[ -n "${tested:-}" ] || { echo "no MPI here"; exit 77; }
[ "$failed" = 0 ] && echo "as expected"
exit "$failed"

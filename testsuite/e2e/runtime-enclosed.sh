#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Every stamp of an operation lies between two readings of the counter that the program took around it, wherever the
# plugin has seen the call or not. A lock is held after it was released, and a message is there after it was sent: by
# these stamps, too.
. testsuite/lib.sh
export PKG_CONFIG_PATH=$B/lib/pkgconfig DPROF_DIR=$dir DPROF_BLOCKED_NS=0
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
[ -e "$B/lib/pkgconfig/dprof-openmpi.pc" ] || { echo "there is no adapter for OpenMPI"; exit 77; }
cc=$(command -v mpicc.openmpi || echo mpicc)

# Notes in the order in which each thread made them, then the trace as text.
judge() {
	awk '
	function bad(what) { print what; wrong = 1; exit 1 }
	function inside(stamp) {
		if (stamp + 0 < before[at] + 0 || stamp + 0 > after[at] + 0)
			bad(name[$4] " of " who[$2] ": " stamp " is not in " before[at] " .. " after[at])
	}
	FILENAME != "text" {
		n = split(FILENAME, path, "/")
		at = path[n] SUBSEP $1 SUBSEP (++noted[path[n], $1])
		before[at] = $2; after[at] = $3; number[at] = $4
		next
	}
	$1 == "site" { sub(/^name=/, "", $4); name[$2] = $4 }
	$1 == "thread" { sub(/^rank=/, "", $4); sub(/^number=/, "", $6); who[$2] = $4 "-" ($6 + 0 ? others[$4]++ + 1 : 0) }
	$1 != "e" { next }
	$5 == "enter" || name[$4] == "pthread_mutex_unlock" { # the next of that name
		key = who[$2] SUBSEP name[$4]
		if (!(key in noted)) { current[$2] = ""; next }
		at = current[$2] = key SUBSEP (++seen[key])
		if (seen[key] > noted[key]) bad(name[$4] " of " who[$2] " is there too often")
		inside($3)
		rank = substr(who[$2], 1, 1)
		if (name[$4] == "MPI_Isend") sent[rank, number[at]] = $3
		if (name[$4] == "pthread_mutex_unlock") released[rank, number[at]] = $3
	}
	$5 != "enter" && current[$2] != "" && (name[$4] == "sent" || name[$4] == "received" || $5 == "exit") {
		at = current[$2]
		inside($3)
		rank = substr(who[$2], 1, 1)
		if (name[$4] == "received") received[rank, number[at]] = $3
		if (name[$4] == "pthread_mutex_lock") held[rank, number[at]] = $3
		if ($5 == "exit") current[$2] = ""
	}
	END {
		if (wrong) exit 1
		for (key in noted)
			if (seen[key] != noted[key]) bad(key ": " seen[key] + 0 " of " noted[key])
		for (key in received) {
			split(key, k, SUBSEP); messages++
			if (received[key] < sent[1 - k[1], k[2]]) bad("message " k[2] " is received by rank " k[1] " before it is sent")
		}
		for (key in held) {
			split(key, k, SUBSEP); turns++
			if (k[2] > 0 && held[key] < released[k[1], k[2] - 1])
				bad("turn " k[2] " of rank " k[1] " begins before the last one ends")
		}
		if (messages != 120 || turns != 16000) bad(messages " messages, " turns " turns")
		exit wrong
	}' notes/* text
}

cd "$dir" && mkdir notes || exit 1
for how in seen unseen; do
	# shellcheck disable=SC2046
	"$cc" -O2 $([ $how = unseen ] || pkg-config --cflags dprof-openmpi) -o enclosed "$OLDPWD/testsuite/fixtures/runtime/enclosed.c" \
		$(pkg-config --libs dprof-openmpi) || exit 1
	timeout 120 mpirun --oversubscribe --mca mpi_yield_when_idle 1 -n 2 ./enclosed "$dir/notes" || exit 1
	"$analyze" dump "$dir"/dprof-* >text
	grep -q 'kind=clock\|^clock 0' text && judge >said || fail "$how: $(cat said)"
	rm -rf "$dir"/dprof-*
done
exit $failed

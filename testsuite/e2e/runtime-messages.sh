#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Sends, receives and what completes them: each is recorded once, whether the plugin saw it or not; each
# message finds its two sides; coz and the clocks' links live on that. MPI=mpich: with that instead.
: "${MPI:=openmpi}"
command -v mpicc.$MPI >/dev/null && [ -e "$B/lib/libdprof-$MPI.so" ] || { echo "no $MPI here"; exit 77; }
. testsuite/lib.sh
run=$(mpirun_of "$MPI")
export PKG_CONFIG_PATH=$B/lib/pkgconfig

from=testsuite/fixtures/runtime/messages.c
# shellcheck disable=SC2046
mpicc.$MPI -O2 -w $(pkg-config --cflags dprof-$MPI) "$from" -o "$dir/seen" $(pkg-config --libs dprof-$MPI) || fail "cannot compile"
# shellcheck disable=SC2046
mpicc.$MPI -O2 -w "$from" -o "$dir/unseen" $(pkg-config --libs dprof-$MPI) || fail "cannot compile without the plugin"
moves=$(grep -o 'moves: [0-9A-Z]*' "$from" | awk '$2 == "MANY" { $2 = 40 } { sum += $2 } END { print sum }')
cat >"$dir/as-host" <<'END2'
#!/bin/sh
export DPROF_HOST=h${OMPI_COMM_WORLD_RANK:-$PMI_RANK}
exec "$@"
END2
chmod +x "$dir/as-host"
cd "$dir" || exit 1

on_ranks() { # n command...
	local n=$1
	shift
	rm -rf dprof-*
	# shellcheck disable=SC2086
	timeout 60 $run -n "$n" "$@" >out 2>&1 ||
		fail "$n ranks, $*: exit status $?"
	[ ! -s out ] || fail "$n ranks, $*: printed $(head -5 out)"
	"$analyze" dump dprof-* >text || fail "dump: exit status $?"
}

# Counts, from the text form: sends and receives of a peer; those with an id and their "done".
count() {
	awk '$1 == "site" { kind[$2] = substr($3, 6) }
	     $1 != "e" || kind[$4] !~ /^(send|recv)$/ { next }
	     { id = "" }
	     match($0, / id=[0-9]+/) { id = $2 " " substr($0, RSTART, RLENGTH) }
	     $5 == "enter" && !/ peer=72057594037927935/ {
		n[kind[$4]]++
		if (!/ group=/) print "no group: " $0
		if (kind[$4] == "send" && !/ peer=.* tag=.* bytes=/) print "says too little: " $0
		if (id && id in begun) print "begun twice: " $0
		if (id) begun[id] = 1
	     }
	     $5 == "point" && id {
		if (!(id in begun)) print "not begun: " $0
		if (id in done) print "done twice: " $0
		done[id] = 1
	     }
	     END {
		for (id in begun) forgotten += !(id in done)
		print n["send"] + 0, n["recv"] + 0, forgotten + 0
	     }' text
}

for program in seen unseen; do
	for ranks in 2 4; do
		on_ranks $ranks ./$program
		"$analyze" check dprof-* >checked || fail "$program on $ranks: $(cat checked)"
		# one receive of each rank is cancelled, one send's request is freed
		count >counts
		[ "$(cat counts)" = "$((ranks * moves)) $((ranks * (moves + 1))) $ranks" ] ||
			fail "$program on $ranks: sends, receives and forgotten are $(cat counts)"
		awk '$1 == "site" && /name=MPI_Probe / { probe[$2] } $4 in probe && / enter id=0$/ { n++ } END { exit n != '$ranks' }' text ||
			fail "$program on $ranks: a look for a message of MPI_PROC_NULL finds one"
		# what comes is less than there is room for, and that is said
		room=$(awk '$1 == "e" && room[$2] && $5 == "point" && / bytes=4$/ { n++ } { room[$2] = / enter .* tag=1 bytes=[0-9][0-9]/ }
			END { print n + 0 }' text)
		[ "$room" = "$ranks" ] || fail "$program on $ranks: found $room receives with room that say how much came"
		# what completes an MPI_Imrecv has not tried in vain; and one MPI_Wait is for what MPI_Waitany has left
		for says in "peer=72057594037927934 role=0" "role=1"; do
			waits=$(awk '/^site .* name=MPI_Wait / { is[$2] } $1 == "e" && $4 in is && / enter '"$says"'$/' text | wc -l)
			[ "$waits" = "$ranks" ] || fail "$program on $ranks: found $waits MPI_Wait that say $says"
		done
		"$analyze" coz dprof-* >out 2>err
		# taking its buffer back does not say for whom it waited
		[ ! -s err ] || fail "$program on $ranks: coz: $(cat err)"
		tr '\n' ' ' <out | grep -q "For whom one waits at MPI_Buffer_detach.* is not known" || fail "$program on $ranks: coz: $(cat out)"
	done
done

# Each rank a host: every message is a link, and tightens what packets alone say.
on_ranks 4 ./as-host ./seen
"$analyze" clocks --links all dprof-* >clocks 2>&1 || fail "clocks: exit status $?: $(cat clocks)"
[ "$(grep -c '  proven  ' clocks)" = 3 ] || fail "three clocks should be proven: $(cat clocks)"
grep -q "[1-9][0-9]* by the program" clocks || fail "no links by the program: $(cat clocks)"

# A rank that gives up says so, and all that was recorded is there.
rm -rf dprof-*
# shellcheck disable=SC2086
timeout 60 $run -n 2 ./seen abort >out 2>&1 && fail "MPI_Abort: exit status 0"
grep -q '^note rank%201%20called%20MPI_Abort%20with%20code%203$' dprof-*/*-1.process || fail "no note of MPI_Abort"
"$analyze" dump dprof-* >text 2>err # exit status 1: two processes have not finished
[ "$(grep -c '^e .* enter .*group=1 peer=' text)" -ge 10 ] || fail "records are missing after MPI_Abort"

[ "$failed" = 0 ] && echo "as expected"
exit "$failed"

#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The MPI adapter: all ranks of a communicator give an operation the same group and number,
# whether the plugin saw the call or not; hosts get clocks, and are measured when there are
# several.
command -v mpicc >/dev/null && [ -e "$B/lib/libdprof-openmpi.so" ] || { echo "no MPI here"; exit 77; }
. testsuite/lib.sh
export PKG_CONFIG_PATH=$B/lib/pkgconfig

on_ranks() { # n command...
	local n=$1
	shift
	timeout 60 mpirun --allow-run-as-root --oversubscribe --mca mpi_yield_when_idle 1 -n "$n" "$@" >out 2>err ||
		fail "$n ranks, $*: exit status $?: $(head -3 err)"
	[ ! -s out ] || fail "$n ranks, $*: printed $(head -3 out)"
}

from=testsuite/fixtures/runtime/collectives.c
# shellcheck disable=SC2046
mpicc -O2 $(pkg-config --cflags dprof) "$from" -o "$dir/seen" $(pkg-config --libs dprof) || fail "cannot compile"
# shellcheck disable=SC2046
mpicc -O2 "$from" -o "$dir/unseen" $(pkg-config --libs dprof) || fail "cannot compile without the plugin"
cat >"$dir/as-host" <<'END'
#!/bin/sh
export DPROF_HOST=h$((OMPI_COMM_WORLD_RANK / 2))
exec "$@"
END
chmod +x "$dir/as-host"
cd "$dir" || exit 1

# thread group seq name, one line for each operation that is no message; from the text form, whose sites are numbered.
operations() { # directory
	"$analyze" dump "$1" >text || fail "dump $1: exit status $?"
	awk '$1 == "site" { for (i = 3; i <= NF; i++) if (sub(/^name=/, "", $i)) name[$2] = $i }
	     $1 == "e" && $5 == "enter" && !/ peer=/ {
		group = seq = "-"
		for (i = 6; i <= NF; i++) {
			if ($i ~ /^group=/) group = substr($i, 7)
			if ($i ~ /^seq=/) seq = substr($i, 5)
		}
		print $2, group, seq, name[$4]
	     }' text
}

# The law: a group and number stand for one operation, which every member takes part in once.
consistent() { # operations; needs `text` for the groups
	awk 'NR == FNR { if ($1 == "group") { sub(/^threads=/, "", $3); members[$2] = $3 } next }
	     $2 == "-" { next }
	     { key = $2 " " $3 }
	     key in name && name[key] != $4 { print "group " key " is " name[key] " and " $4 }
	     { name[key] = $4; who[key] = who[key] "," $1 }
	     END {
		for (key in who) {
			split(key, k, " ")
			n = split(members[k[1]], m, ",")
			if (split(substr(who[key], 2), w, ",") != n) print "group " key ": " n " members, came: " who[key]
			delete there
			for (i in w) there[w[i]] = 1
			for (i = 1; i <= n; i++) if (!(m[i] in there)) print "group " key ": thread " m[i] " is missing"
		}
	     }' text "$1"
}

for program in seen unseen; do
	for ranks in 2 4; do
		rm -rf dprof-*
		on_ranks $ranks ./$program
		[ "$(ls -d dprof-* | wc -l)" = 1 ] || fail "$program: expected one directory, found $(ls -d dprof-*)"
		operations dprof-* >ops
		consistent ops >wrong
		[ ! -s wrong ] || fail "$program on $ranks: $(cat wrong)"
		# 17 operations on the world, again only begun, 4 that make others, MPI_Finalize; there: again twice, reversed, halves,
		# self, one copy, the making of two groups and two between them
		for t in $(seq 0 $((ranks - 1))); do
			[ "$(grep -c "^$t 1 " ops)" = 39 ] || fail "$program on $ranks: thread $t: $(grep -c "^$t 1 " ops) of 39 on the world"
			created=$((t == 0 || t == ranks - 1))
			grep "^$t [0-9]" ops | grep -v "^$t 1 " >others
			[ "$(wc -l <others)" = $((9 + created)) ] || fail "$program on $ranks: thread $t: $(cat others)"
			# 5 that wait, and 5 that are begun, send to each side, and receive from there
			sides=$(((t > 0) + (t < ranks - 1)))
			awk -v t="$t" '$1 == "site" { name[$2] = $4 " " $5 }
				$1 == "e" && $2 == t && $5 == "enter" && name[$4] ~ /MPI_Neighbor/ && / peer=/ {
					match($0, /peer=[0-9]+/)
					away = substr($0, RSTART + 5, RLENGTH - 5) - t
					n[name[$4] ~ /sends/] += (away == 1 || away == -1) && / bytes=4( |$)/ }
				END { print n[0] + 0, n[1] + 0 }' text >n
			[ "$(cat n)" = "$((10 * sides)) $((10 * sides))" ] || fail "$program on $ranks: thread $t: neighbours: $(cat n)"
		done
		grep -q 'role=1 bytes=4' text || fail "$program on $ranks: no root that says its bytes"
		grep -hq '^rank 1 size '$ranks dprof-*/*-1.process || fail "no line 'rank'"
		grep -hq '^clockid 0' dprof-*/*-1.process || fail "one host must be clock 0"
		[ -z "$(ls dprof-*/*.sync 2>/dev/null)" ] || fail "one host was measured against itself"
		# each that only began, and that has a number, is completed once
		awk '$1 == "site" { kind[$2] = $3 }
		     $1 == "e" && kind[$4] ~ /=(coll|send|recv)$/ && match($0, / id=[0-9]+/) {
			id = $2 substr($0, RSTART, RLENGTH)
			if ($5 == "enter") begun[id]++
			if ($5 == "point") done[id]++
		     }
		     END { for (id in begun) n += begun[id] == 1 && done[id] == 1; print n, length(done) }' text >n
		all=$((17 * ranks + 10 * 2 * 2 * (ranks - 1)))
		[ "$(cat n)" = "$all $all" ] || fail "$program on $ranks: begun and completed: $(cat n)"
		"$analyze" check dprof-* >out || fail "$program on $ranks: check: $(cat out)"
		"$analyze" coz dprof-* >/dev/null 2>err
		[ ! -s err ] || fail "$program on $ranks: coz: $(cat err)"
		# a group made of two says that the wait dependencies are unknown
		[ "$(grep -c 'enter group=.* role=2' text)" = $((3 * ranks)) ] || fail "$program on $ranks: $(grep 'role=2' text)"
		# who saw it, recorded it: the adapter's own sites have no file (MPI_Finalize, tests and messages of
		# neighbours are its own)
		awk '$1 == "site" && / file= / { own[$2] = 1 }
		     $1 == "site" && / name=MPI_(Test|Finalize|Neighbor(%20| )(sends|receives)) / { its[$2] = 1 }
		     $1 == "e" && $5 == "enter" && !($4 in its) { if ($4 in own) unseen++; else seen++ }
		     END { print unseen + 0, seen + 0 }' text >who
		case $program in
		seen) grep -q '^0 ' who ;;
		unseen) grep -q ' 0$' who ;;
		esac || fail "$program on $ranks: recorded by adapter and plugin: $(cat who)"
	done
done

# Two hosts: hosts are numbered by lowest rank; the packets are kept; there are no complaints.
rm -rf dprof-*
on_ranks 4 ./as-host ./seen
for rank in 0 1 2 3; do
	grep -q "^clockid $((rank / 2))" dprof-*/h$((rank / 2))-$rank.process || fail "rank $rank has the wrong clock"
done
[ "$(ls dprof-*/*.sync)" = "$(echo dprof-*/h0.sync)" ] || fail "expected h0.sync, found $(ls dprof-*/*.sync)"
# But for what is true of any busy machine, and of one run in some hundreds: it depends on addresses.
grep -h '^note' dprof-*/*.process | grep -v -e '^note not%20all%20cores' -e '^note host%20[^ ]*%20answered%20only' \
	-e '^note host%20[^ ]*%20did%20not%20answer%20at%20the%20start' -e '^note two%20modules%20have%20sites%20at' &&
	fail "notes where all is well"
"$analyze" dump dprof-* >text
# Of start and end 20 each way, or a note says that there were fewer.
least=40
grep -q -e '^note host%20[^ ]*%20answered%20only' -e '^note host%20[^ ]*%20did%20not%20answer' dprof-*/*.process && least=1
[ "$(grep -c '^link 0 .* 1 ' text)" -ge $least ] && [ "$(grep -c '^link 1 .* 0 ' text)" -ge $least ] ||
	fail "expected $least packets each way, found $(grep -c '^link' text) links: $(grep -h '^note' dprof-*/*.process)"

# A host that cannot be reached is named, costs no more than its deadlines, and the rest goes on.
cat >unreachable <<'END'
#!/bin/sh
export DPROF_HOST=h$OMPI_COMM_WORLD_RANK
[ "$OMPI_COMM_WORLD_RANK" = 1 ] && export DPROF_SYNC_BIND=192.0.2.77
exec "$@"
END
chmod +x unreachable
rm -rf dprof-*
on_ranks 3 ./unreachable ./seen
grep -q '^note host%20h1%20did%20not%20answer' dprof-*/h0-0.process || fail "no note that h1 did not answer"
"$analyze" dump dprof-* >text
grep -q '^link 0 .* 2 ' text || fail "h2 was not measured because h1 did not answer"
grep -q '^link 0 .* 1 ' text && fail "h1 did not answer, and was measured"

# Ranks may differ in whether they record: what they do together, they do all the same.
cat >some-off <<'END'
#!/bin/sh
[ "$OMPI_COMM_WORLD_RANK" = 1 ] && export DPROF_OFF=1
exec "$@"
END
chmod +x some-off
rm -rf dprof-*
on_ranks 3 ./some-off ./seen
[ "$(ls dprof-*/*.process | wc -l)" = 2 ] || fail "one rank of three is off: $(ls dprof-*)"
rm -rf dprof-*
on_ranks 2 env DPROF_OFF=1 ./seen
[ -z "$(ls -d dprof-* 2>/dev/null)" ] || fail "DPROF_OFF leaves a trace"

[ "$failed" = 0 ] && echo "as expected"
exit "$failed"

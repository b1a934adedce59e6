#!/bin/bash
# SPDX-License-Identifier: MIT
#
# DPROF_GATHER=1: what hosts record on disks of their own comes to rank 0's folder in MPI_Finalize, whole, and as a copy by hand
# would be; recording ends there. Hosts that share a disk send nothing. What finds no room there is named, and the program
# notices nothing.
[ -e "$B/lib/libdprof-openmpi.so" ] || [ -e "$B/lib/libdprof-mpich.so" ] || { echo "no MPI here"; exit 77; }
. testsuite/lib.sh
root=$PWD
export PKG_CONFIG_PATH=$B/lib/pkgconfig DPROF_QUIET=1
at_once=1
cat >"$dir/as-host" <<'END'
#!/bin/sh
# One host for each two ranks; $disks: each has a disk of its own.
rank=${OMPI_COMM_WORLD_RANK:-$PMI_RANK}
export DPROF_HOST=h$((rank / 2)) DPROF_DIR=$PWD/disk0
[ -z "$disks" ] || DPROF_DIR=$PWD/disk$((rank / 2))
[ "$rank" != 0 ] || [ -z "$nowhere" ] || DPROF_DIR=/proc/nothing
exec "$@"
END
chmod +x "$dir/as-host"
cd "$dir" || exit 1

build() { # MPI
	# shellcheck disable=SC2046
	mpicc.$1 -O2 $(pkg-config --cflags dprof-$1) "$root/testsuite/fixtures/runtime/gathered.c" -o gathered.$1 \
		$(pkg-config --libs dprof-$1) -pthread || fail "$1: cannot be built"
}

job() { # ranks words...: into disk0, disk1, ...
	local n=$1
	shift
	rm -rf disk*
	mkdir disk0 disk1 disk2
	# shellcheck disable=SC2046
	timeout -k 5 300 $(mpirun_of $mpi) -n "$n" ./as-host ./gathered.$mpi "$@" >out 2>err ||
		fail "$mpi: $n ranks, $*: status $?: $(cat out err)"
	[ "$(grep -c '^rank' out)" -eq "$n" ] || fail "$mpi: not each rank came to its end: $(cat out err)"
	[ "$(sort -u -k3 out | awk '{ print $3 }' | sort -u | wc -l)" -eq 1 ] || fail "$mpi: the ranks counted differently: $(cat out)"
}

# How often a region was entered, in a trace.
visits() { # region directory...
	local name=$1
	shift
	"$analyze" dump "$@" 2>/dev/null | awk -v name="name=$1" -v region="name=$name" '
		$1 == "site" && index($0, " " region " ") { site[$2] = 1 }
		$1 == "e" && $4 in site && $5 == "enter" { n++ }
		END { print n + 0 }'
}

expect_whole() { # what
	"$analyze" check disk0/dprof-* >answer 2>&1 || fail "$*: $(cat answer; ls -l disk*/dprof-*)"
}

for mpi in openmpi mpich; do
	[ -e "$B/lib/libdprof-$mpi.so" ] && command -v mpirun.$mpi >/dev/null || continue
	build $mpi

	# ---- Three hosts, each with its disk
	disks=1 DPROF_GATHER=1 job 6 3000
	expect_whole "$mpi: three disks"
	[ "$(visits before disk0/dprof-*)" -eq 36000 ] || fail "$mpi: of 36000 visits $(visits before disk0/dprof-*) are here"
	[ "$(visits after disk0/dprof-*)" -eq 0 ] || fail "$mpi: recording goes on behind MPI_Finalize, in some"
	[ "$(visits meanwhile disk0/dprof-*)" -gt 0 ] || fail "$mpi: nothing of the threads that run on"
	"$analyze" report disk0/dprof-* 2>&1 | tr '\n' ' ' | grep -q "recording ended in *MPI_Finalize" ||
		fail "$mpi: the report does not say when recording ended: $("$analyze" report disk0/dprof-*)"
	mkdir -p hand
	rm -rf hand/*
	cp disk0/*/* hand
	cp --update=none disk[12]/*/* hand 2>/dev/null || cp -n disk[12]/*/* hand
	diff -r hand disk0/dprof-* || fail "$mpi: copied by hand it is something else"
	[ -z "$(find disk0 -name '.gather-*')" ] || fail "$mpi: something is left: $(ls -la disk0/*)"

	# ---- They share one: nothing is sent, and recording goes on
	DPROF_GATHER=1 job 4 1000
	expect_whole "$mpi: one disk"
	[ "$(visits after disk0/dprof-*)" -eq 8000 ] || fail "$mpi: one disk, and recording ended: $(visits after disk0/dprof-*)"
	[ -z "$(ls disk1 disk2 | grep -v :)" ] || fail "$mpi: another disk was used"

	# ---- Nobody asked
	disks=1 job 4 1000
	[ "$(ls disk0/*/*.process | wc -l)" -eq 2 ] || fail "$mpi: files came unasked"
done
mpi=openmpi
[ -e gathered.openmpi ] || mpi=mpich

# ---- Much, in small pieces; and children
disks=1 DPROF_GATHER=1 DPROF_BUFFER=256K job 4 60000 fork
expect_whole "packed chunks and children"
[ "$(visits before disk0/dprof-*)" -eq 720000 ] || fail "of 720000 visits $(visits before disk0/dprof-*) are here"
[ "$(ls disk0/*/h1-p*.process | wc -l)" -eq 2 ] || fail "children of another host are missing: $(ls disk0/*)"

# ---- Rank 0 may not write much: what is too long is named, and all else is here
disks=1 DPROF_GATHER=1 DPROF_BUFFER=256K job 4 250000 limit
"$analyze" check disk0/dprof-* >answer 2>&1 && fail "a limit of 200 K, and all is said to be here: $(cat answer; ls -l disk*/*)"
"$analyze" report disk0/dprof-* 2>&1 | tr '\n' ' ' | tr -s ' ' |
	grep -q 'DPROF_GATHER: h1-.* of rank [23] on h1 is not here: File too large' ||
	fail "what had no room is not named: $(cat answer; grep -h note disk0/*/h0-0.process)"
grep -q 'found no such file\|cut short\|expected' answer || fail "nothing is said to be missing: $(cat answer)"

# ---- Rank 0 has no folder
disks=1 nowhere=1 DPROF_GATHER=1 job 4 1000
grep -q 'rank%200%20has%20no%20folder' disk1/*/h1-2.process || fail "no folder, and nothing says so: $(cat disk1/*/h1-2.process)"
[ "$(visits after disk1/dprof-*)" -eq 4000 ] || fail "no folder, and recording ended all the same"

# ---- Hosts with a network and a folder each
if [ $mpi = openmpi ] && [ "$(id -u)" -eq 0 ] && "$root/testsuite/hosts.sh" run 2 -n 2 true 2>/dev/null; then
	rm -rf disk*
	mkdir -p disks/h0 disks/h1
	cat >by-name <<-'END'
		#!/bin/sh
		mount --bind "$PWD/disks/$(hostname)" /mnt || exit 1
		export DPROF_DIR=/mnt
		exec "$@"
	END
	chmod +x by-name
	DPROF_GATHER=1 timeout -k 5 300 "$root/testsuite/hosts.sh" run 2 -n 4 -x DPROF_GATHER -x DPROF_QUIET \
		unshare --mount ./by-name ./gathered.openmpi 2000 >out 2>err || fail "two networks: $(cat out err)"
	mv disks/h0 disk0
	expect_whole "two hosts with a network and a folder each"
	[ "$(visits before disk0/dprof-*)" -eq 16000 ] || fail "two networks: of 16000 visits $(visits before disk0/dprof-*) are here"
	"$analyze" clocks --json disk0/dprof-* | grep -q '"host": *"h1"' || fail "two networks: no clock of h1"
fi

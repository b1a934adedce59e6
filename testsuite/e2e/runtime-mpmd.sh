#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Jobs of several programs: those that are not linked with the adapter are neither waited for nor sent anything,
# and what the others do with each other is recorded as ever. And a job has one trace directory, however its
# processes were started; on several hosts, too.
. testsuite/lib.sh
about() { echo "$mpi: "; }
export PKG_CONFIG_PATH=$B/lib/pkgconfig
root=$PWD
cd "$dir" || exit 1

start() { # arguments of mpirun...
	rm -rf dprof-*
	# shellcheck disable=SC2086
	timeout 180 $run "$@" >out 2>&1 || fail "$*: exit status $?: $(head -5 out)"
	[ ! -s out ] || fail "$*: printed $(head -3 out)"
}

for mpi in openmpi mpich; do
	command -v mpicc.$mpi >/dev/null && [ -e "$B/lib/libdprof-$mpi.so" ] || continue
	tested=1
	run=$(mpirun_of "$mpi")
	from=$root/testsuite/fixtures/runtime/messages.c
	mpicc.$mpi -w "$from" -o plain || fail "cannot compile"
	# shellcheck disable=SC2046
	mpicc.$mpi -w "$from" -o linked $(pkg-config --libs dprof-$mpi) || fail "cannot link"

	start -n 4 ./linked
	[ "$(ls dprof-*/*.process | wc -l)" = 4 ] || fail "four ranks: $(ls dprof-*)"
	grep -h 'not%20linked' dprof-*/*.process && fail "all ranks are linked"

	# The lowest rank is not one of us, nor the highest, nor any but one, nor one in the middle.
	for job in "1 plain 2 linked 1 plain" "3 plain 1 linked 0 -" "1 linked 2 plain 1 linked"; do
		# shellcheck disable=SC2086
		set -- $job
		if [ "$5" = 0 ]; then start -n "$1" ./"$2" : -n "$3" ./"$4"; else
			start -n "$1" ./"$2" : -n "$3" ./"$4" : -n "$5" ./"$6"; fi
		linked=$(echo "$job" | awk '{ for (i = 2; i <= NF; i += 2) if ($i == "linked") n += $(i - 1); print n }')
		[ "$(ls dprof-*/*.process | wc -l)" = "$linked" ] || fail "$job: $(ls dprof-*)"
		grep -q "^note $((4 - linked))%20of%204%20ranks%20are%20not%20linked" dprof-*/*.process || fail "$job: no note"
		grep -q '^rank . size 4$' dprof-*/*.process || fail "$job: ranks are those of MPI_COMM_WORLD"
		"$analyze" csp dprof-* >out 2>err || [ $? = 1 ] || fail "$job: csp: $(cat err)"
		"$analyze" dump dprof-* >text 2>err
		grep -q '^group 1 .*size=4$' text || fail "$job: $(grep ^group text)"
	done

	# A shell of its own for each rank, a name of its own for each host.
	# shellcheck disable=SC2016
	start -n 4 sh -c 'DPROF_HOST=h${OMPI_COMM_WORLD_RANK:-$PMI_RANK} ./linked; exit $?'
	[ "$(echo dprof-*)" = "$(echo dprof-linked.*)" ] && [ "$(echo dprof-* | wc -w)" = 1 ] || fail "one job: $(echo dprof-*)"
	[ "$(ls dprof-*/*.process | wc -l)" = 4 ] || fail "four ranks: $(ls dprof-*)"
	# What two jobs record does not match.
	# shellcheck disable=SC2086
	timeout 180 $run -n 2 ./linked >out 2>&1
	[ "$(echo dprof-* | wc -w)" = 2 ] || fail "two jobs: $(echo dprof-*)"
done

# MPICH's starter on hosts of their own: a process on each, which share no memory but this file system.
mpi=mpich
if command -v mpicc.mpich >/dev/null && set=$("$root/testsuite/hosts.sh" up 2 2>why); then
	trap '"$root/testsuite/hosts.sh" down "$set"; rm -rf "$dir"' EXIT
	cat >agent <<-END
		#!/bin/bash
		while [ "\${1#-}" != "\$1" ]; do shift; done
		exec "$root/testsuite/hosts.sh" agent "$set" "\$@"
	END
	chmod +x agent
	run="$root/testsuite/hosts.sh exec $set 0 mpirun.mpich -launcher ssh -launcher-exec $dir/agent -iface switch -hosts 10.77.0.1,10.77.0.2"
	export UCX_TLS=tcp,self
	# shellcheck disable=SC2046
	mpicc.mpich -w "$root/testsuite/fixtures/runtime/sleeper.c" -o sleeper $(pkg-config --libs dprof-mpich)
	rm -rf dprof-*
	# MPI_Finalize of Debian's MPICH does not always return there, with dprof or without: it is ended when all have come to it.
	# shellcheck disable=SC2086
	timeout 60 $run -n 4 "$dir/sleeper" 0.1 >out 2>&1 &
	for _ in {1..500}; do # for as long as it takes
		[ "$(cat dprof-*/*.process 2>/dev/null | grep -c '^rank . size 4$')" = 4 ] && break
		sleep 0.1
	done
	kill $! 2>/dev/null
	wait $!
	[ "$(echo dprof-* | wc -w)" = 1 ] || fail "two hosts: one job, found $(echo dprof-*)"
	[ "$(cat dprof-*/*.process | sed -n 's/^host //p' | sort -u | tr '\n' ' ')" = "h0 h1 " ] || fail "two hosts: $(ls dprof-*)"
	[ "$(cat dprof-*/*.process | grep -c '^rank . size 4$')" = 4 ] || fail "two hosts, four ranks: $(ls dprof-*)"
elif command -v mpicc.mpich >/dev/null; then
	cat why
fi
[ -n "${tested:-}" ] || { echo "no MPI here"; exit 77; }
[ "$failed" = 0 ] && echo "as expected"
exit "$failed"

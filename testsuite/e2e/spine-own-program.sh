#!/bin/bash
# SPDX-License-Identifier: MIT
#
# A user's own program, as the README says: with MPI and without, with what `make install` installs.
# Who is made to straggle is named, by region and line; without the plugin the program does the same.
. testsuite/lib.sh
at_once=1
make --no-print-directory B="$B" DESTDIR="$dir/root" PREFIX=/usr now-install >"$dir/log" 2>&1 ||
	fail "make install: $(cat "$dir/log")"
plugins=$(gcc -print-file-name=plugin)
sed -i "s|=/usr|=$dir/root/usr|" "$dir/root/usr/lib/pkgconfig/dprof.pc"
export PKG_CONFIG_PATH=$dir/root/usr/lib/pkgconfig PATH=$dir/root/usr/bin:$PATH
cd "$dir" || exit 1

# ---- with MPI: rank 2 sleeps three times as long as the others -----------------------------------------
cat >app.c <<'END'
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int rank;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int i = 0; i < 20; i++) {
#pragma dprof region(body)
		usleep(rank == 2 ? 15000 : 5000);
		MPI_Barrier(MPI_COMM_WORLD);
	}
	if (!rank)
		puts("done");
	MPI_Finalize();
	return 0;
}
END
mpicc -O2 -iplugindir="$dir/root$plugins" $(pkg-config --cflags dprof) app.c -o app $(pkg-config --libs dprof) ||
	fail "does not compile"
mpicc -O2 app.c -o plain || fail "does not compile without the plugin"
run() { mpirun --allow-run-as-root --oversubscribe --quiet --mca mpi_yield_when_idle 1 -n 4 "$@"; }
[ "$(run ./app)" = "$(run ./plain)" ] || fail "the program does something else with the plugin"
advises() {
	dprof-analyze dprof-app.* >report 2>notes || fail "report: $(cat report notes)"
	tr '\n' ' ' <report | grep -q 'Look at rank 2: .* % of the run (proved), mostly in region body (app.c:11)\.'
}
for _ in 1 2 3; do # on a busy machine MPI's own threads may run for long enough to leave it open
	advises && break
	rm -r dprof-app.* && run ./app >again
done
advises || fail "expected the advice on rank 2, found: $(cat report notes)"
dprof-analyze dump dprof-app.* | awk '/^site .* name=MPI_Barrier / { barrier[$2] }
	/^e .* enter group=1 / && $4 in barrier { n++ } END { print n + 0 }' >n
[ "$(cat n)" -eq 80 ] || fail "expected 4 x 20 barriers of group 1, found $(cat n)"

# ---- threads alone ---------------------------------------------------------------------------------
cat >threads.c <<'END'
#include <pthread.h>
#include <stddef.h>
#include <unistd.h>
#include "dprof.h"

static pthread_barrier_t meet;

static void *work(void *slow)
{
	for (int i = 0; i < 10; i++) {
		DPROF_REGION(body)
		usleep(slow ? 9000 : 3000);
		DPROF_PROGRESS(round)
		pthread_barrier_wait(&meet);
	}
	return NULL;
}

int main(void)
{
	pthread_t thread[3];
	pthread_barrier_init(&meet, NULL, 3);
	for (int i = 0; i < 3; i++)
		pthread_create(&thread[i], NULL, work, i == 1 ? &meet : NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(thread[i], NULL);
	return 0;
}
END
gcc -O2 -pthread -iplugindir="$dir/root$plugins" $(pkg-config --cflags dprof) threads.c -o threads $(pkg-config --libs dprof) ||
	fail "the program without MPI does not compile"
ldd threads | grep -q libmpi && fail "a program without MPI was linked with it"
./threads || fail "the program without MPI fails"
dprof-analyze csp --json dprof-threads.* >csp.json || fail "csp: $(cat csp.json)"
dprof-analyze dump dprof-threads.* | awk '$1 == "site" { kind[$2] = $3 }
	$1 == "e" && $5 == "point" && kind[$4] == "kind=progress" { n++ }
	END { print n + 0 }' >n
[ "$(cat n)" -eq 30 ] || fail "expected 30 points of progress, found $(cat n)"
tr -d '\n ' <csp.json | grep -q '"verdict":"proved"' || fail "no proved straggler: $(cat csp.json)"

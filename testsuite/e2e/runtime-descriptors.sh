#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Numbers of files are the program's: whatever it does with them while its threads record, no file of its own is written
# to, no dup2() of it fails, and no record is lost.
. testsuite/lib.sh
about() { echo "buffer $DPROF_BUFFER: "; }
export PKG_CONFIG_PATH=$B/lib/pkgconfig DPROF_DIR=$dir DPROF_QUIET=1

# Two threads fill chunks as fast as they can; the first one gives its own file number X, takes it back, and so on.
cat >"$dir/numbers.c" <<'C'
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
static pthread_mutex_t mutex[2] = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER };
static volatile int stop;
static void *work(void *mine)
{
	while (!stop) {
		pthread_mutex_lock(mine);
		pthread_mutex_unlock(mine);
	}
	return NULL;
}
int main(int argc, char **argv)
{
	int own = open(argv[argc - 2], O_RDWR | O_CREAT | O_TRUNC, 0600), x = own + 1, refused = 0, other = 0;
	struct stat s, seen;
	pthread_t thread[2];
	for (int i = 0; i < 2; i++)
		pthread_create(&thread[i], NULL, work, &mutex[i]);
	fstat(own, &s);
	for (int i = 0; i < atoi(argv[argc - 1]); i++) {
		while (dup2(own, x) != x)
			refused++;
		for (volatile int k = 0; k < 300; k++);
		other += fstat(x, &seen) != 0 || seen.st_ino != s.st_ino;
		close(x);
		for (volatile int k = 0; k < 300; k++);
	}
	stop = 1;
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	fstat(own, &s);
	printf("%lld bytes, %d refused, %d others\n", (long long)s.st_size, refused, other);
}
C
# shellcheck disable=SC2046
gcc -O1 -pthread $(pkg-config --cflags dprof) "$dir/numbers.c" -o "$dir/numbers" $(pkg-config --libs dprof) || exit 1
for DPROF_BUFFER in 64K 1M; do
	export DPROF_BUFFER
	"$dir/numbers" "$dir/own" 30000 >"$dir/said" || fail "exit status $?"
	grep -qx '0 bytes, 0 refused, 0 others' "$dir/said" || fail "$(cat "$dir/said")"
	"$analyze" check "$dir"/dprof-numbers.* >"$dir/verdict" 2>&1 || fail "$(cat "$dir/verdict")"
	rm -rf "$dir"/dprof-numbers.*
done
exit "$failed"

#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Numbers of files are the program's: whatever it does with them while its threads record, no file of its own is written
# to, no dup2() of it fails, and no record is lost. Nor is one held open that it has closed. Both on kernels before 5.9, too.
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
# What was open when something was recorded first is closed: whoever reads learns that.
cat >"$dir/closed.c" <<'C'
#include <unistd.h>
int main(void)
{
	int fd[2];
	char byte;
	if (pipe(fd) != 0)
		return 2;
	for (int i = 0; i < 100; i++) {
#pragma dprof region(work)
		usleep(1000);
	}
	close(fd[1]);
	alarm(30);
	return read(fd[0], &byte, 1) == 0 ? 0 : 1;
}
C
# old-kernel COMMAND: without close_range(), and with a filter for that which nobody sees.
cat >"$dir/old-kernel.c" <<'C'
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	struct sock_filter calls[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_close_range, 4, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_prctl, 0, 2),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PR_GET_SECCOMP, 2, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO),
	};
	struct sock_fprog filter = { sizeof(calls) / sizeof(*calls), calls };
	if (argc < 2 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0) != 0)
		return 77;
	execv(argv[1], argv + 1);
	return 126;
}
C
# shellcheck disable=SC2046
gcc -O1 $(pkg-config --cflags dprof) "$dir/closed.c" -o "$dir/closed" $(pkg-config --libs dprof) || exit 1
gcc -O1 "$dir/old-kernel.c" -o "$dir/old-kernel" || exit 1
# shellcheck disable=SC2046
gcc -O1 -pthread $(pkg-config --cflags dprof) "$dir/numbers.c" -o "$dir/numbers" $(pkg-config --libs dprof) || exit 1
filtered=$dir/old-kernel
"$filtered" "$(type -P true)"
[ $? != 77 ] || filtered= # no filters here
for kernel in "" $filtered; do
	# shellcheck disable=SC2086
	timeout 60 $kernel "$dir/closed" || fail "what the program has closed is open: exit status $? ${kernel##*/}"
	rm -rf "$dir"/dprof-closed.*
done
while read -r DPROF_BUFFER kernel; do
	export DPROF_BUFFER
	for _ in {1..5}; do # where the helper got no core in time, another try tells
		rm -rf "$dir"/dprof-numbers.*
		# shellcheck disable=SC2086
		$kernel "$dir/numbers" "$dir/own" 10000 >"$dir/said" || fail "exit status $? ${kernel##*/}"
		grep -qx '0 bytes, 0 refused, 0 others' "$dir/said" || fail "$(cat "$dir/said")"
		"$analyze" csp "$dir"/dprof-numbers.* >"$dir/verdict" 2>&1
		status=$? # of a sound trace; check would look for causes of millions of locks, too
		[ $status != 0 ] && grep -q 'the helper was too late' "$dir/verdict" || break
	done
	[ $status = 0 ] || fail "$(cat "$dir/verdict")"
done <<-E
	64K
	1M
	64K $filtered
E
exit "$failed"

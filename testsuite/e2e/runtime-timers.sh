#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Who reads a timerfd sleeps: for as long as it was set to that is its own time, and until a moment it neither works nor
# waits. Nobody who waits for it is the straggler. If it was set right before, once, all of the sleep is as long as the program
# says there.
. testsuite/lib.sh
at_once=1
export PKG_CONFIG_PATH=$B/lib/pkgconfig
cd "$dir" || exit 1

cat >timer.c <<'C'
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

static pthread_barrier_t both;

static void *sleeper(void *x)
{
	struct itimerspec set = { .it_interval = { 0, AGAIN }, .it_value = { 0, 300000000 } };
	uint64_t times;
	int timer = timerfd_create(CLOCK_MONOTONIC, 0);
	if (FLAGS) {
		clock_gettime(CLOCK_MONOTONIC, &set.it_value);
		set.it_value.tv_nsec += 300000000;
		set.it_value.tv_sec += set.it_value.tv_nsec / 1000000000;
		set.it_value.tv_nsec %= 1000000000;
	}
	if (timerfd_settime(timer, FLAGS, &set, NULL) || (BETWEEN && usleep(BETWEEN)) || read(timer, &times, sizeof(times)) != sizeof(times))
		abort();
	pthread_barrier_wait(&both);
	return x;
}

int main(void)
{
	pthread_t thread;
	if (pthread_barrier_init(&both, NULL, 2) || pthread_create(&thread, NULL, sleeper, NULL))
		return 1;
	pthread_barrier_wait(&both);
	usleep(20000);
	return pthread_join(thread, NULL);
}
C

record() { # NAME FLAGS [AGAIN] [BETWEEN]: ns from one time to the next, and us slept before the read
	# shellcheck disable=SC2046
	gcc -O2 $(pkg-config --cflags dprof) -DFLAGS="$2" -DAGAIN="${3:-0}" -DBETWEEN="${4:-0}" -o "$1" timer.c -pthread $(pkg-config --libs dprof) || fail "$1"
	"./$1" || fail "$1: exit status $?"
	"$analyze" csp --json dprof-"$1".* >json || fail "csp: $(cat json)"
}

# What is said of the read.
arguments() { # NAME
	"$analyze" dump dprof-"$1".* |
		awk '/^site .* kind=sleep name=read / { site = $2 } $4 == site && $5 == "enter" { $1 = $2 = $3 = $4 = ""; print }'
}

# By the stamps, in seconds: for how long main was outside of its waits; the sleeper read while main waited; it was outside of the read
# and of the 0.3 s that it asked for; it was there at all; and the run.
stamps() { # NAME
	"$analyze" dump dprof-"$1".* | awk '
		function least(a, b) { return a < b ? a : b }
		function most(a, b) { return a > b ? a : b }
		$1 == "clock" { sub(/.*ghz=/, ""); ghz = $1 }
		$1 == "site" { is[$2] = $4 == "name=read" ? "read" : $4 ~ /barrier|join|clock_nanosleep/ ? "waits" : "" }
		$1 != "e" { next }
		{ first[$2] = first[$2] ? first[$2] : $3; last[$2] = $3 }
		is[$4] && $2 == 0 { waited += $5 == "enter" ? -$3 : $3 }
		is[$4] == "waits" && $2 == 0 && !(4 in at) { at[$5 == "enter" ? 3 : 4] = $3 }
		is[$4] == "read" && $2 == 1 { at[$5 == "enter" ? 1 : 2] = $3 }
		END {
			s = 1 / (ghz * 1e9)
			there = (last[1] - first[1]) * s
			printf "%.6f %.6f %.6f %.6f %.6f\n", (last[0] - first[0] - waited) * s, (least(at[2], at[4]) - most(at[1], at[3])) * s,
			       there - 0.3 + (at[1] - first[1]) * s, there, (most(last[0], last[1]) - first[0]) * s
		}'
}

# The sleeper is alone while it reads, for 300 ms but for the time for which main has no core,
record relative 0
read -r main reads _ _ _ < <(stamps relative)
jq -e ".threads[] | select(.thread == 1) | .alone_s.lo > $reads - 0.001" json >held || fail "relative: for $reads s, found $(jq -c .threads json)"
jq -e ".threads[] | select(.thread == 0 and .verdict == \"proved\") | .alone_s.lo > $main + 0.001" json >held &&
	fail "relative: main worked for $main s, and is blamed: $(jq -c .threads json)"
[ "$(arguments relative | tr -d ' ')" = enter ] || fail "relative: $(arguments relative)"
half_saves_half() { # who waits for a core between two waits may have been ended by something else
	rm -rf dprof-relative.* && ./relative
	"$analyze" coz --region sleeper --reduce 50 --json dprof-relative.* >json || fail "coz: $(cat json)"
	read -r _ reads _ there run < <(stamps relative)
	is_true "$reads > 0.6 * $there" && jq -e ".expected_percent.lo > 50 * $there / $run - 1" json >held
}
one_of_six half_saves_half || fail "relative: half of the sleep is $(jq -c .expected_percent json) % of the run: $reads of $there s in $run"
# or nobody is.
record absolute TFD_TIMER_ABSTIME
read -r main _ sleeper _ _ < <(stamps absolute)
jq -e "[.threads[] | .alone_s.hi < if .thread == 0 then $main else $sleeper end + 0.001] | all" json >held ||
	fail "absolute: main worked for $main s, the sleeper for $sleeper at most: $(jq -c .threads json)"
"$analyze" dump dprof-absolute.* >text || fail "dump: $(cat text)"
grep -q ' enter until=[0-9]* bytes=8' text || fail "no moment: $(grep '^e' text)"
# One that was set before something else may end a read that was begun later as well; and one that goes on has its moments.
record before 0 0 50000
[[ $(arguments before) =~ enter\ offset=([0-9]+)\ bytes=8$ ]] || fail "before: $(arguments before)"
((BASH_REMATCH[1] >= 50000000)) || fail "before: it was set 50 ms before, and not ${BASH_REMATCH[1]} ns"
record again 0 300000000
[[ $(arguments again) = *enter\ until=[1-9]*\ bytes=8 ]] || fail "again: $(arguments again)"

# One that goes on and on is ready at the first of its moments since it was read, which may be over for long.
cat >late.c <<'C'
#include <stdint.h>
#include <sys/timerfd.h>
#include <unistd.h>

int main(void)
{
	struct itimerspec set = { { 0, 10000000 }, { 0, 10000000 } };
	int timer = timerfd_create(CLOCK_MONOTONIC, 0);
	uint64_t first, second;

	if (timerfd_settime(timer, 0, &set, NULL) || usleep(35000) || read(timer, &first, 8) != 8 || usleep(100000) ||
	    read(timer, &second, 8) != 8)
		return 99;
	return (int)first;
}
C
# shellcheck disable=SC2046
gcc -O2 $(pkg-config --cflags dprof) -o late late.c $(pkg-config --libs dprof) || fail late
./late
times=$?
arguments late | awk -v times="$times" '
	{ late[NR] = /tag=/ ? $3 : 0; sub(/.*tag=/, "", late[NR]); sub(/.*until=/, ""); until[NR] = $1 }
	END { exit NR != 2 || late[1] + 0 < 25e6 || late[2] + 0 < 75e6 || until[2] - until[1] != times * 1e7 }' ||
	fail "late: $times times at first: $(arguments late)"

# Who sleeps by the processor time of all threads, or by a timer that another thread sets anew, may wait for that one.
cat >others.c <<'C'
#include <pthread.h>
#include <stdint.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

static int timer;

static void *other(void *x)
{
	struct timespec busy;
	do
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &busy); /* which takes longer where others want the core */
	while (busy.tv_sec == 0 && busy.tv_nsec < 200000000);
	timerfd_settime(timer, 0, &(struct itimerspec){ .it_value.tv_nsec = 1 }, NULL);
	return x;
}

int main(void)
{
	pthread_t thread;
	uint64_t times;
	timer = timerfd_create(CLOCK_MONOTONIC, 0);
	timerfd_settime(timer, 0, &(struct itimerspec){ .it_value.tv_sec = 100 }, NULL);
	pthread_create(&thread, NULL, other, NULL);
	clock_nanosleep(CLOCK_PROCESS_CPUTIME_ID, 0, &(struct timespec){ 0, 150000000 }, NULL);
	return read(timer, &times, sizeof(times)) != sizeof(times) || pthread_join(thread, NULL);
}
C
# shellcheck disable=SC2046
gcc -O2 $(pkg-config --cflags dprof) -o others others.c -pthread $(pkg-config --libs dprof) && ./others || fail others
"$analyze" csp --json dprof-others.* >json || fail "csp: $(cat json)"
jq -e '[.threads[] | select(.thread == 1)][0].alone_s.hi > 0.15' json >held ||
	fail "others: the other thread does not straggle: $(jq -c .threads json)"
read -r main _ < <(stamps others)
jq -e "[.threads[] | select(.thread == 0 and .verdict == \"proved\")] | all(.alone_s.lo < $main + 0.001)" json >held ||
	fail "others: who sleeps worked for $main s, and is blamed: $(jq -c .threads json)"

# For all that is known X may be what its reader waits for: half of it and more may be saved, or of the read, where that began late.
saves_X() { # NAME
	least=$("$analyze" dump dprof-"$1".* | awk '
		$1 == "clock" { sub(/.*ghz=/, ""); ghz = $1 }
		$1 == "site" { sub(/^name=/, "", $4); is[$2] = $4 }
		$1 == "e" && is[$4] ~ /^(X|read)$/ && $5 == "enter" { since[$2, $4] = $3 }
		$1 == "e" && is[$4] ~ /^(X|read)$/ && $5 == "exit" && $3 - since[$2, $4] > most[is[$4]] { most[is[$4]] = $3 - since[$2, $4] }
		END { printf "%.6f\n", (most["X"] < most["read"] ? most["X"] : most["read"]) / (2 * ghz * 1e9) }')
	"$analyze" coz --region X --reduce 100 --json dprof-"$1".* >json 2>err || fail "coz, $1: $(cat err)"
	is_true "$least > 0.01" && jq -e "(.span_s.hi / 100) as \$s | .regions[0].curve[0] |
		.speedup_percent.hi * \$s > $least and .expected_percent.hi * \$s > $least" json >held
}

# Likewise where another process may do that: a timer that was there when it was forked.
cat >family.c <<'C'
#include <stdint.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

int main(void)
{
	int timer = timerfd_create(CLOCK_MONOTONIC, 0), status;
	uint64_t times;
	pid_t child = fork();

	if (child == 0) {
		timerfd_settime(timer, 0, &(struct itimerspec){ .it_value.tv_sec = 100 }, NULL);
		_exit(read(timer, &times, sizeof(times)) != sizeof(times));
	}
	{
#pragma dprof region(X)
		usleep(200000);
	}
	timerfd_settime(timer, 0, &(struct itimerspec){ .it_value.tv_nsec = 1 }, NULL);
	return child < 0 || waitpid(child, &status, 0) != child || status;
}
C
# shellcheck disable=SC2046
gcc -O2 $(pkg-config --cflags dprof) -o family family.c $(pkg-config --libs dprof) && ./family || fail family
saves_X family || fail "family: X saves $least s and more, found $(jq -c '[.span_s, .regions]' json)"

# Or one that another process, or program, has been given, perhaps while it is read here.
cat >given.c <<'C'
#include <pthread.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

static int timer;

static int give(int to, int fd)
{
	union { struct cmsghdr head; char bytes[CMSG_SPACE(sizeof(int))]; } control = { 0 };
	struct iovec byte = { "", 1 };
	struct msghdr m = { .msg_iov = &byte, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);
	*c = (struct cmsghdr){ .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof(int)) };
	memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	return sendmsg(to, &m, 0) == 1;
}

static int take(int from)
{
	union { struct cmsghdr head; char bytes[CMSG_SPACE(sizeof(int))]; } control;
	char room;
	struct iovec byte = { &room, 1 };
	struct msghdr m = { .msg_iov = &byte, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control) };
	int fd = -1;
	if (recvmsg(from, &m, 0) == 1)
		memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof(fd));
	return fd;
}

static int end_it(int fd)
{
#pragma dprof region(X)
	usleep(200000);
	return timerfd_settime(fd, 0, &(struct itimerspec){ .it_value.tv_nsec = 1 }, NULL);
}

static void set_it(void)
{
	timer = timerfd_create(CLOCK_MONOTONIC, 0);
	timerfd_settime(timer, 0, &(struct itimerspec){ .it_value.tv_sec = 100 }, NULL);
}

static void *read_it(void *x)
{
	uint64_t times;
	return read(timer, &times, sizeof(times)) == sizeof(times) ? NULL : x;
}

int main(int argc, char **argv)
{
	char number[16], *arguments[] = { argv[0], number, NULL };
	int fd[2], status = 0;
	pthread_t thread;
	pid_t child = 0;
	if (argc == 2 && *argv[1] != '-')
		return end_it(atoi(argv[1]));
	if (!strcmp(argv[1], "-spawn")) {
		set_it();
		snprintf(number, sizeof(number), "%d", timer);
		if (posix_spawn(&child, "/proc/self/exe", NULL, NULL, arguments, NULL))
			return 2;
	} else {
		if (socketpair(AF_UNIX, SOCK_STREAM, 0, fd))
			return 2;
		child = fork();
		if (child == 0)
			_exit(end_it(take(fd[1])));
		set_it();
	}
	if (pthread_create(&thread, NULL, read_it, &timer))
		return 2;
	if (!strcmp(argv[1], "-later"))
		usleep(50000);
	if (strcmp(argv[1], "-spawn") && !give(fd[0], timer))
		return 2;
	return pthread_join(thread, NULL) || waitpid(child, &status, 0) != child || status;
}
C
# shellcheck disable=SC2046
gcc -O2 $(pkg-config --cflags dprof) -o given given.c -pthread $(pkg-config --libs dprof) || fail given
for how in spawn given later; do
	rm -rf dprof-given.*
	./given "-$how" || fail "$how: exit status $?"
	saves_X given || fail "$how: X saves $least s and more, found $(jq -c '[.span_s, .regions]' json)"
done

# A sleep by syscall() is what it is by the function.
cat >plain.c <<'C'
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int main(void)
{
	struct timespec t = { 0, 1000000 };
	if (syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &t, NULL))
		return 1;
	clock_gettime(CLOCK_MONOTONIC, &t);
	t.tv_sec++;
	return (int)syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
}
C
# shellcheck disable=SC2046
gcc -O2 $(pkg-config --cflags dprof) -o plain plain.c $(pkg-config --libs dprof) && ./plain || fail plain
"$analyze" dump dprof-plain.* | awk '/^site .* name=clock_nanosleep / { site = $2 } $4 == site && $5 == "enter" { print $6 != "" ? $6 : "relative" }' >sleeps
[[ $(tr '\n' ' ' <sleeps) = "relative until="[1-9]*" " ]] || fail "by syscall(): $(cat sleeps)"
echo "as expected"

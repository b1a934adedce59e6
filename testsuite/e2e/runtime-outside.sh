#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Who writes to whom the trace does not know is held up by that one: with less work it need not be faster. And the standard output
# of a program that one of the job has started may lead to a thread of the job.
. testsuite/lib.sh
export DPROF_QUIET=1
cd "$dir" || exit 1

# writer N: N times 20 ms of work and 64 KiB to the standard output. reader: starts that, and takes them, 50 ms of work for each.
cat >writer.c <<'C'
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	static char bytes[65536];

	for (int i = 0; i < (argc > 1 ? atoi(argv[1]) : 8); i++) {
		{
#pragma dprof region(X)
			usleep(20000);
		}
		for (ssize_t n = 0, k; n < (ssize_t)sizeof(bytes); n += k)
			if ((k = write(1, bytes, sizeof(bytes) - (size_t)n)) < 0)
				return 1;
	}
	return 0;
}
C
cat >reader.c <<'C'
#define _GNU_SOURCE
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

int main(void)
{
	static char bytes[65536];
	char *arguments[] = { "./writer", "8", NULL };
	posix_spawn_file_actions_t actions;
	int ends[2], status;
	pid_t child;

	if (pipe2(ends, O_CLOEXEC) || posix_spawn_file_actions_init(&actions) || posix_spawn_file_actions_adddup2(&actions, ends[1], 1) ||
	    posix_spawn(&child, arguments[0], &actions, NULL, arguments, environ))
		return 1;
	close(ends[1]);
	for (int i = 0; i < 8; i++) {
		{
#pragma dprof region(Y)
			usleep(50000);
		}
		for (ssize_t n = 0, k; n < (ssize_t)sizeof(bytes); n += k)
			if ((k = read(ends[0], bytes, sizeof(bytes) - (size_t)n)) <= 0)
				return 1;
	}
	return waitpid(child, &status, 0) == child ? status : 1;
}
C
for program in writer reader; do
	"$B/bin/dprof-cc" -Wall -Wextra -Werror -O1 -o $program $program.c || exit 1
done

slow_reader() {
	python3 -c 'import sys, time
while sys.stdin.buffer.read(65536): time.sleep(0.05)'
}
saves() { # region, of the only trace: by half, at least and at most; and what is expected
	"$analyze" --json coz --region "$1" --reduce 50 dprof-* 2>problems |
		jq -r '.regions[0].curve[0] | "\(.speedup_percent.lo) \(.speedup_percent.hi) \(.expected_percent.lo)"'
}

# By the stamps, in percent of the run: what half of X saves where a write is held up for as long as it was, whenever it begins. On a busy
# machine X may take longer than the reader does.
saved_by_X() {
	"$analyze" dump dprof-* | awk '
		$1 == "site" { is[$2] = substr($4, 6) }
		$1 != "e" { next }
		{ first = first ? first : $3; last = $3 }
		is[$4] == "X" { saved += ($5 == "enter" ? -$3 : $3) / 2 }
		is[$4] == "write" { saved += $5 == "enter" ? $3 : -$3 }
		is[$4] == "write" && $5 == "exit" && saved < 0 { saved = 0 }
		END { printf "%.6f\n", 100 * saved / (last - first) }'
}

beside_slow_reader() {
	rm -rf dprof-*
	./writer | slow_reader
	read -r lo hi expected < <(saves X)
	saved=$(saved_by_X)
	is_true "$lo <= 0 && $hi >= 10 && $expected <= $saved + 1"
}
one_of_six beside_slow_reader ||
	fail "half of X while a reader is slow: $saved % is saved, and $lo .. $hi are proved, $expected at least expected ($(cat problems))"
to_file() {
	rm -r dprof-*
	./writer >file
	read -r lo hi expected < <(saves X)
	is_true "$hi <= 50" || fail "half of X beside a file: expected at most 50, found $lo .. $hi ($(cat problems))"
	is_true "$lo > 35"
}
one_of_six to_file || fail "half of X beside a file: expected 35 .. 50 to be proved, found $lo .. $hi ($(cat problems))"

# Likewise of a socket, where each of the bytes' pieces is held up for less time than a thread might lose its core.
cat >takes.py <<'PY'
import socket, subprocess, time
listening = socket.socket()
listening.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
listening.bind(("127.0.0.1", 0))
listening.listen(1)
ours = socket.socket()
ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
ours.connect(listening.getsockname())
taken, _ = listening.accept()
writer = subprocess.Popen(["./pieces"], stdout=ours.fileno())
ours.close()
for _ in range(100):
    left = 4096
    while left:
        left -= len(taken.recv(left))
    time.sleep(0.005)
raise SystemExit(writer.wait())
PY
sed 's/65536/4096/; s/: 8); i/: 100); i/; s/usleep(20000)/usleep(2000)/' writer.c >pieces.c
"$B/bin/dprof-cc" -O1 -o pieces pieces.c || exit 1
to_socket() {
	rm -r dprof-*
	python3 takes.py || fail "a socket: exit status $?"
	read -r lo hi expected < <(saves X)
	is_true "$lo <= 0 && $hi >= 10"
}
one_of_six to_socket ||
	fail "half of X while who reads a socket is slow: nothing is saved, and $lo .. $hi are proved ($(cat problems))"

# The reader is the slow one: with half of Y the run takes a bit more than half as long.
from_writer() {
	rm -r dprof-*
	./reader || fail "reader: exit status $?"
	[ "$(echo dprof-*/*.process | wc -w)" = 2 ] || fail "reader: $(echo dprof-*/*.process)"
	"$analyze" dump dprof-* >text
	awk '/^site .* kind=wait name=write / { site[$2] } $4 in site && / channel=/ { n++ } END { exit !n }' text ||
		fail "the writer does not say where its bytes go"
	"$analyze" csp --json dprof-* 2>problems >csp
	jq -e '[.threads[] | select(.site == "X")] | all(.straggler_percent.hi < 30)' csp >held || fail "writer: $(jq -c .threads csp)"
	read -r lo hi expected < <(saves Y)
	jq -e '[.threads[] | select(.site == "Y")][0].straggler_percent.lo > 30' csp >held && is_true "$hi >= 40 && $expected >= 35"
}
one_of_six from_writer || fail "half of Y: expected $expected, at most $hi ($(cat problems)); reader: $(jq -c .threads csp)"
[ "$failed" = 0 ] && echo "as expected"
# Who calls with a descriptor that does not block, or asks not to be held up, has waited for nobody, however long it took; what it
# takes is recorded, but is no wait. Who blocks there may have waited.
cat >at-once.c <<'C'
#define _GNU_SOURCE
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

int main(void)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t size = sizeof(at);
	int ends[2], pair[2], listens = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), asks = socket(AF_INET, SOCK_STREAM, 0);
	char byte = 1;
	long taken = 0;

	if (pipe2(ends, O_NONBLOCK) || socketpair(AF_UNIX, SOCK_STREAM, 0, pair) || bind(listens, (void *)&at, size) ||
	    listen(listens, 1) || getsockname(listens, (void *)&at, &size) || connect(asks, (void *)&at, size))
		return 1;
	taken += accept(listens, NULL, NULL) >= 0;
	taken += write(ends[1], &byte, 1) + read(ends[0], &byte, 1);
	taken += send(pair[1], &byte, 1, MSG_DONTWAIT) + recv(pair[0], &byte, 1, MSG_DONTWAIT);
	taken += read(ends[0], &byte, 1) < 0; /* in vain */
	taken += write(pair[0], &byte, 1) + read(pair[1], &byte, 1);
	taken += write(pair[0], &byte, 1) + read(pair[1], &byte, 1);
	if (fcntl(pair[0], F_SETFL, O_NONBLOCK) || fcntl(pair[1], F_SETFL, O_NONBLOCK))
		return 1;
	taken += write(pair[0], &byte, 1) + read(pair[1], &byte, 1);
	return taken != 12;
}
C
"$B/bin/dprof-cc" -Wall -Wextra -Werror -O1 -o at-once at-once.c || exit 1
DPROF_BLOCKED_NS=0 ./at-once || fail "at-once: exit status $?"
"$analyze" dump dprof-at-once.* | awk '
	$1 == "site" { name[$2] = substr($4, 6) }
	$1 == "e" && $5 == "enter" && name[$4] ~ /^(accept|read|write|send|recv)$/ && !/ until=0/ { print name[$4], / peer=/ ? "waits" : "does not" }' >found
printf '%s\n' 'accept does not' 'write does not' 'read does not' 'send does not' 'recv does not' \
	'write waits' 'read waits' 'write waits' 'read waits' 'write does not' 'read does not' |
	diff - found >differs || fail "what cannot block: $(cat differs)"
exit "$failed"

/* SPDX-License-Identifier: MIT
 *
 * pmi_client.c - lines to and from the proxy of MPICH's starter. */
#include "runtime/pmi_client.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define LINE_MAX_BYTES 1024 /* of the interface */
#define ANSWER_MS      1000

static bool silent; /* it did not answer once */

static bool is_proxy(pid_t pid)
{
	char path[64], name[32];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%ld/comm", (long)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, name, sizeof(name) - 1);
	if (fd >= 0)
		close(fd);
	name[n < 0 ? 0 : n] = '\0';
	return !strncmp(name, "hydra_pmi_proxy", 15);
}

/* A socket whose other end the proxy made, or -1. The number alone may be of another file by now.
 * */
static int proxy(void)
{
	const char *text = secure_getenv("PMI_FD");
	struct ucred made_by;
	socklen_t size = sizeof(made_by);
	char *end;
	long fd = text ? strtol(text, &end, 10) : -1;

	if (silent || !text || end == text || *end || fd < 0 || fd > 1 << 20 ||
	    getsockopt((int)fd, SOL_SOCKET, SO_PEERCRED, &made_by, &size) < 0)
		return -1;
	return is_proxy(made_by.pid) ? (int)fd : -1;
}

static bool read_line(int fd, char *to)
{
	size_t n = 0;

	while (n + 1 < LINE_MAX_BYTES) {
		struct pollfd wait = { .fd = fd, .events = POLLIN };

		if (poll(&wait, 1, ANSWER_MS) <= 0 || read(fd, to + n, 1) != 1)
			return false;
		if (to[n++] == '\n')
			break;
	}
	to[n] = '\0';
	return n > 0 && to[n - 1] == '\n';
}

/* The answer to a line, if it is of the kind that was asked for. */
static bool ask(const char *line, const char *kind, char answer[LINE_MAX_BYTES])
{
	int fd = proxy();

	if (fd < 0 || send(fd, line, strlen(line), MSG_NOSIGNAL) != (ssize_t)strlen(line))
		return false;
	if (!read_line(fd, answer)) {
		silent = true;
		return false;
	}
	return !strncmp(answer, kind, strlen(kind));
}

bool pmi_client_job(char *to, size_t size)
{
	static const char kind[] = "cmd=my_kvsname kvsname=";
	char answer[LINE_MAX_BYTES];

	if (!ask("cmd=get_my_kvsname\n", kind, answer))
		return false;
	answer[strcspn(answer, "\n")] = '\0';
	snprintf(to, size, "%s", answer + strlen(kind));
	return *to;
}

/* A published name is known to the whole job at once. (What is put into its key-value space is
 * forgotten when the first rank of a host begins MPI.) */
static bool about(const char *command, const char *key, const char *more, const char *kind,
		  char answer[LINE_MAX_BYTES])
{
	char job[LINE_MAX_BYTES / 2], line[LINE_MAX_BYTES];

	if (!pmi_client_job(job, sizeof(job)))
		return false;
	snprintf(line, sizeof(line), "cmd=%s service=%s-%s%s\n", command, key, job, more);
	return ask(line, kind, answer);
}

bool pmi_client_publish(const char *key)
{
	char answer[LINE_MAX_BYTES];

	return about("publish_name", key, " port=1", "cmd=publish_result ", answer) &&
	       strstr(answer, " rc=0");
}

int pmi_client_published(const char *key)
{
	char answer[LINE_MAX_BYTES];

	if (!about("lookup_name", key, "", "cmd=lookup_result ", answer))
		return -1;
	if (strstr(answer, " rc=0"))
		return 1;
	return strstr(answer, "not_found") ? 0 : -1;
}

/* SPDX-License-Identifier: MIT
 *
 * stop.c - a flag for those who look, and a descriptor for those who sleep. */
#define _GNU_SOURCE
#include "freezer/stop.h"

#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#define S_NS 1000000000u

int frz_stop_open(struct frz_stop *stop)
{
	*stop = (struct frz_stop){ .wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK) };
	return stop->wake < 0 ? -errno : 0;
}

void frz_stop_close(struct frz_stop *stop)
{
	if (stop->wake >= 0)
		close(stop->wake);
	stop->wake = -1;
}

void frz_stop_ask(struct frz_stop *stop)
{
	int saved_errno = errno;

	__atomic_store_n(&stop->asked, 1, __ATOMIC_RELEASE);
	while (eventfd_write(stop->wake, 1) < 0 && errno == EINTR)
		;
	errno = saved_errno;
}

void frz_stop_sleep(const struct frz_stop *stop, int fd, uint64_t at_most_ns)
{
	struct pollfd p[] = {
		{ .fd = fd, .events = POLLIN },
		{ .fd = stop ? stop->wake : -1, .events = POLLIN },
	};
	struct timespec t = {
		.tv_sec = (time_t)(at_most_ns / S_NS),
		.tv_nsec = (long)(at_most_ns % S_NS),
	};

	ppoll(p, sizeof p / sizeof *p, &t, NULL);
}

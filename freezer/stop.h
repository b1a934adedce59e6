/* SPDX-License-Identifier: MIT
 *
 * stop.h - how one thread, or a signal handler, tells another to stop waiting.
 *
 * Law: whoever waits through frz_stop_sleep(), or looks at frz_stop_asked() before each wait,
 * learns of it at once; and once asked, it stays asked. */
#ifndef FREEZER_STOP_H
#define FREEZER_STOP_H

#include <stdbool.h>
#include <stdint.h>

struct frz_stop {
	int asked;
	int wake; /* descriptor that becomes readable; -1: none */
};

/* 0 or -errno. */
int frz_stop_open(struct frz_stop *);
void frz_stop_close(struct frz_stop *);

/* From anywhere, signal handlers included. Leaves errno alone. */
void frz_stop_ask(struct frz_stop *);

/* `stop` may be NULL: it is never asked for. */
static inline bool frz_stop_asked(const struct frz_stop *stop)
{
	return stop && __atomic_load_n(&stop->asked, __ATOMIC_ACQUIRE);
}

/* Sleeps in the kernel until `fd` (-1: none) can be read, it is asked to stop, a signal comes, or
 * so much time has passed. */
void frz_stop_sleep(const struct frz_stop *, int fd, uint64_t at_most_ns);

#endif

/* SPDX-License-Identifier: MIT
 *
 * queues.c - queues of messages, and semaphores that a number names: of System V and of POSIX.
 *
 *   ENTER msgsnd [peer=UNKNOWN] bytes=N role=1 ... EXIT       recorded also where it did not block
 *   ENTER msgrcv peer=UNKNOWN bytes=N ... EXIT
 *   ENTER semop peer=UNKNOWN ... EXIT */
#include <mqueue.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>

#include "runtime/libc/libc.h"

/* ---- Messages --------------------------------------------------------------------------------------- */

#define MESSAGE_SITE(name) DPROF_SITE_OF(wait_##name, DPROF_KIND_WAIT, #name)

#define MESSAGE(m, name, direction)                                                               \
	struct libc_transfer m AT_END(transfer_end) = {                                           \
		.site = { SITE(wait_##name), SITE(wait_##name), SITE(wait_##name) }, .bytes = -1, \
		.what = OF_OTHERS, .way = direction, .is_from_others = direction == TAKES };      \
	m.call = CALL_OF(wait_##name)

#define TAKE(name, own, parameters, arguments)                  \
	DPROF_EXPORT ssize_t name parameters                    \
	{                                                       \
		__typeof__(&name) real = REAL(name);            \
		if (!is_watched())                              \
			return real arguments;                  \
		MESSAGE(m, own, TAKES);                         \
		return m.bytes = real arguments;                \
	}
#define GIVE(name, own, parameters, arguments, n)               \
	DPROF_EXPORT int name parameters                        \
	{                                                       \
		__typeof__(&name) real = REAL(name);            \
		int result;                                     \
                                                                \
		if (!is_watched())                              \
			return real arguments;                  \
		MESSAGE(m, own, GIVES);                         \
		result = real arguments;                        \
		m.bytes = result == 0 ? (int64_t)(n) : -1;      \
		return result;                                  \
	}

MESSAGE_SITE(msgrcv);
MESSAGE_SITE(msgsnd);
MESSAGE_SITE(mq_receive);
MESSAGE_SITE(mq_timedreceive);
MESSAGE_SITE(mq_send);
MESSAGE_SITE(mq_timedsend);

/* Their types' bytes are not counted, and an empty message is one, too. */
TAKE(msgrcv, msgrcv, (int queue, void *to, size_t room, long type, int flags), (queue, to, room, type, flags))
GIVE(msgsnd, msgsnd, (int queue, const void *from, size_t n, int flags), (queue, from, n, flags), n)
TAKE(mq_receive, mq_receive, (mqd_t queue, char *to, size_t room, unsigned *priority), (queue, to, room, priority))
TAKE(mq_timedreceive, mq_timedreceive,
     (mqd_t queue, char *to, size_t room, unsigned *priority, const struct timespec *until),
     (queue, to, room, priority, until))
GIVE(mq_send, mq_send, (mqd_t queue, const char *from, size_t n, unsigned priority), (queue, from, n, priority), n)
GIVE(mq_timedsend, mq_timedsend,
     (mqd_t queue, const char *from, size_t n, unsigned priority, const struct timespec *until),
     (queue, from, n, priority, until), n)

/* ---- Semaphores -------------------------------------------------------------------------------------- */

DPROF_SITE_OF(site_semop, DPROF_KIND_WAIT, "semop");
DPROF_SITE_OF(site_semtimedop, DPROF_KIND_WAIT, "semtimedop");

PLAIN_CALL(int, semop, site_semop, (int set, struct sembuf *operations, size_t n), (set, operations, n))
PLAIN_CALL(int, semtimedop, site_semtimedop,
	   (int set, struct sembuf *operations, size_t n, const struct timespec *most), (set, operations, n, most))

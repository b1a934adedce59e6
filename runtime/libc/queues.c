/* SPDX-License-Identifier: MIT
 *
 * queues.c - queues of messages, and semaphores that a number names: of System V and of POSIX.
 *
 *   ENTER msgsnd [peer=UNKNOWN] [tag=KIND] object=N bytes=N role=1 ... EXIT    recorded also where it did not block
 *   ENTER msgrcv [peer=UNKNOWN] [tag=KIND] [offset=ASKED] object=N bytes=N ... EXIT    likewise
 *   ENTER semop [peer=UNKNOWN] object=N ... EXIT                      for each permit that was taken; likewise
 *   POINT semop object=N                                              for each that is given
 *   ENTER semop peer=UNKNOWN ... EXIT                                 it waited until a semaphore was 0
 *
 * A message's kind is its type, or its priority; what msgrcv asks for is the type that it is given. Where there was no message, no
 * room, or no permit, and it did not wait for that, it is recorded as of polling.c. */
#include <mqueue.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/stat.h>

#include "runtime/libc/libc.h"
#include "runtime/readable.h"
#include "runtime/sys.h"

/* ---- Messages --------------------------------------------------------------------------------------- */

#define MESSAGE_SITE(name) DPROF_SITE_OF(wait_##name, DPROF_KIND_WAIT, #name)

#define MESSAGE(m, name, direction)                                                               \
	struct libc_transfer m AT_END(transfer_end) = {                                           \
		.site = { SITE(wait_##name), SITE(wait_##name), SITE(wait_##name) }, .bytes = -1, \
		.fd = -1, .what = OF_OTHERS, .way = direction, .is_from_others = direction == TAKES };      \
	m.call = CALL_OF(wait_##name);                                                            \
	call_may_be_left(&m.call, transfer_left);                                                 \
	call_lasts(&m.call, m.site[OF_OTHERS])

/* `object` is found out behind the call. */
#define TAKE(name, parameters, arguments, waits_not, which, its_kind, asks) \
	DPROF_EXPORT ssize_t name parameters                    \
	{                                                       \
		__typeof__(&name) real = REAL(name);            \
		unsigned unasked = 0;                           \
                                                                \
		(void)unasked;                                  \
		if (!is_watched())                              \
			return real arguments;                  \
		MESSAGE(m, name, TAKES);                        \
		m.dont_wait = waits_not;                        \
		m.bytes = real arguments;                       \
		m.expired = call_expired(m.bytes);              \
		m.object = m.bytes >= 0 ? which : 0;            \
		m.kind = m.object ? its_kind : 0;               \
		m.asked = asks;                                 \
		return m.bytes;                                 \
	}
#define GIVE(name, parameters, arguments, waits_not, n, which, its_kind) \
	DPROF_EXPORT int name parameters                        \
	{                                                       \
		__typeof__(&name) real = REAL(name);            \
		int result;                                     \
                                                                \
		if (!is_watched())                              \
			return real arguments;                  \
		MESSAGE(m, name, GIVES);                        \
		m.dont_wait = waits_not;                        \
		result = real arguments;                        \
		m.expired = call_expired(result);               \
		m.bytes = result == 0 ? (int64_t)(n) : -1;      \
		m.object = result == 0 ? which : 0;             \
		m.kind = m.object ? its_kind : 0;               \
		return result;                                  \
	}

static uint64_t numbered_queue(int queue)
{
	return dprof_adapter_object("msg", (uint64_t)queue, 0, 0);
}

/* A message begins with it. */
static uint64_t type_of(const void *message)
{
	return *(const uint64_t *)message;
}

static uint64_t named_queue(mqd_t queue)
{
	struct stat st;

	if (sys(SYS_fstat, (int)queue, &st) < 0)
		return 0;
	return dprof_adapter_object("mq", (uint64_t)st.st_dev, (uint64_t)st.st_ino, 0);
}

MESSAGE_SITE(msgrcv);
MESSAGE_SITE(msgsnd);
MESSAGE_SITE(mq_receive);
MESSAGE_SITE(mq_timedreceive);
MESSAGE_SITE(mq_send);
MESSAGE_SITE(mq_timedsend);

/* Their types' bytes are not counted, and an empty message is one, too. (Who takes any but of one type takes any.) */
TAKE(msgrcv, (int queue, void *to, size_t room, long type, int flags), (queue, to, room, type, flags), flags & IPC_NOWAIT,
     flags & MSG_COPY ? 0 : numbered_queue(queue), type_of(to), flags & MSG_EXCEPT ? 0 : type)
GIVE(msgsnd, (int queue, const void *from, size_t n, int flags), (queue, from, n, flags), flags & IPC_NOWAIT, n,
     numbered_queue(queue), type_of(from))

/* Who does not ask for the priority: we do. */
#define PRIORITY (priority ? priority : &unasked)

TAKE(mq_receive, (mqd_t queue, char *to, size_t room, unsigned *priority), (queue, to, room, PRIORITY), false,
     named_queue(queue), *PRIORITY, 0)
TAKE(mq_timedreceive, (mqd_t queue, char *to, size_t room, unsigned *priority, const struct timespec *until),
     (queue, to, room, PRIORITY, until), false, named_queue(queue), *PRIORITY, 0)
GIVE(mq_send, (mqd_t queue, const char *from, size_t n, unsigned priority), (queue, from, n, priority), false, n,
     named_queue(queue), priority)
GIVE(mq_timedsend, (mqd_t queue, const char *from, size_t n, unsigned priority, const struct timespec *until),
     (queue, from, n, priority, until), false, n, named_queue(queue), priority)

/* ---- Semaphores -------------------------------------------------------------------------------------- */

DPROF_SITE_OF(site_semop, DPROF_KIND_WAIT, "semop");
DPROF_SITE_OF(site_semtimedop, DPROF_KIND_WAIT, "semtimedop");

#define MOST_PERMITS 64 /* of one call that are recorded */

struct set_use { struct plain plain; int set; const struct sembuf *operations; size_t n; };

static int permits_of(const struct sembuf *o, bool given)
{
	int n = given ? o->sem_op : -o->sem_op;

	return n < 0 ? 0 : n < MOST_PERMITS ? n : MOST_PERMITS;
}

static bool any_permits(const struct set_use *u, bool given)
{
	for (size_t i = 0; i < u->n; i++)
		if (permits_of(&u->operations[i], given))
			return true;
	return false;
}

/* There was no permit, and it did not wait for one. (Time limits are counted in ticks of the kernel, which are longer.) */
static bool were_none(const struct set_use *u, int result)
{
	bool waits = true;

	for (size_t i = 0; i < u->n; i++)
		waits &= !(u->operations[i].sem_flg & IPC_NOWAIT);
	return result < 0 && errno == EAGAIN && (!waits || dprof_adapter_now() - u->plain.call.since.stamp < dprof_adapter_pause_ticks);
}

/* Who only gives does not. */
static bool may_wait(const struct set_use *u)
{
	for (size_t i = 0; i < u->n; i++)
		if (u->operations[i].sem_op <= 0)
			return true;
	return false;
}

static struct dprof_arguments permit_of(const struct set_use *u, size_t i)
{
	struct dprof_arguments a;

	a.words = 0;
	dprof_say(&a, DPROF_KEY_OBJECT, dprof_adapter_object("sem", (uint64_t)u->set, u->operations[i].sem_num, 0));
	return a;
}

static void give_permits(const struct set_use *u)
{
	for (size_t i = 0; i < u->n && dprof_adapter_is_for_us(u->plain.call.caller); i++) {
		struct dprof_arguments a = permit_of(u, i);

		for (int k = permits_of(&u->operations[i], true); k > 0; k--)
			dprof_adapter_record(u->plain.site, DPROF_POINT, 0, &a);
	}
}

/* The first of them may have been waited for; then the others are there. */
static void take_permits(struct set_use *u)
{
	bool blocked = call_blocked(&u->plain.call, dprof_adapter_now());
	uint64_t now = dprof_adapter_now_fenced();

	dprof_adapter_polled_since(&u->plain.call.since);

	for (size_t i = 0; i < u->n; i++)
		for (int k = permits_of(&u->operations[i], false); k > 0; k--) {
			struct dprof_arguments a = permit_of(u, i);

			if (blocked)
				dprof_say(&a, DPROF_KEY_PEER, DPROF_PEER_UNKNOWN);
			call_record(&u->plain.call, u->plain.site, now, &a);
			u->plain.call.since = (struct dprof_moment){ now, dprof_adapter_place() };
			blocked = false;
		}
	u->plain.site = NULL;
}

/* As many as a set may have; the kernel takes fewer at once. */
#define MOST_OPERATIONS 32000

static bool are_readable(const struct sembuf *operations, size_t n)
{
	return n <= MOST_OPERATIONS && is_readable(operations, n * sizeof(*operations));
}

/* Given before the call, as another may have them before it is over; but of one that has to wait behind it. */
#define SEMAPHORES(name, parameters, arguments)                                                             \
	DPROF_EXPORT int name parameters                                                                    \
	{                                                                                                   \
		__typeof__(&name) real = REAL(name);                                                        \
		int result;                                                                                 \
                                                                                                            \
		if (!is_watched() || !dprof_adapter_wanted(DPROF_KIND_WAIT) || !are_readable(operations, n)) \
			return real arguments;                                                              \
		struct set_use u = { { .site = SITE(site_##name), .call = call_begin(SITE(site_##name), CALLER) }, \
				     set, operations, n };                                                  \
		bool takes = any_permits(&u, false), gives = any_permits(&u, true);                         \
		struct plain p AT_END(plain_end) = { .site = may_wait(&u) ? SITE(site_##name) : NULL };     \
		if (gives && !takes)                                                                        \
			give_permits(&u);                                                                   \
		u.plain.call.since = dprof_adapter_moment();                                                \
		p.call = u.plain.call;                                                                      \
		call_may_be_left(&p.call, plain_left);                                                      \
		result = real arguments;                                                                    \
		if (were_none(&u, result))                                                                  \
			plain_in_vain(&p);                                                                  \
		else                                                                                        \
			plain_expired(&p, call_expired(result));                                            \
		if (result == 0 && takes) {                                                                 \
			p.site = NULL;                                                                      \
			take_permits(&u);                                                                   \
		}                                                                                           \
		if (result == 0 && takes && gives)                                                          \
			give_permits(&u);                                                                   \
		return result;                                                                              \
	}

SEMAPHORES(semop, (int set, struct sembuf *operations, size_t n), (set, operations, n))
SEMAPHORES(semtimedop, (int set, struct sembuf *operations, size_t n, const struct timespec *most), (set, operations, n, most))

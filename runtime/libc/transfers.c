/* SPDX-License-Identifier: MIT
 *
 * transfers.c - bytes go through a descriptor.
 *
 *   ENTER read [peer=UNKNOWN] channel=C [offset=N] bytes=N [role=0] ... EXIT    kind wait: pipes, sockets, ...
 *   ENTER write [peer=UNKNOWN] channel=C [offset=N] bytes=N role=1 ... EXIT
 *   ENTER read [peer=UNKNOWN] channel=C [offset=N] bytes=VALUE [role=0] ... EXIT  of an eventfd; likewise write
 *   ENTER recv [peer=UNKNOWN] channel=C [offset=N] tag=N bytes=N ... EXIT         messages that are kept apart; likewise send
 *   ENTER read bytes=N ... EXIT                                                kind io: files
 *   ENTER read until=NS [tag=NS] bytes=8 ... EXIT                              kind sleep: a timerfd, ready so long before
 *   ENTER read [tag=NS] [offset=NS] bytes=8 ... EXIT                           or was set for some time, once, so long before
 *   ENTER read ... EXIT                                                        or right before
 *
 * Who blocked may have waited for another (peer). What gives bytes to others is recorded in any case, and so is what
 * takes bytes that are counted, or finds that there will be none: it had to come behind whoever gave them. But the
 * standard output, as the job has found it, is a file: no thread in the trace takes what is written there. Unless that takes so
 * long that whoever does take it must have been waited for. Where a descriptor does not block, and there was nothing, or no room,
 * that is recorded as of polling.c; but the first time as if a time limit had ended it. */
#include <fcntl.h>
#include <linux/sockios.h>
#include <poll.h>
#include <stdarg.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "runtime/libc/libc.h"
#include "runtime/readable.h"

/* Where the plugin says that the call stands, it has this name (call_begin). */
void call_record(const struct libc_call *c, const struct dprof_site *own, uint64_t now,
		 const struct dprof_arguments *a)
{
	bool told = c->told && dprof_site_kind(c->told) == dprof_site_kind(own);
	const struct dprof_site *site = told ? c->told : own;

	if (!told && !dprof_adapter_is_for_us(c->caller))
		return;
	if (__builtin_expect(dprof_adapter_place() == c->since.place, 1)) {
		dprof_adapter_record_visit(site, c->since.stamp, now, a);
		return;
	}
	dprof_adapter_record_enter_late(site, c->since.stamp, a);
	dprof_adapter_record(site, DPROF_EXIT, dprof_adapter_now_fenced(), NULL);
}

bool call_asks_again(const struct libc_call *c, const struct dprof_site *own)
{
	bool again = dprof_adapter_asks_again(c->since);

	if (again)
		call_asks(c, own, c->since);
	return again;
}

void call_asks(const struct libc_call *c, const struct dprof_site *own, struct dprof_moment from)
{
	bool told = c->told && dprof_site_kind(c->told) == dprof_site_kind(own);

	if (told || dprof_adapter_is_for_us(c->caller))
		dprof_adapter_in_vain(told ? c->told : own, from);
}

void call_point(const struct libc_call *c, const struct dprof_site *own, const struct dprof_arguments *a)
{
	bool told = c->told && dprof_site_kind(c->told) == dprof_site_kind(own);

	if (told || dprof_adapter_is_for_us(c->caller))
		dprof_adapter_record(told ? c->told : own, DPROF_POINT, 0, a);
}

void call_unseen(const struct libc_call *c, const struct dprof_site *own)
{
	bool told = c->told && dprof_site_kind(c->told) == dprof_site_kind(own);

	if ((told || dprof_adapter_is_for_us(c->caller)) && descriptors_say_unseen())
		dprof_adapter_point(told ? c->told : own);
}

/* Or was ended by a signal. Where that moment was over it does not block, but would in another run. */
static bool sleeps_until(const struct plain *p)
{
	return dprof_site_kind(p->site) == DPROF_KIND_SLEEP && p->more.words > 0;
}

static bool plain_blocked(const struct plain *p, uint64_t now)
{
	return !p->at_once && call_blocked(&p->call, now);
}

/* Whether it blocked is asked without a fence, which costs more than the answer may be wrong by; and only what others
 * may have ended is stamped with one. */
void plain_end(struct plain *p)
{
	uint64_t now = dprof_adapter_now();

	call_is_over(&p->call);
	if (!p->site || (!plain_blocked(p, now) && !sleeps_until(p)))
		return;
	if (dprof_site_kind(p->site) == DPROF_KIND_WAIT) {
		now = dprof_adapter_now_fenced();
		dprof_say(&p->more, DPROF_KEY_PEER, DPROF_PEER_UNKNOWN);
	}
	call_record(&p->call, p->site, now, &p->more);
}

void plain_in_vain(struct plain *p)
{
	const struct dprof_site *site = p->site;
	uint64_t now;

	p->site = NULL;
	if (!site || call_asks_again(&p->call, site))
		return;
	now = dprof_adapter_now_fenced();
	dprof_say(&p->more, DPROF_KEY_UNTIL, 0);
	if (call_blocked(&p->call, now))
		call_record(&p->call, site, now, &p->more);
	call_asks(&p->call, site, dprof_adapter_moment());
}

void plain_shares(struct plain *p, uint64_t now, uint64_t object, int role)
{
	if (!object || !p->site)
		return;
	if (plain_blocked(p, now))
		dprof_say(&p->more, DPROF_KEY_PEER, DPROF_PEER_UNKNOWN);
	dprof_say(&p->more, DPROF_KEY_OBJECT, object);
	if (role != NO_ROLE)
		dprof_say(&p->more, DPROF_KEY_ROLE, (uint64_t)role);
	call_record(&p->call, p->site, now, &p->more);
	p->site = NULL;
}

/* If it comes back after all, on a stack that was left for another one, it has waited from here on. */
static void begin_again(struct libc_call *c)
{
	c->since = dprof_adapter_moment();
}

void plain_left(struct call_under_way *open)
{
	struct plain *p = CALL_LEFT(open, struct plain, call);

	p->more.words = 0;
	if (p->site && dprof_site_kind(p->site) == DPROF_KIND_WAIT)
		plain_expired(p, true);
	else if (p->site && dprof_site_kind(p->site) == DPROF_KIND_SLEEP)
		dprof_say(&p->more, DPROF_KEY_PEER, DPROF_PEER_UNKNOWN);
	plain_end(p);
	p->more.words = 0;
	begin_again(&p->call);
}

DPROF_SITE_OF(site_timer, DPROF_KIND_SLEEP, "read");

/* When it will be ready, or how long it has been: since it was read last, if it goes on and on. */
static void find_moment(struct libc_transfer *t, const struct descriptor *d)
{
	uint64_t now;

	t->until = t->late = t->set_ago = 0;
	if (!d->is_timer || t->sleeps || (d->set_ns && !descriptor_set_by_own(d)))
		return;
	now = clock_ns(d->clock);
	t->until = __atomic_load_n(&d->until, __ATOMIC_RELAXED);
	t->late = now > t->until ? now - t->until : 0;
	if (!d->set_ns)
		return;
	t->set_ago = now - d->set_ns;
	t->until = 0;
}

void transfer_begin(struct libc_transfer *t, int fd, enum way way, const struct dprof_site *wait, const struct dprof_site *io)
{
	struct descriptor looked_up;
	const struct descriptor *d = descriptor_at(fd, &looked_up);

	t->site[NOT_KNOWN] = t->site[OF_OTHERS] = wait;
	t->site[OF_FILE] = d->is_timer ? SITE(site_timer) : io;
	t->ends = t->expired = t->dont_wait = t->two = false;
	t->bytes = -1;
	t->most = 0;
	t->messages = -1;
	t->leads_outside = d->leads_outside && way == GIVES && d->what == OF_OTHERS;
	t->fd = fd;
	t->what = t->leads_outside ? OF_FILE : d->what;
	t->way = way;
	t->channel = d->channel[way];
	t->object = t->kind = 0;
	t->asked = 0;
	t->event = NULL;
	t->is_event = d->is_event;
	t->by_one = d->by_one;
	t->by_message = d->by_message;
	t->sets = d->is_timer && d != &looked_up ? &d->sets : NULL;
	t->set_elsewhere = d->is_timer && d->is_shared;
	t->is_shared = t->sets ? &d->is_shared : NULL;
	t->sets_before = t->sets ? __atomic_load_n(t->sets, __ATOMIC_ACQUIRE) : 0;
	t->sleeps = d->is_timer && d->set_at && d->set_at == dprof_adapter_place();
	find_moment(t, d);
	t->is_from_others = way == TAKES && descriptor_takes(d);
	t->of = d->count[way];
	t->count = count_begin(t->of, &t->offset);
}

/* It would have taken more. */
static bool takes_what_there_is(const struct libc_transfer *t)
{
	return t->bytes > 0 && !t->by_message && (t->is_event ? !t->by_one : t->bytes < t->most);
}

/* What the channel counts. */
static int64_t count_moved(const struct libc_transfer *t)
{
	if (t->by_message && t->messages >= 0)
		return t->messages;
	if (t->by_message)
		return t->bytes > 0;
	return t->bytes > 0 ? t->bytes : 0;
}

/* Then it has waited for whoever did that, or slept. */
static void look_whether_set_anew(struct libc_transfer *t)
{
	bool anew = t->sets && (__atomic_load_n(t->sets, __ATOMIC_ACQUIRE) != t->sets_before ||
				__atomic_load_n(t->is_shared, __ATOMIC_RELAXED));

	if (!anew && !t->set_elsewhere)
		return;
	t->what = OF_OTHERS;
	t->until = t->late = t->set_ago = 0;
	t->expired = true;
}

/* Whose moments are known says when it was ready, also where another call has waited for it. */
static bool read_timer(const struct libc_transfer *t)
{
	bool known = (t->until || t->set_ago) && t->bytes == sizeof(*t->event) && t->event;

	if (known)
		descriptor_read_timer(t->fd, *t->event);
	return known;
}

/* A pipe, or a socket, from which whoever takes has not kept up. (What a socket holds is a half or so of what counts for its
 * buffer, and who was held up goes on when there is some room.) */
static bool is_filling(int fd)
{
	long room = sys(SYS_fcntl, fd, F_GETPIPE_SZ, 0);
	int bytes = 0, size = 0;
	socklen_t n = sizeof(size);

	if (room > 0)
		return sys(SYS_ioctl, fd, FIONREAD, &bytes) == 0 && 2L * bytes >= room;
	return sys(SYS_getsockopt, fd, SOL_SOCKET, SO_SNDBUF, &size, &n) == 0 && size > 0 &&
	       sys(SYS_ioctl, fd, SIOCOUTQ, &bytes) == 0 && 4L * bytes >= size;
}

#define SURELY_HELD_UP 100 /* times longer than what may be */

/* Then it waits, like any other; but nothing that is counted is where it gives. Who only lost its core meanwhile does not. */
void transfer_look_outside(struct libc_transfer *t, uint64_t now)
{
	uint64_t took = now - t->call.since.stamp;

	if (!t->leads_outside || took < dprof_adapter_pause_ticks ||
	    (took < SURELY_HELD_UP * dprof_adapter_pause_ticks && !is_filling(t->fd)))
		return;
	t->what = OF_OTHERS;
	t->channel = 0;
}

static void say_object(struct dprof_arguments *a, const struct libc_transfer *t)
{
	dprof_say(a, DPROF_KEY_OBJECT, t->object);
	if (t->kind)
		dprof_say(a, DPROF_KEY_TAG, t->kind);
	if (t->asked)
		dprof_say(a, DPROF_KEY_OFFSET, (uint64_t)t->asked);
}

void transfer_record(const struct libc_transfer *t, uint64_t now, bool blocked, bool counted)
{
	struct dprof_arguments a;

	a.words = 0;
	if (t->what != OF_FILE && blocked)
		dprof_say(&a, DPROF_KEY_PEER, DPROF_PEER_UNKNOWN);
	if (t->until)
		dprof_say(&a, DPROF_KEY_UNTIL, t->until);
	else if (t->expired && t->what != OF_FILE)
		dprof_say(&a, DPROF_KEY_UNTIL, 0);
	if (t->late)
		dprof_say(&a, DPROF_KEY_TAG, t->late);
	else if (t->by_message && t->channel && t->bytes > 0)
		dprof_say(&a, DPROF_KEY_TAG, (uint64_t)count_moved(t));
	if (t->set_ago)
		dprof_say(&a, DPROF_KEY_OFFSET, t->set_ago);
	if (t->channel)
		dprof_say(&a, DPROF_KEY_CHANNEL, t->channel);
	if (t->object)
		say_object(&a, t);
	if (counted)
		dprof_say(&a, DPROF_KEY_OFFSET, t->offset);
	if (t->bytes >= 0 && !t->sleeps)
		dprof_say(&a, DPROF_KEY_BYTES, (uint64_t)t->bytes);
	if (t->what != OF_FILE && (t->way == GIVES || takes_what_there_is(t)))
		dprof_say(&a, DPROF_KEY_ROLE, t->way == GIVES);
	call_record(&t->call, t->site[t->what], now, &a);
}

/* Of an eventfd what it counts was moved. False where that is not known. */
static bool count_event(struct libc_transfer *t)
{
	bool moved = t->is_event && t->bytes == sizeof(*t->event);

	if (moved && t->event && *t->event <= DPROF_VALUE_MAX)
		t->bytes = (int64_t)*t->event;
	else if (moved)
		return false;
	return true;
}

/* What would take nothing of a message: whether that is gone then is not known. */
static bool is_for_none(const struct libc_transfer *t)
{
	return t->by_message && t->way == TAKES && t->bytes == 0 && t->most == 0;
}

/* Datagrams have no end: it is an empty one. */
static bool is_empty(const struct libc_transfer *t)
{
	int type = 0;
	socklen_t size = sizeof(type);

	return t->by_message && t->way == TAKES && t->bytes == 0 &&
	       sys(SYS_getsockopt, t->fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_DGRAM;
}

/* Others end no call that would have come back with nothing: that took so long of the thread's own time, or without a core. But one
 * that did come back so is an attempt in vain, which may be a part of a wait. */
static bool may_block(const struct libc_transfer *t, uint64_t now)
{
	bool brief = now - t->call.since.stamp < dprof_adapter_pause_ticks;

	return t->expired || t->what != OF_OTHERS || t->two ||
	       (!t->dont_wait && ((brief && descriptor_blocked(t->fd)) || !descriptor_never_blocks(t->fd)));
}

/* It found nothing, or no room, and did not wait: queues say so by themselves. (Time limits are counted in ticks of the
 * kernel, which are longer.) */
static bool was_in_vain(const struct libc_transfer *t, uint64_t now)
{
	if (!t->expired || t->bytes >= 0 || t->what != OF_OTHERS || t->two)
		return false;
	if (t->fd < 0)
		return errno == EAGAIN || errno == ENOMSG;
	return t->ends && errno == EAGAIN &&
	       (t->dont_wait || now - t->call.since.stamp < dprof_adapter_pause_ticks || descriptor_never_blocks(t->fd));
}

/* Also when the thread is cancelled: then it is unknown what was moved. What is recorded in any case has one stamp. */
void transfer_end(struct libc_transfer *t)
{
	call_is_over(&t->call);
	bool whole = count_event(t) && !is_for_none(t);
	bool counted = t->count && count_end(t->count, t->ends && whole ? count_moved(t) : -1) && !is_empty(t);
	bool messages = t->object && t->bytes >= 0;
	bool seen = counted || (count_is_out_of_order(t->of) && t->ends && whole);
	bool moves = messages || (t->what == OF_OTHERS && (t->way == GIVES ? t->bytes > 0 : seen && t->bytes >= 0));
	uint64_t now = moves ? dprof_adapter_now_fenced() : dprof_adapter_now();
	bool blocked = call_blocked(&t->call, now) && may_block(t, now);

	if (!t->ends || !whole)
		count_give_up(t->of);
	if (blocked)
		transfer_look_outside(t, now);
	look_whether_set_anew(t);
	blocked |= read_timer(t);
	if (moves && t->way == TAKES)
		dprof_adapter_polled_since(&t->call.since);
	bool in_vain = was_in_vain(t, now);
	if (in_vain && call_asks_again(&t->call, t->site[OF_OTHERS]))
		return;
	if (moves)
		transfer_record(t, now, blocked, counted);
	else if (blocked && t->what != NOT_KNOWN)
		transfer_record(t, dprof_adapter_now_fenced(), !in_vain || t->fd >= 0, counted);
	else if (t->is_from_others && t->bytes >= 0)
		call_unseen(&t->call, t->site[OF_OTHERS]);
	if (in_vain)
		call_asks(&t->call, t->site[OF_OTHERS], dprof_adapter_moment());
}

/* What was moved is not known: only that nobody was told. */
void transfer_left(struct call_under_way *open)
{
	struct libc_transfer *t = CALL_LEFT(open, struct libc_transfer, call);

	t->bytes = -1;
	t->ends = false;
	t->expired = true;
	transfer_end(t);
	t->count = NULL;
	begin_again(&t->call);
}

/* ---- read and write ------------------------------------------------------------------------------- */

ssize_t __read_chk(int, void *, size_t, size_t);
ssize_t __pread_chk(int, void *, size_t, off_t, size_t);
ssize_t __pread64_chk(int, void *, size_t, off64_t, size_t);
ssize_t __recv_chk(int, void *, size_t, size_t, int);
ssize_t __recvfrom_chk(int, void *, size_t, size_t, int, struct sockaddr *, socklen_t *);

#define MOVE(name, site, way, parameters, arguments) MOVE_MOST(name, site, way, 0, NULL, parameters, arguments)
#define MOVE_MOST(name, site, way, count, at, parameters, arguments) \
	DPROF_EXPORT ssize_t name parameters                        \
	{                                                           \
		__typeof__(&name) real = REAL(name); \
		if (!is_watched())                                  \
			return real arguments;                \
		TRANSFER(t, site, fd, way);                         \
		t.bytes = real arguments;                     \
		t.expired = call_expired(t.bytes);                  \
		t.most = t.bytes >= 0 ? (int64_t)(count) : 0;       \
		t.event = (at);                                     \
		t.ends = true;                                      \
		return t.bytes;                                     \
	}

TRANSFER_SITES(read);
TRANSFER_SITES(write);
TRANSFER_SITES(readv);
TRANSFER_SITES(writev);
TRANSFER_SITES(pread);
TRANSFER_SITES(pwrite);
TRANSFER_SITES(preadv);
TRANSFER_SITES(pwritev);

/* What fits in all of them. */
static int64_t room_of(const struct iovec *v, int n)
{
	int64_t bytes = 0;

	for (int i = 0; i < n; i++)
		bytes += (int64_t)v[i].iov_len;
	return bytes;
}

MOVE_MOST(read, read, TAKES, n, to, (int fd, void *to, size_t n), (fd, to, n))
MOVE_MOST(__read_chk, read, TAKES, n, to, (int fd, void *to, size_t n, size_t room), (fd, to, n, room))
MOVE_MOST(write, write, GIVES, 0, from, (int fd, const void *from, size_t n), (fd, from, n))
MOVE_MOST(readv, readv, TAKES, room_of(v, n), NULL, (int fd, const struct iovec *v, int n), (fd, v, n))
MOVE(writev, writev, GIVES, (int fd, const struct iovec *v, int n), (fd, v, n))
MOVE(pread, pread, TAKES, (int fd, void *to, size_t n, off_t at), (fd, to, n, at))
MOVE(pread64, pread, TAKES, (int fd, void *to, size_t n, off64_t at), (fd, to, n, at))
MOVE(__pread_chk, pread, TAKES, (int fd, void *to, size_t n, off_t at, size_t room), (fd, to, n, at, room))
MOVE(__pread64_chk, pread, TAKES, (int fd, void *to, size_t n, off64_t at, size_t room), (fd, to, n, at, room))
MOVE(pwrite, pwrite, GIVES, (int fd, const void *from, size_t n, off_t at), (fd, from, n, at))
MOVE(pwrite64, pwrite, GIVES, (int fd, const void *from, size_t n, off64_t at), (fd, from, n, at))
MOVE(preadv, preadv, TAKES, (int fd, const struct iovec *v, int n, off_t at), (fd, v, n, at))
MOVE(preadv64, preadv, TAKES, (int fd, const struct iovec *v, int n, off64_t at), (fd, v, n, at))
MOVE(preadv2, preadv, TAKES, (int fd, const struct iovec *v, int n, off_t at, int f), (fd, v, n, at, f))
MOVE(preadv64v2, preadv, TAKES, (int fd, const struct iovec *v, int n, off64_t at, int f), (fd, v, n, at, f))
MOVE(pwritev, pwritev, GIVES, (int fd, const struct iovec *v, int n, off_t at), (fd, v, n, at))
MOVE(pwritev64, pwritev, GIVES, (int fd, const struct iovec *v, int n, off64_t at), (fd, v, n, at))
MOVE(pwritev2, pwritev, GIVES, (int fd, const struct iovec *v, int n, off_t at, int f), (fd, v, n, at, f))
MOVE(pwritev64v2, pwritev, GIVES, (int fd, const struct iovec *v, int n, off64_t at, int f), (fd, v, n, at, f))

/* ---- Sockets ---------------------------------------------------------------------------------------- */

/* A message with an address may go elsewhere. */
static void goes_to(struct libc_transfer *t, const void *address)
{
	if (!t->by_message || !address || t->bytes < 0)
		return;
	t->ends = false;
	t->channel = 0;
}

/* What is only looked at stays there, and what the kernel tells of what was sent is nothing that came; urgent bytes
 * go their own way. */
#define RECEIVE(name, site, count, parameters, arguments)           \
	DPROF_EXPORT ssize_t name parameters                        \
	{                                                           \
		__typeof__(&name) real = REAL(name); \
		if (!is_watched())                                  \
			return real arguments;                \
		TRANSFER(t, site, fd, TAKES);                       \
		ssize_t result = real arguments;              \
		t.expired = call_expired(result);                   \
		t.most = result >= 0 ? (int64_t)(count) : 0;        \
		t.ends = !(flags & MSG_OOB);                        \
		t.dont_wait = flags & MSG_DONTWAIT;                 \
		t.bytes = flags & (MSG_PEEK | MSG_ERRQUEUE) && result > 0 ? 0 : result; \
		return result;                                      \
	}
#define SEND(name, to, parameters, arguments)                       \
	DPROF_EXPORT ssize_t name parameters                        \
	{                                                           \
		__typeof__(&name) real = REAL(name); \
		if (!is_watched())                                  \
			return real arguments;                \
		TRANSFER(t, name, fd, GIVES);                       \
		t.bytes = real arguments;                     \
		t.expired = call_expired(t.bytes);                  \
		t.ends = !(flags & MSG_OOB);                        \
		t.dont_wait = flags & MSG_DONTWAIT;                 \
		goes_to(&t, to);                                    \
		return t.bytes;                                     \
	}

TRANSFER_SITES(recv);
TRANSFER_SITES(recvfrom);
TRANSFER_SITES(recvmsg);
TRANSFER_SITES(recvmmsg);
TRANSFER_SITES(send);
TRANSFER_SITES(sendto);
TRANSFER_SITES(sendmsg);
TRANSFER_SITES(sendmmsg);

RECEIVE(recv, recv, n, (int fd, void *to, size_t n, int flags), (fd, to, n, flags))
RECEIVE(__recv_chk, recv, n, (int fd, void *to, size_t n, size_t room, int flags), (fd, to, n, room, flags))
RECEIVE(recvfrom, recvfrom, n, (int fd, void *to, size_t n, int flags, struct sockaddr *from, socklen_t *size),
	(fd, to, n, flags, from, size))
RECEIVE(__recvfrom_chk, recvfrom, n,
	(int fd, void *to, size_t n, size_t room, int flags, struct sockaddr *from, socklen_t *size),
	(fd, to, n, room, flags, from, size))
RECEIVE(recvmsg, recvmsg, room_of(message->msg_iov, (int)message->msg_iovlen),
	(int fd, struct msghdr *message, int flags), (fd, message, flags))
SEND(send, NULL, (int fd, const void *from, size_t n, int flags), (fd, from, n, flags))
SEND(sendto, to, (int fd, const void *from, size_t n, int flags, const struct sockaddr *to, socklen_t size),
     (fd, from, n, flags, to, size))

/* Whoever is given a descriptor may use it, as soon as the kernel has it: so this is before the call. */
static void give_away(const struct msghdr *message)
{
	struct msghdr m = *message; /* the macros take no const */

	if (!m.msg_control || !is_readable(m.msg_control, m.msg_controllen))
		return;
	for (struct cmsghdr *c = CMSG_FIRSTHDR(&m); c; c = CMSG_NXTHDR(&m, c)) {
		size_t bytes = c->cmsg_len > CMSG_LEN(0) ? c->cmsg_len - CMSG_LEN(0) : 0;

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		for (size_t i = 0; i < bytes / sizeof(int); i++)
			descriptor_lost(((const int *)CMSG_DATA(c))[i]);
	}
}

DPROF_EXPORT ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
	__typeof__(&sendmsg) real = REAL(sendmsg);
	if (!is_watched())
		return real(fd, message, flags);
	if (is_readable(message, sizeof(*message)))
		give_away(message);
	TRANSFER(t, sendmsg, fd, GIVES);
	t.bytes = real(fd, message, flags);
	t.expired = call_expired(t.bytes);
	t.ends = !(flags & MSG_OOB);
	t.dont_wait = flags & MSG_DONTWAIT;
	goes_to(&t, t.bytes < 0 ? NULL : message->msg_name);
	return t.bytes;
}

static int64_t sum(const struct mmsghdr *messages, int n)
{
	int64_t bytes = n < 0 ? -1 : 0;

	for (int i = 0; i < n; i++)
		bytes += messages[i].msg_len;
	return bytes;
}

/* Those that are not empty. */
static int64_t count_messages(const struct mmsghdr *messages, int n)
{
	int64_t some = 0;

	for (int i = 0; i < n; i++)
		some += messages[i].msg_len > 0;
	return some;
}

DPROF_EXPORT int recvmmsg(int fd, struct mmsghdr *messages, unsigned n, int flags, struct timespec *most)
{
	__typeof__(&recvmmsg) real = REAL(recvmmsg);
	int result;

	if (!is_watched())
		return real(fd, messages, n, flags, most);
	TRANSFER(t, recvmmsg, fd, TAKES);
	result = real(fd, messages, n, flags, most);
	t.expired = call_expired(result);
	t.ends = !(flags & MSG_OOB);
	t.dont_wait = flags & MSG_DONTWAIT;
	t.bytes = flags & (MSG_PEEK | MSG_ERRQUEUE) && result > 0 ? 0 : sum(messages, result);
	t.messages = t.bytes > 0 ? count_messages(messages, result) : 0;
	return result;
}

DPROF_EXPORT int sendmmsg(int fd, struct mmsghdr *messages, unsigned n, int flags)
{
	__typeof__(&sendmmsg) real = REAL(sendmmsg);
	int result;

	if (!is_watched())
		return real(fd, messages, n, flags);
	for (unsigned i = 0; i < n && is_readable(&messages[i], sizeof(*messages)); i++)
		give_away(&messages[i].msg_hdr);
	TRANSFER(t, sendmmsg, fd, GIVES);
	result = real(fd, messages, n, flags);
	t.expired = call_expired(result);
	t.ends = !(flags & MSG_OOB);
	t.dont_wait = flags & MSG_DONTWAIT;
	t.bytes = sum(messages, result);
	t.messages = count_messages(messages, result);
	for (int i = 0; i < result; i++)
		goes_to(&t, messages[i].msg_hdr.msg_name);
	return result;
}

/* ---- Events ------------------------------------------------------------------------------------------ */

#define EVENT(name, site, way, at, parameters, arguments)           \
	DPROF_EXPORT int name parameters                            \
	{                                                           \
		__typeof__(&name) real = REAL(name);                \
		int result;                                         \
                                                                    \
		if (!is_watched())                                  \
			return real arguments;                      \
		TRANSFER(t, site, fd, way);                         \
		result = real arguments;                            \
		t.bytes = result == 0 ? (int64_t)sizeof(eventfd_t) : -1; \
		t.event = (at);                                     \
		t.ends = true;                                      \
		return result;                                      \
	}

EVENT(eventfd_read, read, TAKES, value, (int fd, eventfd_t *value), (fd, value))
EVENT(eventfd_write, write, GIVES, &value, (int fd, eventfd_t value), (fd, value))

/* ---- Text -------------------------------------------------------------------------------------------- */

TRANSFER_SITES(dprintf);

int __dprintf_chk(int, int, const char *, ...);
int __vdprintf_chk(int, int, const char *, va_list);

/* It may be written in several pieces; how many of them went before one failed is not known. */
#define PRINT(name, parameters, arguments)                          \
	DPROF_EXPORT int name parameters                            \
	{                                                           \
		__typeof__(&name) real = REAL(name);                \
		if (!is_watched())                                  \
			return real arguments;                      \
		TRANSFER(t, dprintf, fd, GIVES);                    \
		t.bytes = real arguments;                           \
		t.ends = t.bytes >= 0;                              \
		return (int)t.bytes;                                \
	}
#define PRINT_LIST(name, of_list, parameters, arguments)            \
	DPROF_EXPORT int name parameters                            \
	{                                                           \
		__typeof__(&of_list) real = REAL(of_list);          \
		va_list list AT_END(end_list);                      \
                                                                    \
		va_start(list, format);                             \
		if (!is_watched())                                  \
			return real arguments;                      \
		TRANSFER(t, dprintf, fd, GIVES);                    \
		t.bytes = real arguments;                           \
		t.ends = t.bytes >= 0;                              \
		return (int)t.bytes;                                \
	}

static inline void end_list(va_list *list)
{
	va_end(*list);
}

PRINT(vdprintf, (int fd, const char *format, va_list list), (fd, format, list))
PRINT(__vdprintf_chk, (int fd, int flag, const char *format, va_list list), (fd, flag, format, list))
PRINT_LIST(dprintf, vdprintf, (int fd, const char *format, ...), (fd, format, list))
PRINT_LIST(__dprintf_chk, __vdprintf_chk, (int fd, int flag, const char *format, ...), (fd, flag, format, list))

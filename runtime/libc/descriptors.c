/* SPDX-License-Identifier: MIT
 *
 * descriptors.c - what a descriptor stands for, found out once, and how many bytes went through it.
 *
 * An entry of the table is right until the descriptor is closed or made anew, which is noticed
 * (lifetimes.c); then it is looked up again when it is used again. A count is right while all who move bytes
 * are seen: it begins where a pipe, a pair or a connection is made, is shared with the children of forks, and is
 * given up for good as soon as two move bytes the same way at the same time, another program may have got the
 * descriptor, or the C library moves bytes there on its own (streams, sendfile). Of the first of these, if nothing else has been,
 * all is still seen: only the order is not (OUT_OF_ORDER).
 *
 * Law: a count that is given is the number of bytes that went that way before; of a socket that keeps messages apart that of
 * messages, as what is not read of one is gone (but for empty ones, which look like the end). */
#include <netinet/in.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <fcntl.h>
#include <pthread.h>

#include "runtime/libc/libc.h"
#include "runtime/sum.h"
#include "runtime/sys.h"

#define DESCRIPTORS  (DESCRIPTORS_MAX + 1)
#define COUNTS       16384 /* in a process and its children */
#define MAJOR_MEMORY 1     /* /dev/null, /dev/zero, ... */

#ifndef SO_NETNS_COOKIE
#define SO_NETNS_COOKIE 71
#endif

static struct descriptor table[DESCRIPTORS];
static int highest; /* that was ever counted */
static bool are_connecting; /* some of them, perhaps */
static int timerfds;        /* those that were made here are below this */
static long own_pid; /* 0: not yet known */
static bool said_unseen;
static __thread const char this_thread; /* its address is the thread's */

/* ---- Counts ------------------------------------------------------------------------------------- */

/* `busy` while bytes are moved; `lost` for good. */
enum { OUT_OF_ORDER = 1, UNSEEN = 2 };
struct count {
	uint64_t channel, bytes;
	uint32_t busy, lost; /* OUT_OF_ORDER, UNSEEN or both */
	enum way way;
};

static struct counts {
	uint32_t used;
	struct count count[COUNTS];
} *counts;

static struct count *new_count(uint64_t channel, enum way way)
{
	struct counts *all = counts;
	uint32_t i;

	if (!all || !channel || __atomic_load_n(&all->used, __ATOMIC_RELAXED) >= COUNTS)
		return NULL;
	i = __atomic_fetch_add(&all->used, 1, __ATOMIC_RELAXED);
	if (i >= COUNTS)
		return NULL;
	all->count[i].way = way;
	__atomic_store_n(&all->count[i].channel, channel, __ATOMIC_RELEASE);
	return &all->count[i];
}

static void lose(struct count *c)
{
	if (c)
		__atomic_fetch_or(&c->lost, UNSEEN, __ATOMIC_SEQ_CST);
}

bool count_is_out_of_order(const struct count *c)
{
	return c && __atomic_load_n(&c->lost, __ATOMIC_RELAXED) == OUT_OF_ORDER;
}

void count_give_up(struct count *c)
{
	lose(c);
}

struct count *count_begin(struct count *c, uint64_t *offset)
{
	if (!c || __atomic_load_n(&c->lost, __ATOMIC_RELAXED))
		return NULL;
	if (__atomic_exchange_n(&c->busy, 1, __ATOMIC_SEQ_CST)) {
		__atomic_fetch_or(&c->lost, OUT_OF_ORDER, __ATOMIC_SEQ_CST);
		return NULL;
	}
	*offset = c->bytes;
	return c;
}

/* Whoever has found us busy has said so before it moves anything: what it moves and we do not hear of in time
 * comes behind what is ours. */
bool count_end(struct count *c, int64_t n)
{
	if (n < 0) {
		lose(c);
		return false;
	}
	c->bytes += (uint64_t)n;
	__atomic_store_n(&c->busy, 0, __ATOMIC_RELEASE);
	return !__atomic_load_n(&c->lost, __ATOMIC_RELAXED);
}

/* A process has the channel of which nothing was known. */
static void lose_all_of(uint64_t channel)
{
	uint32_t used = counts ? __atomic_load_n(&counts->used, __ATOMIC_ACQUIRE) : 0;

	for (uint32_t i = 0; channel && i < used && i < COUNTS; i++)
		if (__atomic_load_n(&counts->count[i].channel, __ATOMIC_RELAXED) == channel)
			lose(&counts->count[i]);
}

/* ---- The number of a channel --------------------------------------------------------------------- */

static uint64_t hash_host(uint64_t h)
{
	const char *host = dprof_adapter_hostid();

	return dprof_sum_bytes(h, host, strlen(host));
}

/* 56 bits, in which an argument has room. */
static uint64_t number_of(uint64_t h)
{
	uint64_t number = (h ^ h >> 56) & (UINT64_MAX >> 8);

	return number ? number : 1;
}

static uint64_t pipe_number(const struct stat *st)
{
	uint64_t h = hash_host(dprof_sum_bytes(DPROF_SUM_BEGIN, "pipe", 4));

	h = dprof_sum_bytes(h, &st->st_dev, sizeof(st->st_dev));
	return number_of(dprof_sum_bytes(h, &st->st_ino, sizeof(st->st_ino)));
}

static uint64_t pair_number(ino_t from, ino_t to)
{
	uint64_t h = hash_host(dprof_sum_bytes(DPROF_SUM_BEGIN, "pair", 4));

	h = dprof_sum_bytes(h, &from, sizeof(from));
	return number_of(dprof_sum_bytes(h, &to, sizeof(to)));
}

/* An address of IPv4 may be written as one of IPv6. */
struct socket_end { struct in6_addr address; in_port_t port; };

static bool end_of(const struct sockaddr_storage *s, struct socket_end *e)
{
	const struct sockaddr_in *four = (const void *)s;
	const struct sockaddr_in6 *six = (const void *)s;

	memset(e, 0, sizeof(*e));
	if (s->ss_family == AF_INET6) {
		e->address = six->sin6_addr;
		e->port = six->sin6_port;
	} else if (s->ss_family == AF_INET) {
		e->address.s6_addr[10] = e->address.s6_addr[11] = 0xff;
		memcpy(&e->address.s6_addr[12], &four->sin_addr, 4);
		e->port = four->sin_port;
	}
	return s->ss_family == AF_INET || s->ss_family == AF_INET6;
}

static bool is_local(const struct socket_end *e)
{
	return IN6_IS_ADDR_LOOPBACK(&e->address) || IN6_IS_ADDR_LINKLOCAL(&e->address) ||
	       (IN6_IS_ADDR_V4MAPPED(&e->address) && e->address.s6_addr[12] == 127);
}

/* Each network namespace has a loopback of its own; kernels before 5.14 do not say which one. */
static uint64_t hash_network(uint64_t h, int fd)
{
	uint64_t cookie = 0;
	socklen_t size = sizeof(cookie);

	sys(SYS_getsockopt, fd, SOL_SOCKET, SO_NETNS_COOKIE, &cookie, &size);
	return dprof_sum_bytes(hash_host(h), &cookie, sizeof(cookie));
}

static uint64_t connection_number(int fd, const struct socket_end *from,
				  const struct socket_end *to)
{
	uint64_t h = dprof_sum_bytes(DPROF_SUM_BEGIN, "tcp", 3);

	if (is_local(from) || is_local(to))
		h = hash_network(h, fd);
	h = dprof_sum_bytes(dprof_sum_bytes(h, &from->address, sizeof(from->address)), &from->port, sizeof(from->port));
	return number_of(dprof_sum_bytes(dprof_sum_bytes(h, &to->address, sizeof(to->address)), &to->port, sizeof(to->port)));
}

/* ---- What a descriptor is ------------------------------------------------------------------------ */

static long option_of(int fd, int name)
{
	int value = 0;
	socklen_t size = sizeof(value);

	return sys(SYS_getsockopt, fd, SOL_SOCKET, name, &value, &size) < 0 ? -1 : value;
}

/* Of what listens it is known where a connection leads that it has accepted, and that others have asked for. */
uint64_t descriptor_listening(int fd, bool asked)
{
	struct sockaddr_storage s = { 0 };
	socklen_t size = sizeof(s);
	struct socket_end e;
	uint64_t h = dprof_sum_bytes(DPROF_SUM_BEGIN, "listening", 9);

	if (option_of(fd, SO_TYPE) == SOCK_DGRAM || sys(asked ? SYS_getpeername : SYS_getsockname, fd, &s, &size) < 0)
		return 0;
	if (s.ss_family == AF_UNIX)
		return number_of(dprof_sum_bytes(hash_network(h, fd), &s, size < sizeof(s) ? size : sizeof(s)));
	if (!end_of(&s, &e))
		return 0;
	if (is_local(&e))
		h = hash_network(h, fd);
	return number_of(dprof_sum_bytes(dprof_sum_bytes(h, &e.address, sizeof(e.address)), &e.port, sizeof(e.port)));
}

/* False: it is not connected, perhaps not yet. */
static bool find_ends(int fd, struct socket_end *self, struct socket_end *other)
{
	struct sockaddr_storage s = { 0 }, o = { 0 };
	socklen_t size = sizeof(s), other_size = sizeof(o);

	return sys(SYS_getsockname, fd, &s, &size) == 0 && sys(SYS_getpeername, fd, &o, &other_size) == 0 &&
	       end_of(&s, self) && end_of(&o, other);
}

/* By an address of AF_UNIX: whether there is a name in it. */
static bool find_name(long call, int fd, bool *named)
{
	struct sockaddr_un address;
	socklen_t size = sizeof(address);

	if (sys(call, fd, &address, &size) < 0)
		return false;
	*named = size > offsetof(struct sockaddr_un, sun_path);
	return true;
}

/* Who asked for a connection has no name, and knows no other socket than its own before it is accepted; who accepted has the name
 * that was asked for; of a pair neither has one. If both have, nothing tells who asked. Datagrams are only of one other socket
 * where that is of a pair. */
static void look_at_local_socket(int fd, uint64_t inode, struct descriptor *d)
{
	long type = option_of(fd, SO_TYPE);
	bool named, other_named;
	bool is_connected = find_name(SYS_getsockname, fd, &named) && find_name(SYS_getpeername, fd, &other_named);
	uint64_t other = 0;

	d->by_message = type != SOCK_STREAM;
	d->is_alone = !is_connected && type != SOCK_DGRAM;
	if (!is_connected || (type == SOCK_DGRAM ? named || other_named : named && other_named))
		return;
	if (!other_named)
		other = dprof_adapter_local_peer(inode);
	if (!other_named && !other)
		return;
	d->channel[TAKES] = pair_number(other, named ? 0 : inode);
	d->channel[GIVES] = pair_number(named ? 0 : inode, other);
}

static void look_at_socket(int fd, uint64_t inode, struct descriptor *d)
{
	long domain = option_of(fd, SO_DOMAIN);
	struct socket_end self, other;

	d->what = OF_OTHERS;
	if (domain == AF_UNIX) {
		look_at_local_socket(fd, inode, d);
		return;
	}
	if (option_of(fd, SO_PROTOCOL) != IPPROTO_TCP || (domain != AF_INET && domain != AF_INET6))
		return;
	d->is_alone = !find_ends(fd, &self, &other);
	if (d->is_alone)
		return;
	d->channel[TAKES] = connection_number(fd, &other, &self);
	d->channel[GIVES] = connection_number(fd, &self, &other);
}

static enum channel_kind of_device(dev_t device)
{
	return major(device) == MAJOR_MEMORY ? OF_FILE : OF_OTHERS;
}

/* The kernel says so in its name only. */
static bool is_timerfd(int fd)
{
	static const char timerfd[] = "anon_inode:[timerfd]";
	char path[] = "/proc/self/fd/0123456789", name[sizeof(timerfd)];
	char *end = path + strlen("/proc/self/fd/");
	int digits = 1;

	for (int left = fd / 10; left; left /= 10)
		digits++;
	end[digits] = 0;
	for (; digits--; fd /= 10)
		end[digits] = (char)('0' + fd % 10);
	return sys(SYS_readlinkat, AT_FDCWD, path, name, sizeof(name)) == sizeof(timerfd) - 1 &&
	       memcmp(name, timerfd, sizeof(timerfd) - 1) == 0;
}

static struct descriptor look_at(int fd)
{
	struct descriptor d = { .what = OF_FILE };
	struct stat st;

	if (fd < 0 || sys(SYS_fstat, fd, &st) < 0)
		return (struct descriptor){ .what = NOT_KNOWN };
	switch (st.st_mode & S_IFMT) {
	case S_IFIFO:
		d.what = OF_OTHERS;
		d.channel[TAKES] = d.channel[GIVES] = pipe_number(&st);
		break;
	case S_IFSOCK:
		look_at_socket(fd, st.st_ino, &d);
		break;
	case S_IFCHR:
		d.what = of_device(st.st_rdev);
		break;
	case 0: /* eventfd, timerfd, epoll, ... */
		d.what = OF_OTHERS;
		d.is_timerfd = d.is_shared = is_timerfd(fd);
	}
	return d;
}

/* ---- The table ------------------------------------------------------------------------------------ */

static struct descriptor *entry(int fd)
{
	return fd >= 0 && fd < DESCRIPTORS ? &table[fd] : NULL;
}

static void put_own(int fd, const struct descriptor *d)
{
	struct descriptor *e = &table[fd];

	if ((d->count[TAKES] || d->count[GIVES]) && fd > __atomic_load_n(&highest, __ATOMIC_RELAXED))
		__atomic_store_n(&highest, fd, __ATOMIC_RELAXED);
	__atomic_store_n(&e->what, NOT_KNOWN, __ATOMIC_RELEASE);
	for (int way = TAKES; way <= GIVES; way++) {
		e->channel[way] = d->channel[way];
		e->count[way] = d->count[way];
	}
	e->is_new = d->is_new;
	e->leads_outside = d->leads_outside;
	e->is_event = d->is_event;
	e->by_one = d->by_one;
	e->by_message = d->by_message;
	e->blocks = d->blocks;
	e->is_timer = d->is_timer;
	e->until = d->until;
	e->step = d->step;
	e->set_ns = d->set_ns;
	e->set_by = d->set_by;
	e->clock = d->clock;
	e->set_at = d->set_at;
	e->is_timerfd = d->is_timerfd;
	e->is_shared = d->is_shared;
	e->timers = d->timers;
	e->timer_data = d->timer_data;
	__atomic_store_n(&e->what, d->what, __ATOMIC_RELEASE);
}

/* In the child of a vfork the table is its parent's, who has other descriptors: there only this is noted, that
 * the number may stand for something else, and what moves there is nothing that we count. */
static void put(int fd, const struct descriptor *d)
{
	if (entry(fd) && descriptors_of_parent())
		descriptor_lost(fd);
	else if (entry(fd))
		put_own(fd, d);
}

static void count_from_here(struct descriptor *d)
{
	for (int way = TAKES; way <= GIVES; way++)
		d->count[way] = new_count(d->channel[way], (enum way)way);
}

static struct descriptor look_up(int fd)
{
	struct descriptor *e = entry(fd), d = look_at(fd);

	if (!e || d.what == NOT_KNOWN || d.is_alone)
		return d;
	if (e->is_new && !descriptors_of_parent()) {
		count_from_here(&d);
	} else {
		lose_all_of(d.channel[TAKES]);
		lose_all_of(d.channel[GIVES]);
	}
	put(fd, &d);
	return d;
}

const struct descriptor *descriptor_at(int fd, struct descriptor *looked_up)
{
	const struct descriptor *e = entry(fd);

	if (__builtin_expect(e && __atomic_load_n(&e->what, __ATOMIC_ACQUIRE) != NOT_KNOWN, 1))
		return e;
	*looked_up = look_up(fd);
	return looked_up;
}

struct descriptor descriptor_of(int fd)
{
	struct descriptor looked_up;

	return *descriptor_at(fd, &looked_up);
}

enum channel_kind descriptor_known(int fd)
{
	const struct descriptor *e = entry(fd);

	return e ? __atomic_load_n(&e->what, __ATOMIC_ACQUIRE) : NOT_KNOWN;
}

void descriptors_made(const int fd[2], bool both_ways)
{
	struct descriptor d[2] = { look_at(fd[0]), look_at(fd[1]) };
	struct stat st[2];

	if (both_ways && (option_of(fd[0], SO_DOMAIN) == AF_UNIX || option_of(fd[0], SO_TYPE) == SOCK_STREAM) &&
	    sys(SYS_fstat, fd[0], &st[0]) == 0 && sys(SYS_fstat, fd[1], &st[1]) == 0) {
		d[0].channel[TAKES] = d[1].channel[GIVES] = pair_number(st[1].st_ino, st[0].st_ino);
		d[0].channel[GIVES] = d[1].channel[TAKES] = pair_number(st[0].st_ino, st[1].st_ino);
	}
	for (int i = 0; i < 2 && fd[0] > 2 && fd[1] > 2; i++) {
		if (both_ways || i == 0)
			d[i].count[TAKES] = new_count(d[i].channel[TAKES], TAKES);
		if (both_ways || i == 1)
			d[i].count[GIVES] = new_count(d[i].channel[GIVES], GIVES);
	}
	put(fd[0], &d[0]);
	put(fd[1], &d[1]);
}

/* All of them have one inode: so each gets a number when it is made, which those have who inherit it. */
void descriptor_counts(int fd, bool by_one)
{
	struct descriptor d = { .what = OF_OTHERS, .is_event = true, .by_one = by_one };

	d.channel[TAKES] = d.channel[GIVES] =
		dprof_adapter_object("event", (uint64_t)own_pid, dprof_adapter_now(), (uint64_t)fd);
	if (fd > 2)
		count_from_here(&d);
	put(fd, &d);
}

void descriptor_sets_timer(int fd)
{
	struct descriptor *e = entry(fd);

	if (e)
		__atomic_fetch_add(&e->sets, 1, __ATOMIC_RELEASE);
}

/* It ends by itself what waits for it; another thread does only if it is not armed, or if that sets it anew meanwhile. */
void descriptor_set_timer(int fd, const struct itimerspec *set, bool until, const uint64_t *place)
{
	uint64_t ns = frz_ns(&set->it_value), step = frz_ns(&set->it_interval);
	struct descriptor d = descriptor_of(fd);
	uint64_t now = until || !ns ? 0 : clock_ns(d.clock);

	put(fd, &(struct descriptor){
			.what = ns ? OF_FILE : OF_OTHERS, .is_timer = ns > 0, .until = now + ns, .step = step,
			.set_ns = step ? 0 : now, .set_by = now ? &this_thread : NULL, .set_at = until || step ? NULL : place,
			.clock = d.clock, .is_timerfd = true, .is_shared = d.is_shared });
}

bool descriptor_set_by_own(const struct descriptor *d)
{
	return d->set_by == &this_thread;
}

void descriptor_read_timer(int fd, uint64_t times)
{
	struct descriptor *e = entry(fd);

	if (e && e->step)
		__atomic_fetch_add(&e->until, times * e->step, __ATOMIC_RELAXED);
}

void descriptor_makes_timer(int fd, clockid_t clock)
{
	int known = __atomic_load_n(&timerfds, __ATOMIC_RELAXED);

	put(fd, &(struct descriptor){ .what = OF_OTHERS, .is_timerfd = true, .clock = clock });
	while (entry(fd) && fd >= known &&
	       !__atomic_compare_exchange_n(&timerfds, &known, fd + 1, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
}

bool descriptor_has_timer(int fd)
{
	struct descriptor d = descriptor_of(fd);

	return d.is_timerfd || d.timers;
}

/* It stays in the set as far as is known here, for it may have a copy there when it is closed. */
void descriptor_watched(int set, int fd, const struct epoll_event *event)
{
	struct descriptor d;

	if (descriptors_of_parent() || !descriptor_has_timer(fd))
		return;
	d = descriptor_of(set);
	d.timers = d.timers && (d.timers > 1 || d.timer_data != event->data.u64) ? 2 : 1;
	d.timer_data = event->data.u64;
	put(set, &d);
}

/* Then what there was is gone, and what is sent goes elsewhere. */
void descriptor_connects(int fd)
{
	const struct descriptor *e = entry(fd);

	if (e && e->by_message)
		descriptor_lost(fd);
}

/* The C library's own streams stand for the first three. */
void descriptor_connected(int fd)
{
	struct descriptor d = { .what = NOT_KNOWN, .is_new = fd > 2 };

	put(fd, &d);
	if (descriptor_of(fd).is_alone)
		__atomic_store_n(&are_connecting, true, __ATOMIC_RELAXED);
}

/* What is not yet connected is counted by whoever uses it first; there must not be two of them. */
static void before_fork(void)
{
	for (int fd = 0; fd < timerfds; fd++)
		table[fd].is_shared |= table[fd].is_timerfd;
	for (int fd = 0; are_connecting && fd < DESCRIPTORS; fd++)
		if (table[fd].what == NOT_KNOWN)
			table[fd].is_new = false;
	are_connecting = false;
}

void descriptor_forget(int fd)
{
	static const struct descriptor none;
	const struct descriptor *e = entry(fd);

	if (e && (e->what != NOT_KNOWN || e->is_new) && !dprof_adapter_apart && !descriptors_of_parent())
		put_own(fd, &none);
}

void descriptor_copied(int from, int to)
{
	struct descriptor d = from == to || from < 0 ? (struct descriptor){ 0 } : descriptor_of(from);

	if (from == to || to < 0)
		return;
	if (d.lock)
		descriptor_locks(from, d.lock = 0);
	if (to <= 2 || descriptors_of_parent() || !entry(to)) {
		lose(d.count[TAKES]);
		lose(d.count[GIVES]);
	}
	put(to, &d);
}

void descriptor_locks(int fd, uint64_t lock)
{
	struct descriptor *e = entry(fd);

	if (!e || descriptors_of_parent())
		return;
	if (lock)
		descriptor_of(fd);
	e->lock = lock;
	e->locked_by = own_pid;
}

/* A child has it, too, and gives nothing back. */
uint64_t descriptor_lock(int fd)
{
	const struct descriptor *e = entry(fd);

	return e && e->lock && e->locked_by == own_pid && !descriptors_of_parent() ? e->lock : 0;
}

bool descriptor_never_blocks(int fd)
{
	long flags = sys(SYS_fcntl, fd, F_GETFL);
	bool never = !sys_failed(flags) && flags & O_NONBLOCK;
	struct descriptor *e = entry(fd);

	if (e)
		e->blocks = !never;
	return never;
}

bool descriptor_blocked(int fd)
{
	const struct descriptor *e = entry(fd);

	return e && e->blocks;
}

/* With O_DIRECT a pipe keeps messages apart, and may throw away what is left of one. */
void descriptor_flags(int fd, long flags)
{
	struct descriptor *e = entry(fd);

	if (e)
		e->blocks = false;
	if (flags & O_DIRECT)
		descriptor_lost(fd);
}

void descriptor_lost(int fd)
{
	struct descriptor *e = entry(fd);

	if (!e)
		return;
	e->is_new = false;
	if (e->is_timerfd)
		e->is_shared = true;
	lose(e->count[TAKES]);
	lose(e->count[GIVES]);
}

void descriptors_lost(void)
{
	for (int fd = 0; fd <= __atomic_load_n(&highest, __ATOMIC_RELAXED); fd++)
		descriptor_lost(fd);
}

void descriptors_forget(unsigned first, unsigned last)
{
	for (unsigned fd = first; fd <= last && fd <= DESCRIPTORS_MAX; fd++)
		descriptor_forget((int)fd);
}

void descriptors_inherited(void)
{
	for (int fd = 0; fd <= highest || fd < timerfds; fd++)
		if ((table[fd].count[TAKES] || table[fd].count[GIVES] || table[fd].is_timerfd) &&
		    !(sys(SYS_fcntl, fd, F_GETFD) & FD_CLOEXEC))
			descriptor_lost(fd);
}

bool descriptors_of_parent(void)
{
	return own_pid && sys(SYS_getpid) != own_pid;
}

bool descriptors_say_unseen(void)
{
	return !__atomic_load_n(&said_unseen, __ATOMIC_RELAXED) &&
	       !__atomic_exchange_n(&said_unseen, true, __ATOMIC_RELAXED);
}

static void own(void)
{
	said_unseen = false;
	own_pid = sys(SYS_getpid);
}

/* What another program has made for us: a terminal, a pipe to whoever has started us. That may be one of our job. */
static void look_at_first(void)
{
	for (int fd = 0; fd <= 2; fd++) {
		struct descriptor d = look_at(fd);

		d.leads_outside = !dprof_adapter_joined;
		put(fd, &d);
	}
}

static void __attribute__((constructor)) start(void)
{
	long at;

	if (dprof_adapter_is_off())
		return;
	own();
	look_at_first();
	if (!dprof_adapter_wanted(DPROF_KIND_WAIT))
		return;
	pthread_atfork(before_fork, NULL, NULL);
	dprof_adapter_forked(own);
	at = sys(SYS_mmap, NULL, sizeof(*counts), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (!sys_failed(at))
		counts = (struct counts *)at;
}

/* SPDX-License-Identifier: MIT
 *
 * libc.h - the parts of the adapter for what blocks in the C library.
 *
 *   descriptors.c  what descriptors stand for, and how many bytes went through them
 *   lifetimes.c    calls that make, copy, close or give away descriptors
 *   opens.c        open and fopen, of a FIFO or a device
 *   transfers.c    read, write, recv, send and their kin
 *   moves.c        splice, sendfile and their kin, asynchronous input and output
 *   stdio.c        streams: getc, fgets, fread, putc, fputs, fwrite, fflush, ...
 *   formatted.c    printf and scanf
 *   wide.c         streams of wide characters
 *   yields.c       sched_yield
 *   waits.c        poll, select, epoll, wait, pthread_once, locks of files, terminals
 *   signals.c      sigwait, sigsuspend, pause and their kin, kill and its
 *   handlers.c     what signals' handlers do
 *   queues.c       queues of messages and semaphores, of System V and of POSIX
 *   names.c        getaddrinfo and others that ask a daemon or another machine
 *   syscalls.c     the same by syscall(); futexes
 *   sleeps.c       nanosleep and its kin
 *   notified.c     functions that the C library calls in threads of its own
 *
 * Which functions may block, and which of them are left out for what reason, says testsuite/fixtures/libc/may_block.
 *
 * Linked with the adapter for threads into libdprof-pthread, and so before the C library. Only calls from
 * code that is ours are recorded; counted are those of all (descriptors.c). What the C library calls
 * inside of itself does not come by here.
 *
 * Law: the program gets what the C library would have given it, errno and cancellation too. A call that
 * took less than DPROF_BLOCKED_NS and gave nothing to another thread or process leaves no record (but the first of a
 * process that took bytes which nobody counts leaves a POINT: there are such calls); of all
 * others the ENTER is stamped before the call and recorded behind it. Where a signal handler has recorded
 * something meanwhile it says since when (DPROF_KEY_SINCE). One that a handler leaves by a jump is over then. */
#ifndef RUNTIME_LIBC_H
#define RUNTIME_LIBC_H

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/types.h>

#include "runtime/adapter.h"
#include "runtime/next.h"
#include "runtime/sys.h"
#include "runtime/pthread/open_calls.h"

/* The C library's function of that name; or with a symbol that headers do not give it. */
#define REAL(name)          NEXT_FUNCTION(#name, __typeof__(name))
#define FOUND(symbol, type) NEXT_FUNCTION(symbol, type)

#define SITE(s)     ((const struct dprof_site *)&(s))
#define CALLER      __builtin_return_address(0)
#define AT_END(f)   __attribute__((cleanup(f)))

/* Whether anything that stands here is recorded at all, and the thread has the process's descriptors. */
#define LIBC_KINDS (1u << DPROF_KIND_WAIT | 1u << DPROF_KIND_IO | 1u << DPROF_KIND_SLEEP)

/* How long a name is, up to the page that cannot be read, and a path's length; none where nothing can, or nothing is recorded. */
size_t readable_name(const char *name);

/* lifetimes.c: it becomes that program; who comes back does not (dprof_adapter_exec_failed). */
void exec_begins(const char *program);

static inline bool is_watched(void)
{
	return __builtin_expect((dprof_adapter_kinds & LIBC_KINDS) != 0 && !dprof_adapter_apart, 1);
}

/* ---- A call that may block ---------------------------------------------------------------------- */

struct libc_call {
	const struct dprof_site *told;  /* where the plugin says that it stands, or NULL */
	const void *caller;
	struct dprof_moment since;
	struct call_under_way open;          /* where call_may_be_left() was told */
};

/* From here to its end it is one of the calls that a handler may leave: then `left` records it. */
static inline void call_may_be_left(struct libc_call *c, void (*left)(struct call_under_way *))
{
	call_opens(&c->open, c->since.stamp, left);
}

/* From here to its end the thread waits in it for others, for as long as it takes, or sleeps. */
static inline void call_lasts(const struct libc_call *c, const struct dprof_site *own)
{
	bool told = c->told && dprof_site_kind(c->told) == dprof_site_kind(own);
	struct dprof_open_call *open = &dprof_adapter_open_call;

	if (!dprof_adapter_wanted(dprof_site_kind(own)))
		return;
	open->site = told ? c->told : own;
	open->caller = told ? NULL : c->caller;
	__atomic_store_n(&open->since, c->since.stamp, __ATOMIC_RELEASE);
}

static inline void call_is_over(struct libc_call *c)
{
	call_closes(&c->open);
	dprof_adapter_open_call.since = 0;
}

#define CALL_LEFT(open_call, type, member) \
	((type *)((char *)(open_call) - offsetof(type, member.open)))

/* Taken last before the C library's function, which has this name. */
static inline __attribute__((always_inline)) struct libc_call call_begin_named(const char *name, const void *caller)
{
	struct libc_call c = { 0 };

	c.told = dprof_adapter_call(DPROF_KIND_NONE, name, DPROF_CALL_NEAR);
	c.caller = caller;
	c.since = dprof_adapter_moment();
	return c;
}

/* Likewise; `own` is a site of ours with its name. */
static inline __attribute__((always_inline)) struct libc_call call_begin(const struct dprof_site *own,
									 const void *caller)
{
	return call_begin_named(own->strings, caller);
}

/* And where the compiler knows the site. */
#define CALL_OF(own) call_begin_named((own).strings, CALLER)

static inline bool call_blocked(const struct libc_call *c, uint64_t now)
{
	return now - c->since.stamp >= dprof_adapter_blocked_ticks;
}

/* Records that the call, at this site of ours if the plugin does not say where, was over at `now`. */
void call_record(const struct libc_call *, const struct dprof_site *, uint64_t now,
		 const struct dprof_arguments *);

/* It did not wait for what was not there: whether it is one of several attempts that follow each other, and is part of them now
 * (polling.c); and that those begin at this moment. */
bool call_asks_again(const struct libc_call *, const struct dprof_site *);
void call_asks(const struct libc_call *, const struct dprof_site *, struct dprof_moment from);

/* Records a moment in the midst of the call, likewise. */
void call_point(const struct libc_call *, const struct dprof_site *, const struct dprof_arguments *);

/* It took bytes from others that are not counted, and did not block: where it stands is said once in a process. */
void call_unseen(const struct libc_call *, const struct dprof_site *);

/* yields.c: it has given its core away. */
void call_yielded(const struct libc_call *);

/* A call of which nothing is known but that it may have waited for others (wait), or was the thread's own
 * time (io, sleep): what AT_END(plain_end) records if it blocked. */
struct plain {
	struct libc_call call;
	const struct dprof_site *site; /* NULL: it is not to be recorded */
	bool at_once;                  /* it could not block, however long it took */
	struct dprof_arguments more;
};
void plain_end(struct plain *);
/* It did not wait for what was not there. The first such attempt, if it took as long as a call that has blocked, is recorded as one
 * that its time limit has ended, and those that follow it as attempts are. */
void plain_in_vain(struct plain *);
void plain_left(struct call_under_way *); /* likewise, by a jump */

/* waits.c: locks of files, by number; 0: it is not known which. */
uint64_t range_of(int fd, const struct flock *);
void file_lock_returned(struct plain *, int fd, uint64_t lock);
void file_lock_taken(struct plain *, int fd, uint64_t lock, int result, bool shared);
void file_closes(int fd, const void *caller);

/* It was over at `now`, and has taken something of an object that processes share, with this role, or put it there (role 1); the
 * object 0: it is not known which. Recorded in any case, unless that is so. */
void plain_shares(struct plain *, uint64_t now, uint64_t object, int role);
#define NO_ROLE (-1)

/* It was over because its time limit was, if so: a wait, and no sleep. */
static inline void plain_expired(struct plain *p, bool expired)
{
	if (expired)
		dprof_say(&p->more, DPROF_KEY_UNTIL, 0);
}

/* It is a sleep until a moment of that clock. */
void plain_until(struct plain *, clockid_t clock, const struct timespec *until);

/* A signal ended the sleep, if so; or others may have. */
static inline void plain_interrupted(struct plain *p, bool interrupted)
{
	if (interrupted)
		dprof_say(&p->more, DPROF_KEY_PEER, DPROF_PEER_UNKNOWN);
}

/* A clock that others make go: it counts the processor time of a process, or of a thread. */
static inline bool is_of_cpu(clockid_t clock)
{
	return clock < 0 || clock == CLOCK_PROCESS_CPUTIME_ID || clock == CLOCK_THREAD_CPUTIME_ID;
}

/* Nothing came within the time limit, if it had one, or before a signal, which may be a timer's: said by errno. (What does not
 * block says so, too, and at once, and msgrcv in its own words.) */
static inline bool call_expired(int64_t result)
{
	return result < 0 && (errno == EAGAIN || errno == ETIMEDOUT || errno == EINTR || errno == ENOMSG);
}

#define PLAIN(name, own)                      \
	struct plain name AT_END(plain_end);  \
	name.site = SITE(own);                \
	name.at_once = false;                 \
	name.more.words = 0;                  \
	name.call = CALL_OF(own);             \
	call_may_be_left(&name.call, plain_left)

/* Likewise a sleep, which may be one between two attempts. */
#define SLEEP(name, own) dprof_adapter_pauses(); PLAIN(name, own)

/* A function that is such a call. */
#define PLAIN_CALL(type, name, own, parameters, arguments)  \
	DPROF_EXPORT type name parameters                   \
	{                                                   \
		__typeof__(&name) real = REAL(name);        \
		if (!is_watched())                          \
			return real arguments;              \
		PLAIN(p, own);                              \
		return real arguments;                      \
	}

/* A call that was to open something has the result `fd`, errno as that left it: of a file it is not recorded. */
void call_opened(struct plain *, int fd);

/* notified.c: a function of the program may be called in a thread that is not recorded, if this asks for that; it
 * may be NULL. */
struct sigevent;
void call_notified(const struct sigevent *, const void *caller);

/* ---- Descriptors -------------------------------------------------------------------------------- */

enum way { TAKES, GIVES };

enum channel_kind { NOT_KNOWN, OF_FILE, OF_OTHERS }; /* others may end what waits for it */

/* What went one way through one end of a channel; in memory that a process shares with its children. */
struct count;

/* Of this number: what it stands for, which channel is taken from or given to (0: not known), and what counts
 * that (NULL: none can). */
struct descriptor {
	enum channel_kind what;
	bool is_new;              /* a connection that began here */
	bool is_alone;            /* it is not connected, or not yet */
	bool leads_outside;       /* it was there when the job began: to no thread that the trace knows */
	bool is_event;            /* an eventfd: what it counts are its bytes */
	bool by_one;              /* which is taken from one by one */
	bool by_message;          /* a socket that keeps messages apart: they are counted, those that are not empty */
	bool blocks;              /* it did, when that was last asked for */
	bool is_timer;            /* a timerfd that was set: who takes from it sleeps, ... */
	uint64_t until;           /* ... until this moment, ns, ... */
	uint64_t step;            /* ... or, where that was read, after each such time again; 0: not */
	uint64_t set_ns;          /* ... which is as long behind this one, at which it was set; 0: not, or it goes on and on ... */
	const void *set_by;       /* ... by this thread (descriptor_set_by_own) */
	clockid_t clock;          /* of these; of a timerfd that is not set, its own */
	const uint64_t *set_at;   /* ... once, since its thread was at this place (dprof_adapter_place); NULL: not known */
	bool is_timerfd;          /* set or not; ... */
	bool is_shared;           /* ... that other processes may set, too: it was there at a fork, was given away, or
				     was not made here */
	uint32_t sets;            /* how often it was, and is being, set */
	uint8_t timers;           /* of an epoll: 0: it was never given one, 1: one, with ... */
	uint64_t timer_data;      /* ... these data; 2: several */
	uint64_t channel[2];
	struct count *count[2];
	uint64_t lock;            /* of its file, that a process has taken by it, which it is given back with; or 0 */
	long locked_by;
};

#define DESCRIPTORS_MAX 4095 /* higher ones are looked up each time, and not counted */

struct descriptor descriptor_of(int fd);

/* The same where it stands, which may change: in the table, or `looked_up`. */
const struct descriptor *descriptor_at(int fd, struct descriptor *looked_up);

/* The same without asking the kernel: NOT_KNOWN if it was never looked at. */
enum channel_kind descriptor_known(int fd);

/* A pipe, a pair or a connection was made: all that goes there will be counted. */
void descriptors_made(const int fd[2], bool both_ways);
void descriptor_connects(int fd); /* is about to: of datagrams also anew */
void descriptor_connected(int fd);
uint64_t descriptor_listening(int fd, bool asked); /* the number of what has accepted it, or was asked for it; 0: not known */
void descriptor_counts(int fd, bool by_one); /* from 0 */
void descriptor_sets_timer(int fd); /* is about to */
void descriptor_makes_timer(int fd, clockid_t clock); /* a timerfd */
/* It was set, until a moment or for some time, by a thread at a place. */
void descriptor_set_timer(int fd, const struct itimerspec *, bool until, const uint64_t *place);
bool descriptor_set_by_own(const struct descriptor *);
void descriptor_read_timer(int fd, uint64_t times); /* it has expired so often since */

/* Now, by a clock of timers. */
static inline uint64_t clock_ns(clockid_t clock)
{
	struct timespec now = { 0 };

	sys(SYS_clock_gettime, clock, &now);
	return frz_ns(&now);
}

/* An epoll was given the descriptor; is it a timerfd, or an epoll that has one? (Not known of one to which a timerfd is given
 * only when it is watched itself already.) */
void descriptor_watched(int set, int fd, const struct epoll_event *);
bool descriptor_has_timer(int fd);

/* A file's lock is had by it (0: no longer); and is given back when it is closed. */
void descriptor_locks(int fd, uint64_t lock);
uint64_t descriptor_lock(int fd);

/* Who calls with it is told at once that nothing is there, or no room. To ask takes as long as a brief call: then it is
 * believed that what did block does still, which says at most of a brief call that it waited. */
bool descriptor_never_blocks(int fd);
bool descriptor_blocked(int fd);
void descriptor_flags(int fd, long flags); /* it has these from now on */

/* It is closed or made anew; `to` is now what `from` is. */
void descriptor_forget(int fd);
void descriptor_copied(int from, int to);

/* Bytes may be moved there unseen: what was counted is not known any more. */
void descriptor_lost(int fd);
void descriptors_inherited(void); /* by another program */
void descriptors_lost(void);      /* any of them */
void descriptors_forget(unsigned first, unsigned last);

/* What perhaps a thread gives that the trace knows. */
static inline bool descriptor_takes(const struct descriptor *d)
{
	return d->what == OF_OTHERS && !d->leads_outside;
}

/* Whether this process has not said yet that it takes bytes which nobody counts; it is told that it has. */
bool descriptors_say_unseen(void);

/* Is this process the child of a vfork, with its parent's memory? */
bool descriptors_of_parent(void);

/* Bytes are about to be moved: their offset; and were, n of them (negative: not known). The offset counts only
 * if count_end says so. */
struct count *count_begin(struct count *, uint64_t *offset);
bool count_end(struct count *, int64_t n);
bool count_is_out_of_order(const struct count *); /* all that is moved is seen, by whoever shares it, but not in which order; */
void count_give_up(struct count *);               /* and no longer */

/* waits.c: this was over because its time limit was, or perhaps because of a timerfd. */
bool polled_timer(const struct pollfd *, nfds_t, int result);
bool selected_timer(int n, const fd_set *in, int result);
bool epoll_timer(int set, const struct epoll_event *, int result);

/* Descriptors were looked at, without waiting if `at_once`; what was found may be a timer's. */
void polled(struct plain *, bool at_once, int result, bool timer);
bool is_no_time(const struct timespec *); /* the time to wait, if there is one */

/* ---- Transfers ----------------------------------------------------------------------------------- */

struct libc_transfer {
	const struct dprof_site *site[3]; /* by what */
	struct libc_call call;
	struct count *count, *of; /* while it counts; and what would */
	uint64_t channel, offset, object; /* 0: none */
	uint64_t kind;            /* of a message, with an object; */
	int64_t asked;            /* and what was asked for, or 0 */
	const uint64_t *event;    /* of an eventfd: what was moved, if it was in one piece; else NULL */
	enum channel_kind what;
	enum way way;
	bool is_from_others;      /* takes what perhaps a thread gives that the trace knows */
	bool is_event, by_one, by_message;
	bool leads_outside;       /* gives, by this descriptor, to whom the trace does not know: its own time, unless it
				     is held up */
	int fd;
	uint64_t until;           /* of a timerfd: it sleeps until this moment, ns; or 0 */
	uint64_t late;            /* which was over for so many already */
	uint64_t set_ago;         /* likewise, without until: it was set so long before, by this thread; 0: not known */
	const uint32_t *sets;     /* of a timerfd: how often it was set; NULL: not known, ... */
	const bool *is_shared;    /* ... whether another process may set it by now, if that is known, ... */
	uint32_t sets_before;     /* ... and at the begin: who sets it meanwhile is waited for */
	bool set_elsewhere;       /* perhaps: by another process, from the begin on */
	bool sleeps;              /* of a timerfd: all that it was set to, as nothing was recorded since */
	bool dont_wait;           /* asked to move what it can at once */
	bool two;                 /* it may block in another descriptor as well */
	bool ends;                /* it came to its end: was not cancelled */
	bool expired;             /* with nothing, as its time limit was over */
	int64_t bytes;            /* moved; negative: none, or not known */
	int64_t most;             /* taken, if there had been as many; 0: not known */
	int64_t messages;         /* by_message: moved, so many; negative: one, if any bytes were */
};
void transfer_begin(struct libc_transfer *, int fd, enum way, const struct dprof_site *wait, const struct dprof_site *io);
void transfer_end(struct libc_transfer *);
void transfer_look_outside(struct libc_transfer *, uint64_t now); /* leads_outside: whether it is held up there */
void transfer_left(struct call_under_way *);

/* Records it, over at `now`; `counted`: the offset holds. */
void transfer_record(const struct libc_transfer *, uint64_t now, bool blocked, bool counted);

#define TRANSFER_SITES(name)                            \
	DPROF_SITE_OF(wait_##name, DPROF_KIND_WAIT, #name); \
	DPROF_SITE_OF(io_##name, DPROF_KIND_IO, #name)
#define TRANSFER(t, name, fd, way)                                        \
	struct libc_transfer t AT_END(transfer_end);                      \
	transfer_begin(&t, fd, way, SITE(wait_##name), SITE(io_##name));  \
	t.call = CALL_OF(io_##name);                                      \
	call_may_be_left(&t.call, transfer_left);                         \
	if (t.what == OF_OTHERS)                                          \
		call_lasts(&t.call, t.site[OF_OTHERS])

/* ---- Streams ------------------------------------------------------------------------------------ */

/* A call on a stream. Its descriptor is not counted: whoever makes a stream of one gives that up. */
struct stream {
	const struct dprof_site *site[3]; /* by what */
	struct libc_call call;
	FILE *file;
	int64_t unwritten, bytes; /* in its buffer, before; moved, as far as is known, else negative */
	enum way way;
	bool is_contended;        /* another thread was at it */
	bool expired;             /* it may be that a time limit or a signal ended it */
};
void stream_begin(struct stream *, FILE *, enum way);
void stream_end(struct stream *);
void stream_left(struct call_under_way *);

/* The call has put so many bytes into the stream, of which some wait in its buffer. */
void stream_gave(struct stream *, int64_t bytes);

#define STREAM(s, name, f, way)                                                                   \
	struct stream s AT_END(stream_end) = {                                                    \
		.site = { SITE(wait_##name), SITE(io_##name), SITE(wait_##name) }, .bytes = -1 }; \
	stream_begin(&s, f, way);                                                                 \
	s.call = CALL_OF(wait_##name);                                                            \
	call_may_be_left(&s.call, stream_left)

/* pthread/threads.c: has the program made threads, or a library? */
extern bool program_has_threads;

#endif

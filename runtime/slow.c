/* SPDX-License-Identifier: MIT
 *
 * slow.c - a claim did not fit: make room, record the event here, or lose it and count it.
 *
 * Called with the user's registers saved but for the vector registers, and so compiled to touch
 * general registers only (see room.mk). Signal handlers may interrupt the inserted code and this
 * code anywhere, and record:
 *
 * - Before `busy` is set, the handler does all of this itself, and we find room when we come to it.
 * - While it is set, the handler's claim fails at once and is taken back, so that for us nothing
 *   has happened. A handler that jumps out of here ends the recording of its thread.
 * - A claim is compared with `end` one instruction after it was made; a handler in between may
 *   have changed chunks. Whatever the result, its word is still its own (thread.h): it writes its record
 *   there, or comes here and has the word filled.
 * - Who is interrupted there may have waited for long before, and its word would need an epoch. So the fast path stays closed
 *   for the handler until the word is written, or comes here.
 * - Claims that failed have moved `next` past `end`, and say so how many are under way. So one that is
 *   refused takes itself back, and only a new chunk begins anew.
 *
 * The fast path is closed (`end` is NULL) when the helper wants to see an epoch (thread.h), and as
 * long as the law of words.h is not ensured: then events are recorded in here, wide; and for good where
 * DPROF_EVENTS leaves out kinds that the inserted code would record. */
#include <linux/futex.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <time.h>

#include "runtime/count.h"
#include "runtime/sys.h"
#include "runtime/thread.h"

#define HELPER_WAIT_NS   1000000 /* for a chunk that is being made, and that */
#define HELPER_WAITS     1000    /* many times: signals cut them short */
#define HOLD_WAIT_NS     50000
#define BEGIN_WAITS      1000    /* of a process that ends: 1 s */
#define REFUSED_PATIENCE 1024    /* records are lost before we ask the system again */
#define CALL_STACK_BYTES ((size_t)64 << 10) /* for what calls the C library, with all registers kept */
#define EPOCH_TICKS      (UINT64_C(1) << 35) /* as in helper.c */

__thread struct dprof_cursor __dprof_cursor = { DPROF_NOWHERE, NULL };
__thread struct dprof_call __dprof_call;
uint32_t __dprof_alone[DPROF_ADAPTERS] = { ~0u, ~0u, ~0u };
__thread struct dprof_thread *dprof_self;
static __thread volatile bool busy;
static __thread volatile bool calling; /* the C library, which may call what the program has in its place */
static __thread uint64_t homeless; /* records of this thread that are lost for want of a file */
uint64_t dprof_lost_homeless, dprof_why_homeless;
bool dprof_supervised, dprof_unambiguous = true, dprof_choosy, dprof_stopped;

/* One record of this thread is lost, for reasons 1 << enum dprof_why; without a file dprof_thread_begin has
 * said why. Atomic, since a handler may count in the midst of it. */
static void lose(struct dprof_thread *t, uint64_t why)
{
	dprof_count_lost(why);
	if (t) {
		__atomic_fetch_or(&t->header->why, why, __ATOMIC_RELAXED);
		__atomic_fetch_add(&t->header->lost, 1, __ATOMIC_RELAXED);
		__atomic_fetch_add(&t->lost_unwritten, 1, __ATOMIC_RELAXED);
	} else {
		homeless++;
		__atomic_fetch_or(&dprof_why_homeless, why, __ATOMIC_RELAXED);
		__atomic_fetch_add(&dprof_lost_homeless, 1, __ATOMIC_RELAXED);
	}
}

__thread bool dprof_stack_disarms;

/* A handler's own stack may be so short that we would write below it, where other things of the program's lie. One that
 * the kernel takes away meanwhile (SS_AUTODISARM) it does not tell of: so a thread that ever had one may be on it. */
static bool is_on_short_stack(void)
{
	uintptr_t here = (uintptr_t)__builtin_frame_address(0);
	stack_t own;

	if (dprof_stack_disarms)
		return true;
	return sys(SYS_sigaltstack, NULL, &own) == 0 && own.ss_flags & SS_ONSTACK &&
	       here - (uintptr_t)own.ss_sp < CALL_STACK_BYTES;
}

/* On a stack of ours, and not at all where there is no memory for that. A handler that came meanwhile would have the short
 * stack from its upper end on: so none does. */
static void call_elsewhere(void (*function)(void *))
{
	uint64_t all = DPROF_SIGNALS_THAT_WAIT, before = 0;
	long at = sys(SYS_mmap, NULL, CALL_STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);

	if (sys_failed(at))
		return;
	sys(SYS_rt_sigprocmask, SIG_BLOCK, &all, &before, sizeof(all));
	dprof_keeping_vectors_on((char *)at + CALL_STACK_BYTES, function, NULL);
	sys(SYS_munmap, at, CALL_STACK_BYTES);
	sys(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, sizeof(all));
}

void dprof_call(void (*function)(void *))
{
	calling = true;
	if (is_on_short_stack())
		call_elsewhere(function);
	else
		dprof_keeping_vectors(function, NULL);
	calling = false;
}

/* An event comes while another one of its thread is served. */
static void lose_within(void)
{
	lose(dprof_self, UINT64_C(1) << (calling ? DPROF_WHY_CALLED : DPROF_WHY_HANDLER));
}

/* What a handler, or we at earlier tries, lost before there was a file. */
static void bring_home(struct dprof_thread *t)
{
	__atomic_fetch_add(&t->header->lost, homeless, __ATOMIC_RELAXED);
	__atomic_fetch_add(&t->lost_unwritten, homeless, __ATOMIC_RELAXED);
	if (homeless)
		__atomic_fetch_or(&t->header->why, dprof_why_homeless, __ATOMIC_RELAXED);
	__atomic_fetch_sub(&dprof_lost_homeless, homeless, __ATOMIC_RELAXED);
	homeless = 0;
}

/* Threads that are in begin(). The process's end waits for them, unless it comes in a handler within one. */
int dprof_beginning;
static __thread volatile bool begins;

/* Tries at the 1st event, and after 1, 2, 4, 8 ... were lost: what failed may well fail again. */
static void try_to_begin(void)
{
	if ((homeless & (homeless - 1)) == 0)
		dprof_call(dprof_thread_begin);
	if (!dprof_self)
		return;
	bring_home(dprof_self);
	dprof_chunk_enter(dprof_self, dprof_chunk_take_clean(dprof_self));
}

/* What begins behind the end of its process is no part of the run. */
static bool begin(void)
{
	begins = true;
	__atomic_fetch_add(&dprof_beginning, 1, __ATOMIC_SEQ_CST);
	if (!__atomic_load_n(&dprof_ending, __ATOMIC_SEQ_CST))
		try_to_begin();
	__atomic_fetch_sub(&dprof_beginning, 1, __ATOMIC_SEQ_CST);
	begins = false;
	return dprof_self;
}

void dprof_wait_for_begins(void)
{
	struct timespec soon = { .tv_nsec = HELPER_WAIT_NS };

	for (int i = 0; i < BEGIN_WAITS && !begins && __atomic_load_n(&dprof_beginning, __ATOMIC_SEQ_CST) > 0; i++)
		sys(SYS_nanosleep, &soon, NULL);
}

/* No other makes t's next chunk when this returns true: then it is ours to make. Waits for a
 * helper that is at it, but not for long, and not again before it is done. */
static bool take_over(struct dprof_thread *t)
{
	struct timespec patience = { .tv_nsec = HELPER_WAIT_NS };
	int state = SUPPLY_WANTED;

	if (__atomic_compare_exchange_n(&t->supply, &state, SUPPLY_NONE, false, __ATOMIC_ACQUIRE,
					__ATOMIC_ACQUIRE))
		return true;
	for (int i = 0; i < HELPER_WAITS && state == SUPPLY_MAKING && t->refused == 0; i++) {
		sys(SYS_futex, &t->supply, FUTEX_WAIT_PRIVATE, SUPPLY_MAKING, &patience);
		state = __atomic_load_n(&t->supply, __ATOMIC_ACQUIRE);
	}
	return state != SUPPLY_MAKING;
}

static bool make_chunk(struct dprof_thread *t)
{
	if (t->supply == SUPPLY_REFUSED && t->refused++ % REFUSED_PATIENCE)
		return false;
	if (dprof_chunk_make(t) == 0)
		return true;
	t->supply = SUPPLY_REFUSED;
	t->refused += !t->refused;
	return false;
}

/* The helper is to make a chunk, unless there is one already or it is just at it. */
static void want_another(struct dprof_thread *t)
{
	if (!dprof_chunk_is_clean(t) &&
	    __atomic_load_n(&t->supply, __ATOMIC_ACQUIRE) != SUPPLY_MAKING)
		__atomic_store_n(&t->supply, SUPPLY_WANTED, __ATOMIC_RELEASE);
}

static bool next_chunk(struct dprof_thread *t)
{
	struct dprof_chunk *clean = dprof_chunk_take_clean(t);

	if (!clean && !take_over(t)) {
		t->why = DPROF_WHY_LATE;
		t->refused = 1;
		return false;
	}
	if (!clean)
		clean = dprof_chunk_take_clean(t);
	for (int i = 0; i < 2 && !clean && make_chunk(t); i++) /* who ends the process may have given it back at once */
		clean = dprof_chunk_take_clean(t);
	if (!clean)
		return false;
	dprof_chunk_enter(t, clean);
	want_another(t);
	return true;
}

/* ---- The event itself ------------------------------------------------------------------------ */

static bool in_chunk(const struct dprof_thread *t, const uint64_t *word)
{
	return word >= t->current->start && word < t->chunk_end;
}

/* A slot that had room when it was claimed, before the fast path was closed, is still ours. Where that stays closed the slot
 * is given back; else an epoch stands there. But behind it handlers may have recorded, long ago by now: then an epoch has to
 * stand behind that, with the event. Whether the fast path may be opened for the event. */
static bool use_slot(struct dprof_thread *t, uint64_t *slot, bool open)
{
	bool last = slot && __dprof_cursor.next == slot + 1;

	if (!t || !slot)
		return open;
	if (in_chunk(t, slot) && !last) {
		*slot = dprof_escape_word(DPROF_ESCAPE_NOTHING, 0, 0);
	} else if (in_chunk(t, slot) && open) {
		t->epoch = dprof_now();
		*slot = dprof_epoch_word(t->epoch);
	} else if (in_chunk(t, slot)) {
		__dprof_cursor.next = slot;
	}
	return open && last;
}

/* The rest of a chunk in which an event with its arguments does not fit, while `busy` is set. */
static void fill_up(const struct dprof_thread *t)
{
	volatile struct dprof_cursor *cursor = &__dprof_cursor;

	cursor->end = NULL;
	while (in_chunk(t, cursor->next)) {
		*cursor->next = dprof_escape_word(DPROF_ESCAPE_NOTHING, 0, 0);
		cursor->next++;
	}
}

/* From here on, while `busy` is set, no handler moves `next`: its claims fail, and are given back. */
static void close_path(void)
{
	__dprof_cursor.end = NULL;
	atomic_signal_fence(memory_order_seq_cst);
}

/* Where so many words find room in a row, while the fast path is closed and `busy` set: it stays closed. */
static uint64_t *room(struct dprof_thread *t, size_t words)
{
	uint64_t *at = in_chunk(t, __dprof_cursor.next) ? __dprof_cursor.next : t->chunk_end;

	if (at + words <= t->chunk_end)
		return at;
	fill_up(t);
	if (!next_chunk(t))
		return NULL;
	close_path();
	return __dprof_cursor.next;
}

/* Likewise, and they are ours. */
static uint64_t *take(struct dprof_thread *t, size_t words)
{
	uint64_t *at = room(t, words);

	if (at)
		__dprof_cursor.next = at + words;
	return at;
}

static void write_behind(volatile uint64_t *at, const struct dprof_event *e)
{
	for (unsigned i = 0; i < e->arguments; i++)
		at[i] = e->argument[i];
}

/* The site stands last: with it the event is whole. Its stamp is what the next word is near to. */
static bool record_wide(struct dprof_thread *t, const struct dprof_event *e, enum dprof_op op)
{
	volatile uint64_t *at = take(t, DPROF_WIDE_WORDS + e->arguments);

	if (!at)
		return false;
	t->epoch = e->stamp ? e->stamp : dprof_now();
	at[0] = dprof_escape_word(DPROF_ESCAPE_WIDE, op, 0);
	at[1] = t->epoch;
	at[2] = e->what - op;
	write_behind(at + DPROF_WIDE_WORDS, e);
	return true;
}

static bool are_far(uint64_t a, uint64_t b)
{
	return a - b + EPOCH_TICKS > 2 * EPOCH_TICKS;
}

static volatile uint64_t *write_epoch(struct dprof_thread *t, volatile uint64_t *at, uint64_t stamp)
{
	t->epoch = stamp;
	*at = dprof_epoch_word(stamp);
	return at + 1;
}

#define EPOCHS 2 /* with an event */

/* The stamp is taken when there is room: behind the epoch of a chunk that was begun for it. */
static bool record_word(struct dprof_thread *t, const struct dprof_event *e, enum dprof_op op)
{
	volatile uint64_t *at = room(t, 1 + e->arguments + EPOCHS);
	uint64_t now = dprof_now(), stamp = e->stamp ? e->stamp : now;

	if (!at)
		return false;
	if (are_far(stamp, t->epoch))
		at = write_epoch(t, at, stamp);
	*at++ = dprof_event_word(stamp, e->what - op, op);
	write_behind(at, e);
	at += e->arguments;
	if (are_far(now, stamp))
		at = write_epoch(t, at, now);
	__dprof_cursor.next = (uint64_t *)at;
	return true;
}

static bool record_here(struct dprof_thread *t, const struct dprof_event *e)
{
	enum dprof_op op = (enum dprof_op)(e->what % DPROF_SITE_ALIGN);

	close_path();
	return dprof_fast() ? record_word(t, e, op) : record_wide(t, e, op);
}

/* An event of the calling thread was left out. */
static void drop(void)
{
	struct dprof_thread *t = dprof_self;

	if (!t)
		return;
	t->dropped = dprof_chunk_before(t, __dprof_cursor.next);
	t->dropped_in = t->current->number;
}

/* A thread without a file has recorded nothing at all; and of one that has just lost something it
 * is unknown what that was. */
bool dprof_dropped(void)
{
	const struct dprof_thread *t = dprof_self;

	return !t || t->lost_unwritten || (t->dropped == dprof_chunk_before(t, __dprof_cursor.next) &&
		      t->dropped_in == t->current->number);
}

/* ---- The entry ------------------------------------------------------------------------------- */

enum outcome { LOST, RECORDED, LEFT_OUT, ROOM };

static bool is_left_out(uint64_t what)
{
	return dprof_stopped ||
	       (dprof_settings.left_out && what &&
		dprof_is_left_out((const struct dprof_site *)(what & ~(uint64_t)(DPROF_SITE_ALIGN - 1))));
}

/* To or from an operation of MPI or OpenMP, or the making of a thread: no signal handler may call those, since they
 * allocate memory. */
#define NOT_OF_HANDLERS                                                                                         \
	(DPROF_KIND_BIT(DPROF_KIND_BARRIER) | DPROF_KIND_BIT(DPROF_KIND_COLL) | DPROF_KIND_BIT(DPROF_KIND_SEND) | \
	 DPROF_KIND_BIT(DPROF_KIND_RECV) | DPROF_KIND_BIT(DPROF_KIND_FORK) | DPROF_KIND_BIT(DPROF_KIND_JOIN))

static bool may_be_of_handler(const struct dprof_event *e)
{
	const struct dprof_site *site = (const struct dprof_site *)(e->what & ~(uint64_t)(DPROF_SITE_ALIGN - 1));

	return !e->of_adapter || e->what % DPROF_SITE_ALIGN == DPROF_POINT ||
	       !(NOT_OF_HANDLERS >> dprof_site_kind(site) & 1);
}

/* And opens the fast path, if it may be. */
static enum outcome record(const struct dprof_event *e, bool open)
{
	if (!e->what || !record_here(dprof_self, e))
		return LOST;
	if (open)
		__dprof_cursor.end = dprof_self->chunk_end;
	return RECORDED;
}

static enum outcome serve(const struct dprof_event *e, bool open)
{
	volatile struct dprof_cursor *cursor = &__dprof_cursor;

	if (is_left_out(e->what))
		return LEFT_OUT;
	if (!dprof_self && !begin())
		return dprof_ending ? LEFT_OUT : LOST;
	if (!open)
		dprof_helper_wanted(may_be_of_handler(e));
	if (!open || e->of_adapter || e->stamp)
		return record(e, open);
	if (!cursor->end && in_chunk(dprof_self, cursor->next))
		cursor->end = dprof_self->chunk_end;
	if (cursor->next < cursor->end) /* or a handler came before us */
		return ROOM;
	fill_up(dprof_self);
	return next_chunk(dprof_self) ? ROOM : LOST; /* closed again by now? then we are back soon */
}

/* What was blocked before; kept where a handler finds nothing to overwrite: by who is busy, and for the others to see while
 * he is. */
struct mask { uint64_t before; bool set; };
static __thread struct mask blocked;

/* Meanwhile no signal comes that can wait: its handler could not record, and might not come back, nor would a thread that
 * is cancelled. Only where there is never to be a helper, and each event comes here, it would cost too much. */
static struct mask mask_signals(void)
{
	uint64_t all = DPROF_SIGNALS_THAT_WAIT;
	struct mask m = { 0, false };

	m.set = dprof_helper_possible() && sys(SYS_rt_sigprocmask, SIG_BLOCK, &all, &m.before, sizeof(all)) == 0;
	return m;
}

uint64_t dprof_blocked_signals(void)
{
	uint64_t now = blocked.before;

	if (!blocked.set && sys(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &now, sizeof(now)) != 0)
		return ~UINT64_C(0);
	return now;
}

static void end_busy(struct mask m)
{
	if (dprof_self)
		__atomic_store_n(&dprof_self->serving, 0, __ATOMIC_RELEASE);
	blocked.set = false;
	atomic_signal_fence(memory_order_seq_cst);
	busy = false;
	atomic_signal_fence(memory_order_seq_cst);
	if (m.set)
		sys(SYS_rt_sigprocmask, SIG_SETMASK, &m.before, NULL, sizeof(m.before));
}

/* Who ends the process may be about to take the current chunk (left.c). */
static struct mask begin_busy(void)
{
	struct timespec soon = { .tv_nsec = HOLD_WAIT_NS };
	struct mask m = mask_signals();

	busy = true;
	atomic_signal_fence(memory_order_seq_cst);
	blocked = m;
	if (!dprof_self)
		return m;
	__atomic_store_n(&dprof_self->serving, 1, __ATOMIC_RELAXED);
	atomic_signal_fence(memory_order_seq_cst); /* the other side has the barrier */
	while (__atomic_load_n(&dprof_self->hold, __ATOMIC_ACQUIRE) == HOLD_ASKED)
		sys(SYS_nanosleep, &soon, NULL);
	return m;
}

/* The chunk was taken away meanwhile: nothing of it is touched. `slot` was claimed in it in vain, or is NULL. What
 * was claimed besides, by an adapter that had seen room, is lost. */
static void come_back(struct dprof_thread *t, const uint64_t *slot)
{
	if (__dprof_cursor.next > t->left_at + (slot != NULL))
		lose(t, UINT64_C(1) << DPROF_WHY_REFUSED);
	t->left_at = __dprof_cursor.next = t->chunk_end;
}

/* What was claimed in vain is given back, unless that was long ago, in another chunk. */
static void forget_claim(const struct dprof_thread *t, uint64_t *slot)
{
	uint64_t *next = __dprof_cursor.next;

	if (!t)
		__dprof_cursor.next = DPROF_NOWHERE;
	else if (next == slot + 1 && slot >= t->chunk_end)
		__dprof_cursor.next = slot;
	else if (next < t->current->start || next > t->chunk_end + DPROF_SLACK_WORDS)
		__dprof_cursor.next = t->chunk_end; /* after handlers that jumped away */
}

/* A chunk was begun: the one before can be packed as soon as our own claim is settled. */
static void begun(struct dprof_thread *t, struct dprof_chunk *before, uint64_t *slot)
{
	if (!t)
		return;
	dprof_chunk_settle(t, slot);
	if (!before || before == t->current)
		return;
	dprof_chunk_left(before);
	dprof_helper_wake();
}

/* What a handler has interrupted between a claim and its word: in the current chunk before our own claim, or in one that is
 * full. (One that a handler has jumped away from is so until its chunk is no more.) */
static bool is_under_way(struct dprof_thread *t, uint64_t *slot)
{
	const uint64_t *end = slot >= t->current->start && slot <= __dprof_cursor.next ? slot : __dprof_cursor.next;

	while (t->written < end && *(volatile uint64_t *)t->written)
		t->written++;
	return t->written < end || __atomic_load_n(&t->has_hole, __ATOMIC_RELAXED);
}

/* May the fast path be opened? The helper may change that any time. */
static bool may_open(struct dprof_thread *t, uint64_t *slot)
{
	uint64_t now = dprof_now();

	if (!dprof_open() || (t && now - t->checked > EPOCH_TICKS && is_under_way(t, slot)))
		return false;
	if (t && now - t->checked > EPOCH_TICKS)
		t->checked = now;
	return true;
}

/* Nothing of the thread is recorded until it is done; `slot` was claimed in vain, or is NULL. */
static enum outcome make_room(uint64_t *slot, const struct dprof_event *e)
{
	struct dprof_chunk *before = dprof_self ? dprof_self->current : NULL;
	enum outcome outcome;

	if (dprof_self && dprof_chunk_is_left(dprof_self)) {
		come_back(dprof_self, slot);
		slot = NULL;
	}
	outcome = serve(e, use_slot(dprof_self, slot, may_open(dprof_self, slot)));
	if (outcome == LOST || outcome == LEFT_OUT)
		forget_claim(dprof_self, slot);
	if (outcome == LOST)
		lose(dprof_self, dprof_self ? UINT64_C(1) << dprof_self->why : 0);
	if (outcome == LEFT_OUT)
		drop();
	begun(dprof_self, before, slot);
	return outcome;
}

/* The system has just refused the thread another chunk, and is not asked for each record again. Without `busy`, since nothing
 * is written: a handler may come, and jump away. */
static bool lose_refused(struct dprof_thread *t, const uint64_t *place, uint64_t what)
{
	if (!t || t->supply != SUPPLY_REFUSED || t->refused % REFUSED_PATIENCE == 0 || place < t->chunk_end ||
	    dprof_chunk_is_clean(t) || dprof_chunk_is_left(t) || is_left_out(what))
		return false;
	t->refused++;
	lose(t, UINT64_C(1) << t->why);
	return true;
}

/* Likewise, of a thread that could not begin, between two tries (try_to_begin). */
static bool lose_homeless(uint64_t what)
{
	if (dprof_self || (homeless & (homeless - 1)) == 0 || dprof_ending || is_left_out(what))
		return false;
	lose(NULL, 0);
	return true;
}

/* An event of a kind that is left out: its claim is given back, unless a handler came in between. Without `busy`, likewise. */
static bool leave_out(struct dprof_thread *t, uint64_t *slot, uint64_t what)
{
	uint64_t *next = slot + 1, *before = t ? slot : DPROF_NOWHERE;

	if (!is_left_out(what) || (t && dprof_chunk_is_left(t)) ||
	    !__atomic_compare_exchange_n(&__dprof_cursor.next, &next, before, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		return false;
	drop();
	return true;
}

/* An entry and a point are stamped when there is room for them, an exit before that was looked for; but the
 * inserted code knows no other clock than the TSC. */
int dprof_make_room(uint64_t *slot, uint64_t what, uint64_t stamp)
{
	bool is_stamped = what % DPROF_SITE_ALIGN == DPROF_EXIT && frz_source_found == FRZ_TSC;
	struct dprof_event e = { .what = what, .stamp = is_stamped ? stamp : 0 };
	enum outcome outcome;
	struct mask mask;

	if (busy || lose_refused(dprof_self, slot, what) || lose_homeless(what)) {
		__asm__("subq $8, %0" : "+m"(__dprof_cursor.next) : : "cc");
		if (busy)
			lose_within();
		return 0;
	}
	if (leave_out(dprof_self, slot, what))
		return 0;
	mask = begin_busy();
	outcome = make_room(slot, &e);
	end_busy(mask);
	return outcome == ROOM;
}

bool dprof_record(const struct dprof_event *e)
{
	bool in_place;
	struct mask mask;

	if (busy) {
		lose_within();
		return true;
	}
	if (lose_refused(dprof_self, __dprof_cursor.next, e->what) || lose_homeless(e->what))
		return true;
	mask = begin_busy();
	close_path();
	in_place = !e->place || e->place == __dprof_cursor.next;
	if (in_place)
		make_room(NULL, e);
	end_busy(mask);
	return in_place;
}

/* Little stays as it is. Without a helper the chunk is sealed, no more. */
void dprof_chunk_finish(void)
{
	struct dprof_thread *t = dprof_self;
	struct mask mask;

	if (busy || !t || !dprof_helper_there() ||
	    __dprof_cursor.next < t->current->start + DPROF_MUCH_WORDS || __dprof_cursor.next > t->chunk_end)
		return;
	mask = begin_busy();
	fill_up(t);
	next_chunk(t);
	end_busy(mask);
}

void dprof_add_slowly(const uint64_t *place, const uint64_t *word, unsigned n)
{
	volatile struct dprof_cursor *cursor = &__dprof_cursor;
	struct dprof_chunk *before;
	volatile uint64_t *at;
	struct mask mask;
	bool behind;

	if (busy || !dprof_self)
		return;
	mask = begin_busy();
	before = dprof_self->current;
	behind = cursor->next == place;
	if (dprof_chunk_is_left(dprof_self))
		come_back(dprof_self, NULL);
	cursor->end = NULL; /* the next event opens it again */
	at = behind ? take(dprof_self, n) : NULL;
	for (unsigned i = 0; at && i < n; i++)
		at[i] = word[i];
	begun(dprof_self, before, NULL);
	end_busy(mask);
}

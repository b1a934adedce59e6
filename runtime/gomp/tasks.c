/* SPDX-License-Identifier: MIT
 *
 * tasks.c - who makes tasks, who runs them, who waits for them.
 *
 *   POINT omp task (fork) task=T id=PARENT [tag=TASKGROUP] [role=PRIORITY]
 *   POINT omp depend (fork) id=ADDRESS role=HOW               for each of its dependences
 *   ENTER omp task (region) task=T ... EXIT                   by whoever runs it; where the plugin says which
 *                                                             it is, it is called task FILE:LINE
 *   ENTER omp taskwait id=PARENT ... EXIT
 *
 * libgomp is given another function than the task's, and with the task's data a header that says which
 * task it is. It copies what it is given; where the task brings a function that copies, we bring one
 * that calls it, and otherwise none, since libgomp discards cancelled tasks of this kind only.
 *
 * What a task's data begin with libgomp reads (the reductions of a taskloop) and writes (the bounds of
 * a piece of a taskloop, the event of a detached task): so the header begins with a copy of that, and what
 * was written goes where the task looks for it before it runs.
 *
 * That copying is work of whoever makes the task, and may take long. libgomp lets nobody run a task whose data are
 * not copied yet, and none of a taskloop's pieces before those of all are: so a task that copies is said to be made
 * behind that, a taskloop once more behind each of its pieces, and a task with dependences before it, too, since it
 * may have to wait for them before they are copied.
 *
 * Law: a task is recorded as made before any thread can run it; for the last time, if another thread may, when only
 * libgomp's own work is left to be done before. Its region lies within the time in which libgomp lets it run. All
 * tasks are tied in libgomp, so a task is run by one thread. */
#include <alloca.h>
#include <omp.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/gomp/gomp.h"

DPROF_SITE_OF(site_made, DPROF_KIND_FORK, "omp task");
DPROF_SITE_OF(site_depend, DPROF_KIND_FORK, "omp depend");
DPROF_SITE_OF(site_task, DPROF_KIND_REGION | DPROF_SITE_AUTOMATIC, "omp task");
DPROF_SITE_OF(site_taskwait, DPROF_KIND_JOIN, "omp taskwait");
DPROF_SITE_OF(site_taskgroup, DPROF_KIND_JOIN, "omp taskgroup");
DPROF_SITE_OF(site_taskloop, DPROF_KIND_JOIN, "omp taskloop");
DPROF_SITE_OF(site_event, DPROF_KIND_JOIN, "omp_fulfill_event");

/* libgomp's. */
#define FLAG_DEPEND  (1u << 3)
#define FLAG_NOGROUP (1u << 11)
#define FLAG_DETACH  (1u << 13)

#define HEAD_WORDS   3          /* of the data, that libgomp looks at: two bounds, the reductions */
#define LARGEST      (64 << 10) /* bytes of a task's data that are copied on the stack */

struct header {
	void *head[HEAD_WORDS];
	void (*body)(void *);
	const struct dprof_site *site;
	uint64_t task, group, priority;
	unsigned written;       /* words of head */
	bool detached;
	size_t bytes;           /* from here to the task's data */
};

__thread struct task task_now;
static __thread uint32_t numbers, own;

/* That no other task of the process has. */
static uint64_t new_number(void)
{
	static uint32_t threads;

	if (!own)
		own = __atomic_add_fetch(&threads, 1, __ATOMIC_RELAXED);
	return (uint64_t)own << 32 | ++numbers;
}

/* ---- Making ----------------------------------------------------------------------------------- */

static void say_dependence(const void *address, unsigned how)
{
	const struct dprof_argument a[] = { { DPROF_KEY_ID, (uint64_t)address }, { DPROF_KEY_ROLE, how } };

	dprof_adapter_record_with(SITE(site_depend), DPROF_POINT, 0, a, 2);
}

/* The array is 0, the number of all, of out, of mutexinoutset, of in, these addresses, and objects (an
 * address and what it is); or the number of all, of out, and addresses. */
static void say_dependences(void **depend)
{
	enum { IN, OUT, MUTEX, SET };
	static const unsigned of_object[] = { IN, IN, OUT, OUT, MUTEX, SET };
	bool old = depend[0];
	size_t all = (size_t)(old ? depend[0] : depend[1]);
	size_t out = (size_t)(old ? depend[1] : depend[2]);
	size_t mutex = old ? 0 : (size_t)depend[3], in = old ? all - out : (size_t)depend[4];
	void **address = depend + (old ? 2 : 5);

	for (size_t i = 0; i < all; i++) {
		if (i >= out + mutex + in) {
			void **object = address[i];

			say_dependence(object[0],
				       (uintptr_t)object[1] <= 5 ? of_object[(uintptr_t)object[1]] : OUT);
		} else {
			say_dependence(address[i], i < out ? OUT : i < out + mutex ? MUTEX : IN);
		}
	}
}

/* At no receiving end: no thread can run it yet. */
static void say_made(uint64_t number, uint64_t parent, const struct taskgroup *g, uint64_t priority)
{
	struct dprof_argument a[4] = { { DPROF_KEY_TASK, number }, { DPROF_KEY_ID, parent } };
	unsigned n = 2;

	if (g)
		a[n++] = (struct dprof_argument){ DPROF_KEY_TAG, g->number };
	if (priority)
		a[n++] = (struct dprof_argument){ DPROF_KEY_ROLE, priority };
	dprof_adapter_record_with(SITE(site_made), DPROF_POINT, 0, a, n);
}

/* That libgomp gives the task, of what the program says. */
static uint64_t priority_of(int priority)
{
	int most = priority > 0 ? omp_get_max_task_priority() : 0;

	return (uint64_t)(priority < most ? priority : most);
}

/* What later tasks depend on, and of which nothing will be run. */
static void say_empty(uint64_t number, uint64_t parent, const struct taskgroup *g)
{
	struct dprof_arguments a;

	a.words = 0;
	dprof_say(&a, DPROF_KEY_TASK, number);
	dprof_say(&a, DPROF_KEY_ID, parent);
	if (g)
		dprof_say(&a, DPROF_KEY_TAG, g->number);
	dprof_say(&a, DPROF_KEY_ROLE, 0);
	dprof_adapter_record(SITE(site_made), DPROF_POINT, 0, &a);
}

/* The number of a task that the calling thread is about to make. */
static uint64_t next_task(void)
{
	if (!task_now.number)
		task_now.number = new_number();
	return new_number();
}

/* By the task that the calling thread is in. */
static void made(uint64_t number, uint64_t priority)
{
	say_made(number, task_now.number, task_now.group, priority);
	task_now.has_children = true;
}

uint64_t task_make(void **depend)
{
	uint64_t number = next_task();

	made(number, 0);
	if (depend)
		say_dependences(depend);
	return number;
}

/* What waits as a task does, and is none; returns its number. */
static uint64_t make_empty(void **depend)
{
	uint64_t number = next_task();

	say_empty(number, task_now.number, task_now.group);
	say_dependences(depend);
	return number;
}

/* ---- Running ---------------------------------------------------------------------------------- */

static void enter_task(const struct header *h)
{
	const struct dprof_argument a[] = { { DPROF_KEY_TASK, h->task },
					    { DPROF_KEY_TAG, (uint64_t)h->head[0] } };

	if (h->detached)
		dprof_adapter_record_with(h->site, DPROF_ENTER, 0, a, 2);
	else
		dprof_adapter_record_with(h->site, DPROF_ENTER, 0, a, 1);
}

/* At no receiving end. */
static void exit_task(const struct dprof_site *site)
{
	dprof_adapter_record(site, DPROF_EXIT, dprof_adapter_now(), NULL);
}

static void run(void *header)
{
	const struct header *h = header;
	struct waiting *left = wait_leave_for(h->task);
	struct taskgroup group = { h->group, NULL };
	struct task outer = task_now;
	uint64_t number = h->task; /* libgomp may reuse the memory when the body has ended */
	const struct dprof_site *site = h->site;
	char *data = (char *)header + h->bytes;

	task_now = (struct task){ h->task, false, true, h->group ? &group : NULL };
	memcpy(data, h->head, h->written * sizeof(h->head[0]));
	enter_task(h);
	h->body(data);
	exit_task(site);
	task_now = outer;
	wait_return(left, number);
}

/* ---- What libgomp is given -------------------------------------------------------------------- */

struct tasks_data {
	struct header header;
	void *original;
	void (*copy)(void *, void *);
	struct waiting *wait;   /* which libgomp may be in; NULL: in none */
	const char *frame;      /* of the function that gives it on */
};

static void copy_data(void *to, const struct tasks_data *d)
{
	memcpy(to, &d->header, sizeof(d->header));
	if (d->header.written)
		memcpy(d->original, d->header.head, d->header.written * sizeof(d->header.head[0]));
	d->copy((char *)to + d->header.bytes, d->original);
}

/* What is not deferred libgomp copies to its stack, which lies between our frames. */
static bool is_deferred(const void *to, const struct tasks_data *d)
{
	const char *here = __builtin_frame_address(0);

	return (const char *)to < here || (const char *)to >= d->frame;
}

/* With dependences it was said before: one that is not deferred has waited for them, and begins behind the copy. */
static void copy_task(void *to, void *from)
{
	const struct tasks_data *d = from;
	bool deferred = is_deferred(to, d);

	if (d->wait && deferred)
		wait_end(d->wait);
	else if (d->wait)
		wait_leave_for(d->header.task);
	copy_data(to, d);
	if (!d->wait || deferred)
		made(d->header.task, d->header.priority);
}

/* Whoever makes a taskloop waits for its end when the last piece is copied. */
static void copy_piece(void *to, void *from)
{
	const struct tasks_data *d = from;

	if (d->wait)
		wait_end(d->wait);
	copy_data(to, d);
	made(d->header.task, d->header.priority);
	if (d->wait)
		wait_from_now(d->wait);
}

static size_t aligned(size_t bytes, size_t to)
{
	return (bytes + to - 1) & ~(to - 1);
}

/* How a task is given on: what libgomp knows of its data. */
struct given {
	struct tasks_data data;       /* it copies by itself */
	void *block;            /* or this is copied: header and data */
	long bytes, alignment;
	bool allocated;
};

/* Its header is there, but for what depends on the task's data. In place: it is large. */
static void give(struct given *g, const void *data, long bytes, long alignment)
{
	struct header *h = &g->data.header;
	size_t head = (size_t)bytes < sizeof(h->head) ? (size_t)bytes : sizeof(h->head);

	g->alignment = alignment > 16 ? alignment : 16;
	g->allocated = false;
	h->bytes = aligned(sizeof(*h), (size_t)g->alignment);
	if (data)
		memcpy(h->head, data, head);
	if (h->written > head / sizeof(h->head[0]))
		h->written = (unsigned)(head / sizeof(h->head[0]));
	g->bytes = (long)aligned(h->bytes + (size_t)bytes, (size_t)g->alignment);
}

/* `room` has g->bytes and as many as its alignment. */
static void fill(struct given *g, void *room, const void *data, long bytes)
{
	g->block = (void *)aligned((size_t)room, (size_t)g->alignment);
	memcpy(g->block, &g->data.header, sizeof(g->data.header));
	if (bytes)
		memcpy((char *)g->block + g->data.header.bytes, data, (size_t)bytes);
}

/* In the function that gives on, since what it fills must outlast the call. `waiting`: in it. */
#define FILL(g, data, bytes, copy, waiting)                                                     \
	do {                                                                                    \
		(g).data.original = (data);                                                     \
		(g).data.copy = (copy);                                                         \
		(g).data.wait = (waiting);                                                      \
		(g).data.frame = __builtin_frame_address(0);                                    \
		(g).block = &(g).data;                                                          \
		if (copy)                                                                       \
			break;                                                                  \
		(g).allocated = (g).bytes > LARGEST;                                            \
		room = (g).allocated ? malloc((size_t)((g).bytes + (g).alignment))              \
				     : alloca((size_t)((g).bytes + (g).alignment));             \
		if (room)                                                                       \
			fill(&(g), room, (data), (bytes));                                      \
	} while (0)

/* Of the given, which is nothing yet. */
static struct header *header_for(struct given *g, void (*body)(void *), uint64_t task, const struct dprof_site *site,
				 uint64_t priority)
{
	struct header *h = &g->data.header;

	h->body = body;
	h->site = site;
	h->task = task;
	h->priority = priority;
	h->group = task_now.group ? task_now.group->number : 0;
	h->written = 0;
	h->detached = false;
	return h;
}

/* ---- task ------------------------------------------------------------------------------------- */

/* A task that is not deferred waits for what it depends on, but whether it is deferred only libgomp
 * knows: it is not if it is run in here. */
void task_begin_waiting(struct waiting *w, uint64_t task)
{
	*w = waiting_for(SITE(site_taskwait), DPROF_KEY_TASK, task);
	w->until = task;
	wait_from_now(w);
}

#define TASK_PARAMETERS                                                                          \
	void (*body)(void *), void *data, void (*copy)(void *, void *), long bytes,              \
		long alignment, bool deferrable, unsigned flags, void **depend, int priority,    \
		void *detach
typedef void task_function(TASK_PARAMETERS);
DPROF_EXPORT task_function GOMP_task;

static void give_task(task_function *real, const struct dprof_site *site, TASK_PARAMETERS)
{
	bool depends = flags & FLAG_DEPEND;
	uint64_t task = next_task();
	struct given g;
	struct header *h = header_for(&g, body, task, site, priority_of(priority));
	struct waiting w;
	void *room = NULL;

	h->detached = flags & FLAG_DETACH;
	h->written = h->detached;
	give(&g, data, bytes, alignment);
	FILL(g, data, bytes, copy, depends ? &w : NULL);
	if (depends || !copy)
		made(task, h->priority);
	if (depends) {
		say_dependences(depend);
		task_begin_waiting(&w, task);
	}
	real(run, g.block, copy ? copy_task : NULL, g.bytes, g.alignment, deferrable, flags, depend,
	     priority, detach);
	if (depends)
		wait_end(&w);
	if (g.allocated)
		free(room);
}

void GOMP_task(TASK_PARAMETERS)
{
	const struct dprof_site *site = SITE_OF_CALL(site_task);

	if (site)
		give_task(REAL(GOMP_task), site, body, data, copy, bytes, alignment, deferrable, flags,
			  depend, priority, detach);
	else
		REAL(GOMP_task)(body, data, copy, bytes, alignment, deferrable, flags, depend, priority,
				detach);
}

/* An event has come: of a task that is over only then. */
#define FULFILL(name, parameter, argument, event)             \
	DPROF_EXPORT void name(parameter);                    \
	DPROF_EXPORT void name(parameter)                     \
	{                                                     \
		const struct dprof_argument a = { DPROF_KEY_ID, event }; \
                                                              \
		if (IS_OURS)                                  \
			dprof_adapter_record_with(SITE(site_event), DPROF_POINT, dprof_adapter_now_fenced(), &a, 1); \
		REAL(name)(argument);                         \
	}
FULFILL(omp_fulfill_event, uintptr_t given, given, given)
FULFILL(omp_fulfill_event_, const uintptr_t *given, given, *given)

/* ---- taskloop --------------------------------------------------------------------------------- */

/* Others may run what is waited for: the team's threads, also when they have come to its end. */
static bool others_may_run(void)
{
	return team_place.group || task_now.given;
}

/* Its pieces are made inside of libgomp, in a taskgroup of their own unless they are to have none. */
struct loop {
	struct taskgroup group;
	struct waiting end;
	bool grouped, recorded; /* the latter: its end */
};

static void begin_loop(struct loop *l, struct given *g, const struct dprof_site *site, void (*body)(void *),
		       bool copies, unsigned flags, int priority)
{
	uint64_t task, p = priority_of(priority);

	l->grouped = !(flags & FLAG_NOGROUP);
	l->recorded = l->grouped && others_may_run();
	if (l->grouped) {
		l->group = (struct taskgroup){ new_number(), task_now.group };
		task_now.group = &l->group;
	}
	task = next_task();
	if (!copies)
		made(task, p);
	l->end = waiting_for(SITE(site_taskloop), DPROF_KEY_ID, l->group.number);
	header_for(g, body, task, site, p)->written = 2;
	if (l->recorded)
		(copies ? wait_from_now : wait_enter)(&l->end);
}

static void end_loop(struct loop *l)
{
	if (l->recorded) {
		wait_end(&l->end);
		wait_late(&l->end);
		dprof_adapter_exit(l->end.site);
	}
	if (l->grouped)
		task_now.group = l->group.around;
}

#define TASKLOOP(name, number)                                                                   \
	typedef void name##_function(void (*body)(void *), void *data,                           \
				     void (*copy)(void *, void *), long bytes, long alignment,   \
				     unsigned flags, unsigned long tasks, int priority,          \
				     number from, number to, number step);                       \
	DPROF_EXPORT name##_function name;                                                       \
	void name(void (*body)(void *), void *data, void (*copy)(void *, void *), long bytes,    \
		  long alignment, unsigned flags, unsigned long tasks, int priority, number from, \
		  number to, number step)                                                        \
	{                                                                                        \
		const struct dprof_site *site = SITE_OF_CALL(site_task);                         \
		struct loop l;                                                                   \
		struct given g;                                                                  \
		void *room = NULL;                                                               \
                                                                                                 \
		if (!site) {                                                                     \
			REAL(name)(body, data, copy, bytes, alignment, flags, tasks, priority,   \
				   from, to, step);                                              \
			return;                                                                  \
		}                                                                                \
		begin_loop(&l, &g, site, body, copy, flags, priority);                           \
		give(&g, data, bytes, alignment);                                                \
		FILL(g, data, bytes, copy, l.recorded ? &l.end : NULL);                          \
		REAL(name)(run, g.block, copy ? copy_piece : NULL, g.bytes, g.alignment, flags,  \
			   tasks, priority, from, to, step);                                     \
		end_loop(&l);                                                                    \
		if (g.allocated)                                                                 \
			free(room);                                                              \
	}

TASKLOOP(GOMP_taskloop, long)
TASKLOOP(GOMP_taskloop_ull, unsigned long long)

/* ---- Waiting for tasks ------------------------------------------------------------------------ */

static void wait_for(const struct dprof_site *site, enum dprof_key key, uint64_t value,
		     void (*real)(void))
{
	struct waiting w = waiting_for(site, key, value);

	wait_enter(&w);
	real();
	wait_end(&w);
	dprof_adapter_exit(w.site);
}

DPROF_EXPORT void GOMP_taskwait(void);
DPROF_EXPORT void GOMP_taskwait(void)
{
	const struct dprof_site *site = SITE_OF_CALL(site_taskwait);

	if (site && others_may_run() && task_now.has_children) {
		task_now.has_children = false;
		wait_for(site, DPROF_KEY_ID, task_now.number, REAL(GOMP_taskwait));
	} else {
		REAL(GOMP_taskwait)();
	}
}

const struct dprof_site *task_wait_site(const void *caller)
{
	return dprof_adapter_site(SITE(site_taskwait), caller);
}

bool task_depends(struct waiting *w, const struct dprof_site *site, void **depend)
{
	if (!site || !others_may_run())
		return false;
	*w = waiting_for(site, DPROF_KEY_TASK, make_empty(depend));
	wait_enter(w);
	return true;
}

void task_depended(struct waiting *w)
{
	wait_end(w);
	dprof_adapter_exit(w->site);
}

DPROF_EXPORT void GOMP_taskwait_depend(void **depend);
DPROF_EXPORT void GOMP_taskwait_depend(void **depend)
{
	struct waiting w;
	bool waits = task_depends(&w, SITE_OF_CALL(site_taskwait), depend);

	REAL(GOMP_taskwait_depend)(depend);
	if (waits)
		task_depended(&w);
}

static void nothing(void *unused)
{
	(void)unused;
}

/* What later tasks depend on is over when this task would be: so it is one. */
void task_make_nothing(void **depend)
{
	give_task(REAL(GOMP_task), SITE(site_task), nothing, NULL, NULL, 0, 1, true, FLAG_DEPEND, depend, 0, NULL);
}

DPROF_EXPORT void GOMP_taskwait_depend_nowait(void **depend);
DPROF_EXPORT void GOMP_taskwait_depend_nowait(void **depend)
{
	if (IS_OURS)
		task_make_nothing(depend);
	else
		REAL(GOMP_taskwait_depend_nowait)(depend);
}

/* ---- taskgroup -------------------------------------------------------------------------------- */

/* libgomp itself ends the program when there is no memory for a group. */
DPROF_EXPORT void GOMP_taskgroup_start(void);
DPROF_EXPORT void GOMP_taskgroup_start(void)
{
	struct taskgroup *g = IS_OURS ? malloc(sizeof(*g)) : NULL;

	if (g) {
		*g = (struct taskgroup){ new_number(), task_now.group };
		task_now.group = g;
	}
	REAL(GOMP_taskgroup_start)();
}

DPROF_EXPORT void GOMP_taskgroup_end(void);
DPROF_EXPORT void GOMP_taskgroup_end(void)
{
	struct taskgroup *g = IS_OURS ? task_now.group : NULL;

	if (!g) {
		REAL(GOMP_taskgroup_end)();
		return;
	}
	if (others_may_run())
		wait_for(SITE(site_taskgroup), DPROF_KEY_ID, g->number, REAL(GOMP_taskgroup_end));
	else
		REAL(GOMP_taskgroup_end)();
	task_now.group = g->around;
	free(g);
}

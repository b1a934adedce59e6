/* SPDX-License-Identifier: MIT
 *
 * inherit.c - a walk along each thread finds what it is in when it opens a team, makes a task or takes one up; then each of
 * these estates is put together with what was inherited there; a cursor looks them up. */
#include "analysis/trace/inherit.h"

#include <pthread.h>
#include <stdlib.h>

#include "analysis/base/memory.h"
#include "analysis/base/order.h"
#include "analysis/trace/trace_jumps.h"

struct inherited_region { uint32_t site; bool numbered; uint64_t instance; };

/* Whoever inherits: the threads of a team, or whoever runs a task, which has that number. */
struct heir { uint32_t process; bool task; uint64_t group, number; };

/* Of `entries`. */
struct region_list { size_t first, n; };

/* What a thread was in at some moment: what it had inherited as `outer`, and its own regions. */
struct estate {
	struct heir outer;
	bool has_outer, known, asked; /* `all` and `once` are; or are being found */
	struct region_list own, all, once; /* once: each place only once */
};

/* The teams of a group, or tasks, from `from` to `to`. */
struct heir_range { struct heir from; uint64_t to; size_t estate; };

/* A thread runs a task. */
struct task_switch {
	uint64_t task;
	size_t left;             /* the estate: what it was in */
	size_t within;           /* the run that it interrupts; NO_RUN */
	uint32_t site;
};

#define NO_RUN SIZE_MAX

struct thread_runs { struct task_switch *v; size_t n; };

struct tr_inheritance {
	pthread_mutex_t finding; /* whoever asks first finds it out */
	bool known;
	size_t nthreads;
	struct inherited_region *entries; size_t nentries;
	struct estate *estates; size_t nestates;
	struct heir_range *stretches; size_t nstretches;
	struct thread_runs *runs; /* each thread */
	bool *inherits;          /* each thread */
	bool *lossy;             /* each process: some of its teams and tasks may be missing here */
};

struct tr_inheritance *inherit_open(void)
{
	struct tr_inheritance *all = mem_resize(NULL, 1, sizeof *all);
	*all = (struct tr_inheritance){ .known = false };
	pthread_mutex_init(&all->finding, NULL);
	return all;
}

void inherit_close(struct tr_inheritance *all)
{
	if (!all)
		return;
	pthread_mutex_destroy(&all->finding);
	free(all->entries);
	free(all->estates);
	free(all->stretches);
	for (size_t t = 0; t < all->nthreads; t++)
		free(all->runs[t].v);
	free(all->runs);
	free(all->inherits);
	free(all->lossy);
	free(all);
}

/* ---- What openers and makers are in ----------------------------------------------------------- */

/* What a task interrupts: where the thread's own regions began, and whose heir it was. */
struct inherit_interrupted { size_t base; struct heir own; bool is_heir; size_t run; };

/* Of a thread that goes along its records. */
struct inherit_walk {
	const struct trace *trace;
	struct tr_inheritance *all;
	uint32_t process;
	struct replay replay;    /* of its regions */
	struct inherited_region *ids; /* of what is open there */
	size_t room;
	bool lost;
	struct heir own;         /* of what it did not open or make itself */
	bool is_heir, was_heir;
	bool cut;                /* what it inherited was forgotten with a loss */
	uint32_t team_site;      /* where it left its team */
	size_t base;             /* of the replay: what is below was interrupted */
	struct inherit_interrupted *interrupted; size_t ninterrupted;
	struct thread_runs *runs;
	size_t run;
};

static struct heir team_of(uint32_t process, const struct tr_event *e)
{
	return (struct heir){ process, false, trace_arg(e, DPROF_KEY_GROUP, 0), trace_arg(e, DPROF_KEY_SEQ, 0) };
}

static struct heir task_heir(uint32_t process, uint64_t number)
{
	return (struct heir){ process, true, 0, number };
}

static void enter_region(struct inherit_walk *w, const struct tr_event *e)
{
	if (!replay_enter(&w->replay, tr_entry(w->trace, e)))
		return;
	if (w->replay.depth > w->room)
		w->ids = mem_resize(w->ids, w->room = w->replay.room, sizeof *w->ids);
	w->ids[w->replay.depth - 1] = (struct inherited_region){ e->unsure ? TR_NO_SITE : e->site,
						   arg_has_instance(e), arg_instance(e) };
}

static bool same_entry(const struct inherited_region *x, const struct inherited_region *y)
{
	return x->site == y->site && x->numbered == y->numbered && x->instance == y->instance;
}

static bool same_list(const struct tr_inheritance *all, struct region_list x, struct region_list y)
{
	if (x.n != y.n)
		return false;
	for (size_t i = 0; i < x.n; i++)
		if (!same_entry(&all->entries[x.first + i], &all->entries[y.first + i]))
			return false;
	return true;
}

static bool same_heir(const struct heir *x, const struct heir *y)
{
	return x->process == y->process && x->task == y->task && x->group == y->group && x->number == y->number;
}

/* The number of the last estate if x is the same. */
static size_t add_estate(struct tr_inheritance *all, struct estate x)
{
	const struct estate *last = all->nestates ? &all->estates[all->nestates - 1] : NULL;
	if (last && same_list(all, last->own, x.own) && last->has_outer == x.has_outer &&
	    (!x.has_outer || same_heir(&last->outer, &x.outer))) {
		all->nentries = x.own.first;
		return all->nestates - 1;
	}
	*MEM_GROW(all->estates, all->nestates) = x;
	return all->nestates - 1;
}

/* What the thread is in now, for who inherits it. */
static size_t give_estate(struct inherit_walk *w)
{
	struct tr_inheritance *all = w->all;
	struct estate x = { .outer = w->own, .has_outer = w->is_heir, .own.first = all->nentries };
	if (w->lost)
		*MEM_GROW(all->entries, all->nentries) =
			(struct inherited_region){ .site = TR_NO_SITE };
	for (size_t i = w->base; i < w->replay.depth; i++)
		*MEM_GROW(all->entries, all->nentries) = w->ids[i];
	x.own.n = all->nentries - x.own.first;
	return add_estate(all, x);
}

/* What it leaves for a task. What it may have left before is not known. */
static size_t leave_estate(struct inherit_walk *w)
{
	struct tr_inheritance *all = w->all;
	struct estate x = { .outer = w->own, .has_outer = w->is_heir && !w->cut, .own.first = all->nentries };
	for (size_t i = w->base; i < w->replay.depth; i++) {
		struct inherited_region *entry = MEM_GROW(all->entries, all->nentries);
		*entry = w->ids[i];
		if (w->replay.entry[i].jumped)
			entry->site = TR_NO_SITE;
	}
	x.own.n = all->nentries - x.own.first;
	return add_estate(all, x);
}

static void bequeath(struct inherit_walk *w, struct heir to)
{
	struct tr_inheritance *all = w->all;
	size_t estate = give_estate(w);
	struct heir_range *last = all->nstretches ? &all->stretches[all->nstretches - 1] : NULL;
	if (last && last->estate == estate && last->from.process == to.process && last->from.task == to.task &&
	    last->from.group == to.group && last->to + 1 == to.number)
		last->to = to.number;
	else
		*MEM_GROW(all->stretches, all->nstretches) = (struct heir_range){ to, to.number, estate };
}

static void note_team(struct inherit_walk *w, const struct tr_event *e)
{
	const struct operation *o = tr_operation(w->trace, e);
	bool fork = o->kind == DPROF_KIND_FORK;
	if (arg_is_root(o, e) && fork) {
		bequeath(w, team_of(w->process, e));
	} else if (!arg_is_root(o, e)) {
		w->is_heir = fork;
		w->was_heir |= fork;
		w->own = team_of(w->process, e);
		w->team_site = e->site;
		w->cut = false;
	}
}

static void begin_task(struct inherit_walk *w, const struct tr_event *e, uint64_t task)
{
	*MEM_GROW(w->runs->v, w->runs->n) = (struct task_switch){ task, leave_estate(w), w->run, e->site };
	*MEM_GROW(w->interrupted, w->ninterrupted) = (struct inherit_interrupted){ w->base, w->own, w->is_heir, w->run };
	w->run = w->runs->n - 1;
	w->base = w->replay.depth;
	w->own = task_heir(w->process, task);
	w->is_heir = w->was_heir = true;
	enter_region(w, e);
}

static void end_task(struct inherit_walk *w)
{
	const struct inherit_interrupted *x = &w->interrupted[--w->ninterrupted];
	replay_leave(&w->replay, w->replay.depth - w->base);
	w->base = x->base;
	w->own = x->own;
	w->is_heir = x->is_heir;
	w->run = x->run;
}

static void exit_region(struct inherit_walk *w, const struct tr_event *e)
{
	if (w->run != NO_RUN && w->runs->v[w->run].site == e->site)
		end_task(w);
	else if (replay_find(&w->replay, e->site) <= w->replay.depth - w->base)
		replay_exit(&w->replay, e->site);
}

static void lose_own(struct inherit_walk *w)
{
	replay_leave(&w->replay, w->replay.depth - w->base);
	w->lost = true;
}

static void lose_places(struct inherit_walk *w)
{
	while (w->ninterrupted)
		end_task(w);
	lose_own(w);
	w->cut = true;
}

static void note_event(struct inherit_walk *w, const struct tr_event *e)
{
	const struct operation *o = tr_operation(w->trace, e);
	bool region = tr_is(w->trace, e->site, OP_REGION);
	uint64_t run = arg_task_run(o, e), made = arg_task_made(o, e);
	if (e->op == DPROF_LOST)
		lose_places(w);
	else if (e->site == TR_NO_SITE)
		lose_own(w);
	else if (run != ARG_NONE && !e->jumped)
		begin_task(w, e, run);
	else if (region && e->op == DPROF_ENTER)
		enter_region(w, e);
	else if (region && e->op == DPROF_EXIT)
		exit_region(w, e);
	else if (made != ARG_NONE)
		bequeath(w, task_heir(w->process, made));
	else if (arg_is_of_team(o, e))
		note_team(w, e);
	else if (e->op == DPROF_EXIT && e->site == w->team_site && arg_called_away(o, e) != ARG_NONE)
		w->is_heir = true, w->cut = false;
}

/* On another stack it need not be in what it inherits. */
static bool is_tangled(const struct tr_thread *thread)
{
	return thread->switches || (thread->jumps && thread->jumps->tangled);
}

static void walk_thread(const struct trace *trace, struct tr_inheritance *all, size_t thread)
{
	struct inherit_walk w = { .trace = trace, .all = all,
				  .process = trace->threads[thread].process,
				  .lost = trace->threads[thread].gaps ||
					  is_tangled(&trace->threads[thread]),
				  .team_site = TR_NO_SITE, .runs = &all->runs[thread], .run = NO_RUN };
	struct tr_cursor events = trace_events(trace, thread);
	replay_open(&w.replay, trace->nsites);
	for (struct tr_event e; trace_next(&events, &e);)
		note_event(&w, &e);
	all->inherits[thread] = w.was_heir;
	all->lossy[w.process] |= w.lost || trace->threads[thread].lost > 0;
	trace_end(&events);
	replay_close(&w.replay);
	free(w.ids);
	free(w.interrupted);
}

static int by_heir(const void *x, const void *y)
{
	const struct heir *a = &((const struct heir_range *)x)->from, *b = &((const struct heir_range *)y)->from;
	if (a->process != b->process)
		return a->process < b->process ? -1 : 1;
	if (a->task != b->task)
		return a->task ? 1 : -1;
	return ORDER_2(a, b, group, number);
}

/* ---- What is inherited ------------------------------------------------------------------------ */

#define NO_ESTATE SIZE_MAX

static size_t estate_of(const struct tr_inheritance *all, const struct heir *heir)
{
	size_t low = 0, high = all->nstretches;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		struct heir_range asked = { .from = *heir };
		if (by_heir(&all->stretches[middle], &asked) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	const struct heir_range *s = low > 0 ? &all->stretches[low - 1] : NULL;
	bool found = s && s->from.process == heir->process && s->from.task == heir->task &&
		     s->from.group == heir->group && s->to >= heir->number;
	return found ? s->estate : NO_ESTATE;
}

static struct region_list as_heir(const struct estate *x, const struct heir *heir)
{
	return heir->task ? x->once : x->all;
}

static void append(struct tr_inheritance *all, struct region_list *to, struct inherited_region entry)
{
	*MEM_GROW(all->entries, all->nentries) = entry;
	to->n++;
}

/* Each place where it comes first, as what it was last: what makes tasks in tasks has no end. */
static struct region_list each_once(struct tr_inheritance *all, struct region_list list)
{
	struct region_list once = { .first = all->nentries };
	for (size_t i = 0; i < list.n; i++) {
		struct inherited_region entry = all->entries[list.first + i];
		size_t at = 0;
		while (at < once.n && all->entries[once.first + at].site != entry.site)
			at++;
		if (at == once.n)
			append(all, &once, entry);
		else
			all->entries[once.first + at] = entry;
	}
	if (!same_list(all, once, list))
		return once;
	all->nentries = once.first;
	return list;
}

/* With what it had inherited itself, which is complete. */
static void compose(struct tr_inheritance *all, struct estate *x, size_t outer, bool circle)
{
	struct region_list list = { .first = all->nentries }, above = { 0, 0 };
	if (outer != NO_ESTATE && !circle)
		above = as_heir(&all->estates[outer], &x->outer);
	if (circle || (x->has_outer && outer == NO_ESTATE && all->lossy[x->outer.process]))
		append(all, &list, (struct inherited_region){ .site = TR_NO_SITE });
	for (size_t i = 0; i < above.n; i++)
		append(all, &list, all->entries[above.first + i]);
	for (size_t i = 0; i < x->own.n; i++)
		append(all, &list, all->entries[x->own.first + i]);
	if (same_list(all, list, x->own)) {
		all->nentries = list.first;
		list = x->own;
	}
	x->all = list;
	x->once = each_once(all, list);
	x->known = true;
}

/* And all that it depends on. */
static void complete(struct tr_inheritance *all, size_t estate)
{
	size_t *chain = NULL, n = 0, outer = estate;
	for (; outer != NO_ESTATE && !all->estates[outer].known && !all->estates[outer].asked;) {
		struct estate *x = &all->estates[outer];
		*MEM_GROW(chain, n) = outer;
		x->asked = true;
		outer = x->has_outer ? estate_of(all, &x->outer) : NO_ESTATE;
	}
	while (n > 0) {
		bool circle = outer != NO_ESTATE && !all->estates[outer].known;
		compose(all, &all->estates[chain[--n]], outer, circle);
		outer = chain[n];
	}
	free(chain);
}

/* ---- Finding it out --------------------------------------------------------------------------- */

/* Nothing is inherited without regions and teams; both are seldom together. */
static bool possible(const struct trace *trace)
{
	bool regions = false, teams = false;
	for (size_t i = 0; i < trace->nsites; i++) {
		regions |= tr_is(trace, (uint32_t)i, OP_REGION);
		teams |= tr_is(trace, (uint32_t)i, OP_TEAM);
	}
	return regions && teams;
}

static void find_out(const struct trace *trace, struct tr_inheritance *all)
{
	all->known = true;
	all->nthreads = trace->nthreads;
	all->runs = mem_zeroed(trace->nthreads + 1, sizeof *all->runs);
	all->inherits = mem_zeroed(trace->nthreads + 1, 1);
	all->lossy = mem_zeroed(trace->nprocesses + 1, 1);
	for (size_t t = 0; t < trace->nthreads && possible(trace); t++)
		walk_thread(trace, all, t);
	if (all->nstretches)
		qsort(all->stretches, all->nstretches, sizeof *all->stretches, by_heir);
	for (size_t i = 0; i < all->nestates; i++)
		complete(all, i);
}

const struct tr_inheritance *inherit_of(const struct trace *trace, size_t thread)
{
	struct tr_inheritance *all = trace->inheritance;
	if (!all)
		return NULL;
	pthread_mutex_lock(&all->finding);
	if (!all->known)
		find_out(trace, all);
	pthread_mutex_unlock(&all->finding);
	return all->inherits[thread] ? all : NULL;
}

/* ---- The cursor ------------------------------------------------------------------------------ */

static struct tr_event whole(const struct tr_cursor *c, const struct tr_event *e)
{
	struct tr_cursor behind = *c;
	struct tr_event x = *e;
	trace_arguments(&behind, &x);
	return x;
}

static const struct inherited_region unknown = { .site = TR_NO_SITE };

static struct tr_places places_of(const struct tr_inheritance *all, struct region_list list)
{
	return (struct tr_places){ all->entries + list.first, list.n };
}

/* False when it is not known, and nothing is missing of which one would know. */
static bool inherited(const struct tr_inheritance *all, struct heir heir, struct tr_places *places)
{
	size_t estate = estate_of(all, &heir);
	if (estate != NO_ESTATE)
		*places = places_of(all, as_heir(&all->estates[estate], &heir));
	else
		*places = (struct tr_places){ &unknown, all->lossy[heir.process] };
	return places->n > 0 || estate != NO_ESTATE;
}

static void give(const struct inherited_region *entry, uint64_t stamp, enum dprof_op op, struct tr_event *e)
{
	*e = (struct tr_event){ .stamp = stamp, .op = op, .site = entry->site, .inherited = true };
	if (entry->numbered) {
		e->nargs = 1;
		e->keys = 1u << DPROF_KEY_ID;
		e->args[0] = (struct tr_arg){ DPROF_KEY_ID, entry->instance };
	}
}

/* From here on the thread is in its team. */
static void begin(struct tr_cursor *c, const struct tr_event *e)
{
	inherited(c->inheritance, (struct heir){ c->thread->process, false, c->group, c->seq }, &c->inside);
	c->stamp = e->stamp;
	c->enter = c->inside;
	c->forks = false;
	c->in_team = true;
}

/* The event comes when all that was inherited has been left. */
static bool leave_first(struct tr_cursor *c, const struct tr_event *e, size_t before)
{
	c->in_team = false;
	if (c->inside.n == 0)
		return false;
	c->next = before;
	c->stamp = e->stamp;
	c->leave = c->inside;
	c->inside.n = 0;
	return true;
}

/* False when the event must wait: the cursor stands before it again. */
static bool pass_team(struct tr_cursor *c, const struct tr_event *e, size_t before)
{
	const struct operation *o = tr_operation(c->trace, e);
	struct tr_event x = whole(c, e);
	if (arg_is_of_team(o, &x) && arg_is_member(o, &x)) {
		if (leave_first(c, e, before))
			return false;
		c->forks = o->kind == DPROF_KIND_FORK;
		c->group = trace_arg(&x, DPROF_KEY_GROUP, 0);
		c->seq = trace_arg(&x, DPROF_KEY_SEQ, 0);
		c->team_site = e->site;
	} else if (e->op == DPROF_EXIT && e->site == c->team_site && !c->in_team &&
		   (c->forks || (o->kind == DPROF_KIND_JOIN && arg_called_away(o, &x) != ARG_NONE))) {
		begin(c, e);
	}
	return true;
}

static bool has_unknown(struct tr_places x)
{
	for (size_t i = 0; i < x.n; i++)
		if (x.v[i].site == TR_NO_SITE)
			return true;
	return false;
}

/* The thread goes from what it is in to what the task's maker was in, but for what is the same. */
static void between(const struct tr_inheritance *all, uint32_t process, const struct task_switch *run,
		    struct tr_places *left, struct tr_places *entered)
{
	size_t same = 0;
	*left = places_of(all, all->estates[run->left].all);
	if (!inherited(all, task_heir(process, run->task), entered)) {
		left->n = 0;
	} else if (has_unknown(*left) || has_unknown(*entered)) {
		left->n = 0;
		*entered = (struct tr_places){ &unknown, 1 };
	}
	while (same < left->n && same < entered->n && same_entry(&left->v[same], &entered->v[same]))
		same++;
	*left = (struct tr_places){ left->v + same, left->n - same };
	*entered = (struct tr_places){ entered->v + same, entered->n - same };
}

/* The thread takes up its next task. False when the event must wait. */
static bool begin_run(struct tr_cursor *c, const struct tr_event *e, size_t before)
{
	const struct thread_runs *runs = &c->inheritance->runs[c->thread - c->trace->threads];
	if (!c->switched) {
		between(c->inheritance, c->thread->process, &runs->v[c->nruns], &c->leave, &c->enter);
		c->switched = c->leave.n + c->enter.n > 0;
		c->stamp = e->stamp;
	}
	if (c->leave.n + c->enter.n > 0) {
		c->next = before;
		return false;
	}
	c->switched = false;
	c->run = c->nruns++;
	return true;
}

/* What the task has interrupted goes on. */
static void end_run(struct tr_cursor *c, const struct tr_event *e)
{
	const struct task_switch *run = &c->inheritance->runs[c->thread - c->trace->threads].v[c->run];
	between(c->inheritance, c->thread->process, run, &c->enter, &c->leave);
	c->stamp = e->stamp;
	c->run = run->within;
}

/* False when the event must wait. */
static bool pass_run(struct tr_cursor *c, const struct tr_event *e, size_t before)
{
	const struct thread_runs *runs = &c->inheritance->runs[c->thread - c->trace->threads];
	if (e->op == DPROF_EXIT && c->run != NO_RUN && runs->v[c->run].site == e->site) {
		end_run(c, e);
	} else if (e->op == DPROF_ENTER && c->nruns < runs->n && runs->v[c->nruns].site == e->site && !e->jumped) {
		struct tr_event x = whole(c, e);
		return arg_task_run(tr_operation(c->trace, e), &x) == ARG_NONE || begin_run(c, e, before);
	}
	return true;
}

static bool pass(struct tr_cursor *c, const struct tr_event *e, size_t before)
{
	if (e->op == DPROF_LOST) { /* what is known of its places is forgotten with that */
		c->inside.n = 0;
		c->run = NO_RUN;
	}
	switch (e->site == TR_NO_SITE ? DPROF_KIND_NONE : c->trace->sites[e->site].kind) {
	case DPROF_KIND_FORK:
	case DPROF_KIND_JOIN:
		return pass_team(c, e, before);
	case DPROF_KIND_REGION:
		return pass_run(c, e, before);
	default:
		return true;
	}
}

bool inherit_next(struct tr_cursor *c, struct tr_event *e)
{
	do {
		if (c->leave.n > 0) {
			give(&c->leave.v[--c->leave.n], c->stamp, DPROF_EXIT, e);
			return true;
		}
		if (c->enter.n > 0) {
			give(c->enter.v++, c->stamp, DPROF_ENTER, e);
			c->enter.n--;
			return true;
		}
		size_t before = c->next;
		if (!trace_next_recorded(c, e))
			return false;
		if (pass(c, e, before))
			return true;
	} while (true);
}

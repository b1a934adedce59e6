/* SPDX-License-Identifier: MIT
 *
 * master_worker.c - see master_worker.h. First what everybody did, step by step; then which of the master's regions are
 * set-up; then each worker's time is divided. */
#include "analysis/diagnose/master_worker.h"

#include <stdlib.h>

#include "analysis/base/memory.h"
#include "analysis/base/order.h"
#include "analysis/base/search.h"

static const char *const keys[WORKER_METRICS] = { "init", "comp", "comm", "final", "seq", "setup", "bottleneck", "finalization" };

const char *worker_metric_key(enum worker_metric metric)
{
	return keys[metric];
}

/* A life cycle, by the steps of its thread; the task is nothing but work between them. */
struct cycle {
	uint64_t asked, got, over;   /* stamps: from; when it had the task; to */
	uint64_t first_step;         /* of it */
	uint64_t sent;               /* by the master: stamp, or UINT64_MAX */
	uint64_t task_from, task_to; /* of the task; 0: none */
	frz_time comp, message;
	bool task;                   /* and not the word that it is over */
};

struct worker_steps {
	struct steps steps;
	struct cycle *cycles; size_t ncycles; /* in the spill */
	bool marked;                 /* its tasks are: role(task) */
	uint64_t fin;                /* stamp: T_fin */
};

/* What the master did before it sent something to a worker. */
struct master_service {
	uint64_t sent;               /* stamp: when it began to send, */
	uint32_t step;               /* what it worked before that; UINT32_MAX: nothing */
	bool task, over;             /* for a task; when it was over */
};

/* Where the master is while workers wait for it. */
struct waited_for {
	int64_t *waits;              /* of each of its pieces, and behind them: so many more waits than in the one before; in the spill */
	uint64_t *less;              /* ticks of each row that are in those pieces, and in none of these waits */
};

struct master_finder {
	struct master_worker *found;
	const struct graph *g;
	struct graph_last *last;
	const struct event_type *type;
	const struct steps_window *windows; /* of each thread, or NULL */
	struct steps master;
	struct master_service *services; size_t nservices; /* in the order of their stamps */
	bool setup_marked;           /* what sets up tasks has role(setup); or else: */
	bool *sets_up;               /* of each row (site; behind them: outside) */
	uint64_t *worked;            /* ticks that the master worked before each of its pieces, and before the end; in the spill */
	struct waited_for seq, busy; /* in t_seq and t_w-bn */
	struct worker_steps *of;     /* of each worker */
	struct moment begins;        /* the master takes the first request */
	struct frz_cursor *cursors;
};

/* ---- Intervals ------------------------------------------------------------------------------- */

/* Of a wait so long what lies between two moments, which are so far from its begin. */
static frz_time overlap(frz_time wait, frz_time from, frz_time to)
{
	from = time_positive(from);
	to = time_positive(to);
	int64_t lo = (wait.lo < to.lo ? wait.lo : to.lo) - from.hi, hi = (wait.hi < to.hi ? wait.hi : to.hi) - from.lo;
	return time_positive((frz_time){ lo, hi });
}

static struct moment moment_of(const struct master_finder *f, uint32_t thread, uint64_t stamp)
{
	return (struct moment){ f->g->trace->threads[thread].clock, stamp };
}

static frz_time between(const struct master_finder *f, struct moment from, struct moment to)
{
	return times_between_near(f->g->times, f->cursors, from, to);
}

static uint32_t row_of(const struct master_finder *f, uint32_t site)
{
	return site < f->g->trace->nsites ? site : (uint32_t)f->g->trace->nsites;
}

/* ---- The master ------------------------------------------------------------------------------ */

static bool has_to_do_with_workers(const struct step *s)
{
	return s->is.with == ROLE_WORKER;
}

static void find_services(struct master_finder *f)
{
	uint32_t before = UINT32_MAX;
	bool begun = false;
	for (size_t i = 0; i < f->master.n; i++) {
		const struct step *s = &f->master.list[i];
		bool sends = s->is.kind == EVENT_SEND || s->is.kind == EVENT_EXCHANGE;
		if (s->is.kind == EVENT_WORK) {
			before = (uint32_t)i;
			continue;
		}
		if (!begun && s->is.kind == EVENT_RECEIVE && has_to_do_with_workers(s)) {
			begun = true;
			f->begins = moment_of(f, f->found->master, s->is.from);
		}
		if (sends && has_to_do_with_workers(s))
			*SPILL_GROW(f->g->spill, f->services, f->nservices) =
				(struct master_service){ .sent = s->is.from, .step = before };
		before = UINT32_MAX;
	}
	if (!begun)
		f->begins = moment_of(f, f->found->master, steps_window_of(f->g, f->found->master, f->windows).from);
}

/* The last that began to be sent by then. */
static struct master_service *service_of(const struct master_finder *f, uint64_t sent)
{
	size_t lo = SEARCH(f->nservices, mid, f->services[mid].sent <= sent);
	return lo ? &f->services[lo - 1] : NULL;
}

/* ---- Workers: their life cycles ------------------------------------------------------------------ */

static bool has_tasks_marked(const struct steps *s)
{
	bool any = false;
	for (size_t i = 0; i < s->npieces; i++)
		any |= s->pieces[i].role == DPROF_IN_ROLE_TASK;
	return any;
}

static frz_time time_of_piece(const struct master_finder *f, uint32_t thread, const struct step_piece *p)
{
	return times_of_thread(f->g->times, thread, p->from, p->to);
}

/* Of one whose tasks are marked: what of it is in there. */
static void find_marked_task(const struct master_finder *f, uint32_t thread, const struct worker_steps *w, struct cycle *c)
{
	c->comp = (frz_time){ 0, 0 };
	for (size_t i = c->first_step; i < w->steps.n && w->steps.list[i].is.to <= c->over; i++)
		for (uint32_t k = 0; k < w->steps.list[i].npieces; k++) {
			const struct step_piece *p = &w->steps.pieces[w->steps.list[i].pieces + k];
			if (p->role != DPROF_IN_ROLE_TASK)
				continue;
			c->task = true;
			c->task_to = p->to;
			c->comp = time_add(c->comp, time_of_piece(f, thread, p));
		}
}

static void add_cycle(struct master_finder *f, uint32_t thread, struct worker_steps *w, const struct event_found *e)
{
	const struct event_type *t = f->type;
	size_t request = event_constituent(t, "request"), assign = event_constituent(t, "assign");
	size_t asks = event_constituent(t, "asks"), task = event_constituent(t, "task");
	bool at_once = e->of[asks].count; /* it sends and receives in one call */
	const struct event_part *asked = &e->of[at_once ? asks : request], *had = &e->of[at_once ? asks : assign];
	const struct event_part *work = &e->of[task];
	const struct step *came = &w->steps.list[had->sum.tag];
	struct cycle c = { .asked = e->from, .got = had->sum.to, .over = e->to, .first_step = asked->sum.tag,
			   .comp = event_attribute(t, e, "comp"), .message = event_attribute(t, e, "comm"),
			   .sent = came->from_thread == f->found->master ? came->sent : UINT64_MAX };
	if (work->count) {
		c.task_from = work->sum.from;
		c.task_to = work->sum.to;
	}
	if (w->marked)
		find_marked_task(f, thread, w, &c);
	else if (w->ncycles)
		w->cycles[w->ncycles - 1].task = true; /* it has asked again */
	*SPILL_GROW(f->g->spill, w->cycles, w->ncycles) = c;
}

/* When it asks behind its last task; if it does not, when that is over. UINT64_MAX: it had none. */
static uint64_t find_fin(const struct worker_steps *w)
{
	size_t n = w->ncycles;
	if (!w->marked)
		return n ? w->cycles[n - 1].asked : UINT64_MAX;
	while (n > 0 && !w->cycles[n - 1].task)
		n--;
	return n == 0 ? UINT64_MAX : n < w->ncycles ? w->cycles[n].asked : w->cycles[n - 1].task_to;
}

static void find_cycles(struct master_finder *f, uint32_t thread, struct worker_steps *w)
{
	struct event_recognizer r = { .type = f->type };
	struct event_found e;
	for (size_t i = 0; i < w->steps.n; i++)
		if (event_next(&r, &w->steps.list[i].is, &e))
			add_cycle(f, thread, w, &e);
	if (event_end(&r, &e))
		add_cycle(f, thread, w, &e);
	w->fin = find_fin(w);
}

static uint64_t count_tasks(const struct worker_steps *w)
{
	uint64_t n = 0;
	for (size_t i = 0; i < w->ncycles; i++)
		n += w->cycles[i].task;
	return n;
}

/* Which services were for what. */
static void mark_services(struct master_finder *f, const struct worker_steps *w)
{
	for (size_t i = 0; i < w->ncycles; i++) {
		struct master_service *s = w->cycles[i].sent != UINT64_MAX ? service_of(f, w->cycles[i].sent) : NULL;
		if (s) {
			s->task |= w->cycles[i].task;
			s->over |= !w->cycles[i].task;
		}
	}
}

/* ---- What is set-up -------------------------------------------------------------------------- */

/* What the master did in services of one kind, as it adds up. */
struct services_sum {
	uint64_t *ticks;             /* of each row, and, of what has role(setup): */
	uint64_t *setup;
	bool regions, marked;        /* it was in any; in such a one */
};

static void add_services(const struct master_finder *f, bool of_tasks, struct services_sum *sum)
{
	for (size_t i = 0; i < f->nservices; i++) {
		const struct master_service *s = &f->services[i];
		if (s->step == UINT32_MAX || !(of_tasks ? s->task : s->over && !s->task))
			continue;
		const struct step *work = &f->master.list[s->step];
		for (uint32_t p = 0; p < work->npieces; p++) {
			const struct step_piece *piece = &f->master.pieces[work->pieces + p];
			uint64_t took = piece->to - piece->from + 1;
			bool setup = piece->role == DPROF_IN_ROLE_SETUP;
			sum->ticks[row_of(f, piece->site)] += took;
			sum->setup[row_of(f, piece->site)] += setup ? took : 0;
			sum->regions |= piece->site < f->g->trace->nsites;
			sum->marked |= setup;
		}
	}
}

static uint32_t longest_row(const struct master_finder *f, const uint64_t *ticks, const bool *only)
{
	uint32_t n = (uint32_t)f->g->trace->nsites, found = TR_NO_SITE;
	uint64_t most = 0;
	for (uint32_t row = 0; row <= n; row++)
		if (ticks[row] > most && (!only || only[row])) {
			most = ticks[row];
			found = row < n ? row : TR_OUTSIDE;
		}
	return found;
}

static uint64_t *no_ticks(const struct master_finder *f)
{
	uint64_t *ticks = mem_zeroed(f->g->trace->nsites + 1, sizeof *ticks);
	return ticks;
}

static struct services_sum no_services(const struct master_finder *f)
{
	return (struct services_sum){ .ticks = no_ticks(f), .setup = no_ticks(f) };
}

static void forget_services(struct services_sum *sum)
{
	free(sum->ticks);
	free(sum->setup);
}

static void find_setup(struct master_finder *f)
{
	size_t n = f->g->trace->nsites;
	struct services_sum tasks = no_services(f), end = no_services(f);
	add_services(f, true, &tasks);
	add_services(f, false, &end);
	f->setup_marked = tasks.marked;
	f->sets_up = mem_resize(NULL, n + 1, sizeof *f->sets_up);
	for (size_t row = 0; row <= n; row++)
		f->sets_up[row] = tasks.regions ? row < n && tasks.ticks[row] && !end.ticks[row] : row == n;
	f->found->service_site = longest_row(f, tasks.ticks, NULL);
	f->found->setup_site = tasks.marked ? longest_row(f, tasks.setup, NULL) : longest_row(f, tasks.ticks, f->sets_up);
	forget_services(&tasks);
	forget_services(&end);
}

static bool is_setup(const struct master_finder *f, const struct step_piece *p)
{
	return f->setup_marked ? p->role == DPROF_IN_ROLE_SETUP : f->sets_up[row_of(f, p->site)];
}

/* ---- Where the master is meanwhile ----------------------------------------------------------- */

static struct waited_for no_waits(const struct master_finder *f)
{
	return (struct waited_for){ spill_zeros(f->g->spill, f->master.npieces + 1, sizeof(int64_t)), no_ticks(f) };
}

/* About: places are only told by it. */
static int64_t about(const struct master_finder *f, struct moment from, uint64_t stamp)
{
	return time_middle(between(f, from, moment_of(f, f->found->master, stamp)));
}

/* A worker waits between two moments, so far behind `from`. */
static void note_wait(struct master_finder *f, struct waited_for *w, struct moment from, int64_t after, int64_t until)
{
	const struct steps *m = &f->master;
	size_t first = SEARCH(m->npieces, mid, about(f, from, m->pieces[mid].to) <= after);
	size_t behind = SEARCH(m->npieces, mid, about(f, from, m->pieces[mid].from) < until);
	if (until <= after || first >= behind)
		return;
	int64_t before = after - about(f, from, m->pieces[first].from), rest = about(f, from, m->pieces[behind - 1].to) - until;
	w->waits[first]++;
	w->waits[behind]--;
	w->less[row_of(f, m->pieces[first].site)] += before > 0 ? (uint64_t)before : 0;
	w->less[row_of(f, m->pieces[behind - 1].site)] += rest > 0 ? (uint64_t)rest : 0;
}

/* Where it mostly was in all of these waits. */
static uint32_t place_of_waits(const struct master_finder *f, struct waited_for *w)
{
	uint64_t *ticks = no_ticks(f);
	int64_t waits = 0;
	for (size_t i = 0; i < f->master.npieces; i++) {
		const struct step_piece *p = &f->master.pieces[i];
		waits += w->waits[i];
		ticks[row_of(f, p->site)] += (uint64_t)waits * (p->to - p->from);
	}
	for (size_t row = 0; row <= f->g->trace->nsites; row++)
		ticks[row] -= w->less[row] < ticks[row] ? w->less[row] : ticks[row];
	uint32_t site = longest_row(f, ticks, NULL);
	spill_free(f->g->spill, w->waits);
	free(w->less);
	free(ticks);
	return site;
}

/* ---- One worker's time ----------------------------------------------------------------------- */

struct divider {
	struct master_finder *f;
	struct worker *to;
	const struct worker_steps *w;
	size_t cycle;                /* that the steps are in, or behind */
};

static void add(struct divider *d, enum worker_metric metric, frz_time x)
{
	d->to->metric[metric] = time_add(d->to->metric[metric], x);
}

/* Of a wait the time in which the master set this task up, which is no bottleneck. */
static frz_time setup_in(const struct divider *d, const struct step *s)
{
	struct master_finder *f = d->f;
	struct master_service *service = s->from_thread == f->found->master ? service_of(f, s->sent) : NULL;
	struct moment begin = moment_of(f, d->to->thread, s->is.from);
	frz_time sum = { 0, 0 };
	if (!service || !service->task || service->step == UINT32_MAX)
		return sum;
	const struct step *work = &f->master.list[service->step];
	for (uint32_t i = 0; i < work->npieces; i++) {
		const struct step_piece *p = &f->master.pieces[work->pieces + i];
		if (!is_setup(f, p))
			continue;
		frz_time within = overlap(s->is.waited, between(f, begin, moment_of(f, f->found->master, p->from)),
					  between(f, begin, moment_of(f, f->found->master, p->to)));
		f->busy.less[row_of(f, p->site)] += (uint64_t)time_middle(within);
		sum = time_add(sum, within);
	}
	return time_least(sum, s->is.waited);
}

/* How far the last T_fin of all is from a moment. */
static frz_time until_all_are_done(const struct master_finder *f, struct moment from)
{
	frz_time last = { INT64_MIN, INT64_MIN };
	for (size_t i = 0; i < f->found->nworkers; i++) {
		if (f->of[i].fin == UINT64_MAX)
			continue;
		frz_time x = between(f, from, moment_of(f, f->found->workers[i].thread, f->of[i].fin));
		last.lo = x.lo > last.lo ? x.lo : last.lo;
		last.hi = x.hi > last.hi ? x.hi : last.hi;
	}
	return last;
}

static bool is_before(frz_time x, frz_time y, bool possibly)
{
	return possibly ? x.lo <= y.hi : x.hi <= y.lo;
}

/* How far from a moment a worker last asked behind a task, before `end` from it: 0 at least, as whoever was done before that is. */
static frz_time until_it_was_done(const struct master_finder *f, size_t worker, struct moment from, frz_time end)
{
	const struct worker_steps *w = &f->of[worker];
	uint32_t thread = f->found->workers[worker].thread;
	frz_time done = { 0, 0 };
	for (int possibly = 0; possibly < 2; possibly++) {
		size_t n = SEARCH(w->ncycles, mid,
				  is_before(between(f, from, moment_of(f, thread, w->cycles[mid].asked)), end, possibly));
		while (n > 1 && !w->cycles[n - 2].task)
			n--;
		frz_time last = n > 1 ? between(f, from, moment_of(f, thread, w->cycles[n - 1].asked)) : done;
		*(possibly ? &done.hi : &done.lo) = possibly ? last.hi : last.lo;
	}
	return time_positive(done);
}

/* The last of all in this round of tasks. */
static frz_time until_a_round_is_done(const struct master_finder *f, struct moment from, frz_time end)
{
	frz_time last = { 0, 0 };
	for (size_t i = 0; i < f->found->nworkers; i++)
		last = time_most(last, until_it_was_done(f, i, from, end));
	return last;
}

/* How long the master surely worked between two moments, so far behind `from`: in whole pieces of its work, and in those at both
 * ends. In a program with marks what it does in no region need not be work. */
static int64_t master_worked(const struct master_finder *f, struct moment from, int64_t after, int64_t until)
{
	const struct steps *m = &f->master;
	uint32_t master = f->found->master;
	size_t first = SEARCH(m->npieces, mid, between(f, from, moment_of(f, master, m->pieces[mid].from)).lo < after);
	size_t behind = SEARCH(m->npieces, mid, between(f, from, moment_of(f, master, m->pieces[mid].to)).hi <= until);
	const size_t ends[] = { first - (first > 0), behind }; /* the piece before all these, and the one behind them */
	int64_t sum = 0;
	if (first < behind)
		sum = times_sum(f->g->times, master, (struct stretches){ f->worked[behind] - f->worked[first], behind - first,
									 m->pieces[first].from, m->pieces[behind - 1].to }).lo;
	for (int i = first > 0 ? 0 : 1; i < 2; i++) {
		size_t at = ends[i];
		if (at >= m->npieces || f->worked[at + 1] == f->worked[at] || (i == 1 && first > 0 && at == ends[0]))
			continue;
		int64_t begins = between(f, from, moment_of(f, master, m->pieces[at].from)).hi;
		int64_t ends_at = between(f, from, moment_of(f, master, m->pieces[at].to)).lo;
		int64_t piece = ticks_minus(ends_at < until ? ends_at : until, begins > after ? begins : after);
		sum = ticks_plus(sum, piece > 0 ? piece : 0);
	}
	return sum;
}

/* How long the master may have worked between two moments, `from` and so far behind it, in regions or not. */
static int64_t master_may_work(const struct master_finder *f, struct moment from, int64_t until)
{
	const struct steps *m = &f->master;
	uint32_t master = f->found->master;
	int64_t sum = 0;
	size_t i = SEARCH(m->npieces, mid, between(f, from, moment_of(f, master, m->pieces[mid].to)).hi <= 0);
	for (; i < m->npieces; i++) {
		frz_time begins = between(f, from, moment_of(f, master, m->pieces[i].from));
		frz_time ends = between(f, from, moment_of(f, master, m->pieces[i].to));
		if (begins.lo >= until)
			break;
		int64_t piece = ticks_minus(ends.hi < until ? ends.hi : until, begins.lo > 0 ? begins.lo : 0);
		sum = ticks_plus(sum, piece > 0 ? piece : 0);
	}
	return sum;
}

/* Part of a wait, which for so long surely is for the master, since that works then; or for the last worker, since it does not. */
static void add_sure_part(frz_time *to, frz_time part, int64_t sure)
{
	sure = sure < part.lo ? sure : part.lo;
	*to = time_add(*to, (frz_time){ sure > 0 ? sure : 0, part.hi });
}

static void divide_wait(struct divider *d, const struct step *s, bool behind)
{
	const frz_time now = { 0, 0 };
	struct moment begin = moment_of(d->f, d->to->thread, s->is.from);
	frz_time w = s->is.waited;
	struct master_worker *m = d->f->found;
	if (w.hi <= 0)
		return;
	if (behind || (s->is.kind == EVENT_COLLECTIVE && d->cycle > 0)) {
		frz_time done = behind ? time_positive(until_all_are_done(d->f, begin)) : until_a_round_is_done(d->f, begin, w);
		frz_time last = overlap(w, now, done), seq = time_less(w, done);
		add(d, WORKER_FINALIZATION, last);
		add(d, WORKER_SEQ, seq);
		note_wait(d->f, &d->f->seq, begin, time_middle(done), time_middle(w));
		add_sure_part(&m->apart, seq, master_worked(d->f, begin, done.hi, w.lo));
		add_sure_part(&m->last_alone, last, ticks_minus(last.lo, master_may_work(d->f, begin, last.hi)));
		return;
	}
	frz_time first = d->cycle <= 1 ? time_positive(between(d->f, begin, d->f->begins)) : now;
	frz_time seq = overlap(w, now, first), setup = setup_in(d, s), busy = time_less(w, time_add(seq, setup));
	add(d, WORKER_SEQ, seq);
	add(d, WORKER_SETUP, setup);
	add(d, WORKER_BOTTLENECK, busy);
	note_wait(d->f, &d->f->seq, begin, 0, time_middle(time_least(first, w)));
	note_wait(d->f, &d->f->busy, begin, time_middle(first), time_middle(w));
	add_sure_part(&m->apart, seq, master_worked(d->f, begin, 0, w.lo < first.lo ? w.lo : first.lo));
	add_sure_part(&m->between, busy, ticks_minus(master_worked(d->f, begin, first.hi, w.lo), setup.hi));
}

/* What it did there, if no marks say it. */
static enum worker_metric doing(const struct divider *d, const struct step *s, bool behind)
{
	const struct cycle *c = d->cycle ? &d->w->cycles[d->cycle - 1] : NULL;
	bool in_task = c && c->task && c->task_to && !d->w->marked && s->is.from >= c->task_from && s->is.to <= c->task_to;
	if (!d->cycle)
		return WORKER_INIT;
	if (s->is.kind == EVENT_WORK && in_task)
		return WORKER_COMP;
	return !behind || s->is.with == ROLE_MASTER ? WORKER_COMM : WORKER_FINAL;
}

static enum worker_metric doing_marked(enum dprof_role role, enum worker_metric otherwise)
{
	return role == DPROF_IN_ROLE_TASK  ? WORKER_COMP
	     : role == DPROF_IN_ROLE_INIT  ? WORKER_INIT
	     : role == DPROF_IN_ROLE_FINAL ? WORKER_FINAL
					   : otherwise;
}

/* By the regions it was in, if any of them has a role: its last task may be over within. */
static void divide_work(struct divider *d, const struct step *s, bool behind)
{
	const struct step_piece *p = &d->w->steps.pieces[s->pieces];
	bool any = false;
	for (uint32_t i = 0; i < s->npieces; i++)
		any |= p[i].role != DPROF_IN_NO_ROLE;
	for (uint32_t i = 0; i < s->npieces && any; i++)
		add(d, doing_marked(p[i].role, doing(d, s, p[i].from >= d->w->fin)), time_of_piece(d->f, d->to->thread, &p[i]));
	if (!any)
		add(d, doing(d, s, behind), s->is.took);
}

/* It had to do with threads of its own process: what is not MPI's, and brought nothing from another one. */
static bool is_own(const struct master_finder *f, const struct step *s)
{
	const struct trace *trace = f->g->trace;
	return s->is.kind == EVENT_OTHER && s->site < trace->nsites && tr_is(trace, s->site, OP_OTHERS) &&
	       !tr_is(trace, s->site, OP_MPI) && s->from_thread == UINT32_MAX;
}

/* It waits for them as it does what they help with. */
static void divide_own(struct divider *d, const struct step *s, bool behind)
{
	struct cycle *c = d->cycle ? &d->w->cycles[d->cycle - 1] : NULL;
	bool in_task = c && c->task && s->is.from >= c->got && s->is.to <= c->over;
	if (in_task)
		c->comp = time_add(c->comp, s->is.took);
	add(d, in_task ? WORKER_COMP : doing(d, s, behind), s->is.took);
}

/* A step of which it is not known what it was may be any of it. */
static void divide_unknown(struct divider *d, const struct step *s)
{
	for (int metric = 0; metric < WORKER_METRICS; metric++)
		add(d, (enum worker_metric)metric, (frz_time){ 0, s->is.took.hi });
}

static void divide(struct master_finder *f, size_t worker)
{
	struct divider d = { .f = f, .to = &f->found->workers[worker], .w = &f->of[worker] };
	struct steps_window life = steps_window_of(f->g, d.to->thread, f->windows);
	d.to->life = times_of_thread(f->g->times, d.to->thread, life.from, life.to);
	for (size_t i = 0; i < d.w->steps.n; i++) {
		const struct step *s = &d.w->steps.list[i];
		while (d.cycle < d.w->ncycles && s->is.from >= d.w->cycles[d.cycle].asked)
			d.cycle++;
		bool behind = s->is.from >= d.w->fin;
		if (!s->known) {
			divide_unknown(&d, s);
			continue;
		}
		if (is_own(f, s)) {
			divide_own(&d, s, behind);
			continue;
		}
		divide_wait(&d, s, behind);
		if (s->is.kind == EVENT_WORK)
			divide_work(&d, s, behind);
		else
			add(&d, doing(&d, s, behind), s->is.transfer);
		spill_relax(f->g->spill);
	}
	for (int metric = WORKER_SEQ; metric < WORKER_METRICS; metric++)
		d.to->wait = time_add(d.to->wait, d.to->metric[metric]);
}

/* ---- The master's work ----------------------------------------------------------------------- */

static void sum_up_masters_work(struct master_finder *f)
{
	const struct trace *trace = f->g->trace;
	const struct steps *m = &f->master;
	bool marked = trace->processes[trace->threads[f->found->master].process].marked;
	f->worked = spill_zeros(f->g->spill, m->npieces + 1, sizeof *f->worked);
	for (size_t i = 0; i < m->npieces; i++) {
		const struct step_piece *p = &m->pieces[i];
		f->worked[i + 1] = f->worked[i] + (p->site < trace->nsites || !marked ? p->to - p->from : 0);
	}
}

/* ---- All workers ----------------------------------------------------------------------------- */

/* The one in the middle of all: of lower bounds, and of upper ones. */
static frz_time median(frz_time *list, size_t n)
{
	int64_t *ends = mem_resize(NULL, n + 1, sizeof *ends);
	frz_time found = { 0, 0 };
	for (int end = 0; end < 2 && n; end++) {
		for (size_t i = 0; i < n; i++)
			ends[i] = end ? list[i].hi : list[i].lo;
		qsort(ends, n, sizeof *ends, order_int64);
		*(end ? &found.hi : &found.lo) = ends[n / 2];
	}
	free(ends);
	free(list);
	return found;
}

static void find_middles(struct master_finder *f)
{
	frz_time *tasks = NULL, *messages = NULL, *services = NULL;
	size_t ntasks = 0, nmessages = 0, nservices = 0;
	for (size_t i = 0; i < f->found->nworkers; i++)
		for (size_t k = 0; k < f->of[i].ncycles; k++) {
			const struct cycle *c = &f->of[i].cycles[k];
			if (!c->task)
				continue;
			*MEM_GROW(tasks, ntasks) = c->comp;
			*MEM_GROW(messages, nmessages) = c->message;
		}
	for (size_t i = 0; i < f->nservices; i++)
		if (f->services[i].task)
			*MEM_GROW(services, nservices) = f->services[i].step == UINT32_MAX
								 ? (frz_time){ 0, 0 } : f->master.list[f->services[i].step].is.took;
	f->found->tasks = ntasks;
	f->found->task = median(tasks, ntasks);
	f->found->message = median(messages, nmessages);
	f->found->service = median(services, nservices);
}

/* The one that was done last, and where. */
static void find_last(struct master_finder *f)
{
	struct master_worker *m = f->found;
	size_t last = 0;
	for (size_t i = 1; i < m->nworkers; i++) {
		bool known = f->of[i].fin != UINT64_MAX && f->of[last].fin != UINT64_MAX;
		frz_time later = known ? between(f, moment_of(f, m->workers[last].thread, f->of[last].fin),
						 moment_of(f, m->workers[i].thread, f->of[i].fin)) : (frz_time){ 0, 0 };
		last = f->of[last].fin == UINT64_MAX || later.lo + later.hi > 0 ? i : last;
	}
	uint64_t *ticks = no_ticks(f), *assigned = no_ticks(f);
	const struct worker_steps *w = &f->of[last];
	for (size_t i = 0; i < w->steps.n; i++) {
		const struct step *s = &w->steps.list[i];
		bool within = w->ncycles && s->is.from >= w->cycles[0].asked && s->is.from < w->fin;
		if (within && s->is.kind == EVENT_WORK)
			ticks[row_of(f, s->site)] += s->is.to - s->is.from;
		if (within && s->is.kind == EVENT_RECEIVE)
			assigned[row_of(f, s->site)] += s->is.to - s->is.from + 1;
	}
	m->last = m->workers[last].thread;
	m->task_site = longest_row(f, ticks, NULL);
	m->assign_site = longest_row(f, assigned, NULL);
	free(ticks);
	free(assigned);
}

/* The first thread of each process that has a role. */
static void find_threads(struct master_finder *f, const enum event_role *role_of)
{
	const struct trace *trace = f->g->trace;
	struct master_worker *m = f->found;
	m->master = UINT32_MAX;
	for (uint32_t t = 0; t < trace->nthreads; t++) {
		enum event_role role = role_of[trace->threads[t].process];
		if (trace->threads[t].number != 0 || f->g->threads[t].nevents == 0)
			continue;
		if (role == ROLE_MASTER)
			m->master = t;
		if (role == ROLE_WORKER)
			*MEM_GROW(m->workers, m->nworkers) = (struct worker){ .thread = t };
	}
}

static void find_all(struct master_finder *f, const enum event_role *role_of)
{
	struct master_worker *m = f->found;
	steps_open(&f->master, f->g, f->last, m->master, role_of, f->windows);
	find_services(f);
	for (size_t i = 0; i < m->nworkers; i++) {
		steps_open(&f->of[i].steps, f->g, f->last, m->workers[i].thread, role_of, f->windows);
		f->of[i].marked = has_tasks_marked(&f->of[i].steps);
		find_cycles(f, m->workers[i].thread, &f->of[i]);
		mark_services(f, &f->of[i]);
		m->workers[i].tasks = count_tasks(&f->of[i]);
	}
	find_setup(f);
	sum_up_masters_work(f);
	f->seq = no_waits(f);
	f->busy = no_waits(f);
	for (size_t i = 0; i < m->nworkers; i++)
		divide(f, i);
	m->seq_site = place_of_waits(f, &f->seq);
	m->busy_site = place_of_waits(f, &f->busy);
	find_middles(f);
	find_last(f);
}

bool master_worker_open(struct master_worker *m, const struct graph *g, struct graph_last *last,
			const struct event_type *life_cycle, const enum event_role *role_of,
			const struct steps_window *windows)
{
	struct master_finder f = { .found = m, .g = g, .last = last, .type = life_cycle, .windows = windows };
	*m = (struct master_worker){ .tasks = 0 };
	find_threads(&f, role_of);
	if (m->master == UINT32_MAX || m->nworkers == 0)
		return false;
	f.cursors = times_cursors(g->times);
	f.of = mem_zeroed(m->nworkers, sizeof *f.of);
	find_all(&f, role_of);
	for (size_t i = 0; i < m->nworkers; i++) {
		spill_free(g->spill, f.of[i].cycles);
		steps_close(&f.of[i].steps);
	}
	spill_free(g->spill, f.services);
	spill_free(g->spill, f.worked);
	steps_close(&f.master);
	free(f.sets_up);
	free(f.of);
	free(f.cursors);
	return m->tasks > 0;
}

void master_worker_close(struct master_worker *m)
{
	free(m->workers);
}

/* SPDX-License-Identifier: MIT
 *
 * steps.c - see steps.h. */
#include "analysis/diagnose/steps.h"

#include "analysis/base/search.h"
#include "analysis/graph/graph_activities.h"

struct steps_along {
	struct steps *steps;
	const enum event_role *role_of;
	struct steps_window window;
	struct graph_activities a;
	bool operating;              /* since: */
	uint64_t since;
	uint32_t around;             /* the region it was in before that, or TR_OUTSIDE */
	uint32_t sent_to;            /* thread that gets what the operation sends, or UINT32_MAX */
	bool working;                /* the last step is work that goes on */
	enum dprof_role role;        /* of the activity to come, if it is work */
};

/* ---- Messages -------------------------------------------------------------------------------- */

static bool is_message(const struct graph_node *n)
{
	return n->kind == GRAPH_ARRIVAL &&
	       (n->what == GRAPH_RECEIVED || n->what == GRAPH_WAITED_FOR || n->what == GRAPH_BYTES);
}

/* The thread that gets what is posted here, or UINT32_MAX. */
static uint32_t receiver_of(const struct graph *g, uint32_t input)
{
	const struct graph_input *in = &g->inputs[input];
	const struct graph_node *n = &g->nodes[in->node];
	bool sends = is_message(n) && n->first != input && in->sure && !in->receiver;
	return sends && g->inputs[n->first].thread != in->thread ? g->inputs[n->first].thread : UINT32_MAX;
}

/* Who sent what ended a wait: the only one that surely did. */
static const struct graph_input *sender_of(const struct graph *g, uint32_t node)
{
	const struct graph_node *n = &g->nodes[node];
	const struct graph_input *found = NULL;
	for (uint32_t i = 1; is_message(n) && i < n->ninputs; i++) {
		const struct graph_input *in = &g->inputs[n->first + i];
		if (in->sure && !in->receiver && in->thread != g->inputs[n->first].thread)
			found = in;
	}
	return found;
}

static enum event_role role_of_thread(const struct steps_along *l, uint32_t thread)
{
	return l->role_of[l->a.graph->trace->threads[thread].process];
}

/* ---- Steps ----------------------------------------------------------------------------------- */

static struct step *add_step(struct steps_along *l, enum event_kind kind, uint64_t from, uint64_t to)
{
	struct steps *s = l->steps;
	struct step *step = SPILL_GROW(s->spill, s->list, s->n);
	*step = (struct step){ .is = { .kind = kind, .from = from, .to = to, .tag = s->n - 1 }, .site = TR_OUTSIDE,
			       .pieces = (uint32_t)s->npieces, .from_thread = UINT32_MAX, .known = true,
			       .around = TR_OUTSIDE };
	return step;
}

static void set_took(struct steps_along *l, struct step *s)
{
	s->is.took = times_of_thread(l->a.graph->times, l->a.thread, s->is.from, s->is.to);
}

static void add_piece(struct steps_along *l, struct step *s, uint32_t site)
{
	struct steps *all = l->steps;
	struct step_piece *last = s->npieces ? &all->pieces[all->npieces - 1] : NULL;
	uint32_t row = tr_row(l->a.graph->trace, site);
	if (last && last->site == row && last->role == l->role) {
		last->to = l->a.step.to;
	} else {
		*SPILL_GROW(all->spill, all->pieces, all->npieces) =
			(struct step_piece){ row, l->role, l->a.step.from, l->a.step.to, PIECE_WORKED };
		s->npieces++;
	}
}

static void add_work(struct steps_along *l)
{
	struct steps *all = l->steps;
	struct step *s = l->working ? &all->list[all->n - 1] : add_step(l, EVENT_WORK, l->a.step.from, l->a.step.to);
	s->is.to = l->a.step.to;
	add_piece(l, s, l->a.step.in);
	l->working = true;
}

/* Of work that is over: where it was longest. */
static void end_work(struct steps_along *l)
{
	struct steps *all = l->steps;
	uint64_t longest = 0;
	if (!l->working)
		return;
	struct step *s = &all->list[all->n - 1];
	for (uint32_t i = 0; i < s->npieces; i++) {
		const struct step_piece *p = &all->pieces[s->pieces + i];
		if (p->to - p->from < longest)
			continue;
		longest = p->to - p->from;
		s->site = p->site;
	}
	set_took(l, s);
	l->working = false;
}

/* Who is idle waits; of what is not known it may be either. */
static void add_other(struct steps_along *l)
{
	bool known = l->a.step.did == GRAPH_IDLED;
	struct step *s = add_step(l, EVENT_OTHER, l->a.step.from, l->a.step.to);
	set_took(l, s);
	s->known = known;
	s->is.waited = known ? s->is.took : (frz_time){ 0, s->is.took.hi };
	s->is.transfer = known ? (frz_time){ 0, 0 } : (frz_time){ 0, s->is.took.hi };
}

static bool is_within(const struct steps_along *l, uint64_t from)
{
	return from >= l->window.from && from < l->window.to;
}

static void add_activity(struct steps_along *l)
{
	bool works = l->a.step.did == GRAPH_WORKED;
	if (!works || l->operating)
		end_work(l);
	if (l->a.step.to <= l->a.step.from || !is_within(l, l->a.step.from))
		return;
	if (works)
		add_work(l);
	else if (l->a.step.did != GRAPH_OPERATED)
		add_other(l);
}

/* Another part of the operation whose first part was a step already. */
static struct step *same_operation(struct steps_along *l)
{
	struct step *last = l->steps->n ? &l->steps->list[l->steps->n - 1] : NULL;
	bool same = last && last->is.kind != EVENT_WORK && last->is.from == l->since &&
		    last->site == l->a.step.operation.site;
	return same ? last : NULL;
}

static enum event_kind kind_of(const struct steps_along *l, const struct step *s)
{
	bool sent = l->sent_to != UINT32_MAX, received = s->from_thread != UINT32_MAX;
	const struct tr_site *site = s->site < l->a.graph->trace->nsites ? &l->a.graph->trace->sites[s->site] : NULL;
	if (sent || received)
		return sent && received ? EVENT_EXCHANGE : sent ? EVENT_SEND : EVENT_RECEIVE;
	return site && site->op.is & OP_OF_RANKS && (site->op.kind == DPROF_KIND_BARRIER || site->op.kind == DPROF_KIND_COLL)
		       ? EVENT_COLLECTIVE : EVENT_OTHER;
}

/* For whom a wait was that ended at this node. */
static void note_for_whom(const struct steps_along *l, uint32_t node, struct step *s)
{
	const struct graph *g = l->a.graph;
	const struct graph_node *n = &g->nodes[node];
	for (uint32_t i = 0; i < n->ninputs; i++) {
		uint32_t thread = g->inputs[n->first + i].thread;
		bool own = g->trace->threads[thread].process == g->trace->threads[l->a.thread].process;
		s->inside |= own && thread != l->a.thread;
		s->outside |= !own;
	}
}

static void add_operation(struct steps_along *l)
{
	const struct graph_operation *o = &l->a.step.operation;
	if (o->site == TR_BEFORE || o->nested || !is_within(l, l->since))
		return;
	struct step *s = same_operation(l);
	const struct graph_input *sender = o->node != GRAPH_NO_NODE ? sender_of(l->a.graph, o->node) : NULL;
	s = s ? s : add_step(l, EVENT_OTHER, l->since, l->a.step.to);
	s->site = o->site;
	s->around = l->around;
	if (o->node != GRAPH_NO_NODE)
		note_for_whom(l, o->node, s);
	s->is.to = l->a.step.to;
	s->is.took = time_add(s->is.took, o->took);
	s->is.waited = time_add(s->is.waited, o->waited);
	s->is.transfer = time_add(s->is.transfer, o->transfer);
	s->known &= o->known;
	if (sender) {
		s->from_thread = sender->thread;
		s->sent = sender->stamp;
	}
	s->is.kind = kind_of(l, s);
	s->is.with = s->from_thread != UINT32_MAX ? role_of_thread(l, s->from_thread)
		     : l->sent_to != UINT32_MAX ? role_of_thread(l, l->sent_to) : ROLE_ANY;
}

/* Of the innermost region that has one which says what work is for. */
static enum dprof_role role_of_place(const struct steps_along *l)
{
	const uint32_t roles = 1u << DPROF_IN_ROLE_SETUP | 1u << DPROF_IN_ROLE_TASK | 1u << DPROF_IN_ROLE_INIT |
			       1u << DPROF_IN_ROLE_FINAL;
	const struct trace *trace = l->a.graph->trace;
	for (size_t i = l->a.replay.depth; i-- > 0;) {
		uint32_t site = l->a.replay.entry[i].site;
		if (site < trace->nsites && roles >> trace->sites[site].role & 1)
			return trace->sites[site].role;
	}
	return DPROF_IN_NO_ROLE;
}

/* Where an operation begins, and what is sent in it. */
static void note_begin(struct steps_along *l)
{
	bool now = l->a.operations > 0;
	if (now && !l->operating) {
		end_work(l);
		l->since = l->a.step.to;
		l->around = tr_row(l->a.graph->trace, l->a.step.in);
		l->sent_to = UINT32_MAX;
	}
	for (size_t i = 0; now && i < l->a.step.npoints; i++) {
		const struct graph_sync_point *p = &l->a.step.points[i];
		uint32_t to = p->what == GRAPH_POSTS ? receiver_of(l->a.graph, p->number) : UINT32_MAX;
		l->sent_to = to != UINT32_MAX ? to : l->sent_to;
	}
	l->operating = now;
}

static int64_t between_at_most(const struct graph *g, struct frz_cursor *cursors, struct step_stretch from, struct step_stretch to)
{
	const struct tr_thread *threads = g->trace->threads;
	return times_between_near(g->times, cursors, (struct moment){ threads[from.thread].clock, from.from },
				  (struct moment){ threads[to.thread].clock, to.to }).hi;
}

int64_t steps_overlap(const struct graph *g, struct frz_cursor *cursors, struct step_stretch x, struct step_stretch y)
{
	const int64_t at_most[] = { between_at_most(g, cursors, x, y), between_at_most(g, cursors, y, x),
				    times_of_thread(g->times, x.thread, x.from, x.to).hi,
				    times_of_thread(g->times, y.thread, y.from, y.to).hi };
	int64_t least = at_most[0];
	for (size_t i = 1; i < sizeof at_most / sizeof *at_most; i++)
		least = at_most[i] < least ? at_most[i] : least;
	return least > 0 ? least : 0;
}

int64_t steps_work_during(const struct graph *g, struct frz_cursor *cursors, const struct steps *s, uint32_t thread,
			  struct step_stretch other)
{
	const struct tr_thread *threads = g->trace->threads;
	struct moment begin = { threads[other.thread].clock, other.from }, end = { threads[other.thread].clock, other.to };
	uint32_t clock = threads[thread].clock;
	int64_t sum = 0;
	size_t i = SEARCH(s->npieces, mid,
			  times_between_near(g->times, cursors, begin, (struct moment){ clock, s->pieces[mid].to }).hi <= 0);
	for (; i < s->npieces; i++) {
		const struct step_piece *p = &s->pieces[i];
		if (times_between_near(g->times, cursors, end, (struct moment){ clock, p->from }).lo >= 0)
			break;
		sum = ticks_plus(sum, steps_overlap(g, cursors, other, (struct step_stretch){ thread, p->from, p->to }));
	}
	return sum;
}

struct steps_window steps_window_of(const struct graph *g, uint32_t thread, const struct steps_window *windows)
{
	const struct graph_thread *t = &g->threads[thread];
	struct steps_window w = windows ? windows[thread] : (struct steps_window){ 0, UINT64_MAX };
	w.from = w.from > t->first ? w.from : t->first;
	w.to = w.to < t->last ? w.to : t->last;
	w.to = w.to > w.from ? w.to : w.from;
	return w;
}

void steps_open(struct steps *s, const struct graph *g, struct graph_last *last, uint32_t thread, const enum event_role *role_of,
		const struct steps_window *windows)
{
	struct steps_along l = { .steps = s, .role_of = role_of, .sent_to = UINT32_MAX,
				 .window = windows ? windows[thread] : (struct steps_window){ 0, UINT64_MAX } };
	*s = (struct steps){ .spill = g->spill };
	graph_activities_open(&l.a, g, thread, last);
	while (graph_activities_next(&l.a)) {
		add_activity(&l);
		if (l.a.step.ended)
			add_operation(&l);
		note_begin(&l);
		l.role = role_of_place(&l);
		spill_relax(g->spill);
	}
	end_work(&l);
	graph_activities_close(&l.a);
}

void steps_close(struct steps *s)
{
	spill_free(s->spill, s->list);
	spill_free(s->spill, s->pieces);
}

/* SPDX-License-Identifier: MIT
 *
 * neighbours.c - see neighbours.h. */
#include "analysis/diagnose/neighbours.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/base/memory.h"
#include "analysis/base/order.h"
#include "analysis/base/search.h"
#include "analysis/match/match.h"

/* From one process to another: stamps of the sender and of the receiver, when it has got them. */
struct neighbour_stream { uint64_t *sent, *got, many; size_t nsent, ngot; };

struct neighbours_finder {
	struct neighbours *n;
	const struct graph *g;
	struct graph_last *last;
	const struct call_profile *calls;
	const struct part *part;
	enum event_role *role_of;    /* nobody has one */
	struct neighbour_stream *streams;      /* of each pair, as calls has them */
	uint32_t *place_of;          /* of each process; UINT32_MAX: it has no messages */
	uint32_t site; bool any_site; /* in which those seen so far mostly work */
};

/* ---- Who with whom --------------------------------------------------------------------------- */

/* Where the messages of such a pair stand, or nmessages: there are none. */
static size_t find_pair(const struct call_profile *calls, uint32_t from, uint32_t to)
{
	const struct call_message *list = calls->messages;
	size_t at = SEARCH(calls->nmessages, i, list[i].from < from || (list[i].from == from && list[i].to < to));
	bool found = at < calls->nmessages && list[at].from == from && list[at].to == to;
	return found ? at : calls->nmessages;
}

static uint64_t count_between(const struct call_profile *calls, uint32_t from, uint32_t to)
{
	size_t at = find_pair(calls, from, to);
	return at < calls->nmessages ? calls->messages[at].count : 0;
}

static bool are_few(const struct call_profile *calls)
{
	uint64_t all = 0;
	for (size_t i = 0; i < calls->nmessages; i++)
		all += calls->messages[i].count;
	return all <= NEIGHBOURS_MOST;
}

/* -> how many rounds there are, or 0: messages are not such. */
static uint64_t count_rounds(const struct call_profile *calls)
{
	uint64_t least = UINT64_MAX;
	bool fits = calls->nmessages > 0 && calls->unmatched == 0 && are_few(calls);
	for (size_t i = 0; i < calls->nmessages; i++)
		least = calls->messages[i].count < least ? calls->messages[i].count : least;
	for (size_t i = 0; i < calls->nmessages && fits; i++) {
		const struct call_message *m = &calls->messages[i];
		fits = m->from != m->to && m->count % least == 0 && count_between(calls, m->to, m->from) == m->count;
	}
	return fits ? least : 0;
}

static uint32_t thread_of(const struct graph *g, uint32_t process)
{
	uint32_t found = UINT32_MAX;
	for (uint32_t t = 0; t < g->trace->nthreads && found == UINT32_MAX; t++)
		if (g->trace->threads[t].process == process && g->trace->threads[t].number == 0)
			found = t;
	return found;
}

static void add_process(struct neighbours_finder *f, uint32_t process)
{
	struct neighbours *n = f->n;
	size_t count = n->n;
	if (f->place_of[process] != UINT32_MAX)
		return;
	f->place_of[process] = (uint32_t)n->n;
	*MEM_GROW(n->threads, n->n) = thread_of(f->g, process);
	*MEM_GROW(n->enters, count) = mem_resize(NULL, n->rounds + 1, sizeof **n->enters);
}

/* Messages stand by their sender, and processes by their first message. */
static void add_neighbours(struct neighbours_finder *f)
{
	struct neighbours *n = f->n;
	for (size_t i = 0; i < f->calls->nmessages; i++)
		add_process(f, f->calls->messages[i].from);
	n->with = mem_resize(NULL, f->calls->nmessages + 1, sizeof *n->with);
	n->from = mem_resize(NULL, n->n + 1, sizeof *n->from);
	for (size_t i = 0, at = 0; i < f->calls->nmessages; i++) {
		const struct call_message *m = &f->calls->messages[i];
		if (i == 0 || m->from != f->calls->messages[i - 1].from)
			n->from[at++] = i;
		n->with[i] = f->place_of[m->to];
	}
	n->from[n->n] = f->calls->nmessages;
}

/* ---- Messages -------------------------------------------------------------------------------- */

static bool is_within(const struct neighbours_finder *f, const struct match_part *p)
{
	const struct tr_thread *t = &f->g->trace->threads[p->thread];
	const struct steps_window *w = f->part ? &f->part->windows[p->thread] : NULL;
	return !w || (part_has(f->part, t->process) && p->enter >= w->from && p->enter < w->to);
}

/* False: they are not what the profile says, or other threads have a hand in it. */
static bool take_message(struct neighbours_finder *f, const struct match *m)
{
	const struct match_part *s = &m->parts[0], *r = &m->parts[1];
	const struct tr_thread *from = &f->g->trace->threads[s->thread], *to = &f->g->trace->threads[r->thread];
	size_t at = find_pair(f->calls, from->process, to->process);
	struct neighbour_stream *stream = &f->streams[at];
	if (at == f->calls->nmessages || stream->nsent == f->calls->messages[at].count)
		return false;
	stream->sent[stream->nsent++] = s->enter;
	stream->got[stream->ngot++] = r->done;
	return from->number == 0 && to->number == 0 && r->done_at != MATCH_NEVER;
}

static bool take_messages(struct neighbours_finder *f)
{
	struct match_walk *walk = match_walk_again(f->g->trace, f->g->times->program.matches);
	bool fits = true;
	for (struct match m; fits && match_walk_next(walk, &m);)
		fits = m.kind != MATCH_MESSAGE || !is_within(f, &m.parts[0]) || take_message(f, &m);
	match_walk_close(walk);
	for (size_t i = 0; i < f->calls->nmessages && fits; i++) {
		struct neighbour_stream *s = &f->streams[i];
		fits = s->nsent == f->calls->messages[i].count;
		qsort(s->sent, s->nsent, sizeof *s->sent, order_uint64);
		qsort(s->got, s->ngot, sizeof *s->got, order_uint64);
	}
	return fits;
}

static void open_streams(struct neighbours_finder *f)
{
	f->streams = mem_resize(NULL, f->calls->nmessages + 1, sizeof *f->streams);
	for (size_t i = 0; i < f->calls->nmessages; i++) {
		size_t count = f->calls->messages[i].count;
		f->streams[i] = (struct neighbour_stream){ .sent = mem_resize(NULL, count, sizeof(uint64_t)),
							       .got = mem_resize(NULL, count, sizeof(uint64_t)),
						 .many = count / f->n->rounds };
	}
}

static void close_streams(struct neighbours_finder *f)
{
	for (size_t i = 0; i < f->calls->nmessages; i++) {
		free(f->streams[i].sent);
		free(f->streams[i].got);
	}
	free(f->streams);
}

/* ---- Rounds ---------------------------------------------------------------------------------- */

struct round { uint64_t sent_first, sent_last, got_first, got_last; };

static void add_stamps(uint64_t *first, uint64_t *last, const uint64_t *stamps, const struct neighbour_stream *s, size_t k)
{
	uint64_t a = stamps[k * s->many], b = stamps[(k + 1) * s->many - 1];
	*first = a < *first ? a : *first;
	*last = b > *last ? b : *last;
}

static struct round round_of(const struct neighbours_finder *f, uint32_t at, size_t k)
{
	struct round r = { UINT64_MAX, 0, UINT64_MAX, 0 };
	const struct call_message *list = f->calls->messages;
	for (size_t i = f->n->from[at]; i < f->n->from[at + 1]; i++) {
		size_t back = find_pair(f->calls, list[i].to, list[i].from);
		add_stamps(&r.sent_first, &r.sent_last, f->streams[i].sent, &f->streams[i], k);
		add_stamps(&r.got_first, &r.got_last, f->streams[back].got, &f->streams[back], k);
	}
	return r;
}

static bool is_marked(const struct neighbours_finder *f, uint32_t at)
{
	const struct trace *trace = f->g->trace;
	return trace->processes[trace->threads[f->n->threads[at]].process].marked;
}

/* Adds what it works between two stamps: in regions, or anywhere in a process without marks. */
static void add_work(const struct neighbours_finder *f, uint32_t at, const struct steps *s, uint64_t from, uint64_t to,
		     struct stretches *sum)
{
	bool marked = is_marked(f, at);
	for (size_t i = SEARCH(s->npieces, j, s->pieces[j].to <= from); i < s->npieces && s->pieces[i].from < to; i++)
		if (!marked || s->pieces[i].site < f->g->trace->nsites)
			stretches_add(sum, s->pieces[i].from, s->pieces[i].to);
}

/* When the operation began in which it had got something at this stamp; UINT64_MAX: that was in none. */
static uint64_t operation_at(const struct steps *s, uint64_t stamp)
{
	size_t n = SEARCH(s->n, i, s->list[i].is.from < stamp);
	const struct step *step = n ? &s->list[n - 1] : NULL;
	return step && step->is.kind != EVENT_WORK && step->is.to >= stamp ? step->is.from : UINT64_MAX;
}

/* What one works in its rounds: between what it gets and what it sends, and before it waits for what it gets. */
struct rounds_work { struct stretches within, early; };

/* False: it is none, or not behind the one before. */
static bool take_round(struct neighbours_finder *f, uint32_t at, const struct steps *s, size_t k, struct round *before,
		       struct rounds_work *work)
{
	struct round r = round_of(f, at, k);
	uint64_t enter = operation_at(s, r.got_first);
	if (enter == UINT64_MAX)
		return false;
	if (k && (before->got_last > r.sent_first || before->sent_last > r.sent_first || enter <= f->n->enters[at][k - 1]))
		return false;
	add_work(f, at, s, r.got_first, r.sent_last, &work->within);
	add_work(f, at, s, r.sent_first, enter, &work->early);
	f->n->at_once &= r.sent_last <= r.got_first;
	f->n->enters[at][k] = enter;
	*before = r;
	return true;
}

/* Where it works longest, TR_OUTSIDE; TR_NO_SITE: nowhere. */
static uint32_t longest_site(const struct neighbours_finder *f, uint32_t at, const struct steps *s)
{
	const struct trace *trace = f->g->trace;
	size_t nrows = trace->nsites + !is_marked(f, at);
	uint64_t *ticks = mem_zeroed(trace->nsites + 1, sizeof *ticks), most = 0;
	uint32_t found = TR_NO_SITE;
	for (size_t i = 0; i < s->npieces; i++)
		ticks[s->pieces[i].site < trace->nsites ? s->pieces[i].site : trace->nsites] += s->pieces[i].to - s->pieces[i].from;
	for (uint32_t row = 0; row < nrows; row++)
		if (ticks[row] > most) {
			most = ticks[row];
			found = row < trace->nsites ? row : TR_OUTSIDE;
		}
	free(ticks);
	return found;
}

/* False: it mostly answers. */
static bool take_work(struct neighbours_finder *f, uint32_t at, const struct steps *s, struct rounds_work work)
{
	struct stretches all = { 0 };
	add_work(f, at, s, 0, UINT64_MAX, &all);
	f->n->within = ticks_plus(f->n->within, times_sum(f->g->times, f->n->threads[at], work.within).hi);
	f->n->early = ticks_plus(f->n->early, times_sum(f->g->times, f->n->threads[at], work.early).hi);
	return work.within.ticks <= all.ticks / NEIGHBOURS_ANSWER;
}

static bool take_thread(struct neighbours_finder *f, uint32_t at)
{
	struct steps s;
	struct rounds_work work = { .within = { 0 } };
	struct round before = { 0, 0, 0, 0 };
	steps_open(&s, f->g, f->last, f->n->threads[at], f->role_of, f->part ? f->part->windows : NULL);
	uint32_t site = longest_site(f, at, &s);
	bool fits = site != TR_NO_SITE && (!f->any_site || site == f->site);
	f->site = site;
	f->any_site = true;
	for (size_t k = 0; k < f->n->rounds && fits; k++)
		fits = take_round(f, at, &s, k, &before, &work);
	fits = fits && take_work(f, at, &s, work);
	steps_close(&s);
	return fits;
}

/* ---- All of it ------------------------------------------------------------------------------- */

static bool work_through(struct neighbours_finder *f)
{
	size_t nprocesses = f->g->trace->nprocesses + 1;
	f->place_of = mem_resize(NULL, nprocesses, sizeof *f->place_of);
	f->role_of = mem_zeroed(nprocesses, sizeof *f->role_of);
	memset(f->place_of, 0xff, nprocesses * sizeof *f->place_of);
	add_neighbours(f);
	open_streams(f);
	bool fits = take_messages(f);
	for (uint32_t at = 0; at < f->n->n && fits; at++)
		fits = f->n->threads[at] != UINT32_MAX && take_thread(f, at);
	close_streams(f);
	free(f->place_of);
	free(f->role_of);
	return fits;
}

bool neighbours_open(struct neighbours *n, const struct graph *g, struct graph_last *last, const struct call_profile *calls,
		     const struct part *part, size_t least)
{
	struct neighbours_finder f = { .n = n, .g = g, .last = last, .calls = calls, .part = part };
	*n = (struct neighbours){ .rounds = count_rounds(calls), .at_once = true };
	bool fits = n->rounds >= least && work_through(&f);
	if (!fits)
		neighbours_close(n);
	return fits;
}

void neighbours_close(struct neighbours *n)
{
	for (size_t i = 0; i < n->n; i++)
		free(n->enters[i]);
	free(n->enters);
	free(n->threads);
	free(n->with);
	free(n->from);
	*n = (struct neighbours){ .n = 0 };
}

/* ---- Who answers ----------------------------------------------------------------------------- */

/* What one sends to the other comes behind what it has got. */
static bool is_answer(const struct neighbours_finder *f, size_t pair, size_t back)
{
	bool behind = true;
	for (size_t k = 0; k < f->streams[pair].nsent && behind; k++)
		behind = f->streams[pair].sent[k] >= f->streams[back].got[k];
	return behind;
}

/* `answered`: by how many each process is. */
static bool all_answer(const struct neighbours_finder *f, size_t *answered)
{
	bool answer = true;
	for (size_t i = 0; i < f->calls->nmessages && answer; i++) {
		const struct call_message *m = &f->calls->messages[i];
		size_t back = find_pair(f->calls, m->to, m->from);
		bool answers = is_answer(f, i, back);
		answered[m->to] += answers;
		answer = answers || is_answer(f, back, i);
	}
	return answer;
}

bool neighbours_answer(const struct graph *g, const struct call_profile *calls, const struct part *part)
{
	struct neighbours n = { .rounds = 1 };
	struct neighbours_finder f = { .n = &n, .g = g, .calls = calls, .part = part };
	if (count_rounds(calls) == 0)
		return true;
	size_t *answered = mem_zeroed(g->trace->nprocesses, sizeof *answered), most = 0;
	open_streams(&f);
	bool known = take_messages(&f), answer = !known || all_answer(&f, answered);
	for (size_t i = 0; i < g->trace->nprocesses; i++)
		most = answered[i] > most ? answered[i] : most;
	close_streams(&f);
	free(answered);
	return answer && (!known || most > 1);
}

/* ---- Who begins ------------------------------------------------------------------------------ */

bool neighbours_begin_alike(const struct graph *g, const struct call_profile *calls, const struct part *part, uint32_t process)
{
	struct neighbours n = { .rounds = 1 };
	struct neighbours_finder f = { .n = &n, .g = g, .calls = calls, .part = part };
	size_t asks = 0, gets = 0;
	if (!are_few(calls))
		return true;
	open_streams(&f);
	bool known = take_messages(&f);
	for (size_t i = 0; i < calls->nmessages && known; i++) {
		size_t back = find_pair(calls, calls->messages[i].to, calls->messages[i].from);
		if (calls->messages[i].to != process || back == calls->nmessages)
			continue;
		bool first = f.streams[i].sent[0] < f.streams[back].got[0];
		asks += first;
		gets += !first;
	}
	close_streams(&f);
	return asks == 0 || gets == 0;
}

/* ---- Who passes on --------------------------------------------------------------------------- */

static bool gets_before(const struct neighbour_stream *in, const struct neighbour_stream *out)
{
	bool before = true;
	for (size_t k = 0; k < out->nsent && before; k++) {
		size_t part = out->nsent > in->ngot ? k * in->ngot / out->nsent : k;
		before = out->sent[k] >= in->got[part];
	}
	return before;
}

/* It comes right behind something that was got, or before something that is sent, and is no rest of what was sent. */
static bool is_before_sending(const struct step_piece *p, const struct neighbour_stream *in, const struct neighbour_stream *out)
{
	size_t got = SEARCH(in->ngot, i, in->got[i] <= p->from), sent = SEARCH(out->nsent, i, out->sent[i] <= p->from);
	bool behind_got = got > 0 && (sent == 0 || in->got[got - 1] > out->sent[sent - 1]);
	bool sends_next = sent < out->nsent && (got == in->ngot || out->sent[sent] < in->got[got]);
	return behind_got || sends_next;
}

/* Of what it does when it has got something. */
static bool works_between(const struct neighbours_finder *f, uint32_t thread, const struct neighbour_stream *in,
			  const struct neighbour_stream *out)
{
	const struct trace *trace = f->g->trace;
	bool marked = trace->processes[trace->threads[thread].process].marked;
	uint64_t all = 0, between = 0;
	struct steps s;
	steps_open(&s, f->g, f->last, thread, f->role_of, f->part ? f->part->windows : NULL);
	for (size_t i = 0; i < s.npieces; i++) {
		const struct step_piece *p = &s.pieces[i];
		if ((marked && p->site >= trace->nsites) || p->from < in->got[0])
			continue;
		all += p->to - p->from;
		between += is_before_sending(p, in, out) ? p->to - p->from : 0;
	}
	steps_close(&s);
	return between >= all / NEIGHBOURS_ANSWER;
}

static bool passes_on(const struct neighbours_finder *f, uint32_t before, uint32_t process, uint32_t behind)
{
	size_t in = find_pair(f->calls, before, process), out = find_pair(f->calls, process, behind);
	uint32_t thread = thread_of(f->g, process);
	if (in == f->calls->nmessages || out == f->calls->nmessages || thread == UINT32_MAX)
		return true;
	return gets_before(&f->streams[in], &f->streams[out]) && works_between(f, thread, &f->streams[in], &f->streams[out]);
}

bool neighbours_pass_on(const struct graph *g, struct graph_last *last, const struct call_profile *calls, const struct part *part,
			const uint32_t *order, size_t n)
{
	struct neighbours none = { .rounds = 1 };
	struct neighbours_finder f = { .n = &none, .g = g, .last = last, .calls = calls, .part = part };
	if (!are_few(calls) || calls->unmatched > 0)
		return true;
	f.role_of = mem_zeroed(g->trace->nprocesses + 1, sizeof *f.role_of);
	open_streams(&f);
	bool pass = true, known = take_messages(&f);
	for (size_t i = 1; i + 1 < n && known && pass; i++)
		pass = passes_on(&f, order[i - 1], order[i], order[i + 1]);
	close_streams(&f);
	free(f.role_of);
	return pass;
}

/* SPDX-License-Identifier: MIT
 *
 * graph_messages.c - nodes of the operations in which messages were completed: whom a receive and a send waited for, and
 * may wait for in another run. */
#include <stdlib.h>
#include <string.h>

#include "analysis/base/memory.h"
#include "analysis/base/search.h"
#include "analysis/graph/graph_messages.h"

#define SIZES 65 /* powers of two, and 0 */

/* What is known of sends before they are made into nodes: between each two clocks the longest message whose send certainly ended
 * before its receive began; and of each size whether there was such a one, how many lasted until their receive began, and how
 * many until a piece of the other side's work was over, or not. */
struct sends {
	uint64_t *eager;
	struct sends_of_size { uint32_t waited, with_piece, otherwise; bool free; } *sizes;
	struct piece_ends *pieces;
	bool *comes_back; /* of collective operations that were only begun, by site: one was seen to be over when a rank called MPI
			     again */
	uint32_t *callers; /* as graph_find_callers() has them */
};

static uint64_t *find_eager(const struct builder *b, const struct message_records *r)
{
	const struct graph *g = b->graph;
	size_t n = g->trace->nclocks;
	uint64_t *eager = mem_resize(NULL, n * n + 1, sizeof *eager);
	for (size_t i = 0; i < n * n; i++)
		eager[i] = GRAPH_EAGER;
	for (size_t i = 0; i < r->n; i++) {
		const struct message *m = &r->v[i];
		spill_relax(b->spill);
		uint32_t from = g->clocks[m->sent.thread];
		uint32_t to = g->clocks[m->begun.thread];
		uint64_t *longest = &eager[from * n + to];
		if (m->sent_until == UINT64_MAX || m->synchronous || m->bytes <= *longest)
			continue;
		struct moment ended = { from, m->sent_until }, began = { to, m->begun.stamp };
		if (times_between_near(g->times, b->cursors, ended, began).lo > 0)
			*longest = m->bytes;
	}
	return eager;
}

static size_t pair_of(const struct builder *b, const struct message *m)
{
	const struct graph *g = b->graph;
	return g->clocks[m->sent.thread] * g->trace->nclocks + g->clocks[m->begun.thread];
}

static struct sends_of_size *size_of(const struct builder *b, const struct sends *sends, const struct message *m)
{
	return &sends->sizes[pair_of(b, m) * SIZES + (m->bytes ? 64 - (size_t)__builtin_clzll(m->bytes) : 0)];
}

static bool waits_for_receiver(const struct builder *b, const struct message *m, const struct sends *sends)
{
	return m->synchronous || (m->bytes > sends->eager[pair_of(b, m)] && !m->buffered);
}

#define ALWAYS 2 /* so many, and none that did otherwise */

/* In every run, most likely; of several receives it may be another then. */
static bool meets_receiver(const struct builder *b, const struct message *m, const struct sends *sends)
{
	const struct sends_of_size *of = size_of(b, sends, m);
	return m->bytes > sends->eager[pair_of(b, m)] && !m->synchronous && !of->free && of->waited >= ALWAYS;
}

static struct event_ref call_of(const struct mpi_calls *calls, size_t i, uint32_t thread)
{
	return (struct event_ref){ thread, calls->v[i].at, calls->v[i].stamp };
}

/* Nodes come about in order of time; so do their messages, nearly. */
static size_t first_call_behind(struct mpi_calls *calls, uint64_t at)
{
	return calls->behind = SEARCH_NEAR(calls->n, calls->behind, mid, calls->v[mid].at <= at);
}

/* Of two moments: of one clock as they are stamped, and else by the earliest that each may have been. In one order for all, no two
 * are behind each other. */
static bool comes_behind(const struct timed_moment *x, const struct timed_moment *y)
{
	return x->at.clock == y->at.clock ? x->at.stamp >= y->at.stamp : x->time.lo >= y->time.lo;
}

/* What a send has copied, which is the last input, may go on only when its sender calls MPI again, if that was not behind the
 * end. True: that is open, and what happened there stays hidden. */
static bool add_next_call(const struct builder *b, const struct message *m, struct event_ref end, struct node_input *inputs,
			  size_t *n)
{
	struct mpi_calls *calls = &b->threads[m->sent.thread].calls;
	size_t next = first_call_behind(calls, m->sent.at);
	if (next == calls->n)
		return false;
	struct event_ref call = call_of(calls, next, m->sent.thread), sent = m->sent;
	struct timed_moment again = graph_timed(b, call), over = graph_timed(b, end), before;
	frz_time until_end = times_between_timed(b->graph->times, &again, &over);
	if (comes_behind(&again, &over)) {
		inputs[*n - 1].next = until_end.hi >= 0 ? call.stamp : 0;
		inputs[*n - 1].next_at = call.at;
		return until_end.hi >= 0;
	}
	sent.stamp = m->sent_until < call.stamp ? m->sent_until : call.stamp;
	before = graph_timed(b, sent);
	inputs[(*n)++] = (struct node_input){ .ref = call, .bytes = m->bytes, .candidate = true, .progress = true,
					      .follows = times_between_timed(b->graph->times, &before, &again).hi < until_end.lo };
	return false;
}

/* How many calls of MPI of a thread were certainly before. */
static size_t calls_before(const struct builder *b, uint32_t thread, struct event_ref end)
{
	struct mpi_calls *calls = &b->threads[thread].calls;
	return calls->before = SEARCH_NEAR(calls->n, calls->before, mid,
					   graph_certainly_before(b, call_of(calls, mid, thread), end));
}

/* The first thread of a rank; or the number of threads. */
static uint32_t thread_of_rank(const struct builder *b, uint64_t rank)
{
	return rank < b->graph->trace->nthreads ? b->first_of_rank[rank] : (uint32_t)b->graph->trace->nthreads;
}

size_t graph_add_target(const struct builder *b, uint64_t target, struct event_ref begin, struct event_ref end,
			struct node_input *input)
{
	const struct trace *trace = b->graph->trace;
	struct event_ref last = begin;
	bool all = target == DPROF_TARGET_ALL;
	for (uint32_t t = all ? 0 : thread_of_rank(b, target); t < trace->nthreads; t++) {
		if (!all && (uint64_t)trace->threads[t].rank != target)
			break;
		size_t before = t != begin.thread ? calls_before(b, t, end) : 0;
		struct event_ref call = before ? call_of(&b->threads[t].calls, before - 1, t) : last;
		last = before && graph_certainly_before(b, last, call) ? call : last;
	}
	*input = (struct node_input){ .ref = last, .candidate = true };
	return last.thread != begin.thread;
}

/* Without progress outside of MPI, what the other side has begun goes on when it calls MPI again: the last such call
 * that is known to have been before `end`. `sends`: it sends the last input. */
static void add_progress(const struct builder *b, struct event_ref begun, struct event_ref end,
			 struct node_input *inputs, size_t *n, bool sends)
{
	const struct mpi_calls *calls = &b->threads[begun.thread].calls;
	size_t before = calls_before(b, begun.thread, end);
	uint64_t bytes = sends ? inputs[*n - 1].bytes : 0;
	if (before > 0 && calls->v[before - 1].at > begun.at)
		inputs[(*n)++] = (struct node_input){ .ref = call_of(calls, before - 1, begun.thread), .bytes = bytes,
						      .candidate = true, .progress = sends, .vain = calls->v[before - 1].vain };
}

/* ---- Collective operations that were only begun -------------------------------------------------
 *
 * They go on in steps, each of which begins when its rank calls MPI. So who waits for one may wait until another rank, which had
 * begun it long before, comes back to MPI. Where one of a name was seen to be over just when somebody did, it is expected of all of
 * that name that each comes back once behind the begin of the last. */

static struct event_ref later_of(const struct builder *b, struct event_ref x, struct event_ref y)
{
	return graph_certainly_before(b, x, y) ? y : x;
}

/* The begin of the last. */
static struct event_ref last_begin(const struct builder *b, const struct completion *x, const struct message *of)
{
	struct event_ref last = of->begun;
	for (size_t i = 0; i < x->n; i++)
		if (x->messages[x->attached[i].message].of_begun == of->of_begun)
			last = later_of(b, last, x->messages[x->attached[i].message].sent);
	return last;
}

#define MUCH_NEARER 8

/* Whether a rank came back to MPI behind the begin of the last, and no attempt, with the call that was its last before the end, or
 * just before that one. */
static bool came_back(const struct builder *b, const struct completion *x, const struct message *m, const struct node_input *last)
{
	const struct mpi_calls *calls = &b->threads[m->sent.thread].calls;
	struct event_ref begun = last_begin(b, x, m), first = last->ref;
	if (last->vain || !graph_certainly_before(b, begun, last->ref))
		return false;
	for (size_t i = calls_before(b, m->sent.thread, x->exit) - 1; i-- > 0 && calls->v[i].at > m->sent.at;) {
		struct event_ref before = call_of(calls, i, m->sent.thread);
		if (!graph_certainly_before(b, begun, before))
			break;
		first = before;
	}
	return graph_between(b, first, last->ref).hi <= graph_between(b, begun, first).lo / MUCH_NEARER;
}

/* Which of both sides is to come back to MPI, so that the other one may go on. */
static struct event_ref other_side(const struct message *m, bool as_sender)
{
	return as_sender ? m->begun : m->sent;
}

static bool may_test(const struct message *m, bool as_sender)
{
	return as_sender ? m->receives_on && !m->buffered : m->sends_on;
}

/* Of all that a wait was for, the last piece was the other side's for which it may have waited. */
static void note_pieces(const struct builder *b, const struct sends *sends, const struct completion *x)
{
	struct sends_of_size *with = NULL, *otherwise = NULL;
	struct event_ref piece;
	for (size_t i = 0; i < x->n; i++) {
		const struct message *m = &x->messages[x->attached[i].message];
		bool as_sender = x->attached[i].as_sender;
		enum piece_says what = m->nobody || !may_test(m, as_sender)
						? NO_PIECE
						: graph_ends_with_piece(b, sends->pieces, other_side(m, as_sender), x, &piece);
		with = what == OVER_WITH_PIECE ? size_of(b, sends, m) : with;
		otherwise = what == OVER_ELSE ? size_of(b, sends, m) : otherwise;
	}
	if (with)
		with->with_piece++;
	else if (otherwise)
		otherwise->otherwise++;
}

/* Whether a wait was over just when another rank came back. */
static void note_begun(const struct builder *b, const struct sends *sends, const struct completion *x)
{
	struct event_ref call = x->begin.enter, other = x->begin.enter;
	uint32_t name = x->n ? x->messages[x->attached[0].message].of_begun : 0;
	for (size_t i = 0; i < x->n; i++) {
		const struct message *m = &x->messages[x->attached[i].message];
		struct node_input back[2] = { { .bytes = 0 }, { .bytes = 0 } };
		size_t n = 1;
		if (m->of_begun != name || name == 0 || m->possible)
			return;
		add_progress(b, m->sent, x->exit, back, &n, true);
		other = later_of(b, other, m->sent);
		call = n > 1 && !back[1].vain ? later_of(b, call, back[1].ref) : call;
	}
	if (name && graph_certainly_before(b, other, call) &&
	    graph_between(b, call, x->exit).hi < graph_between(b, other, x->exit).lo / MUCH_NEARER)
		sends->comes_back[name - 1] = true;
}

/* ---- Sends whose receives come later ------------------------------------------------------------- */

size_t graph_add_call(const struct builder *b, uint32_t thread, struct event_ref begin, struct event_ref end,
		      struct node_input *input)
{
	const struct mpi_calls *calls = &b->threads[thread].calls;
	size_t before = calls_before(b, thread, end);
	struct event_ref call = before ? call_of(calls, before - 1, thread) : begin;
	if (!graph_certainly_before(b, begin, call))
		return 0;
	*input = (struct node_input){ .ref = call, .candidate = true, .vain = calls->v[before - 1].vain };
	return 1;
}

/* A send that was over before its receive was begun may have waited until its receiver called MPI, which takes what it finds: the
 * last such call behind the begin of the send. */
static void add_call_of_receiver(const struct builder *b, const struct completion *x, const struct message *m,
				 struct node_input *inputs, size_t *n)
{
	*n += graph_add_call(b, m->begun.thread, x->enter, x->exit, &inputs[*n]);
}

/* Whether the send may be complete before its receive is begun, which is of this message in every run; unless that was certainly
 * `before` the end. */
static bool is_late(const struct message *m, bool before)
{
	return !m->synchronous && !m->buffered && !m->unordered && !m->by_choice && m->received != UINT64_MAX && !before;
}

/* Of the node that was made last. */
static void add_late_receives(struct builder *b, const struct completion *x)
{
	for (size_t i = 0; i < x->n; i++) {
		const struct message *m = &x->messages[x->attached[i].message];
		if (!x->attached[i].as_sender || !is_late(m, graph_certainly_before(b, m->begun, x->exit)))
			continue;
		struct event_ref received = { .thread = m->begun.thread, .stamp = m->received };
		int64_t until = graph_between(b, m->sent, received).hi, own = graph_between(b, m->sent, x->exit).hi;
		graph_add_late(b, m->begun, until > own ? until : own);
	}
}

#define MOST_OF_MESSAGE 3 /* inputs */

/* What messages that are completed add to the inputs of a node, and say of it. */
struct ending {
	const struct completion *x;
	const struct sends *sends;
	struct node_input *inputs; size_t n;
	struct graph_node says;
};

/* The end of a piece behind which the other side has tested, if such waits are over then. */
static void add_piece(struct builder *b, struct ending *e, const struct message *m, bool as_sender)
{
	const struct sends_of_size *of = size_of(b, e->sends, m);
	struct event_ref piece;
	if (!may_test(m, as_sender) || !graph_waits_for_pieces(of->with_piece, of->otherwise) ||
	    graph_ends_with_piece(b, e->sends->pieces, other_side(m, as_sender), e->x, &piece) != OVER_WITH_PIECE)
		return;
	e->inputs[e->n++] = (struct node_input){ .ref = piece, .bytes = m->bytes, .candidate = true, .likely = true };
}

/* Of a message whose receive is completed. `chance`: in another run it may be another one. */
static void add_received(struct builder *b, struct ending *e, const struct message *m, bool chance)
{
	e->inputs[e->n++] = (struct node_input){ .ref = m->sent, .sure = m->sure, .bytes = m->bytes,
						 .needed = m->sure && !chance && !e->x->by_choice,
						 .candidate = m->possible };
	size_t own = e->n;
	if (m->sends_on)
		add_progress(b, m->sent, e->x->exit, e->inputs, &e->n, true);
	if (e->n > own && m->of_begun && !m->possible && e->sends->comes_back[m->of_begun - 1])
		e->inputs[own].likely = came_back(b, e->x, m, &e->inputs[own]);
	if (!m->sends_on)
		e->says.hidden |= add_next_call(b, m, e->x->exit, e->inputs, &e->n);
	add_piece(b, e, m, false);
	e->says.hidden |= m->sends_on;
	e->says.delayed |= m->sends_on || e->x->by_choice;
}

/* Of one whose send is. */
static void add_sent(struct builder *b, struct ending *e, const struct message *m, bool chance)
{
	bool before = graph_certainly_before(b, m->begun, e->x->exit), late = is_late(m, before);
	bool waits = waits_for_receiver(b, m, e->sends) && (m->synchronous || !graph_certainly_before(b, e->x->exit, m->begun));
	if (waits || before)
		e->inputs[e->n++] = (struct node_input){ .ref = m->begun, .sure = m->synchronous, .receiver = true,
							 .likely = meets_receiver(b, m, e->sends), .bytes = m->bytes,
							 .needed = m->synchronous && !chance && !e->x->by_choice,
							 .candidate = !m->synchronous };
	else
		add_call_of_receiver(b, e->x, m, e->inputs, &e->n);
	if (m->receives_on)
		add_progress(b, m->begun, e->x->exit, e->inputs, &e->n, false);
	add_piece(b, e, m, true);
	e->says.hidden |= !m->synchronous || m->receives_on;
	e->says.late |= late;
	e->says.delayed |= e->x->by_choice || m->receives_on || (!m->synchronous && !before && !late);
}

static void add_end_of(struct builder *b, struct ending *e, const struct message *m, bool as_sender)
{
	bool chance = m->by_choice || m->unordered;
	if (m->nobody) {
		e->says.hidden = e->says.delayed = true;
		return;
	}
	e->says.loose |= chance || e->x->by_choice;
	e->says.hidden |= chance || e->x->by_choice; /* whom it would have chosen then */
	e->says.delayed |= chance;
	if (!as_sender)
		add_received(b, e, m, chance);
	else if (!m->buffered)
		add_sent(b, e, m, chance);
}

/* Several messages are complete, and nothing else: it might have had as many others. */
static bool takes_several(const struct completion *x)
{
	bool several = x->n > 1;
	for (size_t i = 0; i < x->n && several; i++) {
		const struct message *m = &x->messages[x->attached[i].message];
		several = !x->attached[i].as_sender && !m->nobody && m->sure && m->by_choice;
	}
	return several;
}

/* What was sent comes first, and then what that may have waited for besides: the inputs of its turn are side by side. */
static void put_sends_first(struct node_input *inputs, size_t from, size_t n)
{
	for (size_t i = from, k = from; i < n; i++) {
		struct node_input input = inputs[i];
		if (input.candidate)
			continue;
		memmove(&inputs[k + 1], &inputs[k], (i - k) * sizeof *inputs);
		inputs[k++] = input;
	}
}

struct inbox_place graph_message_place(const struct builder *b, const struct message *m)
{
	return (struct inbox_place){ b->graph->trace->threads[m->begun.thread].process, m->received_at, m->accepts };
}

/* Messages of several that might have come first; their inputs are the first ones behind the begin. Who names a sender may have
 * to take what comes behind another one's. */
static void note_choice(struct builder *b, const struct completion *x)
{
	const struct message *m = &x->messages[x->attached[0].message];
	uint32_t process = b->graph->trace->threads[x->exit.thread].process, place = x->by_choice ? TR_NO_SITE : m->received_at;
	uint64_t accepts = x->by_choice ? 0 : m->accepts;
	bool named = !m->by_choice, contested = !x->by_choice && m->contested;
	bool several = takes_several(x);
	if (!several && (x->n != 1 || x->attached[0].as_sender || m->nobody || (named && !contested)))
		return;
	if (contested && (named || accepts == m->kind)) {
		place = TR_NO_SITE;
		accepts = m->kind;
	}
	graph_turn(b, (struct graph_turn){ .first = 1 + x->begin.tried, .n = (uint32_t)x->n, .kind = m->tag,
					   .stream = (uint32_t)(m->stream >> 32), .named = named,
					   .queue = graph_inbox(b, process, place, accepts) });
}

/* A send that is matched with its receive waits as that does. */
static bool is_matched_send(const struct ending *e)
{
	return e->x->n == 1 && e->n == 2 && e->inputs[1].receiver && !e->inputs[1].candidate;
}

static void note_exit(struct builder *b, struct message_records *r, struct event_ref exit, const struct left_mpi *others,
		      size_t n, struct event_ref since)
{
	*SPILL_GROW(b->spill, r->together, r->ntogether) = (struct left_together){ r->nleft, (uint32_t)n + 1, false, since };
	*SPILL_GROW(b->spill, r->left, r->nleft) = (struct left_mpi){ exit, exit.stamp, true };
	for (size_t i = 0; i < n; i++)
		*SPILL_GROW(b->spill, r->left, r->nleft) = others[i];
}

/* How many calls of MPI of a thread were perhaps before. */
static size_t calls_until(const struct builder *b, uint32_t thread, struct event_ref end)
{
	struct mpi_calls *calls = &b->threads[thread].calls;
	return SEARCH_NEAR(calls->n, calls->before, mid, !graph_certainly_before(b, end, call_of(calls, mid, thread)));
}

/* Whether a thread of the sender's rank, which has copied a message, has called MPI while that was waited for, but for the next
 * call: no call need bring what it finds, so any of these may have. */
static bool calls_again(const struct builder *b, const struct message *m, const struct sends *sends,
			const struct completion *x, struct left_mpi *left)
{
	uint32_t sender = m->sent.thread, t = sender;
	struct mpi_calls *calls = &b->threads[sender].calls;
	size_t next = first_call_behind(calls, m->sent.at);
	bool any = false;
	*left = (struct left_mpi){ next < calls->n ? call_of(calls, next, sender) : m->sent, m->sent.stamp, false };
	do {
		size_t before = calls_until(b, t, x->exit);
		struct event_ref last = before ? call_of(&b->threads[t].calls, before - 1, t) : m->sent;
		any = (t == sender ? last.at > left->ref.at : last.stamp > m->sent.stamp) &&
		      !graph_certainly_before(b, last, x->begin.enter);
		t = sends->callers[t];
	} while (t != sender && !any);
	return any;
}

static void note_later_calls(struct builder *b, struct message_records *r, const struct completion *x, const struct sends *sends)
{
	struct left_mpi *left = NULL, one;
	size_t n = 0;
	for (size_t i = 0; i < x->n; i++) {
		const struct message *m = &x->messages[x->attached[i].message];
		if (!x->attached[i].as_sender && !m->sends_on && !m->nobody && calls_again(b, m, sends, x, &one))
			*MEM_GROW(left, n) = one;
	}
	if (n)
		note_exit(b, r, x->exit, left, n, x->begin.enter);
	free(left);
}

static void add_completion(struct builder *b, struct message_records *r, const struct completion *x, const struct sends *sends)
{
	struct node_input few[MOST_OF_MESSAGE + BEGIN_INPUTS];
	bool tried = x->begin.tried;
	struct ending e = { .x = x, .sends = sends, .says = { .loose = tried, .delayed = tried, .hidden = tried },
			    .inputs = x->n > 1 ? mem_resize(NULL, MOST_OF_MESSAGE * x->n + BEGIN_INPUTS, sizeof *e.inputs) : few };
	struct graph_node *node;
	e.n = graph_begin_inputs(&x->begin, e.inputs);
	for (size_t i = 0; i < x->n; i++)
		add_end_of(b, &e, &x->messages[x->attached[i].message], x->attached[i].as_sender);
	if (takes_several(x))
		put_sends_first(e.inputs, 1 + x->begin.tried, e.n);
	if (is_matched_send(&e)) {
		uint32_t number = graph_add_node(b, GRAPH_SYNC, e.inputs, e.n);
		graph_wait(b, x->exit, number);
		node = &b->graph->nodes[number];
	} else {
		node = graph_arrival(b, x->exit, x->what, e.inputs, e.n);
	}
	node->hidden = e.says.hidden;
	node->loose = e.says.loose;
	node->delayed = e.says.delayed;
	struct event_ref begun = x->n ? x->messages[x->attached[0].message].begun : x->enter;
	if (!node->hidden && is_matched_send(&e)) /* it is over when the receiver has said so */
		note_exit(b, r, x->exit, &(struct left_mpi){ begun, begun.stamp, false }, 1,
			  (struct event_ref){ .at = NO_EVENT });
	if (!node->hidden || !node->delayed)
		note_later_calls(b, r, x, sends);
	if (e.says.late && !e.says.delayed)
		add_late_receives(b, x);
	note_choice(b, x);
	if (e.inputs != few)
		free(e.inputs);
}

void graph_keep_completion(struct spill *spill, struct message_records *r, const struct completion *x)
{
	bool elsewhere = x->begin.tried || x->begin.enter.at != x->enter.at;
	if (elsewhere)
		*SPILL_GROW(spill, r->begins, r->nbegins) = x->begin;
	*SPILL_GROW(spill, r->completions, r->ncompletions) = (struct kept_completion){
		.enter_at = x->enter.at, .enter = x->enter.stamp, .exit_at = x->exit.at, .exit = x->exit.stamp,
		.thread = x->enter.thread, .first = (uint32_t)r->nattached, .n = (uint32_t)x->n,
		.waited_for = x->what == GRAPH_WAITED_FOR, .by_choice = x->by_choice,
		.begin = elsewhere ? (uint32_t)r->nbegins : 0 };
	for (size_t i = 0; i < x->n; i++)
		*SPILL_GROW(spill, r->attached, r->nattached) = x->attached[i];
}

static struct completion completion_of(const struct message_records *r, const struct kept_completion *k)
{
	struct event_ref enter = { k->thread, k->enter_at, k->enter };
	return (struct completion){ enter, { k->thread, k->exit_at, k->exit },
				    k->begin ? r->begins[k->begin - 1] : (struct wait_begin){ .enter = enter },
				    k->waited_for ? GRAPH_WAITED_FOR : GRAPH_RECEIVED, k->by_choice,
				    r->attached + k->first, k->n, r->v };
}

/* Whoever looked for a message may have looked for one from anyone, and then have named who sent it. */
static bool was_looked_for(const struct message_records *r, const struct kept_completion *x)
{
	return x->begin && r->begins[x->begin - 1].tried;
}

/* A receive that goes on behind its call, or when it is over; or is one of several that may be complete first. */
static void find_pending(struct builder *b, struct message_records *r)
{
	bool several = graph_send_several(b, r);
	struct ids chosen = { .n = 0 };
	for (size_t i = 0; i < r->ncompletions; i++) {
		const struct kept_completion *x = &r->completions[i];
		spill_relax(b->spill);
		for (size_t k = 0; k < x->n; k++) {
			struct message *m = &r->v[r->attached[x->first + k].message];
			if (r->attached[x->first + k].as_sender)
				continue;
			m->receives_on |= m->begun.thread != x->thread || m->begun.at < x->enter_at ||
					  tr_is(b->graph->trace, m->received_at, OP_IN_TWO);
			m->received = m->receives_on ? UINT64_MAX : x->exit;
			m->by_choice |= (x->by_choice || was_looked_for(r, x)) && several;
			if (was_looked_for(r, x) && several && m->stream)
				ids_add(&chosen, m->stream);
		}
	}
	graph_find_unordered(b, r, &chosen);
	ids_free(&chosen);
}

/* Whether one of the messages that are complete together was sent after another's receive began. */
static bool others_came_later(const struct builder *b, const struct completion *x, const struct message *m)
{
	for (size_t i = 0; i < x->n; i++) {
		const struct message *other = &x->messages[x->attached[i].message];
		if (other != m && !graph_certainly_before(b, x->attached[i].as_sender ? other->begun : other->sent, m->begun))
			return true;
	}
	return false;
}

static void note_send(const struct builder *b, const struct sends *sends, const struct completion *x, const struct message *m)
{
	if (m->synchronous || m->buffered || m->nobody)
		return;
	struct sends_of_size *of = size_of(b, sends, m);
	of->free |= graph_certainly_before(b, x->exit, m->begun);
	if (of->free || others_came_later(b, x, m))
		return;
	int64_t before = graph_between(b, x->begin.enter, m->begun).lo, behind = graph_between(b, m->begun, x->exit).hi;
	of->waited += before > 0 && before > behind && graph_certainly_before(b, m->begun, x->exit);
}

static void note_sends(const struct builder *b, const struct message_records *r, const struct sends *sends)
{
	for (size_t i = 0; i < r->ncompletions; i++) {
		struct completion x = completion_of(r, &r->completions[i]);
		spill_relax(b->spill);
		note_begun(b, sends, &x);
		note_pieces(b, sends, &x);
		for (size_t k = 0; k < x.n; k++)
			if (x.attached[k].as_sender)
				note_send(b, sends, &x, &x.messages[x.attached[k].message]);
	}
}

/* Or NULL: all were sent only later. */
static const struct message *what_was_found(const struct builder *b, const struct message_records *r, const struct found_message *f)
{
	const struct message *found = NULL;
	for (uint32_t i = 0; i < f->n; i++) {
		const struct message *m = &r->v[f->messages[i]];
		if (!m->nobody && !graph_certainly_before(b, f->exit, m->sent) && (!found || graph_certainly_before(b, found->sent, m->sent)))
			found = m;
	}
	return found;
}

static void add_found(struct builder *b, const struct message_records *r, const struct found_message *f)
{
	const struct message *m = what_was_found(b, r, f);
	struct node_input inputs[BEGIN_INPUTS + 1];
	size_t n = graph_begin_inputs(&f->begin, inputs);
	if (!m) {
		graph_timed_out(b, f->begin, f->exit, GRAPH_FOUND);
		return;
	}
	inputs[n++] = (struct node_input){ .ref = m->sent, .sure = m->sure, .bytes = m->bytes, .candidate = m->possible };
	struct graph_node *node = graph_arrival(b, f->exit, GRAPH_WAITED_FOR, inputs, n);
	node->loose = node->hidden = node->delayed = true;
}

void graph_completions(struct builder *b, struct message_records *r)
{
	size_t n = b->graph->trace->nclocks;
	struct sends sends = { find_eager(b, r), spill_zeros(b->spill, n * n * SIZES, sizeof *sends.sizes),
			       graph_find_tests(b, r),
			       spill_zeros(b->spill, b->graph->trace->nsites + 1, sizeof *sends.comes_back), graph_find_callers(b) };
	find_pending(b, r);
	note_sends(b, r, &sends);
	graph_places(b, r);
	for (size_t i = 0; i < r->ncompletions; i++) {
		struct completion x = completion_of(r, &r->completions[i]);
		add_completion(b, r, &x, &sends);
	}
	for (size_t i = 0; i < r->nfound; i++)
		add_found(b, r, &r->found[i]);
	graph_close_tests(b, sends.pieces);
	free(sends.eager);
	free(sends.callers);
	spill_free(b->spill, sends.comes_back);
	spill_free(b->spill, sends.sizes);
}

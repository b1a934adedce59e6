/* SPDX-License-Identifier: MIT
 *
 * graph_masters.c - whoever listens to anyone and answers gives out work: what others asked it before it answered them
 * is what they take (graph_pools.c).
 *
 *   it listens     a message from any source, or of one of several requests; bytes of a channel into which several
 *                  write, or that it found by looking at several
 *   it answers     a message to whom it has received from, or bytes of a channel that this one takes
 *
 * So does who waits for a semaphore that several post, and posts one for which one of them alone waits, if it does so one
 * by one: who waits for all and then posts for all tells them to go on.
 *
 * And a rank of which several threads receive messages of one kind gives each of these to whichever thread comes. */
#include <stdlib.h>

#include "analysis/base/memory.h"
#include "analysis/base/order.h"
#include "analysis/base/runs.h"
#include "analysis/base/search.h"
#include "analysis/graph/graph_masters.h"

/* ---- Who answers whoever asks ------------------------------------------------------------------ */

static int in_order(const void *x, const void *y)
{
	const struct exchange *a = x, *b = y;
	return ORDER_3(a, b, ref.thread, ref.at, number);
}

void graph_note_request(struct builder *b, struct exchange_records *exchanges, struct event_ref ref,
			struct event_ref request, uint32_t site)
{
	*SPILL_GROW(b->spill, exchanges->v, exchanges->n) = (struct exchange){
		.ref = ref, .other = request.thread, .number = (uint32_t)exchanges->n, .asked = true,
		.take = { .ref = request, .has = request, .place.site = site } };
}

void graph_note_reply(struct builder *b, struct exchange_records *exchanges, struct event_ref ref, uint32_t other,
		      uint64_t received)
{
	*SPILL_GROW(b->spill, exchanges->v, exchanges->n) =
		(struct exchange){ .ref = ref, .other = other, .number = (uint32_t)exchanges->n, .received = received };
}

/* Who asks in MPI_Sendrecv comes when it enters that: it waits from there on, too. */
static struct event_ref call_around(const struct builder *b, struct event_ref ref)
{
	const struct mpi_calls *calls = &b->threads[ref.thread].calls;
	size_t lo = SEARCH(calls->n, mid, calls->v[mid].at <= ref.at);
	return lo ? (struct event_ref){ ref.thread, calls->v[lo - 1].at, calls->v[lo - 1].stamp } : ref;
}

/* Of each thread whether it takes requests: some of what it got it might have got later. To be freed. */
static bool *find_takers(const struct builder *b, const struct message_records *messages, const struct exchange_records *exchanges)
{
	size_t n = b->graph->trace->nthreads;
	bool *takes = mem_zeroed(n + 1, sizeof *takes);
	for (size_t i = 0; i < exchanges->n; i++, spill_relax(b->spill))
		takes[exchanges->v[i].ref.thread] |= exchanges->v[i].asked;
	for (size_t i = 0; i < messages->n; i++, spill_relax(b->spill))
		takes[messages->v[i].begun.thread] |= messages->v[i].by_choice;
	return takes;
}

static void add_messages(struct builder *b, const struct message_records *messages, const bool *takes,
			 struct exchange_records *exchanges)
{
	for (size_t i = 0; i < messages->n; i++, spill_relax(b->spill)) {
		const struct message *m = &messages->v[i];
		if (m->by_choice)
			graph_note_request(b, exchanges, m->begun, call_around(b, m->sent), m->received_at);
		if (takes[m->sent.thread])
			graph_note_reply(b, exchanges, m->sent, m->begun.thread, m->begun.at);
	}
}

/* exchanges[0 .. n): of one thread. */
static void deal_by(struct builder *b, const struct exchange *exchanges, size_t n)
{
	size_t nthreads = b->graph->trace->nthreads, ntakes = 0;
	const struct exchange **asked = mem_zeroed(nthreads + 1, sizeof *asked);
	struct take *takes = NULL;
	for (size_t i = 0; i < n; i++, spill_relax(b->spill)) {
		const struct exchange **request = &asked[exchanges[i].other];
		if (exchanges[i].asked) {
			*request = &exchanges[i];
		} else if (*request) {
			*SPILL_GROW(b->spill, takes, ntakes) = (*request)->take;
			takes[ntakes - 1].behind = exchanges[i].received;
			takes[ntakes - 1].answered = true;
			*request = NULL;
		}
	}
	graph_find_pool(b, takes, ntakes);
	free(asked);
	spill_free(b->spill, takes);
}

/* Most answers come behind a request that came behind the answer before. */
static bool answers_one_by_one(const struct exchange *v, size_t n)
{
	size_t answers = 0, alone = 0;
	for (size_t i = 0; i < n; i++) {
		answers += !v[i].asked;
		alone += !v[i].asked && i > 0 && v[i - 1].asked;
	}
	return 2 * alone > answers;
}

void graph_deal_permits(struct builder *b, struct exchange_records *exchanges)
{
	struct exchange *v = exchanges->v;
	runs_sort(b->spill, v, exchanges->n, sizeof *v, in_order);
	for (size_t i = 0, next; i < exchanges->n; i = next) {
		for (next = i + 1; next < exchanges->n && v[next].ref.thread == v[i].ref.thread; next++)
			;
		if (answers_one_by_one(v + i, next - i))
			deal_by(b, v + i, next - i);
	}
	spill_free(b->spill, v);
	*exchanges = (struct exchange_records){ .n = 0 };
}

void graph_masters(struct builder *b, const struct message_records *messages, struct exchange_records *exchanges)
{
	bool *takes = find_takers(b, messages, exchanges);
	add_messages(b, messages, takes, exchanges);
	struct exchange *v = exchanges->v;
	runs_sort(b->spill, v, exchanges->n, sizeof *v, in_order);
	for (size_t i = 0, next; i < exchanges->n; i = next) {
		for (next = i + 1; next < exchanges->n && v[next].ref.thread == v[i].ref.thread; next++)
			;
		if (takes[v[i].ref.thread])
			deal_by(b, v + i, next - i);
	}
	free(takes);
}

/* ---- Several threads of a rank that receive ---------------------------------------------------- */

static int by_inbox(const void *x, const void *y)
{
	const struct inbox *a = x, *b = y;
	return ORDER_4(a, b, process, group, tag, message);
}

static bool has_threads(const struct trace *t, uint32_t thread)
{
	uint32_t process = t->threads[thread].process;
	return (thread > 0 && t->threads[thread - 1].process == process) ||
	       (thread + 1 < t->nthreads && t->threads[thread + 1].process == process);
}

void graph_put_in(struct builder *b, struct message_records *r, const struct match *m, uint32_t message)
{
	const struct match_part *receiver = &m->parts[1];
	const struct trace *t = b->graph->trace;
	if (has_threads(t, receiver->thread))
		*SPILL_GROW(b->spill, r->inboxes, r->ninboxes) = (struct inbox){
			t->threads[receiver->thread].process, message, m->group, m->number, m->of_tags };
}

/* Messages of one kind to one rank: whichever of its threads comes first may take the next one. */
static void deal_out(struct builder *b, struct message_records *r, const struct inbox *in, size_t n)
{
	const struct message *first = &r->v[in[0].message];
	bool several = false;
	for (size_t i = 1; i < n && !several; i++)
		several = r->v[in[i].message].begun.thread != first->begun.thread;
	if (!several)
		return;
	struct take *takes = mem_resize(NULL, n, sizeof *takes);
	for (size_t i = 0; i < n; i++, spill_relax(b->spill)) {
		struct message *m = &r->v[in[i].message];
		m->by_choice = true;
		takes[i] = (struct take){ .ref = m->begun, .has = m->begun, .place.site = m->received_at };
	}
	graph_find_pool(b, takes, n);
	free(takes);
}

static bool is_same(const struct inbox *a, const struct inbox *b, bool whatever_tag)
{
	return a->process == b->process && a->group == b->group && (whatever_tag || a->tag == b->tag);
}

/* Of one process and group. */
static void deal_group(struct builder *b, struct message_records *r, const struct inbox *in, size_t n)
{
	bool any_tag = false;
	for (size_t i = 0; i < n; i++)
		any_tag |= in[i].any_tag;
	for (size_t i = 0, next; i < n; i = next) {
		for (next = i + 1; next < n && is_same(&in[next], &in[i], any_tag); next++)
			;
		deal_out(b, r, in + i, next - i);
	}
}

void graph_inboxes(struct builder *b, struct message_records *r)
{
	runs_sort(b->spill, r->inboxes, r->ninboxes, sizeof *r->inboxes, by_inbox);
	for (size_t i = 0, next; i < r->ninboxes; i = next) {
		for (next = i + 1; next < r->ninboxes && is_same(&r->inboxes[next], &r->inboxes[i], true); next++)
			;
		deal_group(b, r, r->inboxes + i, next - i);
	}
}

/* SPDX-License-Identifier: MIT
 *
 * graph_masters.c - whoever listens to anyone and answers gives out work: what others asked it before it answered them
 * is what they take (graph_dealers.c).
 *
 *   it listens     a message from any source, or of one of several requests; bytes of a channel into which several
 *                  write, or that it found by looking at several
 *   it answers     a message to whom it has received from, or bytes of a channel that this one takes
 *
 * And a rank of which several threads receive messages of one kind gives each of these to whichever thread comes. */
#include <stdlib.h>
#include <string.h>

#include "analysis/base/memory.h"
#include "analysis/base/runs.h"
#include "analysis/base/search.h"
#include "analysis/graph/graph_private.h"

/* ---- Who answers whoever asks ------------------------------------------------------------------ */

static int by_talk(const void *x, const void *y)
{
	const struct talk *a = x, *b = y;
	if (a->ref.thread != b->ref.thread)
		return a->ref.thread < b->ref.thread ? -1 : 1;
	if (a->ref.at != b->ref.at)
		return a->ref.at < b->ref.at ? -1 : 1;
	return (a->number > b->number) - (a->number < b->number);
}

void graph_heard(struct builder *b, struct event_ref ref, struct event_ref request, uint32_t site)
{
	b->listens[ref.thread] = true;
	*SPILL_GROW(b->spill, b->talks, b->ntalks) = (struct talk){
		.ref = ref, .other = request.thread, .number = (uint32_t)b->ntalks, .asked = true,
		.take = { .ref = request, .has = request, .place.site = site } };
}

void graph_answered(struct builder *b, struct event_ref ref, uint32_t other)
{
	*SPILL_GROW(b->spill, b->talks, b->ntalks) =
		(struct talk){ .ref = ref, .other = other, .number = (uint32_t)b->ntalks };
}

/* Who asks in MPI_Sendrecv comes when it enters that: it waits from there on, too. */
static struct event_ref call_around(const struct builder *b, struct event_ref ref)
{
	const struct mpi_calls *calls = &b->calls[ref.thread];
	size_t lo = SEARCH(calls->n, mid, calls->v[mid].at <= ref.at);
	return lo ? (struct event_ref){ ref.thread, calls->v[lo - 1].at, calls->v[lo - 1].stamp } : ref;
}

static void find_messages(struct builder *b)
{
	for (size_t i = 0; i < b->nmessages; i++, spill_relax(b->spill))
		b->listens[b->messages[i].begun.thread] |= b->messages[i].by_choice;
	for (size_t i = 0; i < b->nmessages; i++, spill_relax(b->spill)) {
		const struct message *m = &b->messages[i];
		if (m->by_choice)
			graph_heard(b, m->begun, call_around(b, m->sent), m->received_at);
		if (b->listens[m->sent.thread])
			graph_answered(b, m->sent, m->begun.thread);
	}
}

/* talks[0 .. n): of one thread. */
static void deal_by(struct builder *b, const struct talk *talks, size_t n)
{
	size_t nthreads = b->graph->trace->nthreads, ntakes = 0;
	const struct talk **asked = mem_resize(NULL, nthreads + 1, sizeof *asked);
	struct take *takes = NULL;
	memset(asked, 0, nthreads * sizeof *asked);
	for (size_t i = 0; i < n; i++, spill_relax(b->spill)) {
		const struct talk **request = &asked[talks[i].other];
		if (talks[i].asked) {
			*request = &talks[i];
		} else if (*request) {
			*SPILL_GROW(b->spill, takes, ntakes) = (*request)->take;
			*request = NULL;
		}
	}
	graph_deal(b, takes, ntakes);
	free(asked);
	spill_free(b->spill, takes);
}

void graph_masters(struct builder *b)
{
	find_messages(b);
	runs_sort(b->spill, b->talks, b->ntalks, sizeof *b->talks, by_talk);
	for (size_t i = 0, next; i < b->ntalks; i = next) {
		for (next = i + 1; next < b->ntalks && b->talks[next].ref.thread == b->talks[i].ref.thread; next++)
			;
		if (b->listens[b->talks[i].ref.thread])
			deal_by(b, b->talks + i, next - i);
	}
}

/* ---- Several threads of a rank that receive ---------------------------------------------------- */

static int by_inbox(const void *x, const void *y)
{
	const struct inbox *a = x, *b = y;
	if (a->process != b->process)
		return a->process < b->process ? -1 : 1;
	if (a->group != b->group)
		return a->group < b->group ? -1 : 1;
	if (a->tag != b->tag)
		return a->tag < b->tag ? -1 : 1;
	return (a->message > b->message) - (a->message < b->message);
}

static bool has_threads(const struct trace *t, uint32_t thread)
{
	uint32_t process = t->threads[thread].process;
	return (thread > 0 && t->threads[thread - 1].process == process) ||
	       (thread + 1 < t->nthreads && t->threads[thread + 1].process == process);
}

void graph_put_in(struct builder *b, const struct match *m, uint32_t message)
{
	const struct match_part *receiver = &m->parts[1];
	const struct trace *t = b->graph->trace;
	if (has_threads(t, receiver->thread))
		*SPILL_GROW(b->spill, b->inboxes, b->ninboxes) = (struct inbox){
			t->threads[receiver->thread].process, message, m->group, m->number, m->of_tags };
}

/* Messages of one kind to one rank: whichever of its threads comes first may take the next one. */
static void deal_out(struct builder *b, const struct inbox *in, size_t n)
{
	const struct message *first = &b->messages[in[0].message];
	bool several = false;
	for (size_t i = 1; i < n && !several; i++)
		several = b->messages[in[i].message].begun.thread != first->begun.thread;
	if (!several)
		return;
	struct take *takes = mem_resize(NULL, n, sizeof *takes);
	for (size_t i = 0; i < n; i++, spill_relax(b->spill)) {
		struct message *m = &b->messages[in[i].message];
		m->by_choice = true;
		takes[i] = (struct take){ .ref = m->begun, .has = m->begun, .place.site = m->received_at };
	}
	graph_deal(b, takes, n);
	free(takes);
}

static bool is_same(const struct inbox *a, const struct inbox *b, bool whatever_tag)
{
	return a->process == b->process && a->group == b->group && (whatever_tag || a->tag == b->tag);
}

/* Of one process and group. */
static void deal_group(struct builder *b, const struct inbox *in, size_t n)
{
	bool any_tag = false;
	for (size_t i = 0; i < n; i++)
		any_tag |= in[i].any_tag;
	for (size_t i = 0, next; i < n; i = next) {
		for (next = i + 1; next < n && is_same(&in[next], &in[i], any_tag); next++)
			;
		deal_out(b, in + i, next - i);
	}
}

void graph_inboxes(struct builder *b)
{
	runs_sort(b->spill, b->inboxes, b->ninboxes, sizeof *b->inboxes, by_inbox);
	for (size_t i = 0, next; i < b->ninboxes; i = next) {
		for (next = i + 1; next < b->ninboxes && is_same(&b->inboxes[next], &b->inboxes[i], true); next++)
			;
		deal_group(b, b->inboxes + i, next - i);
	}
}

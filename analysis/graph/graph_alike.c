/* SPDX-License-Identifier: MIT
 *
 * graph_alike.c - threads that do alike, of which the last posts:
 *
 *   work, if (atomic_fetch_sub(&left, 1) == 1) post, wait for more or end
 *
 * Of the number there is no record. But all of them come to the same place, at which each waits or ends, and one has posted
 * on its way there. In another run that may be another: so a wait for the post has waited for all who had come there
 * since the post before, most likely if they still were there, one of them came while it was waited, and nobody alike was
 * still at work. If all came before the wait, what they did may have been no business of it: that is not sure. */
#include <stdlib.h>

#include "analysis/base/memory.h"
#include "analysis/base/search.h"
#include "analysis/graph/graph_private.h"

#define MOST_THREADS 256 /* of a process that are looked at */
#define SOON 8           /* on its way is who comes after at most such a part of what it took before */

/* How many times the thread had come anywhere at a stamp: its end, which is the last, counts. */
static size_t count_blocking_calls(const struct builder *b, uint32_t thread, uint64_t stamp)
{
	const struct blocking_calls *c = &b->threads[thread].blocking;
	size_t n = SEARCH(c->n, mid, c->v[mid].stamp <= stamp);
	return n + (n == c->n && b->graph->threads[thread].last <= stamp);
}

static struct blocking_call blocking_call_of(const struct builder *b, uint32_t thread, size_t i)
{
	const struct blocking_calls *c = &b->threads[thread].blocking;
	const struct graph_thread *t = &b->graph->threads[thread];
	if (i < c->n)
		return c->v[i];
	return (struct blocking_call){ t->nevents - 1, t->last, t->nevents - 1, t->last, UINT64_MAX, TR_NO_SITE };
}

/* Since when it had been on its way there. */
static uint64_t went(const struct builder *b, uint32_t thread, size_t i)
{
	return i > 0 ? b->threads[thread].blocking.v[i - 1].until : b->graph->threads[thread].first;
}

static bool comes_soon(uint64_t went, uint64_t left, uint64_t comes)
{
	return left > went && comes >= left && (comes - left) <= (left - went) / SOON;
}

/* Ends are, of threads that were created in the same place. */
static bool same_place(const struct builder *b, uint32_t one, uint32_t other, uint32_t site, uint32_t its)
{
	bool alike = b->threads[one].fork_site != TR_NO_SITE && b->threads[one].fork_site == b->threads[other].fork_site;
	return site == its && (site != TR_NO_SITE || alike);
}

/* What is looked at: the last of these posts, where its thread comes next, and what was posted before it went there. */
struct alike_posted { const struct event_ref *posts, *post; uint32_t site; uint64_t before; };

/* False: it goes on to something else. */
static bool find_posted(const struct builder *b, const struct event_ref *posts, size_t i, struct alike_posted *out)
{
	const struct event_ref *post = &posts[i];
	const struct blocking_calls *c = &b->threads[post->thread].blocking;
	size_t next = SEARCH(c->n, mid, c->v[mid].at <= post->at);
	struct blocking_call comes = blocking_call_of(b, post->thread, next);
	uint64_t since = went(b, post->thread, next);
	*out = (struct alike_posted){ posts, post, comes.site, 0 };
	while (i > 0 && posts[i - 1].thread == post->thread && posts[i - 1].stamp > since)
		i--;
	out->before = i > 0 ? posts[i - 1].stamp : 0;
	return comes_soon(since, post->stamp, comes.stamp);
}

/* Whether it has posted on its way. */
static bool posts_too(const struct alike_posted *e, uint32_t thread, uint64_t since)
{
	for (const struct event_ref *p = e->post; p > e->posts && p[-1].stamp >= since; p--)
		if (p[-1].thread == thread)
			return true;
	return false;
}

enum comes { ELSEWHERE, COME, AT_WORK };

/* Where a thread was when another posted; `came`: what the post would have waited for. */
static enum comes where(const struct builder *b, const struct alike_posted *e, uint32_t thread, struct event_ref *came,
			uint64_t *since)
{
	size_t n = count_blocking_calls(b, thread, e->post->stamp);
	struct blocking_call at = n > 0 ? blocking_call_of(b, thread, n - 1) : (struct blocking_call){ 0 };
	if (n > 0 && at.until >= e->post->stamp) {
		*came = (struct event_ref){ thread, at.at, at.stamp };
		*since = went(b, thread, n - 1);
		return same_place(b, e->post->thread, thread, e->site, at.site) && at.stamp > e->before ? COME : ELSEWHERE;
	}
	at = blocking_call_of(b, thread, n);
	*since = went(b, thread, n);
	if (!same_place(b, e->post->thread, thread, e->site, at.site))
		return ELSEWHERE;
	*came = (struct event_ref){ thread, at.before_at, at.before };
	return at.before <= e->post->stamp && at.before > e->before && comes_soon(*since, at.before, at.stamp) ? COME : AT_WORK;
}

static uint32_t first_thread(const struct trace *t, uint32_t thread)
{
	while (thread > 0 && t->threads[thread - 1].process == t->threads[thread].process)
		thread--;
	return thread;
}

static bool is_made_later(const struct builder *b, uint32_t thread, uint64_t stamp)
{
	const struct event_ref *fork = &b->threads[thread].fork;
	return (fork->at != NO_FORK ? fork->stamp : b->graph->threads[thread].first) > stamp;
}

/* What the post would have waited for of a thread; `works`: it is alike, and has not come. */
static bool has_come(const struct builder *b, const struct alike_posted *e, uint32_t thread, struct event_ref *came, bool *works)
{
	uint64_t since;
	if (b->graph->threads[thread].nevents == 0 || is_made_later(b, thread, e->post->stamp))
		return false;
	enum comes is = where(b, e, thread, came, &since);
	*works |= is == AT_WORK;
	return is == COME && !posts_too(e, thread, since);
}

struct node_input *graph_alike(const struct builder *b, const struct event_ref *posts, size_t i, struct event_ref since,
			       uint32_t site, size_t *n)
{
	const struct trace *trace = b->graph->trace;
	uint32_t first = first_thread(trace, posts[i].thread), process = trace->threads[first].process;
	struct node_input *inputs = NULL;
	struct event_ref came;
	struct alike_posted e;
	bool sure = false, works = false;
	*n = 0;
	if (!find_posted(b, posts, i, &e) || e.site == site)
		return NULL;
	for (uint32_t t = first; t < trace->nthreads && trace->threads[t].process == process && t - first < MOST_THREADS && !works; t++) {
		if (t == posts[i].thread || t == since.thread || !has_come(b, &e, t, &came, &works))
			continue;
		sure |= came.stamp > since.stamp;
		*MEM_GROW(inputs, *n) = (struct node_input){ .ref = came };
	}
	*n = works ? 0 : *n;
	for (size_t k = 0; k < *n; k++)
		inputs[k].sure = sure;
	return inputs;
}

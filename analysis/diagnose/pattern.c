/* SPDX-License-Identifier: MIT
 *
 * pattern.c - see pattern.h. */
#include "analysis/diagnose/pattern.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/memory.h"
#include "analysis/trace/names.h"

#define NO_PROCESS UINT32_MAX

/* Between one process and the hub. */
struct pattern_pair { uint64_t asked, answered; };

static struct location_name name_of(const struct trace *trace, uint32_t process)
{
	for (size_t t = 0; t < trace->nthreads; t++)
		if (trace->threads[t].process == process)
			return rank_name(trace, t);
	return (struct location_name){ "" };
}

/* ---- Marks ----------------------------------------------------------------------------------- */

/* By which region a process has a role; TR_NO_SITE: by none. */
struct marked { uint32_t master, worker; };

/* Of each process. */
static struct marked *find_marked(const struct trace *trace, const struct call_profile *p)
{
	struct marked *marked = mem_resize(NULL, trace->nprocesses + 1, sizeof *marked);
	for (size_t i = 0; i < trace->nprocesses; i++)
		marked[i] = (struct marked){ TR_NO_SITE, TR_NO_SITE };
	for (size_t i = 0; i < p->neach; i++) {
		const struct call_each *e = &p->each[i];
		enum dprof_role role = e->site < trace->nsites ? trace->sites[e->site].role : DPROF_IN_NO_ROLE;
		struct marked *of = &marked[trace->threads[e->thread].process];
		if (role == DPROF_IN_ROLE_MASTER)
			of->master = e->site;
		else if (role == DPROF_IN_ROLE_WORKER)
			of->worker = e->site;
	}
	return marked;
}

/* NULL: none of them is marked as what the others, or it itself, say it is not. `hub` NO_PROCESS: whoever is marked. */
static char *contradiction(const struct trace *trace, const struct marked *marked, uint32_t hub)
{
	uint32_t first = hub;
	for (uint32_t i = 0; i < trace->nprocesses; i++) {
		if (marked[i].master != TR_NO_SITE && marked[i].worker != TR_NO_SITE)
			return mem_format("%s has contradictory roles: it was in %s, role(master), and in %s, role(worker)", name_of(trace, i).text,
					  site_name(trace, marked[i].master).text, site_name(trace, marked[i].worker).text);
		if (i == hub && marked[i].worker != TR_NO_SITE)
			return mem_format("roles contradict the messages: %s was in %s, role(worker), and all messages are to it or from it",
					  name_of(trace, i).text, site_name(trace, marked[i].worker).text);
		if (marked[i].master == TR_NO_SITE)
			continue;
		if (first != NO_PROCESS && first != i)
			return mem_format(hub == NO_PROCESS ? "roles are contradictory: %s was in %s, role(master), and so was %s"
						   : "roles contradict the messages: %s was in %s, role(master), and all messages are to %s or "
						     "from it", name_of(trace, i).text, site_name(trace, marked[i].master).text,
					  name_of(trace, first).text);
		first = i;
	}
	return NULL;
}

/* Of two that could be it the one that is marked; or NO_PROCESS. */
static uint32_t marked_master(const struct marked *marked, const uint32_t candidates[2])
{
	bool is[2];
	for (int c = 0; c < 2; c++)
		is[c] = candidates[c] != NO_PROCESS && marked[candidates[c]].master != TR_NO_SITE;
	return is[0] == is[1] ? NO_PROCESS : is[0] ? candidates[0] : candidates[1];
}

/* ---- Stars ----------------------------------------------------------------------------------- */

/* One side of all messages; of two that could be it marks decide, as the first that receives before it sends is not known. */
static uint32_t find_hub(const struct call_profile *p, const struct marked *marked)
{
	uint32_t candidates[2] = { NO_PROCESS, NO_PROCESS };
	for (size_t i = 0; i < p->nmessages; i++) {
		const struct call_message *m = &p->messages[i];
		if (m->from == m->to)
			return NO_PROCESS;
		if (i == 0) {
			candidates[0] = m->from;
			candidates[1] = m->to;
		}
		for (int c = 0; c < 2; c++)
			if (m->from != candidates[c] && m->to != candidates[c])
				candidates[c] = NO_PROCESS;
	}
	bool one = (candidates[0] == NO_PROCESS) != (candidates[1] == NO_PROCESS);
	return !one ? marked_master(marked, candidates) : candidates[0] != NO_PROCESS ? candidates[0] : candidates[1];
}

static struct pattern_pair *find_pairs(const struct trace *trace, const struct call_profile *p, uint32_t hub)
{
	struct pattern_pair *pairs = mem_resize(NULL, trace->nprocesses + 1, sizeof *pairs);
	memset(pairs, 0, (trace->nprocesses + 1) * sizeof *pairs);
	for (size_t i = 0; i < p->nmessages; i++) {
		const struct call_message *m = &p->messages[i];
		if (m->to == hub)
			pairs[m->from].asked += m->count;
		else
			pairs[m->to].answered += m->count;
	}
	return pairs;
}

/* NULL: each of them asks and is answered. */
static char *refuse(const struct trace *trace, const struct pattern_pair *pairs, size_t *workers)
{
	for (uint32_t i = 0; i < trace->nprocesses; i++) {
		uint64_t asked = pairs[i].asked, answered = pairs[i].answered;
		if (asked == 0 && answered == 0)
			continue;
		++*workers;
		if (asked < 2 || answered < 2 || asked > answered + 1 || answered > asked + 1)
			return mem_format("%s sends %" PRIu64 " messages and gets %" PRIu64 ": it does not ask again and again",
					  name_of(trace, i).text, asked, answered);
	}
	return NULL;
}

/* True if it is one; else no_star says why not. */
static bool is_star(struct pattern *p, const struct trace *trace, const struct call_profile *calls, uint64_t messages)
{
	size_t workers = 0;
	struct marked *marked = find_marked(trace, calls);
	uint32_t hub = find_hub(calls, marked);
	p->no_star = contradiction(trace, marked, hub);
	p->contradiction = p->no_star;
	free(marked);
	if (p->no_star)
		return false;
	if (hub == NO_PROCESS) {
		p->no_star = mem_copy("messages are not all to one process, or from it");
		return false;
	}
	struct pattern_pair *pairs = find_pairs(trace, calls, hub);
	p->no_star = refuse(trace, pairs, &workers);
	for (uint32_t i = 0; i < trace->nprocesses && !p->no_star; i++)
		p->role_of[i] = i == hub ? ROLE_MASTER : pairs[i].asked ? ROLE_WORKER : ROLE_ANY;
	if (!p->no_star)
		p->why = mem_format("all %" PRIu64 " messages are those of %zu processes that ask %s again and again, and of its answers",
				    messages, workers, name_of(trace, hub).text);
	free(pairs);
	return !p->no_star;
}

/* ---- Chains ---------------------------------------------------------------------------------- */

static bool is_chain(struct pattern *p, const struct trace *trace, const struct call_profile *calls, uint64_t messages)
{
	size_t n = trace->nprocesses, heads = 0;
	uint32_t *next = mem_resize(NULL, 2 * n + 1, sizeof *next), *before = next + n, head = NO_PROCESS;
	bool simple = true;
	for (size_t i = 0; i < 2 * n; i++)
		next[i] = NO_PROCESS;
	for (size_t i = 0; i < calls->nmessages; i++) {
		const struct call_message *m = &calls->messages[i];
		simple &= next[m->from] == NO_PROCESS && before[m->to] == NO_PROCESS;
		next[m->from] = m->to;
		before[m->to] = m->from;
	}
	for (uint32_t i = 0; i < n; i++)
		if (next[i] != NO_PROCESS && before[i] == NO_PROCESS) {
			heads++;
			head = i;
		}
	for (uint32_t i = head; simple && heads == 1 && i != NO_PROCESS; i = next[i])
		*MEM_GROW(p->order, p->n) = i;
	free(next);
	if (p->n < 3 || p->n != calls->nmessages + 1)
		return false;
	p->why = mem_format("all %" PRIu64 " messages go along a chain of %zu processes, from %s on", messages, p->n,
			    name_of(trace, p->order[0]).text);
	return true;
}

/* ---- Trees ----------------------------------------------------------------------------------- */

static uint64_t count_back(const struct call_profile *calls, const struct call_message *m)
{
	for (size_t i = 0; i < calls->nmessages; i++)
		if (calls->messages[i].from == m->to && calls->messages[i].to == m->from)
			return calls->messages[i].count;
	return 0;
}

/* Of the group that a process is in, which has been joined with others. */
static uint32_t group_of(uint32_t *group, uint32_t i)
{
	while (group[i] != i)
		i = group[i] = group[group[i]];
	return i;
}

/* No two ways lead from one process to another if each pair joins two groups. */
static bool is_tree(struct pattern *p, const struct trace *trace, const struct call_profile *calls, uint64_t messages)
{
	uint32_t *group = mem_resize(NULL, trace->nprocesses + 1, sizeof *group);
	bool tree = calls->nmessages < 2 * (size_t)trace->nprocesses;
	size_t joined = 0;
	for (uint32_t i = 0; i < trace->nprocesses; i++)
		group[i] = i;
	for (size_t i = 0; i < calls->nmessages && tree; i++) {
		const struct call_message *m = &calls->messages[i];
		tree = m->from != m->to && count_back(calls, m) == m->count;
		if (!tree || m->from > m->to)
			continue;
		uint32_t a = group_of(group, m->from), b = group_of(group, m->to);
		tree = a != b;
		group[a] = b;
		joined++;
	}
	for (uint32_t i = 0; i < trace->nprocesses && tree; i++) {
		bool in = false;
		for (size_t k = 0; k < calls->nmessages && !in; k++)
			in = calls->messages[k].from == i;
		if (in)
			*MEM_GROW(p->order, p->n) = i;
	}
	free(group);
	if (!tree || p->n < 3 || p->n != joined + 1)
		return false;
	p->why = mem_format("all %" PRIu64 " messages go along a tree of %zu processes, and as many back", messages, p->n);
	return true;
}

/* ---- All of it ------------------------------------------------------------------------------- */

static void forget_order(struct pattern *p)
{
	free(p->order);
	p->order = NULL;
	p->n = 0;
}

void pattern_open(struct pattern *p, const struct trace *trace, const struct call_profile *calls)
{
	uint64_t messages = 0;
	*p = (struct pattern){ .role_of = mem_resize(NULL, trace->nprocesses + 1, sizeof *p->role_of) };
	memset(p->role_of, 0, (trace->nprocesses + 1) * sizeof *p->role_of);
	for (size_t i = 0; i < calls->nmessages; i++)
		messages += calls->messages[i].count;
	if (messages == 0) {
		p->no_star = mem_copy("there are no messages");
		p->why = mem_copy(p->no_star);
		return;
	}
	if (is_star(p, trace, calls, messages)) {
		p->shape = SHAPE_STAR;
		return;
	}
	if (p->contradiction) {
		p->why = mem_copy(p->contradiction);
		return;
	}
	if (is_chain(p, trace, calls, messages)) {
		p->shape = SHAPE_CHAIN;
		return;
	}
	forget_order(p);
	if (is_tree(p, trace, calls, messages)) {
		p->shape = SHAPE_TREE;
		return;
	}
	forget_order(p);
	p->why = mem_copy("messages go neither to one process, nor along a chain or a tree");
}

void pattern_close(struct pattern *p)
{
	free(p->why);
	free(p->no_star);
	free(p->role_of);
	free(p->order);
}

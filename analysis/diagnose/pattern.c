/* SPDX-License-Identifier: MIT
 *
 * pattern.c - see pattern.h. */
#include "analysis/diagnose/pattern.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/joined.h"
#include "analysis/base/memory.h"
#include "analysis/trace/names.h"

#define NO_PROCESS UINT32_MAX

/* Between one process and the hub. */
struct pattern_pair { uint64_t asked, answered; };

/* ---- Marks ----------------------------------------------------------------------------------- */

/* By which region a process has which role; TR_NO_SITE: by none. */
struct marked {
	uint32_t of[DPROF_ROLE_COUNT];
	uint32_t other_stage;        /* a region of another stage than that one's */
};

static void add_mark(struct marked *m, const struct trace *trace, uint32_t site)
{
	enum dprof_role role = trace->sites[site].role;
	bool other = role == DPROF_IN_ROLE_STAGE && m->of[role] != TR_NO_SITE &&
		     trace->sites[m->of[role]].stage != trace->sites[site].stage;
	*(other ? &m->other_stage : &m->of[role]) = site;
}

/* Of each process. */
static struct marked *find_marked(const struct trace *trace, const struct call_profile *p)
{
	struct marked *marked = mem_resize(NULL, trace->nprocesses + 1, sizeof *marked);
	memset(marked, 0xff, (trace->nprocesses + 1) * sizeof *marked); /* TR_NO_SITE */
	for (size_t i = 0; i < p->neach; i++)
		if (p->each[i].site < trace->nsites)
			add_mark(&marked[trace->threads[p->each[i].thread].process], trace, p->each[i].site);
	return marked;
}

static bool has(const struct marked *m, enum dprof_role role)
{
	return m->of[role] != TR_NO_SITE;
}

/* Marks say so: tasks are done there. */
static bool is_worker(const struct marked *m)
{
	return has(m, DPROF_IN_ROLE_WORKER) || has(m, DPROF_IN_ROLE_TASK);
}

/* NULL: none of them is marked as what the others, or it itself, say it is not. `hub` NO_PROCESS: whoever is marked. */
static char *contradiction(const struct trace *trace, const struct marked *marked, uint32_t hub)
{
	uint32_t first = hub;
	for (uint32_t i = 0; i < trace->nprocesses; i++) {
		const uint32_t *of = marked[i].of;
		if (has(&marked[i], DPROF_IN_ROLE_MASTER) && has(&marked[i], DPROF_IN_ROLE_WORKER))
			return mem_format("%s has contradictory roles: it was in %s, role(master), and in %s, role(worker)",
					  name_of_process(trace, i).text,
					  site_name(trace, of[DPROF_IN_ROLE_MASTER]).text,
					  site_name(trace, of[DPROF_IN_ROLE_WORKER]).text);
		if (i == hub && has(&marked[i], DPROF_IN_ROLE_WORKER))
			return mem_format("roles contradict the messages: %s was in %s, role(worker), and all messages are to it "
					  "or from it",
					  name_of_process(trace, i).text, site_name(trace, of[DPROF_IN_ROLE_WORKER]).text);
		if (!has(&marked[i], DPROF_IN_ROLE_MASTER))
			continue;
		if (first != NO_PROCESS && first != i)
			return mem_format(hub == NO_PROCESS
						  ? "roles are contradictory: %s was in %s, role(master), and so was %s"
						  : "roles contradict the messages: %s was in %s, role(master), and all "
						    "messages are to %s or from it",
					  name_of_process(trace, i).text,
					  site_name(trace, of[DPROF_IN_ROLE_MASTER]).text,
					  name_of_process(trace, first).text);
		first = i;
	}
	return NULL;
}

/* Of two that could be it the one that is marked, or whose other one is marked as who does the tasks; or NO_PROCESS. */
static uint32_t marked_master(const struct marked *marked, const uint32_t candidates[2])
{
	bool is[2];
	for (int c = 0; c < 2; c++)
		is[c] = candidates[c] != NO_PROCESS && has(&marked[candidates[c]], DPROF_IN_ROLE_MASTER);
	for (int c = 0; c < 2 && candidates[0] != NO_PROCESS && candidates[1] != NO_PROCESS && !is[0] && !is[1]; c++)
		is[c] = is_worker(&marked[candidates[1 - c]]) && !is_worker(&marked[candidates[c]]);
	return is[0] == is[1] ? NO_PROCESS : is[0] ? candidates[0] : candidates[1];
}

/* "; roles are missing: rank 3 and 2 others were in no region with role(worker)": to be freed. */
static char *missing_text(const struct trace *trace, uint32_t first, size_t n, const char *roles)
{
	char *others = n > 1 ? mem_format(" and %zu other%s were", n - 1, n > 2 ? "s" : "") : mem_copy(" was");
	char *text = mem_format("; roles are missing: %s%s in no region with %s", name_of_process(trace, first).text,
				others, roles);
	free(others);
	return text;
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
	struct pattern_pair *pairs = mem_zeroed(trace->nprocesses + 1, sizeof *pairs);
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
					  name_of_process(trace, i).text, asked, answered);
	}
	return NULL;
}

/* "; roles are missing: ...", if some who do tasks are marked as that, and others not; to be freed. */
static char *missing_workers(const struct trace *trace, const enum event_role *role_of, const struct marked *marked)
{
	uint32_t without = NO_PROCESS;
	size_t n = 0, with = 0;
	for (uint32_t i = (uint32_t)trace->nprocesses; i-- > 0;) {
		if (role_of[i] != ROLE_WORKER)
			continue;
		with += is_worker(&marked[i]);
		n += !is_worker(&marked[i]);
		without = is_worker(&marked[i]) ? without : i;
	}
	if (with == 0 || n == 0)
		return mem_copy("");
	return missing_text(trace, without, n, "role(worker) or role(task), which others were in");
}

/* True if it is one; else no_star says why not. */
static bool is_star(struct pattern *p, const struct trace *trace, const struct call_profile *calls,
		    const struct marked *marked, uint64_t messages)
{
	size_t workers = 0;
	uint32_t hub = find_hub(calls, marked);
	p->no_star = contradiction(trace, marked, hub);
	p->contradiction = p->no_star;
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
	if (!p->no_star) {
		char *missing = missing_workers(trace, p->role_of, marked);
		p->why = mem_format("all %" PRIu64 " messages are those of %zu processes that ask %s again and again, "
				    "and of its answers%s", messages, workers, name_of_process(trace, hub).text, missing);
		free(missing);
	}
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
			    name_of_process(trace, p->order[0]).text);
	return true;
}

/* ---- Stages that are marked ------------------------------------------------------------------ */

static uint32_t stage_of(const struct trace *trace, const struct marked *m)
{
	return has(m, DPROF_IN_ROLE_STAGE) ? trace->sites[m->of[DPROF_IN_ROLE_STAGE]].stage : 0;
}

static bool any_stage(const struct trace *trace, const struct marked *marked)
{
	bool any = false;
	for (uint32_t i = 0; i < trace->nprocesses; i++)
		any |= has(&marked[i], DPROF_IN_ROLE_STAGE);
	return any;
}

/* What is wrong with the marks of one process, or NULL. */
static char *contradictory_stage(const struct trace *trace, const struct marked *marked, uint32_t process)
{
	const struct marked *m = &marked[process];
	if (m->other_stage == TR_NO_SITE)
		return NULL;
	return mem_format("%s has contradictory roles: it was in %s, role(stage:%" PRIu32 "), and in %s, role(stage:%" PRIu32 ")",
			  name_of_process(trace, process).text,
			  site_name(trace, m->of[DPROF_IN_ROLE_STAGE]).text, stage_of(trace, m),
			  site_name(trace, m->other_stage).text, trace->sites[m->other_stage].stage);
}

/* The least stage that is greater, or 0. */
static uint32_t stage_behind(const struct trace *trace, const struct marked *marked, uint32_t stage)
{
	uint32_t next = 0;
	for (uint32_t i = 0; i < trace->nprocesses; i++) {
		uint32_t s = stage_of(trace, &marked[i]);
		next = s > stage && (!next || s < next) ? s : next;
	}
	return next;
}

/* What of the messages the marks contradict, or NULL: each goes to the next stage, or back from it. */
static char *contradictory_message(const struct trace *trace, const struct call_profile *calls, const struct marked *marked)
{
	for (size_t i = 0; i < calls->nmessages; i++) {
		const struct call_message *m = &calls->messages[i];
		uint32_t from = stage_of(trace, &marked[m->from]), to = stage_of(trace, &marked[m->to]);
		uint32_t low = from < to ? from : to, high = from < to ? to : from;
		if (from && to && (low == high || stage_behind(trace, marked, low) != high))
			return mem_format("roles contradict the messages: %s, role(stage:%" PRIu32 "), sends to %s, "
					  "role(stage:%" PRIu32 "), which is not next to it",
					  name_of_process(trace, m->from).text, from, name_of_process(trace, m->to).text, to);
	}
	uint32_t stage = stage_behind(trace, marked, 0), next;
	for (; (next = stage_behind(trace, marked, stage)) != 0; stage = next) {
		bool any = false;
		for (size_t i = 0; i < calls->nmessages; i++)
			any |= stage_of(trace, &marked[calls->messages[i].from]) == stage &&
			       stage_of(trace, &marked[calls->messages[i].to]) == next;
		if (!any)
			return mem_format("roles contradict the messages: nothing goes from role(stage:%" PRIu32 ") to "
					  "role(stage:%" PRIu32 ")", stage, next);
	}
	return NULL;
}

static char *contradictory_stages(const struct trace *trace, const struct call_profile *calls, const struct marked *marked)
{
	char *wrong = NULL;
	for (uint32_t i = 0; i < trace->nprocesses && !wrong; i++)
		wrong = contradictory_stage(trace, marked, i);
	return wrong ? wrong : contradictory_message(trace, calls, marked);
}

/* "; roles are missing: ...", of those who send or receive; or NULL: there is none missing. To be freed. */
static char *missing_stages(const struct trace *trace, const struct call_profile *calls, const struct marked *marked)
{
	uint32_t without = NO_PROCESS;
	size_t n = 0;
	for (uint32_t i = (uint32_t)trace->nprocesses; i-- > 0;) {
		bool communicates = false;
		for (size_t k = 0; k < calls->nmessages && !communicates; k++)
			communicates = calls->messages[k].from == i || calls->messages[k].to == i;
		if (!communicates || has(&marked[i], DPROF_IN_ROLE_STAGE))
			continue;
		without = i;
		n++;
	}
	return n ? missing_text(trace, without, n, "role(stage:K), which others were in") : NULL;
}

/* Processes by their stages. All have one. */
static void order_stages(struct pattern *p, const struct trace *trace, const struct marked *marked)
{
	for (uint32_t stage = 0; (stage = stage_behind(trace, marked, stage)) != 0;)
		for (uint32_t i = 0; i < trace->nprocesses; i++)
			if (stage_of(trace, &marked[i]) == stage) {
				*MEM_GROW(p->order, p->n) = i;
				p->stage_of[i] = stage;
			}
}

/* True: they are a chain. Else, if that is what marks say, there is a contradiction, or some are missing. */
static bool is_staged(struct pattern *p, const struct trace *trace, const struct call_profile *calls, const struct marked *marked,
		      char **missing, uint64_t messages)
{
	if (!any_stage(trace, marked))
		return false;
	p->why = contradictory_stages(trace, calls, marked);
	p->contradiction = p->why;
	*missing = p->why ? NULL : missing_stages(trace, calls, marked);
	if (p->why || *missing)
		return false;
	order_stages(p, trace, marked);
	p->why = mem_format("all %" PRIu64 " messages go from one of the stages that are marked to the next, or back: "
			    "%zu processes are in one", messages, p->n);
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

/* No two ways lead from one process to another if each pair joins two groups. */
static bool is_tree(struct pattern *p, const struct trace *trace, const struct call_profile *calls, uint64_t messages)
{
	uint32_t *group = joined_none(trace->nprocesses);
	bool tree = calls->nmessages < 2 * (size_t)trace->nprocesses;
	size_t joined = 0;
	for (size_t i = 0; i < calls->nmessages && tree; i++) {
		const struct call_message *m = &calls->messages[i];
		tree = m->from != m->to && count_back(calls, m) == m->count;
		if (!tree || m->from > m->to)
			continue;
		tree = joined_join(group, m->from, m->to);
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

/* With what is missing of their marks, if any. */
static bool is_marked_chain(struct pattern *p, const struct trace *trace, const struct call_profile *calls,
			    const char *missing, uint64_t messages)
{
	if (!is_chain(p, trace, calls, messages)) {
		forget_order(p);
		return false;
	}
	char *why = p->why;
	p->why = mem_format("%s%s", why, missing ? missing : "");
	free(why);
	return true;
}

static enum pattern_shape find_shape(struct pattern *p, const struct trace *trace, const struct call_profile *calls,
				     const struct marked *marked, uint64_t messages)
{
	char *missing = NULL;
	enum pattern_shape shape = SHAPE_NONE;
	if (is_staged(p, trace, calls, marked, &missing, messages)) {
		shape = SHAPE_CHAIN;
	} else if (!p->contradiction && is_star(p, trace, calls, marked, messages)) {
		shape = SHAPE_STAR;
	} else if (p->contradiction) {
		p->why = p->why ? p->why : mem_copy(p->contradiction);
	} else {
		shape = is_marked_chain(p, trace, calls, missing, messages) ? SHAPE_CHAIN
		      : is_tree(p, trace, calls, messages)                  ? SHAPE_TREE
									     : SHAPE_NONE;
		if (shape == SHAPE_NONE)
			p->why = mem_format("messages go neither to one process, nor along a chain or a tree%s",
					    missing ? missing : "");
	}
	if (shape == SHAPE_NONE)
		forget_order(p);
	free(missing);
	return shape;
}

void pattern_open(struct pattern *p, const struct trace *trace, const struct call_profile *calls)
{
	uint64_t messages = 0;
	size_t n = trace->nprocesses + 1;
	*p = (struct pattern){ .role_of = mem_zeroed(n, sizeof *p->role_of),
			       .stage_of = mem_zeroed(n, sizeof *p->stage_of) };
	for (size_t i = 0; i < calls->nmessages; i++)
		messages += calls->messages[i].count;
	if (messages == 0) {
		p->no_star = mem_copy("there are no messages");
		p->why = mem_copy(p->no_star);
		return;
	}
	struct marked *marked = find_marked(trace, calls);
	for (uint32_t i = 0; i < trace->nprocesses; i++)
		p->marked |= has(&marked[i], DPROF_IN_ROLE_MASTER) || is_worker(&marked[i]) || has(&marked[i], DPROF_IN_ROLE_STAGE);
	p->shape = find_shape(p, trace, calls, marked, messages);
	free(marked);
}

void pattern_close(struct pattern *p)
{
	free(p->why);
	free(p->no_star);
	free(p->role_of);
	free(p->stage_of);
	free(p->order);
}

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
struct pair { uint64_t asked, answered; };

static struct location_name name_of(const struct trace *trace, uint32_t process)
{
	for (size_t t = 0; t < trace->nthreads; t++)
		if (trace->threads[t].process == process)
			return rank_name(trace, t);
	return (struct location_name){ "" };
}

/* One side of all messages; of two that could be it the first that receives before it sends is not known, so none. */
static uint32_t find_hub(const struct call_profile *p)
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
	return !one ? NO_PROCESS : candidates[0] != NO_PROCESS ? candidates[0] : candidates[1];
}

static struct pair *find_pairs(const struct trace *trace, const struct call_profile *p, uint32_t hub)
{
	struct pair *pairs = mem_resize(NULL, trace->nprocesses + 1, sizeof *pairs);
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
static char *refuse(const struct trace *trace, const struct pair *pairs, size_t *workers)
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

void pattern_open(struct pattern *p, const struct trace *trace, const struct call_profile *calls)
{
	size_t workers = 0;
	uint64_t messages = 0;
	*p = (struct pattern){ .role_of = mem_resize(NULL, trace->nprocesses + 1, sizeof *p->role_of) };
	memset(p->role_of, 0, (trace->nprocesses + 1) * sizeof *p->role_of);
	for (size_t i = 0; i < calls->nmessages; i++)
		messages += calls->messages[i].count;
	uint32_t hub = find_hub(calls);
	if (messages == 0 || hub == NO_PROCESS) {
		p->why = mem_copy(messages ? "messages are not all to one process, or from it" : "there are no messages");
		return;
	}
	struct pair *pairs = find_pairs(trace, calls, hub);
	p->why = refuse(trace, pairs, &workers);
	p->master_worker = !p->why;
	for (uint32_t i = 0; i < trace->nprocesses && p->master_worker; i++)
		p->role_of[i] = i == hub ? ROLE_MASTER : pairs[i].asked ? ROLE_WORKER : ROLE_ANY;
	if (p->master_worker)
		p->why = mem_format("all %" PRIu64 " messages are those of %zu processes that ask %s again and again, and of its answers",
				    messages, workers, name_of(trace, hub).text);
	free(pairs);
}

void pattern_close(struct pattern *p)
{
	free(p->why);
	free(p->role_of);
}

/* SPDX-License-Identifier: MIT
 *
 * master_worker_facts.c - see master_worker_facts.h. */
#include "analysis/diagnose/master_worker_facts.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/base/memory.h"
#include "analysis/trace/names.h"

/* ---- The table ------------------------------------------------------------------------------- */

static struct worker sum_of(const struct master_worker *m)
{
	struct worker all = { .thread = UINT32_MAX };
	for (size_t i = 0; i < m->nworkers; i++) {
		const struct worker *w = &m->workers[i];
		all.life = time_add(all.life, w->life);
		all.wait = time_add(all.wait, w->wait);
		for (int k = 0; k < WORKER_METRICS; k++)
			all.metric[k] = time_add(all.metric[k], w->metric[k]);
	}
	return all;
}

static struct model_metric metric_of(const struct facts *f, const struct worker *w, const char *name, frz_time ticks)
{
	return facts_metric(f, w->thread, name, ticks, w->life, w->metric[WORKER_COMP]);
}

static void add_worker(const struct facts *f, const struct worker *w, struct model_metric **list, size_t *n)
{
	*MEM_GROW(*list, *n) = metric_of(f, w, "life", w->life);
	for (int k = 0; k < WORKER_METRICS; k++)
		*MEM_GROW(*list, *n) = metric_of(f, w, worker_metric_key((enum worker_metric)k), w->metric[k]);
	*MEM_GROW(*list, *n) = metric_of(f, w, "wait", w->wait);
}

size_t master_worker_metrics(const struct facts *f, const struct master_worker *m, struct model_metric **list)
{
	struct worker all = sum_of(m);
	size_t n = 0;
	*list = NULL;
	add_worker(f, &all, list, &n);
	for (size_t i = 0; i < m->nworkers; i++)
		add_worker(f, &m->workers[i], list, &n);
	return n;
}

/* ---- Facts ----------------------------------------------------------------------------------- */

static const char *name_of(const struct facts *f, uint32_t site, struct site_name *room)
{
	if (site >= f->trace->nsites)
		return site == TR_OUTSIDE ? OUTSIDE_CODE : "none";
	*room = facts_name(f->trace, site);
	return room->text;
}

/* Where what causes it happens, and on which thread. */
struct master_fact_place { uint32_t site, thread; };

/* The worker with most of it. */
static uint32_t longest_at(const struct master_worker *m, enum worker_metric metric)
{
	size_t most = 0;
	for (size_t i = 1; i < m->nworkers; i++)
		most = time_exceeds(m->workers[i].metric[metric], m->workers[most].metric[metric]) ? i : most;
	return m->workers[most].thread;
}

static struct master_fact_place place_of(const struct master_worker *m, const struct phase *phase, const char *metric)
{
	uint32_t first = longest_at(m, WORKER_INIT), last = longest_at(m, WORKER_FINAL);
	const struct { const char *name; struct master_fact_place at; } places[] = {
		{ "seq", { m->seq_site, m->master } }, { "setup", { m->setup_site, m->master } },
		{ "bottleneck", { m->busy_site, m->master } }, { "finalization", { m->task_site, m->last } },
		{ "init", { phase->threads[first].before, first } }, { "final", { phase->threads[last].behind, last } },
		{ "comp", { m->task_site, UINT32_MAX } }, { "comm", { m->assign_site, UINT32_MAX } },
	};
	for (size_t i = 0; i < sizeof places / sizeof *places; i++)
		if (strcmp(metric, places[i].name) == 0)
			return places[i].at;
	return (struct master_fact_place){ TR_NO_SITE, UINT32_MAX };
}

static void tell_metric(const struct facts *f, const struct master_worker *m, const struct phase *phase,
			const struct model_metric *x, struct expert *e)
{
	struct master_fact_place at = place_of(m, phase, x->name);
	struct site_name room;
	EXPERT_FACT(e, "metric", EXPERT_COUNT("worker", facts_thread(x->thread)),
		    EXPERT_TEXT("worker-name", facts_location(f->trace, x->thread).text), EXPERT_WORD("name", x->name),
		    EXPERT_RANGE("share", x->share), EXPERT_RANGE("lost", x->lost),
		    EXPERT_COUNT("region", facts_site(f->trace, at.site)),
		    EXPERT_TEXT("region-name", name_of(f, at.site, &room)),
		    EXPERT_COUNT("thread", facts_thread(at.thread)),
		    EXPERT_TEXT("thread-name", facts_location(f->trace, at.thread).text));
}

void master_worker_tell(const struct facts *f, const struct master_worker *m, const struct phase *phase,
			const struct model_metric *metrics, size_t count, struct expert *e)
{
	uint32_t base = f->times->time_base[f->trace->threads[0].clock];
	struct site_name room;
	EXPERT_FACT(e, "master-worker", EXPERT_COUNT("master", m->master),
		    EXPERT_TEXT("master-name", facts_location(f->trace, m->master).text),
		    EXPERT_COUNT("workers", (int64_t)m->nworkers),
		    EXPERT_COUNT("tasks", (int64_t)m->tasks), EXPERT_COUNT("last", m->last),
		    EXPERT_TEXT("last-name", facts_location(f->trace, m->last).text),
		    EXPERT_RANGE("task", times_seconds(f->times, base, m->task)),
		    EXPERT_RANGE("service", times_seconds(f->times, base, m->service)),
		    EXPERT_RANGE("message", times_seconds(f->times, base, m->message)),
		    EXPERT_RANGE("apart", facts_share(f, m->apart)),
		    EXPERT_RANGE("between", facts_share(f, m->between)),
		    EXPERT_RANGE("last-alone", facts_share(f, m->last_alone)),
		    EXPERT_COUNT("serves", facts_site(f->trace, m->service_site)),
		    EXPERT_TEXT("serves-name", name_of(f, m->service_site, &room)));
	for (size_t i = 0; i < count; i++)
		tell_metric(f, m, phase, &metrics[i], e);
}

/* SPDX-License-Identifier: MIT
 *
 * next_step.c - see next_step.h. */
#include "analysis/report/next_step.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/memory.h"
#include "analysis/base/shown.h"
#include "analysis/coz/coz.h"
#include "analysis/report/enclosing.h"
#include "analysis/report/profile_table.h"
#include "analysis/report/ranking.h"
#include "analysis/trace/names.h"

#define HALF (50 * UINT32_C(1000000)) /* percent, in millionths */

static const struct profile_row *row_of(const struct findings *f, const struct profile *p,
					uint32_t site)
{
	const struct tr_site *sites = f->trace->sites;
	for (size_t r = 0; site < f->trace->nsites && r < p->nrows; r++)
		if (p->rows[r].site < f->trace->nsites &&
		    strcmp(sites[p->rows[r].site].name, sites[site].name) == 0)
			return &p->rows[r];
	return NULL;
}

/* For the shell: as it is, or in quotes. */
static char *quoted(const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=.,:/@%";
	if (*word && word[strspn(word, plain)] == '\0')
		return mem_copy(word);
	char *text = mem_copy("'");
	for (; *word; word++) {
		char *longer = *word == '\'' ? mem_format("%s'\\''", text)
					     : mem_format("%s%c", text, *word);
		free(text);
		text = longer;
	}
	char *whole = mem_format("%s'", text);
	free(text);
	return whole;
}

/* "coz WHAT --rank 1 --thread 2 DIRECTORY" */
static char *command_for(const struct findings *f, const char *what, struct coz_location who)
{
	char *directory = quoted(f->trace->directory);
	int64_t of_rank = who.rank != COZ_ANY ? who.rank : who.pid;
	char *rank = of_rank != COZ_ANY ? mem_format(" --rank %" PRId64, of_rank) : mem_copy("");
	char *thread = who.thread != COZ_ANY ? mem_format(" --thread %" PRId64, who.thread) : mem_copy("");
	char *command = mem_format("dprof-analyze coz %s%s%s %s", what, rank, thread, directory);
	free(directory);
	free(rank);
	free(thread);
	return command;
}

char *next_step_command(const struct findings *f, const char *name)
{
	char *directory = quoted(f->trace->directory);
	char *command = mem_format("dprof-analyze %s %s", name, directory);
	free(directory);
	return command;
}

static size_t index_of_half(const struct profile *p)
{
	size_t i = 0;
	while (i < p->nreductions && p->reductions[i] != HALF)
		i++;
	return i;
}

/* Of several ranks the one that straggles, of the threads of a single one the thread; or all. */
static struct coz_location straggler(const struct findings *f)
{
	const struct ranked *who = ranking_worth_a_look(f);
	struct coz_location location = COZ_ALL;
	if (!who)
		return location;
	const struct tr_thread *self = &f->trace->threads[who->thread];
	if (f->ranks.count == 1)
		location.thread = self->number;
	if (f->trace->nprocesses > 1 && self->rank >= 0)
		location.rank = self->rank;
	else if (f->trace->nprocesses > 1)
		location.pid = (int64_t)f->trace->processes[self->process].pid;
	return location;
}

/* Whether the straggler's place is a region that says more than that it straggles. */
static bool has_region(const struct findings *f, const struct ranked *who)
{
	return who->mostly && tr_is(f->trace, who->site, OP_REGION) &&
	       !encloses_process(&f->totals, who->site, f->trace->threads[who->thread].process);
}

struct profile_aside next_step_asks(const struct findings *f)
{
	const struct ranked *who = ranking_worth_a_look(f);
	bool region = who && has_region(f, who);
	bool work = who && !region && who->site != TR_NO_SITE;
	bool automatic = region && f->trace->sites[who->site].automatic;
	return (struct profile_aside){ region ? who->site : work ? TR_ALL_WORK : TR_NO_SITE, work || automatic,
				       straggler(f), HALF };
}

/* Of one that straggles outside of all regions that say anything. */
static struct next_step all_work_of(const struct reply *r, const struct findings *f, const struct profile *p)
{
	struct coz_location who = straggler(f);
	if (p->aside[COZ_EXPECTED].lo < 1)
		return (struct next_step){ 0 };
	return (struct next_step){
		.advice = mem_format("Half of all work of %s would make the run %s, if nothing else changes.",
				     profile_who(who).text, profile_gains(r, p, p->aside, 2).text),
		.command = command_for(f, "--all-work", who), .gain = p->aside[COZ_EXPECTED] };
}

static struct next_step region_of(const struct reply *r, const struct findings *f, const struct profile *p, uint32_t site,
				  struct coz_location who, const struct interval gain[COZ_ANSWERS])
{
	if (gain[COZ_EXPECTED].lo < 1)
		return (struct next_step){ 0 };
	char *name = quoted(f->trace->sites[site].name), *what = mem_format("--region %s", name);
	const char *on = !coz_is_all(who) || f->ranks.count > 1 ? " on " : "";
	struct next_step step = {
		.advice = mem_format("Half the time in region %s%s%s would make the run %s, if nothing else changes.",
				     site_name(f->trace, site).text, on, *on ? profile_who(who).text : "",
				     profile_gains(r, p, gain, 2).text),
		.command = command_for(f, what, who), .named = shown_width(name, strlen(name)), .gain = gain[COZ_EXPECTED] };
	free(name);
	free(what);
	return step;
}

char *next_step_without(const struct reply *r, const struct findings *f, const struct profile *p)
{
	struct coz_location who = straggler(f);
	if (!p->possible || !p->asked_aside || coz_is_all(who))
		return NULL;
	return mem_format("If no work on %s took any time, the run would be %s.", profile_who(who).text,
			  profile_gains(r, p, p->without, 2).text);
}

/* Where the straggler mostly works while all others wait. */
static struct next_step step_there(const struct reply *r, const struct findings *f, const struct profile *p, uint32_t site)
{
	struct next_step step = region_of(r, f, p, site, straggler(f), p->aside);
	if (step.advice && f->any_wait && ranking_worth_a_look(f)->proved)
		step.there = mem_format("Halved there: %s, if nothing else changes.", profile_gains(r, p, p->aside, 2).text);
	return step;
}

struct next_step next_step(const struct reply *r, const struct findings *f, const struct profile *p)
{
	struct next_step none = { 0 };
	const struct ranked *who = ranking_worth_a_look(f);
	const struct profile_row *row = NULL;
	size_t half = index_of_half(p);
	if (!p->possible || p->nrows == 0 || half == p->nreductions)
		return none;
	if (who && who->site != TR_NO_SITE)
		return has_region(f, who) ? step_there(r, f, p, who->site) : all_work_of(r, f, p);
	if (f->ranks.count == 1)
		row = row_of(f, p, f->ranks.list[0].site);
	if (row && encloses_run(&f->totals, row->site))
		row = NULL;
	for (size_t i = 0; !row && i < p->nrows; i++)
		if (p->rows[i].site < f->trace->nsites && !encloses_run(&f->totals, p->rows[i].site))
			row = &p->rows[i];
	if (!row)
		return none;
	struct interval gain[COZ_ANSWERS];
	for (int answer = 0; answer < COZ_ANSWERS; answer++)
		gain[answer] = row->gain[answer].percent[half];
	return region_of(r, f, p, row->site, COZ_ALL, gain);
}

/* ---- What the diagnosis says ------------------------------------------------------------------ */

static struct coz_location location_of(const struct findings *f, uint32_t thread)
{
	struct coz_location location = COZ_ALL;
	if (thread >= f->trace->nthreads)
		return location;
	const struct tr_thread *self = &f->trace->threads[thread];
	const struct tr_process *process = &f->trace->processes[self->process];
	if (f->trace->nthreads > f->trace->nprocesses)
		location.thread = self->number;
	if (f->trace->nprocesses > 1 && self->rank >= 0)
		location.rank = self->rank;
	else if (f->trace->nprocesses > 1)
		location.pid = (int64_t)process->pid;
	return location;
}

static char *less_of(const struct findings *f, const struct diagnosis_finding *d, struct coz_location who)
{
	char *where = d->ask_site < f->trace->nsites ? mem_format("time in region %s", site_name(f->trace, d->ask_site).text)
						     : mem_copy("work");
	char *on = !coz_is_all(who) || f->ranks.count > 1 ? mem_format(" on %s", profile_who(who).text) : mem_copy("");
	char *text = mem_format("%u %% less %s%s", d->ask_percent, where, on);
	free(where);
	free(on);
	return text;
}

void next_step_prefer(struct next_step *step, const struct reply *r, const struct findings *f, const struct profile *p,
		      const struct diagnosis *d)
{
	const struct diagnosis_finding *first = d->nfindings ? d->findings : NULL;
	if (!first || !first->proved || !first->asked || first->expected.lo <= step->gain.hi + 1)
		return;
	struct coz_location who = location_of(f, first->ask_thread);
	const struct interval gain[COZ_ANSWERS] = { [COZ_EXPECTED] = first->expected, [COZ_PROVED] = first->bought };
	char *less = less_of(f, first, who);
	char *name = first->ask_site < f->trace->nsites ? quoted(f->trace->sites[first->ask_site].name) : NULL;
	char *what = name ? mem_format("--region %s", name) : mem_copy("--all-work");
	next_step_close(step);
	*step = (struct next_step){
		.first = mem_format("%s %% of all threads' time: %s (proved).", reply_interval(r, first->cost, 1).text,
				    first->what),
		.advice = mem_format("%s would make the run %s, if nothing else changes.", less, profile_gains(r, p, gain, 2).text),
		.command = command_for(f, what, who), .named = name ? shown_width(name, strlen(name)) : 0, .gain = first->expected };
	free(less);
	free(name);
	free(what);
}

void next_step_close(struct next_step *step)
{
	free(step->first);
	free(step->advice);
	free(step->there);
	free(step->command);
}

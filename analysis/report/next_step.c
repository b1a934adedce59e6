/* SPDX-License-Identifier: MIT
 *
 * next_step.c - see next_step.h. */
#include "analysis/report/next_step.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/memory.h"
#include "analysis/coz/coz.h"
#include "analysis/report/standings.h"
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

static char *command_for(const struct findings *f, const char *region, int64_t rank)
{
	char *name = quoted(region), *directory = quoted(f->trace->directory);
	char *there = rank >= 0 ? mem_format(" --rank %" PRId64, rank) : mem_copy("");
	char *command = mem_format("dprof-analyze coz --region %s%s %s", name, there, directory);
	free(name);
	free(directory);
	free(there);
	return command;
}

static size_t index_of_half(const struct profile *p)
{
	size_t i = 0;
	while (i < p->nreductions && p->reductions[i] != HALF)
		i++;
	return i;
}

/* The rank among several that straggles, or COZ_ALL_RANKS. */
static int64_t straggling_rank(const struct findings *f)
{
	const struct standing *who = standings_worth_a_look(f);
	int64_t rank = who && f->ranks.count > 1 ? f->trace->threads[who->thread].rank : -1;
	return rank >= 0 ? rank : COZ_ALL_RANKS;
}

struct profile_aside next_step_asks(const struct findings *f)
{
	const struct standing *who = standings_worth_a_look(f);
	int64_t rank = straggling_rank(f);
	bool region = rank != COZ_ALL_RANKS && who->site < f->trace->nsites;
	bool work = rank != COZ_ALL_RANKS && who->site == TR_OUTSIDE;
	return (struct profile_aside){ region ? who->site : work ? TR_ALL_WORK : TR_NO_SITE, rank, HALF };
}

/* Of a rank that straggles where it has no marks. */
static struct next_step all_work_of(const struct findings *f, const struct profile *p, int64_t rank)
{
	if (rank == COZ_ALL_RANKS || p->aside.lo < 1)
		return (struct next_step){ NULL, NULL };
	char *directory = quoted(f->trace->directory);
	struct next_step step = {
		mem_format("Half of all work of rank %" PRId64 " would make the run %s %% shorter, if nothing "
			   "else changes.", rank, interval_range(p->aside, 2).text),
		mem_format("dprof-analyze coz --all-work --rank %" PRId64 " %s", rank, directory) };
	free(directory);
	return step;
}

struct next_step next_step(const struct findings *f, const struct profile *p)
{
	struct next_step none = { NULL, NULL };
	const struct standing *who = standings_worth_a_look(f);
	const struct profile_row *row = NULL;
	size_t half = index_of_half(p);
	if (!p->possible || p->nrows == 0 || half == p->nreductions)
		return none;
	if (who && who->site == TR_OUTSIDE)
		return all_work_of(f, p, straggling_rank(f));
	if (who)
		row = row_of(f, p, who->site);
	else if (f->ranks.count == 1)
		row = row_of(f, p, f->ranks.list[0].site);
	int64_t rank = who && row ? straggling_rank(f) : COZ_ALL_RANKS;
	for (size_t r = 0; !row && r < p->nrows; r++)
		row = p->rows[r].site < f->trace->nsites ? &p->rows[r] : NULL;
	if (!row)
		return none;
	struct interval gain = rank == COZ_ALL_RANKS ? row->percent[half] : p->aside;
	if (gain.lo < 1)
		return none;
	char *where = rank != COZ_ALL_RANKS ? mem_format(" on rank %" PRId64, rank)
					    : mem_copy(f->ranks.count > 1 ? " on all ranks" : "");
	struct next_step step = {
		mem_format("Half the time in region %s%s would make the run %s %% shorter, if nothing else changes.",
			   site_name(f->trace, row->site).text, where, interval_range(gain, 2).text),
		command_for(f, f->trace->sites[row->site].name, rank) };
	free(where);
	return step;
}

void next_step_close(struct next_step *step)
{
	free(step->sentence);
	free(step->command);
}

/* SPDX-License-Identifier: MIT
 *
 * periods.c - see periods.h. Sites stand there plus 3, so that those that are none are small numbers, too. */
#include "analysis/states/periods.h"

#include <stdlib.h>

#include "analysis/base/memory.h"
#include "analysis/base/progress.h"
#include "analysis/base/shown.h"

#define SITE_AS 3

static void open_one(struct periods *p, const struct trace *trace)
{
	*p = (struct periods){ .store = store_open(0, trace->nthreads), .nthreads = trace->nthreads,
			       .of_thread = mem_resize(NULL, trace->nthreads + 1, sizeof *p->of_thread) };
	for (size_t i = 0; i < trace->nthreads; i++)
		p->of_thread[i] = NULL;
}

void periods_open(struct periods *p, const struct trace *trace)
{
	open_one(p, trace);
	p->within = mem_resize(NULL, 1, sizeof *p->within);
	open_one(p->within, trace);
}

void periods_close(struct periods *p)
{
	if (p->within)
		periods_close(p->within);
	free(p->within);
	for (size_t i = 0; i < p->nthreads; i++)
		blocks_close(p->of_thread[i]);
	free(p->of_thread);
	store_close(p->store);
}

void periods_begin(struct tr_writer *w)
{
	store_begin(w, NULL);
}

void periods_add(struct tr_writer *w, const struct period_begin *p, size_t n)
{
	for (size_t done = 0; done < n;) {
		struct store_room room = store_room(w);
		size_t some = n - done < room.n ? n - done : room.n;
		for (size_t i = 0; i < some; i++) {
			room.what[i] = p[done + i].may;
			room.stamp[i] = p[done + i].from;
			room.value[i] = (uint32_t)(p[done + i].site + SITE_AS);
		}
		store_filled(w, some);
		done += some;
	}
}

void periods_end(struct periods *p, struct tr_writer *w, size_t thread)
{
	p->of_thread[thread] = store_end(w);
}

void periods_finish(struct periods *p, const struct trace *trace)
{
	const char *kept_in_memory;
	if (p->within)
		periods_finish(p->within, trace);
	store_finish(p->store, &kept_in_memory);
	if (kept_in_memory && !(trace->store && store_error(trace->store)))
		shown_complain("no temporary file has room for what threads do over time (%s): it stays in memory; set "
			       "TMPDIR to a directory with room", kept_in_memory);
}

uint64_t periods_count(const struct periods *p)
{
	uint64_t n = 0;
	for (size_t i = 0; i < p->nthreads; i++)
		n += p->of_thread[i]->n;
	return n;
}

struct period_cursor periods_cursor(const struct periods *p, size_t thread)
{
	const struct tr_blocks *b = p->of_thread[thread];
	return (struct period_cursor){ .periods = p, .blocks = b,
				       .begin = mem_resize(NULL, b->most, sizeof(struct period_begin)) };
}

void period_cursor_close(struct period_cursor *c)
{
	free(c->begin);
}

bool period_read_block(struct period_cursor *c)
{
	uint64_t block[BLOCK_BYTES(STORE_EVENTS, 2 * STORE_EVENTS) / sizeof(uint64_t)];
	uint64_t stamp[STORE_EVENTS], site[2 * STORE_EVENTS];
	uint32_t may[STORE_EVENTS];
	if (c->block == c->blocks->nblocks)
		return false;
	store_read(c->periods->store, &c->blocks->block[c->block++], block);
	c->n = block_columns(block, may, stamp, site).n;
	for (size_t i = 0; i < c->n; i++)
		c->begin[i] = (struct period_begin){ stamp[i], (uint32_t)site[i] - SITE_AS, (uint8_t)may[i] };
	c->next = 0;
	if (c->periods->within)
		progress_add(c->n);
	return true;
}

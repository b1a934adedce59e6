/* SPDX-License-Identifier: MIT
 *
 * csv.c - events as RFC 4180 has it: fields with quotes, commas or line feeds are quoted, quotes doubled. */
#define _GNU_SOURCE /* unlocked streams */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/decimal.h"
#include "analysis/base/memory.h"
#include "analysis/export/export.h"

const char *export_site_name(const struct trace *t, uint32_t site)
{
	return site < t->nsites ? t->sites[site].name : "?";
}

/* ---- What is the same for many lines --------------------------------------------------------- */


static void add(FILE *out, const char *field)
{
	bool quoted = field[strcspn(field, "\",\r\n")] != 0;
	if (!quoted) {
		fputs(field, out);
		return;
	}
	putc('"', out);
	for (; *field; field++) {
		if (*field == '"')
			putc('"', out);
		putc(*field, out);
	}
	putc('"', out);
}

/* ",kind,name,file,line" of each site, the last one for those that are missing; to be freed. */
static char **site_fields(const struct trace *t)
{
	char **fields = mem_resize(NULL, t->nsites + 1, sizeof *fields);
	for (size_t i = 0; i < t->nsites; i++) {
		const struct tr_site *s = &t->sites[i];
		size_t size;
		FILE *out = mem_stream(&fields[i], &size);
		fprintf(out, ",%s,", tr_kind_word(s->kind));
		add(out, s->name);
		putc(',', out);
		add(out, s->file);
		fprintf(out, ",%" PRIu32, s->line);
		mem_stream_close(out);
	}
	fields[t->nsites] = mem_copy(",,,,");
	return fields;
}

/* ---- Lines ----------------------------------------------------------------------------------- */

struct csv_line { char text[512], *end; };

static void add_comma(struct csv_line *l)
{
	*l->end++ = ',';
}

struct csv_writer {
	FILE *out;
	const struct trace *trace;
	struct moments moments;  /* only its begin and unit */
	char **sites;
	struct frz_cursor clock;
	bool placed;
	char *who;               /* "thread,rank" */
};

/* In ns, outward. */
static void add_times(struct csv_line *l, struct csv_writer *w, uint64_t stamp)
{
	frz_time at = time_apart((frz_time){ w->moments.begin, w->moments.begin }, frz_time_of(&w->clock, stamp));
	long double ghz = w->moments.ghz;
	add_comma(l);
	if (at.lo != INT64_MIN) {
		int64_t lo = (int64_t)((long double)at.lo / ghz) - 1;
		l->end = decimal_put(l->end, lo > 0 ? lo : 0); /* nothing is before the run's begin */
	}
	add_comma(l);
	if (at.hi != INT64_MAX)
		l->end = decimal_put(l->end, (int64_t)((long double)at.hi / ghz) + 1);
}

static void put_event(struct csv_writer *w, const struct tr_columns *k, size_t i)
{
	static const char *const ops[] = {
		[DPROF_ENTER] = ",enter", [DPROF_EXIT] = ",exit", [DPROF_POINT] = ",point", [DPROF_LOST] = ",lost"
	};
	static const enum dprof_key keys[] = { DPROF_KEY_PEER, DPROF_KEY_TAG, DPROF_KEY_BYTES, DPROF_KEY_GROUP, DPROF_KEY_SEQ };
	const struct tr_what *what = trace_what(w->trace, k, i);
	size_t site = what->site < w->trace->nsites ? what->site : w->trace->nsites;
	struct csv_line l;
	fputs_unlocked(w->who, w->out);
	fputs_unlocked(ops[what->op], w->out);
	fputs_unlocked(w->sites[site], w->out);
	l.end = l.text;
	if (w->placed && what->op != DPROF_LOST)
		add_times(&l, w, k->stamp[i]);
	else
		l.end = stpcpy(l.end, ",,");
	for (size_t a = 0; a < sizeof keys / sizeof *keys; a++) {
		add_comma(&l);
		if (what->keys >> keys[a] & 1)
			l.end = decimal_put(l.end, (int64_t)trace_value(w->trace, k, i, keys[a], 0));
	}
	*l.end++ = '\n';
	fwrite_unlocked(l.text, 1, (size_t)(l.end - l.text), w->out);
}

static void put_thread(struct csv_writer *w, uint32_t thread)
{
	const struct tr_thread *t = &w->trace->threads[thread];
	struct tr_cursor cursor = trace_events(w->trace, thread);
	w->placed = w->moments.times->time_base[t->clock] == 0;
	if (w->placed)
		w->clock = times_cursor(w->moments.times, t->clock);
	w->who = t->rank >= 0 ? mem_format("%" PRIu32 ",%" PRId64, thread, t->rank) : mem_format("%" PRIu32 ",", thread);
	for (struct tr_columns k; trace_columns(&cursor, &k);)
		for (size_t i = 0; i < k.n; i++)
			put_event(w, &k, i);
	free(w->who);
	trace_end(&cursor);
}

void export_csv(FILE *out, const struct trace *trace, const struct times *times)
{
	struct csv_writer w = { .out = out, .trace = trace, .moments = moments_unit(trace, times), .sites = site_fields(trace) };
	fputs("thread,rank,op,kind,name,file,line,time_lo_ns,time_hi_ns,peer,tag,bytes,group,seq\n", out);
	for (uint32_t t = 0; t < trace->nthreads; t++)
		put_thread(&w, t);
	for (size_t i = 0; i <= trace->nsites; i++)
		free(w.sites[i]);
	free(w.sites);
}

/* SPDX-License-Identifier: MIT
 *
 * callgrind.c - the call tree as callgrind's profile format 1 (https://valgrind.org/docs/manual/cl-format.html), for
 * callgrind_annotate and KCachegrind: regions and operations are functions, cost is time in ns. Of intervals it is the
 * middle, or the lower end of those that have no upper one; what a call costs is what is in it, so that sums are
 * equal. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/base/memory.h"
#include "analysis/export/export.h"

struct callgrind_writer {
	FILE *out;
	const struct call_profile *p;
	const struct trace *trace;
	double ghz;
	bool *named;             /* of each site, and what is none */
	int64_t *inclusive;      /* ns, of each node */
	uint32_t *children, *next; /* of each node: the first; its parent's next; CALL_ROOT */
};

static int64_t middle_ns(const struct callgrind_writer *w, frz_time x)
{
	int64_t middle = isfinite(interval_seconds(x, w->ghz).hi) ? time_middle(x) : x.lo;
	return (int64_t)((double)middle / w->ghz);
}

static int64_t self_ns(const struct callgrind_writer *w, const struct call_node *n)
{
	return middle_ns(w, n->spread.all.exclusive);
}

/* Parents stand first. */
static void find_inclusive(struct callgrind_writer *w)
{
	for (size_t i = w->p->nnodes; i-- > 0;) {
		const struct call_node *n = &w->p->nodes[i];
		w->inclusive[i] += self_ns(w, n);
		if (n->parent == CALL_ROOT)
			continue;
		w->inclusive[n->parent] += w->inclusive[i];
		w->next[i] = w->children[n->parent];
		w->children[n->parent] = (uint32_t)i;
	}
}

/* What callgrind itself calls what it does not know: readers take no empty name. */
static const char *known_or_not(const char *name)
{
	return *name ? name : "???";
}

/* A name has a number in brackets, and stands behind it the first time: so it may begin with a bracket itself. */
static void put_name(struct callgrind_writer *w, const char *file_key, const char *name_key, uint32_t site)
{
	uint32_t number = site < w->trace->nsites ? site : (uint32_t)w->trace->nsites + (site == TR_OUTSIDE);
	bool known = site < w->trace->nsites;
	fprintf(w->out, "%s=(%" PRIu32 ")", file_key, number + 1);
	if (!w->named[number])
		fprintf(w->out, " %s", known_or_not(known ? w->trace->sites[site].file : ""));
	fprintf(w->out, "\n%s=(%" PRIu32 ")", name_key, number + 1);
	if (!w->named[number])
		fprintf(w->out, " %s", known_or_not(known ? w->trace->sites[site].name : site == TR_OUTSIDE ? "all threads" : ""));
	putc('\n', w->out);
	w->named[number] = true;
}

static uint32_t line_of(const struct callgrind_writer *w, uint32_t site)
{
	return site < w->trace->nsites ? w->trace->sites[site].line : 0;
}

static void put_node(struct callgrind_writer *w, size_t i)
{
	const struct call_node *n = &w->p->nodes[i];
	putc('\n', w->out);
	put_name(w, "fl", "fn", n->site);
	fprintf(w->out, "%" PRIu32 " %" PRId64 "\n", line_of(w, n->site), self_ns(w, n));
	for (uint32_t c = w->children[i]; c != CALL_ROOT; c = w->next[c]) {
		const struct call_node *child = &w->p->nodes[c];
		put_name(w, "cfl", "cfn", child->site);
		fprintf(w->out, "calls=%" PRIu64 " %" PRIu32 "\n%" PRIu32 " %" PRId64 "\n", child->spread.all.visits,
			line_of(w, child->site), line_of(w, n->site), w->inclusive[c]);
	}
}

void export_callgrind(FILE *out, const struct call_profile *p, const struct moments *m)
{
	struct callgrind_writer w = { out, p, m->trace, m->ghz, mem_resize(NULL, m->trace->nsites + 2, sizeof *w.named),
			    mem_resize(NULL, p->nnodes, sizeof *w.inclusive), mem_resize(NULL, p->nnodes, sizeof *w.children),
			    mem_resize(NULL, p->nnodes, sizeof *w.next) };
	int64_t all = 0;
	for (size_t i = 0; i < m->trace->nsites + 2; i++)
		w.named[i] = false;
	for (size_t i = 0; i < p->nnodes; i++) {
		w.inclusive[i] = 0;
		w.children[i] = w.next[i] = CALL_ROOT;
		all += self_ns(&w, &p->nodes[i]);
	}
	find_inclusive(&w);
	fprintf(out, "# callgrind format\nversion: 1\ncreator: dprof\ncmd: %s\npositions: line\nevents: ns\nsummary: %" PRId64 "\n",
		m->trace->nprocesses ? m->trace->processes[0].program : "?", all);
	for (size_t i = 0; i < p->nnodes; i++)
		put_node(&w, i);
	fprintf(out, "\ntotals: %" PRId64 "\n", all);
	free(w.named);
	free(w.inclusive);
	free(w.children);
	free(w.next);
}

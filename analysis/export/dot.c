/* SPDX-License-Identifier: MIT
 *
 * dot.c - the call tree for Graphviz: how much of the time of all threads, of each while it was there, each path takes, and
 * how much of that by itself and in waiting. What takes less than DOT_LEAST percent is left out. */
#include <inttypes.h>

#include "analysis/export/export.h"
#include "analysis/trace/names.h"

#define DOT_LEAST 0.5
#define DOT_NAME  SITE_NAME_ROOM

/* Within quotes: what may be shown has nothing else that means something there. */
static void put_text(FILE *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			putc('\\', out);
		putc(*text, out);
	}
}

static struct interval share(const struct call_profile *p, frz_time ticks)
{
	return interval_percent(ticks, p->nodes[0].spread.all.inclusive);
}

static bool is_shown(const struct call_profile *p, const struct call_node *n)
{
	return n->parent == CALL_ROOT || share(p, n->spread.all.inclusive).hi >= DOT_LEAST;
}

static const char *name_of(const struct trace *t, uint32_t site, struct site_name *room)
{
	if (site >= t->nsites)
		return site == TR_OUTSIDE ? "all threads" : "?";
	*room = site_name_within(t, site, DOT_NAME);
	return room->text;
}

/* The more it takes itself, the darker: one hue, so that no colours need to be told apart. */
static void put_node(FILE *out, const struct call_profile *p, const struct trace *t, size_t i)
{
	const struct call_node *n = &p->nodes[i];
	const struct call_sums *s = &n->spread.all;
	struct site_name room;
	struct interval self = share(p, s->exclusive);
	fprintf(out, "\tn%zu [label=\"", i);
	put_text(out, name_of(t, n->site, &room));
	fprintf(out, "\\n%s %%", interval_shown(share(p, s->inclusive), 1).text);
	fprintf(out, "\\nself %s %%", interval_shown(self, 1).text);
	if (s->waited.hi > 0)
		fprintf(out, "\\nwaiting %s %%", interval_shown(share(p, s->waited), 1).text);
	fprintf(out, "\", fillcolor=\"0.09 %.2f 1\"];\n", (self.lo + self.hi) / 200);
	if (n->parent != CALL_ROOT)
		fprintf(out, "\tn%" PRIu32 " -> n%zu [label=\"%" PRIu64 "\"];\n", n->parent, i, s->visits);
}

void export_dot(FILE *out, const struct call_profile *p, const struct moments *m)
{
	fputs("digraph calls {\n\tnode [shape=box, style=filled, fontname=\"sans-serif\"];\n\tedge [fontname=\"sans-serif\"];\n", out);
	for (size_t i = 0; i < p->nnodes; i++)
		if (is_shown(p, &p->nodes[i])) /* and so is what it is in, which takes no less */
			put_node(out, p, m->trace, i);
	fputs("}\n", out);
}

/* SPDX-License-Identifier: MIT
 *
 * edges.c - a list of edges in a file, as SNAP writes graphs.
 *
 * The ids that occur are marked in a bitmap; the number of a node is how many marks stand before
 * its own, which takes one look at a counter for each CELL bits and a few population counts. */
#include "examples/common/edges.h"

#include <inttypes.h>
#include <stdlib.h>

#include "examples/common/lines.h"

enum { WORDS = 8, CELL = 64 * WORDS }; /* of a cell: its words and bits */

struct bitmap {
	size_t cells;
	uint64_t (*word)[WORDS];
	uint32_t *before; /* how many bits are set before each cell */
};

/* ---- Lines ---------------------------------------------------------------------------------- */

static bool read_id(struct lines *l, const char **at, uint32_t *id)
{
	const char *from = *at, *s;
	uint64_t value = 0;
	while (*from == ' ' || *from == '\t')
		from++;
	for (s = from; *s >= '0' && *s <= '9' && value <= UINT32_MAX; s++)
		value = 10 * value + (uint64_t)(*s - '0');
	if (s == from || value > UINT32_MAX || (*s && *s != ' ' && *s != '\t')) {
		int length = 0;
		while (length < 40 && from[length] && from[length] != ' ' && from[length] != '\t')
			length++;
		return lines_refuse(l, "expected the id of a node, 0 to %" PRIu32
				    ", in column %td, found \"%.*s\"",
				    UINT32_MAX, from - l->text + 1, length, from);
	}
	*id = (uint32_t)value;
	*at = s;
	return true;
}

static bool append(struct edge_list *e, size_t *room, struct lines *l, struct edge edge)
{
	if (e->count == *room) {
		size_t wanted = *room ? 2 * *room : 1 << 16;
		struct edge *list = reallocarray(e->edge, wanted, sizeof *list);
		if (!list)
			return lines_refuse(l, "no memory for more than %zu edges", e->count);
		e->edge = list;
		*room = wanted;
	}
	e->edge[e->count++] = edge;
	return true;
}

/* The edge on the line that was just read, if there is one. */
static bool add_line(struct edge_list *e, size_t *room, struct lines *l)
{
	const char *at = l->text;
	while (*at == ' ' || *at == '\t')
		at++;
	if (!*at || *at == '#')
		return true;
	struct edge edge;
	if (!read_id(l, &at, &edge.from) || !read_id(l, &at, &edge.to))
		return false;
	while (*at == ' ' || *at == '\t')
		at++;
	if (*at)
		return lines_refuse(l, "expected two ids, found more in column %td",
				    at - l->text + 1);
	return append(e, room, l, edge);
}

/* ---- Numbers -------------------------------------------------------------------------------- */

static void mark(struct bitmap *b, uint32_t id)
{
	b->word[id / CELL][id % CELL / 64] |= (uint64_t)1 << id % 64;
}

static uint32_t number_of(const struct bitmap *b, uint32_t id)
{
	const uint64_t *word = b->word[id / CELL];
	uint32_t last = id % CELL / 64, n = b->before[id / CELL];
	for (uint32_t w = 0; w < last; w++)
		n += (uint32_t)__builtin_popcountll(word[w]);
	return n + (uint32_t)__builtin_popcountll(word[last] & (((uint64_t)1 << id % 64) - 1));
}

/* Counts the marks. */
static size_t count_marks(struct bitmap *b)
{
	size_t marks = 0;
	for (size_t c = 0; c < b->cells; c++) {
		b->before[c] = (uint32_t)marks;
		for (int w = 0; w < WORDS; w++)
			marks += (size_t)__builtin_popcountll(b->word[c][w]);
	}
	return marks;
}

static void list_ids(const struct bitmap *b, uint32_t *id)
{
	for (size_t c = 0; c < b->cells; c++)
		for (uint32_t w = 0; w < WORDS; w++)
			for (uint64_t bits = b->word[c][w]; bits; bits &= bits - 1)
				*id++ = (uint32_t)(c * CELL) + 64 * w +
					(uint32_t)__builtin_ctzll(bits);
}

/* The edges have ids; gives them numbers instead. False when there is no memory. */
static bool number_nodes(struct edge_list *e)
{
	uint32_t greatest = 0;
	for (size_t i = 0; i < e->count; i++) {
		uint32_t from = e->edge[i].from, to = e->edge[i].to;
		uint32_t id = from > to ? from : to;
		greatest = id > greatest ? id : greatest;
	}
	struct bitmap b = { .cells = greatest / CELL + 1 };
	b.word = calloc(b.cells, sizeof *b.word);
	b.before = calloc(b.cells, sizeof *b.before);
	if (b.word && b.before) {
		for (size_t i = 0; i < e->count; i++) {
			mark(&b, e->edge[i].from);
			mark(&b, e->edge[i].to);
		}
		e->nodes = count_marks(&b);
		e->id = reallocarray(NULL, e->nodes, sizeof *e->id);
	}
	if (e->id) {
		list_ids(&b, e->id);
		for (size_t i = 0; i < e->count; i++)
			e->edge[i] = (struct edge){ number_of(&b, e->edge[i].from),
						    number_of(&b, e->edge[i].to) };
	}
	free(b.word);
	free(b.before);
	return e->id;
}

bool edges_read(struct edge_list *e, const char *name)
{
	struct lines l;
	size_t room = 0;
	*e = (struct edge_list){ 0 };
	if (lines_open(&l, name))
		while (lines_next(&l) && add_line(e, &room, &l))
			;
	if (!l.refused && !e->count)
		lines_refuse(&l, "expected edges, found none");
	lines_close(&l);
	if (!l.refused && !number_nodes(e))
		lines_refuse(&l, "no memory to number the nodes");
	return !l.refused;
}

void edges_free(struct edge_list *e)
{
	free(e->edge);
	free(e->id);
	e->edge = NULL;
	e->id = NULL;
}

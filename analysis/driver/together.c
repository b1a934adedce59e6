/* SPDX-License-Identifier: MIT
 *
 * together.c - see together.h: the steps of trace_parts.h, and what is said between them. */
#include "analysis/driver/together.h"

#include <stdlib.h>

#include "analysis/base/memory.h"
#include "analysis/base/pool.h"
#include "analysis/base/shown.h"
#include "analysis/driver/cores.h"
#include "analysis/driver/shares.h"

struct together {
	const struct peers *peers;
	bool elsewhere;
	size_t jobs;
	struct opened_trace *o;
	struct sight *sights;    /* of each process, in the first one; else only its own */
	struct cores *cores;     /* likewise */
	struct shares shares;
	size_t *jobs_of;         /* each process, while it reads */
};

static bool is_first(const struct together *g)
{
	return g->peers->rank == 0;
}

/* ---- What each process sees ------------------------------------------------------------------ */

static void move_files(struct tr_pipe *p, struct part_file **files, size_t *n)
{
	PIPE_ARRAY(p, *files, *n);
	for (size_t i = 0; i < *n; i++) {
		char *name = p->sends ? (*files)[i].name : NULL;
		pipe_string(p, &name);
		(*files)[i].name = name;
	}
}

static void move_sight(struct sight *s, struct cores *c, struct tr_pipe *p)
{
	move_files(p, &s->files, &s->n);
	pipe_string(p, &s->why);
	cores_move(c, p);
	s->host = c->machine;
}

static void free_sights(struct together *g)
{
	for (int i = 0; i < (is_first(g) ? g->peers->size : 1); i++) {
		part_free_files(g->sights[i].files, g->sights[i].n);
		free(g->sights[i].why);
		free(g->cores[i].machine);
	}
	free(g->sights);
	free(g->cores);
}

/* All of it comes to the first process. */
static void look(struct together *g, const char *directory)
{
	size_t n = is_first(g) ? (size_t)g->peers->size : 1;
	struct peer_pipe p;
	g->sights = mem_zeroed(n, sizeof *g->sights);
	g->cores = mem_zeroed(n, sizeof *g->cores);
	g->o = part_list(directory, &g->sights[0].why);
	g->sights[0].files = part_seen(g->o, &g->sights[0].n);
	g->cores[0] = cores_own();
	g->sights[0].host = g->cores[0].machine;
	if (!is_first(g)) {
		peer_send(&p, g->peers, 0);
		move_sight(&g->sights[0], &g->cores[0], &p.pipe);
		peer_close(&p);
	}
	for (int i = 1; is_first(g) && i < g->peers->size; i++) {
		peer_receive(&p, g->peers, i);
		move_sight(&g->sights[i], &g->cores[i], &p.pipe);
		peer_close(&p);
	}
}

/* ---- Who reads what -------------------------------------------------------------------------- */

static void choose(struct together *g)
{
	size_t n = (size_t)g->peers->size;
	g->shares = shares_make(g->sights, n, g->elsewhere);
	for (size_t i = 0; i < n; i++)
		g->jobs_of[i] = g->jobs ? g->jobs : cores_share(g->cores, n, i);
}

static void move_shares(void *of, struct tr_pipe *p)
{
	struct together *g = of;
	size_t processes = (size_t)g->peers->size;
	move_files(p, &g->shares.files, &g->shares.n);
	size_t n = g->shares.n;
	if (!p->sends) {
		g->shares.has = mem_resize(NULL, n, sizeof *g->shares.has);
		g->shares.reads = mem_resize(NULL, n, sizeof *g->shares.reads);
	}
	pipe_bytes(p, g->shares.has, n * sizeof *g->shares.has);
	pipe_bytes(p, g->shares.reads, n * sizeof *g->shares.reads);
	pipe_bytes(p, g->jobs_of, processes * sizeof *g->jobs_of);
}

/* ---- Processes, sites and packets ------------------------------------------------------------ */

/* Packets are for the first process alone. */
static bool is_given(const struct together *g, size_t file)
{
	const char *name = g->shares.files[file].name;
	return part_is_small(name) || (g->elsewhere && part_is_packets(name));
}

/* Who has a file reads it, for the first process. */
static void bring(struct together *g, size_t file)
{
	int has = g->shares.has[file];
	struct peer_pipe p;
	if (has == g->peers->rank)
		part_read_bytes(g->o, file);
	if (has == 0 || (has != g->peers->rank && !is_first(g)))
		return;
	if (is_first(g))
		peer_receive(&p, g->peers, has);
	else
		peer_send(&p, g->peers, 0);
	part_move_bytes(g->o, file, &p.pipe);
	peer_close(&p);
}

static void move_small(void *of, struct tr_pipe *p)
{
	struct together *g = of;
	for (size_t i = 0; i < g->shares.n; i++)
		if (part_is_small(g->shares.files[i].name))
			part_move_bytes(g->o, i, p);
}

/* The same in all, or nothing else would mean the same: a foreign version of this program, or files so big that each
 * process reads its own, and that change. */
static void agree(const struct together *g, bool begun)
{
	uint64_t sum = begun ? part_sum(g->o) : 0;
	for (int i = 1; is_first(g) && i < g->peers->size; i++) {
		struct peer_pipe p;
		peer_receive(&p, g->peers, i);
		bool other = pipe_value(&p.pipe, 0) != sum;
		peer_close(&p);
		if (!other)
			continue;
		shown_complain("rank %d on %s: expected the processes and sites that rank 0 finds in the trace, found others",
			       i, g->sights[i].host);
		exit(EXIT_FAILURE);
	}
	if (is_first(g))
		return;
	struct peer_pipe p;
	peer_send(&p, g->peers, 0);
	pipe_value(&p.pipe, sum);
	peer_close(&p);
}

static bool begin(struct together *g, char **why)
{
	part_files(g->o, g->shares.files, g->shares.n, g->elsewhere);
	for (size_t i = 0; i < g->shares.n; i++)
		if (is_given(g, i))
			bring(g, i);
	peers_broadcast(g->peers, move_small, g);
	bool begun = part_begin(g->o, why);
	agree(g, begun);
	return begun;
}

/* ---- Files of events ------------------------------------------------------------------------- */

static struct reading *read_share(struct together *g)
{
	size_t *mine = NULL, n = 0;
	for (size_t i = 0; i < g->shares.n; i++)
		if (g->shares.reads[i] == g->peers->rank)
			*MEM_GROW(mine, n) = i;
	pool_set_jobs(g->jobs_of[g->peers->rank]);
	struct reading *r = part_read(g->o, mine, n);
	free(mine);
	return r;
}

static void hand_over(struct together *g, struct reading *r)
{
	struct peer_pipe p;
	peer_send(&p, g->peers, 0);
	part_move(r, &p.pipe);
	peer_close(&p);
}

static void take_in(struct together *g, struct reading *r)
{
	for (int i = 1; i < g->peers->size; i++) {
		struct peer_pipe p;
		peer_receive(&p, g->peers, i);
		part_move(r, &p.pipe);
		peer_close(&p);
	}
	pool_set_jobs(g->jobs ? g->jobs : cores_take_over(g->cores, (size_t)g->peers->size));
}

/* ---- All ------------------------------------------------------------------------------------- */

static bool is_all_here(const struct shares *s)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->has[i] != 0)
			return false;
	return true;
}

/* Before the trace is there, or as damage of it. */
static void remark(const struct together *g, struct trace *t)
{
	size_t n;
	struct remark *all = shares_remarks(&g->shares, g->sights, (size_t)g->peers->size, g->elsewhere, &n);
	for (size_t i = 0; i < n; i++) {
		if (t && all[i].contradicts)
			trace_diagnose(t, "%s", all[i].text);
		else if (!t && !all[i].contradicts)
			shown_complain("%s", all[i].text);
		free(all[i].text);
	}
	free(all);
}

static struct trace *read_together(struct together *g, char **error)
{
	struct reading *r = read_share(g);
	if (!is_first(g)) {
		hand_over(g, r);
		part_close(r);
		return NULL;
	}
	take_in(g, r);
	struct trace *t = part_end(r, is_all_here(&g->shares), error);
	if (t)
		remark(g, t);
	return t;
}

static struct trace *open_shared(struct together *g, char **error)
{
	char *why = NULL;
	if (is_first(g)) {
		choose(g);
		remark(g, NULL);
	}
	peers_broadcast(g->peers, move_shares, g);
	if (g->shares.n == 0)
		why = mem_copy(g->sights[0].why ? g->sights[0].why : "");
	if (g->shares.n && begin(g, &why))
		return read_together(g, error);
	part_refuse(g->o, why, error);
	if (!is_first(g)) {
		free(*error);
		*error = NULL;
	}
	return NULL;
}

struct trace *together_open(const struct peers *peers, const char *directory, bool elsewhere, size_t jobs, char **error)
{
	struct together g = { .peers = peers, .elsewhere = elsewhere, .jobs = jobs,
			      .jobs_of = mem_resize(NULL, (size_t)peers->size, sizeof *g.jobs_of) };
	*error = NULL;
	look(&g, directory);
	struct trace *t = open_shared(&g, error);
	free_sights(&g);
	shares_free(&g.shares);
	free(g.jobs_of);
	return t;
}

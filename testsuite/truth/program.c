/* SPDX-License-Identifier: MIT
 *
 * program.c - see program.h. program_draw writes the script, program_run.c plays it,
 * program_clocks.c gives the hosts their clocks. */
#define _GNU_SOURCE /* nftw */
#include "testsuite/truth/program.h"

#include <assert.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/text/text.h"
#include "testsuite/truth/program_parts.h"

static void *allocate(size_t count, size_t size)
{
	void *p = calloc(count + 1, size);

	if (!p)
		abort();
	return p;
}

/* ---- The script ----------------------------------------------------------------------------- */

/* All stretches are multiples of 1,000 true ticks, so that any permille of them is exact. */
static int64_t stretch_of(double base_ticks)
{
	return (int64_t)(base_ticks * PROGRAM_FINE / 1000) * 1000;
}

int64_t program_some_stretch(struct author *a)
{
	return roll_one_of(&a->dice, 20) ? 0 : stretch_of(roll_size(&a->dice, 0.1, a->longest));
}

/* Costs are part of a stretch. */
static int64_t some_cost(struct author *a, int64_t part)
{
	return program_some_stretch(a) / 1000 / part * 1000;
}

struct action *program_add(struct author *a, enum action_kind kind, size_t thread)
{
	struct program_script *s = a->s;

	if (s->nactions == s->room) {
		s->room = s->room ? 2 * s->room : 64;
		s->actions = realloc(s->actions, s->room * sizeof *s->actions);
		if (!s->actions)
			abort();
	}
	struct action *action = &s->actions[s->nactions++];

	*action = (struct action){ .kind = kind, .thread = thread, .gap = program_some_stretch(a) };
	return action;
}

static size_t main_thread(const struct author *a, unsigned rank)
{
	return a->s->main_thread[rank];
}

/* From one rank to another: as always, or as it comes. */
void program_set_costs(struct author *a, struct action *action, unsigned from, unsigned to)
{
	bool varying = a->spec->varying;

	action->cost = varying ? some_cost(a, 100) : a->cost[from][to];
	action->transfer = varying ? some_cost(a, 10) : a->transfer[from][to];
}

static bool is_active(const struct author *a, size_t t)
{
	return a->thread[t].began && !a->thread[t].ended;
}

static size_t some_thread(struct author *a)
{
	size_t t;

	do
		t = roll(&a->dice) % a->p->nthreads;
	while (!is_active(a, t));
	return t;
}

static void enter_or_leave(struct author *a)
{
	size_t t = some_thread(a);
	bool leaves = a->thread[t].depth && (a->thread[t].depth == 4 || (roll(&a->dice) & 1));
	struct action *action = program_add(a, leaves ? LEAVE : ENTER, t);

	if (leaves) {
		action->site = a->thread[t].stack[--a->thread[t].depth];
		return;
	}
	action->site = (enum program_site)roll_in(&a->dice, PROGRAM_A, PROGRAM_D);
	a->thread[t].stack[a->thread[t].depth++] = (uint8_t)action->site;
}

static void wait_for_pending(struct author *a, unsigned rank)
{
	if (!a->pending[rank])
		return;
	struct action *wait = program_add(a, WAIT, main_thread(a, rank));
	const struct action *begun = &a->s->actions[a->pending[rank] - 1];

	wait->other = a->pending[rank] - 1;
	wait->cost = begun->cost;
	a->pending[rank] = 0;
}

static void message(struct author *a, bool pending)
{
	unsigned n = a->p->nranks, from = (unsigned)(roll(&a->dice) % n);
	unsigned to = (from + 1 + (unsigned)(roll(&a->dice) % (n - 1))) % n;
	uint64_t tag = roll(&a->dice) % 3, bytes = roll(&a->dice) % 10000;

	if (pending) {
		wait_for_pending(a, from);
		wait_for_pending(a, to);
	}
	size_t sent = a->s->nactions;
	struct action *send = program_add(a, pending ? ISEND : SEND, main_thread(a, from));

	program_set_costs(a, send, from, to);
	send->peer = to, send->tag = tag, send->bytes = bytes, send->id = ++a->s->ids;
	a->pending[from] = pending ? sent + 1 : a->pending[from];
	struct action *receive = program_add(a, pending ? IRECV : RECEIVE, main_thread(a, to));

	program_set_costs(a, receive, from, to);
	receive->peer = from, receive->tag = tag, receive->bytes = bytes, receive->id = ++a->s->ids;
	receive->other = sent;
	a->pending[to] = pending ? sent + 2 : a->pending[to];
}

/* Each participant has a gap of its own before it enters. */
static void collective(struct author *a, enum action_kind kind)
{
	unsigned root = (unsigned)(roll(&a->dice) % a->p->nranks);
	struct action *action = program_add(a, kind, 0);

	program_set_costs(a, action, 0, 0);
	action->peer = root;
	action->id = a->s->collectives++;
	action->bytes = 8;
	for (unsigned r = 0; r < a->p->nranks; r++)
		action->gaps[r] = program_some_stretch(a);
}

static void fork_or_join(struct author *a)
{
	size_t t = roll(&a->dice) % a->p->nthreads;
	size_t parent = main_thread(a, a->p->threads[t].rank);

	if (t == parent || a->thread[t].ended)
		return;
	bool joins = a->thread[t].began;

	if (joins) {
		while (a->thread[t].depth)
			program_add(a, LEAVE, t)->site = a->thread[t].stack[--a->thread[t].depth];
		program_add(a, POINT, t);
	}
	struct action *action = program_add(a, joins ? JOIN : FORK, parent);

	program_set_costs(a, action, a->p->threads[t].rank, a->p->threads[t].rank);
	action->other = t;
	a->thread[t].began = true;
	a->thread[t].ended = joins;
}

/* Gets the lock and gives it back a little later: three actions that are done one after the other (program_run.c). */
static void hold_lock(struct author *a)
{
	size_t t = some_thread(a), lock = roll(&a->dice) % LOCKS;
	struct action *get = program_add(a, LOCK, t);

	get->id = lock;
	program_set_costs(a, get, a->p->threads[t].rank, a->p->threads[t].rank);
	program_add(a, WORK, t);
	program_add(a, UNLOCK, t)->id = lock;
}

static void one_step(struct author *a)
{
	static const enum action_kind collectives[] = { ALLREDUCE, BCAST, REDUCE, SCAN };
	bool several = a->p->nranks > 1;

	switch (roll(&a->dice) % 18) {
	case 0: case 1:
		if (a->may & PROGRAM_BARRIERS)
			collective(a, BARRIER);
		return;
	case 2:
		if (a->may & PROGRAM_COLLECTIVES)
			collective(a, collectives[roll(&a->dice) % 4]);
		return;
	case 3: case 4:
		if (a->may & PROGRAM_MESSAGES && several)
			message(a, false);
		return;
	case 5:
		if (a->may & PROGRAM_PENDING && several)
			message(a, true);
		return;
	case 6:
		wait_for_pending(a, (unsigned)(roll(&a->dice) % a->p->nranks));
		return;
	case 7:
		fork_or_join(a);
		return;
	case 8:
		if (a->may & PROGRAM_LOCKS)
			hold_lock(a);
		return;
	case 9:
		program_add(a, POINT, some_thread(a));
		return;
	case 16:
		if (a->may & PROGRAM_TASKS)
			program_tasks(a, (unsigned)(roll(&a->dice) % a->p->nranks));
		return;
	case 17:
		if (a->may & PROGRAM_TEAMS)
			program_team(a, (unsigned)(roll(&a->dice) % a->p->nranks));
		return;
	case 10: case 11:
		program_add(a, WORK, some_thread(a));
		return;
	default:
		enter_or_leave(a);
	}
}

/* Nothing stays open: operations under way, regions, threads. */
static void close_all(struct author *a)
{
	for (size_t t = a->p->nthreads; t-- > 0;) {
		unsigned rank = a->p->threads[t].rank;
		size_t parent = main_thread(a, rank);

		if (t == parent)
			wait_for_pending(a, rank);
		while (is_active(a, t) && a->thread[t].depth)
			program_add(a, LEAVE, t)->site = a->thread[t].stack[--a->thread[t].depth];
		if (t != parent && is_active(a, t)) {
			program_add(a, POINT, t);
			struct action *join = program_add(a, JOIN, parent);

			join->other = t;
			program_set_costs(a, join, rank, rank);
			a->thread[t].ended = true;
		}
	}
}

static void draw_threads(struct author *a)
{
	struct program *p = a->p;

	p->threads = allocate(MAX_THREADS, sizeof *p->threads);
	for (unsigned r = 0; r < p->nranks; r++) {
		unsigned extra = a->may & PROGRAM_THREADS ? (unsigned)(roll(&a->dice) % 3) : 0;

		a->s->main_thread[r] = p->nthreads;
		a->thread[p->nthreads].began = true;
		for (unsigned n = 0; n <= extra; n++)
			p->threads[p->nthreads++] = (struct program_thread){ r % p->nhosts, r, n,
									     NULL, 0 };
	}
}

/* Alike for all ranks of two hosts; what is there costs no more than what must still come. */
static void draw_costs(struct author *a)
{
	for (unsigned r = 0; r < a->p->nranks; r++)
		for (unsigned q = 0; q < a->p->nranks; q++) {
			unsigned hosts = a->p->nhosts, r0 = r % hosts, q0 = q % hosts;
			int64_t x = some_cost(a, 100), y = some_cost(a, 10);
			bool first = r == r0 && q == q0;

			a->cost[r][q] = first ? (x < y ? x : y) : a->cost[r0][q0];
			a->transfer[r][q] = first ? (x < y ? y : x) : a->transfer[r0][q0];
		}
}

static unsigned wanted(struct author *a, unsigned value, unsigned most)
{
	unsigned any = 1 + (unsigned)(roll(&a->dice) % most);

	return value ? value : any;
}

struct program *program_draw(uint64_t seed, const struct program_spec *spec)
{
	struct program *p = allocate(1, sizeof *p);
	struct author *a = allocate(1, sizeof *a);

	*p = (struct program){ .seed = seed, .unmarked = spec->unmarked, .holds = spec->holds,
				.script = allocate(1, sizeof *p->script) };
	*a = (struct author){ .dice = { seed }, .spec = spec, .p = p, .s = p->script };
	a->may = spec->may ? spec->may : PROGRAM_ALL;
	p->nranks = wanted(a, spec->ranks, 6);
	p->nhosts = spec->twins ? 1 : wanted(a, spec->hosts, 4);
	assert(p->nranks <= MAX_RANKS);
	a->longest = roll_size(&a->dice, 100, 1e8);
	unsigned steps = wanted(a, spec->steps, 100);

	draw_threads(a);
	draw_costs(a);
	for (unsigned i = 0; i < steps; i++)
		one_step(a);
	program_add(a, POINT, 0); /* at least one event */
	close_all(a);
	program_run(p, NULL);
	program_make_clocks(p, &a->dice, spec->affine);
	free(a);
	return p;
}

void program_free(struct program *p)
{
	for (size_t t = 0; t < p->nthreads; t++)
		free(p->threads[t].events);
	for (unsigned h = 0; h < p->nhosts; h++)
		clockmap_free(&p->maps[h]);
	free(p->threads);
	free(p->maps);
	free(p->links);
	for (size_t i = 0; i < p->script->nactions; i++)
		free(p->script->actions[i].after);
	free(p->script->actions);
	free(p->script);
	free(p);
}

/* ---- As a trace ----------------------------------------------------------------------------- */

static const struct { enum dprof_kind kind; const char *name; } sites[PROGRAM_SITES] = {
	[PROGRAM_A] = { DPROF_KIND_REGION, "a" },
	[PROGRAM_B] = { DPROF_KIND_REGION, "b" },
	[PROGRAM_C] = { DPROF_KIND_REGION, "c" },
	[PROGRAM_D] = { DPROF_KIND_REGION, "d" },
	[PROGRAM_BARRIER] = { DPROF_KIND_BARRIER, "MPI_Barrier" },
	[PROGRAM_ALLREDUCE] = { DPROF_KIND_COLL, "MPI_Allreduce" },
	[PROGRAM_BCAST] = { DPROF_KIND_COLL, "MPI_Bcast" },
	[PROGRAM_REDUCE] = { DPROF_KIND_COLL, "MPI_Reduce" },
	[PROGRAM_SCAN] = { DPROF_KIND_COLL, "MPI_Scan" },
	[PROGRAM_SEND] = { DPROF_KIND_SEND, "MPI_Send" },
	[PROGRAM_RECV] = { DPROF_KIND_RECV, "MPI_Recv" },
	[PROGRAM_ISEND] = { DPROF_KIND_SEND, "MPI_Isend" },
	[PROGRAM_IRECV] = { DPROF_KIND_RECV, "MPI_Irecv" },
	[PROGRAM_WAIT] = { DPROF_KIND_WAIT, "MPI_Wait" },
	[PROGRAM_CREATE] = { DPROF_KIND_FORK, "pthread_create" },
	[PROGRAM_JOIN] = { DPROF_KIND_JOIN, "pthread_join" },
	[PROGRAM_LOCK] = { DPROF_KIND_LOCK, "pthread_mutex_lock" },
	[PROGRAM_STEP] = { DPROF_KIND_PROGRESS, "step" },
	[PROGRAM_MADE] = { DPROF_KIND_FORK, "omp%20task" },
	[PROGRAM_DEPEND] = { DPROF_KIND_FORK, "omp%20depend" },
	[PROGRAM_TASK] = { DPROF_KIND_REGION, "omp%20task" },
	[PROGRAM_TASKWAIT] = { DPROF_KIND_JOIN, "omp%20taskwait" },
	[PROGRAM_TEAM] = { DPROF_KIND_BARRIER, "omp%20barrier" },
	[PROGRAM_PARALLEL] = { DPROF_KIND_FORK, "omp%20parallel" },
	[PROGRAM_PARALLEL_END] = { DPROF_KIND_JOIN, "omp%20parallel" },
	[PROGRAM_EPOLL] = { DPROF_KIND_WAIT, "epoll_wait" },
};

static void print_events(const struct program *p, size_t thread, enum program_view view, FILE *out)
{
	static const char *const words[] = { "enter", "exit", "point" };
	const struct program_thread *t = &p->threads[thread];

	for (size_t i = 0; i < t->nevents; i++) {
		const struct program_event *e = &t->events[i];
		uint64_t stamp = view == PROGRAM_TRUE ? (uint64_t)e->truth
						      : clockmap_stamp(&p->maps[t->host], e->truth);

		fprintf(out, "e %zu %llu %d %s", thread, (unsigned long long)stamp, (int)e->site,
			words[e->op]);
		for (unsigned k = 0; k < e->nargs; k++)
			fprintf(out, " %s=%llu", tr_key_word(e->args[k].key),
				(unsigned long long)e->args[k].value);
		putc('\n', out);
	}
}

static void print_group(const struct program *p, unsigned group, unsigned rank, unsigned numbers, FILE *out)
{
	fprintf(out, "group %u threads=", group);
	for (size_t t = 0, n = 0; t < p->nthreads; t++)
		if (p->threads[t].rank == rank && numbers >> p->threads[t].number & 1)
			fprintf(out, "%s%zu", n++ ? "," : "", t);
	putc('\n', out);
}

/* All threads of each rank, and those of each team that was opened. */
static void print_teams(const struct program *p, FILE *out)
{
	for (unsigned r = 0; r < p->nranks; r++) {
		print_group(p, PROGRAM_TEAM_OF(r), r, ~0u, out);
		for (unsigned numbers = 0; numbers < 8; numbers++)
			if (p->script->parallel[r][numbers])
				print_group(p, PROGRAM_PARALLEL_OF(r, numbers), r, numbers, out);
	}
}

void program_text(const struct program *p, enum program_view view, FILE *out)
{
	unsigned nclocks = view == PROGRAM_TRUE ? 1 : p->nhosts;

	fputs("dprof-text 1\n", out);
	for (unsigned h = 0; h < nclocks; h++)
		fprintf(out, "clock %u host=h%u ghz=%d\n", h, h,
			view == PROGRAM_TRUE ? PROGRAM_FINE : 1);
	for (size_t t = 0; t < p->nthreads; t++)
		fprintf(out, "thread %zu clock=%u rank=%u number=%u\n", t,
			view == PROGRAM_TRUE ? 0 : p->threads[t].host, p->threads[t].rank,
			p->threads[t].number);
	fputs("group 1 threads=", out);
	for (unsigned r = 0; r < p->nranks; r++)
		fprintf(out, "%s%zu", r ? "," : "", p->script->main_thread[r]);
	putc('\n', out);
	print_teams(p, out);
	for (int s = 0; s < PROGRAM_SITES; s++)
		fprintf(out, "site %d kind=%s name=%s file=made.c line=%d%s\n", s,
			tr_kind_word(sites[s].kind), sites[s].name, s + 1,
			p->unmarked && sites[s].kind == DPROF_KIND_REGION ? " auto=1" : "");
	for (size_t i = 0; i < p->nlinks && view == PROGRAM_RECORDED; i++)
		fprintf(out, "link %u %llu %u %llu\n", p->links[i].from,
			(unsigned long long)p->links[i].sent, p->links[i].to,
			(unsigned long long)p->links[i].received);
	for (size_t t = 0; t < p->nthreads; t++)
		print_events(p, t, view, out);
}

static void must(bool fine, const char *what, char *why)
{
	if (fine)
		return;
	fprintf(stderr, "program: %s: %s\n", what, why ? why : "failed");
	abort();
}

/* An open trace does not need its directory: its files are read or mapped. */
static int remove_it(const char *path, const struct stat *status, int kind, struct FTW *at)
{
	(void)status, (void)kind, (void)at;
	return remove(path);
}

struct trace *program_trace(const struct program *p, enum program_view view)
{
	char directory[] = "/dev/shm/dprof-program-XXXXXX", trace[sizeof directory + 8];
	char *text = NULL, *error;
	size_t size = 0;
	FILE *file = open_memstream(&text, &size);

	must(file, "open_memstream", NULL);
	program_text(p, view, file);
	fclose(file);
	must(mkdtemp(directory), directory, NULL);
	snprintf(trace, sizeof trace, "%s/trace", directory);
	file = fmemopen(text, size, "r");
	must(file, "fmemopen", NULL);
	error = text_pack(file, "program", trace);
	must(!error, "pack", error);
	fclose(file);
	free(text);
	struct trace *opened = trace_open(trace, &error);

	must(opened, "open", error);
	must(nftw(directory, remove_it, 8, FTW_DEPTH | FTW_PHYS) == 0, directory, NULL);
	return opened;
}

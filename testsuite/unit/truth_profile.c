/* SPDX-License-Identifier: MIT
 *
 * truth_profile.c - what is said of each call path, and of each region and operation, of all threads and of each, holds
 * the truth: random programs whose true times are known are followed event by event, with the path of each as a text,
 * on a clock that shows the truth. */
#include <string.h>

#include "analysis/calls/calls.h"
#include "testsuite/unit/activities_twin.h"

static uint64_t seed, programs;

static void setup(void)
{
	seed = unit_seed;
	programs = unit_times(150);
}

/* ---- The truth ------------------------------------------------------------------------------- */

struct sums { uint64_t visits, bytes; int64_t inclusive, exclusive, waited, transfer; };

struct profile_path { char name[256]; struct sums sums; }; /* of one thread: "/0/4": site 4 in region 0 */
struct paths { struct profile_path *v; size_t n; };

static struct sums *sums_of(struct paths *p, const char *name)
{
	for (size_t i = 0; i < p->n; i++)
		if (strcmp(p->v[i].name, name) == 0)
			return &p->v[i].sums;
	struct profile_path *path = MEM_GROW(p->v, p->n);
	memset(path, 0, sizeof *path);
	snprintf(path->name, sizeof path->name, "%s", name);
	return &path->sums;
}

/* The first of `depth` sites. */
static const char *name_of(char name[256], const unsigned *open, unsigned depth)
{
	size_t length = 0;

	name[0] = '\0';
	for (unsigned i = 0; i < depth; i++)
		length += (size_t)snprintf(name + length, 256 - length, "/%u", open[i]);
	return name;
}

/* Which of the open ones are the outermost of their site. */
static bool is_outermost(const unsigned *open, unsigned i)
{
	for (unsigned k = 0; k < i; k++)
		if (open[k] == open[i])
			return false;
	return true;
}

static uint64_t given(const struct twin_event *e)
{
	unsigned site = e->e.site;
	bool gives = (site >= PROGRAM_ALLREDUCE && site <= PROGRAM_SEND) || site == PROGRAM_ISEND || site == PROGRAM_RECV;

	return gives && e->e.op == DPROF_ENTER ? trace_arg(&e->e, DPROF_KEY_BYTES, 0)
	       : site == PROGRAM_IRECV && e->e.op == DPROF_POINT ? trace_arg(&e->e, DPROF_KEY_BYTES, 0) : 0;
}

/* To each path that is open: in the tree, and of each site once in the list. */
static void add(struct paths *tree, struct sums *flat, const unsigned *open, unsigned depth, struct sums x)
{
	char name[256];

	for (unsigned i = 0; i <= depth; i++) {
		struct sums *of[] = { sums_of(tree, name_of(name, open, i)),
				      i && is_outermost(open, i - 1) ? &flat[open[i - 1]] : NULL };
		for (int k = 0; k < 2 && of[k]; k++) {
			of[k]->inclusive += x.inclusive;
			of[k]->waited += x.waited;
			of[k]->transfer += x.transfer;
			of[k]->bytes += x.bytes;
		}
	}
	sums_of(tree, name_of(name, open, depth))->exclusive += x.exclusive;
	if (depth)
		flat[open[depth - 1]].exclusive += x.exclusive;
}

static void follow(const struct twin *t, uint32_t thread, struct paths *tree, struct sums *flat)
{
	const struct twin_event *v = t->threads[thread].v;
	unsigned open[64], depth = 0;
	char name[256];

	sums_of(tree, "")->visits = 1;
	for (size_t i = 0; i < t->threads[thread].n; i++) {
		int64_t took = i ? v[i].when - v[i - 1].when : 0;
		struct sums x = { .inclusive = took, .exclusive = took };
		if (v[i].before == IDLES) { /* in the join of the team that it has left */
			x.waited = took;
			open[depth] = PROGRAM_PARALLEL_END;
			add(tree, flat, open, depth + 1, x);
		} else {
			add(tree, flat, open, depth, x);
		}
		if (v[i].ends) {
			int64_t all = twin_took(t, thread, i), transfer = twin_transfer(t, thread, i);
			add(tree, flat, open, depth, (struct sums){ .waited = all - transfer, .transfer = transfer });
		}
		if (v[i].e.op == DPROF_ENTER) {
			open[depth++] = v[i].e.site;
			sums_of(tree, name_of(name, open, depth))->visits += !v[i].e.inherited;
			flat[v[i].e.site].visits += !v[i].e.inherited;
		}
		add(tree, flat, open, depth, (struct sums){ .bytes = given(&v[i]) });
		depth -= v[i].e.op == DPROF_EXIT;
	}
}

/* ---- What was said of it --------------------------------------------------------------------- */

static uint64_t checked;

static void check_time(const struct program *p, const char *of, const char *what, int64_t truth, frz_time found)
{
	ck_assert_msg(program_compare(truth, found.lo) >= 0 && program_compare(truth, found.hi) <= 0,
		      "SEED=%" PRIu64 ": %s, %s: truly %.3f ticks, found %" PRId64 " .. %" PRId64, p->seed, of, what,
		      (double)truth / PROGRAM_FINE, found.lo, found.hi);
	checked++;
}

static void check_sums(const struct program *p, const char *of, const struct sums *truth, const struct call_sums *found)
{
	ck_assert_msg(truth->visits == found->visits && truth->bytes == found->bytes,
		      "SEED=%" PRIu64 ": %s: truly %" PRIu64 " visits and %" PRIu64 " bytes, found %" PRIu64 " and %" PRIu64, p->seed, of,
		      truth->visits, truth->bytes, found->visits, found->bytes);
	check_time(p, of, "inclusive", truth->inclusive, found->inclusive);
	check_time(p, of, "exclusive", truth->exclusive, found->exclusive);
	check_time(p, of, "waited", truth->waited, found->waited);
	check_time(p, of, "transfer", truth->transfer, found->transfer);
	if (p->nhosts == 1) /* on one clock nothing but the tick is not known */
		ck_assert_msg(found->exclusive.hi - found->exclusive.lo < 4000 && found->inclusive.hi - found->inclusive.lo < 4000,
			      "SEED=%" PRIu64 ": %s: %" PRId64 " .. %" PRId64 " ticks", p->seed, of, found->inclusive.lo, found->inclusive.hi);
}

static void add_sums(struct sums *to, const struct sums *x)
{
	to->visits += x->visits;
	to->bytes += x->bytes;
	to->inclusive += x->inclusive;
	to->exclusive += x->exclusive;
	to->waited += x->waited;
	to->transfer += x->transfer;
}

static void name_node(const struct call_profile *found, uint32_t node, char name[256])
{
	unsigned sites[64], depth = 0, open[64];

	for (; found->nodes[node].parent != CALL_ROOT; node = found->nodes[node].parent)
		sites[depth++] = found->nodes[node].site;
	for (unsigned i = 0; i < depth; i++)
		open[i] = sites[depth - 1 - i];
	name_of(name, open, depth);
}

static void check_tree(const struct program *p, const struct paths *trees, const struct call_profile *found)
{
	struct paths all = { NULL, 0 };

	for (size_t t = 0; t < p->nthreads; t++)
		for (size_t i = 0; i < trees[t].n; i++)
			add_sums(sums_of(&all, trees[t].v[i].name), &trees[t].v[i].sums);
	ck_assert_msg(all.n == found->nnodes, "SEED=%" PRIu64 ": there are %zu call paths, found %zu", p->seed, all.n,
		      found->nnodes);
	for (uint32_t node = 0; node < found->nnodes; node++) {
		const struct call_spread *s = &found->nodes[node].spread;
		int64_t least = INT64_MAX, most = 0;
		size_t n = 0;
		char name[256];
		name_node(found, node, name);
		check_sums(p, name, sums_of(&all, name), &s->all);
		for (size_t t = 0; t < p->nthreads; t++)
			for (size_t i = 0; i < trees[t].n; i++) {
				int64_t time = trees[t].v[i].sums.inclusive;
				if (strcmp(trees[t].v[i].name, name) != 0)
					continue;
				least = time < least ? time : least;
				most = time > most ? time : most;
				n++;
			}
		ck_assert_uint_eq(n, s->nthreads);
		check_time(p, name, "least", least, s->least);
		check_time(p, name, "most", most, s->most);
		long double imbalance = most ? 100 * (1 - (long double)sums_of(&all, name)->inclusive / (long double)n / (long double)most) : 0;
		struct interval x = call_imbalance(s);
		ck_assert_msg(imbalance >= x.lo && imbalance <= x.hi,
			      "SEED=%" PRIu64 ": %s: imbalance of %Lf %%, found %f .. %f", p->seed, name, imbalance,
			      x.lo, x.hi);
	}
	free(all.v);
}

static void check_each(const struct program *p, struct sums (*flat)[PROGRAM_SITES], const struct call_profile *found)
{
	for (size_t i = 0; i < found->neach; i++) {
		const struct call_each *e = &found->each[i];
		char name[64];
		snprintf(name, sizeof name, "thread %u, site %u", e->thread, e->site);
		check_sums(p, name, &flat[e->thread][e->site], &e->sums);
		memset(&flat[e->thread][e->site], 0, sizeof flat[0][0]);
	}
	for (size_t t = 0; t < p->nthreads; t++)
		for (unsigned s = 0; s < PROGRAM_SITES; s++)
			ck_assert_msg(!flat[t][s].visits && !flat[t][s].inclusive,
				      "SEED=%" PRIu64 ": thread %zu, site %u: is missing", p->seed, t, s);
}

/* Each send has a receive. */
static void check_messages(const struct twin *t, const struct call_profile *found)
{
	uint64_t count = 0, bytes = 0;

	for (size_t k = 0; k < t->p->nthreads; k++)
		for (size_t i = 0; i < t->threads[k].n; i++) {
			const struct twin_event *e = &t->threads[k].v[i];
			bool sends = (e->e.site == PROGRAM_SEND || e->e.site == PROGRAM_ISEND) && e->e.op == DPROF_ENTER;
			count += sends;
			bytes += sends ? trace_arg(&e->e, DPROF_KEY_BYTES, 0) : 0;
		}
	for (size_t i = 0; i < found->nmessages; i++) {
		count -= found->messages[i].count;
		bytes -= found->messages[i].bytes;
	}
	ck_assert_msg(count == 0 && bytes == 0 && found->unmatched == 0,
		      "SEED=%" PRIu64 ": %" PRId64 " messages are missing", t->p->seed, (int64_t)count);
}

static void check_program(uint64_t number, const struct program_spec *spec)
{
	struct program *p = program_draw(number, spec);
	struct trace *trace = program_trace(p, PROGRAM_RECORDED);
	struct options options = { .assumption = p->assumption };
	struct twin t = twin_open(p);
	struct paths *trees = mem_resize(NULL, p->nthreads, sizeof *trees);
	struct sums (*flat)[PROGRAM_SITES] = mem_resize(NULL, p->nthreads, sizeof *flat);
	struct call_profile found;
	struct times times;

	memset(trees, 0, p->nthreads * sizeof *trees);
	memset(flat, 0, p->nthreads * sizeof *flat);
	for (uint32_t thread = 0; thread < p->nthreads; thread++)
		if (t.threads[thread].n)
			follow(&t, thread, &trees[thread], flat[thread]);
	ck_assert_int_eq(times_open(&times, trace, &options), EXIT_FINE);
	calls_open(&found, trace, &times);
	check_tree(p, trees, &found);
	check_each(p, flat, &found);
	check_messages(&t, &found);
	calls_close(&found);
	times_close(&times);
	twin_close(&t);
	for (size_t i = 0; i < p->nthreads; i++)
		free(trees[i].v);
	free(trees);
	free(flat);
	trace_close(trace);
	program_free(p);
}

START_TEST(profiles_hold_the_truth)
{
	for (uint64_t i = 0; i < programs; i++)
		check_program(seed + i, &(struct program_spec){ .affine = (seed + i) % 3 == 0,
								.twins = (seed + i) % 4 == 0,
								.varying = (seed + i) % 2,
								.unmarked = (seed + i) % 5 < 2 });
	ck_assert_uint_gt(checked, programs);
}
END_TEST

int main(void)
{
	TCase *c = unit_begin(100000, 1);

	tcase_add_checked_fixture(c, setup, NULL);
	tcase_add_test(c, profiles_hold_the_truth);
	return unit_end();
}

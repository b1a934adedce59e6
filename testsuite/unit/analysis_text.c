/* SPDX-License-Identifier: MIT
 *
 * Random texts, written in many styles, become the traces that they describe; and dump, pack,
 * dump gives the same text again. The twin is the generator's own memory of what it wrote. */
#include <unistd.h>

#include "analysis/base/memory.h"
#include "analysis/text/text.h"
#include "runtime/words.h"
#include "testsuite/unit/draw.h"
#include "testsuite/unit/unit.h"

#define ROUNDS      120
#define MAX_CLOCKS  4
#define MAX_THREADS 7
#define MAX_SITES   6
#define MAX_GROUPS  3
#define MAX_EVENTS  60

static uint64_t seed;
/* Numbers of all sizes. */
static uint64_t random_number(void)
{
	return (draw_below(UINT64_C(1) << 31) << 33 | draw_below(UINT64_C(1) << 31)) >>
	       draw_below(64);
}

static bool coin(void)
{
	return draw_below(2);
}

/* ---- The model ------------------------------------------------------------------------------- */

struct model {
	unsigned nclocks, nthreads, nsites, ngroups, nlinks;
	struct { uint64_t id; char host[40]; double ghz; } clock[MAX_CLOCKS];
	struct {
		uint64_t id;
		unsigned clock;
		int rank;
		uint64_t lost;
		bool complete;
		char name[16];
	} thread[MAX_THREADS];
	struct {
		uint64_t id;
		enum dprof_kind kind;
		char name[40], file[40], function[40];
		uint32_t line, column;
		bool automatic;
	} site[MAX_SITES];
	struct {
		uint64_t id;
		bool member[MAX_THREADS];
		unsigned nmembers;
		uint64_t size;
	} group[MAX_GROUPS];
	struct { unsigned from, to; uint64_t sent, received; } link[8];
	struct tr_event event[MAX_THREADS][MAX_EVENTS];
	unsigned nevents[MAX_THREADS];
};

/* Any bytes but NUL; unique through its number. */
static void random_name(char name[40], unsigned number)
{
	size_t n = draw_below(20);
	for (size_t i = 0; i < n; i++)
		name[i] = (char)(coin() ? 'a' + (int)draw_below(26) : 1 + (int)draw_below(255));
	sprintf(name + n, "%u", number);
}

/* Ids are places, or anything. */
static uint64_t random_id(bool places, unsigned place)
{
	return places ? place : (random_number() & ~UINT64_C(255)) | place;
}

static void random_events(struct model *m, unsigned thread)
{
	uint64_t stamp = m->thread[thread].complete && coin() ? 0 : 1 + draw_below(1000);
	m->nevents[thread] = (unsigned)draw_below(MAX_EVENTS);
	for (unsigned i = 0; i < m->nevents[thread]; i++) {
		struct tr_event *e = &m->event[thread][i];
		*e = (struct tr_event){ .op = DPROF_LOST, .site = TR_NO_SITE,
					.lost = 1 + random_number() % DPROF_VALUE_MAX };
		if (draw_below(20) == 0)
			continue;
		stamp += draw_below(8) ? draw_below(1000) : draw_below(UINT64_C(1) << 40);
		*e = (struct tr_event){ .stamp = stamp, .op = (enum dprof_op)draw_below(3),
					.site = (uint32_t)draw_below(m->nsites) };
		for (int key = 1; key < DPROF_KEY_COUNT; key++)
			/* since: the reader brings such an event to another place (trace_late.c) */
			if (key != DPROF_KEY_GROUP && key != DPROF_KEY_SINCE && draw_below(4) == 0)
				e->args[e->nargs++] =
					(struct tr_arg){ (enum dprof_key)key, random_number() };
		unsigned g = (unsigned)draw_below(MAX_GROUPS);
		if (g < m->ngroups && m->group[g].member[thread])
			e->args[e->nargs++] = (struct tr_arg){ DPROF_KEY_GROUP, m->group[g].id };
	}
}

static struct model random_model(void)
{
	struct model m = { .nclocks = 1 + (unsigned)draw_below(MAX_CLOCKS),
			   .nsites = 1 + (unsigned)draw_below(MAX_SITES),
			   .nthreads = (unsigned)draw_below(MAX_THREADS + 1),
			   .ngroups = (unsigned)draw_below(MAX_GROUPS + 1) };
	bool places = coin(), ranked = draw_below(4);
	for (unsigned i = 0; i < m.nclocks; i++) {
		m.clock[i].id = random_id(places, i);
		random_name(m.clock[i].host, i);
		m.clock[i].ghz = (double)(1 + draw_below(1000000)) / 777;
	}
	for (unsigned i = 0, rank = 0; i < m.nthreads; i++) {
		rank += i && coin();
		m.thread[i].id = random_id(places, i);
		m.thread[i].rank = ranked ? (int)rank : -1;
		m.thread[i].clock = ranked ? rank % m.nclocks : 0;
		m.thread[i].lost = coin() ? random_number() : 0;
		m.thread[i].complete = draw_below(4);
		snprintf(m.thread[i].name, sizeof m.thread[i].name, "%s", coin() ? "a b%c" : "");
	}
	for (unsigned i = 0; i < m.nsites; i++) {
		m.site[i].id = random_id(places, i);
		m.site[i].kind = (enum dprof_kind)(1 + draw_below(DPROF_KIND_COUNT - 1));
		random_name(m.site[i].name, i);
		random_name(m.site[i].file, i);
		if (coin())
			random_name(m.site[i].function, i);
		m.site[i].line = (uint32_t)draw_below(UINT32_MAX);
		m.site[i].column = (uint32_t)(coin() ? draw_below(200) : 0);
		m.site[i].automatic = coin();
	}
	for (unsigned i = 0; i < m.ngroups; i++) {
		m.group[i].id = random_id(coin(), i);
		for (unsigned t = 0; t < m.nthreads; t++)
			m.group[i].nmembers += m.group[i].member[t] = coin();
		m.group[i].size = coin() ? m.group[i].nmembers : 1 + draw_below(100);
	}
	m.nlinks = (unsigned)draw_below(8);
	for (unsigned i = 0; i < m.nlinks; i++) {
		m.link[i].from = (unsigned)draw_below(m.nclocks);
		m.link[i].to = (unsigned)draw_below(m.nclocks);
		m.link[i].sent = random_number();
		m.link[i].received = random_number();
	}
	for (unsigned t = 0; t < m.nthreads; t++)
		random_events(&m, t);
	return m;
}

/* ---- Its text, in a random style ------------------------------------------------------------- */

static void space(FILE *out)
{
	static const char *const spaces[] = { " ", "  ", "\t", " \t " };
	fputs(spaces[draw_below(4)], out);
}

static void end_line(FILE *out)
{
	static const char *const ends[] = {
		"\n", " \n", " # a remark\n", "\r\n", "\n\n# another\n", "\t#\n"
	};
	fputs(ends[draw_below(6)], out);
}

static void key(FILE *out, const char *name, const char *value)
{
	space(out);
	fprintf(out, "%s=", name);
	for (; *value; value++) {
		bool escape = (unsigned char)*value <= ' ' || *value == '%' || *value == '#' ||
			      *value == 0x7f;
		fprintf(out, escape || draw_below(10) == 0 ? coin() ? "%%%02x" : "%%%02X" : "%c",
			(unsigned char)*value);
	}
}

static void key_number(FILE *out, const char *name, uint64_t value)
{
	space(out);
	fprintf(out, "%s=%" PRIu64, name, value);
}

static void write_event(FILE *out, const struct model *m, unsigned t, const struct tr_event *e)
{
	static const char *const ops[] = { "enter", "exit", "point" };
	if (e->op == DPROF_LOST) {
		fprintf(out, "lost %" PRIu64 " %" PRIu64, m->thread[t].id, e->lost);
	} else {
		fprintf(out, "e %" PRIu64 " %" PRIu64, m->thread[t].id, e->stamp);
		space(out);
		fprintf(out, "%" PRIu64 " %s", m->site[e->site].id, ops[e->op]);
		for (unsigned i = 0; i < e->nargs; i++)
			key_number(out, tr_key_word(e->args[i].key), e->args[i].value);
	}
	end_line(out);
}

static void write_events(FILE *out, const struct model *m)
{
	unsigned next[MAX_THREADS] = { 0 };
	bool interleaved = coin();
	for (unsigned left = m->nthreads, t = 0; left;) {
		t = interleaved ? (unsigned)draw_below(m->nthreads) : m->nthreads - left;
		if (next[t] < m->nevents[t])
			write_event(out, m, t, &m->event[t][next[t]++]);
		left = 0;
		for (unsigned i = 0; i < m->nthreads; i++)
			if (next[i] < m->nevents[i])
				left = interleaved ? 1 : left ? left : m->nthreads - i;
	}
}

static void write_declarations(FILE *out, const struct model *m)
{
	for (unsigned i = 0; i < m->nclocks; i++) {
		fprintf(out, "clock %" PRIu64 " ghz=%.17g", m->clock[i].id, m->clock[i].ghz);
		key(out, "host", m->clock[i].host);
		end_line(out);
	}
	for (unsigned i = 0; i < m->nthreads; i++) {
		fprintf(out, "thread %" PRIu64, m->thread[i].id);
		key_number(out, "clock", m->clock[m->thread[i].clock].id);
		if (m->thread[i].rank >= 0)
			key_number(out, "rank", (uint64_t)m->thread[i].rank);
		if (m->thread[i].lost || coin())
			key_number(out, "lost", m->thread[i].lost);
		if (!m->thread[i].complete || coin())
			key_number(out, "complete", m->thread[i].complete);
		if (*m->thread[i].name || coin())
			key(out, "name", m->thread[i].name);
		end_line(out);
	}
	for (unsigned i = 0; i < m->nsites; i++) {
		fprintf(out, "site %" PRIu64, m->site[i].id);
		key(out, "name", m->site[i].name);
		key(out, "kind", tr_kind_word(m->site[i].kind));
		key_number(out, "line", m->site[i].line);
		key(out, "file", m->site[i].file);
		if (m->site[i].column || coin())
			key_number(out, "column", m->site[i].column);
		if (*m->site[i].function || coin())
			key(out, "function", m->site[i].function);
		if (m->site[i].automatic || coin())
			key_number(out, "auto", m->site[i].automatic);
		end_line(out);
	}
	for (unsigned i = 0; i < m->nlinks; i++) {
		fprintf(out, "link %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64,
			m->clock[m->link[i].from].id, m->link[i].sent, m->clock[m->link[i].to].id,
			m->link[i].received);
		end_line(out);
	}
}

static void write_groups(FILE *out, const struct model *m)
{
	for (unsigned i = 0; i < m->ngroups; i++) {
		const char *comma = "";
		fprintf(out, "group %" PRIu64 " threads=", m->group[i].id);
		for (unsigned t = 0; t < m->nthreads; t++) {
			if (!m->group[i].member[t])
				continue;
			fprintf(out, "%s%" PRIu64, comma, m->thread[t].id);
			comma = ",";
		}
		if (m->group[i].size != m->group[i].nmembers)
			key_number(out, "size", m->group[i].size);
		end_line(out);
	}
}

static char *write_text(const struct model *m)
{
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	if (coin())
		fputs("# remarks may come first\n\n", out);
	fputs(TEXT_FIRST_LINE, out);
	end_line(out);
	write_declarations(out, m);
	write_groups(out, m);
	write_events(out, m);
	fclose(out);
	return text;
}

/* ---- Comparing ------------------------------------------------------------------------------- */

/* The arguments that a trace gives for an event: in the order of recording. */
static void compare_event(const struct tr_event *expected, const struct tr_event *found)
{
	ck_assert_msg(found->op == expected->op && found->site == expected->site &&
			      found->lost == expected->lost &&
			      (found->op == DPROF_LOST || found->stamp == expected->stamp) &&
			      found->nargs == expected->nargs,
		      "SEED=%" PRIu64 ": another event", seed);
	for (unsigned i = 0; i < found->nargs; i++)
		ck_assert_msg(found->args[i].key == expected->args[i].key &&
				      found->args[i].value == expected->args[i].value,
			      "SEED=%" PRIu64 ": %s=%" PRIu64 ", not %s=%" PRIu64, seed,
			      tr_key_word(found->args[i].key), found->args[i].value,
			      tr_key_word(expected->args[i].key), expected->args[i].value);
}

/* Whether a string of the trace was recorded so. */
static bool is(const struct trace *t, const char *shown, const char *recorded)
{
	return !strcmp(trace_raw(t, shown), recorded);
}

/* What the thread says, unless its records say more. */
static uint64_t lost_of(const struct model *m, unsigned thread)
{
	uint64_t lost = 0;
	for (unsigned k = 0; k < m->nevents[thread]; k++)
		lost += m->event[thread][k].lost;
	return lost > m->thread[thread].lost ? lost : m->thread[thread].lost;
}

static void compare_threads(const struct model *m, const struct trace *t)
{
	ck_assert_msg(t->nthreads == m->nthreads, "SEED=%" PRIu64 "", seed);
	for (unsigned i = 0; i < m->nthreads; i++) {
		const struct tr_thread *found = &t->threads[i];
		ck_assert_msg(found->clock == m->thread[i].clock &&
				      found->rank == m->thread[i].rank &&
				      found->lost == lost_of(m, i) &&
				      found->complete == m->thread[i].complete &&
				      is(t, found->name, m->thread[i].name),
			      "SEED=%" PRIu64 ": another thread %u", seed, i);
		struct tr_cursor cursor = trace_events(t, i);
		struct tr_event e;
		for (unsigned k = 0; k < m->nevents[i]; k++) {
			ck_assert_msg(trace_next(&cursor, &e),
				      "SEED=%" PRIu64 ": thread %u ends early", seed, i);
			compare_event(&m->event[i][k], &e);
		}
		ck_assert_msg(!trace_next(&cursor, &e),
				      "SEED=%" PRIu64 ": thread %u goes on", seed, i);
		trace_end(&cursor);
	}
}

static void compare_groups(const struct model *m, const struct trace *t)
{
	ck_assert_msg(t->ngroups == m->ngroups, "SEED=%" PRIu64 "", seed);
	for (unsigned i = 0; i < m->ngroups; i++) {
		size_t g = 0;
		while (g < t->ngroups && t->groups[g].id != m->group[i].id)
			g++;
		ck_assert_msg(g < t->ngroups && t->groups[g].size == m->group[i].size &&
				      t->groups[g].nthreads == m->group[i].nmembers,
			      "SEED=%" PRIu64 ": another group", seed);
		for (size_t k = 0; k < t->groups[g].nthreads; k++)
			ck_assert_msg(m->group[i].member[t->groups[g].threads[k]],
				      "SEED=%" PRIu64 ": another member", seed);
	}
}

static void compare(const struct model *m, const struct trace *t)
{
	ck_assert_msg(t->nclocks == m->nclocks && t->nsites == m->nsites && t->nlinks == m->nlinks,
		      "SEED=%" PRIu64 "", seed);
	for (unsigned i = 0; i < m->nclocks; i++)
		ck_assert_msg(is(t, t->clocks[i].host, m->clock[i].host) &&
				      t->clocks[i].ghz == m->clock[i].ghz,
			      "SEED=%" PRIu64 ": another clock %u", seed, i);
	for (unsigned i = 0; i < m->nsites; i++) {
		const struct tr_site *s = &t->sites[i];
		ck_assert_msg(s->kind == m->site[i].kind && is(t, s->name, m->site[i].name) &&
				      is(t, s->file, m->site[i].file) &&
				      is(t, s->function, m->site[i].function) &&
				      s->line == m->site[i].line && s->column == m->site[i].column &&
				      s->automatic == m->site[i].automatic,
			      "SEED=%" PRIu64 ": another site", seed);
	}
	for (unsigned i = 0; i < m->nlinks; i++)
		ck_assert_msg(t->links[i].from == m->link[i].from &&
				      t->links[i].to == m->link[i].to &&
				      t->links[i].sent == m->link[i].sent &&
				      t->links[i].received == m->link[i].received,
			      "SEED=%" PRIu64 ": another link", seed);
	compare_threads(m, t);
	compare_groups(m, t);
}

/* ---- The test -------------------------------------------------------------------------------- */

static struct trace *pack_and_open(const char *text, const char *directory)
{
	char *error;
	FILE *in = fmemopen((void *)(uintptr_t)text, strlen(text), "r");
	char *wrong = text_pack(in, "text", directory);
	fclose(in);
	ck_assert_msg(!wrong, "SEED=%" PRIu64 ": %s\n%s", seed, wrong, text);
	struct trace *t = trace_open(directory, &error);
	ck_assert_msg(t != NULL, "SEED=%" PRIu64 ": %s", seed, error);
	return t;
}

static char *dump(const struct trace *t)
{
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	text_dump(out, t, NULL);
	fclose(out);
	return text;
}

static void remove_directory(const char *directory)
{
	char *command = mem_format("rm -rf '%s'", directory);
	ck_assert_int_eq(system(command), 0);
	free(command);
}

static void one_round(const char *first, const char *second)
{
	struct model m = random_model();
	char *text = write_text(&m);
	struct trace *t = pack_and_open(text, first);
	compare(&m, t);
	char *dumped = dump(t);
	struct trace *again = pack_and_open(dumped, second);
	char *dumped_again = dump(again);
	ck_assert_msg(!strcmp(dumped, dumped_again),
		      "SEED=%" PRIu64 ": expected\n%s\nfound\n%s", seed,
		      dumped, dumped_again);
	ck_assert_msg(t->ndiagnostics == again->ndiagnostics, "SEED=%" PRIu64 "", seed);
	trace_close(t);
	trace_close(again);
	free(text);
	free(dumped);
	free(dumped_again);
	remove_directory(first);
	remove_directory(second);
}

START_TEST(a_text_is_the_trace_that_it_describes)
{
	char base[] = "/tmp/dprof-text-XXXXXX";
	ck_assert_ptr_nonnull(mkdtemp(base));
	char *first = mem_format("%s/first", base), *second = mem_format("%s/second", base);
	for (seed = unit_seed; seed < unit_seed + unit_times(ROUNDS); seed++) {
		draw_state = seed;
		one_round(first, second);
	}
	remove_directory(base);
	free(first);
	free(second);
}
END_TEST

int main(void)
{
	TCase *c = unit_begin(900, UNIT_ANEW);

	tcase_add_test(c, a_text_is_the_trace_that_it_describes);
	return unit_end();
}

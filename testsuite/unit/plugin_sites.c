/* SPDX-License-Identifier: MIT
 *
 * Sites are as runtime/format.h says. This program is compiled with the plugin, so its own section
 * dprof_sites is what is tested; testsuite/fixtures/plugin/recorder.c takes its events.
 *
 * Law: the section is a gapless sequence of sites, one for each marked place. */
#include "pragmas/dprof.h"
#include "runtime/format.h"
#include "testsuite/unit/unit.h"
#undef _mark_point /* which looks at memory, and so has places of its own */

extern const char __start_dprof_sites[], __stop_dprof_sites[];

/* What the program says of its places, and what must be found. */
struct said {
	const char *name;
	enum dprof_kind kind;
	int line;
	const char *function;
};
static struct said places[64];
static int n_places;

static void say(const char *name, enum dprof_kind kind, int line, const char *function)
{
	for (int i = 0; i < n_places; i++)
		if (places[i].line == line && !strcmp(places[i].name, name))
			return;
	places[n_places++] = (struct said){ name, kind, line, function };
}

#define NAME_255 \
	"255_bytes_________________________________________________________________________________________" \
	"__________________________________________________________________________________________________" \
	"__________________________________________________________"

/* Names of every length modulo 8, and what else may stand in one. */
static int marked(int n)
{
#define POINT(name) say(name, DPROF_KIND_PROGRESS, __LINE__, __func__); DPROF_PROGRESS(name)
#define REGION(name) say(name, DPROF_KIND_REGION, __LINE__, __func__); DPROF_REGION(name)
	POINT("a")
	POINT("ab")
	POINT("abc")
	POINT("abcd")
	POINT("abcde")
	POINT("abcdef")
	POINT("abcdefg")
	POINT("abcdefgh")
	POINT("with blanks, 100 %s {|} \\ and \"quotes\"")
	POINT("grüße")
	POINT(NAME_255)
	REGION("outer")
	for (int i = 0; i < n; i++) {
		REGION("inner")
		{
			if (i == 3)
				return i;
		}
	}
	return n;
}

static const struct dprof_site *next(const struct dprof_site *s)
{
	return (const void *)((const char *)s + s->size);
}

#define FOR_EACH_SITE(s) \
	for (const struct dprof_site *s = (const void *)__start_dprof_sites; \
	     (const char *)s < __stop_dprof_sites; s = next(s))

/* Far fewer than there are, but enough that a loop over them looks at something. */
#define SEVERAL 10

START_TEST(sites_follow_each_other_without_gaps)
{
	int sites = 0;
	FOR_EACH_SITE(s) {
		sites++;
		ck_assert_uint_eq(s->magic, DPROF_SITE_MAGIC);
		ck_assert_uint_eq(s->version, DPROF_SITE_VERSION);
		ck_assert_uint_eq((uintptr_t)s % DPROF_SITE_ALIGN, 0);
		ck_assert_uint_eq(s->size % DPROF_SITE_ALIGN, 0);
		ck_assert_uint_ge(s->size, DPROF_SITE_MIN);
		ck_assert((const char *)next(s) <= __stop_dprof_sites);
		ck_assert_uint_gt(s->kind, DPROF_KIND_NONE);
		ck_assert_uint_lt(s->kind, DPROF_KIND_COUNT);
	}
	ck_assert_int_gt(sites, SEVERAL);
}
END_TEST

START_TEST(strings_end_within_the_site_and_zeros_fill_it)
{
	int sites = 0;
	FOR_EACH_SITE(s) {
		sites++;
		const char *p = s->strings, *end = (const char *)next(s);
		for (int i = 0; i < 3; i++) {
			const char *nul = memchr(p, 0, end - p);
			ck_assert_ptr_nonnull(nul);
			p = nul + 1;
		}
		ck_assert(end - p < DPROF_SITE_ALIGN || s->size == DPROF_SITE_MIN);
		for (; p < end; p++)
			ck_assert_int_eq(*p, 0);
	}
	ck_assert_int_gt(sites, SEVERAL);
}
END_TEST

static int matches(const struct dprof_site *s, const struct said *p)
{
	const char *file = s->strings + strlen(s->strings) + 1;
	const char *function = file + strlen(file) + 1;
	return !strcmp(s->strings, p->name) && s->kind == p->kind && (int)s->line == p->line &&
	       s->column > 0 && !strcmp(file, __FILE__) && !strcmp(function, p->function);
}

START_TEST(each_place_has_one_site_and_each_site_a_place)
{
	int sites = 0;
	marked(5);
	ck_assert_int_gt(n_places, SEVERAL);
	for (int i = 0; i < n_places; i++) {
		int found = 0;
		FOR_EACH_SITE(s)
			found += matches(s, &places[i]);
		ck_assert_msg(found == 1, "%s, line %d: %d sites", places[i].name, places[i].line, found);
	}
	FOR_EACH_SITE(s)
		sites++;
	ck_assert_int_eq(sites, n_places);
}
END_TEST

int main(void)
{
	TCase *tc = unit_begin(900, 0);

	tcase_add_test(tc, sites_follow_each_other_without_gaps);
	tcase_add_test(tc, strings_end_within_the_site_and_zeros_fill_it);
	tcase_add_test(tc, each_place_has_one_site_and_each_site_a_place);
	return unit_end();
}

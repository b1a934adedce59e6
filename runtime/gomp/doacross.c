/* SPDX-License-Identifier: MIT
 *
 * doacross.c - iterations that wait for other iterations: ordered depend(sink: ...), depend(source).
 *
 *   ENTER omp ordered sink peer=UNKNOWN id=I ... EXIT      if it blocked; for iteration I of the outermost loop
 *   POINT omp ordered source id=I                          iteration I of the outermost loop is done so far
 *
 * The inner loops' iterations are not said: of the posts with that number, which one was waited for is not known.
 * How many loops there are libgomp learns when they begin, and so do we (worksharing.c): it gets as many numbers, and others
 * that it does not look at. Of more than 128 loops the innermost would be missing. */
#include <stdarg.h>

#include "runtime/gomp/gomp.h"

DPROF_SITE_OF(site_sink, DPROF_KIND_WAIT, "omp ordered sink");
DPROF_SITE_OF(site_source, DPROF_KIND_WAIT, "omp ordered source");

#define FEW  7
#define MANY 127
#define GIVE_4(v, i)   v[i], v[i + 1], v[i + 2], v[i + 3]
#define GIVE_FEW(v, i) GIVE_4(v, i), v[i + 4], v[i + 5], v[i + 6]
#define GIVE_8(v, i)   GIVE_4(v, i), GIVE_4(v, i + 4)
#define GIVE_40(v, i)  GIVE_8(v, i), GIVE_8(v, i + 8), GIVE_8(v, i + 16), GIVE_8(v, i + 24), GIVE_8(v, i + 32)
#define GIVE_MANY(v)   GIVE_40(v, 0), GIVE_40(v, 40), GIVE_40(v, 80), GIVE_FEW(v, 120)

/* Loops within the outermost one; where their begin was not seen, as many as are known to be there on any stack. */
static unsigned inner_loops(void)
{
	unsigned loops = team_place.loops;

	return loops == 0 ? FEW : loops - 1 < MANY ? loops - 1 : MANY;
}

static void waited(const struct dprof_site *site, struct dprof_moment since, uint64_t first)
{
	uint64_t now = dprof_adapter_now_fenced();
	struct dprof_arguments a = { 0 };

	if (now - since.stamp < dprof_adapter_blocked_ticks)
		return;
	dprof_say(&a, DPROF_KEY_PEER, DPROF_PEER_UNKNOWN);
	dprof_say(&a, DPROF_KEY_ID, first);
	dprof_adapter_record_enter_at(site, since, &a);
	dprof_adapter_record(site, DPROF_EXIT, now, NULL);
}

#define DOACROSS(wait, post, type)                                                          \
	DPROF_EXPORT void wait(type first, ...);                                            \
	DPROF_EXPORT void wait(type first, ...)                                             \
	{                                                                                   \
		const struct dprof_site *site = wanted() ? SITE_OF_CALL(site_sink) : NULL;  \
		struct dprof_moment since;                                                  \
		unsigned inner = inner_loops();                                             \
		type v[MANY];                                                               \
		va_list list;                                                               \
                                                                                            \
		va_start(list, first);                                                      \
		for (unsigned i = 0; i < (inner > FEW ? MANY : FEW); i++)                   \
			v[i] = i < inner ? va_arg(list, type) : 0;                          \
		va_end(list);                                                               \
		since = dprof_adapter_moment();                                             \
		if (inner > FEW)                                                            \
			REAL(wait)(first, GIVE_MANY(v));                                    \
		else                                                                        \
			REAL(wait)(first, GIVE_FEW(v, 0));                                  \
		if (site)                                                                   \
			waited(site, since, (uint64_t)first);                               \
	}                                                                                   \
	DPROF_EXPORT void post(type *at);                                                   \
	DPROF_EXPORT void post(type *at)                                                    \
	{                                                                                   \
		const struct dprof_site *site = wanted() ? SITE_OF_CALL(site_source) : NULL; \
		struct dprof_arguments a = { 0 };                                           \
                                                                                            \
		dprof_say(&a, DPROF_KEY_ID, (uint64_t)at[0]);                               \
		if (site)                                                                   \
			dprof_adapter_record(site, DPROF_POINT, dprof_adapter_now_fenced(), &a); \
		REAL(post)(at);                                                             \
	}

static bool wanted(void)
{
	return dprof_adapter_wanted(DPROF_KIND_WAIT);
}

DOACROSS(GOMP_doacross_wait, GOMP_doacross_post, long)
DOACROSS(GOMP_doacross_ull_wait, GOMP_doacross_ull_post, unsigned long long)

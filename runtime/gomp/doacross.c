/* SPDX-License-Identifier: MIT
 *
 * doacross.c - iterations that wait for other iterations: ordered depend(sink: ...), depend(source).
 *
 *   ENTER omp ordered sink peer=UNKNOWN id=I ... EXIT      if it blocked; for iteration I of the outermost loop
 *   POINT omp ordered source id=I                          iteration I of the outermost loop is done so far
 *
 * The inner loops' iterations are not said: of the posts with that number, which one was waited for is not known.
 * How many loops there are is libgomp's to know: so it gets as many numbers as may stand there. */
#include <stdarg.h>

#include "runtime/gomp/gomp.h"

DPROF_SITE_OF(site_sink, DPROF_KIND_WAIT, "omp ordered sink");
DPROF_SITE_OF(site_source, DPROF_KIND_WAIT, "omp ordered source");

#define INNER 31 /* loops */
#define GIVE_INNER(v) \
	v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7], v[8], v[9], v[10], v[11], v[12], v[13], v[14], v[15], \
	v[16], v[17], v[18], v[19], v[20], v[21], v[22], v[23], v[24], v[25], v[26], v[27], v[28], v[29], v[30]

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
		type v[INNER];                                                              \
		va_list list;                                                               \
                                                                                            \
		va_start(list, first);                                                      \
		for (int i = 0; i < INNER; i++)                                             \
			v[i] = va_arg(list, type);                                          \
		va_end(list);                                                               \
		since = dprof_adapter_moment();                                             \
		REAL(wait)(first, GIVE_INNER(v));                                           \
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

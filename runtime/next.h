/* SPDX-License-Identifier: MIT
 *
 * next.h - the functions of other libraries that ours stand before.
 *
 * They are looked up when the adapter is loaded, all at once. The loader has a lock for that, which whoever loads a library holds
 * until that library's constructors are done: a thread that such a constructor has made, and waits for, would wait for the lock
 * as soon as it calls something for the first time.
 *
 * Law: once the adapter's constructors have run, no wrapper asks the loader, unless there is no such function. */
#ifndef RUNTIME_NEXT_H
#define RUNTIME_NEXT_H

#include <dlfcn.h>

struct next_function {
	const char *name;
	void *at; /* NULL: not looked up yet, or there is none */
};

/* All of a library's, in one section. */
extern struct next_function __start_dprof_next[] __attribute__((visibility("hidden")));
extern struct next_function __stop_dprof_next[] __attribute__((visibility("hidden")));

static inline void *next_look_up(struct next_function *f)
{
	void *at = dlsym(RTLD_NEXT, f->name);

	__atomic_store_n(&f->at, at, __ATOMIC_RELAXED);
	return at;
}

/* The function of that symbol and type. Before the constructors it is looked up when it is called. */
#define NEXT_FUNCTION(symbol, type)                                                                              \
	({                                                                                              \
		static struct next_function next_one __attribute__((section("dprof_next"))) = { symbol, NULL }; \
		void *next_at = __atomic_load_n(&next_one.at, __ATOMIC_RELAXED);                       \
		(__typeof__(type) *)(__builtin_expect(next_at != NULL, 1) ? next_at : next_look_up(&next_one)); \
	})

/* By a constructor of each adapter. What was not found is no error of the program's (dlerror). */
static inline void next_look_up_all(void)
{
	for (struct next_function *f = __start_dprof_next; f < __stop_dprof_next; f++)
		next_look_up(f);
	dlerror();
}

#endif

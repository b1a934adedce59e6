/* SPDX-License-Identifier: MIT
 *
 * c11.c - C11's threads, which in the GNU C library are POSIX's, by other functions.
 *
 * A thrd_t is a pthread_t, a mtx_t holds a mutex and a cnd_t a condition variable. What these functions
 * do is recorded as what the POSIX ones do, which they call; errors become C11's.
 *
 * Law: as in pthread.h. The C library's own functions make a thread whose result is an int: ours makes one
 * whose result is that int as a pointer, and thrd_join makes it an int again. */
#include <errno.h>
#include <stdlib.h>
#include <threads.h>

#include "runtime/pthread/pthread.h"

static int as_c11(int error)
{
	switch (error) {
	case 0:         return thrd_success;
	case ENOMEM:    return thrd_nomem;
	case ETIMEDOUT: return thrd_timedout;
	case EBUSY:     return thrd_busy;
	default:        return thrd_error;
	}
}

#define MUTEX(m)     ((pthread_mutex_t *)(m))
#define CONDITION(c) ((pthread_cond_t *)(c))

struct start { thrd_start_t function; void *argument; };

static void *start(void *boxed)
{
	struct start s = *(struct start *)boxed;

	free(boxed);
	return (void *)(intptr_t)s.function(s.argument);
}

DPROF_EXPORT int thrd_create(thrd_t *id, thrd_start_t function, void *argument)
{
	struct start *s = IS_OURS ? malloc(sizeof(*s)) : NULL;
	int error;

	if (!s)
		return REAL(thrd_create)(id, function, argument);
	*s = (struct start){ function, argument };
	error = pthread_create(id, NULL, start, s);
	if (error)
		free(s);
	return as_c11(error);
}

DPROF_EXPORT int thrd_join(thrd_t id, int *result)
{
	void *value;
	int error;

	if (!IS_OURS)
		return REAL(thrd_join)(id, result);
	error = pthread_join(id, &value);
	if (!error && result)
		*result = (int)(intptr_t)value;
	return as_c11(error);
}

/* NAME with these parameters does what POSIX does when it is called so. */
#define AS_POSIX(name, parameters, arguments, posix)       \
	DPROF_EXPORT int name parameters                   \
	{                                                  \
		if (!IS_OURS)                              \
			return REAL(name) arguments;       \
		return as_c11(posix);                      \
	}

AS_POSIX(thrd_detach, (thrd_t id), (id), pthread_detach(id))
AS_POSIX(mtx_lock, (mtx_t *m), (m), pthread_mutex_lock(MUTEX(m)))
AS_POSIX(mtx_trylock, (mtx_t *m), (m), pthread_mutex_trylock(MUTEX(m)))
AS_POSIX(mtx_timedlock, (mtx_t *restrict m, const struct timespec *restrict until), (m, until),
	 pthread_mutex_timedlock(MUTEX(m), until))
AS_POSIX(mtx_unlock, (mtx_t *m), (m), pthread_mutex_unlock(MUTEX(m)))
AS_POSIX(cnd_wait, (cnd_t *c, mtx_t *m), (c, m), pthread_cond_wait(CONDITION(c), MUTEX(m)))
AS_POSIX(cnd_timedwait,
	 (cnd_t *restrict c, mtx_t *restrict m, const struct timespec *restrict until),
	 (c, m, until), pthread_cond_timedwait(CONDITION(c), MUTEX(m), until))
AS_POSIX(cnd_signal, (cnd_t *c), (c), pthread_cond_signal(CONDITION(c)))
AS_POSIX(cnd_broadcast, (cnd_t *c), (c), pthread_cond_broadcast(CONDITION(c)))

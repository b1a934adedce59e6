/* SPDX-License-Identifier: MIT
 *
 * completions.c - Wait, Test and their families.
 *
 *   MPI_Wait      ENTER ......... done id EXIT
 *   MPI_Test      nothing; or, when it has completed something, ENTER done id EXIT
 *   MPI_Iprobe    nothing; or, when it has found something, ENTER EXIT
 *
 * Law: what a call completed is said to be done inside of it; a test that completed nothing is not
 * recorded, nor a look that found nothing, unless they follow each other (runtime/polling.c). */
#include "runtime/mpi/adapter.h"

#include <stdlib.h>
#include <string.h>

DPROF_SITE_OF(site_completed, DPROF_KIND_COLL, "completed");

static void say_completed(uint64_t id, uint64_t stamp)
{
	const struct dprof_argument a = { DPROF_KEY_ID, id };

	dprof_adapter_record_with((const void *)&site_completed, DPROF_POINT, stamp, &a, 1);
}

static void say_done(const struct request *r, const MPI_Status *status, uint64_t stamp)
{
	if (r->kind == DPROF_KIND_SEND)
		say_sent(r->id, stamp);
	else if (r->kind == DPROF_KIND_RECV)
		say_received(&r->envelope, r->id, r->no_status ? NULL : status, stamp);
	else if (r->kind == DPROF_KIND_COLL)
		say_completed(r->id, stamp);
}

static __attribute__((noinline)) void any_done(struct request *r, const MPI_Status *status, uint64_t stamp)
{
	if (!r->id) { /* persistent, and not under way */
		request_put_back(r);
		return;
	}
	for (const struct request *also = r; also; also = also->also)
		say_done(also, status, stamp);
	if (r->made_id)
		group_made_as(r->made, r->made_id);
	if (!r->again) {
		request_drop(r);
		return;
	}
	r->id = 0;
	r->left = false;
	request_put_back(r);
}

static inline void request_done(struct request *r, const MPI_Status *status, uint64_t stamp)
{
	if (__builtin_expect(!r->plain, 0)) {
		any_done(r, status, stamp);
		return;
	}
	say_done(r, status, stamp);
	request_drop(r);
}

/* ---- What is waited for ----------------------------------------------------------------------- */

#define FEW 16

/* Taken before the call, after which the handles are gone. */
struct wanted {
	int n;                     /* 0: nothing is recorded */
	struct request **requests; /* NULL in it: not ours */
	MPI_Status *statuses;      /* to be given to MPI */
	uint64_t stamp;            /* behind the call */
	struct request *few[FEW];
	MPI_Status few_statuses[FEW];
	void *more, *more_statuses;
};

/* `theirs` is NULL where MPI's call has only one status. */
static void want(struct wanted *w, int n, const MPI_Request *handles, MPI_Status *theirs)
{
	bool ignored = theirs == MPI_STATUSES_IGNORE;

	w->n = 0;
	w->more = w->more_statuses = NULL;
	w->requests = w->few;
	w->statuses = theirs;
	if (!calls_recorded() || n <= 0 || !handles)
		return;
	if (n > FEW) {
		w->requests = w->more = malloc((size_t)n * sizeof(*w->requests));
		if (ignored)
			w->more_statuses = malloc((size_t)n * sizeof(MPI_Status));
		if (!w->more || (ignored && !w->more_statuses))
			return;
	}
	if (ignored)
		w->statuses = n > FEW ? w->more_statuses : w->few_statuses;
	for (int i = 0; i < n; i++)
		w->requests[i] = request_take(handles[i]);
	w->n = n;
}

static bool fetches(const struct request *r)
{
	return r && r->kind == DPROF_KIND_WAIT && r->id == REQUEST_FETCHES;
}

/* The ENTER of a call that waits for these. With no handle but MPI_REQUEST_NULL nothing is under way, and that is said,
 * unless not all are here; likewise if all that is under way fetches what was found; or what was `left` by a call that
 * might have completed it. */
static inline __attribute__((always_inline)) void enter_for(struct mpi_call *c, struct request *const *requests,
							    const MPI_Request *handles, int n, bool all, bool named)
{
	struct dprof_arguments a;
	bool foreign = false, idle = all, fetch = all, left = false;

	a.words = 0;
	for (int i = 0; i < n; i++) {
		foreign |= requests[i] && requests[i]->kind == DPROF_KIND_WAIT;
		idle &= handles[i] == MPI_REQUEST_NULL;
		left |= named && requests[i] && requests[i]->left;
		fetch &= handles[i] == MPI_REQUEST_NULL || fetches(requests[i]);
	}
	if (foreign && c->on)
		dprof_say(&a, DPROF_KEY_PEER, DPROF_PEER_UNKNOWN);
	if (left && !foreign && c->on)
		dprof_say(&a, DPROF_KEY_ROLE, 1);
	if (foreign && fetch && c->on)
		dprof_say(&a, DPROF_KEY_ROLE, 0);
	if (idle && c->on)
		dprof_say(&a, DPROF_KEY_ID, 0);
	call_enter(c, &a);
}

/* The same as want() in a call that waits for all of them, or `any`. */
static struct mpi_call want_in(const void *site, const char *name, struct wanted *w, int n,
			       const MPI_Request *handles, MPI_Status *theirs, bool any)
{
	struct mpi_call c = call_of(site, name);

	want(w, n, handles, theirs);
	enter_for(&c, w->requests, handles, w->n, w->n == n, !any);
	return c;
}

/* MPI's call is over. */
static void over(struct wanted *w)
{
	w->stamp = w->n ? dprof_adapter_now_fenced() : 0;
}

static void end_at(struct mpi_call c, const struct wanted *w)
{
	if (w->stamp)
		call_end_at(c, w->stamp);
	else
		call_end(c);
}

static void want_no_more(struct wanted *w)
{
	for (int i = 0; i < w->n; i++)
		if (w->requests[i])
			request_put_back(w->requests[i]);
	free(w->more);
	free(w->more_statuses);
}

/* Others of them are complete. */
static void leave(const struct wanted *w)
{
	for (int i = 0; i < w->n; i++)
		if (w->requests[i])
			w->requests[i]->left = true;
}

/* The one at `at`; MPI_UNDEFINED: none. */
static void one_done(struct wanted *w, int at, const MPI_Status *status)
{
	if (at < 0 || at >= w->n || !w->requests[at])
		return;
	request_done(w->requests[at], status, w->stamp);
	w->requests[at] = NULL;
}

/* Of several. */
static void one_is_done(struct wanted *w, int at, const MPI_Status *status)
{
	one_done(w, at, status);
	if (at != MPI_UNDEFINED)
		leave(w);
}

static bool is_done(int result, const MPI_Status *status)
{
	return result == MPI_SUCCESS ||
	       (result == MPI_ERR_IN_STATUS && status->MPI_ERROR == MPI_SUCCESS);
}

static void all_done(struct wanted *w, int result)
{
	for (int i = 0; i < w->n; i++)
		if (is_done(result, &w->statuses[i]))
			one_done(w, i, &w->statuses[i]);
}

/* Whatever else MPI refused, it did not touch what it was given. */
static bool says_how_many(int result)
{
	return result == MPI_SUCCESS || result == MPI_ERR_IN_STATUS;
}

static void some_done(struct wanted *w, int n, const int *which, int result)
{
	for (int i = 0; i < n; i++)
		if (is_done(result, &w->statuses[i]))
			one_done(w, which[i], &w->statuses[i]);
	if (n > 0)
		leave(w);
}

/* ---- Wait ------------------------------------------------------------------------------------- */

/* A send says nothing of what came. */
static bool needs_status(const struct request *r)
{
	return r && (r->kind != DPROF_KIND_SEND || r->also);
}

DPROF_SITE_OF(site_Wait, DPROF_KIND_WAIT, "MPI_Wait");
DPROF_EXPORT int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
	struct mpi_call c = call_of(NAMED(Wait));
	struct request *r = c.on && request ? request_take(*request) : NULL;
	MPI_Status own, *s = status == MPI_STATUS_IGNORE && needs_status(r) ? &own : status;
	uint64_t stamp;
	int result;

	if (!c.site)
		return PMPI_Wait(request, status);
	enter_for(&c, &r, request, c.on && request, request != NULL, true);
	result = PMPI_Wait(request, s);
	stamp = dprof_adapter_now_fenced();
	if (r && result == MPI_SUCCESS)
		request_done(r, s, stamp);
	else if (r)
		request_put_back(r);
	call_end_at(c, stamp);
	return result;
}

DPROF_SITE_OF(site_Waitall, DPROF_KIND_WAIT, "MPI_Waitall");
DPROF_EXPORT int MPI_Waitall(int n, MPI_Request requests[], MPI_Status *statuses)
{
	struct wanted w;
	struct mpi_call c = want_in(NAMED(Waitall), &w, n, requests, statuses, false);
	int result = PMPI_Waitall(n, requests, w.statuses);

	over(&w);
	all_done(&w, result);
	want_no_more(&w);
	end_at(c, &w);
	return result;
}

DPROF_SITE_OF(site_Waitany, DPROF_KIND_WAIT, "MPI_Waitany");
DPROF_EXPORT int MPI_Waitany(int n, MPI_Request requests[], int *which, MPI_Status *status)
{
	MPI_Status own, *s = status == MPI_STATUS_IGNORE && calls_recorded() ? &own : status;
	struct wanted w;
	struct mpi_call c = want_in(NAMED(Waitany), &w, n, requests, s, true);
	int result = PMPI_Waitany(n, requests, which, s);

	over(&w);
	if (result == MPI_SUCCESS)
		one_is_done(&w, *which, s);
	want_no_more(&w);
	end_at(c, &w);
	return result;
}

DPROF_SITE_OF(site_Waitsome, DPROF_KIND_WAIT, "MPI_Waitsome");
DPROF_EXPORT int MPI_Waitsome(int n, MPI_Request requests[], int *ndone, int which[],
			      MPI_Status *statuses)
{
	struct wanted w;
	struct mpi_call c = want_in(NAMED(Waitsome), &w, n, requests, statuses, true);
	int result = PMPI_Waitsome(n, requests, ndone, which, w.statuses);

	over(&w);
	if (w.n && says_how_many(result))
		some_done(&w, *ndone, which, result);
	want_no_more(&w);
	end_at(c, &w);
	return result;
}

/* ---- Test ------------------------------------------------------------------------------------- */

/* The call has completed something, or found it, and was begun then. */
static struct mpi_call begin_at_last(const void *site, const char *name, struct dprof_moment from)
{
	struct mpi_call c = call_of(site, name);

	if (!c.site)
		return c;
	dprof_adapter_record(c.site, DPROF_ENTER, dprof_adapter_polled(from.stamp), NULL);
	call_entered(&c);
	return c;
}

/* It has not. */
static void in_vain(const void *site, const char *name, struct dprof_moment from)
{
	struct mpi_call c = call_of(site, name);

	if (c.site)
		dprof_adapter_in_vain(c.site, from);
}

/* When a call begins that may be in vain. */
static struct dprof_moment attempt(bool recorded)
{
	return recorded ? dprof_adapter_moment() : (struct dprof_moment){ 0 };
}

DPROF_SITE_OF(site_Test, DPROF_KIND_WAIT, "MPI_Test");
DPROF_EXPORT int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
	struct request *r = calls_recorded() && request ? request_take(*request) : NULL;
	MPI_Status own, *s = status == MPI_STATUS_IGNORE && needs_status(r) ? &own : status;
	struct dprof_moment from = attempt(r != NULL);
	int result = PMPI_Test(request, flag, s);

	if (r && result == MPI_SUCCESS && *flag) {
		struct mpi_call c = begin_at_last(NAMED(Test), from);
		uint64_t stamp = dprof_adapter_now_fenced();

		request_done(r, s, stamp);
		call_end_at(c, stamp);
	} else if (r) {
		request_put_back(r);
		in_vain(NAMED(Test), from);
	}
	return result;
}

DPROF_SITE_OF(site_Testall, DPROF_KIND_WAIT, "MPI_Testall");
DPROF_EXPORT int MPI_Testall(int n, MPI_Request requests[], int *flag, MPI_Status *statuses)
{
	struct wanted w;
	struct dprof_moment from;
	int result;

	want(&w, n, requests, statuses);
	from = attempt(w.n > 0);
	result = PMPI_Testall(n, requests, flag, w.statuses);
	if (w.n && result == MPI_SUCCESS && *flag) {
		struct mpi_call c = begin_at_last(NAMED(Testall), from);

		over(&w);
		all_done(&w, result);
		end_at(c, &w);
	} else if (w.n && result == MPI_SUCCESS && !*flag) {
		in_vain(NAMED(Testall), from);
	}
	want_no_more(&w);
	return result;
}

DPROF_SITE_OF(site_Testany, DPROF_KIND_WAIT, "MPI_Testany");
DPROF_EXPORT int MPI_Testany(int n, MPI_Request requests[], int *which, int *flag,
			     MPI_Status *status)
{
	MPI_Status own, *s = status == MPI_STATUS_IGNORE ? &own : status;
	struct wanted w;
	struct dprof_moment from;
	int result;

	want(&w, n, requests, s);
	from = attempt(w.n > 0);
	result = PMPI_Testany(n, requests, which, flag, s);
	if (w.n && result == MPI_SUCCESS && *flag && *which != MPI_UNDEFINED) {
		struct mpi_call c = begin_at_last(NAMED(Testany), from);

		over(&w);
		one_is_done(&w, *which, s);
		end_at(c, &w);
	} else if (w.n && result == MPI_SUCCESS && !*flag) {
		in_vain(NAMED(Testany), from);
	}
	want_no_more(&w);
	return result;
}

DPROF_SITE_OF(site_Testsome, DPROF_KIND_WAIT, "MPI_Testsome");
DPROF_EXPORT int MPI_Testsome(int n, MPI_Request requests[], int *ndone, int which[],
			      MPI_Status *statuses)
{
	struct wanted w;
	struct dprof_moment from;
	int result;

	want(&w, n, requests, statuses);
	from = attempt(w.n > 0);
	result = PMPI_Testsome(n, requests, ndone, which, w.statuses);
	if (w.n && says_how_many(result) && *ndone > 0) {
		struct mpi_call c = begin_at_last(NAMED(Testsome), from);

		over(&w);
		some_done(&w, *ndone, which, result);
		end_at(c, &w);
	} else if (w.n && result == MPI_SUCCESS && *ndone == 0) {
		in_vain(NAMED(Testsome), from);
	}
	want_no_more(&w);
	return result;
}

/* ---- Looks ------------------------------------------------------------------------------------ */

/* What was found stays where it is: whoever takes it next has waited for it, and the look says since when. */
#define WRAP_LOOK(name, parameters, arguments, found)                                             \
	DPROF_SITE_OF(site_##name, DPROF_KIND_WAIT, "MPI_" #name);                                \
	DPROF_EXPORT int MPI_##name parameters                                                    \
	{                                                                                         \
		struct dprof_moment begun = attempt(calls_recorded());                            \
		int result = PMPI_##name arguments;                                               \
                                                                                                  \
		if (result == MPI_SUCCESS && *(found))                                            \
			call_end(begin_at_last(NAMED(name), begun));                              \
		else if (result == MPI_SUCCESS && calls_recorded())                               \
			in_vain(NAMED(name), begun);                                              \
		return result;                                                                    \
	}

WRAP_LOOK(Iprobe, (int from, int tag, MPI_Comm comm, int *found, MPI_Status *status),
	  (from, tag, comm, found, status), found)
WRAP_LOOK(Request_get_status, (MPI_Request request, int *complete, MPI_Status *status),
	  (request, complete, status), complete)
#if MPI_VERSION >= 4
WRAP_LOOK(Parrived, (MPI_Request request, int part, int *arrived), (request, part, arrived), arrived)
#endif

/* ---- What the program completes itself -------------------------------------------------------- */

WRAP_FOREIGN(Grequest_start,
	     (MPI_Grequest_query_function *query, MPI_Grequest_free_function *forget,
	      MPI_Grequest_cancel_function *cancel, void *state, MPI_Request *request),
	     (query, forget, cancel, state, request))

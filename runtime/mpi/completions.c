/* SPDX-License-Identifier: MIT
 *
 * completions.c - Wait, Test and their families.
 *
 *   MPI_Wait      ENTER ......... done id EXIT
 *   MPI_Test      nothing; or, when it has completed something, ENTER done id EXIT
 *
 * Law: what a call completed is said to be done inside of it; a test that completed nothing is not
 * recorded. */
#include "runtime/mpi/adapter.h"

#include <stdlib.h>
#include <string.h>

DPROF_SITE_OF(site_completed, DPROF_KIND_COLL, "completed");

static void say_completed(uint64_t id)
{
	struct dprof_argument a = { DPROF_KEY_ID, id };

	dprof_adapter_point((const void *)&site_completed);
	dprof_adapter_arguments(&a, 1);
}

static void say_done(const struct request *r, const MPI_Status *status)
{
	if (r->kind == DPROF_KIND_SEND)
		say_sent(r->id);
	else if (r->kind == DPROF_KIND_RECV)
		say_received(&r->envelope, r->id, r->no_status ? NULL : status);
	else if (r->kind == DPROF_KIND_COLL)
		say_completed(r->id);
}

static void request_done(struct request *r, const MPI_Status *status)
{
	if (!r->id) { /* persistent, and not under way */
		request_put_back(r);
		return;
	}
	say_done(r, status);
	if (r->also)
		say_done(r->also, status);
	if (r->made_id)
		group_made_as(r->made, r->made_id);
	if (!r->again) {
		request_drop(r);
		return;
	}
	r->id = 0;
	request_put_back(r);
}

/* ---- What is waited for ----------------------------------------------------------------------- */

#define FEW 16

/* Taken before the call, after which the handles are gone. */
struct wanted {
	int n;                     /* 0: nothing is recorded */
	struct request **requests; /* NULL in it: not ours */
	MPI_Status *statuses;      /* to be given to MPI */
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
	if (!mpi_active || !dprof_adapter_recording() || n <= 0)
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

/* The same in a call that waits. */
static void want_in(struct call c, struct wanted *w, int n, const MPI_Request *handles,
		    MPI_Status *theirs)
{
	bool foreign = false;

	want(w, n, handles, theirs);
	for (int i = 0; i < w->n; i++)
		foreign |= w->requests[i] && w->requests[i]->kind == DPROF_KIND_WAIT;
	if (foreign)
		call_waits(c);
}

static void want_no_more(struct wanted *w)
{
	for (int i = 0; i < w->n; i++)
		if (w->requests[i])
			request_put_back(w->requests[i]);
	free(w->more);
	free(w->more_statuses);
}

/* The one at `at`; MPI_UNDEFINED: none. */
static void one_done(struct wanted *w, int at, const MPI_Status *status)
{
	if (at < 0 || at >= w->n || !w->requests[at])
		return;
	request_done(w->requests[at], status);
	w->requests[at] = NULL;
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

static void some_done(struct wanted *w, int n, const int *which, int result)
{
	for (int i = 0; i < n && w->n; i++)
		if (is_done(result, &w->statuses[i]))
			one_done(w, which[i], &w->statuses[i]);
}

/* ---- Wait ------------------------------------------------------------------------------------- */

DPROF_SITE_OF(site_Wait, DPROF_KIND_WAIT, "MPI_Wait");
DPROF_EXPORT int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
	struct call c = call_begin(NAMED(Wait));
	struct request *r = c.on ? request_take(*request) : NULL;
	MPI_Status own, *s = status == MPI_STATUS_IGNORE && r ? &own : status;
	int result;

	if (r && r->kind == DPROF_KIND_WAIT)
		call_waits(c);
	result = PMPI_Wait(request, s);
	if (r && result == MPI_SUCCESS)
		request_done(r, s);
	else if (r)
		request_put_back(r);
	call_end(c);
	return result;
}

DPROF_SITE_OF(site_Waitall, DPROF_KIND_WAIT, "MPI_Waitall");
DPROF_EXPORT int MPI_Waitall(int n, MPI_Request requests[], MPI_Status *statuses)
{
	struct call c = call_begin(NAMED(Waitall));
	struct wanted w;
	int result;

	want_in(c, &w, n, requests, statuses);
	result = PMPI_Waitall(n, requests, w.statuses);
	all_done(&w, result);
	want_no_more(&w);
	call_end(c);
	return result;
}

DPROF_SITE_OF(site_Waitany, DPROF_KIND_WAIT, "MPI_Waitany");
DPROF_EXPORT int MPI_Waitany(int n, MPI_Request requests[], int *which, MPI_Status *status)
{
	struct call c = call_begin(NAMED(Waitany));
	MPI_Status own, *s = status == MPI_STATUS_IGNORE && c.on ? &own : status;
	struct wanted w;
	int result;

	want_in(c, &w, n, requests, s);
	result = PMPI_Waitany(n, requests, which, s);
	if (result == MPI_SUCCESS)
		one_done(&w, *which, s);
	want_no_more(&w);
	call_end(c);
	return result;
}

DPROF_SITE_OF(site_Waitsome, DPROF_KIND_WAIT, "MPI_Waitsome");
DPROF_EXPORT int MPI_Waitsome(int n, MPI_Request requests[], int *ndone, int which[],
			      MPI_Status *statuses)
{
	struct call c = call_begin(NAMED(Waitsome));
	struct wanted w;
	int result;

	want_in(c, &w, n, requests, statuses);
	result = PMPI_Waitsome(n, requests, ndone, which, w.statuses);
	some_done(&w, *ndone, which, result);
	want_no_more(&w);
	call_end(c);
	return result;
}

/* ---- Test ------------------------------------------------------------------------------------- */

DPROF_SITE_OF(site_Test, DPROF_KIND_WAIT, "MPI_Test");
DPROF_EXPORT int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
	bool on = mpi_active && dprof_adapter_recording();
	struct request *r = on ? request_take(*request) : NULL;
	MPI_Status own, *s = status == MPI_STATUS_IGNORE && r ? &own : status;
	int result = PMPI_Test(request, flag, s);

	if (r && result == MPI_SUCCESS && *flag) {
		struct call c = call_begin(NAMED(Test));

		request_done(r, s);
		call_end(c);
	} else if (r) {
		request_put_back(r);
	}
	return result;
}

DPROF_SITE_OF(site_Testall, DPROF_KIND_WAIT, "MPI_Testall");
DPROF_EXPORT int MPI_Testall(int n, MPI_Request requests[], int *flag, MPI_Status *statuses)
{
	struct wanted w;
	int result;

	want(&w, n, requests, statuses);
	result = PMPI_Testall(n, requests, flag, w.statuses);
	if (w.n && result == MPI_SUCCESS && *flag) {
		struct call c = call_begin(NAMED(Testall));

		all_done(&w, result);
		call_end(c);
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
	int result;

	want(&w, n, requests, s);
	result = PMPI_Testany(n, requests, which, flag, s);
	if (w.n && result == MPI_SUCCESS && *flag && *which != MPI_UNDEFINED) {
		struct call c = call_begin(NAMED(Testany));

		one_done(&w, *which, s);
		call_end(c);
	}
	want_no_more(&w);
	return result;
}

DPROF_SITE_OF(site_Testsome, DPROF_KIND_WAIT, "MPI_Testsome");
DPROF_EXPORT int MPI_Testsome(int n, MPI_Request requests[], int *ndone, int which[],
			      MPI_Status *statuses)
{
	struct wanted w;
	int result;

	want(&w, n, requests, statuses);
	result = PMPI_Testsome(n, requests, ndone, which, w.statuses);
	if (w.n && *ndone > 0) {
		struct call c = call_begin(NAMED(Testsome));

		some_done(&w, *ndone, which, result);
		call_end(c);
	}
	want_no_more(&w);
	return result;
}

/* ---- What the program completes itself -------------------------------------------------------- */

WRAP_FOREIGN(Grequest_start,
	     (MPI_Grequest_query_function *query, MPI_Grequest_free_function *forget,
	      MPI_Grequest_cancel_function *cancel, void *state, MPI_Request *request),
	     (query, forget, cancel, state, request))

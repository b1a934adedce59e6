/* SPDX-License-Identifier: MIT
 *
 * adapter.h - the parts of the MPI adapter; one source for every MPI (OpenMPI, MPICH).
 *
 *   functions.def  all functions of MPI, and what is made of them
 *   calls.c        begin and end of MPI
 *   collectives.c  collective operations
 *   communicators.c  what makes communicators
 *   messages.c     sends and receives
 *   neighbors.c    collective operations of neighbours
 *   partitioned.c  sends and receives in parts
 *   persistent.c   what may be started again and again
 *   windows.c      one-sided communication
 *   files.c        files that several ranks write together
 *   completions.c  Wait, Test and their families
 *   requests.h     what was begun and is not complete
 *   groups.c       numbers communicators
 *   members.h      which ranks are linked with the adapter
 *   hosts.c        numbers hosts and lets FreeZer measure between them (hosts.h)
 *   fortran.c      calls from Fortran go the way of those from C
 *
 * The plugin says where a call stands that it saw; all are recorded in here: ENTER ARG ARG ARG ... EXIT
 *
 * Law: what needs all ranks of MPI_COMM_WORLD is done by all of them or by none, whether a
 * rank itself records or not; and no error of MPI in here reaches the program. */
#ifndef RUNTIME_MPI_ADAPTER_H
#define RUNTIME_MPI_ADAPTER_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/adapter.h"

/* ---- Calls ------------------------------------------------------------------------------------ */

/* Between MPI_Init and MPI_Finalize, if any rank records. */
extern bool mpi_active;

/* Threads may call MPI at the same time. */
extern bool mpi_multiple;

#define MPI_KINDS (DPROF_KIND_BIT(DPROF_KIND_SEND) | DPROF_KIND_BIT(DPROF_KIND_RECV) | \
		   DPROF_KIND_BIT(DPROF_KIND_WAIT) | DPROF_KIND_BIT(DPROF_KIND_COLL) | \
		   DPROF_KIND_BIT(DPROF_KIND_BARRIER))

/* A call that is being recorded. */
struct mpi_call {
	bool on;                       /* say what it does */
	const struct dprof_site *site; /* it is recorded there; or NULL */
	const uint64_t *place;         /* behind its ENTER */
};

/* Is anything of MPI recorded? One test; and the same between MPI_Init and MPI_Finalize. */
#define ANY_CALLS __builtin_expect((dprof_adapter_kinds & MPI_KINDS) != 0, 1)

static inline bool calls_recorded(void)
{
	return ANY_CALLS && mpi_active;
}

/* A Fortran library stands between the program and us, and may copy arrays to its stack. */
#define CALL_NEAR (UINT64_C(1) << 20)

/* How the call is to be recorded that the thread is in: where the plugin saw it, or else at the site, if there is
 * one; with a name "" it is none that the plugin sees. And its ENTER. */
static inline struct mpi_call call_of(const void *site, const char *name)
{
	const struct dprof_site *seen;

	if (!(dprof_adapter_kinds & MPI_KINDS))
		return (struct mpi_call){ 0 };
	seen = *name ? dprof_adapter_call(DPROF_KIND_NONE, name, CALL_NEAR) : NULL;
	return (struct mpi_call){ mpi_active && (seen || site),
				  seen ? seen : mpi_active ? site : NULL, NULL };
}

/* That of the ENTER, which was just recorded. */
static inline void call_entered(struct mpi_call *c)
{
	if (dprof_adapter_wanted(dprof_site_kind(c->site)))
		c->place = dprof_adapter_place();
}

static inline void call_enter(struct mpi_call *c, const struct dprof_arguments *a)
{
	if (!c->site)
		return;
	dprof_adapter_record(c->site, DPROF_ENTER, 0, a);
	call_entered(c);
}

/* Both, where there is nothing to say. */
struct mpi_call call_begin(const void *site, const char *name);

/* The EXIT, now or with a stamp; and more of the ENTER, if nothing was recorded since. */
void call_end(struct mpi_call);
static inline void call_end_at(struct mpi_call c, uint64_t stamp)
{
	if (c.site)
		dprof_adapter_record(c.site, DPROF_EXIT, stamp, NULL);
}
void call_add(struct mpi_call, enum dprof_key, uint64_t value);

/* The call waits for others, it is unknown for whom. */
struct mpi_call wait_begin(const void *site, const char *name);

#define UNKNOWN_BYTES UINT64_MAX
uint64_t bytes_of_any(MPI_Count, MPI_Datatype);

/* The type of which the calling thread asked last, if it has its size for good; 0: there is none. */
struct type_size { MPI_Datatype type; MPI_Count size; };
extern __thread struct type_size type_last;

static inline uint64_t bytes_of(MPI_Count count, MPI_Datatype type)
{
	if (__builtin_expect(type == type_last.type && type_last.size && count >= 0, 1))
		return (uint64_t)count * (uint64_t)type_last.size;
	return bytes_of_any(count, type);
}

/* The site and the name of MPI_Name. */
#define NAMED(name) &site_##name, "MPI_" #name

/* MPI_Called, which is shown as MPI_Name, waits for an unknown peer. */
#define WRAP_WAIT_AS(name, called, parameters, arguments)                                         \
	DPROF_EXPORT int MPI_##called parameters                                                  \
	{                                                                                         \
		struct mpi_call c = wait_begin(NAMED(name));                                      \
		int result = PMPI_##called arguments;                                             \
                                                                                                  \
		call_end(c);                                                                      \
		return result;                                                                    \
	}
#define WRAP_WAIT(name, parameters, arguments)                                                    \
	DPROF_SITE_OF(site_##name, DPROF_KIND_WAIT, "MPI_" #name);                                \
	WRAP_WAIT_AS(name, name, parameters, arguments)

/* Who completes the request that MPI_Called begins waits for an unknown peer. */
#define WRAP_FOREIGN(called, parameters, arguments) WRAP_BEGUN(called, parameters, arguments, request_foreign)
#define WRAP_BEGUN(called, parameters, arguments, keep)                                           \
	DPROF_EXPORT int MPI_##called parameters                                                  \
	{                                                                                         \
		int result = PMPI_##called arguments;                                             \
                                                                                                  \
		if (result == MPI_SUCCESS)                                                        \
			keep(*request);                                                           \
		return result;                                                                    \
	}

/* ---- Groups ----------------------------------------------------------------------------------- */

/* A communicator as the trace knows it. */
struct group {
	uint64_t id;       /* 0: the trace does not know it */
	uint64_t seq;      /* of its next collective operation */
	int rank;          /* ours in it */
	int npeers;        /* to whom messages can go: its members, or those of the other group */
	int *peers;        /* their ranks in MPI_COMM_WORLD */
	bool between;      /* two groups */
	uint64_t npersistent; /* collective operations that may be started again and again */
	uint64_t nderived; /* numbers made from its own */
	uint64_t instead;  /* of id, in collective operations since one failed; or 0 */
	unsigned users;    /* the communicator, and what is under way */
	struct neighbors *near; /* in it; NULL: not asked for, or there are none */
};

/* The group of `comm`, or NULL. At the first collective operation on a communicator that was made
 * in a way not known here, all its members come here and agree on a number. */
struct group *group_of(MPI_Comm comm);

/* The same, where no rank may be waited for: there is one only if they have agreed before. */
struct group *group_known_any(MPI_Comm comm);

/* The communicator that the calling thread asked for last; it may be another one once any is gone, whose handle may come
 * again. */
struct group_asked { MPI_Comm comm; struct group *group; unsigned gone; };
extern __thread struct group_asked group_last;
extern unsigned groups_gone;

static inline struct group *group_known(MPI_Comm comm)
{
	struct group *g = group_last.group;

	if (__builtin_expect(g && group_last.comm == comm &&
			     group_last.gone == __atomic_load_n(&groups_gone, __ATOMIC_ACQUIRE), 1))
		return g->id ? g : NULL;
	return group_known_any(comm);
}

/* All members of this new communicator are here: they agree. */
void group_made(MPI_Comm comm);

/* A number that all members of a group make without a message, when each makes the n-th; 0: there
 * is none. And the group of a new communicator, or of these members (to be freed by it) who share a window or a file, that
 * has such a number. */
uint64_t group_derive(struct group *);
void group_made_as(MPI_Comm comm, uint64_t id);
struct group *group_with(MPI_Group members, uint64_t id);

/* An operation of all its members failed here: it is unknown which of the others' it would have
 * been, so those to come have another number than the others'. */
void group_doubt(struct group *);

static inline void group_keep(struct group *g)
{
	if (mpi_multiple)
		__atomic_fetch_add(&g->users, 1, __ATOMIC_RELAXED);
	else
		g->users++;
}

void group_forget(struct group *); /* it is not used */
static inline void group_release(struct group *g)
{
	unsigned left = mpi_multiple ? __atomic_sub_fetch(&g->users, 1, __ATOMIC_ACQ_REL) : --g->users;

	if (left == 0)
		group_forget(g);
}

/* After MPI_Init, before MPI_Finalize. On ranks that agreed that some rank records. */
void groups_start(void);
void groups_stop(void);

#include "runtime/mpi/requests.h"

/* ---- Messages --------------------------------------------------------------------------------- */

/* A send or a receive in its call. */
struct post {
	struct mpi_call call;
	struct message_envelope envelope;
	enum dprof_kind kind;
	uint64_t id;           /* 0: it ends with its call */
};

struct message_envelope envelope_of(MPI_Count count, MPI_Datatype, int peer, int tag, MPI_Comm);

struct post post_begun(enum dprof_kind, const void *site, const char *name,
		       struct message_envelope);
/* The same for an operation that has its number already; 0: that ends with its call. */
struct post post_as(enum dprof_kind, const void *site, const char *name, struct message_envelope,
		    uint64_t id);

/* MPI has refused it, or it is unknown what came of it; before its call is over. */
static inline void post_failed(const struct post *p)
{
	if (!p->envelope.none)
		call_add(p->call, DPROF_KEY_ROLE, DPROF_ROLE_UNKNOWN);
}
/* The call is over; what it only began has this handle now (NULL: that failed). */
void post_end(const struct post *, const MPI_Request *);
/* A receive has taken this message, in a call that goes on (NULL: that failed). */
void post_received(const struct post *, const MPI_Status *);

/* POINT "done" of an operation with an id, or of the receive around it; no status: it is not known
 * what came. */
void say_sent(uint64_t id, uint64_t stamp);
void say_received(const struct message_envelope *, uint64_t id, const MPI_Status *, uint64_t stamp);

/* ---- Collective operations -------------------------------------------------------------------- */

/* An operation of all members of a communicator, or of a group; bytes: what this rank gives or
 * gets. */
#define NOT_ROOTED (-1)
#define ROLE_UNKNOWN (-2) /* the wait dependencies */
struct mpi_call collective_begin(const void *site, const char *name, MPI_Comm, int root,
				 uint64_t bytes);
struct mpi_call group_operation_begin(const void *site, const char *name, struct group *, int root,
				      uint64_t bytes);
struct post collective_begun(const void *site, const char *name, struct group *, int root,
			     uint64_t bytes);

/* Ranks to which this one sends, and then those from which it receives, each with how much and the number of the message
 * that is under way; negative: none. */
struct neighbor { int rank; uint64_t bytes, id; };
struct neighbors { int nout, n; struct neighbor with[]; };

/* Those in a communicator, which are the group's; so many others, to be filled in and freed. NULL where they are not known. */
struct neighbors *neighbors_of(struct group *, MPI_Comm);
struct neighbors *neighbors_make(int nout, int nin);

/* A call that exchanges with each (NULL: with nobody who is known) what was put there. */
enum neighbors_kind { NEIGHBORS_EXCHANGE, NEIGHBORS_POST, NEIGHBORS_COMPLETE };
struct mpi_call neighbors_begin(const void *site, const char *name, const struct group *, struct neighbors *,
				enum neighbors_kind);
void neighbors_end(struct mpi_call, const struct neighbors *, bool done);
/* Of a call that only begins it; the handle of what completes it, or NULL. */
void neighbors_begun(struct mpi_call, struct group *, const struct neighbors *, const MPI_Request *);

/* MPI has refused it, or it came to nothing; before its call ends. */
void collective_failed(struct mpi_call, struct group *);

/* One of the starts of one that may be started again and again. */
struct post collective_started(struct request *);

/* ---- Messages in parts ------------------------------------------------------------------------ */

void parts_free(struct partitions *);
/* All are to be sent again. */
void parts_started(struct partitions *);

/* ---- Hosts ------------------------------------------------------------------------------------ */

/* Collective over all ranks, after MPI_Init; true when any rank records. */
bool hosts_start(void);
/* Sleeps until all ranks have come here, and ends what is measured meanwhile; before hosts_stop().
 * */
void hosts_sync(void);
/* Behind that, whether files are to be brought to rank 0: then nothing more is to be recorded. */
bool hosts_gather(void);
/* Measures for the last time, behind hosts_sync(), while the process still records: what is sent is of its run. */
void hosts_sync_last(void);
/* Brings files to rank 0 and gives everything back; before MPI_Finalize. */
void hosts_stop(void);

#endif

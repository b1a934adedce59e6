/* SPDX-License-Identifier: MIT
 *
 * partitioned.c - MPI 4's messages in parts, of which each is said to be ready on its own.
 *
 *   sender     MPI_Start   MPI_Pready   MPI_Pready: ENTER id EXIT, the last part  ...  done id
 *   receiver   MPI_Start: ENTER id EXIT   ...........................................  done id
 *
 * A message is sent when its last part is ready, by the thread that says so. If several threads say
 * of parts that they are ready, any of them may be the one that the message waited for: from then
 * on this sender's messages are recorded without saying to whom.
 *
 * MPI matches such messages when they are made, not when they are started, and with their kind only. So
 * each pair has a tag of its own in the trace:
 *
 *   | 1 | 22 bits: index among those between the two with this tag | 32 bits: tag | */
#include "runtime/mpi/adapter.h"
#include "runtime/sys.h"

#if MPI_VERSION >= 4
#include <stdlib.h>

#define OF_PARTS (UINT64_C(1) << 54)
#define NTH      32
#define NTH_MOST ((UINT64_C(1) << 22) - 1)

struct partitions {
	int n;
	int left;               /* that are not ready */
	const void *thread;     /* that has said of parts that they are ready, or NULL */
	bool several;           /* threads have */
};

static __thread char self; /* its address names the thread */

void parts_free(struct partitions *p)
{
	free(p);
}

void parts_started(struct partitions *p)
{
	__atomic_store_n(&p->left, p->n, __ATOMIC_RELAXED);
}

/* ---- Which of them it is ---------------------------------------------------------------------- */

static struct partitioned_pair {
	struct partitioned_pair *next;
	uint64_t group, peer, tag;
	enum dprof_kind kind;
	uint64_t n;
} *all_made;
static bool lock;

static uint64_t how_many(const struct message_envelope *e, enum dprof_kind kind)
{
	struct partitioned_pair *m = all_made;

	while (m && (m->group != e->group->id || m->peer != e->peer || m->tag != e->tag ||
		     m->kind != kind))
		m = m->next;
	if (!m && (m = malloc(sizeof(*m)))) {
		*m = (struct partitioned_pair){ all_made, e->group->id, e->peer, e->tag, kind, 0 };
		all_made = m;
	}
	return m ? ++m->n : NTH_MOST + 1;
}

/* Its tag is that of the pair. */
static struct message_envelope of_pair(struct message_envelope e, enum dprof_kind kind)
{
	uint64_t n;

	if (!e.group)
		return e;
	for (unsigned tries = 0; __atomic_test_and_set(&lock, __ATOMIC_ACQUIRE); tries++)
		sys_wait_for_other(tries);
	n = how_many(&e, kind);
	__atomic_clear(&lock, __ATOMIC_RELEASE);
	if (n > NTH_MOST)
		e.group = NULL;
	e.tag = OF_PARTS | n << NTH | e.tag;
	return e;
}

static void keep(const void *again, enum dprof_kind kind, struct message_envelope e, int n,
		 const MPI_Request *handle)
{
	struct request r = { .again = again, .kind = kind };

	if (!handle || !mpi_active || !dprof_adapter_recording() || e.none)
		return;
	r.envelope = of_pair(e, kind);
	if (kind == DPROF_KIND_SEND)
		r.parts = malloc(sizeof(*r.parts));
	if (r.parts)
		*r.parts = (struct partitions){ .n = n };
	if (r.parts || kind == DPROF_KIND_RECV)
		request_add(*handle, &r);
}

#define INIT(name, kind, pointer)                                                                 \
	DPROF_SITE_OF(site_##name, kind, "MPI_" #name);                                           \
	DPROF_EXPORT int MPI_##name(pointer data, int parts, MPI_Count n, MPI_Datatype type,      \
				    int peer, int tag, MPI_Comm comm, MPI_Info info,              \
				    MPI_Request *request)                                         \
	{                                                                                         \
		struct message_envelope e = envelope_of(parts * n, type, peer, tag, comm);        \
		int result = PMPI_##name(data, parts, n, type, peer, tag, comm, info, request);   \
                                                                                                  \
		keep(&site_##name, kind, e, parts, result == MPI_SUCCESS ? request : NULL);       \
		return result;                                                                    \
	}
INIT(Psend_init, DPROF_KIND_SEND, const void *)
INIT(Precv_init, DPROF_KIND_RECV, void *)

/* ---- Ready ------------------------------------------------------------------------------------ */

/* Of `n` parts; the send, if these are the last. */
static struct mpi_call ready(MPI_Request handle, int n)
{
	struct request *r = mpi_active && dprof_adapter_recording() ? request_look(handle) : NULL;
	const void *none = NULL;
	struct message_envelope e;

	if (!r || !r->parts || n <= 0)
		return (struct mpi_call){ 0 };
	if (!__atomic_compare_exchange_n(&r->parts->thread, &none, &self, false,
					 __ATOMIC_RELAXED, __ATOMIC_RELAXED) && none != &self)
		__atomic_store_n(&r->parts->several, true, __ATOMIC_RELAXED);
	if (__atomic_sub_fetch(&r->parts->left, n, __ATOMIC_ACQ_REL) > 0)
		return (struct mpi_call){ 0 };
	e = r->envelope;
	if (__atomic_load_n(&r->parts->several, __ATOMIC_RELAXED))
		e.group = NULL;
	return post_as(r->kind, r->again, "", e, r->id).call;
}

#define READY(name, parameters, arguments, n)                                                     \
	DPROF_EXPORT int MPI_##name parameters                                                    \
	{                                                                                         \
		struct mpi_call c = ready(request, n);                                            \
		int result = PMPI_##name arguments;                                               \
                                                                                                  \
		call_end(c);                                                                      \
		return result;                                                                    \
	}
/* MPICH 4.0 forgot the const of the standard. */
typedef __typeof__(_Generic(&PMPI_Pready_list,
			    int (*)(int, const int *, MPI_Request): (const int *)0,
			    default: (int *)0)) part_list;

READY(Pready, (int part, MPI_Request request), (part, request), 1)
READY(Pready_range, (int from, int to, MPI_Request request), (from, to, request), to - from + 1)
READY(Pready_list, (int n, part_list parts, MPI_Request request), (n, parts, request), n)

#else

void parts_free(struct partitions *p)
{
	(void)p;
}

void parts_started(struct partitions *p)
{
	(void)p;
}
#endif

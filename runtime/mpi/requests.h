/* SPDX-License-Identifier: MIT
 *
 * requests.h - what was begun and is not complete, by MPI's handle for it.
 *
 * Some handles stand for several operations at once: an MPI may give the same one to all sends that
 * were complete as soon as they had begun. It does not matter which of those a wait is said to
 * complete, but each is completed once. And a handle may be given out again before the thread that
 * completed the former operation has come here to drop it. So a call takes its operations before it
 * waits for them, and what is taken is not found.
 *
 * Most are plain messages, in a program of which one thread after the other calls MPI: those are put, taken and dropped in
 * place, by a few instructions each.
 *
 * Law: an operation is said to be done once, by the call that completed it; memory is what was under
 * way at most. */
#ifndef RUNTIME_MPI_REQUESTS_H
#define RUNTIME_MPI_REQUESTS_H

/* A send or a receive as it names its message. */
struct message_envelope {
	struct group *group;   /* NULL: not known */
	uint64_t peer;         /* in MPI_COMM_WORLD, unless any_source */
	uint64_t bytes;        /* or UNKNOWN_BYTES */
	uint64_t tag;          /* a tag of MPI's, or more (partitioned.c) */
	bool any_source, any_tag;
	bool none;             /* MPI_PROC_NULL */
};

/* What was begun and is not complete; or may be begun again and again. */
struct request {
	struct request *next;
	uint64_t handle;
	struct message_envelope envelope;
	uint64_t id;                    /* 0: it is not under way */
	enum dprof_kind kind;           /* SEND, RECV, COLL; WAIT: foreign */
	bool plain;                     /* of its envelope only group, any_source and any_tag are set, and nothing below */
	bool left;                      /* a call that waited for one of several has completed another; of a plain one, too */
	bool taken;                     /* in parts: by a call that may complete it */
	bool no_status;                 /* says what was received */
	const struct dprof_site *again; /* of a persistent one: where it is begun; or NULL */
	struct request *also;           /* is complete when it is, and so on: of MPI_Isendrecv, ...; or NULL */
	struct partitions *parts;       /* of one that sends in parts; or NULL */
	MPI_Comm made;                  /* by it, a communicator with */
	uint64_t made_id;               /* that number; 0: none */
	uint64_t seq;                   /* COLL, again: of its next start; and */
	int root;
};

/* A number for an operation that begins. */
extern uint64_t request_numbers;
static inline uint64_t request_number(void)
{
	return mpi_multiple ? __atomic_add_fetch(&request_numbers, 1, __ATOMIC_RELAXED) : ++request_numbers;
}

/* Keeps a copy under the handle; the envelope's group is kept as long. */
void request_add(MPI_Request, const struct request *);

/* An operation whose wait dependency is unknown. */
void request_foreign(MPI_Request);

/* One that fetches a message which was received where it was found. */
#define REQUEST_FETCHES 2 /* its id; that of others of no message is 1 */
void request_fetches(MPI_Request);

/* The one that has this handle, taken or not; while it is not completed. */
struct request *request_look(MPI_Request);

/* What was taken is put back or dropped. */
void request_put_back(struct request *);
void request_drop_any(struct request *);

/* ---- In place ----------------------------------------------------------------------------------- */

#define REQUEST_CHAINS 4096 /* each as long as what is under way is a multiple of that */

extern struct request *request_chains[REQUEST_CHAINS];
extern struct request *requests_unused; /* in which all but what a plain one sets is 0 */

struct request *request_new_any(void);
void request_put_any(struct request *);
struct request *request_take_any(MPI_Request);

static inline uint64_t request_key(MPI_Request handle)
{
	return (uint64_t)(uintptr_t)handle;
}

/* Handles are small integers or addresses. */
static inline unsigned request_chain_of(uint64_t key)
{
	return (unsigned)((key * UINT64_C(0x9e3779b97f4a7c15)) >> 52) % REQUEST_CHAINS;
}

/* NULL where memory is short. */
static inline struct request *request_new(void)
{
	struct request *r = requests_unused;

	if (__builtin_expect(mpi_multiple || !r, 0))
		return request_new_any();
	requests_unused = r->next;
	return r;
}

static inline void request_put(MPI_Request handle, struct request *r)
{
	struct request **chain = &request_chains[request_chain_of(request_key(handle))];

	r->handle = request_key(handle);
	if (__builtin_expect(mpi_multiple, 0)) {
		request_put_any(r);
		return;
	}
	r->next = *chain;
	*chain = r;
}

/* Keeps a message, or a collective operation without more, under the handle. */
static inline void request_add_message(MPI_Request handle, enum dprof_kind kind, uint64_t id,
				       const struct message_envelope *e)
{
	struct request *r = request_new();

	if (!r)
		return;
	r->envelope.group = e->group;
	r->envelope.any_source = e->any_source;
	r->envelope.any_tag = e->any_tag;
	r->id = id;
	r->kind = kind;
	r->plain = true;
	r->left = false;
	if (e->group)
		group_keep(e->group);
	request_put(handle, r);
}

/* One that has this handle and that no other has taken, or NULL. Then it is put back or dropped. */
static inline struct request *request_take(MPI_Request handle)
{
	struct request **chain = &request_chains[request_chain_of(request_key(handle))], *r = *chain;

	if (handle == MPI_REQUEST_NULL)
		return NULL;
	if (__builtin_expect(mpi_multiple || !r || r->handle != request_key(handle) || !r->plain, 0))
		return request_take_any(handle);
	*chain = r->next;
	return r;
}

static inline void request_drop(struct request *r)
{
	if (__builtin_expect(mpi_multiple || !r->plain, 0)) {
		request_drop_any(r);
		return;
	}
	if (r->envelope.group)
		group_release(r->envelope.group);
	r->next = requests_unused;
	requests_unused = r;
}

#endif

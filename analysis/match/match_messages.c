/* SPDX-License-Identifier: MIT
 *
 * match_messages.c - sends and receives, each in the order of its stream.
 *
 *   send ------------------------------------------------> stream.sends   first matches first
 *   receive of one rank and tag -------------------------> stream.takes   once it is completed
 *   receive of any -> inbox, until its "done" says whose -^
 *
 * What is begun behind a receive of any, and might be of the same stream, waits in the inbox, too.
 *
 * An operation whose place is not certain is void: nothing behind it in its queue is matched. But sends of which only the order
 * among each other is not certain have their places together: as many receives have none, and what is behind them has its own. A
 * side of a stream that is closed takes no more; once there is nothing left on it that could be
 * matched, the other side's are dropped. */
#include "analysis/match/match_private.h"

#include <stdlib.h>
#include <string.h>

#include <uthash.h>
#include <utlist.h>

#include "analysis/base/memory.h"

#define ANY_RANK  UINT32_MAX
#define MUCH_WAITING 1024 /* receives behind one that is not believed to be ever completed */

struct stream_key { uint32_t from, to; uint64_t group, tag; }; /* ranks by their places */
struct inbox_key { uint64_t rank, group; };
struct begun_message_key { uint64_t process, id; };

struct message_op {
	struct match_part part;
	struct stream_key key;   /* from is ANY_RANK, tag is any, until they are known */
	bool any_tag, of_any, of_tags; /* the receive was of any source, with any tag */
	bool receive, only_begun, completed, isvoid;
	bool held;               /* of a rank that sends or receives in several threads */
	bool unordered;          /* a send: another thread was in one of its stream meanwhile */
	uint64_t until;          /* held: stamp of its call's EXIT; UINT64_MAX before */
	unsigned users;          /* queue, request, call and held list */
	enum { NOWHERE, IN_INBOX, IN_STREAM } where;
	struct message_op *prev, *next;           /* in a queue */
	struct message_op *held_prev, *held_next; /* among those of its rank that are held */
};

struct message_stream {
	struct stream_key key;
	struct message_op *sends, *takes;
	bool no_more_sends, no_more_takes;
	UT_hash_handle hh;
};

struct messages_inbox {
	struct inbox_key key;
	struct message_op *ops;
	size_t count;
	bool doubtful;
	UT_hash_handle hh;
};

struct begun_message {
	struct begun_message_key key;
	struct message_op *op;
	UT_hash_handle hh;
};

static void let_go(struct matcher *m, struct message_op *op)
{
	if (--op->users)
		return;
	op->next = m->spare_ops;
	m->spare_ops = op;
}

/* ---- Streams --------------------------------------------------------------------------------- */

#define FEW_STREAMS 1024

static bool is_idle(const struct message_stream *s)
{
	return !s->sends && !s->takes && !s->no_more_sends && !s->no_more_takes;
}

/* Streams stay when all of their messages are matched, as more will come; but where each message has a
 * tag of its own there would be as many as messages. */
static void drop_idle_streams(struct matcher *m)
{
	struct message_stream *s, *next;
	memset(m->recent, 0, sizeof m->recent);
	for (size_t i = 0; i < m->trace->nthreads; i++)
		m->threads[i].sends.stream = m->threads[i].receives.stream = NULL;
	HASH_ITER(hh, m->streams, s, next) {
		if (!is_idle(s))
			continue;
		HASH_DELETE(hh, m->streams, s);
		free(s);
	}
	m->most_streams = 2 * HASH_COUNT(m->streams) + FEW_STREAMS;
}

static bool same_stream(const struct stream_key *a, const struct stream_key *b)
{
	return a->from == b->from && a->to == b->to && a->group == b->group && a->tag == b->tag;
}

static struct message_stream *find_stream(struct matcher *m, const struct stream_key *key)
{
	struct message_stream *s;
	HASH_FIND(hh, m->streams, key, sizeof *key, s);
	if (s)
		return s;
	if (HASH_COUNT(m->streams) >= m->most_streams)
		drop_idle_streams(m);
	s = mem_resize(NULL, 1, sizeof *s);
	*s = (struct message_stream){ .key = *key };
	HASH_ADD(hh, m->streams, key, sizeof s->key, s);
	return s;
}

static struct message_stream *stream_of(struct matcher *m, const struct stream_key *key)
{
	struct message_stream **recent =
		&m->recent[(key->from * 71 + key->to * 7 + key->tag) % RECENT_STREAMS];
	if (!*recent || !same_stream(&(*recent)->key, key))
		*recent = find_stream(m, key);
	return *recent;
}

static struct messages_inbox *inbox_find(struct matcher *m, struct stream_key key)
{
	struct inbox_key of = { key.to, key.group };
	struct messages_inbox *b;
	HASH_FIND(hh, m->inboxes, &of, sizeof of, b);
	return b;
}

static bool certain(const struct message_op *op)
{
	return op && !op->isvoid && !op->held && (op->completed || !op->receive);
}

static struct match *give(struct matcher *m, const struct stream_key *key, const struct match_part *send,
			  const struct match_part *take)
{
	struct ready *r = match_ready(m, MATCH_MESSAGE, 2);
	r->parts[0] = *send;
	r->parts[1] = *take;
	r->match.group = key->group;
	r->match.number = key->tag;
	r->match.complete = true;
	m->tally.messages++;
	return &r->match;
}

static void drop_all(struct matcher *m, struct message_op **queue)
{
	struct message_op *op, *next;
	DL_FOREACH_SAFE(*queue, op, next) {
		DL_DELETE(*queue, op);
		op->where = NOWHERE;
		m->tally.doubtful++;
		let_go(m, op);
	}
}

/* Nothing of this queue will ever be matched. */
static bool dead(const struct message_op *queue, bool no_more)
{
	return no_more && (!queue || queue->isvoid);
}

/* Unless it may be the message of another send. */
static void give_if_ordered(struct matcher *m, const struct stream_key *key, const struct message_op *send,
			    const struct match_part *sent, const struct message_op *take, const struct match_part *taken)
{
	if (send && send->unordered) {
		m->tally.doubtful += 2;
		return;
	}
	struct match *given = give(m, key, sent, taken);
	given->of_any = take && take->of_any;
	given->of_tags = take && take->of_tags;
}

static void settle(struct matcher *m, struct message_stream *s)
{
	while (certain(s->sends) && certain(s->takes)) {
		struct message_op *send = s->sends, *take = s->takes;
		give_if_ordered(m, &s->key, send, &send->part, take, &take->part);
		DL_DELETE(s->sends, send);
		DL_DELETE(s->takes, take);
		send->where = take->where = NOWHERE;
		let_go(m, send);
		let_go(m, take);
	}
	if (dead(s->sends, s->no_more_sends) || dead(s->takes, s->no_more_takes)) {
		s->no_more_sends = s->no_more_takes = true;
		drop_all(m, &s->sends);
		drop_all(m, &s->takes);
	}
}

/* Puts an operation behind those of its stream, unless something is missing there. */
static void append(struct matcher *m, struct message_op *op)
{
	struct message_stream *s = stream_of(m, &op->key);
	struct messages_inbox *inbox = inbox_find(m, op->key);
	s->no_more_sends |= m->ranks[op->key.from].doubtful;
	s->no_more_takes |= m->ranks[op->key.to].doubtful || (inbox && inbox->doubtful);
	if (op->receive ? s->no_more_takes : s->no_more_sends) {
		m->tally.doubtful++;
	} else {
		op->where = IN_STREAM;
		op->users++;
		if (op->receive)
			DL_APPEND(s->takes, op);
		else
			DL_APPEND(s->sends, op);
	}
	settle(m, s);
}

/* ---- Receives of any ------------------------------------------------------------------------- */

static bool known(const struct message_op *op)
{
	return op->key.from != ANY_RANK && !op->any_tag;
}

/* Whether two receives of one rank and group might take the same message. */
static bool compete(const struct message_op *a, const struct message_op *b)
{
	return (a->key.from == ANY_RANK || b->key.from == ANY_RANK || a->key.from == b->key.from) &&
	       (a->any_tag || b->any_tag || a->key.tag == b->key.tag);
}

static bool waits(const struct messages_inbox *b, const struct message_op *op)
{
	struct message_op *before;
	DL_FOREACH(b->ops, before) {
		if (before == op)
			return false;
		if (compete(before, op))
			return true;
	}
	return false;
}

static void leave_inbox(struct messages_inbox *b, struct message_op *op)
{
	DL_DELETE(b->ops, op);
	op->where = NOWHERE;
	b->count--;
}

static void forget_inbox(struct matcher *m, struct messages_inbox *b)
{
	if (b->ops || b->doubtful)
		return;
	HASH_DELETE(hh, m->inboxes, b);
	free(b);
}

static void close_inbox(struct matcher *m, struct messages_inbox *b)
{
	b->doubtful = true;
	b->count = 0;
	drop_all(m, &b->ops);
}

/* Everything that waits for nothing goes to its stream. */
static void drain(struct matcher *m, struct messages_inbox *b)
{
	struct message_op *op, *next;
	DL_FOREACH_SAFE(b->ops, op, next) {
		if (op->key.from == ANY_RANK && op->any_tag)
			break; /* all others compete with it */
		if (!known(op) || waits(b, op))
			continue;
		leave_inbox(b, op);
		append(m, op);
		let_go(m, op);
	}
	forget_inbox(m, b);
}

static struct messages_inbox *inbox_of(struct matcher *m, struct stream_key key)
{
	struct messages_inbox *b = inbox_find(m, key);
	if (!b) {
		b = mem_resize(NULL, 1, sizeof *b);
		*b = (struct messages_inbox){ .key = { key.to, key.group } };
		HASH_ADD(hh, m->inboxes, key, sizeof b->key, b);
	}
	return b;
}

static void post(struct matcher *m, struct message_op *op)
{
	struct messages_inbox *b = inbox_find(m, op->key);
	if (known(op) && !(b && waits(b, op))) {
		append(m, op);
		return;
	}
	b = inbox_of(m, op->key);
	if (b->count >= MUCH_WAITING)
		close_inbox(m, b);
	if (b->doubtful || m->ranks[op->key.to].doubtful) {
		m->tally.doubtful++;
		return;
	}
	op->where = IN_INBOX;
	op->users++;
	DL_APPEND(b->ops, op);
	b->count++;
}

/* ---- Several threads of one rank ------------------------------------------------------------- */

/* What two threads do at the same time has no order; neither of them has a place then, and of receives none that comes behind. */
static bool overlaps(struct rank *r, struct message_op *op)
{
	bool found = false;
	struct message_op *other;
	DL_FOREACH2(r->held, other, held_next) {
		if (other->part.thread == op->part.thread || other->receive != op->receive ||
		    other->key.group != op->key.group || other->key.to != op->key.to ||
		    !compete(other, op))
			continue;
		other->isvoid |= op->receive;
		other->unordered = op->unordered = !op->receive;
		found |= op->receive;
	}
	return found;
}

static void close_for(struct matcher *m, const struct message_op *op)
{
	if (op->receive) {
		inbox_of(m, op->key)->doubtful = true;
		return;
	}
	struct message_stream *s = stream_of(m, &op->key);
	s->no_more_sends = true;
	settle(m, s);
}

static void hold(struct rank *r, struct message_op *op)
{
	op->held = true;
	op->until = UINT64_MAX;
	op->users++;
	DL_APPEND2(r->held, op, held_prev, held_next);
}

void message_passed(struct matcher *m, uint32_t rank, uint64_t stamp)
{
	struct rank *r = &m->ranks[rank];
	struct message_op *op, *next;
	DL_FOREACH_SAFE2(r->held, op, next, held_next) {
		if (op->until >= stamp || stamp - op->until <= m->slack)
			continue;
		DL_DELETE2(r->held, op, held_prev, held_next);
		op->held = false;
		if (op->where == IN_STREAM)
			settle(m, stream_of(m, &op->key));
		let_go(m, op);
	}
}

/* ---- Begin and end --------------------------------------------------------------------------- */

static uint32_t rank_place(const struct matcher *m, uint64_t number)
{
	size_t place = number > INT64_MAX ? SIZE_MAX : ids_find(&m->rank_numbers, number);
	return place == SIZE_MAX ? ANY_RANK : (uint32_t)place;
}

static struct message_op *room_for_op(struct matcher *m)
{
	struct message_op *op = m->spare_ops;
	if (op)
		m->spare_ops = op->next;
	else
		op = mem_resize(NULL, 1, sizeof *op);
	return op;
}

static struct message_op *make(struct matcher *m, uint32_t thread, const struct tr_event *e,
			       uint32_t peer, bool receive)
{
	struct message_op *op = room_for_op(m);
	const struct operation *o = tr_operation(m->trace, e);
	uint32_t self = m->threads[thread].rank;
	uint64_t tag = arg_message_tag(o, e);
	bool any_tag = tag == ARG_NONE;
	*op = (struct message_op){
		.part = match_part(m, thread, e),
		.key = { receive ? peer : self, receive ? self : peer,
			 trace_arg(e, DPROF_KEY_GROUP, 0), any_tag ? 0 : tag },
		.any_tag = receive && any_tag,
		.of_tags = receive && any_tag,
		.of_any = receive && peer == ANY_RANK,
		.receive = receive,
		.only_begun = arg_request(o, e) != ARG_NONE,
		.users = 1,
	};
	return op;
}

static void forget_request(struct matcher *m, struct begun_message *r)
{
	let_go(m, r->op);
	HASH_DELETE(hh, m->requests, r);
	free(r);
}

static struct begun_message *request_find(struct matcher *m, uint32_t thread, uint64_t id)
{
	struct begun_message_key key = { m->trace->threads[thread].process, id };
	struct begun_message *r;
	HASH_FIND(hh, m->requests, &key, sizeof key, r);
	return r;
}

/* An operation that was not completed before its id was used again may never have been done. */
static void begin_request(struct matcher *m, uint32_t thread, uint64_t id, struct message_op *op)
{
	struct begun_message *r = request_find(m, thread, id);
	if (r) {
		r->op->isvoid = true;
		close_for(m, r->op);
		forget_request(m, r);
	}
	r = mem_resize(NULL, 1, sizeof *r);
	*r = (struct begun_message){ { m->trace->threads[thread].process, id }, op, { 0 } };
	op->users++;
	HASH_ADD(hh, m->requests, key, sizeof r->key, r);
}

struct message_op *message_begin(struct matcher *m, uint32_t thread, const struct tr_event *e,
				 bool receive)
{
	const struct operation *o = tr_operation(m->trace, e);
	uint64_t named = arg_rank(o, e);
	uint32_t rank = m->threads[thread].rank, peer = rank_place(m, named);
	if (rank == MATCH_NO_RANK || named == DPROF_PEER_NONE)
		return NULL;
	if (peer == ANY_RANK && (!receive || named != ARG_NONE)) {
		m->tally.untaken += !receive; /* the other side has recorded nothing */
		return NULL;
	}
	struct rank *r = &m->ranks[rank];
	struct message_op *op = make(m, thread, e, peer, receive);
	if (op->only_begun)
		begin_request(m, thread, arg_request(o, e), op);
	if ((r->several && overlaps(r, op)) || arg_message_failed(o, e))
		close_for(m, op);
	if (r->several)
		hold(r, op);
	if (receive)
		post(m, op);
	else
		append(m, op);
	return op;
}

/* The receive took nothing, and will not: it never stood before those that were begun behind it. */
static void take_nothing(struct matcher *m, struct message_op *op)
{
	if (op->where == IN_INBOX) {
		struct messages_inbox *b = inbox_find(m, op->key);
		leave_inbox(b, op);
		let_go(m, op);
		drain(m, b);
	} else if (op->where == IN_STREAM) {
		struct message_stream *s = stream_of(m, &op->key);
		DL_DELETE(s->takes, op);
		op->where = NOWHERE;
		let_go(m, op);
		settle(m, s);
	}
	op->completed = true;
}

/* What a receive took is known. It no longer is when records of its rank have been lost: then this
 * may be another one that was begun under the same id. */
static void complete(struct matcher *m, struct message_op *op, uint32_t thread,
		     const struct tr_event *e, bool says)
{
	const struct operation *o = tr_operation(m->trace, e);
	if (!op->receive || op->completed || m->ranks[m->threads[thread].rank].doubtful)
		return;
	uint64_t named = says ? arg_rank(o, e) : ARG_NONE, tag = says ? arg_message_tag(o, e) : ARG_NONE;
	if (named == DPROF_PEER_NONE) {
		take_nothing(m, op);
		return;
	}
	uint32_t from = named != ARG_NONE ? rank_place(m, named) : op->key.from;
	bool any_tag = op->any_tag && tag == ARG_NONE;
	tag = tag != ARG_NONE ? tag : op->key.tag;
	if (from == ANY_RANK || any_tag)
		return;
	if ((op->key.from != ANY_RANK && op->key.from != from) ||
	    (!op->any_tag && op->key.tag != tag)) {
		op->isvoid = true;
		close_for(m, op);
		return;
	}
	op->key.from = from;
	op->key.tag = tag;
	op->any_tag = false;
	op->completed = true;
	op->part.done_in = thread;
	op->part.done = e->stamp;
	op->part.done_at = m->threads[thread].count;
	op->part.bytes = says ? trace_arg(e, DPROF_KEY_BYTES, op->part.bytes) : op->part.bytes;
	if (op->where == IN_INBOX)
		drain(m, inbox_find(m, op->key));
	else if (op->where == IN_STREAM)
		settle(m, stream_of(m, &op->key));
}

void message_done(struct matcher *m, uint32_t thread, struct message_op *op,
		  const struct tr_event *e)
{
	complete(m, op, thread, e, true);
}

/* Of a send who waits for it need not be who began it, and it may be matched long before that. */
static void give_sent(struct matcher *m, const struct message_op *op, uint32_t thread, const struct tr_event *e)
{
	struct ready *r = match_ready(m, MATCH_SENT, 1);
	r->parts[0] = op->part;
	r->parts[0].done_in = thread;
	r->parts[0].done = e->stamp;
	r->parts[0].done_at = m->threads[thread].count;
}

void message_done_id(struct matcher *m, uint32_t thread, uint64_t id, const struct tr_event *e)
{
	struct begun_message *r = request_find(m, thread, id);
	if (!r)
		return;
	if (!r->op->receive && r->op->part.thread != thread)
		give_sent(m, r->op, thread, e);
	complete(m, r->op, thread, e, e->op == DPROF_POINT);
	forget_request(m, r);
}

void message_end(struct matcher *m, uint32_t thread, struct message_op *op,
		 const struct tr_event *e)
{
	if (!op->only_begun)
		complete(m, op, thread, e, false);
	op->until = e->stamp;
	let_go(m, op);
}

void message_drop(struct matcher *m, struct message_op *op)
{
	if (op)
		let_go(m, op);
}

void message_doubt(struct matcher *m, uint32_t rank)
{
	m->ranks[rank].doubtful = true;
}

/* ---- Calls at once --------------------------------------------------------------------------- */

#define NO_CALL   UINT32_MAX /* no site, and not left by any: */
#define LEFT_NONE (UINT32_MAX - 1)
#define NOT_SAID  UINT8_MAX

/* What a kind of event (the trace's whats) is to a call that may be taken at once. */
struct message_kind {
	uint32_t enters;         /* the call of a message at this site; or NO_CALL */
	uint32_t leaves;         /* this site, and says nothing; or LEFT_NONE */
	bool receives;
	bool named;              /* peer and tag are said, and beside these no more than group and bytes */
	uint8_t place[DPROF_KEY_COUNT]; /* of each key the argument that says it; or NOT_SAID */
};

static struct message_kind kind_of(const struct trace *t, const struct tr_what *what)
{
	const unsigned needed = 1u << DPROF_KEY_PEER | 1u << DPROF_KEY_TAG;
	const unsigned known = needed | 1u << DPROF_KEY_GROUP | 1u << DPROF_KEY_BYTES;
	bool enters = what->op == DPROF_ENTER && tr_is(t, what->site, OP_MESSAGE);
	bool leaves = what->op == DPROF_EXIT && what->site != TR_NO_SITE && what->nargs == 0;
	struct message_kind kind = { enters ? what->site : NO_CALL, leaves ? what->site : LEFT_NONE, .named = false };
	kind.receives = enters && t->sites[what->site].kind == DPROF_KIND_RECV;
	kind.named = (what->keys & needed) == needed && !(what->keys & ~known);
	memset(kind.place, NOT_SAID, sizeof kind.place);
	for (uint8_t a = 0; a < what->nargs; a++)
		kind.place[what->key[a]] = a;
	return kind;
}

void messages_open(struct matcher *m)
{
	size_t n = trace_kinds(m->trace);
	m->message_kinds = mem_resize(NULL, n + 1, sizeof *m->message_kinds);
	for (size_t i = 0; i < n; i++)
		m->message_kinds[i] = kind_of(m->trace, &m->trace->whats[i]);
}

/* What an enter says of its message; false if it is not named, or says more than that. */
static inline bool named_message(const struct message_kind *kind, const uint64_t *value, struct channel *named)
{
	const uint8_t *place = kind->place;
	if (!kind->named)
		return false;
	*named = (struct channel){ .peer = value[place[DPROF_KEY_PEER]], .tag = value[place[DPROF_KEY_TAG]],
				   .group = place[DPROF_KEY_GROUP] == NOT_SAID ? 0 : value[place[DPROF_KEY_GROUP]] };
	return named->peer != DPROF_PEER_NONE && named->peer != ARG_NONE && named->tag != ARG_NONE;
}

static inline uint64_t bytes_said(const struct message_kind *kind, const uint64_t *value)
{
	uint8_t place = kind->place[DPROF_KEY_BYTES];
	return place == NOT_SAID ? MATCH_NO_BYTES : value[place];
}

/* NULL: of the peer nothing is recorded. */
static struct message_stream *stream_named(struct matcher *m, uint32_t rank, struct channel *last, bool receive,
					   const struct channel *named)
{
	if (last->stream && last->peer == named->peer && last->tag == named->tag && last->group == named->group)
		return last->stream;
	uint32_t peer = rank_place(m, named->peer);
	if (peer == ANY_RANK)
		return NULL;
	struct stream_key key = { receive ? peer : rank, receive ? rank : peer, named->group, named->tag };
	struct message_stream *s = stream_of(m, &key);
	*last = *named;
	return last->stream = s;
}

/* Nothing is missing of either rank, and no receive of any is under way. */
static bool nothing_in_doubt(const struct matcher *m, const struct message_stream *s)
{
	return !m->inboxes && !s->no_more_sends && !s->no_more_takes && !m->ranks[s->key.from].doubtful &&
	       !m->ranks[s->key.to].doubtful;
}

static void put_behind(struct matcher *m, struct message_stream *s, const struct match_part *part, bool receive)
{
	struct message_op *op = room_for_op(m);
	*op = (struct message_op){ .part = *part, .key = s->key, .receive = receive, .completed = receive,
				   .where = IN_STREAM, .users = 1 };
	if (receive)
		DL_APPEND(s->takes, op);
	else
		DL_APPEND(s->sends, op);
}

/* The first of the other side, if it is certain, is what an operation goes with before which nothing waits. */
static void take_message(struct matcher *m, struct message_stream *s, const struct match_part *part, bool receive)
{
	struct message_op **others = receive ? &s->sends : &s->takes, *other = *others;
	if ((receive ? s->takes : s->sends) || !certain(other)) {
		put_behind(m, s, part, receive);
		return;
	}
	if (receive)
		give_if_ordered(m, &s->key, other, &other->part, NULL, part);
	else
		give_if_ordered(m, &s->key, NULL, part, other, &other->part);
	DL_DELETE(*others, other);
	other->where = NOWHERE;
	let_go(m, other);
}

static inline bool is_call(const struct matcher *m, uint32_t thread, const struct tr_columns *k, size_t i)
{
	return i + 1 < k->n && m->threads[thread].alone &&
	       m->message_kinds[k->what[i]].enters == m->message_kinds[k->what[i + 1]].leaves;
}

bool message_receives(const struct matcher *m, uint32_t thread, const struct tr_columns *k, size_t i)
{
	return is_call(m, thread, k, i) && m->message_kinds[k->what[i]].receives;
}

bool message_call(struct matcher *m, uint32_t thread, const struct tr_columns *k, size_t i)
{
	const struct message_kind *kind = &m->message_kinds[k->what[i]];
	const uint64_t *value = k->value + k->argument[i];
	struct match_thread *a = &m->threads[thread];
	struct channel named;
	if (!is_call(m, thread, k, i) || !named_message(kind, value, &named))
		return false;
	bool receive = kind->receives;
	struct message_stream *s = stream_named(m, a->rank, receive ? &a->receives : &a->sends, receive, &named);
	if (!s || !nothing_in_doubt(m, s))
		return false;
	struct match_part part = { .thread = thread, .done_in = thread, .site = kind->enters, .enter_at = a->count, .enter = k->stamp[i],
				   .done_at = receive ? a->count + 1 : MATCH_NEVER,
				   .done = receive ? k->stamp[i + 1] : 0, .bytes = bytes_said(kind, value) };
	take_message(m, s, &part, receive);
	return true;
}

/* ---- The end --------------------------------------------------------------------------------- */

static void give_alone(struct matcher *m, const struct message_op *op)
{
	struct ready *r = match_ready(m, op->receive ? MATCH_UNSENT : MATCH_UNTAKEN, 1);
	r->parts[0] = op->part;
	r->match.group = op->key.group;
	r->match.number = op->key.tag;
}

void messages_finish(struct matcher *m)
{
	struct message_stream *s, *next;
	struct messages_inbox *b, *after;
	struct message_op *op;
	HASH_ITER(hh, m->inboxes, b, after)
		close_inbox(m, b);
	HASH_ITER(hh, m->streams, s, next) {
		DL_FOREACH(s->sends, op) {
			if (!op->unordered) /* else perhaps another one */
				give_alone(m, op);
			m->tally.untaken += !op->unordered;
			m->tally.doubtful += op->unordered;
		}
		DL_FOREACH(s->takes, op) {
			if (!op->completed)
				continue;
			give_alone(m, op);
			m->tally.unsent++;
		}
	}
}

void messages_free(struct matcher *m)
{
	struct message_stream *s, *next_stream;
	struct messages_inbox *b, *next_inbox;
	struct begun_message *r, *next_request;
	HASH_ITER(hh, m->requests, r, next_request)
		forget_request(m, r);
	HASH_ITER(hh, m->inboxes, b, next_inbox) {
		drop_all(m, &b->ops);
		HASH_DELETE(hh, m->inboxes, b);
		free(b);
	}
	HASH_ITER(hh, m->streams, s, next_stream) {
		drop_all(m, &s->sends);
		drop_all(m, &s->takes);
		HASH_DELETE(hh, m->streams, s);
		free(s);
	}
	for (uint32_t i = 0; i < m->rank_numbers.n; i++) {
		struct message_op *op, *next;
		DL_FOREACH_SAFE2(m->ranks[i].held, op, next, held_next)
			let_go(m, op);
	}
	for (struct message_op *op = m->spare_ops, *next; op; op = next) {
		next = op->next;
		free(op);
	}
	free(m->message_kinds);
}

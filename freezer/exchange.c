/* SPDX-License-Identifier: MIT
 *
 * exchange.c - asking and answering.
 *
 * Law: `asked` and `answered` are read behind a fence before sendto() is entered. The code of a
 * packet is computed where it widens no interval between the stamps, except that of `answered`,
 * which has to travel under the code itself. */
#define _GNU_SOURCE
#include "freezer/exchange.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "freezer/burst.h"
#include "freezer/clock.h"
#include "freezer/host.h"
#include "freezer/packet.h"
#include "freezer/synclog.h"

#define MS_NS             1000000u
#define SPIN_NS           300000u   /* in a burst: two hosts have nothing else to do */
#define FIRST_PATIENCE_NS MS_NS     /* before a question counts as lost; doubles with each loss */
#define KNOCK_SPIN_NS     200000u   /* beside a program: while the other side wakes up */
#define KEEP_SPIN_NS      50000u    /* when it is awake: most answers of a local network */
#define KEEP_PATIENCE_NS  (20 * MS_NS)
#define CALM_NS           MS_NS
#define NEARLY            16        /* beside a program, a round trip is good within 1/16 */
#define FORGET            64        /* of the fastest, which grows by 1/64 each interval */
#define HOST_PART         16        /* bytes of what is told of a host; they travel as */
#define HOST_AT           offsetof(struct packet, received)

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t from_now(uint64_t ns)
{
	uint64_t sum;

	return __builtin_add_overflow(frz_monotonic_raw_ns(), ns, &sum) ? UINT64_MAX : sum;
}

/* ---- Answering --------------------------------------------------------------------------------*/

/* Whether a question is newer than all others of its asker; then it is remembered. The table
 * forgets the asker that was silent longest: what is replayed then gets an answer that no one
 * takes. */
static bool is_new(struct frz_endpoint *e, const struct packet *p)
{
	size_t i = 0;

	while (i < FRZ_SEEN - 1 && e->seen[i].session != p->session)
		i++;
	bool known = e->seen[i].session == p->session;
	if (known && p->sequence <= e->seen[i].sequence)
		return false;
	memmove(&e->seen[1], &e->seen[0], i * sizeof e->seen[0]);
	e->seen[0].session = p->session;
	e->seen[0].sequence = p->sequence;
	return true;
}

static void reply(const struct frz_endpoint *e, const struct arrival *a, enum packet_kind kind)
{
	struct packet p = a->packet;

	p.kind = kind;
	p.from = e->clock;
	p.to = a->packet.from;
	if (kind == HOST)
		memcpy((char *)&p + HOST_AT, (const char *)e->host + a->packet.received * HOST_PART, HOST_PART);
	else if (a->packet.received)
		p.received = p.answered = frz_kernel_fenced((enum frz_source)a->packet.received);
	else
		p.received = a->stamp, p.answered = frz_stamp_fenced();
	packet_seal(e, &p);
	packet_send(e, &a->from, &p); /* an answer that cannot be sent is a lost packet */
}

/* Whether a question asks for what there is. */
static bool is_known(const struct frz_endpoint *e, const struct packet *p)
{
	if (p->kind == ASK_HOST)
		return e->host && p->received < sizeof *e->host / HOST_PART;
	return p->kind == FINISH || !p->received ||
	       (p->received > FRZ_TSC && p->received < FRZ_SOURCES);
}

enum handled { DROPPED_FORGED, DROPPED_STALE, ANSWERED, ANSWERED_LAST, ENDED };

/* Answers a question, and drops everything else. */
static enum handled handle(struct frz_endpoint *e, const struct arrival *a)
{
	enum packet_kind kind = a->packet.kind;

	if (!packet_is_sound(e, &a->packet, a->size)) {
		e->counts.forged++;
		return DROPPED_FORGED;
	}
	if (kind == FINISH)
		reply(e, a, FINISHED); /* also if it did not hear that the first time */
	bool asks = kind == ASK || kind == ASK_LAST || kind == ASK_HOST || kind == FINISH;
	if (!asks || !is_known(e, &a->packet) || !is_new(e, &a->packet)) {
		e->counts.stale++;
		return DROPPED_STALE;
	}
	if (kind == FINISH)
		return ENDED;
	reply(e, a, kind == ASK_HOST ? HOST : ANSWER);
	return kind == ASK ? ANSWERED : ANSWERED_LAST;
}

int frz_answer(struct frz_endpoint *e, const struct frz_stop *stop, uint64_t deadline_ns)
{
	struct packet_wait wait = { stop, from_now(deadline_ns), SPIN_NS };
	struct arrival a;
	int answers = 0;

	while (packet_receive(e, &a, &wait)) {
		enum handled handled = handle(e, &a);

		if (handled == ENDED)
			break;
		if (handled == ANSWERED || handled == ANSWERED_LAST)
			answers++;
		else if (wait_is_over(&wait))
			break;
	}
	return answers;
}

/* ---- Asking -----------------------------------------------------------------------------------*/

/* Reads until a packet of `kind` that replies to the latest question. */
static bool receive_reply(struct frz_endpoint *e, enum packet_kind kind, uint32_t from,
			  struct arrival *a, const struct packet_wait *wait)
{
	while (packet_receive(e, a, wait)) {
		const struct packet *p = &a->packet;

		if (p->kind == kind && p->from == from && p->session == e->session &&
		    p->sequence == e->sequence && packet_is_sound(e, p, a->size))
			return true;
		handle(e, a);
		if (wait_is_over(wait))
			return false;
	}
	return false;
}

static struct packet question(struct frz_endpoint *e, enum packet_kind kind, uint32_t to, uint64_t what)
{
	struct packet p = {
		.magic = PACKET_MAGIC, .kind = kind, .from = e->clock, .to = to,
		.session = e->session, .sequence = ++e->sequence, .received = what,
	};

	packet_seal(e, &p);
	return p;
}

/* One question and its answer. 1, 0 if none came in time, or -errno. */
static int ask_once(struct frz_endpoint *e, enum packet_kind kind, const struct address *to,
		    uint32_t clock, enum frz_source of, const struct packet_wait *wait,
		    struct frz_sync_record *r)
{
	struct packet p = question(e, kind, clock, of);
	struct arrival a;
	uint64_t asked = frz_stamp_fenced();
	int error = packet_send(e, to, &p);

	if (error)
		return error;
	if (!receive_reply(e, ANSWER, clock, &a, wait)) {
		if (!frz_stop_asked(wait->stop))
			e->counts.unanswered++;
		return 0;
	}
	e->counts.exchanges++;
	*r = (struct frz_sync_record){
		.kind = FRZ_SYNC_EXCHANGE,
		.asker = e->clock,
		.answerer = clock,
		.sequence = p.sequence,
		.asked = asked,
		.received = a.packet.received,
		.answered = a.packet.answered,
		.returned = a.stamp,
	};
	return 1;
}

/* `of`: frz_ask_kernel()'s, or 0. */
static int ask_burst(struct frz_endpoint *e, const char *text, uint32_t clock, enum frz_source of,
		     struct frz_burst b, struct frz_synclog *log)
{
	uint64_t now = frz_monotonic_raw_ns(), deadline = from_now(b.deadline_ns);
	uint64_t patience = FIRST_PATIENCE_NS;
	struct burst_width width = { 0 };
	struct address to;
	uint32_t done = 0;
	int got = address_parse(e, text, &to);

	while (got >= 0 && done < b.at_most && now < deadline) {
		struct packet_wait wait = { NULL, earlier(deadline, now + patience), SPIN_NS };
		struct frz_sync_record r;

		got = ask_once(e, ASK, &to, clock, of, &wait, &r);
		if (got < 0)
			break;
		uint64_t answered = frz_monotonic_raw_ns();

		patience = got ? FIRST_PATIENCE_NS + 4 * (answered - now) : 2 * patience;
		now = answered;
		if (!got)
			continue;
		if (log)
			got = frz_synclog_add(log, &r);
		done++;
		if (!burst_goes_on(&width, &r) && done >= b.at_least)
			break;
	}
	burst_free(&width);
	if (log && frz_synclog_flush(log) && got >= 0)
		got = log->error;
	if (got < 0)
		return got;
	return done ? (int)done : -ETIMEDOUT;
}

int frz_ask(struct frz_endpoint *e, const char *address, uint32_t clock, struct frz_burst b,
	    struct frz_synclog *log)
{
	return ask_burst(e, address, clock, FRZ_SOURCE_UNKNOWN, b, log);
}

int frz_ask_kernel(struct frz_endpoint *e, const char *address, uint32_t clock, enum frz_source of,
		   struct frz_burst b, struct frz_synclog *log)
{
	return ask_burst(e, address, clock, of, b, log);
}

/* 1, 0 if no answer came in time, or -errno. */
static int ask_part(struct frz_endpoint *e, const struct address *to, uint32_t clock, uint64_t part,
		    uint64_t until_ns, struct frz_host *host)
{
	struct packet p = question(e, ASK_HOST, clock, part);
	struct packet_wait wait = { NULL, until_ns, SPIN_NS };
	struct arrival a;
	int error = packet_send(e, to, &p);

	if (error)
		return error;
	if (!receive_reply(e, HOST, clock, &a, &wait))
		return 0;
	memcpy((char *)host + part * HOST_PART, (const char *)&a.packet + HOST_AT, HOST_PART);
	return 1;
}

int frz_ask_host(struct frz_endpoint *e, const char *text, uint32_t clock, uint64_t deadline_ns,
		 struct frz_host *host)
{
	uint64_t deadline = from_now(deadline_ns), patience = FIRST_PATIENCE_NS, part = 0;
	struct address to;
	int got = address_parse(e, text, &to);

	while (got >= 0 && part < sizeof *host / HOST_PART && frz_monotonic_raw_ns() < deadline) {
		got = ask_part(e, &to, clock, part, earlier(deadline, from_now(patience)), host);
		part += got > 0;
		patience *= got ? 1 : 2;
	}
	if (got < 0)
		return got;
	if (part < sizeof *host / HOST_PART)
		return -ETIMEDOUT;
	return frz_host_is_sound(host) ? 0 : -EBADMSG;
}

int frz_finish(struct frz_endpoint *e, const char *text, uint32_t clock, uint64_t deadline_ns)
{
	uint64_t patience = FIRST_PATIENCE_NS, deadline;
	struct address to;
	struct arrival a;
	int error = address_parse(e, text, &to);

	if (error)
		return error;
	/* The same question again and again: the other side must take it once only. */
	struct packet p = question(e, FINISH, clock, 0);

	deadline = from_now(deadline_ns);
	for (; frz_monotonic_raw_ns() < deadline; patience *= 2) {
		struct packet_wait wait = { NULL, earlier(deadline, from_now(patience)), SPIN_NS };

		error = packet_send(e, &to, &p);
		if (error)
			return error;
		if (receive_reply(e, FINISHED, clock, &a, &wait))
			return 0;
	}
	return -ETIMEDOUT;
}

/* ---- Now and then -----------------------------------------------------------------------------*/

/* Answers until `until_ns`. An endpoint that asked and will ask more is waited for awake. Packets
 * without the key may come in any number: they are read at a rate that does not cost a processor. */
static void answer_beside(struct frz_endpoint *e, uint64_t until_ns, const struct frz_stop *stop)
{
	struct packet_wait wait = { stop, until_ns, 0 };
	struct arrival a;

	while (packet_receive(e, &a, &wait)) {
		enum handled handled = handle(e, &a);

		wait.spin_ns = handled == ANSWERED ? KEEP_SPIN_NS : 0;
		if (handled == DROPPED_FORGED)
			frz_stop_sleep(stop, -1, CALM_NS);
		if (wait_is_over(&wait))
			return;
	}
}

struct exchange_kept {
	const struct frz_peer *peer;
	struct address to;
	uint64_t fastest; /* round trip in ticks; forgotten slowly, since networks change; 0: none yet */
};

static void remember(struct exchange_kept *k, uint64_t fastest)
{
	uint64_t before = k->fastest + k->fastest / FORGET;

	k->fastest = k->fastest ? earlier(before, fastest) : fastest;
}

/* The first question wakes the other side; those behind it find it awake, and go on until one was
 * nearly as fast as the fastest. Sleeping until the first answer would be dearer: by the time that
 * it has woken us, the other side would be asleep again. */
static void ask_beside(struct frz_endpoint *e, struct exchange_kept *k, struct frz_pace pace,
		       uint64_t patience_ns, const struct frz_stop *stop)
{
	struct packet_wait wait = { .stop = stop, .spin_ns = KNOCK_SPIN_NS };
	uint64_t fastest = UINT64_MAX, good = k->fastest + k->fastest / NEARLY;
	bool last = false;

	for (uint32_t i = 1; !last; i++) {
		struct frz_sync_record r;

		last = i >= pace.at_most || (i >= pace.at_least && fastest <= good);
		wait.until_ns = from_now(patience_ns);
		if (ask_once(e, last ? ASK_LAST : ASK, &k->to, k->peer->clock, 0, &wait, &r) <= 0)
			return; /* the next interval is soon */
		fastest = earlier(fastest, r.returned - r.asked);
		if (k->peer->log)
			frz_synclog_add(k->peer->log, &r);
		wait.spin_ns = KEEP_SPIN_NS;
	}
	remember(k, fastest);
}

static void ask_all_beside(struct frz_endpoint *e, struct exchange_kept *kept, size_t n,
			   struct frz_pace pace, const struct frz_stop *stop)
{
	uint64_t patience = earlier(pace.interval_ns / (2 * n), KEEP_PATIENCE_NS);

	for (size_t i = 0; i < n && !frz_stop_asked(stop); i++) {
		ask_beside(e, &kept[i], pace, patience, stop);
		if (kept[i].peer->log)
			frz_synclog_flush(kept[i].peer->log);
	}
}

int frz_keep(struct frz_endpoint *e, const struct frz_peer *peers, size_t npeers,
	     struct frz_pace pace, const struct frz_stop *stop)
{
	struct exchange_kept *kept = calloc(npeers + 1, sizeof *kept);
	uint64_t next = UINT64_MAX;
	int error = kept ? 0 : -ENOMEM;

	for (size_t i = 0; i < npeers && !error; i++) {
		kept[i].peer = &peers[i];
		error = address_parse(e, peers[i].address, &kept[i].to);
	}
	/* Hosts that began together ask at different times. */
	if (npeers && pace.interval_ns)
		next = from_now(e->session % pace.interval_ns);
	while (!error && !frz_stop_asked(stop)) {
		answer_beside(e, next, stop);
		if (frz_stop_asked(stop))
			break;
		ask_all_beside(e, kept, npeers, pace, stop);
		next = from_now(pace.interval_ns); /* nothing is caught up after a pause */
	}
	free(kept);
	return error;
}

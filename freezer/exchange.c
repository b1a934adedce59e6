/* SPDX-License-Identifier: MIT
 *
 * exchange.c - asking and answering.
 *
 * Law: `asked` and `answered` are read behind a fence before sendto() is entered; `received` and
 * `returned` are read behind a fence after recvfrom() has handed the packet over. The code of a
 * packet is computed where it widens no interval between these, except that of `answered`, which
 * has to travel under the code itself. */
#define _GNU_SOURCE
#include "freezer/exchange.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <sodium/crypto_shorthash_siphash24.h>
#include <sodium/crypto_verify_16.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "freezer/burst.h"
#include "freezer/clock.h"
#include "freezer/synclog.h"

#define PACKET_MAGIC      0x315a5246u /* "FRZ1" */
#define SPIN_NS           300000u     /* polling, yielding between polls; then sleeping */
#define SLEEP_NS          10000000u   /* at most, between looks at *stop */
#define FIRST_PATIENCE_NS 1000000u    /* before a question counts as lost; doubles with each loss */

enum packet_kind { ASK = 1, ANSWER, FINISH, FINISHED };

struct packet {
	uint32_t magic;
	uint32_t kind;
	uint32_t from, to;           /* numbers of clocks */
	uint64_t session, sequence;  /* of the question */
	uint64_t received, answered; /* ANSWER: the answering side's stamps */
	uint8_t code[16];
};

_Static_assert(sizeof(struct packet) == 64, "a packet has no padding");
_Static_assert(FRZ_KEY_SIZE == crypto_shorthash_siphashx24_KEYBYTES, "");
_Static_assert(sizeof ((struct packet *)0)->code == crypto_shorthash_siphashx24_BYTES, "");

static void code_of(const struct frz_endpoint *e, const struct packet *p, uint8_t code[16])
{
	crypto_shorthash_siphashx24(code, (const uint8_t *)p, offsetof(struct packet, code),
				    e->key);
}

static bool is_sound(const struct frz_endpoint *e, const struct packet *p, ssize_t size)
{
	uint8_t code[16];

	if (size != sizeof *p || p->magic != PACKET_MAGIC || p->to != e->clock)
		return false;
	code_of(e, p, code);
	return crypto_verify_16(code, p->code) == 0;
}

/* ---- Endpoints --------------------------------------------------------------------------------*/

/* "ip:port" or "[ip]:port" as an address that the endpoint's socket can send to. */
struct address { struct sockaddr_storage at; socklen_t size; };

static int resolve(int family, const char *ip, const char *port, struct address *address)
{
	struct addrinfo hints = {
		.ai_family = family,
		.ai_socktype = SOCK_DGRAM,
		.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV |
			    (family == AF_INET6 ? AI_V4MAPPED : 0),
	}, *found;

	if (getaddrinfo(ip, port, &hints, &found))
		return -EINVAL;
	memcpy(&address->at, found->ai_addr, found->ai_addrlen);
	address->size = found->ai_addrlen;
	freeaddrinfo(found);
	return 0;
}

static int parse_address(const struct frz_endpoint *e, const char *text, struct address *address)
{
	struct sockaddr_storage own = { 0 };
	socklen_t size = sizeof own;
	char ip[FRZ_ADDRESS_SIZE];
	const char *colon = strrchr(text, ':');
	size_t length = colon ? (size_t)(colon - text) : 0;

	if (length >= 2 && text[0] == '[' && text[length - 1] == ']') {
		text++;
		length -= 2;
	}
	if (!length || length >= sizeof ip)
		return -EINVAL;
	memcpy(ip, text, length);
	ip[length] = 0;
	if (getsockname(e->fd, (struct sockaddr *)&own, &size))
		return -errno;
	return resolve(own.ss_family, ip, colon + 1, address);
}

int frz_make_key(uint8_t key[FRZ_KEY_SIZE])
{
	return getrandom(key, FRZ_KEY_SIZE, 0) == FRZ_KEY_SIZE ? 0 : -errno;
}

int frz_open_port(struct frz_endpoint *e, const char *bind_to, uint16_t port, uint32_t clock,
		  const uint8_t key[FRZ_KEY_SIZE])
{
	struct address address;
	char port_text[8];
	int error;

	*e = (struct frz_endpoint){ .fd = -1, .clock = clock };
	memcpy(e->key, key, FRZ_KEY_SIZE);
	if (getrandom(&e->session, sizeof e->session, 0) != sizeof e->session)
		return -errno;
	snprintf(port_text, sizeof port_text, "%u", port);
	error = resolve(AF_UNSPEC, bind_to ? bind_to : "0.0.0.0", port_text, &address);
	if (error)
		return error;
	e->fd = socket(address.at.ss_family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (e->fd < 0)
		return -errno;
	if (bind(e->fd, (struct sockaddr *)&address.at, address.size)) {
		error = -errno;
		frz_close(e);
	}
	return error;
}

int frz_open(struct frz_endpoint *e, const char *bind_to, uint32_t clock,
	     const uint8_t key[FRZ_KEY_SIZE])
{
	return frz_open_port(e, bind_to, 0, clock, key);
}

void frz_close(struct frz_endpoint *e)
{
	if (e->fd >= 0)
		close(e->fd);
	e->fd = -1;
}

uint16_t frz_port(const struct frz_endpoint *e)
{
	struct sockaddr_storage own = { 0 };
	socklen_t size = sizeof own;

	if (getsockname(e->fd, (struct sockaddr *)&own, &size))
		return 0;
	return ntohs(own.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&own)->sin6_port
					       : ((struct sockaddr_in *)&own)->sin_port);
}

/* ---- Packets ----------------------------------------------------------------------------------*/

static int send_packet(const struct frz_endpoint *e, const struct address *to,
		       const struct packet *p)
{
	const struct sockaddr *at = (const struct sockaddr *)&to->at;

	if (sendto(e->fd, p, sizeof *p, MSG_NOSIGNAL, at, to->size) >= 0)
		return 0;
	/* Full queues and peers that do not listen yet lose packets; that costs time only. */
	if (errno == EAGAIN || errno == ENOBUFS || errno == ECONNREFUSED || errno == EINTR)
		return 0;
	return -errno;
}

static void sleep_for_packet(int fd, uint64_t at_most_ns)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	struct timespec t = { .tv_nsec = at_most_ns < SLEEP_NS ? (long)at_most_ns : SLEEP_NS };

	ppoll(&p, 1, &t, NULL);
}

struct arrival {
	struct packet packet;
	char beyond;         /* so that a packet that is too long shows */
	ssize_t size;        /* -1: none came */
	uint64_t stamp;      /* read after the packet was here */
	struct address from;
};

/* The next packet of any kind, until `until_ns` or until *stop is set. */
static bool receive(const struct frz_endpoint *e, struct arrival *a, const volatile int *stop,
		    uint64_t until_ns)
{
	struct iovec into = { a, offsetof(struct arrival, beyond) + 1 };
	uint64_t begun = frz_monotonic_raw_ns();

	for (;;) {
		struct msghdr message = {
			.msg_name = &a->from.at, .msg_namelen = sizeof a->from.at,
			.msg_iov = &into, .msg_iovlen = 1,
		};

		a->size = recvmsg(e->fd, &message, MSG_DONTWAIT);
		a->stamp = frz_stamp_fenced();
		if (a->size >= 0) {
			a->from.size = message.msg_namelen;
			return true;
		}
		uint64_t now = frz_monotonic_raw_ns();

		if (now >= until_ns || (stop && *stop))
			return false;
		/* Yielding costs nothing on a processor of one's own, and where both sides share
		 * one, the answer is there as soon as the other side has run: 10 us a trip instead
		 * of 50. */
		if (now - begun < SPIN_NS)
			sched_yield();
		else
			sleep_for_packet(e->fd, until_ns - now);
	}
}

/* Reads until a packet of `kind` that replies to the latest question. */
static bool receive_reply(struct frz_endpoint *e, enum packet_kind kind, uint32_t from,
			  struct arrival *a, uint64_t until_ns)
{
	while (receive(e, a, NULL, until_ns)) {
		if (is_sound(e, &a->packet, a->size) && a->packet.kind == kind &&
		    a->packet.from == from && a->packet.session == e->session &&
		    a->packet.sequence == e->sequence)
			return true;
		e->dropped++;
	}
	return false;
}

static struct packet question(struct frz_endpoint *e, enum packet_kind kind, uint32_t to)
{
	struct packet p = {
		.magic = PACKET_MAGIC, .kind = kind, .from = e->clock, .to = to,
		.session = e->session, .sequence = ++e->sequence,
	};

	code_of(e, &p, p.code);
	return p;
}

/* ---- Asking -----------------------------------------------------------------------------------*/

/* One question and its answer. 1, 0 if none came in time, or -errno. */
static int ask_once(struct frz_endpoint *e, const struct address *to, uint32_t clock,
		    uint64_t until_ns, struct frz_sync_record *r)
{
	struct packet p = question(e, ASK, clock);
	struct arrival a;
	uint64_t asked = frz_stamp_fenced();
	int error = send_packet(e, to, &p);

	if (error)
		return error;
	if (!receive_reply(e, ANSWER, clock, &a, until_ns))
		return 0;
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

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

int frz_ask(struct frz_endpoint *e, const char *text, uint32_t clock, struct frz_burst b,
	    struct frz_synclog *log)
{
	uint64_t begun = frz_monotonic_raw_ns(), deadline = begun + b.deadline_ns, now = begun;
	uint64_t patience = FIRST_PATIENCE_NS;
	struct burst_width width = { 0 };
	struct address to;
	uint32_t done = 0;
	int got = parse_address(e, text, &to);

	if (deadline < begun)
		deadline = UINT64_MAX;
	while (got >= 0 && done < b.at_most && now < deadline) {
		struct frz_sync_record r;

		got = ask_once(e, &to, clock, earlier(deadline, now + patience), &r);
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

int frz_finish(struct frz_endpoint *e, const char *text, uint32_t clock, uint64_t deadline_ns)
{
	uint64_t now = frz_monotonic_raw_ns(), deadline = now + deadline_ns,
		 patience = FIRST_PATIENCE_NS;
	struct address to;
	struct arrival a;
	int error = parse_address(e, text, &to);

	if (error)
		return error;
	/* The same question again and again: the other side must take it once only. */
	for (struct packet p = question(e, FINISH, clock); now < deadline; patience *= 2) {
		error = send_packet(e, &to, &p);
		if (error)
			return error;
		if (receive_reply(e, FINISHED, clock, &a, earlier(deadline, now + patience)))
			return 0;
		now = frz_monotonic_raw_ns();
	}
	return -ETIMEDOUT;
}

/* ---- Answering --------------------------------------------------------------------------------*/

/* Whether a question is newer than all others of its asker; then it is remembered. The table
 * forgets the asker that was silent longest: what is replayed then gets an answer that nobody
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
	p.received = a->stamp;
	p.answered = frz_stamp_fenced();
	code_of(e, &p, p.code);
	send_packet(e, &a->from, &p); /* an answer that cannot be sent is a lost packet */
}

int frz_answer(struct frz_endpoint *e, const volatile int *stop, uint64_t deadline_ns)
{
	uint64_t begun = frz_monotonic_raw_ns(), deadline = begun + deadline_ns;
	struct arrival a;
	int answers = 0;

	if (deadline < begun)
		deadline = UINT64_MAX;
	while (receive(e, &a, stop, deadline)) {
		bool sound = is_sound(e, &a.packet, a.size);
		bool new = sound && is_new(e, &a.packet);

		if (sound && a.packet.kind == FINISH)
			reply(e, &a, FINISHED); /* also if it did not hear that the first time */
		if (new && a.packet.kind == ASK) {
			reply(e, &a, ANSWER);
			answers++;
		} else if (new && a.packet.kind == FINISH) {
			break;
		} else {
			e->dropped++;
		}
	}
	return answers;
}

/* SPDX-License-Identifier: MIT
 *
 * exchange.h - the measuring half: timestamped UDP packets between one endpoint per host.
 *
 * The side that asks sends its stamp; the side that answers adds the stamps at which it received
 * and sent; so each answered packet gives the asking side two links, one each way, and only the
 * asking side keeps a log. Law: `sent` of a link was read before its packet left, `received` after
 * it had arrived (both behind fences), whatever else went wrong.
 *
 * An endpoint asks in bursts (frz_ask), answers until it is told that this was all (frz_answer), or
 * does both now and then for as long as a program runs (frz_keep). It also answers while it waits
 * for an answer of its own: two that ask each other do not wait for each other.
 *
 * Every packet carries a code of its bytes under the job's key (SipHash-2-4, 128 bits). A side that
 * asks takes only the answer to its latest question, once; so whatever is forged, repeated,
 * delayed, put into another order or sent by the wrong host is dropped and counted, and can cost
 * time, up to the deadline, but not the law.
 *
 * Errors are -errno; nothing is printed; no signal handler is touched. One thread at a time may use
 * an endpoint. Link with libsodium. */
#ifndef FREEZER_EXCHANGE_H
#define FREEZER_EXCHANGE_H

#include <stddef.h>
#include <stdint.h>

#include "freezer/clock.h"
#include "freezer/stop.h"

#define FRZ_KEY_SIZE     16
#define FRZ_ADDRESS_SIZE 64 /* "ip:port" or "[ip]:port", NUL-terminated */
#define FRZ_SEEN         64

struct frz_counts {
	uint64_t exchanges;  /* questions whose answer came in time */
	uint64_t unanswered; /* questions whose answer did not */
	uint64_t forged;     /* packets dropped: without the key, damaged, or for another endpoint */
	uint64_t stale;      /* packets dropped: late, repeated or out of order */
};

struct frz_host;                       /* host.h */

struct frz_endpoint {
	int fd;
	uint32_t clock;                /* number of this host's clock in the job */
	uint8_t key[FRZ_KEY_SIZE];
	uint64_t session;              /* random; tells this endpoint's questions from others' */
	uint64_t sequence;             /* of the latest question */
	struct frz_counts counts;
	const struct frz_host *host;   /* what it tells of its host to who has the key; NULL: nothing */
	struct { uint64_t session, sequence; } seen[FRZ_SEEN]; /* of each asker, latest first */
};

struct frz_burst {
	uint64_t deadline_ns;          /* give up after this long */
	uint32_t at_least, at_most;    /* exchanges; ends early when the width stops improving */
};

struct frz_synclog;                    /* synclog.h; may be NULL: keep nothing */

/* Draws a key for a job. 0 or -errno. */
int frz_make_key(uint8_t key[FRZ_KEY_SIZE]);

/* Opens a socket on `bind` ("ip", or NULL: any IPv4 address) and `port` (0: any that is free).
 * 0 or -errno; on error e owns nothing. */
int frz_open_port(struct frz_endpoint *e, const char *bind, uint16_t port, uint32_t clock,
		  const uint8_t key[FRZ_KEY_SIZE]);
int frz_open(struct frz_endpoint *e, const char *bind, uint32_t clock,
	     const uint8_t key[FRZ_KEY_SIZE]);
void frz_close(struct frz_endpoint *e);

/* The port where others reach e; the caller knows by which of its addresses. */
uint16_t frz_port(const struct frz_endpoint *e);

/* ---- Bursts -----------------------------------------------------------------------------------*/

/* Asks `address` ("ip:port") whose clock has number `clock`, again and again, as `b` says, and
 * writes two links an exchange to `log`. Number of exchanges, or -ETIMEDOUT if no peer ever
 * answered. */
int frz_ask(struct frz_endpoint *e, const char *address, uint32_t clock, struct frz_burst b,
	    struct frz_synclog *log);

/* Likewise a clock of the other host's kernel, which answers with one reading of that. */
int frz_ask_kernel(struct frz_endpoint *e, const char *address, uint32_t clock, enum frz_source of,
		   struct frz_burst b, struct frz_synclog *log);

/* Asks what the host is called and how well its clock is known. 0, or -ETIMEDOUT if it does not answer, or another -errno. */
int frz_ask_host(struct frz_endpoint *e, const char *address, uint32_t clock, uint64_t deadline_ns,
		 struct frz_host *);

/* Tells the other side that there is nothing more to answer, until it agrees or `deadline_ns` has
 * passed. 0 or -ETIMEDOUT. Only for the last (or only) one that asks it. */
int frz_finish(struct frz_endpoint *e, const char *address, uint32_t clock, uint64_t deadline_ns);

/* Answers whoever has the key until it is told that this was all (frz_finish), is asked to stop
 * (NULL: never) or `deadline_ns` has passed. Number of answers. Spins while questions come in quick
 * succession and sleeps otherwise. */
int frz_answer(struct frz_endpoint *e, const struct frz_stop *stop, uint64_t deadline_ns);

/* ---- Now and then -----------------------------------------------------------------------------*/

struct frz_peer {
	char address[FRZ_ADDRESS_SIZE];
	uint32_t clock;
	struct frz_synclog *log;
};

struct frz_pace {
	uint64_t interval_ns;
	uint32_t at_least, at_most; /* exchanges with each peer an interval: until one is fast */
};

/* Answers whoever has the key, and asks each peer a few questions every interval, until it is asked
 * to stop; in between it sleeps in the kernel. A peer that does not answer is asked again an
 * interval later. Logs are flushed after each interval. 0, or -errno if it could not begin. */
int frz_keep(struct frz_endpoint *e, const struct frz_peer *peers, size_t npeers,
	     struct frz_pace pace, const struct frz_stop *stop);

#endif

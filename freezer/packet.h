/* SPDX-License-Identifier: MIT
 *
 * packet.h - what endpoints send each other, and how they wait for it.
 *
 * Law: a packet that packet_is_sound() was made by an endpoint that has the key, for this endpoint, and
 * not one bit of it was changed. */
#ifndef FREEZER_PACKET_H
#define FREEZER_PACKET_H

#include <netinet/in.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/types.h>

#include "freezer/exchange.h"

enum packet_kind {
	ASK = 1,
	ASK_LAST, /* and no other question follows soon */
	ANSWER,
	FINISH,
	FINISHED,
	ASK_HOST,
	HOST
};

struct packet {
	uint32_t magic;
	uint32_t kind;
	uint32_t from, to;           /* numbers of clocks */
	uint64_t session, sequence;  /* of the question */
	uint64_t received, answered; /* ANSWER: the answering side's stamps; HOST: 16 bytes of its struct frz_host.
					`received` of ASK: enum frz_source, if not its own clock; of ASK_HOST: which bytes */
	uint8_t code[16];
};

#define PACKET_MAGIC 0x335a5246u /* "FRZ3" */

/* Puts the code of its bytes into a packet that is complete otherwise. */
void packet_seal(const struct frz_endpoint *, struct packet *);
bool packet_is_sound(const struct frz_endpoint *, const struct packet *, ssize_t size);

struct address { struct sockaddr_storage at; socklen_t size; };

/* "ip:port" or "[ip]:port" as an address that the endpoint's socket can send to. 0 or -errno. */
int address_parse(const struct frz_endpoint *, const char *text, struct address *);

/* 0, also when the network loses the packet at once, or -errno. */
int packet_send(const struct frz_endpoint *, const struct address *to, const struct packet *);

struct arrival {
	struct packet packet;
	char beyond;         /* so that a packet that is too long shows */
	ssize_t size;
	uint64_t stamp;      /* read after the packet was here */
	struct address from;
};

/* How long to wait, and how: for `spin_ns` by looking again and again (and yielding in between),
 * then asleep. */
struct packet_wait {
	const struct frz_stop *stop;
	uint64_t until_ns;
	uint32_t spin_ns;
};

bool wait_is_over(const struct packet_wait *);

/* The next packet of any kind; false when the wait is over and none is there. Whoever gets packets
 * that are not wanted must look at the wait as well: they may never stop coming. */
bool packet_receive(const struct frz_endpoint *, struct arrival *, const struct packet_wait *);

#endif

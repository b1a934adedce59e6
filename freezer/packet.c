/* SPDX-License-Identifier: MIT
 *
 * packet.c - endpoints and single packets.
 *
 * Law: `stamp` of an arrival is read behind a fence after recvmsg() has handed the packet over. */
#define _GNU_SOURCE
#include "freezer/packet.h"

#include <errno.h>
#include <netdb.h>
#include <sched.h>
#include <sodium/crypto_shorthash_siphash24.h>
#include <sodium/crypto_verify_16.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "freezer/clock.h"

_Static_assert(sizeof(struct packet) == 64, "a packet has no padding");
_Static_assert(FRZ_KEY_SIZE == crypto_shorthash_siphashx24_KEYBYTES, "");
_Static_assert(sizeof ((struct packet *)0)->code == crypto_shorthash_siphashx24_BYTES, "");

static void code_of(const struct frz_endpoint *e, const struct packet *p, uint8_t code[16])
{
	crypto_shorthash_siphashx24(code, (const uint8_t *)p, offsetof(struct packet, code),
				    e->key);
}

void packet_seal(const struct frz_endpoint *e, struct packet *p)
{
	code_of(e, p, p->code);
}

bool packet_is_sound(const struct frz_endpoint *e, const struct packet *p, ssize_t size)
{
	uint8_t code[16];

	if (size != sizeof *p || p->magic != PACKET_MAGIC || p->to != e->clock)
		return false;
	code_of(e, p, code);
	return crypto_verify_16(code, p->code) == 0;
}

/* ---- Endpoints --------------------------------------------------------------------------------*/

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

int address_parse(const struct frz_endpoint *e, const char *text, struct address *address)
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

/* ---- Single packets ---------------------------------------------------------------------------*/

int packet_send(const struct frz_endpoint *e, const struct address *to, const struct packet *p)
{
	const struct sockaddr *at = (const struct sockaddr *)&to->at;

	if (sendto(e->fd, p, sizeof *p, MSG_NOSIGNAL, at, to->size) >= 0)
		return 0;
	/* Full queues and peers that do not listen yet lose packets; that costs time only. */
	if (errno == EAGAIN || errno == ENOBUFS || errno == ECONNREFUSED || errno == EINTR)
		return 0;
	return -errno;
}

bool wait_is_over(const struct packet_wait *wait)
{
	return frz_stop_asked(wait->stop) || frz_monotonic_raw_ns() >= wait->until_ns;
}

bool packet_receive(const struct frz_endpoint *e, struct arrival *a, const struct packet_wait *wait)
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

		if (now >= wait->until_ns || frz_stop_asked(wait->stop))
			return false;
		/* Yielding costs nothing on a processor of one's own, and where both sides share
		 * one, the answer is there as soon as the other side has run: 10 us a trip instead
		 * of 50. */
		if (now - begun < wait->spin_ns)
			sched_yield();
		else
			frz_stop_sleep(wait->stop, e->fd, wait->until_ns - now);
	}
}

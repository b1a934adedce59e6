/* SPDX-License-Identifier: MIT
 *
 * local_peer.c - with which socket a local one (AF_UNIX) is connected: the kernel says so by sock_diag(7), to the helper,
 * whose descriptors are its own. Without a helper it is not asked. */
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>

#include "runtime/adapter.h"
#include "runtime/sys.h"
#include "runtime/thread.h"

struct peer_question { struct nlmsghdr head; struct unix_diag_req of; };
struct answer { struct nlmsghdr head; struct unix_diag_msg of; char attributes[256]; } __attribute__((aligned(NLMSG_ALIGNTO)));

static bool ask(int fd, uint32_t inode)
{
	struct peer_question q = {
		.head = { .nlmsg_len = sizeof(q), .nlmsg_type = SOCK_DIAG_BY_FAMILY, .nlmsg_flags = NLM_F_REQUEST },
		.of = { .sdiag_family = AF_UNIX, .udiag_states = UINT32_MAX, .udiag_ino = inode, .udiag_show = UDIAG_SHOW_PEER,
			.udiag_cookie = { UINT32_MAX, UINT32_MAX } },
	};

	return sys(SYS_sendto, fd, &q, sizeof(q), MSG_DONTWAIT | MSG_NOSIGNAL, NULL, 0) == (long)sizeof(q);
}

/* Of an answer of so many bytes. */
static uint32_t peer_in(const struct answer *a, size_t n, uint32_t inode)
{
	size_t at = NLMSG_ALIGN(sizeof(a->head) + sizeof(a->of));
	uint32_t peer = 0;

	if (n < at || a->head.nlmsg_type != SOCK_DIAG_BY_FAMILY || a->of.udiag_ino != inode)
		return 0;
	while (at + sizeof(struct nlattr) <= n) {
		const struct nlattr *attribute = (const void *)((const char *)a + at);

		if (attribute->nla_len < sizeof(*attribute) || at + attribute->nla_len > n)
			return 0;
		if (attribute->nla_type == UNIX_DIAG_PEER && attribute->nla_len == sizeof(*attribute) + sizeof(peer))
			memcpy(&peer, attribute + 1, sizeof(peer));
		at += NLA_ALIGN(attribute->nla_len);
	}
	return peer;
}

/* The kernel answers while it is asked. */
static long find(void *inode)
{
	uint32_t *of = inode, self = *of;
	struct answer a;
	long fd = -1, n = 0;

	*of = 0;
	if (dprof_is_apart())
		fd = sys(SYS_socket, AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
	if (fd < 0)
		return 0;
	if (ask((int)fd, self))
		n = sys(SYS_recvfrom, fd, &a, sizeof(a), MSG_DONTWAIT, NULL, NULL);
	if (n > 0)
		*of = peer_in(&a, (size_t)n, self);
	sys(SYS_close, fd);
	return 0;
}

uint64_t dprof_adapter_local_peer(uint64_t inode)
{
	uint32_t of = (uint32_t)inode;

	if (of != inode)
		return 0;
	dprof_do_apart(find, &of);
	return of;
}

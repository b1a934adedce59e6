/* SPDX-License-Identifier: MIT
 *
 * link.h - what the measuring half hands to the solving half. */
#ifndef FREEZER_LINK_H
#define FREEZER_LINK_H

#include <stdint.h>

/* Clock `from` was read and showed `sent`, and later clock `to` was read and showed `received`. */
struct frz_link {
	uint32_t from, to;
	uint64_t sent, received;
};

#endif

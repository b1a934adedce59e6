/* SPDX-License-Identifier: MIT
 *
 * site_bytes.c - see site_bytes.h. */
#include "analysis/trace/site_bytes.h"

#include <string.h>

/* Of the string behind the others, if there is one. */
static void read_role(const char *at, const char *end, struct tr_site *site)
{
	if (at < end && memchr(at, 0, (size_t)(end - at)))
		tr_role_of(at, site);
}

const char *site_read(const uint8_t *bytes, size_t room, struct tr_site *out, size_t *size)
{
	struct dprof_site head;
	if (room < sizeof head)
		return "a whole site";
	memcpy(&head, bytes, sizeof head);
	if (head.magic != DPROF_SITE_MAGIC)
		return "a site's magic number";
	if (head.version != DPROF_SITE_VERSION)
		return "version 2 of a site";
	if (head.size % DPROF_SITE_ALIGN || head.size < DPROF_SITE_MIN || head.size > room)
		return "a site's size: a multiple of 16, from 48, that the file has room for";
	enum dprof_kind kind = dprof_site_kind(&head);
	if (kind == DPROF_KIND_NONE || kind >= DPROF_KIND_COUNT)
		return "a known kind of site";
	const char *string[3], *at = (const char *)bytes + sizeof head,
			       *end = (const char *)bytes + head.size;
	for (int i = 0; i < 3; i++) {
		string[i] = at;
		at = memchr(at, 0, (size_t)(end - at));
		if (!at++)
			return "three strings that end with NUL";
	}
	*out = (struct tr_site){ .kind = kind, .name = string[0], .file = string[1], .function = string[2],
				 .line = head.line, .column = head.column,
				 .automatic = dprof_site_automatic(&head) };
	read_role(at, end, out);
	*size = head.size;
	return NULL;
}

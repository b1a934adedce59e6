/* SPDX-License-Identifier: MIT
 *
 * nested.h - a thread for formats that know stacks: what is entered is left, innermost first, each at a moment.
 *
 * Law: of the steps of a thread enters and exits are as many, nest, and their moments never go back. An exit without an
 * enter is no step; what is left without an exit is left where what encloses it is, or at the next loss, or with the
 * thread's last event. */
#ifndef ANALYSIS_EXPORT_NESTED_H
#define ANALYSIS_EXPORT_NESTED_H

#include "analysis/export/moments.h"

struct nested_step {
	enum { NESTED_ENTER, NESTED_EXIT, NESTED_POINT } what;
	uint32_t site;           /* or TR_NO_SITE */
	int64_t at;              /* ticks of the base since the begin */
	frz_time bounds;
	const struct tr_event *event; /* that it is; NULL: it is none of the thread's own */
	size_t ordinal;          /* of the event that it is or comes of, as match.h counts them */
};

struct nested {
	const struct moments *moments;
	struct tr_cursor cursor;
	struct moments_cursor clock;
	struct replay replay;
	struct tr_event event;
	size_t leaving;          /* entries that are still to be left, innermost first; behind the replay's depth */
	int64_t at; frz_time bounds;
	size_t ordinal;          /* of the next event */
	bool over;
};

void nested_open(struct nested *, const struct moments *, uint32_t thread);
void nested_close(struct nested *);
bool nested_next(struct nested *, struct nested_step *);

#endif

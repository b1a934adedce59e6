/* SPDX-License-Identifier: MIT
 *
 * program_links.h - what the program's own messages and collective operations prove about clocks.
 *
 * Law: each link is true if the records are: its sending end was stamped before its receiving end.
 * Because
 *
 *  - a message is taken after its send was begun: the ENTER of the send comes before the "done" of
 *    the receive, or before its EXIT if there is none (match.h says which receive it was);
 *  - no participant leaves a barrier before all have entered: each ENTER comes before each EXIT. The same
 *    holds, between two members of any other collective operation, where data flow from the one to
 *    the other: from a member that gave some (bytes > 0) to each, of MPI_Allreduce and its like;
 *    from the root to a member that gets some; from a member that gives some to the root; from a
 *    member that gives some to those behind it, of MPI_Scan. Where the number of bytes is not recorded, or
 *    the operation does not say between whom data flow (MPI_Alltoallv, ...), nothing is proved;
 *  - the EXIT of an operation, and "done", were stamped behind a fence, so after what they report;
 *    and an ENTER retires before any later store of its processor can be seen.
 *
 * It takes no complete collective: what those prove who did take part is true whoever is missing.
 *
 * Of a collective only the latest ENTER and the earliest EXIT of each clock matter, and they give one
 * link for each two clocks, or, with many clocks, for each two of which one is the base. Operations
 * of one clock give no links: their order is known, so they are not even matched, unless the matches are wanted again.
 *
 * What others imply is left out (link_filter.h): of links that are as many as messages, few are left,
 * and memory does not grow with the run. */
#ifndef ANALYSIS_PROGRAM_LINKS_H
#define ANALYSIS_PROGRAM_LINKS_H

#include "analysis/match/match.h"

struct program_links {
	struct frz_link *links;  /* those that others do not imply */
	size_t nlinks;
	uint64_t found, *of_clock; /* all of them; all of each clock */
	struct match_tally tally;
	struct match_log *matches; /* if they are wanted again, or NULL; full, if anything was matched */
};

/* `rates`: what packets prove of the clocks, to say what implies what; NULL: all links, and if they are
 * more than a million, the better ones evenly over the run. Owns `matches`, which may be NULL. */
struct program_links program_links(const struct trace *, uint32_t base,
				   const struct frz_solution *rates, struct match_log *matches);
void program_links_free(struct program_links *);

/* Of the same records and other packets, which prove no less of the clocks: what is left out is implied then, too. Without matching
 * anything; owns `matches`, which stay as they are. */
struct program_links program_links_copy(const struct program_links *, size_t nclocks, struct match_log *matches);

/* How many links would be impossible if all clocks were one: received before they were sent. And the worst of them. Others may be
 * the other way round by no more than is known of both clocks' stamps (tr_clock, "uncertainty"), as where numbers are rounded. */
struct program_order { uint64_t links, impossible, rounded; struct frz_link worst; };
struct program_order program_order(const struct trace *, uint32_t base);

/* Which operations prove a link that came from there: "message from rank 0 (MPI_Send, a.c:7) to
 * rank 1 (MPI_Recv, a.c:9)". Walks the trace again. To be freed. */
char *program_link_words(const struct trace *, uint32_t base, const struct frz_link *);

#endif

/* SPDX-License-Identifier: MIT
 *
 * link_filter.h - of the many links that a program proves, those that the others do not imply.
 *
 * A link says that its sending comes before its receipt. Let link k be kept, and let at most `far`
 * pass on the sender's clock from k's sending to l's, and at least `near` on the receiver's from k's
 * receipt to l's. If far <= near, then l's sending comes no later than
 *
 *	k's sending + far  <=  k's receipt + near  <=  l's receipt
 *
 * so l says nothing that k does not say. What passes is known by the rates that packets prove; where
 * they prove none, a link implies those that were sent no later and received no earlier.
 *
 * Law: each link that was put in and does not come out is implied, as above, by one that does; unless
 * more than the filter has room for imply each other not. Then of each so many in a row, as many all over the
 * run, the fastest stays, and that makes bounds wider, but not false. The first link and the last from one
 * clock to another, by either clock's stamps, always come out: assumptions about clocks speak of the time
 * between.
 *
 * Memory: links that do not imply each other are few, since what is slower by d than the fastest link
 * matters only further from that than drift needs to make up for d. So they are as many as the run is long, and not as
 * it has messages: of four hosts with 13,000 messages a second 560 stay of a second; each takes some
 * 340 bytes while clocks are solved, with its share of the bounds. Fewer would make bounds wider. */
#ifndef ANALYSIS_CLOCKS_LINK_FILTER_H
#define ANALYSIS_CLOCKS_LINK_FILTER_H

#include <stddef.h>

#include "freezer/solve.h"

struct link_filter;

/* `rates`: a solution for these clocks, which must live on; NULL lets every link through. */
struct link_filter *link_filter_open(const struct frz_solution *rates, size_t room);

/* Links from one clock to another come about in the order of time. */
void link_filter_put(struct link_filter *, struct frz_link);

/* What is left, to be freed; closes the filter. */
struct frz_link *link_filter_close(struct link_filter *, size_t *n);

#endif

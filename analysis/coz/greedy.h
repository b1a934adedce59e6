/* SPDX-License-Identifier: MIT
 *
 * greedy.h - who comes first, decided again: what that changes in what is expected.
 *
 * The visit keeps every order of this run. Where it decided who was waited for (graph.h: turns) or who did which piece of
 * work (shares), another run decides it by when everybody comes. A *replay* goes through the program of all threads in
 * the order of time of the what-if:
 *
 *   lock      is given to whoever came first, where readers pass a writer that waits for readers; and of a lock that prefers
 *             readers to them before any writer
 *   permits   of a semaphore likewise
 *   inbox     whatever arrives first is taken first: messages from any source, of one of several requests, ends of children, bytes
 *             from several writers, or of several channels that were looked at; or of the messages in a queue one of the least
 *             kind, of those that are asked for (msgrcv), or of the highest priority (mq_receive). What was seen to be done with
 *             it here (an answer, or what its kind asks for) goes with it, unless who sent it may do another's work. Who names the
 *             sender of what a receive from anyone might get as well takes the first message of that one
 *   batches   one thread takes all that others have left there, and comes again when it is through with that, but not for what it
 *             took at once now, and in several batches then. What it would do in more batches than it took here nobody knows: so it
 *             waits for the last thing before the last of them
 *   shares    the n-th who comes does the n-th piece of work, until none is left; then each goes on with its own; and where pieces
 *             depend on others, whoever comes waits until one is ready
 *   leads     whoever comes while nobody does what is done for all does so, for all who came before it began
 *   tasks     of OpenMP are run by whoever waits where they may be run, when they are ready, in the order of libgomp
 *
 * Who came later than another by his stamps, and had his turn before him all the same, does so again, if they come as far
 * apart. Where somebody stands there and sleeps, a lock goes to whoever comes before he is awake, which takes as long as it
 * took him here: so a thread that gives one back may have it again at once, again and again. A permit likewise, if one of
 * that semaphore did so here. All else is kept: who signalled a condition variable, and what nobody knows. A replay is of single
 * numbers, the most likely ones, and no bounds: whoever came last, if one of several may have been waited for, was. Where
 * it decides otherwise than this run, somebody waits in a queue who did not, or looked for what he took, the middle of
 * what is expected is
 *
 *   what the replay saves - what one saves in which nothing is made faster
 *
 * and its width is that of the visit's, or nothing where all that the visit did not know is what was looked for; but never
 * beyond what is proved. So nothing is expected of a reduction by 0. Where a replay gets stuck, or leaves out what somebody did
 * (pieces of one group that begin in those of another and end outside), what is expected is what the visit found.
 *
 * One replay of each scenario goes through all synchronisation points: if there are more than GREEDY_POINTS, or more than
 * GREEDY_MOST in all scenarios of a question, orders are kept. Memory: 32 bytes for each point, 28 for each node and
 * input, and 72 for each task. */
#ifndef ANALYSIS_GREEDY_H
#define ANALYSIS_GREEDY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/coz/savings.h"
#include "analysis/graph/graph.h"

#define GREEDY_POINTS 2000000
#define GREEDY_MOST   40000000

struct greedy;

/* NULL where no order is to be decided again, or where there are too many points even for one scenario. */
struct greedy *greedy_open(const struct graph *, const struct savings *);

/* Whether there are turns, and too many points for replays of so many scenarios. */
bool greedy_too_many(const struct graph *, size_t scenarios);
void greedy_close(struct greedy *); /* or NULL */

/* What is replayed: the points of one thread after the other, each when it was, in ticks of the base; and before it how much
 * time of each region could be less. What is less behind a thread's last one moves none. */
void greedy_cut(struct greedy *, uint32_t thread, size_t region, frz_time duration);
void greedy_point(struct greedy *, uint32_t thread, const struct graph_sync_point *, frz_time at);

/* How much later each input of a node could have come without being waited for. Where that is not said, only its first
 * one is waited for. */
void greedy_slacks(struct greedy *, const struct graph_node *, const struct slack *);

/* How much earlier each probe happens in a scenario, and the run ends. NULL where that is what the visit found. Until the
 * next replay. */
const double *greedy_replay(struct greedy *, size_t region, size_t scenario, double *end);

/* Once it has replayed: all that nobody knows was looked for is what was taken then, and there is but one clock. */
bool greedy_knows(const struct greedy *);

#endif

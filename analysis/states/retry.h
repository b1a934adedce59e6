/* SPDX-License-Identifier: MIT
 *
 * retry.h - loops that ask for something, and sleep before they ask again.
 *
 *   while (read(fd, &c, 1) < 1) usleep(1000);    of a descriptor that does not block
 *   while (!ready()) usleep(1000);               which takes a lock, looks at a flag, and gives the lock back
 *
 * A thread is in no such loop for sure: it may sleep for itself, and look for something else now and then. So whoever
 * is told of one takes it for a thread that works or waits.
 *
 * A *look* is what may have been there to ask, and may have got nothing:
 *
 *   - a wait that was in vain, or ended by its time limit alone, or of which no record says what it got;
 *   - a lock that is taken and given back, or a permit of a semaphore, a lock of a file, bytes of a channel;
 *   - bytes of a channel that the thread has given itself;
 *   - a signal of a condition, if nobody waits for any in the whole trace;
 *   - beside that, input and output of the thread's own, and regions that nobody marked.
 *
 * What else gives something to others, or says what it got from them, is none.
 *
 * Waits that their time limits ended are surely one wait, if each is followed by the next at the same place, but for looks that
 * take a small part of its time, and the last was ended by another:
 *
 *   while (!done) pthread_cond_timedwait(&told, &mutex, &soon);
 *
 * Law: sleeps with nothing but looks in between are a loop if there are RETRY_SLEEPS of them at one place, and no look
 * keeps the thread awake for longer than the longest sleep before it took. Behind a look that was surely in vain one
 * sleep before the next look does. */
#ifndef ANALYSIS_RETRY_H
#define ANALYSIS_RETRY_H

#include "analysis/states/roles.h"

#define RETRY_SLEEPS 3

/* Whether the sleep that has begun is the first of such a loop. The cursor is behind its ENTER. */
bool retry_begins(const struct roles *, struct tr_cursor, const struct tr_event *sleep);

/* How many events there are from behind a sleep's EXIT up to the ENTER of the next sleep, that one too, if these are
 * looks, and it comes not later than at `latest`; or 0. */
size_t retry_until_sleep(const struct roles *, struct tr_cursor, uint64_t latest);

/* How many there are from behind the EXIT of an attempt in vain up to the ENTER of the next one; or 0. */
size_t retry_until_attempt(const struct roles *, struct tr_cursor);

/* Likewise from behind a wait at `site` that was over at `since`, and nothing but a time limit ended that, up to the
 * ENTER of another there, or of what takes bytes. It sleeps for most of that. */
size_t retry_until_wait(const struct roles *, struct tr_cursor, uint32_t site, uint64_t since);

/* From behind the ENTER, at `since`, of a wait at `site` that nothing but its time limit ended: how many events there are up to the
 * end of the row of such waits that it belongs to, and whether another one ended the last. */
size_t retry_until_told(const struct roles *, struct tr_cursor, uint32_t site, uint64_t since, bool *told);

#endif

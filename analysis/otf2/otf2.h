/* SPDX-License-Identifier: MIT
 *
 * otf2.h - a trace that another tool has left in OTF2 (Score-P, EZTrace, ...), as a text that text_pack() reads.
 *
 *   location        thread, with the rank that the locations of MPI's communicators give its process
 *   location group  process, with a clock of its own, known to one tick; with logs (sync_logs.h) that of its host, as
 *                   well as its cores agree
 *   system tree     with logs: a node that is called like a host of them is that
 *   region          automatic region; those of MPI: the operation that the records within say it was
 *   communicator    group
 *
 * Law: what is in the text was in the trace, at the stamp that the tool gave it, and nothing is in the text that the
 * trace leaves open. So a receive has its sender when it is done only (it may have taken any); of a call that says nothing of
 * what it waited for, that is not known; and of how the tool joined the clocks of processes nothing is believed.
 *
 * A thread but the first of its process waits where it is in no team and in no region; if the trace says nothing of
 * teams, perhaps. Regions that overlap instead of nesting end with the first of them. A location whose records cannot
 * be read, or whose stamps fall, ends there, and has lost something. OTF2 3.0, libotf2's own reader; no other folder
 * knows it. */
#ifndef ANALYSIS_OTF2_H
#define ANALYSIS_OTF2_H

#include <stdbool.h>

#include "analysis/clocks/sync_logs.h"

/* OTF2 has no words for it: how regions are described that dprof exports, in which a thread sleeps; and those that the user has
 * marked, so that what a thread does there, sleeping or not, is its own work. */
#define DPROF_OTF2_SLEEP "dprof: sleep"
#define DPROF_OTF2_MARK  "dprof: marked"

/* Whether a file of that name is one of those: NAME.otf2, the anchor beside which the others lie. */
bool otf2_is(const char *path);

/* Stamps as the clock of each process gave them; as the tool has corrected them; and likewise, all of one clock. */
enum otf2_times { OTF2_RAW, OTF2_CORRECTED, OTF2_ONE_CLOCK };

/* Packs it into a directory that is made, as text_pack() does. The library reads it in a process of its own: what makes
 * that fail is named, and does no harm. `logs`: with OTF2_RAW, or NULL. NULL, or what went wrong (to be freed). */
char *otf2_pack(const char *path, enum otf2_times, const struct sync_logs *logs, const char *directory);

#endif

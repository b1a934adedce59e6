/* SPDX-License-Identifier: MIT
 *
 * doubt.h - what-ifs and the critical path know what the recorder did not see: waits in calls that it does not record
 * (unrecorded.h), rows of sleeps that may ask for something (polling_sleeps.h), threads that it does not know (unseen.h), time
 * outside of marks (unclassified.h).
 *
 * Law: whoever asks for a what-if of the same trace asks with the same doubts. */
#ifndef ANALYSIS_DOUBT_H
#define ANALYSIS_DOUBT_H

#include "analysis/coz/profile.h"
#include "analysis/diagnose/doubts.h"
#include "analysis/path/path.h"
#include "analysis/report/unclassified.h"
#include "analysis/report/unrecorded.h"
#include "analysis/waits/waits.h"

/* Sets the request's open_s, polling_sleeps_s, hidden, unsure and if_work. `polling_sleeps_s` is what polling_sleeps_say()
 * says, `unclassified` what unclassified_find() finds. */
void doubt_profile(struct profile_request *, const struct trace *, const struct unrecorded *, double polling_sleeps_s,
		   const struct unclassified *unclassified);

/* Of the threads that surely were blocked so. */
void doubt_path(struct path *, const struct unrecorded *);

/* Delays of what wait states go back to: as long as a thread may have waited that surely was blocked so, all others may
 * have waited for whom it waited for; and whatever a thread did where it seems to wait, for that. The waits are those
 * of the graph. */
void doubt_delays(struct waits *, const struct graph *, const struct unrecorded *);

/* Of a trace with problems: how long all threads waited at most, those of which records are lost, or of which it is not
 * known what ended a wait, for up to all of their time. How many these are goes to `open`. What delays cost is as wide
 * then, as what is lost may be what they go back to. `waiting`: in all, as far as is known. */
frz_time doubt_waiting(struct waits *, const struct graph *, frz_time waiting, size_t *open);

/* For a diagnosis, as long as `unrecorded` is there; most_s is to be freed. `polling_sleeps_s`, `unclassified`: as above. */
struct diagnosis_doubts doubt_diagnosis(const struct trace *, const struct unrecorded *, double polling_sleeps_s,
					const struct unclassified *unclassified);

#endif

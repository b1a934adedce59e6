/* SPDX-License-Identifier: MIT
 *
 * doubts.h - what the recorder did not see of the threads that are diagnosed, as the kernel's counts tell it (blocked.h).
 *
 * Law: how all time was spent holds whatever the counts leave open. Regions, costs and what-ifs hold it for threads that surely
 * were blocked; where that is only open, nothing that it could change is proved. */
#ifndef ANALYSIS_DOUBTS_H
#define ANALYSIS_DOUBTS_H

#include "analysis/coz/coz.h"
#include "analysis/states/blocked.h"

/* Arrays are of the trace's threads; seconds are by the kernel's clock, up to infinity. */
struct diagnosis_doubts {
	double *most_s;              /* at most for so long it was blocked where it seems to have worked; */
	const bool *surely;          /* it surely was, for a time worth mentioning */
	const struct blocked *blocked; /* and for how long it worked where it seems to wait */
	double open_s[COZ_ANSWERS], polling_sleeps_s; /* as profile.h has them */
	bool hidden;                 /* some thread may have worked where it seems to wait: what a change would buy is not known */
	bool if_work;                /* likewise: what one would buy is proved only if unclassified time is work */
};

#endif

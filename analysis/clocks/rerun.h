/* SPDX-License-Identifier: MIT
 *
 * rerun.h - a trace as another run of its program would have left it, if its hosts had exchanged more packets, or better ones.
 *
 * The packets are made up, and go between the base and each other clock, or, if they are to take as long as those of this
 * run, each that has exchanged some with it: as if time had gone by in the middle of the bounds that are known, or of what these
 * leave to a clock of the middle rate. So what is computed from such a trace is no bound on anything: it says how much would
 * be known.
 *
 * Law: the packets that are made up contradict nothing of what is known, and take as long as was asked for, or as those
 * of this run. */
#ifndef ANALYSIS_RERUN_H
#define ANALYSIS_RERUN_H

#include "analysis/clocks/times.h"

struct rerun {
	double interval_s;   /* of packets that take as long as those that were exchanged while this program ran, if
				no less than rerun_least_s(); */
	double width_s;      /* or, if not 0: packets so often that all is known to this, there and back together */
};

/* All clocks with threads must be on one time base. Events and sites are the trace's own, which must last. The copy has its own
 * diagnostics and notes, and is closed by rerun_close(). */
struct trace *rerun_open(const struct times *, struct rerun);
void rerun_close(struct trace *);

/* Between two packets from host to host while the program ran, about, in seconds; 0: there were none. */
double rerun_interval_s(const struct times *);

/* Packets are no closer, in seconds, however long the run took: so their number has a limit. */
double rerun_least_s(const struct times *);

#endif

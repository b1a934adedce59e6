/* SPDX-License-Identifier: MIT
 *
 * records_end.h - where threads were when their process was killed, or the trace of one that runs was read: said as notes
 * of the trace, one for each place. */
#ifndef ANALYSIS_RECORDS_END_H
#define ANALYSIS_RECORDS_END_H

#include "analysis/trace/trace.h"

void records_end_say(struct trace *);

#endif

/* SPDX-License-Identifier: MIT
 *
 * sched.h - what the kernel's scheduler counts of each thread, and when it was asked.
 *
 * The counters of two cores may differ a little, so it matters when a thread moved from one to another; and a
 * thread that could run while another one had its core was slow for a reason that is not in the program. The
 * kernel counts both (/proc), exactly and from the thread's creation on. Nothing asks on the fast path: the
 * helper does so now and then, a thread when it ends, and the process at its end; of a thread that a recorded call made
 * nobody need ask at first: nothing had been counted of it then.
 *
 * Law: what dprof_sched_read() says was true at some moment between its two stamps; `moves` is no less than
 * how often the thread had moved to another core until then. A number that the kernel does not tell is left out. */
#ifndef RUNTIME_SCHED_H
#define RUNTIME_SCHED_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/format.h"

/* Of the thread `tid` of this process; nothing is known (known == 0) where /proc is not there or of another
 * namespace. No vector registers, no errno. */
struct dprof_sched dprof_sched_read(uint64_t tid);

/* ns for which a thread of this process has run; 0: there is none of that number. */
uint64_t dprof_sched_cpu(uint64_t tid);

/* Of the calling thread, which records nothing any more. Cheap where it was hardly ever taken off its core, unless
 * it is `old`: then it may have been off for long. */
struct dprof_sched dprof_sched_last(bool old);

/* What is not known, if it was asked and told of no thread for how long it could have run without a core; or NULL. */
const char *dprof_sched_silence(void);

/* Appends a line to the process file. */
void dprof_sched_line(uint32_t thread, const struct dprof_sched *);

#endif

/* SPDX-License-Identifier: MIT
 *
 * clocks.h - how the sites of loops and sleeps are called that a clock ends (plugin/clocks.cc, clocks.c). */
#ifndef RUNTIME_CLOCKS_H
#define RUNTIME_CLOCKS_H

#include <stdint.h>

#define DPROF_CLOCK_LOOP "loop until a time"

/* Where there is no time left to sleep. */
#define DPROF_NO_REST "no time left to sleep"

/* Its role, and that of a sleep: until when was read off a clock; or what was done until then would have been more, or less, in
 * less or more time; or nothing was done until then, which was laid down before. */
#define DPROF_ROLE_REST 1
#define DPROF_ROLE_OPEN 2
#define DPROF_ROLE_PACE 3

/* Between these stamps the calling thread did as much as a clock left time for: what is recorded in between. */
struct dprof_site;
void dprof_was_open(const struct dprof_site *, uint64_t from, uint64_t now);

#endif

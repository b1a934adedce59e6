/* SPDX-License-Identifier: MIT
 *
 * command.h - what the commands of `freezer` share.
 *
 * A command returns the exit status: 0 fine; 1 it could not be done, or the clocks contradict
 * themselves; 2 wrong usage. */
#ifndef FREEZER_COMMAND_H
#define FREEZER_COMMAND_H

#include <argp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "freezer/exchange.h"
#include "freezer/host.h"
#include "freezer/solve.h"
#include "freezer/synclog.h"

#define FREEZER_PORT "3797"

/* Both ends know what the other one's clock is called. */
enum { CLOCK_HERE, CLOCK_THERE, CLOCKS };

int cmd_serve(int argc, char **argv);
int cmd_measure(int argc, char **argv);
int cmd_cores(int argc, char **argv);

/* Shared options; for argp's children. Its input is a struct common. */
struct common {
	uint8_t key[FRZ_KEY_SIZE];
	const char *bind; /* NULL: any IPv4 address */
	const char *name; /* of this host in logs; NULL: its host name */
};
extern const struct argp common_argp;

/* What there is to say of this host in logs. 0 or -errno, said on stderr. */
int find_host(struct frz_host *, const struct common *);

/* Asked by SIGINT and SIGTERM once catch_stop() has been called. 0 or -errno, said on stderr. */
extern struct frz_stop stop;
int catch_stop(void);

/* ---- Results ----------------------------------------------------------------------------------*/

struct seconds { double lo, hi; }; /* encloses; as printed it is rounded outward again */

/* What the exchanges with one host have shown. Seconds are seconds by the nominal rate of the clock
 * here; everything else is proven if the clocks drifted no more than assumed. */
struct result {
	const char *host;
	enum frz_status status;
	size_t exchanges;
	uint64_t dropped;
	struct seconds offset; /* counter there minus counter here, when the last answer came */
	struct frz_rate ppm;        /* how much faster the counter there runs than the one here */
	double width_min, width_median, width_max; /* s, of the bounds over the whole run */
	struct seconds there, back; /* how long the fastest packet each way took */
	struct frz_sync_record conflict[FRZ_MAX_CONFLICTS];
	unsigned nconflicts;
	uint32_t ppb;               /* the drift that the bounds allow for */
	struct frz_solution *solution;
};

/* Solves for the exchanges in the log. 0 or -errno; on error there is nothing to free. */
int result_of(struct result *, const char *host, const struct frz_synclog *, uint64_t dropped,
	      struct frz_assumption);
void result_free(struct result *);

/* Whether there are bounds. */
bool result_placed(const struct result *);

void result_print(const struct result *);
void result_print_json(const struct result *);

/* ---- Pictures ---------------------------------------------------------------------------------*/

struct plot { FILE *gnuplot; };

/* Whether a picture can have this name; NULL is one on the terminal. */
bool plot_knows(const char *file);

/* For `n` pictures, one above the other. 0, or -errno after a message on stderr. */
int plot_begin(struct plot *, const char *file, size_t n);
void plot_add(struct plot *, const struct result *, const struct frz_synclog *);
int plot_end(struct plot *);

#endif

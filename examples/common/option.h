/* SPDX-License-Identifier: MIT
 *
 * option.h - numbers among the arguments.
 *
 * Law: what does not lie from low to high, or is no number, ends the program (argp_error) with
 * what was expected and found. */
#ifndef EXAMPLES_OPTION_H
#define EXAMPLES_OPTION_H

#include <argp.h>

long option_number(struct argp_state *state, const char *name, const char *text, long low,
		   long high);
double option_real(struct argp_state *state, const char *name, const char *text, double low,
		   double high);

#endif

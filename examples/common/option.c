/* SPDX-License-Identifier: MIT
 *
 * option.c - numbers among the arguments. */
#include "examples/common/option.h"

#include <errno.h>
#include <stdlib.h>

long option_number(struct argp_state *state, const char *name, const char *text, long low,
		   long high)
{
	char *end;
	errno = 0;
	long n = strtol(text, &end, 10);
	if (end == text || *end || errno || n < low || n > high)
		argp_error(state, "%s: expected a number from %ld to %ld, found \"%s\"", name, low,
			   high, text);
	return n;
}

double option_real(struct argp_state *state, const char *name, const char *text, double low,
		   double high)
{
	char *end;
	double x = strtod(text, &end);
	if (end == text || *end || !(x >= low && x <= high))
		argp_error(state, "%s: expected a number from %g to %g, found \"%s\"", name, low,
			   high, text);
	return x;
}

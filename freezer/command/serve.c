/* SPDX-License-Identifier: MIT
 *
 * serve.c - `freezer serve`: answers until it is told to stop. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "freezer/clock.h"
#include "freezer/command/command.h"

#define LOOK_NS UINT64_C(1000000000) /* at what was dropped */

struct serve {
	struct common common;
	uint16_t port;
};

static const struct argp_option options[] = {
	{ "port", 'p', "N", 0, "port to answer on (default " FREEZER_PORT "; 0: any free one)", 0 },
	{ 0 },
};

static error_t parse(int option, char *value, struct argp_state *state)
{
	struct serve *serve = state->input;
	char *end;
	unsigned long port;

	switch (option) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &serve->common;
		return 0;
	case 'p':
		port = strtoul(value, &end, 10);
		if (!*value || *end || port > UINT16_MAX || *value == '-')
			argp_error(state, "--port: expected a number from 0 to 65535, found '%s'",
				   value);
		serve->port = (uint16_t)port;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* Once. Whoever asks gets no answer, so only here it can be seen. */
static void say_wrong_key(const struct frz_endpoint *e)
{
	static bool said;

	if (said || !e->counts.forged)
		return;
	fputs("freezer: packets with another --key than ours, or damaged, are not answered\n", stderr);
	said = true;
}

int cmd_serve(int argc, char **argv)
{
	static const struct argp_child children[] = { { &common_argp, 0, NULL, 0 }, { 0 } };
	static const struct argp argp = {
		options, parse, NULL, "Answer those who measure against this host's clock.",
		children, NULL, NULL,
	};
	struct serve serve = { .port = (uint16_t)atoi(FREEZER_PORT) };
	struct frz_host host;
	struct frz_endpoint e;
	unsigned long long answers = 0, dropped;
	int error;

	argp_parse(&argp, argc, argv, 0, NULL, &serve);
	error = frz_open_port(&e, serve.common.bind, serve.port, CLOCK_THERE, serve.common.key);
	if (error) {
		fprintf(stderr, "freezer: cannot listen on %s port %u: %s\n",
			serve.common.bind ? serve.common.bind : "any address", serve.port,
			strerror(-error));
		return 1;
	}
	if (catch_stop() || find_host(&host, &serve.common)) {
		frz_close(&e);
		return 1;
	}
	e.host = &host;
	printf("answering on port %u; clock %s, %.6f GHz\n", frz_port(&e),
	       frz_source_word(frz_source()), frz_ghz());
	fflush(stdout);
	while (!frz_stop_asked(&stop)) {
		answers += (unsigned long long)frz_answer(&e, &stop, LOOK_NS);
		say_wrong_key(&e);
	}
	dropped = e.counts.forged + e.counts.stale;
	printf("answered %llu, dropped %llu", answers, dropped);
	if (dropped)
		printf(" (%llu without the key or damaged, %llu late or repeated)",
		       (unsigned long long)e.counts.forged, (unsigned long long)e.counts.stale);
	putchar('\n');
	frz_close(&e);
	return 0;
}

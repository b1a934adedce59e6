/* SPDX-License-Identifier: MIT
 *
 * measure.c - `freezer measure`: a burst with each host at the begin, a few exchanges now and then,
 * a burst at the end, and what all of them together prove. */
#include <ctype.h>
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "freezer/clock.h"
#include "freezer/command/command.h"

#define S_NS  1000000000u
#define MS_NS 1000000u

static const struct frz_burst at_the_ends = {
	.deadline_ns = 500 * MS_NS, .at_least = 100, .at_most = 10000,
};
static const struct frz_burst now_and_then = {
	.deadline_ns = 100 * MS_NS, .at_least = 8, .at_most = 8,
};
#define PAUSE_NS (50 * MS_NS)
#define BEGUN_NS (2 * S_NS) /* whoever has not answered until then is not waited for */

struct peer {
	const char *name;               /* as the user wrote it */
	char address[FRZ_ADDRESS_SIZE];
	struct frz_endpoint endpoint;
	struct frz_synclog log;
	struct frz_host host;           /* what it is, if that is needed and known; */
	bool known;
	bool begun;                     /* all of its clocks are in the file */
	size_t kept;                    /* of the log's records, in the file */
};

struct measure {
	struct common common;
	uint64_t for_ns;
	bool json, plot;
	const char *picture; /* NULL: on the terminal */
	const char *path;    /* of the log of all exchanges, which others may read; or NULL */
	struct frz_host host;
	struct frz_synclog file;
	struct frz_assumption assumption;
	struct peer *peers;
	size_t npeers;
};

/* ---- Options ----------------------------------------------------------------------------------*/

static const struct argp_option options[] = {
	{ "for", 'f', "TIME", 0, "how long to measure: 500ms, 10s, 2m (default 1s); the longer, "
	  "the better the rate is known", 0 },
	{ "drift", 'd', "PPM", 0, "how far the rates may be from their mean over the run at any "
	  "moment (default 10; 0: one rate each)", 0 },
	{ "log", 'l', "FILE", 0, "keep all exchanges, and such with the kernels' clocks, in FILE, which is made: "
	  "for dprof-analyze audit --sync=FILE", 0 },
	{ "json", 'j', NULL, 0, "print JSON", 0 },
	{ "plot", 'P', "FILE", OPTION_ARG_OPTIONAL, "draw the bounds over the run into FILE (.png "
	  "or .svg), or on the terminal", 0 },
	{ 0 },
};

static bool parse_time(const char *text, uint64_t *ns)
{
	static const struct { const char *unit; double ns; } units[] = {
		{ "", 1e9 }, { "ms", 1e6 }, { "s", 1e9 }, { "m", 60e9 }, { "h", 3600e9 },
	};
	char *end;
	double number = strtod(text, &end);

	for (size_t i = 0; i < sizeof units / sizeof *units; i++)
		if (end != text && strcmp(end, units[i].unit) == 0 && number >= 0 &&
		    number <= 1e5) {
			*ns = (uint64_t)(number * units[i].ns);
			return true;
		}
	return false;
}

static bool parse_drift(const char *text, struct frz_assumption *assumption)
{
	char *end;
	double ppm = strtod(text, &end);

	if (end == text || *end || !(ppm >= 0 && ppm < 1e5))
		return false;
	*assumption = (struct frz_assumption){
		.model = ppm > 0 ? FRZ_DRIFT : FRZ_AFFINE, .ppb = frz_ppb(ppm),
	};
	return true;
}

static void add_peer(struct measure *m, const char *name, struct argp_state *state)
{
	m->peers = realloc(m->peers, (m->npeers + 1) * sizeof *m->peers);
	if (!m->peers)
		argp_failure(state, 1, ENOMEM, "hosts");
	m->peers[m->npeers++] = (struct peer){
		.name = name, .endpoint.fd = -1, .log.fd = -1,
	};
}

static error_t parse(int option, char *value, struct argp_state *state)
{
	struct measure *m = state->input;

	switch (option) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &m->common;
		return 0;
	case 'f':
		if (!parse_time(value, &m->for_ns))
			argp_error(state, "--for: expected a time such as 10s, found '%s'", value);
		return 0;
	case 'l':
		m->path = value;
		return 0;
	case 'j':
		m->json = true;
		return 0;
	case 'd':
		if (!parse_drift(value, &m->assumption))
			argp_error(state, "--drift: expected a number of ppm, found '%s'", value);
		return 0;
	case 'P':
		m->plot = true;
		m->picture = value;
		if (!plot_knows(value))
			argp_error(state, "--plot: expected a name that ends in .png or .svg, "
				   "found '%s'", value);
		if (value && access(value, F_OK) == 0)
			argp_error(state, "--plot: %s is there already: name another, or remove it", value);
		return 0;
	case ARGP_KEY_ARG:
		add_peer(m, value, state);
		return 0;
	case ARGP_KEY_END:
		if (m->json && m->plot && !m->picture)
			argp_error(state, "--plot with --json needs the name of a file");
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "expected a host to measure");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* ---- Peers ------------------------------------------------------------------------------------*/

/* "host", "host:port", "[ip]" or "[ip]:port", taken apart in place. */
static void split(char *text, char **host, const char **port)
{
	char *colon = strrchr(text, ':'), *bracket = strrchr(text, ']');

	*host = text;
	*port = FREEZER_PORT;
	if (colon && (bracket ? bracket < colon : strchr(text, ':') == colon)) {
		*colon = 0;
		*port = colon + 1;
	}
	if (bracket && *text == '[') {
		*bracket = 0;
		++*host;
	}
}

/* Or the name of a service. */
static bool is_port(const char *text)
{
	char *end;
	unsigned long port = strtoul(text, &end, 10);

	return *text && (*end || (port > 0 && port <= UINT16_MAX && isdigit((unsigned char)*text)));
}

static int find(struct peer *p, int *family)
{
	struct addrinfo hints = { .ai_socktype = SOCK_DGRAM }, *found;
	char text[256], ip[NI_MAXHOST], port_text[NI_MAXSERV], *host;
	const char *port;
	int error;

	snprintf(text, sizeof text, "%s", p->name);
	split(text, &host, &port);
	if (!is_port(port)) {
		fprintf(stderr, "freezer: %s: expected a port from 1 to 65535, found '%s'\n", p->name, port);
		return -EINVAL;
	}
	error = getaddrinfo(host, port, &hints, &found);
	if (!error) {
		error = getnameinfo(found->ai_addr, found->ai_addrlen, ip, sizeof ip, port_text,
				    sizeof port_text, NI_NUMERICHOST | NI_NUMERICSERV);
		*family = found->ai_family;
		freeaddrinfo(found);
	}
	if (error) {
		fprintf(stderr, "freezer: cannot find host '%s': %s\n", p->name,
			gai_strerror(error));
		return -EHOSTUNREACH;
	}
	snprintf(p->address, sizeof p->address, *family == AF_INET6 ? "[%s]:%s" : "%s:%s", ip,
		 port_text);
	return 0;
}

static int open_peer(struct peer *p, const struct common *common)
{
	const char *bind = common->bind;
	int family, error = find(p, &family);

	if (error)
		return error;
	if (!bind && family == AF_INET6)
		bind = "::";
	error = frz_open(&p->endpoint, bind, CLOCK_HERE, common->key);
	if (!error)
		error = frz_synclog_create(&p->log, NULL, CLOCK_HERE, "");
	if (error)
		fprintf(stderr, "freezer: cannot open a socket%s%s: %s\n", bind ? " on " : "",
			bind ? bind : "", strerror(-error));
	return error;
}

static void close_peer(struct peer *p)
{
	frz_close(&p->endpoint);
	frz_synclog_close(&p->log);
}

static int ask(struct peer *p, struct frz_burst burst)
{
	int done = frz_ask(&p->endpoint, p->address, CLOCK_THERE, burst, &p->log);

	return done < 0 && done != -ETIMEDOUT ? done : 0;
}

/* ---- The log ----------------------------------------------------------------------------------*/

static const struct frz_burst now_and_then_kernel = {
	.deadline_ns = 100 * MS_NS, .at_least = 2, .at_most = 2,
};

static uint32_t clock_here(const struct measure *m)
{
	return frz_log_clock(0, (enum frz_source)m->host.source);
}

static int create_log(struct measure *m)
{
	int error;

	if (!m->path)
		return 0;
	error = find_host(&m->host, &m->common);
	if (error)
		return error;
	error = frz_synclog_create(&m->file, m->path, clock_here(m), m->host.name);
	if (error) {
		fprintf(stderr, "freezer: %s: cannot be made: %s\n", m->path, strerror(-error));
		return error;
	}
	return frz_synclog_add_host(&m->file, 0, &m->host);
}

/* Records of two clocks, as of a clock of that number and the one here. */
static void add_records(struct measure *m, const struct frz_synclog *log, size_t from, uint32_t clock)
{
	for (size_t i = from; i < log->nrecords; i++) {
		struct frz_sync_record r = log->records[i];

		r.asker = clock_here(m);
		r.answerer = clock;
		frz_synclog_add(&m->file, &r);
	}
}

/* The kernel's clocks of this host, each read between two readings of its own clock. */
static void read_kernel(struct measure *m)
{
	for (enum frz_source s = FRZ_MONOTONIC_RAW; s < FRZ_SOURCES; s++)
		for (int i = 0; i < 2 && s != m->host.source; i++) {
			struct frz_sync_record r = {
				.kind = FRZ_SYNC_EXCHANGE, .asker = clock_here(m), .answerer = frz_log_clock(0, s),
			};

			r.asked = frz_stamp_fenced();
			r.received = r.answered = frz_kernel_fenced(s);
			r.returned = frz_stamp_fenced();
			frz_synclog_add(&m->file, &r);
		}
}

/* Exchanges that the kernel's clocks of the other host answer; it has begun when each has answered. 0 or -errno. */
static int ask_kernel(struct measure *m, struct peer *p, uint32_t number, struct frz_burst burst)
{
	bool all = true;
	int error = 0;

	for (enum frz_source s = FRZ_MONOTONIC_RAW; s < FRZ_SOURCES && !error; s++) {
		struct frz_synclog log;

		if (s == p->host.source)
			continue;
		error = frz_synclog_create(&log, NULL, CLOCK_HERE, "");
		if (error)
			break;
		error = frz_ask_kernel(&p->endpoint, p->address, CLOCK_THERE, s, burst, &log);
		add_records(m, &log, 0, frz_log_clock(number, s));
		frz_synclog_close(&log);
		all &= error > 0;
		error = error > 0 || error == -ETIMEDOUT ? 0 : error;
	}
	p->begun |= all;
	return error;
}

/* What has been measured with a host is kept when it has said what it is. 0 or -errno. */
static int keep(struct measure *m, struct peer *p, struct frz_burst kernel)
{
	uint32_t number = (uint32_t)(p - m->peers) + 1;
	int error = 0;

	if (!m->path)
		return 0;
	if (!p->known && p->log.nrecords) {
		p->known = frz_ask_host(&p->endpoint, p->address, CLOCK_THERE, 100 * MS_NS, &p->host) == 0;
		if (p->known)
			frz_synclog_add_host(&m->file, number, &p->host);
	}
	if (p->known) {
		add_records(m, &p->log, p->kept, frz_log_clock(number, (enum frz_source)p->host.source));
		p->kept = p->log.nrecords;
		error = ask_kernel(m, p, number, kernel);
	}
	return error;
}

/* 0 or -errno, said on stderr. */
static int flush_log(struct measure *m)
{
	int error;

	if (!m->path)
		return 0;
	read_kernel(m);
	error = frz_synclog_flush(&m->file);
	if (error)
		fprintf(stderr, "freezer: %s: cannot be written: %s\n", m->path, strerror(-error));
	return error;
}

/* Whether all hosts have said what they are; whoever has not is said on stderr. */
static bool all_known(const struct measure *m)
{
	bool all = true;

	for (size_t i = 0; m->path && i < m->npeers; i++)
		if (!m->peers[i].known) {
			fprintf(stderr, "freezer: %s: nothing of %s is in it, which did not say what it is\n", m->path,
				m->peers[i].name);
			all = false;
		}
	return all;
}

/* ---- Measuring --------------------------------------------------------------------------------*/

/* `kernel`: of those that the kernels' clocks answer. `until` may be NULL: all of them. */
static int ask_all(struct measure *m, struct frz_burst burst, struct frz_burst kernel, const struct frz_stop *until)
{
	int error = 0;

	for (size_t i = 0; i < m->npeers && !error && !frz_stop_asked(until); i++) {
		error = ask(&m->peers[i], burst);
		if (!error)
			error = keep(m, &m->peers[i], kernel);
		if (error)
			fprintf(stderr, "freezer: %s (%s): %s\n", m->peers[i].name,
				m->peers[i].address, strerror(-error));
	}
	return error ? error : flush_log(m);
}

/* Whether it has been said, once, that the log has begun: of all clocks of all hosts, or of those that answer. */
static bool say_begun(const struct measure *m, uint64_t since)
{
	const char *missing = NULL;

	for (size_t i = 0; i < m->npeers && !missing; i++)
		missing = m->peers[i].begun ? NULL : m->peers[i].name;
	if (missing && frz_monotonic_raw_ns() - since < BEGUN_NS)
		return false;
	fprintf(stderr, "freezer: %s: begun; what is to lie within may begin%s%s%s\n", m->path, missing ? ", but not that of " : "",
		missing ? missing : "", missing ? ", whose clocks have not all answered" : "");
	return true;
}

static int measure(struct measure *m)
{
	uint64_t begun = frz_monotonic_raw_ns();
	int error = ask_all(m, at_the_ends, at_the_ends, &stop);
	bool said = !m->path || error || say_begun(m, begun);

	while (!error && !frz_stop_asked(&stop) &&
	       frz_monotonic_raw_ns() - begun + PAUSE_NS < m->for_ns) {
		frz_stop_sleep(&stop, -1, PAUSE_NS);
		error = ask_all(m, now_and_then, now_and_then_kernel, &stop);
		said = said || error || say_begun(m, begun);
	}
	/* Interrupted: what has been measured is still worth an end. */
	return error ? error : ask_all(m, at_the_ends, at_the_ends, NULL);
}

static int report(const struct measure *m, const struct result *results)
{
	int status = 0;

	if (m->json)
		printf("{\"clock\":\"%s\",\"ghz\":%.9f,\"hosts\":[", frz_source_word(frz_source()),
		       frz_ghz());
	for (size_t i = 0; i < m->npeers; i++) {
		if (results[i].status != FRZ_PROVEN)
			status = 1;
		if (m->json && i)
			putchar(',');
		(m->json ? result_print_json : result_print)(&results[i]);
	}
	if (m->json)
		puts("]}");
	return status;
}

static int draw(const struct measure *m, const struct result *results)
{
	struct plot plot;
	size_t n = 0;

	for (size_t i = 0; i < m->npeers; i++)
		n += result_placed(&results[i]);
	if (!n)
		return 0;
	if (plot_begin(&plot, m->picture, n))
		return 1;
	for (size_t i = 0; i < m->npeers; i++)
		if (result_placed(&results[i]))
			plot_add(&plot, &results[i], &m->peers[i].log);
	return plot_end(&plot) ? 1 : 0;
}

static int conclude(const struct measure *m)
{
	struct result *results = calloc(m->npeers, sizeof *results);
	int error = results ? 0 : -ENOMEM, status = 1;

	for (size_t i = 0; i < m->npeers && !error; i++) {
		const struct peer *p = &m->peers[i];
		const struct frz_counts *n = &p->endpoint.counts;

		error = result_of(&results[i], p->name, &p->log, n->forged + n->stale,
				  m->assumption);
	}
	if (error)
		fprintf(stderr, "freezer: %s\n", strerror(-error));
	else
		status = report(m, results);
	if (!error && m->plot && draw(m, results))
		status = 1;
	for (size_t i = 0; results && i < m->npeers; i++)
		result_free(&results[i]);
	free(results);
	return status;
}

int cmd_measure(int argc, char **argv)
{
	static const struct argp_child children[] = { { &common_argp, 0, NULL, 0 }, { 0 } };
	static const struct argp argp = {
		options, parse, "HOST[:PORT]...",
		"Bound the offset and the rate of the clocks of hosts where `freezer serve` runs.\n\n"
		"Example:\n  freezer measure --for=10s node2",
		children, NULL, NULL,
	};
	struct measure m = {
		.for_ns = S_NS,
		.assumption = { .model = FRZ_DRIFT, .ppb = 10000 },
		.file.fd = -1,
	};
	int error = 0, status = 1;

	argp_parse(&argp, argc, argv, 0, NULL, &m);
	error = catch_stop();
	if (!error)
		error = create_log(&m);
	for (size_t i = 0; i < m.npeers && !error; i++)
		error = open_peer(&m.peers[i], &m.common);
	if (!error)
		error = measure(&m);
	if (!error)
		status = conclude(&m);
	if (!error && !all_known(&m))
		status = 1;
	frz_synclog_close(&m.file);
	for (size_t i = 0; i < m.npeers; i++)
		close_peer(&m.peers[i]);
	free(m.peers);
	return status;
}

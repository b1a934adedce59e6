/* SPDX-License-Identifier: MIT
 *
 * sync_logs.c - see sync_logs.h. */
#include "analysis/clocks/sync_logs.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/memory.h"

#define MOST_HOSTS UINT32_C(4096) /* of one log: it asks them all */

/* ---- Reading --------------------------------------------------------------------------------- */

/* A host as one log describes it. */
struct described { struct frz_host is; int parts; size_t host; /* among all; SIZE_MAX: not all parts have come */ };

struct log_reader {
	struct sync_logs *logs;
	const char *path;
	struct described *hosts; size_t nhosts;
	uint64_t offset;         /* of the record */
};

static char *wrong_record(const struct log_reader *r, const char *expected, uint32_t found)
{
	return mem_format("%s: offset %" PRIu64 ": expected %s, found %" PRIu32, r->path, r->offset, expected, found);
}

size_t sync_logs_find(const struct sync_logs *logs, const char *name)
{
	size_t i = 0;
	while (i < logs->nhosts && strcmp(logs->hosts[i].is.name, name) != 0)
		i++;
	return i < logs->nhosts ? i : SIZE_MAX;
}

/* What two logs, or two addresses of one, say of a host. */
static char *join(struct sync_host *known, const struct frz_host *again, const char *path)
{
	if (memcmp(known->is.boot, again->boot, sizeof again->boot) != 0)
		return mem_format("%s and %s: expected one boot of host %s, found two: it was started again, or two "
				  "hosts are called so (freezer --name)", known->path, path, known->is.name);
	if (known->is.source != again->source)
		return mem_format("%s and %s: expected one clock of host %s, found %s and %s", known->path, path, known->is.name,
				  frz_source_word((enum frz_source)known->is.source), frz_source_word((enum frz_source)again->source));
	known->is.compared |= again->compared;
	known->is.uncertainty = known->is.uncertainty > again->uncertainty ? known->is.uncertainty : again->uncertainty;
	return NULL;
}

static char *describe(struct log_reader *r, struct described *d)
{
	if (!frz_host_is_sound(&d->is))
		return mem_format("%s: offset %" PRIu64 ": expected a host's name and clock, found something else",
				  r->path, r->offset);
	d->host = sync_logs_find(r->logs, d->is.name);
	if (d->host != SIZE_MAX)
		return join(&r->logs->hosts[d->host], &d->is, r->path);
	d->host = r->logs->nhosts;
	*MEM_GROW(r->logs->hosts, r->logs->nhosts) = (struct sync_host){ .is = d->is, .path = r->path };
	return NULL;
}

static char *take_part(struct log_reader *r, const struct frz_sync_record *record)
{
	if (record->asker >= MOST_HOSTS)
		return wrong_record(r, "a host's number below 4096", record->asker);
	while (r->nhosts <= record->asker)
		*MEM_GROW(r->hosts, r->nhosts) = (struct described){ .host = SIZE_MAX };
	struct described *d = &r->hosts[record->asker];
	int part = d->host == SIZE_MAX ? frz_host_part(&d->is, record) : -1;
	if (part < 0)
		return wrong_record(r, "a part of a host that is not there yet", record->answerer);
	d->parts |= 1 << part;
	return d->parts == (1 << FRZ_HOST_PARTS) - 1 ? describe(r, d) : NULL;
}

/* Of all logs, by its number in this one. */
static char *take_clock(const struct log_reader *r, uint32_t *clock)
{
	uint32_t host = *clock / FRZ_LOG_CLOCKS, source = *clock % FRZ_LOG_CLOCKS;
	const struct described *d = host < r->nhosts ? &r->hosts[host] : NULL;
	if (!d || d->host == SIZE_MAX)
		return wrong_record(r, "a log of freezer measure --log, clocks whose hosts it has told", *clock);
	if (source == FRZ_SOURCE_UNKNOWN || source >= FRZ_SOURCES || (source == FRZ_TSC && d->is.source != FRZ_TSC))
		return wrong_record(r, "one of its host's clocks", source);
	*clock = frz_log_clock((uint32_t)d->host, (enum frz_source)source);
	return NULL;
}

/* A host may have been asked by itself. */
static char *take_record(struct log_reader *r, const struct frz_sync_record *record)
{
	struct frz_link links[2];
	unsigned n = frz_sync_links(record, links);
	char *wrong = record->kind == FRZ_SYNC_HOST ? take_part(r, record) : NULL;
	for (unsigned i = 0; i < n && !wrong; i++) {
		wrong = take_clock(r, &links[i].from);
		wrong = wrong ? wrong : take_clock(r, &links[i].to);
		if (!wrong && i == 0)
			r->logs->hosts[links[i].from / FRZ_LOG_CLOCKS].asks = true;
		if (!wrong && links[i].from != links[i].to)
			*MEM_GROW(r->logs->links, r->logs->nlinks) = links[i];
	}
	return wrong;
}

static char *read_log(struct sync_logs *logs, const char *path)
{
	struct log_reader r = { .logs = logs, .path = path };
	struct frz_syncfile file;
	struct frz_sync_record record;
	struct frz_damage damage = { 0 };
	char *wrong = NULL;
	int got = frz_syncfile_open(&file, path, &damage);
	if (got == -EBADMSG)
		return mem_format("%s: offset %" PRIu64 ": %s", path, damage.offset, damage.what);
	if (got < 0)
		return mem_format("%s: cannot be opened: %s", path, strerror(-got));
	while (!wrong && (r.offset = file.offset, got = frz_syncfile_next(&file, &record, &damage)) == 1)
		wrong = take_record(&r, &record);
	if (!wrong && got == -EBADMSG)
		wrong = mem_format("%s: offset %" PRIu64 ": %s", path, damage.offset, damage.what);
	else if (!wrong && got < 0)
		wrong = mem_format("%s: offset %" PRIu64 ": cannot be read: %s", path, file.offset, strerror(-got));
	frz_syncfile_close(&file);
	free(r.hosts);
	return wrong;
}

char *sync_logs_read(struct sync_logs *logs, const char *const *paths, size_t n)
{
	char *wrong = NULL;
	for (size_t i = 0; i < n && !wrong; i++)
		wrong = read_log(logs, paths[i]);
	return wrong;
}

void sync_logs_free(struct sync_logs *logs)
{
	free(logs->hosts);
	free(logs->links);
}

/* ---- Whether a trace's stamps may be readings of that clock ----------------------------------- */

#define HZ_APART 100 /* a nominal frequency is measured; one part of so many is another clock */

static bool may_be(const struct frz_host *h, enum frz_source of, uint64_t ticks_per_s)
{
	uint64_t apart = h->hz > ticks_per_s ? h->hz - ticks_per_s : ticks_per_s - h->hz;
	return of == FRZ_TSC ? apart < h->hz / HZ_APART : ticks_per_s == 1000000000;
}

char *sync_logs_refuse(const struct sync_logs *logs, size_t host, uint64_t ticks_per_s)
{
	const struct frz_host *h = &logs->hosts[host].is;
	const char *path = logs->hosts[host].path;
	if (logs->of == FRZ_TSC && h->source != FRZ_TSC)
		return mem_format("%s: expected the tsc of host %s, found its clock %s: its tsc does not keep its "
				  "rate; see --trace-clock", path, h->name,
				  frz_source_word((enum frz_source)h->source));
	if (!may_be(h, logs->of, ticks_per_s))
		return mem_format("%s: expected the trace's stamps to be of host %s's %s, %" PRIu64 " ticks a second, found %" PRIu64
				  ": trace with that clock (Score-P: SCOREP_TIMER=tsc), or say which it was with --trace-clock", path, h->name,
				  frz_source_word(logs->of), logs->of == FRZ_TSC ? h->hz : 1000000000, ticks_per_s);
	return NULL;
}

char *sync_logs_scattered(const struct sync_logs *logs, uint32_t clock)
{
	const struct sync_host *host = &logs->hosts[clock / FRZ_LOG_CLOCKS];
	if (clock % FRZ_LOG_CLOCKS != FRZ_TSC || host->is.compared)
		return NULL;
	return mem_format("%s: expected all cores of host %s to be compared, found that some were not (busy, or not "
			  "for freezer to use): so its tsc may be several clocks", host->path, host->is.name);
}

struct log_period { uint64_t first, last; };

static void put_in(struct log_period *p, uint64_t stamp)
{
	p->first = stamp < p->first ? stamp : p->first;
	p->last = stamp > p->last ? stamp : p->last;
}

/* Of a clock's stamps in links; first > last if there are none. */
static struct log_period period_of(const struct frz_link *links, size_t n, uint32_t clock)
{
	struct log_period p = { UINT64_MAX, 0 };
	for (size_t i = 0; i < n; i++) {
		if (links[i].from == clock)
			put_in(&p, links[i].sent);
		if (links[i].to == clock)
			put_in(&p, links[i].received);
	}
	return p;
}

static struct log_period period_of_events(const struct trace *t, uint32_t clock)
{
	struct log_period p = { UINT64_MAX, 0 };
	for (size_t i = 0; i < t->nthreads; i++) {
		uint64_t first, last;
		if (t->threads[i].clock == clock && trace_ends(&t->threads[i], &first, &last))
			put_in(&p, first), put_in(&p, last);
	}
	return p;
}

static bool lies_in(struct log_period inner, struct log_period outer)
{
	return inner.first >= outer.first && inner.last <= outer.last;
}

/* " (they fit its monotonic)", or ""; to be freed. */
static char *what_fits(const struct sync_logs *logs, const struct tr_clock *clock, struct log_period events)
{
	size_t host = sync_logs_find(logs, clock->host);
	uint64_t hz = (uint64_t)(clock->ghz * 1e9 + 0.5);
	char *words = mem_copy("");
	for (enum frz_source s = FRZ_TSC; s < FRZ_SOURCES && host != SIZE_MAX; s++) {
		if (s == logs->of || !may_be(&logs->hosts[host].is, s, hz) ||
		    !lies_in(events, period_of(logs->links, logs->nlinks, frz_log_clock((uint32_t)host, s))))
			continue;
		char *more = mem_format("%s%s%s", words, *words ? " or " : "; they fit its ", frz_source_word(s));
		free(words);
		words = more;
	}
	return words;
}

char *sync_logs_misfit(const struct sync_logs *logs, const struct trace *t)
{
	for (uint32_t c = 0; c < t->nclocks; c++) {
		struct log_period events = period_of_events(t, c), measured = period_of(t->links, t->nlinks, c);
		if (events.first > events.last || lies_in(events, measured))
			continue;
		char *fits = what_fits(logs, &t->clocks[c], events);
		char *far = measured.first > measured.last
				    ? mem_copy("none")
				    : mem_format("from %" PRIu64 " to %" PRIu64, measured.first, measured.last);
		char *wrong = mem_format("host %s: expected stamps that the logs of --sync enclose, of its %s %s, found "
					 "some from %" PRIu64 " to %" PRIu64 ": measure beside the program, or before "
					 "and behind it; or they are of another clock (--trace-clock)%s",
					 t->clocks[c].host, frz_source_word(logs->of), far, events.first, events.last, fits);
		free(fits);
		free(far);
		return wrong;
	}
	return NULL;
}

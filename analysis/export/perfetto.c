/* SPDX-License-Identifier: MIT
 *
 * perfetto.c - Perfetto's trace, as protos/perfetto/trace/trace_packet.proto and track_event/ in its sources have it: a track for
 * each thread, a slice for each visit, and for each message two points that a flow joins.
 *
 * Protobuf: a field is its number and type in a varint, then a varint, 8 bytes, or a length and so many bytes. Names
 * stand once, and each event has their numbers. The ends of a moment's interval are annotations, "lo" and "hi", in
 * ns. */
#define _GNU_SOURCE /* unlocked streams */
#include <stdlib.h>
#include <string.h>

#include "analysis/base/memory.h"
#include "analysis/export/export.h"
#include "analysis/match/match.h"
#include "analysis/report/locations.h"

/* ---- Protobuf -------------------------------------------------------------------------------- */

struct perfetto_message { unsigned char *at; size_t n, room; };

static void add_byte(struct perfetto_message *m, unsigned char byte)
{
	if (m->n == m->room) {
		m->room = m->room ? 2 * m->room : 256;
		m->at = mem_resize(m->at, m->room, 1);
	}
	m->at[m->n++] = byte;
}

static void add_varint(struct perfetto_message *m, uint64_t value)
{
	for (; value > 0x7f; value >>= 7)
		add_byte(m, (unsigned char)(value | 0x80));
	add_byte(m, (unsigned char)value);
}

enum { VARINT = 0, FIXED64 = 1, BYTES = 2 };

static void add_key(struct perfetto_message *m, unsigned field, unsigned type)
{
	add_varint(m, (uint64_t)field << 3 | type);
}

static void add_number(struct perfetto_message *m, unsigned field, uint64_t value)
{
	add_key(m, field, VARINT);
	add_varint(m, value);
}

static void add_fixed(struct perfetto_message *m, unsigned field, uint64_t value)
{
	add_key(m, field, FIXED64);
	for (int i = 0; i < 8; i++)
		add_byte(m, (unsigned char)(value >> 8 * i));
}

static void add_bytes(struct perfetto_message *m, unsigned field, const void *bytes, size_t n)
{
	add_key(m, field, BYTES);
	add_varint(m, n);
	for (size_t i = 0; i < n; i++)
		add_byte(m, ((const unsigned char *)bytes)[i]);
}

static void add_text(struct perfetto_message *m, unsigned field, const char *text)
{
	add_bytes(m, field, text, strlen(text));
}

/* And empties it. */
static void add_message(struct perfetto_message *m, unsigned field, struct perfetto_message *part)
{
	add_bytes(m, field, part->at, part->n);
	part->n = 0;
}

/* ---- Fields ---------------------------------------------------------------------------------- */

enum { TRACE_PACKET = 1 };
enum { PACKET_TIMESTAMP = 8, PACKET_SEQUENCE = 10, PACKET_TRACK_EVENT = 11, PACKET_INTERNED = 12, PACKET_FLAGS = 13,
       PACKET_TRACK = 60 };
enum { FLAGS_CLEARED = 1, FLAGS_NEEDED = 2 };
enum { TRACK_UUID = 1, TRACK_NAME = 2, TRACK_PROCESS = 3, TRACK_THREAD = 4, TRACK_PARENT = 5 };
enum { PROCESS_PID = 1, PROCESS_NAME = 6 };
enum { THREAD_PID = 1, THREAD_TID = 2, THREAD_NAME = 5 };
enum { EVENT_CATEGORY = 3, EVENT_ANNOTATION = 4, EVENT_TYPE = 9, EVENT_NAME = 10, EVENT_TRACK = 11, EVENT_SOURCE = 34,
       EVENT_FLOW = 47, EVENT_FLOW_ENDS = 48 };
enum { TYPE_BEGIN = 1, TYPE_END = 2, TYPE_INSTANT = 3 };
enum { INTERNED_CATEGORY = 1, INTERNED_NAME = 2, INTERNED_ANNOTATION = 3, INTERNED_SOURCE = 4 };
enum { INTERNED_IID = 1, INTERNED_TEXT = 2, SOURCE_LINE = 4 };
enum { ANNOTATION_NAME = 1, ANNOTATION_INT = 4 };
enum { LO = 1, HI, SIZE, TAG };  /* annotations */

#define SEQUENCE 1

struct perfetto_writer {
	FILE *out;
	const struct moments *moments;
	struct perfetto_message packet, event, part, inner;
	uint32_t message_name;   /* interned: behind those of the sites */
};

static void put_packet(struct perfetto_writer *w)
{
	unsigned char head[1 + 10];
	struct perfetto_message m = { head, 0, sizeof head };
	add_number(&w->packet, PACKET_SEQUENCE, SEQUENCE);
	add_key(&m, TRACE_PACKET, BYTES);
	add_varint(&m, w->packet.n);
	fwrite_unlocked(head, 1, m.n, w->out);
	fwrite_unlocked(w->packet.at, 1, w->packet.n, w->out);
	w->packet.n = 0;
}

/* ---- What events refer to -------------------------------------------------------------------- */

static void add_interned(struct perfetto_writer *w, unsigned field, uint64_t number, const char *text)
{
	add_number(&w->inner, INTERNED_IID, number);
	add_text(&w->inner, INTERNED_TEXT, text);
	add_message(&w->part, field, &w->inner);
}

static void put_names(struct perfetto_writer *w)
{
	static const char *const annotations[] = { [LO] = "lo_ns", [HI] = "hi_ns", [SIZE] = "bytes", [TAG] = "tag" };
	const struct trace *t = w->moments->trace;
	for (unsigned kind = 1; kind < DPROF_KIND_COUNT; kind++)
		add_interned(w, INTERNED_CATEGORY, kind, tr_kind_word((enum dprof_kind)kind));
	for (unsigned a = LO; a <= TAG; a++)
		add_interned(w, INTERNED_ANNOTATION, a, annotations[a]);
	for (uint32_t i = 0; i < t->nsites; i++) {
		add_interned(w, INTERNED_NAME, i + 1, t->sites[i].name);
		add_number(&w->inner, INTERNED_IID, i + 1);
		add_text(&w->inner, INTERNED_TEXT, t->sites[i].file);
		add_number(&w->inner, SOURCE_LINE, t->sites[i].line);
		add_message(&w->part, INTERNED_SOURCE, &w->inner);
	}
	w->message_name = (uint32_t)t->nsites + 1;
	add_interned(w, INTERNED_NAME, w->message_name, "message");
	add_interned(w, INTERNED_NAME, w->message_name + 1, "?");
	add_message(&w->packet, PACKET_INTERNED, &w->part);
	add_number(&w->packet, PACKET_FLAGS, FLAGS_CLEARED);
	put_packet(w);
}

/* Ids of tracks: processes, then threads; 0 is none. Pids of Perfetto's are the places of processes, from 1 on: several
 * hosts may have processes of one pid. */
static uint64_t thread_track(const struct perfetto_writer *w, uint32_t thread)
{
	return w->moments->trace->nprocesses + thread + 1;
}

static void put_process(struct perfetto_writer *w, uint32_t p)
{
	const struct tr_process *process = &w->moments->trace->processes[p];
	char *name = process->rank >= 0 ? mem_format("%s rank %lld on %s", process->program, (long long)process->rank,
						     process->host)
					: mem_format("%s pid %llu on %s", process->program,
						     (unsigned long long)process->pid, process->host);
	add_number(&w->part, TRACK_UUID, p + 1);
	add_number(&w->inner, PROCESS_PID, p + 1);
	add_text(&w->inner, PROCESS_NAME, name);
	add_message(&w->part, TRACK_PROCESS, &w->inner);
	add_message(&w->packet, PACKET_TRACK, &w->part);
	put_packet(w);
	free(name);
}

/* The first thread of a process has the number of the process, as in Linux. */
static void put_thread_track(struct perfetto_writer *w, uint32_t thread)
{
	const struct trace *t = w->moments->trace;
	uint32_t process = t->threads[thread].process;
	add_number(&w->part, TRACK_UUID, thread_track(w, thread));
	add_number(&w->part, TRACK_PARENT, process + 1);
	add_number(&w->inner, THREAD_PID, process + 1);
	add_number(&w->inner, THREAD_TID, t->threads[thread].number ? t->nprocesses + thread + 1 : process + 1);
	add_text(&w->inner, THREAD_NAME, location_name(t, thread).text);
	add_message(&w->part, TRACK_THREAD, &w->inner);
	add_message(&w->packet, PACKET_TRACK, &w->part);
	put_packet(w);
}

/* ---- Events ---------------------------------------------------------------------------------- */

static void annotate(struct perfetto_writer *w, unsigned name, int64_t value)
{
	add_number(&w->part, ANNOTATION_NAME, name);
	add_number(&w->part, ANNOTATION_INT, (uint64_t)value);
	add_message(&w->event, EVENT_ANNOTATION, &w->part);
}

static void annotate_bounds(struct perfetto_writer *w, int64_t at, frz_time bounds)
{
	if (bounds.lo == bounds.hi && bounds.lo == at)
		return;
	annotate(w, LO, export_ns(w->moments, bounds.lo) - 1);
	annotate(w, HI, export_ns(w->moments, bounds.hi) + 1);
}

static void put_event(struct perfetto_writer *w, int64_t at)
{
	add_number(&w->packet, PACKET_TIMESTAMP, (uint64_t)export_ns(w->moments, at));
	add_message(&w->packet, PACKET_TRACK_EVENT, &w->event);
	add_number(&w->packet, PACKET_FLAGS, FLAGS_NEEDED);
	put_packet(w);
}

static void put_step(struct perfetto_writer *w, uint32_t thread, const struct nested_step *s)
{
	static const unsigned types[] = { [NESTED_ENTER] = TYPE_BEGIN, [NESTED_EXIT] = TYPE_END, [NESTED_POINT] = TYPE_INSTANT };
	const struct trace *t = w->moments->trace;
	bool known = s->site < t->nsites;
	add_number(&w->event, EVENT_TYPE, types[s->what]);
	add_number(&w->event, EVENT_TRACK, thread_track(w, thread));
	if (s->what != NESTED_EXIT) {
		add_number(&w->event, EVENT_NAME, known ? s->site + 1 : w->message_name + 1);
		annotate_bounds(w, s->at, s->bounds);
	}
	if (s->what != NESTED_EXIT && known) {
		add_number(&w->event, EVENT_CATEGORY, t->sites[s->site].kind);
		add_number(&w->event, EVENT_SOURCE, s->site + 1);
	}
	put_event(w, s->at);
}

static void put_steps(struct perfetto_writer *w, uint32_t thread)
{
	struct nested steps;
	nested_open(&steps, w->moments, thread);
	for (struct nested_step s; nested_next(&steps, &s);)
		put_step(w, thread, &s);
	nested_close(&steps);
}

/* ---- Messages: in the order in which they are matched; Perfetto sorts by time ---------------- */

static void put_end(struct perfetto_writer *w, const struct match *m, struct moments_cursor *threads, size_t part, uint64_t flow)
{
	const struct match_part *p = &m->parts[part];
	frz_time bounds;
	uint32_t thread = part == 0 ? p->thread : p->done_in;
	int64_t at = moments_at_any(&threads[thread], part == 0 ? p->enter : p->done, &bounds);
	add_number(&w->event, EVENT_TYPE, TYPE_INSTANT);
	add_number(&w->event, EVENT_TRACK, thread_track(w, thread));
	add_number(&w->event, EVENT_NAME, w->message_name);
	add_fixed(&w->event, part == 0 ? EVENT_FLOW : EVENT_FLOW_ENDS, flow);
	annotate_bounds(w, at, bounds);
	annotate(w, TAG, (int64_t)m->number);
	if (p->bytes != MATCH_NO_BYTES)
		annotate(w, SIZE, (int64_t)p->bytes);
	put_event(w, at);
}

static void put_messages(struct perfetto_writer *w)
{
	const struct trace *t = w->moments->trace;
	struct moments_cursor *threads = mem_resize(NULL, t->nthreads, sizeof *threads);
	struct match_walk *walk = moments_matches(w->moments);
	uint64_t flow = 0;
	for (uint32_t i = 0; i < t->nthreads; i++)
		threads[i] = moments_of(w->moments, i);
	for (struct match m; match_walk_next(walk, &m);) {
		if (m.kind != MATCH_MESSAGE)
			continue;
		flow++;
		put_end(w, &m, threads, 0, flow);
		put_end(w, &m, threads, 1, flow);
	}
	match_walk_close(walk);
	free(threads);
}

void export_perfetto(FILE *out, const struct moments *m)
{
	struct perfetto_writer w = { .out = out, .moments = m };
	put_names(&w);
	for (uint32_t p = 0; p < m->trace->nprocesses; p++)
		put_process(&w, p);
	for (uint32_t t = 0; t < m->trace->nthreads; t++)
		put_thread_track(&w, t);
	for (uint32_t t = 0; t < m->trace->nthreads; t++)
		put_steps(&w, t);
	put_messages(&w);
	free(w.packet.at);
	free(w.event.at);
	free(w.part.at);
	free(w.inner.at);
}

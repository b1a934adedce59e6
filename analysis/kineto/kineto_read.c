/* SPDX-License-Identifier: MIT
 *
 * kineto_read.c - see kineto_private.h. */
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "analysis/base/memory.h"
#include "analysis/kineto/kineto_private.h"
#include "freezer/regular.h"

#define MOST_NS 4e18 /* what has more is no time */
#define MOST_PACKED 200 /* so many times as long unpacked: profiles are 10 to 30 times */
#define FEW_BYTES (1 << 20) /* of which nobody minds */

struct kineto_reader {
	struct kineto_file *file;
	double base_ns, largest_us;
	int64_t unit;            /* ns: all times are whole numbers of it: 1000, 100, 10 or 1 */
	bool devices;            /* only slices of devices count */
};

/* ---- Collective operations ------------------------------------------------------------------- */

static bool is_empty_list(const json_t *x)
{
	return !x || (json_is_array(x) && json_array_size(x) == 0) ||
	       (json_is_string(x) && strcmp(json_string_value(x), "[]") == 0);
}

/* With data from each to each, as far as the size says that there are any. */
static bool flows_to_all(const char *what, const json_t *args)
{
	static const char *const names[] = { "allreduce", "allreduce_coalesced", "barrier", "allgather", "_allgather_base",
					     "allgather_into_tensor_coalesced", "reduce_scatter", "_reduce_scatter_base",
					     "reduce_scatter_tensor_coalesced", "alltoall", "all_to_all", "all_to_all_single" };
	const json_t *sent = json_object_get(args, "In msg nelems");
	if (strcmp(what, "barrier") != 0 && !(json_number_value(sent) > 0))
		return false;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strcmp(what, names[i]) == 0)
			return is_empty_list(json_object_get(args, "In split size")) &&
			       is_empty_list(json_object_get(args, "Out split size"));
	return false;
}

static uint64_t bytes_of(const json_t *args)
{
	static const struct { const char *name; unsigned size; } types[] = {
		{ "Float", 4 }, { "Half", 2 }, { "BFloat16", 2 }, { "Double", 8 }, { "Long", 8 }, { "Int", 4 }, { "Short", 2 }, { "Char", 1 },
		{ "Byte", 1 }, { "Bool", 1 }, { "Float8_e4m3fn", 1 }, { "Float8_e5m2", 1 } };
	const json_t *type = json_object_get(args, "dtype"), *sent = json_object_get(args, "In msg nelems");
	double n = json_number_value(sent);
	for (size_t i = 0; i < sizeof types / sizeof *types && json_is_string(type) && n > 0 && n < 1e15; i++)
		if (strcmp(json_string_value(type), types[i].name) == 0)
			return (uint64_t)n * types[i].size;
	return 0;
}

/* "[0, 1]", as text or as a list, of as many as the group's size says: "0 1". NULL: it is not said, or cut. To be freed. */
static char *ranks_of(const json_t *args)
{
	const json_t *ranks = json_object_get(args, "Process Group Ranks"), *size = json_object_get(args, "Group size");
	char *text = json_is_string(ranks)  ? mem_copy(json_string_value(ranks))
		   : json_is_array(ranks) ? json_dumps(ranks, JSON_COMPACT)
					  : NULL;
	char *list = NULL;
	json_int_t n = 0;
	for (char *at = text; at && *at;) {
		at += strcspn(at, "0123456789");
		if (!*at)
			break;
		char *longer = mem_format("%s%s%" PRIu64, list ? list : "", list ? " " : "", (uint64_t)strtoull(at, &at, 10));
		free(list);
		list = longer;
		n++;
	}
	bool cut = !list || strstr(text, "...") || (json_is_integer(size) && json_integer_value(size) != n);
	free(text);
	if (cut)
		free(list);
	return cut ? NULL : list;
}

static void take_collective(struct kineto_slice *s, const json_t *args)
{
	const json_t *what = json_object_get(args, "Collective name"), *group = json_object_get(args, "Process Group Name");
	const json_t *number = json_object_get(args, "Seq"), *sent = json_object_get(args, "In msg nelems");
	if (!json_is_string(what))
		return;
	char *ranks = ranks_of(args);
	s->what = mem_format("%s %" PRId64, json_string_value(what),
			     json_is_integer(sent) ? (int64_t)json_integer_value(sent) : -1);
	s->number = json_is_integer(number) ? (int64_t)json_integer_value(number) : -1;
	s->all = flows_to_all(json_string_value(what), args);
	s->bytes = bytes_of(args);
	if (ranks)
		s->group = mem_format("%s:%s", ranks, json_is_string(group) ? json_string_value(group) : "");
	free(ranks);
}

/* ---- Slices ---------------------------------------------------------------------------------- */

static struct kineto_thread *thread_of(struct kineto_file *f, int64_t pid, int64_t tid)
{
	for (size_t i = f->nthreads; i-- > 0;)
		if (f->threads[i].pid == pid && f->threads[i].tid == tid)
			return &f->threads[i];
	*MEM_GROW(f->threads, f->nthreads) = (struct kineto_thread){ pid, tid, mem_format("%" PRId64 " %" PRId64, pid, tid), NULL, 0 };
	return &f->threads[f->nthreads - 1];
}

/* A number, or a text's: Chrome allows both; of other texts some number. */
static int64_t id_of(const json_t *x)
{
	uint64_t hash = 1469598103934665603;
	if (json_is_number(x))
		return (int64_t)json_number_value(x);
	for (const char *c = json_is_string(x) ? json_string_value(x) : ""; *c; c++)
		hash = (hash ^ (unsigned char)*c) * 1099511628211;
	return (int64_t)(hash >> 1);
}

static bool is_of_device(const json_t *event)
{
	const char *category = json_string_value(json_object_get(event, "cat"));
	return category && (strcmp(category, "kernel") == 0 || strcmp(category, "gpu_memcpy") == 0 ||
			    strcmp(category, "gpu_memset") == 0);
}

static bool is_phase(const json_t *event, const char *phase)
{
	const char *is = json_string_value(json_object_get(event, "ph"));
	return is && strcmp(is, phase) == 0;
}

static bool is_slice(const json_t *event)
{
	return is_phase(event, "X");
}

/* Of other tools: without slices a file would be one in which nothing happened. NULL, or what is wrong. */
static char *refuse_pairs(const struct kineto_file *f, const json_t *events)
{
	for (size_t i = 0; i < json_array_size(events) && f->nthreads == 0; i++)
		if (is_phase(json_array_get(events, i), "B"))
			return mem_format("%s: expected slices (\"ph\": \"X\"), as PyTorch's profiler writes them, found only such "
					  "that begin and end apart (\"B\", \"E\"), first event %zu", f->path, i);
	return NULL;
}

/* As the file has it, of no more than 40 bytes, or that there is none. To be freed. */
static char *as_written(const json_t *x)
{
	char *text = x ? json_dumps(x, JSON_ENCODE_ANY | JSON_ENSURE_ASCII | JSON_COMPACT) : NULL;
	char *cut = mem_format("%.40s", text ? text : "none");
	free(text);
	return cut;
}

static char *refuse_times(const struct kineto_reader *r, size_t number, const json_t *event)
{
	char *at = as_written(json_object_get(event, "ts")), *length = as_written(json_object_get(event, "dur"));
	char *wrong = mem_format("%s: event %zu of \"traceEvents\": expected \"ts\" and \"dur\" in microseconds, "
				 "numbers from 0 to %g with \"baseTimeNanoseconds\", found \"ts\" %s and \"dur\" %s",
				 r->file->path, number,
				 MOST_NS / 1e3, at, length);
	free(at);
	free(length);
	return wrong;
}

/* A tenth as long, until it has all of these. */
static int64_t unit_of(int64_t unit, int64_t from, int64_t length)
{
	while (unit > 1 && (from % unit != 0 || length % unit != 0))
		unit /= 10;
	return unit;
}

/* False: it has no time. */
static bool take_slice(struct kineto_reader *r, const json_t *event)
{
	const json_t *at = json_object_get(event, "ts"), *length = json_object_get(event, "dur"), *name = json_object_get(event, "name");
	double from = json_number_value(at), us = length ? json_number_value(length) : 0;
	if (!json_is_number(at) || (length && !json_is_number(length)) || !(us >= 0) ||
	    !(r->base_ns + 1e3 * from >= 0 && r->base_ns + 1e3 * (from + us) < MOST_NS))
		return false;
	struct kineto_thread *t = thread_of(r->file, id_of(json_object_get(event, "pid")), id_of(json_object_get(event, "tid")));
	int64_t base = (int64_t)r->base_ns;
	struct kineto_slice *s = MEM_GROW(t->slices, t->n);
	*s = (struct kineto_slice){ .from = base + (int64_t)llround(1e3 * from),
				    .to = base + (int64_t)llround(1e3 * (from + us)), .number = -1,
				    .name = mem_copy(json_is_string(name) ? json_string_value(name) : "?"),
				    .match = KINETO_NONE };
	r->unit = unit_of(r->unit, (int64_t)llround(1e3 * from), (int64_t)llround(1e3 * us));
	r->largest_us = fmax(r->largest_us, fabs(from) + us);
	if (r->devices)
		take_collective(s, json_object_get(event, "args"));
	return true;
}

static char *take_slices(struct kineto_reader *r, const json_t *events)
{
	for (size_t i = 0; i < json_array_size(events); i++) {
		const json_t *event = json_array_get(events, i);
		if (is_slice(event) && (!r->devices || is_of_device(event)) && !take_slice(r, event))
			return refuse_times(r, i, event);
	}
	return NULL;
}

static int by_begin(const void *a, const void *b)
{
	const struct kineto_slice *x = a, *y = b;
	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return x->to != y->to ? (x->to < y->to ? 1 : -1) : strcmp(x->name, y->name);
}

/* ---- A file ---------------------------------------------------------------------------------- */

/* The numbers are what they were rounded to: if a unit that is longer than a nanosecond, a slice's begin and its length both
 * were. */
static int64_t uncertainty_of(const struct kineto_reader *r)
{
	double us = fmax(r->largest_us, 1);
	return 2 + (int64_t)ceil(1e3 * (nextafter(us, INFINITY) - us)) + (r->unit > 1 ? 2 * r->unit : 0);
}

static char *take_file(struct kineto_file *f, const json_t *root)
{
	const json_t *events = json_is_array(root) ? root : json_object_get(root, "traceEvents");
	const json_t *job = json_object_get(root, "distributedInfo"), *base = json_object_get(root, "baseTimeNanoseconds");
	const json_t *rank = json_object_get(job, "rank"), *size = json_object_get(job, "world_size");
	struct kineto_reader r = { .file = f, .base_ns = json_number_value(base), .unit = 1000 };
	if (!json_is_array(events))
		return mem_format("%s: expected a list \"traceEvents\", found none", f->path);
	f->ranked = json_is_integer(rank);
	f->rank = f->ranked ? (int64_t)json_integer_value(rank) : f->rank;
	f->size = json_is_integer(size) ? (int64_t)json_integer_value(size) : 0;
	if (f->rank < 0 || f->rank > INT32_MAX || f->size < 0)
		return mem_format("%s: expected \"rank\" and \"world_size\" from 0 on, found rank %" PRId64 " of %" PRId64,
				  f->path, f->rank, f->size);
	for (size_t i = 0; i < json_array_size(events) && !r.devices; i++)
		r.devices = is_slice(json_array_get(events, i)) && is_of_device(json_array_get(events, i));
	char *wrong = take_slices(&r, events);
	wrong = wrong ? wrong : refuse_pairs(f, events);
	for (size_t i = 0; i < f->nthreads; i++)
		qsort(f->threads[i].slices, f->threads[i].n, sizeof *f->threads[i].slices, by_begin);
	f->uncertainty = uncertainty_of(&r);
	return wrong;
}

/* Of a file that is packed, or not. */
struct kineto_bytes { gzFile file; uint64_t given; bool bomb; };

static size_t give_bytes(void *room, size_t n, void *user)
{
	struct kineto_bytes *b = user;
	int got = gzread(b->file, room, n < 1 << 20 ? (unsigned)n : 1 << 20);
	b->given += got > 0 ? (uint64_t)got : 0;
	b->bomb = b->given > FEW_BYTES && (double)b->given > MOST_PACKED * (double)gzoffset(b->file);
	return got < 0 || b->bomb ? (size_t)-1 : (size_t)got;
}

/* Takes the descriptor. NULL, and what is wrong, to be freed. */
static json_t *load(int fd, const char *path, char **wrong)
{
	json_error_t error;
	struct kineto_bytes b = { .file = gzdopen(fd, "rb") };
	if (!b.file) {
		close(fd);
		*wrong = mem_format("%s: expected memory to read it", path);
		return NULL;
	}
	json_t *root = json_load_callback(give_bytes, &b, 0, &error);
	if (b.bomb)
		*wrong = mem_format("%s: expected a profile, found what is more than %d times as long when it is unpacked", path, MOST_PACKED);
	else if (!root)
		*wrong = mem_format("%s: line %d: %s", path, error.line, error.text);
	gzclose(b.file);
	return root;
}

char *kineto_read(struct kineto_file *f, const char *path, size_t otherwise_rank)
{
	const char *found;
	char *wrong = NULL;
	*f = (struct kineto_file){ .path = path, .rank = (int64_t)otherwise_rank };
	int fd = frz_open_regular(AT_FDCWD, path, &found);
	if (fd < 0)
		return mem_format("%s: expected a file, found %s", path, found);
	json_t *root = load(fd, path, &wrong);
	if (!root)
		return wrong;
	wrong = take_file(f, root);
	json_decref(root);
	return wrong;
}

void kineto_close(struct kineto_file *f)
{
	for (size_t i = 0; i < f->nthreads; i++) {
		for (size_t k = 0; k < f->threads[i].n; k++) {
			struct kineto_slice *s = &f->threads[i].slices[k];
			free(s->name), free(s->group), free(s->what);
		}
		free(f->threads[i].slices);
		free(f->threads[i].name);
	}
	free(f->threads);
}

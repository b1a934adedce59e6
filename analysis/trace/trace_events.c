/* SPDX-License-Identifier: MIT
 *
 * trace_events.c - reads a file of events: is it whole, and do its records stand in order? What they say of themselves:
 * trace_scan.c. */
#define _GNU_SOURCE /* memrchr */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/base/lines.h"
#include "analysis/base/memory.h"
#include "analysis/base/shown.h"
#include "analysis/trace/trace_jumps.h"
#include "analysis/trace/trace_private.h"
#include "analysis/trace/trace_scan.h"
#include "freezer/regular.h"
#include "runtime/sum.h"


/* ---- Records that do not stand in the file as they are wanted ---------------------------------- */

/* All records of a thread in memory, and at which word each stands. */
static struct loaded load(const struct tr_thread *t)
{
	struct loaded l = { .n = 0 };
	struct word_place p = { 0 };
	struct tr_record r;
	for (enum word_damage damage = DAMAGE_NONE; damage != DAMAGE_END;) {
		damage = words_next(t->words, &p, &r);
		if (!is_record(damage))
			continue;
		l.record = mem_grow(l.record, l.n, sizeof r);
		l.word = mem_grow(l.word, l.n, sizeof *l.word);
		l.epoch = mem_grow(l.epoch, l.n, sizeof *l.epoch);
		l.record[l.n] = r;
		l.word[l.n] = p.record;
		l.epoch[l.n++] = p.epoch;
	}
	return l;
}

static void unload(struct loaded *l)
{
	free(l->record);
	free(l->word);
	free(l->epoch);
}

/* None of its records is missing or changed. */
static bool is_whole(const struct tr_thread *t)
{
	const struct tr_words *w = t->words;
	return t->complete && !t->gaps && !t->lost && (!w || (w->words.vouched >= w->words.n && !w->modules->incomplete));
}

/* A thread whose records are whole, and that did not end by itself, was in what it never left until its process
 * ended or was killed; unless it may have jumped, or has (`found`) though nobody told (believe_jumps). */
static bool lasts(const struct tr_thread *t, const struct tr_jumps *found)
{
	return t->may_jump == UINT64_MAX && (!t->complete || t->ran_on) && !t->gaps && !(found->n && is_whole(t));
}

/* These are the records of the thread. `holes`: it is unknown where some are missing. */
static void replace(struct opened_trace *o, struct tr_thread *thread, const struct tr_record *records, size_t n,
		    bool holes)
{
	struct jumps_scan jumps;
	jumps_close(thread->jumps);
	thread->jumps = NULL;
	jumps_begin(&jumps, &o->t, thread);
	store_begin(o->reader->writer, thread->blocks);
	for (size_t i = 0; i < n; i++) {
		if (TR_OP(records[i].what) != DPROF_ARG)
			jumps_event(&jumps, &records[i], store_events(o->reader->writer));
		store_record(o->reader->writer, &records[i]);
	}
	thread->blocks = store_end(o->reader->writer);
	thread->nrecords = n;
	jumps.found.tangled |= holes;
	jumps_end(&jumps, lasts(thread, &jumps.found));
}

static void put_in_order(struct opened_trace *o, struct tr_thread *thread, struct loaded *l)
{
	struct order_damage damage;
	struct tr_record *copy = mem_resize(NULL, l->n + 1, sizeof *copy);
	bring_forward(l);
	size_t n = order_records(&o->t, l->record, l->n, copy, &damage);
	thread->gaps |= damage.dropped > 0;
	if (damage.dropped && ++thread->lost)
		thread->lost_last = true;
	if (damage.dropped)
		trace_diagnose(&o->t,
			       "%s: offset %" PRIu64 ": expected a stamp from %" PRIu64
			       " to %" PRIu64 ", found %" PRIu64 " (%zu record%s left out)",
			       ch_file(&thread->words->words, l->word[damage.first]),
			       ch_offset(&thread->words->words, l->word[damage.first]),
			       damage.at_least,
			       damage.at_most, l->record[damage.first].stamp, damage.dropped,
			       damage.dropped > 1 ? "s are" : " is");
	replace(o, thread, copy, n, damage.dropped > 0);
	free(copy);
}

/* A child is forked where its parent was: in regions of which it records the exits alone, innermost first. Where there are
 * any, gives all records with the enters of these regions before them, with the stamp from which on the child was there, and
 * their number in *n; else NULL. */
static struct tr_record *enter_forked(const struct opened_trace *o, const struct process_file *p, const struct tr_thread *thread,
				      const struct tr_record *records, size_t *n)
{
	struct tr_record *all = NULL;
	uint32_t *inside = NULL;
	size_t ninside = 0;
	struct replay open;
	if (!p->process.forked || p->process.executed || p->process.says_entered || thread->number || thread->lost || !*n)
		return NULL;
	replay_open(&open, o->t.nsites);
	for (size_t i = 0; i < *n; i++) {
		uint32_t site = (uint32_t)TR_BODY(records[i].what);
		if (TR_OP(records[i].what) == DPROF_ENTER)
			replay_enter(&open, (struct replay_entry){ .site = site });
		else if (TR_OP(records[i].what) == DPROF_EXIT && !replay_exit(&open, site) && tr_is(&o->t, site, OP_REGION))
			*MEM_GROW(inside, ninside) = site;
	}
	replay_close(&open);
	if (ninside) {
		uint64_t from = p->process.started && p->process.started < records[0].stamp ? p->process.started : records[0].stamp;
		all = mem_resize(NULL, ninside + *n, sizeof *all);
		for (size_t i = 0; i < ninside; i++)
			all[i] = (struct tr_record){ from, TR_WHAT(inside[ninside - 1 - i], DPROF_ENTER) };
		memcpy(all + ninside, records, *n * sizeof *all);
		*n += ninside;
	}
	free(inside);
	return all;
}

/* Where its records stand in order. */
static void follow_fork(struct opened_trace *o, const struct process_file *p, struct tr_thread *thread)
{
	struct loaded l = load(thread);
	size_t n = l.n;
	struct tr_record *all = enter_forked(o, p, thread, l.record, &n);
	if (all) {
		thread->entered = n - l.n;
		replace(o, thread, all, n, false);
	}
	free(all);
	unload(&l);
}

static bool between(const struct process_file *p, uint64_t from, uint64_t to)
{
	for (size_t i = 0; i < p->nstopped; i++)
		if (p->stopped[i].to > from && p->stopped[i].from < to)
			return true;
	return false;
}

/* What stands between two epochs between which the process was stopped may be 2^40 ticks later than
 * it says, or not: it counts as lost. Whether there is any. */
static bool leave_out_ambiguous(struct opened_trace *o, const char *name, const struct process_file *p,
				struct tr_thread *thread, struct loaded *l)
{
	size_t n = 0, dropped = 0;
	for (size_t i = 0, end; i < l->n; i = end) {
		for (end = i; end < l->n && l->epoch[end] == l->epoch[i]; end++)
			;
		uint64_t next = end < l->n ? l->epoch[end] : thread->ended ? thread->ended : UINT64_MAX;
		bool ambiguous = between(p, l->epoch[i], next);
		for (size_t k = i; k < end && !ambiguous; k++, n++) {
			l->record[n] = l->record[k];
			l->word[n] = l->word[k];
		}
		if (ambiguous) {
			l->word[n] = l->word[i];
			l->record[n++] = (struct tr_record){ end - i, TR_WHAT(0, DPROF_LOST) };
		}
		dropped += ambiguous ? end - i : 0;
	}
	l->n = n;
	thread->lost += dropped;
	thread->gaps |= dropped > 0;
	if (dropped)
		trace_diagnose(&o->t,
			       "%s: %zu records are left out: the process was stopped for so long that "
			       "it is not known whether they stand before that or behind",
			       name, dropped);
	replace(o, thread, l->record, l->n, false);
	return dropped > 0;
}

/* `back`: stamps do not stand in order. Diagnostics that are said of what is no damage to the file. */
static size_t rearrange(struct opened_trace *o, const char *name, const struct process_file *p,
		      struct tr_thread *thread, bool back)
{
	struct loaded l = load(thread);
	bool ambiguous = p->nstopped && leave_out_ambiguous(o, name, p, thread, &l);
	if (back)
		put_in_order(o, thread, &l);
	unload(&l);
	return ambiguous;
}


static void leave_out_rest(struct scan *s, size_t at)
{
	struct ch_words *w = &s->thread->words->words;
	trace_diagnose(&s->o->t,
		       "%s: offset %" PRIu64 ": expected records, found no end of zeros: the rest "
				"of the thread is left out", ch_file(w, at - 1), ch_offset(w, at - 1));
	ch_cut(w, at);
}

/* What the records say of losses, and what the header does: that of places where it was unknown how many were
 * lost, or when. */
static void add_up_losses(struct scan *s, uint64_t dropped, bool to_the_end)
{
	struct tr_thread *t = s->thread;
	uint64_t unsaid = s->unsaid + ch_damaged_words(&t->words->words);
	uint64_t said = s->lost > unsaid ? s->lost - unsaid : 0;
	t->dropped = dropped;
	t->lost_last = dropped > said || !to_the_end;
	t->lost = s->lost + (dropped > said ? dropped - said : !to_the_end);
}

/* Whether stamps stand out of order. */
static bool scan_thread(struct opened_trace *o, struct tr_thread *thread, uint32_t index, uint64_t dropped, bool to_the_end)
{
	struct scan s;
	struct word_place p = { 0 };
	scan_begin(&s, o, thread, index);
	store_begin(o->reader->writer, thread->blocks);
	while (scan_plain(&s, &p) || scan_one(&s, &p))
		if (scan_is_endless(&s)) {
			leave_out_rest(&s, p.at);
			to_the_end = false;
		}
	scan_end(&s);
	thread->blocks = store_end(o->reader->writer);
	ch_tell_damage(&o->t, &thread->words->words);
	thread->gaps |= thread->words->words.gaps || !to_the_end;
	add_up_losses(&s, dropped, to_the_end);
	jumps_end(&s.jumps, lasts(thread, &s.jumps.found));
	return s.back;
}

static size_t scan_in_order(struct opened_trace *o, const char *name, const struct process_file *p,
			    struct tr_thread *thread, uint32_t index, uint64_t dropped, bool to_the_end)
{
	bool back = scan_thread(o, thread, index, dropped, to_the_end);
	if (!back && !p->nstopped && thread->jumps && thread->jumps->tangled)
		follow_fork(o, p, thread);
	return back || p->nstopped ? rearrange(o, name, p, thread, back) : 0;
}

/* A thread of whose records none is missing or changed, and that left what it had not entered, or left something before
 * what it had entered in there, switched stacks or jumped in a way that no library tells of (assembly, __builtin_longjmp):
 * so from its first stamp on it may have jumped. Where one tells only of a jump behind that, it may have from then on: a
 * function that the user did not mark is left before it calls longjmp(). */
static void believe_jumps(struct tr_thread *t)
{
	const struct tr_jumps *found = t->jumps;
	if (!found || !is_whole(t) || !t->may_jump)
		return;
	if (t->may_jump == UINT64_MAX && (found->tangled || found->n))
		t->may_jump = 1;
	else if (found->odd < t->may_jump)
		t->may_jump = found->odd;
}

void replace_stored(struct opened_trace *o, struct tr_thread *thread, const struct tr_record *records, size_t n)
{
	struct event_reader reader = { .writer = store_again(o->t.store) };
	bool before = thread->blocks && thread->blocks->lost_before, behind = thread->blocks && thread->blocks->lost_behind;
	blocks_close(thread->blocks);
	thread->blocks = NULL;
	o->reader = &reader;
	replace(o, thread, records, n, false);
	o->reader = NULL;
	o->t.whats = store_settle(o->t.store);
	thread->blocks->lost_before |= before;
	thread->blocks->lost_behind |= behind;
	believe_jumps(thread);
}

/* What a thread recorded behind its process's end is in no sum. Where all else is as it was written it is believed;
 * but not beside damage, which `diagnostics` are told of: words that were spliced in may be such as any. Of them
 * no more is told. */
static void scan_believed(struct opened_trace *o, const char *name, const struct process_file *p,
			  struct tr_thread *thread, uint32_t index, uint64_t dropped, bool to_the_end,
			  size_t diagnostics)
{
	struct tr_thread before = *thread;
	struct ch_words *w = &thread->words->words;
	size_t uses = o->nuses, said = o->t.ndiagnostics, from = w->vouched;
	size_t harmless = scan_in_order(o, name, p, thread, index, dropped, to_the_end);
	if (o->t.ndiagnostics == diagnostics)
		believe_jumps(thread);
	if (from >= w->n || o->t.ndiagnostics == diagnostics + harmless)
		return;
	while (o->t.ndiagnostics > said)
		free(o->t.diagnostics[--o->t.ndiagnostics]);
	o->nuses = uses;
	trace_diagnose(&o->t,
		       "%s: offset %" PRIu64 ": expected whole records behind the end of the process, found "
		       "damage in the file: what follows is left out", ch_file(w, from), ch_offset(w, from));
	jumps_close(thread->jumps);
	free(thread->open);
	ch_cut(w, from);
	before.blocks = thread->blocks;
	*thread = before;
	thread->latest = UINT64_MAX;
	scan_in_order(o, name, p, thread, index, dropped, false);
}

/* ---- One file -------------------------------------------------------------------------------- */

static bool all_zero(const uint8_t *bytes, size_t size)
{
	return !size || (!bytes[0] && !memcmp(bytes, bytes + 1, size - 1));
}

struct file {
	struct dprof_events_header header;
	uint64_t size;          /* from the header on */
	bool begun;             /* its header is whole, or ought to be */
	int fd;
};

static size_t header_size(struct header_place place)
{
	return place.in_slot ? DPROF_SLOT_HEADER : DPROF_HEADER_SIZE;
}

/* The magic is written last of the header, and then the first chunk is begun. A process that was killed in
 * between was about to begin. */
static bool is_begun(int fd, const uint8_t *page, struct header_place place, const struct file *f, bool killed)
{
	size_t header = header_size(place);
	uint64_t first = 0;
	if (pread(fd, &first, sizeof first, (off_t)(place.at + header)) > 0 && first)
		return true;
	return !all_zero(page, killed || f->size <= header ? sizeof(uint64_t) : header);
}

/* False after a diagnostic, or without one for a file that was never begun. */
static bool read_header(struct opened_trace *o, struct header_place place, int fd,
			const struct process_file *p, struct file *f)
{
	uint8_t page[DPROF_HEADER_SIZE];
	struct stat status;
	size_t header = header_size(place);
	const char *name = place.name;
	if (fstat(fd, &status)) {
		trace_diagnose(&o->t, "%s: cannot be read: %s", name, strerror(errno));
		return false;
	}
	f->size = (uint64_t)status.st_size > place.at ? (uint64_t)status.st_size - place.at : 0;
	if (!f->size && !p->process.finished)
		return false; /* killed before it reserved the file's first page */
	if (f->size < header) {
		trace_diagnose(&o->t,
			       "%s: expected a header of %zu bytes, found %s (%" PRIu64 " bytes)",
			       name, header,
			       f->size ? "a file that is cut short" : "an empty file", f->size);
		return false;
	}
	if (pread(fd, page, header, (off_t)place.at) != (ssize_t)header) {
		trace_diagnose(&o->t, "%s: cannot be read: %s", name, strerror(errno));
		return false;
	}
	memcpy(&f->header, page, sizeof f->header);
	f->begun = is_begun(fd, page, place, f, !p->process.finished);
	return true;
}

static bool read_file(struct opened_trace *o, struct header_place place, const struct process_file *p,
		      struct file *f)
{
	const char *found;
	int fd = frz_open_regular(o->directory, place.name, &found);
	if (fd < 0) {
		trace_diagnose(&o->t, "%s: expected a file of events, found %s", place.name, found);
		return false;
	}
	f->fd = fd;
	return read_header(o, place, fd, p, f);
}

/* False after a diagnostic, or without one for a file that was never begun. */
static bool check_header(struct opened_trace *o, struct header_place place, const struct file *f,
			 const struct process_file *p, uint32_t number)
{
	const struct dprof_events_header *h = &f->header;
	const char *name = place.name;
	if (!f->begun)
		return false;
	if (!place.in_slot && memcmp(h->magic, DPROF_MORE_MAGIC, sizeof h->magic) == 0) {
		trace_diagnose(&o->t,
			       "%s: expected the slot of thread %" PRIu32 " in %s.nursery, where it began, found none: its "
			       "events are left out", name, number, p->stem);
		return false;
	}
	if (memcmp(h->magic, DPROF_EVENTS_MAGIC, sizeof h->magic) != 0) {
		char magic[sizeof h->magic + 1] = "";
		memcpy(magic, h->magic, sizeof h->magic);
		char *quoted = ln_quote(magic);
		trace_diagnose(&o->t,
			       "%s: offset %" PRIu64 ": expected '" DPROF_EVENTS_MAGIC
			       "', found %s: no file of events",
			       name, place.at, quoted);
		free(quoted);
		return false;
	}
#define EXPECT(field, value)                                                                       \
	if ((uint64_t)h->field != (uint64_t)(value)) {                                             \
		trace_diagnose(&o->t, "%s: offset %" PRIu64 ": expected %s %" PRId64 ", found %" PRId64, \
			       name, place.at + offsetof(struct dprof_events_header, field), #field, \
			       (int64_t)(value), (int64_t)h->field);                               \
		return false;                                                                      \
	}
	if (h->version != DPROF_FORMAT_SUMMED &&
	    (p->summed || place.in_slot || (h->version != DPROF_FORMAT_OLDEST && h->version != DPROF_FORMAT_UNSUMMED)))
		EXPECT(version, DPROF_FORMAT_VERSION);
	EXPECT(header_size, header_size(place));
	EXPECT(word_size, sizeof(uint64_t));
	EXPECT(thread, number);
	EXPECT(pid, p->process.pid);
	if (h->rank >= 0 && p->process.rank >= 0)
		EXPECT(rank, p->process.rank);
	EXPECT(first_chunk, h->first_chunk / DPROF_HEADER_SIZE * DPROF_HEADER_SIZE);
	if (place.in_slot && !h->first_chunk)
		EXPECT(first_chunk, DPROF_HEADER_SIZE);
	if (h->first_chunk > h->largest_chunk)
		EXPECT(largest_chunk, h->first_chunk);
	if (h->version >= DPROF_FORMAT_SUMMED && !h->ended)
		EXPECT(end.header_sum, 0);
#undef EXPECT
	return true;
}

int process_by_stem(const void *a, const void *b)
{
	return strcmp((*(struct process_file *const *)a)->stem, (*(struct process_file *const *)b)->stem);
}

struct stem { const char *name; size_t n; };

static int is_stem(const void *key, const void *process)
{
	const struct stem *s = key;
	const char *stem = (*(struct process_file *const *)process)->stem;
	int order = strncmp(s->name, stem, s->n);
	return order ? order : -(stem[s->n] != 0);
}

const struct process_file *process_with_stem(const struct opened_trace *o, const char *name, size_t n,
					     struct process_file *const *sorted)
{
	struct process_file *const *found =
		bsearch(&(struct stem){ name, n }, sorted, o->nfiles, sizeof(struct process_file *), is_stem);
	return found ? *found : NULL;
}

size_t stem_of(const char *name, uint32_t *number)
{
	size_t end = (size_t)(strrchr(name, '.') - name);
	const char *dash = number ? memrchr(name, '-', end) : NULL;
	if (!number)
		return end;
	char *digits;
	errno = 0;
	unsigned long n = dash ? strtoul(dash + 1, &digits, 10) : 0;
	if (!dash || digits != name + end || digits == dash + 1 || errno || n > UINT32_MAX)
		return 0;
	*number = (uint32_t)n;
	return (size_t)(dash - name);
}

/* HOST-RANK-THREAD.events, or the slot in HOST-RANK.nursery: finds HOST-RANK and THREAD. */
static const struct process_file *process_of(const struct opened_trace *o, struct header_place place,
					     struct process_file *const *sorted, uint32_t *number)
{
	*number = (uint32_t)(place.at / DPROF_SLOT);
	return process_with_stem(o, place.name, stem_of(place.name, place.in_slot ? NULL : number), sorted);
}

static bool knows_jumps(const struct dprof_events_header *h)
{
	return h->jumps.check == ~h->jumps.first;
}

/* What the thread, or its process, said when it ended: NULL without that, or when it cannot be believed. */
static const struct dprof_end *end_of(struct opened_trace *o, struct header_place place, const struct file *f)
{
	const struct dprof_events_header *h = &f->header;
	if (h->version < DPROF_FORMAT_SUMMED || !h->ended)
		return NULL;
	if (dprof_header_sum(h) != h->end.header_sum) {
		trace_diagnose(&o->t,
			       "%s: offset %" PRIu64 ": expected the sum 0x%" PRIx64 " of the header, found 0x%" PRIx64,
			       place.name, place.at + offsetof(struct dprof_events_header, end.header_sum), dprof_header_sum(h),
			       h->end.header_sum);
		return NULL;
	}
	if (knows_jumps(h) || !(h->jumps.first | h->jumps.check))
		return &h->end;
	trace_diagnose(&o->t,
		       "%s: offset %" PRIu64 ": expected the stamp of a first jump and its complement, found 0x%" PRIx64
		       " and 0x%" PRIx64, place.name, place.at + offsetof(struct dprof_events_header, jumps), h->jumps.first,
		       h->jumps.check);
	return NULL;
}

/* A file has room for its first chunk before it has a header, and loses that only when its thread has ended. */
static bool has_room(struct opened_trace *o, struct header_place place, const struct file *f)
{
	const struct dprof_events_header *h = &f->header;
	uint64_t least = h->header_size + (uint64_t)h->first_chunk;
	if (place.in_slot || h->version < DPROF_FORMAT_SUMMED || h->ended || f->size >= least)
		return true;
	trace_diagnose(&o->t, "%s: expected a header and room for records, %" PRIu64 " bytes, found %" PRIu64 ": the file is cut short",
		       place.name, least, f->size);
	return false;
}

/* Whether all that the thread recorded can be there: it said how much, or it is unknown. */
static bool says_its_end(struct opened_trace *o, struct header_place place, const char *name, const struct file *f,
			 const struct process_file *p, const struct dprof_end *end)
{
	const struct dprof_events_header *h = &f->header;
	if (!h->ended && p->process.finished)
		trace_diagnose(&o->t,
			       "%s: expected an end in good order, found none: the thread still ran when its "
				     "process ended", name);
	if (end && h->lost < end->lost)
		trace_diagnose(&o->t,
			       "%s: offset %" PRIu64 ": expected at least %" PRIu64 " dropped records, "
				     "found %" PRIu64,
			       place.name, place.at + offsetof(struct dprof_events_header, lost), end->lost,
			       h->lost);
	return has_room(o, place, f) && (h->version < DPROF_FORMAT_SUMMED || end || !h->ended);
}

/* The stamp behind which the thread recorded nothing, as far as it is known: without an end, it ran until its process ended. */
static uint64_t latest(const struct dprof_events_header *h, const struct dprof_end *end, const struct tr_process *process)
{
	bool old = h->version < DPROF_FORMAT_SUMMED;
	bool all = end && (!end->ran_on || h->lost == end->lost);
	if (!h->ended && process->finished && process->ended)
		return process->ended;
	return h->ended && (old || all) ? h->ended : UINT64_MAX;
}

/* The stamp from which on the thread may have jumped, or UINT64_MAX. */
static uint64_t may_jump(const struct dprof_events_header *h)
{
	if (h->version < DPROF_FORMAT_SUMMED || !knows_jumps(h) || !h->jumps.first)
		return 0;
	return h->jumps.first == DPROF_JUMPS_NONE ? UINT64_MAX : h->jumps.first;
}

/* Of one process at a time what its ids say: its files of events stand together. */
static void read_ids(struct event_reader *r, struct tr_modules *of)
{
	if (of == r->modules)
		return;
	if (r->modules)
		close_module_ids(r->modules);
	open_module_ids(of);
	r->modules = of;
}

/* What is said of its records, wherever they stand. */
static char *name_records(struct header_place place, uint32_t number)
{
	return place.in_slot ? mem_format("%s, thread %" PRIu32, place.name, number) : mem_copy(place.name);
}

static void check_size(struct opened_trace *o, struct header_place place, const struct file *f)
{
	size_t rest = f->size % sizeof(uint64_t);
	if (rest)
		trace_diagnose(&o->t,
			       "%s: offset %" PRIu64 ": expected a word of %zu bytes, found %zu: the file "
			       "is cut short",
			       place.name, place.at + f->size - rest, sizeof(uint64_t), rest);
}

static struct ch_words open_words(struct opened_trace *o, struct header_place place, const struct process_file *p,
				  const struct file *f, const struct dprof_end *end)
{
	const struct dprof_events_header *h = &f->header;
	char *events = mem_format("%s-%" PRIu32 ".events", p->stem, h->thread);
	struct ch_files files = { .events = place.in_slot ? events : place.name,
				  .nursery = place.in_slot ? place.name : NULL, .slot = place.at, .fd = f->fd };
	struct ch_words words = ch_open(&o->t, o->reader->unpacker, files, h,
					h->version >= DPROF_FORMAT_SUMMED && h->ended && p->process.finished, end);
	free(events);
	return words;
}

/* Of a thread that is still there no sum says that this was changed: what was never written has no moment. */
static bool was_asked(const struct dprof_sched *s)
{
	return s->known && s->to && s->from <= s->to;
}

/* `diagnostics`: how many there were before this file's. */
static void read_thread(struct opened_trace *o, struct header_place place, const struct process_file *p,
			const struct file *f, size_t diagnostics)
{
	const struct dprof_events_header *h = &f->header;
	char *name = name_records(place, h->thread);
	const struct dprof_end *end = end_of(o, place, f);
	bool to_the_end = says_its_end(o, place, name, f, p, end);
	bool believed = end || h->version < DPROF_FORMAT_SUMMED; /* its header was not changed: a sum says so, or there were none */
	uint64_t ended = believed ? h->ended : 0;
	uint64_t dropped = end && end->lost > h->lost ? end->lost : h->lost;
	struct tr_thread *t = MEM_GROW(o->t.threads, o->t.nthreads);
	*t = (struct tr_thread){
		.clock = p->clock,
		.rank = p->process.rank,
		.number = h->thread,
		.why = h->version < DPROF_FORMAT_SUMMED ? 0 : h->why,
		.complete = ended != 0,
		.ended = ended,
		.ran_on = end && end->ran_on,
		.ended_it = end && end->ran_on == DPROF_ENDED_IT,
		.may_jump = may_jump(h),
		.earliest = p->process.started,
		.latest = latest(h, end, &p->process),
		.entered = p->process.says_entered && h->thread == 0 ? p->entered : 0,
		.words = mem_resize(NULL, 1, sizeof *t->words),
		.process = (uint32_t)(p - o->files),
	};
	read_ids(o->reader, o->t.processes[t->process].modules);
	*t->words = (struct tr_words){ .modules = o->t.processes[t->process].modules,
				       .words = open_words(o, place, p, f, end),
				       .last = end && end->ran_on ? h->last : (struct dprof_last_call){ 0, 0 } };
	t->name = mem_format("%.*s", (int)sizeof h->name, h->name);
	for (int i = 0; i < 2; i++)
		if (was_asked(&h->sched[i]) && believed)
			*MEM_GROW(t->sched, t->nsched) = h->sched[i];
	scan_believed(o, name, p, t, (uint32_t)o->t.nthreads - 1, dropped, to_the_end, diagnostics);
	t->entered = t->entered < t->nrecords ? t->entered : t->nrecords;
	words_close(t->words);
	t->words = NULL;
	free(name);
}

static const struct process_file *find_process(struct opened_trace *o, struct header_place place,
					       struct process_file *const *by_stem, uint32_t *number)
{
	const struct process_file *p = process_of(o, place, by_stem, number);
	if (!p)
		trace_diagnose(&o->t,
			       "%s: expected the file HOST-RANK.process that it belongs to, found "
			       "none: its events are left out",
			       place.name);
	return p;
}

static void read_place(struct opened_trace *o, struct header_place place, const struct process_file *p, uint32_t number)
{
	struct file f = { .fd = -1 };
	size_t diagnostics = o->t.ndiagnostics;
	if (p->changed) {
		add_absent_thread(o, p, number);
		return;
	}
	if (!read_file(o, place, p, &f) || !check_header(o, place, &f, p, number)) {
		if (f.fd >= 0)
			close(f.fd);
		if (o->t.ndiagnostics > diagnostics)
			add_absent_thread(o, p, number);
		return;
	}
	check_size(o, place, &f);
	read_thread(o, place, p, &f, diagnostics);
}

void read_header_at(struct opened_trace *o, struct header_place place, struct process_file *const *by_stem)
{
	uint32_t number;
	const struct process_file *p = find_process(o, place, by_stem, &number);
	if (p)
		read_place(o, place, p, number);
}

/* Of a thread that has a slot, that has its header. */
void read_events(struct opened_trace *o, const char *name, struct process_file *const *by_stem)
{
	uint32_t number;
	struct header_place place = { .name = name };
	const struct process_file *p = find_process(o, place, by_stem, &number);
	if (!p)
		return;
	char *nursery = mem_format("%s.nursery", p->stem);
	if (number && has_slot(o, p->stem, number))
		place = (struct header_place){ nursery, (uint64_t)number * DPROF_SLOT, true };
	read_place(o, place, p, number);
	free(nursery);
}

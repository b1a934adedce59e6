/* SPDX-License-Identifier: MIT
 *
 * trace_absent.c - processes and threads that were there, and of which nothing is here.
 *
 * A process that has a file of events and none of its own becomes one whose thread did anything, too: what is in that
 * file has no meaning without it.
 *
 * So does one that a process from which it comes, or its child, says to have files.
 *
 * A process says at its end which of its threads have a file of events, and at once which can have none. Of one that
 * did not come to that, the first one had a file, and who was joined. A rank knows how many there are. What
 * is not in the directory becomes a thread without records that has lost what it did: so it may have been anywhere at
 * any time, and nothing proves that it waited. So does a thread that someone joined although no adapter had noticed that
 * it was made (a library's, that was not compiled with dprof); but of that nothing is damaged or lost, and it recorded
 * nothing before or after the others.
 *
 * Law: of each process that has ended in good order, trace.threads has every thread that had recorded
 * something or had tried to. (Of many that are absent, the first ABSENT_MOST: they are as unknown as all.) */
#define _GNU_SOURCE /* memrchr */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/base/lines.h"
#include "analysis/base/memory.h"
#include "analysis/base/order.h"
#include "analysis/trace/trace_private.h"

#define ABSENT_MOST 1024 /* of a trace's ranks, and of a process's threads */

char *trace_why(uint64_t why)
{
	static const char *const texts[] = {
#define X(NAME, word, text) text,
		DPROF_WHYS(X)
#undef X
	};
	char *all = mem_copy("");
	for (int i = 0; i < DPROF_WHY_COUNT; i++) {
		if (!(why >> i & 1))
			continue;
		char *longer = mem_format("%s%s%s", all, *all ? "; " : ": ", texts[i]);
		free(all);
		all = longer;
	}
	return all;
}

/* ---- Processes ------------------------------------------------------------------------------- */

/* On the clock of the first one: it has no stamps, so it may as well be that. No file is taken for one of it. */
static void add_process(struct opened_trace *o, int64_t rank, uint64_t pid, char *name)
{
	struct process_file first = o->files[0];
	*MEM_GROW(o->files, o->nfiles) = (struct process_file){
		.name = name, .stem = mem_copy("?"),
		.hostid = first.hostid ? mem_copy(first.hostid) : NULL, .ghz = first.ghz,
		.source = first.source ? mem_copy(first.source) : NULL, .clockid = -1,
		.process = { .rank = rank, .size = first.process.size, .absent = true, .finished = true,
			     .pid = pid,
			     .program = first.process.program ? mem_copy(first.process.program) : NULL,
			     .job = first.process.job ? mem_copy(first.process.job) : NULL,
			     .host = first.process.host ? mem_copy(first.process.host) : NULL } };
}

/* By rank: which of the job's have a file. */
static size_t count_ranks(const struct process_file *files, size_t n, int64_t size)
{
	size_t here = 0;
	for (size_t i = 0; i < n; i++) {
		int64_t rank = files[i].process.rank;
		here += rank >= 0 && rank < size && (i == 0 || files[i - 1].process.rank != rank);
	}
	return here;
}

static void add_ranks(struct opened_trace *o)
{
	size_t n = o->nfiles, next = 0, added = 0;
	int64_t size = o->files[0].process.size, missing = size - (int64_t)count_ranks(o->files, n, size);
	for (int64_t rank = 0; rank < size && added < ABSENT_MOST; rank++) {
		while (next < n && o->files[next].process.rank >= 0 && o->files[next].process.rank < rank)
			next++;
		if (next < n && o->files[next].process.rank == rank)
			continue;
		add_process(o, rank, 1, mem_format("rank %" PRId64, rank));
		added++;
	}
	o->t.uncounted = missing > (int64_t)added ? (uint64_t)missing - added : 0;
}

/* How long HOST-RANK is in the name of a file that a process has beside its own. */
static size_t stem_beside(const char *name)
{
	uint32_t number;
	if (name_ends(name, ".nursery"))
		return stem_of(name, NULL);
	return name_ends(name, ".events") || name_ends(name, ".packed") ? stem_of(name, &number) : 0;
}

/* HOST-RANK is of one of a job's ranks, and so of one that is here or was added; or what follows HOST-p is the pid. */
static bool is_of_rank(const struct opened_trace *o, const char *name, size_t stem, uint64_t *pid)
{
	const char *dash = memrchr(name, '-', stem);
	bool has_pid = dash && dash[1] == 'p';
	char *end;
	*pid = dash ? strtoull(dash + 1 + has_pid, &end, 10) : 0;
	return dash && !has_pid && end == name + stem && (int64_t)*pid < o->files[0].process.size;
}

/* Processes of which there is a file of events, and none that says what they are. */
static void add_nameless(struct opened_trace *o)
{
	struct process_file **by_stem = processes_by_stem(o);
	size_t added = 0;
	uint64_t pid;
	const char *before = "";
	struct missing_process { const char *name; uint64_t pid; } missing[ABSENT_MOST];
	for (size_t i = 0; i < o->nnames && added < ABSENT_MOST; i++) {
		const char *name = o->names[i];
		size_t stem = stem_beside(name);
		if (!stem || process_with_stem(o, name, stem, by_stem) || is_of_rank(o, name, stem, &pid) ||
		    (stem_beside(before) == stem && !strncmp(name, before, stem)))
			continue;
		before = name;
		missing[added++] = (struct missing_process){ name, pid };
	}
	free(by_stem);
	for (size_t i = 0; i < added; i++)
		add_process(o, -1, missing[i].pid, mem_format("%.*s", (int)stem_beside(missing[i].name), missing[i].name));
}

/* Is there any file HOST-RANK.* or HOST-RANK-*? These stand together among the names. */
static bool has_file(const struct opened_trace *o, const char *stem)
{
	size_t n = strlen(stem), low = 0, high = o->nnames;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = strncmp(o->names[middle], stem, n);
		if (order < 0 || (order == 0 && (unsigned char)o->names[middle][n] < '-'))
			low = middle + 1;
		else
			high = middle;
	}
	return low < o->nnames && !strncmp(o->names[low], stem, n) && (o->names[low][n] == '-' || o->names[low][n] == '.');
}

/* Those that were added from `first` on are named as their files. */
static bool is_added(const struct opened_trace *o, size_t first, const char *stem)
{
	while (first < o->nfiles && strcmp(o->files[first].name, stem) != 0)
		first++;
	return first < o->nfiles;
}

/* The process `of` names a relative. Of ranks that are absent, that is said. */
static void add_relative(struct opened_trace *o, size_t first, size_t of, const char *stem, const char *whose)
{
	uint64_t pid;
	if (has_file(o, stem) || is_of_rank(o, stem, strlen(stem), &pid) || o->nfiles - first == ABSENT_MOST ||
	    is_added(o, first, stem))
		return;
	char *quoted = ln_quote(stem);
	trace_diagnose(&o->t, "%s: expected the files of the process %s, %s, found none", o->files[of].name, quoted, whose);
	free(quoted);
	add_process(o, -1, pid, mem_copy(stem));
}

/* Processes of which their parents or children say that they have files. */
static void add_relatives(struct opened_trace *o)
{
	size_t first = o->nfiles;
	for (size_t i = 0; i < first; i++) {
		if (o->files[i].parent)
			add_relative(o, first, i, o->files[i].parent, "from which it was forked");
		for (size_t j = 0; j < o->files[i].nchildren; j++)
			add_relative(o, first, i, o->files[i].children[j], "its child");
	}
}

void open_absent_processes(struct opened_trace *o)
{
	add_ranks(o);
	add_nameless(o);
	add_relatives(o);
}

/* ---- Threads --------------------------------------------------------------------------------- */

/* Of a process, those of which something is here stand in order; and behind all of those stand the absent ones. */
struct threads_of {
	uint32_t process;
	size_t first, n;         /* that are here */
	size_t absent;           /* where its absent ones begin, at the earliest */
};

static struct threads_of threads_of(const struct opened_trace *o, size_t recorded, const struct process_file *p)
{
	struct threads_of of = { (uint32_t)(p - o->files), 0, recorded, o->t.nthreads };
	size_t end = recorded;
	while (of.first < end) {
		size_t middle = of.first + (end - of.first) / 2;
		if (o->t.threads[middle].process < of.process)
			of.first = middle + 1;
		else
			end = middle;
	}
	while (end < recorded && o->t.threads[end].process == of.process)
		end++;
	of.n = end - of.first;
	return of;
}

static int by_number(const void *number, const void *thread)
{
	uint32_t x = *(const uint32_t *)number, y = ((const struct tr_thread *)thread)->number;
	return ORDER(x, y);
}

static bool is_here(const struct opened_trace *o, const struct threads_of *of, uint32_t number)
{
	return of->n && bsearch(&number, &o->t.threads[of->first], of->n, sizeof *o->t.threads, by_number);
}

static bool has_thread(const struct opened_trace *o, const struct threads_of *of, uint32_t number)
{
	for (size_t i = of->absent; i < o->t.nthreads; i++)
		if (o->t.threads[i].process == of->process && o->t.threads[i].number == number)
			return true;
	return is_here(o, of, number);
}

void add_absent_thread(struct opened_trace *o, const struct process_file *p, uint32_t number)
{
	uint32_t process = (uint32_t)(p - o->files);
	*MEM_GROW(o->t.threads, o->t.nthreads) = (struct tr_thread){
		.clock = p->clock, .rank = p->process.rank, .number = number, .name = mem_copy(""),
		.lost = 1, .lost_last = true, .gaps = true, .complete = p->process.finished,
		.process = process,
		.earliest = p->process.started, .latest = p->process.ended ? p->process.ended : UINT64_MAX };
}

/* Takes "FIRST-LAST" or "FIRST" and a comma off a list. */
static bool next_range(const char **list, uint64_t *first, uint64_t *last)
{
	char *end;
	if (**list < '0' || **list > '9')
		return false;
	*first = *last = strtoull(*list, &end, 10);
	if (*end == '-')
		*last = strtoull(end + 1, &end, 10);
	*list = *end == ',' ? end + 1 : end;
	return *first <= *last && *last <= UINT32_MAX;
}

static void look_for_files(struct opened_trace *o, const struct process_file *p, const struct threads_of *of)
{
	size_t missing = 0;
	for (size_t i = 0; i < p->nthreads; i++) {
		const char *list = p->threads[i];
		for (uint64_t first, last; next_range(&list, &first, &last) && missing < ABSENT_MOST;)
			for (uint64_t k = first; k <= last && missing < ABSENT_MOST; k++) {
				uint32_t number = (uint32_t)k;
				if (is_here(o, of, number))
					continue;
				add_absent_thread(o, p, number);
				trace_diagnose(&o->t,
					       "%s-%" PRIu32 ".events: expected the events of a thread "
						     "that %s names, found no such file%s%s%s",
					       p->stem, number, p->name, number ? ", nor its slot in " : "",
					       number ? p->stem : "", number ? ".nursery" : "");
				missing++;
			}
	}
}

/* Those that could have no file; or one that stands for whoever lost records without one. */
static void look_for_homeless(struct opened_trace *o, const struct process_file *p, const struct threads_of *of)
{
	uint32_t free_number = 0;
	size_t from = o->t.nthreads;
	for (size_t i = 0; i < p->nmissing && i < ABSENT_MOST; i++)
		if (!has_thread(o, of, p->missing[i].number)) {
			char *why = trace_why(p->missing[i].why);
			add_absent_thread(o, p, p->missing[i].number);
			o->t.threads[o->t.nthreads - 1].why = p->missing[i].why;
			trace_diagnose(&o->t,
				       "%s-%" PRIu32 ".events: expected room for a file of events, found "
					     "none: what the thread recorded is lost%s",
				       p->stem, p->missing[i].number, why);
			free(why);
		}
	if (!p->lost)
		return;
	char *why = trace_why(p->why);
	trace_diagnose(&o->t,
		       "%s: expected all records, found %" PRIu64 " dropped of threads that had "
			     "no file%s", p->name, p->lost, why);
	free(why);
	while (has_thread(o, of, free_number))
		free_number++;
	if (o->t.nthreads == from)
		add_absent_thread(o, p, free_number);
	o->t.threads[o->t.nthreads - 1].why |= p->why;
}

static void look_for(struct opened_trace *o, const struct process_file *p, const struct threads_of *of, uint32_t number)
{
	if (has_thread(o, of, number))
		return;
	add_absent_thread(o, p, number);
	trace_diagnose(&o->t, "%s-%" PRIu32 ".events: expected the events of a thread of %s, of which others are here, found no such "
			      "file, nor its slot in %s.nursery", p->stem, number, p->name, p->stem);
}

/* Of a process that did not come to say which of its threads have files, its first one has, and whoever was joined. (Any other
 * number may be that of a thread that has just been created.) */
static void look_for_some(struct opened_trace *o, const struct process_file *p, const struct threads_of *of)
{
	if (p->process.finished || of->n == 0)
		return;
	look_for(o, p, of, 0);
	for (size_t i = 0; i < of->n; i++)
		if (o->t.threads[of->first + i].joined)
			look_for(o, p, of, o->t.threads[of->first + i].joined - 1);
}

static void add_unseen(struct opened_trace *o, const struct process_file *p, const struct threads_of *of)
{
	uint32_t number = 0;
	size_t unseen = 0;
	for (size_t i = 0; i < of->n && unseen < ABSENT_MOST; i++) {
		const struct tr_thread *t = &o->t.threads[of->first + i];
		unseen += t->unknown_joins + t->unseen;
	}
	for (size_t i = 0; i < unseen && i < ABSENT_MOST; i++) {
		while (has_thread(o, of, number))
			number++;
		add_absent_thread(o, p, number);
		struct tr_thread *t = &o->t.threads[o->t.nthreads - 1];
		t->unrecorded = true;
		t->earliest = UINT64_MAX;
		t->latest = 0;
	}
}

/* Its thread is here, and what is missing of its records is said. This has none of them then; but somebody has lost it. */
static void note_file_of(struct opened_trace *o, const struct process_file *p, uint32_t number)
{
	char *name = mem_format("%s-%" PRIu32 ".events", p->stem, number);
	const char *found;
	struct stat s;
	int fd = open_named(o, name, &found);
	bool sized = fd >= 0 && fstat(fd, &s) == 0;
	if (fd < 0 || (sized && s.st_size < DPROF_HEADER_SIZE))
		*MEM_GROW(o->t.notes, o->t.nnotes) = mem_format(
			"%s: expected the file in which thread %" PRIu32 " of %s went on, found %s; no records are lost but what "
			"is named as missing", name, number, p->name, fd < 0 ? found : "one that is cut short");
	if (fd >= 0)
		close(fd);
	free(name);
}

/* Its file of events, or its slot, was there before anything was packed. Of those that cannot be read, that is said, and
 * they are here as threads. */
static void look_for_owner(struct opened_trace *o, const char *name, size_t recorded, struct process_file *const *by_stem)
{
	uint32_t number;
	size_t stem = stem_of(name, &number);
	const struct process_file *p = stem ? process_with_stem(o, name, stem, by_stem) : NULL;
	if (!p) {
		trace_diagnose(&o->t, "%s: expected the file HOST-RANK.process that it belongs to, found none: its events are "
				      "left out", name);
		return;
	}
	struct threads_of of = threads_of(o, recorded, p);
	of.absent = recorded;
	if (is_here(o, &of, number))
		note_file_of(o, p, number);
	if (has_thread(o, &of, number))
		return;
	if (o->t.nthreads - recorded < ABSENT_MOST)
		add_absent_thread(o, p, number);
	trace_diagnose(&o->t, "%s: expected the file %s-%" PRIu32 ".events of its thread, found none: its events are left out",
		       name, p->stem, number);
}

static void look_for_owners(struct opened_trace *o, size_t recorded)
{
	struct process_file **by_stem = processes_by_stem(o);
	for (size_t i = 0; i < o->nnames; i++)
		if (name_ends(o->names[i], ".packed"))
			look_for_owner(o, o->names[i], recorded, by_stem);
	free(by_stem);
}

void open_absent_threads(struct opened_trace *o)
{
	size_t recorded = o->t.nthreads;
	sort_threads(o);
	for (size_t i = 0; i < o->nfiles; i++) {
		struct threads_of of = threads_of(o, recorded, &o->files[i]);
		if (o->files[i].process.absent || (o->files[i].changed && !of.n))
			add_absent_thread(o, &o->files[i], 0);
		look_for_files(o, &o->files[i], &of);
		look_for_homeless(o, &o->files[i], &of);
		look_for_some(o, &o->files[i], &of);
		add_unseen(o, &o->files[i], &of);
	}
	o->t.note_of_file = o->t.nnotes;
	look_for_owners(o, recorded);
	sort_threads(o);
}

/* ---- What else is lost ----------------------------------------------------------------------- */

bool trace_lacks(const struct trace *t)
{
	for (size_t i = 0; i < t->nthreads; i++)
		if (t->threads[i].lost)
			return true;
	return false;
}

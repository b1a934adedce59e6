/* SPDX-License-Identifier: MIT
 *
 * trace_processes.c - what the process files say together: one job, one program, each rank once, one clock for each host.
 *
 * Law: a fact that is missing gets the value that claims least. Of a file that was changed nothing is believed, since each of
 * its lines may be another one: its threads become such as have lost all that they recorded. So do those of a process of
 * another job. */
#define _GNU_SOURCE /* tdestroy */
#include <inttypes.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/base/lines.h"
#include "analysis/base/enumeration.h"
#include "analysis/base/memory.h"
#include "analysis/base/order.h"
#include "analysis/trace/trace_private.h"

/* ---- What cannot be believed ----------------------------------------------------------------- */

/* The rank in a name HOST-RANK, or -1. */
static int64_t rank_of_name(const char *stem)
{
	const char *dash = strrchr(stem, '-');
	char *end;
	long long rank = dash ? strtoll(dash + 1, &end, 10) : -1;
	return dash && dash[1] >= '0' && dash[1] <= '9' && !*end && rank <= INT32_MAX ? rank : -1;
}

static void borrow(char **to, const char *from)
{
	free(*to);
	*to = from ? mem_copy(from) : NULL;
}

/* It is what its name says, and else what the first process says of which the file is whole; or nothing. */
static void disbelieve(struct process_file *p, const struct process_file *first)
{
	int64_t rank = rank_of_name(p->stem);
	p->process = (struct tr_process){ .rank = rank, .size = first && rank >= 0 ? first->process.size : -1,
					  .pid = p->process.pid, .finished = true, .program = p->process.program,
					  .job = p->process.job, .host = p->process.host };
	if (first && first != p) {
		borrow(&p->process.program, first->process.program);
		borrow(&p->process.job, first->process.job);
		borrow(&p->process.host, first->process.host);
		borrow(&p->hostid, first->hostid);
		borrow(&p->source, first->source);
	}
	p->ghz = first ? first->ghz : p->ghz;
	p->clockid = -1;
	p->uncertainty = 0;
	p->compared = false;
	p->packets = (struct tr_packets){ 0 };
	free_process_lines(p);
}

/* All these are written at once, before anything else is: where one is missing, others may be. */
static void check_first_lines(struct opened_trace *o, struct process_file *p)
{
	const char *missing = !p->process.program ? "program"
			      : !p->process.job   ? "job"
			      : !p->process.host  ? "host"
			      : !p->hostid        ? "hostid"
			      : !p->process.pid   ? "pid"
			      : p->ghz == 0       ? "ghz"
						  : NULL;
	if (missing)
		trace_diagnose(&o->t, "%s: expected a line '%s', found none%s", p->name, missing,
			       p->summed ? ": what its threads recorded is left out" : "");
	p->changed |= missing && p->summed;
}

/* Its rank is. */
static void disbelieve_as(struct process_file *p, const struct process_file *first, int64_t rank)
{
	disbelieve(p, first);
	p->changed = true;
	p->process.rank = rank;
	p->process.size = rank >= 0 ? first->process.size : -1;
}

static void disbelieve_changed(struct opened_trace *o)
{
	const struct process_file *first = NULL;
	for (size_t i = 0; i < o->nfiles && !first; i++)
		first = o->files[i].changed ? NULL : &o->files[i];
	for (size_t i = 0; i < o->nfiles; i++)
		if (o->files[i].changed)
			disbelieve(&o->files[i], first);
}

/* `first`, `own`: what they say of it. */
static void compare(struct opened_trace *o, const struct process_file *p, const char *what,
		    const struct process_file *with, const char *first, const char *own)
{
	if (strcmp(first, own) == 0)
		return;
	char *expected = ln_quote(first), *found = ln_quote(own);
	trace_diagnose(&o->t, "%s: expected %s %s as in %s, found %s: is this directory a mixture?",
		       p->name, what, expected, with->name, found);
	free(expected);
	free(found);
}

/* Of processes of different jobs nothing is known that relates them: those of another job than the first rank's stand for
 * processes of its job of which nothing is here. They are in order. */
static void disbelieve_other_jobs(struct opened_trace *o)
{
	const struct process_file *first = NULL;
	for (size_t i = 0; i < o->nfiles; i++) {
		struct process_file *p = &o->files[i];
		if (p->changed || !p->process.job)
			continue;
		if (!first)
			first = p;
		if (strcmp(first->process.job, p->process.job) == 0)
			continue;
		compare(o, p, "job", first, first->process.job, p->process.job);
		disbelieve_as(p, first, p->process.rank);
	}
}

/* Of two processes with one rank it is not known which is of this run. They are in order. */
static void disbelieve_same_ranks(struct opened_trace *o)
{
	const struct process_file *first = &o->files[0];
	for (size_t i = 1; i < o->nfiles; i++) {
		struct process_file *p = &o->files[i], *before = p - 1;
		int64_t rank = p->process.rank;
		if (rank < 0 || rank != before->process.rank)
			continue;
		trace_diagnose(&o->t, "%s: expected each rank once, found rank %" PRId64 " as in %s: what both recorded is left out",
			       p->name, rank, before->name);
		disbelieve_as(before, first, rank);
		disbelieve_as(p, first, rank);
	}
}

static bool is_same(const struct process_file *x, const struct process_file *y)
{
	return x->process.rank < 0 && y->process.rank < 0 && x->process.pid == y->process.pid && x->process.started > 0 &&
	       x->process.started == y->process.started && x->hostid && y->hostid && strcmp(x->hostid, y->hostid) == 0;
}

/* Numbers of processes are given again, but not at the same moment: one is a copy, and it is not known which. They are in order. */
static void disbelieve_copies(struct opened_trace *o)
{
	for (size_t i = 0, next; i < o->nfiles; i = next) {
		for (next = i + 1; next < o->nfiles && is_same(&o->files[i], &o->files[next]); next++)
			trace_diagnose(&o->t, "%s: expected another process than in %s, found pid %" PRIu64 " from the same moment on: "
				       "what both recorded is left out", o->files[next].name, o->files[i].name, o->files[i].process.pid);
		for (size_t k = i; next > i + 1 && k < next; k++)
			disbelieve_as(&o->files[k], &o->files[0], -1);
	}
}

/* ---- What a file does not say ---------------------------------------------------------------- */

static void fill_in(struct process_file *p)
{
	if (!p->process.program)
		p->process.program = mem_copy("?");
	if (!p->process.job)
		p->process.job = mem_copy("?");
	if (!p->process.host)
		p->process.host = mem_copy(p->stem);
	if (!p->hostid)
		p->hostid = mem_copy(p->process.host);
	if (p->ghz == 0)
		p->ghz = 1;
	if (!p->source)
		p->source = mem_copy("tsc");
}

#define UNFINISHED_NAMED 3

/* One diagnostic for all of them: a job that was killed has one in each process. */
void say_unfinished(struct opened_trace *o)
{
	size_t count = 0;
	char *names = NULL;
	for (size_t i = 0; i < o->nfiles; i++) {
		if (!trace_was_cut(&o->t.processes[i]) || count++ >= UNFINISHED_NAMED)
			continue;
		char *longer = mem_format("%s%s%s", names ? names : "", names ? ", " : "",
					  o->files[i].name);
		free(names);
		names = longer;
	}
	if (count == 0)
		return;
	char *more = count > UNFINISHED_NAMED ? mem_format(" and %zu more", count - UNFINISHED_NAMED)
					      : mem_copy("");
	trace_diagnose(&o->t,
		       "%s%s: expected a line 'finished', found none: %s, %s killed, called _exit or exec, "
		       "or lost the right to write here; what %s recorded is here",
		       names, more,
		       count > 1 ? "the processes still run" : "the process still runs",
		       count > 1 ? "were" : "was", count > 1 ? "they have" : "it has");
	free(names);
	free(more);
}

static void say_damaged(struct opened_trace *o)
{
	for (size_t i = 0; i < o->nfiles; i++)
		if (o->files[i].was_damaged)
			trace_diagnose(&o->t, "%s: expected the text of a whole trace, found that it was made of a damaged one",
				       o->files[i].name);
}

/* That is no damage: all that the program did until then is here. */
static void note_replaced(struct opened_trace *o)
{
	size_t count = 0;
	uint64_t first = 0;
	for (size_t i = 0; i < o->nfiles; i++)
		if (trace_was_replaced(&o->files[i].process) && !count++)
			first = o->files[i].process.pid;
	if (count == 1)
		*MEM_GROW(o->files[0].notes, o->files[0].nnotes) = mem_format(
			"pid %" PRIu64 " became another program (exec): what that did is no part of this trace, nor when it ended", first);
	else if (count)
		*MEM_GROW(o->files[0].notes, o->files[0].nnotes) = mem_format(
			"pid %" PRIu64 " and %zu more became other programs (exec): what those did is no part of this trace, nor "
			"when they ended", first, count - 1);
}

/* ---- Programs that it started ---------------------------------------------------------------- */

#define PROGRAMS_NAMED 3

/* The folder beside this one that the process `pid`, alone in its job, records into if it runs this program; or NULL.
 * To be freed. */
static char *folder_of(const struct opened_trace *o, const struct process_file *p, const char *program, uint64_t pid)
{
	const char *slash = strrchr(program, '/'), *dash = strrchr(p->stem, '-');
	if (!pid || !dash || o->elsewhere)
		return NULL;
	char *folder = mem_format("dprof-%s.%" PRIu64, slash ? slash + 1 : program, pid);
	char *file = mem_format("../%s/%.*s-p%" PRIu64 ".process", folder, (int)(dash - p->stem), p->stem, pid);
	bool found = !strpbrk(folder, "/ ") && faccessat(o->directory, file, F_OK, 0) == 0;
	free(file);
	if (!found) {
		free(folder);
		folder = NULL;
	}
	return folder;
}

static void note_program(struct opened_trace *o, const struct process_file *p, const struct ran_line *ran, size_t more)
{
	char *folder = folder_of(o, p, ran->program, ran->pid);
	if (!folder && p->process.program) /* /proc/self/exe is what its parent is */
		folder = folder_of(o, p, p->process.program, ran->pid);
	char *who = ran->pid ? mem_format("child %" PRIu64 " of pid %" PRIu64, ran->pid, p->process.pid)
			     : mem_format("a child of pid %" PRIu64, p->process.pid);
	char *others = more ? mem_format("; and %zu more", more) : mem_copy("");
	*MEM_GROW(o->files[0].notes, o->files[0].nnotes) =
		folder ? mem_format("%s ran %s, and has a trace of its own: %s%s", who, ran->program, folder, others)
		       : mem_format("%s ran %s, which is no part of this trace%s", who, ran->program, others);
	free(folder);
	free(who);
	free(others);
}

/* What the text of a trace does not name has been noted in it. */
static void note_programs(struct opened_trace *o)
{
	size_t all = 0, n = 0;
	for (size_t i = 0; i < o->nfiles; i++)
		all += o->files[i].nprograms;
	for (size_t i = 0; i < o->nfiles; i++)
		for (size_t j = 0; j < o->files[i].nprograms && n < PROGRAMS_NAMED; j++, n++)
			if (strcmp(o->files[i].programs[j].program, "?") != 0)
				note_program(o, &o->files[i], &o->files[i].programs[j], n + 1 == PROGRAMS_NAMED ? all - n - 1 : 0);
}

/* Ranks in order, then processes without one. */
static int by_rank(const void *a, const void *b)
{
	const struct process_file *x = a, *y = b;
	uint64_t rx = (uint64_t)x->process.rank, ry = (uint64_t)y->process.rank;
	if (rx != ry)
		return rx < ry ? -1 : 1;
	if (x->process.pid != y->process.pid)
		return x->process.pid < y->process.pid ? -1 : 1;
	return strcmp(x->name, y->name);
}

/* ---- Do they belong together? ---------------------------------------------------------------- */

/* Of which process it has the program: of the one that forked it, or else of the first; or it has one of its own. */
static const struct process_file *model_of(const struct opened_trace *o, const struct process_file *p,
					   struct process_file *const *by_stem)
{
	const struct process_file *first = o->files;
	const struct process_file *parent = p->parent ? process_with_stem(o, p->parent, strlen(p->parent), by_stem) : NULL;
	while (first < p && first->process.executed)
		first++;
	return p->process.executed ? p : parent ? parent : first;
}

/* One job may have several programs. */
static bool is_of_job(const struct process_file *p, const struct process_file *with)
{
	const char *job = with->process.job, *own = p->process.job;
	return job && own && strcmp(job, "?") != 0 && strcmp(job, own) == 0;
}

static bool is_first_of_program(const struct process_file *p, const struct process_file *first)
{
	for (; first < p; first++)
		if (strcmp(first->process.program, p->process.program) == 0)
			return false;
	return true;
}

static void note_several(struct opened_trace *o, struct enumeration *others)
{
	char *text = enumeration_take(others);
	if (*text)
		*MEM_GROW(o->files[0].notes, o->files[0].nnotes) = mem_format("the job has several programs: %s has %s, and %s",
									      o->files[0].name, o->files[0].process.program, text);
	free(text);
}

static void check_programs(struct opened_trace *o)
{
	struct process_file **by_stem = processes_by_stem(o);
	struct enumeration others = { .most = PROGRAMS_NAMED };
	for (size_t i = 0; i < o->nfiles; i++) {
		const struct process_file *p = &o->files[i], *model = model_of(o, p, by_stem);
		if (!is_of_job(p, model))
			compare(o, p, "program", model, model->process.program, p->process.program);
		else if (strcmp(p->process.program, model->process.program) != 0 && is_first_of_program(p, o->files))
			enumeration_add(&others, "%s %s", p->name, p->process.program);
	}
	note_several(o, &others);
	free(by_stem);
}

static void find_parents(struct opened_trace *o)
{
	struct process_file **by_stem = processes_by_stem(o);
	for (size_t i = 0; i < o->nfiles; i++) {
		const char *stem = o->files[i].parent;
		const struct process_file *parent = stem ? process_with_stem(o, stem, strlen(stem), by_stem) : NULL;
		o->t.processes[i].parent = parent ? (uint32_t)(parent - o->files) : TR_NO_PARENT;
	}
	free(by_stem);
}

static void check_together(struct opened_trace *o)
{
	check_programs(o);
	for (size_t i = 1; i < o->nfiles; i++) {
		const struct process_file *p = &o->files[i], *first = &o->files[0];
		if (p->process.rank >= 0 && p->process.size != first->process.size)
			trace_diagnose(&o->t,
				       "%s: expected size %" PRId64 " as in %s, found %" PRId64,
				       p->name, first->process.size, first->name, p->process.size);
	}
}

/* "2, 5-7": the ranks below `size` that no process has. At most a few of them; then "...". */
static char *missing_ranks(const struct opened_trace *o, int64_t size, int64_t *count)
{
	char *list = mem_copy("");
	int64_t next = 0;
	int ranges = 0;
	*count = 0;
	for (size_t i = 0; i <= o->nfiles; i++) {
		int64_t rank = i < o->nfiles ? o->files[i].process.rank : -1;
		int64_t present = rank < 0 || rank > size ? size : rank;
		if (present > next) {
			char *longer =
				ranges++ == 8 ? mem_format("%s, ...", list)
				: ranges > 8  ? mem_copy(list)
				: present - next == 1
					? mem_format("%s%s%" PRId64, list, *list ? ", " : "", next)
					: mem_format("%s%s%" PRId64 "-%" PRId64, list,
						     *list ? ", " : "", next, present - 1);
			free(list);
			list = longer;
			*count += present - next;
		}
		next = present + 1 > next ? present + 1 : next;
	}
	return list;
}

static void check_ranks(struct opened_trace *o)
{
	int64_t size = o->files[0].process.size, count;
	if (size < 0)
		return;
	char *list = missing_ranks(o, size, &count);
	if (count)
		trace_diagnose(&o->t,
			       "%s: expected the files of %" PRId64 " ranks, found %" PRId64
			       ": rank%s %s %s missing",
			       o->t.directory, size, size - count, count > 1 ? "s" : "", list,
			       count > 1 ? "are" : "is");
	free(list);
}

/* ---- Clocks ---------------------------------------------------------------------------------- */

/* The processes of one host stand together, and those that come first in the trace come first. */
struct process_host { struct process_file **process; size_t n; };

static int by_hostid(const void *a, const void *b)
{
	const struct process_file *x = *(struct process_file *const *)a,
				  *y = *(struct process_file *const *)b;
	int order = strcmp(x->hostid, y->hostid);
	return order ? order : ORDER(x, y);
}

/* In the order in which their clocks are numbered: as the runtime numbered them, then those that it did not. */
static int by_clock(const void *a, const void *b)
{
	const struct process_file *x = *((const struct process_host *)a)->process,
				  *y = *((const struct process_host *)b)->process;
	uint64_t cx = (uint64_t)x->clockid, cy = (uint64_t)y->clockid;
	if (cx != cy)
		return cx < cy ? -1 : 1;
	return ORDER(x, y);
}

/* All processes of a host say the same number, if they say one. */
static void check_host(struct opened_trace *o, const struct process_host *h)
{
	struct process_file *first = h->process[0];
	for (size_t i = 1; i < h->n; i++) {
		const struct process_file *p = h->process[i];
		if (p->clockid != first->clockid && p->clockid >= 0 && first->clockid >= 0)
			trace_diagnose(&o->t,
				       "%s: expected clockid %" PRId64
				       " as in %s, on the same host, found %" PRId64,
				       p->name, first->clockid, first->name, p->clockid);
		if (first->clockid < 0)
			first->clockid = p->clockid;
	}
}

/* And those of different hosts different ones. */
static void check_clockids(struct opened_trace *o)
{
	const struct process_file **first = mem_zeroed(UINT16_MAX + 1, sizeof *first);
	for (size_t i = 0; i < o->nfiles; i++) {
		const struct process_file *p = &o->files[i];
		const struct process_file **same = p->clockid >= 0 ? &first[p->clockid] : NULL;
		if (same && !*same)
			*same = p;
		else if (same && strcmp((*same)->hostid, p->hostid) != 0)
			trace_diagnose(&o->t,
				       "%s: expected a clockid of its own, found %" PRId64
				       " as in %s, on another host",
				       p->name, p->clockid, (*same)->name);
	}
	free(first);
}

/* Of two processes that have compared the host's cores, the worse result counts. */
static void put_on_clock(struct opened_trace *o, struct process_file *p, struct tr_clock *clock)
{
	p->clock = o->t.processes[p - o->files].modules->clock = (uint32_t)(clock - o->t.clocks);
	if (clock->uncertainty < p->uncertainty)
		clock->uncertainty = p->uncertainty;
	clock->compared |= p->compared || strcmp(p->source, "tsc") != 0;
	clock->packets.exchanges += p->packets.exchanges;
	clock->packets.unanswered += p->packets.unanswered;
	clock->packets.forged += p->packets.forged;
	clock->packets.stale += p->packets.stale;
}

static void number_clocks(struct opened_trace *o)
{
	struct process_file **processes = mem_resize(NULL, o->nfiles, sizeof(struct process_file *));
	struct process_host *hosts = NULL;
	size_t nhosts = 0;
	for (size_t i = 0; i < o->nfiles; i++)
		processes[i] = &o->files[i];
	qsort(processes, o->nfiles, sizeof(struct process_file *), by_hostid);
	for (size_t i = 0; i < o->nfiles; i++)
		if (i && strcmp(processes[i]->hostid, processes[i - 1]->hostid) == 0)
			hosts[nhosts - 1].n++;
		else
			*MEM_GROW(hosts, nhosts) = (struct process_host){ &processes[i], 1 };
	check_clockids(o);
	for (size_t h = 0; h < nhosts; h++)
		check_host(o, &hosts[h]);
	qsort(hosts, nhosts, sizeof *hosts, by_clock);
	for (size_t h = 0; h < nhosts; h++) {
		const struct process_file *first = hosts[h].process[0];
		struct tr_clock *clock = MEM_GROW(o->t.clocks, o->t.nclocks);
		*clock = (struct tr_clock){ .host = mem_copy(first->process.host), .ghz = first->ghz,
					    .source = mem_copy(first->source) };
		for (size_t i = 0; i < hosts[h].n; i++)
			put_on_clock(o, hosts[h].process[i], clock);
	}
	free(hosts);
	free(processes);
}

static void collect_left_out(struct opened_trace *o)
{
	for (size_t i = 0; i < o->nfiles; i++) {
		o->t.processes[i].left_out = o->files[i].left_out;
		o->t.left_out |= o->files[i].left_out;
	}
	if (!o->t.left_out)
		return;
	char *kinds = tr_kinds_words(o->t.left_out);
	*MEM_GROW(o->files[0].notes, o->files[0].nnotes) = mem_format(
		"events of these kinds were not recorded (DPROF_EVENTS, or MPI without dprof's library): %s", kinds);
	free(kinds);
}

static int is_named(const void *file, const void *name)
{
	return strcmp(file, *(char *const *)name);
}

static bool is_there(const struct opened_trace *o, const char *file)
{
	return bsearch(file, o->names, o->nnames, sizeof *o->names, is_named) != NULL;
}

/* The file of packets that a process says it has written. */
static void check_syncs(struct opened_trace *o)
{
	for (size_t i = 0; i < o->nfiles; i++)
		for (size_t j = 0; j < o->files[i].nsyncs; j++) {
			const char *file = o->files[i].syncs[j].file;
			if (is_there(o, file))
				continue;
			char *quoted = ln_quote(file);
			trace_diagnose(&o->t,
				       "%s: expected the file %s of packets between hosts, found none",
				       o->files[i].name, quoted);
			free(quoted);
		}
}

static int by_text(const void *a, const void *b)
{
	return strcmp(a, b);
}

static void leave_alone(void *note)
{
	(void)note;
}

/* The same note from many processes is one note. */
static void collect_notes(struct opened_trace *o)
{
	void *seen = NULL;
	for (size_t i = 0; i < o->nfiles; i++) {
		for (size_t j = 0; j < o->files[i].nnotes; j++) {
			char *note = o->files[i].notes[j], **same = tsearch(note, &seen, by_text);
			if (same && *same == note)
				*MEM_GROW(o->t.notes, o->t.nnotes) = mem_copy(note);
		}
	}
	tdestroy(seen, leave_alone);
}

void open_processes(struct opened_trace *o)
{
	for (size_t i = 0; i < o->nnames; i++)
		if (name_ends(o->names[i], ".process"))
			read_process_file(o, o->names[i]);
	if (!o->nfiles)
		return;
	for (size_t i = 0; i < o->nfiles; i++)
		check_first_lines(o, &o->files[i]);
	disbelieve_changed(o);
	qsort(o->files, o->nfiles, sizeof *o->files, by_rank);
	disbelieve_other_jobs(o);
	disbelieve_same_ranks(o);
	disbelieve_copies(o);
	check_ranks(o);
	open_absent_processes(o);
	qsort(o->files, o->nfiles, sizeof *o->files, by_rank);
	o->t.processes = mem_resize(NULL, o->nfiles, sizeof *o->t.processes);
	for (size_t i = 0; i < o->nfiles; i++) {
		struct process_file *p = &o->files[i];
		fill_in(p);
		p->process.modules = mem_resize(NULL, 1, sizeof *p->process.modules);
		*p->process.modules = (struct tr_modules){ 0 };
		o->t.processes[o->t.nprocesses++] = p->process;
	}
	find_parents(o);
	say_damaged(o);
	check_together(o);
	number_clocks(o);
	check_syncs(o);
	collect_left_out(o);
	note_replaced(o);
	note_programs(o);
	collect_notes(o);
}

/* What t.processes owns stays. */
void close_process_files(struct opened_trace *o)
{
	for (size_t i = 0; i < o->nfiles; i++) {
		struct process_file *p = &o->files[i];
		free_process_lines(p);
		free(p->name);
		free(p->stem);
		free(p->hostid);
		free(p->source);
	}
	free(o->files);
	o->files = NULL;
	o->nfiles = 0;
}

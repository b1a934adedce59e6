/* SPDX-License-Identifier: MIT
 *
 * trace_process.c - reads the process files and decides what belongs together: one job, one
 * program, each rank once, one clock for each host.
 *
 * Law: a line that cannot be read is named and skipped; a fact that is missing gets the value
 * that claims least. Of a file that was changed nothing is believed, since each of its lines may be another one: its
 * threads become such as have lost all that they recorded. So do those of a process of another job. */
#define _GNU_SOURCE /* tdestroy */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/base/lines.h"
#include "analysis/base/memory.h"
#include "analysis/trace/sched.h"
#include "analysis/trace/trace_private.h"
#include "runtime/sum.h"

#define READ_BYTES    ((size_t)1 << 16)
#define LINE_BYTES    ((size_t)1 << 24) /* names a million ranks */
#define DAMAGED_LINES 10000             /* then the file is given up */
#define MODULES       65536             /* with sites, of one process */
#define SYNCS         64                /* files of packets, of one process */
#define NOTES         10000

enum {
	PROGRAM,
	JOB,
	HOST,
	HOSTID,
	PID,
	GHZ,
	CLOCK,
	STARTED,
	CHILD,
	INIT,
	RANK,
	CLOCKID,
	CORES,
	PACKETS,
	MODULE,
	GROUP,
	STOPPED,
	SCHED,
	UNSEEN,
	WITHOUT,
	NOTE,
	FINISHED,
	SYNC,
	MISSING,
	LOST,
	THREADS,
	SUM
};
enum { MODULE_BASE, MODULE_AT, MODULE_SITES, MODULE_FROM, MODULE_BUILDID, MODULE_PATH };
enum { CORES_UNCERTAINTY, CORES_PAIRS, CORES_DISAGREE };
enum { PACKETS_PHASE, PACKETS_EXCHANGES, PACKETS_UNANSWERED, PACKETS_FORGED, PACKETS_STALE,
       PACKETS_NS, PACKETS_CPU_NS };
enum { SCHED_THREAD, SCHED_FROM, SCHED_TO, SCHED_CPU, SCHED_DELAY, SCHED_INVOLUNTARY, SCHED_MOVES,
       SCHED_LAST };
enum { UNSEEN_STAMP, UNSEEN_CPU, UNSEEN_ENDED };
enum { GROUP_ID, GROUP_RANKS, GROUP_THREADS, GROUP_SIZE, GROUP_SHARED };

/* runtime/format.h describes the lines. */
static const struct ln_form forms[] = {
	[PROGRAM] = { "program", { { "path", LN_STRING, LN_HERE } } },
	[JOB] = { "job", { { "name", LN_STRING, LN_HERE } } },
	[HOST] = { "host", { { "name", LN_STRING, LN_HERE } } },
	[HOSTID] = { "hostid", { { "name", LN_STRING, LN_HERE } } },
	[PID] = { "pid", { { "pid", LN_NUMBER, LN_HERE } } },
	[GHZ] = { "ghz", { { "ghz", LN_REAL, LN_HERE } } },
	[CLOCK] = { "clock", { { "source", LN_STRING, LN_HERE } } },
	[STARTED] = { "started", { { "stamp", LN_NUMBER, LN_HERE }, { "forked", LN_NUMBER, LN_KEY },
				   { "parent", LN_STRING, LN_KEY } } },
	[CHILD] = { "child", { { "stem", LN_STRING, LN_HERE } } },
	[INIT] = { "init", { { "from", LN_NUMBER, LN_HERE }, { "to", LN_NUMBER, LN_HERE } } },
	[RANK] = { "rank", { { "rank", LN_NUMBER, LN_HERE }, { "size", LN_WORD, LN_HERE },
			     { "size", LN_NUMBER, LN_HERE } } },
	[CLOCKID] = { "clockid", { { "clockid", LN_NUMBER, LN_HERE } } },
	[CORES] = { "cores", { [CORES_UNCERTAINTY] = { "halfwidth", LN_NUMBER, LN_NEEDED },
			       [CORES_PAIRS] = { "pairs", LN_NUMBER, LN_NEEDED },
			       [CORES_DISAGREE] = { "disagree", LN_NUMBER, LN_KEY } } },
	[PACKETS] = { "packets", { [PACKETS_PHASE] = { "phase", LN_STRING, LN_HERE },
				   [PACKETS_EXCHANGES] = { "exchanges", LN_NUMBER, LN_NEEDED },
				   [PACKETS_UNANSWERED] = { "unanswered", LN_NUMBER, LN_NEEDED },
				   [PACKETS_FORGED] = { "forged", LN_NUMBER, LN_NEEDED },
				   [PACKETS_STALE] = { "stale", LN_NUMBER, LN_NEEDED },
				   [PACKETS_NS] = { "ns", LN_NUMBER, LN_KEY },
				   [PACKETS_CPU_NS] = { "cpu_ns", LN_NUMBER, LN_KEY } } },
	[MODULE] = { "module", { [MODULE_BASE] = { "base", LN_NUMBER, LN_KEY },
				 [MODULE_AT] = { "at", LN_NUMBER, LN_NEEDED },
				 [MODULE_SITES] = { "sites", LN_STRING, LN_NEEDED },
				 [MODULE_FROM] = { "from", LN_NUMBER, LN_KEY },
				 [MODULE_BUILDID] = { "buildid", LN_STRING, LN_KEY },
				 [MODULE_PATH] = { "path", LN_STRING, LN_KEY } } },
	[GROUP] = { "group", { [GROUP_ID] = { "id", LN_NUMBER, LN_HERE },
			       [GROUP_RANKS] = { "ranks", LN_STRING, LN_KEY },
			       [GROUP_THREADS] = { "threads", LN_STRING, LN_KEY },
			       [GROUP_SIZE] = { "size", LN_NUMBER, LN_KEY },
			       [GROUP_SHARED] = { "shared", LN_NUMBER, LN_KEY } } },
	[STOPPED] = { "stopped", { { "from", LN_NUMBER, LN_HERE }, { "to", LN_NUMBER, LN_HERE } } },
	[SCHED] = { "sched", { [SCHED_THREAD] = { "thread", LN_NUMBER, LN_HERE },
			       [SCHED_FROM] = { "from", LN_NUMBER, LN_HERE },
			       [SCHED_TO] = { "to", LN_NUMBER, LN_HERE },
			       [SCHED_CPU] = { "cpu", LN_NUMBER, LN_KEY },
			       [SCHED_DELAY] = { "delay", LN_NUMBER, LN_KEY },
			       [SCHED_INVOLUNTARY] = { "involuntary", LN_NUMBER, LN_KEY },
			       [SCHED_MOVES] = { "moves", LN_NUMBER, LN_KEY },
			       [SCHED_LAST] = { "last", LN_NUMBER, LN_KEY } } },
	[UNSEEN] = { "unseen", { [UNSEEN_STAMP] = { "stamp", LN_NUMBER, LN_HERE },
				 [UNSEEN_CPU] = { "cpu", LN_NUMBER, LN_NEEDED },
				 [UNSEEN_ENDED] = { "ended", LN_NUMBER, LN_NEEDED } } },
	[WITHOUT] = { "without", { { "kinds", LN_STRING, LN_HERE } } },
	[NOTE] = { "note", { { "text", LN_STRING, LN_HERE } } },
	[FINISHED] = { "finished", { { "stamp", LN_NUMBER, LN_HERE } } },
	[SYNC] = { "sync", { { "file", LN_STRING, LN_HERE }, { "records", LN_NUMBER, LN_KEY } } },
	[MISSING] = { "missing", { { "thread", LN_NUMBER, LN_HERE }, { "why", LN_STRING, LN_KEY } } },
	[LOST] = { "lost", { { "records", LN_NUMBER, LN_HERE }, { "why", LN_STRING, LN_KEY } } },
	[THREADS] = { "threads", { { "numbers", LN_STRING, LN_HERE } } },
	[SUM] = { "sum", { { "bytes", LN_NUMBER, LN_HERE }, { "sum", LN_NUMBER, LN_HERE } } },
};
#define NFORMS (sizeof forms / sizeof *forms)

/* ---- Lines ----------------------------------------------------------------------------------- */

static void set_string(char **to, const char *from)
{
	free(*to);
	*to = mem_copy(from);
}

static char *check_list(const char *name, const char *list)
{
	bool wrong = false;
	uint64_t number;
	const char *at = list;
	while (ln_list_next(&at, &number, &wrong))
		;
	if (!wrong)
		return NULL;
	char *quoted = ln_quote(list);
	char *diagnostic =
		mem_format("expected numbers separated by commas for %s, found %s", name, quoted);
	free(quoted);
	return diagnostic;
}

static char *group_line(struct process_file *p, const struct ln_value *v)
{
	if (v[GROUP_RANKS].given == v[GROUP_THREADS].given)
		return mem_format("expected ranks= or threads= in a line 'group', found %s",
				  v[GROUP_RANKS].given ? "both" : "neither");
	const char *list = v[GROUP_RANKS].given ? v[GROUP_RANKS].string : v[GROUP_THREADS].string;
	char *wrong = check_list(v[GROUP_RANKS].given ? "ranks" : "threads", list);
	if (wrong)
		return wrong;
	*MEM_GROW(p->groups, p->ngroups) = (struct group_line){
		.id = v[GROUP_ID].number, .size = v[GROUP_SIZE].number,
		.shared = v[GROUP_SHARED].number != 0,
		.ranks = v[GROUP_RANKS].given ? mem_copy(list) : NULL,
		.threads = v[GROUP_THREADS].given ? mem_copy(list) : NULL,
	};
	return NULL;
}

static char *rank_line(struct process_file *p, const struct ln_value *v)
{
	if (v[0].number >= v[2].number || v[2].number > INT32_MAX)
		return mem_format("expected a rank below the size, found rank %" PRIu64
				  " size %" PRIu64,
				  v[0].number, v[2].number);
	p->process.rank = (int64_t)v[0].number;
	p->process.size = (int64_t)v[2].number;
	return NULL;
}

static char *module_line(struct process_file *p, const struct ln_value *v, size_t line)
{
	if (p->nmodules == MODULES)
		return mem_format("expected at most %d modules, found another one", MODULES);
	*MEM_GROW(p->modules, p->nmodules) = (struct module_line){
		.at = v[MODULE_AT].number,
		.from = v[MODULE_FROM].given ? v[MODULE_FROM].number : 0,
		.sites = mem_copy(v[MODULE_SITES].string),
		.path = mem_copy(v[MODULE_PATH].given ? v[MODULE_PATH].string : "a module"),
		.line = line,
	};
	return NULL;
}

static char *cores_line(struct process_file *p, const struct ln_value *v)
{
	if (v[CORES_UNCERTAINTY].number > DPROF_UNCERTAINTY_MAX)
		return mem_format("expected an uncertainty of at most %" PRIu64 " ticks, found %" PRIu64,
				  DPROF_UNCERTAINTY_MAX, v[CORES_UNCERTAINTY].number);
	p->uncertainty = v[CORES_UNCERTAINTY].number;
	p->compared = true;
	return NULL;
}

static void packets_line(struct process_file *p, const struct ln_value *v)
{
	p->packets.exchanges += v[PACKETS_EXCHANGES].number;
	p->packets.unanswered += v[PACKETS_UNANSWERED].number;
	p->packets.forged += v[PACKETS_FORGED].number;
	p->packets.stale += v[PACKETS_STALE].number;
}

static char *sched_line(struct process_file *p, const struct ln_value *v)
{
	if (v[SCHED_THREAD].number > UINT32_MAX)
		return mem_format("expected the number of a thread, found %" PRIu64,
				  v[SCHED_THREAD].number);
	struct dprof_sched says = sched_of_values(v + SCHED_FROM);
	sched_keep(p, (uint32_t)v[SCHED_THREAD].number, &says);
	return NULL;
}

/* Of the same file, the last line counts. */
static char *sync_line(struct process_file *p, const struct ln_value *v)
{
	size_t i = 0;
	while (i < p->nsyncs && strcmp(p->syncs[i].file, v[0].string) != 0)
		i++;
	if (i == SYNCS)
		return mem_format("expected at most %d files of packets, found another one", SYNCS);
	if (i == p->nsyncs)
		*MEM_GROW(p->syncs, p->nsyncs) = (struct sync_line){ .file = mem_copy(v[0].string) };
	p->syncs[i].closed = v[1].given;
	p->syncs[i].records = v[1].number;
	return NULL;
}

static char *note_line(struct process_file *p, const struct ln_value *v)
{
	if (p->nnotes == NOTES)
		return mem_format("expected at most %d notes, found another one", NOTES);
	*MEM_GROW(p->notes, p->nnotes) = mem_copy(v->string);
	return NULL;
}

/* Words with commas between them, as bits. */
static uint64_t why_bits(const struct ln_value *v)
{
	static const char *const words[] = {
#define X(NAME, word, text) #word,
		DPROF_WHYS(X)
#undef X
	};
	uint64_t bits = 0;
	const char *at = v->given ? v->string : "";
	for (size_t n; *at; at += n + (at[n] == ',')) {
		n = strcspn(at, ",");
		for (int why = 0; why < DPROF_WHY_COUNT; why++)
			if (strlen(words[why]) == n && strncmp(words[why], at, n) == 0)
				bits |= UINT64_C(1) << why;
	}
	return bits;
}

static char *missing_line(struct process_file *p, const struct ln_value *v)
{
	if (v->number > UINT32_MAX)
		return mem_format("expected the number of a thread, found %" PRIu64, v->number);
	*MEM_GROW(p->missing, p->nmissing) =
		(struct missing_line){ (uint32_t)v->number, why_bits(&v[1]) };
	return NULL;
}

/* NULL, or what is wrong with the line. */
static char *take_line(struct process_file *p, char *text, size_t number)
{
	struct ln_line line;
	char *wrong = ln_parse(forms, NFORMS, text, &line);
	const struct ln_value *v = line.value;
	if (wrong)
		return wrong;
	switch (line.form) {
	case PROGRAM: set_string(&p->process.program, v->string); break;
	case JOB: set_string(&p->process.job, v->string); break;
	case HOST: set_string(&p->process.host, v->string); break;
	case HOSTID: set_string(&p->hostid, v->string); break;
	case PID: p->process.pid = v->number; break;
	case GHZ: p->ghz = v->real; break;
	case CLOCK: set_string(&p->source, v->string); break;
	case STARTED:
		p->process.started = v[0].number;
		p->process.forked = v[1].given;
		if (v[2].given)
			set_string(&p->parent, v[2].string);
		break;
	case CHILD: *MEM_GROW(p->children, p->nchildren) = mem_copy(v->string); break;
	case INIT:
		p->process.init_from = v[0].number;
		p->process.init_to = v[1].number;
		break;
	case RANK: return rank_line(p, v);
	case CLOCKID:
		if (v->number > UINT16_MAX)
			return mem_format("expected the number of a clock, found %" PRIu64,
					  v->number);
		p->clockid = (int64_t)v->number;
		break;
	case CORES: return cores_line(p, v);
	case PACKETS: packets_line(p, v); break;
	case MODULE: return module_line(p, v, number);
	case GROUP: return group_line(p, v);
	case STOPPED:
		*MEM_GROW(p->stopped, p->nstopped) =
			(struct stopped_line){ v[0].number, v[1].number };
		break;
	case SCHED: return sched_line(p, v);
	case UNSEEN:
		p->process.unseen_ns = v[UNSEEN_CPU].number;
		p->process.unseen_ended = v[UNSEEN_ENDED].number;
		break;
	case WITHOUT:
		if (!tr_kinds_of(v->string, &p->left_out))
			return mem_format("expected kinds of events, found %s", v->string);
		break;
	case NOTE: return note_line(p, v);
	case FINISHED:
		p->process.finished = true;
		p->process.ended = v->number;
		break;
	case SYNC: return sync_line(p, v);
	case MISSING: return missing_line(p, v);
	case LOST:
		p->lost = v->number;
		p->why = why_bits(&v[1]);
		break;
	case THREADS: *MEM_GROW(p->threads, p->nthreads) = mem_copy(v->string); break;
	case SUM: p->sum = true; break;
	}
	return NULL;
}

/* A file of lines that is read as it goes. */
struct line_file {
	int fd;
	char *text;              /* begin .. end - 1 has not been given yet; room is for a NUL more */
	size_t begin, end, room;
	size_t searched;         /* behind begin: bytes without a line feed */
	const char *found;       /* what ends it early, or NULL */
	uint64_t bytes, sum;     /* of what stood before the last line that was given; ... */
	uint64_t next_bytes, next_sum; /* ... and with it */
};

static bool read_more(struct line_file *f)
{
	if (f->begin)
		memmove(f->text, f->text + f->begin, f->end - f->begin);
	f->end -= f->begin;
	f->begin = 0;
	f->searched = f->end;
	if (f->end == f->room) {
		f->room = f->room ? 2 * f->room : READ_BYTES;
		f->text = mem_resize(f->text, f->room + 1, 1);
	}
	ssize_t n;
	do
		n = read(f->fd, f->text + f->end, f->room - f->end);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		f->found = strerror(errno);
	f->end += n > 0 ? (size_t)n : 0;
	return n > 0;
}

static void count_line(struct line_file *f, size_t size)
{
	f->bytes = f->next_bytes;
	f->sum = f->next_sum;
	f->next_bytes += size;
	f->next_sum = dprof_sum_bytes(f->sum, f->text + f->begin, size);
}

/* The next line, until the one after it is asked for; false at the end. *nul: a NUL byte is in it. */
static bool next_line(struct line_file *f, char **line, bool *nul)
{
	char *stop = NULL;
	while (!stop) {
		size_t from = f->begin + f->searched;
		stop = f->end > from ? memchr(f->text + from, '\n', f->end - from) : NULL;
		if (!stop && f->end - f->begin >= LINE_BYTES)
			f->found = "a line that is far too long";
		if (!stop && (f->found || !read_more(f))) {
			if (f->found || f->begin == f->end)
				return false;
			stop = f->text + f->end;
		}
	}
	*line = f->text + f->begin;
	count_line(f, (size_t)(stop - *line) + (stop < f->text + f->end));
	*stop = 0;
	*nul = strlen(*line) != (size_t)(stop - *line);
	f->begin = (size_t)(stop - f->text) + (stop < f->text + f->end);
	f->searched = 0;
	return true;
}

static char *first_line(const char *line)
{
	if (strcmp(line, DPROF_PROCESS_FIRST_LINE) == 0 || strcmp(line, DPROF_PROCESS_UNSUMMED) == 0)
		return NULL;
	char *quoted = ln_quote(line);
	char *wrong = mem_format("expected '" DPROF_PROCESS_FIRST_LINE "', found %s", quoted);
	free(quoted);
	return wrong;
}

/* The last line says of how many bytes before it is the sum. */
static void check_sum(struct opened_trace *o, struct process_file *p, const struct line_file *f,
		      const char *line)
{
	uint64_t bytes, sum;
	if (sscanf(line, "sum %" SCNu64 " 0x%" SCNx64, &bytes, &sum) != 2 ||
	    (bytes == f->bytes && sum == f->sum))
		return;
	p->changed = true;
	trace_diagnose(&o->t,
		       "%s: expected %" PRIu64 " bytes with the sum 0x%" PRIx64 ", found %" PRIu64
		       " with 0x%" PRIx64 ": it was changed, and what its threads recorded is left out",
		       p->name, bytes, sum, f->bytes, f->sum);
}

/* Behind the last line there may be room that was not given back (format.h): NUL bytes, and at its begin perhaps
 * a line without its first byte, of a process that was killed as it wrote. */
static bool is_room(const struct line_file *f, const char *line, bool after_room, bool finished)
{
	const char *end = f->text + f->begin;
	if (*line || line == end)
		return false;
	while (line < end && !*line)
		line++;
	return line == end || (!after_room && !finished);
}

static void read_lines(struct opened_trace *o, struct process_file *p, struct line_file *f)
{
	char *line;
	size_t number = 0, damaged = 0;
	bool nul, room = false;
	while (damaged < DAMAGED_LINES && next_line(f, &line, &nul)) {
		if (nul && is_room(f, line, room, p->process.finished)) {
			room = true;
			continue;
		}
		nul |= room;
		if (++number == 1)
			p->summed = strcmp(line, DPROF_PROCESS_FIRST_LINE) == 0;
		check_sum(o, p, f, line);
		char *wrong = nul ? mem_copy("expected text, found a NUL byte")
			      : number == 1 ? first_line(line)
					    : take_line(p, line, number);
		if (wrong && !damaged++)
			trace_diagnose(&o->t, "%s:%zu: %s", p->name, number, wrong);
		free(wrong);
	}
	bool cut = p->summed && !p->process.finished && !room && !damaged && !f->found;
	p->changed |= cut || (p->summed && (damaged || f->found));
	if (cut)
		trace_diagnose(&o->t,
			       "%s: expected a line 'finished', or room for more lines, found the end: the file is cut "
			       "short, and what its threads recorded is left out", p->name);
	if (damaged > 1)
		trace_diagnose(&o->t, "%s: expected lines as in a process file, found %zu others%s",
			       p->name, damaged,
			       damaged == DAMAGED_LINES ? ": what follows is left out" : "");
	if (f->found)
		trace_diagnose(&o->t,
			       "%s:%zu: expected a line, found %s: it and what follows are left out",
			       p->name, number + 1, f->found);
}

static void add_process(struct opened_trace *o, const char *name, struct line_file *f)
{
	struct process_file *p = MEM_GROW(o->files, o->nfiles);
	*p = (struct process_file){ .name = mem_copy(name), .clockid = -1,
				    .process = { .rank = -1, .size = -1 } };
	p->stem = mem_copy(name);
	p->stem[strlen(name) - strlen(".process")] = 0;
	read_lines(o, p, f);
	if (p->summed && p->process.finished && !p->sum)
		trace_diagnose(&o->t,
			       "%s: expected a line 'sum' behind 'finished', found none: the file is cut "
				     "short, or the disk was full", name);
}

static void read_process(struct opened_trace *o, const char *name)
{
	const char *found;
	struct line_file f = { .fd = open_named(o, name, &found),
			       .next_sum = DPROF_SUM_BEGIN };
	if (f.fd >= 0 && !read_more(&f))
		found = f.found ? f.found : "an empty file";
	if (!f.end)
		trace_diagnose(&o->t, "%s: expected a process file, found %s", name, found);
	else
		add_process(o, name, &f);
	if (f.fd >= 0)
		close(f.fd);
	free(f.text);
}

/* ---- What cannot be believed ----------------------------------------------------------------- */

static void free_lines(struct process_file *p)
{
	for (size_t j = 0; j < p->nmodules; j++) {
		free(p->modules[j].sites);
		free(p->modules[j].path);
	}
	for (size_t j = 0; j < p->ngroups; j++) {
		free(p->groups[j].ranks);
		free(p->groups[j].threads);
	}
	for (size_t j = 0; j < p->nnotes; j++)
		free(p->notes[j]);
	for (size_t j = 0; j < p->nsyncs; j++)
		free(p->syncs[j].file);
	for (size_t j = 0; j < p->nthreads; j++)
		free(p->threads[j]);
	for (size_t j = 0; j < p->nchildren; j++)
		free(p->children[j]);
	free(p->children);
	free(p->parent);
	free(p->syncs);
	free(p->threads);
	free(p->missing);
	free(p->stopped);
	free(p->sched);
	free(p->modules);
	free(p->groups);
	free(p->notes);
	p->syncs = NULL, p->threads = NULL, p->missing = NULL, p->stopped = NULL;
	p->sched = NULL, p->modules = NULL, p->groups = NULL, p->notes = NULL;
	p->parent = NULL, p->children = NULL;
	p->nsyncs = p->nthreads = p->nmissing = p->nstopped = p->nsched = p->nmodules =
		p->ngroups = p->nnotes = p->nchildren = 0;
}

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
	if (first) {
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
	free_lines(p);
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
		int64_t rank = p->process.rank;
		compare(o, p, "job", first, first->process.job, p->process.job);
		disbelieve(p, first);
		p->changed = true;
		p->process.rank = rank;
		p->process.size = rank >= 0 ? first->process.size : -1;
	}
}

/* ---- What a file does not say ---------------------------------------------------------------- */

static void fill_in(struct opened_trace *o, struct process_file *p)
{
	const char *missing = !p->process.program ? "program"
			      : !p->process.job   ? "job"
			      : !p->process.host  ? "host"
			      : !p->hostid        ? "hostid"
			      : !p->process.pid   ? "pid"
			      : p->ghz == 0       ? "ghz"
						  : NULL;
	if (missing)
		trace_diagnose(&o->t, "%s: expected a line '%s', found none", p->name, missing);
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
static void say_unfinished(struct opened_trace *o)
{
	size_t count = 0;
	char *names = NULL;
	for (size_t i = 0; i < o->nfiles; i++) {
		if (o->files[i].process.finished || count++ >= UNFINISHED_NAMED)
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

static void check_together(struct opened_trace *o)
{
	for (size_t i = 1; i < o->nfiles; i++) {
		const struct process_file *p = &o->files[i], *first = &o->files[0], *before = p - 1;
		compare(o, p, "program", first, first->process.program, p->process.program);
		if (p->process.rank >= 0 && p->process.rank == before->process.rank)
			trace_diagnose(&o->t,
				       "%s: expected each rank once, found rank %" PRId64
				       " as in %s",
				       p->name, p->process.rank, before->name);
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
	return order ? order : (x > y) - (x < y);
}

/* In the order in which their clocks are numbered: as the runtime numbered them, then those that it did not. */
static int by_clock(const void *a, const void *b)
{
	const struct process_file *x = *((const struct process_host *)a)->process,
				  *y = *((const struct process_host *)b)->process;
	uint64_t cx = (uint64_t)x->clockid, cy = (uint64_t)y->clockid;
	if (cx != cy)
		return cx < cy ? -1 : 1;
	return (x > y) - (x < y);
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
	const struct process_file **first = mem_resize(NULL, UINT16_MAX + 1, sizeof *first);
	for (size_t id = 0; id <= UINT16_MAX; id++)
		first[id] = NULL;
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
	for (size_t i = 0; i < o->nfiles; i++)
		o->t.left_out |= o->files[i].left_out;
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
			read_process(o, o->names[i]);
	if (!o->nfiles)
		return;
	disbelieve_changed(o);
	qsort(o->files, o->nfiles, sizeof *o->files, by_rank);
	disbelieve_other_jobs(o);
	check_ranks(o);
	open_absent_processes(o);
	qsort(o->files, o->nfiles, sizeof *o->files, by_rank);
	o->t.processes = mem_resize(NULL, o->nfiles, sizeof *o->t.processes);
	for (size_t i = 0; i < o->nfiles; i++) {
		struct process_file *p = &o->files[i];
		fill_in(o, p);
		p->process.modules = mem_resize(NULL, 1, sizeof *p->process.modules);
		*p->process.modules = (struct tr_modules){ 0 };
		o->t.processes[o->t.nprocesses++] = p->process;
	}
	say_unfinished(o);
	check_together(o);
	number_clocks(o);
	check_syncs(o);
	collect_left_out(o);
	collect_notes(o);
}

/* What t.processes owns stays. */
void close_process_files(struct opened_trace *o)
{
	for (size_t i = 0; i < o->nfiles; i++) {
		struct process_file *p = &o->files[i];
		free_lines(p);
		free(p->name);
		free(p->stem);
		free(p->hostid);
		free(p->source);
	}
	free(o->files);
	o->files = NULL;
	o->nfiles = 0;
}

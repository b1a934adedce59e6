/* SPDX-License-Identifier: MIT
 *
 * trace_process.c - reads a process file, line by line (runtime/format.h).
 *
 * Law: a line that cannot be read is named and skipped. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
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
#define PROGRAMS      64                /* that one process started: more are not named */

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
	ENTERED,
	MARKS,
	DAMAGED,
	NOTE,
	RAN,
	EXEC,
	STAYED,
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
enum { GROUP_ID, GROUP_RANKS, GROUP_THREADS, GROUP_SIZE, GROUP_SHARED, GROUP_BY_RANK };

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
				   { "parent", LN_STRING, LN_KEY }, { "unborn", LN_NUMBER, LN_KEY } } },
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
			       [GROUP_SHARED] = { "shared", LN_NUMBER, LN_KEY },
			       [GROUP_BY_RANK] = { "by_rank", LN_NUMBER, LN_KEY } } },
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
	[ENTERED] = { "entered", { { "records", LN_NUMBER, LN_HERE } } },
	[MARKS] = { "marks", { { "which", LN_STRING, LN_HERE } } },
	[DAMAGED] = { "damaged", { { 0 } } },
	[NOTE] = { "note", { { "text", LN_STRING, LN_HERE } } },
	[RAN] = { "ran", { { "program", LN_STRING, LN_HERE }, { "pid", LN_NUMBER, LN_KEY } } },
	[EXEC] = { "exec", { { "stamp", LN_NUMBER, LN_HERE } } },
	[STAYED] = { "stayed", { { "stamp", LN_NUMBER, LN_HERE } } },
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
		.reordered = v[GROUP_BY_RANK].given && !v[GROUP_BY_RANK].number,
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

static char *marks_line(struct process_file *p, const struct ln_value *v)
{
	p->no_marks = strcmp(v->string, "none") == 0;
	p->marks_unknown = strcmp(v->string, "unknown") == 0;
	return p->no_marks || p->marks_unknown ? NULL : mem_format("expected none or unknown for marks, found something else");
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

static void started_line(struct process_file *p, const struct ln_value *v)
{
	p->process.started = v[0].number;
	p->process.forked = v[1].given;
	if (v[2].given)
		set_string(&p->parent, v[2].string);
	p->process.executed = v[3].given;
	p->process.unborn = v[3].number;
}

static void ran_line(struct process_file *p, const struct ln_value *v)
{
	p->process.ran = true;
	if (p->nprograms < PROGRAMS)
		*MEM_GROW(p->programs, p->nprograms) = (struct ran_line){ mem_copy(v[0].string), v[1].number };
}

static char *clockid_line(struct process_file *p, const struct ln_value *v)
{
	if (v->number > UINT16_MAX)
		return mem_format("expected the number of a clock, found %" PRIu64, v->number);
	p->clockid = (int64_t)v->number;
	return NULL;
}

static char *without_line(struct process_file *p, const struct ln_value *v)
{
	return tr_kinds_of(v->string, &p->left_out) ? NULL : mem_format("expected kinds of events, found %s", v->string);
}

/* NULL, or what is wrong with the line. */
static char *take_line(struct process_file *p, char *text, size_t number)
{
	struct ln_line line;
	char *wrong = ln_parse(forms, NFORMS, text, &line);
	const struct ln_value *v = line.value;
	if (wrong)
		return wrong;
	if (line.form < 0)
		return mem_copy("expected a line, found an empty one");
	switch (line.form) {
	case PROGRAM: set_string(&p->process.program, v->string); break;
	case JOB: set_string(&p->process.job, v->string); break;
	case HOST: set_string(&p->process.host, v->string); break;
	case HOSTID: set_string(&p->hostid, v->string); break;
	case PID: p->process.pid = v->number; break;
	case GHZ: p->ghz = v->real; break;
	case CLOCK: set_string(&p->source, v->string); break;
	case STARTED: started_line(p, v); break;
	case CHILD: *MEM_GROW(p->children, p->nchildren) = mem_copy(v->string); break;
	case INIT:
		p->process.init_from = v[0].number;
		p->process.init_to = v[1].number;
		break;
	case RANK: return rank_line(p, v);
	case CLOCKID: return clockid_line(p, v);
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
	case WITHOUT: return without_line(p, v);
	case ENTERED:
		p->process.says_entered = true;
		p->entered = v->number;
		break;
	case MARKS: return marks_line(p, v);
	case DAMAGED: p->was_damaged = true; break;
	case NOTE: return note_line(p, v);
	case RAN: ran_line(p, v); break;
	case EXEC: p->process.execs++; break;
	case STAYED: p->process.execs -= p->process.execs > 0; break;
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

/* A program that takes the place of another one may fail to: so behind that sum there may be more. */
static bool is_about_exec(const char *line)
{
	return strncmp(line, "exec ", 5) == 0 || strncmp(line, "stayed ", 7) == 0;
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
	bool nul, room = false, behind_exec = false;
	while (damaged < DAMAGED_LINES && next_line(f, &line, &nul)) {
		if (nul && is_room(f, line, room, p->process.finished)) {
			room = true;
			continue;
		}
		nul |= room;
		if (++number == 1)
			p->summed = strcmp(line, DPROF_PROCESS_FIRST_LINE) == 0;
		bool behind_sum = p->sum, exec = is_about_exec(line);
		check_sum(o, p, f, line);
		char *wrong = nul	    ? mem_copy("expected text, found a NUL byte")
			      : behind_sum  ? mem_copy("expected the end, which is behind the line 'sum', found another line")
			      : number == 1 ? first_line(line)
					    : take_line(p, line, number);
		p->sum &= !behind_exec;
		behind_exec = exec;
		if (wrong && !damaged++)
			trace_diagnose(&o->t, "%s:%zu: %s", p->name, number, wrong);
		free(wrong);
	}
	bool cut = p->summed && !p->sum && !room && !damaged && !f->found;
	p->changed |= cut || (p->summed && (damaged || f->found));
	if (cut)
		trace_diagnose(&o->t,
			       "%s: expected a line '%s', or room for more lines, found the end: the file is cut "
			       "short, and what its threads recorded is left out",
			       p->name, p->process.finished ? "sum" : "finished");
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
	if (p->summed && p->process.finished && !p->sum && !p->changed)
		trace_diagnose(&o->t,
			       "%s: expected a line 'sum' behind 'finished', found none: the file is cut "
				     "short, or the disk was full", name);
}

void read_process_file(struct opened_trace *o, const char *name)
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

void free_process_lines(struct process_file *p)
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
	for (size_t j = 0; j < p->nprograms; j++)
		free(p->programs[j].program);
	for (size_t j = 0; j < p->nsyncs; j++)
		free(p->syncs[j].file);
	for (size_t j = 0; j < p->nthreads; j++)
		free(p->threads[j]);
	for (size_t j = 0; j < p->nchildren; j++)
		free(p->children[j]);
	free(p->children);
	free(p->programs);
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
	p->parent = NULL, p->children = NULL, p->programs = NULL;
	p->nsyncs = p->nthreads = p->nmissing = p->nstopped = p->nsched = p->nmodules =
		p->ngroups = p->nnotes = p->nchildren = p->nprograms = 0;
}

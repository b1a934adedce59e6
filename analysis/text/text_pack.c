/* SPDX-License-Identifier: MIT
 *
 * text_pack.c - reads the text form, checks that its lines make a trace, and has it written.
 *
 * Law: what is refused is refused with the number of the line; a text that is accepted is a
 * trace. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/memory.h"
#include "analysis/base/nearest.h"
#include "analysis/text/pack.h"
#include "analysis/text/text.h"
#include "analysis/trace/sched.h"
#include "runtime/words.h"

static char *unknown(const char *what, uint64_t id)
{
	return mem_format("expected the number of a %s declared above, found %" PRIu64, what, id);
}

static char *declared(const char *what, uint64_t id)
{
	return mem_format("expected each %s once, found %s %" PRIu64 " again", what, what, id);
}

static char *too_big(const char *what, uint64_t most, uint64_t found)
{
	return mem_format("expected %s of at most %" PRIu64 ", found %" PRIu64, what, most, found);
}

static char *copy_of(const struct ln_value *v, const char *otherwise)
{
	return v->given ? mem_copy(v->string) : otherwise ? mem_copy(otherwise) : NULL;
}

static bool is_empty(const struct ln_value *v)
{
	return v->given && !*v->string;
}

/* ---- Clocks and processes -------------------------------------------------------------------- */

static char *clock_line(struct pack *p, const struct ln_value *v)
{
	if (is_empty(&v[CLOCK_HOST]) || is_empty(&v[CLOCK_SOURCE]))
		return mem_copy("expected a name for host and source, found ''");
	if (p->nclocks > UINT16_MAX)
		return too_big("a number of clocks", (uint64_t)UINT16_MAX + 1, p->nclocks + 1);
	if (v[CLOCK_UNCERTAINTY].number > DPROF_UNCERTAINTY_MAX)
		return too_big("halfwidth", DPROF_UNCERTAINTY_MAX, v[CLOCK_UNCERTAINTY].number);
	if (!ids_add(&p->clock_ids, v[CLOCK_N].number))
		return declared("clock", v[CLOCK_N].number);
	*MEM_GROW(p->clocks, p->nclocks) =
		(struct pack_clock){ .host = copy_of(&v[CLOCK_HOST], NULL),
				     .source = copy_of(&v[CLOCK_SOURCE], "tsc"),
				     .ghz = v[CLOCK_GHZ].real,
				     .uncertainty = v[CLOCK_UNCERTAINTY].number,
				     .process = PACK_NONE };
	return NULL;
}

static char *find_clock(const struct pack *p, uint64_t id, size_t *clock)
{
	*clock = ids_find(&p->clock_ids, id);
	return *clock == SIZE_MAX ? unknown("clock", id) : NULL;
}

static char *put_on_clock(struct pack *p, struct pack_process *process, size_t clock)
{
	if (process->clock != PACK_NONE && process->clock != clock)
		return mem_format("expected clock %" PRIu64
				  " as for the rest of its process, found clock %" PRIu64,
				  p->clock_ids.id[process->clock], p->clock_ids.id[clock]);
	process->clock = clock;
	p->clocks[clock].used = true;
	return NULL;
}

static size_t process_of_rank(const struct pack *p, int64_t rank)
{
	size_t i = 0;
	while (i < p->nprocesses && p->processes[i].rank != rank)
		i++;
	return i < p->nprocesses ? i : PACK_NONE;
}

static char *give_rank(struct pack *p, struct pack_process *process, uint64_t rank)
{
	if (rank >= INT32_MAX)
		return too_big("a rank", INT32_MAX - 1, rank);
	if (process_of_rank(p, (int64_t)rank) != PACK_NONE)
		return mem_format(
			"expected each rank once, found rank %" PRIu64 " in another process", rank);
	process->rank = (int64_t)rank;
	return NULL;
}

static struct pack_process *add_process(struct pack *p)
{
	struct pack_process *process = MEM_GROW(p->processes, p->nprocesses);
	*process = (struct pack_process){ .clock = PACK_NONE, .rank = -1, .size = -1,
					  .pid = p->nprocesses, .finished = true, .line = p->line };
	return process;
}

static char *read_kinds(const struct ln_value *v, uint32_t *kinds)
{
	return tr_kinds_of(v->string, kinds) ? NULL : mem_format("expected kinds of events, found %s", v->string);
}

static bool says(const struct ln_value *v, const char *word)
{
	return v->given && strcmp(v->string, word) == 0;
}

static char *check_process(const struct ln_value *v)
{
	static const struct { int key; const char *name, *of; int needs; } needs[] = {
		{ PROCESS_FORKED, "forked", "started", PROCESS_STARTED }, { PROCESS_PARENT, "parent", "forked", PROCESS_FORKED },
		{ PROCESS_UNBORN, "unborn", "forked", PROCESS_FORKED }, { PROCESS_INIT_FROM, "init_from", "init_to", PROCESS_INIT_TO },
		{ PROCESS_INIT_TO, "init_to", "init_from", PROCESS_INIT_FROM } };
	for (size_t i = 0; i < sizeof needs / sizeof *needs; i++)
		if (v[needs[i].key].given && !v[needs[i].needs].given)
			return mem_format("expected %s= beside %s=, found none", needs[i].of, needs[i].name);
	if (v[PROCESS_FORKED].given && v[PROCESS_FORKED].number != 1)
		return mem_format("expected forked=1, found forked=%" PRIu64, v[PROCESS_FORKED].number);
	if (v[PROCESS_ENDED].given && v[PROCESS_FINISHED].given && !v[PROCESS_FINISHED].number)
		return mem_copy("expected no ended= beside finished=0, found one");
	if (v[PROCESS_MARKS].given && !says(&v[PROCESS_MARKS], "none") && !says(&v[PROCESS_MARKS], "unknown"))
		return mem_copy("expected marks=none or marks=unknown, found something else");
	return NULL;
}

static void set_presence(struct pack_process *process, const struct ln_value *v)
{
	process->started = v[PROCESS_STARTED].number;
	process->forked = v[PROCESS_FORKED].given;
	process->has_parent = v[PROCESS_PARENT].given;
	process->parent = v[PROCESS_PARENT].number;
	process->executed = v[PROCESS_UNBORN].given;
	process->unborn = v[PROCESS_UNBORN].number;
	process->init_from = v[PROCESS_INIT_FROM].number;
	process->init_to = v[PROCESS_INIT_TO].number;
	process->ended = v[PROCESS_ENDED].number;
	process->no_marks = says(&v[PROCESS_MARKS], "none");
	process->marks_unknown = says(&v[PROCESS_MARKS], "unknown");
}

static char *process_line(struct pack *p, const struct ln_value *v)
{
	char *wrong = check_process(v);
	if (wrong)
		return wrong;
	if (is_empty(&v[PROCESS_PROGRAM]) || is_empty(&v[PROCESS_JOB]))
		return mem_copy("expected a name for program and job, found ''");
	if (v[PROCESS_FINISHED].number > 1)
		return too_big("finished", 1, v[PROCESS_FINISHED].number);
	if (v[PROCESS_SIZE].given &&
	    (!v[PROCESS_RANK].given || v[PROCESS_SIZE].number <= v[PROCESS_RANK].number ||
	     v[PROCESS_SIZE].number > INT32_MAX))
		return mem_format("expected a rank below the size, found size %" PRIu64,
				  v[PROCESS_SIZE].number);
	if (p->process_ids.n < p->nprocesses)
		return mem_copy("expected 'process' lines before all threads that do not say their "
				"process");
	if (!ids_add(&p->process_ids, v[PROCESS_N].number))
		return declared("process", v[PROCESS_N].number);
	struct pack_process *process = add_process(p);
	process->program = copy_of(&v[PROCESS_PROGRAM], NULL);
	process->job = copy_of(&v[PROCESS_JOB], NULL);
	if (v[PROCESS_SIZE].given)
		process->size = (int64_t)v[PROCESS_SIZE].number;
	if (v[PROCESS_PID].given)
		process->pid = v[PROCESS_PID].number;
	if (v[PROCESS_FINISHED].given)
		process->finished = v[PROCESS_FINISHED].number;
	process->ran = v[PROCESS_RAN].number > 0;
	process->replaced = v[PROCESS_EXECS].number > 0;
	process->unseen_ns = v[PROCESS_UNSEEN_NS].number;
	process->unseen_ended = v[PROCESS_UNSEEN_ENDED].number;
	set_presence(process, v);
	size_t clock;
	wrong = v[PROCESS_RANK].given ? give_rank(p, process, v[PROCESS_RANK].number) : NULL;
	if (!wrong && v[PROCESS_WITHOUT].given)
		wrong = read_kinds(&v[PROCESS_WITHOUT], &process->left_out);
	if (!wrong && v[PROCESS_CLOCK].given &&
	    !(wrong = find_clock(p, v[PROCESS_CLOCK].number, &clock)))
		wrong = put_on_clock(p, process, clock);
	return wrong;
}

/* ---- Threads --------------------------------------------------------------------------------- */

/* The process that a thread is in, made when the text does not declare it. */
static char *find_process(struct pack *p, const struct ln_value *v, size_t clock, size_t *process)
{
	if (v[THREAD_PROCESS].given) {
		*process = ids_find(&p->process_ids, v[THREAD_PROCESS].number);
		return *process == SIZE_MAX ? unknown("process", v[THREAD_PROCESS].number) : NULL;
	}
	bool ranked = v[THREAD_RANK].given && v[THREAD_RANK].number < INT32_MAX;
	*process = ranked ? process_of_rank(p, (int64_t)v[THREAD_RANK].number)
		 : v[THREAD_RANK].given ? PACK_NONE : p->clocks[clock].process;
	if (*process != PACK_NONE)
		return NULL;
	struct pack_process *made = add_process(p);
	*process = p->nprocesses - 1;
	if (v[THREAD_RANK].given)
		return give_rank(p, made, v[THREAD_RANK].number);
	p->clocks[clock].process = *process;
	return NULL;
}

static char *match_rank(struct pack *p, struct pack_process *process, const struct ln_value *rank)
{
	if (!rank->given || (process->rank >= 0 && (uint64_t)process->rank == rank->number))
		return NULL;
	if (process->rank < 0 && !process->nthreads)
		return give_rank(p, process, rank->number);
	return mem_format("expected the rank of its process, found %" PRIu64, rank->number);
}

static char *check_thread(const struct ln_value *v)
{
	if (v[THREAD_NUMBER].number >= UINT32_MAX)
		return too_big("number", UINT32_MAX - 1, v[THREAD_NUMBER].number);
	if (v[THREAD_COMPLETE].number > 1)
		return too_big("complete", 1, v[THREAD_COMPLETE].number);
	if (v[THREAD_RAN_ON].number > DPROF_ENDED_IT)
		return too_big("ran_on", DPROF_ENDED_IT, v[THREAD_RAN_ON].number);
	if (v[THREAD_JUMPS].number == DPROF_JUMPS_NONE)
		return mem_format("expected 0 or a stamp above %" PRIu64 " for jumps, found it", DPROF_JUMPS_NONE);
	size_t room = sizeof((struct pack_thread *)0)->name - 1;
	if (v[THREAD_NAME].given && strlen(v[THREAD_NAME].string) > room)
		return too_big("a name, in bytes,", room, strlen(v[THREAD_NAME].string));
	return NULL;
}

static char *thread_line(struct pack *p, const struct ln_value *v)
{
	size_t clock, index;
	char *wrong = check_thread(v);
	if (wrong || (wrong = find_clock(p, v[THREAD_CLOCK].number, &clock)) ||
	    (wrong = find_process(p, v, clock, &index)))
		return wrong;
	struct pack_process *process = &p->processes[index];
	if ((wrong = put_on_clock(p, process, clock)) ||
	    (wrong = match_rank(p, process, &v[THREAD_RANK])))
		return wrong;
	if (!ids_add(&p->thread_ids, v[THREAD_N].number))
		return declared("thread", v[THREAD_N].number);
	struct pack_thread *t = MEM_GROW(p->threads, p->nthreads);
	*t = (struct pack_thread){
		.process = index,
		.lost = v[THREAD_LOST].number,
		.number = v[THREAD_NUMBER].given ? (uint32_t)v[THREAD_NUMBER].number
						 : process->next_number,
		.complete = v[THREAD_COMPLETE].given ? v[THREAD_COMPLETE].number : true,
		.ran_on = v[THREAD_RAN_ON].number,
		.ended = v[THREAD_ENDED].number,
		.knows_jumps = v[THREAD_JUMPS].given,
		.jumps = v[THREAD_JUMPS].number,
		.says_entered = v[THREAD_ENTERED].given,
		.entered = v[THREAD_ENTERED].number,
	};
	if (v[THREAD_NAME].given)
		strcpy(t->name, v[THREAD_NAME].string);
	if (t->number >= process->next_number)
		process->next_number = t->number + 1;
	process->nthreads++;
	return NULL;
}

/* ---- Groups, sites, links, notes ------------------------------------------------------------- */

static char *group_line(struct pack *p, const struct ln_value *v)
{
	if (!ids_add(&p->group_ids, v[GROUP_N].number))
		return declared("group", v[GROUP_N].number);
	struct pack_group *g = MEM_GROW(p->groups, p->ngroups);
	*g = (struct pack_group){ .id = v[GROUP_N].number, .size = v[GROUP_SIZE].number,
				  .reordered = v[GROUP_BY_RANK].given && !v[GROUP_BY_RANK].number };
	const char *list = v[GROUP_THREADS].string;
	uint64_t id;
	bool wrong;
	while (ln_list_next(&list, &id, &wrong)) {
		size_t thread = ids_find(&p->thread_ids, id);
		if (thread == SIZE_MAX)
			return unknown("thread", id);
		*MEM_GROW(g->threads, g->nthreads) = thread;
	}
	if (wrong)
		return mem_copy(
			"expected threads=N,N,..., found something else between the commas");
	return NULL;
}

static char *site_kind(const char *word, uint8_t *kind)
{
	const char *words[DPROF_KIND_COUNT];
	for (int k = DPROF_KIND_NONE + 1; k < DPROF_KIND_COUNT; k++) {
		words[k - 1] = tr_kind_word((enum dprof_kind)k);
		if (strcmp(word, words[k - 1]) == 0) {
			*kind = (uint8_t)k;
			return NULL;
		}
	}
	const char *like = nearest(word, words, DPROF_KIND_COUNT - 1);
	char *quoted = ln_quote(word);
	char *diagnostic = mem_format("expected a kind of site, such as %s, found %s",
				      like ? like : "region", quoted);
	free(quoted);
	return diagnostic;
}

/* Appends a site to the section. */
static char *append_site(struct pack *p, struct dprof_site *head, const char *const string[4])
{
	size_t size = sizeof *head;
	for (int i = 0; i < 4; i++)
		size += strlen(string[i]) + (i < 3 || *string[i]);
	size = (size + DPROF_SITE_ALIGN - 1) & ~(size_t)(DPROF_SITE_ALIGN - 1);
	if (size < DPROF_SITE_MIN)
		size = DPROF_SITE_MIN;
	if (size > UINT16_MAX)
		return too_big("name, file and function, in bytes together,",
			       UINT16_MAX & ~(DPROF_SITE_ALIGN - 1), size);
	head->size = (uint16_t)size;
	*MEM_GROW(p->site_at, p->nsites) = PACK_SITES_AT + p->sites_size;
	p->sites = mem_resize(p->sites, p->sites_size + size, 1);
	char *at = (char *)p->sites + p->sites_size;
	memset(at, 0, size);
	memcpy(at, head, sizeof *head);
	at += sizeof *head;
	for (int i = 0; i < 3 || (i < 4 && *string[i]); i++)
		at = stpcpy(at, string[i]) + 1;
	p->sites_size += size;
	return NULL;
}

static char *site_line(struct pack *p, const struct ln_value *v)
{
	struct dprof_site head = { .magic = DPROF_SITE_MAGIC, .version = DPROF_SITE_VERSION };
	char *wrong = site_kind(v[SITE_KIND].string, &head.kind);
	if (wrong)
		return wrong;
	if (v[SITE_LINE].number > UINT32_MAX)
		return too_big("line", UINT32_MAX, v[SITE_LINE].number);
	if (v[SITE_COLUMN].number > UINT32_MAX)
		return too_big("column", UINT32_MAX, v[SITE_COLUMN].number);
	if (v[SITE_AUTO].number > 1)
		return too_big("auto", 1, v[SITE_AUTO].number);
	if (v[SITE_AUTO].number)
		head.kind |= DPROF_SITE_AUTOMATIC;
	const char *role = v[SITE_ROLE].given ? v[SITE_ROLE].string : "";
	if (*role && !tr_role_of(role, &(struct tr_site){ .kind = DPROF_KIND_REGION }))
		return mem_copy("expected role=master, worker, setup, task, init, final or stage:K, found something else");
	head.line = (uint32_t)v[SITE_LINE].number;
	head.column = (uint32_t)v[SITE_COLUMN].number;
	if (!ids_add(&p->site_ids, v[SITE_N].number))
		return declared("site", v[SITE_N].number);
	return append_site(p, &head, (const char *const[]){ v[SITE_NAME].string,
			   v[SITE_FILE].given ? v[SITE_FILE].string : "",
			   v[SITE_FUNCTION].given ? v[SITE_FUNCTION].string : "", role });
}

static char *link_line(struct pack *p, const struct ln_value *v)
{
	size_t from, to;
	char *wrong = find_clock(p, v[LINK_FROM].number, &from);
	if (wrong || (wrong = find_clock(p, v[LINK_TO].number, &to)))
		return wrong;
	*MEM_GROW(p->links, p->nlinks) =
		(struct frz_link){ (uint32_t)from, (uint32_t)to, v[LINK_SENT].number,
				   v[LINK_RECEIVED].number };
	return NULL;
}

static char *without_line(struct pack *p, const struct ln_value *v)
{
	return read_kinds(v, &p->left_out);
}

static char *damaged_line(struct pack *p, const struct ln_value *v)
{
	(void)v;
	p->damaged = true;
	return NULL;
}

static char *note_line(struct pack *p, const struct ln_value *v)
{
	*MEM_GROW(p->notes, p->nnotes) = mem_copy(v->string);
	return NULL;
}

static char *sched_line(struct pack *p, const struct ln_value *v)
{
	size_t thread = ids_find(&p->thread_ids, v[SCHED_THREAD].number);
	if (thread == SIZE_MAX)
		return unknown("thread", v[SCHED_THREAD].number);
	*MEM_GROW(p->sched, p->nsched) =
		(struct pack_sched){ thread, sched_of_values(v + SCHED_FROM) };
	return NULL;
}

/* ---- Events ---------------------------------------------------------------------------------- */

static char *lost_line(struct pack *p, const struct ln_value *v)
{
	size_t thread = ids_find(&p->thread_ids, v[LOST_THREAD].number);
	if (thread == SIZE_MAX)
		return unknown("thread", v[LOST_THREAD].number);
	if (!v[LOST_COUNT].number || v[LOST_COUNT].number > DPROF_VALUE_MAX)
		return mem_format("expected how many records were lost, found %" PRIu64,
				  v[LOST_COUNT].number);
	return pack_lost(p, thread, v[LOST_COUNT].number);
}

static char *check_stamp(const struct pack_thread *t, uint64_t stamp)
{
	if (stamp < t->last)
		return mem_format("expected a stamp of at least %" PRIu64
				  " (a thread's stamps never go back), found %" PRIu64,
				  t->last, stamp);
	return NULL;
}

static char *event_line(struct pack *p, char *at)
{
	struct text_event e;
	char *wrong = text_event(at, &e);
	if (wrong)
		return wrong;
	size_t thread = ids_find(&p->thread_ids, e.thread);
	if (thread == SIZE_MAX)
		return unknown("thread", e.thread);
	size_t site = e.no_site ? 0 : ids_find(&p->site_ids, e.site);
	if (site == SIZE_MAX)
		return unknown("site", e.site);
	struct pack_thread *t = &p->threads[thread];
	if ((wrong = check_stamp(t, e.stamp)))
		return wrong;
	wrong = pack_event(p, thread, e.stamp, e.no_site ? PACK_NO_SITE_AT : p->site_at[site], e.op);
	for (unsigned i = 0; !wrong && i < e.nargs; i++)
		wrong = pack_argument(p, thread, e.args[i]);
	return wrong;
}

/* ---- What the text does not say -------------------------------------------------------------- */

static void add_idle_processes(struct pack *p)
{
	for (size_t c = 0; c < p->nclocks; c++)
		if (!p->clocks[c].used)
			add_process(p)->clock = c;
}

/* The first program and job that are named are everybody's; the size is what the ranks need. */
static void fill_in(struct pack *p)
{
	const char *program = "text", *job = "packed";
	int64_t size = 0;
	for (size_t i = p->nprocesses; i--;) {
		const struct pack_process *process = &p->processes[i];
		program = process->program ? process->program : program;
		job = process->job ? process->job : job;
		size = process->rank >= size ? process->rank + 1 : size;
	}
	for (size_t i = 0; i < p->nprocesses; i++) {
		struct pack_process *process = &p->processes[i];
		process->program = process->program ? process->program : mem_copy(program);
		process->job = process->job ? process->job : mem_copy(job);
		process->size = process->size >= 0 ? process->size : size;
	}
}

static char *find_parent(const struct pack *p, struct pack_process *process)
{
	size_t parent = process->has_parent ? ids_find(&p->process_ids, process->parent) : 0;
	if (process->has_parent && (parent == SIZE_MAX || &p->processes[parent] == process))
		return mem_format("%s:%zu: expected the number of another process for parent, found %" PRIu64, p->name,
				  process->line, process->parent);
	process->parent = parent;
	return NULL;
}

static char *complete(struct pack *p)
{
	if (!p->nclocks)
		return mem_format("%s: expected a line 'clock', found none", p->name);
	for (size_t i = 0; i < p->nprocesses; i++) {
		char *wrong = find_parent(p, &p->processes[i]);
		if (wrong)
			return wrong;
	}
	add_idle_processes(p);
	fill_in(p);
	for (size_t i = 0; i < p->nprocesses; i++)
		if (p->processes[i].clock == PACK_NONE)
			return mem_format("%s:%zu: expected clock= or a thread of this process, "
					  "found neither",
					  p->name, p->processes[i].line);
	return NULL;
}

/* ---- Lines ----------------------------------------------------------------------------------- */

static char *take_line(struct pack *p, char *text)
{
	static char *(*const takes[TEXT_FORMS])(struct pack *, const struct ln_value *) = {
		[TEXT_CLOCK] = clock_line,   [TEXT_PROCESS] = process_line,
		[TEXT_THREAD] = thread_line, [TEXT_GROUP] = group_line,
		[TEXT_SITE] = site_line,     [TEXT_LINK] = link_line,
		[TEXT_NOTE] = note_line,     [TEXT_WITHOUT] = without_line,
		[TEXT_LOST] = lost_line,     [TEXT_SCHED] = sched_line,
		[TEXT_DAMAGED] = damaged_line,
	};
	char *at;
	ln_uncomment(text);
	if (text_is_event(text, &at))
		return event_line(p, at);
	struct ln_line line;
	char *wrong = ln_parse(text_forms, TEXT_FORMS, text, &line);
	if (wrong || line.form < 0)
		return wrong;
	return takes[line.form](p, line.value);
}

/* The first line that is not a comment says what the text is. */
static char *first_line(char *text, bool *seen)
{
	ln_uncomment(text);
	char *at = text, *word = ln_word(&at), *version = word ? ln_word(&at) : NULL;
	if (!word)
		return NULL;
	*seen = true;
	if (strcmp(word, "dprof-text") == 0 && version && strcmp(version, "1") == 0 &&
	    !ln_word(&at))
		return NULL;
	char *found = version ? mem_format("%s %s", word, version) : mem_copy(word),
	     *quoted = ln_quote(found);
	char *diagnostic = mem_format("expected '" TEXT_FIRST_LINE "', found %s", quoted);
	free(found);
	free(quoted);
	return diagnostic;
}

static char *read_lines(struct pack *p, FILE *in)
{
	char *text = NULL, *wrong = NULL;
	size_t room = 0;
	bool seen = false;
	for (ssize_t length; !wrong && (length = getline(&text, &room, in)) >= 0;) {
		p->line++;
		if (memchr(text, 0, (size_t)length))
			wrong = mem_copy("expected text, found a NUL byte");
		else
			wrong = seen ? take_line(p, text) : first_line(text, &seen);
	}
	char *diagnostic =
		wrong        ? mem_format("%s:%zu: %s", p->name, p->line, wrong)
		: ferror(in) ? mem_format("%s: cannot be read: %s", p->name, strerror(errno))
		: !seen      ? mem_format("%s: expected '" TEXT_FIRST_LINE "', found an empty file",
					  p->name)
			     : NULL;
	free(wrong);
	free(text);
	return diagnostic;
}

static void free_pack(struct pack *p)
{
	for (size_t i = 0; i < p->nclocks; i++) {
		free(p->clocks[i].host);
		free(p->clocks[i].source);
	}
	for (size_t i = 0; i < p->nprocesses; i++) {
		free(p->processes[i].program);
		free(p->processes[i].job);
		free(p->processes[i].stem);
	}
	for (size_t i = 0; i < p->nthreads; i++)
		free(p->threads[i].pending);
	for (size_t i = 0; i < p->ngroups; i++)
		free(p->groups[i].threads);
	for (size_t i = 0; i < p->nnotes; i++)
		free(p->notes[i]);
	struct ids *ids[] = { &p->clock_ids, &p->process_ids, &p->thread_ids, &p->group_ids,
			      &p->site_ids };
	for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
		ids_free(ids[i]);
	void *arrays[] = { p->clocks, p->processes, p->threads, p->groups,   p->site_at,
			   p->sites,  p->links,     p->notes,   p->directory, p->sched };
	for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
		free(arrays[i]);
}

char *text_pack(FILE *in, const char *name, const char *directory)
{
	struct pack p = { .name = name };
	char *wrong = pack_begin(&p, directory);
	if (!wrong && !(wrong = read_lines(&p, in)) && !(wrong = complete(&p)))
		wrong = pack_finish(&p, directory);
	if (wrong)
		pack_undo(&p);
	free_pack(&p);
	return wrong;
}

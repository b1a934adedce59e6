/* SPDX-License-Identifier: MIT
 *
 * pack_native.c - writes a trace directory as runtime/format.h describes it.
 *
 * Everything is written under a temporary name and renamed when it is complete, so a directory
 * with the wanted name is always a whole trace. */
#include <errno.h>
#include <fcntl.h>
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/base/lines.h"
#include "analysis/base/memory.h"
#include "analysis/text/pack.h"
#include "analysis/trace/sched.h"
#include "freezer/synclog.h"
#include "runtime/sum.h"
#include "runtime/words.h"

/* Words of one thread that wait in memory. */
#define PENDING_WORDS 8192
#define STEM_BYTES      64

static char *cannot_write(const char *path)
{
	return mem_format("%s: cannot be written: %s", path, strerror(errno));
}

/* ---- Events ---------------------------------------------------------------------------------- */

/* The file has a name of its own before it is known which process the thread belongs to. */
static char *thread_path(const struct pack *p, size_t thread)
{
	return mem_format("%s/%zu.thread", p->directory, thread);
}

static bool write_at(int fd, const void *bytes, size_t size, uint64_t offset)
{
	while (size) {
		ssize_t n = pwrite(fd, bytes, size, (off_t)offset);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		bytes = (const char *)bytes + n;
		size -= (size_t)n;
		offset += (uint64_t)n;
	}
	return true;
}

static char *write_thread(struct pack *p, size_t thread, const void *bytes, size_t size,
			  uint64_t offset)
{
	char *path = thread_path(p, thread), *wrong = NULL;
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
	if (fd < 0 || !write_at(fd, bytes, size, offset) || close(fd))
		wrong = cannot_write(path);
	free(path);
	return wrong;
}

static char *flush(struct pack *p, size_t thread)
{
	struct pack_thread *t = &p->threads[thread];
	char *wrong = write_thread(p, thread, t->pending, t->npending * sizeof *t->pending,
				   DPROF_HEADER_SIZE + t->nwritten * sizeof *t->pending);
	t->nwritten += t->npending;
	t->npending = 0;
	return wrong;
}

static char *put_word(struct pack *p, size_t thread, uint64_t word)
{
	struct pack_thread *t = &p->threads[thread];
	if (!t->nwritten && !t->npending)
		t->sum = DPROF_SUM_BEGIN;
	t->sum = dprof_sum_word(t->sum, word);
	if (t->nwritten)
		t->pending[t->npending++] = word; /* there is room: it was full before */
	else
		*MEM_GROW(t->pending, t->npending) = word;
	return t->npending == PENDING_WORDS ? flush(p, thread) : NULL;
}

/* What has no site cannot be named by part of an address. */
static char *put_wide(struct pack *p, size_t thread, uint64_t stamp, uint64_t site_at,
		      enum dprof_op op)
{
	char *wrong = put_word(p, thread, dprof_escape_word(DPROF_ESCAPE_WIDE, op, 0));
	if (!wrong)
		wrong = put_word(p, thread, stamp);
	return wrong ? wrong : put_word(p, thread, site_at);
}

char *pack_event(struct pack *p, size_t thread, uint64_t stamp, uint64_t site_at, enum dprof_op op)
{
	struct pack_thread *t = &p->threads[thread];
	char *wrong = NULL;
	if (!t->begun || (stamp - t->last) >> (DPROF_STAMP_BITS - 2))
		wrong = put_word(p, thread, dprof_epoch_word(stamp));
	if (!t->begun)
		t->first = stamp;
	t->begun = true;
	t->last = stamp;
	if (wrong)
		return wrong;
	return site_at == PACK_NO_SITE_AT
		       ? put_wide(p, thread, stamp, site_at, op)
		       : put_word(p, thread, dprof_event_word(stamp, site_at, op));
}

char *pack_argument(struct pack *p, size_t thread, struct tr_arg a)
{
	uint64_t high = a.value >> 56;
	char *wrong = put_word(p, thread, dprof_escape_word(DPROF_ESCAPE_ARG, a.key, a.value));
	if (wrong || !high)
		return wrong;
	return put_word(p, thread, dprof_escape_word(DPROF_ESCAPE_ARG_HIGH, a.key, high));
}

char *pack_lost(struct pack *p, size_t thread, uint64_t records)
{
	p->threads[thread].said_lost += records;
	return put_word(p, thread, dprof_escape_word(DPROF_ESCAPE_LOST, 0, records));
}

/* Of a thread that has lost records, and does not say when it ended, that is not known. */
static uint64_t ended(const struct pack_thread *t, uint64_t lost)
{
	return !t->complete ? 0 : t->ended ? t->ended : lost ? UINT64_MAX : t->last ? t->last : 1;
}

static char *finish_thread(struct pack *p, size_t thread)
{
	struct pack_thread *t = &p->threads[thread];
	uint64_t lost = t->lost > t->said_lost ? t->lost : t->said_lost, words = t->nwritten + t->npending;
	const struct pack_process *process = &p->processes[t->process];
	uint64_t jumps = !t->knows_jumps ? 0 : t->jumps ? t->jumps : DPROF_JUMPS_NONE;
	uint8_t page[DPROF_HEADER_SIZE] = { 0 };
	if (t->ended && t->ended < t->last)
		return mem_format("%s: thread %" PRIu64 ": expected it to have ended at or behind its last event (%" PRIu64
				  "), found ended=%" PRIu64, p->name, p->thread_ids.id[thread], t->last, t->ended);
	struct dprof_events_header header = {
		.magic = DPROF_EVENTS_MAGIC,
		.version = DPROF_FORMAT_VERSION,
		.header_size = DPROF_HEADER_SIZE,
		.word_size = sizeof(uint64_t),
		.thread = t->number,
		.rank = process->rank,
		.pid = process->pid,
		.tid = process->pid + t->number,
		.started = t->first,
		.ended = ended(t, lost),
		.lost = lost,
		.end = { .ran_on = t->ran_on, .lost = lost, .chunks = 1, .words = words,
			 .sum = words ? t->sum : DPROF_SUM_BEGIN },
		.jumps = { jumps, ~jumps },
	};
	memcpy(header.name, t->name, sizeof header.name);
	header.end.header_sum = header.ended ? dprof_header_sum(&header) : 0;
	memcpy(page, &header, sizeof header);
	char *wrong = flush(p, thread);
	if (!wrong)
		wrong = write_thread(p, thread, page, sizeof page, 0);
	if (wrong)
		return wrong;
	char *from = thread_path(p, thread);
	char *to = mem_format("%s/%s-%" PRIu32 ".events", p->directory, process->stem, t->number);
	if (access(to, F_OK) == 0)
		wrong = mem_format("%s: thread %" PRIu64
				   ": expected a number of its own in its process, found %" PRIu32
				   " twice",
				   p->name, p->thread_ids.id[thread], t->number);
	else if (rename(from, to))
		wrong = cannot_write(to);
	free(from);
	free(to);
	return wrong;
}

/* ---- Sites, links ---------------------------------------------------------------------------- */

static char *sites_name(const struct pack *p)
{
	return mem_format("%016" PRIx64 ".sites", dprof_sum_bytes(DPROF_SUM_BEGIN, p->sites, p->sites_size));
}

static char *write_sites(const struct pack *p)
{
	char *name = sites_name(p), *path = mem_format("%s/%s", p->directory, name), *wrong = NULL;
	FILE *out = p->sites_size ? fopen(path, "wbx") : NULL;
	if (p->sites_size && (!out || fwrite(p->sites, 1, p->sites_size, out) != p->sites_size))
		wrong = cannot_write(path);
	if (out && fclose(out) && !wrong)
		wrong = cannot_write(path);
	free(name);
	free(path);
	return wrong;
}

/* A host's name as a part of a file's name. */
static char *host_stem(const char *host)
{
	char *stem = mem_format("%.*s", STEM_BYTES, host);
	for (char *c = stem; *c; c++)
		if (*c == '/' || (unsigned char)*c <= ' ' || *c == 0x7f || (c == stem && *c == '.'))
			*c = '_';
	return stem;
}

static char *write_links(const struct pack *p)
{
	struct frz_synclog log;
	if (!p->nlinks)
		return NULL;
	char *host = host_stem(p->clocks[0].host),
	     *path = mem_format("%s/%s.sync", p->directory, host), *wrong = NULL;
	int error = frz_synclog_create(&log, path, 0, host);
	for (size_t i = 0; !error && i < p->nlinks; i++)
		frz_synclog_add_link(&log, p->links[i]);
	if (!error)
		error = frz_synclog_close(&log);
	if (error) {
		errno = -error;
		wrong = cannot_write(path);
	}
	free(host);
	free(path);
	return wrong;
}

/* ---- Processes ------------------------------------------------------------------------------- */

static void put_name(FILE *out, const char *key, const char *value)
{
	fprintf(out, "%s ", key);
	ln_escaped(out, value);
	putc('\n', out);
}

/* Two hosts of one name are two hosts all the same. */
static void put_hostid(FILE *out, const struct pack *p, size_t clock)
{
	size_t same = 0;
	for (size_t i = 0; i < p->nclocks; i++)
		same += strcmp(p->clocks[i].host, p->clocks[clock].host) == 0;
	fputs("hostid ", out);
	ln_escaped(out, p->clocks[clock].host);
	if (same > 1)
		fprintf(out, "/%zu", clock);
	putc('\n', out);
}

/* Whether threads of a group are of this process, and whether some are of another. */
static void find_owners(const struct pack *p, const struct pack_group *g, size_t process,
			bool *own, bool *others)
{
	*own = *others = false;
	for (size_t i = 0; i < g->nthreads; i++)
		*(p->threads[g->threads[i]].process == process ? own : others) = true;
}

/* Each process names its own threads; the first one names also the groups without threads. */
static void put_groups(FILE *out, const struct pack *p, size_t process)
{
	for (size_t i = 0; i < p->ngroups; i++) {
		const struct pack_group *g = &p->groups[i];
		bool own, others;
		find_owners(p, g, process, &own, &others);
		if (!own && (process || others))
			continue;
		fprintf(out, "group %" PRIu64 " threads=", g->id);
		const char *comma = "";
		for (size_t j = 0; j < g->nthreads; j++) {
			const struct pack_thread *t = &p->threads[g->threads[j]];
			if (t->process != process)
				continue;
			fprintf(out, "%s%" PRIu32, comma, t->number);
			comma = ",";
		}
		fprintf(out, " size=%" PRIu64 "%s%s\n", g->size ? g->size : g->nthreads,
			own && !others ? "" : " shared=1", g->reordered ? " by_rank=0" : "");
	}
}

static uint64_t last_stamp(const struct pack *p, size_t process)
{
	uint64_t last = 1;
	for (size_t i = 0; i < p->nthreads; i++)
		if (p->threads[i].process == process) {
			const struct pack_thread *t = &p->threads[i];
			uint64_t end = t->ended ? t->ended : t->last;
			last = end > last ? end : last;
		}
	return last;
}

static void put_threads(FILE *out, const struct pack *p, size_t process)
{
	const char *before = "threads ";
	for (size_t i = 0; i < p->nthreads; i++)
		if (p->threads[i].process == process) {
			fprintf(out, "%s%" PRIu32, before, p->threads[i].number);
			before = ",";
		}
	fputs(*before == ',' ? "\n" : "", out);
}

static void put_sync(FILE *out, const struct pack *p)
{
	if (!p->nlinks)
		return;
	char *host = host_stem(p->clocks[0].host);
	fputs("sync ", out);
	ln_escaped(out, host);
	fprintf(out, ".sync records=%zu\n", p->nlinks);
	free(host);
}

/* When it was there. */
static void put_presence(FILE *out, const struct pack *p, const struct pack_process *self)
{
	if (self->started || self->forked)
		fprintf(out, "started %" PRIu64, self->started);
	if (self->forked)
		fputs(" forked=1", out);
	if (self->has_parent) {
		fputs(" parent=", out);
		ln_escaped(out, p->processes[self->parent].stem);
	}
	if (self->executed)
		fprintf(out, " unborn=%" PRIu64, self->unborn);
	fputs(self->started || self->forked ? "\n" : "", out);
	if (self->init_from || self->init_to)
		fprintf(out, "init %" PRIu64 " %" PRIu64 "\n", self->init_from, self->init_to);
}

static void put_module(FILE *out, const struct pack *p, const struct pack_process *self)
{
	char *name = sites_name(p);
	fprintf(out, "module base=0x0 at=0x%" PRIx64 " sites=%s path=", PACK_SITES_AT, name);
	ln_escaped(out, self->program);
	putc('\n', out);
	free(name);
}

static void put_left_out(FILE *out, uint32_t left_out)
{
	char *kinds = left_out ? tr_kinds_words(left_out) : NULL;
	if (kinds)
		put_name(out, "without", kinds);
	free(kinds);
}

static void put_sched(FILE *out, const struct pack *p, size_t process)
{
	for (size_t i = 0; i < p->nsched; i++)
		if (p->threads[p->sched[i].thread].process == process) {
			fprintf(out, "sched %" PRIu32, p->threads[p->sched[i].thread].number);
			sched_put(out, &p->sched[i].says);
		}
}

static void put_process(FILE *out, const struct pack *p, size_t process)
{
	const struct pack_process *self = &p->processes[process];
	const struct pack_clock *clock = &p->clocks[self->clock];
	fputs(DPROF_PROCESS_FIRST_LINE "\n", out);
	put_name(out, "program", self->program);
	put_name(out, "job", self->job);
	put_name(out, "host", clock->host);
	put_hostid(out, p, self->clock);
	fprintf(out, "pid %" PRIu64 "\nghz ", self->pid);
	ln_put_real(out, clock->ghz);
	putc('\n', out);
	put_name(out, "clock", clock->source);
	put_presence(out, p, self);
	if (self->rank >= 0)
		fprintf(out, "rank %" PRId64 " size %" PRId64 "\n", self->rank, self->size);
	fprintf(out, "clockid %zu\n", self->clock);
	if (clock->uncertainty)
		fprintf(out, "cores halfwidth=%" PRIu64 " pairs=0\n", clock->uncertainty);
	if (p->sites_size)
		put_module(out, p, self);
	put_groups(out, p, process);
	put_left_out(out, p->left_out | self->left_out);
	for (size_t i = 0; i < p->nthreads; i++)
		if (p->threads[i].process == process && !p->threads[i].number && p->threads[i].says_entered)
			fprintf(out, "entered %" PRIu64 "\n", p->threads[i].entered);
	if (self->no_marks || self->marks_unknown)
		fprintf(out, "marks %s\n", self->no_marks ? "none" : "unknown");
	if (!process && p->damaged)
		fputs("damaged\n", out);
	for (size_t i = 0; !process && i < p->nnotes; i++)
		put_name(out, "note", p->notes[i]);
	put_sched(out, p, process);
	if (self->unseen_ns)
		fprintf(out, "unseen %" PRIu64 " cpu=%" PRIu64 " ended=%" PRIu64 "\n", last_stamp(p, process),
			self->unseen_ns, self->unseen_ended);
	if (!process)
		put_sync(out, p);
	if (self->ran)
		fputs("ran ?\n", out);
	if (self->replaced)
		fprintf(out, "exec %" PRIu64 "\n", last_stamp(p, process));
	if (!self->finished)
		return;
	put_threads(out, p, process);
	fprintf(out, "finished %" PRIu64 "\n", self->ended ? self->ended : last_stamp(p, process));
}

/* With its sum, if it has ended; and else with room for more lines: the file is whole. */
static void put_process_file(FILE *out, const struct pack *p, size_t process)
{
	char *text = NULL;
	size_t size = 0;
	FILE *memory = mem_stream(&text, &size);
	put_process(memory, p, process);
	mem_stream_close(memory);
	fwrite(text, 1, size, out);
	if (p->processes[process].finished)
		fprintf(out, "sum %zu 0x%" PRIx64 "\n", size, dprof_sum_bytes(DPROF_SUM_BEGIN, text, size));
	else
		fputc(0, out);
	free(text);
}

/* How many processes of its host up to this one have its number. */
static size_t count_namesakes(const struct pack *p, const struct pack_process *self)
{
	size_t n = 0;
	for (const struct pack_process *other = p->processes; other <= self; other++)
		n += other->rank < 0 && other->pid == self->pid && other->clock == self->clock;
	return n;
}

/* As the runtime does (runtime/process.h). */
static void name_process(const struct pack *p, struct pack_process *self)
{
	char *host = host_stem(p->clocks[self->clock].host);
	size_t namesakes = self->forked ? count_namesakes(p, self) : 0;
	self->stem = self->rank >= 0 ? mem_format("%s-%" PRId64, host, self->rank)
		     : namesakes > 1 ? mem_format("%s-p%" PRIu64 "_%zu", host, self->pid, namesakes)
				     : mem_format("%s-p%" PRIu64, host, self->pid);
	free(host);
}

static char *write_process(const struct pack *p, size_t process)
{
	const struct pack_process *self = &p->processes[process];
	char *wrong = NULL;
	char *path = mem_format("%s/%s.process", p->directory, self->stem);
	FILE *out = fopen(path, "wx");
	if (out)
		put_process_file(out, p, process);
	if (!out && errno == EEXIST)
		wrong = mem_format("%s: expected each process to have a rank or a pid of its own, "
				   "found %s twice",
				   p->name, self->stem);
	else if (!out || ferror(out))
		wrong = cannot_write(path);
	if (out && fclose(out) && !wrong)
		wrong = cannot_write(path);
	free(path);
	return wrong;
}

/* ---- All ------------------------------------------------------------------------------------- */

static char *without_slashes(const char *directory)
{
	char *name = mem_copy(directory);
	for (size_t n = strlen(name); n > 1 && name[n - 1] == '/'; n--)
		name[n - 1] = 0;
	return name;
}

char *pack_begin(struct pack *p, const char *directory)
{
	struct stat status;
	char *name = without_slashes(directory), *wrong = NULL;
	p->directory = mem_format("%s.part-%ld", name, (long)getpid());
	if (lstat(name, &status) == 0)
		wrong = mem_format("%s: expected a name that is free, found one that exists",
				   directory);
	else if (mkdir(p->directory, 0777))
		wrong = cannot_write(p->directory);
	if (wrong) {
		free(p->directory);
		p->directory = NULL;
	}
	free(name);
	return wrong;
}

char *pack_finish(struct pack *p, const char *directory)
{
	char *wrong = write_sites(p);
	for (size_t i = 0; i < p->nprocesses; i++)
		name_process(p, &p->processes[i]);
	for (size_t i = 0; !wrong && i < p->nprocesses; i++)
		wrong = write_process(p, i);
	for (size_t i = 0; !wrong && i < p->nthreads; i++)
		wrong = finish_thread(p, i);
	if (!wrong)
		wrong = write_links(p);
	if (wrong)
		return wrong;
	char *name = without_slashes(directory);
	if (rename(p->directory, name))
		wrong = cannot_write(directory);
	free(name);
	return wrong;
}

void pack_undo(struct pack *p)
{
	DIR *d = p->directory ? opendir(p->directory) : NULL;
	if (!d)
		return;
	for (struct dirent *e; (e = readdir(d));)
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			unlinkat(dirfd(d), e->d_name, 0);
	closedir(d);
	rmdir(p->directory);
}

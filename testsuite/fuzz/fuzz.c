/* SPDX-License-Identifier: MIT
 *
 * fuzz.c - hands damaged traces, texts and questions to dprof-analyze, and judges what comes of it.
 *
 *   fuzz [-s FIRST] [-n CASES] [-t SECONDS] THING...   a THING is a trace directory, or a text for `pack`
 *   fuzz -e ...                                       in every place: below
 *   fuzz -l ...                                       what is lost: likewise
 *   fuzz -d ...                                       lines of events that are missing from texts
 *
 * SIGINT and SIGTERM end it behind a case, with the figures.
 *
 * Each case is made from its number alone: `fuzz -s NUMBER -n 1 THING...` runs it again. One in four cuts a file
 * off, at every byte in turn; one in eight puts a file of a trace in the place of another of its kind.
 *
 * Law: no case ends a command by a signal, takes more of a processor or of memory than is reasonable, has an
 * exit status other than 0, 1 and 2, writes bytes that could do something to a terminal, or no JSON where that
 * was asked for; and where a command says by status 0 that all is well, none of its answers contradicts
 * what it answers of the whole trace. (With status 1 hardly any does; those are counted.)
 *
 * With -e a case is one change of what the sums of chunks are not of: headers of files of events, process files and
 * packets. A bit of a byte is another one, or the byte is 0 or 255; or a line is missing, twice there, empty, or behind
 * an empty one. The first case is one of these, and as many follow as there are, in a mixed order. Then the report ends
 * with status 1, or says what it said of the whole trace, to the byte.
 *
 * With -l a case is a loss: a file, its end, or a piece of it, or records of threads that a text tells to be lost.
 * Nothing else is changed, so whatever the exit status, no answer contradicts what was said of the whole trace.
 *
 * With -d a case is a text from which one line of an event is missing, or a few. Whatever these prove, no command
 * crashes, and those that look at the whole trace agree whether it is damaged.
 *
 * A command runs in a process of its own, without exec: its main is linked in. */
#define _GNU_SOURCE /* memfd_create */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "analysis/base/memory.h"
#include "analysis/base/shown.h"
#include "runtime/packed.h"
#include "testsuite/fuzz/answers.h"
#include "testsuite/fuzz/mutate.h"

int dprof_analyze_main(int argc, char **argv); /* main of analysis/commands/main.c */

#define MOST_BYTES   ((size_t)1 << 24) /* of a file */
#define CPU_SECONDS  60                /* of one command; they take milliseconds */
#define MEMORY_BYTES ((rlim_t)2 << 30)
#define FINDING_EXIT 99                /* of sanitizers */
#define NAMED        20                /* findings that are told */

const char *__asan_default_options(void);
const char *__ubsan_default_options(void);

const char *__asan_default_options(void)
{
	return "exitcode=99:detect_leaks=0";
}

const char *__ubsan_default_options(void)
{
	return "exitcode=99:print_stacktrace=1";
}

#ifdef __SANITIZE_ADDRESS__
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

/* ---- Commands -------------------------------------------------------------------------------- */

static char *written; /* a file that a command writes: beside the traces */
static char *original; /* of the trace, undamaged */

/* @ stands for the trace, = for it as it was, ? for a question, % for a file to write. Those that print JSON are judged. */
static const struct fuzz_question { const char *argument[6]; } questions[] = {
	{ { "report", "@", "--json" } },
	{ { "csp", "@", "--json" } },
	{ { "coz", "@", "--json" } },
	{ { "query", "@", "count(barrier) >= 1", "--json" } },
	{ { "query", "@", "working(0) && !working(1)", "--json" } },
	{ { "query", "@", "count(alive) == threads", "--json" } },
	{ { "coz", "@", "--all-work", "--json" } },
	{ { "csp", "@", "--frames", "--json" } },
	{ { "path", "@", "--json" } },
	{ { "waits", "@", "--json" } },
	{ { "efficiency", "@", "--json" } },
	{ { "profile", "@", "--json" } },
	{ { "diagnose", "@", "--json" } },
	{ { "coz", "@", "--transfer=worst", "--json" } },
	{ { "diff", "=", "@", "--json" } },
	{ { "profile", "@", "--calls" } },
	{ { "diagnose", "@" } },
	{ { "path", "@", "--every=1ms" } },
	{ { "diff", "@", "@", "--json" } },
	{ { "report", "@" } },
	{ { "csp", "@", "--frames" } },
	{ { "coz", "@", "--transfer=worst" } },
	{ { "clocks", "@", "--json" } },
	{ { "clocks", "@", "--clock-model=affine" } },
	{ { "check", "@" } },
	{ { "check", "@", "--json" } },
	{ { "dump", "@" } },
	{ { "dump", "@", "--bounds" } },
	{ { "dump", "@", "--json" } },
	{ { "query", "@", "--sql=SELECT count(*), max(time_hi) FROM visits", "--json" } },
	{ { "export", "--to=perfetto", "--force", "%", "@", "--json" } },
	{ { "export", "--to=source", "--force", "%", "@", "--json" } },
	{ { "export", "--to=sqlite", "--force", "%", "@", "--json" } },
	{ { "query", "@", "?", "--json" } },
};
#define QUESTIONS (sizeof questions / sizeof *questions)
#define JUDGED    15 /* the first ones: what they say of the whole trace is kept */
#define ALIVE     5  /* of these */
#define ASKED     5  /* of these, of each loss */

static bool wants_json(const struct fuzz_question *q)
{
	for (size_t i = 0; i < 6 && q->argument[i]; i++)
		if (!strcmp(q->argument[i], "--json"))
			return true;
	return false;
}

/* ---- Running one ----------------------------------------------------------------------------- */

struct fuzz_output { int fd; char *text; size_t size; };

static struct fuzz_output out = { .fd = -1 }, err = { .fd = -1 };

static void output_begin(struct fuzz_output *o)
{
	if (o->fd < 0)
		o->fd = memfd_create("output", MFD_CLOEXEC);
	if (o->text)
		munmap(o->text, o->size);
	o->text = NULL;
	o->size = 0;
	if (ftruncate(o->fd, 0) || lseek(o->fd, 0, SEEK_SET))
		exit(2);
}

static void output_end(struct fuzz_output *o)
{
	struct stat status;
	o->size = fstat(o->fd, &status) ? 0 : (size_t)status.st_size;
	if (o->size)
		o->text = mmap(NULL, o->size, PROT_READ, MAP_PRIVATE, o->fd, 0);
}

static void limit(int what, rlim_t most)
{
	setrlimit(what, &(struct rlimit){ most, most });
}

/* The exit status, or 1000 plus the number of a signal. */
static int run(char **arguments)
{
	int status, n = 0;
	output_begin(&out);
	output_begin(&err);
	fflush(NULL);
	pid_t child = fork();
	if (child == 0) {
		int nothing = open("/dev/null", O_RDONLY);
		dup2(nothing, 0);
		dup2(out.fd, 1);
		dup2(err.fd, 2);
		limit(RLIMIT_CORE, 0);
		limit(RLIMIT_CPU, CPU_SECONDS);
		limit(RLIMIT_FSIZE, (rlim_t)1 << 30);
		if (!SANITIZED)
			limit(RLIMIT_AS, MEMORY_BYTES);
		alarm(100 * CPU_SECONDS); /* waits for something that never comes */
		while (arguments[n])
			n++;
		exit(dprof_analyze_main(n, arguments));
	}
	if (child < 0 || waitpid(child, &status, 0) < 0)
		exit(2);
	output_end(&out);
	output_end(&err);
	return WIFSIGNALED(status) ? 1000 + WTERMSIG(status) : WEXITSTATUS(status);
}

static int ask(const struct fuzz_question *q, const char *trace, const char *question)
{
	char *arguments[8] = { (char *)(uintptr_t) "dprof-analyze" };
	for (size_t i = 0; i < 6 && q->argument[i]; i++) {
		const char *a = q->argument[i];
		const char *is = !strcmp(a, "@") ? trace
			       : !strcmp(a, "?") ? question
			       : !strcmp(a, "%") ? written
			       : !strcmp(a, "=") ? original
						 : a;
		arguments[i + 1] = (char *)(uintptr_t)is;
	}
	return run(arguments);
}

/* ---- Judging --------------------------------------------------------------------------------- */

static struct { uint64_t cases, runs, fine, damaged, refused, findings, disjoint[2]; } count;
static uint64_t number; /* of the case */
static bool losing;     /* nothing is changed, some of it is lost: no answer may contradict what was said of all of it */
static char **things;
static int nthings;

static void finding(const struct fuzz_question *q, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void finding(const struct fuzz_question *q, const char *format, ...)
{
	va_list arguments;
	if (count.findings++ >= NAMED)
		return;
	printf("case %" PRIu64 ": ", number);
	for (size_t i = 0; q && i < 6 && q->argument[i]; i++)
		printf("%s ", q->argument[i]);
	va_start(arguments, format);
	vprintf(format, arguments);
	va_end(arguments);
	printf("\n  again: fuzz -s %" PRIu64 " -n 1", number);
	for (int i = 0; i < nthings; i++)
		printf(" %s", things[i]);
	puts("");
	if (err.size)
		printf("  it said: %.*s\n", (int)(err.size < 2000 ? err.size : 2000), err.text);
}

static bool is_printable(const struct fuzz_output *o)
{
	char end[8] = "";
	size_t at = 0, tail = o->size < 4 ? o->size : 4; /* a character is not read beyond the end */
	if (tail)
		memcpy(end, o->text + o->size - tail, tail);
	while (at < o->size) {
		const char *s = at + 4 <= o->size ? o->text + at : end + (at - (o->size - tail));
		size_t n = *s == '\n' ? 1 : shown_length(s);
		if (!n)
			return false;
		at += n;
	}
	return true;
}

static void judge(const struct fuzz_question *q, int status, const struct answers *whole)
{
	struct answers answers = { 0 };
	const struct fuzz_answer *other;
	char wrong[256] = "";
	count.runs++;
	*(status == 0 ? &count.fine : status == 1 ? &count.damaged : &count.refused) += 1;
	if (status == 1000 + SIGXCPU || status == 1000 + SIGALRM || status == 1000 + SIGKILL)
		finding(q, "does not come to an end");
	else if (status > 2)
		finding(q, status == FINDING_EXIT ? "a sanitizer's finding" : "ends with status %d", status);
	else if (err.size && memmem(err.text, err.size, "out of memory", strlen("out of memory")))
		finding(q, "takes too much memory");
	else if (!is_printable(&out) || !is_printable(&err))
		finding(q, "writes what is no printable UTF-8");
	else if (wants_json(q) && (out.size || !status) && !answers_read(&answers, out.text, out.size, wrong))
		finding(q, "%s", wrong);
	else if (whole && status <= 1) {
		const struct fuzz_answer *before = answers_disjoint(whole, &answers, status * 1e-4, &other);
		count.disjoint[status] += before != NULL;
		if (before && (status == 0 || losing))
			finding(q, "%s, but %s was %.9g .. %.9g and is %.9g .. %.9g",
				status ? "something is lost" : "all is well", before->name, before->lo, before->hi,
				other->lo, other->hi);
	}
	answers_free(&answers);
}

/* ---- Things ---------------------------------------------------------------------------------- */

struct fuzz_file { char *name; uint8_t *bytes; size_t size; };

struct thing {
	char *directory, *original;
	bool text;
	struct fuzz_file *files; size_t nfiles;
	size_t bytes;                    /* of all files */
	struct answers whole[JUDGED];
	bool is_fine[JUDGED];            /* its answers can be judged by */
	char *said; size_t said_size;    /* to the first question */
};

static char scratch[] = "/tmp/dprof-fuzz-XXXXXX";
static char *trace;                      /* in it, where the files of this case's thing stand */

static char *path_of(const char *name)
{
	return mem_format("%s/%s", trace, name);
}

static void load(struct thing *t, const char *path, const char *name)
{
	FILE *in = fopen(path, "rb");
	struct fuzz_file f = { .name = mem_copy(name), .bytes = mem_resize(NULL, MOST_BYTES, 1) };
	if (!in) {
		fprintf(stderr, "fuzz: %s: %s\n", path, strerror(errno));
		exit(2);
	}
	f.size = fread(f.bytes, 1, MOST_BYTES, in);
	f.bytes = mem_resize(f.bytes, f.size, 1);
	fclose(in);
	t->bytes += f.size;
	*MEM_GROW(t->files, t->nfiles) = f;
}

static int visible(const struct dirent *e)
{
	return e->d_name[0] != '.';
}

static struct thing load_thing(const char *path)
{
	struct thing t = { 0 };
	struct dirent **entries;
	int n = scandir(path, &entries, visible, alphasort);
	t.text = n < 0;
	if (t.text)
		load(&t, path, "text.txt");
	for (int i = 0; i < n; i++) {
		char *name = mem_format("%s/%s", path, entries[i]->d_name);
		load(&t, name, entries[i]->d_name);
		free(name);
		free(entries[i]);
	}
	if (n >= 0)
		free(entries);
	return t;
}

static void store_at(const char *path, const uint8_t *bytes, size_t size)
{
	FILE *file = fopen(path, "wb");
	if (!file || fwrite(bytes, 1, size, file) != size || fclose(file)) {
		fprintf(stderr, "fuzz: %s: %s\n", path, strerror(errno));
		exit(2);
	}
}

static void store(const char *name, const uint8_t *bytes, size_t size)
{
	char *path = path_of(name);
	store_at(path, bytes, size);
	free(path);
}

static void clear(void)
{
	DIR *d = opendir(trace);
	for (struct dirent *e; d && (e = readdir(d));) {
		char *path = path_of(e->d_name);
		if (e->d_name[0] != '.')
			unlink(path);
		free(path);
	}
	if (d)
		closedir(d);
	rmdir(trace);
}

static void store_files(const struct thing *t)
{
	if (mkdir(trace, 0777))
		exit(2);
	for (size_t k = 0; k < t->nfiles; k++)
		store(t->files[k].name, t->files[k].bytes, t->files[k].size);
}

/* A text's directory is made by `pack`, in each case. */
static void store_thing(struct thing *t, int i)
{
	t->directory = trace = mem_format("%s/%d", scratch, i);
	if (!t->text)
		store_files(t);
}

static const struct fuzz_question packs = { { "pack", "?", "@" } };

static int pack(const char *directory, const uint8_t *at, size_t size)
{
	char *text = mem_format("%s/text.txt", scratch);
	store_at(text, at, size);
	int status = ask(&packs, directory, text);
	free(text);
	return status;
}

/* A second time, to be left as it was. */
static void store_original(struct thing *t)
{
	original = t->original = mem_format("%s.whole", t->directory);
	if (t->text) {
		pack(original, t->files->bytes, t->files->size);
		return;
	}
	trace = original;
	store_files(t);
	trace = t->directory;
}

static void ask_whole(struct thing *t)
{
	char wrong[256];
	store_original(t);
	for (size_t i = 0; i < JUDGED; i++) {
		int status = ask(&questions[i], t->text ? original : trace, NULL);
		judge(&questions[i], status, NULL);
		t->is_fine[i] = status == 0 && answers_read(&t->whole[i], out.text, out.size, wrong);
		if (i == 0 && out.size) {
			t->said_size = out.size;
			t->said = mem_resize(NULL, out.size, 1);
			memcpy(t->said, out.text, out.size);
		}
	}
}

/* ---- Cases ----------------------------------------------------------------------------------- */

static uint8_t bytes[2 * MOST_BYTES];
static char *changed; /* in them */

#define MIXING UINT64_C(1000003) /* a prime */

static const char *const queries[] = {
	"count(barrier) == threads-1 and count(region(\"body\")) == 1",
	"(working(0) || waiting(1)) && !in(2, \"body\")", "count(working) > 2 or not alive(3)", "count(rank 0) == 1",
};

/* Of the mutated file only. */
static struct mut_bytes cut(const struct thing *t, uint64_t at, const struct fuzz_file **file)
{
	*file = t->files;
	for (at %= t->bytes ? t->bytes : 1; at >= (*file)->size && at; ++*file)
		at -= (*file)->size;
	memcpy(bytes, (*file)->bytes, (*file)->size);
	return (struct mut_bytes){ bytes, at, sizeof bytes };
}

static struct mut_bytes mutate(struct mutator *m, const struct thing *t, const struct fuzz_file **file)
{
	*file = &t->files[mut_below(m, t->nfiles)];
	struct mut_bytes b = { bytes, (*file)->size, sizeof bytes };
	memcpy(bytes, (*file)->bytes, b.size);
	for (uint64_t times = 1 + mut_below(m, 3); times && b.size < MOST_BYTES; times--) {
		const struct fuzz_file *other = &t->files[mut_below(m, t->nfiles)];
		mut_file(m, (*file)->name, &b, other->bytes, other->size);
	}
	return b;
}

static void ask_about(struct mutator *m, const struct thing *t, size_t i)
{
	const char *text = queries[mut_below(m, sizeof queries / sizeof *queries)];
	struct mut_bytes b = { (uint8_t[512]){ 0 }, strlen(text), 500 };
	memcpy(b.at, text, b.size);
	for (uint64_t times = mut_below(m, 4); times; times--)
		(mut_below(m, 2) ? mut_lines(m, &b) : mut_damage(m, &b, (const uint8_t *)text, strlen(text)));
	b.at[b.size] = 0;
	judge(&questions[i], ask(&questions[i], trace, (char *)b.at),
	      i < JUDGED && t && t->is_fine[i] ? &t->whole[i] : NULL);
}

/* The report, which has nearly all answers, and another command. */
static void ask_all(struct mutator *m, const struct thing *t)
{
	ask_about(m, t, 0);
	ask_about(m, t, 1 + (size_t)mut_below(m, QUESTIONS - 1));
}

static void one_text(struct mutator *m, const struct mut_bytes *b)
{
	int status = pack(trace, b->at, b->size);
	judge(&packs, status, NULL);
	if (status == 0)
		ask_all(m, NULL);
	clear();
}

static void one_trace(struct mutator *m, const struct thing *t, const struct fuzz_file *file, const struct mut_bytes *b)
{
	char *path = path_of(file->name);
	if (mut_below(m, 100) == 0)
		unlink(path);
	else
		store(file->name, b->at, b->size);
	ask_all(m, t);
	store(file->name, file->bytes, file->size);
	free(path);
}

/* What was packed in a form before does not say whose it is. */
static bool may_stand_for(const struct fuzz_file *f, const struct fuzz_file *other)
{
	const char *kind = strrchr(f->name, '.'), *as = strrchr(other->name, '.');
	uint32_t magic = 0;
	memcpy(&magic, f->bytes, f->size < sizeof magic ? f->size : sizeof magic);
	return f != other && kind && as && !strcmp(kind, as) && (strcmp(kind, ".packed") || magic == DPROF_PART_MAGIC);
}

/* One file of a trace is copied over another one, or they are exchanged. */
static void one_exchange(struct mutator *m, const struct thing *t)
{
	const struct fuzz_file *file = NULL, *other = NULL;
	for (int tries = 0; tries < 100 && (!file || !may_stand_for(file, other)); tries++) {
		file = &t->files[mut_below(m, t->nfiles)];
		other = &t->files[mut_below(m, t->nfiles)];
	}
	if (!may_stand_for(file, other))
		return;
	store(other->name, file->bytes, file->size);
	if (mut_below(m, 2))
		store(file->name, other->bytes, other->size);
	ask_all(m, t);
	store(other->name, other->bytes, other->size);
	store(file->name, file->bytes, file->size);
}

/* ---- Every place ------------------------------------------------------------------------------- */

#define CHANGES 10 /* of a byte: bits, and two values */
enum { MISSING, TWICE, EMPTY, BEHIND_EMPTY, LINE_CHANGES };

static bool is_kind(const struct fuzz_file *f, const char *suffix)
{
	size_t n = strlen(f->name), m = strlen(suffix);
	return n > m && !strcmp(f->name + n - m, suffix);
}

static size_t places(const struct fuzz_file *f)
{
	if (is_kind(f, ".nursery"))
		return f->size / DPROF_SLOT * sizeof(struct dprof_events_header);
	if (is_kind(f, ".events"))
		return f->size < sizeof(struct dprof_events_header) ? f->size : sizeof(struct dprof_events_header);
	return is_kind(f, ".process") || is_kind(f, ".sync") ? f->size : 0;
}

static size_t lines(const struct fuzz_file *f)
{
	size_t n = 0;
	for (size_t i = 0; i < f->size && is_kind(f, ".process"); i++)
		n += f->bytes[i] == '\n';
	return n;
}

static uint64_t changes(const struct fuzz_file *f)
{
	return places(f) * CHANGES + lines(f) * LINE_CHANGES;
}

static uint64_t all_changes(const struct thing *t)
{
	uint64_t n = 0;
	for (size_t i = 0; i < t->nfiles; i++)
		n += changes(&t->files[i]);
	return n;
}

static void change_byte(const struct fuzz_file *f, uint64_t change)
{
	size_t place = (size_t)(change / CHANGES), how = (size_t)(change % CHANGES), header = sizeof(struct dprof_events_header);
	size_t at = is_kind(f, ".nursery") ? place / header * DPROF_SLOT + place % header : place;
	bytes[at] = how < 8 ? bytes[at] ^ (uint8_t)(1u << how) : how == 8 ? 0 : 255;
	changed = mem_format("byte %zu", at);
}

/* Gives the number of bytes then. */
static size_t change_line(const struct fuzz_file *f, uint64_t change)
{
	size_t line = (size_t)(change / LINE_CHANGES), how = (size_t)(change % LINE_CHANGES), begin = 0;
	for (size_t i = 0; i < line; i++)
		begin = (size_t)((uint8_t *)memchr(f->bytes + begin, '\n', f->size - begin) - f->bytes) + 1;
	size_t end = (size_t)((uint8_t *)memchr(f->bytes + begin, '\n', f->size - begin) - f->bytes) + 1;
	size_t kept = how == TWICE || how == BEHIND_EMPTY ? begin : end, to = begin;
	if (how == TWICE)
		to = end;
	else if (how != MISSING)
		bytes[to++] = '\n';
	memcpy(bytes + to, f->bytes + kept, f->size - kept);
	changed = mem_format("line %zu %s", line + 1, (const char *[]){ "missing", "twice", "empty", "behind an empty one" }[how]);
	return to + f->size - kept;
}

static void judge_change(const struct thing *t, const struct fuzz_file *f)
{
	int status = ask(&questions[0], trace, NULL);
	judge(&questions[0], status, NULL);
	if (status == 0 && (out.size != t->said_size || memcmp(out.text, t->said, out.size)))
		finding(&questions[0], "%s, %s: all is well, and the answer is another one", f->name, changed);
}

static void one_change(struct thing *all, int n)
{
	const struct thing *t = &all[number % (uint64_t)n];
	uint64_t many = all_changes(t), change = many ? number / (uint64_t)n * MIXING % many : 0;
	const struct fuzz_file *f = t->files;
	if (!many)
		return;
	for (; change >= changes(f); f++)
		change -= changes(f);
	size_t size = f->size;
	memcpy(bytes, f->bytes, size);
	if (change < places(f) * CHANGES)
		change_byte(f, change);
	else
		size = change_line(f, change - places(f) * CHANGES);
	trace = t->directory;
	count.cases++;
	store(f->name, bytes, size);
	judge_change(t, f);
	store(f->name, f->bytes, f->size);
	free(changed);
}

/* ---- Losses ------------------------------------------------------------------------------------ */

/* A text does not say when a thread that has lost records ended, so of that it is not asked how many there were at any time. */
static void ask_judged(struct mutator *m, const struct thing *t)
{
	size_t i = mut_below(m, JUDGED);
	original = t->original;
	for (size_t n = 0; n < ASKED; n++, i = (i + 1) % JUDGED)
		if (t->is_fine[i] && !(t->text && i == ALIVE))
			judge(&questions[i], ask(&questions[i], trace, NULL), &t->whole[i]);
}

static void lose_file(struct mutator *m, const struct thing *t, const struct fuzz_file *file, const struct mut_bytes *b, bool there)
{
	char *path = path_of(file->name);
	if (there)
		store(file->name, b->at, b->size);
	else
		unlink(path);
	ask_judged(m, t);
	store(file->name, file->bytes, file->size);
	free(path);
}

static void one_loss(struct thing *all, int n)
{
	struct mutator m = { number * UINT64_C(0x9e3779b97f4a7c15) };
	const struct thing *t = &all[number % (uint64_t)n];
	const struct fuzz_file *file = &t->files[mut_below(&m, t->nfiles)];
	struct mut_bytes b = { bytes, file->size, sizeof bytes };
	memcpy(bytes, file->bytes, b.size);
	bool there = mut_lose(&m, file->name, &b);
	trace = t->directory;
	losing = true;
	count.cases++;
	if (!t->text) {
		lose_file(&m, t, file, &b, there);
		return;
	}
	if (pack(trace, b.at, b.size) <= 1)
		ask_judged(&m, t);
	clear();
}

/* ---- Missing events ---------------------------------------------------------------------------- */

/* Which end with status 1 whenever check does, and only then. */
static const size_t agree[] = { 0, 1, 3 }; /* report, csp, query */

static void one_missing(struct thing *all, int n)
{
	static const struct fuzz_question check = { { "check", "@", "--json" } };
	struct mutator m = { number * UINT64_C(0x9e3779b97f4a7c15) };
	const struct thing *t = &all[number % (uint64_t)n];
	struct mut_bytes b = { bytes, t->files->size, sizeof bytes };
	int status[JUDGED];
	memcpy(bytes, t->files->bytes, b.size);
	mut_forget(&m, &b);
	trace = t->directory;
	original = t->original;
	count.cases++;
	if (pack(trace, b.at, b.size) == 0) {
		for (size_t i = 0; i < JUDGED; i++)
			judge(&questions[i], status[i] = ask(&questions[i], trace, NULL), NULL);
		int damaged = ask(&check, trace, NULL);
		judge(&check, damaged, NULL);
		for (size_t i = 0; i < sizeof agree / sizeof *agree; i++)
			if (status[agree[i]] != damaged && status[agree[i]] <= 2)
				finding(&questions[agree[i]], "ends with status %d, check with %d", status[agree[i]], damaged);
	}
	clear();
}

static void one_case(struct thing *all, int n)
{
	struct mutator m = { number * UINT64_C(0x9e3779b97f4a7c15) };
	const struct thing *t = &all[number % (uint64_t)n];
	const struct fuzz_file *file;
	uint64_t turn = number / (uint64_t)n;
	struct mut_bytes b = turn % 4 == 0 ? cut(t, turn / 4, &file) : mutate(&m, t, &file);
	trace = t->directory;
	count.cases++;
	if (turn % 8 == 1 && !t->text)
		one_exchange(&m, t);
	else if (t->text)
		one_text(&m, &b);
	else
		one_trace(&m, t, file, &b);
}

static void end_all(struct thing *all)
{
	char *text = mem_format("%s/text.txt", scratch);
	for (int i = 0; i < nthings; i++) {
		trace = all[i].directory;
		clear();
		trace = all[i].original;
		clear();
	}
	unlink(text);
	unlink(written);
	rmdir(scratch);
	free(text);
	free(written);
}

/* ---- All ------------------------------------------------------------------------------------- */

static volatile sig_atomic_t asked_to_end;

static void end_soon(int signal)
{
	(void)signal;
	asked_to_end = 1;
}

int main(int argc, char **argv)
{
	uint64_t first = (uint64_t)time(NULL) << 20, cases = UINT64_MAX;
	time_t end = 0;
	signal(SIGINT, end_soon);
	signal(SIGTERM, end_soon);
	void (*one)(struct thing *, int) = one_case;
	for (int c; (c = getopt(argc, argv, "dels:n:t:")) >= 0;)
		switch (c) {
		case 'd': one = one_missing; break;
		case 'e': one = one_change; break;
		case 'l': one = one_loss; break;
		case 's': first = strtoull(optarg, NULL, 0); break;
		case 'n': cases = strtoull(optarg, NULL, 0); break;
		case 't': end = time(NULL) + atoi(optarg); break;
		default: return 2;
		}
	things = argv + optind;
	nthings = argc - optind;
	if (!nthings || !mkdtemp(scratch))
		return 2;
	written = mem_format("%s/exported", scratch);
	setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
	printf("fuzz -s %" PRIu64 " ...\n", first);
	struct thing *all = mem_resize(NULL, (size_t)nthings, sizeof *all);
	for (int i = 0; i < nthings; i++) {
		all[i] = load_thing(things[i]);
		store_thing(&all[i], i);
		ask_whole(&all[i]);
	}
	for (int i = 0; i < nthings && one == one_change; i++)
		printf("%s: %" PRIu64 " changes\n", things[i], all_changes(&all[i]));
	for (number = first; number - first < cases && !asked_to_end && (!end || time(NULL) < end); number++)
		one(all, nthings);
	end_all(all);
	printf("%" PRIu64 " cases, %" PRIu64 " commands: %" PRIu64 " found all well, %" PRIu64 " found damage, %" PRIu64
	       " refused; %" PRIu64 " findings; %" PRIu64 " disjoint answers with status 0, %" PRIu64 " with status 1\n",
	       count.cases, count.runs, count.fine, count.damaged, count.refused, count.findings, count.disjoint[0],
	       count.disjoint[1]);
	return count.findings ? 1 : 0;
}

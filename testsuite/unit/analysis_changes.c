/* SPDX-License-Identifier: MIT
 *
 * analysis_changes.c - files of a trace that change while they are read: that is said, or nobody can tell; and what is
 * read then is never beyond what is there. */
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "analysis/commands/command.h"
#include "analysis/text/text.h"
#include "testsuite/unit/record_twin.h"
#include "testsuite/truth/random.h"
#include "testsuite/unit/repack.h"

#define EVENTS 30000

static char directory[] = "/tmp/dprof-changes-XXXXXX";
static char *trace_name;

/* Two threads, with arguments. */
static void make_trace(void)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	fputs("dprof-text 1\nclock 0 host=h0 ghz=2\nthread 0 clock=0 rank=0\nthread 1 clock=0 rank=0\n"
	      "site 0 kind=region name=a\nsite 1 kind=recv name=MPI_Recv\n", out);
	for (unsigned i = 0; i < EVENTS; i += 2)
		fprintf(out, "e %u %u %u enter%s\ne %u %u %u exit\n", i / 2 % 2, 1000 + 10 * i, i / 4 % 2,
			i / 4 % 2 ? " peer=0 tag=7 bytes=123456" : "", i / 2 % 2, 1005 + 10 * i, i / 4 % 2);
	fclose(out);
	ck_assert_ptr_nonnull(mkdtemp(directory));
	trace_name = mem_format("%s/trace", directory);
	FILE *in = fmemopen(text, size, "r");
	char *wrong = text_pack(in, "text", trace_name);
	ck_assert_msg(!wrong, "%s", wrong);
	fclose(in);
	free(text);
}

static void remove_trace(void)
{
	char *remove = mem_format("rm -rf '%s'", directory);
	ck_assert_int_eq(system(remove), 0);
	free(remove);
	free(trace_name);
	memcpy(directory + strlen(directory) - 6, "XXXXXX", 6);
}

static char *first_file(const char *suffix)
{
	char *found = NULL;
	DIR *d = opendir(trace_name);
	for (struct dirent *e; (e = readdir(d));)
		if (name_ends(e->d_name, suffix) && (!found || strcmp(e->d_name, found) < 0)) {
			free(found);
			found = mem_copy(e->d_name);
		}
	closedir(d);
	ck_assert_ptr_nonnull(found);
	return found;
}

/* ---- Between the opening of a file and the reading of its words ------------------------------- */

struct bytes { uint8_t *at; size_t n; };

static struct bytes read_bytes(int fd)
{
	struct stat s;
	ck_assert_int_eq(fstat(fd, &s), 0);
	struct bytes b = { mem_resize(NULL, (size_t)s.st_size, 1), (size_t)s.st_size };
	ck_assert_int_eq(pread(fd, b.at, b.n, 0), s.st_size);
	return b;
}

static void write_bytes(int fd, const struct bytes *b)
{
	ck_assert_int_eq(ftruncate(fd, 0), 0);
	ck_assert_int_eq(pwrite(fd, b->at, b->n, 0), (ssize_t)b->n);
}

/* All words, to be freed. */
static uint64_t *read_words(struct ch_words *w)
{
	uint64_t *all = mem_resize(NULL, w->n, sizeof *all);
	for (size_t at = 0; at < w->n;) {
		struct ch_run run = ch_run(w, at);
		memcpy(all + at, run.word, run.n * sizeof *all);
		at += run.n;
	}
	return all;
}

static void damage(int fd, struct dice *dice, size_t size, size_t keep)
{
	uint8_t byte;
	off_t at = (off_t)(keep + (size_t)roll_in(dice, 0, (int64_t)(size - keep) - 1));
	if (roll_one_of(dice, 3)) {
		ck_assert_int_eq(ftruncate(fd, at), 0);
		return;
	}
	ck_assert_int_eq(pread(fd, &byte, 1, at), 1);
	byte ^= (uint8_t)(1u << roll_in(dice, 0, 7));
	ck_assert_int_eq(pwrite(fd, &byte, 1, at), 1);
}

/* `keep`: that many bytes of the file stay as they are. */
static void check_changes(const char *suffix, size_t keep)
{
	struct trace said = { .ndiagnostics = 0 };
	char *name = first_file(".events"), *victim = first_file(suffix);
	int folder = open(trace_name, O_RDONLY | O_DIRECTORY), fd = openat(folder, victim, O_RDWR);
	struct ch_unpacker *u = ch_unpacker_open(folder);
	struct bytes before = read_bytes(fd);
	struct ch_words w = thread_words(&said, u, folder, name);
	uint64_t *truth = read_words(&w);
	size_t n = w.n, noticed = 0;
	ch_close(&w);
	ck_assert_uint_eq(said.ndiagnostics, 0);
	for (uint64_t i = 0; i < unit_times(300); i++) {
		struct dice dice = { unit_seed + i };
		w = thread_words(&said, u, folder, name);
		damage(fd, &dice, before.n, keep);
		uint64_t *words = read_words(&w);
		ck_assert_uint_eq(w.n, n);
		ch_tell_damage(&said, &w);
		ck_assert_msg(said.ndiagnostics || !memcmp(words, truth, n * sizeof *words),
			      "SEED=%" PRIu64 ": other words, and nothing is said", unit_seed + i);
		noticed += said.ndiagnostics > 0;
		for (size_t k = 0; k < said.ndiagnostics; k++)
			free(said.diagnostics[k]);
		free(said.diagnostics);
		said = (struct trace){ .ndiagnostics = 0 };
		free(words);
		ch_close(&w);
		write_bytes(fd, &before);
	}
	ck_assert_uint_gt(noticed, unit_times(300) / 2);
	free(truth);
	free(before.at);
	free(name);
	free(victim);
	ch_unpacker_close(u);
	close(fd);
	close(folder);
}

START_TEST(words_that_change_are_named)
{
	make_trace();
	check_changes(".events", DPROF_HEADER_SIZE);
	remove_trace();
}
END_TEST

START_TEST(packed_words_that_change_are_named)
{
	make_trace();
	repack(trace_name, 4096, false);
	check_changes(".packed", 0);
	check_changes(".events", DPROF_HEADER_SIZE);
	remove_trace();
}
END_TEST

/* ---- At any time ----------------------------------------------------------------------------- */

/* Spoils a file and puts it right again, until it is killed. */
static void spoil(uint64_t seed)
{
	char *names[] = { first_file(".events"), first_file(".packed") };
	struct dice dice = { seed };
	int folder = open(trace_name, O_RDONLY | O_DIRECTORY);
	for (;;) {
		int k = roll_one_of(&dice, 2), fd = openat(folder, names[k], O_RDWR);
		struct bytes before = read_bytes(fd);
		damage(fd, &dice, before.n, k ? 0 : DPROF_HEADER_SIZE);
		usleep((unsigned)roll_in(&dice, 0, 3000));
		write_bytes(fd, &before);
		free(before.at);
		close(fd);
		usleep((unsigned)roll_in(&dice, 0, 3000));
	}
}

static uint64_t sum_of_events(const struct trace *t)
{
	uint64_t sum = DPROF_SUM_BEGIN;
	for (size_t i = 0; i < t->nthreads; i++) {
		struct tr_cursor c = trace_events(t, i);
		for (struct tr_event e; trace_next(&c, &e);)
			sum = dprof_sum_word(sum, e.stamp + e.site + trace_arg(&e, DPROF_KEY_BYTES, 3));
		trace_end(&c);
	}
	return sum;
}

/* Each record is decoded once. */
START_TEST(nothing_is_read_again)
{
	char *error;
	make_trace();
	repack(trace_name, 4096, false);
	char *wipe = mem_format("cd '%s' && truncate -s 0 * && rm -f *", trace_name);
	struct trace *t = trace_open(trace_name, &error);
	ck_assert_msg(t && !t->ndiagnostics, "%s", t ? t->diagnostics[0] : error);
	uint64_t truth = sum_of_events(t);
	ck_assert_int_eq(system(wipe), 0);
	ck_assert_uint_eq(sum_of_events(t), truth);
	trace_close(t);
	free(wipe);
	remove_trace();
}
END_TEST

START_TEST(what_is_not_named_is_as_it_was)
{
	char *error;
	size_t whole = 0;
	make_trace();
	repack(trace_name, 4096, false);
	struct trace *t = trace_open(trace_name, &error);
	ck_assert_msg(t && !t->ndiagnostics, "%s", t ? t->diagnostics[0] : error);
	uint64_t truth = sum_of_events(t);
	trace_close(t);
	pid_t child = fork();
	if (!child)
		spoil(unit_seed);
	for (uint64_t i = 0; i < unit_times(300); i++) {
		t = trace_open(trace_name, &error);
		ck_assert_msg(t, "%s", error);
		uint64_t sum = sum_of_events(t);
		ck_assert_msg(t->ndiagnostics || sum == truth, "other events, and nothing is said");
		whole += !t->ndiagnostics;
		trace_close(t);
	}
	printf("%zu of %" PRIu64 " were as they had been\n", whole, unit_times(300));
	kill(child, SIGKILL);
	ck_assert_int_eq(waitpid(child, NULL, 0), child);
	remove_trace();
}
END_TEST

int main(void)
{
	TCase *c = unit_begin(900, UNIT_ANEW);

	tcase_add_test(c, words_that_change_are_named);
	tcase_add_test(c, packed_words_that_change_are_named);
	tcase_add_test(c, nothing_is_read_again);
	tcase_add_test(c, what_is_not_named_is_as_it_was);
	return unit_end();
}

/* SPDX-License-Identifier: MIT
 *
 * stored.c - stored DIR ROUNDS: what the stored form (runtime/packed.h) costs for the words of a trace.
 *
 * Each round packs all words of all threads, in chunks of 1 MiB, and unpacks them, and prints: bytes, ns of packing
 * and ns of unpacking, for each event. The words are those of the trace, wherever they stand in it. */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "analysis/base/memory.h"
#include "analysis/trace/chunks_private.h"
#include "analysis/trace/trace_private.h"
#include "runtime/pack.h"
#include "testsuite/unit/thread_words.h"

#define CHUNK_WORDS (((size_t)1 << 20) / sizeof(uint64_t))

static const char file[] = "stored.packed";
static uint64_t *words;
static size_t nwords, nevents;

static void die(const char *what)
{
	fprintf(stderr, "stored: %s\n", what);
	unlink(file);
	exit(EXIT_FAILURE);
}

static double now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void load_thread(struct ch_words *w)
{
	words = mem_resize(words, nwords + w->n, sizeof *words);
	for (size_t at = 0; at < w->n;) {
		struct ch_run run = ch_run(w, at);
		memcpy(words + nwords, run.word, run.n * sizeof *words);
		nwords += run.n;
		at += run.n;
	}
}

static void load_words(const char *directory)
{
	struct trace said = { .ndiagnostics = 0 };
	int fd = open(directory, O_RDONLY | O_DIRECTORY);
	DIR *d = fd < 0 ? NULL : fdopendir(dup(fd));
	struct ch_unpacker *unpacker = ch_unpacker_open(fd);
	for (struct dirent *e; d && (e = readdir(d));) {
		if (!name_ends(e->d_name, ".events"))
			continue;
		struct ch_words w = thread_words(&said, unpacker, fd, e->d_name);
		load_thread(&w);
		ch_close(&w);
	}
	if (!d || said.ndiagnostics)
		die(d ? said.diagnostics[0] : "no directory");
	closedir(d);
	ch_unpacker_close(unpacker);
	close(fd);
	for (size_t i = 0; i < nwords; i++)
		nevents += !dprof_is_escape(words[i]);
}

static long pack(void)
{
	long end = 0;
	unlink(file);
	for (size_t at = 0, n; at < nwords; at += n) {
		n = nwords - at < CHUNK_WORDS ? nwords - at : CHUNK_WORDS;
		end = dprof_pack(file, (uint64_t)end, DPROF_PART_NOBODY, at / CHUNK_WORDS, words + at, n);
		if (end < 0)
			die("cannot be packed");
	}
	return end;
}

static void unpack(struct ch_unpacker *u, int fd, uint64_t end)
{
	static uint64_t to[DPROF_PART_WORDS];
	struct dprof_part p;
	size_t n = 0;
	for (uint64_t at = 0; at < end; at += sizeof p + p.bytes) {
		if (!read_at(fd, &p, sizeof p, at) || !unpacker_words(u, fd, at, DPROF_PART_NOBODY, p.words, to) ||
		    memcmp(to, words + n, p.words * sizeof *to) != 0)
			die("other words are unpacked");
		n += p.words;
	}
}

int main(int argc, char **argv)
{
	if (argc != 3)
		return EXIT_FAILURE;
	load_words(argv[1]);
	struct ch_unpacker *u = ch_unpacker_open(AT_FDCWD);
	for (int round = atoi(argv[2]); round > 0; round--) {
		double begin = now_ns();
		long end = pack();
		double packing = now_ns() - begin;
		int fd = open(file, O_RDONLY);
		begin = now_ns();
		unpack(u, fd, (uint64_t)end);
		printf("%.4f %.3f %.3f\n", (double)end / (double)nevents, packing / (double)nevents,
		       (now_ns() - begin) / (double)nevents);
		close(fd);
	}
	ch_unpacker_close(u);
	unlink(file);
	return EXIT_SUCCESS;
}

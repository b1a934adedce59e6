/* SPDX-License-Identifier: MIT
 *
 * csp.c - csp DIR ROUNDS: what an event costs in the analysis, beside reading its word.
 *
 * Each round prints, in ns for each event: adding up all words of the files once; decoding them (a
 * walk over all events); what dprof-analyze csp does, from opening the trace to the scores,
 * with --links packets and with links from the program, too; and the scores of all threads alone, without what
 * comes before, as they are found and with nothing left out before the sweep (csp.h).
 * The files are in the page cache. The number of events comes first. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "analysis/report/findings.h"
#include "analysis/states/csp.h"
#include "analysis/trace/trace_private.h"
#include "testsuite/unit/thread_words.h"

static double now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static struct trace *open_or_die(const char *directory)
{
	char *error;
	struct trace *t = trace_open(directory, &error);
	if (!t || t->ndiagnostics > 0) {
		fprintf(stderr, "csp: %s: %s\n", directory, t ? t->diagnostics[0] : error);
		exit(EXIT_FAILURE);
	}
	return t;
}

static volatile uint64_t sink;

static uint64_t sum_of_words(struct ch_words *words)
{
	uint64_t sum = 0;
	for (size_t at = 0; at < words->n;) {
		struct ch_run run = ch_run(words, at);
		for (size_t k = 0; k < run.n; k++)
			sum += run.word[k];
		at += run.n;
	}
	return sum;
}

static void read_words(const char *directory)
{
	struct trace said = { .ndiagnostics = 0 };
	int fd = open(directory, O_RDONLY | O_DIRECTORY);
	struct ch_unpacker *unpacker = ch_unpacker_open(fd);
	DIR *d = fdopendir(dup(fd));
	for (struct dirent *e; (e = readdir(d));) {
		if (!name_ends(e->d_name, ".events"))
			continue;
		struct ch_words words = thread_words(&said, unpacker, fd, e->d_name);
		sink = sum_of_words(&words);
		ch_close(&words);
	}
	closedir(d);
	ch_unpacker_close(unpacker);
	close(fd);
}

static uint64_t walk(const struct trace *t)
{
	uint64_t events = 0;
	for (size_t i = 0; i < t->nthreads; i++) {
		struct tr_cursor cursor = trace_events(t, i);
		for (struct tr_event e; trace_next(&cursor, &e);)
			events += e.op != DPROF_LOST;
		trace_end(&cursor);
	}
	return events;
}

static void open_findings(struct findings *f, struct trace *t, bool packets_only)
{
	struct options options = { .assumption = { .model = FRZ_DRIFT, .ppb = 10000 },
				   .packets_only = packets_only };
	if (findings_open(f, t, &options) != EXIT_FINE)
		exit(EXIT_FAILURE);
}

static void print_sweeps(const struct findings *f, double events)
{
	struct participants who = totals_participant_threads(&f->totals, false);
	double begin = now_ns();
	free(csp_scores(&f->times, &f->totals.periods, &who, f->spans));
	double pruned = now_ns();
	free(csp_scores_unpruned(&f->times, &f->totals.periods, &who, f->spans));
	printf(" %.3f %.3f\n", (pruned - begin) / events, (now_ns() - pruned) / events);
	participants_close(&who);
}

static double score_ns(const char *directory, bool packets_only)
{
	struct findings f;
	double begin = now_ns();
	struct trace *t = open_or_die(directory);
	open_findings(&f, t, packets_only);
	findings_close(&f);
	trace_close(t);
	return now_ns() - begin;
}

int main(int argc, char **argv)
{
	if (argc != 3)
		return EXIT_FAILURE;
	struct trace *t = open_or_die(argv[1]);
	double events = (double)walk(t);
	printf("%.0f\n", events);
	struct findings f;
	open_findings(&f, t, true);
	for (int round = atoi(argv[2]); round > 0; round--) {
		double begin = now_ns();
		read_words(argv[1]);
		double read = now_ns() - begin;
		begin = now_ns();
		walk(t);
		double decode = now_ns() - begin;
		printf("%.3f %.3f %.3f %.3f", read / events, decode / events,
		       score_ns(argv[1], true) / events, score_ns(argv[1], false) / events);
		print_sweeps(&f, events);
	}
	findings_close(&f);
	trace_close(t);
	return EXIT_SUCCESS;
}

/* SPDX-License-Identifier: MIT
 *
 * kineto.c - see kineto.h. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/lines.h"
#include "analysis/base/memory.h"
#include "analysis/base/order.h"
#include "analysis/base/temporary.h"
#include "analysis/kineto/kineto_private.h"
#include "analysis/text/text.h"
#include "runtime/format.h"

static bool ends_in(const char *path, const char *end)
{
	size_t n = strlen(path), k = strlen(end);
	return n > k && strcmp(path + n - k, end) == 0;
}

bool kineto_is(const char *path)
{
	return ends_in(path, ".json") || ends_in(path, ".json.gz");
}

/* ---- The text -------------------------------------------------------------------------------- */

struct kineto_site { char *name; const char *kind; };

struct kineto_writer {
	const struct kineto_trace *t;
	FILE *out;
	int64_t begin;           /* ns: of all files */
	bool one_clock;
	struct kineto_site *sites; size_t nsites;
	size_t *first_thread;    /* of each file; threads have numbers in the order of files */
};

static void write_heads(const struct kineto_writer *w)
{
	fputs(TEXT_FIRST_LINE "\n", w->out);
	for (size_t f = 0; f < (w->one_clock ? 1 : w->t->nfiles); f++) {
		const struct kineto_file *file = &w->t->files[f];
		fprintf(w->out, w->one_clock ? "clock %zu host=as%%20recorded" : "clock %zu host=rank%%20%" PRId64, f, file->rank);
		fprintf(w->out, " ghz=1 source=kineto halfwidth=%" PRId64 "\n", file->uncertainty);
	}
	for (size_t f = 0; f < w->t->nfiles; f++) {
		const struct kineto_file *file = &w->t->files[f];
		size_t clock = w->one_clock ? 0 : f;
		fprintf(w->out, "process %zu clock=%zu rank=%" PRId64 " size=%" PRId64 " program=", f, clock, file->rank,
			file->size > file->rank ? file->size : (int64_t)w->t->files[w->t->nfiles - 1].rank + 1);
		ln_escaped(w->out, w->t->files[0].path); /* one job */
		putc('\n', w->out);
		for (size_t i = 0; i < file->nthreads; i++)
			fprintf(w->out, "thread %zu clock=%zu process=%zu rank=%" PRId64 "\n", w->first_thread[f] + i,
				clock, f, file->rank);
	}
	for (size_t g = 0; g < w->t->ngroups; g++) {
		const struct kineto_group *group = &w->t->groups[g];
		for (size_t i = 0; i < group->n; i++) {
			i == 0 ? (void)fprintf(w->out, "group %zu threads=", g + 1) : (void)putc(',', w->out);
			fprintf(w->out, "%zu%s", w->first_thread[group->file[i]] + group->thread[i], i + 1 == group->n ? "\n" : "");
		}
	}
}

/* Its number; and if it is new, its line. */
static size_t site_of(struct kineto_writer *w, const char *kind, const char *name)
{
	for (size_t i = w->nsites; i-- > 0;)
		if (strcmp(w->sites[i].kind, kind) == 0 && strcmp(w->sites[i].name, name) == 0)
			return i;
	fprintf(w->out, "site %zu kind=%s name=", w->nsites, kind);
	ln_escaped(w->out, *name ? name : "?");
	fprintf(w->out, " file= line=0%s\n", strcmp(kind, "region") == 0 ? " auto=1" : "");
	*MEM_GROW(w->sites, w->nsites) = (struct kineto_site){ mem_copy(name), kind };
	return w->nsites - 1;
}

static void write_event(const struct kineto_writer *w, size_t thread, int64_t at, size_t site,
			const struct kineto_slice *s, const char *op)
{
	fprintf(w->out, "e %zu %" PRId64 " %zu %s", thread, at - w->begin + 1, site, op);
	if (s->match != KINETO_NONE)
		fprintf(w->out, " group=%zu seq=%" PRIu64, s->match + 1, s->seq);
	if (s->match != KINETO_NONE && s->bytes)
		fprintf(w->out, " bytes=%" PRIu64, s->bytes);
	if (s->match == KINETO_NONE && s->what && strcmp(op, "enter") == 0)
		fprintf(w->out, " peer=%" PRIu64, (uint64_t)DPROF_PEER_UNKNOWN);
	putc('\n', w->out);
}

struct kineto_open { const struct kineto_slice *slice; size_t site; int64_t to; };

/* Nobody leaves before all have come: a collective operation does so as it moves data, a barrier in any case. */
static const char *kind_of(const struct kineto_slice *s)
{
	if (s->match != KINETO_NONE)
		return s->bytes ? "coll" : "barrier";
	return s->what ? "wait" : "region";
}

/* Each ends no later than what it is in. */
static void write_thread(struct kineto_writer *w, size_t number, const struct kineto_thread *t)
{
	struct kineto_open *open = NULL;
	size_t depth = 0;
	for (size_t i = 0; i <= t->n; i++) {
		const struct kineto_slice *s = i < t->n ? &t->slices[i] : NULL;
		for (; depth > 0 && (!s || open[depth - 1].to <= s->from); depth--)
			write_event(w, number, open[depth - 1].to, open[depth - 1].site, open[depth - 1].slice, "exit");
		if (!s)
			break;
		int64_t to = depth > 0 && open[depth - 1].to < s->to ? open[depth - 1].to : s->to;
		struct kineto_open now = { s, site_of(w, kind_of(s), s->name), to };
		write_event(w, number, s->from, now.site, s, "enter");
		*MEM_GROW(open, depth) = now;
	}
	free(open);
}

/* One whose times are cut short here, or that is in another operation, proves nothing. */
static void unmatch_cut(struct kineto_trace *t)
{
	bool *cut = mem_zeroed(t->ngroups + 1, sizeof *cut);
	for (size_t f = 0; f < t->nfiles; f++)
		for (size_t i = 0; i < t->files[f].nthreads; i++) {
			const struct kineto_thread *thread = &t->files[f].threads[i];
			int64_t over = INT64_MIN;
			for (size_t k = 0; k < thread->n; k++) {
				const struct kineto_slice *s = &thread->slices[k];
				if (s->match != KINETO_NONE && s->from < over)
					cut[s->match] = true;
				over = s->to > over ? s->to : over;
			}
		}
	for (size_t f = 0; f < t->nfiles; f++)
		for (size_t i = 0; i < t->files[f].nthreads; i++)
			for (size_t k = 0; k < t->files[f].threads[i].n; k++) {
				struct kineto_slice *s = &t->files[f].threads[i].slices[k];
				s->match = s->match != KINETO_NONE && cut[s->match] ? KINETO_NONE : s->match;
			}
	free(cut);
}

static void write_note(const struct kineto_writer *w, const char *note)
{
	fputs("note ", w->out);
	ln_escaped(w->out, note);
	putc('\n', w->out);
}

/* Whose it is decides what is said of whom. */
static void write_unranked(const struct kineto_writer *w)
{
	const struct kineto_file *first = NULL;
	for (size_t f = w->t->nfiles; f-- > 0;)
		first = w->t->files[f].ranked ? first : &w->t->files[f];
	if (!first || w->t->nfiles < 2)
		return;
	char *note = mem_format("not every file says its rank (\"distributedInfo\"): such a file has the rank of its place among "
				"those that were given, as %s has rank %" PRId64, first->path, first->rank);
	write_note(w, note);
	free(note);
}

static void write_all(struct kineto_writer *w)
{
	write_heads(w);
	for (size_t f = 0; f < w->t->nfiles; f++)
		for (size_t i = 0; i < w->t->files[f].nthreads; i++)
			write_thread(w, w->first_thread[f] + i, &w->t->files[f].threads[i]);
	if (w->t->counted)
		write_note(w, "collective operations have no numbers (\"Seq\") that tell them apart: assumed is that the files are "
			      "of the same steps, so that the n-th of a group in each is the same");
	write_unranked(w);
}

static void write_text(const struct kineto_trace *t, bool one_clock, FILE *out)
{
	struct kineto_writer w = { .t = t, .out = out, .begin = INT64_MAX, .one_clock = one_clock };
	size_t threads = 0;
	w.first_thread = mem_resize(NULL, t->nfiles + 1, sizeof *w.first_thread);
	for (size_t f = 0; f < t->nfiles; f++) {
		w.first_thread[f] = threads;
		threads += t->files[f].nthreads;
		for (size_t i = 0; i < t->files[f].nthreads; i++)
			w.begin = t->files[f].threads[i].slices[0].from < w.begin ? t->files[f].threads[i].slices[0].from : w.begin;
	}
	write_all(&w);
	for (size_t i = 0; i < w.nsites; i++)
		free(w.sites[i].name);
	free(w.sites);
	free(w.first_thread);
}

/* ---- All of it ------------------------------------------------------------------------------- */

static int by_rank(const void *a, const void *b)
{
	const struct kineto_file *x = a, *y = b;
	return ORDER(x->rank, y->rank);
}

static char *read_all(struct kineto_trace *t, const char *const *paths, size_t n)
{
	char *wrong = NULL;
	for (size_t i = 0; i < n && !wrong; i++)
		wrong = kineto_read(MEM_GROW(t->files, t->nfiles), paths[i], i);
	if (wrong)
		return wrong;
	qsort(t->files, t->nfiles, sizeof *t->files, by_rank);
	for (size_t i = 1; i < n; i++)
		if (t->files[i].rank == t->files[i - 1].rank)
			return mem_format("%s and %s: expected a file of each rank, found two of rank %" PRId64 "%s",
					  t->files[i - 1].path, t->files[i].path, t->files[i].rank,
					  t->files[i - 1].ranked && t->files[i].ranked
						  ? "" : " (what does not say its rank has that of its place among the files)");
	kineto_relate(t);
	unmatch_cut(t);
	return NULL;
}

static void close_all(struct kineto_trace *t)
{
	for (size_t i = 0; i < t->nfiles; i++)
		kineto_close(&t->files[i]);
	for (size_t i = 0; i < t->ngroups; i++)
		free(t->groups[i].name), free(t->groups[i].file), free(t->groups[i].thread);
	free(t->files);
	free(t->groups);
}

static char *pack_text(const struct kineto_trace *t, bool one_clock, const char *directory)
{
	int text = temporary_open();
	FILE *file = text < 0 ? NULL : fdopen(text, "w+");
	if (!file)
		return mem_format("a temporary file: cannot be made: %s", strerror(errno));
	write_text(t, one_clock, file);
	char *wrong = fflush(file) != 0 || ferror(file) ? mem_format("a temporary file: cannot be written: %s", strerror(errno)) : NULL;
	rewind(file);
	wrong = wrong ? wrong : text_pack(file, t->files[0].path, directory);
	fclose(file);
	return wrong;
}

char *kineto_pack(const char *const *paths, size_t n, bool one_clock, const char *directory, bool *by_order)
{
	struct kineto_trace t = { .nfiles = 0 };
	char *wrong = read_all(&t, paths, n);
	*by_order = t.counted;
	wrong = wrong ? wrong : pack_text(&t, one_clock, directory);
	close_all(&t);
	return wrong;
}

/* SPDX-License-Identifier: MIT
 *
 * otf2.c - see otf2.h. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analysis/base/lines.h"
#include "analysis/base/memory.h"
#include "analysis/base/temporary.h"
#include "analysis/otf2/otf2_private.h"
#include "analysis/text/text.h"

bool otf2_is(const char *path)
{
	size_t n = strlen(path);
	return n > 5 && strcmp(path + n - 5, ".otf2") == 0;
}

/* ---- The text -------------------------------------------------------------------------------- */

static void write_clocks(const struct otf2_trace *t)
{
	fputs(TEXT_FIRST_LINE "\n", t->out);
	if (t->logs) {
		otf2_write_log_clocks(t);
		return;
	}
	for (size_t p = 0; p < (t->times == OTF2_ONE_CLOCK ? 1 : t->nprocesses); p++) {
		const char *name = t->times == OTF2_ONE_CLOCK ? "as recorded" : otf2_string(t, t->processes[p].name);
		fprintf(t->out, "clock %zu host=", p);
		ln_escaped(t->out, *name ? name : "?");
		fprintf(t->out, " ghz=%.17g source=otf2 halfwidth=1\n", (double)t->resolution / 1e9);
	}
}

static void write_processes(const struct otf2_trace *t)
{
	for (size_t p = 0; p < t->nprocesses; p++) {
		fprintf(t->out, "process %zu clock=%zu", p, t->processes[p].clock);
		if (t->processes[p].rank != OTF2_NOWHERE)
			fprintf(t->out, " rank=%zu size=%zu", t->processes[p].rank, t->nranks);
		fputs(" program=", t->out);
		ln_escaped(t->out, t->path);
		putc('\n', t->out);
	}
}

static void write_threads(const struct otf2_trace *t)
{
	for (size_t i = 0; i < t->nlocations; i++) {
		const struct otf2_location *l = &t->locations[i];
		if (!l->thread)
			continue;
		fprintf(t->out, "thread %zu clock=%zu process=%zu", i, t->processes[l->process].clock, l->process);
		if (t->processes[l->process].rank != OTF2_NOWHERE)
			fprintf(t->out, " rank=%zu", t->processes[l->process].rank);
		putc('\n', t->out);
	}
}

static void write_groups(const struct otf2_trace *t)
{
	for (size_t c = 0; c < t->ncomms; c++) {
		const struct otf2_group *g = otf2_comm(t, (OTF2_CommRef)t->comm_ids.id[c]);
		if (!g)
			continue;
		fprintf(t->out, "group %zu threads=", c + 1);
		for (size_t i = 0; i < g->n; i++)
			fprintf(t->out, "%s%" PRIu64, i ? "," : "", t->ranks[g->members[i]]);
		putc('\n', t->out);
	}
}

/* Numbers that are local to a location are given the global ones by its own definitions, if it has some. */
static void open_locations(const struct otf2_trace *t)
{
	for (size_t i = 0; i < t->nlocations; i++)
		OTF2_Reader_SelectLocation(t->reader, t->locations[i].ref);
	bool own = OTF2_Reader_OpenDefFiles(t->reader) == OTF2_SUCCESS;
	OTF2_Reader_OpenEvtFiles(t->reader);
	for (size_t i = 0; i < t->nlocations && own; i++) {
		OTF2_DefReader *definitions = OTF2_Reader_GetDefReader(t->reader, t->locations[i].ref);
		uint64_t n;
		if (!definitions)
			continue;
		OTF2_Reader_ReadAllLocalDefinitions(t->reader, definitions, &n);
		OTF2_Reader_CloseDefReader(t->reader, definitions);
	}
	if (own)
		OTF2_Reader_CloseDefFiles(t->reader);
}

/* What a location has lost nobody knows: one record at least. */
static void write_events(struct otf2_trace *t)
{
	for (size_t i = 0; i < t->nlocations; i++) {
		if (!t->locations[i].thread)
			continue;
		char *wrong = otf2_events(t, i);
		if (!wrong)
			continue;
		fprintf(t->out, "lost %zu 1\nnote ", i);
		char *note = mem_format("location %s: %s; what lies behind is missing",
					otf2_string(t, t->locations[i].name), wrong);
		ln_escaped(t->out, note);
		putc('\n', t->out);
		free(note);
		free(wrong);
	}
}

/* Says of which communicators it is not known what belongs together. */
static void write_calls(const struct otf2_trace *t)
{
	size_t n = 0;
	for (size_t c = 0; c < t->ncomms; c++)
		n += otf2_comm(t, (OTF2_CommRef)t->comm_ids.id[c]) && !otf2_are_calls_told(t, (OTF2_CommRef)t->comm_ids.id[c]) &&
		     (t->calls[c].locations || t->calls[c].most_of_cut);
	if (n == 0)
		return;
	char *note = mem_format("in %zu communicator%s processes recorded different numbers of collective operations, as where "
				"recording begins later or pauses: it is not known which of them are the same",
				n, n == 1 ? "" : "s");
	fputs("note ", t->out);
	ln_escaped(t->out, note);
	putc('\n', t->out);
	free(note);
}

static char *write_all(struct otf2_trace *t)
{
	char *wrong = otf2_definitions(t);
	if (!wrong && t->logs)
		wrong = otf2_place(t);
	if (wrong)
		return wrong;
	write_clocks(t);
	write_processes(t);
	write_threads(t);
	write_groups(t);
	if (t->logs)
		otf2_write_links(t);
	open_locations(t);
	t->calls = mem_zeroed(t->ncomms + 1, sizeof *t->calls);
	for (size_t i = 0; i < t->nlocations; i++)
		if (t->locations[i].thread)
			otf2_count(t, i);
	write_calls(t);
	write_events(t);
	return NULL;
}

/* It would print on its own. */
static OTF2_ErrorCode be_quiet(void *user, const char *file, uint64_t line, const char *function, OTF2_ErrorCode code,
			       const char *format, va_list arguments)
{
	(void)user, (void)file, (void)line, (void)function, (void)format, (void)arguments;
	return code;
}

/* NULL, or what went wrong (to be freed). */
static char *write_text(const char *path, enum otf2_times times, const struct sync_logs *logs, FILE *out)
{
	char *damage = otf2_anchor_wrong(path);
	if (damage)
		return damage;
	OTF2_Error_RegisterCallback(be_quiet, NULL);
	struct otf2_trace t = { .path = path, .out = out, .times = times, .logs = logs, .reader = OTF2_Reader_Open(path) };
	if (!t.reader)
		return mem_format("%s: expected the anchor file of an OTF2 trace, which cannot be opened as such", path);
	OTF2_Reader_SetSerialCollectiveCallbacks(t.reader);
	char *wrong = write_all(&t);
	otf2_forget_streams(&t);
	otf2_forget(&t);
	OTF2_Reader_Close(t.reader);
	if (!wrong && fflush(out) != 0)
		wrong = mem_format("a temporary file: cannot be written: %s", strerror(errno));
	return wrong;
}

/* ---- In a process of its own ----------------------------------------------------------------- */

/* Of the child: what is wrong goes into the pipe. */
static _Noreturn void convert(const char *path, enum otf2_times times, const struct sync_logs *logs, int text, int words)
{
	FILE *out = fdopen(text, "w");
	char *wrong = out ? write_text(path, times, logs, out) : mem_copy("out of memory");
	if (wrong && write(words, wrong, strlen(wrong)) < 0)
		_exit(2);
	_exit(wrong ? 1 : 0);
}

/* All that comes, to be freed. */
static char *read_words(int from)
{
	char words[4096];
	size_t n = 0;
	for (ssize_t got; n < sizeof words - 1 && (got = read(from, words + n, sizeof words - 1 - n)) > 0;)
		n += (size_t)got;
	words[n] = '\0';
	return mem_copy(words);
}

/* NULL, or what went wrong. */
static char *convert_apart(const char *path, enum otf2_times times, const struct sync_logs *logs, int text)
{
	int words[2], status;
	if (pipe(words) != 0)
		return mem_format("%s: no pipe: %s", path, strerror(errno));
	fflush(NULL);
	pid_t child = fork();
	if (child == 0)
		convert(path, times, logs, text, words[1]);
	close(words[1]);
	char *wrong = read_words(words[0]);
	close(words[0]);
	if (child < 0 || waitpid(child, &status, 0) != child) {
		free(wrong);
		return mem_format("%s: no process: %s", path, strerror(errno));
	}
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
		free(wrong);
		return NULL;
	}
	if (*wrong)
		return wrong;
	free(wrong);
	const char *how = WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "it ended";
	return mem_format("%s: OTF2's own library failed on it (%s)", path, how);
}

char *otf2_pack(const char *path, enum otf2_times times, const struct sync_logs *logs, const char *directory)
{
	int text = temporary_open();
	if (text < 0)
		return mem_format("a temporary file: cannot be made: %s", strerror(errno));
	char *wrong = convert_apart(path, times, logs, text);
	FILE *in = wrong ? NULL : fdopen(text, "r");
	if (!in) {
		close(text);
		return wrong ? wrong : mem_format("%s: %s", path, strerror(errno));
	}
	rewind(in);
	wrong = text_pack(in, path, directory);
	fclose(in);
	return wrong;
}

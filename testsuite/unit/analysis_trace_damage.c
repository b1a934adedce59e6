/* SPDX-License-Identifier: MIT
 *
 * Whatever is done to the bytes of a trace, opening, checking and dumping it comes to an end,
 * and what a cursor gives can be relied on: stamps that do not go back, sites that exist, each
 * argument once; and it is what a slow twin makes of the files' words. */
#include <dirent.h>
#include <signal.h>
#include <unistd.h>

#include "analysis/base/memory.h"
#include "analysis/commands/command.h"
#include "analysis/render/render.h"
#include "analysis/text/text.h"
#include "testsuite/fuzz/mutate.h"
#include "testsuite/unit/record_twin.h"

#define ROUNDS 4000

static const char text[] =
	"dprof-text 1\n"
	"clock 0 host=h0 ghz=2.25\nclock 1 host=h1 ghz=2.5\n"
	"process 0 rank=0 size=3 program=/bin/app job=7\n"
	"thread 0 clock=0 rank=0\nthread 1 clock=0 rank=0 name=worker\nthread 2 clock=1 rank=1\n"
	"thread 3 clock=1 rank=2 complete=0\n"
	"group 1 threads=0,2,3\ngroup 2 threads=0,1 size=2\n"
	"site 0 kind=region name=body file=a.c line=12 function=f\nsite 1 kind=barrier "
	"name=MPI_Barrier file=a.c line=20\n"
	"site 2 kind=progress name=step file=a.c line=30\nsite 3 kind=recv name=MPI_Recv file=b.c "
	"line=40\n"
	"link 0 1000 1 5000\nlink 1 6000 0 3000\nlink 0 91000 1 95000\nlink 1 96000 0 93000\n"
	"note something%20to%20know\n"
	"e 0 1200 0 enter\ne 0 1900 0 exit\ne 0 1950 1 enter group=1 seq=0\ne 0 2000 1 exit\ne 0 "
	"2010 2 point\n"
	"e 1 1300 0 enter\ne 1 1800 0 exit\nlost 1 5\ne 1 1900 1 enter group=2 seq=0\ne 1 1990 1 "
	"exit\n"
	"e 2 5300 3 enter peer=0 tag=7 bytes=100\ne 2 5400 3 exit\ne 2 5500 1 enter group=1 "
	"seq=0\ne 2 5600 1 exit\n"
	"e 3 5300 0 enter\ne 3 5400 0 exit\ne 3 5500 1 enter group=1 seq=0\n";

static uint64_t seed;
static char directory[] = "/tmp/dprof-damage-XXXXXX";

/* ---- Files ----------------------------------------------------------------------------------- */

struct damaged_file { char *path; uint8_t *bytes; size_t size; };

static struct damaged_file files[64];
static size_t nfiles;

static void load(const char *path)
{
	FILE *in = fopen(path, "rb");
	ck_assert_ptr_nonnull(in);
	struct damaged_file *f = &files[nfiles++];
	f->path = mem_copy(path);
	f->bytes = mem_resize(NULL, 1 << 20, 1);
	f->size = fread(f->bytes, 1, 1 << 20, in);
	fclose(in);
}

static void store(const char *path, const uint8_t *bytes, size_t size)
{
	FILE *out = fopen(path, "wb");
	ck_assert_ptr_nonnull(out);
	ck_assert(fwrite(bytes, 1, size, out) == size);
	fclose(out);
}

static void load_all(const char *trace)
{
	DIR *d = opendir(trace);
	for (struct dirent *e; (e = readdir(d));) {
		char *path = mem_format("%s/%s", trace, e->d_name);
		if (e->d_name[0] != '.')
			load(path);
		free(path);
	}
	closedir(d);
}

/* ---- What must hold -------------------------------------------------------------------------- */

static void walk(const struct trace *t, size_t thread)
{
	uint64_t highest = 0;
	struct tr_cursor cursor = trace_events(t, thread);
	for (struct tr_event e; trace_next(&cursor, &e);) {
		unsigned keys = 0;
		if (e.op == DPROF_LOST)
			continue;
		ck_assert_msg(e.stamp >= highest, "SEED=%" PRIu64 ": a stamp goes back", seed);
		ck_assert_msg(e.site == TR_NO_SITE || e.site < t->nsites,
			      "SEED=%" PRIu64 ": no such site", seed);
		highest = e.stamp;
		for (unsigned i = 0; i < e.nargs; i++) {
			ck_assert_msg(!(keys & 1u << e.args[i].key),
				      "SEED=%" PRIu64 ": an argument twice", seed);
			keys |= 1u << e.args[i].key;
		}
	}
	ck_assert_msg(t->threads[thread].clock < t->nclocks, "SEED=%" PRIu64 ": no such clock",
		      seed);
	trace_end(&cursor);
}

static uint64_t compared;

/* The thread of which the file is; NULL, too, where its name, HOST-RANK-THREAD.events, says another. */
static struct tr_thread *thread_of(const struct trace *t, const struct dprof_events_header *h, const char *name)
{
	struct tr_thread *found = NULL;
	long long rank;
	unsigned number;
	if (sscanf(name, "%*[^-]-%lld-%u.events", &rank, &number) != 2 || number != h->thread)
		return NULL;
	for (size_t i = 0; i < t->nthreads; i++)
		if (t->threads[i].number == h->thread && t->processes[t->threads[i].process].pid == h->pid &&
		    t->processes[t->threads[i].process].rank == rank)
			found = found ? NULL : &t->threads[i];
	return found;
}

static void compare_file(const struct trace *t, struct ch_unpacker *u, int fd, const char *name)
{
	struct dprof_events_header h = { .pid = UINT64_MAX };
	struct trace said = { .ndiagnostics = 0 };
	int file = openat(fd, name, O_RDONLY);
	if (file < 0 || read(file, &h, sizeof h) != (ssize_t)sizeof h)
		h.pid = UINT64_MAX;
	close(file);
	const struct tr_thread *thread = thread_of(t, &h, name);
	if (!thread || !thread->blocks)
		return;
	struct tr_modules *modules = t->processes[thread->process].modules;
	struct tr_words w = { .modules = modules, .words = thread_words(&said, u, fd, name) };
	open_module_ids(modules);
	size_t n, number = (size_t)(thread - t->threads);
	struct tr_record *records = twin_records(t, &w, &n);
	ck_assert_msg(twin_events(t, number, records, n) != SIZE_MAX, "SEED=%" PRIu64 ": %s has other events", seed,
		      name);
	compared++;
	for (size_t i = 0; i < said.ndiagnostics; i++)
		free(said.diagnostics[i]);
	free(said.diagnostics);
	free(records);
	ch_close(&w.words);
}

static void compare(const struct trace *t, const char *trace)
{
	int fd = open(trace, O_RDONLY | O_DIRECTORY);
	struct ch_unpacker *u = ch_unpacker_open(fd);
	DIR *d = opendir(trace);
	for (struct dirent *e; (e = readdir(d));)
		if (name_ends(e->d_name, ".events"))
			compare_file(t, u, fd, e->d_name);
	closedir(d);
	ch_unpacker_close(u);
	close(fd);
}

static void open_and_use(const char *trace, FILE *nowhere)
{
	char *error;
	struct trace *t = trace_open(trace, &error);
	struct options options = { .assumption.model = FRZ_AFFINE };
	if (!t) {
		ck_assert_msg(error && *error, "SEED=%" PRIu64 ": no reason", seed);
		free(error);
		return;
	}
	for (size_t i = 0; i < t->nthreads; i++)
		walk(t, i);
	compare(t, trace);
	text_dump(nowhere, t, NULL);
	struct reply *reply = render_text(nowhere, (struct text_style){ 0 });
	cmd_check(t, &options, reply);
	reply_close(reply);
	trace_close(t);
}

/* A crash still says which seed it was. */
static void crashed(int signal)
{
	dprintf(STDERR_FILENO, "SEED=%" PRIu64 ": signal %d\n", seed, signal);
	_exit(1);
}

/* ---- The test -------------------------------------------------------------------------------- */

static void one_round(const char *trace, FILE *nowhere)
{
	static uint8_t bytes[1 << 21];
	struct mutator m = { seed };
	struct damaged_file *f = &files[mut_below(&m, nfiles)];
	struct mut_bytes b = { bytes, f->size, sizeof bytes };
	memcpy(bytes, f->bytes, f->size);
	for (size_t times = 1 + mut_below(&m, 3); times && b.size < 1 << 18; times--) {
		const struct damaged_file *other = &files[mut_below(&m, nfiles)];
		mut_file(&m, f->path, &b, other->bytes, other->size);
	}
	if (mut_below(&m, 50) == 0)
		unlink(f->path);
	else
		store(f->path, bytes, b.size);
	open_and_use(trace, nowhere);
	store(f->path, f->bytes, f->size);
}

/* A trace directory of the text, within `directory`; to be freed. */
static char *make_trace(const char *lines)
{
	ck_assert_ptr_nonnull(mkdtemp(directory));
	char *trace = mem_format("%s/trace", directory);
	FILE *in = fmemopen((void *)(uintptr_t)lines, strlen(lines), "r");
	char *wrong = text_pack(in, "text", trace);
	ck_assert_msg(!wrong, "%s", wrong);
	fclose(in);
	ck_assert_ptr_nonnull(freopen("/dev/null", "w", stdout));
	return trace;
}

/* Sites may be damaged though the events at them are whole. */
START_TEST(an_operation_of_a_group_may_be_at_an_unknown_site)
{
	char *trace = make_trace("dprof-text 1\nclock 0 host=h ghz=1\nthread 0 clock=0 rank=0\n"
				 "thread 1 clock=0 rank=1\nsite 0 kind=barrier name=b\n"
				 "e 0 10 - enter group=1 seq=1\ne 0 12 - exit\n"
				 "e 1 11 0 enter group=1 seq=1\ne 1 13 0 exit\n"),
	     *remove = mem_format("rm -rf '%s'", directory);
	FILE *nowhere = fopen("/dev/null", "w");
	open_and_use(trace, nowhere);
	fclose(nowhere);
	ck_assert_int_eq(system(remove), 0);
	free(trace);
	free(remove);
}
END_TEST

START_TEST(no_bytes_bring_it_down)
{
	char *trace = make_trace(text), *remove = mem_format("rm -rf '%s'", directory);
	FILE *nowhere = fopen("/dev/null", "w");
	load_all(trace);
	signal(SIGSEGV, crashed);
	signal(SIGBUS, crashed);
	signal(SIGABRT, crashed);
	for (seed = unit_seed; seed < unit_seed + unit_times(ROUNDS); seed++)
		one_round(trace, nowhere);
	ck_assert_uint_gt(compared, unit_times(ROUNDS));
	fclose(nowhere);
	ck_assert_int_eq(system(remove), 0);
	free(trace);
	free(remove);
}
END_TEST

int main(void)
{
	TCase *c = unit_begin(900, UNIT_ANEW);

	tcase_add_test(c, an_operation_of_a_group_may_be_at_an_unknown_site);
	tcase_add_test(c, no_bytes_bring_it_down);
	return unit_end();
}

/* SPDX-License-Identifier: MIT
 *
 * analysis_together.c - a trace that several processes open together is the one that one process opens alone, whatever is
 * damaged, however many they are, and whoever sees which files.
 *
 * The processes are children that talk through sockets in place of MPI. Each stands in a folder of its own, with links to the
 * files that it sees. */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analysis/base/memory.h"
#include "analysis/driver/together.h"
#include "analysis/text/text.h"
#include "testsuite/fuzz/mutate.h"
#include "testsuite/unit/unit.h"

#define ROUNDS    60
#define PROCESSES 5
#define THREADS   7

static uint64_t seed;
static struct mutator dice;
static char here[] = "/tmp/dprof-together-XXXXXX";

/* ---- Processes ------------------------------------------------------------------------------- */

static int self, count, wire[PROCESSES][PROCESSES]; /* [a][b]: a's end to b */

static void begin(int *rank, int *size)
{
	*rank = self;
	*size = count;
}

static void move(ssize_t n)
{
	if (n <= 0)
		_exit(9);
}

static void send_to(int to, const void *bytes, size_t n)
{
	for (size_t done = 0; done < n;) {
		ssize_t put = write(wire[self][to], (const char *)bytes + done, n - done);
		move(put);
		done += (size_t)put;
	}
}

static void receive_from(int from, void *bytes, size_t n)
{
	for (size_t done = 0; done < n;) {
		ssize_t got = read(wire[self][from], (char *)bytes + done, n - done);
		move(got);
		done += (size_t)got;
	}
}

static void end(void) { }

static const struct peer_calls sockets = { begin, send_to, receive_from, end };

static void connect_all(void)
{
	for (int a = 0; a < count; a++)
		for (int b = 0; b < a; b++) {
			int pair[2];
			ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
			wire[a][b] = pair[0];
			wire[b][a] = pair[1];
		}
}

/* Each has only its own ends: so it sees when another one is gone. */
static void close_others(void)
{
	for (int a = 0; a < count; a++)
		for (int b = 0; b < count; b++)
			if (a != b && a != self)
				close(wire[a][b]);
}

/* ---- Traces ---------------------------------------------------------------------------------- */

static void event(FILE *out, int thread, uint64_t *stamp)
{
	static const char *const what[] = { "0 enter", "0 exit", "1 enter group=1 seq=%d", "1 exit", "2 point",
					    "3 enter peer=0 tag=%d", "3 exit", "- point", "4 enter", "4 exit",
					    "5 point", "6 point" };
	*stamp += 1 + mut_below(&dice, 300);
	fprintf(out, "e %d %" PRIu64 " ", thread, *stamp);
	fprintf(out, what[mut_below(&dice, sizeof what / sizeof *what)], (int)mut_below(&dice, 5));
	fputc('\n', out);
	if (!mut_below(&dice, 60))
		fprintf(out, "lost %d %d\n", thread, 1 + (int)mut_below(&dice, 9));
}

/* It ends with its process, inside of a region. */
static void run_on(FILE *out, int thread, uint64_t stamp, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		fprintf(out, "e %d %" PRIu64 " 0 %s\n", thread, stamp += 1 + mut_below(&dice, 300), i % 2 ? "exit" : "enter");
	fprintf(out, "e %d %" PRIu64 " 4 enter\n", thread, stamp + 1);
}

static void write_text(FILE *out)
{
	fputs("dprof-text 1\nclock 0 host=h0 ghz=2.25\nclock 1 host=h1 ghz=2.5\nclock 2 host=h2 ghz=2.5\n"
	      "process 0 clock=0 rank=0 size=4 program=/bin/app job=7\n", out);
	for (int i = 0; i < THREADS; i++)
		fprintf(out, "thread %d clock=%d rank=%d%s%s\n", i, i / 2 % 3, i / 2, i % 3 ? "" : " name=worker",
			i == 5 ? " complete=0" : i % 3 == 1 ? " ran_on=1 jumps=0" : "");
	fputs("group 1 threads=0,2,4,6\n"
	      "site 0 kind=region name=body file=a.c line=12 function=f\nsite 1 kind=barrier name=MPI_Barrier file=a.c line=20\n"
	      "site 2 kind=progress name=step file=a.c line=30\nsite 3 kind=recv name=MPI_Recv file=b.c line=40\n"
	      "site 4 kind=region name=inner file=a.c line=14 function=f\n"
	      "site 5 kind=fork name=SIGEV_THREAD file=a.c line=1\nsite 6 kind=fork name=killed%20child file=a.c line=1\n"
	      "sched 0 1000 90000 cpu=1000 delay=5 last=1\nsched 3 1000 90000 cpu=1000 delay=5\n"
	      "link 0 1000 1 5000\nlink 1 6000 0 3000\nlink 0 91000 1 95000\nlink 1 96000 2 93000\nnote something%20to%20know\n", out);
	for (int i = 0; i < THREADS; i++) {
		uint64_t stamp = 1000, n = mut_below(&dice, 10) ? mut_below(&dice, 200) : 5000;
		for (uint64_t k = 0; k < n && i % 3 != 1; k++)
			event(out, i, &stamp);
		if (i % 3 == 1)
			run_on(out, i, stamp, n);
	}
}

static void damage(const char *path)
{
	if (!mut_below(&dice, strstr(path, ".sync") ? 2 : 8)) {
		ck_assert_int_eq(unlink(path), 0);
		ck_assert_int_eq(mut_below(&dice, 2) ? symlink("nowhere", path) : mkfifo(path, 0666), 0);
		return;
	}
	static uint8_t bytes[1 << 21], other[4096];
	FILE *f = fopen(path, "r+b");
	struct mut_bytes b = { bytes, fread(bytes, 1, sizeof bytes / 2, f), sizeof bytes };
	mut_file(&dice, path, &b, other, sizeof other);
	rewind(f);
	ck_assert(fwrite(b.at, 1, b.size, f) == b.size);
	ck_assert_int_eq(ftruncate(fileno(f), (off_t)b.size), 0);
	fclose(f);
}

static void make_trace(void)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	write_text(out);
	fclose(out);
	FILE *in = fmemopen(text, size, "r");
	char *wrong = text_pack(in, "made", "whole/t");
	ck_assert_msg(!wrong, "SEED=%" PRIu64 ": %s", seed, wrong);
	fclose(in);
	free(text);
}

/* ---- Who sees what --------------------------------------------------------------------------- */

static void link_into(const char *name, int process)
{
	char *from = mem_format("whole/t/%s", name), *to = mem_format("%d/t/%s", process, name);
	ck_assert_int_eq(link(from, to), 0);
	free(from);
	free(to);
}

/* `elsewhere`: each file is in one folder or several; else all are in the first one, and the others may lack some. */
static void deal_out(bool elsewhere, bool damaged)
{
	struct dirent **entry;
	int n = scandir("whole/t", &entry, NULL, alphasort);
	for (int i = 0; i < count; i++) {
		char *folder = mem_format("%d/t", i);
		folder[1] = 0;
		mkdir(folder, 0777);
		folder[1] = '/';
		mkdir(folder, 0777);
		free(folder);
	}
	for (int i = 0; i < n; i++) {
		char *path = mem_format("whole/t/%s", entry[i]->d_name);
		if (damaged && entry[i]->d_name[0] != '.' && !mut_below(&dice, strstr(path, ".sync") ? 2 : 4))
			damage(path);
		free(path);
		uint64_t sees = elsewhere ? 1 + mut_below(&dice, (1u << count) - 1)
				: mut_below(&dice, 3) ? UINT64_MAX : 1 + 2 * mut_below(&dice, 1u << (count - 1));
		for (int p = 0; p < count && entry[i]->d_name[0] != '.'; p++)
			if (sees >> p & 1)
				link_into(entry[i]->d_name, p);
		free(entry[i]);
	}
	free(entry);
}

/* ---- The answer ------------------------------------------------------------------------------ */

static void say(const char *path, struct trace *t, const char *error)
{
	FILE *out = fopen(path, "w");
	for (size_t i = 0; t && i < t->nthreads; i++) {
		const struct tr_thread *h = &t->threads[i];
		fprintf(out, "%s %u %" PRIu64 " %" PRIu64 " %" PRIu64 " %d %d %zu %d %zu %s\n", h->name, h->number,
			h->lost, h->dropped, h->ended, h->gaps, h->lost_last, h->nopen, h->jumps != NULL, h->nsched,
			h->unseen_by ? h->unseen_by : "");
	}
	if (t) {
		text_dump(out, t, NULL);
		trace_check(t);
	}
	for (size_t i = 0; t && i < t->ndiagnostics; i++)
		fprintf(out, "%s\n", t->diagnostics[i]);
	fprintf(out, "%s\n", error ? error : "opened");
	ck_assert_int_eq(fclose(out), 0);
}

static void be_process(int rank, bool elsewhere)
{
	char folder[2] = { (char)('0' + rank), 0 }, *error;
	struct peers peers = { .rank = rank, .size = count, .calls = &sockets };
	self = rank;
	close_others();
	if (chdir(folder) || !freopen("/dev/null", "w", stderr))
		_exit(8);
	struct trace *t = together_open(&peers, "t", elsewhere, 1 + mut_below(&dice, 3), &error);
	if (rank == 0)
		say("../together", t, error);
	_exit(rank > 0 && (t || error));
}

static void be_alone(void)
{
	char *error;
	if (chdir("whole"))
		_exit(8);
	struct trace *t = trace_open("t", &error);
	say("../alone", t, error);
	_exit(0);
}

static char *read_text(const char *path)
{
	char *text = NULL;
	size_t size = 0;
	FILE *in = fopen(path, "r");
	ck_assert_ptr_nonnull(in);
	ck_assert(getdelim(&text, &size, 0, in) > 0);
	fclose(in);
	return text;
}

static size_t shared, differently, refused;

static void compare(void)
{
	char *together = read_text("together"), *alone = read_text("alone");
	size_t i = 0;
	while (together[i] && together[i] == alone[i])
		i++;
	ck_assert_msg(together[i] == alone[i], "SEED=%" PRIu64 ": %d processes say \"%.300s\", one says \"%.300s\"", seed, count,
		      together + i, alone + i);
	refused += !strstr(alone, "\nopened\n");
	free(together);
	free(alone);
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *where)
{
	(void)status, (void)kind, (void)where;
	return remove(path);
}

START_TEST(together_is_as_alone)
{
	ck_assert_ptr_nonnull(mkdtemp(here));
	for (seed = unit_seed; seed < unit_seed + unit_times(ROUNDS); seed++) {
		dice = (struct mutator){ seed };
		bool elsewhere = mut_below(&dice, 2), damaged = mut_below(&dice, 3);
		pid_t child[PROCESSES + 1];
		count = 1 + (int)mut_below(&dice, PROCESSES);
		ck_assert_int_eq(chdir(here), 0);
		mkdir("whole", 0777);
		make_trace();
		deal_out(elsewhere, damaged);
		connect_all();
		for (int i = 0; i <= count; i++)
			if ((child[i] = fork()) == 0) {
				if (i < count)
					be_process(i, elsewhere);
				be_alone();
			}
		self = -1;
		close_others();
		for (int i = 0; i <= count; i++) {
			int status;
			waitpid(child[i], &status, 0);
			ck_assert_msg(status == 0, "SEED=%" PRIu64 ": process %d of %d ends with status 0x%x", seed, i,
				      count, status);
		}
		compare();
		shared += count > 1;
		differently += elsewhere;
		ck_assert_int_eq(chdir("/"), 0);
		ck_assert_int_eq(nftw(here, remove_one, 16, FTW_DEPTH | FTW_PHYS), 0);
		ck_assert_int_eq(mkdir(here, 0777), 0);
	}
	rmdir(here);
	if (unit_times(ROUNDS) >= ROUNDS)
		ck_assert(shared > ROUNDS / 2 && differently > ROUNDS / 4 && refused < ROUNDS / 4);
}
END_TEST

int main(void)
{
	TCase *laws = unit_begin(600, UNIT_ANEW);

	tcase_add_test(laws, together_is_as_alone);
	return unit_end();
}

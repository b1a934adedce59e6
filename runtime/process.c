/* SPDX-License-Identifier: MIT
 *
 * process.c - the process in the trace, from the loading of the library to the end. */
#include "runtime/process.h"

#include <cpuid.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "freezer/clock.h"
#include "runtime/adapter.h"
#include "runtime/children.h"
#include "runtime/lines.h"
#include "runtime/missing.h"
#include "runtime/modules.h"
#include "runtime/notice.h"
#include "runtime/nursery.h"
#include "runtime/library.h"
#include "runtime/objects.h"
#include "runtime/sched.h"
#include "runtime/settings.h"
#include "runtime/spins.h"
#include "runtime/starter.h"
#include "runtime/sys.h"
#include "runtime/thread.h"
#include "runtime/unpacked.h"
#include "runtime/unseen.h"
#include "runtime/vectors.h"

#define DIRECTORIES_MAX 10000
#define NAMESAKES_MAX   10000
#define STEM_SIZE       (DPROF_NAME_SIZE + 24) /* HOST-RANK */
#define CHILD_PATH      1024 /* a handler on a small stack may wait for children */
#define PAUSE_NS        1e5 /* whoever does not ask again so soon does something else */

uint8_t dprof_off = 1; /* until the environment has been read */
unsigned dprof_vector_bytes;

enum { NEW, BEGINNING, BEGUN, FAILED };
static int state;
static bool forked;     /* from a process that records */
bool dprof_adapter_joined;
static bool executed;   /* and has been this program since `unborn`, or later */
static uint64_t unborn; /* stamp */
static struct dprof_starter starter; /* then, or of a process from which it was forked: with a directory */
static bool has_forked;
static bool noted_missing;
static bool has_ended;
static char parent[STEM_SIZE]; /* of the nearest process with files that this one comes from, ... */
static unsigned parent_directory; /* ... in this directory */
static const struct dprof_site *silent_end;
static long own_pid; /* the child of a vfork has our memory and another one */
static long given_pid; /* that its parent knows it by, which is another one where it began a namespace of process ids */
static bool proc_counts_like_us;
static uint64_t forked_at; /* stamp */
static uint64_t stopped_at; /* stamp; 0: it was not */
static unsigned directory_number = 1;
static char directory[PATH_MAX];
static char prefix[PATH_MAX];      /* DIRECTORY/HOST-RANK */
static char constant_lines[2 * PATH_MAX]; /* of the process file */
static int64_t rank = -1, ranks; /* 0: not known */

/* ---- Names ----------------------------------------------------------------------------------- */

const char *dprof_process_directory(void)
{
	return directory;
}

const char *dprof_process_stem(void)
{
	const char *slash = state == BEGUN ? strrchr(prefix, '/') : NULL;

	return slash ? slash + 1 : "";
}

int64_t dprof_process_rank(void)
{
	return rank;
}

long dprof_process_pid(void)
{
	return own_pid;
}

long dprof_process_given_pid(void)
{
	return given_pid;
}

uint64_t dprof_process_forked_at(void)
{
	return forked_at;
}

/* In the namespace in which /proc was mounted. */
static long pid_in_proc(void)
{
	char text[24] = "";

	sys(SYS_readlink, "/proc/self", text, sizeof(text) - 1);
	return strtol(text, NULL, 10);
}

static void find_pid(void)
{
	long pid = proc_counts_like_us ? pid_in_proc() : 0;

	own_pid = sys(SYS_getpid);
	given_pid = pid > 0 ? pid : own_pid;
}

bool dprof_process_path(char *to, size_t size, const char *suffix)
{
	size_t n = strlen(prefix), more = strlen(suffix) + 1;

	if (n + more > size)
		return false;
	memcpy(to, prefix, n);
	memcpy(to + n, suffix, more);
	return true;
}

static bool name_directory(void)
{
	const struct dprof_settings *s = &dprof_settings;
	const char *slash = strrchr(s->program, '/');
	char program[DPROF_NAME_SIZE], number[16] = "";
	int n;

	if (*starter.directory) {
		strcpy(directory, starter.directory);
		return true;
	}
	dprof_file_name(program, sizeof(program), slash ? slash + 1 : s->program);
	if (directory_number > 1)
		snprintf(number, sizeof(number), ".%u", directory_number);
	n = snprintf(directory, sizeof(directory), "%s/dprof-%s.%s%s", s->parent, program, s->job,
		     number);
	return n >= 0 && (size_t)n < sizeof(directory);
}

/* Of processes that were forked one job may have several with one number: the `nth` of them. */
static bool name_files(unsigned nth)
{
	const struct dprof_settings *s = &dprof_settings;
	char again[16] = "";
	int n;

	if (!name_directory())
		return false;
	if (nth > 1)
		snprintf(again, sizeof(again), "_%u", nth);
	if (rank >= 0 && !forked)
		n = snprintf(prefix, sizeof(prefix), "%s/%s-%lld", directory, s->host,
			     (long long)rank);
	else
		n = snprintf(prefix, sizeof(prefix), "%s/%s-p%ld%s", directory, s->host,
			     given_pid, again);
	return n >= 0 && (size_t)n < sizeof(prefix);
}

/* ---- The process file ------------------------------------------------------------------------ */

void dprof_process_append(const char *lines, size_t bytes)
{
	if (state == BEGUN)
		dprof_lines_append(lines, bytes);
}

void dprof_escape(char *to, size_t size, const char *from)
{
	static const char hex[] = "0123456789abcdef";
	size_t n = 0;

	for (; *from && n + 4 <= size; from++) {
		unsigned char c = (unsigned char)*from;

		if (c > ' ' && c != '%' && c != 0x7f) {
			to[n++] = *from;
			continue;
		}
		to[n++] = '%';
		to[n++] = hex[c >> 4];
		to[n++] = hex[c & 15];
	}
	to[n] = '\0';
}

void dprof_process_line(const char *key, const char *value)
{
	char escaped[1024], line[1100];
	int n;

	dprof_escape(escaped, sizeof(escaped), value);
	n = snprintf(line, sizeof(line), "%s %s\n", key, escaped);
	if (n > 0 && (size_t)n < sizeof(line))
		dprof_process_append(line, (size_t)n);
}

void dprof_process_rank_known(int64_t number, int64_t size)
{
	char line[64];
	int n = snprintf(line, sizeof(line), "rank %lld size %lld\n", (long long)number,
			 (long long)size);

	rank = number;
	ranks = size;
	dprof_process_append(line, (size_t)n);
}

static void name_left_out(char *to, size_t size)
{
	const char *before = "without ";
	size_t n = 0;

#define X(NAME, word)                                                                              \
	if (dprof_settings.left_out & DPROF_KIND_BIT(DPROF_KIND_##NAME) && n < size) {             \
		n += (size_t)snprintf(to + n, size - n, "%s%s", before, #word);                    \
		before = ",";                                                                      \
	}
	DPROF_KINDS(X)
#undef X
	if (n < size)
		snprintf(to + n, size - n, "\n");
}

/* Formatted once, while the locale is still "C", and used again by the children of forks. */
static void prepare_constant_lines(void)
{
	const struct dprof_settings *s = &dprof_settings;
	static char program[PATH_MAX];
	char host[256], hostid[512];
	int n;

	dprof_escape(program, sizeof(program), s->program);
	dprof_escape(host, sizeof(host), s->host);
	dprof_escape(hostid, sizeof(hostid), s->hostid);
	n = snprintf(constant_lines, sizeof(constant_lines),
		     "program %s\njob %s\nhost %s\nhostid %s\nghz %.9g\nclock %s\n",
		     program, s->job, host, hostid, frz_ghz(), frz_source_word(frz_source()));
	if (n > 0 && (size_t)n < sizeof(constant_lines) && s->left_out)
		name_left_out(constant_lines + n, sizeof(constant_lines) - (size_t)n);
}

/* 0 or -errno */
static int create_process_file(void)
{
	static char path[PATH_MAX], lines[sizeof(constant_lines) + sizeof(parent) + 128]; /* no stack need have room for them */
	char since[40] = "";
	bool has_parent = *parent && parent_directory == directory_number;
	int n, error;

	if (executed)
		snprintf(since, sizeof(since), " unborn=%llu", (unsigned long long)unborn);
	n = snprintf(lines, sizeof(lines), "%s\n%spid %ld\nstarted %llu%s%s%s%s\n",
		     DPROF_PROCESS_FIRST_LINE, constant_lines, given_pid,
		     (unsigned long long)(forked_at ? forked_at : dprof_now()),
		     forked ? " forked=1" : "", has_parent ? " parent=" : "", has_parent ? parent : "", since);
	error = dprof_process_path(path, sizeof(path), ".process") ? dprof_lines_create(path) : -ENAMETOOLONG;
	if (!error && !dprof_lines_append(lines, (size_t)n)) {
		unlink(path);
		error = -EFBIG;
	}
	if (!error && has_parent)
		dprof_children_enter(given_pid);
	return error;
}

/* ---- Begin and end --------------------------------------------------------------------------- */

/* 0 or an error number */
static int take_files(void)
{
	int error = EEXIST;

	for (unsigned nth = 1; error == EEXIST && nth <= (forked ? NAMESAKES_MAX : 1); nth++)
		error = name_files(nth) ? -create_process_file() : ENAMETOOLONG;
	return error;
}

static bool take_directory(void)
{
	for (; directory_number <= DIRECTORIES_MAX; directory_number++) {
		bool made;

		if (!name_directory()) {
			errno = ENAMETOOLONG;
			return false;
		}
		made = mkdir(directory, 0777) == 0;
		if (!made && errno != EEXIST)
			return false;
		if (!made && rank < 0 && !forked)
			continue; /* alone, so not ours */
		errno = take_files();
		if (!errno)
			return true;
		if (errno != EEXIST)
			return false;
	}
	return false;
}

static bool begin(void)
{
	if (!take_directory()) {
		if (forked) /* then it is in no trace, like another program */
			dprof_children_ran(true, given_pid, dprof_settings.program, strlen(dprof_settings.program));
		else
			dprof_notice_failed(directory, errno);
		dprof_off = 1;
		__atomic_store_n(&state, FAILED, __ATOMIC_RELEASE);
		return false;
	}
	dprof_nursery_prepare();
	__atomic_store_n(&state, BEGUN, __ATOMIC_RELEASE);
	dprof_modules_retell();
	return true;
}

bool dprof_process_begin(void)
{
	int fresh = NEW, cancellation;
	bool begun;

	if (!__atomic_compare_exchange_n(&state, &fresh, BEGINNING, false, __ATOMIC_ACQ_REL,
					 __ATOMIC_ACQUIRE))
		return fresh == BEGUN;
	cancellation = dprof_hold_cancellation();
	begun = begin();
	dprof_release_cancellation(cancellation);
	return begun;
}

static __thread struct dprof_moment fork_from;
static __thread unsigned forking;   /* forks within forks */
static void (*of_adapters[DPROF_FORKED_MAX])(void);

static void before_fork(void)
{
	forking++;
	if (state == BEGUN) {
		dprof_children_share();
		dprof_objects_before_fork();
	}
	dprof_modules_hold();
}

static void just_before_fork(void)
{
	fork_from = dprof_adapter_moment();
}

struct dprof_moment dprof_adapter_forks_from(struct dprof_moment another)
{
	struct dprof_moment last = fork_from;

	fork_from = another;
	return last;
}

static void remember_parent(void)
{
	if (state != BEGUN)
		return;
	snprintf(parent, sizeof(parent), "%s", dprof_process_stem());
	parent_directory = directory_number;
	dprof_children_inherit();
}

/* Nothing had been counted of the child's thread then (sched.h). */
static void become_child(void)
{
	forking--;
	remember_parent();
	dprof_modules_release();
	dprof_lines_forget();
	dprof_threads_forget();
	dprof_helper_forget();
	dprof_unseen_forget();
	dprof_objects_forget();
	dprof_library_forget();
	dprof_spins_forget();
	dprof_counting = false;
	forked = true;
	executed = false;
	has_ended = false;
	find_pid();
	forked_at = dprof_now();
	dprof_thread_was_forked(fork_from.stamp, forked_at);
	rank = -1;
	if (state != FAILED)
		state = NEW;
}

static void after_fork_in_child(void)
{
	for (int i = 0; i < DPROF_FORKED_MAX && of_adapters[i]; i++)
		of_adapters[i]();
	if (forking)
		become_child();
}

/* A child may write into our directory. */
static void after_fork_in_parent(void)
{
	if (!forking)
		return;
	forking--;
	dprof_modules_release();
	has_forked = true;
}

int dprof_process_follow_forks(void)
{
	static bool follows;
	static int error;

	if (!__atomic_exchange_n(&follows, true, __ATOMIC_SEQ_CST))
		error = pthread_atfork(just_before_fork, after_fork_in_parent, after_fork_in_child);
	return error;
}

/* What is called before a fork is called in the opposite order. */
static int hear_forks(void)
{
	int error = dprof_process_follow_forks();

	return error ? error : pthread_atfork(before_fork, NULL, NULL);
}

void dprof_adapter_forked(void (*function)(void))
{
	size_t n = 0;

	while (n < DPROF_FORKED_MAX && of_adapters[n])
		n++;
	if (n < DPROF_FORKED_MAX && dprof_process_follow_forks() == 0)
		of_adapters[n] = function;
}

static struct dprof_component component(unsigned bit)
{
	struct dprof_component c = { 0, 0 };
	unsigned unused, more;

	__get_cpuid_count(0xd, bit, &c.bytes, &c.at, &unused, &more);
	return c;
}

static unsigned vector_bytes(void)
{
	unsigned a, b, c, d;

	if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE) || !__get_cpuid_count(0xd, 0, &a, &b, &c, &d))
		return 0;
	__asm__ volatile("xgetbv" : "=a"(a), "=d"(d) : "c"(0));
	return dprof_vector_area((uint64_t)d << 32 | a, component);
}

static void note_if(const char *text)
{
	if (text)
		dprof_process_line("note", text);
}

/* Once: libraries may be loaded later. */
static void note_missing(void)
{
	const char *missing = noted_missing ? NULL : dprof_missing_adapter();

	note_if(missing);
	noted_missing |= missing != NULL;
}

/* Who waits in MPI then seems to work; where that may not be asked we suppose it. */
static void note_unseen(bool careful)
{
	if (noted_missing && (careful || dprof_missing_used()))
		dprof_process_line("without", "barrier,coll,send,recv,wait");
}

static void note_clock(void)
{
	const char *word = secure_getenv("FREEZER_CLOCK");

	if (word && *word && strcmp(word, frz_source_word(FRZ_TSC)) && strcmp(word, frz_source_word(FRZ_MONOTONIC_RAW)))
		dprof_process_line("note", "FREEZER_CLOCK is not tsc or monotonic_raw; took tsc, where there is one");
}

static void note_code(void)
{
	int error = dprof_modules_unread();
	const char *slash = strrchr(dprof_settings.program, '/');
	char text[512];

	if (error) {
		snprintf(text, sizeof(text), "the program's file cannot be read (%s), so the names of its regions are not known: "
			 "whoever runs it needs the right to read it", strerrordesc_np(error));
		dprof_process_line("note", text);
	} else if (!dprof_modules_any()) {
		snprintf(text, sizeof(text), "%.255s: nothing in it is instrumented: it was not compiled with dprof-cc, dprof-c++ or "
			 "dprof-fort (or -fplugin=dprof), or nothing was marked and nothing in it calls what blocks or "
			 "communicates, or the section dprof_sites was removed", slash ? slash + 1 : dprof_settings.program);
		dprof_process_line("note", text);
	}
}

static void first_notes(void)
{
	for (int i = 0; i < DPROF_COMPLAINTS; i++)
		if (*dprof_settings.complaint[i])
			dprof_process_line("note", dprof_settings.complaint[i]);
	if (frz_source() != FRZ_TSC)
		dprof_process_line("note", "stamps are read from CLOCK_MONOTONIC_RAW, which is "
				   "slower: the time stamp counter of this host does not run at "
				   "one rate, or FREEZER_CLOCK says so");
	note_clock();
	note_if(dprof_missing_waits());
	note_missing();
	note_code();
}

static bool present[DPROF_ADAPTERS];

void dprof_adapter_present(enum dprof_adapter adapter)
{
	present[adapter] = true;
	__dprof_alone[adapter] = 0;
}

static void say_who_records(uint32_t kinds)
{
	for (int i = 0; i < DPROF_ADAPTERS; i++)
		__dprof_alone[i] = present[i] ? 0 : kinds;
}

/* Who starts this program records: then it is one more process there, and says nothing of its own. But ranks of MPI have a
 * job of their own, also where there is but one. */
static void join_starter(void)
{
	struct dprof_settings *s = &dprof_settings;

	if (s->parent_given || s->rank >= 0 || !dprof_missing_mpi() || !dprof_starter_find(&starter)) {
		*starter.directory = '\0';
		return;
	}
	forked = executed = dprof_adapter_joined = true;
	unborn = dprof_starter_unborn();
	strcpy(s->job, starter.job);
	strcpy(parent, starter.stem);
	parent_directory = directory_number;
	dprof_counting = false;
}

/* Before the constructors of the program, which may record. */
static void __attribute__((constructor(101))) start(void)
{
	int saved_errno = errno, cancellation = dprof_hold_cancellation(); /* whoever loads us may be about to be cancelled */

	dprof_settings_read();
	dprof_helper_look();
	say_who_records(0);
	if (!dprof_settings.off)
		dprof_notice_prepare();
	if (!dprof_settings.off && dprof_threads_prepare() == 0 && hear_forks() == 0) {
		find_pid();
		proc_counts_like_us = pid_in_proc() == own_pid;
		at_quick_exit(dprof_process_leave); /* the first to be registered is called last */
		rank = dprof_settings.rank;
		dprof_vector_bytes = vector_bytes();
		dprof_unambiguous = frz_source() == FRZ_TSC;
		join_starter();
		prepare_constant_lines();
		dprof_unseen_begin();
		dprof_off = 0;
		dprof_adapter_no_tsc = frz_source() != FRZ_TSC;
		dprof_adapter_blocked_ticks = (uint64_t)((double)dprof_settings.blocked_ns * frz_ghz());
		dprof_adapter_pause_ticks = (uint64_t)(PAUSE_NS * frz_ghz());
		say_who_records(~dprof_settings.left_out);
		dprof_adapter_kinds = ~dprof_settings.left_out;
		if (dprof_process_begin()) {
			dprof_modules_begin();
			first_notes();
		}
	}
	dprof_release_cancellation(cancellation);
	errno = saved_errno;
}

/* ---- The last lines -------------------------------------------------------------------------- */

static void say_homeless(void)
{
	char line[160];
	const char *before = " why=";
	size_t n;

	if (!dprof_lost_homeless)
		return;
	n = (size_t)snprintf(line, sizeof(line), "lost %llu", (unsigned long long)dprof_lost_homeless);
	for (int why = 0; why < DPROF_WHY_COUNT; why++) {
		if (!(dprof_why_homeless >> why & 1))
			continue;
		n += (size_t)snprintf(line + n, sizeof(line) - n, "%s%s", before,
				      dprof_why_word((enum dprof_why)why));
		before = ",";
	}
	n += (size_t)snprintf(line + n, sizeof(line) - n, "\n");
	dprof_process_append(line, n);
}

static void say_threads(void)
{
	char list[400], line[sizeof(list) + 16];
	uint32_t from = 0;

	while (dprof_threads_list(list, sizeof(list), &from)) {
		int n = snprintf(line, sizeof(line), "threads %s\n", list);

		dprof_process_append(line, (size_t)n);
	}
}

static void say_refused(void)
{
	enum dprof_why why;
	size_t lines = dprof_lines_refused(&why);
	char text[160];

	if (!lines)
		return;
	snprintf(text, sizeof(text), "%zu lines found no room in the process's file: %s", lines, dprof_why_text(why));
	dprof_process_line("note", text);
}

/* Whether it is this process that ends, for the first time, and has files. The child of a fork that met no event
 * was there nonetheless, and may have worked all the time: it gets them now. */
static bool may_end(void)
{
	if (dprof_settings.off || sys(SYS_getpid) != own_pid || __atomic_exchange_n(&has_ended, true, __ATOMIC_SEQ_CST))
		return false;
	if (state == NEW && forked && silent_end)
		dprof_adapter_point(silent_end);
	return state == BEGUN;
}

bool dprof_process_ends(void)
{
	return __atomic_load_n(&has_ended, __ATOMIC_RELAXED);
}

static void say_child(long pid)
{
	char line[STEM_SIZE + 16];
	int n = snprintf(line, sizeof(line), "child %s-p%ld\n", dprof_settings.host, pid);

	dprof_process_append(line, (size_t)n);
}

/* Who leaves a child waitable may be told of it any number of times. */
static void say_child_over(long pid)
{
	static long said;

	dprof_children_leave(pid);
	if (__atomic_exchange_n(&said, pid, __ATOMIC_RELAXED) != pid)
		say_child(pid);
}

/* Of those for whom nobody waited. */
static void say_children(void)
{
	long pid;

	while ((pid = dprof_children_take()))
		say_child(pid);
}

static bool has_files(long pid)
{
	char path[CHILD_PATH];
	int n = snprintf(path, sizeof(path), "%s/%s-p%ld.process", directory, dprof_settings.host, pid);

	return n > 0 && (size_t)n < sizeof(path) && sys(SYS_access, path, F_OK) == 0;
}

bool dprof_adapter_child_ended(long pid)
{
	if (!has_files(pid))
		return false;
	say_child_over(pid);
	return true;
}

/* Perhaps the last line: it comes with the sum of all. */
static void say_exec(const char *word)
{
	char line[48];
	int n = snprintf(line, sizeof(line), "%s %llu\n", word, (unsigned long long)dprof_now());

	if (state == BEGUN)
		dprof_lines_append_summed(line, (size_t)n);
}

/* The child of a vfork, or of a fork that has recorded nothing, tells its parent; and any other one its own file. The first has
 * our memory, and is none of ours. */
void dprof_adapter_exec(const char *program, size_t bytes)
{
	long pid;

	if (dprof_off || has_ended)
		return;
	pid = sys(SYS_getpid);
	if (pid != own_pid)
		dprof_adapter_ran(program, bytes, pid);
	else if (forked && state == NEW)
		dprof_children_ran(true, pid, program, bytes);
	else
		say_exec("exec");
}

void dprof_adapter_exec_failed(void)
{
	int saved_errno = errno;
	long pid;

	if (dprof_off || has_ended)
		return;
	pid = sys(SYS_getpid);
	if (pid != own_pid || (forked && state == NEW))
		dprof_children_did_not_run(pid == own_pid, pid);
	else
		say_exec("stayed");
	errno = saved_errno;
}

void dprof_adapter_ran(const char *program, size_t bytes, long pid)
{
	if (dprof_off || state != BEGUN)
		return;
	has_forked = true;
	dprof_children_share();
	dprof_children_ran(false, pid ? pid : DPROF_NO_PID, program, bytes);
}

/* Those that whoever comes from us has run, and that have no files here. */
static void say_programs(void)
{
	char name[DPROF_PROGRAM_BYTES], escaped[3 * DPROF_PROGRAM_BYTES], line[sizeof(escaped) + 48];
	long pid;

	while ((pid = dprof_children_take_program(name))) {
		int n;

		if (pid != DPROF_NO_PID && has_files(pid)) {
			say_child_over(pid);
			continue;
		}
		dprof_escape(escaped, sizeof(escaped), name);
		n = pid == DPROF_NO_PID ? snprintf(line, sizeof(line), "ran %s\n", escaped)
					: snprintf(line, sizeof(line), "ran %s pid=%ld\n", escaped, pid);
		dprof_process_append(line, (size_t)n);
	}
}

void dprof_adapter_silent_end(const struct dprof_site *site)
{
	silent_end = site;
}

#define STOP_TRIES 1000

/* From now on each event comes to the slow path, and is left out there. */
void dprof_process_stop(void)
{
	__atomic_store_n(&dprof_stopped, true, __ATOMIC_SEQ_CST);
	for (unsigned n = 0; n < STOP_TRIES && !dprof_threads_slow_down(); n++)
		sys_wait_for_other(n);
	stopped_at = dprof_now();
}

/* `careful`: perhaps in a signal handler, so nothing is asked of the loader and nothing allocated. */
static void end_files(bool careful)
{
	uint64_t stamp = stopped_at ? stopped_at : dprof_now();
	struct dprof_count count;
	char line[64];
	int n;

	if (!may_end())
		return;
	if (!careful) {
		dprof_modules_look();
		note_missing();
	}
	note_unseen(careful);
	dprof_unseen_say();
	count = dprof_threads_end(stamp);
	note_if(dprof_sched_silence());
	dprof_unpacked_say();
	dprof_nursery_close();
	say_children();
	say_programs();
	count.all &= !has_forked;
	dprof_lines_begin_end();
	say_homeless();
	n = snprintf(line, sizeof(line), "finished %llu\n", (unsigned long long)stamp);
	dprof_process_append(line, (size_t)n);
	say_threads();
	say_refused();
	dprof_lines_end();
	dprof_notice_end(count, directory, rank < 0 ? 1 : ranks);
}

static void end(bool careful)
{
	int cancellation = dprof_hold_cancellation();

	end_files(careful);
	dprof_release_cancellation(cancellation);
}

void dprof_process_end(void)
{
	end(false);
}

static void __attribute__((destructor(101))) finish(void)
{
	int saved_errno = errno;

	end(false);
	errno = saved_errno;
}

void dprof_process_leave(void)
{
	uint64_t waiting = DPROF_SIGNALS_THAT_WAIT, before = 0;

	if (dprof_off)
		return;
	sys(SYS_rt_sigprocmask, SIG_BLOCK, &waiting, &before, sizeof(waiting));
	end(true);
	sys(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, sizeof(before));
}

/* SPDX-License-Identifier: MIT
 *
 * sched.c - reads /proc/PID/task/TID/sched, or its status, and its schedstat. */
#include "runtime/sched.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "runtime/process.h"
#include "runtime/sys.h"
#include "runtime/thread.h"

#define FEW_SWITCHES 16 /* of a thread's life: not worth reading files for */
#define TEXT_BYTES   4096

/* ---- Text ------------------------------------------------------------------------------------ */

/* -> `to`, a string; false where there is no such file. What is wanted of it comes with the first read. */
static bool read_text(char to[TEXT_BYTES], uint64_t tid, const char *what)
{
	char path[64];
	long n, fd;

	snprintf(path, sizeof(path), "/proc/self/task/%llu/%s", (unsigned long long)tid, what);
	fd = sys(SYS_open, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = sys(SYS_read, fd, to, TEXT_BYTES - 1);
	sys(SYS_close, fd);
	to[n > 0 ? n : 0] = '\0';
	return n > 0;
}

static bool number_at(const char **at, uint64_t *number)
{
	const char *c = *at + strspn(*at, " \t:");

	if (*c < '0' || *c > '9')
		return false;
	for (*number = 0; *c >= '0' && *c <= '9'; c++)
		*number = 10 * *number + (uint64_t)(*c - '0');
	*at = c;
	return true;
}

/* Of the line "KEY : NUMBER" or "KEY: NUMBER". */
static bool find(const char *text, const char *key, uint64_t *number)
{
	size_t n = strlen(key);

	for (const char *line = text; *line; line += *line == '\n') {
		const char *value = line + n;

		if (!strncmp(line, key, n) && strspn(value, " \t:"))
			return number_at(&value, number);
		line += strcspn(line, "\n");
	}
	return false;
}

/* ---- What it says ---------------------------------------------------------------------------- */

/* A thread moves while it is off its core: so it moved at most as often as it was switched off. */
static void read_switches(struct dprof_sched *s, uint64_t tid)
{
	char text[TEXT_BYTES];
	uint64_t voluntary;

	if (read_text(text, tid, "sched") && find(text, "se.nr_migrations", &s->moves) &&
	    find(text, "nr_involuntary_switches", &s->involuntary)) {
		s->known |= DPROF_SCHED_MOVES | DPROF_SCHED_INVOLUNTARY;
		return;
	}
	if (read_text(text, tid, "status") && find(text, "voluntary_ctxt_switches", &voluntary) &&
	    find(text, "nonvoluntary_ctxt_switches", &s->involuntary)) {
		s->moves = voluntary + s->involuntary;
		s->known |= DPROF_SCHED_MOVES | DPROF_SCHED_INVOLUNTARY;
	}
}

/* All zeros: a kernel that does not count. */
static void read_delay(struct dprof_sched *s, uint64_t tid)
{
	char text[TEXT_BYTES];
	const char *at = text;
	uint64_t cpu_ns, times;

	if (read_text(text, tid, "schedstat") && number_at(&at, &cpu_ns) &&
	    number_at(&at, &s->delay_ns) && number_at(&at, &times) && times > 0)
		s->known |= DPROF_SCHED_DELAY;
}

/* The file above says what was true at the last tick of the kernel's; this clock (time(7), of any thread of the
 * process) what is true now. */
static bool ask_cpu(uint64_t tid, uint64_t *ns)
{
	int clock = (int)(~(uint32_t)tid << 3 | 6);
	struct timespec cpu;

	if (!tid || sys(SYS_clock_gettime, clock, &cpu) < 0)
		return false;
	*ns = frz_ns(&cpu);
	return true;
}

static void read_cpu(struct dprof_sched *s, uint64_t tid)
{
	if (ask_cpu(tid, &s->cpu_ns))
		s->known |= DPROF_SCHED_CPU;
}

uint64_t dprof_sched_cpu(uint64_t tid)
{
	uint64_t ns;

	return ask_cpu(tid, &ns) ? ns : 0;
}

/* Numbers of threads are those of a namespace, which /proc may not be of. */
static bool proc_is_ours(void)
{
	char text[24] = "";
	const char *at = text;
	uint64_t pid;

	sys(SYS_readlink, "/proc/self", text, sizeof(text) - 1);
	return number_at(&at, &pid) && pid == (uint64_t)sys(SYS_getpid);
}

struct sched_asked { uint64_t tid; struct dprof_sched s; };

static long read_files(void *asked)
{
	struct sched_asked *a = asked;

	if (proc_is_ours()) {
		read_delay(&a->s, a->tid); /* before the moves, on which it is believed or not */
		read_switches(&a->s, a->tid);
	}
	return 0;
}

static bool told_delay, kept_delay; /* of some thread */

/* A thread that has a clock was there when its files were read. */
static void remember_delay(uint32_t known)
{
	if (known & DPROF_SCHED_DELAY)
		__atomic_store_n(&told_delay, true, __ATOMIC_RELAXED);
	else if (known & DPROF_SCHED_CPU)
		__atomic_store_n(&kept_delay, true, __ATOMIC_RELAXED);
}

const char *dprof_sched_silence(void)
{
	bool silent = __atomic_load_n(&kept_delay, __ATOMIC_RELAXED) && !__atomic_load_n(&told_delay, __ATOMIC_RELAXED);

	return silent ? "this kernel does not count for how long threads had to wait for a core (/proc/self/schedstat), or may not "
			"be asked: so it is not known for how long something else had their cores, nor for how long they were "
			"blocked in what dprof does not record, which counts as work" : NULL;
}

struct dprof_sched dprof_sched_read(uint64_t tid)
{
	struct sched_asked a = { tid, { .from = dprof_now() } };

	dprof_do_apart(read_files, &a);
	read_cpu(&a.s, tid);
	remember_delay(a.s.known);
	a.s.to = dprof_now();
	return a.s;
}

struct dprof_sched dprof_sched_last(bool old)
{
	struct rusage usage;
	struct dprof_sched s = { .from = dprof_now() };
	uint64_t tid = (uint64_t)sys(SYS_gettid);

	if (old || sys(SYS_getrusage, RUSAGE_THREAD, &usage) < 0 ||
	    usage.ru_nvcsw + usage.ru_nivcsw > FEW_SWITCHES) {
		s = dprof_sched_read(tid);
	} else {
		s.involuntary = (uint64_t)usage.ru_nivcsw;
		s.moves = (uint64_t)(usage.ru_nvcsw + usage.ru_nivcsw);
		s.known = DPROF_SCHED_INVOLUNTARY | DPROF_SCHED_MOVES;
		read_cpu(&s, tid);
		s.to = dprof_now();
	}
	s.last = 1;
	return s;
}

void dprof_sched_line(uint32_t thread, const struct dprof_sched *s)
{
	char line[256];
	int n = snprintf(line, sizeof(line), "sched %u %llu %llu", thread,
			 (unsigned long long)s->from, (unsigned long long)s->to);

#define X(NAME, field, word)                                                                       \
	if (s->known & DPROF_SCHED_##NAME)                                                         \
		n += snprintf(line + n, sizeof(line) - (size_t)n, " " word "=%llu",                \
			      (unsigned long long)s->field);
	DPROF_SCHED(X)
#undef X
	line[n++] = '\n';
	if (s->known)
		dprof_process_append(line, (size_t)n);
}

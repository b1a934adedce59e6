/* SPDX-License-Identifier: MIT
 *
 * settings.c - the environment, read once. */
#include "runtime/settings.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "freezer/topology.h"
#include "runtime/pmi_client.h"
#include "runtime/values.h"

#define JOB_KEY_SHOWN   8 /* hexadecimal digits */

struct dprof_settings dprof_settings;

/* Where starters of parallel jobs say the rank. The order matters: inside a batch job
 * SLURM_PROCID is set for the shell that runs mpirun, too. MPI_LOCALRANKID is no rank: it
 * counts within a host. */
static const char *const rank_names[] = {
	"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID", NULL,
};
static const char *const job_names[] = {
	"PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid", "PMI_JOBID", "SLURM_JOB_ID", NULL,
};

static const char *const local_rank_names[] = {
	"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID", NULL,
};

/* Where the next complaint goes; the last one is written over. */
static char *complaint(struct dprof_settings *s)
{
	_Static_assert(sizeof(s->complaint[0]) == VALUES_ROOM, "as long as values.h has it");
	int i = 0;

	while (i < DPROF_COMPLAINTS - 1 && *s->complaint[i])
		i++;
	return s->complaint[i];
}

static bool is_true(struct dprof_settings *s, const char *name)
{
	return values_flag(name, secure_getenv(name), complaint(s));
}

static const char *first_set(const char *const *names)
{
	for (; *names; names++) {
		const char *value = secure_getenv(*names);

		if (value && *value)
			return value;
	}
	return NULL;
}

void dprof_file_name(char *to, size_t size, const char *from)
{
	size_t n = 0;

	for (; *from && n + 1 < size; from++, n++) {
		unsigned char c = (unsigned char)*from;
		bool fine = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
			    (c >= '0' && c <= '9') || c == '-' || c == '_' || (c == '.' && n > 0);
		to[n] = fine ? *from : '_';
	}
	to[n] = '\0';
}

static int64_t rank(const char *const *names)
{
	const char *text = first_set(names);
	char *end;
	long long n;

	if (!text)
		return -1;
	n = strtoll(text, &end, 10);
	return end == text || *end || n < 0 || n > INT32_MAX ? -1 : n;
}

/* A starter that gives a job no name and does not answer: all its processes on a host have one
 * parent. When a process began stands behind its name, the 20th number from there. */
static bool name_parent(char *to, size_t size)
{
	char path[64], stat[512], *at;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%ld/stat", (long)getppid());
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, stat, sizeof(stat) - 1);
	if (fd >= 0)
		close(fd);
	stat[n < 0 ? 0 : n] = '\0';
	at = strrchr(stat, ')');
	for (int i = 0; at && i < 20; i++)
		at = strchr(at + 1, ' ');
	if (!at)
		return false;
	snprintf(to, size, "%ld-%lld", (long)getppid(), strtoll(at, NULL, 10));
	return true;
}

/* A job number alone may come again: OpenMPI makes it from the pid of mpirun. The key of the job's
 * transports is random, and all ranks have it. Without a rank there is no job but this process. */
static void job(struct dprof_settings *s)
{
	const char *number = s->rank >= 0 ? first_set(job_names) : NULL;
	const char *key = secure_getenv("OMPI_MCA_orte_precondition_transports");
	char text[256];

	if (number && key && *key)
		snprintf(text, sizeof(text), "%s-%.*s", number, JOB_KEY_SHOWN, key);
	else if (number)
		snprintf(text, sizeof(text), "%s", number);
	else if (s->rank < 0 || !secure_getenv("PMI_FD") ||
		 (!pmi_client_job(text, sizeof(text)) && !name_parent(text, sizeof(text))))
		snprintf(text, sizeof(text), "%ld", (long)getpid());
	dprof_file_name(s->job, sizeof(s->job), text);
}

static void boot_id(char *to, size_t size)
{
	int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, to, size - 1);

	if (fd >= 0)
		close(fd);
	to[n < 0 ? 0 : n] = '\0';
	to[strcspn(to, "\n")] = '\0';
}

/* Hosts are told apart by name and boot, so that the same name in two clusters, or two
 * namespaces of one machine that were given names, count as two. */
static void host(struct dprof_settings *s)
{
	const char *given = secure_getenv("DPROF_HOST");
	char name[DPROF_NAME_SIZE] = "", boot[DPROF_NAME_SIZE];

	if (given && *given) {
		dprof_file_name(s->host, sizeof(s->host), given);
		snprintf(s->hostid, sizeof(s->hostid), "%s", s->host);
		return;
	}
	gethostname(name, sizeof(name) - 1);
	dprof_file_name(s->host, sizeof(s->host), *name ? name : "unnamed");
	boot_id(boot, sizeof(boot));
	snprintf(s->hostid, sizeof(s->hostid), "%s/%s", s->host, boot);
}

/* Where no /proc is, the name by which it was called. */
static void program(struct dprof_settings *s)
{
	ssize_t n = readlink("/proc/self/exe", s->program, sizeof(s->program) - 1);
	const char *name = (const char *)getauxval(AT_EXECFN);

	if (n >= 0)
		s->program[n] = '\0';
	else if (!name || !realpath(name, s->program))
		snprintf(s->program, sizeof(s->program), "unknown");
}

/* Absolute, because the program may change its directory before the next thread starts. */
static void parent(struct dprof_settings *s)
{
	const char *given = secure_getenv("DPROF_DIR");

	if (!given || !*given)
		given = ".";
	else
		s->parent_given = given;
	if (!realpath(given, s->parent))
		snprintf(s->parent, sizeof(s->parent), "%s", given);
}

static bool is_known(const char *name, size_t length)
{
	static const char *const known[] = {
#define X(name) "DPROF_" #name,
#include "runtime/variables.def"
#undef X
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (strlen(known[i]) == length && !strncmp(known[i], name, length))
			return true;
	return false;
}

/* A misspelt name has no effect, and nobody would know. */
static void find_unknown(struct dprof_settings *s)
{
	for (char **at = environ; at && *at; at++) {
		size_t length = strcspn(*at, "=");

		if (!strncmp(*at, "DPROF_", strlen("DPROF_")) && !is_known(*at, length))
			values_complain(complaint(s), "%.*s is no variable of dprof (dprof(7) has a list); it has no effect",
				 (int)(length < 60 ? length : 60), *at);
	}
}

/* What is measured only in a job of several hosts is looked at in each program: who tries it on one host is told there. */
static void judge_sync(struct dprof_settings *s)
{
	const char *topology = secure_getenv("DPROF_SYNC_TOPOLOGY");
	struct frz_topology unused;

	values_interval_ns(secure_getenv("DPROF_SYNC_INTERVAL"), complaint(s));
	if (topology && *topology && frz_topology_parse(topology, &unused) < 0)
		values_complain(complaint(s), VALUES_NO_TOPOLOGY);
}

void dprof_settings_read(void)
{
	struct dprof_settings *s = &dprof_settings;

	/* A program with more rights than its user must not write where its user says. */
	s->off = is_true(s, "DPROF_OFF") || getauxval(AT_SECURE);
	s->quiet = is_true(s, "DPROF_QUIET");
	s->gather = is_true(s, "DPROF_GATHER");
	s->left_out = values_left_out(secure_getenv("DPROF_EVENTS"), complaint(s));
	s->rank = rank(rank_names);
	s->local_rank = rank(local_rank_names);
	host(s);
	if (s->off)
		return;
	find_unknown(s);
	s->chunk_bytes = values_chunk_bytes(secure_getenv("DPROF_BUFFER"), complaint(s));
	s->blocked_ns = values_blocked_ns(secure_getenv("DPROF_BLOCKED_NS"), complaint(s));
	judge_sync(s);
	job(s);
	program(s);
	parent(s);
}

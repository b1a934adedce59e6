/* SPDX-License-Identifier: MIT
 *
 * settings.c - the environment, read once. */
#include "runtime/settings.h"

#include "runtime/format.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "runtime/pmi_client.h"

#define CHUNK_BYTES     ((size_t)1 << 20)
#define CHUNK_BYTES_MIN ((size_t)4096)
#define CHUNK_BYTES_MAX ((size_t)1 << 30)
#define BLOCKED_NS      1000u
#define BLOCKED_NS_MAX  1000000000u
#define JOB_KEY_SHOWN   8 /* hexadecimal digits */

#define DPROF_ALL_KINDS ((DPROF_KIND_BIT(DPROF_KIND_COUNT) - 1) & ~DPROF_KIND_BIT(DPROF_KIND_NONE))

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

/* A value that is cut off when it is too long. */
static void __attribute__((format(printf, 2, 3))) complain(struct dprof_settings *s, const char *format, ...)
{
	va_list args;
	int i = 0;

	while (i < DPROF_COMPLAINTS - 1 && *s->complaint[i])
		i++;
	va_start(args, format);
	vsnprintf(s->complaint[i], sizeof(s->complaint[i]), format, args);
	va_end(args);
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

static bool is_one_of(const char *value, const char *const *words)
{
	while (*words && strcasecmp(value, *words))
		words++;
	return *words;
}

/* What is neither yes nor no counts as absent. */
static bool is_true(struct dprof_settings *s, const char *name)
{
	static const char *const yes[] = { "1", "true", "yes", "on", NULL };
	static const char *const no[] = { "", "0", "false", "no", "off", NULL };
	const char *value = secure_getenv(name);

	if (!value || is_one_of(value, no))
		return false;
	if (is_one_of(value, yes))
		return true;
	complain(s, "%s is '%.40s', which is neither 1 (true, yes, on) nor 0 (false, no, off); taken as 0", name,
		 value);
	return false;
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

/* "64K", "1M", "2G" or plain bytes; 0 when it is none of these. */
static size_t parse_bytes(const char *text)
{
	char *end;
	unsigned long long n = strtoull(text, &end, 10);
	unsigned shift = 0;

	if (end == text || *text == '-')
		return 0;
	switch (*end) {
	case 'k': case 'K': shift = 10; end++; break;
	case 'm': case 'M': shift = 20; end++; break;
	case 'g': case 'G': shift = 30; end++; break;
	}
	if (*end || n > CHUNK_BYTES_MAX >> shift)
		return 0;
	return (size_t)n << shift;
}

static size_t chunk_bytes(struct dprof_settings *s)
{
	const char *text = secure_getenv("DPROF_BUFFER");
	size_t bytes;

	if (!text || !*text)
		return CHUNK_BYTES;
	bytes = parse_bytes(text);
	if (!bytes) {
		complain(s, "DPROF_BUFFER is not a size of up to 1G (like 64K, 1M); took 1M");
		return CHUNK_BYTES;
	}
	if (bytes < CHUNK_BYTES_MIN) {
		complain(s, "DPROF_BUFFER is less than 4K; took 4K");
		return CHUNK_BYTES_MIN;
	}
	return bytes & ~(CHUNK_BYTES_MIN - 1);
}

static uint64_t blocked_ns(struct dprof_settings *s)
{
	const char *text = secure_getenv("DPROF_BLOCKED_NS");
	char *end;
	unsigned long long n;

	if (!text || !*text)
		return BLOCKED_NS;
	n = strtoull(text, &end, 10);
	if (*text >= '0' && *text <= '9' && !*end && n <= BLOCKED_NS_MAX)
		return n;
	complain(s, "DPROF_BLOCKED_NS is not a number of nanoseconds up to %u; took %u", BLOCKED_NS_MAX, BLOCKED_NS);
	return BLOCKED_NS;
}

/* The kinds that a word of DPROF_EVENTS means, or 0. */
static uint32_t kinds_of(const char *word, size_t length)
{
	static const char *const kinds[] = {
#define X(NAME, word) [DPROF_KIND_##NAME] = #word,
		DPROF_KINDS(X)
#undef X
	};

	if (length == strlen("all") && !strncmp(word, "all", length))
		return DPROF_ALL_KINDS;
	for (int k = 1; k < DPROF_KIND_COUNT; k++)
		if (length == strlen(kinds[k]) && !strncmp(word, kinds[k], length))
			return DPROF_KIND_BIT(k);
	return 0;
}

/* "region,barrier": only these; "-lock,-wait": all but these. What stands later counts. */
static uint32_t left_out(struct dprof_settings *s)
{
	const char *at = secure_getenv("DPROF_EVENTS");
	uint32_t out;

	if (!at || !*at)
		return 0;
	out = *at == '-' ? 0 : DPROF_ALL_KINDS;
	for (;; at++) {
		bool less = *at == '-';
		size_t length = strcspn(at += less, ",");
		uint32_t kinds = kinds_of(at, length);

		if (!kinds) {
			complain(s, "DPROF_EVENTS has '%.*s', which is no kind of event (dprof(7) has a list); "
				 "all kinds are recorded", (int)length, at);
			return 0;
		}
		out = less ? out | kinds : out & ~kinds;
		at += length;
		if (!*at)
			return out;
	}
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
			complain(s, "%.*s is no variable of dprof (dprof(7) has a list); it has no effect",
				 (int)(length < 60 ? length : 60), *at);
	}
}

void dprof_settings_read(void)
{
	struct dprof_settings *s = &dprof_settings;

	/* A program with more rights than its user must not write where its user says. */
	s->off = is_true(s, "DPROF_OFF") || getauxval(AT_SECURE);
	s->quiet = is_true(s, "DPROF_QUIET");
	s->gather = is_true(s, "DPROF_GATHER");
	s->left_out = left_out(s);
	s->rank = rank(rank_names);
	s->local_rank = rank(local_rank_names);
	host(s);
	if (s->off)
		return;
	find_unknown(s);
	s->chunk_bytes = chunk_bytes(s);
	s->blocked_ns = blocked_ns(s);
	job(s);
	program(s);
	parent(s);
}

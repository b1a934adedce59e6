/* SPDX-License-Identifier: MIT
 *
 * analysis_operation.c - what a site is said to be equals what the analyses once asked of its name, for every name that
 * an adapter or the plugin can write; and no more is said of a name that none can. The twin is those questions, as
 * they were asked. */
#include <glob.h>
#include <unistd.h>

#include "analysis/model/operation.h"
#include "testsuite/truth/random.h"
#include "testsuite/unit/unit.h"

#define KIND_BIT(kind) DPROF_KIND_BIT(DPROF_KIND_##kind)

/* ---- The twin -------------------------------------------------------------------------------- */

static bool begins(const char *name, const char *with)
{
	return strncmp(name, with, strlen(with)) == 0;
}

static bool is(const char *name, const char *other)
{
	return strcmp(name, other) == 0;
}

static bool once_team(enum dprof_kind kind, const char *name)
{
	return kind == DPROF_KIND_FORK && begins(name, "omp ");
}

static bool once_waits(enum dprof_kind kind, const char *name)
{
	bool blocking_send = is(name, "MPI_Send") || is(name, "MPI_Ssend") || is(name, "MPI_Rsend");
	return DPROF_KIND_BIT(kind) & (KIND_BIT(JOIN) | KIND_BIT(LOCK) | KIND_BIT(BARRIER) | KIND_BIT(COLL) |
				       KIND_BIT(RECV) | KIND_BIT(WAIT)) ||
	       once_team(kind, name) || (kind == DPROF_KIND_SEND && blocking_send);
}

static bool once_synchronous(const char *name)
{
	return strstr(name, "Ssend") || strstr(name, "Issend") || strstr(name, "ssend_");
}

static const struct { const char *name; enum flow flow; } once_flows[] = {
	{ "Barrier", FLOW_ALL },	{ "Allreduce", FLOW_ALL },  { "Allgather", FLOW_ALL },
	{ "Allgatherv", FLOW_ALL },	{ "Alltoall", FLOW_ALL },   { "Reduce_scatter_block", FLOW_ALL },
	{ "Bcast", FLOW_FROM_ROOT },	{ "Scatter", FLOW_FROM_ROOT }, { "Scatterv", FLOW_FROM_ROOT },
	{ "Reduce", FLOW_TO_ROOT },	{ "Gather", FLOW_TO_ROOT }, { "Gatherv", FLOW_TO_ROOT },
	{ "Win_fence", FLOW_ALL },	{ "Scan", FLOW_UPWARD },    { "Exscan", FLOW_UPWARD },
};

static bool once_called(const char *name, const char *of, bool begun)
{
	if (!begins(name, "MPI_"))
		return false;
	name += strlen("MPI_");
	if (!begun)
		return is(name, of);
	return (begins(name, of) && is(name + strlen(of), "_init")) ||
	       (*name == 'I' && strcasecmp(name + 1, of) == 0);
}

static enum flow once_flow(enum dprof_kind kind, const char *name, bool rooted, bool begun)
{
	if (kind == DPROF_KIND_FORK || kind == DPROF_KIND_JOIN)
		return kind == DPROF_KIND_FORK ? FLOW_FROM_ROOT : FLOW_TO_ROOT;
	for (size_t i = 0; i < sizeof once_flows / sizeof *once_flows; i++)
		if (once_called(name, once_flows[i].name, begun))
			return once_flows[i].flow;
	return begins(name, "MPI_") || rooted ? FLOW_NOWHERE : FLOW_ALL;
}

static bool once_arrival(enum dprof_kind kind, const char *name, bool begun)
{
	return kind == DPROF_KIND_BARRIER || once_called(name, "Barrier", begun) || is(name, "MPI_Win_fence");
}

static enum flow flow(struct operation o, bool rooted, bool begun)
{
	enum flow f = begun ? o.begun : o.flow;
	return f != FLOW_BY_ROLE ? f : rooted ? FLOW_NOWHERE : FLOW_ALL;
}

/* ---- One name -------------------------------------------------------------------------------- */

#define SAME(what, once)                                                                                    \
	do {                                                                                                \
		long now_ = (long)(what), once_ = (long)(once);                                             \
		if (now_ != once_) /* ck_assert_msg() takes a system call */                                \
			ck_abort_msg("%s of kind %d: " #what " is %ld, was %ld", name, kind, now_, once_);  \
	} while (0)

static void check_kind(struct operation o, enum dprof_kind kind, const char *name)
{
	uint32_t bit = DPROF_KIND_BIT(kind);
	uint32_t others = ~(KIND_BIT(REGION) | KIND_BIT(PROGRESS) | KIND_BIT(IO) | KIND_BIT(SLEEP));
	uint32_t several = KIND_BIT(SEND) | KIND_BIT(RECV) | KIND_BIT(WAIT) | KIND_BIT(FORK) | KIND_BIT(JOIN) |
			   KIND_BIT(BARRIER) | KIND_BIT(COLL);
	uint32_t parking = KIND_BIT(WAIT) | KIND_BIT(LOCK) | KIND_BIT(RECV) | KIND_BIT(IO) | KIND_BIT(SLEEP);
	SAME(o.kind, kind);
	SAME(!!(o.is & OP_REGION), kind == DPROF_KIND_REGION);
	SAME(!!(o.is & OP_OTHERS), !!(bit & others));
	SAME(!!(o.is & (OP_OTHERS | OP_OWN)), kind != DPROF_KIND_REGION && kind != DPROF_KIND_PROGRESS);
	SAME(!!(o.is & OP_MATCHED), !!(bit & several));
	SAME(!!(o.is & OP_MESSAGE), kind == DPROF_KIND_SEND || kind == DPROF_KIND_RECV);
	SAME(!!(o.is & OP_COLLECTIVE), kind == DPROF_KIND_BARRIER || kind == DPROF_KIND_COLL);
	SAME(!!(o.is & OP_PARKS), !!(bit & parking));
	SAME(!!(o.is & OP_SLEEP), kind == DPROF_KIND_SLEEP);
	SAME(!!(o.is & OP_REQUEST && o.is & OP_ADDRESS), false);
}

static void check_flow(struct operation o, enum dprof_kind kind, const char *name)
{
	uint32_t flows = KIND_BIT(BARRIER) | KIND_BIT(COLL) | KIND_BIT(FORK) | KIND_BIT(JOIN);
	for (int i = 0; i < 4 && DPROF_KIND_BIT(kind) & flows; i++) {
		bool rooted = i & 1, begun = i & 2;
		SAME(flow(o, rooted, begun), once_flow(kind, name, rooted, begun));
		if (flow(o, rooted, begun) == FLOW_ALL)
			SAME(!!(o.is & OP_ARRIVAL), once_arrival(kind, name, begun));
	}
}

/* Semaphores, and queues, which count messages. */
static bool once_counts(const char *name)
{
	return strstr(name, "sem_") || is(name, "semop") || is(name, "semtimedop") || begins(name, "msg") || begins(name, "mq_");
}

/* The twin did not know that MPI_Name_c, which the plugin writes where the adapter is not there, is MPI_Name. */
static void check_name(enum dprof_kind kind, const char *name)
{
	struct operation o = operation_of(kind, name);
	char plain[64];
	size_t length = strlen(name);
	if (begins(name, "MPI_") && is(name + length - 2, "_c"))
		snprintf(plain, sizeof plain, "%.*s", (int)length - 2, name), name = plain;
	check_kind(o, kind, name);
	check_flow(o, kind, name);
	SAME(!!(o.is & OP_WAITS), once_waits(kind, name));
	if (kind == DPROF_KIND_SEND)
		SAME(!!(o.is & OP_SYNCHRONOUS), once_synchronous(name));
	if (kind == DPROF_KIND_WAIT)
		SAME(!!(o.is & OP_SEMAPHORE), once_counts(name));
	SAME(o.urgent, kind == DPROF_KIND_WAIT && begins(name, "mq_"));
	if (kind == DPROF_KIND_BARRIER)
		SAME(!!(o.is & OP_OF_RANKS), begins(name, "MPI_"));
	SAME(!!(o.is & OP_TEAM), once_team(kind, name));
	SAME(!!(o.is & OP_TEAM_LEFT), kind == DPROF_KIND_JOIN && (is(name, "omp parallel") || is(name, "omp parallel end")));
	SAME(!!(o.is & OP_LIFE_BEGINS), kind == DPROF_KIND_FORK && is(name, "thread begin"));
	SAME(!!(o.is & OP_LIFE_ENDS), kind == DPROF_KIND_JOIN && is(name, "thread end"));
	SAME(!!(o.is & OP_JOINS_THREAD), kind == DPROF_KIND_JOIN && (is(name, "pthread_join") || is(name, "pthread_tryjoin_np") ||
								   is(name, "pthread_timedjoin_np")));
	SAME(!!(o.is & OP_UNSEEN), kind == DPROF_KIND_FORK && (is(name, "SIGEV_THREAD") || is(name, "killed child")));
	SAME(!!(o.is & OP_CHILD), kind == DPROF_KIND_FORK && is(name, "killed child"));
}

static void check_all_kinds(const char *name)
{
	for (int kind = DPROF_KIND_NONE + 1; kind < DPROF_KIND_COUNT; kind++)
		check_name((enum dprof_kind)kind, name);
}

/* ---- All names ------------------------------------------------------------------------------- */

static const char *const listed[] = {
#define DPROF_MPI(name, kind)       "MPI_" #name,
#define DPROF_MPI_LATER(name)       "MPI_" #name,
#define DPROF_MPI_NOT(name, why)    "MPI_" #name,
#include "runtime/mpi/functions.def"
#undef DPROF_MPI
#undef DPROF_MPI_LATER
#undef DPROF_MPI_NOT
#define DPROF_CALL(function, kind, name, adapter) name,
#define DPROF_TELL(function, kind, name)          name,
#define DPROF_RESULT(function, name)              name,
#include "plugin/calls.def"
};

START_TEST(names_in_the_tables_of_calls)
{
	for (size_t i = 0; i < sizeof listed / sizeof *listed; i++)
		check_all_kinds(listed[i]);
}
END_TEST

/* Sites are at multiples of 16 and begin with their magic number. -> how many the library has. */
static size_t check_library(const char *path)
{
	size_t found = 0;
	FILE *in = fopen(path, "r");
	ck_assert_msg(in != NULL, "%s", path);
	for (char unit[256] = { 0 }; fread(unit, 16, 1, in) == 1;) {
		struct dprof_site head;
		memcpy(&head, unit, sizeof head);
		if (head.magic != DPROF_SITE_MAGIC || head.version != DPROF_SITE_VERSION ||
		    head.size < DPROF_SITE_MIN || head.size > sizeof unit)
			continue;
		ck_assert(fread(unit + 16, (size_t)head.size - 16, 1, in) == 1);
		check_name(dprof_site_kind(&head), unit + sizeof head);
		check_all_kinds(unit + sizeof head);
		found++;
	}
	fclose(in);
	return found;
}

START_TEST(names_that_adapters_write)
{
	char self[4096] = "", *end;
	glob_t libraries;
	size_t found = 0;
	ck_assert(readlink("/proc/self/exe", self, sizeof self - 64) > 0);
	for (int up = 0; up < 2 && (end = strrchr(self, '/')); up++)
		*end = 0;
	strcat(self, "/lib/libdprof-*.so");
	ck_assert(glob(self, 0, NULL, &libraries) == 0);
	for (size_t i = 0; i < libraries.gl_pathc; i++)
		found += check_library(libraries.gl_pathv[i]);
	globfree(&libraries);
	ck_assert_msg(found > 200, "%zu sites in %s", found, self);
}
END_TEST

/* What is said of a name that is nearly one of the table: no more than of any of its kind, unless it begins as those
 * do of which that says something. */
static void check_unknown(enum dprof_kind kind, const char *name)
{
	struct operation o = operation_of(kind, name);
	const uint32_t known = OP_SYNCHRONOUS | OP_SEMAPHORE | OP_LIFE_BEGINS | OP_LIFE_ENDS | OP_JOINS_THREAD |
			       OP_UNSEEN | OP_CHILD | OP_TEAM_LEFT;
	bool prefixed = begins(name, "MPI_");
	check_kind(o, kind, name);
	SAME(o.is & known, 0);
	SAME(!!(o.is & OP_TEAM), once_team(kind, name));
	SAME(!!(o.is & OP_WAITS), once_waits(kind, name));
	if (o.is & OP_COLLECTIVE)
		SAME(flow(o, false, false), prefixed ? FLOW_NOWHERE : FLOW_ALL);
}

START_TEST(names_that_no_one_writes)
{
	struct dice dice = { unit_seed };
	for (uint64_t i = 0; i < unit_times(20000); i++) {
		size_t which = (size_t)roll_in(&dice, 0, sizeof listed / sizeof *listed - 1);
		char name[64] = "";
		snprintf(name, sizeof name - 1, "%s", listed[which]);
		size_t length = strlen(name), at = (size_t)roll_in(&dice, 0, (int64_t)length - 1);
		name[roll_in(&dice, 0, 1) ? length : at] = '#';
		for (int kind = DPROF_KIND_NONE + 1; kind < DPROF_KIND_COUNT; kind++)
			check_unknown((enum dprof_kind)kind, name);
	}
}
END_TEST

START_TEST(sets_of_kinds)
{
	ck_assert_uint_eq(operation_kinds(OP_OTHERS), KIND_BIT(BARRIER) | KIND_BIT(COLL) | KIND_BIT(SEND) |
			  KIND_BIT(RECV) | KIND_BIT(WAIT) | KIND_BIT(FORK) | KIND_BIT(JOIN) | KIND_BIT(LOCK));
	ck_assert_uint_eq(operation_kinds(OP_REGION), KIND_BIT(REGION));
	ck_assert_uint_eq(operation_kinds(OP_OWN), KIND_BIT(IO) | KIND_BIT(SLEEP));
}
END_TEST

int main(void)
{
	TCase *laws = unit_begin(900, UNIT_ANEW);

	tcase_add_test(laws, names_in_the_tables_of_calls);
	tcase_add_test(laws, names_that_adapters_write);
	tcase_add_test(laws, names_that_no_one_writes);
	tcase_add_test(laws, sets_of_kinds);
	return unit_end();
}

/* SPDX-License-Identifier: MIT
 *
 * operation.c - see operation.h. */
#include "analysis/model/operation.h"

#include <stddef.h>
#include <string.h>

static const struct { uint32_t is; enum flow flow; } kinds[DPROF_KIND_COUNT] = {
#define KIND(kind, is, flow) [DPROF_KIND_##kind] = { is, flow },
#include "analysis/model/operations.def"
};

static const struct { enum dprof_kind kind; const char *name; uint32_t is; enum flow flow; } prefixes[] = {
#define PREFIX(kind, name, is, flow) { DPROF_KIND_##kind, name, is, flow },
#include "analysis/model/operations.def"
};

static const struct { enum dprof_kind kind; const char *name; uint32_t is; } operations[] = {
#define OPERATION(kind, name, is) { DPROF_KIND_##kind, name, is },
#include "analysis/model/operations.def"
}, unplaced[] = {
#define UNPLACED(kind, name, is) { DPROF_KIND_##kind, name, is },
#include "analysis/model/operations.def"
};

static const struct { const char *called, *begun, *started; uint32_t is; enum flow flow; } collectives[] = {
#define COLLECTIVE(name, lower, is, flow) { "MPI_" #name, "MPI_I" #lower, "MPI_" #name "_init", is, flow },
#include "analysis/model/operations.def"
};

/* How one waits there, and what else the bits do not say. */
static const struct {
	enum dprof_kind kind;
	const char *name;
	bool sleeps, blocks, mixed, once, counted, first, stored, makes, switches, queues, locks, carries, tells, finds, looks, jobs,
	     urgent, due, asks, of_begun, tries, claims, told;
} ways[] = {
#define SLEEPS(kind, name) { DPROF_KIND_##kind, name, .sleeps = true },
#define BLOCKS(kind, name) { DPROF_KIND_##kind, name, .blocks = true },
#define MIXED(kind, name) { DPROF_KIND_##kind, name, .mixed = true },
#define ONCE(kind, name) { DPROF_KIND_##kind, name, .once = true },
#define COUNTED(kind, name) { DPROF_KIND_##kind, name, .counted = true },
#define FIRST(kind, name) { DPROF_KIND_##kind, name, .first = true },
#define STORED(kind, name) { DPROF_KIND_##kind, name, .stored = true },
#define MAKES(kind, name) { DPROF_KIND_##kind, name, .makes = true },
#define SWITCHES(kind, name) { DPROF_KIND_##kind, name, .switches = true },
#define QUEUES(kind, name) { DPROF_KIND_##kind, name, .queues = true },
#define LOCKS(kind, name) { DPROF_KIND_##kind, name, .locks = true },
#define CARRIES(kind, name) { DPROF_KIND_##kind, name, .carries = true },
#define URGENT(kind, name) { DPROF_KIND_##kind, name, .urgent = true },
#define TELLS(kind, name) { DPROF_KIND_##kind, name, .tells = true },
#define FINDS(kind, name) { DPROF_KIND_##kind, name, .finds = true },
#define OF_BEGUN(kind, name) { DPROF_KIND_##kind, name, .of_begun = true },
#define LOOKS(kind, name) { DPROF_KIND_##kind, name, .looks = true },
#define JOBS(kind, name) { DPROF_KIND_##kind, name, .jobs = true },
#define DUE(kind, name) { DPROF_KIND_##kind, name, .due = true },
#define ASKS(kind, name) { DPROF_KIND_##kind, name, .asks = true },
#define TRIES(kind, name) { DPROF_KIND_##kind, name, .tries = true },
#define CLAIMS(kind, name) { DPROF_KIND_##kind, name, .claims = true },
#define TOLD(kind, name) { DPROF_KIND_##kind, name, .told = true },
#include "analysis/model/operations.def"
};

#define COUNT(table) (sizeof(table) / sizeof *(table))

static void add_prefixes(struct operation *o, const char *name)
{
	for (size_t i = 0; i < COUNT(prefixes); i++)
		if (prefixes[i].kind == o->kind && strncmp(name, prefixes[i].name, strlen(prefixes[i].name)) == 0) {
			o->is |= prefixes[i].is;
			o->flow = o->begun = prefixes[i].flow;
		}
}

static void add_names(struct operation *o, const char *name)
{
	for (size_t i = 0; i < COUNT(operations); i++)
		if (operations[i].kind == o->kind && strcmp(name, operations[i].name) == 0)
			o->is |= operations[i].is;
}

static void add_ways(struct operation *o, const char *name)
{
	for (size_t i = 0; i < COUNT(ways); i++) {
		if (ways[i].kind != o->kind || strncmp(name, ways[i].name, strlen(ways[i].name)) != 0)
			continue;
		bool called = strcmp(name, ways[i].name) == 0;
		o->sleeps |= ways[i].sleeps;
		o->jobs |= ways[i].jobs;
		o->due |= ways[i].due && called;
		o->asks |= ways[i].asks;
		o->urgent |= ways[i].urgent;
		o->blocks |= ways[i].sleeps || (ways[i].blocks && called);
		o->mixed |= ways[i].mixed && called;
		o->once |= ways[i].once && called;
		o->counted |= ways[i].counted && called;
		o->stored |= ways[i].stored && called;
		o->first |= ways[i].first && called;
		o->makes |= ways[i].makes && called;
		o->switches |= ways[i].switches && called;
		o->queues |= ways[i].queues && called;
		o->locks |= ways[i].locks && called;
		o->finds |= ways[i].finds && called;
		o->of_begun |= ways[i].of_begun && called;
		o->looks |= ways[i].looks && called;
		o->carries |= ways[i].carries && called;
		o->tries |= ways[i].tries && called;
		o->claims |= ways[i].claims && called;
		o->told |= ways[i].told && called;
		o->tells |= ways[i].tells && called;
	}
}

static void add_collectives(struct operation *o, const char *name)
{
	for (size_t i = 0; i < COUNT(collectives); i++) {
		bool called = strcmp(name, collectives[i].called) == 0;
		bool begun = strcmp(name, collectives[i].begun) == 0 || strcmp(name, collectives[i].started) == 0;
		if (called)
			o->flow = collectives[i].flow;
		if (begun)
			o->begun = collectives[i].flow;
		if (called || begun)
			o->is |= collectives[i].is;
	}
}

#define NAME_MOST 64 /* longer than any in the table */

/* MPI_Send_c is MPI_Send with more to count. */
static const char *without_count(const char *name, char plain[NAME_MOST])
{
	size_t length = strlen(name);
	if (strncmp(name, "MPI_", 4) != 0 || length >= NAME_MOST || strcmp(name + length - 2, "_c") != 0)
		return name;
	memcpy(plain, name, length - 2);
	plain[length - 2] = 0;
	return plain;
}

struct operation operation_of(enum dprof_kind kind, const char *name)
{
	char plain[NAME_MOST];
	struct operation o = { .kind = kind, .is = kinds[kind].is, .flow = kinds[kind].flow, .begun = kinds[kind].flow };
	if (o.is & OP_REGION)
		return o; /* its name is the user's */
	name = without_count(name, plain);
	add_prefixes(&o, name);
	add_names(&o, name);
	add_ways(&o, name);
	if (o.is & OP_COLLECTIVE)
		add_collectives(&o, name);
	return o;
}

uint32_t operation_unplaced(enum dprof_kind kind, const char *name)
{
	uint32_t is = 0;
	for (size_t i = 0; i < COUNT(unplaced); i++)
		if (unplaced[i].kind == kind && strcmp(name, unplaced[i].name) == 0)
			is |= unplaced[i].is;
	return is;
}

uint32_t operation_kinds(uint32_t is)
{
	uint32_t set = 0;
	for (int kind = DPROF_KIND_NONE + 1; kind < DPROF_KIND_COUNT; kind++)
		set |= kinds[kind].is & is ? DPROF_KIND_BIT(kind) : 0;
	return set;
}

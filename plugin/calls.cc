/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * calls.cc - says where the calls of calls.def stand, and records some of them where no adapter does.
 *
 *   x = MPI_Barrier(c);          ->   TELL [ENTER]; x = MPI_Barrier(c); TOLD [EXIT]
 *   e = pthread_mutex_lock(m);   ->   TELL; e = pthread_mutex_lock(m); TOLD
 *
 * Law: what is told is so from just before the call until just after it, whichever way that goes on. What only
 * an adapter records is told only where the compiler knows the line: a neighbour's would be a wrong one. */
#include <fnmatch.h>

#include "plugin/parts.h"

static const struct known_call {
	const char *function;
	enum dprof_kind kind;
	const char *name;
	enum dprof_adapter adapter; /* who records it, else the code around it */
	bool told;                  /* nothing else records it */
} table[] = {
#define DPROF_CALL(function, kind, name, adapter) \
	{ function, DPROF_KIND_##kind, name, DPROF_ADAPTER_##adapter, false },
#define DPROF_TELL(function, kind, name) { function, DPROF_KIND_##kind, name, DPROF_ADAPTERS, true },
#define DPROF_RESULT(function, name)
#include "plugin/calls.def"
#undef DPROF_CALL
#undef DPROF_TELL
#undef DPROF_RESULT
};

static const struct call_result { const char *function, *name; } results[] = {
#define DPROF_CALL(function, kind, name, adapter)
#define DPROF_TELL(function, kind, name)
#define DPROF_RESULT(function, name) { function, name },
#include "plugin/calls.def"
};

static bool is_called(const char *function, const char *name)
{
	return strchr(function, '*') ? fnmatch(function, name, 0) == 0 : !strcmp(function, name);
}

/* A template of libstdc++ is this file's own where its argument is. */
static bool may_be_known(tree fn, const char *name)
{
	return TREE_PUBLIC(fn) || startswith(name, "_ZNSt");
}

static const struct known_call *find(gimple *stmt)
{
	if (!is_gimple_call(stmt) || in_system_header_at(gimple_location(stmt)))
		return nullptr;
	tree fn = gimple_call_fndecl(stmt);
	const char *name = fn ? IDENTIFIER_POINTER(DECL_ASSEMBLER_NAME(fn)) : "";
	if (!fn || !may_be_known(fn, name))
		return nullptr;
	bool in_fortran = fortran();
	for (const struct known_call &c : table)
		if (is_called(c.function, name + (*name == '*')) ||
		    (in_fortran && fortran_symbol_is(name, c.function)))
			return &c;
	return nullptr;
}

bool calls_mpi(gimple *stmt)
{
	const struct known_call *c = find(stmt);
	return c && startswith(c->function, "MPI_");
}

/* MPI_Send_c is MPI_Send with a larger count. */
static const char *shown(const struct known_call *c, gimple *stmt)
{
	static char name[64];
	for (const struct call_result &r : results)
		if (gimple_call_lhs(stmt) && !strcmp(r.function, c->function))
			return r.name;
	snprintf(name, sizeof(name), "%s", c->name);
	if (startswith(name, "MPI_") && !strcmp(name + strlen(name) - 2, "_c"))
		name[strlen(name) - 2] = '\0';
	return name;
}

/* Calls that GCC made up have no location: take a neighbour's, at last the function's. */
static location_t location_near(gimple_stmt_iterator at)
{
	gimple_stmt_iterator i;
	for (i = at; !gsi_end_p(i); gsi_prev(&i))
		if (gimple_has_location(gsi_stmt(i)))
			return gimple_location(gsi_stmt(i));
	for (i = at; !gsi_end_p(i); gsi_next(&i))
		if (gimple_has_location(gsi_stmt(i)))
			return gimple_location(gsi_stmt(i));
	edge e;
	edge_iterator ei;
	FOR_EACH_EDGE(e, ei, gsi_bb(at)->preds) {
		gimple *last = last_stmt(e->src);
		if (last && gimple_has_location(last))
			return gimple_location(last);
	}
	return DECL_SOURCE_LOCATION(current_function_decl);
}

static bool record(gimple_stmt_iterator *i, const struct known_call *c)
{
	location_t where = location_near(*i);
	if (stretches_off(where))
		return false;
	tree site = site_build(c->kind, where, shown(c, gsi_stmt(*i)), current_function_decl);

	auto part = [&](enum dprof_op op) { return pass_call_or_event(op, c->kind, c->adapter, site, where); };
	gsi_insert_before(i, part(DPROF_ENTER), GSI_SAME_STMT);
	return calls_insert_after(i, [&](bool) { return part(DPROF_EXIT); });
}

/* The function that GCC has made of a construct's body, and gives to libgomp; or NULL. Its line is the directive's,
 * which the call lacks. */
static tree body_of(gimple *stmt)
{
	tree body = gimple_call_num_args(stmt) ? gimple_call_arg(stmt, 0) : NULL_TREE;
	bool made = body && TREE_CODE(body) == ADDR_EXPR && TREE_CODE(TREE_OPERAND(body, 0)) == FUNCTION_DECL &&
		    startswith(IDENTIFIER_POINTER(DECL_ASSEMBLER_NAME(gimple_call_fndecl(stmt))), "GOMP_");
	return made ? TREE_OPERAND(body, 0) : NULL_TREE;
}

/* NULL if the user does not want it to be told. */
static tree told_site(const struct known_call *c, location_t where, bool construct)
{
	if (LOCATION_LOCUS(where) <= BUILTINS_LOCATION || stretches_off(where) ||
	    (construct && bodies_of_device(current_function_decl)))
		return NULL_TREE;
	if (c->kind == DPROF_KIND_FORK && construct)
		return site_build_team(where, c->name, current_function_decl);
	if (c->kind != DPROF_KIND_REGION)
		return site_build(c->kind, where, c->name, current_function_decl);
	char *name = bodies_name(c->name, where);
	tree site = filter_refuses(current_function_decl, name) ? NULL_TREE :
		site_build(c->kind, where, name, current_function_decl, AUTOMATIC);
	free(name);
	return site;
}

static bool tell(gimple_stmt_iterator *i, const struct known_call *c)
{
	tree body = body_of(gsi_stmt(*i));
	location_t where = body ? DECL_SOURCE_LOCATION(body) : gimple_location(gsi_stmt(*i));
	tree site = told_site(c, where, body);
	if (!site)
		return false;
	gsi_insert_before(i, pass_call(site, where), GSI_SAME_STMT);
	return calls_insert_after(i, [&](bool) { return pass_call(NULL_TREE, where); });
}

bool calls_wrap(gimple_stmt_iterator *i)
{
	const struct known_call *c = find(gsi_stmt(*i));
	if (!c) {
		if (counters_wrap(i) || claims_wrap(i))
			return false;
		spins_note_call(i);
		return library_wrap(i);
	}
	bool edges = library_hides(*i);
	return (c->told ? tell(i, c) : record(i, c)) || edges;
}

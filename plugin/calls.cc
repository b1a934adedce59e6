/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * calls.cc - a pass over GIMPLE that records the calls of calls.def.
 *
 *   x = MPI_Barrier(c);   ->   ENTER; x = MPI_Barrier(c); EXIT
 *
 * It runs before SSA is built: the barriers that OpenMP makes up are calls by then, and nothing is
 * inlined yet. Law: ENTER is the last thing that the thread records before the call, so that who
 * stands behind the call (the MPI adapter) can add to it; EXIT is on every way the call can go on. */
#include "plugin/parts.h"

static const struct call {
	const char *function;
	enum dprof_kind kind;
	const char *name;
} table[] = {
#define DPROF_CALL(function, kind, name) { function, DPROF_KIND_##kind, name },
#include "plugin/calls.def"
};

static const struct call *find(gimple *stmt)
{
	if (!is_gimple_call(stmt) || in_system_header_at(gimple_location(stmt)))
		return nullptr;
	tree fn = gimple_call_fndecl(stmt);
	if (!fn || !TREE_PUBLIC(fn))
		return nullptr;
	const char *name = IDENTIFIER_POINTER(DECL_ASSEMBLER_NAME(fn));
	for (const struct call &c : table)
		if (!strcmp(c.function, name + (*name == '*')))
			return &c;
	return nullptr;
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

/* The site must be known to be used before the call graph is next rebuilt. */
static gimple *event(enum dprof_op op, tree site, location_t where)
{
	gimple *stmt = event_build_gimple(op, site, where);
	cgraph_node::get(current_function_decl)->record_stmt_references(stmt);
	return stmt;
}

/* Returns true if edges wait for gsi_commit_edge_inserts. */
static bool wrap(gimple_stmt_iterator *gsi, const struct call &c)
{
	gimple *stmt = gsi_stmt(*gsi);
	location_t where = location_near(*gsi);
	tree site = site_build(c.kind, where, c.name, current_function_decl);

	gsi_insert_before(gsi, event(DPROF_ENTER, site, where), GSI_SAME_STMT);
	if (!stmt_ends_bb_p(stmt)) {
		gsi_insert_after(gsi, event(DPROF_EXIT, site, where), GSI_NEW_STMT);
		return false;
	}
	edge e;
	edge_iterator ei;
	FOR_EACH_EDGE(e, ei, gimple_bb(stmt)->succs)
		if (!(e->flags & EDGE_ABNORMAL))
			gsi_insert_on_edge(e, event(DPROF_EXIT, site, where));
	return true;
}

static void at_asm(gasm *stmt)
{
	const char *text = gimple_asm_string(stmt);
	if (ties_is(text))
		suppress_warning(stmt, OPT_Wuninitialized);
	else if (marker_is(text))
		error_at(gimple_location(stmt), "dprof cannot handle a directive here");
}

static unsigned at_function(function *fun)
{
	bool edges = false;
	basic_block bb;
	FOR_EACH_BB_FN(bb, fun)
		for (gimple_stmt_iterator i = gsi_start_bb(bb); !gsi_end_p(i); gsi_next(&i))
			if (gasm *a = dyn_cast<gasm *>(gsi_stmt(i)))
				at_asm(a);
			else if (const struct call *c = find(gsi_stmt(i)))
				edges |= wrap(&i, *c);
	if (edges)
		gsi_commit_edge_inserts();
	return 0;
}

namespace {

const pass_data data = { GIMPLE_PASS, "dprof", OPTGROUP_NONE, TV_NONE, PROP_cfg, 0, 0, 0, 0 };

class pass_calls : public gimple_opt_pass {
public:
	pass_calls() : gimple_opt_pass(data, g) {}
	unsigned execute(function *fun) final override { return at_function(fun); }
};

} // namespace

void calls_register(const char *plugin_name)
{
	struct register_pass_info where = { new pass_calls, "ssa", 1, PASS_POS_INSERT_BEFORE };
	register_callback(plugin_name, PLUGIN_PASS_MANAGER_SETUP, nullptr, &where);
}

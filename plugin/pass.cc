/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * pass.cc - the pass over GIMPLE: notes become instructions, and calls are wrapped (calls.cc).
 *
 * It runs before SSA is built: OpenMP's bodies are functions of their own by then and its barriers are
 * calls, and nothing is inlined or copied yet. Law: after it no text of the plugin's own is left. */
#include "plugin/parts.h"

namespace {

class pass_dprof : public gimple_opt_pass {
public:
	pass_dprof();
	unsigned execute(function *fun) final override;

private:
	/* What was noted of one place in one function is one site. */
	struct noted {
		location_t where;
		const char *name;
		tree site;
	};
	auto_vec<noted> sites;

	tree site_of(const struct event &e, location_t where);
	void at_note(gimple_stmt_iterator *i, const struct event &e, location_t where);
	void at_asm(gimple_stmt_iterator *i);
	void leave_out(function *fun);
};

const pass_data data = { GIMPLE_PASS, "dprof", OPTGROUP_NONE, TV_NONE, PROP_cfg, 0, 0, 0, 0 };

pass_dprof::pass_dprof() : gimple_opt_pass(data, g)
{
}

/* From the back: the EXIT of a region is never far from its ENTER. */
tree pass_dprof::site_of(const struct event &e, location_t where)
{
	for (unsigned n = sites.length(); n-- > 0;)
		if (sites[n].where == where && !strcmp(sites[n].name, e.name))
			return sites[n].site;
	tree site = site_build(e.kind, where, e.name, current_function_decl, e.origin);
	sites.safe_push({ where, e.name, site });
	return site;
}

/* The front end turns a coroutine's body into another function, of which it does not tell us. */
static void refuse_leftover(gimple *stmt, const char *marker)
{
	location_t where = LOCATION_LOCUS(gimple_location(stmt));
	static location_t refused; /* the two ends of a region are one directive */
	if (where == refused)
		return;
	refused = where;
	const char *fn = IDENTIFIER_POINTER(DECL_ASSEMBLER_NAME(current_function_decl));
	size_t n = strlen(fn);
	if (n > 6 && !strcmp(fn + n - 6, ".actor"))
		error_at(where, "dprof cannot handle a directive in a coroutine, which may go on in another "
			 "thread; mark a function that it calls");
	else
		error_at(where, "dprof cannot handle a directive here (%s)", marker);
}

void pass_dprof::at_note(gimple_stmt_iterator *i, const struct event &e, location_t where)
{
	tree site = site_of(e, where);
	gimple *event = pass_event(e.op, e.kind, site, gimple_location(gsi_stmt(*i)), e.origin);
	if (lower_by_hand(e.name))
		balance_add(event, e.op, site);
	gsi_replace(i, event, true);
}

void pass_dprof::at_asm(gimple_stmt_iterator *i)
{
	gasm *stmt = as_a<gasm *>(gsi_stmt(*i));
	const char *text = gimple_asm_string(stmt);
	location_t where = LOCATION_LOCUS(gimple_location(stmt));
	struct event e;

	if (event_read(text, &e))
		at_note(i, e, where);
	else if (instance_is(text))
		instance_expand(i);
	else if (marker_is(text))
		refuse_leftover(stmt, text);
	else
		counters_unseen(i);
}

/* In a function that runs too early for events. */
void pass_dprof::leave_out(function *fun)
{
	basic_block bb;
	FOR_EACH_BB_FN(bb, fun)
		for (gimple_stmt_iterator i = gsi_start_bb(bb); !gsi_end_p(i);) {
			gasm *stmt = dyn_cast<gasm *>(gsi_stmt(i));
			struct event e;
			bool note = stmt && event_read(gimple_asm_string(stmt), &e);
			if (note && e.origin == MARKED && e.op != DPROF_EXIT)
				warning_at(gimple_location(stmt), 0, "dprof leaves out %qs: an %<ifunc%> resolver calls this function, "
					   "before threads have their variables", e.name);
			if (note || (stmt && instance_is(gimple_asm_string(stmt))))
				gsi_remove(&i, true);
			else
				gsi_next(&i);
		}
}

unsigned pass_dprof::execute(function *fun)
{
	if (resolvers_reach(fun->decl)) {
		leave_out(fun);
		return 0;
	}
	bool edges = bodies_wrap(fun);
	basic_block bb;
	if (fortran()) {
		fortran_expand(fun);
		if (balance_all(fun)) {
			gsi_commit_edge_inserts();
			edges = false;
		}
		edges |= loops_of_graph(fun);
	}
	edges |= clocks_wrap(fun);
	FOR_EACH_BB_FN(bb, fun)
		for (gimple_stmt_iterator i = gsi_start_bb(bb); !gsi_end_p(i); gsi_next(&i))
			if (gimple_code(gsi_stmt(i)) == GIMPLE_ASM)
				at_asm(&i);
			else if (is_gimple_call(gsi_stmt(i)))
				edges |= calls_wrap(&i);
			else
				flags_wrap(&i);
	edges |= spins_wrap();
	if (balance_all(fun) || edges)
		gsi_commit_edge_inserts();
	sites.truncate(0);
	return 0;
}

} // namespace

/* The site must be known to be used before the call graph is next rebuilt. */
static gimple *referring(gimple *stmt)
{
	cgraph_node::get(current_function_decl)->record_stmt_references(stmt);
	return stmt;
}

gimple *pass_event(enum dprof_op op, enum dprof_kind kind, tree site, location_t where, enum origin origin)
{
	return referring(event_build(op, kind, site, where, origin));
}

gimple *pass_call(tree site, location_t where)
{
	return referring(call_build(site, where));
}

gimple *pass_call_or_event(enum dprof_op op, enum dprof_kind kind, enum dprof_adapter adapter, tree site,
			   location_t where)
{
	return referring(call_or_event_build(op, kind, adapter, site, where));
}

void pass_register(const char *plugin_name)
{
	struct register_pass_info where = { new pass_dprof, "ssa", 1, PASS_POS_INSERT_BEFORE };
	register_callback(plugin_name, PLUGIN_PASS_MANAGER_SETUP, nullptr, &where);
}

/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * retries.cc - loops that do nothing but try again for the same object, or look at it again: spin locks, waits, and what is
 * computed from what it was:
 *
 *   while (atomic_flag_test_and_set(&lock)) pause();   do new = f(old); while (!atomic_compare_exchange_weak(&x, &old, new));
 *   while (!atomic_load(&there)) pause();
 *
 * Law: who does anything else there that others could see, but to let time pass, does not only try again. */
#include "plugin/parts.h"
#include "dominance.h"
#include "plugin/retries.h"
#include <sys/syscall.h>

#define DEEPEST 3 /* calls of calls that are looked into */

static bool is_idle(basic_block bb, int depth);

static const char *name_of(tree fn)
{
	return DECL_NAME(fn) ? IDENTIFIER_POINTER(DECL_NAME(fn)) : "";
}

static bool is_pause_by_name(tree fn)
{
	static const char *const names[] = { "sched_yield", "thrd_yield", "thrd_sleep", "pthread_yield", "sleep", "usleep", "nanosleep",
					     "clock_nanosleep" };
	for (const char *known : names) /* of the C library: a member of a class may have the same name, and work */
		if (!strcmp(IDENTIFIER_POINTER(DECL_ASSEMBLER_NAME(fn)), known))
			return true;
	return false;
}

/* Functions that only let time pass. */
static bool is_pause(tree fn)
{
	return is_pause_by_name(fn) || startswith(name_of(fn), "dprof_") || fndecl_built_in_p(fn) || clocks_read(fn);
}

/* It waits for a number in memory, or wakes who does. */
static bool is_futex(gcall *call)
{
	tree fn = gimple_call_fndecl(call);
	tree number = fn && gimple_call_num_args(call) ? gimple_call_arg(call, 0) : NULL_TREE;
	return number && DECL_NAME(fn) && !strcmp(IDENTIFIER_POINTER(DECL_NAME(fn)), "syscall") && TREE_CODE(number) == INTEGER_CST &&
	       wi::to_widest(number) == SYS_futex;
}

static bool is_idle_function(tree fn, int depth)
{
	if (!fn || is_pause(fn))
		return fn;
	if (!strncmp(lang_hooks.name, "GNU C++", 7) && DECL_NAME(fn) && cplus_library(fn))
		return strcmp(IDENTIFIER_POINTER(DECL_NAME(fn)), "operator()");
	if (!has_body(fn) || depth == DEEPEST)
		return false;
	basic_block bb;
	FOR_EACH_BB_FN(bb, DECL_STRUCT_FUNCTION(fn))
		if (!is_idle(bb, depth + 1))
			return false;
	return true;
}

static bool is_idle(basic_block bb, int depth)
{
	for (gimple_stmt_iterator i = gsi_start_bb(bb); !gsi_end_p(i); gsi_next(&i)) {
		struct event e;
		enum dprof_op op;
		gimple *stmt = gsi_stmt(i);
		if (gcall *call = dyn_cast<gcall *>(stmt)) {
			if (!gimple_call_internal_p(call) && !is_futex(call) && !is_idle_function(gimple_call_fndecl(call), depth))
				return false;
		} else if (gasm *text = dyn_cast<gasm *>(stmt)) {
			if (event_read(gimple_asm_string(text), &e) || event_site(stmt, &op))
				return false;
		}
	}
	return true;
}

bool retries_rests(tree fn)
{
	return is_pause_by_name(fn) || cplus_is_named(fn, "this_thread", "yield") || cplus_is_named(fn, "this_thread", "sleep_for");
}

/* It sleeps, or gives its core away, as is recorded by itself. */
static bool rests(tree fn, int depth)
{
	basic_block bb;
	if (!fn || retries_rests(fn) || cplus_is_named(fn, "this_thread", "sleep_until"))
		return fn;
	if (has_body(fn) && depth < DEEPEST)
		FOR_EACH_BB_FN(bb, DECL_STRUCT_FUNCTION(fn))
			for (gimple_stmt_iterator i = gsi_start_bb(bb); !gsi_end_p(i); gsi_next(&i))
				if (is_gimple_call(gsi_stmt(i)) && rests(gimple_call_fndecl(gsi_stmt(i)), depth + 1))
					return true;
	return false;
}

static bool rests(basic_block bb)
{
	for (gimple_stmt_iterator i = gsi_start_bb(bb); !gsi_end_p(i); gsi_next(&i)) {
		gcall *call = dyn_cast<gcall *>(gsi_stmt(i));
		if (call && !gimple_call_internal_p(call) && (is_futex(call) || rests(gimple_call_fndecl(call), 0)))
			return true;
	}
	return false;
}

static bool is_idle(const blocks &in)
{
	for (basic_block bb : in)
		if (!is_idle(bb, 0))
			return false;
	return true;
}

bool retries_pause(gcall *call)
{
	return gimple_call_internal_p(call) || is_idle_function(gimple_call_fndecl(call), 0);
}

/* Whether what an expression names is given other values in these blocks: of each round of a loop. */
class changes {
public:
	explicit changes(const blocks &in) : in(in) {}
	bool has(tree x);

private:
	const blocks &in;
	hash_set<tree> asked;
	bool found = false;

	static tree look(tree *tp, int *, void *self);
	void ask(tree name);
	void statement(gimple *stmt, tree name);
};

tree changes::look(tree *tp, int *, void *self)
{
	if (TREE_CODE(*tp) == SSA_NAME || TREE_CODE(*tp) == PARM_DECL || VAR_P(*tp))
		static_cast<changes *>(self)->ask(*tp);
	return NULL_TREE;
}

bool changes::has(tree x)
{
	walk_tree_without_duplicates(&x, look, this);
	return found;
}

void changes::statement(gimple *stmt, tree name)
{
	tree to = gimple_get_lhs(stmt);
	if (!to || get_base_address(to) != name)
		return;
	if (!is_gimple_assign(stmt)) {
		found = true;
		return;
	}
	for (unsigned k = 1; k < gimple_num_ops(stmt) && !found; k++)
		if (gimple_op(stmt, k))
			has(gimple_op(stmt, k));
}

/* What is made of itself changes. */
void changes::ask(tree name)
{
	if (found)
		return;
	found = asked.add(name);
	for (basic_block bb : in) {
		for (gphi_iterator i = gsi_start_phis(bb); !gsi_end_p(i) && !found; gsi_next(&i))
			for (unsigned k = 0; gimple_phi_result(i.phi()) == name && k < gimple_phi_num_args(i.phi()) && !found; k++)
				has(gimple_phi_arg_def(i.phi(), k));
		for (gimple_stmt_iterator i = gsi_start_bb(bb); !gsi_end_p(i) && !found; gsi_next(&i))
			statement(gsi_stmt(i), name);
	}
	asked.remove(name);
}

static bool has_constant(gimple *stmt)
{
	return CONSTANT_CLASS_P(gimple_assign_rhs1(stmt)) || CONSTANT_CLASS_P(gimple_assign_rhs2(stmt));
}

/* Something is made of itself, and of more than a constant: who only waits does no more than to count, or to double a pause. */
static bool computes(gimple *stmt, const blocks &in)
{
	tree to = gimple_get_lhs(stmt);
	if (is_gimple_call(stmt)) {
		for (unsigned k = 0; to && k < gimple_call_num_args(stmt); k++)
			if (changes(in).has(gimple_call_arg(stmt, k)))
				return true;
		return false;
	}
	if (!is_gimple_assign(stmt) || gimple_num_ops(stmt) != 3 || TREE_CODE_CLASS(gimple_assign_rhs_code(stmt)) == tcc_comparison)
		return false;
	bool more = SCALAR_FLOAT_TYPE_P(TREE_TYPE(to)) || gimple_assign_rhs_code(stmt) == BIT_XOR_EXPR || !has_constant(stmt);
	return more && changes(in).has(to);
}

static bool computes(const blocks &in)
{
	for (basic_block bb : in)
		for (gimple_stmt_iterator i = gsi_start_bb(bb); !gsi_end_p(i); gsi_next(&i))
			if (computes(gsi_stmt(i), in))
				return true;
	return false;
}

static void find_loop(edge back, blocks *in)
{
	auto_vec<basic_block> next;
	in->add(back->dest);
	if (!in->add(back->src))
		next.safe_push(back->src);
	while (next.length()) {
		edge e;
		edge_iterator ei;
		FOR_EACH_EDGE(e, ei, next.pop()->preds)
			if (!in->add(e->src))
				next.safe_push(e->src);
	}
}

/* Of a block, whichever way the loop that begins there goes on; empty if none does. */
static void find_loop(basic_block begin, blocks *in)
{
	edge e;
	edge_iterator ei;
	FOR_EACH_EDGE(e, ei, begin->preds)
		if (dominated_by_p(CDI_DOMINATORS, e->src, begin))
			find_loop(e, in);
}

basic_block retries_loop(function *fun, gimple *stmt, blocks *in)
{
	basic_block bb, begin = nullptr;
	size_t fewest = SIZE_MAX;
	push_cfun(fun);
	bool known = dom_info_available_p(CDI_DOMINATORS);
	calculate_dominance_info(CDI_DOMINATORS);
	FOR_EACH_BB_FN(bb, fun) {
		blocks here;
		find_loop(bb, &here);
		if (!here.contains(gimple_bb(stmt)) || here.elements() >= fewest)
			continue;
		fewest = here.elements();
		begin = bb;
	}
	if (begin)
		find_loop(begin, in);
	if (!known)
		free_dominance_info(CDI_DOMINATORS);
	pop_cfun();
	return begin;
}

#define CONVERSIONS 4 /* one of another */

/* A call may change what it is given the address of. */
static bool is_given(gimple *stmt, tree variable)
{
	for (unsigned k = 0; is_gimple_call(stmt) && k < gimple_call_num_args(stmt); k++) {
		tree x = gimple_call_arg(stmt, k);
		if (TREE_CODE(x) == ADDR_EXPR && get_base_address(TREE_OPERAND(x, 0)) == variable)
			return true;
	}
	return false;
}

/* Nothing in these blocks gives it another value. */
static bool is_same(const blocks &in, tree x, unsigned depth)
{
	if (CONSTANT_CLASS_P(x))
		return true;
	tree base = get_base_address(x);
	if (depth == CONVERSIONS || !base || (TREE_CODE(base) != SSA_NAME && (!DECL_P(base) || is_global_var(base))))
		return false;
	for (basic_block bb : in)
		for (gimple_stmt_iterator i = gsi_start_bb(bb); !gsi_end_p(i); gsi_next(&i)) {
			gimple *stmt = gsi_stmt(i);
			tree to = gimple_clobber_p(stmt) ? NULL_TREE : gimple_get_lhs(stmt);
			bool copies = gimple_assign_single_p(stmt) || gimple_assign_cast_p(stmt);
			if (is_given(stmt, base))
				return false;
			if (to && get_base_address(to) == base && (!copies || !is_same(in, gimple_assign_rhs1(stmt), depth + 1)))
				return false;
		}
	return true;
}

/* All from which control comes there. */
static void find_before(basic_block bb, blocks *before)
{
	auto_vec<basic_block> next;
	next.safe_push(bb);
	before->add(bb);
	while (next.length()) {
		edge e;
		edge_iterator ei;
		FOR_EACH_EDGE(e, ei, next.pop()->preds)
			if (!before->add(e->src))
				next.safe_push(e->src);
	}
}

bool retries_same(gimple *stmt, tree x)
{
	blocks in;
	if (CONSTANT_CLASS_P(x))
		return true;
	if (!retries_loop(cfun, stmt, &in))
		find_before(gimple_bb(stmt), &in);
	return is_same(in, x, 0);
}

bool retries_rest(gimple *stmt)
{
	blocks in;
	bool any = false;
	if (retries_loop(cfun, stmt, &in))
		for (basic_block bb : in)
			any = any || rests(bb);
	return any;
}

bool retries_only(function *fun, gimple *stmt, tree object, bool looks)
{
	blocks in;
	if (!retries_loop(fun, stmt, &in))
		return false;
	push_cfun(fun);
	bool only = is_idle(in) && !(looks && computes(in)) && !(object && changes(in).has(object));
	pop_cfun();
	return only;
}

void retries_branches(flow_walk &walk, auto_vec<basic_block> *branches)
{
	basic_block bb;
	FOR_EACH_BB_FN(bb, cfun) {
		gimple *last = last_stmt(bb);
		gcond *cond = last ? dyn_cast<gcond *>(last) : nullptr;
		gswitch *cases = last ? dyn_cast<gswitch *>(last) : nullptr;
		if ((cond && (walk.holds(gimple_cond_lhs(cond)) || walk.holds(gimple_cond_rhs(cond)))) ||
		    (cases && walk.holds(gimple_switch_index(cases))))
			branches->safe_push(bb);
	}
}

/* A function that only says whether it has got it, as all who call it try again. */
bool retries_by_callers(tree result, bool looks)
{
	flow all(flow::EQUALITY);
	flow_walk walk(all, current_function_decl);
	walk.hold(result);
	walk.run();
	auto_vec<basic_block> branches;
	if (!walk.only_returns())
		return false;
	retries_branches(walk, &branches);
	auto callers = cgraph_node::get(current_function_decl)->collect_callers();
	bool all_again = branches.is_empty() && callers.length() > 0;
	for (cgraph_edge *e : callers)
		all_again = all_again && e->call_stmt && has_body(e->caller->decl) &&
			    retries_only(DECL_STRUCT_FUNCTION(e->caller->decl), e->call_stmt,
					     gimple_call_num_args(e->call_stmt) ? gimple_call_arg(e->call_stmt, 0) : NULL_TREE, looks);
	return all_again;
}

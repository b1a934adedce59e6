/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * counters.cc - numbers that threads share, and by which they take the next piece of work:
 *
 *   while ((i = atomic_fetch_add(&next, 1)) < n) work(i);   ->   i = atomic_fetch_add(&next, 1); dprof_counted(SITE, &next, i); ...
 *
 * So it is if the result is compared for order, in the same function, or in one of the same unit to which it is returned: who only
 * counts, draws a number of its own or looks whether it was the last one leaves no record, which would cost more than what it
 * does. Of what counts down it is told how far it has come, so that what is told of one number only grows.
 *
 *   i = atomic_load(&next); while (i < n && !atomic_compare_exchange_weak(&next, &i, i + 1));
 *
 * counts likewise, and what is told is the number that it loads, which also shows that there is nothing left. So it is if that is
 * compared for order, but for constants, and what it is to become is made of it.
 *
 * Law: nothing that the program does changes, and what is told is the call's own result. */
#include "plugin/parts.h"
#include "gimplify.h"
#include "runtime/counters.h"

#define EACH_SIZE(X, function) X(function, 1) X(function, 2) X(function, 4) X(function, 8)
#define CASE(function, size) case BUILT_IN_##function##_##size:

static bool loads(tree fn)
{
	if (!fn || !fndecl_built_in_p(fn, BUILT_IN_NORMAL))
		return false;
	switch (DECL_FUNCTION_CODE(fn)) {
	EACH_SIZE(CASE, ATOMIC_LOAD)
		return true;
	default: return false;
	}
}

/* Which argument of a call says what a number is to become if it is what is expected; or -1. */
static int exchanges(tree fn)
{
	if (!fn)
		return -1;
	if (!fndecl_built_in_p(fn, BUILT_IN_NORMAL))
		return library_exchanges(fn) ? 2 : -1;
	switch (DECL_FUNCTION_CODE(fn)) {
	EACH_SIZE(CASE, ATOMIC_COMPARE_EXCHANGE)
	EACH_SIZE(CASE, SYNC_BOOL_COMPARE_AND_SWAP)
	EACH_SIZE(CASE, SYNC_VAL_COMPARE_AND_SWAP)
		return 2;
	default: return -1;
	}
}

/* 1 if it counts up, -1 if down, 0: neither. */
static int counts(tree fn)
{
	if (!fn || !fndecl_built_in_p(fn, BUILT_IN_NORMAL))
		return 0;
	switch (DECL_FUNCTION_CODE(fn)) {
	EACH_SIZE(CASE, ATOMIC_FETCH_ADD)
	EACH_SIZE(CASE, ATOMIC_ADD_FETCH)
	EACH_SIZE(CASE, SYNC_FETCH_AND_ADD)
	EACH_SIZE(CASE, SYNC_ADD_AND_FETCH)
		return 1;
	EACH_SIZE(CASE, ATOMIC_FETCH_SUB)
	EACH_SIZE(CASE, ATOMIC_SUB_FETCH)
	EACH_SIZE(CASE, SYNC_FETCH_AND_SUB)
	EACH_SIZE(CASE, SYNC_SUB_AND_FETCH)
		return -1;
	default: return 0;
	}
}

static bool is_order(enum tree_code code)
{
	return code == LT_EXPR || code == LE_EXPR || code == GT_EXPR || code == GE_EXPR;
}

/* What is in there, if a variable of another type is meant, or a part of one that is all of it. */
static tree stored(tree x)
{
	while (x && (TREE_CODE(x) == VIEW_CONVERT_EXPR ||
		     (TREE_CODE(x) == MEM_REF && TREE_CODE(TREE_OPERAND(x, 0)) == ADDR_EXPR && integer_zerop(TREE_OPERAND(x, 1)))))
		x = TREE_CODE(x) == MEM_REF ? TREE_OPERAND(TREE_OPERAND(x, 0), 0) : TREE_OPERAND(x, 0);
	return x;
}

static bool is_sum(enum tree_code code)
{
	return code == PLUS_EXPR || code == MINUS_EXPR || code == POINTER_PLUS_EXPR;
}

static bool is_less(gimple *assign)
{
	tree by = gimple_assign_rhs2(assign);
	return gimple_assign_rhs_code(assign) == MINUS_EXPR ||
	       (is_sum(gimple_assign_rhs_code(assign)) && TREE_CODE(by) == INTEGER_CST && wi::neg_p(wi::to_wide(by), SIGNED));
}

/* What is known to be the value, or is made of it by adding, but not beyond an end; exactly: but for a constant. */
class values_of {
public:
	values_of(tree value, function *in, bool exactly) : in(in), exactly(exactly) { values.add(value); }
	bool are_compared();
	bool are_returned();
	bool are_exchanged(tree object);
	bool fall = false; /* one is less than it */

private:
	hash_set<tree> values;
	function *in;
	bool exactly, more; /* more: have been found */

	template <typename IS> bool any(IS is);
	bool is_of(tree x) { return x && values.contains(stored(x)); }
	bool is_move(gimple *assign);
	void follow(gimple *stmt);
	bool is_compared(gimple *stmt);
};

bool values_of::is_move(gimple *assign)
{
	enum tree_code code = gimple_assign_rhs_code(assign);
	if (is_sum(code) && exactly)
		return TREE_CODE(gimple_assign_rhs2(assign)) == INTEGER_CST;
	return CONVERT_EXPR_CODE_P(code) || is_sum(code) || ((code == MIN_EXPR || code == MAX_EXPR) && !exactly) ||
	       gimple_assign_single_p(assign);
}

/* The variable that is assigned is another one of it. */
void values_of::follow(gimple *stmt)
{
	if (!is_gimple_assign(stmt) || (!is_of(gimple_assign_rhs1(stmt)) && !is_of(gimple_assign_rhs2(stmt))) || !is_move(stmt))
		return;
	fall |= is_less(stmt);
	tree to = stored(gimple_assign_lhs(stmt));
	if (DECL_P(to) || TREE_CODE(to) == SSA_NAME)
		more |= !values.add(to);
}

/* Of the statements of the function, which do not stand in the order in which they are reached. */
template <typename IS> bool values_of::any(IS is)
{
	basic_block bb;
	do {
		more = false;
		FOR_EACH_BB_FN(bb, in)
			for (gimple_stmt_iterator i = gsi_start_bb(bb); !gsi_end_p(i); gsi_next(&i)) {
				follow(gsi_stmt(i));
				if (is(gsi_stmt(i)))
					return true;
			}
	} while (more);
	return false;
}

bool values_of::is_compared(gimple *stmt)
{
	gcond *cond = dyn_cast<gcond *>(stmt);
	if (cond)
		return is_order(gimple_cond_code(cond)) && (is_of(gimple_cond_lhs(cond)) || is_of(gimple_cond_rhs(cond)));
	return is_gimple_assign(stmt) && is_order(gimple_assign_rhs_code(stmt)) &&
	       (is_of(gimple_assign_rhs1(stmt)) || is_of(gimple_assign_rhs2(stmt)));
}

/* For order. */
bool values_of::are_compared()
{
	return any([&](gimple *stmt) { return is_compared(stmt); });
}

bool values_of::are_returned()
{
	return any([&](gimple *stmt) {
		greturn *returns = dyn_cast<greturn *>(stmt);
		return returns && is_of(gimple_return_retval(returns));
	});
}

/* What a statement of the function gives a register; or NULL_TREE. */
static tree given_to(tree x)
{
	basic_block bb;
	FOR_EACH_BB_FN(bb, cfun)
		for (gimple_stmt_iterator i = gsi_start_bb(bb); !gsi_end_p(i); gsi_next(&i))
			if (gimple_assign_single_p(gsi_stmt(i)) && gimple_assign_lhs(gsi_stmt(i)) == x)
				return gimple_assign_rhs1(gsi_stmt(i));
	return NULL_TREE;
}

/* And so on; which two may exchange. */
static tree given(tree x)
{
	hash_set<tree> seen;
	for (tree from = x; from; from = is_gimple_reg(x) && !seen.add(x) ? given_to(x) : NULL_TREE)
		x = from;
	return x;
}

static bool is_member(tree x)
{
	return TREE_CODE(x) == ADDR_EXPR && TREE_CODE(TREE_OPERAND(x, 0)) == COMPONENT_REF;
}

/* Which object of several is not told apart of members: a function seldom takes numbers of two. */
static bool is_same(tree x, tree y)
{
	return operand_equal_p(x, y, 0) || (is_member(x) && is_member(y) &&
					    TREE_OPERAND(TREE_OPERAND(x, 0), 1) == TREE_OPERAND(TREE_OPERAND(y, 0), 1));
}

/* What is made of them is what the object is to become. */
bool values_of::are_exchanged(tree object)
{
	object = given(object);
	return any([&](gimple *stmt) {
		gcall *call = dyn_cast<gcall *>(stmt);
		int to = call ? exchanges(gimple_call_fndecl(call)) : -1;
		return to >= 0 && is_of(gimple_call_arg(call, to)) && is_same(given(gimple_call_arg(call, 0)), object);
	});
}

/* Whether a function of the unit that calls the one that is looked at compares what that returns. */
static bool is_compared_by_callers()
{
	for (cgraph_edge *e = cgraph_node::get(current_function_decl)->callers; e; e = e->next_caller) {
		function *caller = DECL_STRUCT_FUNCTION(e->caller->decl);
		basic_block bb;
		if (!caller || !caller->cfg)
			continue;
		FOR_EACH_BB_FN(bb, caller)
			for (gimple_stmt_iterator i = gsi_start_bb(bb); !gsi_end_p(i); gsi_next(&i)) {
				gcall *call = dyn_cast<gcall *>(gsi_stmt(i));
				tree result = call && gimple_call_fndecl(call) == current_function_decl ? gimple_call_lhs(call) : NULL_TREE;
				if (result && values_of(result, caller, false).are_compared())
					return true;
			}
	}
	return false;
}

/* Whether the result of a call decides whether its thread goes on. */
static bool decides(tree result)
{
	return values_of(result, cfun, false).are_compared() ||
	       (values_of(result, cfun, false).are_returned() && is_compared_by_callers());
}

/* Whether a number that is loaded is one that the thread then takes, and what comes next is less. */
static bool is_taken(tree result, tree object, enum counted *how)
{
	values_of made(result, cfun, false);
	bool taken = made.are_exchanged(object) && values_of(result, cfun, true).are_compared();
	*how = made.fall ? COUNTED_DOWN : *how;
	return taken;
}

/* A new register behind the statement at which i is, which goes on to there. */
static tree computed(gimple_stmt_iterator *i, tree type, enum tree_code code, tree from, tree less = NULL_TREE)
{
	tree to = create_tmp_reg(type);
	gsi_insert_after(i, less ? gimple_build_assign(to, code, from, less) : gimple_build_assign(to, code, from), GSI_NEW_STMT);
	return to;
}

/* The runtime takes a long. What builtins give is unsigned, whatever is counted. */
static void tell(gimple_stmt_iterator *i, const char *function, tree site, tree object, tree result, bool down)
{
	gimple *stmt = gsi_stmt(*i);
	tree type = TREE_TYPE(result), value = result;
	if (INTEGRAL_TYPE_P(type) && TYPE_UNSIGNED(type))
		value = computed(i, signed_type_for(type), NOP_EXPR, value);
	value = computed(i, long_integer_type_node, NOP_EXPR, value);
	if (down)
		value = computed(i, long_integer_type_node, MINUS_EXPR, build_int_cst(long_integer_type_node, DPROF_COUNTS_DOWN_FROM), value);
	tree fn = runtime_function(function, ptr_type_node, ptr_type_node, long_integer_type_node);
	gsi_insert_after(i, runtime_call(stmt, fn, build_fold_addr_expr(site), unshare_expr(object), value), GSI_NEW_STMT);
}

/* A pointer, which any type may hold. */
static tree first_member(gimple_stmt_iterator *i, tree object)
{
	tree any = build_pointer_type_for_mode(ptr_type_node, ptr_mode, true), to = create_tmp_reg(ptr_type_node);
	tree member = build2(MEM_REF, ptr_type_node, unshare_expr(object), build_int_cst(any, 0));
	gsi_insert_after(i, gimple_build_assign(to, member), GSI_NEW_STMT);
	return to;
}

void counters_note(gimple_stmt_iterator *i, enum counted how, bool refers)
{
	gimple *stmt = gsi_stmt(*i);
	location_t where = expansion_point_location_if_in_system_header(gimple_location(stmt)); /* <stdatomic.h> has macros */
	tree result = gimple_call_lhs(stmt);
	if (LOCATION_LOCUS(where) <= BUILTINS_LOCATION || in_system_header_at(where) || stretches_off(where) ||
	    stmt_ends_bb_p(stmt) || !result || !is_gimple_reg(result))
		return;
	bool looks = how == COUNTED_LOADED;
	if (looks ? !is_taken(result, gimple_call_arg(stmt, 0), &how) : !decides(result))
		return;
	tree site = site_build(DPROF_KIND_WAIT, where, DPROF_COUNTER, current_function_decl);
	tree object = gimple_call_arg(stmt, 0);
	if (refers)
		object = first_member(i, object);
	tell(i, looks ? "dprof_counted_by_looks" : "dprof_counted", site, object, result, how == COUNTED_DOWN);
}

bool counters_wrap(gimple_stmt_iterator *i)
{
	tree fn = gimple_call_fndecl(gsi_stmt(*i));
	int way = counts(fn);
	bool known = way || loads(fn);
	if (known)
		counters_note(i, way > 0 ? COUNTED_UP : way < 0 ? COUNTED_DOWN : COUNTED_LOADED, false);
	return known;
}

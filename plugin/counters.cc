/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * counters.cc - numbers that threads share, and by which they take the next piece of work:
 *
 *   while ((i = atomic_fetch_add(&next, 1)) < n) work(i);   ->   i = atomic_fetch_add(&next, 1); dprof_counted(SITE, &next, i); ...
 *
 * So it is if the result is compared for order, in the same function: who only counts, draws a number of its own or
 * looks whether it was the last one leaves no record, which would cost more than what it does. Of what counts down it
 * is told how far it has come, so that what is told of one number only grows.
 *
 * Law: nothing that the program does changes, and what is told is the call's own result. */
#include "plugin/parts.h"
#include "gimplify.h"
#include "runtime/counters.h"

#define EACH_SIZE(X, function) X(function, 1) X(function, 2) X(function, 4) X(function, 8)
#define CASE(function, size) case BUILT_IN_##function##_##size:

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

static bool is_move(enum tree_code code, gimple *assign)
{
	return CONVERT_EXPR_CODE_P(code) || code == PLUS_EXPR || code == MINUS_EXPR || code == POINTER_PLUS_EXPR ||
	       gimple_assign_single_p(assign);
}

/* What is known to be the value, but for a constant. */
class values_of {
public:
	explicit values_of(tree value) { values.add(value); }
	bool are_compared();

private:
	hash_set<tree> values;
	bool more; /* have been found */

	bool is_of(tree x) { return x && values.contains(x); }
	bool is_compared(gimple *stmt);
	bool is_compared_by(gimple *assign);
};

/* Or the variable that is assigned is another one of it. */
bool values_of::is_compared_by(gimple *assign)
{
	enum tree_code code = gimple_assign_rhs_code(assign);
	tree to = gimple_assign_lhs(assign);
	if (!is_of(gimple_assign_rhs1(assign)) && !is_of(gimple_assign_rhs2(assign)))
		return false;
	if (is_move(code, assign) && (DECL_P(to) || TREE_CODE(to) == SSA_NAME))
		more |= !values.add(to);
	return is_order(code);
}

bool values_of::is_compared(gimple *stmt)
{
	gcond *cond = dyn_cast<gcond *>(stmt);
	if (cond)
		return is_order(gimple_cond_code(cond)) && (is_of(gimple_cond_lhs(cond)) || is_of(gimple_cond_rhs(cond)));
	return is_gimple_assign(stmt) && is_compared_by(stmt);
}

/* For order. Statements do not stand in the order in which they are reached. */
bool values_of::are_compared()
{
	basic_block bb;
	do {
		more = false;
		FOR_EACH_BB_FN(bb, cfun)
			for (gimple_stmt_iterator i = gsi_start_bb(bb); !gsi_end_p(i); gsi_next(&i))
				if (is_compared(gsi_stmt(i)))
					return true;
	} while (more);
	return false;
}

/* A new register behind the statement at which i is, which goes on to there. */
static tree computed(gimple_stmt_iterator *i, tree type, enum tree_code code, tree from, tree less = NULL_TREE)
{
	tree to = create_tmp_reg(type);
	gsi_insert_after(i, less ? gimple_build_assign(to, code, from, less) : gimple_build_assign(to, code, from), GSI_NEW_STMT);
	return to;
}

/* The runtime takes a long. What builtins give is unsigned, whatever is counted. */
static void tell(gimple_stmt_iterator *i, tree site, tree object, tree result, bool down)
{
	gimple *stmt = gsi_stmt(*i);
	tree type = TREE_TYPE(result), value = result;
	if (INTEGRAL_TYPE_P(type) && TYPE_UNSIGNED(type))
		value = computed(i, signed_type_for(type), NOP_EXPR, value);
	value = computed(i, long_integer_type_node, NOP_EXPR, value);
	if (down)
		value = computed(i, long_integer_type_node, MINUS_EXPR, build_int_cst(long_integer_type_node, DPROF_COUNTS_DOWN_FROM), value);
	tree fn = runtime_function("dprof_counted", ptr_type_node, ptr_type_node, long_integer_type_node);
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

void counters_note(gimple_stmt_iterator *i, bool down, bool refers)
{
	gimple *stmt = gsi_stmt(*i);
	location_t where = expansion_point_location_if_in_system_header(gimple_location(stmt)); /* <stdatomic.h> has macros */
	tree result = gimple_call_lhs(stmt);
	if (LOCATION_LOCUS(where) <= BUILTINS_LOCATION || in_system_header_at(where) || stretches_off(where) ||
	    stmt_ends_bb_p(stmt) || !result || !is_gimple_reg(result) || !values_of(result).are_compared())
		return;
	tree site = site_build(DPROF_KIND_WAIT, where, DPROF_COUNTER, current_function_decl);
	tree object = gimple_call_arg(stmt, 0);
	if (refers)
		object = first_member(i, object);
	tell(i, site, object, result, down);
}

bool counters_wrap(gimple_stmt_iterator *i)
{
	int way = counts(gimple_call_fndecl(gsi_stmt(*i)));
	if (way)
		counters_note(i, way < 0, false);
	return way;
}

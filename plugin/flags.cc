/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * flags.cc - what threads look at to know whether, or for how long, to do something, and others set:
 *
 *   while (!atomic_load(&stop)) work();   ->   r = atomic_load(&stop); dprof_looked(SITE, &stop, r); ...
 *
 *   atomic_store(&stop, 1);   ->   dprof_sets(SITE, &stop, 1, sizeof(stop)); atomic_store(&stop, 1);
 *
 * So it is if the number that is loaded, or what is made of it, is compared with anything, here or elsewhere (flow.cc). A loop that
 * does nothing but look again waits (claims.cc), and who takes the number that he looks at counts (counters.cc).
 *
 * Of a function as many places are looked for as MOST says, since each takes as long as the function.
 *
 * Law: nothing that the program does changes, and what is told is the number that it loads. */
#include "plugin/parts.h"
#include "gimplify.h"
#include "plugin/flow.h"
#include "runtime/counters.h"

/* Of what the compiler has made itself: whether a static variable is initialised. */
static bool is_artificial(tree object)
{
	tree base = TREE_CODE(object) == ADDR_EXPR ? get_base_address(TREE_OPERAND(object, 0)) : NULL_TREE;
	return base && DECL_P(base) && DECL_ARTIFICIAL(base);
}

static bool is_number(tree type)
{
	return (INTEGRAL_TYPE_P(type) || POINTER_TYPE_P(type)) && tree_to_uhwi(TYPE_SIZE_UNIT(type)) <= 8;
}

#define MOST 100 /* places of a function: each is looked for in all of it */

static bool decides(gimple *stmt, tree object, tree result)
{
	static tree in;
	static unsigned places;
	places = in == current_function_decl ? places + 1 : 1;
	in = current_function_decl;
	return places <= MOST && flow(flow::EQUALITY).decides(result) && !claims_waits(stmt, object, result);
}

static void look(gimple_stmt_iterator *i, tree object, tree result, bool refers)
{
	gimple *stmt = gsi_stmt(*i);
	location_t where = counters_location(stmt);
	if (where == UNKNOWN_LOCATION || stmt_ends_bb_p(stmt) || !result || !is_gimple_reg(result) || !is_number(TREE_TYPE(result)) ||
	    is_artificial(object) || !decides(stmt, object, result))
		return;
	tree site = site_build(DPROF_KIND_WAIT, where, DPROF_FLAG, current_function_decl);
	if (refers)
		object = counters_first_member(i, object);
	counters_tell(i, "dprof_looked", site, object, result);
}

/* The runtime takes a long. */
static tree as_long(gimple_stmt_iterator *i, tree x)
{
	tree type = TREE_TYPE(x);
	if (CONSTANT_CLASS_P(x))
		return fold_convert(long_integer_type_node, INTEGRAL_TYPE_P(type) ? fold_convert(signed_type_for(type), x) : x);
	if (INTEGRAL_TYPE_P(type) && TYPE_UNSIGNED(type) && TREE_CODE(type) != BOOLEAN_TYPE) {
		tree same = create_tmp_reg(signed_type_for(type));
		gsi_insert_before(i, gimple_build_assign(same, NOP_EXPR, x), GSI_SAME_STMT);
		x = same;
	}
	tree to = create_tmp_reg(long_integer_type_node);
	gsi_insert_before(i, gimple_build_assign(to, NOP_EXPR, x), GSI_SAME_STMT);
	return to;
}

void flags_set(gimple_stmt_iterator *i, bool refers)
{
	gimple *stmt = gsi_stmt(*i);
	location_t where = counters_location(stmt);
	tree object = gimple_call_arg(stmt, 0), number = gimple_call_num_args(stmt) > 1 ? gimple_call_arg(stmt, 1) : NULL_TREE;
	if (where == UNKNOWN_LOCATION || refers || !number || !is_number(TREE_TYPE(number)) || is_artificial(object))
		return;
	tree site = site_build(DPROF_KIND_WAIT, where, DPROF_FLAG, current_function_decl);
	tree fn = runtime_function("dprof_sets", ptr_type_node, ptr_type_node, long_integer_type_node, long_integer_type_node);
	tree bytes = fold_convert(long_integer_type_node, TYPE_SIZE_UNIT(TREE_TYPE(number)));
	gsi_insert_before(i, runtime_call(stmt, fn, build_fold_addr_expr(site), unshare_expr(object), as_long(i, number), bytes),
			  GSI_SAME_STMT);
}

void flags_note(gimple_stmt_iterator *i, bool refers)
{
	gimple *stmt = gsi_stmt(*i);
	look(i, gimple_call_arg(stmt, 0), gimple_call_lhs(stmt), refers);
}

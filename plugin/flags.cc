/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * flags.cc - what threads look at to know whether, or for how long, to do something, and others set:
 *
 *   while (!atomic_load(&stop)) work();   ->   r = atomic_load(&stop); dprof_looked(SITE, &stop, r); ...
 *   while (!volatile_stop) work();        ->   likewise
 *
 *   atomic_store(&stop, 1);   ->   dprof_sets(SITE, &stop, 1, sizeof(stop)); atomic_store(&stop, 1);
 *
 * So it is if the number that is loaded, or what is made of it, is compared with anything, here or elsewhere (flow.cc). A loop that
 * does nothing but look again waits (spins.cc), and who takes the number that he looks at counts (counters.cc). Of what is no
 * number the bytes are told (dprof_looked_at); and of what sets it that it does.
 *
 * A volatile variable that the function has for itself is none; and of one of the unit, or a member, it is first asked once whether
 * anything that is found there is compared. Of a function as many places are looked for as MOST says, since each takes as long as
 * the function: those behind are told, whatever becomes of the number.
 *
 * Law: nothing that the program does changes, and what is told is the number that it loads. */
#include "plugin/parts.h"
#include "attribs.h"
#include "gimplify.h"
#include "plugin/retries.h"
#include "runtime/counters.h"

/* Of what the compiler has made itself: whether a static variable is initialised. */
static bool is_artificial(tree object)
{
	tree base = TREE_CODE(object) == ADDR_EXPR ? get_base_address(TREE_OPERAND(object, 0)) : NULL_TREE;
	return base && DECL_P(base) && DECL_ARTIFICIAL(base);
}

#define MOST 100 /* places of a function: each is looked for in all of it */

/* What it does by the number: nothing, or what is recorded otherwise; wait until it is another one; or anything. */
enum use { NOTHING, WAITS, DECIDES };

static enum use use_of(gimple *stmt, tree object, tree result)
{
	static tree in;
	static unsigned places;
	places = in == current_function_decl ? places + 1 : 1;
	in = current_function_decl;
	if (places > MOST)
		return DECIDES;
	if (!flow(flow::EQUALITY).decides(result))
		return NOTHING;
	if (retries_only(cfun, stmt, object, true))
		return spins_is(stmt, result) ? WAITS : retries_rest(stmt) ? NOTHING : DECIDES;
	return retries_by_callers(result, true) ? NOTHING : DECIDES;
}

tree runtime_at_once(tree fn, const char *spec)
{
	tree text = build_string(strlen(spec), spec);
	tree keeps = tree_cons(get_identifier("fn spec"), build_tree_list(NULL_TREE, text), TYPE_ATTRIBUTES(TREE_TYPE(fn)));
	TREE_TYPE(fn) = build_type_attribute_variant(TREE_TYPE(fn), keeps);
	DECL_ATTRIBUTES(fn) = tree_cons(get_identifier("noplt"), NULL_TREE, DECL_ATTRIBUTES(fn));
	return fn;
}

/* ---- What is told ---------------------------------------------------------------------------------- */

/* The bits of a register, as a number; behind the statement at which i is, or before. */
static tree bits(gimple_stmt_iterator *i, tree x, bool before)
{
	tree type = build_nonstandard_integer_type(tree_to_uhwi(TYPE_SIZE(TREE_TYPE(x))), 0), to = create_tmp_reg(type);
	gimple *same = gimple_build_assign(to, VIEW_CONVERT_EXPR, build1(VIEW_CONVERT_EXPR, type, x));
	if (before)
		gsi_insert_before(i, same, GSI_SAME_STMT);
	else
		gsi_insert_after(i, same, GSI_NEW_STMT);
	return to;
}

/* Where the bytes of what was loaded are: those of a register are copied. */
static tree bytes_of(gimple_stmt_iterator *i, tree result)
{
	if (!is_gimple_reg(result)) {
		mark_addressable(result);
		return build_fold_addr_expr(unshare_expr(result));
	}
	tree copy = create_tmp_var(TREE_TYPE(result));
	mark_addressable(copy);
	gsi_insert_after(i, gimple_build_assign(copy, result), GSI_NEW_STMT);
	return build_fold_addr_expr(copy);
}

static void tell_bytes(gimple_stmt_iterator *i, tree site, tree object, tree at, tree bytes)
{
	gimple *stmt = gsi_stmt(*i);
	tree fn = runtime_at_once("dprof_looked_at", ". x x R . ", ptr_type_node, ptr_type_node, ptr_type_node, long_integer_type_node);
	if (!is_gimple_val(at)) {
		tree place = create_tmp_reg(ptr_type_node);
		gsi_insert_after(i, gimple_build_assign(place, at), GSI_NEW_STMT);
		at = place;
	}
	gsi_insert_after(i, runtime_call(stmt, fn, build_fold_addr_expr(site), unshare_expr(object), at,
					 fold_convert(long_integer_type_node, bytes)), GSI_NEW_STMT);
}

static void tell(gimple_stmt_iterator *i, tree site, tree object, tree result)
{
	tree type = TREE_TYPE(result), bytes = TYPE_SIZE_UNIT(type);
	if (is_gimple_reg(result) && SCALAR_FLOAT_TYPE_P(type) && tree_to_uhwi(bytes) <= 8)
		result = bits(i, result, false);
	if (is_gimple_reg(result) && is_number(TREE_TYPE(result)))
		counters_tell(i, runtime_at_once("dprof_looked", ". x x . ", ptr_type_node, ptr_type_node, long_integer_type_node), site,
			      object, result);
	else
		tell_bytes(i, site, object, bytes_of(i, result), bytes);
}

static bool has_bytes(tree result)
{
	return result && TREE_CODE(TYPE_SIZE_UNIT(TREE_TYPE(result)) ? TYPE_SIZE_UNIT(TREE_TYPE(result)) : error_mark_node) == INTEGER_CST;
}

/* What a statement does that loads something from there. */
static enum use look_of(gimple *stmt, tree object, tree result)
{
	bool known = counters_location(stmt) != UNKNOWN_LOCATION && !stmt_ends_bb_p(stmt) && has_bytes(result);
	return known ? use_of(stmt, object, result) : NOTHING;
}

static tree site_of(gimple *stmt)
{
	return site_build(DPROF_KIND_WAIT, counters_location(stmt), DPROF_FLAG, current_function_decl);
}

void flags_note(gimple_stmt_iterator *i, bool refers)
{
	gimple *stmt = gsi_stmt(*i);
	tree object = gimple_call_arg(stmt, 0), result = gimple_call_lhs(stmt);
	enum use use = !refers && is_artificial(object) ? NOTHING : look_of(stmt, object, result);
	if (use == NOTHING)
		return;
	if (refers)
		object = counters_member(i, object);
	if (use == DECIDES)
		tell(i, site_of(stmt), object, result);
	else
		spins_note(i, object, result, DPROF_SPIN_LOOKS);
}

void flags_note_copy(gimple_stmt_iterator *i)
{
	gimple *stmt = gsi_stmt(*i);
	tree object = gimple_call_arg(stmt, 1), at = gimple_call_arg(stmt, 2);
	tree copy = TREE_CODE(at) == ADDR_EXPR ? TREE_OPERAND(at, 0) : build_simple_mem_ref(at);
	if (look_of(stmt, object, copy) == DECIDES)
		tell_bytes(i, site_of(stmt), object, unshare_expr(at), gimple_call_arg(stmt, 0));
}

/* What it knows of them is its second member; each question has a place of its own there, that its answers are compared. */
void flags_note_pointer(gimple_stmt_iterator *i, unsigned question)
{
	gimple *stmt = gsi_stmt(*i);
	tree object = gimple_call_arg(stmt, 0), result = gimple_call_lhs(stmt);
	if (look_of(stmt, object, result) != DECIDES)
		return;
	tree users = counters_member(i, object, 1), place = create_tmp_reg(ptr_type_node);
	gsi_insert_after(i, gimple_build_assign(place, POINTER_PLUS_EXPR, users, size_int(question)), GSI_NEW_STMT);
	tell(i, site_of(stmt), place, result);
}

/* ---- Who sets it --------------------------------------------------------------------------------- */

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

/* Of 0 bytes: not known. */
static void tell_set(gimple_stmt_iterator *i, tree object, tree number)
{
	tree site = site_of(gsi_stmt(*i)), value = build_zero_cst(long_integer_type_node), bytes = value;
	tree fn = runtime_at_once("dprof_sets", ". x R . . ", ptr_type_node, ptr_type_node, long_integer_type_node,
				  long_integer_type_node);
	if (number && SCALAR_FLOAT_TYPE_P(TREE_TYPE(number)) && tree_to_uhwi(TYPE_SIZE_UNIT(TREE_TYPE(number))) <= 8)
		number = bits(i, number, true);
	if (number && is_number(TREE_TYPE(number))) {
		value = as_long(i, number);
		bytes = fold_convert(long_integer_type_node, TYPE_SIZE_UNIT(TREE_TYPE(number)));
	}
	gsi_insert_before(i, runtime_call(gsi_stmt(*i), fn, build_fold_addr_expr(site), object, value, bytes), GSI_SAME_STMT);
}

/* What a function of C++ is given by reference, as it is of a class, is no pointer. */
static bool is_given_by_value(gimple *call)
{
	tree fn = gimple_call_fndecl(call), types = fn ? TYPE_ARG_TYPES(TREE_TYPE(fn)) : NULL_TREE;
	return types && TREE_CHAIN(types) && !AGGREGATE_TYPE_P(TREE_VALUE(TREE_CHAIN(types)));
}

void flags_set(gimple_stmt_iterator *i, bool refers)
{
	gimple *stmt = gsi_stmt(*i);
	bool copies = gimple_call_builtin_p(stmt, BUILT_IN_ATOMIC_STORE);
	tree object = gimple_call_arg(stmt, copies), number = gimple_call_num_args(stmt) > 1 ? gimple_call_arg(stmt, 1) : NULL_TREE;
	if (counters_location(stmt) == UNKNOWN_LOCATION || !number || (!refers && is_artificial(object)))
		return;
	object = refers ? counters_member_before(*i, object) : unshare_expr(object);
	tell_set(i, object, !copies && is_given_by_value(stmt) ? number : NULL_TREE);
}

/* ---- What changes nothing -------------------------------------------------------------------------- */

/* The name says what it does: of the builtins, and of the functions of C++. */
static bool is_and(const char *name)
{
	return startswith(name, "__sync_") ? !!strstr(name, "_and_and") : strstr(name, "fetch_and") || strstr(name, "&=");
}

bool flags_same(gimple *call)
{
	tree fn = gimple_call_fndecl(call), by = gimple_call_num_args(call) > 1 ? gimple_call_arg(call, 1) : NULL_TREE;
	if (!by || TREE_CODE(by) != INTEGER_CST || !DECL_NAME(fn))
		return false;
	const char *name = IDENTIFIER_POINTER(DECL_NAME(fn));
	if (strstr(name, "_and_swap"))
		return operand_equal_p(by, gimple_call_arg(call, 2), 0);
	for (const char *sets : { "exchange", "test_and_set", "++", "--" })
		if (strstr(name, sets))
			return false;
	return is_and(name) ? integer_all_onesp(by) : integer_zerop(by);
}

/* ---- Variables --------------------------------------------------------------------------------------- */

/* Which no other thread knows, or which has no address. */
static bool is_own(tree x)
{
	tree base = get_base_address(x);
	if (!base || !ADDR_SPACE_GENERIC_P(TYPE_ADDR_SPACE(TREE_TYPE(x))) || !has_bytes(x))
		return true;
	if (!DECL_P(base))
		return false;
	return (!is_global_var(base) || DECL_THREAD_LOCAL_P(base) || (VAR_P(base) && DECL_HARD_REGISTER(base))) && !TREE_ADDRESSABLE(base);
}

/* Of what the unit names: whether it is compared anywhere. */
static bool any_decides(tree x)
{
	static hash_map<int_hash<int, -1, -2>, bool> known; /* by DECL_UID */
	tree name = flow::shared_name(x);
	if (!name)
		return true;
	if (bool *answer = known.get(DECL_UID(name)))
		return *answer;
	bool answer = flow(flow::EQUALITY).any_decides(name);
	known.put(DECL_UID(name), answer);
	return answer;
}

static bool has_no_address(tree part)
{
	return TREE_CODE(part) == COMPONENT_REF ? DECL_BIT_FIELD(TREE_OPERAND(part, 1)) : TREE_CODE(part) != ARRAY_REF;
}

static HOST_WIDE_INT position_of(tree field)
{
	return tree_fits_shwi_p(byte_position(field)) ? int_byte_position(field) : 0;
}

/* Of bits that have no address of their own, where their bytes begin. */
static tree address_of(gimple_stmt_iterator *i, tree x)
{
	HOST_WIDE_INT bytes = 0;
	for (; handled_component_p(x) && has_no_address(x); x = TREE_OPERAND(x, 0))
		bytes += TREE_CODE(x) == COMPONENT_REF ? position_of(TREE_OPERAND(x, 1)) : 0;
	mark_addressable(x);
	tree to = create_tmp_reg(ptr_type_node), at = create_tmp_reg(ptr_type_node);
	gsi_insert_before(i, gimple_build_assign(to, build_fold_addr_expr(unshare_expr(x))), GSI_SAME_STMT);
	if (!bytes)
		return to;
	gsi_insert_before(i, gimple_build_assign(at, POINTER_PLUS_EXPR, to, size_int(bytes)), GSI_SAME_STMT);
	return at;
}

#define NEAR 8 /* statements */

/* x = x + 1: whoever looks there finds that. */
static bool is_made_of_itself(gimple_stmt_iterator i, tree to, tree from)
{
	for (unsigned n = 0; n < NEAR && is_gimple_reg(from); n++) {
		gsi_prev(&i);
		if (gsi_end_p(i))
			return false;
		gimple *stmt = gsi_stmt(i);
		if (!is_gimple_assign(stmt) || gimple_assign_lhs(stmt) != from)
			continue;
		from = gimple_assign_rhs1(stmt);
		if (!is_gimple_reg(from))
			return operand_equal_p(from, to, OEP_ADDRESS_OF | OEP_MATCH_SIDE_EFFECTS);
	}
	return false;
}

/* ---- Plain ones beside a fence ---------------------------------------------------------------------- */

static bool is_fence(gimple *stmt)
{
	struct event e;
	if (gasm *text = dyn_cast<gasm *>(stmt)) {
		for (unsigned k = 0; !call_tells(text) && !event_read(gimple_asm_string(text), &e) && k < gimple_asm_nclobbers(text); k++)
			if (!strcmp(TREE_STRING_POINTER(TREE_VALUE(gimple_asm_clobber_op(text, k))), "memory"))
				return true;
		return false;
	}
	return gimple_call_builtin_p(stmt, BUILT_IN_SYNC_SYNCHRONIZE) || gimple_call_builtin_p(stmt, BUILT_IN_ATOMIC_THREAD_FENCE);
}

static bool has_fence(basic_block bb)
{
	for (gimple_stmt_iterator i = gsi_start_bb(bb); !gsi_end_p(i); gsi_next(&i))
		if (is_fence(gsi_stmt(i)))
			return true;
	return false;
}

/* Of a function; most have none. */
static bool has_fences()
{
	static tree in;
	static bool any;
	basic_block bb;
	if (in == current_function_decl)
		return any;
	in = current_function_decl;
	any = false;
	FOR_EACH_BB_FN(bb, cfun)
		any = any || has_fence(bb);
	return any;
}

/* A loop around it has one: it looks again and again. */
static bool looks_again(gimple *stmt)
{
	blocks in;
	retries_loop(cfun, stmt, &in);
	for (basic_block bb : in)
		if (has_fence(bb))
			return true;
	return false;
}

/* Whether others may know it: volatile, or there is a fence beside its store, or around where it is loaded. */
static bool is_loaded_for_others(gimple *stmt, tree from)
{
	tree base = get_base_address(from);
	bool is_shared = base && (!DECL_P(base) || is_global_var(base));
	return TREE_THIS_VOLATILE(from) || (has_fences() && is_number(TREE_TYPE(from)) && is_shared && looks_again(stmt));
}

static bool is_stored_for_others(gimple *stmt, tree to)
{
	return TREE_THIS_VOLATILE(to) || (has_fences() && flow::shared_name(to) && is_number(TREE_TYPE(to)) && has_fence(gimple_bb(stmt)));
}

/* ---- What loads and stores them --------------------------------------------------------------------- */

bool flags_counts(gimple *stmt)
{
	return gimple_store_p(stmt) && gimple_assign_single_p(stmt) &&
	       is_made_of_itself(gsi_for_stmt(stmt), gimple_assign_lhs(stmt), gimple_assign_rhs1(stmt));
}

static void set_known(gimple_stmt_iterator *i)
{
	gimple *stmt = gsi_stmt(*i);
	tree to = gimple_assign_lhs(stmt), from = gimple_assign_rhs1(stmt), base = get_base_address(to);
	bool only_here = base && VAR_P(base) && !TREE_PUBLIC(base) && !DECL_EXTERNAL(base) && !TREE_ADDRESSABLE(base);
	if (is_own(to) || gimple_clobber_p(stmt) || counters_location(stmt) == UNKNOWN_LOCATION ||
	    bodies_of_device(current_function_decl) || (only_here && !any_decides(to)))
		return;
	if (is_made_of_itself(*i, to, from)) {
		if (any_decides(to))
			spins_changes(i, address_of(i, to), false);
		return;
	}
	tell_set(i, address_of(i, to), is_gimple_val(from) ? from : NULL_TREE);
}

void flags_wrap(gimple_stmt_iterator *i)
{
	gimple *stmt = gsi_stmt(*i);
	if (!gimple_assign_single_p(stmt))
		return;
	tree from = gimple_assign_rhs1(stmt), to = gimple_assign_lhs(stmt);
	if (gimple_store_p(stmt) && is_stored_for_others(stmt, to))
		set_known(i);
	if (!gimple_assign_load_p(stmt) || !is_loaded_for_others(stmt, from) || is_own(from) ||
	    bodies_of_device(current_function_decl) || !any_decides(from))
		return;
	enum use use = look_of(stmt, build_fold_addr_expr(unshare_expr(from)), to);
	if (use == DECIDES && (TREE_THIS_VOLATILE(from) || DECL_P(get_base_address(from)))) {
		tree object = address_of(i, from);
		tell(i, site_of(stmt), object, to);
	} else if (use == WAITS) {
		tree object = address_of(i, from);
		spins_note(i, object, to, DPROF_SPIN_LOOKS);
	}
}

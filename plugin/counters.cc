/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * counters.cc - numbers that threads share, and by which they take the next piece of work:
 *
 *   while ((i = atomic_fetch_add(&next, 1)) < n) work(i);   ->   i = atomic_fetch_add(&next, 1); dprof_counted(SITE, &next, i); ...
 *
 * So it is if the result is compared for order, or something is read by it (list[next++]), wherever in the unit that is, or may be
 * elsewhere (flow.cc, reads.cc): who only counts, draws a number of its own, stores something there (out[n++] = x) or looks whether
 * it was the last one leaves no record, which would cost more than what it does. Of what
 * counts down it is told how far it has come, so that what is told of one number only grows.
 *
 *   i = atomic_load(&next); while (i < n && !atomic_compare_exchange_weak(&next, &i, i + 1));
 *
 * counts likewise, and what is told is the number that it loads, which also shows that there is nothing left. So it is if that is
 * compared for order, but for constants, or read by, and what it is to become is made of it. Of what is no integer and no pointer
 * (a fraction, an iterator, a struct), whatever its size, it is only told that it has changed: dprof_counted_bytes().
 *
 *   asm("lock xaddl %0, %1" : "+r"(i), "+m"(next));   ->   dprof_counted_unseen(SITE); asm ...
 *
 * What an asm statement does nobody knows: if it locks memory, and gives anything back, it is said once that this may decide what
 * is done (flags.cc).
 *
 * Law: nothing that the program does changes, and what is told is the call's own result. */
#include "plugin/parts.h"
#include "gimplify.h"
#include "stmt.h"
#include "plugin/flow.h"
#include "runtime/counters.h"

#define EACH_SIZE(X, function) X(function, 1) X(function, 2) X(function, 4) X(function, 8) X(function, 16)
#define CASE(function, size) case BUILT_IN_##function##_##size:

static bool loads(tree fn)
{
	if (!fn || !fndecl_built_in_p(fn, BUILT_IN_NORMAL))
		return false;
	switch (DECL_FUNCTION_CODE(fn)) {
	EACH_SIZE(CASE, ATOMIC_LOAD)
	case BUILT_IN_ATOMIC_LOAD:
		return true;
	default: return false;
	}
}

/* It sets it to 0. */
static bool clears(tree fn)
{
	if (!fn || !fndecl_built_in_p(fn, BUILT_IN_NORMAL))
		return false;
	switch (DECL_FUNCTION_CODE(fn)) {
	EACH_SIZE(CASE, SYNC_LOCK_RELEASE)
	case BUILT_IN_ATOMIC_CLEAR:
		return true;
	default: return false;
	}
}

static bool stores(tree fn)
{
	if (!fn || !fndecl_built_in_p(fn, BUILT_IN_NORMAL))
		return false;
	switch (DECL_FUNCTION_CODE(fn)) {
	EACH_SIZE(CASE, ATOMIC_STORE)
	case BUILT_IN_ATOMIC_STORE:
		return true;
	default: return false;
	}
}

/* It is told the number's size first, and to where it is to be loaded. */
static bool is_of_any_size(tree fn)
{
	return fndecl_built_in_p(fn, BUILT_IN_ATOMIC_LOAD) || fndecl_built_in_p(fn, BUILT_IN_ATOMIC_COMPARE_EXCHANGE);
}

/* Which argument of a call says what a number is to become if it is what is expected; or -1. */
static int exchanges(tree fn)
{
	if (!fn)
		return -1;
	if (!fndecl_built_in_p(fn, BUILT_IN_NORMAL))
		return library_exchanges(fn) ? 2 : -1;
	switch (DECL_FUNCTION_CODE(fn)) {
	case BUILT_IN_ATOMIC_COMPARE_EXCHANGE:
		return 3;
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

static tree object_of(gimple *call)
{
	return gimple_call_arg(call, is_of_any_size(gimple_call_fndecl(call)) ? 1 : 0);
}

/* What stands where the address points to; else the number itself. */
static tree pointed(tree x)
{
	return TREE_CODE(x) == ADDR_EXPR ? TREE_OPERAND(x, 0) : x;
}

/* What is made of it is what the object is to become. */
static bool is_exchanged(flow_walk &made, tree object)
{
	basic_block bb;
	object = given(object);
	FOR_EACH_BB_FN(bb, cfun)
		for (gimple_stmt_iterator i = gsi_start_bb(bb); !gsi_end_p(i); gsi_next(&i)) {
			gcall *call = dyn_cast<gcall *>(gsi_stmt(i));
			int to = call ? exchanges(gimple_call_fndecl(call)) : -1;
			if (to >= 0 && made.holds(pointed(gimple_call_arg(call, to))) && is_same(given(object_of(call)), object))
				return true;
		}
	return false;
}

/* Whether a number that is loaded is one that the thread then takes, and what comes next is less. */
static bool is_taken(tree result, tree object, enum counted *how)
{
	flow all(flow::ORDER);
	flow_walk made(all, current_function_decl);
	made.hold(result);
	made.run();
	bool taken = is_exchanged(made, object) && (flow(flow::EXACT_ORDER).decides(result) || flow(flow::READS).decides(result));
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
void counters_tell(gimple_stmt_iterator *i, tree function, tree site, tree object, tree result, bool down)
{
	gimple *stmt = gsi_stmt(*i);
	tree type = TREE_TYPE(result), value = result;
	if (INTEGRAL_TYPE_P(type) && TYPE_UNSIGNED(type) && TREE_CODE(type) != BOOLEAN_TYPE)
		value = computed(i, signed_type_for(type), NOP_EXPR, value);
	value = computed(i, long_integer_type_node, NOP_EXPR, value);
	if (down)
		value = computed(i, long_integer_type_node, MINUS_EXPR, build_int_cst(long_integer_type_node, DPROF_COUNTS_DOWN_FROM), value);
	gsi_insert_after(i, runtime_call(stmt, function, build_fold_addr_expr(site), unshare_expr(object), value), GSI_NEW_STMT);
}

/* Of what is no such number the runtime is told what stands there. */
static void tell_bytes(gimple_stmt_iterator *i, tree site, tree object, tree result)
{
	gimple *stmt = gsi_stmt(*i);
	tree copy = create_tmp_var(TREE_TYPE(result)), size = fold_convert(long_integer_type_node, TYPE_SIZE_UNIT(TREE_TYPE(result)));
	TREE_ADDRESSABLE(copy) = 1;
	tree fn = runtime_function("dprof_counted_bytes", ptr_type_node, ptr_type_node, ptr_type_node, long_integer_type_node);
	gsi_insert_after(i, gimple_build_assign(copy, unshare_expr(result)), GSI_NEW_STMT);
	gsi_insert_after(i, runtime_call(stmt, fn, build_fold_addr_expr(site), unshare_expr(object), build_fold_addr_expr(copy), size),
			 GSI_NEW_STMT);
}

/* A builtin gives a fraction, or a struct, as a number. */
static bool gives_number(gimple *call, tree result)
{
	tree of = TREE_TYPE(TREE_TYPE(object_of(call)));
	bool other = fndecl_built_in_p(gimple_call_fndecl(call)) && !VOID_TYPE_P(of) && !is_number(of);
	return is_gimple_reg(result) && is_number(TREE_TYPE(result)) && !other;
}

/* What a call gives, whatever that is; or NULL_TREE. */
static tree result_of(gimple *call)
{
	if (!is_of_any_size(gimple_call_fndecl(call)))
		return gimple_call_lhs(call);
	tree to = gimple_call_arg(call, 2);
	return TREE_CODE(to) == ADDR_EXPR ? TREE_OPERAND(to, 0) : NULL_TREE;
}

/* A pointer, which any type may hold. */
tree counters_member(gimple_stmt_iterator *i, tree object, unsigned nth)
{
	tree any = build_pointer_type_for_mode(ptr_type_node, ptr_mode, true), to = create_tmp_reg(ptr_type_node);
	tree member = build2(MEM_REF, ptr_type_node, unshare_expr(object), build_int_cst(any, nth * GET_MODE_SIZE(ptr_mode)));
	gsi_insert_after(i, gimple_build_assign(to, member), GSI_NEW_STMT);
	return to;
}

tree counters_member_before(gimple_stmt_iterator at, tree object)
{
	gsi_insert_before(&at, gimple_build_nop(), GSI_NEW_STMT);
	return counters_member(&at, object);
}

location_t counters_location(gimple *stmt)
{
	location_t where = expansion_point_location_if_in_system_header(gimple_location(stmt)); /* <stdatomic.h> has macros */
	bool known = LOCATION_LOCUS(where) > BUILTINS_LOCATION && !in_system_header_at(where) && !stretches_off(where);
	return known ? where : UNKNOWN_LOCATION;
}

bool counters_counts(tree fn)
{
	return counts(fn) || library_counts(fn);
}

bool counters_loads(tree fn)
{
	return fn && (library_loads(fn) || (loads(fn) && exchanges(fn) < 0));
}

void counters_note(gimple_stmt_iterator *i, enum counted how, bool refers)
{
	gimple *stmt = gsi_stmt(*i);
	if (how != COUNTED_LOADED && !flags_same(stmt))
		spins_changes(i, object_of(stmt), refers);
	location_t where = counters_location(stmt);
	tree result = result_of(stmt), object = object_of(stmt);
	bool copies = fndecl_built_in_p(gimple_call_fndecl(stmt), BUILT_IN_ATOMIC_LOAD), looks = how == COUNTED_LOADED || flags_same(stmt);
	if (copies && (!result || !is_taken(result, object, &how)))
		return flags_note_copy(i);
	if (where == UNKNOWN_LOCATION || stmt_ends_bb_p(stmt) || !result || TREE_CODE(TYPE_SIZE_UNIT(TREE_TYPE(result))) != INTEGER_CST)
		return;
	if (looks && !copies && !is_taken(result, object, &how))
		return flags_note(i, refers);
	if (!looks && !flow(flow::ORDER).decides(result) && !flow(flow::READS).decides(result))
		return;
	tree site = site_build(DPROF_KIND_WAIT, where, DPROF_COUNTER, current_function_decl);
	if (refers)
		object = counters_member(i, object);
	if (!gives_number(stmt, result))
		return tell_bytes(i, site, object, result);
	tree fn = runtime_function(looks ? "dprof_counted_by_looks" : "dprof_counted", ptr_type_node, ptr_type_node,
				   long_integer_type_node);
	counters_tell(i, fn, site, object, result, how == COUNTED_DOWN);
}

bool counters_wrap(gimple_stmt_iterator *i)
{
	tree fn = gimple_call_fndecl(gsi_stmt(*i));
	int way = counts(fn);
	bool known = way || loads(fn);
	if (clears(fn))
		spins_changes(i, gimple_call_arg(gsi_stmt(*i), 0), false);
	else if (stores(fn))
		flags_set(i, false);
	else if (known)
		counters_note(i, way > 0 ? COUNTED_UP : way < 0 ? COUNTED_DOWN : COUNTED_LOADED, false);
	return known || stores(fn) || clears(fn);
}

/* ---- In asm -------------------------------------------------------------------------------------- */

static bool has_word(const char *text, const char *word)
{
	size_t n = strlen(word);
	for (const char *at = strstr(text, word); at; at = strstr(at + 1, word))
		if ((at == text || !(ISALNUM(at[-1]) || strchr("_.%$", at[-1]))) && !(ISALNUM(at[n]) || strchr("_.%$:(", at[n])))
			return true;
	return false;
}

static bool touches_memory(gasm *stmt)
{
	for (unsigned k = 0; k < gimple_asm_noutputs(stmt); k++)
		if (strchr(TREE_STRING_POINTER(TREE_VALUE(TREE_PURPOSE(gimple_asm_output_op(stmt, k)))), 'm'))
			return true;
	for (unsigned k = 0; k < gimple_asm_nclobbers(stmt); k++)
		if (!strcmp(TREE_STRING_POINTER(TREE_VALUE(gimple_asm_clobber_op(stmt, k))), "memory"))
			return true;
	return false;
}

/* In a register, or the flags, or by where it goes on; not what it has only stored. */
static bool gives_back(gasm *stmt)
{
	for (unsigned k = 0; k < gimple_asm_noutputs(stmt); k++) {
		const char *constraint = TREE_STRING_POINTER(TREE_VALUE(TREE_PURPOSE(gimple_asm_output_op(stmt, k))));
		bool memory, registers, both;
		if (!parse_output_constraint(&constraint, k, 0, 0, &memory, &registers, &both) || registers)
			return true;
	}
	return gimple_asm_nlabels(stmt) > 0;
}

/* xchg locks memory without being told to. */
static bool locks(gasm *stmt)
{
	const char *text = gimple_asm_string(stmt);
	bool exchanges = false;
	for (const char *name : { "xchg", "xchgb", "xchgw", "xchgl", "xchgq" })
		exchanges |= has_word(text, name);
	return has_word(text, "lock") || (exchanges && touches_memory(stmt));
}

void counters_unseen(gimple_stmt_iterator *i)
{
	gasm *stmt = as_a<gasm *>(gsi_stmt(*i));
	location_t where = counters_location(stmt);
	if (where == UNKNOWN_LOCATION || !locks(stmt) || !gives_back(stmt))
		return;
	tree site = site_build(DPROF_KIND_WAIT, where, DPROF_FLAG, current_function_decl);
	tree fn = runtime_function("dprof_counted_unseen", ptr_type_node);
	gsi_insert_before(i, runtime_call(stmt, fn, build_fold_addr_expr(site)), GSI_SAME_STMT);
}

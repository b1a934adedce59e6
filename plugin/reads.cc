/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * reads.cc - whether something is read at a place that is found by a number, which flow.cc follows:
 *
 *   while ((job = list[next++])) work(job);     out[n++] = x;
 *
 * The first takes what stands there, and what that is decides what it does; the second only puts something there. It is a place by
 * the number whatever is made of it: an index, also of what is in a container, a pointer, an iterator. What is only changed there,
 * as by count[i]++, is not taken.
 *
 * Law: of what is read there nothing is left out but what is only stored there again. */
#include "plugin/parts.h"
#include "gimple-walk.h"
#include "plugin/flow.h"

#define EACH_SIZE(X, function) X(function, 1) X(function, 2) X(function, 4) X(function, 8) X(function, 16)
#define CASE(function, size) case BUILT_IN_##function##_##size:

static bool is_called(tree fn, std::initializer_list<const char *> names)
{
	const char *own = IDENTIFIER_POINTER(DECL_NAME(fn));
	for (const char *name : names)
		if (!strcmp(own, name))
			return true;
	return false;
}

bool flow_walk::is_at_it(tree x)
{
	for (; handled_component_p(x); x = TREE_OPERAND(x, 0))
		if (TREE_CODE(x) == ARRAY_REF && holds(TREE_OPERAND(x, 1)))
			return true;
	return TREE_CODE(x) == MEM_REF && holds(TREE_OPERAND(x, 0));
}

/* ---- In the program itself ----------------------------------------------------------------------- */

static tree named(tree *tp, int *, void *data)
{
	hash_set<tree> *made = static_cast<hash_set<tree> *>(static_cast<walk_stmt_info *>(data)->info);
	return TREE_CODE(*tp) == SSA_NAME && made->contains(*tp) ? *tp : NULL_TREE;
}

static bool is_made_of(gimple *stmt, hash_set<tree> *made)
{
	walk_stmt_info info = {};
	info.info = made;
	return walk_gimple_op(stmt, named, &info);
}

static bool is_same(tree x, tree y);

static bool is_same_made(gimple *a, gimple *b)
{
	if (!a || !b || !is_gimple_assign(a) || !is_gimple_assign(b) || gimple_assign_rhs_code(a) != gimple_assign_rhs_code(b))
		return false;
	for (unsigned k = 1; k < gimple_num_ops(a); k++)
		if (gimple_num_ops(a) != gimple_num_ops(b) || !is_same(gimple_op(a, k), gimple_op(b, k)))
			return false;
	return true;
}

/* The same place, of which an index may have been made twice. */
static bool is_same(tree x, tree y)
{
	if (operand_equal_p(x, y, 0))
		return true;
	if (TREE_CODE(x) == SSA_NAME && TREE_CODE(y) == SSA_NAME)
		return is_same_made(SSA_NAME_DEF_STMT(x), SSA_NAME_DEF_STMT(y));
	if (TREE_CODE(x) != TREE_CODE(y) || (TREE_CODE(x) != ARRAY_REF && TREE_CODE(x) != COMPONENT_REF && TREE_CODE(x) != MEM_REF))
		return false;
	return is_same(TREE_OPERAND(x, 0), TREE_OPERAND(y, 0)) && is_same(TREE_OPERAND(x, 1), TREE_OPERAND(y, 1));
}

/* n[i]++ */
bool flow_walk::only_goes_back(gimple *load)
{
	tree place = gimple_assign_rhs1(load);
	hash_set<tree> made;
	gimple *back = NULL;
	basic_block bb;
	if (TREE_CODE(gimple_assign_lhs(load)) != SSA_NAME)
		return false;
	made.add(gimple_assign_lhs(load));
	gimple_stmt_iterator i = gsi_for_stmt(load);
	for (gsi_next(&i); !gsi_end_p(i) && !back; gsi_next(&i)) {
		gimple *stmt = gsi_stmt(i);
		tree to = is_gimple_assign(stmt) ? gimple_assign_lhs(stmt) : NULL_TREE;
		if (to && DECL_P(to))
			return false; /* perhaps an index */
		if (!to || !is_made_of(stmt, &made))
			continue;
		if (TREE_CODE(to) == SSA_NAME)
			made.add(to);
		else if (is_same(to, place))
			back = stmt;
	}
	FOR_EACH_BB_FN(bb, DECL_STRUCT_FUNCTION(fn))
		for (i = gsi_start_bb(bb); back && !gsi_end_p(i); gsi_next(&i)) {
			gimple *stmt = gsi_stmt(i);
			bool goes_on = is_gimple_assign(stmt) && TREE_CODE(gimple_assign_lhs(stmt)) == SSA_NAME &&
				       made.contains(gimple_assign_lhs(stmt));
			if (stmt != back && !goes_on && is_made_of(stmt, &made))
				back = NULL;
		}
	return back;
}

bool flow_walk::loads(gimple *assign)
{
	return all.reads && gimple_assign_single_p(assign) && is_at_it(gimple_assign_rhs1(assign)) && !only_goes_back(assign);
}

/* ---- In functions of C --------------------------------------------------------------------------- */

bool flow_walk::is_address(tree x)
{
	return POINTER_TYPE_P(TREE_TYPE(x)) ? holds(x) : !is_gimple_reg(x) && TREE_CODE(x) != ADDR_EXPR && is_at_it(x);
}

/* A function that reads at no address that it is given but at that of this argument; -1: at none. All others do at any. */
static bool reads_only(tree function, int *at)
{
	switch (DECL_FUNCTION_CODE(function)) {
	EACH_SIZE(CASE, ATOMIC_STORE)
	EACH_SIZE(CASE, SYNC_LOCK_RELEASE)
	case BUILT_IN_ATOMIC_CLEAR: case BUILT_IN_MEMSET: case BUILT_IN_MEMSET_CHK: case BUILT_IN_PREFETCH:
		*at = -1;
		return true;
	case BUILT_IN_MEMCPY: case BUILT_IN_MEMMOVE: case BUILT_IN_MEMPCPY: case BUILT_IN_STRCPY: case BUILT_IN_STRNCPY:
	case BUILT_IN_MEMCPY_CHK: case BUILT_IN_MEMMOVE_CHK: case BUILT_IN_MEMPCPY_CHK: case BUILT_IN_STRCPY_CHK:
	case BUILT_IN_STRNCPY_CHK:
		*at = 1;
		return true;
	default: return false;
	}
}

static bool is_atomic(tree function)
{
	return startswith(IDENTIFIER_POINTER(DECL_NAME(function)), "__atomic_") ||
	       startswith(IDENTIFIER_POINTER(DECL_NAME(function)), "__sync_");
}

/* What is loaded by an atomic instruction that also stores counts if anybody has it. What else that is given is only stored, or
 * what is expected there. */
bool flow_walk::builtin_reads(gcall *call, tree function)
{
	bool atomic = is_atomic(function);
	int only = 0;
	if (!fndecl_built_in_p(function, BUILT_IN_NORMAL))
		return false;
	bool known = reads_only(function, &only);
	if (atomic && !known && !gimple_call_lhs(call))
		return false;
	for (int k = 0; k < (int)gimple_call_num_args(call); k++)
		if (is_address(gimple_call_arg(call, k)) && (known || atomic ? k == only : !(gimple_call_flags(call) & ECF_CONST)))
			return true;
	return false;
}

/* Of those which are not known here, or have no name for a compiler. */
bool flow_walk::foreign_reads(gcall *call, tree function)
{
	static const struct { const char *name; unsigned writes; } known[] = {
		{ "clock_gettime", 1 }, { "fgets", 0 }, { "fread", 0 }, { "gettimeofday", 0 }, { "pthread_create", 0 }, { "read", 1 },
		{ "recv", 1 },
	};
	unsigned writes = UINT_MAX;
	if (DECL_NAME(function) && (startswith(IDENTIFIER_POINTER(DECL_NAME(function)), "dprof_") ||
				    startswith(IDENTIFIER_POINTER(DECL_NAME(function)), "__")))
		return false;
	for (const auto &c : known)
		if (DECL_NAME(function) && is_called(function, { c.name }))
			writes = c.writes;
	for (unsigned k = 0; k < gimple_call_num_args(call); k++)
		if (k != writes && is_address(gimple_call_arg(call, k)))
			return true;
	return false;
}

/* ---- In libstdc++ -------------------------------------------------------------------------------- */

static const char *name_of_type(tree type)
{
	type = POINTER_TYPE_P(type) ? TREE_TYPE(type) : type;
	return TYPE_NAME(type) && TYPE_IDENTIFIER(type) ? IDENTIFIER_POINTER(TYPE_IDENTIFIER(type)) : "";
}

static bool is_iterator(tree type)
{
	return strstr(name_of_type(type), "iterator") || strstr(name_of_type(type), "Iterator");
}

/* A place by a number, or the same in another form: v[i], *it, std::next(it), s.subspan(i). What it returns. */
bool flow_walk::gives_place(gcall *call, tree function)
{
	tree to = gimple_call_lhs(call);
	bool any = false;
	for (unsigned k = 0; k < gimple_call_num_args(call); k++) {
		tree x = gimple_call_arg(call, k);
		any |= holds(x) || (POINTER_TYPE_P(TREE_TYPE(x)) && holds_at(x));
	}
	if (!any || !to)
		return false;
	return is_called(function, { "operator[]", "operator*", "operator->", "base", "data", "find", "forward", "move", "addressof",
				     "__addressof", "__get_helper", "get", "launder", "subspan", "first", "last", "substr" }) ||
	       is_iterator(TREE_TYPE(to));
}

/* It only stores something at the address that is its argument k, or makes something there. */
static bool only_writes(gcall *call, tree function, unsigned k)
{
	bool last = k + 1 == gimple_call_num_args(call);
	if (k > 0 && DECL_CXX_CONSTRUCTOR_P(function))
		return is_iterator(TREE_TYPE(gimple_call_arg(call, 0)));
	if (k == 0)
		return DECL_CXX_CONSTRUCTOR_P(function) || DECL_CXX_DESTRUCTOR_P(function) ||
		       is_called(function, { "operator=", "store", "clear", "push_back", "emplace_back", "construct_at", "fill", "fill_n",
					     "iota", "_Construct", "notify_one", "notify_all", "reset", "resize", "reserve", "assign" });
	return (k == 1 && is_called(function, { "construct", "fill", "iota" })) ||
	       (last && is_called(function, { "copy", "copy_n", "transform", "uninitialized_copy", "uninitialized_fill" }));
}

/* By its object: under -flto nothing says of which class it is. */
static bool is_of_atomic(gcall *call)
{
	const char *name = gimple_call_num_args(call) ? name_of_type(TREE_TYPE(gimple_call_arg(call, 0))) : "";
	return !strcmp(name, "atomic") || startswith(name, "__atomic_") || !strcmp(name, "atomic_flag");
}

/* Where that is which it gives stands in the object. */
static bool points_to_others(tree function, tree object)
{
	return TREE_CODE(TREE_TYPE(function)) == METHOD_TYPE && !is_iterator(object) && strcmp(name_of_type(object), "array");
}

/* Whether it has a key there, or a bit is set. */
static bool looks_up(tree function)
{
	return is_called(function, { "contains", "count", "test", "find", "equal_range", "lower_bound", "upper_bound" });
}

bool flow_walk::library_reads(gcall *call, tree function)
{
	bool gives = gives_place(call, function);
	if (is_of_atomic(call)) /* as builtin_reads() */
		return gimple_call_lhs(call) && is_address(gimple_call_arg(call, 0));
	for (unsigned k = 0; k < gimple_call_num_args(call); k++) {
		tree x = gimple_call_arg(call, k);
		bool pointer = POINTER_TYPE_P(TREE_TYPE(x)), address = is_address(x) || (!pointer && holds(x) && is_iterator(TREE_TYPE(x)));
		bool at = pointer && holds_at(x);
		if (k > 0 && (at || (holds(x) && !pointer)) && looks_up(function))
			return true;
		if (at && k == 0 && is_called(function, { "__conv_op " }) && strstr(name_of_type(TREE_TYPE(x)), "reference"))
			return true;
		if (address && !gives && !only_writes(call, function, k))
			return true;
		if (address && pointer && k == 0 && gives && points_to_others(function, TREE_TYPE(x)))
			return true;
	}
	return false;
}

/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * flow.cc - where a number goes, in the functions of the unit:
 *
 *   bool get(long &o) { o = next++; return o < n; }      it is compared for order; so is b of
 *   b = next++ * 4; if (b >= end) ...                    and in the functions that are given it, or get it from here
 *
 * It goes with what is made of it by adding, multiplying, dividing and shifting, with members and variables of the unit that it is
 * stored in, whichever object's they are, into functions that it is given to, and to the callers of those that return it, or store
 * it where they are told. Into libstdc++ it does not go: what such a function makes of a number, or returns as it was, has it.
 * Who takes a place of an array by it, or puts it into a container, only has a number of its own, but for what he reads there
 * (reads.cc). But where any comparison counts, it goes with whatever is made of it, and with what is found by it, as an index or a
 * pointer; to call what it points to counts, too.
 *
 * Law: it is said to be compared if any of these compares it for order, or if a function that is not of the unit may. */
#include "plugin/parts.h"
#include "gimple-walk.h"
#include "plugin/flow.h"

#define MOST_WALKS 1000 /* behind which nothing is known */

bool flow_walk::is_order(enum tree_code code) const
{
	switch (code) {
	case LT_EXPR: case LE_EXPR: case GT_EXPR: case GE_EXPR:
	case UNLT_EXPR: case UNLE_EXPR: case UNGT_EXPR: case UNGE_EXPR:
		return !all.reads;
	default: return all.equality;
	}
}

static bool is_sum(enum tree_code code)
{
	return code == PLUS_EXPR || code == MINUS_EXPR || code == POINTER_PLUS_EXPR;
}

static bool is_product(enum tree_code code)
{
	switch (code) {
	case MULT_EXPR: case RDIV_EXPR: case TRUNC_DIV_EXPR: case CEIL_DIV_EXPR: case FLOOR_DIV_EXPR: case ROUND_DIV_EXPR:
	case EXACT_DIV_EXPR: case LSHIFT_EXPR: case RSHIFT_EXPR:
		return true;
	default: return false;
	}
}

static bool is_made(enum tree_code code)
{
	switch (code) {
	case MIN_EXPR: case MAX_EXPR: case NEGATE_EXPR: case ABS_EXPR: case BIT_NOT_EXPR: case BIT_IOR_EXPR: case POINTER_DIFF_EXPR:
		return true;
	default: return false;
	}
}

static bool is_conversion(enum tree_code code)
{
	return CONVERT_EXPR_CODE_P(code) || code == FLOAT_EXPR || code == FIX_TRUNC_EXPR;
}

static bool is_less(gimple *assign)
{
	tree by = gimple_assign_rhs2(assign);
	return gimple_assign_rhs_code(assign) == MINUS_EXPR ||
	       (is_sum(gimple_assign_rhs_code(assign)) && TREE_CODE(by) == INTEGER_CST && wi::neg_p(wi::to_wide(by), SIGNED));
}

/* The variable or the member that x is of, as COMPONENT_REF; or what a register points to, as MEM_REF. */
static tree base_of(tree x)
{
	for (;;)
		switch (TREE_CODE(x)) {
		case VIEW_CONVERT_EXPR: case ARRAY_REF: case ARRAY_RANGE_REF: case BIT_FIELD_REF: case REALPART_EXPR: case IMAGPART_EXPR:
			x = TREE_OPERAND(x, 0);
			break;
		case MEM_REF:
			if (TREE_CODE(TREE_OPERAND(x, 0)) != ADDR_EXPR)
				return x;
			x = TREE_OPERAND(TREE_OPERAND(x, 0), 0);
			break;
		case SSA_NAME: return SSA_NAME_VAR(x) ? SSA_NAME_VAR(x) : x;
		default: return x;
		}
}

/* What stands for it in sets: of a member itself. */
static tree name_of(tree base)
{
	return TREE_CODE(base) == COMPONENT_REF ? TREE_OPERAND(base, 1) : base;
}

static bool is_of_unit(tree name)
{
	return TREE_CODE(name) == FIELD_DECL || (VAR_P(name) && is_global_var(name));
}

/* The one whose body it has. */
static tree itself(tree fn)
{
	cgraph_node *node = fn ? cgraph_node::get(fn) : NULL;
	return node ? node->ultimate_alias_target()->decl : fn;
}

/* ---- Which functions of the unit name a member or a variable ------------------------------------- */

typedef hash_map<tree, vec<tree>> mentions;

struct mention { mentions *all; tree fn; };

static tree mention_one(tree *tp, int *, void *data)
{
	struct mention *m = static_cast<struct mention *>(static_cast<walk_stmt_info *>(data)->info);
	if (DECL_P(*tp) && is_of_unit(*tp)) {
		vec<tree> &functions = m->all->get_or_insert(*tp);
		if (!functions.length() || functions.last() != m->fn)
			functions.safe_push(m->fn);
	}
	return NULL_TREE;
}

static mentions *find_mentions()
{
	mentions *all = new mentions;
	cgraph_node *node;
	FOR_EACH_FUNCTION(node) {
		struct mention m = { all, node->decl };
		walk_stmt_info info = {};
		info.info = &m;
		basic_block bb;
		if (has_body(node->decl))
			FOR_EACH_BB_FN(bb, DECL_STRUCT_FUNCTION(node->decl))
				for (gimple_stmt_iterator i = gsi_start_bb(bb); !gsi_end_p(i); gsi_next(&i))
					walk_gimple_op(gsi_stmt(i), mention_one, &info);
	}
	return all;
}

static const vec<tree> *mentioned(tree name)
{
	static mentions *all; /* bodies are not changed before all have been looked at */
	all = all ? all : find_mentions();
	return all->get(name);
}

/* ---- The unit ------------------------------------------------------------------------------------ */

flow::flow(enum counts counts) : exactly(counts == EXACT_ORDER), equality(counts == EQUALITY), reads(counts == READS) {}

bool flow::share(tree name, bool at)
{
	hash_set<tree> &set = at ? held_at : held;
	if (set.add(name))
		return false;
	const vec<tree> *functions = mentioned(name);
	for (unsigned i = 0; functions && i < functions->length(); i++)
		starts.safe_push({ (*functions)[i], NULL_TREE, NULL_TREE, {} });
	return true;
}

struct flow::outcome flow::enter(tree fn, unsigned HOST_WIDE_INT values, unsigned HOST_WIDE_INT at)
{
	for (const struct entered &e : entries)
		if (e.fn == fn && e.values == values && e.at == at)
			return e.comes;
	unsigned own = entries.length(), k = 0;
	entries.safe_push({ fn, values, at, {} });
	if (own > MOST_WALKS)
		return { true, false, false, 0 };
	flow_walk walk(*this, fn);
	for (tree parameter = DECL_ARGUMENTS(fn); parameter && k < HOST_BITS_PER_WIDE_INT; parameter = DECL_CHAIN(parameter), k++)
		walk.is_given(parameter, values >> k & 1, at >> k & 1);
	return entries[own].comes = walk.run();
}

/* Whether others than the unit's functions, which are known, may call it. */
static bool is_called_by_others(tree fn)
{
	cgraph_node *node = cgraph_node::get(fn);
	bool is_main = DECL_NAME(fn) && MAIN_NAME_P(DECL_NAME(fn));
	return (TREE_PUBLIC(fn) && !DECL_COMDAT(fn) && !is_main) || node->address_taken || DECL_VIRTUAL_P(fn);
}

bool flow::goes_on(const struct flow_start &s)
{
	flow_walk walk(*this, s.fn);
	if (s.value)
		walk.hold(s.value);
	walk.comes_from(s.callee, s.comes);
	struct outcome o = walk.run();
	bool leaves = o.returned || o.returned_at || o.stored;
	if (o.decides || (leaves && is_called_by_others(s.fn)))
		return true;
	if (!leaves)
		return false;
	auto callers = cgraph_node::get(s.fn)->collect_callers();
	for (cgraph_edge *e : callers)
		if (has_body(e->caller->decl))
			starts.safe_push({ e->caller->decl, NULL_TREE, s.fn, o });
	return false;
}

bool flow::decides(tree value)
{
	starts.safe_push({ current_function_decl, value, NULL_TREE, {} });
	return follow();
}

bool flow::any_decides(tree name)
{
	share(name, false);
	return follow();
}

tree flow::shared_name(tree x)
{
	tree base = base_of(x), name = name_of(base);
	return is_of_unit(name) ? name : NULL_TREE;
}

bool flow::follow()
{
	for (unsigned i = 0; i < starts.length(); i++) {
		struct flow_start s = starts[i];
		bool before = false;
		for (unsigned k = 0; k < i && !before; k++)
			before = s.callee && starts[k].fn == s.fn && starts[k].callee == s.callee && starts[k].comes == s.comes;
		if (!before && (i > MOST_WALKS || goes_on(s)))
			return true;
	}
	return false;
}

/* ---- One function -------------------------------------------------------------------------------- */

flow_walk::flow_walk(flow &all, tree fn) : all(all), fn(fn) {}

void flow_walk::is_given(tree parameter, bool value, bool at)
{
	if (value)
		values.add(parameter);
	if (at) {
		places.add(parameter);
		given.add(parameter);
	}
}

void flow_walk::comes_from(tree function, const struct flow::outcome &o)
{
	callee = function;
	comes = o;
}

void flow_walk::hold(tree x)
{
	tree base = base_of(x), name = name_of(base);
	if (TREE_CODE(base) == MEM_REF)
		hold_at(TREE_OPERAND(base, 0));
	else
		more |= is_shared(name, x) ? all.share(name, false) : !values.add(name);
}

void flow_walk::hold_at(tree pointer, bool of_array)
{
	if (TREE_CODE(pointer) == ADDR_EXPR)
		return hold(TREE_OPERAND(pointer, 0));
	tree name = name_of(base_of(pointer));
	if (of_array)
		arrays.add(name);
	if (DECL_P(name) || TREE_CODE(name) == SSA_NAME)
		more |= is_of_unit(name) && !of_array ? all.share(name, true) : !places.add(name);
}

/* Others of the unit see it there. What is read by what one has put into an array is looked for in that function only: who numbers
 * things does not take them. */
bool flow_walk::is_shared(tree name, tree x) const
{
	bool element = false;
	for (; handled_component_p(x); x = TREE_OPERAND(x, 0))
		element |= TREE_CODE(x) == ARRAY_REF;
	return is_of_unit(name) && !(all.reads && element);
}

/* The address of a place that is taken by it. */
bool flow_walk::is_place_by(tree x)
{
	for (; handled_component_p(x); x = TREE_OPERAND(x, 0))
		if (TREE_CODE(x) == ARRAY_REF && holds(TREE_OPERAND(x, 1)))
			return true;
	return false;
}

/* What lies at such a place. */
bool flow_walk::is_found_by(tree x)
{
	if (is_place_by(x))
		return true;
	while (handled_component_p(x))
		x = TREE_OPERAND(x, 0);
	return TREE_CODE(x) == MEM_REF && holds(TREE_OPERAND(x, 0));
}

bool flow_walk::holds(tree x)
{
	if (!x)
		return false;
	if (all.equality && TREE_CODE(x) != ADDR_EXPR && is_found_by(x))
		return true;
	if (TREE_CODE(x) == ADDR_EXPR)
		return all.reads ? is_at_it(TREE_OPERAND(x, 0)) : is_place_by(TREE_OPERAND(x, 0));
	tree base = base_of(x);
	if (TREE_CODE(base) == MEM_REF)
		return holds_at(TREE_OPERAND(base, 0));
	tree name = name_of(base);
	return values.contains(name) || all.held.contains(name) ||
	       (TREE_CODE(base) == COMPONENT_REF && holds(TREE_OPERAND(base, 0)));
}

bool flow_walk::holds_at(tree pointer)
{
	if (TREE_CODE(pointer) == ADDR_EXPR)
		return holds(TREE_OPERAND(pointer, 0));
	tree name = name_of(base_of(pointer));
	return places.contains(name) || all.held_at.contains(name);
}

static bool is_pointer(tree x)
{
	return POINTER_TYPE_P(TREE_TYPE(x));
}

/* `to` becomes what `from` is. */
void flow_walk::copy(tree to, tree from)
{
	if (holds(from))
		hold(to);
	point_to_same(to, from);
}

/* Or to something near. */
void flow_walk::point_to_same(tree to, tree from)
{
	if (!is_pointer(to) || !is_pointer(from))
		return;
	if (holds_at(from))
		hold_at(to);
	if (holds_at(to))
		hold_at(from, arrays.contains(name_of(base_of(to))));
}

/* Exactly: but for constants. */
bool flow_walk::is_made_of_it(gimple *assign)
{
	enum tree_code code = gimple_assign_rhs_code(assign);
	tree by = gimple_assign_rhs2(assign);
	bool of_first = holds(gimple_assign_rhs1(assign)), shifts = code == LSHIFT_EXPR || code == RSHIFT_EXPR;
	if (!of_first && (shifts || !holds(by)))
		return false;
	if (all.reads)
		return true;
	if (is_sum(code) || is_product(code))
		return !all.exactly || (of_first && CONSTANT_CLASS_P(by));
	return (is_made(code) && !all.exactly) || all.equality;
}

void flow_walk::assign(gimple *stmt)
{
	enum tree_code code = gimple_assign_rhs_code(stmt);
	tree to = gimple_assign_lhs(stmt), from = gimple_assign_rhs1(stmt), by = gimple_assign_rhs2(stmt);
	if (TREE_CODE_CLASS(code) == tcc_comparison) {
		bool compares = is_order(code) && (holds(from) || holds(by));
		decides |= compares;
		if (compares && all.equality)
			hold(to);
	} else if (gimple_assign_single_p(stmt) || is_conversion(code)) {
		decides |= loads(stmt);
		copy(to, from);
	} else if (code == COND_EXPR) {
		decides |= COMPARISON_CLASS_P(from) && is_order(TREE_CODE(from)) &&
			   (holds(TREE_OPERAND(from, 0)) || holds(TREE_OPERAND(from, 1)));
		copy(to, by);
		copy(to, gimple_assign_rhs3(stmt));
	} else {
		make(stmt);
	}
}

void flow_walk::make(gimple *stmt)
{
	enum tree_code code = gimple_assign_rhs_code(stmt);
	tree to = gimple_assign_lhs(stmt);
	if (code == POINTER_PLUS_EXPR) {
		if (all.reads && holds_at(to) && !CONSTANT_CLASS_P(gimple_assign_rhs2(stmt)))
			arrays.add(name_of(base_of(to)));
		point_to_same(to, gimple_assign_rhs1(stmt));
	}
	if (is_made_of_it(stmt)) {
		fall |= is_less(stmt);
		decides |= !all.reads && (code == MIN_EXPR || code == MAX_EXPR);
		hold(to);
	}
}

void flow_walk::come_back(gcall *call, const struct flow::outcome &o)
{
	tree to = gimple_call_lhs(call);
	if (to && o.returned)
		hold(to);
	if (to && o.returned_at)
		hold_at(to);
	for (unsigned k = 0; k < gimple_call_num_args(call) && k < HOST_BITS_PER_WIDE_INT; k++)
		if (o.stored >> k & 1)
			hold_at(gimple_call_arg(call, k));
}

static bool is_same_type(tree type, tree other)
{
	return TYPE_MAIN_VARIANT(type) == TYPE_MAIN_VARIANT(other);
}

static bool refer_to_same(tree type, tree other)
{
	return POINTER_TYPE_P(type) && POINTER_TYPE_P(other) && is_same_type(TREE_TYPE(type), TREE_TYPE(other));
}

/* std::min(i, n) is one of what it is given; a constructor makes something of it; and a std::function may do so. */
void flow_walk::call_library(gcall *call, tree function)
{
	tree to = gimple_call_lhs(call);
	const char *name = IDENTIFIER_POINTER(DECL_NAME(function));
	decides |= !strcmp(name, "operator()") && !cplus_is_named(function, "hash", "operator()");
	for (const char *orders : { "min", "max", "clamp" })
		decides |= !all.exactly && !all.reads && cplus_is_named(function, "std", orders);
	decides |= !strcmp(name, "at"); /* an exception says that it is no place */
	for (const char *order : { "operator<", "operator>", "operator<=", "operator>=", "operator<=>" })
		decides |= !all.reads && !strcmp(name, order);
	if (all.reads) {
		decides |= library_reads(call, function);
		if (to && gives_place(call, function))
			return hold(to);
	}
	if (DECL_CXX_CONSTRUCTOR_P(function))
		hold_at(gimple_call_arg(call, 0));
	if (to && all.equality)
		hold(to);
	for (unsigned k = 0; to && k < gimple_call_num_args(call); k++) {
		tree x = gimple_call_arg(call, k);
		if (is_pointer(x) && holds_at(x) && refer_to_same(TREE_TYPE(to), TREE_TYPE(x)))
			hold_at(to);
		else if ((holds(x) && is_same_type(TREE_TYPE(to), TREE_TYPE(x))) ||
			 (is_pointer(x) && holds_at(x) && is_same_type(TREE_TYPE(to), TREE_TYPE(TREE_TYPE(x)))))
			hold(to);
	}
}

/* Functions that do something else with it than the program does. */
static bool is_foreign(tree function)
{
	static const char *const names[] = { "_gfortran_", "GOMP_", "omp_", "MPI_", "mpi_", "PMPI_", "dprof_", "__dprof_", "__cxa_" };
	for (const char *name : names)
		if (DECL_NAME(function) && startswith(IDENTIFIER_POINTER(DECL_NAME(function)), name))
			return true;
	return !has_body(function) && (DECL_IN_SYSTEM_HEADER(function) || fndecl_built_in_p(function));
}

bool flow_walk::holds_callee(gcall *call)
{
	tree function = gimple_call_fn(call);
	return function && holds(TREE_CODE(function) == OBJ_TYPE_REF ? OBJ_TYPE_REF_EXPR(function) : function);
}

/* `by`: it is given it; `from`: its second argument points to it. */
void flow_walk::call_builtin(gcall *call, tree function, bool by, bool from)
{
	tree to = gimple_call_lhs(call);
	bool copies = from && function && (fndecl_built_in_p(function, BUILT_IN_MEMCPY) || fndecl_built_in_p(function, BUILT_IN_MEMMOVE));
	if (copies)
		hold_at(gimple_call_arg(call, 0));
	else if (to && (all.equality || (by && (gimple_call_flags(call) & ECF_CONST))))
		hold(to);
}

void flow_walk::call(gcall *call)
{
	tree function = itself(gimple_call_fndecl(call));
	unsigned HOST_WIDE_INT by = 0, at = 0;
	if (callee && function == callee)
		come_back(call, comes);
	for (unsigned k = 0; k < gimple_call_num_args(call) && k < HOST_BITS_PER_WIDE_INT; k++) {
		tree x = gimple_call_arg(call, k);
		by |= (unsigned HOST_WIDE_INT)holds(x) << k;
		at |= (unsigned HOST_WIDE_INT)(is_pointer(x) && holds_at(x)) << k;
		decides |= all.reads && !is_pointer(x) && is_address(x);
	}
	decides |= all.equality && !function && holds_callee(call);
	if (!by && !at)
		return;
	leaves = true;
	if (gimple_call_internal_p(call) || (function && fndecl_built_in_p(function))) {
		call_builtin(call, function, by, at >> 1 & 1);
		decides |= all.reads && function && builtin_reads(call, function);
	} else if (!function) {
		decides = true;
	} else if (!strncmp(lang_hooks.name, "GNU C++", 7) && DECL_NAME(function) && cplus_library(function)) {
		call_library(call, function);
	} else if (has_body(function)) {
		struct flow::outcome o = all.enter(function, by, at);
		decides |= o.decides;
		come_back(call, o);
	} else {
		decides |= !is_foreign(function) || (all.reads && foreign_reads(call, function));
		if (gimple_call_lhs(call) && all.equality)
			hold(gimple_call_lhs(call));
	}
}

/* A range of numbers is an order. */
static bool has_range(gswitch *stmt)
{
	for (unsigned k = 0; k < gimple_switch_num_labels(stmt); k++)
		if (CASE_HIGH(gimple_switch_label(stmt, k)))
			return true;
	return false;
}

void flow_walk::statement(gimple *stmt)
{
	if (is_gimple_assign(stmt)) {
		assign(stmt);
	} else if (gcond *cond = dyn_cast<gcond *>(stmt)) {
		decides |= is_order(gimple_cond_code(cond)) && (holds(gimple_cond_lhs(cond)) || holds(gimple_cond_rhs(cond)));
	} else if (gswitch *cases = dyn_cast<gswitch *>(stmt)) {
		decides |= holds(gimple_switch_index(cases)) && !all.reads && (has_range(cases) || all.equality);
	} else if (gcall *c = dyn_cast<gcall *>(stmt)) {
		call(c);
	} else if (greturn *back = dyn_cast<greturn *>(stmt)) {
		tree x = gimple_return_retval(back);
		returned |= x && holds(x);
		returned_at |= x && is_pointer(x) && holds_at(x);
		decides |= x && all.reads && !is_pointer(x) && is_address(x);
	}
}

bool flow_walk::stays() const
{
	return !returned && only_returns();
}

bool flow_walk::only_returns() const
{
	return !leaves && !returned_at && all.starts.is_empty() && places.is_empty();
}

/* Statements do not stand in the order in which they are reached. */
struct flow::outcome flow_walk::run()
{
	basic_block bb;
	do {
		more = false;
		FOR_EACH_BB_FN(bb, DECL_STRUCT_FUNCTION(fn)) {
			for (gphi_iterator i = gsi_start_phis(bb); !gsi_end_p(i); gsi_next(&i))
				for (unsigned k = 0; k < gimple_phi_num_args(i.phi()); k++)
					if (gimple_phi_arg_def(i.phi(), k))
						copy(gimple_phi_result(i.phi()), gimple_phi_arg_def(i.phi(), k));
			for (gimple_stmt_iterator i = gsi_start_bb(bb); !gsi_end_p(i); gsi_next(&i))
				statement(gsi_stmt(i));
		}
	} while (more);
	unsigned HOST_WIDE_INT stored = 0;
	unsigned k = 0;
	for (tree parameter = DECL_ARGUMENTS(fn); parameter && k < HOST_BITS_PER_WIDE_INT; parameter = DECL_CHAIN(parameter), k++)
		stored |= (unsigned HOST_WIDE_INT)(places.contains(parameter) && !given.contains(parameter)) << k;
	return { decides, returned, returned_at, stored };
}

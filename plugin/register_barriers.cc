/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * register_barriers.cc - keeps work that happens only in registers on its side of the clock readings.
 *
 * `asm volatile` with a memory clobber holds back loops, branches, memory accesses and calls, but a
 * division is free to go wherever its operands are known and its result is not yet needed. So the
 * values that cross the border of a region pass a register barrier there, in SSA form, before any
 * optimiser runs that moves code:
 *
 *   a_1 = p_2 / q_3;                     a_1 = p_2 / q_3;
 *                                        asm volatile ("" : : "r" (a_1));
 *   ENTER                       ->       ENTER
 *                                        asm volatile ("" : "=r" (a_5) : "0" (a_1));
 *   b_4 = a_1 / 3;                       b_4 = a_5 / 3;
 *                                        asm volatile ("" : : "r" (b_4));
 *   EXIT                                 EXIT
 *   return b_4 + a_1;                    return b_4 + a_1;
 *
 * Law: what a region computes from values that were there before it is computed after ENTER, for the name
 * a_5 does not exist earlier; what it computes for those behind it is computed before EXIT; and what
 * it takes from before is computed before ENTER. A register barrier (an empty asm with operands) is
 * no instruction. There are none for comparisons that decide a branch and for the arithmetic of
 * addresses: no optimiser gains by moving them. Nor are there any where a value lives across setjmp
 * or a computed goto. */
#include "plugin/parts.h"
#include "ssa.h"
#include "tree-ssa.h"
#include "tree-dfa.h"

#define MOST 12 /* operands of one asm; GCC allows 30 */

/* The constraint for a register that holds a value of this type, or NULL if there is none. */
static const char *letter(tree type)
{
	machine_mode mode = TYPE_MODE(type);
	if (POINTER_TYPE_P(type) || TREE_CODE(type) == BOOLEAN_TYPE)
		return "r";
	if (INTEGRAL_TYPE_P(type))
		return type_has_mode_precision_p(type) && int_size_in_bytes(type) <= 16 ? "r" :
											  nullptr;
	if (mode == SFmode || mode == DFmode || mode == V4SFmode || mode == V2DFmode)
		return TARGET_SSE2 ? "x" : nullptr;
	return mode == XFmode && TARGET_80387 ? "t" : nullptr;
}

static bool fits_register(tree name)
{
	tree type = TREE_TYPE(name);
	return !virtual_operand_p(name) && !SSA_NAME_OCCURS_IN_ABNORMAL_PHI(name) &&
	       !ssa_undefined_value_p(name, false) &&
	       letter(TREE_CODE(type) == COMPLEX_TYPE ? TREE_TYPE(type) : type);
}

/* ---- Making barriers --------------------------------------------------------------------------- */

static tree operand(gimple *event, const char *constraint, tree value)
{
	return inlined_operand(inlined_mark(event) == MARK_EVENT ? MARK_BARRIER_OF_EVENT
			       : MARK_BARRIER, constraint, value);
}

static gasm *make_barrier(vec<tree, va_gc> *inputs, vec<tree, va_gc> *outputs, gimple *event)
{
	gasm *stmt = gimple_build_asm_vec("", inputs, outputs, nullptr, nullptr);
	gimple_asm_set_volatile(stmt, true);
	gimple_asm_set_inline(stmt, true);
	gimple_set_location(stmt, gimple_location(event));
	suppress_warning(stmt, OPT_Wuninitialized); /* it may read what only some ways have set */
	return stmt;
}

/* Everything that is put at an event counts as the event. */
static void insert(gimple_stmt_iterator *i, gimple *stmt, gimple *event, bool after)
{
	gimple_set_uid(stmt, gimple_uid(event));
	if (after)
		gsi_insert_after(i, stmt, GSI_NEW_STMT);
	else
		gsi_insert_before(i, stmt, GSI_SAME_STMT);
}

/* One half of a complex value, computed at the event. */
static tree half(enum tree_code which, tree value, gimple_stmt_iterator *i, gimple *event, bool after)
{
	tree type = TREE_TYPE(TREE_TYPE(value));
	tree name = make_ssa_name(type);
	insert(i, gimple_build_assign(name, which, build1(which, type, value)), event, after);
	return name;
}

static void barrier_before(gimple *event, const vec<tree> &names)
{
	gimple_stmt_iterator i = gsi_for_stmt(event);
	auto_vec<tree> values;
	for (tree name : names)
		if (TREE_CODE(TREE_TYPE(name)) == COMPLEX_TYPE) {
			values.safe_push(half(REALPART_EXPR, name, &i, event, false));
			values.safe_push(half(IMAGPART_EXPR, name, &i, event, false));
		} else {
			values.safe_push(name);
		}
	vec<tree, va_gc> *inputs = nullptr;
	for (unsigned n = 0; n < values.length(); n++) {
		const char *l = letter(TREE_TYPE(values[n]));
		vec_safe_push(inputs, operand(event, *l == 'r' ? "rmn" : *l == 'x' ? "xm" : "fm", values[n]));
		if (n % MOST == MOST - 1 || n == values.length() - 1) {
			insert(&i, make_barrier(inputs, nullptr, event), event, false);
			inputs = nullptr;
		}
	}
}

/* A new name for the value, which the optimisers cannot trace back. */
static tree renew(tree value, gimple_stmt_iterator *i, gimple *event)
{
	if (TREE_CODE(TREE_TYPE(value)) == COMPLEX_TYPE) {
		tree re = renew(half(REALPART_EXPR, value, i, event, true), i, event);
		tree im = renew(half(IMAGPART_EXPR, value, i, event, true), i, event);
		tree whole = copy_ssa_name(value);
		insert(i, gimple_build_assign(whole, COMPLEX_EXPR, re, im), event, true);
		return whole;
	}
	vec<tree, va_gc> *inputs = nullptr, *outputs = nullptr;
	tree name = copy_ssa_name(value);
	char output[] = { '=', *letter(TREE_TYPE(value)), '\0' };
	vec_safe_push(inputs, operand(event, "0", value));
	vec_safe_push(outputs, operand(event, output, name));
	gasm *stmt = make_barrier(inputs, outputs, event);
	SSA_NAME_DEF_STMT(name) = stmt;
	insert(i, stmt, event, true);
	return name;
}

/* ---- One region -------------------------------------------------------------------------------- */

/* Would an optimiser move it? Not what accesses memory or decides a branch, nor a mere copy. */
static bool moves(gimple *stmt)
{
	if (gimple_code(stmt) == GIMPLE_PHI)
		return true;
	if (gimple_vuse(stmt))
		return false;
	return is_gimple_call(stmt) || (is_gimple_assign(stmt) && !gimple_assign_copy_p(stmt));
}

/* Addresses get a barrier only at calls that could move: a barrier lets a pointer escape. */
static bool worth(tree name, gimple *stmt)
{
	return moves(stmt) && (!POINTER_TYPE_P(TREE_TYPE(name)) || is_gimple_call(stmt));
}

namespace {

class region {
public:
	region(gimple *enter, tree site) : enter(enter), site(site) {}
	void run();

private:
	/* Which statements of a block are in the region, by their numbers, both ends excluded. */
	struct block_part {
		basic_block bb;
		unsigned after, before;
	};

	gimple *enter;
	tree site;
	auto_vec<block_part> parts;
	hash_map<basic_block, unsigned> number; /* of a block's part, plus 1 */
	auto_vec<gimple *> exits;
	auto_vec<tree> taken, worked_on, left;
	hash_set<tree> seen_taken, seen_worked_on;

	gimple_stmt_iterator begin_of(basic_block bb, unsigned after);
	void add(basic_block bb, unsigned after);
	const block_part *part_of(basic_block bb);
	bool holds(gimple *stmt);
	bool leads_through(edge e);
	void takes(tree name, gimple *user);
	void look_at(gimple *stmt);
	void gives(tree name, gimple *stmt);
	void replace(tree name, tree by);
	void barrier_at_exit(gimple *exit);
};

const region::block_part *region::part_of(basic_block bb)
{
	unsigned *n = bb ? number.get(bb) : nullptr;
	return n ? &parts[*n - 1] : nullptr;
}

/* Not every region walks through all of a block in which there are many. */
gimple_stmt_iterator region::begin_of(basic_block bb, unsigned after)
{
	return after ? gsi_for_stmt(enter) : gsi_start_bb(bb);
}

/* The block, or the part of it behind `after`, up to the next event of the same site. */
void region::add(basic_block bb, unsigned after)
{
	if (bb == EXIT_BLOCK_PTR_FOR_FN(cfun) || part_of(bb))
		return;
	block_part p = { bb, after, UINT_MAX };
	for (gimple_stmt_iterator i = begin_of(bb, after); !gsi_end_p(i); gsi_next(&i)) {
		gimple *stmt = gsi_stmt(i);
		enum dprof_op op;
		if (gimple_uid(stmt) <= after || event_site(stmt, &op) != site)
			continue;
		p.before = gimple_uid(stmt);
		if (op == DPROF_EXIT)
			exits.safe_push(stmt);
		break;
	}
	parts.safe_push(p);
	number.put(bb, parts.length());
}

bool region::holds(gimple *stmt)
{
	const block_part *p = part_of(gimple_bb(stmt));
	return p && gimple_uid(stmt) > p->after && gimple_uid(stmt) < p->before;
}

/* Is the end of its source in the region, and behind ENTER? */
bool region::leads_through(edge e)
{
	const block_part *p = part_of(e->src);
	return p && p->before == UINT_MAX && dominated_by_p(CDI_DOMINATORS, e->src, gimple_bb(enter));
}

/* A use of a name at a place that is in the region, behind ENTER. */
void region::takes(tree name, gimple *user)
{
	if (TREE_CODE(name) != SSA_NAME || !fits_register(name) || holds(SSA_NAME_DEF_STMT(name)))
		return;
	bool work = worth(name, user);
	if ((work || !POINTER_TYPE_P(TREE_TYPE(name))) && !seen_taken.add(name))
		taken.safe_push(name);
	if (work && !seen_worked_on.add(name))
		worked_on.safe_push(name);
}

/* What the region computes and others use. */
void region::gives(tree name, gimple *stmt)
{
	imm_use_iterator i;
	use_operand_p use;
	if (!fits_register(name) || !worth(name, stmt))
		return;
	FOR_EACH_IMM_USE_FAST(use, i, name)
		if (!is_gimple_debug(USE_STMT(use)) && !holds(USE_STMT(use))) {
			left.safe_push(name);
			return;
		}
}

void region::look_at(gimple *stmt)
{
	ssa_op_iter i;
	tree name;
	if (is_gimple_debug(stmt) || !holds(stmt))
		return;
	if (gphi *phi = dyn_cast<gphi *>(stmt)) {
		for (unsigned n = 0; n < gimple_phi_num_args(phi); n++)
			if (leads_through(gimple_phi_arg_edge(phi, n)))
				takes(gimple_phi_arg_def(phi, n), phi);
		gives(gimple_phi_result(phi), phi);
		return;
	}
	if (dominated_by_p(CDI_DOMINATORS, gimple_bb(stmt), gimple_bb(enter)))
		FOR_EACH_SSA_TREE_OPERAND(name, stmt, i, SSA_OP_USE)
			takes(name, stmt);
	FOR_EACH_SSA_TREE_OPERAND(name, stmt, i, SSA_OP_DEF)
		gives(name, stmt);
}

void region::replace(tree name, tree by)
{
	imm_use_iterator i;
	use_operand_p use;
	gimple *user;
	FOR_EACH_IMM_USE_STMT(user, i, name) {
		if (!holds(user))
			continue;
		gphi *phi = dyn_cast<gphi *>(user);
		bool behind = dominated_by_p(CDI_DOMINATORS, gimple_bb(user), gimple_bb(enter));
		FOR_EACH_IMM_USE_ON_STMT(use, i)
			if (phi ? leads_through(gimple_phi_arg_edge(phi, PHI_ARG_INDEX_FROM_USE(use))) : behind)
				SET_USE(use, by);
		update_stmt(user);
	}
}

void region::barrier_at_exit(gimple *exit)
{
	auto_vec<tree> names;
	for (tree name : left) {
		gimple *def = SSA_NAME_DEF_STMT(name);
		bool earlier = gimple_bb(def) == gimple_bb(exit) ?
			gimple_uid(def) < gimple_uid(exit) :
			dominated_by_p(CDI_DOMINATORS, gimple_bb(exit), gimple_bb(def));
		if (earlier)
			names.safe_push(name);
	}
	barrier_before(exit, names);
}

void region::run()
{
	edge e;
	edge_iterator ei;
	add(gimple_bb(enter), gimple_uid(enter));
	for (unsigned n = 0; n < parts.length(); n++)
		if (parts[n].before == UINT_MAX)
			FOR_EACH_EDGE(e, ei, parts[n].bb->succs)
				add(e->dest, 0);
	for (const block_part &p : parts) {
		for (gphi_iterator i = gsi_start_phis(p.bb); !gsi_end_p(i); gsi_next(&i))
			look_at(i.phi());
		for (gimple_stmt_iterator i = begin_of(p.bb, p.after);
		     !gsi_end_p(i) && gimple_uid(gsi_stmt(i)) < p.before; gsi_next(&i))
			look_at(gsi_stmt(i));
	}
	barrier_before(enter, taken);
	for (gimple *exit : exits)
		barrier_at_exit(exit);
	if (stmt_ends_bb_p(enter))
		return; /* it can throw: -fnon-call-exceptions */
	gimple_stmt_iterator i = gsi_for_stmt(enter);
	for (tree name : worked_on)
		replace(name, renew(name, &i, enter));
}

/* ---- The pass ----------------------------------------------------------------------------------- */

const pass_data data = { GIMPLE_PASS, "dprof_register_barriers", OPTGROUP_NONE, TV_NONE,
			 PROP_ssa | PROP_cfg, 0, 0, 0, 0 };

/* In the order of each block, from 1. */
void number_statements(function *fun)
{
	unsigned n = 0;
	basic_block bb;
	FOR_EACH_BB_FN(bb, fun) {
		for (gphi_iterator i = gsi_start_phis(bb); !gsi_end_p(i); gsi_next(&i))
			gimple_set_uid(i.phi(), ++n);
		for (gimple_stmt_iterator i = gsi_start_bb(bb); !gsi_end_p(i); gsi_next(&i))
			gimple_set_uid(gsi_stmt(i), ++n);
	}
}

class pass_register_barriers : public gimple_opt_pass {
public:
	pass_register_barriers() : gimple_opt_pass(data, g) {}
	unsigned execute(function *fun) final override;
};

/* The events of functions that were inlined here have their barriers already. */
unsigned pass_register_barriers::execute(function *fun)
{
	auto_vec<gimple *> enters;
	basic_block bb;
	FOR_EACH_BB_FN(bb, fun)
		for (gimple_stmt_iterator i = gsi_start_bb(bb); !gsi_end_p(i); gsi_next(&i)) {
			enum dprof_op op;
			tree site = event_site(gsi_stmt(i), &op);
			if (site && op == DPROF_ENTER && site_function(site) == fun->decl)
				enters.safe_push(gsi_stmt(i));
		}
	if (enters.is_empty())
		return 0;
	calculate_dominance_info(CDI_DOMINATORS);
	number_statements(fun);
	for (gimple *enter : enters) {
		enum dprof_op op;
		region(enter, event_site(enter, &op)).run();
	}
	return 0;
}

} // namespace

void register_barriers_install(const char *plugin_name)
{
	struct register_pass_info where = { new pass_register_barriers, "fre", 1, PASS_POS_INSERT_BEFORE };
	register_callback(plugin_name, PLUGIN_PASS_MANAGER_SETUP, nullptr, &where);
}

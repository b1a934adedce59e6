/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * spins.cc - loops in which a thread looks at memory again and again until another one has stored something there:
 *
 *   while (!atomic_load(&there)) pause();   ->   spin = { 0 };
 *                                                while (r = atomic_load(&there), spin.object = &there, spin.number = r, !r) {
 *                                                        dprof_spins(SITE, &spin); pause(); }
 *                                                dprof_spun(SITE, &spin, HOW); (enum dprof_spin_how)
 *
 *   atomic_fetch_add(&there, 1);   ->   dprof_changes(&there); atomic_fetch_add(&there, 1);   (stores: flags.cc)
 *
 * Such a loop stores nothing that others could see, but how often it has looked; and who takes a lock says there that it is his
 * (test and set). It may yield or sleep, which is not recorded by itself then: dprof_spins comes before. It is over where what
 * it has found leads out of it; it may also give up (spin.object = NULL). Functions that only look, and are called in such a
 * loop, are followed; of what they look at the address is not known, nor where a loop looks at several places.
 *
 * Law: nothing that the program does changes, and what is told of a loop is told on every way round it and out of it, but of those
 * that an exception takes. */
#include "plugin/parts.h"
#include "calls.h"
#include "gimplify.h"
#include "plugin/retries.h"

#define DEEPEST 3 /* calls of calls that are looked into */

namespace {

/* In the function that the pass is at. */
struct spin {
	basic_block begin;
	blocks *in, *found; /* found: they end with a branch which decides what it has found */
	tree state, site;
	bool is_number, rests;
	enum dprof_spin_how how;
	auto_vec<tree, 1> objects;   /* at which it looks, and ... */
	auto_vec<gimple *, 1> tells; /* ... where that is told */
};

auto_vec<spin *> spins;

enum { STAMP, PLACE, OBJECT, NUMBER, AT, MEMBERS }; /* struct dprof_spin */

} // namespace

/* ---- What only looks ------------------------------------------------------------------------------ */

static bool is_own(tree x)
{
	tree base = get_base_address(x);
	return is_gimple_reg(x) || (base && DECL_P(base) && !is_global_var(base) && !TREE_THIS_VOLATILE(x));
}

/* It looks, or lets no other thread see anything; or time passes. */
static bool is_harmless(tree fn)
{
	bool refers = DECL_CXX_CONSTRUCTOR_P(fn) && cplus_is_of(fn, "atomic_ref");
	if (retries_rests(fn) || cplus_of_times(fn) || clocks_read(fn) || refers)
		return true;
	if (!fndecl_built_in_p(fn, BUILT_IN_NORMAL))
		return fndecl_built_in_p(fn) || counters_loads(fn) || startswith(IDENTIFIER_POINTER(DECL_ASSEMBLER_NAME(fn)), "dprof_");
	switch (DECL_FUNCTION_CODE(fn)) {
	case BUILT_IN_SYNC_SYNCHRONIZE:
	case BUILT_IN_ATOMIC_THREAD_FENCE:
	case BUILT_IN_ATOMIC_SIGNAL_FENCE: return true;
	default: return counters_loads(fn) || (flags_from_decl_or_type(fn) & (ECF_CONST | ECF_PURE));
	}
}

/* Nothing, or a pause (rep; nop); or it is told where the call behind it stands. */
static bool is_pause(gasm *text)
{
	const char *what = gimple_asm_string(text);
	bool pauses = !what[strspn(what, " \t\n")] || strstr(what, "pause") || strstr(what, "nop");
	return call_tells(text) || (pauses && !gimple_asm_noutputs(text));
}

static bool only_looks(gimple *stmt, unsigned depth)
{
	tree to = gimple_clobber_p(stmt) ? NULL_TREE : gimple_get_lhs(stmt);
	if (to && !is_own(to))
		return !TREE_THIS_VOLATILE(to) && flags_counts(stmt); /* how often it has looked */
	if (gasm *text = dyn_cast<gasm *>(stmt))
		return is_pause(text);
	if (!is_gimple_call(stmt) || gimple_call_internal_p(stmt))
		return true;
	tree fn = gimple_call_fndecl(stmt);
	basic_block bb;
	if (depth > 0 && claims_lock(stmt))
		return true;
	if (!fn || is_harmless(fn) || (counters_counts(fn) && !to) || ((counters_counts(fn) || claims_sets(fn)) && flags_same(stmt)))
		return fn;
	if (!has_body(fn) || depth == DEEPEST)
		return false;
	FOR_EACH_BB_FN(bb, DECL_STRUCT_FUNCTION(fn))
		for (gimple_stmt_iterator i = gsi_start_bb(bb); !gsi_end_p(i); gsi_next(&i))
			if (!only_looks(gsi_stmt(i), depth + 1))
				return false;
	return true;
}

/* Whether a function looks at what others may change. */
static bool looks(tree fn, unsigned depth)
{
	basic_block bb;
	if (counters_loads(fn) || !has_body(fn) || depth == DEEPEST)
		return counters_loads(fn);
	FOR_EACH_BB_FN(bb, DECL_STRUCT_FUNCTION(fn))
		for (gimple_stmt_iterator i = gsi_start_bb(bb); !gsi_end_p(i); gsi_next(&i)) {
			gimple *stmt = gsi_stmt(i);
			tree called = is_gimple_call(stmt) ? gimple_call_fndecl(stmt) : NULL_TREE;
			if (gimple_has_volatile_ops(stmt) ? gimple_assign_load_p(stmt) || claims_lock(stmt) :
			    called && (claims_lock(stmt) || looks(called, depth + 1)))
				return true;
		}
	return false;
}

/* ---- Which loops ---------------------------------------------------------------------------------- */

static bool leaves(edge e, const blocks &in)
{
	return !const_cast<blocks &>(in).contains(e->dest);
}

/* What is told can be told wherever control goes, but for exceptions. */
static bool has_ways(basic_block begin, const blocks &in)
{
	edge e;
	edge_iterator ei;
	FOR_EACH_EDGE(e, ei, begin->preds)
		if (e->flags & (EDGE_ABNORMAL | EDGE_EH))
			return false;
	for (basic_block bb : in)
		FOR_EACH_EDGE(e, ei, bb->succs)
			if (e->flags & EDGE_ABNORMAL)
				return false;
	return true;
}

/* Branches out of it which what was found decides. */
static void find_ends(tree result, const blocks &in, blocks *found)
{
	flow all(flow::EQUALITY);
	flow_walk walk(all, current_function_decl);
	auto_vec<basic_block> branches;
	edge e;
	edge_iterator ei;
	walk.hold(result);
	walk.run();
	retries_branches(walk, &branches);
	for (basic_block bb : branches)
		if (const_cast<blocks &>(in).contains(bb))
			FOR_EACH_EDGE(e, ei, bb->succs)
				if (leaves(e, in))
					found->add(bb);
}

static bool takes(const blocks &in)
{
	for (basic_block bb : in)
		for (gimple_stmt_iterator i = gsi_start_bb(bb); !gsi_end_p(i); gsi_next(&i))
			if (claims_lock(gsi_stmt(i)))
				return true;
	return false;
}

/* Who looks until a lock is free, and then tries to take it, has a loop that ends where he has taken it. Who computes something
 * from what was there, and tries to store it, looks there so. */
static bool is_spin(gimple *look, basic_block begin, const blocks &in, const blocks &found)
{
	if (!begin || !(found.elements() || takes(in)) || !has_ways(begin, in))
		return false;
	bool sets = is_gimple_call(look) && claims_sets(gimple_call_fndecl(look));
	for (basic_block bb : in)
		for (gimple_stmt_iterator i = gsi_start_bb(bb); !gsi_end_p(i); gsi_next(&i))
			if ((!sets || gsi_stmt(i) != look) && !claims_lock(gsi_stmt(i)) && !only_looks(gsi_stmt(i), 0))
				return false;
	return true;
}

static tree member(const spin *s, int which)
{
	return build4(ARRAY_REF, long_integer_type_node, s->state, size_int(which), NULL_TREE, NULL_TREE);
}

static gimple *forgets(const spin *s, int which)
{
	return gimple_build_assign(member(s, which), build_zero_cst(long_integer_type_node));
}

static spin *known_at(basic_block begin)
{
	for (spin *s : spins)
		if (s->begin == begin)
			return s;
	return nullptr;
}

static spin *new_spin(basic_block begin, tree site)
{
	spin *s = new spin();
	s->begin = begin;
	s->in = new blocks;
	s->found = new blocks;
	s->site = site;
	s->is_number = true;
	s->rests = false;
	s->how = DPROF_SPIN_LOOKS;
	s->state = create_tmp_var(build_array_type_nelts(long_integer_type_node, MEMBERS));
	TREE_ADDRESSABLE(s->state) = 1;
	spins.safe_push(s);
	return s;
}

bool spins_is(gimple *stmt, tree result)
{
	blocks in, found;
	basic_block begin = retries_loop(cfun, stmt, &in);
	find_ends(result, in, &found);
	return counters_location(stmt) != UNKNOWN_LOCATION && is_spin(stmt, begin, in, found);
}

/* A member is a register, or a constant, behind the statement at which i is, which goes on to there. */
static gimple *keep(gimple_stmt_iterator *i, const spin *s, int which, tree value)
{
	tree same = create_tmp_reg(long_integer_type_node);
	gimple *kept = gimple_build_assign(member(s, which), same);
	gsi_insert_after(i, gimple_build_assign(same, NOP_EXPR, unshare_expr(value)), GSI_NEW_STMT);
	gsi_insert_after(i, kept, GSI_NEW_STMT);
	return kept;
}

void spins_note(gimple_stmt_iterator *i, tree object, tree result, enum dprof_spin_how how)
{
	gimple *stmt = gsi_stmt(*i);
	blocks in, found;
	basic_block begin = retries_loop(cfun, stmt, &in);
	find_ends(result, in, &found);
	spin *s = known_at(begin);
	if (!s)
		s = new_spin(begin, site_build(DPROF_KIND_WAIT, counters_location(stmt), DPROF_SPIN, current_function_decl));
	s->rests = s->rests || retries_rest(stmt);
	s->how = how > s->how ? how : s->how;
	for (basic_block bb : in)
		s->in->add(bb);
	for (basic_block bb : found)
		s->found->add(bb);
	s->objects.safe_push(object);
	s->tells.safe_push(keep(i, s, OBJECT, object));
	s->is_number = s->is_number && is_gimple_reg(result) && is_number(TREE_TYPE(result));
	if (s->is_number)
		keep(i, s, NUMBER, result);
}

void spins_note_call(gimple_stmt_iterator *i)
{
	gimple *stmt = gsi_stmt(*i);
	tree fn = gimple_call_fndecl(stmt), result = gimple_call_lhs(stmt);
	bool known = fn && (counters_loads(fn) || claims_sets(fn));
	bool may = fn && result && !known && !stmt_ends_bb_p(stmt) && has_body(fn) && looks(fn, 0);
	if (may && retries_only(cfun, stmt, NULL_TREE, true) && spins_is(stmt, result))
		spins_note(i, null_pointer_node, result, DPROF_SPIN_LOOKS);
}

/* ---- What is told --------------------------------------------------------------------------------- */

static gimple *spins_on(const spin *s)
{
	tree fn = runtime_at_once("dprof_spins", ". x w ", ptr_type_node, ptr_type_node);
	return runtime_call(s->tells[0], fn, build_fold_addr_expr(unshare_expr(s->site)), build_fold_addr_expr(s->state));
}

static gimple *is_over(const spin *s)
{
	tree fn = runtime_at_once("dprof_spun", ". x w . ", ptr_type_node, ptr_type_node, integer_type_node);
	return runtime_call(s->tells[0], fn, build_fold_addr_expr(unshare_expr(s->site)), build_fold_addr_expr(s->state),
			    build_int_cst(integer_type_node, s->how == DPROF_SPIN_LOOKS && s->is_number ? DPROF_SPIN_NUMBER : s->how));
}

/* Of several places it is not known at which one it was. */
static void forget_objects(spin *s)
{
	bool several = false;
	for (tree object : s->objects)
		several = several || !operand_equal_p(object, s->objects[0], 0);
	for (gimple *tell : s->tells)
		if (several)
			gimple_assign_set_rhs1(tell, build_zero_cst(long_integer_type_node));
}

static void wrap(spin *s)
{
	edge e;
	edge_iterator ei;
	forget_objects(s);
	FOR_EACH_EDGE(e, ei, s->begin->preds)
		if (!s->in->contains(e->src)) {
			for (int which : { STAMP, OBJECT, NUMBER })
				gsi_insert_on_edge(e, forgets(s, which));
		} else {
			gsi_insert_on_edge(e, spins_on(s));
		}
	for (basic_block bb : *s->in)
		FOR_EACH_EDGE(e, ei, bb->succs) {
			if (!leaves(e, *s->in) && e->dest != s->begin && s->rests && s->found->contains(bb))
				gsi_insert_on_edge(e, spins_on(s)); /* before it rests */
			if (!leaves(e, *s->in) || e->flags & EDGE_EH)
				continue;
			if (!s->found->contains(bb))
				gsi_insert_on_edge(e, forgets(s, OBJECT));
			gsi_insert_on_edge(e, is_over(s));
		}
}

bool spins_wrap()
{
	bool any = spins.length() > 0;
	for (spin *s : spins) {
		wrap(s);
		delete s->in;
		delete s->found;
		delete s;
	}
	spins.truncate(0);
	return any;
}

void spins_changes(gimple_stmt_iterator *i, tree object, bool refers)
{
	gimple *stmt = gsi_stmt(*i);
	if (counters_location(stmt) == UNKNOWN_LOCATION)
		return;
	object = refers ? counters_member_before(*i, object) : unshare_expr(object);
	gsi_insert_before(i, runtime_call(stmt, runtime_at_once("dprof_changes", ". x ", ptr_type_node), object), GSI_SAME_STMT);
}

/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * claims.cc - flags and bits by which threads claim pieces of work:
 *
 *   if (!atomic_exchange(&own[i], 1)) work(i);   ->   r = atomic_exchange(&own[i], 1); dprof_claimed(SITE, &own[i]);
 *                                                     if (!r) work(i); dprof_claim_over(SITE);
 *
 * So it is if the result, or what is made of it, is compared with anything, here or elsewhere (flow.cc). Where it only decides
 * branches of the same function, which join again, and no variable of the function is given another value in between that counts
 * behind that, the claim is over there. Else what it decides may be anything that its thread does.
 *
 * A loop that does nothing but try again for the same object is a spin lock, waits for something, or computes it from what it was
 * (retries.cc).
 *
 * Law: nothing that the program does changes. A claim is over in no place at which what it decides may go on. */
#include "plugin/parts.h"
#include "gimple-walk.h"
#include "gimplify.h"
#include "plugin/retries.h"
#include "runtime/counters.h"

#define EACH_SIZE(X, function) X(function, 1) X(function, 2) X(function, 4) X(function, 8) X(function, 16)
#define CASE(function, size) case BUILT_IN_##function##_##size:

static bool is_builtin(tree fn)
{
	if (!fndecl_built_in_p(fn, BUILT_IN_NORMAL))
		return false;
	switch (DECL_FUNCTION_CODE(fn)) {
	case BUILT_IN_ATOMIC_TEST_AND_SET:
	EACH_SIZE(CASE, ATOMIC_EXCHANGE)
	EACH_SIZE(CASE, ATOMIC_COMPARE_EXCHANGE)
	EACH_SIZE(CASE, ATOMIC_FETCH_OR)
	EACH_SIZE(CASE, ATOMIC_FETCH_AND)
	EACH_SIZE(CASE, ATOMIC_FETCH_XOR)
	EACH_SIZE(CASE, SYNC_LOCK_TEST_AND_SET)
	EACH_SIZE(CASE, SYNC_BOOL_COMPARE_AND_SWAP)
	EACH_SIZE(CASE, SYNC_VAL_COMPARE_AND_SWAP)
	EACH_SIZE(CASE, SYNC_FETCH_AND_OR)
	EACH_SIZE(CASE, SYNC_FETCH_AND_AND)
	EACH_SIZE(CASE, SYNC_FETCH_AND_XOR)
		return true;
	default: return false;
	}
}

bool claims_sets(tree fn)
{
	return fn && (is_builtin(fn) || library_claims(fn) || library_exchanges(fn));
}

/* ---- Where it is over ---------------------------------------------------------------------------- */

#define MOST_BLOCKS 1000 /* of a function, to be looked at */

/* What is reached from there before a block, by no exception unless `thrown`. Whether that block is reached, and not the end. */
static bool reach(basic_block from, basic_block join, bool thrown, blocks *between)
{
	auto_vec<basic_block> next;
	bool joins = false, ends = false;
	next.safe_push(from);
	while (next.length()) {
		edge e;
		edge_iterator ei;
		FOR_EACH_EDGE(e, ei, next.pop()->succs) {
			if (!thrown && e->flags & EDGE_EH)
				continue;
			joins |= e->dest == join;
			ends |= e->dest == EXIT_BLOCK_PTR_FOR_FN(cfun);
			if (e->dest != join && e->dest != EXIT_BLOCK_PTR_FOR_FN(cfun) && !between->add(e->dest))
				next.safe_push(e->dest);
		}
	}
	return joins && !ends;
}

/* Where all ways from the branches join first, but those of exceptions, and what lies between; or NULL. */
static basic_block joined(const auto_vec<basic_block> &branches, basic_block call, blocks *between)
{
	basic_block bb, join = nullptr;
	size_t fewest = SIZE_MAX;
	if (branches.is_empty() || n_basic_blocks_for_fn(cfun) > MOST_BLOCKS)
		return nullptr;
	FOR_EACH_BB_FN(bb, cfun) {
		blocks in;
		bool joins = bb != call;
		for (basic_block branch : branches)
			joins = joins && bb != branch && reach(branch, bb, false, &in);
		if (!joins || in.contains(call) || in.elements() >= fewest)
			continue;
		fewest = in.elements();
		join = bb;
	}
	for (basic_block branch : branches)
		if (join)
			reach(branch, join, false, between);
	return join;
}

static bool is_own(tree x)
{
	return TREE_CODE(x) == PARM_DECL || TREE_CODE(x) == RESULT_DECL || (VAR_P(x) && (!is_global_var(x) || DECL_THREAD_LOCAL_P(x)));
}

/* Variables of the function that may be given other values there, or may be where nothing tells which. */
static bool find_given(const blocks &between, hash_set<tree> *given)
{
	for (basic_block bb : between)
		for (gimple_stmt_iterator i = gsi_start_bb(bb); !gsi_end_p(i); gsi_next(&i)) {
			gimple *stmt = gsi_stmt(i);
			tree to = gimple_clobber_p(stmt) ? NULL_TREE : gimple_get_lhs(stmt);
			to = to ? get_base_address(to) : NULL_TREE;
			if (to && is_own(to))
				given->add(to);
			if (to && TREE_CODE(to) == MEM_REF && TREE_CODE(TREE_OPERAND(to, 0)) == PARM_DECL)
				return false; /* the caller's, perhaps */
			for (unsigned k = 0; is_gimple_call(stmt) && k < gimple_call_num_args(stmt); k++) {
				tree x = gimple_call_arg(stmt, k);
				tree at = TREE_CODE(x) == ADDR_EXPR ? get_base_address(TREE_OPERAND(x, 0)) : NULL_TREE;
				if (at && is_own(at))
					given->add(at);
			}
		}
	return true;
}

static tree named(tree *tp, int *, void *data)
{
	hash_set<tree> *given = static_cast<hash_set<tree> *>(static_cast<walk_stmt_info *>(data)->info);
	return DECL_P(*tp) && given->contains(*tp) ? *tp : NULL_TREE;
}

/* That everything begins or ends to be a variable is no use of it. */
static bool counts_outside(blocks &between, hash_set<tree> *given)
{
	walk_stmt_info info = {};
	basic_block bb;
	info.info = given;
	FOR_EACH_BB_FN(bb, cfun)
		for (gimple_stmt_iterator i = gsi_start_bb(bb); !between.contains(bb) && !gsi_end_p(i); gsi_next(&i))
			if (!gimple_clobber_p(gsi_stmt(i)) && walk_gimple_op(gsi_stmt(i), named, &info))
				return true;
	return false;
}

/* Where all that it decides is over, and what lies before; or NULL. */
static basic_block find_end(gimple *stmt, tree result, blocks *before)
{
	flow all(flow::EQUALITY);
	flow_walk walk(all, current_function_decl);
	walk.hold(result);
	walk.run();
	auto_vec<basic_block> branches;
	if (!walk.stays())
		return nullptr;
	retries_branches(walk, &branches);
	blocks between, thrown;
	hash_set<tree> given;
	basic_block join = joined(branches, gimple_bb(stmt), &between);
	for (basic_block branch : branches)
		before->add(branch);
	for (basic_block branch : branches)
		if (join)
			reach(branch, join, true, &thrown);
	for (basic_block bb : between)
		before->add(bb);
	return join && find_given(thrown, &given) && !counts_outside(between, &given) ? join : nullptr;
}

/* Only on the ways from the claim: a loop that claims but little comes there far more often (if (free[i] && claim(i))). */
static void say_over(basic_block end, blocks &before, gimple *stmt, tree site)
{
	auto_vec<edge> ways;
	edge way;
	edge_iterator ei;
	FOR_EACH_EDGE(way, ei, end->preds)
		if (before.contains(way->src) && !(way->flags & (EDGE_ABNORMAL | EDGE_EH)))
			ways.safe_push(way);
	for (edge e : ways)
		gsi_insert_on_edge_immediate(e, runtime_call(stmt, runtime_function("dprof_claim_over", ptr_type_node),
							     build_fold_addr_expr(unshare_expr(site))));
}

/* ---- All of it ----------------------------------------------------------------------------------- */

/* What it stores, if it found what it looked for. */
static tree stored(gimple *stmt, const char *name)
{
	unsigned k = strstr(name, "compare") ? 2 : 1;
	return gimple_call_num_args(stmt) > k ? gimple_call_arg(stmt, k) : NULL_TREE;
}

/* It says that something is taken now: what it stores is always the same, and not made of what was there. */
bool claims_lock(gimple *stmt)
{
	tree fn = is_gimple_call(stmt) ? gimple_call_fndecl(stmt) : NULL_TREE;
	if (!claims_sets(fn) || !DECL_NAME(fn))
		return false;
	const char *name = IDENTIFIER_POINTER(DECL_NAME(fn));
	if (strstr(name, "test_and_set"))
		return true;
	if (strstr(name, "xor") || strstr(name, "^=") || strstr(name, "++") || strstr(name, "--"))
		return false;
	tree value = stored(stmt, name);
	return value && retries_same(stmt, value);
}

void claims_note(gimple_stmt_iterator *i, bool refers)
{
	gimple *stmt = gsi_stmt(*i);
	location_t where = counters_location(stmt);
	tree result = gimple_call_lhs(stmt), object = gimple_call_arg(stmt, 0);
	if (flags_same(stmt))
		return flags_note(i, refers);
	bool known = where != UNKNOWN_LOCATION && !stmt_ends_bb_p(stmt) && result && is_gimple_reg(result);
	bool tries = known && retries_only(cfun, stmt, object, false);
	if (!tries)
		spins_changes(i, object, refers);
	else if (spins_is(stmt, result) && claims_lock(stmt))
		spins_note(i, refers ? counters_member(i, object) : object, result, DPROF_SPIN_TAKES);
	else if (spins_is(stmt, result))
		spins_note(i, null_pointer_node, result, DPROF_SPIN_COMPUTES);
	if (!known || tries || !flow(flow::EQUALITY).decides(result) || retries_by_callers(result, false))
		return;
	tree site = site_build(DPROF_KIND_WAIT, where, DPROF_CLAIM, current_function_decl);
	blocks before;
	basic_block end = find_end(stmt, result, &before);
	if (end)
		say_over(end, before, stmt, site);
	if (refers)
		object = counters_member(i, object);
	tree fn = runtime_function("dprof_claimed", ptr_type_node, ptr_type_node);
	gsi_insert_after(i, runtime_call(stmt, fn, build_fold_addr_expr(site), unshare_expr(object)), GSI_NEW_STMT);
}

bool claims_wrap(gimple_stmt_iterator *i)
{
	tree fn = gimple_call_fndecl(gsi_stmt(*i));
	bool known = fn && is_builtin(fn);
	if (known)
		claims_note(i, false);
	return known;
}

/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * balance.cc - ends regions on ways out of a function that their ends do not lie on.
 *
 * A region whose begin and end stand in different blocks has no `finally`:
 *
 *   begin; if (x) return; if (y) { end; }     the return leaves the region open
 *
 * Law: on every way to a return on which the region has certainly begun and certainly not ended, and
 * none of its events is still to come, it is ended, before what was open when it began. Where that depends on how
 * earlier conditions went (`if (x) begin; ... if (x) end;`), nothing is added. Exceptions that leave the function are not
 * seen. */
#include "plugin/parts.h"
#include "cfganal.h"

namespace {

struct event_at {
	enum dprof_op op;
	tree site;
};

hash_map<gimple *, event_at> *events; /* of this function */

struct enter_at {
	tree site;
	gimple *stmt;
};

/* A region has not begun here on some way, is open on some way. */
enum { CLOSED = 1, OPEN = 2 };

class balance {
public:
	balance(function *fun, tree site) : fun(fun), site(site) {}
	bool run();

private:
	function *fun;
	tree site;
	auto_vec<unsigned char> in, out; /* of each block: CLOSED, OPEN or both */
	auto_vec<bool> coming;           /* an event of the site may come in or behind this block */

	auto_vec<enter_at> enters;       /* of all sites */

	enum dprof_op last_event(basic_block bb);
	void states();
	void what_comes();
	void find_enters();
	bool encloses(tree other);
	bool ends_around(gimple *stmt);
	bool end_inside(basic_block bb);
	bool end_on(edge e);
};

/* The last event of the site in this block; POINT if there is none. */
enum dprof_op balance::last_event(basic_block bb)
{
	enum dprof_op op = DPROF_POINT;
	for (gimple_stmt_iterator i = gsi_start_bb(bb); !gsi_end_p(i); gsi_next(&i)) {
		event_at *e = events->get(gsi_stmt(i));
		if (e && e->site == site)
			op = e->op;
	}
	return op;
}

void balance::states()
{
	bool again = true;
	basic_block bb;
	edge e;
	edge_iterator ei;
	auto_vec<enum dprof_op> last;
	last.safe_grow_cleared(last_basic_block_for_fn(fun));
	FOR_EACH_BB_FN(bb, fun)
		last[bb->index] = last_event(bb);
	in.truncate(0);
	out.truncate(0);
	in.safe_grow_cleared(last_basic_block_for_fn(fun));
	out.safe_grow_cleared(last_basic_block_for_fn(fun));
	out[ENTRY_BLOCK] = CLOSED;
	while (again) {
		again = false;
		FOR_EACH_BB_FN(bb, fun) {
			unsigned char before = out[bb->index];
			FOR_EACH_EDGE(e, ei, bb->preds)
				in[bb->index] |= out[e->src->index];
			enum dprof_op op = last[bb->index];
			if (op == DPROF_POINT)
				out[bb->index] = in[bb->index];
			else if (in[bb->index])
				out[bb->index] = op == DPROF_ENTER ? OPEN : CLOSED;
			again = again || before != out[bb->index];
		}
	}
}

void balance::what_comes()
{
	bool again = true;
	basic_block bb;
	edge e;
	edge_iterator ei;
	coming.safe_grow_cleared(last_basic_block_for_fn(fun));
	FOR_EACH_BB_FN(bb, fun)
		coming[bb->index] = last_event(bb) != DPROF_POINT;
	while (again) {
		again = false;
		FOR_EACH_BB_REVERSE_FN(bb, fun)
			FOR_EACH_EDGE(e, ei, bb->succs)
				if (coming[e->dest->index] && !coming[bb->index])
					again = coming[bb->index] = true;
	}
}

void balance::find_enters()
{
	basic_block bb;
	enum dprof_op op;
	FOR_EACH_BB_FN(bb, fun)
		for (gimple_stmt_iterator i = gsi_start_bb(bb); !gsi_end_p(i); gsi_next(&i))
			if (tree found = event_site(gsi_stmt(i), &op))
				if (op == DPROF_ENTER)
					enters.safe_push({ found, gsi_stmt(i) });
}

/* Whether one statement always comes before the other. */
bool comes_before(gimple *stmt, gimple *other)
{
	if (gimple_bb(stmt) != gimple_bb(other))
		return dominated_by_p(CDI_DOMINATORS, gimple_bb(other), gimple_bb(stmt));
	for (gimple_stmt_iterator i = gsi_for_stmt(stmt); !gsi_end_p(i); gsi_next(&i))
		if (gsi_stmt(i) == other)
			return true;
	return false;
}

/* It begins in one place, and before the region wherever that does. */
bool balance::encloses(tree other)
{
	gimple *begin = nullptr;
	for (const enter_at &e : enters)
		if (e.site == other && begin)
			return false;
		else if (e.site == other)
			begin = e.stmt;
	for (const enter_at &e : enters)
		if (e.site == site && (!begin || !comes_before(begin, e.stmt)))
			return false;
	return begin;
}

/* Is it the end of something around the region? Of a function of Fortran that is one it is still a note. */
bool balance::ends_around(gimple *stmt)
{
	enum dprof_op op;
	struct event e;
	gasm *a = dyn_cast<gasm *>(stmt);
	if (a && event_read(gimple_asm_string(a), &e))
		return e.op == DPROF_EXIT;
	tree other = event_site(stmt, &op);
	return other && op == DPROF_EXIT && other != site && encloses(other);
}

/* Where the region is left open, it ends in front of what ends around it. */
bool balance::end_inside(basic_block bb)
{
	edge e;
	edge_iterator ei;
	if (out[bb->index] != OPEN)
		return false;
	FOR_EACH_EDGE(e, ei, bb->succs)
		if (coming[e->dest->index])
			return false;
	gimple_stmt_iterator found = gsi_none();
	for (gimple_stmt_iterator i = gsi_start_bb(bb); !gsi_end_p(i); gsi_next(&i)) {
		event_at *own = events->get(gsi_stmt(i));
		if (own && own->site == site)
			found = gsi_none();
		else if (gsi_end_p(found) && ends_around(gsi_stmt(i)))
			found = i;
	}
	if (gsi_end_p(found))
		return false;
	gimple *event = pass_event(DPROF_EXIT, DPROF_KIND_REGION, site, DECL_SOURCE_LOCATION(current_function_decl));
	gsi_insert_before(&found, event, GSI_SAME_STMT);
	balance_add(event, DPROF_EXIT, site);
	states();
	return true;
}

/* Is this where a way that leaves the region open joins others, or the function's end? */
bool balance::end_on(edge e)
{
	if (out[e->src->index] != OPEN || (e->flags & EDGE_ABNORMAL))
		return false;
	return e->dest == EXIT_BLOCK_PTR_FOR_FN(fun) ||
	       (!coming[e->dest->index] && in[e->dest->index] != OPEN);
}

bool balance::run()
{
	bool added = false;
	basic_block bb;
	edge e;
	edge_iterator ei;
	states();
	what_comes();
	find_enters();
	calculate_dominance_info(CDI_DOMINATORS);
	auto_vec<int> order; /* each block before those behind it */
	order.safe_grow_cleared(n_basic_blocks_for_fn(fun));
	order.truncate(pre_and_rev_post_order_compute_fn(fun, nullptr, order.address(), false));
	for (unsigned n = 0; n < order.length(); n++)
		added |= end_inside(BASIC_BLOCK_FOR_FN(fun, order[n]));
	free_dominance_info(CDI_DOMINATORS);
	FOR_EACH_BB_FN(bb, fun)
		FOR_EACH_EDGE(e, ei, bb->succs)
			if (end_on(e)) {
				gsi_insert_on_edge(e, pass_event(DPROF_EXIT, DPROF_KIND_REGION, site,
								 DECL_SOURCE_LOCATION(current_function_decl)));
				added = true;
			}
	return added;
}

} // namespace

void balance_add(gimple *stmt, enum dprof_op op, tree site)
{
	if (!events)
		events = new hash_map<gimple *, event_at>;
	events->put(stmt, { op, site });
}

bool balance_all(function *fun)
{
	bool added = false;
	auto_vec<tree> sites; /* in an order that does not depend on addresses */
	hash_set<tree> seen;
	basic_block bb;
	if (!events || events->is_empty())
		return false;
	FOR_EACH_BB_FN(bb, fun)
		for (gimple_stmt_iterator i = gsi_start_bb(bb); !gsi_end_p(i); gsi_next(&i))
			if (event_at *e = events->get(gsi_stmt(i)))
				if (!seen.add(e->site))
					sites.safe_push(e->site);
	while (!sites.is_empty()) /* the inner ones first */
		added |= balance(fun, sites.pop()).run();
	events->empty();
	return added;
}

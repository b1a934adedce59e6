/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * loops.cc - regions without pragmas: each outermost loop is a region FUNCTION:LINE.
 *
 * Law: a region of a loop begins on every way into it and ends on every way out. In C and C++ a loop becomes a
 * region as if it were marked, before lower.cc; one into which a jump leads, or that jumps.cc would refuse,
 * is left alone. Fortran's front end shows plugins no loops: there they are found in the graph, which does not have what
 * stands in a loop and leads out of it:
 *
 *   do; call dprof_enter("a"); if (x) then; call dprof_exit("a"); exit; end if; ...
 *
 * So whatever certainly began in the loop and is open where it is left ends first. */
#include "plugin/parts.h"
#include "cfgloop.h"

/* To be freed. */
static char *loop_name(tree fn, location_t where)
{
	char *function = auto_name(fn);
	char *outlined = strstr(function, "._omp_");
	if (outlined)
		*outlined = '\0';
	char *name = xasprintf("%.*s:%d", DPROF_NAME_MAX - 12, function, expand_location(where).line);
	free(function);
	return name;
}

/* ---- C and C++ ----------------------------------------------------------------------------------- */

namespace {

struct loop_contents {
	unsigned statements;
	bool jumps; /* perhaps into it, or out of it in a way that ends no region */
};

tree loop_count_step(tree *tp, int *walk_subtrees, void *data)
{
	loop_contents *c = (loop_contents *)data;
	switch (TREE_CODE(*tp)) {
	case CALL_EXPR:
	case MODIFY_EXPR:
	case INIT_EXPR:
	case PREINCREMENT_EXPR:
	case PREDECREMENT_EXPR:
	case POSTINCREMENT_EXPR:
	case POSTDECREMENT_EXPR:
	case RETURN_EXPR:
		c->statements++;
		break;
	case GOTO_EXPR:
		c->jumps = c->jumps || TREE_CODE(GOTO_DESTINATION(*tp)) != LABEL_DECL ||
			   DECL_CONTEXT(GOTO_DESTINATION(*tp)) != current_function_decl;
		break;
	case ASM_EXPR:
		c->jumps = c->jumps || ASM_LABELS(*tp);
		break;
	case LABEL_EXPR:
	case CASE_LABEL_EXPR:
		c->jumps = true;
		break;
	default:
		if (TYPE_P(*tp))
			*walk_subtrees = 0;
	}
	return NULL_TREE;
}

void wrap_loop(tree *loop, tree fn)
{
	struct loop_contents c = {};
	walk_tree_without_duplicates(loop, loop_count_step, &c);
	location_t where = EXPR_LOCATION(*loop);
	if (c.jumps || c.statements < options.min || where == UNKNOWN_LOCATION ||
	    stretches_off(where))
		return;
	char *name = loop_name(fn, where);
	struct marker m = { DIRECTIVE_OPEN, DPROF_KIND_REGION, where, name, NULL_TREE, AUTOMATIC, nullptr };
	tree list = alloc_stmt_list();
	append_to_statement_list_force(marker_build(m), &list);
	append_to_statement_list_force(*loop, &list);
	m.what = DIRECTIVE_CLOSE;
	append_to_statement_list_force(marker_build(m), &list);
	*loop = list;
	free(name);
}

/* Not into what is to be vectorised, or may run on another device. */
tree loop_step(tree *tp, int *walk_subtrees, void *fn)
{
	switch (TREE_CODE(*tp)) {
	case FOR_STMT:
	case WHILE_STMT:
	case DO_STMT:
		wrap_loop(tp, (tree)fn);
		*walk_subtrees = 0;
		break;
	case OMP_SIMD:
	case OMP_LOOP:
	case OMP_TARGET:
	case OMP_TEAMS:
	case OMP_DISTRIBUTE:
	case OACC_PARALLEL:
	case OACC_KERNELS:
	case OACC_SERIAL:
		*walk_subtrees = 0;
		break;
	default:
		if (TYPE_P(*tp))
			*walk_subtrees = 0;
	}
	return NULL_TREE;
}

} // namespace

void loops_of_source(tree fn)
{
	if ((options.automatic & AUTO_LOOPS) && auto_takes(fn))
		walk_tree_without_duplicates(&DECL_SAVED_TREE(fn), loop_step, fn);
}

/* ---- Fortran ------------------------------------------------------------------------------------- */

namespace {

/* What has begun in a loop and is open behind it, up to where it ends. */
class still_open {
public:
	still_open(function *fun, class loop *l, basic_block *blocks);
	bool inside(basic_block bb) { return flow_bb_inside_loop_p(l, bb) || passed.contains(bb); }
	bool ends_in(basic_block bb) { return ended.contains(bb); } /* and the loop is left nowhere else on this way */
	auto_vec<basic_block> passing;   /* in which something stays open */
	auto_vec<gimple *> last;         /* behind which nothing is open any more */

private:
	class loop *l;
	auto_vec<tree> sites;                 /* that begin in the loop; a bit of each, as far as there are bits */
	auto_vec<unsigned HOST_WIDE_INT> out; /* certainly open at the end of each block */
	hash_set<basic_block> passed, ended;

	unsigned HOST_WIDE_INT step(gimple *stmt, unsigned HOST_WIDE_INT open);
	unsigned HOST_WIDE_INT into(basic_block bb);
	void begin_in(basic_block bb);
	void solve(function *fun);
	bool take(basic_block bb);
};

still_open::still_open(function *fun, class loop *l, basic_block *blocks) : l(l)
{
	basic_block bb;
	for (unsigned n = 0; n < l->num_nodes; n++)
		begin_in(blocks[n]);
	if (sites.is_empty())
		return;
	solve(fun);
	for (bool again = true; again;) {
		again = false;
		FOR_EACH_BB_FN(bb, fun)
			again |= take(bb);
	}
}

void still_open::begin_in(basic_block bb)
{
	enum dprof_op op;
	for (gimple_stmt_iterator i = gsi_start_bb(bb); !gsi_end_p(i); gsi_next(&i)) {
		tree site = event_site(gsi_stmt(i), &op);
		if (site && op == DPROF_ENTER && !sites.contains(site) && sites.length() < HOST_BITS_PER_WIDE_INT)
			sites.safe_push(site);
	}
}

unsigned HOST_WIDE_INT still_open::step(gimple *stmt, unsigned HOST_WIDE_INT open)
{
	enum dprof_op op;
	tree site = event_site(stmt, &op);
	for (unsigned n = 0; site && n < sites.length(); n++)
		if (sites[n] == site && op != DPROF_POINT)
			open = (open & ~(HOST_WIDE_INT_1U << n)) | ((unsigned HOST_WIDE_INT)(op == DPROF_ENTER) << n);
	return open;
}

unsigned HOST_WIDE_INT still_open::into(basic_block bb)
{
	edge e;
	edge_iterator ei;
	unsigned HOST_WIDE_INT open = HOST_WIDE_INT_M1U;
	FOR_EACH_EDGE(e, ei, bb->preds)
		open &= out[e->src->index];
	return open;
}

void still_open::solve(function *fun)
{
	basic_block bb;
	bool again = true;
	out.safe_grow(last_basic_block_for_fn(fun));
	for (unsigned n = 0; n < out.length(); n++)
		out[n] = n == ENTRY_BLOCK ? 0 : HOST_WIDE_INT_M1U;
	while (again) {
		again = false;
		FOR_EACH_BB_FN(bb, fun) {
			unsigned HOST_WIDE_INT open = into(bb);
			for (gimple_stmt_iterator i = gsi_start_bb(bb); !gsi_end_p(i); gsi_next(&i))
				open = step(gsi_stmt(i), open);
			again |= open != out[bb->index];
			out[bb->index] = open;
		}
	}
}

/* A block to which only ways lead on which something is open. */
bool still_open::take(basic_block bb)
{
	edge e;
	edge_iterator ei;
	unsigned HOST_WIDE_INT open = into(bb);
	if (!open || !EDGE_COUNT(bb->preds) || inside(bb) || ended.contains(bb))
		return false;
	FOR_EACH_EDGE(e, ei, bb->preds)
		if (!inside(e->src) || (e->flags & EDGE_ABNORMAL))
			return false;
	for (gimple_stmt_iterator i = gsi_start_bb(bb); !gsi_end_p(i); gsi_next(&i))
		if (!(open = step(gsi_stmt(i), open))) {
			last.safe_push(gsi_stmt(i));
			ended.add(bb);
			return true;
		}
	passed.add(bb);
	passing.safe_push(bb);
	return true;
}

class graph_loop {
public:
	explicit graph_loop(class loop *l) : l(l), blocks(get_loop_body(l)) {}
	~graph_loop() { free(blocks); }
	bool wrap(function *fun);

private:
	class loop *l;
	basic_block *blocks;
	location_t where = UNKNOWN_LOCATION; /* its first line: that of the DO */
	unsigned statements = 0;
	tree site;

	void look();
	gimple *event(enum dprof_op op) { return pass_event(op, DPROF_KIND_REGION, site, where); }
	void leave(basic_block bb, still_open &rest);
};

void graph_loop::look()
{
	for (unsigned n = 0; n < l->num_nodes; n++)
		for (gimple_stmt_iterator i = gsi_start_bb(blocks[n]); !gsi_end_p(i); gsi_next(&i)) {
			location_t at = gimple_location(gsi_stmt(i));
			statements += !is_gimple_debug(gsi_stmt(i)) && gimple_code(gsi_stmt(i)) != GIMPLE_LABEL;
			if (LOCATION_LOCUS(at) > BUILTINS_LOCATION &&
			    (where == UNKNOWN_LOCATION || expand_location(at).line < expand_location(where).line))
				where = LOCATION_LOCUS(at);
		}
}

/* On all ways on from a block. */
void graph_loop::leave(basic_block bb, still_open &rest)
{
	edge e;
	edge_iterator ei;
	FOR_EACH_EDGE(e, ei, bb->succs)
		if (!rest.inside(e->dest) && !rest.ends_in(e->dest) && !(e->flags & EDGE_ABNORMAL))
			gsi_insert_on_edge(e, event(DPROF_EXIT));
}

bool graph_loop::wrap(function *fun)
{
	edge e;
	edge_iterator ei;
	look();
	if (statements < options.min || where == UNKNOWN_LOCATION)
		return false;
	char *name = loop_name(fun->decl, where);
	site = site_build(DPROF_KIND_REGION, where, name, fun->decl, AUTOMATIC);
	free(name);
	FOR_EACH_EDGE(e, ei, l->header->preds)
		if (!flow_bb_inside_loop_p(l, e->src))
			gsi_insert_on_edge(e, event(DPROF_ENTER));
	still_open rest(fun, l, blocks);
	for (unsigned n = 0; n < l->num_nodes; n++)
		leave(blocks[n], rest);
	for (basic_block bb : rest.passing)
		leave(bb, rest);
	for (gimple *stmt : rest.last) {
		gimple_stmt_iterator i = gsi_for_stmt(stmt);
		gsi_insert_after(&i, event(DPROF_EXIT), GSI_SAME_STMT);
	}
	return true;
}

} // namespace

bool loops_of_graph(function *fun)
{
	bool added = false;
	if (!(options.automatic & AUTO_LOOPS) || !auto_takes(fun->decl))
		return false;
	loop_optimizer_init(AVOID_CFG_MODIFICATIONS);
	for (class loop *l = current_loops->tree_root->inner; l; l = l->next)
		added |= graph_loop(l).wrap(fun);
	loop_optimizer_finalize();
	return added;
}

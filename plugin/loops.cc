/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * loops.cc - regions without pragmas: each outermost loop is a region FUNCTION:LINE.
 *
 * Law: a region of a loop begins on every way into it and ends on every way out. In C and C++ a loop becomes a
 * region as if it were marked, before lower.cc; one into which a jump leads, or that jumps.cc would refuse,
 * is left alone. Fortran's front end shows plugins no loops: there they are found in the graph. */
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

class graph_loop {
public:
	explicit graph_loop(class loop *l) : l(l), blocks(get_loop_body(l)) {}
	~graph_loop() { free(blocks); }
	bool wrap(tree fn);

private:
	class loop *l;
	basic_block *blocks;
	location_t where = UNKNOWN_LOCATION; /* its first line: that of the DO */
	unsigned statements = 0;

	void look();
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

bool graph_loop::wrap(tree fn)
{
	edge e;
	edge_iterator ei;
	look();
	if (statements < options.min || where == UNKNOWN_LOCATION)
		return false;
	char *name = loop_name(fn, where);
	tree site = site_build(DPROF_KIND_REGION, where, name, fn, AUTOMATIC);
	free(name);
	FOR_EACH_EDGE(e, ei, l->header->preds)
		if (!flow_bb_inside_loop_p(l, e->src))
			gsi_insert_on_edge(e, pass_event(DPROF_ENTER, DPROF_KIND_REGION, site, where));
	for (unsigned n = 0; n < l->num_nodes; n++)
		FOR_EACH_EDGE(e, ei, blocks[n]->succs)
			if (!flow_bb_inside_loop_p(l, e->dest) && !(e->flags & EDGE_ABNORMAL))
				gsi_insert_on_edge(e, pass_event(DPROF_EXIT, DPROF_KIND_REGION, site, where));
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
		added |= graph_loop(l).wrap(fun->decl);
	loop_optimizer_finalize();
	return added;
}

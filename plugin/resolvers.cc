/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * resolvers.cc - what runs before threads have their variables: the resolvers of ifuncs, and what they call.
 *
 *   static int has(int bit) { ... }                                                       reached
 *   static int (*resolve(void))(int) { return has(5) ? fast : plain; }                    so is it; fast and plain are not
 *   int f(int) __attribute__((ifunc("resolve")));
 *
 * The dynamic linker calls them while it relocates, and a static program before its first thread-local variable can be
 * found. The attribute stands behind the resolver, so all this is known when the unit is parsed.
 *
 * Law: no event is in a function of the unit that a resolver may call by what the unit says: by calls, and of functions
 * whose addresses calls are given. */
#include "plugin/parts.h"
#include "attribs.h"
#include "gimple-walk.h"

namespace {

class resolvers {
public:
	void find();
	auto_vec<unsigned> reached; /* DECL_UID */

private:
	auto_vec<tree> waiting; /* of which it is not known what they call */

	void reach(tree fn);
	void look_into(tree fn);
	void see_call(tree call);
	static tree see_address(tree *tp, int *walk_subtrees, void *self);
	static tree see(tree *tp, int *walk_subtrees, void *self);
	static tree see_statement(gimple_stmt_iterator *i, bool *, struct walk_stmt_info *info);
	static tree see_operand(tree *tp, int *walk_subtrees, void *info);
};

void resolvers::reach(tree fn)
{
	cgraph_node *node = cgraph_node::get(fn);
	fn = node ? node->ultimate_alias_target()->decl : fn;
	if (reached.contains(DECL_UID(fn)))
		return;
	reached.safe_push(DECL_UID(fn));
	waiting.safe_push(fn);
}

/* Whatever function is named here may be called. */
tree resolvers::see_address(tree *tp, int *walk_subtrees, void *self)
{
	if (TREE_CODE(*tp) == FUNCTION_DECL)
		((resolvers *)self)->reach(*tp);
	else if (TYPE_P(*tp))
		*walk_subtrees = 0;
	return NULL_TREE;
}

/* C++ has a second kind of call, which is laid out like the first one. */
void resolvers::see_call(tree call)
{
	for (int n = 1; n < TREE_OPERAND_LENGTH(call); n++)
		if (n != 2 && TREE_OPERAND(call, n))
			walk_tree_without_duplicates(&TREE_OPERAND(call, n), see_address, this);
}

/* Of a function that the front end has left. */
tree resolvers::see(tree *tp, int *walk_subtrees, void *self)
{
	tree t = *tp;
	if (TYPE_P(t)) {
		*walk_subtrees = 0;
	} else if (TREE_CODE(t) == DECL_EXPR) {
		tree var = DECL_EXPR_DECL(t);
		if (VAR_P(var) && DECL_INITIAL(var) && !TREE_STATIC(var))
			walk_tree_without_duplicates(&DECL_INITIAL(var), see, self);
	} else if (TREE_CODE_CLASS(TREE_CODE(t)) == tcc_vl_exp && TREE_OPERAND_LENGTH(t) > 2) {
		((resolvers *)self)->see_call(t);
	}
	return NULL_TREE;
}

/* Of the one that is GIMPLE already. */
tree resolvers::see_operand(tree *tp, int *walk_subtrees, void *info)
{
	return see_address(tp, walk_subtrees, ((struct walk_stmt_info *)info)->info);
}

tree resolvers::see_statement(gimple_stmt_iterator *i, bool *, struct walk_stmt_info *info)
{
	struct walk_stmt_info operands = {};
	operands.info = info->info;
	if (is_gimple_call(gsi_stmt(*i)))
		walk_gimple_op(gsi_stmt(*i), see_operand, &operands);
	return NULL_TREE;
}

void resolvers::look_into(tree fn)
{
	struct walk_stmt_info info = {};
	info.info = this;
	if (gimple_has_body_p(fn) && gimple_body(fn))
		walk_gimple_seq(gimple_body(fn), see_statement, nullptr, &info);
	else if (DECL_SAVED_TREE(fn))
		walk_tree_without_duplicates(&DECL_SAVED_TREE(fn), see, this);
}

void resolvers::find()
{
	cgraph_node *node;
	FOR_EACH_FUNCTION(node) {
		tree ifunc = lookup_attribute("ifunc", DECL_ATTRIBUTES(node->decl));
		tree name = ifunc ? get_identifier(TREE_STRING_POINTER(TREE_VALUE(TREE_VALUE(ifunc)))) : NULL_TREE;
		symtab_node *resolver = name ? symtab_node::get_for_asmname(name) : NULL;
		if (resolver && TREE_CODE(resolver->decl) == FUNCTION_DECL)
			reach(resolver->decl);
	}
	while (!waiting.is_empty())
		look_into(waiting.pop());
}

} // namespace

bool resolvers_reach(tree fn)
{
	static resolvers *all; /* found when the first function becomes GIMPLE; the others still are what was parsed */
	if (!all) {
		all = new resolvers;
		all->find();
	}
	return all->reached.contains(DECL_UID(fn));
}

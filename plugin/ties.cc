/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * ties.cc - keeps work that happens only in registers inside its region.
 *
 * `asm volatile` with a memory clobber holds back loops, calls and memory accesses, but a division
 * whose result is used later may sink past the EXIT, and one whose result is used in the region may
 * sink past the ENTER. So there is an empty asm before ENTER that takes the values of the outer local
 * scalars that the region uses, one before EXIT that takes those that it assigns, and one before a
 * `return` in it that takes the value:
 *
 *   asm volatile ("#dprof:tie" : : "rm" (a), "xm" (b));
 *
 * Law: a tie costs no instruction, only keeps values from being computed later than it. What the
 * optimiser proves to be invariant it may still compute earlier; then it really happens earlier. */
#include "plugin/parts.h"

#define TEXT "#dprof:tie"
#define MOST 12 /* operands of one asm; GCC allows 30 */

bool ties_is(const char *asm_text)
{
	return !strcmp(asm_text, TEXT);
}

/* The constraint for a value of this type, or NULL if it cannot be tied. "n" because a constant
 * shall not be loaded; never "X", which would take a value that is not computed. */
static const char *constraint(tree type)
{
	if (TYPE_VOLATILE(type) || TYPE_ATOMIC(type))
		return nullptr;
	if ((INTEGRAL_TYPE_P(type) || POINTER_TYPE_P(type)) && int_size_in_bytes(type) <= 8)
		return "rmn";
	if (type == float_type_node || type == double_type_node)
		return TARGET_SSE2 ? "xm" : "m";
	return nullptr;
}

static bool is_local_scalar(tree t)
{
	return (VAR_P(t) || TREE_CODE(t) == PARM_DECL) && !TREE_STATIC(t) && !DECL_EXTERNAL(t) &&
	       !TREE_ADDRESSABLE(t) && !TREE_THIS_VOLATILE(t) && !DECL_HAS_VALUE_EXPR_P(t) &&
	       !(VAR_P(t) && DECL_HARD_REGISTER(t)) && constraint(TYPE_MAIN_VARIANT(TREE_TYPE(t)));
}

static tree tie(const vec<tree> &variables, unsigned from, unsigned to, location_t where)
{
	tree inputs = NULL_TREE;
	for (unsigned i = to; i-- > from;) {
		const char *c = constraint(TYPE_MAIN_VARIANT(TREE_TYPE(variables[i])));
		tree string = build_string(strlen(c) + 1, c);
		inputs = tree_cons(build_tree_list(NULL_TREE, string), variables[i], inputs);
	}
	tree stmt = build5(ASM_EXPR, void_type_node, build_string(sizeof TEXT, TEXT), NULL_TREE, inputs,
			   NULL_TREE, NULL_TREE);
	ASM_VOLATILE_P(stmt) = 1;
	ASM_INLINE_P(stmt) = 1;
	TREE_SIDE_EFFECTS(stmt) = 1;
	SET_EXPR_LOCATION(stmt, where);
	return stmt;
}

/* A statement list, perhaps an empty one. */
tree ties_build(const vec<tree> &variables, location_t where)
{
	tree list = alloc_stmt_list();
	for (unsigned i = 0; i < variables.length(); i += MOST) {
		unsigned to = MIN(i + MOST, variables.length());
		append_to_statement_list(tie(variables, i, to, where), &list);
	}
	return list;
}

namespace {

struct collector {
	hash_set<tree> outer, used, assigned;
	struct ties *t;
};

void assigns(collector *c, tree t)
{
	if (c->outer.contains(t) && !c->assigned.add(t))
		c->t->assigned.safe_push(t);
}

void uses(collector *c, tree t)
{
	if (c->outer.contains(t) && !c->used.add(t))
		c->t->used.safe_push(t);
}

tree collect_step(tree *tp, int *walk_subtrees, void *data)
{
	collector *c = (collector *)data;
	tree t = *tp;
	switch (TREE_CODE(t)) {
	case MODIFY_EXPR:
	case INIT_EXPR:
		assigns(c, TREE_OPERAND(t, 0));
		/* The left side alone is no use of the old value. */
		if (c->outer.contains(TREE_OPERAND(t, 0))) {
			walk_tree(&TREE_OPERAND(t, 1), collect_step, data, nullptr);
			*walk_subtrees = 0;
		}
		break;
	case PREINCREMENT_EXPR:
	case PREDECREMENT_EXPR:
	case POSTINCREMENT_EXPR:
	case POSTDECREMENT_EXPR:
		assigns(c, TREE_OPERAND(t, 0));
		break;
	case DECL_EXPR:
		/* Declared between begin and end: it has no value before. */
		t = DECL_EXPR_DECL(t);
		if (!VAR_P(t))
			break;
		c->used.add(t);
		assigns(c, t);
		walk_tree(&DECL_INITIAL(t), collect_step, data, nullptr);
		*walk_subtrees = 0;
		break;
	case VAR_DECL:
	case PARM_DECL:
		uses(c, t);
		break;
	default:
		if (TYPE_P(t))
			*walk_subtrees = 0;
	}
	return NULL_TREE;
}

struct returns {
	tree fn;
	hash_set<tree> *done;
};

/* return E  ->  { T tmp = E; TIE(tmp); return tmp; } */
tree return_step(tree *tp, int *, void *data)
{
	returns *r = (returns *)data;
	tree ret = *tp;
	if (TREE_CODE(ret) != RETURN_EXPR || r->done->contains(ret))
		return NULL_TREE;
	tree set = TREE_OPERAND(ret, 0);
	if (!set || (TREE_CODE(set) != MODIFY_EXPR && TREE_CODE(set) != INIT_EXPR))
		return NULL_TREE;
	tree value = TREE_OPERAND(set, 1), type = TYPE_MAIN_VARIANT(TREE_TYPE(value));
	if (TREE_CODE(TREE_OPERAND(set, 0)) != RESULT_DECL || !constraint(type) || TREE_CONSTANT(value))
		return NULL_TREE;

	location_t where = EXPR_LOCATION(ret);
	tree tmp = create_tmp_var_raw(type, "returned");
	DECL_CONTEXT(tmp) = r->fn;
	tree list = alloc_stmt_list();
	append_to_statement_list(build2_loc(where, MODIFY_EXPR, type, tmp, value), &list);
	auto_vec<tree> variables;
	variables.safe_push(tmp);
	append_to_statement_list(ties_build(variables, where), &list);
	TREE_OPERAND(set, 1) = tmp;
	append_to_statement_list(ret, &list);
	*tp = build3_loc(where, BIND_EXPR, void_type_node, tmp, list, NULL_TREE);
	TREE_SIDE_EFFECTS(*tp) = 1;
	r->done->add(ret);
	return NULL_TREE;
}

} // namespace

/* Which of the outer variables the region uses and assigns. */
void ties_collect(tree *region, const vec<tree> &outer, struct ties *t)
{
	collector c;
	c.t = t;
	for (tree v : outer)
		if (is_local_scalar(v))
			c.outer.add(v);
	walk_tree(region, collect_step, &c, nullptr);
}

void ties_of_returns(tree fn, tree *region, hash_set<tree> *done)
{
	returns r = { fn, done };
	walk_tree_without_duplicates(region, return_step, &r);
}

/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * instance.cc - `instance(VALUE)`: which of many a region is.
 *
 *   ENTER;   ->   ENTER; dprof_instance((uint64_t)VALUE);
 *
 * The runtime's function adds an ARG record to the event before it. Law: VALUE is read after ENTER, once,
 * and nothing is recorded between the two. */
#include "plugin/parts.h"

#define NOTE "#dprof:instance"

static tree as_uint64(const struct marker &m)
{
	tree value = m.instance, type = TREE_TYPE(value);
	if (TREE_CODE(value) == CONST_DECL)
		value = DECL_INITIAL(value);
	if (TREE_CODE(type) == REFERENCE_TYPE) {
		type = TREE_TYPE(type);
		value = build1(INDIRECT_REF, type, value);
	}
	if (INTEGRAL_TYPE_P(type) || POINTER_TYPE_P(type))
		return fold_convert(uint64_type_node, value);
	error_at(m.where, "the instance of dprof region %qs is not an integer", m.name);
	return build_int_cst(uint64_type_node, 0);
}

tree instance_note(const struct marker &m)
{
	tree constraint = build_tree_list(NULL_TREE, build_string(2, "r"));
	tree stmt = build5(ASM_EXPR, void_type_node, build_string(sizeof NOTE, NOTE), NULL_TREE,
			   build_tree_list(constraint, as_uint64(m)), NULL_TREE, NULL_TREE);
	ASM_VOLATILE_P(stmt) = 1;
	TREE_SIDE_EFFECTS(stmt) = 1;
	SET_EXPR_LOCATION(stmt, m.where);
	return stmt;
}

bool instance_is(const char *asm_text)
{
	return !strcmp(asm_text, NOTE);
}

static tree function()
{
	tree type = build_function_type_list(void_type_node, uint64_type_node, NULL_TREE);
	tree fn = build_fn_decl("dprof_instance", type);
	SET_DECL_ASSEMBLER_NAME(fn, get_identifier("dprof_instance"));
	TREE_NOTHROW(fn) = 1;
	return fn;
}

void instance_expand(gimple_stmt_iterator *i)
{
	gasm *note = as_a<gasm *>(gsi_stmt(*i));
	tree value = TREE_VALUE(gimple_asm_input_op(note, 0));
	gimple *call = gimple_build_call(function(), 1, value);
	gimple_set_location(call, gimple_location(note));
	gsi_replace(i, call, true);
	cgraph_node *here = cgraph_node::get(current_function_decl);
	here->create_edge(cgraph_node::get_create(gimple_call_fndecl(call)), as_a<gcall *>(call),
			  gimple_bb(call)->count);
}

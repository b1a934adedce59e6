/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * marker.cc - how a directive travels from the parser to where it is lowered.
 *
 * A marker is a basic `asm volatile` whose text is an assembler comment that says everything:
 *
 *   #dprof:DIRECTIVE:NAME
 *
 * Nothing is kept beside the tree, because C++ parses tentatively and copies bodies of templates,
 * and precompiled headers store them. */
#include "plugin/parts.h"

#define PREFIX "#dprof:"

tree marker_build(struct marker m)
{
	char *text = xasprintf(PREFIX "%d:%s", m.what, m.name);
	tree string = build_string(strlen(text) + 1, text);
	free(text);
	tree stmt = build5(ASM_EXPR, void_type_node, string, NULL_TREE, NULL_TREE, NULL_TREE,
			   NULL_TREE);
	ASM_INPUT_P(stmt) = 1;
	ASM_VOLATILE_P(stmt) = 1;
	SET_EXPR_LOCATION(stmt, m.where);
	return stmt;
}

bool marker_is(const char *asm_text)
{
	return startswith(asm_text, PREFIX) && ISDIGIT(asm_text[strlen(PREFIX)]);
}

bool marker_read(tree stmt, struct marker *m)
{
	/* Around it when a C++ template is instantiated. */
	if (TREE_CODE(stmt) == CLEANUP_POINT_EXPR)
		stmt = TREE_OPERAND(stmt, 0);
	if (TREE_CODE(stmt) != ASM_EXPR || !ASM_INPUT_P(stmt))
		return false;
	const char *text = TREE_STRING_POINTER(ASM_STRING(stmt));
	if (!marker_is(text))
		return false;
	char *rest;
	m->what = (enum directive)strtol(text + strlen(PREFIX), &rest, 10);
	m->name = rest + 1;
	m->where = EXPR_LOCATION(stmt);
	return true;
}

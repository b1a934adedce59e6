/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * marker.cc - how a directive travels from the parser to where it is lowered.
 *
 * A marker is an `asm volatile` whose text is an assembler comment that says everything:
 *
 *   #dprof:DIRECTIVE:KIND:ORIGIN:NAME
 *
 * It is a basic one unless the directive has an instance: that is the input of an extended one, in whose
 * text every % is doubled. Nothing is kept beside the tree, because C++ parses tentatively and
 * copies bodies of templates, and precompiled headers store them. */
#include "plugin/parts.h"

#define PREFIX "#dprof:"

/* Every FROM, which is not longer than 2, becomes TO. To be freed. */
static char *replace_all(const char *s, const char *from, const char *to)
{
	char *text = XNEWVEC(char, 2 * strlen(s) + 1), *end = text;
	while (*s)
		if (startswith(s, from)) {
			end = stpcpy(end, to);
			s += strlen(from);
		} else {
			*end++ = *s++;
		}
	*end = '\0';
	return text;
}

static tree inputs(tree value)
{
	tree constraint = build_tree_list(NULL_TREE, build_string(2, "r"));
	return value ? build_tree_list(constraint, value) : NULL_TREE;
}

tree marker_build(struct marker m)
{
	char *name = m.instance ? replace_all(m.name, "%", "%%") : xstrdup(m.name);
	char *text = xasprintf(PREFIX "%d:%d:%d:%s", m.what, m.kind, m.origin, name);
	tree string = build_string(strlen(text) + 1, text);
	free(text);
	free(name);
	tree stmt = build5(ASM_EXPR, void_type_node, string, NULL_TREE, inputs(m.instance), NULL_TREE,
			   NULL_TREE);
	ASM_BASIC_P(stmt) = !m.instance;
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
	if (TREE_CODE(stmt) != ASM_EXPR || TREE_CODE(ASM_STRING(stmt)) != STRING_CST)
		return false;
	const char *text = TREE_STRING_POINTER(ASM_STRING(stmt));
	if (!marker_is(text))
		return false;
	char *rest;
	m->what = (enum directive)strtol(text + strlen(PREFIX), &rest, 10);
	m->kind = (enum dprof_kind)strtol(rest + 1, &rest, 10);
	m->origin = (enum origin)strtol(rest + 1, &rest, 10);
	m->name = rest + 1;
	m->where = EXPR_LOCATION(stmt);
	m->instance = ASM_INPUTS(stmt) ? TREE_VALUE(ASM_INPUTS(stmt)) : NULL_TREE;
	if (m->instance && strstr(m->name, "%%")) {
		char *name = replace_all(m->name, "%%", "%");
		m->name = IDENTIFIER_POINTER(get_identifier(name));
		free(name);
	}
	return true;
}

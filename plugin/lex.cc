/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * lex.cc - the tokens of a directive. */
#include "plugin/parts.h"

/* A directive that a macro wrote stands where the user called the macro. What is missing at the end of
 * the line is missing after the token before. */
struct token lex(location_t before)
{
	struct token t = { CPP_EOF, NULL_TREE, UNKNOWN_LOCATION };
	t.type = pragma_lex(&t.value, &t.where);
	t.where = linemap_resolve_location(line_table, t.where, LRK_MACRO_EXPANSION_POINT, nullptr);
	if (t.type == CPP_EOF && before != UNKNOWN_LOCATION)
		t.where = before;
	return t;
}

/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * cplus.cc - what only cp-tree.h knows. It cannot be included beside the headers of C, and its functions
 * and variables are missing in other compilers than cc1plus: its macros are used, and one variable that is weak. */
#include "gcc-plugin.h"
#include "tree.h"
#include "langhooks.h"
#include "cp/cp-tree.h"

#pragma weak scope_chain

bool cplus_constexpr(tree fn)
{
	return DECL_DECLARED_CONSTEXPR_P(fn);
}

/* GCC calls a lambda's function made up, but its body is the user's. */
bool cplus_lambda(tree fn)
{
	return !strncmp(lang_hooks.name, "GNU C++", 7) && DECL_CONTEXT(fn) &&
	       TYPE_P(DECL_CONTEXT(fn)) && LAMBDA_TYPE_P(DECL_CONTEXT(fn)) &&
	       !strcmp(IDENTIFIER_POINTER(DECL_NAME(fn)), "operator()");
}

bool cplus_in_template()
{
	return &scope_chain && scope_chain && processing_template_decl;
}

/* Of a `->` in a template. */
tree cplus_arrow(location_t where, tree pointer)
{
	return build1_loc(where, ARROW_EXPR, NULL_TREE, pointer);
}

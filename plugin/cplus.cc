/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * cplus.cc - what only cp-tree.h knows. It cannot be included beside the headers of C, and its functions
 * are missing in other compilers than cc1plus: only its macros are used. */
#include "gcc-plugin.h"
#include "tree.h"
#include "langhooks.h"
#include "cp/cp-tree.h"

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

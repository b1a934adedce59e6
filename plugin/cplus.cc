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

bool cplus_library(tree fn)
{
	tree scope = DECL_CONTEXT(fn);
	while (scope && TREE_CODE(scope) != NAMESPACE_DECL)
		scope = TYPE_P(scope) ? TYPE_CONTEXT(scope) : DECL_CONTEXT(scope);
	for (; scope && TREE_CODE(scope) == NAMESPACE_DECL; scope = DECL_CONTEXT(scope))
		if (DECL_NAME(scope) && !strcmp(IDENTIFIER_POINTER(DECL_NAME(scope)), "std"))
			return true;
	return false;
}

tree cplus_pointer_to_member(tree value)
{
	return TREE_CODE(value) == (enum tree_code)PTRMEM_CST && TREE_CODE(PTRMEM_CST_MEMBER(value)) == FUNCTION_DECL ?
		PTRMEM_CST_MEMBER(value) : NULL_TREE;
}

static tree first_argument(tree type)
{
	tree info = CLASS_TYPE_P(type) ? CLASSTYPE_TEMPLATE_INFO(type) : NULL_TREE;
	tree args = info ? TI_ARGS(info) : NULL_TREE;
	if (!args || !TREE_VEC_LENGTH(args))
		return NULL_TREE;
	tree first = TREE_VEC_ELT(args, 0);
	if (ARGUMENT_PACK_P(first)) {
		args = ARGUMENT_PACK_ARGS(first);
		first = TREE_VEC_LENGTH(args) ? TREE_VEC_ELT(args, 0) : NULL_TREE;
	}
	return first && TYPE_P(first) ? first : NULL_TREE;
}

/* It is std::thread::_Invoker<std::tuple<CALLABLE, ARGUMENTS...>>::operator(), of which std::async and
 * std::jthread make use, too. */
tree cplus_invoked(tree fn)
{
	tree invoker = DECL_CONTEXT(fn);
	if (strncmp(lang_hooks.name, "GNU C++", 7) || !invoker || !TYPE_P(invoker) || !TYPE_NAME(invoker) ||
	    strcmp(IDENTIFIER_POINTER(TYPE_IDENTIFIER(invoker)), "_Invoker") || !cplus_library(fn))
		return NULL_TREE;
	tree tuple = first_argument(invoker);
	tree callable = tuple ? first_argument(tuple) : NULL_TREE;
	return callable && CLASS_TYPE_P(callable) ? callable : NULL_TREE;
}

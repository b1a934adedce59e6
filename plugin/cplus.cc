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

/* The body of the lambda that is here turned into a pointer to a function, or NULL. */
tree cplus_lambda_behind(tree t)
{
	tree fn = TREE_CODE(t) == CALL_EXPR ? CALL_EXPR_FN(t) : t;
	if (fn && TREE_CODE(fn) == ADDR_EXPR)
		fn = TREE_OPERAND(fn, 0);
	if (strncmp(lang_hooks.name, "GNU C++", 7) || !fn || TREE_CODE(fn) != FUNCTION_DECL || !DECL_CONTEXT(fn) ||
	    !TYPE_P(DECL_CONTEXT(fn)) || !LAMBDA_TYPE_P(DECL_CONTEXT(fn)) || cplus_lambda(fn))
		return NULL_TREE;
	for (tree f = TYPE_FIELDS(DECL_CONTEXT(fn)); f; f = DECL_CHAIN(f))
		if (TREE_CODE(f) == FUNCTION_DECL && cplus_lambda(f))
			return f;
	return NULL_TREE;
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
		for (const char *name : { "std", "__gnu_cxx" }) /* iterators of vectors and strings are of the other */
			if (DECL_NAME(scope) && !strcmp(IDENTIFIER_POINTER(DECL_NAME(scope)), name))
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

/* ---- What a function of libstdc++ is ------------------------------------------------------------ */

bool cplus_is_named(tree fn, const char *scope, const char *name)
{
	tree of = DECL_CONTEXT(fn);
	tree id = !of ? NULL_TREE : TYPE_P(of) ? (TYPE_NAME(of) ? TYPE_IDENTIFIER(of) : NULL_TREE) :
		  TREE_CODE(of) == NAMESPACE_DECL ? DECL_NAME(of) : NULL_TREE;
	return id && DECL_NAME(fn) && !strcmp(IDENTIFIER_POINTER(DECL_NAME(fn)), name) &&
	       !strcmp(IDENTIFIER_POINTER(id), scope);
}

bool cplus_is_of(tree fn, const char *scope)
{
	tree of = DECL_CONTEXT(fn);
	return of && TYPE_P(of) && TYPE_NAME(of) && !strcmp(IDENTIFIER_POINTER(TYPE_IDENTIFIER(of)), scope);
}

static tree around(tree of)
{
	return TYPE_P(of) ? TYPE_CONTEXT(of) : DECL_CONTEXT(of);
}

bool cplus_of_times(tree fn)
{
	for (tree of = DECL_CONTEXT(fn); of && (TYPE_P(of) || TREE_CODE(of) == NAMESPACE_DECL); of = around(of)) {
		if (TYPE_P(of) && TYPE_NAME(of) && strstr(IDENTIFIER_POINTER(TYPE_IDENTIFIER(of)), "clock"))
			return false;
		if (TREE_CODE(of) == NAMESPACE_DECL && DECL_NAME(of) && !strcmp(IDENTIFIER_POINTER(DECL_NAME(of)), "chrono"))
			return true;
	}
	return false;
}

static tree argument(tree type, int i)
{
	tree info = type && CLASS_TYPE_P(type) ? CLASSTYPE_TEMPLATE_INFO(type) : NULL_TREE;
	tree args = info ? INNERMOST_TEMPLATE_ARGS(TI_ARGS(info)) : NULL_TREE;
	return args && TREE_VEC_LENGTH(args) > i ? TREE_VEC_ELT(args, i) : NULL_TREE;
}

static bool is_called(tree type, const char *name)
{
	return type && TYPE_P(type) && TYPE_NAME(type) && !strcmp(IDENTIFIER_POINTER(TYPE_IDENTIFIER(type)), name);
}

static bool positive(tree value, HOST_WIDE_INT *to)
{
	if (!value || TREE_CODE(value) != INTEGER_CST || !tree_fits_shwi_p(value))
		return false;
	*to = tree_to_shwi(value);
	return *to > 0;
}

/* A moment, std::chrono::time_point<CLOCK, std::chrono::duration<REP, std::ratio<N, D>>>. */
bool cplus_moment(tree type, HOST_WIDE_INT *num, HOST_WIDE_INT *den, bool *steady)
{
	tree clock = argument(type, 0), duration = argument(type, 1);
	tree number = argument(duration, 0), unit = argument(duration, 1);
	*steady = is_called(clock, "steady_clock");
	return is_called(type, "time_point") && (*steady || is_called(clock, "system_clock")) &&
	       cplus_library(TYPE_NAME(clock)) && number && TYPE_P(number) && TREE_CODE(number) == INTEGER_TYPE &&
	       !TYPE_UNSIGNED(number) && TYPE_PRECISION(number) == 64 && positive(argument(unit, 0), num) &&
	       positive(argument(unit, 1), den);
}

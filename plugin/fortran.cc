/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * fortran.cc - what gfortran calls otherwise, and what stands for pragmas there.
 *
 *   call dprof_enter("solve")   ->   ENTER at a site named "solve"
 *   call dprof_exit("solve")    ->   EXIT at the same site
 *   call dprof_point("step")    ->   POINT
 *
 * Law: a name is a constant, so that a site is a constant too, and a region ends in the subprogram in which it
 * begins. Anything else is an error; the library's functions of these names do nothing. */
#include "plugin/parts.h"

bool fortran()
{
	return startswith(lang_hooks.name, "GNU Fortran");
}

/* Is `symbol` what gfortran makes of the C function's name, or of its form in mpi_f08? */
bool fortran_symbol_is(const char *symbol, const char *function)
{
	size_t n = strlen(function);
	if (strncasecmp(symbol, function, n))
		return false;
	for (const char *suffix : { "_", "__", "_f08_", "_f08ts_" })
		if (!strcmp(symbol + n, suffix))
			return true;
	return false;
}

namespace {

struct known_region {
	const char *name;
	tree site;
	location_t where;
	bool ended;
};

auto_vec<known_region> regions; /* of this subprogram */

const struct {
	const char *symbol, *shown;
	enum dprof_op op;
} calls[] = {
	{ "dprof_enter_", "dprof_enter", DPROF_ENTER },
	{ "dprof_exit_", "dprof_exit", DPROF_EXIT },
	{ "dprof_point_", "dprof_point", DPROF_POINT },
};

/* The number in `calls`, or -1. */
int which(gimple *stmt)
{
	tree fn = is_gimple_call(stmt) ? gimple_call_fndecl(stmt) : NULL_TREE;
	if (!fn || !TREE_PUBLIC(fn))
		return -1;
	for (unsigned n = 0; n < ARRAY_SIZE(calls); n++)
		if (!strcmp(IDENTIFIER_POINTER(DECL_ASSEMBLER_NAME(fn)), calls[n].symbol))
			return n;
	return -1;
}

/* Blanks at its end do not count, as everywhere in Fortran. NULL after an error. */
const char *name_of(gimple *stmt, const char *shown)
{
	tree text = NULL_TREE, length = NULL_TREE;
	if (gimple_call_num_args(stmt) == 2) {
		text = gimple_call_arg(stmt, 0);
		length = gimple_call_arg(stmt, 1);
	}
	if (text && TREE_CODE(text) == ADDR_EXPR)
		text = get_base_address(TREE_OPERAND(text, 0));
	if (!text || TREE_CODE(text) != STRING_CST || TREE_CODE(length) != INTEGER_CST) {
		error_at(gimple_location(stmt), "the argument of %qs must be a character constant", shown);
		return nullptr;
	}
	const char *s = TREE_STRING_POINTER(text);
	int n = MIN(tree_to_shwi(length), TREE_STRING_LENGTH(text));
	while (n && s[n - 1] == ' ')
		n--;
	bool good = n > 0 && n <= DPROF_NAME_MAX;
	for (int i = 0; i < n; i++)
		good = good && (unsigned char)s[i] >= ' ' && s[i] != 0x7f;
	if (good)
		return IDENTIFIER_POINTER(get_identifier_with_length(s, n));
	error_at(gimple_location(stmt), "the name in %qs must have 1 to %d characters, and no control "
		 "characters", shown, DPROF_NAME_MAX);
	return nullptr;
}

known_region *find(const char *name)
{
	for (known_region &k : regions)
		if (!strcmp(k.name, name))
			return &k;
	return nullptr;
}

void refuse_exit(gimple *stmt, const char *name)
{
	auto_vec<const char *> names;
	for (const known_region &k : regions)
		names.safe_push(k.name);
	const char *near = find_closest_string(name, &names);
	if (near)
		error_at(gimple_location(stmt), "%<dprof_exit(\"%s\")%> without %<dprof_enter(\"%s\")%> in "
			 "this subprogram; did you mean %qs?", name, name, near);
	else
		error_at(gimple_location(stmt), "%<dprof_exit(\"%s\")%> without %<dprof_enter(\"%s\")%> in "
			 "this subprogram", name, name);
}

void enter(gimple *stmt, const char *name)
{
	location_t where = gimple_location(stmt);
	if (names_check(DPROF_KIND_REGION, name, where) && !find(name))
		regions.safe_push({ name, site_build(DPROF_KIND_REGION, where, name, current_function_decl),
				    where, false });
}

void replace(gimple *stmt, enum dprof_op op, const char *name)
{
	gimple_stmt_iterator i = gsi_for_stmt(stmt);
	location_t where = gimple_location(stmt);
	known_region *k = find(name);
	if (op == DPROF_POINT) {
		if (!names_check(DPROF_KIND_PROGRESS, name, where))
			return;
		tree site = site_build(DPROF_KIND_PROGRESS, where, name, current_function_decl);
		gsi_replace(&i, pass_event(op, DPROF_KIND_PROGRESS, site, where), true);
	} else if (k) {
		k->ended = k->ended || op == DPROF_EXIT;
		gimple *event = pass_event(op, DPROF_KIND_REGION, k->site, where);
		gsi_replace(&i, event, true);
		balance_add(event, op, k->site);
	} else if (op == DPROF_EXIT) {
		refuse_exit(stmt, name);
	}
}

struct fortran_call {
	gimple *stmt;
	enum dprof_op op;
	const char *name;
};

/* The calls with good names. */
void collect(function *fun, auto_vec<fortran_call> *found)
{
	basic_block bb;
	FOR_EACH_BB_FN(bb, fun)
		for (gimple_stmt_iterator i = gsi_start_bb(bb); !gsi_end_p(i); gsi_next(&i)) {
			int n = which(gsi_stmt(i));
			const char *name = n < 0 ? nullptr : name_of(gsi_stmt(i), calls[n].shown);
			if (name)
				found->safe_push({ gsi_stmt(i), calls[n].op, name });
		}
}

} // namespace

void fortran_expand(function *fun)
{
	auto_vec<fortran_call> found;
	regions.truncate(0);
	collect(fun, &found);
	for (const fortran_call &c : found)
		if (c.op == DPROF_ENTER)
			enter(c.stmt, c.name);
	for (const fortran_call &c : found)
		replace(c.stmt, c.op, c.name);
	for (const known_region &k : regions)
		if (!k.ended)
			error_at(k.where, "%<dprof_enter(\"%s\")%> is never followed by "
				 "%<dprof_exit(\"%s\")%> in this subprogram", k.name, k.name);
}

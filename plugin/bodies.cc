/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * bodies.cc - what a thread is given to run is a region, marked or not.
 *
 *   team      the body of `omp parallel`: "parallel FILE:LINE"
 *   thread    the function that pthread_create, thrd_create, std::thread, std::jthread or std::async is given:
 *             its own name
 *
 *   callback  the function that MPI is given to call: of MPI_Op_create, MPI_Comm_create_keyval and the like: its own
 *             name. What it computes inside of an operation of MPI is work.
 *
 * (A task's body is one, too: calls.cc tells the adapter its name.)
 *
 * GCC has made a function of its own of a team's body, which is wrapped in the graph. A start function is wrapped as
 * those are that the user chose (auto.cc); which functions that are is seen when all are parsed:
 *
 *   pthread_create(&t, NULL, f, x);           f is one
 *   pthread_create(&t, NULL, n ? f : g, x);   both are
 *   int spawn(void *(*g)(void *)) {           what spawn is given is one
 *           return pthread_create(&t, NULL, g, NULL); }
 *   std::vector<std::thread> v;
 *   v.emplace_back(f, 1);                     f is one: who mentions std::thread and takes a function starts it
 *   std::thread t([&] { ... });               the call operator of what std::thread::_Invoker invokes is one
 *
 * Law: a body is left out only by an EXCLUDE that names it, `#pragma dprof off` or no_instrument_function. What is
 * known of the source is kept as numbers: GCC collects trees that it no longer needs. */
#include "plugin/parts.h"
#include "attribs.h"

namespace {

/* A function's place for a parameter. */
struct parameter_slot {
	unsigned function; /* DECL_UID */
	unsigned index;
};

/* A function, or the value of a parameter, was handed over. */
struct handed {
	bool to_run, is_parameter;
	struct parameter_slot to, what;
};

auto_vec<handed> all;
auto_vec<unsigned> starts, callables; /* functions; types whose call operators are */
auto_vec<parameter_slot> passing;     /* parameters that come to be run */
unsigned resolved;

bool passes(const struct parameter_slot &p)
{
	for (const struct parameter_slot &q : passing)
		if (q.function == p.function && q.index == p.index)
			return true;
	return false;
}

/* True if it says something new. */
bool learn(const struct handed &h)
{
	if (!h.to_run && !passes(h.to))
		return false;
	if (h.is_parameter ? passes(h.what) : starts.contains(h.what.function))
		return false;
	if (h.is_parameter)
		passing.safe_push(h.what);
	else
		starts.safe_push(h.what.function);
	return true;
}

void resolve()
{
	bool more = resolved < all.length();
	resolved = all.length();
	while (more) {
		more = false;
		for (const struct handed &h : all)
			more |= learn(h);
	}
}

/* ---- What is handed over --------------------------------------------------------------------------- */

/* What these are given there, they run: in a thread, or (MPI) when they call back. */
const struct { const char *name; unsigned first, last; } runners[] = {
	{ "pthread_create", 2, 2 },
	{ "thrd_create", 1, 1 },
	{ "MPI_Op_create", 0, 0 },
	{ "MPI_Op_create_c", 0, 0 },
	{ "MPI_Grequest_start", 0, 2 },
	{ "MPI_Comm_create_keyval", 0, 1 },
	{ "MPI_Type_create_keyval", 0, 1 },
	{ "MPI_Win_create_keyval", 0, 1 },
	{ "MPI_Keyval_create", 0, 1 },
	{ "MPI_Comm_create_errhandler", 0, 0 },
	{ "MPI_Win_create_errhandler", 0, 0 },
	{ "MPI_File_create_errhandler", 0, 0 },
	{ "MPI_Session_create_errhandler", 0, 0 },
	{ "MPI_Errhandler_create", 0, 0 },
	{ "MPI_Register_datarep", 1, 3 },
	{ "MPI_Register_datarep_c", 1, 3 },
};

/* Does this function of a library run what it is given there? */
bool runs(tree callee, unsigned index)
{
	const char *name = IDENTIFIER_POINTER(DECL_NAME(callee));
	for (const auto &r : runners)
		if (!strcmp(name + (startswith(name, "PMPI_") ? 1 : 0), r.name))
			return index >= r.first && index <= r.last;
	if (!cplus_library(callee))
		return false;
	const char *symbol = IDENTIFIER_POINTER(DECL_ASSEMBLER_NAME(callee));
	return strstr(symbol, "St6thread") || strstr(symbol, "St7jthread") || startswith(symbol, "_ZSt5async");
}

int parameter_index(tree parameter)
{
	int n = 0;
	for (tree p = DECL_ARGUMENTS(current_function_decl); p && p != parameter; p = DECL_CHAIN(p))
		n++;
	return n;
}

/* What may be handed over: whatever stands in an argument, but in a call of which it is the result, or in a condition. */
tree argument_step(tree *tp, int *walk_subtrees, void *found)
{
	auto_vec<tree> &all_found = *(auto_vec<tree> *)found;
	tree t = *tp, member = cplus_pointer_to_member(t);
	if (TREE_CODE(t) == FUNCTION_DECL || TREE_CODE(t) == PARM_DECL)
		all_found.safe_push(t);
	else if (member)
		all_found.safe_push(member);
	else if (TREE_CODE(t) == COND_EXPR)
		for (int n = 1; n < 3; n++)
			walk_tree_without_duplicates(&TREE_OPERAND(t, n), argument_step, found);
	else if (!TYPE_P(t) && TREE_CODE_CLASS(TREE_CODE(t)) != tcc_vl_exp)
		return NULL_TREE;
	*walk_subtrees = 0;
	return NULL_TREE;
}

void hand_over(tree what, struct parameter_slot to, bool to_run)
{
	struct handed h = { to_run, TREE_CODE(what) == PARM_DECL, to, { DECL_UID(what), 0 } };
	if (h.is_parameter)
		h.what = { DECL_UID(current_function_decl), (unsigned)parameter_index(what) };
	all.safe_push(h);
}

void look_at_call(tree call, tree callee)
{
	for (int n = 3; n < TREE_OPERAND_LENGTH(call); n++) {
		auto_vec<tree> found;
		walk_tree_without_duplicates(&TREE_OPERAND(call, n), argument_step, &found);
		for (tree what : found)
			hand_over(what, { DECL_UID(callee), (unsigned)n - 3 }, runs(callee, n - 3));
	}
}

/* C++ has a second kind of call, which is laid out like the first one. */
tree look_step(tree *tp, int *walk_subtrees, void *seen)
{
	tree t = *tp;
	if (TYPE_P(t)) {
		*walk_subtrees = 0;
	} else if (TREE_CODE(t) == DECL_EXPR) {
		tree var = DECL_EXPR_DECL(t);
		if (VAR_P(var) && DECL_INITIAL(var) && !TREE_STATIC(var))
			walk_tree(&DECL_INITIAL(var), look_step, seen, (hash_set<tree> *)seen);
	} else if (TREE_CODE_CLASS(TREE_CODE(t)) == tcc_vl_exp && TREE_OPERAND_LENGTH(t) > 3) {
		tree fn = TREE_OPERAND(t, 1);
		if (fn && TREE_CODE(fn) == ADDR_EXPR && TREE_CODE(TREE_OPERAND(fn, 0)) == FUNCTION_DECL)
			look_at_call(t, TREE_OPERAND(fn, 0));
	}
	return NULL_TREE;
}

} // namespace

void bodies_of_source(tree fn)
{
	if (tree type = cplus_invoked(fn))
		callables.safe_push(TYPE_UID(TYPE_MAIN_VARIANT(type)));
	if (in_system_header_at(DECL_SOURCE_LOCATION(fn)))
		return;
	hash_set<tree> seen;
	walk_tree(&DECL_SAVED_TREE(fn), look_step, &seen, &seen);
}

bool bodies_start(tree fn)
{
	tree type = DECL_CONTEXT(fn);
	resolve();
	return starts.contains(DECL_UID(fn)) ||
	       (type && TYPE_P(type) && callables.contains(TYPE_UID(TYPE_MAIN_VARIANT(type))) &&
		!strcmp(IDENTIFIER_POINTER(DECL_NAME(fn)), "operator()"));
}

/* ---- Teams ----------------------------------------------------------------------------------------- */

/* "WORD FILE:LINE"; to be freed. */
char *bodies_name(const char *word, location_t where)
{
	expanded_location at = expand_location(where);
	const char *file = at.file ? lbasename(at.file) : "";
	return xasprintf("%s %.*s:%d", word, DPROF_NAME_MAX - 32, file, at.line);
}

/* It may run on another device. */
bool bodies_of_device(tree fn)
{
	return lookup_attribute("omp declare target", DECL_ATTRIBUTES(fn)) ||
	       lookup_attribute("omp target entrypoint", DECL_ATTRIBUTES(fn));
}

/* Of such a function the address is what the call of libgomp refers to. */
static bool is_team_body(tree fn)
{
	struct ipa_ref *ref;
	if (!strstr(IDENTIFIER_POINTER(DECL_NAME(fn)), "._omp_fn") || bodies_of_device(fn))
		return false;
	for (unsigned n = 0; cgraph_node::get(fn)->iterate_referring(n, ref); n++) {
		tree callee = ref->stmt && is_gimple_call(ref->stmt) ? gimple_call_fndecl(ref->stmt) : NULL_TREE;
		if (callee && startswith(IDENTIFIER_POINTER(DECL_ASSEMBLER_NAME(callee)), "GOMP_parallel"))
			return true;
	}
	return false;
}

bool bodies_wrap(function *fun)
{
	edge e;
	edge_iterator ei;
	location_t where = DECL_SOURCE_LOCATION(fun->decl);
	if (!is_team_body(fun->decl) || stretches_off(where))
		return false;
	char *name = bodies_name("parallel", where);
	tree site = filter_refuses(fun->decl, name) ? NULL_TREE :
		site_build(DPROF_KIND_REGION, where, name, fun->decl, AUTOMATIC);
	free(name);
	if (!site)
		return false;
	gsi_insert_on_edge(single_succ_edge(ENTRY_BLOCK_PTR_FOR_FN(fun)),
			   pass_event(DPROF_ENTER, DPROF_KIND_REGION, site, where, AUTOMATIC));
	FOR_EACH_EDGE(e, ei, EXIT_BLOCK_PTR_FOR_FN(fun)->preds) {
		gimple_stmt_iterator i = gsi_last_bb(e->src);
		if (!gsi_end_p(i) && gimple_code(gsi_stmt(i)) == GIMPLE_RETURN)
			gsi_insert_before(&i, pass_event(DPROF_EXIT, DPROF_KIND_REGION, site, where, AUTOMATIC),
					  GSI_SAME_STMT);
	}
	return true;
}

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
 *   handler   the function that a signal is given to, by signal() and its kin or in a struct sigaction: "handler NAME"
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
 *   struct sigaction a = { .sa_handler = f }; f is one, and g where a.sa_sigaction = g stands
 *
 * Law: a body is left out only by an EXCLUDE that names it, `#pragma dprof off` or no_instrument_function. What is
 * known of the source is kept as numbers: GCC collects trees that it no longer needs. */
#include "plugin/parts.h"
#include "attribs.h"

namespace {

/* Who calls a function. */
enum role { ROLE_NONE, ROLE_THREAD, ROLE_CALLBACK, ROLE_HANDLER };
const char *const words[] = { "", "thread", "callback", "handler" };

/* A function's place for a parameter. */
struct parameter_slot {
	unsigned function; /* DECL_UID */
	unsigned index;
};

/* A function, or the value of a parameter, was handed over. */
struct handed {
	enum role role; /* or, if it has none, that of the parameter `to` */
	bool is_parameter;
	struct parameter_slot to, what;
};

struct known {
	enum role role;
	struct parameter_slot what;
};

auto_vec<handed> all;
auto_vec<known> starts, passing; /* functions; parameters that come to be run */
auto_vec<unsigned> callables;    /* types whose call operators threads start with */
unsigned resolved;

enum role role_of(const auto_vec<known> &those, const struct parameter_slot &p)
{
	for (const struct known &k : those)
		if (k.what.function == p.function && k.what.index == p.index)
			return k.role;
	return ROLE_NONE;
}

/* True if it says something new. */
bool learn(const struct handed &h)
{
	enum role role = h.role ? h.role : role_of(passing, h.to);
	auto_vec<known> &those = h.is_parameter ? passing : starts;
	if (!role || role_of(those, h.what))
		return false;
	those.safe_push({ role, h.what });
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

/* What these are given there, they run: in a thread, when they call back, or when a signal comes. */
const struct { const char *name; unsigned first, last; enum role role; } runners[] = {
	{ "pthread_create", 2, 2, ROLE_THREAD },
	{ "thrd_create", 1, 1, ROLE_THREAD },
	{ "signal", 1, 1, ROLE_HANDLER },
	{ "bsd_signal", 1, 1, ROLE_HANDLER },
	{ "ssignal", 1, 1, ROLE_HANDLER },
	{ "sysv_signal", 1, 1, ROLE_HANDLER },
	{ "__sysv_signal", 1, 1, ROLE_HANDLER },
	{ "sigset", 1, 1, ROLE_HANDLER },
	{ "MPI_Op_create", 0, 0, ROLE_CALLBACK },
	{ "MPI_Op_create_c", 0, 0, ROLE_CALLBACK },
	{ "MPI_Grequest_start", 0, 2, ROLE_CALLBACK },
	{ "MPI_Comm_create_keyval", 0, 1, ROLE_CALLBACK },
	{ "MPI_Type_create_keyval", 0, 1, ROLE_CALLBACK },
	{ "MPI_Win_create_keyval", 0, 1, ROLE_CALLBACK },
	{ "MPI_Keyval_create", 0, 1, ROLE_CALLBACK },
	{ "MPI_Comm_create_errhandler", 0, 0, ROLE_CALLBACK },
	{ "MPI_Win_create_errhandler", 0, 0, ROLE_CALLBACK },
	{ "MPI_File_create_errhandler", 0, 0, ROLE_CALLBACK },
	{ "MPI_Session_create_errhandler", 0, 0, ROLE_CALLBACK },
	{ "MPI_Errhandler_create", 0, 0, ROLE_CALLBACK },
	{ "MPI_Register_datarep", 1, 3, ROLE_CALLBACK },
	{ "MPI_Register_datarep_c", 1, 3, ROLE_CALLBACK },
};

/* Not a method, or in a name space? */
bool is_global(tree fn)
{
	tree scope = DECL_CONTEXT(fn);
	return !scope || (!TYPE_P(scope) && TREE_CODE(scope) != NAMESPACE_DECL);
}

/* As what does this function of a library run what it is given there? */
enum role runs(tree callee, unsigned index)
{
	const char *name = IDENTIFIER_POINTER(DECL_NAME(callee));
	for (const auto &r : runners)
		if (is_global(callee) && !strcmp(name + (startswith(name, "PMPI_") ? 1 : 0), r.name))
			return index >= r.first && index <= r.last ? r.role : ROLE_NONE;
	if (!cplus_library(callee))
		return ROLE_NONE;
	const char *symbol = IDENTIFIER_POINTER(DECL_ASSEMBLER_NAME(callee));
	bool starts_thread = strstr(symbol, "St6thread") || strstr(symbol, "St7jthread") || startswith(symbol, "_ZSt5async");
	return starts_thread ? ROLE_THREAD : ROLE_NONE;
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
	tree t = *tp, member = cplus_pointer_to_member(t), lambda = cplus_lambda_behind(t);
	if (lambda)
		all_found.safe_push(lambda);
	else if (TREE_CODE(t) == FUNCTION_DECL || TREE_CODE(t) == PARM_DECL)
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

void hand_over_one(tree what, struct parameter_slot to, enum role role)
{
	struct handed h = { role, TREE_CODE(what) == PARM_DECL, to, { DECL_UID(what), 0 } };
	if (h.is_parameter)
		h.what = { DECL_UID(current_function_decl), (unsigned)parameter_index(what) };
	all.safe_push(h);
}

void hand_over(tree value, struct parameter_slot to, enum role role)
{
	auto_vec<tree> found;
	walk_tree_without_duplicates(&value, argument_step, &found);
	for (tree what : found)
		hand_over_one(what, to, role);
}

void look_at_call(tree call, tree callee)
{
	for (int n = 3; n < TREE_OPERAND_LENGTH(call); n++)
		hand_over(TREE_OPERAND(call, n), { DECL_UID(callee), (unsigned)n - 3 }, runs(callee, n - 3));
}

/* Of a struct sigaction. */
bool is_handler_field(tree field)
{
	if (!field || TREE_CODE(field) != FIELD_DECL || !DECL_NAME(field))
		return false;
	const char *name = IDENTIFIER_POINTER(DECL_NAME(field));
	return !strcmp(name, "sa_handler") || !strcmp(name, "sa_sigaction");
}

void look_at_assignment(tree to, tree value)
{
	if (TREE_CODE(to) == COMPONENT_REF && is_handler_field(TREE_OPERAND(to, 1)))
		hand_over(value, {}, ROLE_HANDLER);
}

void look_at_initializer(tree constructor)
{
	unsigned n;
	tree field, value;
	FOR_EACH_CONSTRUCTOR_ELT(CONSTRUCTOR_ELTS(constructor), n, field, value)
		if (is_handler_field(field))
			hand_over(value, {}, ROLE_HANDLER);
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
	} else if (TREE_CODE(t) == MODIFY_EXPR || TREE_CODE(t) == INIT_EXPR) {
		look_at_assignment(TREE_OPERAND(t, 0), TREE_OPERAND(t, 1));
	} else if (TREE_CODE(t) == CONSTRUCTOR) {
		look_at_initializer(t);
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

void bodies_of_variable(tree var)
{
	if (!VAR_P(var) || !TREE_STATIC(var) || !DECL_INITIAL(var) || in_system_header_at(DECL_SOURCE_LOCATION(var)))
		return;
	hash_set<tree> seen;
	walk_tree(&DECL_INITIAL(var), look_step, &seen, &seen);
}

static enum role role_of_function(tree fn)
{
	tree type = DECL_CONTEXT(fn);
	resolve();
	if (enum role role = role_of(starts, { DECL_UID(fn), 0 }))
		return role;
	return type && TYPE_P(type) && callables.contains(TYPE_UID(TYPE_MAIN_VARIANT(type))) &&
	       !strcmp(IDENTIFIER_POINTER(DECL_NAME(fn)), "operator()") ? ROLE_THREAD : ROLE_NONE;
}

bool bodies_start(tree fn)
{
	return role_of_function(fn) != ROLE_NONE;
}

bool bodies_handler(tree fn)
{
	return role_of_function(fn) == ROLE_HANDLER;
}

char *bodies_lambda_name(tree fn)
{
	return bodies_name(words[role_of_function(fn)], DECL_SOURCE_LOCATION(fn));
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

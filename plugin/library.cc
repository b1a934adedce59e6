/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * library.cc - says what calls of library.def do, which may be over without any call of the C library.
 *
 *   l.wait();   ->   TELL; dprof_library_looks(&l, LATCH); l.wait(); dprof_library_over(&l); TOLD
 *   s.release(n);   ->   dprof_library_posts(&s, n); s.release(n); dprof_library_over(&s)
 *   f.wait_for(d);   ->   ... there = futex._M_load(); dprof_library_loaded(&futex, there); ...
 *   s.try_acquire();   ->   TELL; dprof_library_looks(&s, TRIED_PERMIT); got = s.try_acquire(); dprof_library_tried(&s, got); TOLD
 *   std::this_thread::sleep_until(t);   ->   likewise, with dprof_library_until(&t, NUM, DEN, STEADY)
 *
 *   c.wait(lock), of a std::condition_variable_any   ->   dprof_library_hides(&c); c.wait(lock); dprof_library_shows()
 *   the function that a std::barrier calls   ->   known = dprof_library_completes(&b); _M_completion();
 *                                                 dprof_library_completed(&b, known)
 *
 *   __cxa_guard_acquire(&g)   ->   dprof_library_acquires(&g); __cxa_guard_acquire(&g); dprof_library_acquired(&g)
 *   __cxa_guard_release(&g)   ->   dprof_library_releases(&g); __cxa_guard_release(&g)
 *
 * Headers of libstdc++ are compiled with the program, so that is said in them, too: a promise is fulfilled by whatever calls
 * _M_store_notify_all(). Only where the program itself calls something it is told where that stands.
 *
 * Which functions these are is found out when they are parsed: under -flto their names are gone when the pass comes.
 *
 * Law: `over`, or `tried`, follows on every way on from the call. */
#include "plugin/parts.h"
#include "gimplify.h"
#include "runtime/library.h"

enum does { LOOKS, GIVES, ASKS, MAKES, POSTS, ARRIVES, TRIES, TESTS, WAITS, NOTIFIES, LOADS, HOLDS, TELLS, COMPLETES, HIDES, PASSES,
	    CLEARS, SETS, SETS_AT, EXCHANGES, EXCHANGES_AT, CLAIMS, CLAIMS_AT,
	    COUNTS, COUNTS_DOWN, COUNTS_LOADED, COUNTS_AT, COUNTS_DOWN_AT, COUNTS_LOADED_AT,
	    HAS_USERS, HAS_NONE, IS_SHARED };

static const struct library_call {
	const char *scope, *function;
	enum does does;
	enum dprof_library what;
} table[] = {
#define DPROF_LIBRARY_CALL(scope, function, does, what) { scope, function, does, DPROF_LIBRARY_##what },
#include "plugin/library.def"
};

static const struct { enum dprof_kind kind; const char *name; } waits[] = {
#define X(WHAT, KIND, name) { DPROF_KIND_##KIND, name },
	DPROF_LIBRARY(X)
#undef X
};

/* What calls of a function are, or how its moments are measured (in num/den s; 0: unknown); neither: nothing. */
struct known_function {
	bool of_library;
	bool calls; /* what it is given: std::function and the like */
	const struct library_call *call;
	bool until, steady;
	HOST_WIDE_INT num, den;
};

static const struct library_call *find(tree fn)
{
	for (const struct library_call &c : table)
		if (cplus_is_named(fn, c.scope, c.function))
			return &c;
	return nullptr;
}

/* The type of what its first parameter refers to. */
static tree referred(tree fn)
{
	tree types = TYPE_ARG_TYPES(TREE_TYPE(fn));
	tree type = types ? TREE_VALUE(types) : NULL_TREE;
	return type && POINTER_TYPE_P(type) ? TYPE_MAIN_VARIANT(TREE_TYPE(type)) : NULL_TREE;
}

static struct known_function look_at(tree fn)
{
	struct known_function k = {};
	k.of_library = DECL_NAME(fn) && cplus_library(fn);
	if (!k.of_library)
		return k;
	k.call = find(fn);
	k.calls = !strcmp(IDENTIFIER_POINTER(DECL_NAME(fn)), "operator()") && !cplus_is_named(fn, "hash", "operator()") &&
		  !cplus_is_named(fn, "__empty_completion", "operator()");
	k.until = cplus_is_named(fn, "this_thread", "sleep_until");
	if (k.until && !cplus_moment(referred(fn), &k.num, &k.den, &k.steady))
		k.num = k.den = 0; /* of a clock of the program's own nothing is known */
	return k;
}

/* What a precompiled header calls is looked at when the pass comes. */
static struct known_function known_of(tree fn)
{
	static hash_map<int_hash<int, -1, -2>, struct known_function> functions; /* by DECL_UID */
	bool existed;
	struct known_function &k = functions.get_or_insert(DECL_UID(fn), &existed);
	if (!existed)
		k = look_at(fn);
	return k;
}

static tree note(tree *tp, int *walk_subtrees, void *)
{
	if (TYPE_P(*tp))
		*walk_subtrees = 0;
	if (TREE_CODE(*tp) != FUNCTION_DECL)
		return NULL_TREE;
	known_of(*tp);
	return NULL_TREE;
}

void library_of_source(tree fn)
{
	if (!strncmp(lang_hooks.name, "GNU C++", 7))
		walk_tree_without_duplicates(&DECL_SAVED_TREE(fn), note, nullptr);
}

/* ---- Calls of the runtime ------------------------------------------------------------------------- */

static tree number(HOST_WIDE_INT n)
{
	return build_int_cst(long_integer_type_node, n);
}

static gimple *says(gimple *at, const char *name, tree object, enum dprof_library what)
{
	return runtime_call(at, runtime_function(name, ptr_type_node, long_integer_type_node), unshare_expr(object), number(what));
}

/* As many as the call's own argument says. */
static gimple *says_how_many(gimple *at, const char *name, tree object)
{
	tree fn = runtime_function(name, ptr_type_node, long_integer_type_node);
	return runtime_call(at, fn, unshare_expr(object), unshare_expr(gimple_call_arg(at, 1)));
}

static gimple *is_over(gimple *at, tree object)
{
	return runtime_call(at, runtime_function("dprof_library_over", ptr_type_node), unshare_expr(object));
}

/* ---- Around a call -------------------------------------------------------------------------------- */

static tree told_site(gimple *stmt, enum dprof_kind kind, const char *name)
{
	location_t where = gimple_location(stmt);
	bool known = LOCATION_LOCUS(where) > BUILTINS_LOCATION && !in_system_header_at(where) && !stretches_off(where);
	return known ? site_build(kind, where, name, current_function_decl) : NULL_TREE;
}

/* Puts `begin`, if there is any, and what is told before the call, and behind it what ends both. */
template <typename END> static bool wrap(gimple_stmt_iterator *i, tree site, gimple *begin, END put_end)
{
	location_t where = gimple_location(gsi_stmt(*i));
	bool edges = false;
	if (site)
		gsi_insert_before(i, pass_call(site, where), GSI_SAME_STMT);
	if (begin)
		gsi_insert_before(i, begin, GSI_SAME_STMT);
	if (begin)
		edges |= put_end();
	if (site)
		edges |= calls_insert_after(i, [&](bool) { return pass_call(NULL_TREE, where); });
	return edges;
}

/* What the call returns goes by way of a register, which tells whether it has taken one; who is thrown out of it has not. */
static bool wrap_attempt(gimple_stmt_iterator *i, tree site, const struct library_call *c)
{
	gimple *stmt = gsi_stmt(*i);
	tree object = gimple_call_arg(stmt, 0), to = gimple_call_lhs(stmt);
	tree got = create_tmp_reg(TREE_TYPE(TREE_TYPE(gimple_call_fndecl(stmt))));
	bool loads = c->does == LOADS;
	tree fn = runtime_function(loads ? "dprof_library_loaded" : "dprof_library_tried", ptr_type_node, TREE_TYPE(got));
	gimple_call_set_lhs(stmt, got);
	return wrap(i, site, says(stmt, "dprof_library_looks", object, c->what), [&] {
		bool edges = to && calls_insert_after(i, [&](bool thrown) {
			return thrown ? gimple_build_nop() : static_cast<gimple *>(gimple_build_assign(to, got));
		});
		return calls_insert_after(i, [&](bool thrown) {
			return runtime_call(stmt, fn, unshare_expr(object), thrown ? build_zero_cst(TREE_TYPE(got)) : got);
		}) || edges;
	});
}

static bool gives(enum does does)
{
	return does == GIVES || does == ASKS || does == MAKES || does == POSTS || does == ARRIVES || does == NOTIFIES;
}

static bool is_held()
{
	const struct library_call *in = known_of(current_function_decl).call;
	return in && in->does == HOLDS;
}

static void wrap_atomic(gimple_stmt_iterator *i, const struct library_call *c)
{
	bool refers = c->does >= COUNTS_AT;
	if (c->does == CLEARS)
		spins_changes(i, gimple_call_arg(gsi_stmt(*i), 0), false);
	else if (c->does >= HAS_USERS)
		flags_note_pointer(i, c->does - HAS_USERS);
	else if (c->does < EXCHANGES)
		flags_set(i, c->does == SETS_AT);
	else if (c->does < COUNTS)
		claims_note(i, c->does == EXCHANGES_AT || c->does == CLAIMS_AT);
	else
		counters_note(i, static_cast<enum counted>(c->does - (refers ? COUNTS_AT : COUNTS)), refers);
}

static bool wrap_object(gimple_stmt_iterator *i, const struct library_call *c)
{
	gimple *stmt = gsi_stmt(*i);
	tree object = gimple_call_arg(stmt, 0);
	if (c->does >= CLEARS) {
		wrap_atomic(i, c);
		return false;
	}
	tree site = gives(c->does) ? NULL_TREE : told_site(stmt, waits[c->what].kind, waits[c->what].name);
	bool gives_apart = c->does == NOTIFIES || c->does == ARRIVES;
	if (((c->does == WAITS || c->does == TESTS) && !site) || (gives_apart && in_system_header_at(gimple_location(stmt))))
		return false;
	auto over = [&] { return calls_insert_after(i, [&](bool) { return is_over(stmt, object); }); };
	switch (c->does) {
	case LOOKS:
	case WAITS: return wrap(i, site, says(stmt, "dprof_library_looks", object, c->what), over);
	case GIVES:
	case NOTIFIES: return wrap(i, site, says(stmt, "dprof_library_gives", object, c->what), over);
	case ASKS:
		gsi_insert_before(i, says(stmt, "dprof_library_asks", object, c->what), GSI_SAME_STMT);
		return false;
	case MAKES:
		gsi_insert_before(i, says_how_many(stmt, c->what == DPROF_LIBRARY_ARRIVAL ? "dprof_library_makes_barrier" : "dprof_library_makes",
						   object), GSI_SAME_STMT);
		return false;
	case POSTS: return wrap(i, site, says_how_many(stmt, "dprof_library_posts", object), over);
	case ARRIVES: return wrap(i, site, says_how_many(stmt, "dprof_library_arrives", object), over);
	case LOADS: return is_held() && wrap_attempt(i, site, c);
	case TRIES:
	case TESTS: return wrap_attempt(i, site, c);
	default: break;
	}
	if (site && c->does == PASSES)
		gsi_insert_before(i, runtime_call(stmt, runtime_function("dprof_library_passes", long_integer_type_node), number(c->what)),
				  GSI_SAME_STMT);
	return site && c->does == TELLS && wrap(i, site, nullptr, over);
}

static bool wrap_until(gimple_stmt_iterator *i, const struct known_function &k)
{
	gimple *stmt = gsi_stmt(*i);
	tree moment = gimple_call_arg(stmt, 0);
	tree fn = runtime_function("dprof_library_until", ptr_type_node, long_integer_type_node, long_integer_type_node,
			   long_integer_type_node);
	gimple *begin = runtime_call(stmt, fn, unshare_expr(moment), number(k.num), number(k.den), number(k.steady));
	return wrap(i, told_site(stmt, DPROF_KIND_SLEEP, DPROF_LIBRARY_UNTIL), begin,
		    [&] { return calls_insert_after(i, [&](bool) { return is_over(stmt, moment); }); });
}

/* Around the initialisation of a static variable. */
static bool wrap_guard(gimple_stmt_iterator *i, const char *name)
{
	gimple *stmt = gsi_stmt(*i);
	tree guard = gimple_call_arg(stmt, 0);
	auto says = [&](const char *what) { return runtime_call(stmt, runtime_function(what, ptr_type_node), unshare_expr(guard)); };
	bool acquires = !strcmp(name, "__cxa_guard_acquire");
	gsi_insert_before(i, says(acquires ? "dprof_library_acquires" : "dprof_library_releases"), GSI_SAME_STMT);
	return acquires && calls_insert_after(i, [&](bool) { return says("dprof_library_acquired"); });
}

/* What one that waits calls is a part of that. */
static bool is_within()
{
	const struct library_call *in = known_of(current_function_decl).call;
	return in && (in->does == LOOKS || in->does == TRIES);
}

static bool completes(gimple *stmt)
{
	const struct library_call *in = known_of(current_function_decl).call;
	tree fn = gimple_call_fndecl(stmt);
	return in && in->does == COMPLETES && !gimple_call_internal_p(stmt) &&
	       (!fn || known_of(fn).calls || (!known_of(fn).of_library && !fndecl_built_in_p(fn)));
}

/* Around the function that a barrier calls. */
static bool wrap_completion(gimple_stmt_iterator *i)
{
	gimple *stmt = gsi_stmt(*i);
	tree barrier = DECL_ARGUMENTS(current_function_decl);
	tree known = create_tmp_reg(boolean_type_node);
	tree before = runtime_function("dprof_library_completes", ptr_type_node);
	tree behind = runtime_function("dprof_library_completed", ptr_type_node, boolean_type_node);
	TREE_TYPE(before) = build_function_type_list(boolean_type_node, ptr_type_node, NULL_TREE);
	gimple *begin = runtime_call(stmt, before, unshare_expr(barrier));
	gimple_call_set_lhs(begin, known);
	gsi_insert_before(i, begin, GSI_SAME_STMT);
	return calls_insert_after(i, [&](bool) { return runtime_call(stmt, behind, unshare_expr(barrier), known); });
}

bool library_hides(gimple_stmt_iterator at)
{
	gimple *stmt = gsi_stmt(at);
	tree fn = gimple_call_fndecl(stmt);
	const struct library_call *c = !strncmp(lang_hooks.name, "GNU C++", 7) && fn ? known_of(fn).call : nullptr;
	if (!c || c->does != HIDES)
		return false;
	tree condition = gimple_call_arg(stmt, 0);
	gsi_insert_before(&at, runtime_call(stmt, runtime_function("dprof_library_hides", ptr_type_node), unshare_expr(condition)),
			  GSI_SAME_STMT);
	return calls_insert_after(&at, [&](bool) { return runtime_call(stmt, runtime_function("dprof_library_shows")); });
}

bool library_exchanges(tree fn)
{
	const struct library_call *c = !strncmp(lang_hooks.name, "GNU C++", 7) ? known_of(fn).call : nullptr;
	return c && (c->does == EXCHANGES || c->does == EXCHANGES_AT);
}

bool library_loads(tree fn)
{
	const struct library_call *c = !strncmp(lang_hooks.name, "GNU C++", 7) ? known_of(fn).call : nullptr;
	return c && (c->does == COUNTS_LOADED || c->does == COUNTS_LOADED_AT);
}

bool library_counts(tree fn)
{
	const struct library_call *c = !strncmp(lang_hooks.name, "GNU C++", 7) ? known_of(fn).call : nullptr;
	return c && (c->does == COUNTS || c->does == COUNTS_DOWN || c->does == COUNTS_AT || c->does == COUNTS_DOWN_AT);
}

bool library_claims(tree fn)
{
	const struct library_call *c = !strncmp(lang_hooks.name, "GNU C++", 7) ? known_of(fn).call : nullptr;
	return c && (c->does == CLAIMS || c->does == CLAIMS_AT);
}

bool library_wrap(gimple_stmt_iterator *i)
{
	gimple *stmt = gsi_stmt(*i);
	tree fn = gimple_call_fndecl(stmt);
	if (strncmp(lang_hooks.name, "GNU C++", 7))
		return false;
	if (completes(stmt))
		return wrap_completion(i);
	if (!fn || !gimple_call_num_args(stmt) || is_within())
		return false;
	const char *name = TREE_PUBLIC(fn) ? IDENTIFIER_POINTER(DECL_ASSEMBLER_NAME(fn)) : "";
	if (startswith(name, "__cxa_guard_"))
		return wrap_guard(i, name);
	struct known_function k = known_of(fn);
	return k.until ? wrap_until(i, k) : k.call && wrap_object(i, k.call);
}

/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * clocks.cc - what the program does for as long as a clock says that it reads:
 *
 *   usleep(next - now());   ->   dprof_rests(SITE); usleep(next - now()); dprof_rested();
 *   if (left > 0) usleep(left);   ->   likewise; and where nothing is left: dprof_rests(SITE); dprof_rested();
 *   while (now() < next) work();   ->   dprof_loop_begins(&since); while (...) work(); dprof_loop_is_over(SITE, &since, 1);
 *
 * What is read off a clock is followed in one function, through what is made of it and through calls that are given it; a function
 * that gives its caller what it has read is a clock itself. It is said of a loop only on the ways out that the clock decides, and
 * not of one that does nothing but wait for so long from where it stands: that is work as far as anybody knows.
 *
 * Law: nothing that the program does changes. */
#include "plugin/parts.h"
#include "cfgloop.h"
#include "gimple-walk.h"
#include "gimplify.h"
#include "runtime/clocks.h"

#define DEEPEST 3 /* calls of calls that are looked into */

static bool is_one_of(tree fn, const char *const *names)
{
	for (; *names && DECL_NAME(fn); names++)
		if (!strcmp(IDENTIFIER_POINTER(DECL_NAME(fn)), *names))
			return true;
	return false;
}

static bool in_cplus()
{
	return !strncmp(lang_hooks.name, "GNU C++", 7);
}

bool clocks_read(tree fn)
{
	static const char *const names[] = {
		"clock_gettime", "gettimeofday", "time", "timespec_get", "MPI_Wtime", "PMPI_Wtime", "mpi_wtime", "mpi_wtime_",
		"omp_get_wtime", "omp_get_wtime_", "_gfortran_system_clock_4", "_gfortran_system_clock_8", "_gfortran_date_and_time",
		"__builtin_ia32_rdtsc", "__builtin_ia32_rdtscp", NULL };
	bool of_chrono = in_cplus() && (cplus_is_named(fn, "steady_clock", "now") || cplus_is_named(fn, "system_clock", "now"));
	return of_chrono || is_one_of(fn, names);
}

/* It makes something of moments and durations. */
static bool is_of_chrono(tree fn)
{
	if (!in_cplus() || !DECL_NAME(fn) || !cplus_library(fn))
		return false;
	for (tree of = DECL_CONTEXT(fn); of; of = TYPE_P(of) ? TYPE_CONTEXT(of) : DECL_CONTEXT(of))
		if (TREE_CODE(of) == NAMESPACE_DECL && DECL_NAME(of) && !strcmp(IDENTIFIER_POINTER(DECL_NAME(of)), "chrono"))
			return true;
	return cplus_is_named(fn, "std", "min") || cplus_is_named(fn, "std", "max");
}

static bool sleeps(tree fn)
{
	static const char *const names[] = { "nanosleep", "clock_nanosleep", "usleep", "sleep", "thrd_sleep", NULL };
	return (in_cplus() && cplus_is_named(fn, "this_thread", "sleep_for")) || is_one_of(fn, names);
}

/* ---- What of a function is read off a clock ------------------------------------------------------- */

class clock_walk {
public:
	clock_walk(tree fn, unsigned depth) : fn(fn), depth(depth) {}
	void is_given() /* all its parameters are */
	{
		for (tree parameter = DECL_ARGUMENTS(fn); parameter; parameter = DECL_CHAIN(parameter))
			read.add(parameter);
	}
	void run();
	bool holds(tree x);
	bool takes(gcall *call); /* it is given some */
	bool any() { return read.elements() > 0; }
	bool gives = false;      /* its caller gets some */
	bool rests = false;      /* it sleeps for what is made of it */

private:
	tree fn;
	unsigned depth;
	hash_set<tree> read;
	bool more = false;

	void hold(tree x);
	void call(gcall *stmt);
	void statement(gimple *stmt);
};

static bool is_time(tree type)
{
	tree name = TYPE_NAME(type) && TREE_CODE(TYPE_NAME(type)) == TYPE_DECL ? DECL_NAME(TYPE_NAME(type)) : TYPE_NAME(type);
	for (const char *known : { "timespec", "timeval", "time_point", "duration" })
		if (name && TREE_CODE(name) == IDENTIFIER_NODE && !strcmp(IDENTIFIER_POINTER(name), known))
			return true;
	return false;
}

/* The variable that x is of, or of what it points to, or the member of any object, but of a moment; or NULL_TREE. (Functions of
 * which the pass is done are in SSA form.) */
static tree variable_of(tree x)
{
	while (x && !DECL_P(x))
		if (TREE_CODE(x) == SSA_NAME)
			return SSA_NAME_VAR(x) ? SSA_NAME_VAR(x) : x;
		else if (TREE_CODE(x) == COMPONENT_REF && !is_time(TYPE_MAIN_VARIANT(TREE_TYPE(TREE_OPERAND(x, 0)))))
			return TREE_OPERAND(x, 1);
		else if (TREE_CODE(x) == ADDR_EXPR || TREE_CODE(x) == MEM_REF || handled_component_p(x))
			x = TREE_OPERAND(x, 0);
		else
			return NULL_TREE;
	return x;
}

static bool is_given_back(tree variable)
{
	tree type = TREE_TYPE(variable), of = POINTER_TYPE_P(type) ? TYPE_MAIN_VARIANT(TREE_TYPE(type)) : NULL_TREE;
	bool place = TREE_CODE(variable) == PARM_DECL && of && (SCALAR_FLOAT_TYPE_P(of) || INTEGRAL_TYPE_P(of) || is_time(of));
	return place || TREE_CODE(variable) == RESULT_DECL;
}

bool clock_walk::holds(tree x)
{
	tree variable = variable_of(x);
	return variable && read.contains(variable);
}

void clock_walk::hold(tree x)
{
	tree variable = variable_of(x);
	if (!variable || read.add(variable))
		return;
	more = true;
	gives |= is_given_back(variable);
}

bool clock_walk::takes(gcall *call)
{
	for (unsigned k = 0; k < gimple_call_num_args(call); k++)
		if (holds(gimple_call_arg(call, k)))
			return true;
	return false;
}

static bool is_clock(tree fn, unsigned depth)
{
	static hash_map<tree, bool> known;
	if (clocks_read(fn))
		return true;
	if (!has_body(fn) || depth == DEEPEST)
		return false;
	if (bool *is = known.get(fn))
		return *is;
	known.put(fn, false);
	clock_walk walk(fn, depth + 1);
	walk.run();
	known.put(fn, walk.gives);
	return walk.gives;
}

/* What a function does with what it is given: it sleeps for so long, or gives back what it makes of it. */
struct use { bool rests, gives; };

static struct use use_of(tree fn, unsigned depth)
{
	static hash_map<tree, struct use> known;
	if (sleeps(fn) || !has_body(fn) || is_of_chrono(fn) || depth == DEEPEST)
		return { sleeps(fn), is_of_chrono(fn) || is_one_of(fn, (const char *const[]){ "difftime", NULL }) };
	if (struct use *is = known.get(fn))
		return *is;
	known.put(fn, { false, false });
	clock_walk walk(fn, depth + 1);
	walk.is_given();
	walk.run();
	known.put(fn, { walk.rests, walk.gives });
	return { walk.rests, walk.gives };
}

void clock_walk::call(gcall *stmt)
{
	tree function = gimple_call_fndecl(stmt), to = gimple_call_lhs(stmt);
	bool given = takes(stmt), computes = gimple_call_flags(stmt) & (ECF_CONST | ECF_PURE);
	struct use use = given && function ? use_of(function, depth) : (struct use){ false, false };
	if (to && given && (computes || use.gives))
		hold(to);
	if (use.gives && in_cplus() && DECL_CXX_CONSTRUCTOR_P(function))
		hold(gimple_call_arg(stmt, 0));
	rests |= use.rests;
	if (!function || !is_clock(function, depth))
		return;
	if (to)
		hold(to);
	for (unsigned k = 0; k < gimple_call_num_args(stmt); k++)
		if (POINTER_TYPE_P(TREE_TYPE(gimple_call_arg(stmt, k))))
			hold(gimple_call_arg(stmt, k));
}

void clock_walk::statement(gimple *stmt)
{
	if (gcall *c = dyn_cast<gcall *>(stmt))
		return call(c);
	if (greturn *back = dyn_cast<greturn *>(stmt))
		gives |= gimple_return_retval(back) && holds(gimple_return_retval(back));
	if (is_gimple_assign(stmt) && !gimple_clobber_p(stmt))
		for (unsigned k = 1; k < gimple_num_ops(stmt); k++)
			if (holds(gimple_op(stmt, k)))
				hold(gimple_assign_lhs(stmt));
}

void clock_walk::run()
{
	basic_block bb;
	do {
		more = false;
		FOR_EACH_BB_FN(bb, DECL_STRUCT_FUNCTION(fn)) {
			for (gphi_iterator i = gsi_start_phis(bb); !gsi_end_p(i); gsi_next(&i))
				for (unsigned k = 0; k < gimple_phi_num_args(i.phi()); k++)
					if (holds(gimple_phi_arg_def(i.phi(), k)))
						hold(gimple_phi_result(i.phi()));
			for (gimple_stmt_iterator i = gsi_start_bb(bb); !gsi_end_p(i); gsi_next(&i))
				statement(gsi_stmt(i));
		}
	} while (more);
}

/* ---- Loops ---------------------------------------------------------------------------------------- */

static bool calls_clock(gimple *stmt)
{
	tree function = is_gimple_call(stmt) ? gimple_call_fndecl(stmt) : NULL_TREE;
	return function && is_clock(function, 0);
}

/* Something else is done there than to compute: a call, or what the program has marked. */
static bool is_doing(gimple *stmt)
{
	struct event e;
	if (gcall *call = dyn_cast<gcall *>(stmt))
		return !retries_pause(call);
	gasm *text = dyn_cast<gasm *>(stmt);
	return text && event_read(gimple_asm_string(text), &e);
}

/* What comes before a place, backwards: a clock that is read just before it, or something else that is done; or neither, up to
 * where the function begins. */
enum before { CLOCK, DEEDS, BEGIN };

static enum before look_back(basic_block bb, gimple_stmt_iterator i, hash_set<basic_block> *seen)
{
	for (; !gsi_end_p(i); gsi_prev(&i)) {
		if (calls_clock(gsi_stmt(i)))
			return CLOCK;
		if (is_doing(gsi_stmt(i)))
			return DEEDS;
	}
	edge e;
	edge_iterator ei;
	enum before all = DEEDS;
	FOR_EACH_EDGE(e, ei, bb->preds)
		if (e->src->index == ENTRY_BLOCK)
			all = BEGIN;
		else if (!seen->add(e->src) && all != CLOCK)
			all = look_back(e->src, gsi_last_bb(e->src), seen);
	return all;
}

static enum before look_back(gimple *from)
{
	hash_set<basic_block> seen;
	gimple_stmt_iterator i = gsi_for_stmt(from);
	gsi_prev(&i);
	return look_back(gimple_bb(from), i, &seen);
}

/* Whether a caller of the function reads a clock just before. */
static bool is_called_now(tree fn, unsigned depth)
{
	for (cgraph_edge *e : cgraph_node::get(fn)->collect_callers()) {
		bool known = e->call_stmt && has_body(e->caller->decl);
		enum before before = known ? look_back(e->call_stmt) : DEEDS;
		if (before == CLOCK || (before == BEGIN && depth < DEEPEST && is_called_now(e->caller->decl, depth + 1)))
			return true;
	}
	return false;
}

class clock_loop {
public:
	clock_loop(class loop *l, clock_walk &walk) : l(l), walk(walk), blocks(get_loop_body(l)) {}
	~clock_loop() { free(blocks); }
	bool wrap();

private:
	class loop *l;
	clock_walk &walk;
	basic_block *blocks;
	auto_vec<edge> begins, ends;
	bool reads = false, does = false, jumps = false; /* jumps: a way into it is a jump */

	void look();
	bool is_work();
};

/* Its ways in, and those out that a clock decides. */
void clock_loop::look()
{
	edge e;
	edge_iterator ei;
	FOR_EACH_EDGE(e, ei, l->header->preds)
		if (!flow_bb_inside_loop_p(l, e->src)) {
			begins.safe_push(e);
			jumps |= e->flags & EDGE_ABNORMAL;
		}
	for (unsigned n = 0; n < l->num_nodes; n++) {
		gimple *last = last_stmt(blocks[n]);
		gcond *cond = last ? dyn_cast<gcond *>(last) : nullptr;
		for (gimple_stmt_iterator i = gsi_start_bb(blocks[n]); !gsi_end_p(i); gsi_next(&i)) {
			reads |= calls_clock(gsi_stmt(i));
			does |= is_doing(gsi_stmt(i));
		}
		if (cond && (walk.holds(gimple_cond_lhs(cond)) || walk.holds(gimple_cond_rhs(cond))))
			FOR_EACH_EDGE(e, ei, blocks[n]->succs)
				if (!flow_bb_inside_loop_p(l, e->dest))
					ends.safe_push(e);
	}
}

bool clock_loop::is_work()
{
	for (edge e : begins) {
		hash_set<basic_block> seen;
		bool first = e->src->index == ENTRY_BLOCK;
		enum before before = first ? BEGIN : look_back(e->src, gsi_last_bb(e->src), &seen);
		if (before == DEEDS || (before == BEGIN && !is_called_now(current_function_decl, 0)))
			return false;
	}
	return !does;
}

bool clock_loop::wrap()
{
	look();
	if (!reads || jumps || !ends.length() || is_work())
		return false;
	location_t where = UNKNOWN_LOCATION;
	for (unsigned k = 0; k < ends.length() && where == UNKNOWN_LOCATION; k++)
		where = counters_location(last_stmt(ends[k]->src));
	if (where == UNKNOWN_LOCATION)
		return false;
	gimple *at = last_stmt(ends[0]->src);
	tree site = site_build(DPROF_KIND_SLEEP, where, DPROF_CLOCK_LOOP, current_function_decl);
	tree since = create_tmp_var(build_array_type_nelts(long_long_unsigned_type_node, 2));
	TREE_ADDRESSABLE(since) = 1;
	tree over = runtime_function("dprof_loop_is_over", ptr_type_node, ptr_type_node, integer_type_node);
	for (edge e : begins)
		gsi_insert_on_edge(e, runtime_call(at, runtime_function("dprof_loop_begins", ptr_type_node), build_fold_addr_expr(since)));
	for (edge e : ends)
		gsi_insert_on_edge(e, runtime_call(at, over, build_fold_addr_expr(unshare_expr(site)), build_fold_addr_expr(since),
						   does ? integer_one_node : integer_zero_node));
	return true;
}

/* ---- Sleeps --------------------------------------------------------------------------------------- */

static gimple *rests(gimple *at, tree site)
{
	return runtime_call(at, runtime_function("dprof_rests", ptr_type_node), build_fold_addr_expr(unshare_expr(site)));
}

static gimple *rested(gimple *at)
{
	return runtime_call(at, runtime_function("dprof_rested"));
}

/* Where it does not sleep because there is no time left, if it looks just before; but in a loop that sleeps until there is none. */
static bool pass_by(clock_walk &walk, gimple *call, tree site)
{
	basic_block bb = gimple_bb(call);
	while (single_pred_p(bb) && single_succ_p(single_pred(bb)))
		bb = single_pred(bb);
	gimple *last = single_pred_p(bb) ? last_stmt(single_pred(bb)) : nullptr;
	gcond *cond = last ? dyn_cast<gcond *>(last) : nullptr;
	if (!cond || !(walk.holds(gimple_cond_lhs(cond)) || walk.holds(gimple_cond_rhs(cond))))
		return false;
	edge e;
	edge_iterator ei;
	FOR_EACH_EDGE(e, ei, single_pred(bb)->succs)
		if (e->dest != bb && flow_bb_inside_loop_p(gimple_bb(call)->loop_father, e->dest)) {
			gsi_insert_on_edge(e, rests(cond, site));
			gsi_insert_on_edge(e, rested(cond));
		}
	return true;
}

static bool wrap_sleep(clock_walk &walk, gimple_stmt_iterator *i)
{
	gcall *call = dyn_cast<gcall *>(gsi_stmt(*i));
	tree function = call ? gimple_call_fndecl(call) : NULL_TREE;
	if (!function || !walk.takes(call) || !use_of(function, 0).rests)
		return false;
	location_t where = counters_location(call);
	if (where == UNKNOWN_LOCATION)
		return false;
	tree site = site_build(DPROF_KIND_SLEEP, where, DPROF_NO_REST, current_function_decl);
	bool edges = pass_by(walk, call, site);
	gsi_insert_before(i, rests(call, site), GSI_SAME_STMT);
	return calls_insert_after(i, [&](bool) { return rested(call); }) || edges;
}

bool clocks_wrap(function *fun)
{
	bool edges = false;
	basic_block bb;
	clock_walk walk(fun->decl, 0);
	if (DECL_IN_SYSTEM_HEADER(fun->decl) || bodies_of_device(fun->decl))
		return false;
	walk.run();
	if (!walk.any())
		return false;
	loop_optimizer_init(AVOID_CFG_MODIFICATIONS);
	for (auto l : loops_list(fun, 0))
		edges |= clock_loop(l, walk).wrap();
	FOR_EACH_BB_FN(bb, fun)
		for (gimple_stmt_iterator i = gsi_start_bb(bb); !gsi_end_p(i); gsi_next(&i))
			edges |= wrap_sleep(walk, &i);
	loop_optimizer_finalize();
	return edges;
}

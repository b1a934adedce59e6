/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * auto.cc - regions without pragmas: -fplugin-arg-dprof-auto=functions|loops|mpi.
 *
 *   functions   each function is a region of its name, if it has a loop or is not short
 *   mpi         each function that calls MPI itself is
 *   loops       each outermost loop is one: loops.cc
 *
 * What threads start with, and what handles signals (bodies.cc), is one in any case.
 *
 * Law: nothing of system headers, of stretches that are off, that the compiler made up, that the filter excludes or,
 * unless it includes it by name, that is always inlined is taken. Functions are wrapped where -finstrument-functions
 * would wrap them, when they are GIMPLE but have no graph yet, in every language. */
#include "plugin/parts.h"
#include "attribs.h"
#include "gimple-walk.h"
#include "gimplify.h"

static char *no_longer(char *name)
{
	if (strlen(name) > DPROF_NAME_MAX)
		name[DPROF_NAME_MAX] = '\0';
	return name;
}

/* To be freed. Those lambdas of a function that take the same have one name; a thread's has its line. */
char *auto_name(tree fn)
{
	if (cplus_lambda(fn) && bodies_start(fn))
		return bodies_lambda_name(fn);
	return no_longer(xstrdup(site_function_name(fn)));
}

/* A filter knows a handler by the function's own name. To be freed. */
static char *region_name(tree fn)
{
	char *name = auto_name(fn);
	return bodies_handler(fn) && !cplus_lambda(fn) ? no_longer(reconcat(name, "handler ", name, NULL)) : name;
}

static bool has_attribute(tree fn, const char *name)
{
	return lookup_attribute(name, DECL_ATTRIBUTES(fn));
}

/* Also the main() that calls a Fortran program, which gfortran does not call artificial. */
static bool is_made_up(tree fn)
{
	return (DECL_ARTIFICIAL(fn) && !cplus_lambda(fn)) || (fortran() && MAIN_NAME_P(DECL_NAME(fn)));
}

static bool could_take(tree fn)
{
	location_t where = DECL_SOURCE_LOCATION(fn);
	return !is_made_up(fn) && !has_attribute(fn, "no_instrument_function") &&
	       !in_system_header_at(where) && !stretches_off(where) && !has_attribute(fn, "naked") &&
	       !has_attribute(fn, "interrupt");
}

/* Does the filter say so of its name? */
static bool filtered(bool filter(tree fn, const char *name), tree fn)
{
	char *name = auto_name(fn);
	bool result = filter(fn, name);
	free(name);
	return result;
}

bool auto_takes(tree fn)
{
	return could_take(fn) && filtered(filter_takes, fn) &&
	       (!has_attribute(fn, "always_inline") || filtered(filter_names, fn));
}

/* ---- Functions --------------------------------------------------------------------------------- */

namespace {

const unsigned SMALL = 30; /* statements */

struct contents {
	unsigned statements = 0;
	bool mpi = false, loop = false;
	hash_set<tree> labels; /* that the walk has passed */
};

/* Does it lead back? */
bool jumps_back(gimple *stmt, contents *c)
{
	switch (gimple_code(stmt)) {
	case GIMPLE_LABEL:
		c->labels.add(gimple_label_label(as_a<glabel *>(stmt)));
		return false;
	case GIMPLE_GOTO:
		return c->labels.contains(gimple_goto_dest(stmt));
	case GIMPLE_COND:
		return c->labels.contains(gimple_cond_true_label(as_a<gcond *>(stmt))) ||
		       c->labels.contains(gimple_cond_false_label(as_a<gcond *>(stmt)));
	case GIMPLE_OMP_FOR:
		return true;
	default:
		return false;
	}
}

tree count_step(gimple_stmt_iterator *i, bool *, struct walk_stmt_info *info)
{
	contents *c = (contents *)info->info;
	gimple *stmt = gsi_stmt(*i);
	c->statements += !is_gimple_debug(stmt) && gimple_code(stmt) != GIMPLE_LABEL &&
			 gimple_code(stmt) != GIMPLE_BIND && !gimple_clobber_p(stmt);
	c->mpi = c->mpi || calls_mpi(stmt);
	c->loop = c->loop || jumps_back(stmt, c);
	return NULL_TREE;
}

void look_at(tree fn, struct contents *c)
{
	struct walk_stmt_info info = {};
	info.info = c;
	walk_gimple_seq(gimple_body(fn), count_step, nullptr, &info);
}

/* The user asked for it, a thread starts with it, or it takes long: it has a loop, or may wait. Such a function
 * is a region whatever its size, and also where it is inlined. */
bool always(tree fn, const struct contents &c)
{
	return bodies_start(fn) || filtered(filter_names, fn) || c.loop || c.mpi;
}

bool wants(tree fn, const struct contents &c)
{
	if (bodies_start(fn))
		return could_take(fn) && !filtered(filter_refuses, fn);
	return auto_takes(fn) &&
	       (((options.automatic & AUTO_FUNCTIONS) && (c.statements >= options.min || always(fn, c))) ||
		((options.automatic & AUTO_MPI) && c.mpi));
}

/* Large ones are inlined only where they are called once, and are worth their events there too. */
enum origin origin_of(tree fn, const struct contents &c)
{
	return !always(fn, c) && (DECL_DECLARED_INLINE_P(fn) || c.statements < SMALL) ? UNLESS_INLINED : AUTOMATIC;
}

class pass_auto : public gimple_opt_pass {
public:
	pass_auto();
	unsigned execute(function *fun) final override;
};

const pass_data data = { GIMPLE_PASS, "dprof_auto", OPTGROUP_NONE, TV_NONE, PROP_gimple_any, 0, 0, 0,
			 0 };

pass_auto::pass_auto() : gimple_opt_pass(data, g)
{
}

/* In a function that nobody jumps into. */
bool jumps_to_caller(const char *name)
{
	return !cfun->calls_setjmp &&
	       (!strcmp(name, "longjmp") || !strcmp(name, "_longjmp") || !strcmp(name, "siglongjmp"));
}

/* The end of the program, or of the thread where that unwinds no frames, or a jump, of which most are in handlers of
 * signals: no finally is reached from there. */
bool leaves_frames(gimple *stmt)
{
	tree callee = is_gimple_call(stmt) ? gimple_call_fndecl(stmt) : NULL_TREE;
	if (!callee || !(gimple_call_flags(stmt) & ECF_NORETURN))
		return false;
	const char *name = IDENTIFIER_POINTER(DECL_NAME(callee));
	if (strcmp(name, "pthread_exit") == 0 || strcmp(name, "thrd_exit") == 0)
		return !flag_exceptions;
	return strcmp(name, "exit") == 0 || jumps_to_caller(name) || startswith(name, "_gfortran_stop_") ||
	       startswith(name, "_gfortran_error_stop_");
}

struct region { char *name; location_t where; enum origin origin; };

gimple_seq event_seq(enum dprof_op op, const region &r)
{
	gimple_seq seq = nullptr;
	push_gimplify_context();
	gimplify_and_add(event_note(op, DPROF_KIND_REGION, r.name, r.where, r.origin), &seq);
	pop_gimplify_context(nullptr);
	return seq;
}

/* exit(n)  ->  EXIT; exit(n) */
tree exit_step(gimple_stmt_iterator *i, bool *, struct walk_stmt_info *info)
{
	if (leaves_frames(gsi_stmt(*i)))
		gsi_insert_seq_before(i, event_seq(DPROF_EXIT, *(const region *)info->info),
				      GSI_SAME_STMT);
	return NULL_TREE;
}

/* { S }  ->  { ENTER; try { S } finally { EXIT } } */
unsigned pass_auto::execute(function *fun)
{
	tree fn = fun->decl;
	gimple *whole = gimple_seq_first_stmt(gimple_body(fn));
	struct contents c;
	if (!whole || gimple_code(whole) != GIMPLE_BIND)
		return 0;
	look_at(fn, &c);
	if (resolvers_reach(fn) || !wants(fn, c))
		return 0;
	region r = { region_name(fn), DECL_SOURCE_LOCATION(fn), origin_of(fn, c) };
	gbind *bind = as_a<gbind *>(whole);
	gimple_seq inner = gimple_bind_body(bind), body = event_seq(DPROF_ENTER, r);
	struct walk_stmt_info info = {};
	info.info = &r;
	walk_gimple_seq_mod(&inner, exit_step, nullptr, &info);
	gimple_seq_add_stmt(&body, gimple_build_try(inner, event_seq(DPROF_EXIT, r), GIMPLE_TRY_FINALLY));
	free(r.name);
	gimple_bind_set_body(bind, body);
	return 0;
}

} // namespace

void auto_register(const char *plugin_name)
{
	struct register_pass_info where = { new pass_auto, "*warn_unused_result", 1,
					    PASS_POS_INSERT_BEFORE };
	register_callback(plugin_name, PLUGIN_PASS_MANAGER_SETUP, nullptr, &where);
}

/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * parts.h - what the parts of the plugin give each other; plugin.cc says how they work together. */
#ifndef DPROF_PLUGIN_PARTS_H
#define DPROF_PLUGIN_PARTS_H

#include "plugin/gcc.h"
#include "runtime/format.h"
#include "runtime/spins.h"

enum directive {
#define DPROF_DIRECTIVE(ID, ...) DIRECTIVE_##ID,
#include "pragmas/grammar.def"
	DIRECTIVE_COUNT,
	/* The plugin's own: a region whose statement is followed by a CLOSE. */
	DIRECTIVE_OPEN = DIRECTIVE_COUNT,
	DIRECTIVE_CLOSE,
};

/* Who wants a region: the user, by a directive; or the plugin, by itself. */
enum origin {
	MARKED,
	AUTOMATIC,
	UNLESS_INLINED, /* automatic; its events go where its function is inlined */
};

/* One directive in the program, after parsing. The name of one that marker_read() gives lives as long as the marker. */
struct marker {
	enum directive what;
	enum dprof_kind kind;
	location_t where;
	const char *name;
	tree instance; /* which of many, or NULL */
	enum origin origin;
	const char *role; /* or NULL; while it is parsed: names.cc keeps it */
};

/* options.cc */
enum { AUTO_FUNCTIONS = 1, AUTO_LOOPS = 2, AUTO_MPI = 4 };
extern struct plugin_options {
	bool fence; /* lfence around every rdtsc */
	bool help;
	unsigned automatic; /* AUTO_... */
	unsigned min;       /* statements of what is taken automatically */
} options;
bool options_read(struct plugin_name_args *args);
char *options_help();

/* pragma.cc: reads `#pragma dprof ...` and leaves a marker in the statement list. */
void pragma_register(bool cplusplus);

/* lex.cc: the tokens of a directive. */
struct token {
	enum cpp_ttype type;
	tree value;
	location_t where;
};
struct token lex(location_t before = UNKNOWN_LOCATION);

/* value.cc: an expression and the parenthesis behind it; NULL after an error. */
tree value_parse(location_t before);

/* grammar.cc: what a name of this kind is called; help. */
const char *grammar_word(enum dprof_kind kind);
char *grammar_help(); /* to be freed */

/* stretches.cc: which parts of the source are not to be instrumented. */
void stretches_add(location_t where, bool on);
bool stretches_off(location_t where);

/* names.cc: one name is of one kind. False after an error. */
bool names_check(enum dprof_kind kind, const char *name, location_t where);

/* A name has one role, "master" or "stage:3", which is kept. False after an error. */
bool names_take_role(const char *name, const char *role, location_t where);
const char *names_role(const char *name); /* NULL: it has none */

/* instance.cc: which of many a region is. */
tree instance_note(const struct marker &m);
bool instance_is(const char *asm_text);
void instance_expand(gimple_stmt_iterator *i);

/* cplus.cc: what only cp-tree.h knows of a function of C++. */
bool cplus_constexpr(tree fn);
bool cplus_lambda(tree fn);
bool cplus_in_template();
tree cplus_arrow(location_t where, tree pointer);
bool cplus_library(tree fn);
tree cplus_pointer_to_member(tree value); /* the member function; or NULL */
tree cplus_lambda_behind(tree t);         /* the body of the lambda of which this makes a pointer to a function; or NULL */
tree cplus_invoked(tree fn);              /* the type of what this function of libstdc++ calls in a new thread; or NULL */
bool cplus_is_named(tree fn, const char *scope, const char *name); /* in the class or namespace of that name */
bool cplus_is_of(tree fn, const char *scope); /* a member of a class of that name */
bool cplus_of_times(tree fn); /* it computes with times, as a function of std::chrono; it does not read a clock */
bool cplus_moment(tree type, HOST_WIDE_INT *num, HOST_WIDE_INT *den, bool *steady); /* of which clock, in units of num/den s */

/* marker.cc: a marker is a statement that every later step of the front end copies faithfully. */
tree marker_build(struct marker m);
bool marker_read(tree stmt, struct marker *m);
bool marker_is(const char *asm_text);

/* source.cc: what the source text has between a directive and the statement that it would take. */
enum follows { FOLLOWS_UNKNOWN, FOLLOWS_NOTHING, FOLLOWS_DECLARATION };
enum follows source_follows(location_t directive, location_t statement);
bool source_is_body(location_t directive);

/* close.cc: puts a CLOSE behind the statement of each REGION, which becomes an OPEN. */
void close_regions(tree fn);

/* lower.cc: turns the markers of one function into notes of events and TRY_FINALLY_EXPRs. */
void lower(tree fn);
bool lower_by_hand(const char *name);

/* jumps.cc: refuses jumps into a region, which would skip its ENTER. */
struct wrapped {
	tree body; /* its TRY_FINALLY_EXPR */
	struct marker begin;
};
void jumps_check(tree fn, const vec<wrapped> &regions);

/* register_barriers.cc: keeps work in registers in its region. */
void register_barriers_install(const char *plugin_name);

/* inlined.cc: what is taken away again after inlining. A mark is the name of an asm's first operand. */
enum mark { MARK_NONE, MARK_EVENT, MARK_BARRIER, MARK_BARRIER_OF_EVENT };
tree inlined_operand(enum mark mark, const char *constraint, tree value);
enum mark inlined_mark(gimple *stmt);
void inlined_register(const char *plugin_name);

/* loading.cc: the object that is compiled tells of itself when it is loaded. */
void loading_tell();

/* site.cc: one struct dprof_site in the object file. `where` gives line and column. */
tree site_build(enum dprof_kind kind, location_t where, const char *name, tree fn, enum origin origin = MARKED);
tree site_build_team(location_t where, const char *name, tree fn); /* of a fork, and behind it of its join, "NAME end" */
const char *site_function_name(tree fn);
tree site_function(tree site); /* that it was built for; NULL if it is no site */

/* event.cc: where the front end wants an event it leaves a note; the pass turns it into the
 * instructions that record `op` at `site`. */
struct event {
	enum dprof_op op;
	enum dprof_kind kind;
	enum origin origin;
	const char *name;
};
tree event_note(enum dprof_op op, enum dprof_kind kind, const char *name, location_t site,
		enum origin origin = MARKED);
bool event_read(const char *asm_text, struct event *e);
gimple *event_build(enum dprof_op op, enum dprof_kind kind, tree site, location_t where, enum origin origin);
gimple *call_build(tree site, location_t where); /* says that a call comes; NULL: that it is over */
bool call_tells(gasm *); /* it is such a statement */
gimple *call_or_event_build(enum dprof_op op, enum dprof_kind kind, enum dprof_adapter adapter, tree site,
			    location_t where);
tree event_site(gimple *stmt, enum dprof_op *op); /* NULL if it is no event */

/* pass.cc: the pass over GIMPLE that does the rest. */
void pass_register(const char *plugin_name);
gimple *pass_event(enum dprof_op op, enum dprof_kind kind, tree site, location_t where,
		   enum origin origin = MARKED);
gimple *pass_call(tree site, location_t where);
gimple *pass_call_or_event(enum dprof_op op, enum dprof_kind kind, enum dprof_adapter adapter, tree site,
			   location_t where);

/* balance.cc: ends of regions whose begin and end stand in different blocks. The second returns true if edges
 * wait to be committed. */
void balance_add(gimple *stmt, enum dprof_op op, tree site);
bool balance_all(function *fun);

/* fortran.cc */
bool fortran();
bool fortran_symbol_is(const char *symbol, const char *function);
void fortran_expand(function *fun);

/* auto.cc: regions without pragmas. */
bool auto_takes(tree fn);
char *auto_name(tree fn); /* to be freed */
void auto_register(const char *plugin_name);

/* resolvers.cc: what runs before threads have their variables; to be asked when all is parsed. */
bool resolvers_reach(tree fn);

/* loops.cc: so are loops, those of the source and those of the graph. The second returns true if edges wait to be
 * committed. */
void loops_of_source(tree fn);
bool loops_of_graph(function *fun);

/* bodies.cc: what threads run is a region, and what handles signals. The last one returns true if edges wait to be
 * committed. */
void bodies_of_source(tree fn);
void bodies_of_variable(tree var);
bool bodies_start(tree fn);
bool bodies_handler(tree fn);      /* of signals */
char *bodies_lambda_name(tree fn); /* of a lambda that is one; to be freed */
char *bodies_name(const char *word, location_t where); /* to be freed */
bool bodies_of_device(tree fn); /* may it run on another one? */
bool bodies_wrap(function *fun);

/* filter.cc: which functions those are. A rule that names something is more than `*`. */
bool filter_read(const char *file);
bool filter_takes(tree fn, const char *name);
bool filter_names(tree fn, const char *name);   /* an INCLUDE that names it decides */
bool filter_refuses(tree fn, const char *name); /* an EXCLUDE that names it decides */

/* calls.cc: events, or what is told, around calls that synchronise. Returns true if edges wait to be committed. */
bool calls_wrap(gimple_stmt_iterator *i);
bool calls_mpi(gimple *stmt);

/* Puts what `build(thrown)` makes on every way on from a call; thrown: that of an exception. Returns true if edges wait to be
 * committed. */
template <typename BUILD> bool calls_insert_after(gimple_stmt_iterator *i, BUILD build)
{
	gimple *stmt = gsi_stmt(*i);
	if (!stmt_ends_bb_p(stmt)) {
		gsi_insert_after(i, build(false), GSI_NEW_STMT);
		return false;
	}
	edge e;
	edge_iterator ei;
	FOR_EACH_EDGE(e, ei, gimple_bb(stmt)->succs)
		if (!(e->flags & EDGE_ABNORMAL))
			gsi_insert_on_edge(e, build((e->flags & EDGE_EH) != 0));
	return true;
}

/* What a function of the unit does can be looked at. */
static inline bool has_body(tree fn)
{
	return DECL_STRUCT_FUNCTION(fn) && DECL_STRUCT_FUNCTION(fn)->cfg;
}

/* A function of the runtime, and a call of it in the place of `at`, which is known to be in the function. All calls of one name
 * have one declaration: each more would be compared with all before. */
template <typename... TYPES> tree runtime_function(const char *name, TYPES... types)
{
	tree type = build_function_type_list(void_type_node, types..., NULL_TREE);
	symtab_node *known = symtab_node::get_for_asmname(get_identifier(name));
	if (known && TREE_CODE(known->decl) == FUNCTION_DECL && TREE_TYPE(known->decl) == type)
		return known->decl;
	tree fn = build_fn_decl(name, type);
	SET_DECL_ASSEMBLER_NAME(fn, get_identifier(name));
	TREE_NOTHROW(fn) = 1;
	return fn;
}

/* Likewise one that keeps none of its arguments, of which `spec` says what becomes of them (attr-fnspec.h): else the time to
 * compile grows by the number of calls squared. It is called by the table that is filled when the program is loaded: in a handler
 * there may be no room to look for it then. */
tree runtime_at_once(tree fn, const char *spec);

template <typename... TYPES> tree runtime_at_once(const char *name, const char *spec, TYPES... types)
{
	symtab_node *known = symtab_node::get_for_asmname(get_identifier(name));
	return known ? known->decl : runtime_at_once(runtime_function(name, types...), spec);
}

template <typename... ARGS> gimple *runtime_call(gimple *at, tree fn, ARGS... args)
{
	gcall *stmt = gimple_build_call(fn, sizeof...(args), args...);
	cgraph_node *node = cgraph_node::get(current_function_decl);
	gimple_set_location(stmt, gimple_location(at));
	node->create_edge(cgraph_node::get_create(fn), stmt, gimple_bb(at)->count);
	node->record_stmt_references(stmt);
	return stmt;
}

/* counters.cc: numbers that threads share and count, where the result is compared. The first is for builtins: whether
 * it was one. Down, or up, or only loaded; the call's object is the number, or refers to it by its first member. */
bool counters_wrap(gimple_stmt_iterator *i);
enum counted { COUNTED_UP, COUNTED_DOWN, COUNTED_LOADED };
void counters_note(gimple_stmt_iterator *i, enum counted how, bool refers);
location_t counters_location(gimple *stmt); /* of the program; or UNKNOWN_LOCATION */
void counters_tell(gimple_stmt_iterator *i, tree function, tree site, tree object, tree result, bool down = false);
tree counters_member(gimple_stmt_iterator *i, tree object, unsigned nth = 0); /* which becomes a register, behind the statement */
tree counters_member_before(gimple_stmt_iterator at, tree object); /* the first one, before it */

void counters_unseen(gimple_stmt_iterator *i); /* of an asm statement, if it locks memory and tells what it found */

bool counters_loads(tree fn);            /* it loads a number, whichever; */
bool counters_counts(tree fn);           /* or adds to one */

/* claims.cc: flags and bits by which threads claim what to do; likewise. */
bool claims_wrap(gimple_stmt_iterator *i);
void claims_note(gimple_stmt_iterator *i, bool refers);
bool claims_sets(tree fn);       /* it sets a number, or bits of it, and says what it was; */
bool claims_lock(gimple *stmt); /* it always sets the same, which says that somebody has it: a lock */

/* retries.cc: loops that do nothing but try again. */
bool retries_pause(gcall *call); /* it does nothing, or only lets time pass */

/* spins.cc: waits in memory. Whether a statement that is told in a loop is one; if so, where, and what it has found there; likewise
 * a call of a function that looks; when the function is done, true: calls were put on edges; and what changes it, and is no
 * store. */
bool spins_is(gimple *stmt, tree result);
void spins_note(gimple_stmt_iterator *i, tree object, tree result, enum dprof_spin_how how);
void spins_note_call(gimple_stmt_iterator *i);
bool spins_wrap();
void spins_changes(gimple_stmt_iterator *i, tree object, bool refers);

/* flags.cc: numbers that decide what a thread does, and others set: of a call that loads one atomically, and gives it back or, the
 * second, copies it to where its third argument says, or stores it; and of an assignment, if that is volatile. */
void flags_note(gimple_stmt_iterator *i, bool refers);
bool flags_counts(gimple *stmt); /* x = x + 1, or the like */
void flags_note_copy(gimple_stmt_iterator *i);
void flags_note_pointer(gimple_stmt_iterator *i, unsigned question); /* what a std::shared_ptr or weak_ptr says of who has it */
void flags_set(gimple_stmt_iterator *i, bool refers);
void flags_wrap(gimple_stmt_iterator *i);
bool flags_same(gimple *call); /* it reads, changes and writes a number, which is what it was */

/* What the runtime takes as a long. */
static inline bool is_number(tree type)
{
	return (INTEGRAL_TYPE_P(type) || POINTER_TYPE_P(type)) && TYPE_SIZE_UNIT(type) && tree_to_uhwi(TYPE_SIZE_UNIT(type)) <= 8;
}

/* clocks.cc: sleeps and loops whose end a clock decides. True: calls were put on edges. */
bool clocks_wrap(function *fun);
bool clocks_read(tree fn); /* it only reads a clock */

/* library.cc: the same around calls of libstdc++ that synchronise, and ask nothing of the C library unless they block. */
void library_of_source(tree fn); /* which it calls */
bool library_wrap(gimple_stmt_iterator *i);
bool library_loads(tree fn);     /* these say what it does to an atomic number: loads it, */
bool library_counts(tree fn);    /* adds to it, */
bool library_claims(tree fn);    /* sets it, or bits of it, and says what it was, */
bool library_exchanges(tree fn); /* or sets it if it is what is expected */
bool library_hides(gimple_stmt_iterator); /* likewise, around a call that is recorded or told in another way, too */

#endif

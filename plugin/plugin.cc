/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * plugin.cc - dprof's GCC plugin: puts the recording of events into the program that is compiled.
 *
 *   before                                  after
 *
 *   #pragma dprof region(body)              asm volatile (ENTER &site);
 *   { if (x) return f(); g(); }             try { if (x) return f(); g(); }
 *                                           finally { asm volatile (EXIT &site); }
 *   MPI_Barrier(c);                         asm volatile (ENTER &site2);
 *                                           MPI_Barrier(c);
 *                                           asm volatile (EXIT &site2);
 *
 *   and in section dprof_sites: site = { REGION, line, column, "body", file, function }, ...
 *
 * Who does what, in the order of a compilation:
 *
 *   foreign.cc   refuses to be loaded by what is no GCC
 *   options.cc   -fplugin-arg-dprof-...
 *   pragma.cc    parses a directive (pragmas/grammar.def, by way of grammar.cc) and leaves a marker (marker.cc);
 *                with it lex.cc (tokens) and value.cc (the expression of `instance`)
 *   stretches.cc which parts are off; names.cc: one kind for each name
 *   close.cc     when a function is parsed: which statement a region takes; with it source.cc, what
 *                follows the directive in the text
 *   loops.cc     then: which loops are regions without a pragma; auto.cc: which functions are, when they are
 *                GIMPLE; with them filter.cc; resolvers.cc: which run too early
 *   bodies.cc    then: which functions threads start with, and signals are given to; later, what teams of threads run
 *   lower.cc     then: markers become notes of events, and try/finally; with it instance.cc (which of
 *                many it is) and jumps.cc (refuses jumps in)
 *   pass.cc      before SSA: notes become instructions (event.cc) with their static data (site.cc), of which the object
 *                tells the runtime when it is loaded (loading.cc); with it calls.cc: events around calls that
 *                synchronise (calls.def), library.cc: likewise of libstdc++, inside of its headers (library.def),
 *                counters.cc: numbers by which threads take their work (flow.cc: where such a number goes; reads.cc:
 *                whether something is read by it),
 *                claims.cc: flags and bits by which they claim it, flags.cc: those that only say what to do,
 *                spins.cc: waits in memory (retries.cc: loops that only try again),
 *                clocks.cc: sleeps and loops that a clock ends,
 *                fortran.cc: calls that stand for pragmas, and balance.cc: returns between begin and end
 *   register_barriers.cc  before the first optimiser that moves code: holds the values that cross a region's
 *                border
 *   inlined.cc   after inlining: takes away what it made needless
 *
 * Law: a program compiled with the plugin does what it did without, and says where time went besides.
 *
 * Debugging: -fdump-tree-original shows what the parser left with the notes in it, -fdump-tree-gimple
 * and -fdump-tree-eh how GCC put an EXIT on every way out, -fdump-tree-dprof the code after the pass;
 * -S the instructions. */
#include "plugin/parts.h"
#include "plugin-version.h"

/* All other names are hidden: cc1 exports thousands of its own. */
#define EXPORT __attribute__((visibility("default")))

EXPORT int plugin_is_GPL_compatible;

/* GCC loads plugins into one name space, so all copies of this plugin share the first one's. */
EXPORT const char *dprof_plugin_loaded;

static bool cplusplus;

static void on_pragmas(void *, void *)
{
	pragma_register(cplusplus);
}

/* In C++ this is all that a template pattern gets; in C nested functions never see on_parsed. */
static void on_body(void *fn, void *)
{
	tree decl = (tree)fn;
	if (!DECL_SAVED_TREE(decl))
		return;
	if (cplusplus) {
		close_regions(decl);
	} else if (decl_function_context(decl)) {
		close_regions(decl);
		loops_of_source(decl);
		bodies_of_source(decl);
		lower(decl);
	}
}

static void on_parsed(void *fn, void *)
{
	tree decl = (tree)fn;
	if (!DECL_SAVED_TREE(decl))
		return;
	close_regions(decl);
	if (!cplusplus || !cplus_constexpr(decl))
		loops_of_source(decl);
	bodies_of_source(decl);
	library_of_source(decl);
	lower(decl);
}

static void on_variable(void *var, void *)
{
	bodies_of_variable((tree)var);
}

static void on_unit(void *, void *)
{
	if (!TARGET_64BIT || TARGET_X32)
		fatal_error(UNKNOWN_LOCATION,
			    "dprof works only for 64-bit x86, not with %<-m32%> or %<-mx32%>");
}

static char *help()
{
	char *o = options_help(), *d = grammar_help();
	char *text = xasprintf("dprof records where time goes.\n\nOptions:\n%s\nDirectives:\n%s", o, d);
	free(o);
	free(d);
	return text;
}

static bool right_compiler(struct plugin_gcc_version *version)
{
	if (plugin_default_version_check(version, &gcc_version))
		return true;
	error_at(UNKNOWN_LOCATION, "dprof was built for GCC %s (%s), but this is GCC %s (%s): "
		 "use that compiler, or build dprof with this one", gcc_version.basever,
		 gcc_version.datestamp, version->basever, version->datestamp);
	return false;
}

/* The same file named twice GCC loads once. */
static bool only_one(const char *file)
{
	if (!dprof_plugin_loaded) {
		dprof_plugin_loaded = xstrdup(file);
		return true;
	}
	error_at(UNKNOWN_LOCATION, "dprof is loaded twice, from %qs and from %qs", dprof_plugin_loaded,
		 file);
	return false;
}

/* After an error GCC goes on without us, and fails at the end. */
EXPORT int plugin_init(struct plugin_name_args *args, struct plugin_gcc_version *version)
{
	static struct plugin_info info = { "1", nullptr };

	if (!right_compiler(version) || !only_one(args->full_name) || !options_read(args))
		return 0;
	bool linking = in_lto_p || !strcmp(lang_hooks.name, "GNU GIMPLE");
	inlined_register(args->base_name);
	if (linking)
		return 0;
	register_barriers_install(args->base_name);
	info.help = help();
	if (options.help)
		fputs(info.help, stdout);
	register_callback(args->base_name, PLUGIN_INFO, nullptr, &info);
	register_callback(args->base_name, PLUGIN_START_UNIT, on_unit, nullptr);
	auto_register(args->base_name);
	pass_register(args->base_name);
	if (!c_register_pragma)
		return 0;
	cplusplus = startswith(lang_hooks.name, "GNU C++");
	register_callback(args->base_name, PLUGIN_PRAGMAS, on_pragmas, nullptr);
	register_callback(args->base_name, PLUGIN_FINISH_DECL, on_variable, nullptr);
	register_callback(args->base_name, PLUGIN_FINISH_PARSE_FUNCTION, on_body, nullptr);
	register_callback(args->base_name, PLUGIN_PRE_GENERICIZE, on_parsed, nullptr);
	return 0;
}

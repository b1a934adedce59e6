/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * gcc.h - what the plugin uses of GCC, in the order that GCC's headers want.
 *
 * Only the C-family front ends have the functions below; f951 and lto1 load the plugin as well, so
 * they are weak, and null there. */
#ifndef DPROF_PLUGIN_GCC_H
#define DPROF_PLUGIN_GCC_H

#include "gcc-plugin.h"
#include "bversion.h"
#include "tree.h"
#include "tree-iterator.h"
#include "stringpool.h"
#include "tm_p.h"
#include "function.h"
#include "basic-block.h"
#include "gimple.h"
#include "gimple-iterator.h"
#include "tree-cfg.h"
#include "cgraph.h"
#include "c-family/c-common.h"
#include "c-family/c-pragma.h"
#include "tree-pass.h"
#include "context.h"
#include "intl.h"
#include "diagnostic.h"
#include "diagnostic-core.h"
#include "spellcheck.h"
#include "langhooks.h"

/* ---- One name for what GCC 9 to 15 call differently ------------------------------------------------
 *
 * Tried: GCC 11 and 12. From reading GCC's headers and what other plugins had to change: the others. In the
 * C of GCC 9 a loop is no statement of its own yet, so a region around one needs braces there. */
#ifndef ASM_BASIC_P
#define ASM_BASIC_P ASM_INPUT_P
#endif
#if BUILDING_GCC_MAJOR < 12
static inline void suppress_warning(gimple *stmt, opt_code)
{
	gimple_set_no_warning(stmt, true);
}

static inline bool startswith(const char *s, const char *prefix)
{
	return !strncmp(s, prefix, strlen(prefix));
}
#endif
#if BUILDING_GCC_MAJOR >= 14
#define last_stmt last_nondebug_stmt
/* What GCC itself has of this name takes an int and is preferred, as long as it has it. */
template <class context = diagnostic_context>
auto location_get_source_line(const char *file, long line)
{
	return static_cast<context *>(global_dc)->get_file_cache().get_source_line(file, line);
}
#endif

#define DPROF_WEAK __attribute__((weak))
extern void c_register_pragma(const char *, const char *, pragma_handler_1arg) DPROF_WEAK;
extern enum cpp_ttype pragma_lex(tree *, location_t *) DPROF_WEAK;
extern tree add_stmt(tree) DPROF_WEAK;
extern tree lookup_name(tree) DPROF_WEAK;
extern stmt_tree current_stmt_tree() DPROF_WEAK;
extern tree default_conversion(tree) DPROF_WEAK;
extern tree build_binary_op(location_t, enum tree_code, tree, tree, bool) DPROF_WEAK;
extern tree build_unary_op(location_t, enum tree_code, tree, bool) DPROF_WEAK;
extern tree build_indirect_ref(location_t, tree, ref_operator) DPROF_WEAK;
extern void keep_next_level() DPROF_WEAK;     /* C */
extern void keep_next_level(bool) DPROF_WEAK; /* C++ */
extern cpp_reader *parse_in DPROF_WEAK;
extern void cpp_define(cpp_reader *, const char *) DPROF_WEAK;
extern cpp_options *cpp_get_options(cpp_reader *) DPROF_WEAK;
extern cpp_callbacks *cpp_get_callbacks(cpp_reader *) DPROF_WEAK;

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * site.cc - the static data that says where and what an event is.
 *
 * Law: a site needs no relocation, no registration and no work at run time. It is a constant char
 * array in section dprof_sites, laid out as struct dprof_site, and its address is the event's id. */
#include "plugin/parts.h"

/* Longer ones are cut: a C++ template's printed name can have any length, and size is 16 bits. */
#define FILE_MAX     4096
#define FUNCTION_MAX 1024

static hash_map<tree, tree> functions; /* of all sites */

static void append(auto_vec<char> *bytes, const char *s, size_t max)
{
	size_t n = MIN(strlen(s), max);
	for (size_t i = 0; i < n; i++)
		bytes->safe_push(s[i]);
	bytes->safe_push('\0');
}

/* With -flto, GCC's own way to print a name forgets Fortran before the pass runs. */
const char *site_function_name(tree fn)
{
	return fortran() && DECL_NAME(fn) ? IDENTIFIER_POINTER(DECL_NAME(fn)) : lang_hooks.decl_printable_name(fn, 1);
}

/* OpenMP's outlined bodies are named after their function: main._omp_fn.0. */
static void append_function(auto_vec<char> *bytes, tree fn)
{
	char *name = xstrdup(site_function_name(fn));
	char *outlined = strstr(name, "._omp_");
	if (outlined)
		*outlined = '\0';
	append(bytes, name, FUNCTION_MAX);
	free(name);
}

static tree initializer(tree type, const auto_vec<char> &bytes)
{
	tree value = build_string(bytes.length(), bytes.begin());
	TREE_TYPE(value) = type;
	TREE_CONSTANT(value) = TREE_READONLY(value) = TREE_STATIC(value) = 1;
	return value;
}

static tree variable(const auto_vec<char> &bytes)
{
	tree index = build_index_type(size_int(bytes.length() - 1));
	tree type = build_array_type(build_qualified_type(char_type_node, TYPE_QUAL_CONST), index);
	tree var = build_decl(BUILTINS_LOCATION, VAR_DECL, NULL_TREE, type);
	/* Not a counter of our own: that would start again after a precompiled header. */
	char *name = xasprintf("dprof_site.%u", DECL_UID(var));
	DECL_NAME(var) = get_identifier(name);
	free(name);
	TREE_STATIC(var) = TREE_READONLY(var) = TREE_USED(var) = TREE_ADDRESSABLE(var) = 1;
	DECL_ARTIFICIAL(var) = DECL_IGNORED_P(var) = DECL_READ_P(var) = 1;
	/* Exactly so: x86 would align a big array to 32 and tear a hole. */
	SET_DECL_ALIGN(var, DPROF_SITE_ALIGN * BITS_PER_UNIT);
	DECL_USER_ALIGN(var) = 1;
	set_decl_section_name(var, DPROF_SITE_SECTION);
	DECL_INITIAL(var) = initializer(type, bytes);
	varpool_node::finalize_decl(var);
	loading_tell();
	return var;
}

static void append_site(auto_vec<char> *bytes, enum dprof_kind kind, location_t where, const char *name, tree fn,
			enum origin origin)
{
	expanded_location at = expand_location(where);
	struct dprof_site head = {};
	unsigned start = bytes->length();
	bytes->safe_grow_cleared(start + sizeof head);
	append(bytes, name, strlen(name));
	append(bytes, at.file ? at.file : "", FILE_MAX);
	append_function(bytes, fn);
	const char *role = kind == DPROF_KIND_REGION && origin == MARKED ? names_role(name) : nullptr;
	if (role)
		append(bytes, role, strlen(role));
	while (bytes->length() % DPROF_SITE_ALIGN || bytes->length() < start + DPROF_SITE_MIN)
		bytes->safe_push('\0');

	head.magic = DPROF_SITE_MAGIC;
	head.size = bytes->length() - start;
	head.kind = kind | (origin == MARKED ? 0 : DPROF_SITE_AUTOMATIC);
	head.version = DPROF_SITE_VERSION;
	head.line = at.line;
	head.column = at.column;
	memcpy(bytes->address() + start, &head, sizeof head);
}

tree site_build(enum dprof_kind kind, location_t where, const char *name, tree fn, enum origin origin)
{
	auto_vec<char> bytes;
	append_site(&bytes, kind, where, name, fn, origin);
	tree site = variable(bytes);
	functions.put(site, fn);
	return site;
}

tree site_build_team(location_t where, const char *name, tree fn)
{
	auto_vec<char> bytes;
	append_site(&bytes, DPROF_KIND_FORK, where, name, fn, MARKED);
	append_site(&bytes, DPROF_KIND_JOIN, where, ACONCAT((name, " end", NULL)), fn, MARKED);
	tree site = variable(bytes);
	functions.put(site, fn);
	return site;
}

tree site_function(tree site)
{
	tree *fn = functions.get(site);
	return fn ? *fn : NULL_TREE;
}

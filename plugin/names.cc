/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * names.cc - a name stands for one kind of thing in a file, or the reports would mix them up. */
#include "plugin/parts.h"

struct first {
	enum dprof_kind kind;
	location_t where;
};

bool names_check(enum dprof_kind kind, const char *name, location_t where)
{
	static hash_map<nofree_string_hash, first> known;
	bool existed;
	first &f = known.get_or_insert(name, &existed);
	if (!existed)
		f = { kind, where };
	if (f.kind == kind)
		return true;
	error_at(where, "dprof %s %qs has the name of a %s", grammar_word(kind), name,
		 grammar_word(f.kind));
	inform(f.where, "%qs is first used here", name);
	return false;
}

/* ---- Roles -------------------------------------------------------------------------------------
 *
 * Kept beside the tree, as what names stand for is: a precompiled header does not bring them along. */

struct taken_role {
	const char *role;
	location_t where;
};

static hash_map<nofree_string_hash, taken_role> *roles;

bool names_take_role(const char *name, const char *role, location_t where)
{
	bool existed;
	if (!roles)
		roles = new hash_map<nofree_string_hash, taken_role>;
	taken_role &t = roles->get_or_insert(name, &existed);
	if (!existed)
		t = { role, where };
	if (!strcmp(t.role, role))
		return true;
	error_at(where, "dprof region %qs has two roles, %qs and %qs", name, t.role, role);
	inform(t.where, "the other one is given here");
	return false;
}

const char *names_role(const char *name)
{
	taken_role *t = roles ? roles->get(name) : nullptr;
	return t ? t->role : nullptr;
}

/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * close.cc - finds the statement that each region directive takes, and says where it ends.
 *
 *   [region(a)] S; T   ->   [open(a)] S; [close(a)] T
 *
 * Law: afterwards every OPEN has its CLOSE in the same statement list, and no REGION is left; what
 * cannot be a region is an error. In C++ this runs over templates too, whose blocks are dissolved in
 * their parents when they are instantiated: then S is several statements, still between the two. */
#include "plugin/parts.h"

static bool takes_statement(const struct marker &m)
{
	return m.what == DIRECTIVE_REGION || m.what == DIRECTIVE_BARRIER || m.what == DIRECTIVE_POLL;
}

static bool next_statement(tree_stmt_iterator *i)
{
	do
		tsi_next(i);
	while (!tsi_end_p(*i) && TREE_CODE(tsi_stmt(*i)) == DEBUG_BEGIN_STMT);
	return !tsi_end_p(*i);
}

/* Why the statement at i, which is behind marker m, cannot be a region; NULL if it can. */
static const char *unfit(const struct marker &m, tree_stmt_iterator i)
{
	struct marker other;
	if (tsi_end_p(i))
		return G_("the end of the block");
	tree s = tsi_stmt(i);
	if (marker_read(s, &other))
		return takes_statement(other) || other.what == DIRECTIVE_OPEN ?
			nullptr : G_("another directive");
	if (TREE_CODE(s) == DECL_EXPR)
		return G_("a declaration");
	if (TREE_CODE(s) == CASE_LABEL_EXPR)
		return G_("a case label");
	if (TREE_CODE(s) == LABEL_EXPR)
		return G_("a label");
	switch (source_follows(m.where, EXPR_LOCATION(s))) {
	case FOLLOWS_NOTHING:
		return G_("an empty statement");
	case FOLLOWS_DECLARATION:
		return G_("a declaration");
	default:
		return nullptr;
	}
}

static void refuse(tree *marker, const struct marker &m, const char *found)
{
	error_at(m.where, "expected a statement after %<#pragma dprof %s(%s)%>, found %s",
		 grammar_word(m.kind), m.name, _(found));
	*marker = build_empty_stmt(m.where);
}

/* Moves i from the first to the last part of a statement. */
static void skip_statement(tree_stmt_iterator *i)
{
	struct marker m;
	for (int depth = 0; marker_read(tsi_stmt(*i), &m); next_statement(i)) {
		depth += (m.what == DIRECTIVE_OPEN) - (m.what == DIRECTIVE_CLOSE);
		if (!depth)
			return;
		/* Adjacent regions nest, so only the innermost has a statement that is no marker. */
		tree_stmt_iterator next = *i;
		if (next_statement(&next) && !marker_read(tsi_stmt(next), &m)) {
			*i = next;
			skip_statement(i);
		}
	}
	/* In gnu89 a `for` opens no scope: what initialises it stands before it. */
	tree_stmt_iterator next = *i;
	location_t where = EXPR_LOCATION(tsi_stmt(*i));
	if (where == UNKNOWN_LOCATION || !next_statement(&next) || TREE_CODE(tsi_stmt(next)) != FOR_STMT)
		return;
	if (linemap_compare_locations(line_table, EXPR_LOCATION(tsi_stmt(next)), where) > 0)
		*i = next;
}

static void close_region(tree_stmt_iterator at, struct marker m)
{
	tree_stmt_iterator s = at;
	next_statement(&s);
	skip_statement(&s);
	m.what = DIRECTIVE_OPEN;
	*tsi_stmt_ptr(at) = marker_build(m);
	m.what = DIRECTIVE_CLOSE;
	m.instance = NULL_TREE;
	tsi_link_after(&s, marker_build(m), TSI_SAME_STMT);
}

static void close_list(tree list)
{
	struct marker m;
	for (tree_stmt_iterator i = tsi_start(list); !tsi_end_p(i); tsi_next(&i)) {
		if (!marker_read(tsi_stmt(i), &m) || !takes_statement(m))
			continue;
		tree_stmt_iterator s = i;
		next_statement(&s);
		if (const char *found = unfit(m, s))
			refuse(tsi_stmt_ptr(i), m, found);
	}
	/* From the back, so that of adjacent regions the inner one is closed first. */
	for (tree_stmt_iterator i = tsi_last(list); !tsi_end_p(i); tsi_prev(&i))
		if (marker_read(tsi_stmt(i), &m) && takes_statement(m))
			close_region(i, m);
}

static tree close_step(tree *tp, int *, void *)
{
	struct marker m;
	if (TREE_CODE(*tp) == STATEMENT_LIST) {
		close_list(*tp);
	} else if (marker_read(*tp, &m) && takes_statement(m)) {
		refuse(tp, m, G_("the end of the block"));
	}
	return NULL_TREE;
}

void close_regions(tree fn)
{
	walk_tree_without_duplicates(&DECL_SAVED_TREE(fn), close_step, nullptr);
}

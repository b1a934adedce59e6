/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * lower.cc - turns the markers of a parsed function into notes of events.
 *
 *   [open(a)] S [close(a)]            ->  ENTER; try { S } finally { EXIT }
 *   [begin(a)] S1; S2; [end(a)]       ->  ENTER; try { S1; S2 } finally { EXIT }   in one block
 *   [begin(a)] ... { ... [end(a)] }   ->  ENTER ... { ... EXIT }                   otherwise
 *   [progress(a)]                     ->  POINT
 *
 * Law: every region that a block holds whole is left with exactly one EXIT, whichever way it is left;
 * GCC sees to that, as it does for destructors. A begin whose end stands in another block is the
 * user's to balance, so any number of ends is allowed there, for as many ways out.
 *
 * One walk in the order of the text keeps the begins whose end may still come. */
#include "plugin/parts.h"

/* Some region of this name begins and ends in different blocks. */
static hash_set<nofree_string_hash> *by_hand;

bool lower_by_hand(const char *name)
{
	return by_hand && by_hand->contains(name);
}

namespace {

/* A begin (or OPEN) that the walk has passed and whose end may still come. */
struct open_begin {
	struct marker m;
	tree list;              /* that holds its marker; null once it is lowered to a plain ENTER */
	tree_stmt_iterator at;
	unsigned region;        /* the innermost region around it, 0 for none */
	bool by_hand;           /* an end stood in another block: no TRY_FINALLY */
	bool ended;
};

class lowering {
public:
	explicit lowering(tree fn) : fn(fn) {}
	void run();

private:
	tree fn;
	auto_vec<open_begin> open;
	unsigned regions = 0;
	auto_vec<unsigned> inside; /* serial numbers of the OPEN regions around here */
	auto_vec<wrapped> done;
	hash_set<tree> seen;
	hash_map<nofree_string_hash, location_t> plain_sites;

	static tree step(tree *tp, int *walk_subtrees, void *self);
	void visit(tree *tp) { walk_tree(tp, step, this, &seen); }
	void visit_list(tree list);
	tree_stmt_iterator at_marker(tree list, tree_stmt_iterator i, const struct marker &m);
	void begin(tree list, tree_stmt_iterator at, const struct marker &m);
	tree_stmt_iterator end(tree list, tree_stmt_iterator at, const struct marker &m);
	tree_stmt_iterator close(tree list, tree_stmt_iterator at);
	void sole_marker(tree *tp, const struct marker &m);
	int find(const struct marker &m);
	tree plain_end(open_begin *b, const struct marker &m);
	void leave_list(tree list);
	tree_stmt_iterator wrap(const open_begin &b, tree_stmt_iterator end);
	tree plain(enum dprof_op op, const struct marker &m);
	tree enter(tree event, const struct marker &m);
	tree plain_enter(const struct marker &m) { return enter(plain(DPROF_ENTER, m), m); }
	void refuse_end(const struct marker &m);
};

/* A region that is begun or ended in several places is one site, the first, or its EXIT would not
 * match. */
tree lowering::plain(enum dprof_op op, const struct marker &m)
{
	bool known;
	location_t &site = plain_sites.get_or_insert(m.name, &known);
	if (!known)
		site = m.where;
	if (!by_hand)
		by_hand = new hash_set<nofree_string_hash>;
	if (!by_hand->contains(m.name))
		by_hand->add(xstrdup(m.name)); /* a marker that is lowered GCC may collect, with its text */
	return event_note(op, DPROF_KIND_REGION, m.name, site);
}

/* The event, with what is to be said of it behind it. */
tree lowering::enter(tree event, const struct marker &m)
{
	if (!m.instance)
		return event;
	tree list = alloc_stmt_list();
	append_to_statement_list(event, &list);
	append_to_statement_list(instance_note(m), &list);
	return list;
}

/* Replaces b's marker, the end marker and all between them. Returns where the TRY_FINALLY stands. */
tree_stmt_iterator lowering::wrap(const open_begin &b, tree_stmt_iterator end)
{
	location_t where = b.m.where;
	tree body = alloc_stmt_list(), finally = alloc_stmt_list();
	tree_stmt_iterator at = b.at, i = b.at;
	for (tsi_next(&i); i.ptr != end.ptr; tsi_delink(&i))
		append_to_statement_list_force(tsi_stmt(i), &body);
	tsi_delink(&end);

	append_to_statement_list(event_note(DPROF_EXIT, b.m.kind, b.m.name, where, b.m.origin), &finally);
	*tsi_stmt_ptr(at) = enter(event_note(DPROF_ENTER, b.m.kind, b.m.name, where, b.m.origin), b.m);
	tree whole = build2(TRY_FINALLY_EXPR, void_type_node, body, finally);
	TREE_SIDE_EFFECTS(whole) = 1;
	SET_EXPR_LOCATION(whole, where);
	tsi_link_after(&at, whole, TSI_NEW_STMT);
	done.safe_push({ whole, b.m });
	return at;
}

void lowering::begin(tree list, tree_stmt_iterator at, const struct marker &m)
{
	open.safe_push({ m, list, at, inside.is_empty() ? 0 : inside.last(), false, false });
}

/* The innermost begin of m's name, or -1. */
int lowering::find(const struct marker &m)
{
	for (int i = open.length() - 1; i >= 0; i--)
		if (open[i].m.what == DIRECTIVE_BEGIN && !strcmp(open[i].m.name, m.name))
			return i;
	return -1;
}

void lowering::refuse_end(const struct marker &m)
{
	auto_vec<const char *> names;
	for (const open_begin &b : open)
		if (b.m.what == DIRECTIVE_BEGIN)
			names.safe_push(b.m.name);
	const char *near = find_closest_string(m.name, &names);
	if (near)
		error_at(m.where, "%<region end(%s)%> without %<region begin(%s)%>; did you mean %qs?",
			 m.name, m.name, near);
	else
		error_at(m.where, "%<region end(%s)%> without %<region begin(%s)%>", m.name, m.name);
}

/* The EXIT for an end that leaves its begin a plain ENTER. It may be the end of begins in several blocks. */
tree lowering::plain_end(open_begin *b, const struct marker &m)
{
	b->by_hand = b->ended = true;
	for (open_begin &other : open)
		if (!other.list && !strcmp(other.m.name, m.name))
			other.ended = true;
	if (b->region != (inside.is_empty() ? 0 : inside.last())) {
		warning_at(m.where, 0,
			   "dprof region %qs ends inside another region than it began in", m.name);
		inform(b->m.where, "it begins here");
	}
	return plain(DPROF_EXIT, b->m);
}

tree_stmt_iterator lowering::end(tree list, tree_stmt_iterator at, const struct marker &m)
{
	int n = find(m);
	if (n < 0) {
		refuse_end(m);
		*tsi_stmt_ptr(at) = build_empty_stmt(m.where);
		return at;
	}
	open_begin *b = &open[n];
	if (b->list != list) {
		*tsi_stmt_ptr(at) = plain_end(b, m);
		return at;
	}
	for (unsigned later = n + 1; later < open.length(); later++)
		if (open[later].list == list) {
			warning_at(m.where, 0, "dprof regions %qs and %qs overlap", m.name,
				   open[later].m.name);
			inform(open[later].m.where, "%qs begins inside %qs and ends outside it",
			       open[later].m.name, m.name);
			open[later].by_hand = b->by_hand = true;
		}
	if (b->by_hand) {
		*tsi_stmt_ptr(at) = plain_end(b, m);
		*tsi_stmt_ptr(b->at) = plain_enter(b->m);
	} else {
		at = wrap(*b, at);
	}
	open.ordered_remove(n);
	return at;
}

tree_stmt_iterator lowering::close(tree list, tree_stmt_iterator at)
{
	unsigned n = open.length() - 1;
	while (open[n].m.what != DIRECTIVE_OPEN)
		n--; /* over what began in the region and stays open */
	open_begin b = open[n];
	gcc_assert(b.list == list);
	open.ordered_remove(n);
	inside.pop();
	return wrap(b, at);
}

/* Returns the last of the statements that the marker at i became. */
tree_stmt_iterator lowering::at_marker(tree list, tree_stmt_iterator i, const struct marker &m)
{
	switch (m.what) {
	case DIRECTIVE_OPEN:
		begin(list, i, m);
		inside.safe_push(++regions);
		return i;
	case DIRECTIVE_BEGIN:
		begin(list, i, m);
		return i;
	case DIRECTIVE_CLOSE:
		return close(list, i);
	case DIRECTIVE_END:
		return end(list, i, m);
	default:
		sole_marker(tsi_stmt_ptr(i), m);
		return i;
	}
}

/* A marker that needs no list: it is lowered where it stands. */
void lowering::sole_marker(tree *tp, const struct marker &m)
{
	int n;
	switch (m.what) {
	case DIRECTIVE_PROGRESS:
		*tp = event_note(DPROF_POINT, DPROF_KIND_PROGRESS, m.name, m.where);
		break;
	case DIRECTIVE_BEGIN:
		begin(NULL_TREE, {}, m);
		open.last().by_hand = true;
		*tp = plain_enter(m);
		break;
	case DIRECTIVE_END:
		n = find(m);
		if (n < 0)
			refuse_end(m);
		*tp = n < 0 ? build_empty_stmt(m.where) : plain_end(&open[n], m);
		break;
	default:
		gcc_unreachable();
	}
}

/* What was begun in this list and not ended in it is a plain ENTER from now on. */
void lowering::leave_list(tree list)
{
	for (open_begin &b : open)
		if (b.list == list) {
			*tsi_stmt_ptr(b.at) = plain_enter(b.m);
			b.list = NULL_TREE;
			b.by_hand = true;
		}
}

void lowering::visit_list(tree list)
{
	struct marker m;
	for (tree_stmt_iterator i = tsi_start(list); !tsi_end_p(i); tsi_next(&i))
		if (marker_read(tsi_stmt(i), &m))
			i = at_marker(list, i, m);
		else
			visit(tsi_stmt_ptr(i));
	leave_list(list);
}

tree lowering::step(tree *tp, int *walk_subtrees, void *data)
{
	lowering *self = (lowering *)data;
	struct marker m;
	tree var;

	switch (TREE_CODE(*tp)) {
	case STATEMENT_LIST:
		self->visit_list(*tp);
		break;
	case DECL_EXPR:
		var = DECL_EXPR_DECL(*tp);
		if (VAR_P(var) && DECL_INITIAL(var) && !TREE_STATIC(var))
			self->visit(&DECL_INITIAL(var));
		return NULL_TREE;
	case ASM_EXPR:
		if (marker_read(*tp, &m))
			self->sole_marker(tp, m);
		break;
	default:
		if (TYPE_P(*tp))
			*walk_subtrees = 0;
		return NULL_TREE;
	}
	*walk_subtrees = 0;
	return NULL_TREE;
}

void lowering::run()
{
	visit(&DECL_SAVED_TREE(fn));
	for (const open_begin &b : open)
		if (!b.ended)
			error_at(b.m.where, "%<region begin(%s)%> is never ended in this function",
				 b.m.name);
	jumps_check(fn, done);
}

} // namespace

void lower(tree fn)
{
	lowering(fn).run();
}

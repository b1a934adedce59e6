/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * jumps.cc - refuses a goto or a case that jumps into a region: such a way in has no ENTER.
 *
 * Law: a jump is reported when its target is in a region that the jump itself is not in. */
#include "plugin/parts.h"

namespace {

/* Regions are numbered by their place in `regions`; NOWHERE is outside all of them. */
const int NOWHERE = -1;

struct jump {
	tree label;
	int from;
	location_t where;
};

class jumps {
public:
	explicit jumps(const vec<wrapped> &regions);
	void run(tree fn);

private:
	const vec<wrapped> &regions;
	hash_map<tree, int> number; /* of a region's TRY_FINALLY_EXPR */
	auto_vec<int> parent;       /* of each region */
	int here = NOWHERE;
	int of_switch = NOWHERE;    /* where the innermost switch stands */
	auto_vec<jump> gotos;
	hash_map<tree, int> labels;

	static tree step(tree *tp, int *walk_subtrees, void *self);
	void visit(tree *tp) { walk_tree_without_duplicates(tp, step, this); }
	void visit_region(tree body, int n);
	void visit_switch(tree s);
	bool contains(int region, int place);
	void check(int from, int to, location_t where);
};

jumps::jumps(const vec<wrapped> &regions) : regions(regions)
{
	for (unsigned i = 0; i < regions.length(); i++) {
		number.put(regions[i].body, i);
		parent.safe_push(NOWHERE);
	}
}

bool jumps::contains(int region, int place)
{
	while (place != region && place != NOWHERE)
		place = parent[place];
	return place == region;
}

void jumps::check(int from, int to, location_t where)
{
	if (to == NOWHERE || contains(to, from))
		return;
	const struct marker &m = regions[to].begin;
	error_at(where, "jump into dprof %s %qs, past its begin", pragma_word(m.kind), m.name);
	inform(m.where, "it begins here");
}

void jumps::visit_region(tree body, int n)
{
	int outside = here;
	parent[n] = outside;
	here = n;
	visit(&TREE_OPERAND(body, 0));
	here = outside;
}

void jumps::visit_switch(tree s)
{
	int outside = of_switch;
	of_switch = here;
	for (int i = 0; i < TREE_OPERAND_LENGTH(s); i++)
		visit(&TREE_OPERAND(s, i));
	of_switch = outside;
}

tree jumps::step(tree *tp, int *walk_subtrees, void *data)
{
	jumps *self = (jumps *)data;
	tree t = *tp;
	int *n;

	switch (TREE_CODE(t)) {
	case TRY_FINALLY_EXPR:
		n = self->number.get(t);
		if (!n)
			return NULL_TREE;
		self->visit_region(t, *n);
		break;
	case SWITCH_STMT:
	case SWITCH_EXPR:
		self->visit_switch(t);
		break;
	case CASE_LABEL_EXPR:
		self->check(self->of_switch, self->here, EXPR_LOCATION(t));
		break;
	case LABEL_EXPR:
		self->labels.put(LABEL_EXPR_LABEL(t), self->here);
		break;
	case GOTO_EXPR:
		self->gotos.safe_push({ GOTO_DESTINATION(t), self->here, EXPR_LOCATION(t) });
		break;
	default:
		if (TYPE_P(t))
			*walk_subtrees = 0;
		return NULL_TREE;
	}
	*walk_subtrees = 0;
	return NULL_TREE;
}

void jumps::run(tree fn)
{
	visit(&DECL_SAVED_TREE(fn));
	for (const jump &j : gotos)
		if (int *to = labels.get(j.label))
			check(j.from, *to, j.where);
}

} // namespace

void jumps_check(tree fn, const vec<wrapped> &regions)
{
	if (!regions.is_empty())
		jumps(regions).run(fn);
}

/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * jumps.cc - refuses a goto or a case that jumps into a region: such a way in has no ENTER; and the
 * jumps out of one that have no EXIT, since GCC runs no `finally` for them: computed ones, those of an
 * `asm goto`, and those of a nested function to the function around it.
 *
 * Law: a jump is reported when its target is in a region that the jump itself is not in; one that runs no
 * `finally`, also when it is in a region that its target is not in. A computed goto may have any label
 * as its target whose address is taken. */
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
	auto_vec<jump> gotos, of_asm, computed;
	hash_map<tree, int> labels;
	hash_set<tree> taken; /* labels whose address is */

	static tree step(tree *tp, int *walk_subtrees, void *self);
	void visit(tree *tp) { walk_tree_without_duplicates(tp, step, this); }
	void visit_region(tree body, int n);
	void visit_switch(tree s);
	void see_asm(tree a);
	bool contains(int region, int place);
	void check(int from, int to, location_t where);
	bool check_way_out(int from, int to, location_t where);
	void check_computed(const jump &j);
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
	error_at(where, "jump into dprof %s %qs, past its begin", grammar_word(m.kind), m.name);
	inform(m.where, "it begins here");
}

/* Of a jump that runs no `finally`. False after an error. */
bool jumps::check_way_out(int from, int to, location_t where)
{
	if (from == NOWHERE || contains(from, to))
		return true;
	const struct marker &m = regions[from].begin;
	error_at(where, "a %<goto%> that is computed, of an %<asm%>, or out of a nested function, may leave dprof %s %qs "
		 "without ending it", grammar_word(m.kind), m.name);
	inform(m.where, "it begins here");
	return false;
}

void jumps::check_computed(const jump &j)
{
	for (auto label : labels)
		if (taken.contains(label.first)) {
			check(j.from, label.second, j.where);
			if (!check_way_out(j.from, label.second, j.where))
				return;
		}
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

/* Where an `asm goto` may go. */
void jumps::see_asm(tree a)
{
	for (tree l = ASM_LABELS(a); l; l = TREE_CHAIN(l))
		of_asm.safe_push({ TREE_VALUE(l), here, EXPR_LOCATION(a) });
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
	case ASM_EXPR:
		self->see_asm(t);
		return NULL_TREE;
	case ADDR_EXPR:
		if (TREE_CODE(TREE_OPERAND(t, 0)) == LABEL_DECL)
			self->taken.add(TREE_OPERAND(t, 0));
		return NULL_TREE;
	case DECL_EXPR:
		if (VAR_P(DECL_EXPR_DECL(t)) && DECL_INITIAL(DECL_EXPR_DECL(t)))
			self->visit(&DECL_INITIAL(DECL_EXPR_DECL(t)));
		return NULL_TREE;
	case GOTO_EXPR:
		(TREE_CODE(GOTO_DESTINATION(t)) == LABEL_DECL ? self->gotos : self->computed)
			.safe_push({ GOTO_DESTINATION(t), self->here, EXPR_LOCATION(t) });
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
		else
			check_way_out(j.from, NOWHERE, j.where);
	for (const jump &j : of_asm)
		if (int *to = labels.get(j.label)) {
			check(j.from, *to, j.where);
			check_way_out(j.from, *to, j.where);
		}
	for (const jump &j : computed)
		check_computed(j);
}

} // namespace

void jumps_check(tree fn, const vec<wrapped> &regions)
{
	if (!regions.is_empty())
		jumps(regions).run(fn);
}

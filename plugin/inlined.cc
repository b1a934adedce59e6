/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * inlined.cc - what is taken away again after inlining.
 *
 * A small function that became a region without a pragma is none where GCC inlines it: its events would
 * take longer than what they measure. And a register barrier (register_barriers.cc) on what has
 * turned out to be a constant would only keep the region's code from being made for that constant.
 *
 * Law: both events of a copy go, or neither: they stand in one function, which is copied as a whole: that
 * is why -fpartial-inlining is off with auto=functions. Regions that a pragma made stay.
 *
 * The pass runs after early inlining, after inlining, and in the link-time compiler, which knows nothing of
 * what the plugin did before but the names of the asms' operands. */
#include "plugin/parts.h"
#include "ssa.h"
#include "tree-cfg.h"

static const char *const names[] = { "", "dprof_event", "dprof_barrier", "dprof_barrier_of_event" };

tree inlined_operand(enum mark mark, const char *constraint, tree value)
{
	tree name = mark ? build_string(strlen(names[mark]) + 1, names[mark]) : NULL_TREE;
	tree string = build_string(strlen(constraint) + 1, constraint);
	return build_tree_list(build_tree_list(name, string), value);
}

enum mark inlined_mark(gimple *stmt)
{
	gasm *a = dyn_cast<gasm *>(stmt);
	if (!a || !gimple_asm_ninputs(a))
		return MARK_NONE;
	tree name = TREE_PURPOSE(TREE_PURPOSE(gimple_asm_input_op(a, 0)));
	for (int m = MARK_EVENT; name && m <= MARK_BARRIER_OF_EVENT; m++)
		if (!strcmp(TREE_STRING_POINTER(name), names[m]))
			return (enum mark)m;
	return MARK_NONE;
}

namespace {

/* Did the statement come here from another function? */
bool is_inlined(gimple *stmt)
{
	for (tree b = gimple_block(stmt); b && TREE_CODE(b) == BLOCK; b = BLOCK_SUPERCONTEXT(b)) {
		tree origin = BLOCK_ABSTRACT_ORIGIN(b);
		if (origin && TREE_CODE(origin) == FUNCTION_DECL)
			return true;
	}
	return false;
}

bool needless(gimple *stmt)
{
	enum mark m = inlined_mark(stmt);
	if (m == MARK_NONE)
		return false;
	gasm *a = as_a<gasm *>(stmt);
	if (m != MARK_EVENT && gimple_asm_noutputs(a) &&
	    CONSTANT_CLASS_P(TREE_VALUE(gimple_asm_input_op(a, 0))))
		return true;
	return m != MARK_BARRIER && is_inlined(stmt);
}

/* What a barrier renewed has its old name again. */
void take_away(gimple_stmt_iterator *i)
{
	gasm *stmt = as_a<gasm *>(gsi_stmt(*i));
	tree output = gimple_asm_noutputs(stmt) ? TREE_VALUE(gimple_asm_output_op(stmt, 0)) : NULL_TREE;
	if (output)
		replace_uses_by(output, TREE_VALUE(gimple_asm_input_op(stmt, 0)));
	unlink_stmt_vdef(stmt);
	gsi_remove(i, true);
	release_defs(stmt);
}

const pass_data data = { GIMPLE_PASS, "dprof_inlined", OPTGROUP_NONE, TV_NONE, PROP_ssa, 0, 0, 0, 0 };

class pass_inlined : public gimple_opt_pass {
public:
	pass_inlined() : gimple_opt_pass(data, g) {}
	opt_pass *clone() final override { return new pass_inlined; }
	unsigned execute(function *fun) final override;
};

unsigned pass_inlined::execute(function *fun)
{
	basic_block bb;
	FOR_EACH_BB_FN(bb, fun)
		for (gimple_stmt_iterator i = gsi_start_bb(bb); !gsi_end_p(i);)
			if (needless(gsi_stmt(i)))
				take_away(&i);
			else
				gsi_next(&i);
	return 0;
}

} // namespace

void inlined_register(const char *plugin_name)
{
	if (options.automatic & (AUTO_FUNCTIONS | AUTO_MPI))
		flag_partial_inlining = 0;
	struct register_pass_info where = { new pass_inlined, "ccp", 0, PASS_POS_INSERT_BEFORE };
	register_callback(plugin_name, PLUGIN_PASS_MANAGER_SETUP, nullptr, &where);
}

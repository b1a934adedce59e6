/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * flow.h - where a number goes, in the functions of the unit (flow.cc). */
#ifndef DPROF_PLUGIN_FLOW_H
#define DPROF_PLUGIN_FLOW_H

class flow {
public:
	/* What counts: whether it, or what is made of it, is compared for order; only the number itself, but for constants; any
	 * comparison, also of whatever is made of it, or found by it in memory, and what is called by it; or whether something is read
	 * at a place that is found by it (reads.cc). */
	enum counts { ORDER, EXACT_ORDER, EQUALITY, READS };
	explicit flow(enum counts);
	/* Whether what the function that is looked at has there is compared so, or used, or may be by others. */
	bool decides(tree value);
	/* Or what any function of the unit finds in a member or a variable of it. */
	bool any_decides(tree name);
	static tree shared_name(tree x); /* of which x is; or NULL */

private:
	friend class flow_walk;

	/* What a function does with it: returns it, or a pointer to it, or stores it where parameters point to (a bit of each). */
	struct outcome {
		bool decides, returned, returned_at;
		unsigned HOST_WIDE_INT stored;
		bool operator==(const outcome &o) const
		{
			return returned == o.returned && returned_at == o.returned_at && stored == o.stored;
		}
	};
	struct entered {
		tree fn;
		unsigned HOST_WIDE_INT values, at; /* parameters that are it, or point to it */
		struct outcome comes;
	};
	/* A function in which it is: at `value`, or as what a call of `callee` gives, or in what the unit shares. */
	struct flow_start { tree fn, value, callee; struct outcome comes; };

	bool exactly, equality, reads;
	hash_set<tree> held, held_at; /* members and variables of the unit that are it, or point to it */
	auto_vec<struct entered> entries;
	auto_vec<struct flow_start> starts;

	bool share(tree name, bool at);
	struct outcome enter(tree fn, unsigned HOST_WIDE_INT values, unsigned HOST_WIDE_INT at);
	bool goes_on(const struct flow_start &s);
	bool follow();
};

/* In one function. */
class flow_walk {
public:
	flow_walk(flow &all, tree fn);
	void hold(tree x); /* x is it */
	void is_given(tree parameter, bool value, bool at);
	void comes_from(tree function, const struct flow::outcome &o);
	struct flow::outcome run();
	bool holds(tree x); /* when it has run; */
	bool stays() const; /* and then: no other function has it; */
	bool only_returns() const; /* or only those that call this one */
	bool fall = false;  /* something less is made of it */

private:
	flow &all;
	tree fn, callee = NULL_TREE;
	struct flow::outcome comes = {};
	hash_set<tree> values, places, given; /* what is it; what points to it, and did from the beginning; */
	hash_set<tree> arrays;                /* what points to others beside it */
	bool decides = false, returned = false, returned_at = false, more = false; /* more: has been found */
	bool leaves = false; /* others are given it */

	void hold_at(tree pointer, bool of_array = false);
	bool holds_at(tree pointer);
	bool is_place_by(tree x);
	bool is_found_by(tree x);
	bool holds_callee(gcall *call);
	bool is_order(enum tree_code code) const;
	void copy(tree to, tree from);
	void point_to_same(tree to, tree from);
	bool is_made_of_it(gimple *assign);
	void assign(gimple *stmt);
	void make(gimple *stmt);
	void come_back(gcall *call, const struct flow::outcome &o);
	void call_library(gcall *call, tree function);
	bool is_shared(tree name, tree x) const;
	bool is_at_it(tree x);
	bool is_address(tree x);
	bool only_goes_back(gimple *load);
	bool loads(gimple *assign);
	bool builtin_reads(gcall *call, tree function);
	bool foreign_reads(gcall *call, tree function);
	bool gives_place(gcall *call, tree function);
	bool library_reads(gcall *call, tree function);
	void call_builtin(gcall *call, tree function, bool by, bool from);
	void call(gcall *call);
	void statement(gimple *stmt);
};

#endif

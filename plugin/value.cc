/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * value.cc - the expression in `instance(VALUE)`.
 *
 *   VALUE    = PRODUCT ... joined by | ^ & << >> + - * / %, as C binds them
 *   PRODUCT  = [ - + ~ * ] PRODUCT | PRIMARY { .NAME | ->NAME | [VALUE] }
 *   PRIMARY  = NAME | CONSTANT | ( VALUE )
 *
 * GCC lets a plugin read tokens, but not call the front ends' parsers; what it can call is what builds
 * the trees. In a template of C++ nothing has a type yet, so nodes are built bare, as that front end does
 * itself, and its instantiation checks them.
 *
 * Law: the value has no side effects; what is not of this grammar is an error where it stands. */
#include "plugin/parts.h"

namespace {

class parser {
public:
	explicit parser(location_t before) : before(before) {}
	tree parse();

private:
	location_t before;
	struct token t;
	bool failed = false;

	void next();
	tree fail(const char *expected);
	tree bare(enum tree_code code, location_t where, tree a, tree b = NULL_TREE);
	tree join(enum tree_code code, location_t where, tree a, tree b);
	tree binary(int weakest);
	tree unary();
	tree postfix();
	tree primary();
	tree name();
	tree member(tree object, bool arrow);
	tree field(tree object, tree name);
	tree element(tree array);
};

const struct binary_operator {
	enum cpp_ttype token;
	int binds; /* a greater number binds tighter */
	enum tree_code code;
} operators[] = {
	{ CPP_OR, 1, BIT_IOR_EXPR },       { CPP_XOR, 2, BIT_XOR_EXPR },    { CPP_AND, 3, BIT_AND_EXPR },
	{ CPP_LSHIFT, 4, LSHIFT_EXPR },    { CPP_RSHIFT, 4, RSHIFT_EXPR },  { CPP_PLUS, 5, PLUS_EXPR },
	{ CPP_MINUS, 5, MINUS_EXPR },      { CPP_MULT, 6, MULT_EXPR },      { CPP_DIV, 6, TRUNC_DIV_EXPR },
	{ CPP_MOD, 6, TRUNC_MOD_EXPR },
};

void parser::next()
{
	t = lex(before);
	before = t.where;
}

tree parser::fail(const char *expected)
{
	if (!failed)
		error_at(t.where, "expected %s; an instance is " DPROF_VALUE_RULE
			 ", so assign any other expression to a variable first", expected);
	failed = true;
	return error_mark_node;
}

/* An array becomes a pointer to its first element, a small integer an int. */
tree converted(location_t where, tree a)
{
	tree type = TREE_TYPE(a);
	if (TREE_CODE(type) == ARRAY_TYPE)
		return build1(NOP_EXPR, build_pointer_type(TREE_TYPE(type)),
			      build_unary_op(where, ADDR_EXPR, a, false));
	return default_conversion(a);
}

/* As the C++ front end builds what it cannot look into yet. */
tree parser::bare(enum tree_code code, location_t where, tree a, tree b)
{
	tree node = make_node(code);
	SET_EXPR_LOCATION(node, where);
	TREE_OPERAND(node, 0) = a;
	if (b)
		TREE_OPERAND(node, 1) = b;
	return node;
}

tree parser::join(enum tree_code code, location_t where, tree a, tree b)
{
	if (a == error_mark_node || b == error_mark_node)
		return error_mark_node;
	return cplus_in_template() ? bare(code, where, a, b) :
		build_binary_op(where, code, converted(where, a), converted(where, b), true);
}

tree parser::binary(int weakest)
{
	tree a = unary();
	for (;;) {
		const struct binary_operator *o = nullptr;
		for (const struct binary_operator &each : operators)
			if (each.token == t.type && each.binds >= weakest)
				o = &each;
		if (!o)
			return a;
		location_t where = t.where;
		next();
		tree b = binary(o->binds + 1);
		a = join(o->code, where, a, b);
	}
}

tree parser::unary()
{
	enum cpp_ttype type = t.type;
	location_t where = t.where;
	if (type != CPP_MINUS && type != CPP_PLUS && type != CPP_COMPL && type != CPP_MULT)
		return postfix();
	next();
	tree a = unary();
	if (a == error_mark_node)
		return a;
	if (type == CPP_MULT)
		return cplus_in_template() ? bare(INDIRECT_REF, where, a) :
			build_indirect_ref(where, converted(where, a), RO_UNARY_STAR);
	if (type == CPP_PLUS)
		return a;
	enum tree_code code = type == CPP_MINUS ? NEGATE_EXPR : BIT_NOT_EXPR;
	return cplus_in_template() ? bare(code, where, a) :
		build_unary_op(where, code, converted(where, a), false);
}

tree parser::postfix()
{
	tree a = primary();
	for (;;)
		if (t.type == CPP_DOT || t.type == CPP_DEREF)
			a = member(a, t.type == CPP_DEREF);
		else if (t.type == CPP_OPEN_SQUARE)
			a = element(a);
		else
			return a;
}

tree parser::primary()
{
	tree value = t.value;
	switch (t.type) {
	case CPP_NAME:
		return name();
	case CPP_NUMBER:
	case CPP_CHAR:
		next();
		return value;
	case CPP_OPEN_PAREN:
		next();
		value = binary(0);
		if (t.type != CPP_CLOSE_PAREN)
			return fail("a closing parenthesis");
		next();
		return value;
	default:
		return fail("a name or a constant");
	}
}

/* Is it of the function around a lambda that does not capture it, or around a nested function? */
bool is_outer(tree value)
{
	bool local = TREE_CODE(value) == PARM_DECL ||
		     (VAR_P(value) && !TREE_STATIC(value) && !DECL_EXTERNAL(value));
	return local && DECL_CONTEXT(value) != current_function_decl;
}

tree parser::name()
{
	tree id = t.value, value = lookup_name(id);
	location_t where = t.where;
	next();
	if (!value || value == error_mark_node) {
		failed = true;
		error_at(where, "%qE was not declared; an instance is " DPROF_VALUE_RULE, id);
		return error_mark_node;
	}
	switch (is_outer(value) ? ERROR_MARK : TREE_CODE(value)) {
	case VAR_DECL:
	case PARM_DECL:
		TREE_USED(value) = DECL_READ_P(value) = 1;
		if (TREE_CODE(TREE_TYPE(value)) == REFERENCE_TYPE && !cplus_in_template())
			return build1(INDIRECT_REF, TREE_TYPE(TREE_TYPE(value)), value);
		return value;
	case CONST_DECL:
		return cplus_in_template() ? value : DECL_INITIAL(value);
	case INTEGER_CST:
		return value;
	default:
		failed = true;
		error_at(where, "%qE cannot be in an instance, which is " DPROF_VALUE_RULE
			 " of this function: assign it to one first", id);
		return error_mark_node;
	}
}

/* The member, also of what has no name itself: anonymous unions, bases. NULL if there is none. */
tree parser::field(tree object, tree name)
{
	for (tree f = TYPE_FIELDS(TYPE_MAIN_VARIANT(TREE_TYPE(object))); f; f = DECL_CHAIN(f)) {
		if (DECL_NAME(f) == name && VAR_P(f))
			return f;
		if (TREE_CODE(f) != FIELD_DECL || (DECL_NAME(f) && DECL_NAME(f) != name))
			continue;
		tree ref = build3(COMPONENT_REF, TREE_TYPE(f), object, f, NULL_TREE);
		TREE_THIS_VOLATILE(ref) = TREE_THIS_VOLATILE(object) || TREE_THIS_VOLATILE(f);
		TREE_SIDE_EFFECTS(ref) = TREE_SIDE_EFFECTS(object) || TREE_THIS_VOLATILE(ref);
		if (DECL_NAME(f))
			return ref;
		tree inner = RECORD_OR_UNION_TYPE_P(TREE_TYPE(f)) ? field(ref, name) : NULL_TREE;
		if (inner)
			return inner;
	}
	return NULL_TREE;
}

tree parser::member(tree object, bool arrow)
{
	location_t where = t.where;
	next();
	if (t.type != CPP_NAME)
		return fail("the name of a member");
	tree id = t.value;
	next();
	if (object == error_mark_node)
		return object;
	if (cplus_in_template())
		return bare(COMPONENT_REF, where, arrow ? cplus_arrow(where, object) : object, id);
	if (arrow)
		object = build_indirect_ref(where, converted(where, object), RO_ARROW);
	tree found = RECORD_OR_UNION_TYPE_P(TREE_TYPE(object)) ? field(object, id) : NULL_TREE;
	if (found || object == error_mark_node)
		return found ? found : object;
	failed = true;
	error_at(where, "%qT has no member %qE", TREE_TYPE(object), id);
	return error_mark_node;
}

tree parser::element(tree array)
{
	location_t where = t.where;
	next();
	tree index = binary(0);
	if (t.type != CPP_CLOSE_SQUARE)
		return fail("a closing bracket");
	next();
	if (array == error_mark_node || index == error_mark_node)
		return error_mark_node;
	if (cplus_in_template())
		return bare(ARRAY_REF, where, array, index);
	if (TREE_CODE(TREE_TYPE(array)) == ARRAY_TYPE)
		return build4(ARRAY_REF, TREE_TYPE(TREE_TYPE(array)), array,
			      default_conversion(index), NULL_TREE, NULL_TREE);
	return build_indirect_ref(where, join(PLUS_EXPR, where, array, index), RO_ARRAY_INDEXING);
}

tree parser::parse()
{
	next();
	tree value = binary(0);
	if (!failed && value != error_mark_node && t.type != CPP_CLOSE_PAREN)
		fail("a closing parenthesis");
	return failed || value == error_mark_node ? NULL_TREE : value;
}

} // namespace

tree value_parse(location_t before)
{
	return parser(before).parse();
}

/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * event.cc - what the front end leaves where an event is to be recorded, and the instructions that it
 * becomes. runtime/record.h explains them.
 *
 * Law: no call and no memory but the record on the fast path; nothing but rax, rcx, rdx, rsi and the
 * flags changes; the counter is read last before a region and first after it.
 *
 * The text is duplicated by inlining and unrolling, so its labels are numbers. Its cold part is in
 * subsection 1 of the same section, so it lives and dies with its function. Nothing in it describes
 * the frame: whether CFA is counted from rsp is not known here, so a backtrace taken inside
 * __dprof_4_needs_libdprof ends there; outside it the stack is as GCC thinks it is. */
#include "plugin/parts.h"
#include "tree-dfa.h"

#define INSN(att, intel) "\t{" att "|" intel "}\n"

/* rcx = a slot of our own; or goes to 3 when there is none. */
#define CLAIM \
	"1:" INSN("movq\t__dprof_cursor@gottpoff(%%rip), %%rsi", \
		  "mov\trsi, QWORD PTR __dprof_cursor@gottpoff[rip]") \
	INSN("movl\t$8, %%ecx", "mov\tecx, 8") \
	INSN("xaddq\t%%rcx, %%fs:(%%rsi)", "xadd\tQWORD PTR fs:[rsi], rcx") \
	INSN("cmpq\t%%fs:8(%%rsi), %%rcx", "cmp\trcx, QWORD PTR fs:8[rsi]") \
	"\tjae\t3f\n"

/* Operand 0 is the site plus 16 times the operation: what a word says of them. */
#define ID_OF(lea) \
	lea \
	INSN("shlq\t$37, %%rsi", "shl\trsi, 37")
#define ID     ID_OF(INSN("leaq\t%c0(%%rip), %%rsi", "lea\trsi, %c0[rip]"))
#define ID_FAR ID_OF(INSN("leaq\t%0, %%rsi", "lea\trsi, %0"))

#define CLOCK "\trdtsc\n"
#define RECEIVING_CLOCK "\tlfence\n\trdtsc\n"
#define FENCED_CLOCK "\tlfence\n\trdtsc\n\tlfence\n"
#define JOIN \
	INSN("shlq\t$32, %%rdx", "shl\trdx, 32") \
	INSN("orq\t%%rdx, %%rax", "or\trax, rdx")
#define WRITE \
	INSN("shldq\t$24, %%rsi, %%rax", "shld\trax, rsi, 24") \
	INSN("movq\t%%rax, (%%rcx)", "mov\tQWORD PTR [rcx], rax")

/* Operand 1 is the site plus the operation. */
#define COLD_OF(lea) \
	"2:\n" \
	"\t.subsection 1\n" \
	"3:" INSN("leaq\t-128(%%rsp), %%rsp", "lea\trsp, -128[rsp]") /* over the red zone */ \
	lea \
	INSN("call\t*__dprof_4_needs_libdprof@GOTPCREL(%%rip)", "call\t[QWORD PTR __dprof_4_needs_libdprof@GOTPCREL[rip]]") \
	INSN("leaq\t128(%%rsp), %%rsp", "lea\trsp, 128[rsp]") \
	"\tjnc\t1b\n" \
	"\tjmp\t2b\n" \
	"\t.previous"
#define COLD     COLD_OF(INSN("leaq\t%c1(%%rip), %%rdx", "lea\trdx, %c1[rip]"))
#define COLD_FAR COLD_OF(INSN("leaq\t%1, %%rdx", "lea\trdx, %1"))

/* Under -mcmodel=large a site may be out of a displacement's reach. */
static bool far_sites()
{
	return ix86_cmodel == CM_LARGE || ix86_cmodel == CM_LARGE_PIC;
}

/* The end of an operation may be the receiving end of a link: a branch that was predicted to leave a
 * waiting loop must not have read the counter before what was waited for had come. To be freed. */
static char *text(enum dprof_op op, enum dprof_kind kind)
{
	const char *clock = options.fence ? FENCED_CLOCK JOIN :
			    op == DPROF_EXIT && kind != DPROF_KIND_REGION ? RECEIVING_CLOCK JOIN :
			    CLOCK JOIN;
	const char *id = far_sites() ? ID_FAR : ID, *cold = far_sites() ? COLD_FAR : COLD;
	if (op == DPROF_EXIT)
		return concat(clock, CLAIM, id, WRITE, cold, nullptr);
	return concat(CLAIM, id, clock, WRITE, cold, nullptr);
}

/* A byte of the site as a symbol, "i"; "m" would let GCC keep the address in a register over the whole
 * region, which costs the program one. */
static tree operand(enum mark mark, tree site, unsigned byte)
{
	tree ref = build4(ARRAY_REF, TREE_TYPE(TREE_TYPE(site)), site, size_int(byte), NULL_TREE,
			  NULL_TREE);
	return far_sites() ? inlined_operand(mark, "m", ref) :
			     inlined_operand(mark, "i", build_fold_addr_expr(ref));
}

typedef vec<tree, va_gc> operands;

static operands *clobbers(std::initializer_list<const char *> names)
{
	operands *list = nullptr;
	for (const char *what : names)
		vec_safe_push(list, build_tree_list(NULL_TREE, build_string(strlen(what) + 1, what)));
	return list;
}

static gimple *asm_build(const char *text, operands *inputs, operands *clobbered, location_t where)
{
	gasm *stmt = gimple_build_asm_vec(text, inputs, nullptr, clobbered, nullptr);
	gimple_asm_set_volatile(stmt, true);
	gimple_asm_set_inline(stmt, true); /* the inliner counts one instruction, not thirty lines */
	gimple_set_location(stmt, where);
	return stmt;
}

gimple *event_build(enum dprof_op op, enum dprof_kind kind, tree site, location_t where, enum origin origin)
{
	operands *inputs = nullptr;
	enum mark mark = origin == UNLESS_INLINED ? MARK_EVENT : MARK_NONE;
	vec_safe_push(inputs, operand(mark, site, DPROF_SITE_ALIGN * op));
	vec_safe_push(inputs, operand(MARK_NONE, site, op));
	char *t = text(op, kind);
	gimple *stmt = asm_build(t, inputs, clobbers({ "memory", "cc", "rsi", "rdx", "rcx", "rax" }), where);
	free(t);
	return stmt;
}

/* ---- Where a call stands --------------------------------------------------------------------------- */

#define TELL_OF(lea) \
	INSN("movq\t__dprof_call@gottpoff(%%rip), %%rax", "mov\trax, QWORD PTR __dprof_call@gottpoff[rip]") \
	lea \
	INSN("movq\t%%rcx, %%fs:(%%rax)", "mov\tQWORD PTR fs:[rax], rcx") \
	INSN("movq\t%%rsp, %%fs:8(%%rax)", "mov\tQWORD PTR fs:8[rax], rsp")
#define TELL     TELL_OF(INSN("leaq\t%c0(%%rip), %%rcx", "lea\trcx, %c0[rip]"))
#define TELL_FAR TELL_OF(INSN("leaq\t%0, %%rcx", "lea\trcx, %0"))
#define TOLD \
	INSN("movq\t__dprof_call@gottpoff(%%rip), %%rcx", "mov\trcx, QWORD PTR __dprof_call@gottpoff[rip]") \
	INSN("movq\t$0, %%fs:(%%rcx)", "mov\tQWORD PTR fs:[rcx], 0")

bool call_tells(gasm *text)
{
	return strstr(gimple_asm_string(text), "__dprof_call@gottpoff");
}

gimple *call_build(tree site, location_t where)
{
	operands *inputs = nullptr;
	if (site)
		vec_safe_push(inputs, operand(MARK_NONE, site, 0));
	return asm_build(!site ? TOLD : far_sites() ? TELL_FAR : TELL, inputs,
			 clobbers({ "memory", "rcx", "rax" }), where);
}

/* Over the event behind it, unless there is no adapter to record that. To be freed. */
static char *unless_alone(enum dprof_kind kind, enum dprof_adapter adapter)
{
	unsigned bit = 1u << kind, at = 4 * adapter;
	char *text = xasprintf("{movq\t__dprof_alone@GOTPCREL(%%%%rip), %%%%rcx|"
			       "mov\trcx, QWORD PTR __dprof_alone@GOTPCREL[rip]}\n"
			       "\t{testl\t$%u, %u(%%%%rcx)|test\tDWORD PTR %u[rcx], %u}\n\tjz\t4f\n", bit, at, at, bit);
	return text;
}

/* The same, and the event where there is no adapter to record it. ENTER says that the call comes, EXIT that
 * it is over. */
gimple *call_or_event_build(enum dprof_op op, enum dprof_kind kind, enum dprof_adapter adapter, tree site,
			    location_t where)
{
	operands *inputs = nullptr;
	vec_safe_push(inputs, operand(MARK_NONE, site, DPROF_SITE_ALIGN * op));
	vec_safe_push(inputs, operand(MARK_NONE, site, op));
	char *unless = unless_alone(kind, adapter), *event = text(op, kind);
	char *both = concat(op == DPROF_EXIT ? TOLD : far_sites() ? TELL_FAR : TELL, "\t", unless, event, "\n4:", nullptr);
	gimple *stmt = asm_build(both, inputs, clobbers({ "memory", "cc", "rsi", "rdx", "rcx", "rax" }), where);
	free(both);
	free(event);
	free(unless);
	return stmt;
}

/* ---- Which event an asm is ------------------------------------------------------------------------- */

/* Operand 1 tells both. */
tree event_site(gimple *stmt, enum dprof_op *op)
{
	gasm *a = dyn_cast<gasm *>(stmt);
	if (!a || gimple_asm_ninputs(a) != 2 || gimple_asm_noutputs(a))
		return NULL_TREE;
	tree where = TREE_VALUE(gimple_asm_input_op(a, 1));
	if (TREE_CODE(where) == ADDR_EXPR)
		where = TREE_OPERAND(where, 0);
	poly_int64 offset;
	tree site = get_addr_base_and_unit_offset(where, &offset);
	if (!site || !site_function(site))
		return NULL_TREE;
	*op = (enum dprof_op)offset.to_constant();
	return site;
}

/* ---- Notes -----------------------------------------------------------------------------------------
 *
 *   asm volatile ("#dprof:event:OP:KIND:ORIGIN:NAME" : : : "memory")
 *
 * stands for an event until the pass. It names no variable, because OpenMP's default(none) would ask
 * under which clause the user shares it. Its location is its site's. */
#define NOTE "#dprof:event:"

tree event_note(enum dprof_op op, enum dprof_kind kind, const char *name, location_t site, enum origin origin)
{
	char *t = xasprintf(NOTE "%d:%d:%d:%s", op, kind, origin, name);
	tree string = build_string(strlen(t) + 1, t);
	free(t);
	tree memory = build_tree_list(NULL_TREE, build_string(sizeof "memory", "memory"));
	tree stmt = build5(ASM_EXPR, void_type_node, string, NULL_TREE, NULL_TREE, memory, NULL_TREE);
	ASM_VOLATILE_P(stmt) = 1;
	ASM_INLINE_P(stmt) = 1;
	TREE_SIDE_EFFECTS(stmt) = 1;
	SET_EXPR_LOCATION(stmt, site);
	return stmt;
}

bool event_read(const char *asm_text, struct event *e)
{
	if (!startswith(asm_text, NOTE))
		return false;
	char *rest;
	e->op = (enum dprof_op)strtol(asm_text + strlen(NOTE), &rest, 10);
	e->kind = (enum dprof_kind)strtol(rest + 1, &rest, 10);
	e->origin = (enum origin)strtol(rest + 1, &rest, 10);
	e->name = rest + 1;
	return true;
}

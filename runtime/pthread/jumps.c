/* SPDX-License-Identifier: MIT
 *
 * jumps.c - a thread is about to leave functions without a return: by longjmp, for another stack, by an exception.
 *
 * Which regions it leaves on its way is not known: those of C have no exit then. So only the first such moment of each
 * thread is kept (format.h, struct dprof_jumps). But which of the calls that it is in it leaves is told by the place on the
 * stack where it goes on; and what unwinds the stack ends them itself.
 *
 * Who goes on on another stack (a fiber, a coroutine) may come back to where it was, and be in the same regions again, which
 * have their exits then: so each such switch is recorded. A jump up the stack is not one as far as can be told; but who comes
 * back from there to a stack below it jumps down, which nobody does who only leaves functions.
 *
 * Law: who says that all jumps are told stands before every function here, in every module of the process. */
#include <setjmp.h>
#include <signal.h>
#include <ucontext.h>
#include <unwind.h>

#include "runtime/pthread/open_calls.h"
#include "runtime/pthread/pthread.h"
#include "runtime/readable.h"

void __longjmp_chk(struct __jmp_buf_tag [1], int) __attribute__((noreturn));

#define FINDS(name) static __typeof__(&name) real_##name(void) { return REAL(name); }

/* ---- Calls that are left ------------------------------------------------------------------------ */

__thread struct open_calls open_calls;
__thread unsigned handlers_begun;
__thread int handled_last;

static uintptr_t stack_now(void)
{
	return (uintptr_t)__builtin_frame_address(0);
}

/* The stack that handlers have of their own, if the thread is on it. */
static stack_t own_stack(void)
{
	stack_t s;

	if (sys(SYS_sigaltstack, NULL, &s) != 0 || !(s.ss_flags & SS_ONSTACK))
		s.ss_size = 0;
	return s;
}

static bool is_on(const stack_t *s, uintptr_t place)
{
	return place - (uintptr_t)s->ss_sp < s->ss_size;
}

void call_interrupts(struct call_under_way *c, uint64_t begun, void (*left)(struct call_under_way *))
{
	struct open_calls outer = open_calls;
	stack_t own;

	call_opens(c, begun, left);
	if (!call_is_below(outer.call, c))
		return;
	own = own_stack();
	if (is_on(&own, (uintptr_t)c) && !is_on(&own, (uintptr_t)outer.call))
		c->outer = outer;
}

/* The jump goes up the stack, past the call; or off the handlers' one, up to a place above the call. */
static bool is_left(uintptr_t call, uintptr_t from, uintptr_t to)
{
	stack_t own = own_stack();
	bool goes_off = is_on(&own, from) && !is_on(&own, to);

	return (call >= from && call < to) || (goes_off && (is_on(&own, call) || call < to));
}

/* The thread is about to go on at this place of its stack, or of another one. */
static void open_calls_leave(uintptr_t to)
{
	for (struct call_under_way *c; to && (c = open_calls.call) && is_left((uintptr_t)c, stack_now(), to);) {
		if (!is_readable(c, sizeof(*c)) || c->begun != open_calls.begun) {
			open_calls.call = NULL;
			return;
		}
		open_calls = c->outer;
		c->left(c);
	}
}

/* As glibc hides it (PTR_MANGLE in its sysdeps/unix/sysv/linux/x86_64/pointer_guard.h). */
#define JUMP_STACK 6

static uintptr_t stack_in(const struct __jmp_buf_tag *to)
{
	uintptr_t place = (uintptr_t)to->__jmpbuf[JUMP_STACK];

	__asm__("rorq $17, %0; xorq %%fs:0x30, %0" : "+r"(place));
	return place;
}

/* Whether this C library hides it so. */
static bool knows_stacks;

static __attribute__((noinline)) void learn_stacks(void)
{
	jmp_buf here;

	if (_setjmp(here) == 0)
		knows_stacks = stack_now() - stack_in(here) < 4096;
}

static uintptr_t stack_of_jump(const struct __jmp_buf_tag *to)
{
	return knows_stacks ? stack_in(to) : 0;
}

static uintptr_t stack_of_context(const ucontext_t *to)
{
	return open_calls.call && is_readable(to, sizeof(*to)) ? (uintptr_t)to->uc_mcontext.gregs[REG_RSP] : 0;
}

/* ---- Other stacks ------------------------------------------------------------------------------- */

DPROF_SITE_OF(site_switch, DPROF_KIND_IO, "stack switch");

static void switches_stacks(void)
{
	if (dprof_adapter_thread() != UINT32_MAX) /* else it was nowhere yet */
		dprof_adapter_point(SITE(site_switch));
}

/* Down the stack, but not off the one that handlers have of their own; 0: it is not known whereto. */
static void jumps_to(uintptr_t to)
{
	uintptr_t from = stack_now();
	stack_t own;

	if (to > from || dprof_adapter_is_off())
		return;
	own = own_stack();
	if (!is_on(&own, from) || is_on(&own, to))
		switches_stacks();
}

/* Whichever stack that is: what a context's function returns to (uc_link) nobody tells. */
static void goes_to(const ucontext_t *to)
{
	open_calls_leave(stack_of_context(to));
	switches_stacks();
}

/* ---- The functions ------------------------------------------------------------------------------ */

/* What never returns. */
#define LEAVES(name, parameters, ...)              \
	FINDS(name)                                \
	DPROF_EXPORT void name parameters          \
	{                                          \
		uintptr_t stack = stack_of_jump(to);  \
		dprof_adapter_jump();              \
		open_calls_leave(stack);           \
		jumps_to(stack);                   \
		real_##name()(__VA_ARGS__);           \
		__builtin_unreachable();           \
	}

LEAVES(longjmp, (struct __jmp_buf_tag to[1], int value), to, value)
LEAVES(_longjmp, (struct __jmp_buf_tag to[1], int value), to, value)
LEAVES(siglongjmp, (struct __jmp_buf_tag to[1], int value), to, value)
LEAVES(__longjmp_chk, (struct __jmp_buf_tag to[1], int value), to, value)

/* What may return. */
#define MAY_LEAVE(type, name, leaves, parameters, ...) \
	FINDS(name)                                \
	DPROF_EXPORT type name parameters          \
	{                                          \
		dprof_adapter_jump();              \
		leaves;                            \
		return real_##name()(__VA_ARGS__);    \
	}

MAY_LEAVE(int, setcontext, goes_to(to), (const ucontext_t *to), to)
MAY_LEAVE(int, swapcontext, goes_to(to), (ucontext_t *from, const ucontext_t *to), from, to)
MAY_LEAVE(_Unwind_Reason_Code, _Unwind_RaiseException, , (struct _Unwind_Exception *x), x)
MAY_LEAVE(_Unwind_Reason_Code, _Unwind_Resume_or_Rethrow, , (struct _Unwind_Exception *x), x)
MAY_LEAVE(_Unwind_Reason_Code, _Unwind_ForcedUnwind, ,
	  (struct _Unwind_Exception *x, _Unwind_Stop_Fn stop, void *argument), x, stop, argument)

#define IS_FIRST(name) (real_##name() && dlsym(RTLD_DEFAULT, #name) == (void *)name)

static void __attribute__((constructor)) start(void)
{
	learn_stacks();
	if (IS_FIRST(longjmp) && IS_FIRST(_longjmp) && IS_FIRST(siglongjmp) && IS_FIRST(__longjmp_chk) &&
	    IS_FIRST(setcontext) && IS_FIRST(swapcontext) && IS_FIRST(_Unwind_RaiseException) &&
	    IS_FIRST(_Unwind_Resume_or_Rethrow) && IS_FIRST(_Unwind_ForcedUnwind))
		dprof_adapter_tells_jumps();
}

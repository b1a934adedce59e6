/* SPDX-License-Identifier: MIT
 *
 * jumps.c - a thread is about to leave functions without a return: by longjmp, for another stack, by an exception.
 *
 * Where it comes out is not known, nor which regions it leaves on its way: those of C have no exit then. So only
 * the first such moment of each thread is kept (format.h, struct dprof_jumps).
 *
 * Law: who says that all jumps are told stands before every function here, in every module of the process. */
#include <setjmp.h>
#include <ucontext.h>
#include <unwind.h>

#include "runtime/pthread/pthread.h"

void __longjmp_chk(struct __jmp_buf_tag [1], int) __attribute__((noreturn));

#define FINDS(name) static __typeof__(&name) real_##name(void) { return REAL(name); }

/* What never returns. */
#define LEAVES(name, parameters, ...)              \
	FINDS(name)                                \
	DPROF_EXPORT void name parameters          \
	{                                          \
		dprof_adapter_jump();              \
		real_##name()(__VA_ARGS__);           \
		__builtin_unreachable();           \
	}

LEAVES(longjmp, (struct __jmp_buf_tag to[1], int value), to, value)
LEAVES(_longjmp, (struct __jmp_buf_tag to[1], int value), to, value)
LEAVES(siglongjmp, (struct __jmp_buf_tag to[1], int value), to, value)
LEAVES(__longjmp_chk, (struct __jmp_buf_tag to[1], int value), to, value)

/* What may return. */
#define MAY_LEAVE(type, name, parameters, ...)     \
	FINDS(name)                                \
	DPROF_EXPORT type name parameters          \
	{                                          \
		dprof_adapter_jump();              \
		return real_##name()(__VA_ARGS__);    \
	}

MAY_LEAVE(int, setcontext, (const ucontext_t *to), to)
MAY_LEAVE(int, swapcontext, (ucontext_t *from, const ucontext_t *to), from, to)
MAY_LEAVE(_Unwind_Reason_Code, _Unwind_RaiseException, (struct _Unwind_Exception *x), x)
MAY_LEAVE(_Unwind_Reason_Code, _Unwind_Resume_or_Rethrow, (struct _Unwind_Exception *x), x)
MAY_LEAVE(_Unwind_Reason_Code, _Unwind_ForcedUnwind,
	  (struct _Unwind_Exception *x, _Unwind_Stop_Fn stop, void *argument), x, stop, argument)

/* Found ahead, since signal handlers jump, too. */
#define IS_FIRST(name) (real_##name() && dlsym(RTLD_DEFAULT, #name) == (void *)name)

static void __attribute__((constructor)) start(void)
{
	if (IS_FIRST(longjmp) && IS_FIRST(_longjmp) && IS_FIRST(siglongjmp) && IS_FIRST(__longjmp_chk) &&
	    IS_FIRST(setcontext) && IS_FIRST(swapcontext) && IS_FIRST(_Unwind_RaiseException) &&
	    IS_FIRST(_Unwind_Resume_or_Rethrow) && IS_FIRST(_Unwind_ForcedUnwind))
		dprof_adapter_tells_jumps();
}

/* SPDX-License-Identifier: MIT
 *
 * record.h - what the code that the plugin inserts shares with the runtime.
 *
 * The whole fast path, as inserted at the begin of a region (at its end the counter is read first):
 *
 *   1:  mov   __dprof_cursor@gottpoff(%rip), %rsi
 *       mov   $16, %ecx
 *       xadd  %rcx, %fs:(%rsi)            claim a slot; one instruction: no signal handler gets it
 *       cmp   %fs:8(%rsi), %rcx
 *       jae   3f                          none left (a new thread has none)
 *       lea   SITE(%rip), %rax
 *       mov   %rax, 8(%rcx)               what
 *       rdtsc                             last before a region, first after one
 *       shl   $32, %rdx
 *       or    %rdx, %rax
 *       mov   %rax, (%rcx)                stamp
 *   2:
 *   .subsection 1
 *   3:  lea   -128(%rsp), %rsp            the red zone
 *       call  *__dprof_slow@gotpcrel(%rip)
 *       lea   128(%rsp), %rsp
 *       jnc   1b                          there is room now
 *       jmp   2b                          nothing is to be recorded
 *   .previous
 *
 * Law: a slot that was claimed below `end` belongs to its claimer alone and stays mapped until
 * it is written. */
#ifndef DPROF_RECORD_H
#define DPROF_RECORD_H

#include "runtime/format.h"

/* Of each thread. In one that has recorded nothing yet `end` is NULL. A claim is compared with
 * `end` one instruction after it was made, and a handler that came in between may have moved
 * `end`: but only downwards, so that what had failed still fails. What had room and now fails
 * leaves its slot zero. */
struct dprof_cursor {
	struct dprof_record *next; /* past end when a claim failed: __dprof_slow mends it */
	struct dprof_record *end;
};

#if defined(__x86_64__)
extern __thread struct dprof_cursor __dprof_cursor
	__attribute__((tls_model("initial-exec"), visibility("default")));
#endif

/* Makes room in the calling thread's buffer. Preserves every register (vector registers too) except
 * the flags and may be called with any stack alignment; to be called from assembly only.
 * Returns with the carry flag clear when next < end, and set when the event is not to be recorded;
 * then next is past end and the loss, if it is one, has been counted. Never blocks for long,
 * never sets errno, safe in a signal handler. */
__attribute__((visibility("default"))) void __dprof_slow(void);

#endif

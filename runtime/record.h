/* SPDX-License-Identifier: MIT
 *
 * record.h - what the code that the plugin inserts shares with the runtime.
 *
 * The whole fast path, as inserted at the begin of a region (at its end the counter is read first):
 *
 *   1:  mov   __dprof_cursor@gottpoff(%rip), %rsi
 *       mov   $8, %ecx
 *       xadd  %rcx, %fs:(%rsi)            claim a word; one instruction: no signal handler gets it
 *       cmp   %fs:8(%rsi), %rcx
 *       jae   3f                          none left (a new thread has none)
 *       lea   SITE + 16 * OP(%rip), %rsi
 *       shl   $37, %rsi                   its bits 26..4 come to stand in the word's lower end
 *       rdtsc                             last before a region, first after one
 *       shl   $32, %rdx
 *       or    %rdx, %rax
 *       shld  $24, %rsi, %rax             words.h
 *       mov   %rax, (%rcx)
 *   2:
 *   .subsection 1
 *   3:  lea   -128(%rsp), %rsp            the red zone
 *       lea   SITE + OP(%rip), %rdx
 *       call  *__dprof_4_needs_libdprof@gotpcrel(%rip)
 *       lea   128(%rsp), %rsp
 *       jnc   1b                          there is room now
 *       jmp   2b                          it was recorded for us, or is not to be
 *   .previous
 *
 * Around a call that an adapter records it says just where the call stands; where there is no adapter, it
 * records the call itself, if its kind is recorded:
 *
 *       mov   __dprof_call@gottpoff(%rip), %rax
 *       lea   SITE(%rip), %rcx
 *       mov   %rcx, %fs:(%rax)
 *       mov   %rsp, %fs:8(%rax)
 *       mov   __dprof_alone@gotpcrel(%rip), %rcx
 *       testl $(1 << KIND), 4*ADAPTER(%rcx)
 *       jz    4f
 *       (ENTER as above)
 *   4:  call  MPI_Send
 *       mov   __dprof_call@gottpoff(%rip), %rcx
 *       movq  $0, %fs:(%rcx)
 *       (the same test; EXIT)
 *
 * A call of which only the adapter can say whether it is to be recorded (a lock may be refused) has no such test.
 *
 * Law: a slot that was claimed belongs to its claimer alone and stays mapped until it is written. */
#ifndef DPROF_RECORD_H
#define DPROF_RECORD_H

#include "runtime/format.h"

/* Of each thread. In one that has recorded nothing yet, and in one that is not to take the fast path,
 * `end` is NULL; the helper thread may set it to that at any time. A claim is compared with `end` one
 * instruction after it was made, and a handler that came in between may have moved `end` anywhere. So a
 * claim that has no room has a slot of its own, too, in the slack behind its chunk (thread.h): what had
 * failed may still succeed, and what had room and fails is filled by __dprof_4_needs_libdprof. */
struct dprof_cursor {
	uint64_t *next; /* past end when a claim failed: __dprof_4_needs_libdprof mends it */
	uint64_t *end;
};

#if defined(__x86_64__)
extern __thread struct dprof_cursor __dprof_cursor
	__attribute__((tls_model("initial-exec"), visibility("default")));
#endif

/* The call that the thread is about to make: `site` is NULL when it is about to make none, and the stack
 * pointer tells a call from one in a signal handler that came in between. */
struct dprof_call {
	const struct dprof_site *site;
	uint64_t stack;
};

#if defined(__x86_64__)
extern __thread struct dprof_call __dprof_call
	__attribute__((tls_model("initial-exec"), visibility("default")));
#endif

/* The kinds, as bits, of an adapter's calls that the code around them is to record itself. */
#if defined(__x86_64__)
extern uint32_t __dprof_alone[DPROF_ADAPTERS] __attribute__((visibility("default")));
#endif

/* Makes room in the calling thread's buffer, or records the event itself.
 * The name is what the linker or the loader says where there is no libdprof, or one that does not go with the
 * object: 4 is the version of all that this header and the layout of sites say, and changes with them.
 * rcx: the slot that was claimed in vain; rdx: the address of the site, and the operation in its low
 * bits, or 0; rax: at an EXIT the stamp. Preserves every register (vector registers too) except the
 * flags and may be called with any stack alignment; to be called from assembly only.
 * Returns with the carry flag clear when to try again, and set when there is nothing left to do: the
 * event is recorded, or is not to be; the loss, if it is one, has been counted. Never blocks for long,
 * never sets errno, safe in a signal handler. */
__attribute__((visibility("default"))) void __dprof_4_needs_libdprof(void);

/* An object that has sites is loaded, and `code` is in it: it calls this before its own constructors (plugin/loading.cc),
 * if it is there. */
__attribute__((visibility("default"))) void __dprof_4_loaded(const void *code);

#endif

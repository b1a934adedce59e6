/* SPDX-License-Identifier: MIT
 *
 * entry.S - where the inserted code enters the runtime, and the way from there into the C library.
 *
 * Law: to the code around it an event is invisible: all registers but the flags are as before. */
#include "runtime/vectors.h"

	.text

/* __dprof_4_needs_libdprof: see record.h. dprof_make_room() is compiled to touch general registers only, and
 * neither do the system calls that it makes; so these nine are all that can change. */
	.globl	__dprof_4_needs_libdprof
	.type	__dprof_4_needs_libdprof, @function
	.p2align 4
__dprof_4_needs_libdprof:
	.cfi_startproc
	endbr64
	cmpb	$0, dprof_off(%rip)
	jne	1f
	push	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	mov	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	push	%rax
	push	%rcx
	push	%rdx
	push	%rsi
	push	%rdi
	push	%r8
	push	%r9
	push	%r10
	push	%r11
	and	$-16, %rsp
	cld
	mov	%rcx, %rdi		/* slot */
	mov	%rdx, %rsi		/* site and operation */
	mov	%rax, %rdx		/* stamp */
	call	dprof_make_room
	cmp	$1, %eax		/* 0: carry set, nothing left to do; flags stay from here */
	mov	-72(%rbp), %r11
	mov	-64(%rbp), %r10
	mov	-56(%rbp), %r9
	mov	-48(%rbp), %r8
	mov	-40(%rbp), %rdi
	mov	-32(%rbp), %rsi
	mov	-24(%rbp), %rdx
	mov	-16(%rbp), %rcx
	mov	-8(%rbp), %rax
	mov	%rbp, %rsp
	pop	%rbp
	.cfi_remember_state
	.cfi_def_cfa %rsp, 8
	.cfi_restore %rbp
	ret
	.cfi_restore_state

	/* Off, for good: nothing that was or will be claimed is below `end`. */
	.cfi_def_cfa %rsp, 8
	.cfi_restore %rbp
1:	push	%rax
	.cfi_adjust_cfa_offset 8
	mov	__dprof_cursor@gottpoff(%rip), %rax
	movq	$-4096, %fs:(%rax)	/* DPROF_NOWHERE */
	pop	%rax
	.cfi_adjust_cfa_offset -8
	stc
	ret
	.cfi_endproc
	.size	__dprof_4_needs_libdprof, . - __dprof_4_needs_libdprof

/* void dprof_keeping_vectors(void (*function)(void *), void *argument)
 *
 * Calls ordinary C, which may use any register, and puts x87, vector and mask registers back (vectors.h).
 * dprof_vector_bytes is the size of an XSAVE area, or 0 where the processor has none: then FXSAVE
 * holds everything there is. */
	.globl	dprof_keeping_vectors
	.hidden	dprof_keeping_vectors
	.type	dprof_keeping_vectors, @function
	.p2align 4
dprof_keeping_vectors:
	.cfi_startproc
	endbr64
	push	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	mov	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	mov	%rdi, %r8
	mov	%rsi, %rdi
	mov	dprof_vector_bytes(%rip), %ecx
	test	%ecx, %ecx
	jz	2f
	sub	%rcx, %rsp
	and	$-64, %rsp
	xor	%eax, %eax		/* XRSTOR wants the header, bytes 512 to 575, clean */
	mov	%rax, 512(%rsp)
	mov	%rax, 520(%rsp)
	mov	%rax, 528(%rsp)
	mov	%rax, 536(%rsp)
	mov	%rax, 544(%rsp)
	mov	%rax, 552(%rsp)
	mov	%rax, 560(%rsp)
	mov	%rax, 568(%rsp)
	mov	$~DPROF_VECTORS_LEFT_OUT, %eax
	mov	$-1, %edx
	xsave64	(%rsp)
	call	*%r8
	mov	$~DPROF_VECTORS_LEFT_OUT, %eax
	mov	$-1, %edx
	xrstor64 (%rsp)
	jmp	3f
2:	sub	$512, %rsp
	and	$-64, %rsp
	fxsave64 (%rsp)
	call	*%r8
	fxrstor64 (%rsp)
3:	leave
	.cfi_def_cfa %rsp, 8
	.cfi_restore %rbp
	ret
	.cfi_endproc
	.size	dprof_keeping_vectors, . - dprof_keeping_vectors

/* void dprof_keeping_vectors_on(void *top, void (*function)(void *), void *argument)
 *
 * The same on another stack, of which `top` is the upper end. */
	.globl	dprof_keeping_vectors_on
	.hidden	dprof_keeping_vectors_on
	.type	dprof_keeping_vectors_on, @function
	.p2align 4
dprof_keeping_vectors_on:
	.cfi_startproc
	endbr64
	push	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	mov	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	mov	%rdi, %rsp
	mov	%rsi, %rdi
	mov	%rdx, %rsi
	call	dprof_keeping_vectors
	leave
	.cfi_def_cfa %rsp, 8
	.cfi_restore %rbp
	ret
	.cfi_endproc
	.size	dprof_keeping_vectors_on, . - dprof_keeping_vectors_on

	.section .note.GNU-stack, "", @progbits

/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * loading.cc - an object with sites tells the runtime of itself when it is loaded.
 *
 *   constructor, before all others:    if (__dprof_4_loaded) __dprof_4_loaded(here);
 *
 * Law: each unit with sites has it, and each object that is linked of such has it once: units bring the same
 * group of sections, of which the linker keeps one. (Twice, as -flto may give it, does no harm.) A program or a
 * library without libdprof, whose missing is said elsewhere, does nothing.
 *
 * The labels are numbers, since -flto may put the text of several units into one file. */
#include "plugin/parts.h"

#define GROUP "__dprof_loading,comdat\n"

static const char text[] =
	"\t.pushsection\t.text.__dprof_loading,\"axG\",@progbits," GROUP
	"\t.weak\t__dprof_4_loaded\n"
	"\t.p2align\t4\n"
	"1904:\t.byte\t0xf3, 0x0f, 0x1e, 0xfa\n" /* endbr64: it is called by its address */
	"\tmovq\t__dprof_4_loaded@GOTPCREL(%rip), %rax\n"
	"\tleaq\t1904b(%rip), %rdi\n"
	"\ttestq\t%rax, %rax\n"
	"\tje\t1905f\n"
	"\tjmp\t*%rax\n"
	"1905:\tret\n"
	"\t.popsection\n"
	"\t.pushsection\t.init_array.00000,\"awG\",@init_array," GROUP
	"\t.balign\t8\n"
	"\t.quad\t1904b\n"
	"\t.popsection";

void loading_tell()
{
	static bool told;
	if (told)
		return;
	told = true;
	bool intel = ix86_asm_dialect == ASM_INTEL;
	char *whole = concat(intel ? "\t.att_syntax prefix\n" : "", text, intel ? "\n\t.intel_syntax noprefix" : "",
			     nullptr);
	symtab->finalize_toplevel_asm(build_string(strlen(whole) + 1, whole));
	free(whole);
}

/* SPDX-License-Identifier: MIT
 *
 * dprof.h - marks regions and progress in a program that dprof may profile.
 *
 * Law: without -fplugin=dprof every macro is nothing, so the program is the same and needs nothing.
 *
 *	DPROF_REGION(solve)              the statement that follows is in region "solve", whichever way
 *	for (...) { ... }                it is left: end, break, continue, return or goto
 *
 *	DPROF_REGION_BEGIN(exchange)     from here
 *	...
 *	DPROF_REGION_END(exchange)       to here
 *
 *	DPROF_PROGRESS(iteration)        one more unit of work is done
 *
 * A name is an identifier or a string ("two words"). Macros in it are expanded; to keep a macro out,
 * write a string or `#pragma dprof region(NAME)` itself, which each of these stands for and which a
 * compiler without the plugin ignores, but warns of under -Wall. No semicolon follows DPROF_REGION. */
#ifndef DPROF_H
#define DPROF_H

#ifdef __DPROF__
#define DPROF_DIRECTIVE_(text)   _Pragma(#text)
#define DPROF_REGION(name)       DPROF_DIRECTIVE_(dprof region(name))
#define DPROF_REGION_BEGIN(name) DPROF_DIRECTIVE_(dprof region begin(name))
#define DPROF_REGION_END(name)   DPROF_DIRECTIVE_(dprof region end(name))
#define DPROF_PROGRESS(name)     DPROF_DIRECTIVE_(dprof progress(name))
#else
#define DPROF_REGION(name)
#define DPROF_REGION_BEGIN(name)
#define DPROF_REGION_END(name)
#define DPROF_PROGRESS(name)
#endif

#endif

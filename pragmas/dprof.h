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
 *	DPROF_REGION_INSTANCE(step, i)   the same as DPROF_REGION, and says which of many it is: a variable
 *	                                 or an integer constant
 *
 *	DPROF_REGION_ROLE(deal, master)  the same as DPROF_REGION, and says what it is in the program's pattern:
 *	                                 master, worker, setup (of a task), task, init and final (of a
 *	                                 worker), or stage:2 (of a pipeline)
 *
 *	DPROF_PROGRESS(iteration)        one more unit of work is done
 *
 *	DPROF_BARRIER(spin)              the statement that follows is a barrier of your own making: no
 *	while (arrived < n) { ... }      participant leaves it before all have entered it
 *
 *	DPROF_POLL(flag)                 the statement that follows asks again and again for something that
 *	while (!flag) { ... }            another thread or process does: that is waiting, and no work
 *
 *	DPROF_OFF                        from here on nothing is instrumented,
 *	DPROF_ON                         and from here on again
 *
 * A name is an identifier or a string ("two words"). Macros in it are expanded; to keep a macro out,
 * write a string or `#pragma dprof region(NAME)` itself, which each of these stands for and which a
 * compiler without the plugin ignores, but warns of under -Wall. No semicolon follows any of them. */
#ifndef DPROF_H
#define DPROF_H

#ifdef __DPROF__
#define DPROF_DIRECTIVE_(text)   _Pragma(#text)
#define DPROF_REGION(name)       DPROF_DIRECTIVE_(dprof region(name))
#define DPROF_REGION_BEGIN(name) DPROF_DIRECTIVE_(dprof region begin(name))
#define DPROF_REGION_END(name)   DPROF_DIRECTIVE_(dprof region end(name))
#define DPROF_PROGRESS(name)     DPROF_DIRECTIVE_(dprof progress(name))
#define DPROF_BARRIER(name)      DPROF_DIRECTIVE_(dprof barrier(name))
#define DPROF_POLL(name)         DPROF_DIRECTIVE_(dprof poll(name))
#define DPROF_OFF                DPROF_DIRECTIVE_(dprof off)
#define DPROF_ON                 DPROF_DIRECTIVE_(dprof on)
#define DPROF_REGION_INSTANCE(name, value) DPROF_DIRECTIVE_(dprof region(name) instance(value))
#define DPROF_REGION_ROLE(name, word) DPROF_DIRECTIVE_(dprof region(name) role(word))
#else
#define DPROF_REGION(name)
#define DPROF_REGION_BEGIN(name)
#define DPROF_REGION_END(name)
#define DPROF_PROGRESS(name)
#define DPROF_BARRIER(name)
#define DPROF_POLL(name)
#define DPROF_OFF
#define DPROF_ON
#define DPROF_REGION_INSTANCE(name, value)
#define DPROF_REGION_ROLE(name, word)
#endif

#endif

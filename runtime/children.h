/* SPDX-License-Identifier: MIT
 *
 * children.h - which processes that come from this one have files: they say so, in memory that they share with it.
 *
 * Law: whoever has entered is taken once by the nearest process with files that it comes from, as long as that takes; but
 * of more than DPROF_CHILDREN at a time who were not taken yet, some may be forgotten. Calls no function of the C
 * library, and may be called in a signal handler. */
#ifndef RUNTIME_CHILDREN_H
#define RUNTIME_CHILDREN_H

#include <stdbool.h>
#include <stddef.h>

#define DPROF_CHILDREN 1023

/* Before a fork of a process that has files. Where there is no memory, nobody enters. */
void dprof_children_share(void);

/* In the child, of a process that had files: who had shared with it shares with its child now. */
void dprof_children_inherit(void);

/* The calling process, `pid`, has files now, in the directory of whom it comes from. */
void dprof_children_enter(long pid);

/* This one need not be taken any more. */
void dprof_children_leave(long pid);

/* Takes one: its process id; 0 where there is none. */
long dprof_children_take(void);

/* And which other programs such processes ran, of DPROF_PROGRAMS at most: the last bytes of their names. */
#define DPROF_PROGRAMS      32
#define DPROF_PROGRAM_BYTES 124
#define DPROF_NO_PID        (-2) /* not known */

/* The calling process, which was forked (`from_parent`) or has our memory, or whoever it has started, runs `name` from now on;
 * or did not, after all. */
void dprof_children_ran(bool from_parent, long pid, const char *name, size_t bytes);
void dprof_children_did_not_run(bool from_parent, long pid);

/* Takes one: its process id, or DPROF_NO_PID; 0 where there is none. */
long dprof_children_take_program(char name[DPROF_PROGRAM_BYTES]);

#endif

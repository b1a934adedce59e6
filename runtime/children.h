/* SPDX-License-Identifier: MIT
 *
 * children.h - which processes that come from this one have files: they say so, in memory that they share with it.
 *
 * Law: whoever has entered is taken once by the nearest process with files that it comes from, as long as that takes; but
 * of more than DPROF_CHILDREN at a time who were not taken yet, some may be forgotten. Calls no function of the C
 * library, and may be called in a signal handler. */
#ifndef RUNTIME_CHILDREN_H
#define RUNTIME_CHILDREN_H

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

#endif

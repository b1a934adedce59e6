/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * retries.h - loops that do nothing but try again, or look again (retries.cc). */
#ifndef DPROF_PLUGIN_RETRIES_H
#define DPROF_PLUGIN_RETRIES_H

#include "plugin/flow.h"

typedef hash_set<basic_block> blocks;

/* The innermost loop around a statement of a function: the block in which it begins, or NULL; and all that it is made of. */
basic_block retries_loop(function *fun, gimple *stmt, blocks *in);

/* Whether that loop does nothing else, and always has the same object. Who `looks` there stores nothing, so that what it computes
 * is work. */
bool retries_only(function *fun, gimple *stmt, tree object, bool looks);

/* Besides, its thread sleeps there, or gives its core away. */
bool retries_rest(gimple *stmt);

/* It is the same in each round of the innermost loop around a statement, or each time that a function without one comes there: a
 * constant, or what was there before. */
bool retries_same(gimple *stmt, tree x);

/* It lets time pass: sleeps for some time, or gives its core away. */
bool retries_rests(tree fn);

/* The function only gives back the result, or whether that is so, and all who call it do nothing but that. */
bool retries_by_callers(tree result, bool looks);

/* Blocks that end with a branch which a value decides. */
void retries_branches(flow_walk &walk, auto_vec<basic_block> *branches);

#endif

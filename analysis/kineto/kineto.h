/* SPDX-License-Identifier: MIT
 *
 * kineto.h - traces that PyTorch's profiler (Kineto) has left as Chrome's JSON, a file for each rank, as a text that
 * text_pack() reads.
 *
 *   file           process, with a clock of its own, known as well as its numbers are; without a rank it has that of
 *                  its place among the files
 *   device stream  thread; where a file has none, each of its threads ("pid" and "tid")
 *   slice          ("ph": "X") automatic region; if it is a kernel that says which collective operation it is
 *                  ("Collective name"), an operation
 *
 * Which participants belong together is known of those that say their process group's ranks, all of whose files are
 * there: those of one number ("Seq"); or without numbers the n-th with the n-th, if all files have as many of that
 * group, of the same names and sizes.
 *
 * Law: what is in the text was in the files, at the stamp that they give it. Of operations in which data do not flow
 * from all to all (broadcast, reduce, send, ...), and of those whose participants are not known, it is not known what
 * they waited for. Slices of a stream that overlap instead of nesting end with the first of them.
 *
 * Jansson reads it: whatever else is in the files is refused by name and line. */
#ifndef ANALYSIS_KINETO_H
#define ANALYSIS_KINETO_H

#include <stdbool.h>
#include <stddef.h>

/* Whether a file of that name is one: NAME.json. */
bool kineto_is(const char *path);

/* Packs files into a directory that is made, as text_pack() does; `one_clock`: as if all had one. `by_order`: whether
 * some participants were told by their order, which the files' ends may have shifted. NULL, or what went wrong (to be
 * freed). */
char *kineto_pack(const char *const *paths, size_t n, bool one_clock, const char *directory, bool *by_order);

#endif

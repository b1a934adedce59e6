/* SPDX-License-Identifier: MIT
 *
 * output.h - files that a command writes for the user.
 *
 * Law: what stands under the name is whole, or what stood there before: the file is written under another name beside
 * it, and gets its own when all of it is on the disk. Nothing is written over unasked, and then only a file: no device,
 * no folder, nor what a link leads to. The name - is refused, which elsewhere is standard output. */
#ifndef ANALYSIS_BASE_OUTPUT_H
#define ANALYSIS_BASE_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

struct output {
	const char *name;        /* as the user gave it */
	char *part;              /* where it is written, until it is whole */
	bool over;               /* what is there */
};

/* Whether it may be written; a message has said why not, and there is nothing to close. Makes nothing. */
bool output_begin(struct output *, const char *name, bool force);

/* Makes such a file, for writing; NULL with errno. output_close() says whether all was written: NULL, or why not. */
FILE *output_open(const char *part);
const char *output_close(FILE *);

/* Gives it its name if nothing is `wrong`, else removes it: it may be a folder, too. Says what went wrong; false if
 * anything did. */
bool output_end(struct output *, const char *wrong);

/* For people: "12 kB", "3.4 MB". */
struct output_size { char text[32]; };
struct output_size output_size(long bytes);

/* Instead: nothing is to be written after all, and nothing was. */
void output_drop(struct output *);

#endif

/* SPDX-License-Identifier: MIT
 *
 * source_file.h - opens a file of the program's source, where the trace says that it is.
 *
 * The trace may be another's. Law: no file is read that is not named as source is, and nothing but regular files. */
#ifndef ANALYSIS_SOURCE_FILE_H
#define ANALYSIS_SOURCE_FILE_H

#include <stdio.h>

/* To be closed. NULL: it is not read; *why is to be shown behind its name. */
FILE *source_open(const char *file, const char **why);

#endif

/* SPDX-License-Identifier: MIT
 *
 * rules.h - the files that are installed with dprof: rules, PREFIX/share/dprof/rules/NAME.clp, and descriptions of abstract
 * events, NAME.events. */
#ifndef ANALYSIS_RULES_H
#define ANALYSIS_RULES_H

/* Beside the program's directory; to be freed. */
char *rules_file(const char *name, const char *ending);

/* All that is in a file, to be freed; NULL: it cannot be read. */
char *rules_text(const char *file);

#endif

/* SPDX-License-Identifier: MIT
 *
 * rules.h - the files of rules that are installed with dprof: PREFIX/share/dprof/rules/NAME.clp. */
#ifndef ANALYSIS_RULES_H
#define ANALYSIS_RULES_H

/* Beside the program's directory; to be freed. */
char *rules_file(const char *name);

#endif

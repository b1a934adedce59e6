/* SPDX-License-Identifier: MIT
 *
 * temporary.h - files for what has no room in memory. */
#ifndef ANALYSIS_TEMPORARY_H
#define ANALYSIS_TEMPORARY_H

/* A file without a name, in $TMPDIR or else /var/tmp or /tmp; or -1, and errno says why. */
int temporary_open(void);

/* A folder there, to be freed; NULL with errno. */
char *temporary_folder(void);

/* Whatever it is, with all that is in it. */
void temporary_remove(const char *path);

#endif

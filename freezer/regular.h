/* SPDX-License-Identifier: MIT
 *
 * regular.h - opens the files of a trace for reading.
 *
 * Law: whatever stands under a name, opening it neither waits (a FIFO has no writer, a device no data) nor
 * does anything to it (a tape rewinds); only a regular file is opened. */
#ifndef FREEZER_REGULAR_H
#define FREEZER_REGULAR_H

/* A descriptor of `directory`'s file `name` (AT_FDCWD: of the current one's), to be closed. Else -EBADMSG if
 * that is no regular file, or another -errno; *found then says what was found, as in "expected a file, found
 * a FIFO", until the next call. */
int frz_open_regular(int directory, const char *name, const char **found);

#endif

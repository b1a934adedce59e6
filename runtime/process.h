/* SPDX-License-Identifier: MIT
 *
 * process.h - this process in the trace: its directory, the start of its files' names, and its text
 * file HOST-RANK.process.
 *
 * Law: nothing that exists is ever overwritten. A name that is taken means another job: then
 * this process, and with it every process of its job that finds the same, uses JOB.2, JOB.3
 * and so on; or, of a process that was forked, another one of its job: then it is HOST-pPID_2, HOST-pPID_3 and so on. */
#ifndef RUNTIME_PROCESS_H
#define RUNTIME_PROCESS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Around what opens, reads or writes files by functions of the C library: in the program's threads those would be points of
 * cancellation, where the program has none; and a thread that ended there would keep locks, the loader's too. */
static inline int dprof_hold_cancellation(void)
{
	int before;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
	return before;
}

static inline void dprof_release_cancellation(int before)
{
	pthread_setcancelstate(before, &before);
}

/* True when the process has its files; tries once. The child of a fork gets new ones at its first
 * event, so that a child that only executes something else leaves no trace, or else when it ends. */
bool dprof_process_begin(void);

/* The process is about to end without its destructors: writes what they would. May be called from a signal
 * handler and more than once; does nothing in the child of a vfork. */
void dprof_process_leave(void);

/* It is at its end: what is recorded from here on may find its way into the files, or not. */
bool dprof_process_ends(void);

/* DIRECTORY/HOST-RANK and then `suffix`; false when that is too long. */
bool dprof_process_path(char *to, size_t size, const char *suffix);
const char *dprof_process_directory(void);
const char *dprof_process_stem(void); /* HOST-RANK; "" without files */

/* Nothing is recorded any more, for good; and then: the files are as at the end of the process, which ended as it was
 * stopped. What it does later is in no file. */
void dprof_process_stop(void);
void dprof_process_end(void);

/* From now on, behind a fork, dprof is called before whoever asks for that later. Any time and often; 0 or an error number. */
int dprof_process_follow_forks(void);

/* Of the process, also in the child of a vfork, which has its memory. */
long dprof_process_pid(void);

/* The number by which its parent knows it: another one where the process began a namespace of process ids. Of processes that
 * were forked a job may have several with one number, since the kernel uses numbers again, and each namespace begins at 1; but
 * none with the same stamp of its fork, too (0: it was not forked). */
long dprof_process_given_pid(void);
uint64_t dprof_process_forked_at(void);

int64_t dprof_process_rank(void);
void dprof_process_rank_known(int64_t rank, int64_t size);

/* Appends a line "KEY VALUE" or "note VALUE"; what `value` may not contain is escaped. */
void dprof_process_line(const char *key, const char *value);

/* Appends whole lines as they are. */
void dprof_process_append(const char *lines, size_t bytes);

/* Writes `from` so that it can stand as a value; cut at `size`. */
void dprof_escape(char *to, size_t size, const char *from);

#endif

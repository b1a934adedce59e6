/* SPDX-License-Identifier: MIT
 *
 * library.h - what the plugin says of calls of libstdc++ in which a thread may wait for others, and which ask nothing of the C
 * library where it need not (library.c).
 *
 *   DPROF_LIBRARY(WHAT, KIND, name): what is waited for; kind and name of the site at which one waits */
#ifndef RUNTIME_LIBRARY_H
#define RUNTIME_LIBRARY_H

#define DPROF_LIBRARY(X)                                                            \
	X(FUTURE, WAIT, "std::future")                                              \
	X(LATCH, WAIT, "std::latch")                                                \
	/* of most of these it is said only that there are any */                   \
	X(TIMED_FUTURE, WAIT, "std::future::wait_for")                              \
	X(TRIED_LATCH, WAIT, "std::latch::try_wait")                                \
	X(ATOMIC, WAIT, "std::atomic::wait")                                        \
	X(SEMAPHORE, WAIT, "std::counting_semaphore")                               \
	X(BARRIER, WAIT, "std::barrier")                                            \
	X(STATIC, WAIT, "initialisation of a static variable")                      \
	X(OTHER_CLOCK, WAIT, "sleep_until of another clock")                        \
	X(INTERRUPTED, WAIT, "waits in a signal handler")                           \
	/* and these are told, too: programs know the numbers of those before */    \
	X(PERMIT, WAIT, "std::counting_semaphore::acquire")                         \
	X(TRIED_PERMIT, WAIT, "std::counting_semaphore::try_acquire")               \
	X(ARRIVAL, BARRIER, "std::barrier::arrive_and_wait")                        \
	X(CONDITION, WAIT, "std::condition_variable_any")                           \
	X(STOP, WAIT, "std::stop_token::stop_requested")                            \
	X(ROUND, BARRIER, "std::barrier::wait")

enum dprof_library {
#define X(WHAT, KIND, name) DPROF_LIBRARY_##WHAT,
	DPROF_LIBRARY(X)
#undef X
	DPROF_LIBRARY_COUNT
};

#define DPROF_LIBRARY_PROMISE    "std::promise"
#define DPROF_LIBRARY_COUNT_DOWN "std::latch::count_down"
#define DPROF_LIBRARY_ASKED      "std::stop_source::request_stop"
#define DPROF_LIBRARY_MADE       "std::counting_semaphore::counting_semaphore"
#define DPROF_LIBRARY_RELEASE    "std::counting_semaphore::release"
#define DPROF_LIBRARY_NOTIFY     "std::atomic::notify"
#define DPROF_LIBRARY_BARRIER_MADE "std::barrier::barrier"
#define DPROF_LIBRARY_ARRIVE     "std::barrier::arrive"
#define DPROF_LIBRARY_DROP       "std::barrier::arrive_and_drop"
#define DPROF_LIBRARY_COMPLETED  "std::barrier completion function"
#define DPROF_LIBRARY_UNTIL      "std::this_thread::sleep_until"

void dprof_library_forget(void); /* in the child of a fork */
void dprof_library_jump(void);   /* before a jump */

#endif

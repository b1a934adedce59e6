/* SPDX-License-Identifier: MIT
 *
 * background.c - the thread that measures while the program runs.
 *
 * It has all signals blocked, sleeps in the kernel but for some microseconds an interval, and never
 * calls MPI. A child of a fork has no such thread, and gives up the descriptors that it inherited.
 *
 * Law: between background_begin() and background_end() the endpoint and the log are the thread's
 * alone. */
#include "runtime/mpi/hosts.h"

#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "freezer/clock.h"
#include "runtime/adapter.h"

#define STACK_BYTES ((size_t)256 << 10)
#define AT_LEAST    4  /* exchanges with each peer an interval: the first wakes it */
#define AT_MOST     12 /* on a disturbed machine */

static struct {
	const struct frz_peer *peers;
	size_t npeers;
	struct frz_pace pace;
	struct frz_stop stop;
	struct sync_phase phase;
	pthread_t thread;
	uint64_t cpu_ns; /* of the thread, when it ended */
	bool running;
} background;

uint64_t thread_cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return frz_ns(&t);
}

static void *keep(void *unused)
{
	(void)unused;
	prctl(PR_SET_NAME, "dprof-freezer");
	dprof_adapter_own_thread(true);
	frz_keep(&own.endpoint, background.peers, background.npeers, background.pace,
		 &background.stop);
	background.cpu_ns = thread_cpu_ns();
	dprof_adapter_own_thread(false);
	return NULL;
}

static void forget_in_child(void)
{
	if (!background.running)
		return;
	background.running = false;
	frz_stop_close(&background.stop);
	frz_close(&own.endpoint);
	if (own.log.fd >= 0)
		close(own.log.fd);
	own = (struct own_endpoint){ .endpoint.fd = -1, .log.fd = -1 };
}

static bool create_thread(void)
{
	sigset_t all, before;
	pthread_attr_t attr;
	bool created;

	sigfillset(&all);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	created = pthread_create(&background.thread, &attr, keep, NULL) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	return created;
}

void background_begin(const struct frz_peer *peers, size_t npeers, uint64_t interval_ns)
{
	static bool prepared;

	background.peers = peers;
	background.npeers = npeers;
	background.pace = (struct frz_pace){ interval_ns, AT_LEAST, AT_MOST };
	if (!prepared && pthread_atfork(NULL, NULL, forget_in_child) != 0)
		return;
	prepared = true;
	background.phase = phase_begin("run");
	if (frz_stop_open(&background.stop) == 0) {
		background.running = create_thread();
		if (background.running)
			return;
		frz_stop_close(&background.stop);
	}
	dprof_adapter_line("note", "no thread to measure this host's clock with while the program "
			   "runs");
}

void background_end(void)
{
	if (!background.running)
		return;
	frz_stop_ask(&background.stop);
	pthread_join(background.thread, NULL);
	background.running = false;
	frz_stop_close(&background.stop);
	phase_end(&background.phase, background.cpu_ns);
}

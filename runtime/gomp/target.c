/* SPDX-License-Identifier: MIT
 *
 * target.c - what runs in place of a target device.
 *
 *   ENTER omp target (region) [task=T] ... EXIT    by whoever runs it; where the plugin says which it is, it is called
 *                                                  target FILE:LINE
 *
 * Where there is no device libgomp runs the region's body in the thread that comes to it, which waits before for what the
 * region depends on; with `nowait` the region is a task. What would copy data to a device or from it only waits so. Each
 * that has dependences, or is a task, is recorded as one (tasks.c).
 *
 * libgomp hands the body the addresses that it was given. It is given another body, and before those addresses some more, by
 * which that one knows the program's.
 *
 * Where there is a device libgomp finds the body there by the address of the host's: so that is left as it is, and nothing of
 * target constructs is recorded.
 *
 * Law: the body runs outside of all teams, as far as OpenMP can tell. */
#include <alloca.h>
#include <omp.h>
#include <string.h>

#include "runtime/gomp/gomp.h"

DPROF_SITE_OF(site_target, DPROF_KIND_REGION | DPROF_SITE_AUTOMATIC, "omp target");

#define FLAG_NOWAIT (1u << 0) /* libgomp's */
#define A_VALUE     0xd       /* likewise: what is given as an address is none (GOMP_MAP_FIRSTPRIVATE_INT) */

struct target_header { void (*body)(void *); const struct dprof_site *site; uint64_t task; }; /* no task: the caller's own */

#define HEADER (sizeof(struct target_header) / sizeof(void *))

/* ---- Running ---------------------------------------------------------------------------------- */

static void run_outside(const struct target_header *h, void **addresses)
{
	struct teams_host outer = teams_on_host();

	h->body(addresses);
	teams_off_host(outer);
}

static void run_as_task(const struct target_header *h, void **addresses)
{
	struct waiting *left = wait_leave_for(h->task);
	const struct dprof_argument a = { DPROF_KEY_TASK, h->task };

	dprof_adapter_record_with(h->site, DPROF_ENTER, 0, &a, 1);
	run_outside(h, addresses);
	dprof_adapter_record(h->site, DPROF_EXIT, dprof_adapter_now(), NULL);
	wait_return(left, h->task);
}

static void run(void *given)
{
	struct target_header h;

	memcpy(&h, given, sizeof(h));
	if (h.task) {
		run_as_task(&h, (void **)given + HEADER);
		return;
	}
	dprof_adapter_record(h.site, DPROF_ENTER, 0, NULL);
	run_outside(&h, (void **)given + HEADER);
	dprof_adapter_record(h.site, DPROF_EXIT, dprof_adapter_now(), NULL);
}

/* ---- What libgomp is given -------------------------------------------------------------------- */

#define TARGET_PARAMETERS                                                                        \
	int device, void (*body)(void *), size_t count, void **addresses, size_t *sizes,         \
		unsigned short *kinds, unsigned flags, void **depend, void **arguments
typedef void target_function(TARGET_PARAMETERS);
DPROF_EXPORT target_function GOMP_target_ext;

/* One that libgomp runs here, or waits for. */
static void give_target(target_function *real, const struct dprof_site *site, TARGET_PARAMETERS)
{
	struct target_header h = { body, site, depend || flags & FLAG_NOWAIT ? task_make(depend) : 0 };
	void **all = alloca((count + HEADER) * sizeof(*all));
	size_t *bytes = alloca((count + HEADER) * sizeof(*bytes));
	unsigned short *what = alloca((count + HEADER) * sizeof(*what));
	struct waiting w;

	memcpy(all, &h, sizeof(h));
	for (size_t i = 0; i < HEADER; i++) {
		bytes[i] = 0;
		what[i] = A_VALUE;
	}
	for (size_t i = 0; i < count; i++) {
		all[HEADER + i] = addresses[i];
		bytes[HEADER + i] = sizes[i];
		what[HEADER + i] = kinds[i];
	}
	if (depend)
		task_begin_waiting(&w, h.task);
	real(device, run, count + HEADER, all, bytes, what, flags, depend, arguments);
	if (depend)
		wait_end(&w);
}

void GOMP_target_ext(TARGET_PARAMETERS)
{
	const struct dprof_site *site = SITE_OF_CALL(site_target);
	struct teams_host outer;

	if (site && omp_get_num_devices() == 0) {
		give_target(REAL(GOMP_target_ext), site, device, body, count, addresses, sizes, kinds, flags, depend, arguments);
		return;
	}
	outer = teams_on_host();
	REAL(GOMP_target_ext)(device, body, count, addresses, sizes, kinds, flags, depend, arguments);
	teams_off_host(outer);
}

/* That of GCC 5. */
DPROF_EXPORT void GOMP_target(int device, void (*body)(void *), const void *unused, size_t count, void **addresses,
			      size_t *sizes, unsigned char *kinds);
DPROF_EXPORT void GOMP_target(int device, void (*body)(void *), const void *unused, size_t count, void **addresses,
			      size_t *sizes, unsigned char *kinds)
{
	struct teams_host outer = teams_on_host();

	REAL(GOMP_target)(device, body, unused, count, addresses, sizes, kinds);
	teams_off_host(outer);
}

/* ---- Data ------------------------------------------------------------------------------------- */

#define DATA_PARAMETERS                                                                               \
	int device, size_t count, void **addresses, size_t *sizes, unsigned short *kinds, unsigned flags, \
		void **depend
typedef void data_function(DATA_PARAMETERS);
DPROF_EXPORT data_function GOMP_target_update_ext, GOMP_target_enter_exit_data;

/* Without dependences there is nothing to do here: with `nowait` it is a task that does nothing. */
static void give_data(data_function *real, const void *caller, DATA_PARAMETERS)
{
	const struct dprof_site *site = depend ? task_wait_site(caller) : NULL;
	bool alone = site && omp_get_num_devices() == 0, later = alone && flags & FLAG_NOWAIT;
	struct waiting w;
	bool waits = alone && !later && task_depends(&w, site, depend);

	real(device, count, addresses, sizes, kinds, flags, later ? NULL : depend);
	if (waits)
		task_depended(&w);
	if (later)
		task_make_nothing(depend);
}

#define DATA(name)                                                                                     \
	void name(DATA_PARAMETERS)                                                                     \
	{                                                                                              \
		give_data(REAL(name), __builtin_return_address(0), device, count, addresses, sizes,    \
			  kinds, flags, depend);                                                       \
	}

DATA(GOMP_target_update_ext)
DATA(GOMP_target_enter_exit_data)

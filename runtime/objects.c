/* SPDX-License-Identifier: MIT
 *
 * objects.c - numbers of what processes of a host share: of what the kernel names, and of what lies in memory.
 *
 * Where an address lies the kernel says in /proc/self/maps: the file behind it, or what stands for one (memory that a process
 * shares with its children, or that has no name), and the offset there. It is asked once for each address. What processes share is
 * remembered then, and before each fork: of that it is known without asking (dprof_known_shared_object), in any handler.
 *
 * Law: as long as nothing is unmapped, two processes have the same number exactly for the same object, unless hashes of 56 bits
 * are the same. */
#include "runtime/objects.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "runtime/adapter.h"
#include "runtime/process.h"
#include "runtime/settings.h"
#include "runtime/sum.h"
#include "runtime/sys.h"
#include "runtime/thread.h"

uint64_t dprof_adapter_object(const char *kind, uint64_t a, uint64_t b, uint64_t c)
{
	const uint64_t which[] = { a, b, c };
	const char *host = dprof_settings.hostid;
	uint64_t h = dprof_sum_bytes(dprof_sum_bytes(DPROF_SUM_BEGIN, host, strlen(host)), kind, strlen(kind)), number;

	h = dprof_sum_bytes(h, which, sizeof(which));
	number = (h ^ h >> 56) & DPROF_VALUE_MAX; /* an argument of one word */
	return number ? number : 1;
}

/* ---- Where an address lies ---------------------------------------------------------------------- */

struct mapping { uint64_t address, begin, end, offset, device, inode; bool found, shared; };

/* A number to the base 16 or 10, and what stands behind it. */
static const char *read_number(const char *at, unsigned base, uint64_t *number)
{
	for (*number = 0;; at++) {
		unsigned digit = *at >= '0' && *at <= '9' ? (unsigned)(*at - '0') : *at >= 'a' && *at <= 'f' ? (unsigned)(*at - 'a' + 10) : 16;

		if (digit >= base)
			return at + (*at != 0);
		*number = *number * base + digit;
	}
}

/* What processes share, as it was when it was last looked for: of more it is not known. */
#define SHARED 32
static struct shared_range { uint64_t begin, end, offset, device, inode; } shares[SHARED];
static unsigned nshared;

static unsigned count_shared(void)
{
	unsigned n = __atomic_load_n(&nshared, __ATOMIC_ACQUIRE);

	return n < SHARED ? n : SHARED;
}

/* Those that are read meanwhile may be of either; the end is written last. */
static void note_shared(const struct mapping *m)
{
	unsigned i = 0, n = count_shared();

	while (i < n && shares[i].begin != m->begin)
		i++;
	if (i == n)
		i = __atomic_fetch_add(&nshared, 1, __ATOMIC_RELAXED);
	if (i >= SHARED)
		return;
	shares[i] = (struct shared_range){ m->begin, shares[i].end, m->offset, m->device, m->inode };
	__atomic_store_n(&shares[i].end, m->end, __ATOMIC_RELEASE);
}

/* "BEGIN-END rwxs OFFSET MAJOR:MINOR INODE ..." */
static void look_at_line(struct mapping *m, const char *line)
{
	struct mapping here = { .address = m->address, .found = true };
	uint64_t minor;
	const char *at = read_number(read_number(line, 16, &here.begin), 16, &here.end);
	bool found = m->address >= here.begin && m->address < here.end;

	if (strlen(at) < 5 || (!found && at[3] != 's'))
		return;
	here.shared = at[3] == 's';
	at = read_number(read_number(read_number(at + 5, 16, &here.offset), 16, &here.device), 16, &minor);
	read_number(at, 10, &here.inode);
	here.device = here.device << 32 | minor;
	if (here.shared)
		note_shared(&here);
	if (found)
		*m = here;
}

/* Of lines that are longer the end is left out: that is a name. A thread that forks gives it a part of its own stack. */
static long find_mapping(void *mapping)
{
	struct mapping *m = mapping;
	char line[128], piece[512];
	size_t filled = 0;
	long fd = sys(SYS_open, "/proc/self/maps", O_RDONLY | O_CLOEXEC, 0), n = 0;

	while (fd >= 0 && !m->found && (n = sys(SYS_read, fd, piece, sizeof(piece))) > 0)
		for (long i = 0; i < n; i++) {
			if (piece[i] != '\n' && filled < sizeof(line) - 1)
				line[filled++] = piece[i];
			if (piece[i] != '\n')
				continue;
			line[filled] = 0;
			filled = 0;
			look_at_line(m, line);
		}
	if (fd >= 0)
		sys(SYS_close, fd);
	return 0;
}

/* Memory that this process has alone, as it was when something was first looked for there. */
#define RANGES 32
static struct own_range { uint64_t begin, end; } ranges[RANGES];
static unsigned nranges;

static bool is_private(uint64_t address)
{
	unsigned n = __atomic_load_n(&nranges, __ATOMIC_ACQUIRE);

	for (unsigned i = 0; i < n && i < RANGES; i++)
		if (address < __atomic_load_n(&ranges[i].end, __ATOMIC_ACQUIRE) && address >= ranges[i].begin)
			return true; /* the end is written last */
	return false;
}

/* Of ranges for which there is no room it is asked again. */
static void note_private(const struct mapping *m)
{
	unsigned i = __atomic_fetch_add(&nranges, nranges < RANGES, __ATOMIC_RELAXED);

	if (i >= RANGES)
		return;
	ranges[i].begin = m->begin;
	__atomic_store_n(&ranges[i].end, m->end, __ATOMIC_RELEASE);
}

static uint64_t find_object(const void *address, bool *shared)
{
	struct mapping m = { .address = (uint64_t)address };

	dprof_do_apart(find_mapping, &m);
	if (!m.found)
		return 0;
	*shared = m.shared;
	if (m.shared)
		return dprof_adapter_object("memory", m.device, m.inode, m.address - m.begin + m.offset);
	if (!is_private(m.address))
		note_private(&m);
	return dprof_adapter_object("private", (uint64_t)dprof_process_given_pid(), m.address, dprof_process_forked_at());
}

/* ---- What was found ----------------------------------------------------------------------------- */

#define ENTRIES 1024 /* of more objects the number is not known */
#define AT_IT   1    /* no address */

static struct object_entry { uint64_t address, object; bool shared; } entries[ENTRIES];

static size_t first_entry(uint64_t address)
{
	return (size_t)((address >> 3) * UINT64_C(0x9e3779b97f4a7c15) >> 54) % ENTRIES;
}

/* Of two that look for the same address at once each has an entry. */
static const struct object_entry *note(struct object_entry *e, const void *address)
{
	bool shared = false;

	e->object = find_object(address, &shared);
	e->shared = shared;
	__atomic_store_n(&e->address, (uint64_t)address, __ATOMIC_RELEASE);
	return e;
}

/* Or NULL, where there is no room for more. */
static const struct object_entry *look_up(const void *address)
{
	size_t first = first_entry((uint64_t)address);

	for (size_t i = 0; i < ENTRIES; i++) {
		struct object_entry *e = &entries[(first + i) % ENTRIES];
		uint64_t empty = 0, there = __atomic_load_n(&e->address, __ATOMIC_ACQUIRE);

		if (there == (uint64_t)address)
			return e;
		if (!there && __atomic_compare_exchange_n(&e->address, &empty, AT_IT, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
			return note(e, address);
	}
	return NULL;
}

uint64_t dprof_adapter_object_at(const void *address)
{
	const struct object_entry *e = look_up(address);

	return e ? e->object : 0;
}

uint64_t dprof_shared_object_at(const void *address)
{
	const struct object_entry *e = is_private((uint64_t)address) ? NULL : look_up(address);

	return e && e->shared ? e->object : 0;
}

/* The kernel is not asked. */
uint64_t dprof_known_shared_object(const void *address)
{
	uint64_t at = (uint64_t)address;

	for (unsigned i = 0, n = count_shared(); i < n; i++)
		if (at < __atomic_load_n(&shares[i].end, __ATOMIC_ACQUIRE) && at >= shares[i].begin)
			return dprof_adapter_object("memory", shares[i].device, shares[i].inode, at - shares[i].begin + shares[i].offset);
	return 0;
}

void dprof_objects_before_fork(void)
{
	struct mapping none = { .address = UINT64_MAX };

	find_mapping(&none);
}

void dprof_objects_forget(void)
{
	memset(entries, 0, sizeof(entries));
}

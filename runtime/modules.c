/* SPDX-License-Identifier: MIT
 *
 * modules.c - the copies of "dprof_sites" that make a trace readable without its program.
 *
 * The section is found through the file's section headers and copied from memory. Read with <elf.h>
 * alone: libelf would come into every profiled program with its own dependencies and constructors,
 * for one look-up.
 *
 * Law: the sites of an object are in the trace before its first event is: it tells of itself when it is loaded,
 * before its own constructors (plugin/loading.cc). What is loaded before us is found when we begin, with dprof's
 * own libraries, and these whenever one looks. Where ids that another object had mean something else from
 * then on, it is told since when; unless that one is still there (give_up_words). */
#include "runtime/modules.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runtime/adapter.h"
#include "runtime/format.h"
#include "runtime/process.h"
#include "runtime/record.h"
#include "runtime/settings.h"
#include "runtime/sum.h"
#include "runtime/sys.h"
#include "runtime/thread.h"

#define SECTIONS_MAX    65536
#define BUILDID_MAX     64
#define OWN_LIBRARY     "libdprof" /* how dprof's own are called: adapters have sites, too */

struct module_section { uint64_t address, bytes; };

struct module {
	uint64_t base;
	char path[PATH_MAX];
	char buildid[2 * BUILDID_MAX + 1];
	struct module_section sites;   /* none: bytes is 0; address relative to base */
	uint64_t hash;
	unsigned long long unloads; /* how many objects had been unloaded when it was loaded, at most */
	bool loaded, seen;
};

static struct module *modules;
static size_t nmodules;
static bool any;
static int unread; /* 0, or why the program's file cannot be read: an error number */

/* Held over a fork: a child could not look any more if another thread were in the loader then, which has a lock of its
 * own. Meanwhile whoever forks may come again: other libraries have it call functions (pthread_atfork) that fork, or
 * load what is instrumented, and so may a handler, at any instruction. And the helper never waits for it: they may wait for a
 * thread that asks something of it. It is none of pthreads': those are recorded where a sanitizer in the program comes to them
 * first, and who records may need it. */
static const volatile unsigned *owner; /* the `holds` of the thread that has it, or NULL */
static __thread volatile unsigned holds; /* of the calling thread: more than 0 before it has it, and no more 0 as long as it does */

/* ---- Memory ----------------------------------------------------------------------------------
 *
 * While the loader shows us what is loaded (dl_iterate_phdr) it has a lock; and a malloc of the program's own may ask the loader
 * the same while it has one. So none of it is from malloc(). */

#define BLOCK_BYTES ((size_t)64 << 10)

/* NULL: there is none. */
static void *map(size_t bytes)
{
	long at = sys(SYS_mmap, NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return sys_failed(at) ? NULL : (void *)at;
}

/* A small piece, which stays for good. */
static void *map_piece(size_t bytes)
{
	static char *block;
	static size_t left;
	size_t more = bytes > BLOCK_BYTES ? bytes : BLOCK_BYTES;

	if (left < bytes) {
		block = map(more);
		left = block ? more : 0;
	}
	if (left < bytes)
		return NULL;
	left -= bytes;
	block += bytes;
	return block - bytes;
}

/* For one more. */
static bool make_room(void)
{
	static size_t room;
	size_t more = room ? 2 * room : 16;
	struct module *moved;

	if (nmodules < room)
		return true;
	moved = map(more * sizeof(*moved));
	if (!moved)
		return false;
	if (nmodules)
		memcpy(moved, modules, nmodules * sizeof(*moved));
	if (modules)
		sys(SYS_munmap, modules, room * sizeof(*modules));
	modules = moved;
	room = more;
	return true;
}

/* ---- Finding the section --------------------------------------------------------------------- */

static bool read_at(int fd, void *to, size_t bytes, uint64_t at)
{
	return pread(fd, to, bytes, (off_t)at) == (ssize_t)bytes;
}

static bool is_sites(int fd, const Elf64_Shdr *names, const Elf64_Shdr *s)
{
	char name[sizeof(DPROF_SITE_SECTION)];

	return s->sh_flags & SHF_ALLOC && s->sh_size && s->sh_name < names->sh_size &&
	       read_at(fd, name, sizeof(name), names->sh_offset + s->sh_name) &&
	       !memcmp(name, DPROF_SITE_SECTION, sizeof(name));
}

static struct module_section search(int fd, const Elf64_Shdr *headers, unsigned n, unsigned names)
{
	for (unsigned i = 0; i < n; i++)
		if (is_sites(fd, &headers[names], &headers[i]))
			return (struct module_section){ headers[i].sh_addr, headers[i].sh_size };
	return (struct module_section){ 0 };
}

static struct module_section find_sites(int fd)
{
	struct module_section found = { 0 };
	Elf64_Shdr first, *headers;
	Elf64_Ehdr e;
	size_t n, names;

	if (!read_at(fd, &e, sizeof(e), 0) || memcmp(e.e_ident, ELFMAG, SELFMAG) ||
	    e.e_shentsize != sizeof(first) || !read_at(fd, &first, sizeof(first), e.e_shoff))
		return found;
	n = e.e_shnum ? e.e_shnum : first.sh_size; /* many sections: counted in the first header */
	names = e.e_shstrndx == SHN_XINDEX ? first.sh_link : e.e_shstrndx;
	if (n > SECTIONS_MAX || names >= n)
		return found;
	headers = map(n * sizeof(*headers));
	if (headers && read_at(fd, headers, n * sizeof(*headers), e.e_shoff))
		found = search(fd, headers, (unsigned)n, (unsigned)names);
	if (headers)
		sys(SYS_munmap, headers, n * sizeof(*headers));
	return found;
}

/* The file may have been replaced since it was loaded: what it says must lie in what is mapped. */
static bool is_mapped(const struct dl_phdr_info *info, struct module_section s)
{
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const Elf64_Phdr *p = &info->dlpi_phdr[i];

		if (p->p_type == PT_LOAD && s.address >= p->p_vaddr && s.bytes <= p->p_filesz &&
		    s.address - p->p_vaddr <= p->p_filesz - s.bytes)
			return true;
	}
	return false;
}

static void read_notes(const char *at, size_t bytes, char *hex)
{
	while (bytes >= sizeof(Elf64_Nhdr)) {
		const Elf64_Nhdr *n = (const void *)at;
		size_t name = (n->n_namesz + 3) & ~3u, value = (n->n_descsz + 3) & ~3u;

		if (bytes - sizeof(*n) < name || bytes - sizeof(*n) - name < value)
			return;
		if (n->n_type == NT_GNU_BUILD_ID && n->n_namesz == 4 && !memcmp(n + 1, "GNU", 4) &&
		    n->n_descsz <= BUILDID_MAX)
			for (unsigned i = 0; i < n->n_descsz; i++)
				sprintf(hex + 2 * i, "%02x", (uint8_t)at[sizeof(*n) + name + i]);
		at += sizeof(*n) + name + value;
		bytes -= sizeof(*n) + name + value;
	}
}

/* ---- Writing down ----------------------------------------------------------------------------
 *
 * Paths are kept here and not on a stack, of which whoever loads us or an instrumented library may have 16 KiB: under the lock. */

/* 0 or -errno. */
static long make_sites(const struct module *m, const char *temporary, const char *path)
{
	int fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666);
	long end;

	if (fd < 0)
		return -errno;
	end = dprof_file_write(fd, (const void *)(m->base + m->sites.address), m->sites.bytes, 0);
	close(fd);
	if (end >= 0 && rename(temporary, path) < 0)
		end = -errno;
	if (end < 0)
		unlink(temporary);
	return end < 0 ? end : 0;
}

static void say_no_sites(const struct module *m, long error)
{
	static char text[PATH_MAX + 160];

	snprintf(text, sizeof(text), "no name of a region in %s is known: %s", m->path, dprof_why_text(dprof_why_refused(error)));
	dprof_process_line("note", text);
}

/* Complete under its name or not there at all; whoever else has the same content wrote the same. */
static void write_sites(const struct module *m)
{
	static char path[PATH_MAX + 32], temporary[PATH_MAX];
	const char *directory = dprof_process_directory();
	long error;

	snprintf(path, sizeof(path), "%s/%016llx.sites", directory, (unsigned long long)m->hash);
	if (access(path, F_OK) == 0 ||
	    !dprof_process_path(temporary, sizeof(temporary), ".sites-part"))
		return;
	error = make_sites(m, temporary, path);
	if (error)
		say_no_sites(m, error);
}

/* from: the stamp since which its ids mean its sites, or 0. */
static void tell(const struct module *m, uint64_t from)
{
	static char path[PATH_MAX], line[PATH_MAX + 512];
	char since[32] = "";
	int n;

	if (!m->sites.bytes)
		return;
	write_sites(m);
	dprof_escape(path, sizeof(path), m->path);
	if (from)
		snprintf(since, sizeof(since), " from=%llu", (unsigned long long)from);
	n = snprintf(line, sizeof(line),
		     "module base=0x%llx at=0x%llx sites=%016llx.sites%s buildid=%s path=%s\n",
		     (unsigned long long)m->base, (unsigned long long)(m->base + m->sites.address),
		     (unsigned long long)m->hash, since, m->buildid, path);
	dprof_process_append(line, (size_t)n);
}

static bool is_own(const char *path)
{
	const char *slash = strrchr(path, '/');

	return !strncmp(slash ? slash + 1 : path, OWN_LIBRARY, strlen(OWN_LIBRARY));
}

/* ---- From the id in a word to the site -------------------------------------------------------- */

/* Never changed once it is published, and never freed: it may be being read. There are few. */
struct ranges {
	size_t n;
	struct module_section of[]; /* absolute addresses */
};

static struct ranges *published;

/* Units of DPROF_SITE_ALIGN bytes, as in words, from the first one of `s` on. */
static uint64_t distance(struct module_section s, uint64_t id)
{
	return (id - dprof_id(s.address, 0)) & (DPROF_IDS - 1);
}

static bool clash(struct module_section a, struct module_section b)
{
	return distance(a, dprof_id(b.address, 0)) < a.bytes >> 3 ||
	       distance(b, dprof_id(a.address, 0)) < b.bytes >> 3;
}

static struct module_section where_sites_are(const struct module *m)
{
	return (struct module_section){ m->base + m->sites.address, m->sites.bytes };
}

static bool mean_the_same(const struct module *a, const struct module *b)
{
	return a->base + a->sites.address == b->base + b->sites.address && a->hash == b->hash;
}

static bool share_ids(const struct module *a, const struct module *b)
{
	return a->sites.bytes && b->sites.bytes && !mean_the_same(a, b) &&
	       clash(where_sites_are(a), where_sites_are(b));
}

/* With one that is loaded, or that is no more. */
static bool shares_ids(const struct module *m, bool loaded)
{
	for (size_t i = 0; i < nmodules; i++)
		if (modules[i].loaded == loaded && share_ids(m, &modules[i]))
			return true;
	return false;
}

static bool is_addressable(const struct module *m)
{
	return m->sites.bytes >> 3 <= DPROF_IDS && !((m->base + m->sites.address) % DPROF_SITE_ALIGN);
}

/* Words do not say which module they are from. */
static void give_up_words(void)
{
	if (!dprof_unambiguous)
		return;
	__atomic_store_n(&dprof_unambiguous, false, __ATOMIC_SEQ_CST);
	for (unsigned n = 0; !dprof_threads_slow_down(); n++)
		sys_wait_for_other(n);
	dprof_process_line("note", "two modules have sites at addresses that end alike: from here on "
			   "each event costs more time and space");
}

static void publish(const struct module *m)
{
	const struct ranges *old = published;
	size_t n = old ? old->n : 0;
	struct ranges *r = map_piece(sizeof(*r) + (n + 1) * sizeof(r->of[0]));

	if (!r)
		return;
	if (n)
		memcpy(r->of, old->of, n * sizeof(r->of[0]));
	r->of[n] = where_sites_are(m);
	r->n = n + 1;
	__atomic_store_n(&published, r, __ATOMIC_RELEASE);
}

/* Inserted code asks for no kind. */
static bool has_left_out(struct module_section s)
{
	uint32_t unasked = dprof_settings.left_out & DPROF_UNASKED_KINDS;

	for (uint64_t at = s.address; unasked && at + DPROF_SITE_MIN <= s.address + s.bytes;) {
		const struct dprof_site *site = (const struct dprof_site *)at;

		if (site->magic != DPROF_SITE_MAGIC || site->size < DPROF_SITE_MIN)
			return true;
		if (dprof_is_left_out(site) && unasked >> dprof_site_kind(site) & 1)
			return true;
		at += site->size;
	}
	return false;
}

/* From now on each event looks. */
static void become_choosy(void)
{
	if (dprof_choosy)
		return;
	__atomic_store_n(&dprof_choosy, true, __ATOMIC_SEQ_CST);
	for (unsigned n = 0; !dprof_threads_slow_down(); n++)
		sys_wait_for_other(n);
}

/* ---- Looking --------------------------------------------------------------------------------- */

/* Where no /proc is it has the name by which it was called. */
static int open_program(void)
{
	const char *name = (const char *)getauxval(AT_EXECFN);
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	if (fd < 0 && errno == ENOENT && name)
		fd = open(name, O_RDONLY | O_CLOEXEC);
	unread = fd < 0 ? errno : 0;
	return fd;
}

static void inspect(struct module *m, const struct dl_phdr_info *info)
{
	bool program = !*info->dlpi_name;
	int fd = program ? open_program() : open(info->dlpi_name, O_RDONLY | O_CLOEXEC);

	memset(m, 0, sizeof(*m));
	m->base = info->dlpi_addr;
	m->unloads = info->dlpi_subs;
	m->loaded = true;
	snprintf(m->path, sizeof(m->path), "%s",
		 program ? dprof_settings.program : info->dlpi_name);
	if (fd < 0)
		return;
	m->sites = find_sites(fd);
	close(fd);
	if (!is_mapped(info, m->sites))
		m->sites.bytes = 0;
	if (!m->sites.bytes)
		return;
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_NOTE)
			read_notes((const char *)m->base + info->dlpi_phdr[i].p_vaddr,
				   info->dlpi_phdr[i].p_memsz, m->buildid);
	m->hash = dprof_sum_bytes(DPROF_SUM_BEGIN, (const uint8_t *)m->base + m->sites.address, m->sites.bytes);
	any |= !is_own(m->path);
	if (!is_own(m->path) && has_left_out(where_sites_are(m)))
		become_choosy();
}

/* What is looked for: all that is there, or the object with this code; and dprof's own. */
struct look { bool all; const void *code; uint64_t begun; };

static const char *path_of_loaded(const struct dl_phdr_info *info)
{
	return *info->dlpi_name ? info->dlpi_name : dprof_settings.program;
}

static struct module *find(const struct dl_phdr_info *info)
{
	for (size_t i = 0; i < nmodules; i++)
		if (modules[i].loaded && modules[i].base == info->dlpi_addr &&
		    !strcmp(modules[i].path, path_of_loaded(info)))
			return &modules[i];
	return NULL;
}

static bool contains(const struct dl_phdr_info *info, const void *code)
{
	for (int i = 0; code && i < info->dlpi_phnum; i++) {
		const Elf64_Phdr *p = &info->dlpi_phdr[i];

		if (p->p_type == PT_LOAD && (uint64_t)code - info->dlpi_addr - p->p_vaddr < p->p_memsz)
			return true;
	}
	return false;
}

/* Who tells of itself has just been loaded: it is not what was found there before, if anything went since. */
static int see(struct dl_phdr_info *info, size_t size, void *look)
{
	const struct look *l = look;
	struct module *m = find(info);

	(void)size;
	if (m)
		m->seen = m->unloads == info->dlpi_subs || !contains(info, l->code);
	return 0;
}

/* The same object where it was before. */
static struct module *find_gone(const struct module *m)
{
	for (size_t i = 0; i < nmodules; i++)
		if (!modules[i].loaded && modules[i].base == m->base && mean_the_same(m, &modules[i]) &&
		    modules[i].sites.bytes && !strcmp(modules[i].path, m->path))
			return &modules[i];
	return NULL;
}

/* `m` is behind the last one. */
static void remember(struct module *m, uint64_t begun)
{
	struct module *gone = find_gone(m);
	bool told = gone, replaces = shares_ids(m, false), clashes = shares_ids(m, true);

	if (gone) {
		gone->loaded = true;
		gone->unloads = m->unloads;
		m = gone;
	} else {
		nmodules++;
		if (m->sites.bytes)
			publish(m);
	}
	if (!told || replaces)
		tell(m, replaces && !clashes ? begun : 0);
	if (clashes || !is_addressable(m))
		give_up_words();
}

static int see_new(struct dl_phdr_info *info, size_t size, void *look)
{
	const struct look *l = look;

	(void)size;
	if (find(info) || !(l->all || contains(info, l->code) || is_own(info->dlpi_name)))
		return 0;
	if (!make_room())
		return 0;
	inspect(&modules[nmodules], info);
	remember(&modules[nmodules], l->begun);
	return 0;
}

struct loads { unsigned long long adds, subs; };

static int count(struct dl_phdr_info *info, size_t size, void *loads)
{
	(void)size;
	*(struct loads *)loads = (struct loads){ info->dlpi_adds, info->dlpi_subs };
	return 1;
}

static void look(struct look l)
{
	static struct loads last;
	struct loads now = { 0, 0 };

	dl_iterate_phdr(count, &now); /* first: what comes in between is seen next time */
	if (!l.code && now.adds == last.adds && now.subs == last.subs)
		return;
	for (size_t i = 0; i < nmodules; i++)
		modules[i].seen = false;
	dl_iterate_phdr(see, &l);
	for (size_t i = 0; i < nmodules; i++)
		modules[i].loaded &= modules[i].seen;
	dl_iterate_phdr(see_new, &l);
	last = now;
}

static bool take(void)
{
	const volatile unsigned *nobody = NULL;

	return __atomic_load_n(&owner, __ATOMIC_RELAXED) == &holds ||
	       __atomic_compare_exchange_n(&owner, &nobody, &holds, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

/* Counted first, so that a handler that comes again in between leaves to us what it has taken. */
static bool hold(bool waits)
{
	holds++;
	for (unsigned n = 0; !take(); n++) {
		if (!waits) {
			holds--;
			return false;
		}
		sys_wait_for_other(n);
	}
	return true;
}

void dprof_modules_hold(void)
{
	hold(true);
}

/* If it is still ours: a handler may have come again, and given it back. */
void dprof_modules_release(void)
{
	const volatile unsigned *mine = &holds;

	if (--holds == 0)
		__atomic_compare_exchange_n(&owner, &mine, NULL, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
}

/* Without signals: a handler may fork; and the thread may not end here, with the lock. */
static void look_for(struct look l)
{
	int saved_errno = errno, cancellation = dprof_hold_cancellation();
	uint64_t held = dprof_adapter_hold_signals();

	if (hold(!dprof_is_apart())) {
		look(l);
		dprof_modules_release();
	}
	dprof_adapter_release_signals(held);
	dprof_release_cancellation(cancellation);
	errno = saved_errno;
}

void dprof_modules_begin(void)
{
	look_for((struct look){ .all = true });
}

void dprof_modules_look(void)
{
	look_for((struct look){ .all = false });
}

void __dprof_4_loaded(const void *code)
{
	if (!dprof_off)
		look_for((struct look){ .code = code, .begun = dprof_now() });
}

bool dprof_modules_any(void)
{
	return any;
}

int dprof_modules_unread(void)
{
	return unread;
}

/* They call for the program, whose functions their threads run: std::thread, a team's threads, std::execution::par. (So do
 * sanitizers, but for us as well.) */
static const char *const servants[] = {
	"libstdc++.so", "libgomp.so", "libtbb.so", "libglib-2.0.so", "libboost_thread.so", "libuv.so", "libQt5Core.so", "libQt6Core.so",
	/* They call the functions of threads and tasks, and so what those call last. */
	"libdprof-pthread.so", "libdprof-gomp.so",
};

static const char *name_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool is_called(const char *path, const char *library)
{
	return !strncmp(name_of(path), library, strlen(library));
}

#define LIB 3 /* letters that all names begin with */

/* Other libraries may call often what they do among themselves: a letter tells most of them apart. */
static bool is_servant(const char *path)
{
	const char *name = name_of(path);

	for (size_t i = 0; i < sizeof(servants) / sizeof(*servants) && !strncmp(name, "lib", LIB); i++)
		if (name[LIB] == servants[i][LIB] && is_called(name, servants[i]))
			return true;
	return false;
}

static bool has_sites(const struct dl_find_object *o)
{
	const struct ranges *r = __atomic_load_n(&published, __ATOMIC_ACQUIRE);

	for (size_t i = 0; r && i < r->n; i++)
		if (r->of[i].address >= (uint64_t)o->dlfo_map_start &&
		    r->of[i].address < (uint64_t)o->dlfo_map_end)
			return true;
	return false;
}

static struct { uint64_t from, to; } program; /* where it is mapped */

bool dprof_modules_ours(const void *code)
{
	struct dl_find_object o;
	const char *path;

	if ((uint64_t)code - program.from < program.to - program.from)
		return true;
	if (_dl_find_object((void *)code, &o) != 0)
		return false;
	path = o.dlfo_link_map ? o.dlfo_link_map->l_name : "";
	if (!*path) {
		program.to = (uint64_t)o.dlfo_map_end;
		program.from = (uint64_t)o.dlfo_map_start;
		return true;
	}
	return is_servant(path) || (!is_own(path) && has_sites(&o));
}

/* Of the object that the code is in; "" where that is the program. */
static const char *path_of(const void *code)
{
	struct dl_find_object o;

	return _dl_find_object((void *)code, &o) == 0 && o.dlfo_link_map ? o.dlfo_link_map->l_name : "";
}

bool dprof_modules_sanitizer(const void *code)
{
	static const char *const sanitizers[] = { "libasan.so", "libtsan.so", "liblsan.so" };
	const char *path = path_of(code);

	for (size_t i = 0; i < sizeof(sanitizers) / sizeof(*sanitizers); i++)
		if (is_called(path, sanitizers[i]))
			return true;
	return false;
}

bool dprof_modules_served(const void *code)
{
	return dprof_modules_ours(code) || dprof_modules_sanitizer(code) || is_called(path_of(code), "libgfortran.so");
}

void dprof_modules_retell(void)
{
	hold(true);
	for (size_t i = 0; i < nmodules; i++)
		if (modules[i].loaded)
			tell(&modules[i], 0);
	dprof_modules_release();
}

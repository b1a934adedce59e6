/* SPDX-License-Identifier: MIT
 *
 * fortran.c - calls from Fortran go the way of those from C.
 *
 *   program -> mpi_send_ (or mpi_send_f08_) -> MPI_Send, here -> PMPI_Send
 *
 * But the Fortran library goes to PMPI_Send at once, OpenMPI's always and MPICH's from mpi_f08; so the
 * entries of its own table of imported functions are made to point here, before MPI begins. It
 * converts communicators, requests and statuses as before.
 *
 * mpi_init_ also makes the linker keep this library in a program that has no call from C. */
#include "runtime/mpi/adapter.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- The Fortran library ---------------------------------------------------------------------- */

struct imports {
	const ElfW(Sym) *symbols;
	const char *names;
	const ElfW(Rela) *plt, *other;
	size_t plt_bytes, other_bytes;
	ElfW(Addr) base;
};

/* This library, in which wrappers are looked for: another tool's may stand before them. */
static void *open_ourselves(void)
{
	Dl_info us;

	return dladdr((const void *)open_ourselves, &us)
		       ? dlopen(us.dli_fname, RTLD_LAZY | RTLD_NOLOAD) : NULL;
}

/* Whether `address` is in this library, not in one that it needs. */
static bool is_ours(const void *address)
{
	Dl_info it, us;

	return dladdr(address, &it) && dladdr((const void *)is_ours, &us) &&
	       it.dli_fbase == us.dli_fbase;
}

/* The wrapper of "PMPI_Name", or NULL. */
static void *wrapper_of(void *ourselves, const char *name)
{
	void *wrapper = strncmp(name, "PMPI_", 5) ? NULL : dlsym(ourselves, name + 1);

	return wrapper && is_ours(wrapper) ? wrapper : NULL;
}

/* The loader may have made the page read-only. */
static void point_to(void **entry, void *function)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *start = (void *)((uintptr_t)entry & -page);

	if (mprotect(start, page, PROT_READ | PROT_WRITE) == 0)
		*entry = function;
}

static void redirect(void *ourselves, const struct imports *in, const ElfW(Rela) *table,
		     size_t bytes)
{
	for (size_t i = 0; i < bytes / sizeof(*table); i++) {
		const ElfW(Rela) *r = &table[i];
		unsigned type = ELF64_R_TYPE(r->r_info);
		const char *name = in->names + in->symbols[ELF64_R_SYM(r->r_info)].st_name;
		void *wrapper;

		if (type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT)
			continue;
		wrapper = wrapper_of(ourselves, name);
		if (wrapper)
			point_to((void **)(in->base + r->r_offset), wrapper);
	}
}

static struct imports read_imports(ElfW(Addr) base, const ElfW(Dyn) *d)
{
	struct imports in = { .base = base };

	for (; d->d_tag != DT_NULL; d++)
		switch (d->d_tag) {
		case DT_SYMTAB:   in.symbols = (const void *)d->d_un.d_ptr; break;
		case DT_STRTAB:   in.names = (const void *)d->d_un.d_ptr; break;
		case DT_JMPREL:   in.plt = (const void *)d->d_un.d_ptr; break;
		case DT_PLTRELSZ: in.plt_bytes = d->d_un.d_val; break;
		case DT_RELA:     in.other = (const void *)d->d_un.d_ptr; break;
		case DT_RELASZ:   in.other_bytes = d->d_un.d_val; break;
		}
	return in;
}

static int redirect_library(struct dl_phdr_info *info, size_t size, void *ourselves)
{
	const char *slash = strrchr(info->dlpi_name, '/');
	const char *name = slash ? slash + 1 : info->dlpi_name;

	(void)size;
	if (strncmp(name, "libmpi_mpifh.", 13) != 0 && strncmp(name, "libmpichfort.", 13) != 0)
		return 0;
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_DYNAMIC) {
			struct imports in = read_imports(
				info->dlpi_addr,
				(const void *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr));

			redirect(ourselves, &in, in.plt, in.plt ? in.plt_bytes : 0);
			redirect(ourselves, &in, in.other, in.other ? in.other_bytes : 0);
		}
	return 0;
}

static void redirect_libraries(void)
{
	void *ourselves = open_ourselves();

	if (!ourselves)
		return;
	dl_iterate_phdr(redirect_library, ourselves);
	dlclose(ourselves);
}

/* ---- Where a Fortran program begins ----------------------------------------------------------- */

#define INIT(name, parameters, arguments)                                                         \
	DPROF_EXPORT void name parameters;                                                        \
	DPROF_EXPORT void name parameters                                                         \
	{                                                                                         \
		void (*next) parameters;                                                          \
                                                                                                  \
		redirect_libraries();                                                             \
		*(void **)&next = dlsym(RTLD_NEXT, #name);                                        \
		if (!next)                                                                        \
			abort(); /* the program has it, or it would not be here */                \
		next arguments;                                                                   \
	}
INIT(mpi_init_, (MPI_Fint *error), (error))
INIT(mpi_init_f08_, (MPI_Fint *error), (error))
INIT(mpi_init_thread_, (MPI_Fint *required, MPI_Fint *provided, MPI_Fint *error),
     (required, provided, error))
INIT(mpi_init_thread_f08_, (MPI_Fint *required, MPI_Fint *provided, MPI_Fint *error),
     (required, provided, error))

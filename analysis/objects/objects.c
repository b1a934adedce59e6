/* SPDX-License-Identifier: MIT
 *
 * objects.c - see objects.h. */
#include "analysis/objects/objects.h"

#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/base/memory.h"
#include "analysis/base/order.h"
#include "analysis/base/shown.h"
#include "analysis/trace/site_bytes.h"
#include "freezer/regular.h"

/* ---- Sites ----------------------------------------------------------------------------------- */

static void free_texts(struct tr_site *s)
{
	free((char *)(uintptr_t)s->name);
	free((char *)(uintptr_t)s->file);
	free((char *)(uintptr_t)s->function);
}

static void add_sites(struct object *o, const uint8_t *bytes, size_t length)
{
	struct tr_site site;
	size_t size;
	for (size_t at = 0; at < length; at += size) {
		if (site_read(bytes + at, length - at, &site, &size)) {
			size = site_skip(length - at);
			o->damaged += size;
			continue;
		}
		site.name = shown_copy(site.name);
		site.file = shown_copy(site.file);
		site.function = shown_copy(site.function);
		*MEM_GROW(o->sites, o->nsites) = site;
	}
}

static int by_place(const void *a, const void *b)
{
	const struct tr_site *x = a, *y = b;
	int order = strcmp(x->file, y->file);
	order = order ? order : ORDER(x->line, y->line);
	order = order ? order : ORDER(x->column, y->column);
	order = order ? order : ORDER(x->kind, y->kind);
	order = order ? order : strcmp(x->name, y->name);
	order = order ? order : strcmp(x->function, y->function);
	order = order ? order : ORDER(x->role, y->role);
	order = order ? order : ORDER(x->stage, y->stage);
	return order ? order : x->automatic - y->automatic;
}

/* Several objects, and several copies of a function, have a header's sites each. */
static void sort_sites(struct object *o)
{
	size_t kept = 0;
	if (o->nsites)
		qsort(o->sites, o->nsites, sizeof *o->sites, by_place);
	for (size_t i = 0; i < o->nsites; i++)
		if (kept && by_place(&o->sites[kept - 1], &o->sites[i]) == 0)
			free_texts(&o->sites[i]);
		else
			o->sites[kept++] = o->sites[i];
	o->nsites = kept;
}

/* ---- Sections -------------------------------------------------------------------------------- */

static void add_libraries(struct object *o, Elf *elf, Elf_Scn *section, const GElf_Shdr *head)
{
	Elf_Data *data = elf_getdata(section, NULL);
	size_t count = data && head->sh_entsize ? data->d_size / head->sh_entsize : 0;
	GElf_Dyn entry;
	for (size_t i = 0; i < count && gelf_getdyn(data, (int)i, &entry); i++) {
		const char *name = entry.d_tag == DT_NEEDED ? elf_strptr(elf, head->sh_link, entry.d_un.d_val) : NULL;
		if (name)
			*MEM_GROW(o->libraries, o->nlibraries) = shown_copy(name);
	}
}

static void read_section(struct object *o, Elf *elf, Elf_Scn *section, size_t names)
{
	GElf_Shdr head;
	const char *name = gelf_getshdr(section, &head) ? elf_strptr(elf, names, head.sh_name) : NULL;
	if (!name)
		return;
	o->lto |= strncmp(name, ".gnu.lto_", strlen(".gnu.lto_")) == 0;
	if (head.sh_type == SHT_DYNAMIC)
		add_libraries(o, elf, section, &head);
	Elf_Data *data = strcmp(name, DPROF_SITE_SECTION) == 0 ? elf_rawdata(section, NULL) : NULL;
	if (data && data->d_buf)
		add_sites(o, data->d_buf, data->d_size);
}

/* A shared library has no interpreter that is to load it. */
static const char *kind_of(Elf *elf, const GElf_Ehdr *head)
{
	GElf_Phdr part;
	size_t parts = 0;
	if (head->e_type == ET_REL)
		return "object";
	if (head->e_type == ET_EXEC)
		return "executable";
	if (elf_getphdrnum(elf, &parts) == 0)
		for (size_t i = 0; i < parts && gelf_getphdr(elf, (int)i, &part); i++)
			if (part.p_type == PT_INTERP)
				return "executable";
	return "library";
}

/* What says where its sections are stands at the end. */
static bool is_cut(Elf *elf, const GElf_Ehdr *head)
{
	size_t size = 0;
	elf_rawfile(elf, &size);
	return head->e_shoff > size || size - head->e_shoff < (size_t)head->e_shnum * head->e_shentsize;
}

/* False if it is none of these: a core dump. */
static bool read_elf(struct object *o, Elf *elf)
{
	GElf_Ehdr head;
	size_t names;
	if (!gelf_getehdr(elf, &head) || (head.e_type != ET_REL && head.e_type != ET_EXEC && head.e_type != ET_DYN))
		return false;
	o->kind = kind_of(elf, &head);
	o->cut = is_cut(elf, &head);
	if (elf_getshdrstrndx(elf, &names) == 0)
		for (Elf_Scn *s = NULL; (s = elf_nextscn(elf, s));)
			read_section(o, elf, s, names);
	sort_sites(o);
	return true;
}

/* ---- Files ----------------------------------------------------------------------------------- */

static char *name_of(const char *file, Elf *member)
{
	Elf_Arhdr *head = member ? elf_getarhdr(member) : NULL;
	char *name = head ? mem_format("%s(%s)", file, head->ar_name) : mem_copy(file);
	char *shown = shown_copy(name);
	free(name);
	return shown;
}

static bool add(struct objects *all, const char *file, Elf *elf, bool member)
{
	struct object o = { 0 };
	if (elf_kind(elf) != ELF_K_ELF || !read_elf(&o, elf))
		return false;
	o.name = name_of(file, member ? elf : NULL);
	*MEM_GROW(all->object, all->n) = o;
	return true;
}

/* Members that are no objects (an archive's own tables) are left out. */
static bool add_archive(struct objects *all, const char *file, int fd, Elf *archive)
{
	size_t before = all->n;
	Elf_Cmd go_on = ELF_C_READ;
	for (Elf *member; go_on != ELF_C_NULL && (member = elf_begin(fd, go_on, archive));) {
		add(all, file, member, true);
		go_on = elf_next(member);
		elf_end(member);
	}
	return all->n > before;
}

/* An archive that only names its objects (ar crT). */
static bool is_thin(int fd)
{
	static const char magic[] = "!<thin>\n";
	char found[sizeof magic - 1];
	return pread(fd, found, sizeof found, 0) == (ssize_t)sizeof found && memcmp(found, magic, sizeof found) == 0;
}

char *objects_add(struct objects *all, const char *file)
{
	const char *found;
	elf_version(EV_CURRENT);
	int fd = frz_open_regular(AT_FDCWD, file, &found);
	if (fd < 0)
		return mem_format("%s: expected a file, found %s", file, found);
	Elf *elf = elf_begin(fd, ELF_C_READ, NULL); /* not mapped: a file that becomes shorter meanwhile ends nothing */
	bool any = elf && (elf_kind(elf) == ELF_K_AR ? add_archive(all, file, fd, elf) : add(all, file, elf, false));
	bool thin = !any && is_thin(fd);
	elf_end(elf);
	close(fd);
	if (thin)
		return mem_format("%s: expected an archive with objects, found a thin one, which only names them: give their files", file);
	return any ? NULL : mem_format("%s: expected an object, an archive of them, an executable or a shared library", file);
}

void objects_free(struct objects *all)
{
	for (size_t i = 0; i < all->n; i++) {
		struct object *o = &all->object[i];
		for (size_t k = 0; k < o->nsites; k++)
			free_texts(&o->sites[k]);
		for (size_t k = 0; k < o->nlibraries; k++)
			free(o->libraries[k]);
		free(o->sites);
		free(o->libraries);
		free(o->name);
	}
	free(all->object);
}

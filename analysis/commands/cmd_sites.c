/* SPDX-License-Identifier: MIT
 *
 * cmd_sites.c - dprof-analyze sites: what is instrumented in objects, libraries and programs (objects.h). It reads no trace. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/memory.h"
#include "analysis/base/shown.h"
#include "analysis/commands/command.h"
#include "analysis/objects/objects.h"

/* "3 region, 1 barrier"; to be freed. */
static char *count_kinds(const struct object *o)
{
	size_t count[DPROF_KIND_COUNT] = { 0 };
	char *list = mem_copy("");
	for (size_t i = 0; i < o->nsites; i++)
		count[o->sites[i].kind]++;
	for (int kind = 0; kind < DPROF_KIND_COUNT; kind++) {
		if (!count[kind])
			continue;
		char *longer = mem_format("%s%s%zu %s", list, *list ? ", " : "", count[kind], tr_kind_word((enum dprof_kind)kind));
		free(list);
		list = longer;
	}
	return list;
}

/* Those of dprof that it is linked with: what blocks or communicates is recorded by an adapter. */
static char *recorders(const struct object *o)
{
	char *list = mem_copy("");
	for (size_t i = 0; i < o->nlibraries; i++) {
		if (strncmp(o->libraries[i], "libdprof", strlen("libdprof")) != 0)
			continue;
		char *longer = mem_format("%s%s%s", list, *list ? ", " : "", o->libraries[i]);
		free(list);
		list = longer;
	}
	return list;
}

static void say_head(struct reply *r, const struct object *o)
{
	char *kinds = count_kinds(o), *by = recorders(o);
	reply_say(r, SAY_TEXT, "%s: %s, %zu site%s%s%s%s%s%s", o->name, o->kind, o->nsites, o->nsites == 1 ? "" : "s",
		  o->nsites ? ": " : "", kinds, *by ? "; linked with " : "", by, o->nsites ? "" : ".");
	if (!o->nsites)
		reply_say(r, SAY_TEXT, "%s", o->lto ? "Its code is made when it is linked (-flto): look at what it is linked into."
						    : "Nothing in it was compiled with dprof's plugin, or nothing was marked and "
						      "nothing in it calls what blocks or communicates.");
	free(kinds);
	free(by);
}

/* Names are told by the table of sites of a trace, which this is not but for that. */
static void fill_sites(struct reply *r, const struct object *o)
{
	static const struct tab_column columns[] = {
		TAB_SHOWN("kind", "", 9), { .title = "", .width = 10 }, TAB_SHOWN(NULL, ""), TAB_KEY("name"), TAB_KEY("file"),
		TAB_KEY("line"), TAB_KEY("column"), TAB_KEY("function"), TAB_KEY("automatic"), TAB_KEY("role"), { 0 } };
	const struct trace names = { .sites = o->sites, .nsites = o->nsites };
	reply_table(r, "sites", columns, SIZE_MAX);
	for (size_t i = 0; i < o->nsites; i++) {
		const struct tr_site *s = &o->sites[i];
		reply_row(r, tab_text(tr_kind_word(s->kind)), tab_text(s->automatic ? "automatic" : tr_role_word(s).text),
			  tab_site(&names, (uint32_t)i), tab_text(s->name), tab_text(s->file), tab_count(s->line),
			  tab_count(s->column), tab_text(s->function), tab_flag(s->automatic), s->role ? tab_text(tr_role_word(s).text) : TAB_NONE);
	}
	reply_end(r);
}

static void fill_object(struct reply *r, const struct object *o)
{
	say_head(r, o);
	reply_row(r, tab_text(o->name), tab_text(o->kind));
	fill_sites(r, o);
	reply_texts(r, "libraries", o->libraries, o->nlibraries);
	reply_value(r, "lto", tab_flag(o->lto));
}

/* Sections that hold something else were made by another version of dprof, or are damaged. */
static int complain_of(const struct objects *all)
{
	int status = EXIT_FINE;
	for (size_t i = 0; i < all->n; i++) {
		if (all->object[i].cut) {
			shown_complain("%s: expected a table of sections, found the end of the file: it is cut short, and "
				       "may have had any sites", all->object[i].name);
			status = EXIT_DAMAGED;
		}
		if (all->object[i].damaged) {
			shown_complain("%s: expected sites of version %d in section %s, found %zu bytes that are none",
				       all->object[i].name, DPROF_SITE_VERSION, DPROF_SITE_SECTION, all->object[i].damaged);
			status = EXIT_DAMAGED;
		}
	}
	return status;
}

int cmd_sites(const char *const *files, size_t count, struct reply *reply)
{
	static const struct tab_column columns[] = { TAB_KEY("name"), TAB_KEY("kind"), { 0 } };
	struct objects all = { 0 };
	int status = EXIT_FINE;
	for (size_t i = 0; i < count; i++) {
		char *wrong = objects_add(&all, files[i]);
		if (wrong) {
			shown_complain("%s", wrong);
			status = EXIT_DAMAGED;
		}
		free(wrong);
	}
	reply_table(reply, "objects", columns, SIZE_MAX); /* people see the tables within */
	for (size_t i = 0; i < all.n; i++) {
		if (i)
			reply_gap(reply);
		fill_object(reply, &all.object[i]);
	}
	reply_end(reply);
	int damage = complain_of(&all);
	objects_free(&all);
	return damage == EXIT_FINE ? status : damage;
}

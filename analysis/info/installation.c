/* SPDX-License-Identifier: MIT
 *
 * installation.c - what is installed beside this program, and the compilers that may use it. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/base/memory.h"
#include "analysis/base/shown.h"
#include "analysis/info/info.h"
#include "runtime/version.h"

/* The folder above that of this program; to be freed. */
static char *prefix(void)
{
	char *self = realpath("/proc/self/exe", NULL);
	for (int up = 0; self && up < 2; up++) {
		char *slash = strrchr(self, '/');
		*(slash && slash != self ? slash : self + strlen(self)) = '\0';
	}
	return self ? self : mem_copy("/usr");
}

static bool is_there(const char *folder, const char *name)
{
	char *path = mem_format("%s/%s", folder, name);
	bool there = access(path, R_OK) == 0;
	free(path);
	return there;
}

/* The first line of what a command says; "" if it says nothing. To be freed. */
static char *first_line(const char *command)
{
	char line[160] = "";
	FILE *said = popen(command, "r");
	if (said && !fgets(line, sizeof line, said))
		*line = '\0';
	if (said)
		pclose(said);
	line[strcspn(line, "\n")] = '\0';
	return shown_copy(line);
}

/* ---- GCC ------------------------------------------------------------------------------------- */

/* Of the GCC that dprof.pc names, and in folders that are called after others. In the build tree, or installed. */
static bool has_plugin(const char *root, int major)
{
	char *pc = mem_format("%s/lib/pkgconfig/dprof.pc", root);
	char *folder = mem_format("%d/dprof.so", major), *own = mem_format("gcc=%d\n", major);
	char *plugins[] = { mem_format("%s/lib/dprof", root), mem_format("%s/plugin", root) };
	FILE *file = fopen(pc, "r");
	char line[512];
	bool main = false, there = false;
	while (file && fgets(line, sizeof line, file))
		main |= strcmp(line, own) == 0;
	if (file)
		fclose(file);
	for (int i = 0; i < 2; i++) {
		there |= is_there(plugins[i], folder) || (main && is_there(plugins[i], "dprof.so"));
		free(plugins[i]);
	}
	free(pc);
	free(folder);
	free(own);
	return there;
}

#define GCC_OLDEST 9
#define GCC_NEWEST 15

static void fill_plugins(struct reply *r, const char *root)
{
	static const struct tab_column bare[] = { TAB_KEY(""), { 0 } };
	char *list = mem_copy("");
	reply_table(r, "plugins", bare, 0);
	for (int major = GCC_OLDEST; major <= GCC_NEWEST; major++) {
		if (!has_plugin(root, major))
			continue;
		reply_row(r, tab_count(major));
		char *longer = mem_format("%s%s%d", list, *list ? ", " : "", major);
		free(list);
		list = longer;
	}
	reply_end(r);
	reply_say(r, SAY_INDENTED, "plugin for GCC: %s",
		  *list ? list : "none; build dprof where GCC's plugin headers are installed");
	free(list);
}

static void fill_compilers(struct reply *r, const char *root)
{
	static const struct { const char *name, *command; } compilers[] = {
		{ "cc", "cc -dumpfullversion 2>/dev/null" }, { "gcc", "gcc -dumpfullversion 2>/dev/null" },
		{ "g++", "g++ -dumpfullversion 2>/dev/null" }, { "gfortran", "gfortran -dumpfullversion 2>/dev/null" } };
	static const struct tab_column columns[] = { TAB_SHOWN("name", "compiler", 8), TAB_SHOWN("version", "version", 8),
						     TAB_SHOWN("plugin", "plugin"), { 0 } };
	reply_table(r, "compilers", columns, SIZE_MAX);
	for (size_t i = 0; i < sizeof compilers / sizeof *compilers; i++) {
		char *version = first_line(compilers[i].command);
		if (*version)
			reply_row(r, tab_text(compilers[i].name), tab_text(version), tab_flag(has_plugin(root, atoi(version))));
		free(version);
	}
	reply_end(r);
}

/* ---- MPI ------------------------------------------------------------------------------------- */

static void fill_mpi(struct reply *r, const char *root)
{
	static const struct { const char *name, *library, *version; } mpis[] = {
		{ "openmpi", "libdprof-openmpi.so", "{ mpicc.openmpi --showme:version || mpicc --showme:version; } 2>/dev/null" },
		{ "mpich", "libdprof-mpich.so", "{ mpicc.mpich -v || mpicc -v; } 2>/dev/null | grep MPICH" } };
	static const struct tab_column columns[] = { TAB_SHOWN("name", "MPI", 8), TAB_SHOWN("adapter", "adapter", 8),
						     TAB_SHOWN("version", "found"), { 0 } };
	char *libraries = mem_format("%s/lib", root);
	reply_table(r, "mpi", columns, SIZE_MAX);
	for (size_t i = 0; i < sizeof mpis / sizeof *mpis; i++) {
		char *version = first_line(mpis[i].version);
		reply_row(r, tab_text(mpis[i].name), tab_flag(is_there(libraries, mpis[i].library)),
			  tab_text(*version ? version : "not in PATH"));
		free(version);
	}
	reply_end(r);
	free(libraries);
}

void info_installation(struct reply *r)
{
	char *root = prefix(), *shown = shown_copy(root);
	reply_value(r, "version", tab_text(DPROF_VERSION));
	reply_value(r, "trace_format", tab_count(DPROF_FORMAT_VERSION));
	reply_value(r, "prefix", tab_text(shown));
	reply_say(r, SAY_LINE, "dprof %s (trace format %d), in %s", DPROF_VERSION, DPROF_FORMAT_VERSION, shown);
	fill_plugins(r, root);
	reply_gap(r);
	fill_compilers(r, root);
	reply_gap(r);
	fill_mpi(r, root);
	free(root);
	free(shown);
}

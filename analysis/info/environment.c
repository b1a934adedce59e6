/* SPDX-License-Identifier: MIT
 *
 * environment.c - the variables that dprof reads, and the folder where traces go. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "analysis/base/memory.h"
#include "analysis/base/nearest.h"
#include "analysis/base/shown.h"
#include "analysis/info/info.h"
#include "freezer/topology.h"
#include "runtime/values.h"

static const char *const known[] = {
#define X(name) "DPROF_" #name,
#include "runtime/variables.def"
#undef X
};
#define NKNOWN (sizeof known / sizeof *known)

static bool is_known(const char *name)
{
	for (size_t i = 0; i < NKNOWN; i++)
		if (strcmp(known[i], name) == 0)
			return true;
	return false;
}

/* What those who record will say of a value that they do not understand; or "". To be freed. */
static char *judge(const char *name, const char *value)
{
	static const char *const flags[] = { "DPROF_OFF", "DPROF_QUIET", "DPROF_GATHER" };
	struct frz_topology topology;
	char words[VALUES_ROOM] = "";
	for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
		if (strcmp(name, flags[i]) == 0)
			values_flag(name, value, words);
	if (strcmp(name, "DPROF_EVENTS") == 0)
		values_left_out(value, words);
	else if (strcmp(name, "DPROF_BUFFER") == 0)
		values_chunk_bytes(value, words);
	else if (strcmp(name, "DPROF_BLOCKED_NS") == 0)
		values_blocked_ns(value, words);
	else if (strcmp(name, "DPROF_SYNC_INTERVAL") == 0)
		values_interval_ns(value, words);
	else if (strcmp(name, "DPROF_SYNC_TOPOLOGY") == 0 && *value && frz_topology_parse(value, &topology) < 0)
		return mem_copy(VALUES_NO_TOPOLOGY);
	return shown_copy(words);
}

static void fill_variable(struct reply *r, const char *definition)
{
	size_t length = strcspn(definition, "=");
	const char *given = definition + length + (definition[length] == '=');
	char *bytes = mem_format("%.*s", (int)length, definition);
	char *name = shown_copy(bytes), *value = shown_copy(given), *wrong = judge(bytes, given);
	const char *like = is_known(bytes) ? NULL : nearest(bytes, known, NKNOWN);
	char *note = is_known(bytes) ? mem_copy("")
				     : mem_format("  (unknown to dprof%s%s)", like ? ": did you mean " : "", like ? like : "");
	reply_row(r, tab_text(name), tab_text(value), tab_flag(is_known(bytes)), *wrong ? tab_text(wrong) : TAB_NONE);
	reply_say(r, SAY_INDENTED, "%s=%s%s", name, value, note);
	if (*wrong)
		reply_say(r, SAY_DETAIL, "%s", wrong);
	free(wrong);
	free(bytes);
	free(name);
	free(value);
	free(note);
}

static void fill_variables(struct reply *r)
{
	static const struct tab_column columns[] = { TAB_KEY("name"), TAB_KEY("value"), TAB_KEY("known"),
						     TAB_KEY("not_understood"), { 0 } };
	reply_table(r, "environment", columns, 0);
	for (char **at = environ; *at; at++)
		if (strncmp(*at, "DPROF_", strlen("DPROF_")) == 0)
			fill_variable(r, *at);
	reply_end(r);
}

void info_environment(struct reply *r)
{
	const char *given = getenv("DPROF_DIR"), *folder = given && *given ? given : ".";
	struct statvfs disk;
	char *shown = shown_copy(folder);
	reply_say(r, SAY_HEADING, "Environment");
	fill_variables(r);
	reply_value(r, "traces.folder", tab_text(shown));
	reply_value(r, "traces.writable", tab_flag(access(folder, W_OK | X_OK) == 0));
	if (access(folder, W_OK | X_OK) != 0) {
		reply_say(r, SAY_INDENTED, "traces would go to %s, but nothing can be written there: %s", shown, strerror(errno));
	} else if (statvfs(folder, &disk) == 0) {
		double free_bytes = (double)disk.f_bavail * (double)disk.f_frsize;
		reply_value(r, "traces.free_bytes", tab_count((int64_t)free_bytes));
		reply_say(r, SAY_INDENTED, "traces go to %s, which has room for %.1f GB", shown, free_bytes / 1e9);
	}
	free(shown);
}

/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * options.cc - -fplugin-arg-dprof-WORD[=VALUE], from one table.
 *
 * Law: an option or a value that the table does not have is an error; nothing is ignored. GCC cuts a value
 * at the next '=', so no value has one. */
#include "plugin/parts.h"

struct plugin_options options;

static bool set_auto(const char *value);
static bool set_min(const char *value);

static const struct option {
	const char *word, *shown;
	bool *set;                    /* without a value */
	bool (*read)(const char *value); /* with one: false after an error */
	const char *meaning;
} table[] = {
	{ "auto", "auto=WHAT", nullptr, set_auto,
	  "regions without pragmas: functions, loops, mpi (functions that call MPI), with commas" },
	{ "fence", "fence", &options.fence, nullptr,
	  "read the clock between two lfence: exact, but 12 ns dearer" },
	{ "filter", "filter=FILE", nullptr, filter_read, "which of them, in the format of Score-P's filters" },
	{ "help", "help", &options.help, nullptr, "print options and directives" },
	{ "min", "min=N", nullptr, set_min, "only functions and loops of at least N statements (10)" },
};

static const struct what {
	const char *word;
	unsigned bit;
} whats[] = { { "functions", AUTO_FUNCTIONS }, { "loops", AUTO_LOOPS }, { "mpi", AUTO_MPI } };

static const struct option *find(const char *word)
{
	for (const struct option &o : table)
		if (!strcmp(o.word, word))
			return &o;
	return nullptr;
}

static bool set_what(const char *word)
{
	auto_vec<const char *> words;
	for (const struct what &w : whats) {
		words.safe_push(w.word);
		if (!strcmp(w.word, word)) {
			options.automatic |= w.bit;
			return true;
		}
	}
	const char *near = find_closest_string(word, &words);
	if (near)
		error_at(UNKNOWN_LOCATION, "unknown value %qs of plugin option "
			 "%<-fplugin-arg-dprof-auto%>; did you mean %qs?", word, near);
	else
		error_at(UNKNOWN_LOCATION, "unknown value %qs of plugin option "
			 "%<-fplugin-arg-dprof-auto%>; expected functions, loops or mpi", word);
	return false;
}

static bool set_auto(const char *value)
{
	char *copy = xstrdup(value), *rest = copy;
	bool good = true;
	for (char *word; good && (word = strsep(&rest, ","));)
		good = set_what(word);
	free(copy);
	return good;
}

static bool set_min(const char *value)
{
	char *end;
	unsigned long n = strtoul(value, &end, 10);
	if (!ISDIGIT(*value) || *end || n > INT_MAX) {
		error_at(UNKNOWN_LOCATION, "value %qs of plugin option %<-fplugin-arg-dprof-min%> is not a "
			 "number of statements", value);
		return false;
	}
	options.min = n;
	return true;
}

static void refuse(const char *word)
{
	auto_vec<const char *> words;
	for (const struct option &o : table)
		words.safe_push(o.word);
	const char *near = find_closest_string(word, &words);
	if (near)
		error_at(UNKNOWN_LOCATION,
			 "unknown plugin option %<-fplugin-arg-dprof-%s%>; did you mean %qs?", word,
			 near);
	else
		error_at(UNKNOWN_LOCATION,
			 "unknown plugin option %<-fplugin-arg-dprof-%s%>; %<-fplugin-arg-dprof-help%> "
			 "lists what there is", word);
}

static bool set(const struct plugin_argument &given)
{
	const struct option *o = find(given.key);
	if (!o)
		refuse(given.key);
	else if (o->read && !given.value)
		error_at(UNKNOWN_LOCATION, "plugin option %<-fplugin-arg-dprof-%s%> lacks its value: "
			 "%<-fplugin-arg-dprof-%s%>", o->word, o->shown);
	else if (!o->read && given.value)
		error_at(UNKNOWN_LOCATION, "plugin option %<-fplugin-arg-dprof-%s%> takes no value",
			 o->word);
	else if (o->read)
		return o->read(given.value);
	else
		return *o->set = true;
	return false;
}

bool options_read(struct plugin_name_args *args)
{
	bool good = true;
	options.min = 10;
	for (int i = 0; i < args->argc; i++)
		good = set(args->argv[i]) && good;
	return good;
}

char *options_help()
{
	char *text = xstrdup("");
	for (const struct option &o : table) {
		char *more = xasprintf("%s  -fplugin-arg-dprof-%-12s %s\n", text, o.shown, o.meaning);
		free(text);
		text = more;
	}
	return text;
}

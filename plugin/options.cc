/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * options.cc - -fplugin-arg-dprof-WORD, from one table.
 *
 * Law: an option that the table does not have is an error; nothing is ignored. */
#include "plugin/parts.h"

struct options options;

static const struct option {
	const char *word;
	bool *set;
	const char *meaning;
} table[] = {
	{ "fence", &options.fence, "read the clock between two lfence: exact, but 12 ns dearer" },
	{ "help", &options.help, "print options and directives" },
};

static const struct option *find(const char *word)
{
	for (const struct option &o : table)
		if (!strcmp(o.word, word))
			return &o;
	return nullptr;
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

bool options_read(struct plugin_name_args *args)
{
	bool good = true;
	for (int i = 0; i < args->argc; i++) {
		const struct option *o = find(args->argv[i].key);
		if (!o)
			refuse(args->argv[i].key);
		else if (args->argv[i].value)
			error_at(UNKNOWN_LOCATION,
				 "plugin option %<-fplugin-arg-dprof-%s%> takes no value", o->word);
		else
			*o->set = true;
		good = good && o && !args->argv[i].value;
	}
	return good;
}

char *options_help()
{
	char *text = xstrdup("");
	for (const struct option &o : table) {
		char *more = xasprintf("%s  -fplugin-arg-dprof-%-8s %s\n", text, o.word, o.meaning);
		free(text);
		text = more;
	}
	return text;
}

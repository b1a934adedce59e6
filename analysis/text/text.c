/* SPDX-License-Identifier: MIT
 *
 * text.c - what the lines of the text form may say, and the quick way through the lines of
 * events. */
#include "analysis/text/text.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/base/memory.h"

const struct ln_form text_forms[TEXT_FORMS] = {
	[TEXT_CLOCK] = { "clock", { [CLOCK_N] = { "a number", LN_NUMBER, LN_HERE },
				    [CLOCK_HOST] = { "host", LN_STRING, LN_NEEDED },
				    [CLOCK_GHZ] = { "ghz", LN_REAL, LN_NEEDED },
				    [CLOCK_SOURCE] = { "source", LN_STRING, LN_KEY },
				    [CLOCK_UNCERTAINTY] = { "halfwidth", LN_NUMBER, LN_KEY } } },
	[TEXT_PROCESS] = { "process", { [PROCESS_N] = { "a number", LN_NUMBER, LN_HERE },
					[PROCESS_CLOCK] = { "clock", LN_NUMBER, LN_KEY },
					[PROCESS_RANK] = { "rank", LN_NUMBER, LN_KEY },
					[PROCESS_SIZE] = { "size", LN_NUMBER, LN_KEY },
					[PROCESS_PID] = { "pid", LN_NUMBER, LN_KEY },
					[PROCESS_PROGRAM] = { "program", LN_STRING, LN_KEY },
					[PROCESS_JOB] = { "job", LN_STRING, LN_KEY },
					[PROCESS_FINISHED] = { "finished", LN_NUMBER, LN_KEY },
					[PROCESS_RAN] = { "ran", LN_NUMBER, LN_KEY },
					[PROCESS_EXECS] = { "execs", LN_NUMBER, LN_KEY },
					[PROCESS_UNSEEN_NS] = { "unseen_ns", LN_NUMBER, LN_KEY },
					[PROCESS_UNSEEN_ENDED] = { "unseen_ended", LN_NUMBER, LN_KEY },
					[PROCESS_WITHOUT] = { "without", LN_STRING, LN_KEY },
					[PROCESS_STARTED] = { "started", LN_NUMBER, LN_KEY },
					[PROCESS_FORKED] = { "forked", LN_NUMBER, LN_KEY },
					[PROCESS_PARENT] = { "parent", LN_NUMBER, LN_KEY },
					[PROCESS_UNBORN] = { "unborn", LN_NUMBER, LN_KEY },
					[PROCESS_INIT_FROM] = { "init_from", LN_NUMBER, LN_KEY },
					[PROCESS_INIT_TO] = { "init_to", LN_NUMBER, LN_KEY },
					[PROCESS_MARKS] = { "marks", LN_STRING, LN_KEY },
					[PROCESS_ENDED] = { "ended", LN_NUMBER, LN_KEY } } },
	[TEXT_THREAD] = { "thread", { [THREAD_N] = { "a number", LN_NUMBER, LN_HERE },
				      [THREAD_CLOCK] = { "clock", LN_NUMBER, LN_NEEDED },
				      [THREAD_RANK] = { "rank", LN_NUMBER, LN_KEY },
				      [THREAD_PROCESS] = { "process", LN_NUMBER, LN_KEY },
				      [THREAD_NUMBER] = { "number", LN_NUMBER, LN_KEY },
				      [THREAD_NAME] = { "name", LN_STRING, LN_KEY },
				      [THREAD_LOST] = { "lost", LN_NUMBER, LN_KEY },
				      [THREAD_COMPLETE] = { "complete", LN_NUMBER, LN_KEY },
				      [THREAD_RAN_ON] = { "ran_on", LN_NUMBER, LN_KEY },
				      [THREAD_ENDED] = { "ended", LN_NUMBER, LN_KEY },
				      [THREAD_JUMPS] = { "jumps", LN_NUMBER, LN_KEY },
				      [THREAD_ENTERED] = { "entered", LN_NUMBER, LN_KEY } } },
	[TEXT_GROUP] = { "group", { [GROUP_N] = { "a number", LN_NUMBER, LN_HERE },
				    [GROUP_THREADS] = { "threads", LN_STRING, LN_NEEDED },
				    [GROUP_SIZE] = { "size", LN_NUMBER, LN_KEY },
				    [GROUP_BY_RANK] = { "by_rank", LN_NUMBER, LN_KEY } } },
	[TEXT_SITE] = { "site", { [SITE_N] = { "a number", LN_NUMBER, LN_HERE },
				  [SITE_KIND] = { "kind", LN_STRING, LN_NEEDED },
				  [SITE_NAME] = { "name", LN_STRING, LN_NEEDED },
				  [SITE_FILE] = { "file", LN_STRING, LN_KEY },
				  [SITE_LINE] = { "line", LN_NUMBER, LN_KEY },
				  [SITE_COLUMN] = { "column", LN_NUMBER, LN_KEY },
				  [SITE_FUNCTION] = { "function", LN_STRING, LN_KEY },
				  [SITE_AUTO] = { "auto", LN_NUMBER, LN_KEY },
				  [SITE_ROLE] = { "role", LN_STRING, LN_KEY } } },
	[TEXT_LINK] = { "link", { [LINK_FROM] = { "a clock", LN_NUMBER, LN_HERE },
				  [LINK_SENT] = { "a stamp", LN_NUMBER, LN_HERE },
				  [LINK_TO] = { "a clock", LN_NUMBER, LN_HERE },
				  [LINK_RECEIVED] = { "a stamp", LN_NUMBER, LN_HERE } } },
	[TEXT_DAMAGED] = { "damaged", { { 0 } } },
	[TEXT_NOTE] = { "note", { { "a text", LN_STRING, LN_HERE } } },
	[TEXT_WITHOUT] = { "without", { { "kinds", LN_STRING, LN_HERE } } },
	[TEXT_LOST] = { "lost", { [LOST_THREAD] = { "a thread", LN_NUMBER, LN_HERE },
				  [LOST_COUNT] = { "a count", LN_NUMBER, LN_HERE } } },
	[TEXT_SCHED] = { "sched", { [SCHED_THREAD] = { "a thread", LN_NUMBER, LN_HERE },
				    [SCHED_FROM] = { "a stamp", LN_NUMBER, LN_HERE },
				    [SCHED_TO] = { "a stamp", LN_NUMBER, LN_HERE },
				    [SCHED_CPU] = { "cpu", LN_NUMBER, LN_KEY },
				    [SCHED_DELAY] = { "delay", LN_NUMBER, LN_KEY },
				    [SCHED_INVOLUNTARY] = { "involuntary", LN_NUMBER, LN_KEY },
				    [SCHED_MOVES] = { "moves", LN_NUMBER, LN_KEY },
				    [SCHED_LAST] = { "last", LN_NUMBER, LN_KEY } } },
};

bool text_is_event(char *line, char **at)
{
	*at = line + strspn(line, " \t");
	if (**at != 'e' || ((*at)[1] != ' ' && (*at)[1] != '\t'))
		return false;
	*at += 2;
	return true;
}

static char *wrong_word(const char *expected, const char *found)
{
	char *quoted = found ? ln_quote(found) : mem_copy("the end of the line");
	char *diagnostic = mem_format("expected %s, found %s", expected, quoted);
	free(quoted);
	return diagnostic;
}

static char *event_number(char **at, const char *what, uint64_t *number)
{
	char *word = ln_word(at);
	return word && ln_number(word, number) ? NULL : wrong_word(what, word);
}

static bool event_op(const char *word, enum dprof_op *op)
{
	static const char *const words[] = {
		[DPROF_ENTER] = "enter", [DPROF_EXIT] = "exit", [DPROF_POINT] = "point"
	};
	for (unsigned i = 0; i < sizeof words / sizeof *words; i++)
		if (strcmp(word, words[i]) == 0) {
			*op = (enum dprof_op)i;
			return true;
		}
	return false;
}

static enum dprof_key event_key(const char *word)
{
	for (int key = DPROF_KEY_NONE + 1; key < DPROF_KEY_COUNT; key++)
		if (strcmp(word, tr_key_word((enum dprof_key)key)) == 0)
			return (enum dprof_key)key;
	return DPROF_KEY_NONE;
}

static char *event_argument(char *word, struct text_event *out)
{
	char *equals = strchr(word, '=');
	if (!equals)
		return wrong_word("key=number", word);
	*equals = 0;
	enum dprof_key key = event_key(word);
	if (key == DPROF_KEY_NONE)
		return wrong_word("a key of an event (group seq peer tag bytes id thread role)",
				  word);
	for (unsigned i = 0; i < out->nargs; i++)
		if (out->args[i].key == key)
			return wrong_word("each key once", word);
	struct tr_arg *arg = &out->args[out->nargs++];
	arg->key = key;
	return ln_number(equals + 1, &arg->value)
		       ? NULL
		       : wrong_word("a number of at most 64 bits", equals + 1);
}

char *text_event(char *at, struct text_event *out)
{
	char *wrong, *word;
	out->nargs = 0;
	if ((wrong = event_number(&at, "the number of a thread", &out->thread)) ||
	    (wrong = event_number(&at, "a stamp of at most 64 bits", &out->stamp)))
		return wrong;
	word = ln_word(&at);
	out->no_site = word && strcmp(word, "-") == 0;
	out->site = 0;
	if (!word || (!out->no_site && !ln_number(word, &out->site)))
		return wrong_word("the number of a site", word);
	word = ln_word(&at);
	if (!word || !event_op(word, &out->op))
		return wrong_word("enter, exit or point", word);
	while (!wrong && (word = ln_word(&at)))
		wrong = event_argument(word, out);
	return wrong;
}

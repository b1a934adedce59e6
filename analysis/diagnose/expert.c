/* SPDX-License-Identifier: MIT
 *
 * expert.c - see expert.h. */
#include "analysis/diagnose/expert.h"

#include <clips/clips.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "analysis/base/memory.h"

#define MOST_STEPS 100000 /* rules that are applied: some hundred are, of any run */
#define MOST_TURNS 1000000 /* of loops, in all of them, and functions that are called: rules of ours need some thousand */
#define MOST_DEPTH 1000   /* functions within functions: of many more CLIPS has no room */

struct expert {
	void *clips;
	struct expert_text { char *text; size_t length, room; } printed, said; /* by rules; and by CLIPS, of what is wrong,
										  since it was last looked at */
	char **errors; size_t nerrors;
	const char *file;          /* that is being loaded, or NULL */
	unsigned turns;            /* so far */
	bool halted;               /* for too many of them; it has been said */
};

#define ROUTER "dprof"
#define BELOW_CAPTURE 30 /* CLIPS has a router of its own, of 40, that takes what is wrong with a file */

static struct expert *of_clips(void *clips)
{
	return GetEnvironmentRouterContext(clips);
}

static void append(struct expert_text *to, const char *text)
{
	size_t n = strlen(text);
	if (to->length + n >= to->room) {
		to->room = 2 * (to->length + n) + 1;
		to->text = mem_resize(to->text, to->room, 1);
	}
	memcpy(to->text + to->length, text, n + 1);
	to->length += n;
}

static void forget_said(struct expert *e)
{
	e->said.length = 0;
	append(&e->said, "");
}

static void take_error(struct expert *e, char *text)
{
	*MEM_GROW(e->errors, e->nerrors) = text;
	forget_said(e);
}

/* ---- Loops without an end -------------------------------------------------------------------- */

/* In what: a rule, what a file defines, or what rules ask of facts. To be freed. */
static char *where_it_is(const struct expert *e)
{
	struct defrule *rule = EngineData(e->clips)->ExecutingRule;
	if (e->file)
		return mem_format("%s", e->file);
	return rule ? mem_format("rule %s", EnvGetDefruleName(e->clips, rule)) : mem_copy("what rules ask of facts");
}

static void halt(struct expert *e, const char *what)
{
	SetHaltExecution(e->clips, TRUE);
	if (e->halted)
		return;
	e->halted = true;
	char *where = where_it_is(e);
	take_error(e, mem_format("%s: %s", where, what));
	free(where);
}

#define AS_TEXT(x) #x
#define NUMBER(x)  AS_TEXT(x)

/* CLIPS calls it at each turn of a loop, and as functions are called. */
static void take_turn(void *clips)
{
	struct expert *e = GetEnvironmentContext(clips);
	if (EvaluationData(clips)->CurrentEvaluationDepth > MOST_DEPTH)
		halt(e, "a function that calls itself came to no end: " NUMBER(MOST_DEPTH) " were entered");
	else if (e->halted || ++e->turns > MOST_TURNS)
		halt(e, "a loop came to no end: " NUMBER(MOST_TURNS) " turns were made");
}

/* ---- What CLIPS says ------------------------------------------------------------------------- */

static int takes(void *clips, const char *to)
{
	static const char *const all[] = { "stdout", "stderr", "wwarning", "werror", "wdisplay", "wdialog", "wtrace", "wprompt" };
	(void)clips;
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		if (strcmp(to, all[i]) == 0)
			return TRUE;
	return FALSE;
}

/* As functions are called CLIPS tells of each (expert_open). */
static int print(void *clips, const char *to, const char *text)
{
	struct expert *e = of_clips(clips);
	if (strcmp(to, "wtrace") == 0)
		take_turn(clips);
	else
		append(strcmp(to, "stdout") == 0 ? &e->printed : &e->said, text);
	return TRUE;
}

/* Of a message in several lines that one which begins with "[": what is wrong; where there is none, the first. */
static char *first_line(const char *message)
{
	const char *from = strchr(message, '[');
	from = from ? from : message + strspn(message, "\n ");
	return mem_format("%.*s", (int)strcspn(from, "\n"), from);
}

static void note_syntax(void *clips, const char *file, const char *warning, const char *error, long line)
{
	struct expert *e = of_clips(clips);
	(void)file;
	if (warning && *warning && !(error && *error))
		return;
	char *what = first_line(error ? error : "");
	take_error(e, mem_format("%s:%ld: %s", e->file, line, what));
	free(what);
}

/* What is wrong with a rule as it is applied. */
static bool take_said(struct expert *e, const char *where)
{
	if (!e->said.length)
		return false;
	char *what = first_line(e->said.text);
	take_error(e, mem_format("%s: %s", where, what));
	free(what);
	return true;
}

/* ---- The function of ours -------------------------------------------------------------------- */

static void *shown(void *clips)
{
	struct interval x = { EnvRtnDouble(clips, 1), EnvRtnDouble(clips, 2) };
	int decimals = EnvRtnArgCount(clips) > 2 ? (int)EnvRtnLong(clips, 3) : 1;
	if (!(x.lo <= x.hi))
		x.lo = x.hi;
	return EnvAddSymbol(clips, interval_shown(x, decimals < 0 ? 0 : decimals > 9 ? 9 : decimals).text);
}

/* ---- Opening --------------------------------------------------------------------------------- */

/* Would end this program without a word; or touch files, as no rule need do; or have CLIPS tell of no calls. */
static char *not_for_rules[] = {
	"exit", "system", "open", "close", "remove", "rename", "save", "bsave", "save-facts",
	"load", "load*", "bload", "load-facts", "batch", "batch*", "dribble-on", "watch", "unwatch"
};

static const char *const calls_told[] = { "deffunctions", "generic-functions", "methods", "message-handlers" };

struct expert *expert_open(void)
{
	struct expert *e = mem_resize(NULL, 1, sizeof *e);
	*e = (struct expert){ .clips = CreateEnvironment() };
	append(&e->printed, "");
	forget_said(e);
	SetEnvironmentContext(e->clips, e);
	EnvAddPeriodicFunction(e->clips, ROUTER, take_turn, 0);
	for (size_t i = 0; i < sizeof calls_told / sizeof *calls_told; i++)
		EnvWatch(e->clips, calls_told[i]);
	EnvAddRouterWithContext(e->clips, ROUTER, BELOW_CAPTURE, takes, print, NULL, NULL, NULL, e);
	EnvSetParserErrorCallback(e->clips, note_syntax);
	for (size_t i = 0; i < sizeof not_for_rules / sizeof *not_for_rules; i++)
		UndefineFunction(e->clips, not_for_rules[i]);
	EnvDefineFunction2(e->clips, "shown", 's', (int (*)(void *))(void (*)(void))shown, "shown", "23n");
	return e;
}

void expert_close(struct expert *e)
{
	DestroyEnvironment(e->clips);
	for (size_t i = 0; i < e->nerrors; i++)
		free(e->errors[i]);
	free(e->errors);
	free(e->printed.text);
	free(e->said.text);
	free(e);
}

/* CLIPS would read no further than to a NUL byte, and say nothing. False: there is one, which is an error. */
static bool is_text(struct expert *e, const char *file)
{
	FILE *f = fopen(file, "r");
	int c = 1, line = 1;
	while (f && (c = getc(f)) > 0)
		line += c == '\n';
	if (f)
		fclose(f);
	if (c == 0)
		take_error(e, mem_format("%s:%d: expected text, found a NUL byte", file, line));
	return c != 0;
}

bool expert_load(struct expert *e, const char *file)
{
	size_t before = e->nerrors;
	struct stat found;
	bool is_file = stat(file, &found) == 0 && S_ISREG(found.st_mode);
	if (is_file && !is_text(e, file))
		return false;
	e->file = file;
	int loaded = is_file ? EnvLoad(e->clips, file) : 0;
	if (loaded == 0)
		take_error(e, mem_format("%s: expected a file of rules that can be read", file));
	else if (loaded < 0 && e->nerrors == before)
		take_error(e, mem_format("%s: expected rules as CLIPS has them", file));
	e->file = NULL;
	forget_said(e);
	return e->nerrors == before;
}

/* ---- Facts ----------------------------------------------------------------------------------- */

static void put_number(struct expert *e, struct fact *f, const char *slot, double x)
{
	DATA_OBJECT value;
	SetType(value, FLOAT);
	SetValue(value, EnvAddDouble(e->clips, x));
	EnvPutFactSlot(e->clips, f, slot, &value);
}

static void put_range(struct expert *e, struct fact *f, const char *slot, struct interval x)
{
	char *lo = mem_format("%s-lo", slot), *hi = mem_format("%s-hi", slot);
	put_number(e, f, lo, x.lo);
	put_number(e, f, hi, x.hi);
	free(lo);
	free(hi);
}

static void put(struct expert *e, struct fact *f, const struct expert_slot *s)
{
	DATA_OBJECT value;
	switch (s->type) {
	case EXPERT_IS_RANGE:
		put_range(e, f, s->name, s->range);
		return;
	case EXPERT_IS_COUNT:
		SetType(value, INTEGER);
		SetValue(value, EnvAddLong(e->clips, s->count));
		break;
	default:
		SetType(value, s->type == EXPERT_IS_WORD ? SYMBOL : STRING);
		SetValue(value, EnvAddSymbol(e->clips, s->text ? s->text : ""));
	}
	EnvPutFactSlot(e->clips, f, s->name, &value);
}

void expert_fact(struct expert *e, const char *template, const struct expert_slot *slots, size_t count)
{
	void *known = EnvFindDeftemplate(e->clips, template);
	struct fact *f = known ? EnvCreateFact(e->clips, known) : NULL;
	if (!f)
		return;
	for (size_t i = 0; i < count; i++)
		put(e, f, &slots[i]);
	EnvAssignFactSlotDefaults(e->clips, f);
	EnvAssert(e->clips, f);
}

bool expert_run(struct expert *e)
{
	size_t before = e->nerrors;
	long long steps = EnvRun(e->clips, MOST_STEPS);
	if (e->halted)
		forget_said(e);
	take_said(e, "as rules were applied");
	if (steps >= MOST_STEPS) {
		void *next = EnvGetNextActivation(e->clips, NULL);
		take_error(e, mem_format("rules came to no end: %d were applied, and rule %s was the next", MOST_STEPS,
					 next ? EnvGetActivationName(e->clips, next) : "none"));
	}
	return e->nerrors == before && !e->halted;
}

/* ---- Answers --------------------------------------------------------------------------------- */

bool expert_next(struct expert *e, const char *template, struct expert_found *f)
{
	void *known = EnvFindDeftemplate(e->clips, template);
	f->fact = known ? EnvGetNextFactInTemplate(e->clips, known, f->fact) : NULL;
	return f->fact != NULL;
}

const char *expert_text(struct expert *e, const struct expert_found *f, const char *slot)
{
	DATA_OBJECT value;
	bool text = EnvGetFactSlot(e->clips, f->fact, slot, &value) && (GetType(value) == SYMBOL || GetType(value) == STRING);
	return text ? DOToString(value) : "";
}

double expert_number(struct expert *e, const struct expert_found *f, const char *slot)
{
	DATA_OBJECT value;
	if (!EnvGetFactSlot(e->clips, f->fact, slot, &value))
		return 0;
	return GetType(value) == FLOAT ? DOToDouble(value) : GetType(value) == INTEGER ? (double)DOToLong(value) : 0;
}

int64_t expert_count(struct expert *e, const struct expert_found *f, const char *slot)
{
	DATA_OBJECT value;
	bool count = EnvGetFactSlot(e->clips, f->fact, slot, &value) && GetType(value) == INTEGER;
	return count ? DOToLong(value) : 0;
}

char *const *expert_errors(const struct expert *e, size_t *count)
{
	*count = e->nerrors;
	return e->errors;
}

const char *expert_printed(const struct expert *e)
{
	return e->printed.text;
}

/* SPDX-License-Identifier: MIT
 *
 * expert.c - see expert.h. */
#include "analysis/diagnose/expert.h"

#include <clips/clips.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "analysis/base/memory.h"

#define MOST_STEPS 100000 /* rules that are applied: some hundred are, of any run */

struct expert {
	void *clips;
	char *printed;             /* by rules */
	char *said;                /* by CLIPS, of what is wrong, since it was last looked at */
	char **errors; size_t nerrors;
	const char *file;          /* that is being loaded */
};

#define ROUTER "dprof"
#define BELOW_CAPTURE 30 /* CLIPS has a router of its own, of 40, that takes what is wrong with a file */

static struct expert *of_clips(void *clips)
{
	return GetEnvironmentRouterContext(clips);
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

static void append(char **to, const char *text)
{
	char *longer = mem_format("%s%s", *to, text);
	free(*to);
	*to = longer;
}

static int print(void *clips, const char *to, const char *text)
{
	struct expert *e = of_clips(clips);
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

static void take_error(struct expert *e, char *text)
{
	*MEM_GROW(e->errors, e->nerrors) = text;
	free(e->said);
	e->said = mem_copy("");
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
	if (!*e->said)
		return false;
	char *what = first_line(e->said);
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

/* Would end this program without a word; or touch files, as no rule need do. */
static char *not_for_rules[] = {
	"exit", "system", "open", "close", "remove", "rename", "save", "bsave", "save-facts",
	"load", "load*", "bload", "load-facts", "batch", "batch*", "dribble-on"
};

struct expert *expert_open(void)
{
	struct expert *e = mem_resize(NULL, 1, sizeof *e);
	*e = (struct expert){ .clips = CreateEnvironment(), .printed = mem_copy(""), .said = mem_copy("") };
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
	free(e->printed);
	free(e->said);
	free(e);
}

bool expert_load(struct expert *e, const char *file)
{
	size_t before = e->nerrors;
	struct stat found;
	e->file = file;
	int loaded = stat(file, &found) == 0 && S_ISREG(found.st_mode) ? EnvLoad(e->clips, file) : 0;
	if (loaded == 0)
		take_error(e, mem_format("%s: expected a file of rules that can be read", file));
	else if (loaded < 0 && e->nerrors == before)
		take_error(e, mem_format("%s: expected rules as CLIPS has them", file));
	free(e->said);
	e->said = mem_copy("");
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
	take_said(e, "as rules were applied");
	if (steps >= MOST_STEPS)
		take_error(e, mem_format("rules came to no end: %d were applied", MOST_STEPS));
	return e->nerrors == before;
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
	return e->printed;
}

/* SPDX-License-Identifier: MIT
 *
 * diagnose.c - see diagnose.h. */
#include "analysis/diagnose/diagnose.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/memory.h"
#include "analysis/base/order.h"
#include "analysis/base/shown.h"
#include "analysis/diagnose/list_names.h"
#include "analysis/diagnose/models.h"
#include "analysis/diagnose/rules.h"
#include "analysis/trace/names.h"
#include "analysis/trace/sched.h"

#define MILLION 1000000

#define PARTS_ENOUGH 90 /* percent of all threads' time */
#define PARTS_LEAST  50 /* if they are less, a model of the whole run, or none, is better */

/* ---- What rules found ------------------------------------------------------------------------ */

static uint32_t site_of(const struct trace *trace, int64_t number, uint32_t otherwise)
{
	return number >= 0 && (uint64_t)number < trace->nsites ? (uint32_t)number : otherwise;
}

static uint32_t thread_of(const struct trace *trace, int64_t number)
{
	return number >= 0 && (uint64_t)number < trace->nthreads ? (uint32_t)number : UINT32_MAX;
}

/* Of a cost that cannot be one, as a rule may have it, nothing is known. */
static struct interval cost_of(struct expert *e, const struct expert_found *f)
{
	struct interval x = { expert_number(e, f, "cost-lo"), expert_number(e, f, "cost-hi") };
	x.lo = fmin(fmax(x.lo, 0), 100);
	x.hi = fmin(fmax(x.hi, 0), 100);
	return x.lo <= x.hi ? x : (struct interval){ 0, 100 };
}

static uint32_t percent_of(int64_t percent)
{
	return percent < 1 ? 1 : percent > 100 ? 100 : (uint32_t)percent;
}

static void take_finding(struct diagnosis *d, const struct trace *trace, struct expert *e, const struct expert_found *f,
			 size_t part)
{
	struct interval cost = cost_of(e, f);
	double least = expert_number(e, f, "least");
	if (!(cost.hi >= least && cost.hi > 0))
		return;
	*MEM_GROW(d->findings, d->nfindings) = (struct diagnosis_finding){
		.part = part, .cause = shown_copy(expert_text(e, f, "cause")), .what = shown_copy(expert_text(e, f, "what")),
		.suggestion = shown_copy(expert_text(e, f, "suggestion")), .cost = cost, .least = least,
		.proved = cost.lo >= least && cost.lo > 0 && strcmp(expert_text(e, f, "sure"), "yes") == 0 && !trace_lacks(trace),
		.site = site_of(trace, expert_count(e, f, "site"), TR_NO_SITE),
		.thread = thread_of(trace, expert_count(e, f, "thread")),
		.asked = strcmp(expert_text(e, f, "ask"), "yes") == 0,
		.ask_site = site_of(trace, expert_count(e, f, "ask-site"), TR_ALL_WORK),
		.ask_thread = thread_of(trace, expert_count(e, f, "ask-thread")),
		.ask_percent = percent_of(expert_count(e, f, "ask-percent")),
	};
}

static void forget_finding(struct diagnosis_finding *f)
{
	free(f->cause);
	free(f->what);
	free(f->suggestion);
}

static int by_cost(const void *a, const void *b)
{
	const struct diagnosis_finding *x = a, *y = b;
	double p = x->cost.lo + x->cost.hi, q = y->cost.lo + y->cost.hi;
	if (p != q)
		return p > q ? -1 : 1;
	int order = strcmp(x->cause, y->cause);
	return order ? order : ORDER(x->site, y->site);
}

static int by_level(const void *a, const void *b)
{
	const struct diagnosis_line *x = a, *y = b;
	if (x->part != y->part)
		return x->part < y->part ? -1 : 1;
	if (x->level != y->level)
		return x->level < y->level ? -1 : 1;
	if (x->order != y->order)
		return x->order < y->order ? -1 : 1;
	return strcmp(x->text, y->text);
}

static void take_answers(struct diagnosis *d, const struct trace *trace, struct expert *e, size_t part)
{
	for (struct expert_found f = { 0 }; expert_next(e, "finding", &f);)
		take_finding(d, trace, e, &f, part);
	for (struct expert_found f = { 0 }; expert_next(e, "explanation", &f);)
		*MEM_GROW(d->lines, d->nlines) =
			(struct diagnosis_line){ part, (int)expert_count(e, &f, "level"), expert_number(e, &f, "order"),
						 shown_copy(expert_text(e, &f, "text")) };
}

static void take_errors(struct diagnosis *d, const struct expert *e)
{
	char *before = d->printed;
	size_t n;
	char *const *errors = expert_errors(e, &n);
	for (size_t i = 0; i < n; i++)
		*MEM_GROW(d->errors, d->nerrors) = mem_copy(errors[i]);
	d->printed = mem_format("%s%s", before ? before : "", expert_printed(e));
	free(before);
}

/* ---- Rules ----------------------------------------------------------------------------------- */

static bool load_installed(struct expert *e, const char *name)
{
	char *file = rules_file(name, "clp");
	bool loaded = expert_load(e, file);
	free(file);
	return loaded;
}

/* Those of the user's come last, so that they may replace others. */
static bool load(struct expert *e, const char *model, const char *users)
{
	return load_installed(e, "facts") && load_installed(e, model) && (!users || expert_load(e, users));
}

/* ---- One model -------------------------------------------------------------------------------- */

/* The one that was asked for, if it fits; else the generic one. */
static void choose_model(struct patient *p, const struct diagnosis_model *asked)
{
	struct diagnosis *d = p->d;
	p->model = &model_generic;
	if (asked == &model_generic)
		return;
	pattern_open(&p->pattern, p->graph->trace, p->calls);
	const struct diagnosis_model *fits = asked == &model_bsp && model_has_supersteps(p) ? asked : model_fitting(p, asked);
	if (fits && (!asked || asked == fits)) {
		p->model = fits;
		d->why = fits->why(p);
	} else if (asked) {
		d->why = mem_format("%s does not fit: %s%s%s", asked->name, asked->why_not(p), fits ? "; what does is " : "",
				    fits ? fits->name : "");
	} else if (p->pattern.contradiction) {
		d->why = mem_copy(p->pattern.contradiction);
	}
}

/* Rules of its model, and the user's, if any. False: they cannot be used. */
static bool apply_rules(struct patient *p, const char *users)
{
	struct expert *e = expert_open();
	bool loaded = load(e, p->model->name, users);
	if (loaded && p->calls->nthreads > 0) {
		facts_tell(&p->facts, e);
		if (p->model->tell)
			p->model->tell(p, e);
		expert_run(e);
		take_answers(p->d, p->graph->trace, e, p->number);
	}
	take_errors(p->d, e);
	expert_close(e);
	return loaded;
}

static bool all_are_in_model(const struct patient *p, const bool *in)
{
	for (uint32_t t = 0; t < p->graph->trace->nthreads; t++)
		if (p->graph->threads[t].nevents && !in[t])
			return false;
	return true;
}

/* The model's own rules have found the same, among the first so many. */
static bool is_found_again(const struct diagnosis *d, size_t first, const struct diagnosis_finding *f)
{
	bool again = false;
	for (size_t i = 0; i < first && !again; i++)
		again = d->findings[i].part == f->part && !strcmp(d->findings[i].cause, f->cause) && !strcmp(d->findings[i].what, f->what);
	return again;
}

/* The model tells of what this finding of the generic one is about: it is of what no thread does alone; or of a thread of the
 * model, and not of a region that is none of the model's, for that one. */
static bool model_tells_of(const struct patient *p, const struct diagnosis_model *model, const bool *in,
			   const struct diagnosis_finding *f)
{
	if (f->thread >= p->graph->trace->nthreads)
		return true;
	return in[f->thread] &&
	       (!model->tells_of || !tr_is(p->graph->trace, f->site, OP_REGION) || model->tells_of(p, f->thread, f->site));
}

/* What rules of the generic model find of other threads, and of other work, is kept. False: they cannot be used. */
static bool examine_others(struct patient *p, const bool *in)
{
	struct diagnosis *d = p->d;
	const struct diagnosis_model *model = p->model;
	size_t kept = d->nfindings, first = kept, lines = d->nlines;
	p->model = &model_generic;
	bool loaded = apply_rules(p, NULL);
	for (size_t i = first; i < d->nfindings; i++) {
		struct diagnosis_finding f = d->findings[i];
		if (!model_tells_of(p, model, in, &f) && !is_found_again(d, first, &f))
			d->findings[kept++] = f;
		else
			forget_finding(&f);
	}
	d->nfindings = kept;
	while (d->nlines > lines)
		free(d->lines[--d->nlines].text); /* how one comes to that is told of the model */
	return loaded;
}

/* A model is of what processes do with each other, by their first threads, or of threads that come together or take tasks. What
 * others cost, and processes that have nothing to do with it, and what is done outside of that, is found by the generic one. */
static bool examine_other_threads(struct patient *p)
{
	bool *in = mem_zeroed(p->graph->trace->nthreads + 1, sizeof *in);
	p->model->find_threads(p, in);
	bool loaded = (!p->model->tells_of && all_are_in_model(p, in)) || examine_others(p, in);
	free(in);
	return loaded;
}

/* ---- Parts ----------------------------------------------------------------------------------- */

/* To be freed. */
static char *who_is_in(const struct trace *trace, const struct part *part)
{
	char *names = NULL;
	for (size_t i = 0; i < list_names_shown(part->n); i++)
		names = list_names_add(names, i, part->n, name_of_process(trace, part->processes[i]).text);
	return list_names_end(names, part->n);
}

static struct patient patient_of_part(const struct patient *whole, const struct part *part, size_t number)
{
	return (struct patient){ .d = whole->d, .graph = whole->graph, .waits = whole->waits, .calls = &part->calls,
				 .doubts = whole->doubts, .last = whole->last, .part = part, .number = number,
				 .pattern = part->pattern };
}

/* `asked`: no other model, or NULL: any. */
static void examine_part(struct patient *p, const struct patient *whole, const struct parts *parts,
			 const struct diagnosis_model *asked)
{
	part_facts_open(&p->of_part, &whole->facts, p->graph, p->last, parts, p->number - 1);
	p->facts = p->of_part.facts;
	p->model = model_fitting(p, asked);
	p->model = asked && p->model != asked ? NULL : p->model;
}

/* Percent of all threads' time in parts that have a model, at least. */
static double share_with_models(const struct patient *whole, const struct parts *parts, const struct patient *of)
{
	frz_time sum = { 0, 0 };
	for (size_t i = 0; i < parts->n; i++)
		if (of[i].model)
			sum = time_add(sum, time_times(parts->v[i].length, parts->v[i].n));
	return facts_share(&whole->facts, sum).lo;
}

static void note_part(struct diagnosis *d, const struct trace *trace, const struct patient *p)
{
	char *why = p->model ? p->model->why(p) : mem_copy(p->pattern.why);
	*MEM_GROW(d->parts, d->nparts) =
		(struct diagnosis_part){ p->model ? p->model->name : NULL, who_is_in(trace, p->part), why, p->part->begins, p->part->length };
}

/* Parts are better than one model of the run if some have another one, and if that fits, if they are nearly all. */
static bool are_better(const struct patient *whole, const struct parts *parts, const struct patient *of,
		       const struct diagnosis_model *asked, double share)
{
	bool fits = whole->model != &model_generic, other = false;
	for (size_t i = 0; i < parts->n; i++)
		other |= of[i].model && of[i].model != whole->model;
	return other && share >= (asked ? 1 : fits && whole->model != &model_bsp ? PARTS_ENOUGH : PARTS_LEAST);
}

static void take_parts(struct patient *whole, const struct parts *parts, struct patient *of, bool *loaded)
{
	for (size_t i = 0; i < parts->n; i++) {
		note_part(whole->d, whole->graph->trace, &of[i]);
		if (of[i].model && *loaded)
			*loaded = apply_rules(&of[i], NULL);
	}
	whole->model = &model_several;
	whole->d->model = whole->model->name;
	free(whole->d->why);
	whole->d->why = mem_copy("no one fits all of the run, but parts of it have models of their own");
}

/* Each part by its model. `asked`: only parts with that one, or NULL. False: that is no better than one model of the whole run. */
static bool examine_parts(struct patient *whole, const struct diagnosis_model *asked, const char *users, bool *loaded)
{
	struct parts parts;
	parts_open(&parts, whole->graph, whole->calls);
	struct patient *of = mem_resize(NULL, parts.n + 1, sizeof *of);
	for (size_t i = 0; i < parts.n; i++) {
		of[i] = patient_of_part(whole, &parts.v[i], i + 1);
		examine_part(&of[i], whole, &parts, asked);
	}
	double share = share_with_models(whole, &parts, of);
	bool better = are_better(whole, &parts, of, asked, share);
	if (better)
		take_parts(whole, &parts, of, loaded);
	if (better && *loaded && (users || share < PARTS_ENOUGH)) {
		whole->model = &model_generic;
		*loaded = apply_rules(whole, users);
	} else if (better && *loaded) {
		*loaded = examine_other_threads(whole);
	}
	for (size_t i = 0; i < parts.n; i++)
		patient_close(&of[i]);
	free(of);
	parts_close(&parts);
	return better;
}

/* But where one model was asked for that fits the whole run. */
static bool may_have_parts(const struct patient *p, const struct diagnosis_model *asked)
{
	if (p->calls->nthreads == 0 || asked == &model_generic)
		return false;
	return !asked || (p->pattern.shape == SHAPE_NONE && p->model != asked);
}

static void sort_answers(struct diagnosis *d)
{
	if (d->nfindings)
		qsort(d->findings, d->nfindings, sizeof *d->findings, by_cost);
	if (d->nlines)
		qsort(d->lines, d->nlines, sizeof *d->lines, by_level);
}

/* False: rules cannot be used. */
static bool examine(struct patient *p, const struct options *o)
{
	struct graph_last last;
	const struct diagnosis_model *asked = o->model ? model_named(o->model) : NULL; /* "auto" is none */
	bool loaded = true;
	graph_last_open(&last, p->graph);
	p->last = &last;
	p->facts = facts_of(p->graph, p->waits, p->calls, p->doubts);
	p->d->nthreads = p->calls->nthreads;
	choose_model(p, asked);
	p->d->model = p->model->name;
	if (!may_have_parts(p, asked) || !examine_parts(p, asked, o->rules, &loaded)) {
		loaded = apply_rules(p, o->rules);
		if (loaded && p->model != &model_generic)
			loaded = examine_other_threads(p);
	}
	sort_answers(p->d);
	graph_last_close(&last);
	pattern_close(&p->pattern);
	patient_close(p);
	return loaded;
}

/* ---- What was not recorded ------------------------------------------------------------------- */

/* Seconds of a thread, or of all: at most blocked, or surely, and at most hidden. */
struct doubt_sum { double most, surely, hidden; };

static void add_doubt(struct doubt_sum *sum, const struct diagnosis_doubts *doubts, uint32_t thread)
{
	sum->most += doubts->most_s[thread];
	sum->surely += doubts->surely[thread] ? doubts->most_s[thread] : 0;
}

static struct doubt_sum doubt_sum_of(const struct diagnosis_doubts *doubts, const struct trace *trace)
{
	struct doubt_sum sum = { 0, 0, 0 };
	for (uint32_t i = 0; i < trace->nthreads; i++) {
		add_doubt(&sum, doubts, i);
		sum.hidden += doubts->blocked[i].hidden_s.hi;
	}
	return sum;
}

/* As long as a thread may have waited where it seems to have worked, all others may have waited for whom it waited for; and
 * whatever a thread did where it seems to wait, for that. A finding of no thread's own may be of any. */
static void doubt_finding(struct diagnosis_finding *f, const struct diagnosis_doubts *doubts, const struct trace *trace,
			  const struct doubt_sum *all, double run_s)
{
	double percent = run_s > 0 ? 100 / run_s * (1 + SCHED_NOMINAL_ERROR) : INFINITY;
	struct doubt_sum own = { 0, 0, 0 };
	if (f->thread < trace->nthreads)
		add_doubt(&own, doubts, f->thread);
	else
		own = *all;
	if (own.most + all->hidden > 0)
		f->proved &= f->cost.lo - (own.most + all->hidden) * percent >= f->least;
	if (own.surely + all->hidden > 0)
		f->cost.lo = fmax(0, f->cost.lo - (own.surely + all->hidden) * percent);
	if (all->surely + all->hidden > 0)
		f->cost.hi = fmin(100, f->cost.hi + (all->surely + all->hidden) * percent);
}

static void doubt(struct diagnosis *d, const struct graph *g, const struct diagnosis_doubts *doubts)
{
	const struct trace *trace = g->trace;
	double run_s = times_seconds(g->times, g->times->time_base[trace->threads[0].clock], d->span.length).lo;
	struct doubt_sum all = doubt_sum_of(doubts, trace);
	for (size_t i = 0; i < d->nfindings; i++)
		doubt_finding(&d->findings[i], doubts, trace, &all, run_s);
}

/* Whatever is wrong with the trace may change any of it. */
void diagnosis_prove_nothing(struct diagnosis *d)
{
	for (size_t i = 0; i < d->nfindings; i++)
		d->findings[i].proved = false;
}

static void forget_lines(struct diagnosis *d)
{
	for (size_t i = 0; i < d->nlines; i++)
		free(d->lines[i].text);
	for (size_t i = 0; i < d->nparts; i++) {
		free(d->parts[i].who);
		free(d->parts[i].why);
	}
	free(d->parts);
	free(d->lines);
	free(d->metrics);
	free(d->why);
	free(d->printed);
}

static void forget_findings(struct diagnosis *d)
{
	for (size_t i = 0; i < d->nfindings; i++)
		forget_finding(&d->findings[i]);
	free(d->findings);
}

/* What has no sites of its own may have marks, and outside of regions its threads work, or not. */
static const char *why_unknown(const struct graph *g)
{
	bool unmarked = false;
	for (size_t i = 0; i < g->trace->nprocesses; i++)
		unmarked |= g->trace->processes[i].marks_unknown;
	return g->nlosses ? "Records are missing" : unmarked ? "Places in the program are missing" : NULL;
}

/* Errors of rules are kept. */
static void find_nothing(struct diagnosis *d, const char *why)
{
	forget_findings(d);
	forget_lines(d);
	*d = (struct diagnosis){ .unknown = why, .span = d->span, .errors = d->errors, .nerrors = d->nerrors,
				 .printed = mem_copy("") };
}

/* ---- What it would buy ----------------------------------------------------------------------- */

static struct coz_location who_of(const struct trace *trace, uint32_t thread)
{
	if (thread == UINT32_MAX)
		return COZ_ALL;
	const struct tr_thread *t = &trace->threads[thread];
	bool ranked = t->rank >= 0;
	return (struct coz_location){ ranked ? t->rank : COZ_ANY, ranked ? COZ_ANY : (int64_t)trace->processes[t->process].pid,
				      t->number };
}

/* Of the most expensive findings: the others are not worth much. */
size_t diagnosis_asks(struct diagnosis *d, const struct trace *trace, struct profile_more *more)
{
	size_t n = 0;
	for (size_t i = 0; i < d->nfindings; i++) {
		struct diagnosis_finding *f = &d->findings[i];
		bool all_work = f->ask_site == TR_ALL_WORK;
		f->asked &= n < PROFILE_MORE && (all_work || tr_is(trace, f->ask_site, OP_REGION));
		if (f->asked)
			more[n++] = (struct profile_more){ f->ask_site, who_of(trace, f->ask_thread), f->ask_percent * MILLION };
	}
	return n;
}

void diagnosis_take(struct diagnosis *d, const struct profile *p)
{
	size_t n = 0;
	for (size_t i = 0; i < d->nfindings; i++) {
		if (!d->findings[i].asked)
			continue;
		d->findings[i].expected = p->more[n][COZ_EXPECTED];
		d->findings[i].bought = p->more[n++][COZ_PROVED];
	}
}

static void ask_coz(struct diagnosis *d, struct graph *g, const struct diagnosis_doubts *doubts)
{
	struct profile_more more[PROFILE_MORE];
	struct profile_request request = { .who = COZ_ALL, .graph = g, .more = more, .nmore = diagnosis_asks(d, g->trace, more),
					   .hidden = doubts->hidden, .polling_sleeps_s = doubts->polling_sleeps_s };
	struct profile p;
	if (!request.nmore)
		return;
	bool *none = mem_zeroed(g->trace->nsites + 1, sizeof *none);
	request.wanted = none;
	memcpy(request.open_s, doubts->open_s, sizeof request.open_s);
	profile_open(&p, g->trace, g->times, &request);
	diagnosis_take(d, &p);
	profile_close(&p);
	free(none);
}

/* ---- All of it ------------------------------------------------------------------------------- */

static bool find(struct diagnosis *d, struct graph *g, const struct waits *waits, const struct call_profile *calls,
		 const struct diagnosis_doubts *doubts, const struct options *o)
{
	struct patient p = { .d = d, .graph = g, .waits = waits, .calls = calls, .doubts = doubts };
	*d = (struct diagnosis){ .span = graph_span(g) };
	bool loaded = examine(&p, o);
	if (g->trace->ndiagnostics > 0 || g->said.ndiagnostics > 0)
		diagnosis_prove_nothing(d);
	const char *unknown = why_unknown(g);
	if (unknown)
		find_nothing(d, unknown);
	if (loaded && d->nfindings) {
		d->if_work = doubts->if_work;
		doubt(d, g, doubts);
	}
	return loaded;
}

bool diagnosis_of_graph(struct diagnosis *d, struct graph *g, const struct waits *waits, const struct call_profile *calls,
			const struct diagnosis_doubts *doubts, const struct options *o)
{
	bool loaded = find(d, g, waits, calls, doubts, o);
	if (loaded)
		ask_coz(d, g, doubts);
	return loaded;
}

bool diagnosis_find(struct diagnosis *d, struct graph *g, const struct diagnosis_doubts *doubts, const struct options *o)
{
	struct waits waits;
	struct call_profile calls;
	waits_and_delays_of_graph(&waits, g);
	calls_of_graph(&calls, g, &waits);
	bool loaded = find(d, g, &waits, &calls, doubts, o);
	calls_close(&calls);
	waits_close(&waits);
	return loaded;
}

bool diagnosis_open(struct diagnosis *d, struct trace *trace, const struct times *times, const struct diagnosis_doubts *doubts,
		    const struct options *o)
{
	struct graph g;
	graph_open(&g, trace, times);
	bool loaded = diagnosis_find(d, &g, doubts, o);
	d->said = graph_take_said(&g);
	if (loaded)
		ask_coz(d, &g, doubts);
	graph_close(&g);
	return loaded;
}

static void free_texts(char **texts, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(texts[i]);
	free(texts);
}

void diagnosis_close(struct diagnosis *d)
{
	forget_findings(d);
	forget_lines(d);
	free_texts(d->errors, d->nerrors);
	graph_said_close(&d->said);
}

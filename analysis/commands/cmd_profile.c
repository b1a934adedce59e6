/* SPDX-License-Identifier: MIT
 *
 * cmd_profile.c - dprof-analyze profile: in which regions and operations threads were, how often and for how long; by
 * call path, or as a list; operations with what they waited for; and who sent whom how much. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/base/memory.h"
#include "analysis/base/order.h"
#include "analysis/base/search.h"
#include "analysis/calls/calls.h"
#include "analysis/commands/command.h"
#include "analysis/report/clock_facts.h"
#include "analysis/report/locations.h"
#include "analysis/report/notes.h"
#include "analysis/report/relations.h"
#include "analysis/trace/names.h"

#define MOST_ROWS        12
#define SHARE_OF_NOTHING 0.1 /* percent of all threads' time; less is shown with -v */
#define MATRIX           7   /* ranks that a line has room for ... */
#define MATRIX_ROOM      66  /* ... in so many columns */
#define MATRIX_WIDTH     8   /* at least, of each */
#define PAIRS_SHOWN      10

struct profile_answer {
	const struct trace *trace;
	const struct times *times;
	uint32_t time_base;
	const struct call_profile *p;
};

static struct interval seconds(const struct profile_answer *a, frz_time ticks)
{
	return times_seconds(a->times, a->time_base, ticks);
}

/* On the page: runs of less than a second in milliseconds. */
static bool in_ms(const struct profile_answer *a)
{
	return seconds(a, a->p->span.length).hi < 1;
}

static struct interval on_page(const struct profile_answer *a, frz_time ticks)
{
	struct interval x = seconds(a, ticks);
	x = in_ms(a) ? interval_times(x, 1000) : x;
	return (struct interval){ x.lo > 0 ? x.lo : 0, x.hi };
}

static const char *unit(const struct profile_answer *a)
{
	return in_ms(a) ? "ms" : "s";
}

static bool is_operation(const struct profile_answer *a, uint32_t site)
{
	return site < a->trace->nsites && !tr_is(a->trace, site, OP_REGION);
}

#define ALL_THREADS "all threads"

static struct tab_cell name_of(const struct trace *trace, uint32_t site)
{
	if (site < trace->nsites)
		return tab_site(trace, site);
	return tab_text(site == TR_OUTSIDE ? ALL_THREADS : PLACE_NOT_KNOWN);
}

/* What was done by whoever was waited for. */
static struct tab_cell did_cell(const struct trace *trace, uint32_t did)
{
	return did < trace->nsites ? tab_site(trace, did) : tab_text(did == TR_NO_SITE ? PLACE_NOT_KNOWN : OUTSIDE_REGIONS);
}

/* ---- The data -------------------------------------------------------------------------------- */

#define SUM_KEYS                                                                                   \
	TAB_KEY("visits"), TAB_KEY("inclusive_s"), TAB_KEY("exclusive_s"), TAB_KEY("waiting_s"), TAB_KEY("transfer_s"), TAB_KEY("bytes")
#define SUM_CELLS(a, s)                                                                            \
	tab_number((s)->visits), tab_interval(seconds((a), (s)->inclusive)), tab_interval(seconds((a), (s)->exclusive)),                \
		tab_interval(seconds((a), (s)->waited)), tab_interval(seconds((a), (s)->transfer)), tab_number((s)->bytes)
#define SPREAD_KEYS                                                                                \
	TAB_KEY("threads"), TAB_KEY("least_s"), TAB_KEY("mean_s"), TAB_KEY("most_s"), TAB_KEY("imbalance_percent")
#define SPREAD_CELLS(a, s)                                                                         \
	tab_number((s)->nthreads), tab_interval(seconds((a), (s)->least)), tab_interval(seconds((a), call_mean(s))),                     \
		tab_interval(seconds((a), (s)->most)), tab_interval(call_imbalance(s))

static void fill_calls(struct reply *r, const struct profile_answer *a)
{
	static const struct tab_column columns[] = { TAB_KEY("parent"), TAB_KEY("depth"), TAB_KEY("name"), SUM_KEYS,
						     SPREAD_KEYS, { 0 } };
	reply_table(r, "calls", columns, 0);
	for (size_t i = 0; i < a->p->nnodes; i++) {
		const struct call_node *n = &a->p->nodes[i];
		reply_row(r, n->parent == CALL_ROOT ? TAB_NONE : tab_count(n->parent), tab_count(n->depth),
			  name_of(a->trace, n->site), SUM_CELLS(a, &n->spread.all), SPREAD_CELLS(a, &n->spread));
	}
	reply_end(r);
}

static void fill_each(struct reply *r, const struct profile_answer *a, uint32_t site)
{
	static const struct tab_column columns[] = { TAB_KEY("rank"), TAB_KEY("pid"), TAB_KEY("thread"), SUM_KEYS, { 0 } };
	size_t low = SEARCH(a->p->neach, middle, a->p->each[middle].site < site);
	reply_table(r, "each", columns, 0);
	for (; low < a->p->neach && a->p->each[low].site == site; low++) {
		const struct call_each *e = &a->p->each[low];
		reply_row(r, tab_count(a->trace->threads[e->thread].rank), tab_count(trace_pid(a->trace, e->thread)),
			  tab_count(a->trace->threads[e->thread].number), SUM_CELLS(a, &e->sums));
	}
	reply_end(r);
}

static void fill_flat(struct reply *r, const struct profile_answer *a)
{
	static const struct tab_column columns[] = { TAB_KEY("name"), SUM_KEYS, SPREAD_KEYS, TAB_KEY("own_s"), { 0 } };
	frz_time *own = calls_own(a->p, a->trace);
	reply_table(r, "flat", columns, 0);
	for (size_t i = 0; i < a->p->nflat; i++) {
		const struct call_flat *f = &a->p->flat[i];
		reply_row(r, name_of(a->trace, f->site), SUM_CELLS(a, &f->spread.all), SPREAD_CELLS(a, &f->spread),
			  f->site < a->trace->nsites ? tab_interval(seconds(a, own[f->site])) : TAB_NONE);
		fill_each(r, a, f->site);
	}
	reply_end(r);
	free(own);
}

static void fill_operations(struct reply *r, const struct profile_answer *a)
{
	static const struct tab_column columns[] = {
		TAB_KEY("name"), TAB_KEY("count"), TAB_KEY("seconds"), TAB_KEY("waiting_s"), TAB_KEY("transfer_s"), TAB_KEY("bytes"),
		TAB_KEY("threads"), TAB_KEY("caused_by.rank"), TAB_KEY("caused_by.pid"), TAB_KEY("caused_by.thread"),
		TAB_KEY("caused_by.region"), TAB_KEY("caused_by.seconds"), { 0 } };
	const struct trace *trace = a->trace;
	reply_table(r, "operations", columns, 0);
	for (size_t i = 0; i < a->p->nflat; i++) {
		const struct call_flat *f = &a->p->flat[i];
		const struct call_sums *s = &f->spread.all;
		const struct call_cause *c = call_cause_of(a->p, f->site);
		if (!is_operation(a, f->site))
			continue;
		reply_row(r, tab_site(trace, f->site), tab_number(s->visits), tab_interval(seconds(a, s->inclusive)),
			  tab_interval(seconds(a, s->waited)), tab_interval(seconds(a, s->transfer)), tab_number(s->bytes),
			  tab_number(f->spread.nthreads), c ? tab_count(trace->threads[c->for_thread].rank) : TAB_NONE,
			  c ? tab_count(trace_pid(trace, c->for_thread)) : TAB_NONE,
			  c ? tab_count(trace->threads[c->for_thread].number) : TAB_NONE,
			  c ? did_cell(trace, c->did) : TAB_NONE,
			  c ? tab_interval(seconds(a, c->ticks)) : TAB_NONE);
	}
	reply_end(r);
}

static void fill_messages(struct reply *r, const struct profile_answer *a)
{
	static const struct tab_column columns[] = { TAB_KEY("from.rank"), TAB_KEY("from.pid"), TAB_KEY("to.rank"),
						     TAB_KEY("to.pid"), TAB_KEY("count"), TAB_KEY("bytes"), { 0 } };
	reply_table(r, "messages", columns, 0);
	for (size_t i = 0; i < a->p->nmessages; i++) {
		const struct call_message *m = &a->p->messages[i];
		const struct tr_process *from = &a->trace->processes[m->from], *to = &a->trace->processes[m->to];
		reply_row(r, tab_count(from->rank), tab_number(from->pid), tab_count(to->rank), tab_number(to->pid),
			  tab_number(m->count), tab_number(m->bytes));
	}
	reply_end(r);
}

/* ---- The page: regions and operations --------------------------------------------------------- */

static bool matters(const struct profile_answer *a, frz_time ticks, bool every)
{
	return every || interval_percent(ticks, a->p->nodes[0].spread.all.inclusive).hi > SHARE_OF_NOTHING;
}

static void say_spread(struct reply *r, const struct profile_answer *a, const struct call_spread *s)
{
	if (s->nthreads < 2 || s->most.hi == INT64_MAX) /* all of a thread is missing */
		return;
	reply_say(r, SAY_DETAIL, "%s to %s, most on %s; mean %s; imbalance %s %%",
		  interval_lower(on_page(a, s->least).lo, 2).text, interval_upper(on_page(a, s->most).hi, 2).text,
		  location_name(a->trace, s->longest).text, reply_interval(r, on_page(a, call_mean(s)), 2).text,
		  reply_interval(r, call_imbalance(s), 1).text);
}

/* With -v both ends of a time are shown; a name has then a line of its own, unless it is short. */
#define NAME_COLUMN(every) ((every) ? 10 : 22)
#define TIME_COLUMN(every) ((every) ? 18 : 14)

/* One less where the times of all threads have a digit more. */
static int decimals(const struct profile_answer *a)
{
	double most = a->p->nnodes ? on_page(a, a->p->nodes[0].spread.all.inclusive).hi : 0;
	return in_ms(a) ? 3 - (most >= 1000) : 4 - (most >= 100);
}

#define TITLE(a, what) (in_ms(a) ? what ", ms" : what ", s")
static void say_flat(struct reply *r, const struct profile_answer *a, size_t most, bool every)
{
	const struct tab_column columns[] = {
		TAB_SHOWN(NULL, every ? "in" : "region or operation", NAME_COLUMN(every), .alone = true), TAB_SHOWN(NULL, "visits", -8),
		TAB_SHOWN(NULL, TITLE(a, "exclusive"), TIME_COLUMN(every), decimals(a)),
		TAB_SHOWN(NULL, TITLE(a, "inclusive"), TIME_COLUMN(every), decimals(a)),
		TAB_SHOWN(NULL, TITLE(a, "waiting"), 0, decimals(a)), { 0 } };
	size_t left = 0, shown = 0;
	reply_gap(r);
	reply_table(r, NULL, columns, SIZE_MAX);
	for (size_t i = 0; i < a->p->nflat; i++) {
		const struct call_flat *f = &a->p->flat[i];
		const struct call_sums *s = &f->spread.all;
		if (shown == most || !matters(a, s->inclusive, every)) {
			left++;
			continue;
		}
		shown++;
		reply_row(r, name_of(a->trace, f->site), tab_number(s->visits), tab_interval(on_page(a, s->exclusive)),
			  tab_interval(on_page(a, s->inclusive)), tab_interval(on_page(a, s->waited)));
		say_spread(r, a, &f->spread);
	}
	reply_end(r);
	if (left)
		reply_say(r, SAY_INDENTED, "... and %zu more: -v", left);
}

/* ---- The page: the tree ------------------------------------------------------------------------ */

/* Children of a node, the longest first. */
struct children { const struct call_node **v; size_t n; };

static int by_inclusive(const void *x, const void *y)
{
	const struct call_node *a = *(const struct call_node *const *)x, *b = *(const struct call_node *const *)y;
	frz_time p = a->spread.all.inclusive, q = b->spread.all.inclusive;
	int64_t i = time_middle(p), k = time_middle(q);
	return i != k ? ORDER(k, i) : ORDER(a, b);
}

static struct children *find_children(const struct profile_answer *a)
{
	struct children *of = mem_resize(NULL, a->p->nnodes + 1, sizeof *of);
	for (size_t i = 0; i < a->p->nnodes; i++)
		of[i] = (struct children){ NULL, 0 };
	for (size_t i = 1; i < a->p->nnodes; i++) {
		struct children *c = &of[a->p->nodes[i].parent];
		*MEM_GROW(c->v, c->n) = &a->p->nodes[i];
	}
	for (size_t i = 0; i < a->p->nnodes; i++)
		if (of[i].n)
			qsort(of[i].v, of[i].n, sizeof *of[i].v, by_inclusive);
	return of;
}

#define TREE_COLUMN(every) ((every) ? 31 : 36)
#define TREE_INDENT 20 /* deeper ones are not indented more */

static size_t say_node(struct reply *r, const struct profile_answer *a, const struct children *of,
		       const struct call_node *node, bool every)
{
	const struct call_sums *s = &node->spread.all;
	const struct children *c = &of[node - a->p->nodes];
	int indent = 2 * (int)node->depth < TREE_INDENT ? 2 * (int)node->depth : TREE_INDENT;
	size_t left = 0;
	if (!matters(a, s->inclusive, every))
		return 1;
	struct site_name site = node->site < a->trace->nsites
				       ? site_name_within(a->trace, node->site, (size_t)(TREE_COLUMN(every) - indent)) : (struct site_name){ "" };
	char *name = mem_format("%*s%s", indent, "", *site.text ? site.text : node->site == TR_OUTSIDE ? ALL_THREADS : PLACE_NOT_KNOWN);
	reply_row(r, tab_text(name), tab_number(s->visits), tab_interval(on_page(a, s->inclusive)),
		  tab_interval(on_page(a, s->waited)));
	free(name);
	for (size_t i = 0; i < c->n; i++)
		left += say_node(r, a, of, c->v[i], every);
	return left;
}

static void say_calls(struct reply *r, const struct profile_answer *a, bool every)
{
	const struct tab_column columns[] = { TAB_SHOWN(NULL, "call path", TREE_COLUMN(every)), TAB_SHOWN(NULL, "visits", -8),
					      TAB_SHOWN(NULL, TITLE(a, "inclusive"), TIME_COLUMN(every), decimals(a)),
					      TAB_SHOWN(NULL, TITLE(a, "waiting"), 0, decimals(a)), { 0 } };
	struct children *of = find_children(a);
	reply_gap(r);
	reply_table(r, NULL, columns, SIZE_MAX);
	size_t left = a->p->nnodes ? say_node(r, a, of, &a->p->nodes[0], every) : 0;
	reply_end(r);
	if (left)
		reply_say(r, SAY_INDENTED, "... and %zu more, with what is below them: -v", left);
	for (size_t i = 0; i < a->p->nnodes; i++)
		free(of[i].v);
	free(of);
}

/* ---- The page: operations and messages --------------------------------------------------------- */

static bool has_operations(const struct profile_answer *a)
{
	bool any = false;
	for (size_t i = 0; i < a->p->nflat && !any; i++)
		any = is_operation(a, a->p->flat[i].site);
	return any;
}

static void say_operations(struct reply *r, const struct profile_answer *a, bool every)
{
	const struct tab_column columns[] = {
		TAB_SHOWN(NULL, "operation", NAME_COLUMN(every), .alone = true), TAB_SHOWN(NULL, "count", -8), TAB_SHOWN(NULL, "bytes", -12),
		TAB_SHOWN(NULL, TITLE(a, "waiting"), TIME_COLUMN(every), decimals(a)),
		TAB_SHOWN(NULL, TITLE(a, "transfer"), 0, decimals(a)), { 0 } };
	size_t left = 0, shown = 0;
	reply_gap(r);
	reply_table(r, NULL, columns, SIZE_MAX);
	for (size_t i = 0; i < a->p->nflat; i++) {
		const struct call_flat *f = &a->p->flat[i];
		const struct call_sums *s = &f->spread.all;
		const struct call_cause *c = call_cause_of(a->p, f->site);
		if (!is_operation(a, f->site))
			continue;
		if (!every && (shown == MOST_ROWS || !matters(a, s->inclusive, false))) {
			left++;
			continue;
		}
		shown++;
		reply_row(r, tab_site(a->trace, f->site), tab_number(s->visits), tab_number(s->bytes),
			  tab_interval(on_page(a, s->waited)), tab_interval(on_page(a, s->transfer)));
		if (c && matters(a, c->ticks, every))
			reply_say(r, SAY_DETAIL, "longest for %s, that was in %s: %s %s",
				  location_name(a->trace, c->for_thread).text,
				  site_name_said(a->trace, c->did, 48).text,
				  reply_interval(r, on_page(a, c->ticks), decimals(a)).text, unit(a));
	}
	reply_end(r);
	if (left)
		reply_say(r, SAY_INDENTED, "... and %zu more: -v", left);
}

/* The processes that sent or received any, as far as they have room; their number. */
static size_t find_ends(const struct profile_answer *a, uint32_t process[MATRIX])
{
	size_t n = 0;
	for (uint32_t p = 0; p < a->trace->nprocesses; p++) {
		bool any = false;
		for (size_t i = 0; i < a->p->nmessages; i++)
			any |= a->p->messages[i].from == p || a->p->messages[i].to == p;
		if (any && n < MATRIX)
			process[n] = p;
		n += any;
	}
	return n;
}

static const struct call_message *message_of(const struct profile_answer *a, uint32_t from, uint32_t to)
{
	for (size_t i = 0; i < a->p->nmessages; i++)
		if (a->p->messages[i].from == from && a->p->messages[i].to == to)
			return &a->p->messages[i];
	return NULL;
}

static char *process_name(const struct profile_answer *a, uint32_t process)
{
	const struct tr_process *p = &a->trace->processes[process];
	return p->rank >= 0 ? mem_format("rank %" PRId64, p->rank) : mem_format("pid %" PRIu64, p->pid);
}

/* That of the longest number. */
static size_t matrix_width(const struct profile_answer *a, bool bytes)
{
	size_t width = MATRIX_WIDTH;
	for (size_t i = 0; i < a->p->nmessages; i++) {
		uint64_t number = bytes ? a->p->messages[i].bytes : a->p->messages[i].count;
		size_t digits = (size_t)snprintf(NULL, 0, "%" PRIu64, number);
		width = digits > width ? digits : width;
	}
	return width;
}

static void say_matrix(struct reply *r, const struct profile_answer *a, const uint32_t *process, size_t n, bool bytes)
{
	struct tab_column columns[MATRIX + 2] = { { .title = bytes ? "bytes from" : "messages", .width = 10 } };
	char *names[MATRIX];
	int width = (int)matrix_width(a, bytes);
	for (size_t i = 0; i < n; i++) {
		names[i] = process_name(a, process[i]);
		columns[1 + i] = (struct tab_column){ .title = names[i], .width = -width };
	}
	reply_gap(r);
	reply_table(r, NULL, columns, SIZE_MAX);
	for (size_t i = 0; i < n; i++) {
		struct tab_cell cells[MATRIX + 1] = { tab_text(names[i]) };
		for (size_t k = 0; k < n; k++) {
			const struct call_message *m = message_of(a, process[i], process[k]);
			cells[1 + k] = m ? tab_number(bytes ? m->bytes : m->count) : tab_text("-");
		}
		reply_cells(r, cells, n + 1);
	}
	reply_end(r);
	for (size_t i = 0; i < n; i++)
		free(names[i]);
}

static int by_bytes(const void *x, const void *y)
{
	const struct call_message *a = x, *b = y;
	return ORDER(b->bytes, a->bytes);
}

static void say_pairs(struct reply *r, const struct profile_answer *a, bool every)
{
	static const struct tab_column columns[] = {
		TAB_SHOWN(NULL, "from", 14), TAB_SHOWN(NULL, "to", 14), TAB_SHOWN(NULL, "messages", -12),
		TAB_SHOWN(NULL, "bytes", -16), { 0 } };
	struct call_message *sorted = mem_resize(NULL, a->p->nmessages, sizeof *sorted);
	size_t shown = every || a->p->nmessages < PAIRS_SHOWN ? a->p->nmessages : PAIRS_SHOWN;
	for (size_t i = 0; i < a->p->nmessages; i++)
		sorted[i] = a->p->messages[i];
	qsort(sorted, a->p->nmessages, sizeof *sorted, by_bytes);
	reply_gap(r);
	reply_table(r, NULL, columns, SIZE_MAX);
	for (size_t i = 0; i < shown; i++) {
		char *from = process_name(a, sorted[i].from), *to = process_name(a, sorted[i].to);
		reply_row(r, tab_text(from), tab_text(to), tab_number(sorted[i].count), tab_number(sorted[i].bytes));
		free(from);
		free(to);
	}
	reply_end(r);
	if (a->p->nmessages > shown)
		reply_say(r, SAY_INDENTED, "... and %zu more: -v", a->p->nmessages - shown);
	free(sorted);
}

static void say_messages(struct reply *r, const struct profile_answer *a, bool every)
{
	uint32_t process[MATRIX];
	size_t n = find_ends(a, process);
	if (n > 0 && n <= MATRIX && n * (matrix_width(a, true) + 1) <= MATRIX_ROOM) {
		say_matrix(r, a, process, n, false);
		say_matrix(r, a, process, n, true);
	} else if (n > 0) {
		say_pairs(r, a, every);
	}
	if (a->p->unmatched)
		reply_say(r, SAY_TEXT, "Of %" PRIu64 " message%s the other side is not known; %s not among these.", a->p->unmatched,
			  a->p->unmatched == 1 ? "" : "s", a->p->unmatched == 1 ? "it is" : "they are");
}

/* ---- All of it ------------------------------------------------------------------------------- */

/* Records that are missing, at least; and why. */
static uint64_t missing(const struct trace *trace, uint64_t *why)
{
	uint64_t lost = *why = 0;
	for (size_t i = 0; i < trace->nthreads; i++) {
		lost += trace->threads[i].lost;
		*why |= trace->threads[i].why;
	}
	return lost;
}

static void say_missing(struct reply *r, const struct trace *trace)
{
	uint64_t why, lost = missing(trace, &why);
	if (lost == 0)
		return;
	char *text = trace_why(why);
	reply_gap(r);
	reply_say(r, SAY_TEXT, "Records are missing, at least %" PRIu64 "%s. Visits, counts and bytes are those that "
		  "were recorded: there may have been more.", lost, text);
	free(text);
}

static const char assumptions[] =
	"Assumed: a wait was ended by an operation that the trace connects with it. Waiting lasts until the last that "
	"was waited for has come; what else an operation takes is transfer.";

static void fill_page(struct reply *r, const struct profile_answer *a, const struct options *o)
{
	const struct call_profile *p = a->p;
	reply_say(r, SAY_TEXT, "Profile of %zu thread%s in %zu process%s, in the run of %s s. Times are of all threads together.",
		  p->nthreads, p->nthreads == 1 ? "" : "s", p->nprocesses, p->nprocesses == 1 ? "" : "es",
		  reply_interval(r, seconds(a, p->span.length), 9).text);
	if (o->calls)
		say_calls(r, a, o->verbose);
	if (o->flat || !o->calls)
		say_flat(r, a, o->flat || o->verbose ? SIZE_MAX : MOST_ROWS, o->verbose);
	if (!o->calls && !o->flat) {
		if (has_operations(a))
			say_operations(r, a, o->verbose);
		say_messages(r, a, o->verbose);
	}
	say_missing(r, a->trace);
	reply_gap(r);
	reply_say(r, SAY_TEXT, "%s", assumptions);
}

static void fill(struct reply *r, const struct profile_answer *a, const struct options *o)
{
	notes_damage(r, a->trace->ndiagnostics);
	reply_value(r, "span_s", tab_interval(seconds(a, a->p->span.length)));
	reply_value(r, "threads", tab_number(a->p->nthreads));
	reply_value(r, "processes", tab_number(a->p->nprocesses));
	reply_value(r, "bounds", tab_text(clock_bounds_word(a->times)));
	uint64_t why;
	reply_value(r, "lost", tab_number(missing(a->trace, &why)));
	if (r->data) {
		fill_calls(r, a);
		fill_flat(r, a);
		fill_operations(r, a);
		fill_messages(r, a);
	}
	reply_value(r, "unmatched", tab_number(a->p->unmatched));
	reply_value(r, "assumptions", tab_text(assumptions));
	if (r->page)
		fill_page(r, a, o);
}

void reply_profile(struct reply *reply, const struct graph *graph, const struct call_profile *calls, const struct options *options)
{
	const struct times *times = graph->times;
	struct profile_answer a = { .trace = graph->trace, .times = times,
				    .time_base = times->time_base[graph->trace->threads[0].clock], .p = calls };
	fill(reply, &a, options);
}

static int answer(struct trace *trace, const struct times *times, const struct options *options, struct reply *reply)
{
	struct graph graph;
	struct call_profile calls;
	graph_open(&graph, trace, times);
	graph_said_tell(&graph.said, trace);
	calls_of_graph(&calls, &graph, NULL);
	reply_profile(reply, &graph, &calls, options);
	calls_close(&calls);
	graph_close(&graph);
	return EXIT_FINE;
}

int cmd_profile(struct trace *trace, const struct options *options, struct reply *reply)
{
	return relations_run(trace, options, reply, "no profile is known", answer);
}

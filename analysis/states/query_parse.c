/* SPDX-License-Identifier: MIT
 *
 * query_parse.c - recursive descent over the grammar in query.h: one function per rule. Numbers and
 * conditions are told apart by the operation of their node.
 *
 * The first error wins: it is kept, and everything after it gives up. */
#include "analysis/states/query_private.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/memory.h"

#define NOTHING SIZE_MAX   /* instead of a node, after an error */
#define DEEPEST 64         /* parentheses and "not" within each other */
#define LARGEST 1000000000 /* number */

enum query_token { END, NUMBER, WORD, QUOTED, SYMBOL };

struct parser {
	struct query *query;
	const char *text;
	enum query_token token;    /* the next one */
	size_t at, end;            /* where it is */
	char *word;                /* of WORD and QUOTED, or the SYMBOL */
	uint64_t number;
	unsigned depth;
	struct query_error *error; /* what == NULL: none so far */
};

/* ---- Errors ---------------------------------------------------------------------------------- */

static bool failed(const struct parser *p)
{
	return p->error->what != NULL;
}

/* Takes over `what`. */
static size_t fail_at(struct parser *p, size_t at, char *what)
{
	if (failed(p))
		free(what);
	else
		*p->error = (struct query_error){ at, what };
	return NOTHING;
}

static size_t fail_expecting(struct parser *p, const char *expected)
{
	if (p->token == END)
		return fail_at(p, p->at, mem_format("expected %s, found the end", expected));
	return fail_at(p, p->at, mem_format("expected %s, found \"%.*s\"", expected,
					    (int)(p->end - p->at), p->text + p->at));
}

/* ---- Tokens ---------------------------------------------------------------------------------- */

static void read_number(struct parser *p)
{
	p->token = NUMBER;
	p->number = 0;
	while (isdigit((unsigned char)p->text[p->end])) {
		uint64_t digit = (uint64_t)(p->text[p->end++] - '0');
		if (__builtin_mul_overflow(p->number, 10, &p->number) ||
		    __builtin_add_overflow(p->number, digit, &p->number))
			fail_at(p, p->at, mem_format("expected a number below 2^64"));
	}
}

static void read_quoted(struct parser *p)
{
	const char *close = strchr(p->text + p->at + 1, '"');
	p->token = QUOTED;
	p->end = close ? (size_t)(close + 1 - p->text) : strlen(p->text);
	if (close)
		p->word = mem_format("%.*s", (int)(p->end - p->at - 2), p->text + p->at + 1);
	else
		fail_at(p, p->at, mem_format("expected a closing '\"', found the end"));
}

static void read_symbol(struct parser *p)
{
	static const char *const symbols[] = { "==", "!=", "<=", ">=", "<", ">", "+", "-",
					       "*",  "(",  ")",  "[",  "]", "." };
	p->token = SYMBOL;
	for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++)
		if (strncmp(p->text + p->at, symbols[i], strlen(symbols[i])) == 0) {
			p->end = p->at + strlen(symbols[i]);
			p->word = mem_copy(symbols[i]);
			return;
		}
	p->end = p->at + 1;
	if (p->text[p->at] == '=')
		fail_at(p, p->at, mem_format("expected \"==\", found \"=\""));
	else
		fail_expecting(p, "a number, a word or an operator");
}

static bool in_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

/* Reads the next token. */
static void advance(struct parser *p)
{
	free(p->word);
	p->word = NULL;
	p->at = p->end + strspn(p->text + p->end, " \t\n");
	p->end = p->at;
	char c = p->text[p->at];
	if (!c) {
		p->token = END;
	} else if (isdigit((unsigned char)c)) {
		read_number(p);
	} else if (c == '"') {
		read_quoted(p);
	} else if (in_word(c)) {
		p->token = WORD;
		while (in_word(p->text[p->end]))
			p->end++;
		p->word = mem_format("%.*s", (int)(p->end - p->at), p->text + p->at);
	} else {
		read_symbol(p);
	}
}

static bool is(const struct parser *p, enum query_token token, const char *word)
{
	return p->token == token && p->word && strcmp(p->word, word) == 0;
}

static bool take(struct parser *p, enum query_token token, const char *word)
{
	bool taken = !failed(p) && is(p, token, word);
	if (taken)
		advance(p);
	return taken;
}

static bool need(struct parser *p, const char *symbol)
{
	if (take(p, SYMBOL, symbol))
		return true;
	char *quoted = mem_format("\"%s\"", symbol);
	fail_expecting(p, quoted);
	free(quoted);
	return false;
}

static uint64_t need_number(struct parser *p, const char *expected)
{
	uint64_t number = p->number;
	if (failed(p) || p->token != NUMBER) {
		fail_expecting(p, expected);
		return 0;
	}
	advance(p);
	return number;
}

/* ---- Nodes ----------------------------------------------------------------------------------- */

static size_t add_node(struct parser *p, struct query_node node)
{
	struct query *q = p->query;
	if (failed(p))
		return NOTHING;
	if (q->nnodes == QUERY_NODES)
		return fail_at(p, p->at, mem_format("expected at most %d operands and operators",
						    QUERY_NODES));
	*MEM_GROW(q->nodes, q->nnodes) = node;
	return q->nnodes - 1;
}

static bool is_condition(const struct parser *p, size_t node)
{
	return p->query->nodes[node].op >= OP_EQ;
}

/* Joins two operands, of which each must be a condition, or a number. */
static size_t join(struct parser *p, enum query_op op, size_t left, size_t left_at, size_t right,
		   size_t right_at)
{
	if (failed(p))
		return NOTHING;
	bool conditions = op >= OP_NOT;
	const char *expected = conditions ? "expected a condition, such as count(...) > 0, found "
					    "a number"
					  : "expected a number, found a condition";
	if (is_condition(p, left) != conditions)
		return fail_at(p, left_at, mem_copy(expected));
	if (is_condition(p, right) != conditions)
		return fail_at(p, right_at, mem_copy(expected));
	return add_node(p, (struct query_node){ .op = op, .left = left, .right = right });
}

/* ---- Places and subjects --------------------------------------------------------------------- */

static const struct { const char *word; enum query_who who; } subjects[] = {
	{ "rank", WHO_RANK }, { "pid", WHO_PID }, { "thread", WHO_THREAD }, { "host", WHO_HOST },
};
#define NSUBJECTS (sizeof subjects / sizeof *subjects)

static bool is_subject(const struct parser *p)
{
	for (size_t i = 0; i < NSUBJECTS; i++)
		if (is(p, WORD, subjects[i].word))
			return true;
	return false;
}

/* Whether "thread" is followed by a number here, and is not the name of a place. */
static bool is_one_thread(const struct parser *p)
{
	return is(p, WORD, "thread") && isdigit((unsigned char)p->text[p->end + strspn(p->text + p->end, " \t\n")]);
}

/* To be freed; NULL with an error. */
static char *host_name(struct parser *p)
{
	char *host = NULL;
	if (p->token == QUOTED && p->word)
		host = mem_copy(p->word);
	else if (p->token == WORD || p->token == NUMBER)
		host = mem_format("%.*s", (int)(p->end - p->at), p->text + p->at);
	if (!host)
		fail_expecting(p, "the name of a host");
	advance(p);
	return host;
}

/* "thread" has been read: PROCESS.N, or N. */
static void one_thread(struct parser *p, struct query_subject *s)
{
	uint64_t number = need_number(p, "a number");
	s->one_thread = true;
	s->thread = number;
	if (!take(p, SYMBOL, ".")) {
		s->who = WHO_ONLY;
		return;
	}
	s->process = number;
	s->thread = need_number(p, "the number of a thread of that process");
}

/* Marks the threads that are meant. */
static void subject(struct parser *p, bool *threads)
{
	size_t i = 0, at = p->at;
	struct query_subject s = { .host = NULL };
	char *host = NULL, *error = NULL;
	while (i < NSUBJECTS && !is(p, WORD, subjects[i].word))
		i++;
	if (i == NSUBJECTS) {
		fail_expecting(p, "rank N, pid N, thread RANK.N, thread PID.N or host NAME");
		return;
	}
	advance(p);
	at = p->at;
	s.who = subjects[i].who;
	if (s.who == WHO_HOST)
		s.host = host = host_name(p);
	else if (s.who == WHO_THREAD)
		one_thread(p, &s);
	else
		s.process = need_number(p, "a number");
	if ((s.who == WHO_RANK || s.who == WHO_PID) && is_one_thread(p) && take(p, WORD, "thread")) {
		s.one_thread = true;
		s.thread = need_number(p, "a number");
	}
	if (!failed(p) && !query_subject(p->query, s, threads, &error))
		fail_at(p, at, error);
	free(host);
}

/* As it is recorded: -1 is the greatest. */
static uint64_t instance_number(struct parser *p)
{
	bool negative = take(p, SYMBOL, "-");
	uint64_t number = need_number(p, "the number of an instance");
	return negative ? 0 - number : number;
}

static uint32_t place(struct parser *p)
{
	struct query_atom atom = { .innermost = false };
	char *error = NULL;
	if (take(p, WORD, "at"))
		atom.innermost = true;
	else
		take(p, WORD, "in");
	size_t at = p->at;
	if (failed(p) || (p->token != WORD && p->token != QUOTED)) {
		fail_expecting(p, "a region, a site, a kind or a state");
		return 0;
	}
	if (!query_place(p->query, p->word, p->token == QUOTED, &atom, &error)) {
		fail_at(p, at, error);
		return 0;
	}
	if (atom.what != ATOM_SITES)
		atom.innermost = false;
	advance(p);
	if (take(p, SYMBOL, "[")) {
		if (atom.what != ATOM_SITES)
			fail_at(p, at, mem_copy("expected a region or a site before the number of "
						"an instance, found a state"));
		atom.instance = instance_number(p);
		atom.one_instance = true;
		need(p, "]");
	}
	uint32_t index = failed(p) ? 0 : query_add_atom(p->query, atom);
	if (failed(p))
		free(atom.sites);
	if (index == UINT32_MAX)
		fail_at(p, at, mem_format("expected at most %d different places", QUERY_ATOMS));
	return index;
}

/* Takes over `threads`. */
static size_t add_count(struct parser *p, uint32_t atom, bool ranks, bool *threads)
{
	if (failed(p)) {
		free(threads);
		return NOTHING;
	}
	uint32_t count = query_add_count(p->query, (struct query_count){ atom, ranks, threads });
	if (count == UINT32_MAX)
		return fail_at(p, p->at, mem_format("expected at most %d different counts",
						    QUERY_COUNTS));
	return add_node(p, (struct query_node){ .op = OP_COUNT, .number = count });
}

/* "rank 3 in body": at least one thread of it. */
static size_t someone_in_place(struct parser *p)
{
	bool *threads = mem_resize(NULL, p->query->trace->nthreads, sizeof *threads);
	subject(p, threads);
	size_t some = add_count(p, place(p), false, threads);
	size_t one = add_node(p, (struct query_node){ .op = OP_NUMBER, .number = 1 });
	return add_node(p, (struct query_node){ .op = OP_GE, .left = some, .right = one });
}

/* "(body on rank 3)", behind "count" or "ranks". */
static size_t count(struct parser *p, bool ranks)
{
	const struct trace *trace = p->query->trace;
	bool *threads = mem_resize(NULL, trace->nthreads, sizeof *threads);
	for (size_t i = 0; i < trace->nthreads; i++)
		threads[i] = true;
	need(p, "(");
	uint32_t atom = place(p);
	if (take(p, WORD, "on"))
		subject(p, threads);
	need(p, ")");
	return add_count(p, atom, ranks, threads);
}

/* ---- Operands -------------------------------------------------------------------------------- */

static int64_t number_of(const struct parser *p, bool ranks)
{
	const struct trace *trace = p->query->trace;
	int64_t threads = 0, processes = 0;
	uint32_t last = UINT32_MAX; /* threads of a process stand together */
	for (size_t i = 0; i < trace->nthreads; i++) {
		if (!query_knows(trace, i))
			continue;
		threads++;
		processes += trace->threads[i].process != last;
		last = trace->threads[i].process;
	}
	return ranks ? processes : threads;
}

static size_t condition(struct parser *p);

static size_t operand(struct parser *p)
{
	struct query_node number = { .op = OP_NUMBER };
	if (failed(p))
		return NOTHING;
	if (p->token == NUMBER) {
		if (p->number > LARGEST)
			return fail_at(p, p->at, mem_format("expected a number up to %d", LARGEST));
		number.number = (int64_t)p->number;
		advance(p);
		return add_node(p, number);
	}
	if (take(p, SYMBOL, "(")) {
		size_t inner = condition(p);
		need(p, ")");
		return inner;
	}
	if (take(p, WORD, "count"))
		return count(p, false);
	bool ranks = is(p, WORD, "ranks");
	if (take(p, WORD, "ranks") && is(p, SYMBOL, "("))
		return count(p, true);
	if (ranks || take(p, WORD, "threads")) {
		number.number = number_of(p, ranks);
		return add_node(p, number);
	}
	return fail_expecting(p, "count(...), ranks(...), threads, a number, rank N, "
				 "thread RANK.N, thread PID.N, \"not\" or \"(\"");
}

/* operand { symbol operand }, for the operators of one rank. */
typedef size_t rule(struct parser *);

struct operator { enum query_token token; const char *word; enum query_op op; };

static size_t chain(struct parser *p, rule *part, const struct operator *operators, size_t count,
		    size_t most)
{
	size_t left_at = p->at, left = part(p);
	for (size_t i = 0; i < count && most > 0;) {
		if (!take(p, operators[i].token, operators[i].word)) {
			i++;
			continue;
		}
		size_t right_at = p->at, right = part(p);
		left = join(p, operators[i].op, left, left_at, right, right_at);
		i = 0;
		most--;
	}
	return left;
}

static size_t product(struct parser *p)
{
	static const struct operator operators[] = { { SYMBOL, "*", OP_TIMES } };
	return chain(p, operand, operators, 1, SIZE_MAX);
}

static size_t sum(struct parser *p)
{
	static const struct operator operators[] = { { SYMBOL, "+", OP_PLUS },
						     { SYMBOL, "-", OP_MINUS } };
	return chain(p, product, operators, 2, SIZE_MAX);
}

static size_t single(struct parser *p)
{
	static const struct operator operators[] = {
		{ SYMBOL, "==", OP_EQ }, { SYMBOL, "!=", OP_NE }, { SYMBOL, "<=", OP_LE },
		{ SYMBOL, ">=", OP_GE }, { SYMBOL, "<", OP_LT },  { SYMBOL, ">", OP_GT },
	};
	if (++p->depth > DEEPEST)
		return fail_at(p, p->at, mem_format("expected at most %d levels", DEEPEST));
	size_t node;
	if (take(p, WORD, "not")) {
		size_t at = p->at, inner = single(p);
		node = join(p, OP_NOT, inner, at, inner, at);
	} else if (is_subject(p)) {
		node = someone_in_place(p);
	} else {
		node = chain(p, sum, operators, sizeof operators / sizeof *operators, 1);
	}
	p->depth--;
	return node;
}

static size_t both(struct parser *p)
{
	static const struct operator operators[] = { { WORD, "and", OP_AND } };
	return chain(p, single, operators, 1, SIZE_MAX);
}

static size_t condition(struct parser *p)
{
	static const struct operator operators[] = { { WORD, "or", OP_OR } };
	return chain(p, both, operators, 1, SIZE_MAX);
}

bool query_open(struct query *q, const struct trace *trace, const struct roles *roles,
		const char *text, struct query_error *error)
{
	*q = (struct query){ .trace = trace, .roles = roles };
	*error = (struct query_error){ 0, NULL };
	struct parser p = { .query = q, .text = text, .error = error };
	advance(&p);
	size_t whole = condition(&p);
	if (!failed(&p) && p.token != END)
		fail_expecting(&p, "an operator or the end");
	if (!failed(&p) && !is_condition(&p, whole))
		fail_at(&p, strspn(text, " \t\n"),
			mem_copy("expected a condition, such as count(...) > 0, found a number"));
	free(p.word);
	if (failed(&p))
		query_close(q);
	return !failed(&p);
}

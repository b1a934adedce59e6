/* SPDX-License-Identifier: MIT
 *
 * analysis_match.c - what belongs together in small texts, and what must not be put together.
 *
 * A message is written S3>R7: begun by the event stamped 3, taken by what the event stamped 7
 * completed; a collective as its flow and the stamps of its entries, and of what only began until when
 * (1-6); a thread that began 3+4, that was joined 4+9. Random programs are matched in truth_links.c. */
#define _GNU_SOURCE
#include <stdarg.h>
#include <unistd.h>

#include "analysis/text/text.h"
#include "analysis/match/match.h"
#include "testsuite/unit/unit.h"

static const char world[] = "dprof-text 1\n"
			    "clock 0 host=h0 ghz=1\n"
			    "clock 1 host=h1 ghz=1\n"
			    "thread 0 clock=0 rank=0 number=0\n"
			    "thread 1 clock=0 rank=0 number=1\n"
			    "thread 2 clock=1 rank=1 number=0\n"
			    "thread 3 clock=1 rank=1 number=1\n"
			    "site 0 kind=region name=body file=a.c line=1\n"
			    "site 1 kind=barrier name=MPI_Barrier file=a.c line=2\n"
			    "site 2 kind=coll name=MPI_Allreduce file=a.c line=3\n"
			    "site 3 kind=coll name=MPI_Bcast file=a.c line=4\n"
			    "site 4 kind=coll name=MPI_Ibarrier file=a.c line=5\n"
			    "site 5 kind=send name=MPI_Send file=a.c line=6\n"
			    "site 6 kind=send name=MPI_Isend file=a.c line=7\n"
			    "site 7 kind=recv name=MPI_Recv file=a.c line=8\n"
			    "site 8 kind=recv name=MPI_Irecv file=a.c line=9\n"
			    "site 9 kind=wait name=MPI_Wait file=a.c line=10\n"
			    "site 10 kind=fork name=pthread_create file=a.c line=11\n"
			    "site 11 kind=join name=pthread_join file=a.c line=12\n"
			    "site 12 kind=fork name=omp file=a.c line=13\n"
			    "site 13 kind=coll name=MPI_Scan file=a.c line=14\n"
			    "site 14 kind=coll name=MPI_Alltoallv file=a.c line=15\n"
			    "site 15 kind=join name=omp file=a.c line=13\n"
			    "group 1 threads=0,2\n";

static char found[1024];

static void add(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void add(const char *format, ...)
{
	size_t n = strlen(found);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(found + n, sizeof found - n, format, arguments);
	va_end(arguments);
}

static void add_match(const struct match *m)
{
	static const char *const flows[] = { "all", "from", "to", "up", "none" };

	add("%s", found[0] ? " " : "");
	switch (m->kind) {
	case MATCH_MESSAGE:
		add("S%" PRIu64 ">R%" PRIu64, m->parts[0].enter, m->parts[1].done);
		break;
	case MATCH_COLLECTIVE:
		add("%s%s", flows[m->flow], m->complete ? "" : "?");
		for (size_t i = 0; i < m->nparts; i++)
			if (m->begun && m->parts[i].done_at != MATCH_NEVER)
				add(",%" PRIu64 "-%" PRIu64, m->parts[i].enter, m->parts[i].done);
			else
				add(",%" PRIu64, m->parts[i].enter);
		break;
	case MATCH_CREATED:
	case MATCH_JOINED:
		add("%" PRIu64 "+%" PRIu64, m->parts[0].enter, m->parts[1].enter);
		break;
	case MATCH_SENT:
		add("S%" PRIu64 "-%" PRIu64, m->parts[0].enter, m->parts[0].done);
		break;
	case MATCH_UNTAKEN:
		add("S%" PRIu64, m->parts[0].enter);
		break;
	case MATCH_UNSENT:
		add("R%" PRIu64, m->parts[0].done);
		break;
	}
}

static int by_word(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Threads of different clocks are walked in any order, and so are matches found. */
static void sort_words(char *words)
{
	char *word[64], *all = strdup(words), *rest = all;
	size_t n = 0;

	for (char *w; (w = strsep(&rest, " "));)
		word[n++] = w;
	qsort(word, n, sizeof *word, by_word);
	words[0] = 0;
	for (size_t i = 0; i < n; i++)
		strcat(strcat(words, i ? " " : ""), word[i]);
	free(all);
}

/* With groups whose own order may be another than that of the ranks. */
static bool groups_unordered;

/* All that matches say, number by number. */
static uint64_t facts[4096];
static size_t nfacts;

static void add_facts(const struct match *m)
{
	const uint64_t of_match[] = { m->kind, m->flow, m->arrival, m->group, m->number, m->begun, m->of_any, m->of_tags,
				      m->by_chance, m->complete, m->unlike, m->all_came, m->nparts };

	ck_assert(nfacts + 13 + 8 * m->nparts <= sizeof facts / sizeof *facts);
	memcpy(facts + nfacts, of_match, sizeof of_match);
	nfacts += 13;
	for (const struct match_part *p = m->parts; p < m->parts + m->nparts; p++) {
		const uint64_t of_part[] = { p->thread, p->site, p->enter_at, p->done_at, p->enter, p->done, p->bytes, p->root };

		memcpy(facts + nfacts, of_part, sizeof of_part);
		nfacts += 8;
	}
}

static struct match_tally walk(const struct trace *t, uint64_t slack, struct match_log *log)
{
	struct match_walk *walk = match_walk_open(t, slack, log);
	struct match m;

	found[0] = 0;
	nfacts = 0;
	while (match_walk_next(walk, &m)) {
		add_match(&m);
		add_facts(&m);
	}
	struct match_tally tally = *match_walk_tally(walk);
	match_walk_close(walk);
	return tally;
}

/* Without a log; with one that is filled, also in place of a walk that was given up; and with what is there. */
static void find(const struct trace *t, uint64_t slack)
{
	struct match_log *log = match_log_open();
	struct match_walk *given_up = match_walk_open(t, slack, log);
	struct match m;

	match_walk_next(given_up, &m);
	match_walk_close(given_up);
	struct match_tally tally = walk(t, slack, NULL);
	char *once = strdup(found);
	uint64_t said[sizeof facts / sizeof *facts];
	size_t nsaid = nfacts;
	memcpy(said, facts, sizeof said);
	for (int full = 0; full < 3; full++) {
		struct match_tally again = walk(t, slack, log);
		ck_assert_str_eq(found, once);
		ck_assert(nfacts == nsaid && memcmp(facts, said, nsaid * sizeof *facts) == 0);
		ck_assert_mem_eq(&again, &tally, sizeof tally);
		ck_assert(match_log_is_full(log));
	}
	match_log_close(log);
	free(once);
}

static void check_slack(const char *events, uint64_t slack, const char *expected)
{
	char directory[] = "/tmp/dprof-match-XXXXXX", path[64], command[64], *error;
	char *text = NULL;

	ck_assert(asprintf(&text, "%s%s", world, events) > 0);
	ck_assert(mkdtemp(directory) != NULL);
	snprintf(path, sizeof path, "%s/t", directory);
	FILE *in = fmemopen(text, strlen(text), "r");
	error = text_pack(in, "text", path);
	fclose(in);
	ck_assert_msg(!error, "%s", error);
	struct trace *t = trace_open(path, &error);
	ck_assert(t != NULL);
	for (size_t i = 0; i < t->ngroups; i++)
		t->groups[i].by_rank &= !groups_unordered;
	find(t, slack);
	trace_close(t);
	free(text);
	snprintf(command, sizeof command, "rm -rf %s", directory);
	ck_assert_int_eq(system(command), 0);
	char *wanted = strdup(expected);
	sort_words(found);
	sort_words(wanted);
	ck_assert_msg(strcmp(found, wanted) == 0, "found %s, expected %s, of\n%s", found,
		      expected, events);
	free(wanted);
}

static void check(const char *events, const char *expected)
{
	check_slack(events, 0, expected);
}

/* Thread, stamp, what follows. */
#define SEND(t, s, tag) "e " #t " " #s " 5 enter group=1 peer=1 tag=" #tag " bytes=8\n"
#define SENT(t, s)      "e " #t " " #s " 5 exit\n"
#define ISEND(t, s, tag, id) \
	"e " #t " " #s " 6 enter group=1 peer=1 tag=" #tag " bytes=8 id=" #id "\n" \
	"e " #t " " #s " 6 exit\n"
#define RECV(t, s, tag) "e " #t " " #s " 7 enter group=1 peer=0 tag=" #tag " bytes=8\n"
#define ANY(t, s)       "e " #t " " #s " 7 enter group=1 bytes=8\n"
#define DONE(t, s, tag) "e " #t " " #s " 7 point peer=0 tag=" #tag " bytes=8\n"
#define RECVD(t, s)     "e " #t " " #s " 7 exit\n"
#define IRECV(t, s, tag, id) \
	"e " #t " " #s " 8 enter group=1 peer=0 tag=" #tag " bytes=8 id=" #id "\n" \
	"e " #t " " #s " 8 exit\n"
#define IANY(t, s, id) \
	"e " #t " " #s " 8 enter group=1 bytes=8 id=" #id "\ne " #t " " #s " 8 exit\n"
#define IDONE(t, s, tag, id) "e " #t " " #s " 8 point id=" #id " peer=0 tag=" #tag " bytes=8\n"
#define WAIT(t, s, e, id) "e " #t " " #s " 9 enter id=" #id "\ne " #t " " #e " 9 exit\n"

START_TEST(messages_do_not_overtake)
{
	check(SEND(0, 1, 5) SENT(0, 2) SEND(0, 3, 5) SENT(0, 4) RECV(2, 1, 5) RECVD(2, 8)
	      RECV(2, 9, 5) RECVD(2, 10), "S1>R8 S3>R10");
	check(SEND(0, 1, 5) SENT(0, 2) SEND(0, 3, 6) SENT(0, 4) RECV(2, 1, 6) RECVD(2, 8)
	      RECV(2, 9, 5) RECVD(2, 10), "S3>R8 S1>R10");
	check(ISEND(0, 1, 5, 1) ISEND(0, 2, 5, 2) IRECV(2, 1, 5, 1) IRECV(2, 2, 5, 2)
	      WAIT(2, 3, 4, 2) WAIT(2, 5, 6, 1), "S1>R6 S2>R4");
}
END_TEST

/* The receive of any was begun first: it took the first message, though it says so last. */
START_TEST(a_receive_of_any_keeps_its_place)
{
	check(ISEND(0, 1, 5, 1) ISEND(0, 2, 5, 2) IANY(2, 1, 1) IRECV(2, 2, 5, 2) IDONE(2, 3, 5, 2)
	      IDONE(2, 4, 5, 1), "S1>R4 S2>R3");
	check(ISEND(0, 1, 5, 1) ISEND(0, 2, 5, 2) IANY(2, 1, 1) RECV(2, 2, 5) RECVD(2, 3) IDONE(2, 4, 5, 1), "S1>R4 S2>R3");
	/* It took another kind: the specific one keeps the first of its own. */
	check(ISEND(0, 1, 5, 1) ISEND(0, 2, 6, 2) IANY(2, 1, 1) IRECV(2, 2, 5, 2) IDONE(2, 3, 5, 2)
	      IDONE(2, 4, 6, 1), "S1>R3 S2>R4");
	/* It never says: what it may have taken is not known. */
	check(ISEND(0, 1, 5, 1) ISEND(0, 2, 5, 2) IANY(2, 1, 1) IRECV(2, 2, 5, 2) IDONE(2, 3, 5, 2),
	      "S1 S2");
	check(SEND(0, 1, 5) SENT(0, 2) ANY(2, 1) DONE(2, 6, 5) RECVD(2, 7), "S1>R6");
	check(SEND(0, 1, 5) SENT(0, 2) ANY(2, 1) RECVD(2, 7), "S1");
}
END_TEST

START_TEST(the_other_side_may_be_missing)
{
	check(SEND(0, 1, 5) SENT(0, 2), "S1");
	check(RECV(2, 1, 5) RECVD(2, 2), "R2");
	check("e 0 1 5 enter group=1 peer=7 tag=0 bytes=8\ne 0 2 5 exit\n", "");
	check(SEND(0, 1, 5) SENT(0, 2) RECV(2, 1, 5), "S1"); /* killed while it waited */
}
END_TEST

/* Sends of two threads: in the order of their stamps, unless they overlap, even by a tick. */
START_TEST(threads_at_the_same_time_have_no_order)
{
#define TAKE2 RECV(2, 1, 5) RECVD(2, 20) RECV(2, 21, 5) RECVD(2, 22)
	check(SEND(0, 1, 5) SENT(0, 2) SEND(1, 3, 5) SENT(1, 4) TAKE2, "S1>R20 S3>R22");
	check(SEND(0, 1, 5) SENT(0, 3) SEND(1, 3, 5) SENT(1, 4) TAKE2, "");
	check(SEND(0, 1, 5) SENT(0, 9) SEND(1, 3, 5) SENT(1, 4) TAKE2, "");
	check(SEND(0, 1, 5) SENT(0, 9) SEND(1, 3, 6) SENT(1, 4) RECV(2, 1, 5)
	      RECVD(2, 20), "S1>R20 S3");
	check_slack(SEND(0, 1, 5) SENT(0, 2) SEND(1, 5, 5) SENT(1, 6) TAKE2, 2, "S1>R20 S5>R22");
	check_slack(SEND(0, 1, 5) SENT(0, 2) SEND(1, 5, 5) SENT(1, 6) TAKE2, 3, "");
	/* Also when the receiver is walked first, long before the second send. */
	check(SEND(0, 1, 5) SENT(0, 9) SEND(1, 8, 5) SENT(1, 9) TAKE2
	      "e 2 9000 0 enter\ne 2 9001 0 exit\n", "");
	/* What came before is certain. */
	check(SEND(0, 1, 5) SENT(0, 2) SEND(0, 3, 5) SENT(0, 9) SEND(1, 4, 5) SENT(1, 5) TAKE2,
	      "S1>R20");
	/* And what comes behind. */
	check(SEND(0, 1, 5) SENT(0, 3) SEND(1, 2, 5) SENT(1, 4) SEND(1, 6, 5) SENT(1, 7) TAKE2 RECV(2, 23, 5) RECVD(2, 24),
	      "S6>R24");
	check(SEND(0, 1, 5) SENT(0, 9) SEND(1, 2, 5) SENT(1, 3) SEND(1, 6, 5) SENT(1, 7) SEND(0, 12, 5) SENT(0, 13) TAKE2
	      RECV(2, 23, 5) RECVD(2, 24) RECV(2, 25, 5) RECVD(2, 26), "S12>R26");
	/* Receives, of which nothing behind them is certain. */
	check(SEND(0, 1, 5) SENT(0, 2) SEND(0, 3, 5) SENT(0, 4) RECV(2, 1, 5) RECVD(2, 9)
	      RECV(3, 5, 5) RECVD(3, 6), "");
}
END_TEST

/* A request that was never completed may have taken a message or not. */
START_TEST(an_id_that_comes_again_is_doubtful)
{
	check(ISEND(0, 1, 5, 1) ISEND(0, 2, 5, 2) IRECV(2, 1, 5, 1) IRECV(2, 2, 5, 1)
	      WAIT(2, 3, 4, 1), "");
	check(ISEND(0, 1, 5, 1) ISEND(0, 2, 5, 2) IRECV(2, 1, 5, 1) WAIT(2, 2, 3, 1)
	      IRECV(2, 4, 5, 1) WAIT(2, 5, 6, 1), "S1>R3 S2>R6");
}
END_TEST

/* Cancelled before it took anything, or of no peer: as if it had never begun. Not so if it is only
 * forgotten. */
START_TEST(what_took_nothing_does_not_count)
{
#define NOTHING(t, s, id) "e " #t " " #s " 8 point id=" #id " peer=72057594037927935\n"
	check(ISEND(0, 1, 5, 1) IRECV(2, 1, 5, 1) IRECV(2, 2, 5, 2) NOTHING(2, 3, 1) WAIT(2, 4, 5, 2),
	      "S1>R5");
	check(ISEND(0, 1, 5, 1) IANY(2, 1, 1) IRECV(2, 2, 5, 2) WAIT(2, 4, 5, 2) NOTHING(2, 6, 1),
	      "S1>R5");
	check(ISEND(0, 1, 5, 1) IRECV(2, 1, 5, 1) IRECV(2, 2, 5, 2) WAIT(2, 4, 5, 2), "S1 R5");
	check("e 2 0 7 enter peer=72057594037927935\ne 2 1 7 exit\n"
	      "e 0 0 5 enter peer=72057594037927935\ne 0 1 5 exit\n"
	      SEND(0, 2, 5) SENT(0, 3) RECV(2, 2, 5) RECVD(2, 9), "S2>R9");
}
END_TEST

START_TEST(a_done_speaks_of_the_receive_around_it)
{
	check(SEND(0, 1, 5) SENT(0, 2) "e 2 1 9 enter\n" ANY(2, 2) DONE(2, 8, 5) RECVD(2, 9) "e 2 10 9 exit\n",
	      "S1>R8");
}
END_TEST

/* What a receive says that it took is not what it asked for: then nothing of it is certain. */
START_TEST(what_contradicts_itself_is_doubtful)
{
	check(SEND(0, 1, 6) SENT(0, 2) RECV(2, 1, 5) DONE(2, 8, 6) RECVD(2, 9), "S1 R9");
	check(SEND(0, 1, 5) SENT(0, 2) RECV(2, 1, 5) "e 2 8 7 point peer=1 tag=5 bytes=8\n" RECVD(2, 9), "S1 R9");
	check(SEND(0, 1, 5) SENT(0, 2) RECV(2, 1, 5) DONE(2, 8, 5) RECVD(2, 9), "S1>R8");
}
END_TEST

/* Records are missing between a request and what seems to complete it. */
START_TEST(what_was_lost_is_doubtful)
{
	check(ISEND(0, 1, 5, 1) IANY(2, 1, 1) "lost 2 3\n" IDONE(2, 4, 5, 1), "S1");
	check(SEND(0, 1, 5) SENT(0, 2) "lost 0 1\n" SEND(0, 3, 5) SENT(0, 4) RECV(2, 1, 5)
	      RECVD(2, 8) RECV(2, 9, 5) RECVD(2, 10), "S1>R8");
	/* Another thread of the rank may have sent what was lost, and when is not known. */
	check(SEND(0, 1, 5) SENT(0, 2) RECV(2, 1, 5) RECVD(2, 9) SEND(1, 20, 6) SENT(1, 21) "lost 1 1\n", "");
	check(SEND(0, 1, 5) SENT(0, 2) RECV(2, 1, 5) RECVD(2, 9) SEND(1, 20, 6) SENT(1, 21), "S1>R9 S20");
}
END_TEST

START_TEST(collectives)
{
#define COLL(t, s, e, site, more) \
	"e " #t " " #s " " #site " enter group=1 " more "\ne " #t " " #e " " #site " exit\n"
	check(COLL(0, 1, 4, 1, "seq=0") COLL(2, 1, 4, 1, "seq=0"), "all,1,1");
	check(COLL(0, 1, 4, 1, "seq=0") COLL(2, 1, 4, 1, "seq=1"), "all?,1 all?,1");
	check(COLL(0, 1, 4, 1, "seq=0") COLL(2, 1, 4, 2, "seq=0 bytes=8"), "none,1,1");
	check(COLL(0, 1, 4, 3, "seq=0 role=1 bytes=8") COLL(2, 1, 4, 3, "seq=0 role=0 bytes=8"),
	      "from,1,1");
	check(COLL(0, 1, 4, 4, "seq=0") COLL(2, 1, 4, 4, "seq=0"), "none,1,1");
	/* What only began is over when its id is. */
#define BEGIN(t) "e " #t " 1 4 enter group=1 seq=0 id=7\ne " #t " 2 4 exit\n"
	check(BEGIN(0) WAIT(0, 5, 6, 7) BEGIN(2) WAIT(2, 5, 6, 7), "all,1-6,1-6");
	check(BEGIN(0) BEGIN(2) WAIT(0, 5, 6, 7) "e 2 6 4 point id=7\n", "all,1-6,1-6");
	check(BEGIN(0) BEGIN(2) WAIT(2, 5, 6, 7), "all?,1,1-6");
	check(COLL(0, 1, 4, 14, "seq=0 bytes=8") COLL(2, 1, 4, 14, "seq=0 bytes=8"), "none,1,1");
	check(COLL(0, 1, 4, 13, "seq=0 bytes=8") COLL(2, 1, 4, 13, "seq=0 bytes=8"), "up,1,1");
	check(COLL(0, 1, 4, 1, "seq=0") "e 2 1 1 enter group=1 seq=0\n", "all?,1,1");
	/* Forks, joins and all others have numbers of their own. */
	check(COLL(0, 1, 2, 1, "seq=0") COLL(0, 3, 4, 15, "seq=0 role=1") COLL(2, 5, 6, 1, "seq=0")
	      COLL(2, 7, 8, 15, "seq=0 role=0"), "all,1,5 to,3,7");
	check(COLL(0, 1, 2, 12, "seq=0 role=1") COLL(0, 3, 4, 1, "seq=0") COLL(2, 5, 6, 12, "seq=0 role=0")
	      COLL(2, 7, 8, 1, "seq=0"), "from,1,5 all,3,7");
	groups_unordered = true;
	check(COLL(0, 1, 4, 13, "seq=0 bytes=8") COLL(2, 1, 4, 13, "seq=0 bytes=8"), "none,1,1");
	groups_unordered = false;
}
END_TEST

START_TEST(threads_begin_and_end)
{
	check("e 0 3 10 enter thread=1\ne 0 5 10 exit\ne 1 4 0 enter\ne 1 6 0 exit\n"
	      "e 0 7 11 enter thread=1\ne 0 9 11 exit\n", "3+4 6+9");
	check("e 0 3 10 enter thread=1\ne 0 5 10 exit\ne 0 7 11 enter thread=1\ne 0 9 11 exit\n", "");
}
END_TEST

int main(void)
{
	TCase *c = unit_begin(900, 0);

	tcase_add_test(c, messages_do_not_overtake);
	tcase_add_test(c, a_receive_of_any_keeps_its_place);
	tcase_add_test(c, the_other_side_may_be_missing);
	tcase_add_test(c, threads_at_the_same_time_have_no_order);
	tcase_add_test(c, an_id_that_comes_again_is_doubtful);
	tcase_add_test(c, what_took_nothing_does_not_count);
	tcase_add_test(c, a_done_speaks_of_the_receive_around_it);
	tcase_add_test(c, what_contradicts_itself_is_doubtful);
	tcase_add_test(c, what_was_lost_is_doubtful);
	tcase_add_test(c, collectives);
	tcase_add_test(c, threads_begin_and_end);
	return unit_end();
}

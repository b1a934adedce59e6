/* SPDX-License-Identifier: MIT
 *
 * freezer_keep.c - measuring beside a program: links are true, processors are left alone, and it
 * ends when it is told to. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "freezer/clock.h"
#include "freezer/exchange.h"
#include "freezer/synclog.h"
#include "testsuite/unit/unit.h"

#define MS 1000000ull

static const uint8_t key[FRZ_KEY_SIZE] = "fifteen letters";
static const struct frz_pace pace = { .interval_ns = 10 * MS, .at_least = 3, .at_most = 6 };

/* One host: its endpoint in a thread. */
struct keep_side {
	struct frz_endpoint endpoint;
	struct frz_synclog log;
	struct frz_peer peers[2];
	size_t npeers;
	pthread_t thread;
	uint64_t begun_ns, took_ns;
	long sleeps;
	int result;
};

static struct keep_side left, right;
static struct frz_stop stop;

/* How often the calling thread has gone to sleep. */
static long sleeps(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return usage.ru_nvcsw;
}

static void *keep(void *argument)
{
	struct keep_side *s = argument;
	long before = sleeps();

	s->begun_ns = frz_monotonic_raw_ns();
	s->result = frz_keep(&s->endpoint, s->peers, s->npeers, pace, &stop);
	s->took_ns = frz_monotonic_raw_ns() - s->begun_ns;
	s->sleeps = sleeps() - before;
	return NULL;
}

static void open_side(struct keep_side *s, uint32_t clock)
{
	memset(s, 0, sizeof *s);
	ck_assert_int_eq(frz_open(&s->endpoint, "127.0.0.1", clock, key), 0);
	ck_assert_int_eq(frz_synclog_create(&s->log, NULL, clock, "here"), 0);
}

static void add_peer(struct keep_side *s, uint16_t port, uint32_t clock)
{
	struct frz_peer *p = &s->peers[s->npeers++];

	snprintf(p->address, sizeof p->address, "127.0.0.1:%u", port);
	p->clock = clock;
	p->log = &s->log;
}

static void begin(struct keep_side *s)
{
	pthread_create(&s->thread, NULL, keep, s);
}

static void sleep_ms(unsigned ms)
{
	nanosleep(&(struct timespec){ ms / 1000, ms % 1000 * (long)MS }, NULL);
}

/* Until this many were counted, however busy the machine is: Check ends what never comes. */
static void await(const uint64_t *count, uint64_t many)
{
	while (__atomic_load_n(count, __ATOMIC_RELAXED) < many)
		sleep_ms(1);
}

/* Rounds begin an interval apart. */
static void assert_pace(const struct keep_side *s)
{
	uint64_t rounds = s->took_ns / pace.interval_ns + 1;

	ck_assert_uint_le(s->endpoint.counts.exchanges, rounds * pace.at_most);
}

static void setup(void)
{
	ck_assert_int_eq(frz_stop_open(&stop), 0);
	open_side(&left, 1);
	open_side(&right, 2);
}

static void teardown(void)
{
	frz_close(&left.endpoint);
	frz_close(&right.endpoint);
	frz_synclog_close(&left.log);
	frz_synclog_close(&right.log);
	frz_stop_close(&stop);
}

static void assert_links_are_true(const struct keep_side *s)
{
	ck_assert_uint_eq(s->log.nrecords, s->endpoint.counts.exchanges);
	for (size_t i = 0; i < s->log.nrecords; i++) {
		const struct frz_sync_record *r = &s->log.records[i];

		ck_assert_uint_eq(r->asker, s->endpoint.clock);
		ck_assert_uint_lt(r->asked, r->received);
		ck_assert_uint_lt(r->received, r->answered);
		ck_assert_uint_lt(r->answered, r->returned);
	}
}

START_TEST(one_asks_and_the_other_answers)
{
	add_peer(&left, frz_port(&right.endpoint), 2);
	begin(&left);
	begin(&right);
	await(&left.endpoint.counts.exchanges, 30);
	frz_stop_ask(&stop);
	pthread_join(left.thread, NULL);
	pthread_join(right.thread, NULL);
	assert_links_are_true(&left);
	assert_pace(&left);
	ck_assert_int_eq(left.result, 0);
	ck_assert_uint_eq(right.log.nrecords, 0);
	ck_assert_uint_eq(right.endpoint.counts.forged + right.endpoint.counts.stale, 0);
}
END_TEST

START_TEST(two_ask_each_other_and_neither_waits)
{
	add_peer(&left, frz_port(&right.endpoint), 2);
	add_peer(&right, frz_port(&left.endpoint), 1);
	begin(&left);
	begin(&right);
	await(&left.endpoint.counts.exchanges, 30);
	await(&right.endpoint.counts.exchanges, 30);
	frz_stop_ask(&stop);
	pthread_join(left.thread, NULL);
	pthread_join(right.thread, NULL);
	assert_links_are_true(&left);
	assert_links_are_true(&right);
	assert_pace(&left);
	assert_pace(&right);
}
END_TEST

START_TEST(it_sleeps_until_it_is_told_to_end)
{
	begin(&left); /* asks none, and none asks it */
	sleep_ms(300);
	frz_stop_ask(&stop);
	pthread_join(left.thread, NULL);
	ck_assert_int_le(left.sleeps, 4); /* where it looked at each interval it would be 30 */
}
END_TEST

START_TEST(a_peer_that_is_not_there_is_asked_again)
{
	uint16_t port = frz_port(&right.endpoint);

	frz_close(&right.endpoint);
	add_peer(&left, port, 2);
	begin(&left);
	await(&left.endpoint.counts.unanswered, 3);
	ck_assert_int_eq(frz_open_port(&right.endpoint, "127.0.0.1", port, 2, key), 0);
	begin(&right);
	await(&left.endpoint.counts.exchanges, 12);
	frz_stop_ask(&stop);
	pthread_join(left.thread, NULL);
	pthread_join(right.thread, NULL);
	assert_links_are_true(&left);
}
END_TEST

static void *flood(void *unused)
{
	struct sockaddr_in to = {
		.sin_family = AF_INET,
		.sin_port = htons(frz_port(&left.endpoint)),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	char bytes[64] = "";

	(void)unused;
	while (!frz_stop_asked(&stop))
		sendto(fd, bytes, sizeof bytes, 0, (struct sockaddr *)&to, sizeof to);
	close(fd);
	return NULL;
}

START_TEST(packets_without_the_key_cost_no_processor)
{
	pthread_t thread;

	begin(&left);
	pthread_create(&thread, NULL, flood, NULL);
	sleep_ms(400);
	await(&left.endpoint.counts.forged, 10);
	frz_stop_ask(&stop);
	pthread_join(thread, NULL);
	pthread_join(left.thread, NULL);
	ck_assert_uint_le(left.endpoint.counts.forged, left.took_ns / MS + 1); /* however many come: one each millisecond */
}
END_TEST

START_TEST(a_bad_address_is_said_at_once)
{
	struct frz_peer nowhere = { .address = "nowhere" };

	ck_assert_int_lt(frz_keep(&left.endpoint, &nowhere, 1, pace, &stop), 0);
}
END_TEST

int main(void)
{
	TCase *tests = unit_begin(900, 0);

	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_test(tests, one_asks_and_the_other_answers);
	tcase_add_test(tests, two_ask_each_other_and_neither_waits);
	tcase_add_test(tests, it_sleeps_until_it_is_told_to_end);
	tcase_add_test(tests, a_peer_that_is_not_there_is_asked_again);
	tcase_add_test(tests, packets_without_the_key_cost_no_processor);
	tcase_add_test(tests, a_bad_address_is_said_at_once);
	return unit_end();
}

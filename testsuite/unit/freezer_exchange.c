/* SPDX-License-Identifier: MIT
 *
 * freezer_exchange.c - both sides share one clock here, so the truth is known: every link must obey
 * it, whatever a relay between the two sides does to the packets. */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <unistd.h>

#include "freezer/burst.h"
#include "freezer/clock.h"
#include "freezer/exchange.h"
#include "freezer/host.h"
#include "freezer/synclog.h"
#include "testsuite/unit/unit.h"

#define MS    1000000ull
#define AMPLE (20000 * MS) /* for answers that must all come: beside 30 others a thread has a core now and then */

static const uint8_t key[FRZ_KEY_SIZE] = "fifteen letters";

static struct frz_endpoint asker, answerer;
static struct frz_synclog log_;
static struct frz_stop stop;

static void setup(void)
{
	ck_assert_int_eq(frz_stop_open(&stop), 0);
	ck_assert_int_eq(frz_open(&asker, "127.0.0.1", 1, key), 0);
	ck_assert_int_eq(frz_open(&answerer, "127.0.0.1", 2, key), 0);
	ck_assert_int_eq(frz_synclog_create(&log_, NULL, 1, "here"), 0);
}

static void teardown(void)
{
	frz_close(&asker);
	frz_close(&answerer);
	frz_synclog_close(&log_);
	frz_stop_close(&stop);
}

static const char *address_of(uint16_t port)
{
	static char text[FRZ_ADDRESS_SIZE];

	snprintf(text, sizeof text, "127.0.0.1:%u", port);
	return text;
}

/* How long the calling thread has waited for a core so far. */
static uint64_t waited_for_a_core(void)
{
	FILE *file = fopen("/proc/thread-self/schedstat", "r");
	uint64_t ns = 0;

	ck_assert_ptr_nonnull(file);
	ck_assert_int_eq(fscanf(file, "%*u %" SCNu64, &ns), 1);
	fclose(file);
	return ns;
}

/* When something began, and how long it took without what the machine kept it waiting for: that is its own. */
struct stopwatch { uint64_t begun, waited; };

static struct stopwatch begin_now(void)
{
	return (struct stopwatch){ frz_monotonic_raw_ns(), waited_for_a_core() };
}

static uint64_t own_time(struct stopwatch w)
{
	uint64_t took = frz_monotonic_raw_ns() - w.begun, waited = waited_for_a_core() - w.waited;

	return took > waited ? took - waited : 0;
}

static uint64_t dropped(const struct frz_endpoint *e)
{
	return e->counts.forged + e->counts.stale;
}

static void *answer(void *count)
{
	*(int *)count = frz_answer(&answerer, &stop, 4 * AMPLE);
	return NULL;
}

static void assert_links_are_true(void)
{
	for (size_t i = 0; i < log_.nrecords; i++) {
		const struct frz_sync_record *r = &log_.records[i];

		ck_assert_uint_eq(r->asker, 1);
		ck_assert_uint_eq(r->answerer, 2);
		ck_assert_uint_lt(r->asked, r->received);
		ck_assert_uint_lt(r->received, r->answered);
		ck_assert_uint_lt(r->answered, r->returned);
		if (i)
			ck_assert_uint_lt(r[-1].returned, r->asked);
	}
}

START_TEST(two_threads_exchange_true_links)
{
	struct frz_burst burst = { AMPLE, 100, 100 };
	pthread_t thread;
	int answers;

	pthread_create(&thread, NULL, answer, &answers);
	ck_assert_int_eq(frz_ask(&asker, address_of(frz_port(&answerer)), 2, burst, &log_), 100);
	ck_assert_int_eq(frz_ask(&asker, address_of(frz_port(&answerer)), 2, burst, NULL), 100);
	ck_assert_int_eq(frz_finish(&asker, address_of(frz_port(&answerer)), 2, AMPLE), 0);
	pthread_join(thread, NULL);
	ck_assert_int_ge(answers, 200);
	ck_assert_uint_eq(log_.nrecords, 100);
	assert_links_are_true();
}
END_TEST

static uint64_t monotonic_now(void)
{
	return frz_kernel_fenced(FRZ_MONOTONIC);
}

/* Its readings lie between those before and behind; and whoever asks for what is no clock of the kernel gets nothing. */
START_TEST(a_clock_of_the_kernel_answers)
{
	struct frz_burst burst = { AMPLE, 50, 50 };
	const char *address = address_of(frz_port(&answerer));
	uint64_t least = monotonic_now();
	pthread_t thread;
	int answers;

	pthread_create(&thread, NULL, answer, &answers);
	ck_assert_int_eq(frz_ask_kernel(&asker, address, 2, FRZ_MONOTONIC, burst, &log_), 50);
	uint64_t most = monotonic_now();
	burst = (struct frz_burst){ 30 * MS, 1, 1 };
	ck_assert_int_eq(frz_ask_kernel(&asker, address, 2, FRZ_TSC, burst, NULL), -ETIMEDOUT);
	ck_assert_int_eq(frz_ask_kernel(&asker, address, 2, FRZ_SOURCES, burst, NULL), -ETIMEDOUT);
	frz_stop_ask(&stop);
	pthread_join(thread, NULL);
	for (size_t i = 0; i < log_.nrecords; i++) {
		ck_assert_uint_gt(log_.records[i].received, least);
		ck_assert_uint_eq(log_.records[i].answered, log_.records[i].received);
		ck_assert_uint_lt(log_.records[i].asked, log_.records[i].returned);
		least = log_.records[i].received;
	}
	ck_assert_uint_lt(least, most);
}
END_TEST

/* What it is told arrives whole, in a log as well; and who has been told nothing does not answer. */
START_TEST(an_endpoint_says_what_its_host_is)
{
	const char *address = address_of(frz_port(&answerer));
	struct frz_host told, found, kept;
	pthread_t thread;
	int answers, parts = 0;

	ck_assert_int_eq(frz_host_here(&told, "a host's name", 100 * MS), 0);
	pthread_create(&thread, NULL, answer, &answers);
	ck_assert_int_eq(frz_ask_host(&asker, address, 2, 30 * MS, &found), -ETIMEDOUT);
	answerer.host = &told;
	ck_assert_int_eq(frz_ask_host(&asker, address, 2, AMPLE, &found), 0);
	frz_stop_ask(&stop);
	pthread_join(thread, NULL);
	ck_assert_mem_eq(&told, &found, sizeof told);
	ck_assert_int_eq(frz_synclog_add_host(&log_, 7, &found), 0);
	for (size_t i = 0; i < log_.nrecords; i++) {
		ck_assert_uint_eq(log_.records[i].asker, 7);
		parts |= 1 << frz_host_part(&kept, &log_.records[i]);
	}
	ck_assert_int_eq(parts, (1 << FRZ_HOST_PARTS) - 1);
	ck_assert_mem_eq(&told, &kept, sizeof told);
	ck_assert(frz_host_is_sound(&kept));
	memset(kept.name, 'x', sizeof kept.name);
	ck_assert(!frz_host_is_sound(&kept));
}
END_TEST

START_TEST(a_burst_ends_when_the_width_stops_improving)
{
	struct frz_burst burst = { 5000 * MS, 1, 1000000 };
	pthread_t thread;
	int answers, asked;

	pthread_create(&thread, NULL, answer, &answers);
	asked = frz_ask(&asker, address_of(frz_port(&answerer)), 2, burst, &log_);
	frz_stop_ask(&stop);
	pthread_join(thread, NULL);
	ck_assert_int_ge(asked, 64);
	ck_assert_int_lt(asked, 100000);
}
END_TEST

START_TEST(a_silent_peer_costs_the_deadline_and_no_more)
{
	struct stopwatch watch = begin_now();

	ck_assert_int_eq(frz_ask(&asker, address_of(frz_port(&answerer)), 2,
				 (struct frz_burst){ 60 * MS, 10, 100 }, &log_), -ETIMEDOUT);
	ck_assert_uint_ge(frz_monotonic_raw_ns() - watch.begun, 60 * MS);
	ck_assert_uint_lt(own_time(watch), 200 * MS);
	ck_assert_int_eq(frz_finish(&asker, address_of(frz_port(&answerer)), 2, 20 * MS),
			 -ETIMEDOUT);
}
END_TEST

START_TEST(answering_ends_at_the_deadline_or_the_flag)
{
	struct stopwatch watch = begin_now();

	ck_assert_int_eq(frz_answer(&answerer, NULL, 40 * MS), 0);
	ck_assert_uint_ge(frz_monotonic_raw_ns() - watch.begun, 40 * MS);
	ck_assert_uint_lt(own_time(watch), 200 * MS);
	frz_stop_ask(&stop);
	watch = begin_now();
	ck_assert_int_eq(frz_answer(&answerer, &stop, 5000 * MS), 0);
	ck_assert_uint_lt(own_time(watch), 200 * MS);
}
END_TEST

START_TEST(another_key_and_another_host_get_no_answer)
{
	struct frz_burst burst = { 50 * MS, 1, 1 };
	uint8_t other[FRZ_KEY_SIZE] = { 0 };
	struct frz_endpoint stranger;
	pthread_t thread;
	int answers;

	pthread_create(&thread, NULL, answer, &answers);
	ck_assert_int_eq(frz_open(&stranger, "127.0.0.1", 1, other), 0);
	ck_assert_int_eq(frz_ask(&stranger, address_of(frz_port(&answerer)), 2, burst, &log_),
			 -ETIMEDOUT);
	ck_assert_int_eq(frz_ask(&asker, address_of(frz_port(&answerer)), 3, burst, &log_),
			 -ETIMEDOUT);
	frz_stop_ask(&stop);
	pthread_join(thread, NULL);
	frz_close(&stranger);
	ck_assert_int_eq(answers, 0);
	ck_assert_uint_ge(answerer.counts.forged, 2);
	ck_assert_uint_eq(answerer.counts.stale, 0);
	ck_assert_uint_eq(asker.counts.exchanges, 0);
	ck_assert_uint_ge(asker.counts.unanswered, 1);
	ck_assert_uint_eq(log_.nrecords, 0);
}
END_TEST

/* ---- A relay that does to packets what networks and enemies do --------------------------------*/

#define HELD 8

struct relay {
	int fd;                         /* both sides send here */
	struct sockaddr_in asking, answering;
	unsigned seed;
	unsigned dropped, twice, cut, changed, held, longer;
	struct { char bytes[128]; ssize_t size; bool to_asking; } old[HELD];
};

static struct sockaddr_in loopback(uint16_t port)
{
	return (struct sockaddr_in){
		.sin_family = AF_INET,
		.sin_port = htons(port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
}

static void pass_on(struct relay *r, const char *bytes, ssize_t size, bool to_asking)
{
	struct sockaddr_in *to = to_asking ? &r->asking : &r->answering;

	sendto(r->fd, bytes, (size_t)size, 0, (struct sockaddr *)to, sizeof *to);
}

static void disturb(struct relay *r, char *bytes, ssize_t size, bool to_asking)
{
	unsigned what = (unsigned)rand_r(&r->seed) % 16, slot = (unsigned)rand_r(&r->seed) % HELD;

	switch (what) {
	case 0: r->dropped++; return;
	case 1: r->twice++; pass_on(r, bytes, size, to_asking); break;
	case 2: r->cut++; size = rand_r(&r->seed) % size; break;
	case 3:
		r->changed++;
		bytes[rand_r(&r->seed) % size] ^= (char)(1 << rand_r(&r->seed) % 8);
		break;
	case 4: r->longer++; bytes[size++] = 0; break;
	case 5: /* an old one instead of this one, from whatever time and direction */
		r->held++;
		pass_on(r, r->old[slot].bytes, r->old[slot].size, r->old[slot].to_asking);
		break;
	}
	memcpy(r->old[slot].bytes, bytes, (size_t)size);
	r->old[slot].size = size;
	r->old[slot].to_asking = to_asking;
	pass_on(r, bytes, size, to_asking);
}

static void *relay_run(void *argument)
{
	struct relay *r = argument;
	char bytes[128];

	while (!frz_stop_asked(&stop)) {
		struct pollfd p = { .fd = r->fd, .events = POLLIN };
		struct sockaddr_in from;
		socklen_t from_size = sizeof from;

		if (poll(&p, 1, 10) <= 0)
			continue;
		ssize_t size = recvfrom(r->fd, bytes, 100, 0, (struct sockaddr *)&from, &from_size);

		if (size <= 0)
			continue;
		bool to_asking = from.sin_port == r->answering.sin_port;
		if (!to_asking)
			r->asking = from;
		disturb(r, bytes, size, to_asking);
	}
	return NULL;
}

START_TEST(whatever_happens_to_packets_links_stay_true)
{
	struct relay relay = { .fd = socket(AF_INET, SOCK_DGRAM, 0), .seed = (unsigned)unit_seed };
	struct sockaddr_in own = loopback(0);
	socklen_t own_size = sizeof own;
	pthread_t answering, relaying;
	unsigned seed = relay.seed;
	int answers;

	ck_assert_int_eq(bind(relay.fd, (struct sockaddr *)&own, sizeof own), 0);
	getsockname(relay.fd, (struct sockaddr *)&own, &own_size);
	relay.answering = loopback(frz_port(&answerer));
	pthread_create(&answering, NULL, answer, &answers);
	pthread_create(&relaying, NULL, relay_run, &relay);

	int asked = frz_ask(&asker, address_of(ntohs(own.sin_port)), 2,
			    (struct frz_burst){ 5000 * MS, 500, 500 }, &log_);
	frz_stop_ask(&stop);
	pthread_join(answering, NULL);
	pthread_join(relaying, NULL);
	close(relay.fd);

	ck_assert_msg(asked >= 10, "SEED=%u: %d exchanges", seed, asked);
	ck_assert_uint_eq(log_.nrecords, (size_t)asked);
	assert_links_are_true();
	ck_assert_msg(dropped(&asker) && dropped(&answerer), "SEED=%u", seed);
	/* What the relay spoiled and what arrived at all was counted by one of the two sides. */
	ck_assert_msg(dropped(&asker) + dropped(&answerer) >=
			      (relay.twice + relay.cut + relay.changed + relay.longer) / 2,
		      "SEED=%u", seed);
}
END_TEST

START_TEST(a_replayed_question_or_end_does_nothing)
{
	struct pollfd p;
	char bytes[128];
	struct sockaddr_in own = loopback(0), to = loopback(frz_port(&answerer));
	socklen_t own_size = sizeof own;
	int tap = socket(AF_INET, SOCK_DGRAM, 0), answers;
	pthread_t thread;

	/* A question that was overheard ... */
	ck_assert_int_eq(bind(tap, (struct sockaddr *)&own, sizeof own), 0);
	getsockname(tap, (struct sockaddr *)&own, &own_size);
	ck_assert_int_eq(frz_finish(&asker, address_of(ntohs(own.sin_port)), 2, 1 * MS),
			 -ETIMEDOUT);
	p = (struct pollfd){ .fd = tap, .events = POLLIN };
	ck_assert_int_eq(poll(&p, 1, 1000), 1);
	ssize_t size = recv(tap, bytes, sizeof bytes, 0);

	/* ... ends the answering once, not twice. */
	sendto(tap, bytes, (size_t)size, 0, (struct sockaddr *)&to, sizeof to);
	ck_assert_int_eq(frz_answer(&answerer, NULL, 5000 * MS), 0);
	ck_assert_uint_eq(dropped(&answerer), 0);
	sendto(tap, bytes, (size_t)size, 0, (struct sockaddr *)&to, sizeof to);
	pthread_create(&thread, NULL, answer, &answers);
	ck_assert_int_eq(frz_ask(&asker, address_of(frz_port(&answerer)), 2,
				 (struct frz_burst){ AMPLE, 10, 10 }, &log_), 10);
	frz_stop_ask(&stop);
	pthread_join(thread, NULL);
	ck_assert_uint_ge(answerer.counts.stale, 1);
	ck_assert_uint_eq(answerer.counts.forged, 0);
	close(tap);
}
END_TEST

/* ---- Peers that do harm -----------------------------------------------------------------------*/

/* Sends what is not wanted to both ends, as fast as it can. */
static void *flood(void *unused)
{
	struct sockaddr_in to[] = { loopback(frz_port(&asker)), loopback(frz_port(&answerer)) };
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	char bytes[64] = "FRZ2";

	(void)unused;
	for (unsigned i = 0; !frz_stop_asked(&stop); i++) {
		memcpy(bytes + 8, &i, sizeof i);
		sendto(fd, bytes, i % 3 ? sizeof bytes : i % sizeof bytes, 0,
		       (struct sockaddr *)&to[i % 2], sizeof *to);
	}
	close(fd);
	return NULL;
}

START_TEST(packets_that_never_stop_cost_the_deadline_and_no_more)
{
	static const char *const silent = "127.0.0.1:9";
	pthread_t thread;

	pthread_create(&thread, NULL, flood, NULL);
	struct stopwatch watch = begin_now();
	ck_assert_int_eq(frz_ask(&asker, silent, 2, (struct frz_burst){ 60 * MS, 10, 100 }, &log_),
			 -ETIMEDOUT);
	ck_assert_int_eq(frz_finish(&asker, silent, 2, 40 * MS), -ETIMEDOUT);
	ck_assert_int_eq(frz_answer(&answerer, &stop, 100 * MS), 0);
	ck_assert_uint_lt(own_time(watch), 600 * MS);
	frz_stop_ask(&stop);
	pthread_join(thread, NULL);
	ck_assert_uint_ge(asker.counts.forged, 100);
	ck_assert_uint_ge(answerer.counts.forged, 100);
	ck_assert_uint_eq(log_.nrecords, 0);
}
END_TEST

/* Rather a queue that is full when the time is over: no machine has to be fast for that. */
START_TEST(packets_that_wait_are_not_read_beyond_the_deadline)
{
	struct sockaddr_in to[] = { loopback(frz_port(&asker)), loopback(frz_port(&answerer)) };
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	char bytes[64] = "";

	for (unsigned i = 0; i < 2 * 200; i++)
		sendto(fd, bytes, sizeof bytes, 0, (struct sockaddr *)&to[i % 2], sizeof *to);
	close(fd);
	ck_assert_int_eq(frz_answer(&answerer, &stop, 0), 0);
	ck_assert_uint_le(answerer.counts.forged, 2);
	ck_assert_int_eq(frz_finish(&asker, "127.0.0.1:9", 2, 20000), -ETIMEDOUT);
	ck_assert_uint_lt(asker.counts.forged, 150);
}
END_TEST

/* Longer where the machine has no time for it. */
static uint64_t died;
static void *answer_for_a_while(void *unused)
{
	(void)unused;
	for (unsigned i = 0; i < 5 && frz_answer(&answerer, &stop, 30 * MS) == 0; i++)
		;
	frz_close(&answerer);
	died = frz_monotonic_raw_ns();
	return NULL;
}

START_TEST(of_a_peer_that_dies_remains_what_it_answered)
{
	struct stopwatch watch = begin_now();
	const char *address = address_of(frz_port(&answerer));
	pthread_t thread;

	pthread_create(&thread, NULL, answer_for_a_while, NULL);
	int asked = frz_ask(&asker, address, 2, (struct frz_burst){ 200 * MS, 1000000, 1000000 },
			    &log_);
	uint64_t ended = frz_monotonic_raw_ns();
	ck_assert_uint_lt(own_time(watch), 400 * MS);
	pthread_join(thread, NULL);
	ck_assert_int_ge(asked, 1);
	ck_assert_uint_eq(log_.nrecords, (size_t)asked);
	if (died + 20 * MS < ended) /* with no core in time, it lives longer than it is asked */
		ck_assert_uint_ge(asker.counts.unanswered, 1);
	assert_links_are_true();
}
END_TEST

/* Takes its time over each packet. */
static void *relay_slowly(void *argument)
{
	struct relay *r = argument;
	char bytes[128];

	while (!frz_stop_asked(&stop)) {
		struct sockaddr_in from;
		socklen_t from_size = sizeof from;
		ssize_t size = recvfrom(r->fd, bytes, sizeof bytes, MSG_DONTWAIT,
					(struct sockaddr *)&from, &from_size);

		usleep(3000);
		if (size <= 0)
			continue;
		bool to_asking = from.sin_port == r->answering.sin_port;
		if (!to_asking)
			r->asking = from;
		pass_on(r, bytes, size, to_asking);
	}
	return NULL;
}

START_TEST(a_slow_peer_costs_the_deadline_and_no_more)
{
	struct relay relay = { .fd = socket(AF_INET, SOCK_DGRAM, 0) };
	struct sockaddr_in own = loopback(0);
	socklen_t own_size = sizeof own;
	struct stopwatch watch = begin_now();
	pthread_t answering, relaying;
	int answers;

	ck_assert_int_eq(bind(relay.fd, (struct sockaddr *)&own, sizeof own), 0);
	getsockname(relay.fd, (struct sockaddr *)&own, &own_size);
	relay.answering = loopback(frz_port(&answerer));
	pthread_create(&answering, NULL, answer, &answers);
	pthread_create(&relaying, NULL, relay_slowly, &relay);
	int asked = frz_ask(&asker, address_of(ntohs(own.sin_port)), 2,
			    (struct frz_burst){ 200 * MS, 1000, 1000 }, &log_);
	ck_assert_uint_lt(own_time(watch), 500 * MS);
	frz_stop_ask(&stop);
	pthread_join(answering, NULL);
	pthread_join(relaying, NULL);
	close(relay.fd);
	ck_assert(asked >= 1 || asked == -ETIMEDOUT); /* the relay may get no core before the deadline */
	ck_assert_int_le(asked, 40);
	assert_links_are_true();
	if (asked < 0) /* else the last one may have been answered just before the deadline */
		ck_assert_uint_ge(asker.counts.unanswered + asker.counts.stale, 1);
}
END_TEST

START_TEST(bad_addresses_are_refused)
{
	static const char *const bad[] = {
		"", ":", "127.0.0.1", "127.0.0.1:", ":80", "127.0.0.1:port",
		"no.such.name:1", "[127.0.0.1:9",
	};
	struct frz_endpoint e;

	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		ck_assert_msg(frz_ask(&asker, bad[i], 2, (struct frz_burst){ MS, 1, 1 }, NULL) < 0,
			      "'%s'", bad[i]);
	ck_assert_int_eq(frz_open(&e, "not an address", 1, key), -EINVAL);
	ck_assert_int_eq(frz_open(&e, "192.0.2.1", 1, key), -EADDRNOTAVAIL);
	ck_assert_int_eq(e.fd, -1);
}
END_TEST

/* Made-up exchanges: the fastest there and back are known, and the other clock runs at another
 * rate. */
START_TEST(the_estimate_does_not_depend_on_the_rate)
{
	static const double rates[] = { 0.1, 0.999, 1, 1.35, 10 };
	unsigned seed = 1;

	for (size_t k = 0; k < sizeof rates / sizeof *rates; k++) {
		enum { N = 256 };
		struct frz_sync_record e[N];
		double rate = rates[k], now = 1e9;

		for (int i = 0; i < N; i++) {
			double there = 12000 + rand_r(&seed) % 3000,
			       back = 10000 + rand_r(&seed) % 3000;

			e[i] = (struct frz_sync_record){
				.asked = (uint64_t)now,
				.received = (uint64_t)(5e12 + rate * (now + there)),
				.answered = (uint64_t)(5e12 + rate * (now + there + 500)),
				.returned = (uint64_t)(now + there + 500 + back),
			};
			now += there + back + 1000;
		}
		ck_assert_double_gt(burst_estimate(e, N), rate * 20900);
		ck_assert_double_lt(burst_estimate(e, N), rate * 23100);
	}
}
END_TEST

int main(void)
{
	TCase *tests = unit_begin(900, UNIT_ANEW);

	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_test(tests, two_threads_exchange_true_links);
	tcase_add_test(tests, a_burst_ends_when_the_width_stops_improving);
	tcase_add_test(tests, a_silent_peer_costs_the_deadline_and_no_more);
	tcase_add_test(tests, answering_ends_at_the_deadline_or_the_flag);
	tcase_add_test(tests, another_key_and_another_host_get_no_answer);
	tcase_add_test(tests, whatever_happens_to_packets_links_stay_true);
	tcase_add_test(tests, a_replayed_question_or_end_does_nothing);
	tcase_add_test(tests, packets_that_never_stop_cost_the_deadline_and_no_more);
	tcase_add_test(tests, packets_that_wait_are_not_read_beyond_the_deadline);
	tcase_add_test(tests, of_a_peer_that_dies_remains_what_it_answered);
	tcase_add_test(tests, a_slow_peer_costs_the_deadline_and_no_more);
	tcase_add_test(tests, bad_addresses_are_refused);
	tcase_add_test(tests, a_clock_of_the_kernel_answers);
	tcase_add_test(tests, an_endpoint_says_what_its_host_is);
	tcase_add_test(tests, the_estimate_does_not_depend_on_the_rate);
	return unit_end();
}

/* SPDX-License-Identifier: MIT
 *
 * analysis_packed.c - what the helper packs is what the analysis unpacks, bit for bit; and what was changed, cut off
 * or forged meanwhile is not unpacked. */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/trace/chunks_private.h"
#include "runtime/pack.h"
#include "testsuite/unit/unit.h"

#define OWNER 0x12345678u
#define MOST (2 * DPROF_PART_WORDS + 100)

static char directory[] = "/tmp/dprof-packed-XXXXXX", path[sizeof(directory) + sizeof("/packed")];
static struct ch_unpacker *unpacker;
static uint64_t words[MOST], back[DPROF_PART_WORDS];

static uint64_t next_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

/* Runs of what a program may record, and of what it may not. */
static size_t make_words(uint64_t *state, size_t most)
{
	size_t n = next_random(state) % most + 1;
	uint64_t stamp = next_random(state), kind = 0, site = 0;

	for (size_t i = 0; i < n; i++) {
		uint64_t any = next_random(state);

		if (any % 50 == 0)
			kind = any / 64 % 6;
		stamp += any % (UINT64_C(1) << any / 512 % 40);
		site = kind == 1 ? any : i % 7 * 16;
		words[i] = kind == 0   ? dprof_event_word(stamp, site, DPROF_ENTER)
			   : kind == 1 ? dprof_event_word(stamp, site, DPROF_EXIT)
			   : kind == 2 ? dprof_escape_word(DPROF_ESCAPE_ARG, any % 12, any % 3)
			   : kind == 3 ? dprof_escape_word(DPROF_ESCAPE_ARG, 6, i)
			   : kind == 4 ? dprof_epoch_word(stamp)
				       : any;
	}
	return n;
}

static int pack(size_t n)
{
	unlink(path);
	ck_assert_int_gt(dprof_pack(path, 0, OWNER, 7, words, n), 0);
	int fd = open(path, O_RDWR);
	ck_assert_int_ge(fd, 0);
	return fd;
}

/* The header of the part that begins there. */
static struct dprof_part header(int fd, uint64_t offset)
{
	struct dprof_part p;

	ck_assert(read_at(fd, &p, sizeof(p), offset) && is_part(&p, OWNER));
	return p;
}

START_TEST(what_is_packed_is_unpacked)
{
	for (uint64_t i = 0; i < unit_times(60); i++) {
		uint64_t state = unit_seed + i, offset = 0;
		size_t n = make_words(&state, MOST), first = 0;
		int fd = pack(n);

		for (struct dprof_part p; first < n; first += p.words) {
			p = header(fd, offset);
			ck_assert_msg(p.first == first && p.of == n && p.chunk == 7, "SEED=%" PRIu64, unit_seed + i);
			ck_assert_msg(unpacker_words(unpacker, fd, offset, OWNER, p.words, back) &&
					      !memcmp(words + first, back, p.words * sizeof(*words)),
				      "SEED=%" PRIu64 ": words from %zu on of %zu", unit_seed + i, first, n);
			offset += sizeof(p) + p.bytes;
		}
		close(fd);
	}
}
END_TEST

/* Files of threads may be exchanged, or one be copied over another. */
START_TEST(parts_are_of_their_owner_alone)
{
	uint64_t state = unit_seed;
	size_t n = make_words(&state, 3000);
	int fd = pack(n);
	struct dprof_part p = header(fd, 0);

	for (int i = 0; i < 1000; i++) {
		uint32_t other = (uint32_t)next_random(&state);

		if (other == OWNER)
			continue;
		ck_assert_msg(!is_part(&p, other), "owner %" PRIu32, other);
		ck_assert_msg(!unpacker_words(unpacker, fd, 0, other, n, back), "owner %" PRIu32, other);
	}
	close(fd);
}
END_TEST

/* Constant planes take no room, random ones their own, and nothing more than the reader makes room for. */
START_TEST(packed_words_are_small)
{
	struct stat s;
	size_t n = DPROF_PART_WORDS;
	uint64_t state = unit_seed;

	for (size_t i = 0; i < n; i++)
		words[i] = i % 4 ? dprof_escape_word(DPROF_ESCAPE_ARG, i % 4, i % 4 == 3 ? i : 5)
				 : dprof_event_word(1000 * i, 32, DPROF_ENTER);
	close(pack(n));
	ck_assert(!stat(path, &s));
	ck_assert_int_lt(s.st_size, 2000);
	for (size_t i = 0; i < n; i++)
		words[i] = next_random(&state);
	close(pack(n));
	ck_assert(!stat(path, &s));
	ck_assert_int_lt(s.st_size, (off_t)(10 * n));
	ck_assert_int_lt(s.st_size, UNPACKER_BYTES);
}
END_TEST

static void flip(int fd, uint64_t bit)
{
	uint8_t byte;

	ck_assert_int_eq(pread(fd, &byte, 1, (off_t)(bit / 8)), 1);
	byte ^= (uint8_t)(1u << bit % 8);
	ck_assert_int_eq(pwrite(fd, &byte, 1, (off_t)(bit / 8)), 1);
}

START_TEST(each_bit_counts)
{
	for (uint64_t i = 0; i < unit_times(30); i++) {
		uint64_t state = unit_seed + i;
		size_t n = make_words(&state, 3000);
		int fd = pack(n);
		uint64_t bits = 8 * (sizeof(struct dprof_part) + header(fd, 0).bytes);

		for (int k = 0; k < 100; k++) {
			uint64_t bit = next_random(&state) % (k % 2 ? bits : bits < 2000 ? bits : 2000);

			flip(fd, bit);
			ck_assert_msg(!unpacker_words(unpacker, fd, 0, OWNER, n, back),
				      "SEED=%" PRIu64 ": bit %" PRIu64 " of %" PRIu64 " was changed", unit_seed + i,
				      bit, bits);
			flip(fd, bit);
		}
		ck_assert(unpacker_words(unpacker, fd, 0, OWNER, n, back));
		ck_assert_int_eq(ftruncate(fd, (off_t)(next_random(&state) % (bits / 8))), 0);
		ck_assert_msg(!unpacker_words(unpacker, fd, 0, OWNER, n, back), "SEED=%" PRIu64 ": cut off", unit_seed + i);
		close(fd);
	}
}
END_TEST

/* Whoever gets the sums right may have any words; but nothing else happens. */
START_TEST(what_is_forged_harms_none)
{
	static uint64_t body[UNPACKER_BYTES / sizeof(uint64_t)];

	for (uint64_t i = 0; i < unit_times(60); i++) {
		uint64_t state = unit_seed + i;
		size_t n = make_words(&state, 3000);
		int fd = pack(n);
		uint32_t bytes = header(fd, 0).bytes;

		for (int k = 0; k < 50; k++) {
			size_t near = k % 2 ? bytes : bytes < 400 ? bytes : 400;

			ck_assert(read_at(fd, body, bytes, sizeof(struct dprof_part)));
			for (uint64_t changes = next_random(&state) % 3 + 1; changes; changes--)
				((uint8_t *)body)[next_random(&state) % near] = (uint8_t)next_random(&state);
			body[0] = dprof_split_sum(body, bytes);
			ck_assert_int_eq(pwrite(fd, body, bytes, sizeof(struct dprof_part)), bytes);
			unpacker_words(unpacker, fd, 0, OWNER, n, back);
		}
		close(fd);
	}
}
END_TEST

int main(void)
{
	TCase *t = unit_begin(900, UNIT_ANEW);
	int failed;

	if (!mkdtemp(directory))
		return EXIT_FAILURE;
	snprintf(path, sizeof(path), "%s/packed", directory);
	unpacker = ch_unpacker_open(AT_FDCWD);
	tcase_add_test(t, what_is_packed_is_unpacked);
	tcase_add_test(t, parts_are_of_their_owner_alone);
	tcase_add_test(t, packed_words_are_small);
	tcase_add_test(t, each_bit_counts);
	tcase_add_test(t, what_is_forged_harms_none);
	failed = unit_end();
	unlink(path);
	rmdir(directory);
	ch_unpacker_close(unpacker);
	return failed;
}

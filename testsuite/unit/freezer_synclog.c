/* SPDX-License-Identifier: MIT
 *
 * freezer_synclog.c - HOST.sync gives back what was stored, and names its damage. */
#include <errno.h>
#include <unistd.h>

#include "freezer/synclog.h"
#include "testsuite/unit/unit.h"

#define HEADER sizeof(struct frz_sync_header)
#define RECORD sizeof(struct frz_sync_record)
#define MANY   1000

static char path[] = "/tmp/freezer-synclog-XXXXXX";

static void setup(void)
{
	strcpy(path + sizeof path - 7, "XXXXXX");
	close(mkstemp(path));
	unlink(path);
}

static void teardown(void)
{
	unlink(path);
}

static struct frz_sync_record exchange(unsigned i)
{
	return (struct frz_sync_record){
		.kind = FRZ_SYNC_EXCHANGE,
		.asker = 0,
		.answerer = 3,
		.sequence = i,
		.asked = 1000 * i,
		.received = 7 * i,
		.answered = 7 * i + 1,
		.returned = 1000 * i + 30,
	};
}

static void write_many(unsigned n)
{
	struct frz_synclog log;

	ck_assert_int_eq(frz_synclog_create(&log, path, 3, "node-3"), 0);
	for (unsigned i = 0; i < n; i++) {
		struct frz_sync_record r = exchange(i);

		ck_assert_int_eq(frz_synclog_add(&log, &r), 0);
	}
	ck_assert_int_eq(frz_synclog_close(&log), 0);
}

static void overwrite(long offset, unsigned char xor)
{
	FILE *file = fopen(path, "r+b");
	int byte;

	fseek(file, offset, SEEK_SET);
	byte = fgetc(file);
	fseek(file, offset, SEEK_SET);
	fputc(byte ^ xor, file);
	fclose(file);
}

/* Reads all that can be read: how many records are sound and how many damages there are. */
struct synclog_reading { unsigned sound, damages; struct frz_damage first; };

static struct synclog_reading read_all(void)
{
	struct frz_syncfile f;
	struct frz_sync_record r;
	struct frz_damage damage = { 0 };
	struct synclog_reading all = { 0 };
	int got;

	ck_assert_int_eq(frz_syncfile_open(&f, path, &damage), 0);
	while ((got = frz_syncfile_next(&f, &r, &damage)) != 0) {
		if (got == 1) {
			struct frz_sync_record expected = exchange((unsigned)r.sequence);

			expected.check = r.check;
			ck_assert_mem_eq(&r, &expected, RECORD);
			all.sound++;
		} else if (!all.damages++) {
			ck_assert_int_eq(got, -EBADMSG);
			all.first = damage;
		}
	}
	frz_syncfile_close(&f);
	return all;
}

START_TEST(what_is_stored_comes_back)
{
	struct frz_syncfile f;
	struct frz_damage damage;

	write_many(MANY);
	ck_assert_int_eq(frz_syncfile_open(&f, path, &damage), 0);
	ck_assert_str_eq(f.host, "node-3");
	ck_assert_uint_eq(f.clock, 3);
	frz_syncfile_close(&f);

	struct synclog_reading all = read_all();
	ck_assert_uint_eq(all.sound, MANY);
	ck_assert_uint_eq(all.damages, 0);
}
END_TEST

START_TEST(an_exchange_is_two_links_and_a_link_is_one)
{
	struct frz_sync_record r = exchange(5);
	struct frz_link links[2];

	ck_assert_uint_eq(frz_sync_links(&r, links), 2);
	ck_assert(links[0].from == 0 && links[0].to == 3 && links[0].sent == 5000 &&
		  links[0].received == 35);
	ck_assert(links[1].from == 3 && links[1].to == 0 && links[1].sent == 36 &&
		  links[1].received == 5030);

	struct frz_synclog log;
	ck_assert_int_eq(frz_synclog_create(&log, NULL, 0, ""), 0);
	for (unsigned i = 0; i < MANY; i++)
		ck_assert_int_eq(frz_synclog_add_link(&log, (struct frz_link){ 4, 2, i, 2 * i }),
				 0);
	ck_assert_uint_eq(log.nrecords, MANY); /* in memory all stay */
	ck_assert_uint_eq(frz_sync_links(&log.records[9], links), 1);
	ck_assert(links[0].from == 4 && links[0].to == 2 && links[0].sent == 9 &&
		  links[0].received == 18);
	frz_synclog_close(&log);
}
END_TEST

START_TEST(a_file_that_exists_is_left_alone)
{
	struct frz_synclog log;

	write_many(1);
	ck_assert_int_eq(frz_synclog_create(&log, path, 0, "other"), -EEXIST);
	ck_assert_uint_eq(read_all().sound, 1);
}
END_TEST

START_TEST(a_file_cut_anywhere_gives_all_whole_records)
{
	write_many(4);
	for (long size = HEADER + 4 * RECORD; size >= (long)HEADER; size--) {
		ck_assert_int_eq(truncate(path, size), 0);
		struct synclog_reading all = read_all();
		size_t whole = ((size_t)size - HEADER) / RECORD,
		       torn = ((size_t)size - HEADER) % RECORD;

		ck_assert_uint_eq(all.sound, whole);
		ck_assert_uint_eq(all.damages, torn != 0);
		if (torn)
			ck_assert_uint_eq(all.first.offset, HEADER + whole * RECORD);
	}
}
END_TEST

START_TEST(a_cut_header_is_named)
{
	struct frz_syncfile f;
	struct frz_damage damage;

	write_many(1);
	for (long size = HEADER - 1; size >= 0; size--) {
		ck_assert_int_eq(truncate(path, size), 0);
		ck_assert_int_eq(frz_syncfile_open(&f, path, &damage), -EBADMSG);
		ck_assert_uint_eq(damage.offset, (size_t)size);
		ck_assert_ptr_nonnull(strstr(damage.what, "expected a header of 160 bytes"));
	}
	unlink(path);
	ck_assert_int_eq(frz_syncfile_open(&f, path, &damage), -ENOENT);
}
END_TEST

START_TEST(every_changed_byte_is_seen)
{
	struct frz_syncfile f;
	struct frz_damage damage;

	write_many(3);
	for (long at = 0; at < (long)(HEADER + 3 * RECORD); at++) {
		overwrite(at, 0x40);
		if (at < (long)HEADER) {
			ck_assert_int_eq(frz_syncfile_open(&f, path, &damage), -EBADMSG);
		} else {
			struct synclog_reading all = read_all();

			ck_assert_uint_eq(all.sound, 2);
			ck_assert_uint_eq(all.damages, 1);
		}
		overwrite(at, 0x40);
	}
	ck_assert_uint_eq(read_all().sound, 3);
}
END_TEST

START_TEST(stamps_that_go_back_are_damage)
{
	struct frz_synclog log;
	struct frz_sync_record r = exchange(1), back = r;

	back.returned = back.asked - 1;
	ck_assert_int_eq(frz_synclog_create(&log, path, 3, "node-3"), 0);
	frz_synclog_add(&log, &back);
	frz_synclog_add(&log, &r);
	ck_assert_int_eq(frz_synclog_close(&log), 0);

	struct synclog_reading all = read_all();
	ck_assert_uint_eq(all.sound, 1);
	ck_assert_uint_eq(all.first.offset, HEADER + offsetof(struct frz_sync_record, returned));
	ck_assert_str_eq(all.first.what, "expected a return at or after 1000, found 999");
}
END_TEST

START_TEST(a_full_disk_leaves_whole_records)
{
	struct frz_synclog log;
	struct frz_sync_record r = exchange(1);

	ck_assert_int_eq(frz_synclog_create(&log, path, 3, "node-3"), 0);
	close(log.fd);
	log.fd = 1 << 20; /* every write fails */
	ck_assert_int_eq(frz_synclog_add(&log, &r), 0);
	ck_assert_int_eq(frz_synclog_flush(&log), -EBADF);
	ck_assert_int_eq(frz_synclog_add(&log, &r), -EBADF);
	log.fd = -1;
	ck_assert_int_eq(frz_synclog_close(&log), -EBADF);
	ck_assert_uint_eq(read_all().sound, 0);
}
END_TEST

int main(void)
{
	TCase *tests = unit_begin(900, 0);

	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_test(tests, what_is_stored_comes_back);
	tcase_add_test(tests, an_exchange_is_two_links_and_a_link_is_one);
	tcase_add_test(tests, a_file_that_exists_is_left_alone);
	tcase_add_test(tests, a_file_cut_anywhere_gives_all_whole_records);
	tcase_add_test(tests, a_cut_header_is_named);
	tcase_add_test(tests, every_changed_byte_is_seen);
	tcase_add_test(tests, stamps_that_go_back_are_damage);
	tcase_add_test(tests, a_full_disk_leaves_whole_records);
	return unit_end();
}

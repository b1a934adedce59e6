/* SPDX-License-Identifier: MIT
 *
 * runtime_vectors.c - what is kept of registers has the memory that the processor says it takes, and AMX's tiles are
 * not among it. */
#include <cpuid.h>

#include "runtime/vectors.h"
#include "testsuite/unit/unit.h"

/* As a processor with AMX says it (Sapphire Rapids). */
static const struct dprof_component with_amx[63] = {
	[2] = { 256, 576 }, [5] = { 64, 1088 }, [6] = { 512, 1152 }, [7] = { 1024, 1664 }, [9] = { 8, 2688 },
	[17] = { 64, 2752 }, [18] = { 8192, 2816 },
};
static bool was_asked_for_tiles;

static struct dprof_component of_amx(unsigned bit)
{
	was_asked_for_tiles |= bit == 17 || bit == 18;
	return with_amx[bit];
}

static struct dprof_component of_this(unsigned bit)
{
	struct dprof_component c = { 0, 0 };
	unsigned unused, more;

	__get_cpuid_count(0xd, bit, &c.bytes, &c.at, &unused, &more);
	return c;
}

START_TEST(tiles_take_nothing)
{
	ck_assert_uint_eq(dprof_vector_area(0x602e7, of_amx), 2696);
	ck_assert_uint_eq(dprof_vector_area(0x7, of_amx), 832);
	ck_assert_uint_eq(dprof_vector_area(0x3, of_amx), 576);
	ck_assert(!was_asked_for_tiles);
}
END_TEST

/* Which says itself how much all of it is; tiles are behind all else. */
START_TEST(all_else_has_room)
{
	unsigned a, all, c, d, lower, upper;
	uint64_t enabled;

	if (!__get_cpuid(1, &a, &all, &c, &d) || !(c & bit_OSXSAVE) || !__get_cpuid_count(0xd, 0, &a, &all, &c, &d))
		return;
	__asm__ volatile("xgetbv" : "=a"(lower), "=d"(upper) : "c"(0));
	enabled = (uint64_t)upper << 32 | lower;
	if (enabled & DPROF_VECTORS_LEFT_OUT)
		ck_assert_uint_lt(dprof_vector_area(enabled, of_this), all);
	else
		ck_assert_uint_eq(dprof_vector_area(enabled, of_this), all);
}
END_TEST

int main(void)
{
	TCase *laws = unit_begin(60, 0);

	tcase_add_test(laws, tiles_take_nothing);
	tcase_add_test(laws, all_else_has_room);
	return unit_end();
}

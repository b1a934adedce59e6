/* SPDX-License-Identifier: MIT
 *
 * nested.c - nested N: N times 20 regions, each within the one before, with some work in between. */
#include <stdlib.h>

static unsigned seed;
static volatile double sum;

static void work(void)
{
	for (int i = rand_r(&seed) % 300; i > 0; i--)
		sum += i;
}

#define REGION(n, inner)                                 \
	static __attribute__((noinline)) void f##n(void) \
	{                                                \
		_Pragma("dprof region(nested)")          \
		{                                        \
			if (rand_r(&seed) % 4 == 0)      \
				work();                  \
			inner();                         \
		}                                        \
	}

REGION(1, work) REGION(2, f1) REGION(3, f2) REGION(4, f3) REGION(5, f4)
REGION(6, f5) REGION(7, f6) REGION(8, f7) REGION(9, f8) REGION(10, f9)
REGION(11, f10) REGION(12, f11) REGION(13, f12) REGION(14, f13) REGION(15, f14)
REGION(16, f15) REGION(17, f16) REGION(18, f17) REGION(19, f18) REGION(20, f19)

int main(int argc, char **argv)
{
	for (long i = argc > 1 ? atol(argv[1]) : 1000; i > 0; i--)
		f20();
	return 0;
}

/* SPDX-License-Identifier: MIT
 *
 * repack.c - repack DIR: the trace, as `dprof-analyze pack` makes it, becomes one as the recorder leaves it, in packed
 * chunks of 1 MiB. */
#include "testsuite/unit/repack.h"

int main(int argc, char **argv)
{
	if (argc != 2)
		return EXIT_FAILURE;
	repack(argv[1], ((size_t)1 << 20) / sizeof(uint64_t), true);
	return EXIT_SUCCESS;
}

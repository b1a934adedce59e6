/* SPDX-License-Identifier: MIT
 *
 * ghz.c - prints the nominal ticks per nanosecond of this host's clock. */
#include <stdio.h>

#include "freezer/clock.h"

int main(void)
{
	printf("%.6f\n", frz_ghz());
	return 0;
}

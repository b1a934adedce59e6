/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * cplus.cc - what only cp-tree.h knows. It cannot be included beside the headers of C, and its functions
 * are missing in other compilers than cc1plus: only its macros are used. */
#include "gcc-plugin.h"
#include "tree.h"
#include "cp/cp-tree.h"

bool cplus_constexpr(tree fn)
{
	return DECL_DECLARED_CONSTEXPR_P(fn);
}

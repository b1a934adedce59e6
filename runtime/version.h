/* SPDX-License-Identifier: MIT
 *
 * version.h - which dprof this is: MAJOR.MINOR. The Makefile reads it here, too: libraries are called after MAJOR. */
#ifndef DPROF_VERSION_H
#define DPROF_VERSION_H

#define DPROF_VERSION "0.1"

#endif

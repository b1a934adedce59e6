/* SPDX-License-Identifier: MIT
 *
 * cases.h - programs that show one thing after another, each by its name.
 *
 *	static const struct example_case cases[] = {
 *		{ "late_sender", late_sender, "who sends has work before" }, { 0 } };
 *	cases_run(argc, argv, cases, "Shows ...", rank == 0);
 *
 * Law: those that are named run in the order of the table, once each; all of them where none is named. */
#ifndef EXAMPLES_CASES_H
#define EXAMPLES_CASES_H

#include <stdbool.h>
#include <stdint.h>

struct example_case {
	const char *name;
	void (*run)(int64_t ns); /* how long the work takes for which another one waits */
	const char *what;        /* half a sentence, for --help */
};

/* Ends the program with status 2, and a message if it `speaks`, where the arguments are not fine. */
void cases_run(int argc, char **argv, const struct example_case *cases, const char *about, bool speaks);

/* Work, that sleeps: its own time, however busy the cores are. */
void case_work(int64_t ns);

#endif

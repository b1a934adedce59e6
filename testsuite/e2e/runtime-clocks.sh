#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Sleeps and loops that a clock ends which the program reads are recorded with what is known of that; those that only last for some
# time from where they begin are not, nor is what a program times for itself.
. testsuite/lib.sh
at_once=1
export PKG_CONFIG_PATH=$B/lib/pkgconfig DPROF_QUIET=1
cd "$dir" || exit 1

cat >program.c <<'C'
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

struct part { double spent, begun; int rounds; };

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e3 + t.tv_nsec * 1e-6;
}

static void read_clock(double *ms)
{
	struct timeval t;
	gettimeofday(&t, NULL);
	*ms = t.tv_sec * 1e3 + t.tv_usec * 1e-3;
}

static int late;

static void work(double ms)
{
	static double begin;
	begin = begin ? begin : now();
#pragma dprof region(work)
	usleep(ms * 1000);
	late |= ms == 5 && now() > begin + 150; /* it had no core */
}

static void sleeps(double end) /* for what is left, again and again */
{
	for (double left; (left = end - now()) > 0;)
		usleep(left * 1000); /* REST */
}

static void rest(double ms)
{
	if (ms > 0)
		usleep(ms * 1000);
}

static void wait_until(double then)
{
	while (now() < then) /* BY WHO CALLS IT */
		;
}

static void busy(double ms) /* that is work */
{
	double end = now() + ms;
	while (now() < end)
		;
}

static void spend(double end) /* likewise, as its caller reads a clock */
{
	while (now() < end)
		;
}

static void step(struct part *p)
{
	p->begun = now();
	work(1);
	p->spent += now() - p->begun;
	p->rounds++;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	struct part part = { 0 };
	double begin = now(), best = 1e9;
	if (!strcmp(what, "rests")) {
		work(5);
		double left = 200 - (now() - begin);
		if (left > 0)
			usleep(left * 1000); /* REST */
	}
	if (!strcmp(what, "passes")) {
		work(5);
		double left = 1 - (now() - begin);
		if (left > 0)
			usleep(left * 1000); /* REST */
	}
	if (!strcmp(what, "given")) {
		work(5);
		rest(begin + 200 - now()); /* REST */
	}
	if (!strcmp(what, "until"))
		sleeps(begin + 20); /* REST */
	if (!strcmp(what, "none")) {
		work(5);
		rest(begin + 1 - now()); /* REST */
	}
	if (!strcmp(what, "waits")) {
		double next = 0;
		read_clock(&next);
		next += 200;
		work(5);
		for (double t = 0; t < next; read_clock(&t)) /* LOOP */
			;
	}
	if (!strcmp(what, "works"))
		while (now() - begin < 200) /* LOOP */
			work(3);
	if (!strcmp(what, "others")) {
		work(5);
		wait_until(begin + 200);
		work(1);
		busy(3);
		spend(now() + 3);
		for (; part.rounds < 3; part.rounds++) {
			part.begun = now();
			work(1);
		}
		part.rounds = 0;
		while (part.rounds < 3)
			step(&part);
		for (int i = 0; i < 3; i++) {
			double t = now();
			work(1);
			t = now() - t;
			best = t < best ? t : best;
		}
		printf("%g %g\n", best, part.spent);
	}
	return late;
}
C

# The lines of sites of that name.
lines_of() { # name
	"$analyze" sites program | awk -v name="$1" 'index($0, name)' | grep -o 'program\.c:[0-9]*' | cut -d: -f2 | sort -n | xargs
}
marked() { # comment
	grep -n "/\* $1 \*/" program.c | cut -d: -f1 | xargs
}

for level in -O0 -O2 "-O3 -flto"; do
	# shellcheck disable=SC2046,SC2086
	gcc $level $(pkg-config --cflags dprof) -o program program.c $(pkg-config --libs dprof) || fail "$level"
	found=$(lines_of "no time left to sleep")
	[ "$found" = "$(marked REST)" ] || fail "$level: sleeps for what is left stand in lines $(marked REST), found: $found"
	found=$(lines_of "loop until a time")
	[ "$found" = "$(marked "LOOP\|BY WHO CALLS IT")" ] || fail "$level: loops until a time in lines $(marked "LOOP\|BY WHO CALLS IT"), found: $found"
done

roles() { # WAY: those of sleeps, in the order in which they are recorded
	for _ in 1 2 3 4 5 6; do
		rm -rf dprof-*
		"./program" "$1" >/dev/null && break
	done
	"$analyze" dump dprof-program.* | sed -n 's/.* enter \(.*role=[0-9].*\)/\1/p' | grep -v peer= | sed 's/until=[0-9]*/until/; s/offset=[0-9]*/offset/' | xargs
}
found=$(for way in rests passes given until none waits works others; do echo "$way: $(roles "$way")"; done)
[ "$found" = "rests: until role=1
passes: role=2
given: until role=1
until: until role=1
none: role=2
waits: until role=3
works: role=2 offset
others: until role=3" ] || fail "what is recorded: $found"
echo "as expected"

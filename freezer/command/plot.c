/* SPDX-License-Identifier: MIT
 *
 * plot.c - a picture of the bounds over the run, drawn by gnuplot.
 *
 * The offset of a clock grows by its rate, which would hide everything else: what is drawn is the
 * offset less a line from the first stamp to the last. The two curves enclose it; the points are
 * what single packets say, so that one sees which of them hold the curves. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "freezer/clock.h"
#include "freezer/command/command.h"

#define LOOKS         400
#define TERMINAL_ROWS 24
#define PIXEL_ROWS    420 /* each picture */

static const struct { const char *suffix, *terminal; } kinds[] = {
	{ ".png", "pngcairo size 1000," },
	{ ".svg", "svg size 1000," },
};
#define NKINDS (sizeof kinds / sizeof *kinds)

static const char *terminal_of(const char *file)
{
	size_t length = strlen(file);

	for (size_t i = 0; i < NKINDS; i++)
		if (length > 4 && strcmp(file + length - 4, kinds[i].suffix) == 0)
			return kinds[i].terminal;
	return NULL;
}

bool plot_knows(const char *file)
{
	return !file || (terminal_of(file) && !strpbrk(file, "'\n\\"));
}

int plot_begin(struct plot *p, const char *file, size_t n)
{
	fflush(stdout);
	p->gnuplot = popen("gnuplot", "we");
	if (!p->gnuplot) {
		fprintf(stderr, "freezer: cannot start gnuplot: %s\n", strerror(errno));
		return -errno;
	}
	if (file)
		fprintf(p->gnuplot, "set terminal %s %zu\nset output '%s'\n", terminal_of(file),
			n * PIXEL_ROWS, file);
	else
		fprintf(p->gnuplot, "set terminal dumb size 79, %zu\n", n * TERMINAL_ROWS);
	fprintf(p->gnuplot, "set multiplot layout %zu,1\n", n);
	return 0;
}

/* Stamps there become seconds since the first; offsets microseconds beside the line. */
struct plot_frame {
	uint64_t first, span;
	__int128 at_first, grown; /* the line: offset in ticks, and by how much it grows */
	double us;                /* for each tick */
};

static double beside_line(const struct plot_frame *f, uint64_t stamp, __int128 offset)
{
	__int128 line = f->at_first + f->grown * (__int128)(stamp - f->first) / f->span;

	return (double)(offset - line) * f->us;
}

static double seconds(const struct plot_frame *f, uint64_t stamp)
{
	return (double)(stamp - f->first) * f->us * 1e-6;
}

static __int128 middle_offset(struct frz_cursor *c, uint64_t stamp)
{
	frz_time t = frz_time_of(c, stamp);

	return (__int128)stamp - ((__int128)t.lo + t.hi) / 2;
}

static void put_curves(FILE *out, const struct plot_frame *f, struct frz_cursor *c)
{
	fputs("$curves << END\n", out);
	for (uint64_t i = 0; i <= LOOKS; i++) {
		uint64_t stamp = f->first + (uint64_t)((unsigned __int128)f->span * i / LOOKS);
		frz_time t = frz_time_of(c, stamp);

		fprintf(out, "%.6f %.3f %.3f\n", seconds(f, stamp),
			beside_line(f, stamp, (__int128)stamp - t.hi),
			beside_line(f, stamp, (__int128)stamp + 1 - t.lo));
	}
	fputs("END\n", out);
}

/* A packet there proves that the offset is at most this, one back that it is at least that. */
static void put_packets(FILE *out, const struct plot_frame *f, const struct frz_synclog *log)
{
	fputs("$packets << END\n", out);
	for (size_t i = 0; i < log->nrecords; i++) {
		const struct frz_sync_record *r = &log->records[i];
		__int128 most = (__int128)r->received + 1 - r->asked;
		__int128 least = (__int128)r->answered - 1 - r->returned;

		fprintf(out, "%.6f %.3f\n%.6f %.3f\n", seconds(f, r->received),
			beside_line(f, r->received, most), seconds(f, r->answered),
			beside_line(f, r->answered, least));
	}
	fputs("END\n", out);
}

static void put_title(FILE *out, const char *host)
{
	fputs("set title \"", out);
	for (; *host; host++)
		putc(*host < ' ' || *host == '"' || *host == '\\' ? '?' : *host, out);
	fputs(": counter there minus counter here, less its mean rate\" noenhanced\n", out);
}

void plot_add(struct plot *p, const struct result *r, const struct frz_synclog *log)
{
	const struct frz_sync_record *last = &log->records[log->nrecords - 1];
	struct frz_cursor c = frz_cursor(r->solution, CLOCK_THERE);
	struct plot_frame f = {
		.first = log->records[0].received,
		.span = last->answered - log->records[0].received + 1,
		.us = 1e-3 / frz_ghz(),
	};
	double reach = 1.5 * r->width_max * 1e6;

	f.at_first = middle_offset(&c, f.first);
	f.grown = middle_offset(&c, last->answered) - f.at_first;
	put_curves(p->gnuplot, &f, &c);
	put_packets(p->gnuplot, &f, log);
	put_title(p->gnuplot, r->host);
	fprintf(p->gnuplot,
		"set xlabel 'seconds'\nset ylabel 'us'\nset yrange [%g:%g]\n"
		"plot $packets with dots title 'single packets', "
		"$curves using 1:2 with lines title 'at least', "
		"'' using 1:3 with lines title 'at most'\n",
		-reach, reach);
}

int plot_end(struct plot *p)
{
	fputs("unset multiplot\n", p->gnuplot);
	if (pclose(p->gnuplot) == 0)
		return 0;
	fputs("freezer: gnuplot could not draw the picture; is it installed (Debian package "
	      "gnuplot-nox)?\n", stderr);
	return -EIO;
}

/* SPDX-License-Identifier: MIT
 *
 * notes.c - see notes.h. */
#include "analysis/report/notes.h"

#define SHOWN 20 /* all are among the data */

void notes_damage_listed(struct reply *r, size_t diagnostics, const char *where)
{
	if (diagnostics)
		reply_say(r, SAY_LINE, "Damaged: %zu problem%s (%s); nothing %s may change is proved.",
			  diagnostics, diagnostics > 1 ? "s" : "", where, diagnostics > 1 ? "they" : "it");
}

void notes_damage(struct reply *r, size_t diagnostics)
{
	notes_damage_listed(r, diagnostics, "dprof-analyze check");
}

void notes_fill(struct reply *r, const struct trace *trace)
{
	reply_texts(r, "problems", trace->diagnostics, trace->ndiagnostics);
	reply_texts(r, "notes", trace->notes, trace->nnotes);
	for (size_t i = 0; i < trace->nnotes && i < SHOWN; i++)
		reply_say(r, SAY_NOTE, "%s", trace->notes[i]);
	if (trace->nnotes > SHOWN)
		reply_say(r, SAY_LINE, "note: %zu more, see --json", trace->nnotes - SHOWN);
}

/* SPDX-License-Identifier: MIT
 *
 * notes.c - see notes.h. */
#include "analysis/report/notes.h"

#define SHOWN 20 /* all are among the data */

void notes_damage(struct reply *r, size_t diagnostics)
{
	if (diagnostics)
		reply_say(r, SAY_LINE, "Damaged: %zu problem%s (dprof-analyze check); nothing %s may change is proved.",
			  diagnostics, diagnostics > 1 ? "s" : "", diagnostics > 1 ? "they" : "it");
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

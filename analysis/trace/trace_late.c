/* SPDX-License-Identifier: MIT
 *
 * trace_late.c - operations that were recorded only when they were over, although a signal handler has recorded
 * something while they went on.
 *
 *   recorded    7 enter handler   9 exit handler   12 enter read since=3   12 exit read
 *   put right   3 enter read   7 enter handler   9 exit handler   12 exit read
 *
 * Law: what an operation says of its begin holds if all between was recorded behind that moment; else its place and
 * its stamp are as they were recorded. */
#include <string.h>

#include "analysis/trace/trace_private.h"

#define RUN_MOST (DPROF_KEY_COUNT + 1) /* an event and its arguments */

static size_t run_end(const struct loaded *l, size_t i)
{
	size_t end = i + 1;
	while (end < l->n && end < i + RUN_MOST && TR_OP(l->record[end].what) == DPROF_ARG)
		end++;
	return end;
}

/* When the operation began; 0: it does not say. */
static uint64_t since(const struct loaded *l, size_t i, size_t end)
{
	for (size_t k = i + 1; k < end; k++)
		if (TR_BODY(l->record[k].what) == DPROF_KEY_SINCE)
			return l->record[k].stamp;
	return 0;
}

/* The first event behind that moment. */
static size_t place_of(const struct loaded *l, size_t i, uint64_t moment)
{
	size_t place = i;
	for (size_t k = i; k-- > 0 && i - k <= HANDLER_RECORDS;) {
		if (!is_event(&l->record[k]))
			continue;
		if (l->record[k].stamp <= moment)
			break;
		place = k;
	}
	return place;
}

static void rotate(void *array, size_t size, size_t from, size_t middle, size_t end)
{
	char run[RUN_MOST * sizeof(struct tr_record)], *at = array;
	memcpy(run, at + middle * size, (end - middle) * size);
	memmove(at + (from + end - middle) * size, at + from * size, (middle - from) * size);
	memcpy(at + from * size, run, (end - middle) * size);
}

void bring_forward(struct loaded *l)
{
	for (size_t i = 0, end; i < l->n; i = end) {
		end = run_end(l, i);
		uint64_t moment = TR_OP(l->record[i].what) == DPROF_ENTER ? since(l, i, end) : 0;
		if (!moment || moment >= l->record[i].stamp)
			continue;
		size_t place = place_of(l, i, moment);
		bool all_behind = place == 0 || i - place < HANDLER_RECORDS;
		if (!all_behind)
			continue;
		l->record[i].stamp = moment;
		rotate(l->record, sizeof *l->record, place, i, end);
		rotate(l->word, sizeof *l->word, place, i, end);
		rotate(l->epoch, sizeof *l->epoch, place, i, end);
	}
}

/* SPDX-License-Identifier: MIT
 *
 * spill.h - arrays that may become longer than memory is large.
 *
 * What grows with the length of a run and is used in the order of the run, or nearly so, lies in such arrays: in memory
 * (arena.h), as long as all have room there. Where it has none, a short one is plain memory, and a long one is mapped from
 * a temporary file without a name (temporary.h): its pages are resident from when they are used until spill_relax() lets
 * go of them, and the kernel writes them out when it wants to. Where there is no such file, or it can grow no more, what
 * is left stays in memory, and a message says so.
 *
 * An array is used as any other, by its address, which only spill_grow() changes.
 *
 * Law: an array has what was written to it.
 *
 * Memory: what was said for the arena (or less, where a limit does not allow that much), as much as is needed of it;
 * SPILL_SHORT for all short arrays together, if no more grow side by side than was said; SPILL_RESIDENT, and
 * SPILL_USED for each long one, for what is in use of these, if spill_relax() is called often enough. Where many threads
 * are followed side by side through the same arrays more is in use: what is let go of comes back at once, again and
 * again. Then up to SPILL_MORE more is kept for each of the arrays that were to grow side by side. */
#ifndef ANALYSIS_SPILL_H
#define ANALYSIS_SPILL_H

#include <stddef.h>
#include <stdint.h>

#define SPILL_SHORT    ((size_t)1 << 26)
#define SPILL_MEMORY   ((size_t)1 << 29)
#define SPILL_RESIDENT ((size_t)1 << 25)
#define SPILL_BLOCK    ((size_t)1 << 16) /* bytes that are written at once */
#define SPILL_USED     (2 * SPILL_BLOCK) /* the kernel maps as much around a page that is used */
#define SPILL_MORE     (2 * SPILL_BLOCK)

struct spill {
	int file;                /* or -1 */
	int error;               /* why there is none, or why it does not grow any more */
	uint64_t end;            /* of the file */
	struct extent *unused; size_t nunused; /* parts of it */
	size_t least;            /* bytes of a long array */
	size_t side_by_side;     /* arrays that grow */
	size_t more;             /* bytes that may be resident for each of these, besides */
	size_t memory;           /* bytes that the arena may have, when it is made */
	struct arena *arena;     /* NULL: nothing needed it so far, or it has none */
	int statm;               /* what the kernel says is resident, or -1 */
	unsigned uses;           /* since it was last seen how much is resident; and how often that was, ... */
	unsigned looks;          /* ... since all was let go of */
	struct spilled *arrays;  /* all, in a list */
	size_t nlong;            /* of them are long */
};

/* So many arrays will grow side by side. The arena has so many bytes: a power of two, or 0. */
struct spill *spill_open(size_t memory, size_t arrays);
void spill_close(struct spill *); /* and all arrays */

/* Makes room for one more in an array of `count` elements, NULL without any, and gives its address. */
#define SPILL_GROW(spill, array, count)                                                            \
	((array) = spill_grow((spill), (array), (count), sizeof *(array)), &(array)[(count)++])

/* So many elements of only zeros. */
void *spill_zeros(struct spill *, size_t count, size_t size);
void spill_free(struct spill *, void *array); /* or NULL */

/* As memcpy, however much it is. */
void spill_copy(struct spill *, void *to, const void *from, size_t bytes);

/* In front of the elements. */
struct spill_head { struct spilled *array; size_t bytes; uint64_t unused[6]; };

/* For so many bytes there is room in an array, so far. Who keeps that beside its address need not look in front of the elements,
 * where nothing else is wanted, to grow it. */
static inline size_t spill_room(const void *array)
{
	return ((const struct spill_head *)array)[-1].bytes;
}

/* Behind SPILL_GROW. */
void *spill_more(struct spill *, void *old, size_t bytes);
static inline void *spill_grow(struct spill *s, void *old, size_t count, size_t size)
{
	size_t bytes = (count + 1) * size;
	return old && bytes <= spill_room(old) ? old : spill_more(s, old, bytes);
}

/* To be called between two uses of arrays, as often as one likes. */
#define SPILL_OFTEN 8192
void spill_rest(struct spill *); /* of all that is resident, now */
void spill_let_go(struct spill *);
static inline void spill_relax(struct spill *s)
{
	if (++s->uses >= SPILL_OFTEN)
		spill_let_go(s);
}

#endif

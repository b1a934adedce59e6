/* SPDX-License-Identifier: MIT
 *
 * otf2_private.h - what otf2_definitions.c finds in a trace, and otf2_events.c writes events by. */
#ifndef ANALYSIS_OTF2_PRIVATE_H
#define ANALYSIS_OTF2_PRIVATE_H

#include <stdio.h>

#include <otf2/otf2.h>

#include "analysis/base/ids.h"
#include "analysis/otf2/otf2.h"
#include "runtime/format.h"

#define OTF2_NOWHERE SIZE_MAX

struct otf2_region {
	OTF2_StringRef name, description, file;
	uint32_t line;
	OTF2_RegionRole role;
	OTF2_Paradigm paradigm;
	uint64_t site[2][DPROF_KIND_COUNT]; /* as each kind, and as a part of a call; 0: not in the text yet, else its number + 1 */
};

struct otf2_process {
	OTF2_StringRef name;
	OTF2_SystemTreeNodeRef node; /* with logs at last the one that is the host */
	size_t rank;             /* among MPI's; OTF2_NOWHERE if it has none */
	size_t clock;            /* of the text's; with logs it may be others' as well, */
	bool placed;             /* if it has threads */
};

struct otf2_node { OTF2_StringRef name; OTF2_SystemTreeNodeRef parent; }; /* of the system tree: a host, or in one, or of several */

struct otf2_group { uint64_t *members; size_t n; }; /* ranks among all of MPI's */

/* Collective operations of a communicator as its locations recorded them, those that are whole. */
struct otf2_calls {
	uint64_t each;           /* so many, of each of these: */
	size_t locations;
	uint64_t most_of_cut;    /* that a location recorded whose end is missing */
	bool differ;
};

struct otf2_location {
	OTF2_LocationRef ref;
	OTF2_StringRef name;
	OTF2_LocationGroupRef group;
	size_t process;          /* that group's place among them */
	bool thread;             /* of a processor; else a metric, a device, ... */
};

/* What has a number of its own in the trace; ids say where each is. Of what is defined twice the last holds. */
struct otf2_trace {
	const char *path;
	OTF2_Reader *reader;
	FILE *out;
	uint64_t resolution;     /* ticks of a second */
	const struct sync_logs *logs; /* or NULL */
	struct ids clock_ids; uint32_t *clocks; size_t nclocks; /* with logs: of the text, by their numbers in those */
	struct ids node_ids; struct otf2_node *nodes; size_t nnodes;
	struct ids string_ids, region_ids, group_ids, comm_ids, process_ids, location_ids;
	char **strings; size_t nstrings;
	struct otf2_region *regions; size_t nregions;
	struct otf2_group *groups; size_t ngroups;
	OTF2_GroupRef *comms; size_t ncomms;
	struct otf2_calls *calls; size_t ncut; /* of each communicator; how many locations are cut */
	struct otf2_process *processes; size_t nprocesses;
	struct otf2_location *locations; size_t nlocations;
	uint64_t *ranks; size_t nranks; /* of each rank the place of the location that MPI calls so, or OTF2_NOWHERE */
	struct otf2_stream *streams;
	uint64_t nsites, done_site[DPROF_KIND_COUNT], idle_site; /* as site of a region */
	enum otf2_times times;
};

/* Reads all definitions. NULL, or what went wrong (to be freed). */
char *otf2_definitions(struct otf2_trace *);
void otf2_forget(struct otf2_trace *);

/* Finds the host of each process, with logs. NULL, or what went wrong (to be freed). */
char *otf2_place(struct otf2_trace *);
void otf2_write_log_clocks(const struct otf2_trace *);
void otf2_write_links(const struct otf2_trace *);

/* "" if there is none. */
const char *otf2_string(const struct otf2_trace *, OTF2_StringRef);

/* NULL if there is none, or no processes of MPI are known to be in it. */
const struct otf2_group *otf2_comm(const struct otf2_trace *, OTF2_CommRef);

/* A *stream* is of messages that MPI keeps in order: from a rank to another, in a communicator, with a tag. Of a
 * receive whose request the trace never completes (EZTrace's) it is not known which it took. So messages of a stream
 * can be told from each other only if as many receives say that they took one as were sent: then nobody else took any.
 * `rank` is whose call it is, `peer` the other's in the communicator; `from` and `to` are among all ranks. */
void otf2_count_send(struct otf2_trace *, size_t rank, uint32_t peer, OTF2_CommRef, uint32_t tag);
void otf2_count_receive(struct otf2_trace *, size_t rank, uint32_t peer, OTF2_CommRef, uint32_t tag);
bool otf2_is_told(const struct otf2_trace *, size_t from, size_t to, OTF2_CommRef, uint32_t tag);
void otf2_forget_streams(struct otf2_trace *);

/* The n-th collective operation of each process in a communicator is the same one, unless some recorded others: as where recording
 * began later, or paused. Then it is not known which are. Of a location that is cut it is the end that is missing. `called`: of
 * each communicator. */
void otf2_count_calls(struct otf2_trace *, const uint64_t *called, bool cut);
bool otf2_are_calls_told(const struct otf2_trace *, OTF2_CommRef);

/* Counts the messages and collective operations of a location. */
void otf2_count(struct otf2_trace *, size_t location);

/* Writes the events of a location, with the sites that they need. NULL, or why those behind are missing (to be freed). */
char *otf2_events(struct otf2_trace *, size_t location);

/* otf2_anchor.c: what is wrong with an anchor file in which the library would not come to an end (to be freed), or NULL. */
char *otf2_anchor_wrong(const char *path);

#endif

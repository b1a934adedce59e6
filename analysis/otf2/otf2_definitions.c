/* SPDX-License-Identifier: MIT
 *
 * otf2_definitions.c - see otf2_private.h. */
#include <stdlib.h>
#include <string.h>

#include "analysis/base/memory.h"
#include "analysis/otf2/otf2_private.h"

const char *otf2_string(const struct otf2_trace *t, OTF2_StringRef ref)
{
	size_t at = ids_find(&t->string_ids, ref);
	return at < t->nstrings ? t->strings[at] : "";
}

const struct otf2_group *otf2_comm(const struct otf2_trace *t, OTF2_CommRef ref)
{
	size_t comm = ids_find(&t->comm_ids, ref);
	size_t group = comm < t->ncomms ? ids_find(&t->group_ids, t->comms[comm]) : OTF2_NOWHERE;
	return group < t->ngroups && t->groups[group].n > 0 ? &t->groups[group] : NULL;
}

/* ---- As they come ---------------------------------------------------------------------------- */

/* The one of that number among things of `size` bytes, of which there is one more if it is new. */
static void *place_of(struct ids *ids, void *things, size_t *n, size_t size, uint64_t ref)
{
	void **array = things;
	if (!ids_add(ids, ref))
		return (char *)*array + ids_find(ids, ref) * size;
	*array = mem_grow(*array, *n, size);
	return memset((char *)*array + (*n)++ * size, 0, size);
}

#define PLACE(t, ids, things, n, ref) \
	((__typeof__((t)->things))place_of(&(t)->ids, &(t)->things, &(t)->n, sizeof *(t)->things, (ref)))

static OTF2_CallbackCode take_clock(void *user, uint64_t resolution, uint64_t offset, uint64_t length, uint64_t realtime)
{
	struct otf2_trace *t = user;
	(void)offset, (void)length, (void)realtime;
	t->resolution = resolution;
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode take_string(void *user, OTF2_StringRef self, const char *string)
{
	char **s = PLACE((struct otf2_trace *)user, string_ids, strings, nstrings, self);
	free(*s);
	*s = mem_copy(string);
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode take_region(void *user, OTF2_RegionRef self, OTF2_StringRef name, OTF2_StringRef canonical,
				     OTF2_StringRef description, OTF2_RegionRole role, OTF2_Paradigm paradigm, OTF2_RegionFlag flags,
				     OTF2_StringRef file, uint32_t first, uint32_t last)
{
	(void)canonical, (void)flags, (void)last;
	*PLACE((struct otf2_trace *)user, region_ids, regions, nregions, self) =
		(struct otf2_region){ .name = name, .description = description, .file = file,
				      .line = first == UINT32_MAX ? 0 : first, .role = role, .paradigm = paradigm };
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode take_process(void *user, OTF2_LocationGroupRef self, OTF2_StringRef name, OTF2_LocationGroupType type,
				      OTF2_SystemTreeNodeRef parent, OTF2_LocationGroupRef creator)
{
	struct otf2_trace *t = user;
	(void)type, (void)creator;
	*PLACE(t, process_ids, processes, nprocesses, self) = (struct otf2_process){ .name = name, .node = parent, .rank = OTF2_NOWHERE };
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode take_node(void *user, OTF2_SystemTreeNodeRef self, OTF2_StringRef name, OTF2_StringRef class,
				   OTF2_SystemTreeNodeRef parent)
{
	(void)class;
	*PLACE((struct otf2_trace *)user, node_ids, nodes, nnodes, self) = (struct otf2_node){ name, parent };
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode take_location(void *user, OTF2_LocationRef self, OTF2_StringRef name, OTF2_LocationType type,
				       uint64_t events, OTF2_LocationGroupRef process)
{
	(void)events;
	*PLACE((struct otf2_trace *)user, location_ids, locations, nlocations, self) =
		(struct otf2_location){ .ref = self, .name = name, .group = process,
					.thread = type == OTF2_LOCATION_TYPE_CPU_THREAD };
	return OTF2_CALLBACK_SUCCESS;
}

/* Which locations MPI's ranks are; and which ranks a group has. */
static OTF2_CallbackCode take_group(void *user, OTF2_GroupRef self, OTF2_StringRef name, OTF2_GroupType type,
				    OTF2_Paradigm paradigm, OTF2_GroupFlag flags, uint32_t n, const uint64_t *members)
{
	struct otf2_trace *t = user;
	(void)name, (void)flags;
	if (paradigm != OTF2_PARADIGM_MPI || n == 0 ||
	    (type != OTF2_GROUP_TYPE_COMM_LOCATIONS && type != OTF2_GROUP_TYPE_COMM_GROUP))
		return OTF2_CALLBACK_SUCCESS;
	uint64_t *copy = mem_resize(NULL, n, sizeof *copy);
	memcpy(copy, members, n * sizeof *copy);
	if (type == OTF2_GROUP_TYPE_COMM_LOCATIONS) {
		free(t->ranks);
		t->ranks = copy;
		t->nranks = n;
		return OTF2_CALLBACK_SUCCESS;
	}
	struct otf2_group *g = PLACE(t, group_ids, groups, ngroups, self);
	free(g->members);
	*g = (struct otf2_group){ copy, n };
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode take_comm(void *user, OTF2_CommRef self, OTF2_StringRef name, OTF2_GroupRef group, OTF2_CommRef parent,
				   OTF2_CommFlag flags)
{
	(void)name, (void)parent, (void)flags;
	*PLACE((struct otf2_trace *)user, comm_ids, comms, ncomms, self) = group;
	return OTF2_CALLBACK_SUCCESS;
}

/* ---- All of them ----------------------------------------------------------------------------- */

/* A location whose process is not defined is none, nor is a group of ranks that are not there. */
static void connect(struct otf2_trace *t)
{
	for (size_t p = 0; p < t->nprocesses; p++)
		t->processes[p].clock = t->times == OTF2_ONE_CLOCK || t->logs ? 0 : p;
	for (size_t i = 0; i < t->nlocations; i++) {
		t->locations[i].process = ids_find(&t->process_ids, t->locations[i].group);
		t->locations[i].thread &= t->locations[i].process != OTF2_NOWHERE;
	}
	for (size_t r = t->nranks; r-- > 0;) {
		size_t at = ids_find(&t->location_ids, t->ranks[r]);
		t->ranks[r] = at != OTF2_NOWHERE && t->locations[at].thread ? at : OTF2_NOWHERE;
		if (t->ranks[r] != OTF2_NOWHERE)
			t->processes[t->locations[at].process].rank = r;
	}
	for (size_t g = 0; g < t->ngroups; g++)
		for (size_t i = 0; i < t->groups[g].n; i++)
			if (t->groups[g].members[i] >= t->nranks || t->ranks[t->groups[g].members[i]] == OTF2_NOWHERE)
				t->groups[g].n = 0;
}

char *otf2_definitions(struct otf2_trace *t)
{
	OTF2_GlobalDefReader *definitions = OTF2_Reader_GetGlobalDefReader(t->reader);
	OTF2_GlobalDefReaderCallbacks *c = OTF2_GlobalDefReaderCallbacks_New();
	uint64_t n;
	if (!definitions || !c)
		return mem_format("%s: its global definitions cannot be opened", t->path);
	OTF2_GlobalDefReaderCallbacks_SetClockPropertiesCallback(c, take_clock);
	OTF2_GlobalDefReaderCallbacks_SetStringCallback(c, take_string);
	OTF2_GlobalDefReaderCallbacks_SetRegionCallback(c, take_region);
	OTF2_GlobalDefReaderCallbacks_SetSystemTreeNodeCallback(c, take_node);
	OTF2_GlobalDefReaderCallbacks_SetLocationGroupCallback(c, take_process);
	OTF2_GlobalDefReaderCallbacks_SetLocationCallback(c, take_location);
	OTF2_GlobalDefReaderCallbacks_SetGroupCallback(c, take_group);
	OTF2_GlobalDefReaderCallbacks_SetCommCallback(c, take_comm);
	OTF2_ErrorCode status = OTF2_Reader_RegisterGlobalDefCallbacks(t->reader, definitions, c, t);
	OTF2_GlobalDefReaderCallbacks_Delete(c);
	if (status == OTF2_SUCCESS)
		status = OTF2_Reader_ReadAllGlobalDefinitions(t->reader, definitions, &n);
	if (status != OTF2_SUCCESS)
		return mem_format("%s: its global definitions cannot be read: %s", t->path, OTF2_Error_GetDescription(status));
	if (t->resolution == 0)
		return mem_format("%s: expected how long its ticks are, found nothing of that", t->path);
	if (t->nlocations == 0)
		return mem_format("%s: expected locations, found none", t->path);
	connect(t);
	return NULL;
}

void otf2_forget(struct otf2_trace *t)
{
	for (size_t i = 0; i < t->nstrings; i++)
		free(t->strings[i]);
	for (size_t i = 0; i < t->ngroups; i++)
		free(t->groups[i].members);
	free(t->strings), free(t->regions), free(t->groups), free(t->comms);
	free(t->processes), free(t->locations), free(t->ranks), free(t->nodes), free(t->clocks);
	ids_free(&t->string_ids), ids_free(&t->region_ids), ids_free(&t->group_ids);
	ids_free(&t->comm_ids), ids_free(&t->process_ids), ids_free(&t->location_ids);
	ids_free(&t->node_ids), ids_free(&t->clock_ids);
}

/* SPDX-License-Identifier: MIT
 *
 * kvs.c - what the starter of the job keeps for its ranks: which rank has put there that it is
 * one of us? To ask needs no rank but the asking one. MPICH's starter is asked as pmi_client.h says,
 * OpenMPI's through PMIx, by the library that OpenMPI itself uses. */
#include "runtime/mpi/members.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEY "dprof"

#ifndef OPEN_MPI

#include "runtime/pmi_client.h"

static void key_of(char to[32], const char *rank)
{
	snprintf(to, 32, KEY "-%s", rank);
}

bool kvs_put(void)
{
	const char *rank = secure_getenv("PMI_RANK");
	char key[32];

	if (!rank)
		return false;
	key_of(key, rank);
	return pmi_client_publish(key);
}

int kvs_has(int rank)
{
	char key[32], text[16];

	snprintf(text, sizeof(text), "%d", rank);
	key_of(key, text);
	return pmi_client_published(key);
}

void kvs_close(void)
{
}

#elif defined(DPROF_PMIX)

#include <dlfcn.h>
#include <pmix.h>

/* Published, not put with what ranks tell each other at MPI_Init: one more value there, of some
 * ranks only, made OpenMPI 4.1 send messages to the wrong rank. */
static struct {
	__typeof__(PMIx_Init) *init;
	__typeof__(PMIx_Publish) *publish;
	__typeof__(PMIx_Lookup) *lookup;
	__typeof__(PMIx_Finalize) *finalize;
} pmix;
static pmix_proc_t self;
static bool here;

static bool load(void)
{
	void *library = dlopen("libpmix.so.2", RTLD_LAZY | RTLD_GLOBAL);

	if (!library)
		return false;
	*(void **)&pmix.init = dlsym(library, "PMIx_Init");
	*(void **)&pmix.publish = dlsym(library, "PMIx_Publish");
	*(void **)&pmix.lookup = dlsym(library, "PMIx_Lookup");
	*(void **)&pmix.finalize = dlsym(library, "PMIx_Finalize");
	return pmix.init && pmix.publish && pmix.lookup && pmix.finalize;
}

static void key_of(pmix_key_t to, unsigned rank)
{
	snprintf(to, sizeof(pmix_key_t), KEY "-%s-%u", self.nspace, rank);
}

bool kvs_put(void)
{
	pmix_info_t mark = { .value = { .type = PMIX_BOOL, .data.flag = true } };

	if (!secure_getenv("PMIX_NAMESPACE") || !load() ||
	    pmix.init(&self, NULL, 0) != PMIX_SUCCESS)
		return false;
	here = true;
	key_of(mark.key, self.rank);
	return pmix.publish(&mark, 1) == PMIX_SUCCESS;
}

int kvs_has(int rank)
{
	pmix_pdata_t mark = { 0 };
	pmix_status_t status;

	key_of(mark.key, (unsigned)rank);
	status = pmix.lookup(&mark, 1, NULL, 0);
	if (status == PMIX_SUCCESS)
		return 1;
	return status == PMIX_ERR_NOT_FOUND ? 0 : -1;
}

/* OpenMPI stays. */
void kvs_close(void)
{
	if (here)
		pmix.finalize(NULL, 0);
	here = false;
}

#else

bool kvs_put(void)
{
	return false;
}

int kvs_has(int rank)
{
	(void)rank;
	return -1;
}

void kvs_close(void)
{
}
#endif

/* SPDX-License-Identifier: MIT
 *
 * record_otf2.c - a peer: the event writer of OTF2 (Score-P's), one location a thread, with the stamp
 * taken by rdtsc. Leaves its archive in otf2/. */
#include <otf2/otf2.h>
#include <otf2/OTF2_Pthread_Locks.h>
#include <x86intrin.h>

#include "bench/harness.h"

static OTF2_Archive *archive;
static __thread OTF2_EvtWriter *writer;

static OTF2_FlushType pre_flush(void *data, OTF2_FileType type, OTF2_LocationRef location, void *caller, bool last)
{
	(void)data, (void)type, (void)location, (void)caller, (void)last;
	return OTF2_FLUSH;
}

static OTF2_TimeStamp post_flush(void *data, OTF2_FileType type, OTF2_LocationRef location)
{
	(void)data, (void)type, (void)location;
	return __rdtsc();
}

static OTF2_FlushCallbacks flush = { pre_flush, post_flush };

void bench_begin(void)
{
	archive = OTF2_Archive_Open("otf2", "trace", OTF2_FILEMODE_WRITE, 1 << 20, 4 << 20,
				    OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
	OTF2_Archive_SetFlushCallbacks(archive, &flush, NULL);
	OTF2_Archive_SetSerialCollectiveCallbacks(archive);
	OTF2_Pthread_Archive_SetLockingCallbacks(archive, NULL);
	OTF2_Archive_OpenEvtFiles(archive);
}

void bench_thread_begin(int thread)
{
	writer = OTF2_Archive_GetEvtWriter(archive, (OTF2_LocationRef)thread);
}

void bench_record_pairs(unsigned pairs)
{
	for (unsigned i = 0; i < pairs; i++) {
		OTF2_EvtWriter_Enter(writer, NULL, __rdtsc(), 0);
		OTF2_EvtWriter_Leave(writer, NULL, __rdtsc(), 0);
	}
}

void bench_thread_end(void)
{
	OTF2_Archive_CloseEvtWriter(archive, writer);
}

void bench_end(void)
{
	OTF2_Archive_CloseEvtFiles(archive);
	OTF2_Archive_Close(archive);
}

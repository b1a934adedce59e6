/* SPDX-License-Identifier: MIT
 *
 * format.h - the one description of what dprof stores: sites, records, trace files.
 *
 * The plugin emits it, the runtime writes it, the analysis reads it; nothing else describes it.
 * Everything is little-endian x86-64, in natural alignment.
 *
 * Law: a trace is readable at every moment. Whatever a process had recorded when it was killed is
 * there, because its files are mapped and shared; whatever is not yet written reads as zero, and
 * zero is never a valid record.
 *
 * A trace is a directory "dprof-PROGRAM.JOB/" with
 *
 *   HOST-RANK.process      text; who recorded, where, with which modules loaded (see below)
 *   HOST-RANK.nursery      of all threads but the process's first: header and first chunk, in one page each
 *   HOST-RANK-THREAD.events  of the process's first thread, and of each one that recorded more: one header page, then
 *                          records in chunks
 *   HOST-RANK-THREAD.packed  the same, if it recorded much: chunks that left the file of events (packed.h)
 *   HASH.sites             a copy of one module's section "dprof_sites", named by its content
 *   HOST.sync              the packets that one FreeZer endpoint exchanged (freezer/synclog.h)
 *
 * A process without a rank is "pPID" instead of RANK; so is the child of a fork, whatever its
 * parent was.
 */
#ifndef DPROF_FORMAT_H
#define DPROF_FORMAT_H

#include <stdint.h>

/* ---- Sites: one for each instrumented place, in the ELF section "dprof_sites" -------------------
 *
 * A site is a relocation-free byte array, 16-aligned and a multiple of 16 long, so that sites follow
 * each other without gaps; and at least 48, so that the 16 bytes at each of its first three
 * multiples of 16 can stand for an operation on it (words.h):
 *
 *   | magic u32 | size u16 | kind u8 | version u8 | line u32 | column u32 |
 *   | name\0 file\0 function\0 [role\0] padding |
 *
 * A region's role is a word of DPROF_ROLES, stage with its number behind a colon (stage:3); a site without that string, or
 * with an empty one, has none.
 *
 * A region that the user did not mark has DPROF_SITE_AUTOMATIC set in its kind: functions and loops that
 * the plugin takes by itself, bodies of threads, teams and tasks.
 */
#define DPROF_SITE_SECTION "dprof_sites"
#define DPROF_SITE_MAGIC   0x54495344u /* "DSIT" */
#define DPROF_SITE_VERSION 2
#define DPROF_SITE_ALIGN   16
#define DPROF_SITE_MIN     48
#define DPROF_SITE_AUTOMATIC 0x80

struct dprof_site {
	uint32_t magic;
	uint16_t size;    /* of the whole site in bytes, a multiple of 16, from 48 */
	uint8_t  kind;    /* enum dprof_kind, and DPROF_SITE_AUTOMATIC; ask dprof_site_kind() */
	uint8_t  version; /* DPROF_SITE_VERSION */
	uint32_t line;    /* 1-based; 0 when unknown */
	uint32_t column;
	char     strings[]; /* name, file, function, role; each ends with NUL; then zeros up to size */
};

/* What a region is in the program's pattern, and the word for it in pragmas and the text form. */
#define DPROF_ROLES(X)                                                                             \
	X(MASTER, master)     /* work of whoever gives out tasks */                                \
	X(WORKER, worker)     /* work of whoever does them */                                      \
	X(SETUP, setup)       /* a task is made ready before it is given out */                    \
	X(TASK, task)         /* a task is done */                                                 \
	X(INIT, init)         /* a worker prepares for all of its tasks */                         \
	X(FINAL, final)       /* a worker does what is left behind them */                         \
	X(STAGE, stage)       /* work of a stage of a pipeline: the first is stage:1 */
#define DPROF_STAGE_MOST 999

enum dprof_role {
	DPROF_IN_NO_ROLE,
#define X(NAME, word) DPROF_IN_ROLE_##NAME,
	DPROF_ROLES(X)
#undef X
	DPROF_ROLE_COUNT
};

/* What happens at a site, and the word for it in the text form. */
#define DPROF_KINDS(X)                                                                             \
	X(REGION, region)     /* a marked piece of code */                                         \
	X(BARRIER, barrier)   /* no participant leaves before all have entered */                  \
	X(COLL, coll)         /* any other collective operation */                                 \
	X(SEND, send)                                                                              \
	X(RECV, recv)                                                                              \
	X(WAIT, wait)         /* completion of something begun earlier */                          \
	X(FORK, fork)                                                                              \
	X(JOIN, join)                                                                              \
	X(LOCK, lock)                                                                              \
	X(PROGRESS, progress) /* a point: one more unit of work is done */                         \
	X(IO, io)             /* input or output of a file: time of the thread's own */            \
	X(SLEEP, sleep)       /* likewise: until some time has passed, or until a moment */

enum dprof_kind {
	DPROF_KIND_NONE,
#define X(NAME, word) DPROF_KIND_##NAME,
	DPROF_KINDS(X)
#undef X
	DPROF_KIND_COUNT
};

/* Sets of kinds. */
#define DPROF_KIND_BIT(kind) (UINT32_C(1) << (kind))

static inline enum dprof_kind dprof_site_kind(const struct dprof_site *site)
{
	return (enum dprof_kind)(site->kind & ~DPROF_SITE_AUTOMATIC);
}

static inline int dprof_site_automatic(const struct dprof_site *site)
{
	return (site->kind & DPROF_SITE_AUTOMATIC) != 0;
}

/* Who records calls: one of these, or, where it is not there, the code around them (record.h). */
enum dprof_adapter { DPROF_ADAPTER_MPI, DPROF_ADAPTER_GOMP, DPROF_ADAPTER_PTHREAD, DPROF_ADAPTERS };

/* ---- Records ------------------------------------------------------------------------------------
 *
 * An event (ENTER, EXIT, POINT) has a stamp and a site. An ARG says more of the event before it,
 * a LOST that so many records of the thread were dropped here. How they are stored: words.h. */
enum dprof_op {
	DPROF_ENTER = 0,
	DPROF_EXIT = 1,
	DPROF_POINT = 2,
	DPROF_ARG = 3,
	DPROF_LOST = 4,
};

/* What an ARG record says, and the word for it in the text form. */
#define DPROF_KEYS(X)                                                                              \
	X(GROUP, group)   /* which group of threads takes part */                                  \
	X(SEQ, seq)       /* index of the operation in that group, from 0 */                       \
	X(PEER, peer)     /* rank of the other side */                                             \
	X(TAG, tag)                                                                                \
	X(BYTES, bytes)                                                                            \
	X(ID, id)         /* joins a begin with its completion (request, lock) */                  \
	X(THREAD, thread) /* thread that was created or joined */                                  \
	X(ROLE, role)     /* in a rooted collective: 1 root, 0 other; DPROF_ROLE_UNKNOWN */          \
	X(TASK, task)     /* a task that is made, run, or waited for */                            \
	X(CHANNEL, channel) /* a way that bytes go: one direction of a pipe or a connection */     \
	X(OFFSET, offset) /* how many bytes had gone that way before */                            \
	X(PROCESS, process) /* the pid of another process */                                       \
	X(UNTIL, until)   /* the moment that was waited for, in ns of its clock; 0: not known */                   \
	X(SINCE, since)   /* the stamp of its begin: it was recorded late */                       \
	X(OBJECT, object) /* what processes share, by a number that is the same in all of them */

enum dprof_key {
	DPROF_KEY_NONE,
#define X(NAME, word) DPROF_KEY_##NAME,
	DPROF_KEYS(X)
#undef X
	DPROF_KEY_COUNT
};

/* ---- What operations say ------------------------------------------------------------------------
 *
 * An operation is an ENTER and an EXIT at a site of its kind; its arguments stand behind the
 * ENTER. The EXIT of everything but a region, and but what only begins something (it has an id), is stamped
 * behind a fence (lfence; rdtsc): it may be the receiving end of a link. What is done in a call that waits
 * may have the stamp of that call's EXIT. Ranks are those of MPI_COMM_WORLD.
 *
 *   barrier  group seq              no participant leaves before all have entered
 *            object [tag]           likewise; other processes may take part. Whenever `tag` threads have come they go on
 *            id tag                 likewise, of one process
 *            id                     it has come before (POINT id tag role=0), and waits for that round
 *   coll     group seq bytes role   rooted: role=1 at the root, 0 elsewhere. The site's name says how
 *                                   data flows: MPI_Bcast, MPI_Scatter(v), fork: root to all;
 *                                   MPI_Reduce, MPI_Gather(v): all to root; MPI_Scan, MPI_Exscan: to
 *                                   higher ranks; all others: all to all. bytes: what this rank gives (or
 *                                   gets, if it only gets); where it is 0 nothing need have waited. With an
 *                                   id it was only begun (MPI_Ibcast, MPI_Bcast_init when it is started;
 *                                   its name says the flow, too). role=DPROF_ROLE_UNKNOWN: whatever the
 *                                   name, the wait dependencies are unknown (between two groups, ...);
 *                                   without a group, who takes part is, too, and not all need be in the trace. So it is
 *                                   of a barrier
 *   send     group peer tag bytes [id]   with an id it was only begun (MPI_Isend, MPI_Start, ...): the
 *   recv     [group peer tag] bytes [id] POINT "done" below ends it. A receive from any source, or with
 *                                   any tag, lacks peer or tag here and has them at its done.
 *   wait     [id] [peer]            completion of something begun earlier, or with the id 0 of nothing; also a
 *                                   condition variable or a semaphore, with its address as id; and MPI_Sendrecv, which
 *                                   begins a send and a receive inside and completes both. With a peer, which is
 *                                   DPROF_PEER_UNKNOWN, it is not known for whom it may wait (MPI_Buffer_detach, what
 *                                   several processes share, ...). With nothing it found a message, and left it to
 *                                   whoever takes it next (MPI_Probe, MPI_Iprobe)
 *            peer tag               of MPI, with DPROF_PEER_UNKNOWN: until something is complete at this rank's part of
 *                                   a window, or at all (DPROF_TARGET_ALL); or it only begins that there (MPI_Put, ...), and
 *                                   took long
 *            role                   of MPI, role=1: a call that waited for one of several (MPI_Waitany, ...) might have
 *                                   completed what this one does
 *            peer role              of MPI, with DPROF_PEER_UNKNOWN and role=0: for the rest of messages that were received
 *                                   where they were found (MPI_Imrecv)
 *            peer tag               with DPROF_PEER_NONE: several calls that follow each other, from the begin of the first
 *                                   one on, each of which asked in vain (MPI_Test, MPI_Iprobe, pthread_mutex_trylock, ...)
 *                                   or, to the end, did not any more. For `tag` ticks in between the thread was in none
 *            until [peer] ...       it ended because its time limit was over, with nothing that it waited for: at that moment,
 *                                   or 0: not known, or of no one clock, or with a signal, which may be a timer's; or there was
 *                                   nobody yet (connect)
 *            [peer] object [tag] [offset] [bytes [role]]
 *                                   a condition variable, a semaphore or a queue of messages that processes share. With
 *                                   role=1 a message was put there, and else one was taken, or something that was
 *                                   signalled; also where that did not block, and there is no peer. The tag is the message's
 *                                   kind (its type or priority; none: 0), the offset the type that msgrcv asked for (none: 0).
 *                                   Likewise a connection, of a socket that listens (accept; with role=1 connect). Of a file's
 *                                   lock (flock, lockf, fcntl) that it was taken; role=0: shared
 *            peer [channel [offset] [tag] bytes [role]] [process [tag]]
 *                                   a call of the C library that another thread or process may end. With a channel it
 *                                   took so many bytes from there, or, with role=1, gave them: those from offset on, if
 *                                   that is known; with a tag it moved so many messages, and offset counts those. None
 *                                   were to come if it took 0, and without bytes it failed; with
 *                                   role=0 it would have taken more. With a process, it learnt of that one's end;
 *                                   role=1: and asked for no other's; tag: the signal that has ended it. With an id it
 *                                   waited for a futex, or for the routine of a pthread_once, with this address; a futex
 *                                   without a peer was signalled. So
 *                                   was a signal (sigwait, pause, ...), which a thread of this process has sent.
 *                                   What is there for good (std::future, std::latch; pthread_once that found it done)
 *                                   has an id and no peer. With role=0 an std::atomic::wait, or a spin wait, found
 *                                   stored what it looks for. A call that moved bytes, or learnt of an end, and did not
 *                                   block has no peer
 *   fork     thread                 creates a thread: number N in this process, or
 *            process                forks a process with this pid, or
 *            group seq role         opens a team (OpenMP): role=1 opens it, the others leave later
 *   join     thread                 waits for a thread's end, or, as a POINT, cancels that thread (pthread_cancel), or
 *            group seq role         closes a team: role=1 leaves after all others have entered, or
 *            id                     waits for the end of all tasks that the task with this number has made
 *                                   until now, or that are in the taskgroup with this number, or
 *            task                   waits until this task may begin
 *   lock     id [role] [peer [object]]  the EXIT is when it is held; role 0: shared (reader), else exclusive; peer
 *                                   as of a wait. With a tag it is of this rank's part of a window of MPI
 *   io       [bytes]                a file was read, written or flushed, and took its time
 *   sleep    [until [tag]] [peer]   until: an absolute moment, which was over for `tag` ns when it began; else for some time.
 *                                   With a peer, which is DPROF_PEER_UNKNOWN, a signal ended it
 *   region   [id]                   id: the instance, `region(NAME) instance(EXPR)`
 *            [task [tag]]           task: it is the run of a task; tag: which is over only when this event is
 *
 * and a POINT, outside of progress, is a moment in the life of something:
 *
 *   send, recv  [id peer tag bytes] done: the operation begun with that id (none: the receive around it)
 *               is complete. Of a receive it says how many bytes came, and the peer or the tag that the
 *               receive did not name
 *   coll        id                  done: the operation begun with that id is complete
 *   barrier     id tag              it comes there without waiting, for the last time
 *               id tag role=0       likewise, but it may wait for that round, and come again
 *               id                  that is over which whoever came last has done when all had come, and for which the others wait
 *               id tag role         role=1: another barrier is made there, to which tag threads come
 *   wait        [id [tag]] [object] signalled: a condition variable, a semaphore, a futex or a signal; or what is there for
 *                                   good once it is given (std::promise, pthread_once done, and std::latch::count_down,
 *                                   from tag). std::counting_semaphore::release(n) is n of them. Of sem_init: another
 *                                   semaphore is made there, with tag permits
 *               object              of a file's lock that it was given back
 *               process tag         the signal `tag`, which may end another process, was sent to this one, or, where that is 0,
 *                                   to several, or nobody knows to which
 *               nothing             a call took bytes that nobody counts, and did not block: the first of its
 *                                   process. Others like it leave no record
 *               offset [role]       of MPI: it counts at a place of a window, which has that number in all ranks, and
 *                                   learns how far others have. role=0: by a swap, which may be in vain
 *               offset tag [role]   not of MPI: likewise at an atomic number with this address, and got tag, as a
 *                                   signed number (or 2^40 less what it got, of one that is counted down), which only
 *                                   grows until it is counted from the start again. Of several within DPROF_BLOCKED_NS
 *                                   there may be one. role=1: in memory that processes share: offset is its
 *                                   number in all of them, instead of the address
 *   lock        id [object]         released
 *   fork, join  nothing             this thread begins, ends: its first, and about its last event
 *   fork        task id [tag]       a task is made, by task id (a number of its own is what a thread does
 *               [role]              outside of tasks), in taskgroup tag, with priority role; role=0: there is nothing to run,
 *                                   it is what others depend on. What a taskloop makes is one task,
 *                                   and is run several times. Said once more behind each copy of its data that
 *                                   is made before any thread can run it: the last one counts
 *   fork        group               the thread begins with work that is given to whichever thread of its team
 *                                   asks first, until their next barrier: a loop that is not static, sections
 *                                   ("dynamic loop"), a `single` ("single")
 *   fork        group role          role=1: the thread cancels its team's region ("cancellation point"), so that from here on not
 *                                   all of the group need come to its barriers
 *   fork        [group] tag         likewise: 1: it cancels a loop or sections, 3: a taskgroup, of which no task begins any more;
 *                                   0 and 2: it goes on where it would not if another had
 *   fork        group seq           of such a loop, or sections, it has its seq-th piece, from 0, which may be of several
 *                                   iterations; or there is none left. Single iterations, and sections, in which nothing was
 *                                   recorded are part of the next piece
 *   fork        id role             the task made just before depends on address id (0: on all), as in (role
 *                                   0), out or inout (1), mutexinoutset (2), inoutset (3)
 *   join        id                  the event with that number has come
 *
 * A thread that waits may run tasks meanwhile. Then it leaves the operation with an EXIT that says which
 * task, and enters it again, with the same arguments, behind the task's region. Only the last of these
 * visits is the operation; the others waited for their task. (Unless another has left the
 * barrier before: then it was over, and the task was made behind it.) Who has left a team (join, role=0) may
 * enter the join again to the same end.
 *
 * A peer that is DPROF_PEER_NONE says that no message is moved: of an operation with MPI_PROC_NULL, and
 * at the done of a receive that was cancelled before it took one. Of a barrier or a coll it says that it failed,
 * or one of its communicator before it, and means what role=DPROF_ROLE_UNKNOWN does. A send or a receive with that
 * role failed: whether it has moved a message is not known.
 *
 * Bytes leave a channel in the order in which they came into it. So who took the byte with number n, and has left the
 * operation that took it, comes after the entry of whoever gave that byte. The same channel has the same number in all
 * processes of a job: it is made of the host and the inode of a pipe, the inodes of both sockets of a pair, of the
 * socket that asked for a local connection (AF_UNIX), or protocol, addresses and ports of another one (with the host if
 * they are of loopback: other addresses are taken to mean the same everywhere). Numbers of what was closed may come
 * again, and offsets then begin at 0 again. An offset is given only if every byte that went that way was counted, and
 * in which order (of two who take at the same time nobody knows who was first: from there on all is recorded without
 * offsets); who moves bytes by a system call that is not the C library's (assembly, io_uring) is not noticed.
 *
 * An object has the same number in all processes of a host: it is made of the host, and of the inode of a queue of messages, the
 * number of a queue of System V, or of a set and a semaphore's index, the inode of shared memory and the offset there, the address
 * at which a socket listens, or the inode of a file and the range that is locked. Numbers of what is gone may come again, and
 * memory that was unmapped since a process has looked may be another's: so nothing is certain of two operations because they have
 * one object.
 *
 * The counter of an eventfd is a channel, of which whoever adds n to it gives n bytes.
 *
 * An operation that is recorded when it is over has its ENTER where it began. If a signal handler has recorded
 * something meanwhile, the ENTER stands behind that, and says since when: what stands between that stamp and the
 * ENTER was done by handlers in the operation, as regions are that stand between an ENTER and its EXIT.
 *
 * What neither blocked (DPROF_BLOCKED_NS) nor gave anything to another thread or process, nor took counted bytes, a connection or
 * a file's lock, or learnt of an end that came from there, is not recorded; but a sleep until a moment is, and who looks for what
 * is there for good.
 *
 * Sends from one rank to another in one group with one tag are matched with the receives of that kind in
 * the order in which both were begun (MPI: non-overtaking). An id is new for each operation while it is
 * under way and may be used again afterwards.
 */

#define DPROF_PEER_NONE    (UINT64_MAX >> 8)
#define DPROF_PEER_UNKNOWN (DPROF_PEER_NONE - 1)
#define DPROF_ROLE_UNKNOWN 2
#define DPROF_TARGET_ALL   DPROF_PEER_NONE

/* ---- HOST-RANK-THREAD.events --------------------------------------------------------------------
 *
 *   | header, DPROF_HEADER_SIZE bytes | chunk | chunk | ... |
 *   chunk: | CHUNK number | word | word | ... | zeros |
 *
 * The first place for a chunk has first_chunk bytes, and the next one as many as dprof_next_chunk()
 * says; where first_chunk is 0 one chunk, without a number, takes up the whole file. A chunk's words end with the last one
 * that is not zero. A place whose first word is zero holds nothing, whatever else stands there.
 *
 * Places are used again, in any order: the chunks' numbers, 0, 1, 2, ..., are the order of recording.
 * A chunk was in use by its thread, or waits to be packed; one whose number the .packed file has, whole,
 * was about to be wiped, and counts there. So each number is in one of the files, until the last
 * one that was begun.
 *
 * A chunk that another one follows is full but for its last DPROF_SLACK_WORDS, where words may stand
 * that signal handlers claimed in the midst of each other. Its very last two words are its seal, unless the
 * first of them is zero: how many words it holds, and their sum (sum.h). It is sealed when it is
 * not going to be packed: when its thread or process ends, when it is forgotten for want of a
 * helper, or when it is in a slot (below); and a chunk that was left before it was full, when its process had ended.
 *
 * Most threads begin elsewhere: in HOST-RANK.nursery, where the slot with a thread's number has its header and one
 * more place for a chunk, before those in its .events file.
 *
 *   nursery: | slot 0 | slot 1 | ... |    DPROF_SLOT bytes each
 *   slot:    | header, DPROF_SLOT_HEADER bytes | chunk |
 *
 * That file is there only if the thread went on behind its slot; its header page then has DPROF_MORE_MAGIC, and of the
 * rest only what says of which thread it is (and in traces before, not when it began) and how large its chunks are. A
 * slot without a magic was never begun: no thread has that number, or its header is in its .events file, as that of the
 * process's first thread is.
 *
 * Records are in the order of recording. Stamps go back only where a signal handler recorded
 * between the stamp of an interrupted record and its claim, or between its claim and its stamp; the reader puts those
 * in order. */
#define DPROF_EVENTS_MAGIC   "dprofev2"
#define DPROF_MORE_MAGIC     "dprfmore" /* a thread goes on here */
#define DPROF_HEADER_SIZE    4096
#define DPROF_FORMAT_VERSION 5
#define DPROF_FORMAT_SUMMED  4 /* the sum of a header leaves out struct dprof_jumps */
#define DPROF_FORMAT_UNSUMMED 3 /* neither seals nor struct dprof_end */
#define DPROF_FORMAT_OLDEST  2 /* first_chunk is 0, and no chunk has a number */
#define DPROF_SLACK_WORDS    64
#define DPROF_SEAL_WORDS     2  /* of the slack */

/* Why records were dropped, with what helps; and the word for it in the process file. */
#define DPROF_WHYS(X)                                                                              \
	X(DISK, disk, "the disk is full: set DPROF_DIR to another")                                \
	X(QUOTA, quota, "the disk quota is used up: set DPROF_DIR to another disk")                \
	X(LIMIT, limit, "the limit of a file's size is reached: raise it (ulimit -f)")             \
	X(MEMORY, memory, "there is no memory or address space for the trace")                     \
	X(FILES, files, "too many files are open: raise the limit (ulimit -n)")                    \
	X(LATE, late, "the helper was too late: set DPROF_BUFFER higher")                          \
	X(HANDLER, handler, "a signal handler came while its thread changed chunks")               \
	X(ENDED, ended, "their thread had ended")                                                  \
	X(REFUSED, refused, "the trace can no longer be written")                                  \
	X(CALLED, called, "dprof itself called the C library, and it the program's malloc, or a handler came")

enum dprof_why {
#define X(NAME, word, text) DPROF_WHY_##NAME,
	DPROF_WHYS(X)
#undef X
	DPROF_WHY_COUNT
};

/* What a thread had recorded when it ended, or its process did. The chunks before the last one are packed or
 * sealed. A thread that ran on when its process ended (`ran_on`) may have recorded more since, in any number of
 * chunks: the one in which it was last has no seal, and one that was being packed then may have none. */
enum { DPROF_RAN_ON = 1, DPROF_ENDED_IT /* it was that thread that ended the process */ };

struct dprof_end {
	uint64_t ran_on;     /* DPROF_RAN_ON, or DPROF_ENDED_IT; or 0 */
	uint64_t lost;       /* records that had been dropped */
	uint64_t chunks;     /* that were begun; without numbers: 1 */
	uint64_t words;      /* of the last one */
	uint64_t sum;        /* of these words (sum.h) */
	uint64_t header_sum; /* of the header without this, as if its `lost` and `why` were zero, and the first jump of a thread that
			      * ran on had not come yet; of its last call if it has one */
};

/* When a thread jumped for the first time: left functions by longjmp, an exception, or for another stack, and so
 * perhaps places without an exit. Jumps that no library makes (__builtin_longjmp, assembly) are not noticed. */
struct dprof_jumps {
	uint64_t first;      /* stamp; DPROF_JUMPS_NONE; 0: it would not be noticed */
	uint64_t check;      /* ~first, or nothing is known */
};
#define DPROF_JUMPS_NONE UINT64_C(1)

/* What the kernel had counted of a thread, from its creation until some moment between two stamps. */
#define DPROF_SCHED(X)                                                                             \
	X(CPU, cpu_ns, "cpu")         /* ns for which it ran */                                    \
	X(DELAY, delay_ns, "delay")   /* ns for which it could have run, and waited for a core */ \
	X(INVOLUNTARY, involuntary, "involuntary") /* how often its core was taken from it */     \
	X(MOVES, moves, "moves")      /* how often, at most, it had moved to another core */

struct dprof_sched {
	uint64_t from, to;     /* stamps, of whichever core asked */
	uint64_t cpu_ns, delay_ns, involuntary, moves;
	uint32_t known;        /* which of them: DPROF_SCHED_CPU, ... */
	uint32_t last;         /* the thread records nothing behind this */
};

enum {
	DPROF_SCHED_CPU = 1,
	DPROF_SCHED_DELAY = 2,
	DPROF_SCHED_INVOLUNTARY = 4,
	DPROF_SCHED_MOVES = 8,
};

/* A thread that ran on when its process ended had been in a call since this stamp, at the site with this address. That has no
 * record, as it is recorded when it is over: so the thread has entered it last of all. Or since is 0. */
struct dprof_last_call { uint64_t since, site; };

struct dprof_events_header {
	char     magic[8];     /* DPROF_EVENTS_MAGIC, written last: without it, never begun */
	uint32_t version;      /* DPROF_FORMAT_VERSION */
	uint32_t header_size;  /* DPROF_HEADER_SIZE */
	uint32_t word_size;    /* sizeof(uint64_t) */
	uint32_t thread;       /* number in its process, from 0 in order of appearance */
	int64_t  rank;         /* -1 without one */
	uint64_t pid, tid;     /* tid is 0 where its first event was one of a vfork's child */
	uint64_t started;      /* stamp when the file was made */
	uint64_t ended;        /* stamp when it ended; 0 while it runs or if it was killed */
	uint64_t lost;         /* dropped records, in total */
	char     name[16];     /* of the thread, NUL-terminated */
	uint64_t first_chunk;  /* bytes */
	uint64_t largest_chunk;
	struct dprof_sched sched[2]; /* when it was made or soon after it began, and when it or its process ended; or known is 0 */
	uint64_t why;          /* bits 1 << enum dprof_why: why records were dropped */
	struct dprof_end end;  /* once `ended` is not 0 */
	struct dprof_jumps jumps;
	struct dprof_last_call last;
};

/* One page, and nearly all of it for words. */
#define DPROF_SLOT        4096
#define DPROF_SLOT_HEADER 512

/* Chunks double, so that a thread that records little costs little. */
static inline uint64_t dprof_next_chunk(uint64_t bytes, uint64_t largest)
{
	return bytes < largest / 2 ? 2 * bytes : largest;
}

/* ---- HOST-RANK.process --------------------------------------------------------------------------
 *
 * Lines "key value..." of which each is appended whole as soon as it is known. Bytes <= ' ', '%'
 * and 0x7f in a value are written %XX. A number with 0x is hexadecimal, all others decimal. Behind the last line
 * of a process that still runs or was killed there are NUL bytes: room for more; or, if it was killed as it wrote
 * one, a line whose first byte is NUL.
 *
 *   dprof-process 2               first line: format version; 1: without threads and sum
 *   program PATH
 *   job ID
 *   host NAME                     DPROF_HOST, else the host's name
 *   hostid ID                     DPROF_HOST, else host name, slash, boot id: equal is same clock
 *   pid N
 *   ghz X                         nominal ticks per nanosecond of the clock
 *   clock tsc|monotonic_raw
 *   without KIND,KIND             these kinds of events were not recorded, though they may have happened
 *                                 (DPROF_EVENTS; or MPI ran without dprof's library for it)
 *   started STAMP [forked=1 [parent=HOST-RANK] [unborn=STAMP]]
 *                                 the process was there; forked: since its fork, before which it was not, by this
 *                                 process, which has files, or by one without files that comes from it; unborn: this
 *                                 program took the place of the one that was forked, which was not there yet at that
 *                                 stamp (0: not known), and of which nothing is known
 *   child HOST-RANK               this process, which comes from it, has files: one whose end it was told of, or
 *                                 that had them when it ended itself
 *   init FROM TO                  stamps between which its first thread was in MPI_Init
 *   rank N size N                 once known (MPI: after MPI_Init)
 *   clockid N                     number of this host's clock in HOST.sync; 0 is the base
 *   cores halfwidth=TICKS pairs=N [disagree=K]
 *                                 the counters of this host's cores were compared, in N pairs: there
 *                                 is one clock from which no core's counter differs by more than TICKS.
 *                                 That holds for every stamp taken here, of events and of packets. K
 *                                 cores differ from the first for certain (TICKS covers that, too)
 *   sync FILE [records=N]         packets between hosts are stored in this file; and, when no more come, how
 *                                 many records it has
 *   packets start|run|end exchanges=N unanswered=N forged=N stale=N ns=N cpu_ns=N
 *                                 what this process, as its host's endpoint, asked in one phase; the
 *                                 packets that it dropped, without the job's key (forged) or late,
 *                                 repeated or out of order (stale); how long the phase took, and how
 *                                 much time of a processor
 *   module base=0x.. at=0x.. sites=HASH.sites [from=STAMP] buildid=HEX path=PATH
 *                                 base: load bias; at: address of the section's first byte; from: some modules in
 *                                 lines before, at addresses that are the same or end alike, were no more
 *                                 at that stamp, and this one recorded nothing before it
 *   group ID ranks=0,1,2          the ranks of a communicator, in its order
 *   group ID threads=0,1 size=N   the same for threads of this process, of N in all; shared=1: and of
 *                                 others, which give the group the same id; by_rank=0: its own order is another than that of
 *                                 the ranks
 *   stopped FROM TO               stamps between which it was not ensured that no event is far
 *                                 from the last epoch (words.h): the process was stopped for long
 *   sched THREAD FROM TO cpu=NS delay=NS involuntary=N moves=N
 *                                 what the kernel had counted of a thread (struct dprof_sched), of which what
 *                                 it does not tell is left out. Its first counts and its last ones stand in the
 *                                 header of its file of events, or here, the last ones of a thread that ended with last=1
 *   unseen STAMP cpu=NS ended=N   until then, as the kernel counted, threads of this process ran for so long that are
 *                                 neither recorded nor dprof's; with what N ones that are ran as they
 *                                 ended. The last such line counts
 *   missing THREAD why=WORD       this thread could have no file of events: what it recorded is lost, unless
 *                                 it has got one since
 *   ran PROGRAM [pid=N]           a process that this one started, and that had recorded nothing here by then, was another program
 *   exec STAMP                    another program takes the place of this one: then no line follows; or that failed, and
 *   stayed STAMP                  this one goes on. So many failed as there are such lines
 *   entered N                     the first thread of a process that was forked has in its first N records all regions in which it
 *                                 was forked, which the parent's records tell else (a trace that was read from text). An enter of
 *                                 which no module has the site is of one that is not known
 *   marks none|unknown            of the sites of its modules, which are those of a whole trace that was read from text, none is
 *                                 a region that its program's user marked; or it is not known which are
 *   damaged                       the trace was read from text that says so of the one of which it was made
 *   note TEXT                     something that the reader of the report must know
 *   lost N why=WORD,WORD          records that have no file of events to be counted in
 *   threads FIRST-LAST,...        numbers of all threads that have a file of events; or several such lines
 *   finished STAMP                the process ended in good order
 *   sum BYTES 0xSUM               of so many bytes of this file: FNV-1a, 64 bits; also right behind `exec` and `stayed`
 */
#define DPROF_PROCESS_FIRST_LINE "dprof-process 2"
#define DPROF_PROCESS_UNSUMMED   "dprof-process 1"
#define DPROF_UNCERTAINTY_MAX    (UINT64_C(1) << 40) /* of cores: minutes; more is damage */

#endif

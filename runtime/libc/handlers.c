/* SPDX-License-Identifier: MIT
 *
 * handlers.c - what a signal's handler does is a region, wherever its code stands and whatever has compiled that.
 *
 *   ENTER signal handler ... EXIT
 *
 * A thread that waits works meanwhile, and nothing else would tell. Of a handler that the plugin has seen it makes a region
 * ("handler NAME"), which is then the first that is recorded in there, and no other is needed. Those of signals that an
 * instruction causes do not come while a thread waits, and stay as they are: their stacks may be short.
 *
 * On a short stack of its own, to which nothing but the handler fits, nothing is recorded.
 *
 * What the kernel calls is one of our trampolines, of which each calls one function of the program: so what the kernel has says it
 * all, also while another thread changes it. The program is told its own functions.
 *
 * Law: a handler runs when, and with what, it would have without us. */
#include <signal.h>
#include <ucontext.h>

#include "runtime/libc/libc.h"
#include "runtime/readable.h"
#include "runtime/words.h"

/* Not yet known, or asked in vain: a word may be on its way to disk. */
enum marked { MARKED_UNKNOWN, MARKED, UNMARKED };

typedef void handler(int, siginfo_t *, void *);

#define TRAMPOLINES      64 /* further functions are called as without us */
#define TRAMPOLINE_BYTES 16

static handler *functions[TRAMPOLINES];
static uint8_t marked[TRAMPOLINES];

DPROF_SITE_OF(site_handler, DPROF_KIND_REGION | DPROF_SITE_AUTOMATIC, "signal handler");

/* ---- Whether it marks itself -------------------------------------------------------------------- */

/* The site of an event's word, of all that have this id the one that is next to the function. */
static const struct dprof_site *site_near(uint64_t word, const void *function)
{
	uint64_t distance = ((dprof_id((uint64_t)function, DPROF_ENTER) - (word & (DPROF_IDS - 1))) & (DPROF_IDS - 1)) << 3;
	uint64_t at = ((uint64_t)function & ~UINT64_C(7)) - distance;

	at &= ~(uint64_t)(DPROF_SITE_ALIGN - 1);
	return (const struct dprof_site *)(distance > DPROF_IDS << 2 ? at + (DPROF_IDS << 3) : at);
}

/* Its first event is at `place`, if that is still there. */
static enum marked look(const uint64_t *place, const void *function)
{
	static const char begin[] = "handler ";
	const struct dprof_site *site;
	uint64_t word;

	if (!is_readable(place, sizeof(*place)))
		return MARKED_UNKNOWN;
	word = *(const volatile uint64_t *)place;
	if (!word || dprof_is_escape(word))
		return MARKED_UNKNOWN;
	site = site_near(word, function);
	if (!is_readable(site, DPROF_SITE_MIN) || site->magic != DPROF_SITE_MAGIC)
		return UNMARKED;
	return dprof_site_kind(site) == DPROF_KIND_REGION && !memcmp(site->strings, begin, sizeof(begin) - 1) ? MARKED : UNMARKED;
}

static bool marks_itself(unsigned trampoline, const uint64_t *place)
{
	enum marked is = __atomic_load_n(&marked[trampoline], __ATOMIC_RELAXED);

	if (is == MARKED_UNKNOWN && (is = look(place, (const void *)functions[trampoline])) == MARKED)
		__atomic_store_n(&marked[trampoline], MARKED, __ATOMIC_RELAXED);
	return is != UNMARKED;
}

/* ---- It runs ------------------------------------------------------------------------------------- */

struct run {
	struct libc_call call;
	unsigned trampoline;
	bool in_timer; /* the handler that this one interrupts is a timer's */
};

static void over(struct run *r)
{
	uint64_t now = dprof_adapter_now();
	int kept = errno;

	dprof_adapter_in_timer = r->in_timer;
	if (!call_blocked(&r->call, now))
		return;
	if (dprof_adapter_place() == r->call.since.place) {
		struct dprof_arguments none = { 0 };

		dprof_adapter_record_visit(SITE(site_handler), r->call.since.stamp, now, &none);
	} else if (!marks_itself(r->trampoline, r->call.since.place)) {
		dprof_adapter_record_enter_late(SITE(site_handler), r->call.since.stamp, NULL);
		dprof_adapter_exit(SITE(site_handler));
	}
	errno = kept;
}

static void left(struct call_under_way *open)
{
	over(CALL_LEFT(open, struct run, call));
}

static void ran(struct run *r)
{
	call_closes(&r->call.open);
	over(r);
}

/* Or somebody's who sends the same: that is seldom done. */
static bool is_of_timer(int signal)
{
	return signal == SIGALRM || signal == SIGVTALRM || signal == SIGPROF;
}

#define NEEDED_BYTES 5120 /* to take another chunk, with all registers kept */

/* The kernel says which stack handlers have; what begins a trace needs more than one has. */
static bool has_room(const void *context)
{
	const stack_t *own = &((const ucontext_t *)context)->uc_stack;
	uintptr_t offset = (uintptr_t)__builtin_frame_address(0) - (uintptr_t)own->ss_sp;
	bool begun = (uintptr_t)dprof_adapter_place() < (uintptr_t)-READABLE_STEP;

	return offset >= own->ss_size || (offset >= NEEDED_BYTES && begun);
}

/* Called by the trampolines, with their number. */
static __attribute__((used)) void run_handler(int signal, siginfo_t *info, void *context, unsigned trampoline)
	__asm__("run_handler");

static void run_handler(int signal, siginfo_t *info, void *context, unsigned trampoline)
{
	if (!dprof_adapter_wanted(DPROF_KIND_REGION) || dprof_adapter_apart || !has_room(context)) {
		functions[trampoline](signal, info, context);
		return;
	}
	struct run r AT_END(ran) = { .trampoline = trampoline, .call.since = dprof_adapter_moment(), .in_timer = dprof_adapter_in_timer };
	dprof_adapter_in_timer = is_of_timer(signal);
	handlers_begun++;
	handled_last = signal;
	call_interrupts(&r.call.open, r.call.since.stamp, left);
	functions[trampoline](signal, info, context);
}

extern const char trampolines[] __asm__("handler_trampolines") __attribute__((visibility("hidden")));

__asm__(".pushsection .text\n\t"
	".balign 16\n"
	".type handler_trampolines, @function\n"
	"handler_trampolines:\n\t"
	".cfi_startproc\n\t"
	".set trampoline, 0\n\t"
	".rept 64\n\t"
	".balign 16\n\t"
	"endbr64\n\t"
	"movl $trampoline, %ecx\n\t"
	"jmp run_handler\n\t"
	".set trampoline, trampoline + 1\n\t"
	".endr\n\t"
	".cfi_endproc\n\t"
	".size handler_trampolines, . - handler_trampolines\n\t"
	".popsection");

/* ---- It is set ------------------------------------------------------------------------------------ */

static bool is_of_instruction(int signal)
{
	return signal == SIGSEGV || signal == SIGBUS || signal == SIGILL || signal == SIGFPE || signal == SIGTRAP ||
	       signal == SIGSYS || signal == SIGABRT;
}

static bool is_function(const void *function)
{
	return (uintptr_t)function > (uintptr_t)SIG_HOLD && function != (void *)SIG_ERR;
}

/* What stands for it in the kernel. */
static void *trampoline_for(int signal, void *function, const void *caller)
{
	if (is_of_instruction(signal) || !is_function(function) || dprof_adapter_is_sanitizer(caller))
		return function;
	if (is_of_timer(signal))
		__atomic_store_n(&dprof_adapter_timers, true, __ATOMIC_RELAXED);
	for (size_t i = 0; i < TRAMPOLINES; i++) {
		handler *none = NULL, *mine = (handler *)function;

		if (__atomic_load_n(&functions[i], __ATOMIC_RELAXED) == mine ||
		    __atomic_compare_exchange_n(&functions[i], &none, mine, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED) ||
		    none == mine)
			return (void *)(trampolines + i * TRAMPOLINE_BYTES);
	}
	return function;
}

/* And what a trampoline stands for. */
static void *function_of(void *found)
{
	uintptr_t offset = (uintptr_t)found - (uintptr_t)trampolines;

	return offset < (uintptr_t)TRAMPOLINES * TRAMPOLINE_BYTES ? (void *)functions[offset / TRAMPOLINE_BYTES] : found;
}

int __sigaction(int, const struct sigaction *, struct sigaction *);

#define SIGACTION(name)                                                                                    \
	DPROF_EXPORT int name(int signal, const struct sigaction *action, struct sigaction *before)        \
	{                                                                                                  \
		__typeof__(&sigaction) real = FOUND(#name, __typeof__(sigaction));                         \
		struct sigaction ours;                                                                     \
		int result;                                                                                \
                                                                                                           \
		if (!dprof_adapter_is_off() && action && is_readable(action, sizeof(*action))) {           \
			ours = *action;                                                                    \
			ours.sa_sigaction = trampoline_for(signal, (void *)ours.sa_sigaction, CALLER);           \
			action = &ours;                                                                    \
		}                                                                                          \
		result = real(signal, action, before);                                                     \
		if (result == 0 && before)                                                                 \
			before->sa_sigaction = function_of((void *)before->sa_sigaction);                  \
		return result;                                                                             \
	}

SIGACTION(sigaction)
SIGACTION(__sigaction)

/* Their names are macros in places. */
#define SIGNAL(id, symbol)                                                                                 \
	DPROF_EXPORT sighandler_t id(int signal, sighandler_t function) __asm__(symbol);                   \
	DPROF_EXPORT sighandler_t id(int signal, sighandler_t function)                                    \
	{                                                                                                  \
		sighandler_t (*real)(int, sighandler_t) = FOUND(symbol, sighandler_t(int, sighandler_t));  \
                                                                                                           \
		return (sighandler_t)function_of(                                                          \
			(void *)real(signal, (sighandler_t)trampoline_for(signal, (void *)function, CALLER)));    \
	}

SIGNAL(signal_of_bsd, "signal")
SIGNAL(signal_of_bsd_by_name, "bsd_signal")
SIGNAL(signal_of_svid, "ssignal")
SIGNAL(signal_of_sysv, "sysv_signal")
SIGNAL(signal_of_xopen, "__sysv_signal")
SIGNAL(signal_set, "sigset")

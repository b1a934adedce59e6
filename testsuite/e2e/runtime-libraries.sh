#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Libraries whose threads run the program's functions, as std::execution::par does by libtbb, are not compiled with the plugin. What
# those do that are known for it is recorded as if the program did it; what another library does is its own business.
. testsuite/lib.sh
export PKG_CONFIG_PATH=$B/lib/pkgconfig DPROF_QUIET=1 DPROF_BLOCKED_NS=0
cd "$dir" || exit 1

# Has a thread run a function, whenever it is told to.
cat >library.c <<'C'
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t told = PTHREAD_COND_INITIALIZER;
static pthread_t thread;
static void (*function)(void);
static int wanted, end;

static void *serve(void *unused)
{
	pthread_mutex_lock(&lock);
	for (;;) {
		while (wanted == 0 && !end)
			pthread_cond_wait(&told, &lock);
		if (wanted == 0)
			break;
		wanted--;
		pthread_mutex_unlock(&lock);
		function();
		pthread_mutex_lock(&lock);
	}
	pthread_mutex_unlock(&lock);
	return unused;
}

int library_begin(void (*given)(void))
{
	function = given;
	return pthread_create(&thread, NULL, serve, NULL);
}

static void tell(int *what)
{
	pthread_mutex_lock(&lock);
	++*what;
	pthread_cond_signal(&told);
	pthread_mutex_unlock(&lock);
}

void library_tell(void)
{
	tell(&wanted);
}

int library_end(void)
{
	tell(&end);
	return pthread_join(thread, NULL);
}
C
cat >program.c <<'C'
#include <unistd.h>

int library_begin(void (*)(void)), library_end(void);
void library_tell(void);

static void work(void)
{
#pragma dprof region(work)
	usleep(20000);
}

int main(void)
{
	if (library_begin(work))
		return 1;
	for (int i = 0; i < 3; i++) {
		usleep(30000); /* it waits then */
		library_tell();
	}
	usleep(30000);
	return library_end();
}
C
# Not at -O2: who calls a function last of all is not to be seen then, but who called that one.
gcc -O1 -Wall -Wextra -fPIC -c library.c || exit 1
# shellcheck disable=SC2046
gcc -O1 -Wall -Wextra $(pkg-config --cflags dprof) -c program.c || exit 1

# What a program records with the library of this name, in words: what the library does, sorted.
recorded() { # library
	# shellcheck disable=SC2046
	gcc -shared library.o -Wl,-soname,"$1" -o "$1" && gcc program.o $(pkg-config --libs dprof) "./$1" -Wl,-rpath,"$dir" -o program || return
	rm -rf dprof-program.*
	./program || fail "$1: exit status $?"
	"$analyze" check dprof-program.* >said 2>&1 || fail "$1: $(cat said)"
	"$analyze" dump dprof-program.* | awk '/^site / { sub(/.*name=/, ""); sub(/ .*/, ""); name[n++] = $0 }
		/^e / && name[$4] !~ /work|usleep/ { print name[$4] }' | sort -u | paste -sd ' '
}
all="pthread_cond_signal pthread_cond_wait pthread_create pthread_join pthread_mutex_lock pthread_mutex_unlock thread%20begin thread%20end"
for library in libtbb.so.12 libglib-2.0.so.0 libboost_thread.so.1.74.0 libuv.so.1 libQt5Core.so.5 libQt6Core.so.6; do
	found=$(recorded $library)
	[ "$found" = "$all" ] || fail "$library: recorded \"$found\", expected \"$all\""
done
for library in libother.so.1 libtbbmalloc.so.2 libuvc.so.0; do
	found=$(recorded $library)
	[ -z "$found" ] || fail "$library: recorded \"$found\", expected nothing of it"
done
exit "$failed"

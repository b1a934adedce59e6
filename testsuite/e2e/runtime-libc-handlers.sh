#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Who waits, and whose signal handler works meanwhile (a region, also where the plugin did not see it), has waited before and
# behind that, and worked in between: in calls of the C library, locks, semaphores and conditions, and between two teams.
from=$PWD/testsuite/fixtures/libc
. testsuite/lib.sh
export PKG_CONFIG_PATH=$B/lib/pkgconfig
cd "$dir" || exit 1

# shellcheck disable=SC2046
gcc -O2 -D_GNU_SOURCE -pthread -Wall -Wextra -Werror $(pkg-config --cflags dprof) -o handlers "$from/handlers.c" \
	$(pkg-config --libs dprof) || exit 1
# shellcheck disable=SC2046
gcc -O2 -D_GNU_SOURCE -DHIDDEN -pthread -Wall -Wextra -Werror $(pkg-config --cflags dprof) -o hidden "$from/handlers.c" \
	$(pkg-config --libs dprof) || exit 1

# Of the thread that waits: how long, in ms, it was in the operation before the handler, in that, and behind it.
stretches() { # name of the operation, and of the handler
	"$analyze" dump dprof-* | awk -v name="$1" -v handler="$2" '
	$1 == "clock" { sub(/ghz=/, "", $4); ms = 1e6 * $4 }
	$1 == "site" { sub(/^name=/, "", $4); site[$2] = $4 }
	$1 == "e" && $5 == "enter" && site[$4] == name { since = $3; thread = $2 }
	$1 == "e" && $5 == "exit" && site[$4] == name && $2 == thread && !begun { since = 0 }
	$1 == "e" && $5 == "enter" && site[$4] == handler && since && $2 == thread { before = $3 - since; begun = $3 }
	$1 == "e" && $5 == "exit" && site[$4] == handler && begun { in_handler = $3 - begun; ended = $3 }
	$1 == "e" && $5 == "exit" && site[$4] == name && ended && $2 == thread {
		printf "%d %d %d\n", before / ms, in_handler / ms, ($3 - ended) / ms
		exit
	}'
}

while read -r way name handler program; do
	rm -rf dprof-*
	# shellcheck disable=SC2086
	timeout 60 ./$program >out 2>&1 || fail "$way: exit status $?: $(cat out)"
	"$analyze" check dprof-* >verdict || fail "$way: $(cat verdict)"
	"$analyze" dump dprof-* >text
	stretches "$name" "$handler" >found
	[ "$way" = poll ] || [ "$way" = futex ] && least=0 || least=20
	awk -v least=$least '{ ok = $1 >= 20 && $2 >= 20 && $3 >= least } END { exit !ok }' found ||
		fail "$way: expected $name for 25 ms, the handler for 25 ms, and $name again, found $(cat found)"
	# One that is a region by itself is none a second time.
	[ "$handler" != handler ] || awk '$1 == "site" && $4 == "name=signal%20handler" { s = $2 } $1 == "e" && $4 == s { exit 1 }' text ||
		fail "$way: a marked handler is a region of dprof's, too: $(grep '^e' text)"
	# what was signalled
	case $way in
	sem | condition)
		awk -v name="$name" '$1 == "site" && $4 == "name=" name { site[$2] = 1 }
			$1 == "e" && site[$4] && $5 == "enter" && / id=/ { found = 1 } END { exit !found }' text ||
			fail "$way: $name does not say what it waited for"
		"$analyze" coz dprof-* >coz || fail "$way: coz: $(cat coz)" ;;
	esac
	"$analyze" csp --json dprof-* >json || fail "$way: csp: exit status $?"
	rm -rf again && "$analyze" dump dprof-* >first && "$analyze" pack first again && "$analyze" dump again | diff first - >wrong ||
		fail "$way: dump, pack and dump: $(head -5 wrong)"
done <<-END
	read read handler handlers read
	fgets fgets handler handlers fgets
	syscall read handler handlers syscall
	poll poll handler handlers poll
	mutex pthread_mutex_lock handler handlers mutex
	rdlock pthread_rwlock_rdlock handler handlers rdlock
	sem sem_wait handler handlers sem
	condition pthread_cond_wait handler handlers condition
	futex futex handler handlers futex
	read read signal%20handler hidden read
	sem sem_wait signal%20handler hidden sem
	futex futex signal%20handler hidden futex
	read read signal%20handler hidden read silently
	sem sem_wait signal%20handler hidden sem silently
	condition pthread_cond_wait signal%20handler hidden condition silently
END

# The program is told its own functions, and each is called as it would be.
gcc -O2 -w -o bare "$from/installs.c" || exit 1
# shellcheck disable=SC2046
gcc -O2 -w $(pkg-config --cflags dprof) -o installs "$from/installs.c" $(pkg-config --libs dprof) || exit 1
rm -rf dprof-*
./bare >expected
DPROF_QUIET=1 ./installs >out 2>&1
diff expected out >wrong && [ -s expected ] || fail "installs: $(head -5 wrong)"

# A handler's own stack may be too short for the first event's slow path, and for another chunk's: that keeps off it,
# also where the kernel does not tell of that stack (SS_AUTODISARM). The kernel needs less there than MINSIGSTKSZ, by 8
# KB where there is AMX.
short=$from/../runtime/short-stack.c
# shellcheck disable=SC2046
gcc -O2 -D_GNU_SOURCE $(pkg-config --cflags dprof) -o short-stack "$short" $(pkg-config --libs dprof) || exit 1
# shellcheck disable=SC2046
gcc -O2 -D_GNU_SOURCE -Wno-unknown-pragmas -o unseen "$short" $(pkg-config --libs dprof) || exit 1
needed=$(DPROF_OFF=1 ./short-stack) || fail "short-stack: $needed"

visits() { # program visits bytes flags [sleep] -> $found: how many of the region
	rm -rf dprof-*
	DPROF_BUFFER=8K DPROF_BLOCKED_NS=0 DPROF_QUIET=1 timeout 60 ./"$@" >out 2>&1 || fail "$*: $(cat out)"
	"$analyze" check dprof-* >verdict || fail "$*: $(cat verdict)"
	found=$("$analyze" dump dprof-* |
		awk '$1 == "site" && ($4 == "name=first" || $4 == "name=signal%20handler") { s[$2] = 1 } $1 == "e" && s[$4] && $5 == "exit"' | wc -l)
}

for how in 1 5000; do
	for flags in 0 0x80000000; do
		visits short-stack $how $((needed + 1024)) $flags
		[ "$found" -ge $how ] || fail "short-stack $how $flags: expected $how visits, found $found"
	done
done
# Of a handler that the plugin has not seen nothing is recorded on a stack that has hardly room for itself.
visits unseen 5 $((needed + 256)) 0 sleep
[ "$found" -eq 0 ] || fail "unseen: on its short stack expected no visit, found $found"
visits unseen 5 65536 0 sleep
[ "$found" -gt 0 ] || fail "unseen: on a long stack no visit is found"

# shellcheck disable=SC2046
gcc -O2 -fopenmp $(pkg-config --cflags dprof) -o idle "$from/../runtime/idle.c" $(pkg-config --libs dprof) || exit 1
rm -rf dprof-*
timeout 60 ./idle || fail "idle: exit status $?"
"$analyze" check dprof-* >verdict || fail "idle: $(cat verdict)"
stretches omp%20parallel handler >found
awk '{ ok = $1 >= 20 && $2 >= 20 && $3 >= 20 } END { exit !ok }' found ||
	fail "idle: expected to wait for 25 ms, the handler for 25 ms, and to wait again, found $(cat found)"

[ "$failed" = 0 ] && echo "as expected"
exit "$failed"

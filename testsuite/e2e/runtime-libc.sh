#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What blocks in the C library is recorded: as waiting, where another thread or process may end it, with the
# channel and the bytes that had gone before; else as input, output or sleep, which are the thread's own.
from=$PWD/testsuite/fixtures/libc
. testsuite/lib.sh
export PKG_CONFIG_PATH=$B/lib/pkgconfig
cd "$dir" || exit 1

# shellcheck disable=SC2046
gcc -O2 -D_GNU_SOURCE -pthread -Wall -Wextra -Werror $(pkg-config --cflags dprof) -o calls \
	"$from/calls.c" $(pkg-config --libs dprof) || exit 1
# shellcheck disable=SC2046
gcc -O2 -D_FORTIFY_SOURCE=2 -D_GNU_SOURCE -pthread -o calls-unseen "$from/calls.c" $(pkg-config --libs dprof) || exit 1

# What each thread recorded of this adapter: THREAD KIND NAME ARGUMENTS, without the sleeps that make the others
# late, and what they read to see who sleeps. Channels are c1, c2, ... in the order of threads; futexes i, processes p;
# ? is unknown.
recorded() {
	"$analyze" dump "$1" | awk '
	$1 == "site" { sub(/^name=/, "", $4); sub(/^kind=/, "", $3); kind[$2] = $3; name[$2] = $4 }
	$1 == "e" && $5 != "exit" && kind[$4] ~ /^(wait|io|sleep)$/ && name[$4] != "usleep" && name[$4] != "sched_yield" && name[$4] !~ /^flag/ && !(kind[$4] == "io" && name[$4] == "read") {
		text = $2 " " kind[$4] " " name[$4]
		for (i = 6; i <= NF; i++) {
			split($i, part, "=")
			value = part[2]
			if (part[1] == "peer") value = value == 72057594037927934 ? "?" : value
			if (part[1] == "channel") value = channel[value] ? channel[value] : channel[value] = "c" ++channels
			if (part[1] == "id") value = "i"
			if (part[1] == "object") value = object[value] ? object[value] : object[value] = "o" ++objects
			if (part[1] == "process") value = "p"
			if (part[1] == "until") value = "t"
			if (part[1] == "since") continue # a handler that we compiled was recorded in there
			text = text " " part[1] "=" value
		}
		print text
	}'
}

# A call that only gives bytes may have been held up by the machine: then it may have waited, too.
expect() { # program way [pattern of what may be recorded], on stdin what is
	rm -rf dprof-*
	DPROF_BLOCKED_NS=10000000 timeout 60 "./$1" "$2" >out 2>&1 || fail "$1 $2: exit status $?: $(cat out)"
	[ ! -s out ] || fail "$1 $2: printed $(head -3 out)"
	"$analyze" check dprof-* >verdict || fail "$1 $2: $(cat verdict)"
	recorded dprof-* | sed "/role=1/s/ peer=?//; / spin%20wait /d; /${3:-^$}/d" | sort >found
	sort | diff - found >wrong || fail "$1 $2: $(cat wrong)"
}

three() { # offsets of the reads and of the writes
	for at in ${1:-0 4 8}; do echo "0 wait read peer=? channel=c1 offset=$at bytes=4"; done
	for at in ${2:-0 4 8}; do echo "1 wait write channel=c1 offset=$at bytes=4 role=1"; done
}

unknown() { three - - | sed 's/ offset=-//' | uniq | sed 'p;p'; }

for program in calls calls-unseen; do
	three | expect $program pipe
	{
		echo "0 wait write channel=c1 offset=0 bytes=5 role=1"
		echo "0 wait read channel=c1 offset=0 bytes=5"
		echo "0 wait waitpid process=p role=1"
		three "5 9 13" "5 9 13"
	} | expect $program counted
	messages="0 wait recv peer=? channel=c1 offset=0 bytes=4
0 wait recvfrom peer=? channel=c1 offset=4 bytes=4
0 wait readv peer=? channel=c1 offset=8 bytes=6
0 wait recvmsg peer=? channel=c1 offset=14 bytes=6
1 wait send channel=c1 offset=0 bytes=4 role=1
1 wait sendto channel=c1 offset=4 bytes=4 role=1
1 wait writev channel=c1 offset=8 bytes=6 role=1
1 wait sendmsg channel=c1 offset=14 bytes=6 role=1"
	expect $program pair <<<"$messages"
	expect $program connection <<<"0 wait accept peer=? object=o1
1 wait connect object=o1 role=1
$messages"
	expect $program at-once <<-END
	0 wait read channel=c1 bytes=4
	0 wait write channel=c1 offset=0 bytes=4 role=1
	0 wait write channel=c1 offset=4 bytes=4 role=1
	0 wait write channel=c1 offset=8 bytes=4 role=1
	1 wait read peer=? channel=c1 bytes=4
	2 wait read peer=? channel=c1 bytes=4
	END
	unknown | expect $program lost-to-program waitpid
	unknown | expect $program lost-to-child waitpid
	{
		echo "0 wait fprintf channel=c1 bytes=4 role=1"
		echo "0 wait read channel=c1 offset=0 bytes=4"
		three "4 8 12" - | sed 's/ offset=-//' | sed '/ 4 *$/d;/write/{p;p}'
	} | expect $program lost-to-stream 'wait fclose channel=c1 bytes=0'
	{
		echo "0 wait write channel=c1 offset=0 bytes=1 role=1"
		three | sed s/c1/c2/
	} | expect $program reused
	expect $program streams <<-END
	0 wait fgets peer=? channel=c1
	0 wait getline peer=? channel=c1
	0 wait fread peer=? channel=c1
	0 wait getc peer=? channel=c1
	0 wait getc
	1 wait fflush channel=c1 bytes=4 role=1
	1 wait fflush channel=c1 bytes=4 role=1
	1 wait fflush channel=c1 bytes=4 role=1
	1 wait fclose channel=c1 bytes=2 role=1
	END
	expect $program commands <<-END
	0 wait fgets peer=? channel=c1
	0 wait pclose peer=?
	0 wait system peer=?
	END
	expect $program polls <<-END
	0 wait poll peer=?
	0 wait select peer=?
	0 wait epoll_wait peer=?
	1 wait write channel=c1 offset=0 bytes=1 role=1
	2 wait write channel=c2 offset=0 bytes=1 role=1
	3 wait write channel=c3 offset=0 bytes=1 role=1
	END
	expect $program events <<-END
	0 wait read peer=? channel=c1 offset=0 bytes=1 role=0
	1 wait write channel=c1 offset=0 bytes=1 role=1
	END
	expect $program futexes <<-END
	0 wait futex id=i
	1 wait futex%20wake id=i
	END
	expect $program futex-until <<<"0 wait futex id=i until=t peer=?"
	expect $program onces <<-END
	0 wait pthread_once%20done id=i
	1 wait pthread_once id=i peer=?
	2 wait pthread_once id=i
	END
	{
		[ $program != calls ] || for _ in 1 2 3; do echo "0 wait store%20to%20memory object=o1"; done # the plugin sees them
		cat <<-END
		0 wait waitpid process=p role=1
		0 wait wait process=p peer=?
		0 wait waitid process=p role=1
		END
	} | expect $program children
	expect $program file-locks <<-END
	0 wait flock object=o1
	0 wait flock object=o1
	0 wait fcntl object=o2
	0 wait fcntl object=o2
	1 wait flock object=o1
	1 wait flock peer=? object=o1
	END
	expect $program messages <<-END
	0 wait mq_receive object=o2 bytes=1
	0 wait mq_receive object=o2 tag=5 bytes=1
	0 wait mq_send object=o2 bytes=1 role=1
	0 wait mq_send object=o2 tag=5 bytes=1 role=1
	0 wait msgrcv object=o1 tag=2 bytes=1
	0 wait msgrcv object=o1 tag=3 offset=18446744073709551612 bytes=1
	0 wait msgsnd object=o1 tag=2 bytes=1 role=1
	0 wait msgsnd object=o1 tag=3 bytes=1 role=1
	END
	expect $program sleeps <<-END
	0 sleep nanosleep
	0 sleep clock_nanosleep
	0 sleep clock_nanosleep until=t
	0 sleep sleep
	0 sleep poll
	0 sleep select
	END
	expect $program guests <<-END
	0 wait read peer=? until=t channel=c1 offset=0
	1 wait read peer=? channel=c1
	END
done

# The plugin says at which lines; not of a kind that only the call itself can tell (poll that sleeps).
for way in pipe sleeps onces; do
	rm -rf dprof-*
	DPROF_BLOCKED_NS=10000000 ./calls $way
	"$analyze" dump dprof-* | awk '
	$1 == "site" { place[$2] = $5 " " $6; name[$2] = $3 " " $4 }
	$1 == "e" && $5 == "enter" && name[$4] ~ /^kind=(wait|io|sleep) / && name[$4] !~ /sleep name=(poll|select)/ && place[$4] !~ /calls.c line=[1-9]/ {
		print name[$4] " is at " place[$4]; bad = 1
	}
	$1 == "e" && $5 == "enter" && place[$4] ~ /calls.c line=[1-9]/ { seen++ }
	END { exit bad || !seen }' >wrong || fail "$way: none is at a line, or $(head -3 wrong)"
done

# With another clock the waits are as long.
rm -rf dprof-*
FREEZER_CLOCK=monotonic_raw DPROF_BLOCKED_NS=10000000 ./calls pipe || fail "another clock: exit status $?"
"$analyze" check dprof-* >verdict || fail "another clock: $(cat verdict)"
"$analyze" dump dprof-* | awk '
$1 == "site" { name[$2] = $4 }
$1 == "e" && name[$4] == "name=read" && $5 == "enter" { since = $3 }
$1 == "e" && name[$4] == "name=read" && $5 == "exit" && $3 - since > 20e6 { n++ }
END { exit n != 3 }' || fail "another clock: expected 3 reads of 25 ms, found $("$analyze" dump dprof-* | grep '^e 0')"

# Also where a sanitizer stands between the program and the C library, if it works here at all.
export ASAN_OPTIONS=detect_leaks=0
for sanitizer in address thread; do
	gcc -O1 -fsanitize=$sanitizer -D_GNU_SOURCE -pthread -o plain "$from/calls.c" && ./plain sleeps || continue
	# shellcheck disable=SC2046
	gcc -O1 -fsanitize=$sanitizer -D_GNU_SOURCE -pthread -o sanitized "$from/calls.c" \
		$(pkg-config --libs dprof) || exit 1
	rm -rf dprof-*
	DPROF_BLOCKED_NS=10000000 timeout 60 ./sanitized pipe || fail "$sanitizer: exit status $?"
	[ "$(recorded dprof-* | grep -c "wait read.* peer=?")" -ge 3 ] ||
		fail "$sanitizer: expected 3 reads, found $(recorded dprof-*)"
	rm -rf dprof-*
	DPROF_BLOCKED_NS=10000000 timeout 60 ./sanitized streams || fail "$sanitizer: exit status $?"
	[ "$(recorded dprof-* | grep -c "wait f.* peer=?")" -ge 2 ] ||
		fail "$sanitizer: expected fgets and fread, found $(recorded dprof-*)"
done

# Nothing of it where it is left out, and the program does the same.
rm -rf dprof-*
DPROF_EVENTS=-wait,-io,-sleep ./calls pair || fail "without these kinds: exit status $?"
"$analyze" dump dprof-* | grep -qx 'without wait,io,sleep' || fail "nothing says what is left out"
recorded dprof-* | grep . && fail "recorded although it is left out"
rm -rf dprof-*
DPROF_OFF=1 ./calls pair && DPROF_OFF=1 ./calls streams && DPROF_OFF=1 ./calls guests || fail "DPROF_OFF disturbs the program"
DPROF_BLOCKED_NS=1x ./calls sleeps || fail "exit status $?"
"$analyze" dump dprof-* | grep -q '^note .*DPROF_BLOCKED_NS' || fail "a wrong DPROF_BLOCKED_NS is not noted"

[ "$failed" = 0 ] && echo "as expected"
exit "$failed"

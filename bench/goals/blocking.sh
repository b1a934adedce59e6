# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154
#
# blocking.sh - what it costs to record what blocks in the C library.

export DPROF_DIR=$here

# One round: each way in turn. -> $here/WAY: round way ns
for what in pipe sleep null; do
	for round in $(seq "$rounds"); do
		progress "blocking: $what, round $round of $rounds"
		for way in plain recorded passed without off; do
			case $way in
			plain) ns=$("$B/bench/blocking-plain" $what 200000) ;;
			recorded) ns=$(DPROF_BLOCKED_NS=0 "$B/bench/blocking" $what 200000) ;;
			passed) ns=$(DPROF_BLOCKED_NS=1000000000 "$B/bench/blocking" $what 200000) ;;
			without) ns=$(DPROF_EVENTS=-wait,-io,-sleep "$B/bench/blocking" $what 200000) ;;
			off) ns=$(DPROF_OFF=1 "$B/bench/blocking" $what 200000) ;;
			esac
			echo "$round $way $ns" >>"$here/$what"
			rm -rf "$here"/dprof-blocking.*
		done
	done
done

more() { # file way title goal reason [calls that are recorded at a time]
	row "  $3" "$(paired difference "$2" plain <"$here/$1" | awk -v n="${6:-1}" '{ print $1 / n }' | estimate)" ns "<= $4"
	why "$5"
}
stamps="a stamp before and one behind a fence"
passed_on="the call goes through a function of dprof, which looks whether it is recorded"

table "What blocks in the C library" "How much more of the thread's processor time than the same calls without dprof. $rounds rounds, the least of 200 batches of 1,000 in each."
row "write + read of a pipe" "$(only plain <"$here/pipe" | estimate)" ns
more pipe recorded "recorded, each of both" 60 "$stamps, and a locked exchange, without which two threads would count the same bytes: \
about a third of it, and the exchange alone a sixth" 2
more pipe without "without these kinds, each" 5 "$passed_on" 2
more pipe off "DPROF_OFF=1, each" 5 "$passed_on" 2
row "nanosleep" "$(only plain <"$here/sleep" | estimate)" ns
more sleep recorded "recorded" 60 "$stamps"
more sleep off "DPROF_OFF=1" 5 "$passed_on"
row "write to /dev/null" "$(only plain <"$here/null" | estimate)" ns
row "  not blocked, so not recorded" "$(paired difference passed plain <"$here/null" | estimate)" ns

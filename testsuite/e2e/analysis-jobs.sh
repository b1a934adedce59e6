#!/bin/bash
# SPDX-License-Identifier: MIT
#
# --jobs changes no byte: not of an answer, not of what is said of damage, not with few file descriptors. And it runs on
# several threads.
. testsuite/fixtures/analysis/setup.sh

for text in job iterations coz-two-threads; do
	trace $text <"$fixtures/$text.txt"
done
"$B/test/synthesize" --hosts 3 --ranks 5 --threads 3 --messages 3000 --work 20 | trace many
"$B/test/synthesize" --hosts 4 --messages 20000 --work 20 | trace long

# A copy in which every third file is damaged: cut off, overwritten, gone.
damage() { # from to
	local n=0 file size
	rm -rf "$2"
	cp -r "$1" "$2"
	for file in "$2"/*.events; do
		n=$((n + 1))
		size=$(stat -c %s "$file")
		case $((n % 9)) in
		1) truncate -s $((size / 2 + 3)) "$file" ;;
		4) head -c 100 /dev/zero | tr '\0' '\377' | dd of="$file" bs=1 seek=$((4096 + n * 8)) conv=notrunc status=none ;;
		7) rm "$file" ;;
		esac
	done
}
damage many many-damaged
damage long long-damaged
damage job job-damaged

# What every command says of a trace, and with which status it ends.
answers() { # trace options...
	local kind=$1 words
	shift
	while read -r -a words; do
		echo "== ${words[*]}"
		"$analyze" "${words[@]}" "$@" "$kind" 2>&1
		echo "status $?"
	done <<-END
	report --json
	report
	csp -v
	csp --json --links packets
	coz --json
	check
	clocks
	dump
	END
	echo "== query"
	"$analyze" query "$@" "$kind" "count(waiting) >= 1" 2>&1
	echo "status $?"
}

damaged=0
for kind in job iterations coz-two-threads many long job-damaged many-damaged long-damaged; do
	answers $kind --jobs 1 >truth
	grep -q '^status 2' truth && fail "$kind: a command was refused: $(cat truth)"
	damaged=$((damaged + $(grep -c '^status 1' truth)))
	for jobs in 2 7; do
		answers $kind --jobs $jobs >out
		cmp -s out truth || fail "$kind: --jobs $jobs changes this: $(diff truth out | head -20)"
	done
done
[ "$damaged" -ge 27 ] || fail "of three damaged traces only $damaged answers say so"

answers many --jobs 10000 >out
answers many --jobs 1 >truth
cmp -s out truth || fail "--jobs 10000 changes this: $(diff truth out | head -20)"
answers many >out
cmp -s out truth || fail "without --jobs this is another answer: $(diff truth out | head -20)"

# Few descriptors are enough for few readers.
"$analyze" csp --json --jobs 1 many >truth || fail "no answer"
(ulimit -n 16 && exec "$analyze" csp --json --jobs 7 many) >out 2>err || fail "with 16 descriptors: $(cat err)"
cmp -s out truth || fail "with 16 descriptors the answer is another one"

for jobs in 0 -1 '' x 2x 1.5; do
	"$analyze" csp --jobs "$jobs" many >out 2>err
	[ $? -eq 2 ] || fail "--jobs '$jobs' is not refused"
	says err "--jobs: expected a number from 1 on, found '$jobs'"
done

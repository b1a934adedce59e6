#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The demo, made short: rank 1 is named and proved, the truth lies in the intervals of both clocks, the
# balanced run is compared with what was predicted; and nothing is left, also when it is interrupted.
. testsuite/fixtures/examples/setup.sh
[ -z "${SAN:-}" ] || { echo "beside a sanitizer MPI's own threads are recorded, too"; exit 77; }
cd "$root" || exit 1

no_spaces_left() { # of the demo, which says their name if it made some
	local set
	set=$(sed -n 's/.*(namespaces \(dprof[0-9]*-\).*/\1/p' "$tmp/out")
	[ -z "$set" ] || ! ip netns list | grep "^$set" || fail "network namespaces were left"
}

# What the report begins with: rank 1, proved. Where cores were shared, who has less to do, but no core for long, keeps
# the others waiting: then it names whose score is the highest. Nothing is proved where the kernel does not tell who had
# no core from who was blocked.
finding() {
	local rank=1
	grep -q '^Cores were shared' "$tmp/out" &&
		rank=$(sed '/^span/d' "$tmp/demo/overloaded.scores" | sort -g -k2 | sed -n '$s/ .*//p')
	if grep -q "^note: the kernel's counts leave open" "$tmp/out"; then
		echo "^Look at rank $rank: it keeps everybody waiting\|^Undecided: rank $rank keeps everybody waiting"
	else
		echo "^Look at rank $rank: it keeps everybody waiting"
	fi
}

show() { # what is where it runs
	for _ in 1 2 3; do
		rm -rf "$tmp/demo"
		ITERATIONS=5 examples/demo.sh "$tmp/demo" >"$tmp/out" 2>&1 || fail "the demo failed: $(cat "$tmp/out")"
		grep -q '^Look at rank 1' "$tmp/out" && break
		grep -q '^Cores were shared' "$tmp/out" || break
	done
	for line in "^\[ *[0-9]* s\] [24] ranks on $1" '^  rank 1  *[0-9]' \
		"$(finding)" '(kmeans.c:' \
		'^Predicted for the balanced run: .* s; it took .* s (.* %)'; do
		grep -q "$line" "$tmp/out" || fail "expected \"$line\", found: $(cat "$tmp/out")"
	done
	[ "$(grep -c ' in both$' "$tmp/out")" -eq "$(sed -n 's/^.*\] \([24]\) ranks on.*/\1/p' "$tmp/out")" ] ||
		fail "expected the truth in both: $(cat "$tmp/out")"
	awk '/ in both$/ && $7 - $5 > 2 * ($4 - $2) + 0.5 { exit 1 }' "$tmp/out" ||
		fail "the other clock makes less known: $(cat "$tmp/out")"
	[ -z "$(grep '^\[\|^Predicted' "$tmp/out" | grep -v "$tmp" | awk 'length > 80')" ] ||
		fail "lines are too long: $(cat "$tmp/out")"
}

if [ "$(id -u)" -eq 0 ] && testsuite/hosts.sh run 2 -n 2 true; then
	show "2 hosts"
fi
mkdir "$tmp/refusing" # where network namespaces cannot be had
printf '#!/bin/sh\necho "not permitted" >&2; exit 1\n' >"$tmp/refusing/ip"
chmod +x "$tmp/refusing/ip"
why="no network namespaces here: not permitted"
[ "$(id -u)" -eq 0 ] || why="only root may make network namespaces"
PATH=$tmp/refusing:$PATH show "one host: $why"

rm -rf "$tmp/demo"
iterations=$((100000 + $$ % 10000))
ITERATIONS=$iterations examples/demo.sh "$tmp/demo" >"$tmp/out" 2>&1 &
running=$!
for _ in $(seq 600); do
	compgen -G "$tmp/demo/overloaded/dprof-kmeans.*" >/dev/null && break
	sleep 0.1
done
kill -TERM $running
wait $running
status=$?
[ $status -eq 130 ] || fail "an interrupted demo has status $status: $(cat "$tmp/out")"
for _ in $(seq 600); do
	pgrep -f "iterations $iterations" >/dev/null || break
	sleep 0.1
done
pgrep -f "iterations $iterations" >/dev/null && fail "an interrupted demo leaves processes"
no_spaces_left
echo "as expected"

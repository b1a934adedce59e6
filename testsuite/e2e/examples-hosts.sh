#!/bin/bash
# SPDX-License-Identifier: MIT
#
# hosts.sh makes hosts that have names and addresses of their own and reach each other; MPI runs across
# them; sets do not overlap; nothing is left, also when the run is interrupted.
. testsuite/fixtures/examples/setup.sh
hosts=$root/testsuite/hosts.sh
a= b=
trap '"$hosts" down "$a"; "$hosts" down "$b"; rm -rf "$tmp"' EXIT

a=$("$hosts" up 3) || exit $?
b=$("$hosts" up 2) || fail "no second set"
[ "$(ip netns list | grep -c "^$a-")" -eq 3 ] || fail "expected 3 name spaces of $a, found: $(ip netns list)"

"$hosts" run "$a" -n 6 hostname | sort >names || fail "MPI across 3 hosts failed"
printf 'h%d\n' 0 0 1 1 2 2 | diff - names || fail "expected ranks in blocks on h0, h1, h2"
[ "$("$hosts" exec "$a" 2 hostname)" = h2 ] || fail "exec: not on h2"
[ "$("$hosts" exec "$b" 1 ip -br address | grep -c 10.77.0.2/24)" -eq 1 ] || fail "h1 has no address"
[ "$(hostname)" != h0 ] || fail "this machine's own name was changed"
"$hosts" exec "$b" 0 sh -c 'exit 7'
[ $? -eq 7 ] || fail "exec does not hand on the status"

printf '0,0\n0,1\n9,9\n8,9\n' >points
"$hosts" run "$b" -n 4 "$B/examples/plain/kmeans" -k 2 -t 1 -o centres points >line ||
	fail "K-Means across 2 hosts failed"
grep -q '^2,0,0.5$' centres && grep -q '^2,8.5,9$' centres || fail "wrong centres: $(cat centres)"

"$hosts" run 2 -n 2 sleep 1000.$$ &
running=$!
for _ in $(seq 600); do
	[ "$(ip netns pids "dprof$running-1" 2>/dev/null | wc -l)" -ge 3 ] && break
	sleep 0.1
done
kill -TERM $running
wait $running
[ $? -eq 143 ] || fail "an interrupted run has another status"
"$hosts" down "$a"
"$hosts" down "$b"
ip netns list | grep -E "^($a|$b|dprof$running)-" && fail "name spaces were left"
pgrep -f "sleep 1000.$$" >/dev/null && fail "a process was left"
echo "as expected"

#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The events of a trace are stored once, wherever there is room: with few file descriptors, without a temporary
# directory, with a limit on the size of files, and for 10,000 threads, the answers are the same or it is said why not.
. testsuite/fixtures/analysis/setup.sh

"$B/test/synthesize" --hosts 2 --threads 2 --messages 20000 | "$analyze" pack - some || fail "no trace"
expect 0 csp --json some
mv out truth

# Each descriptor that is missing is named, or is not needed.
said=0 answered=0
for files in $(seq 3 16); do
	(ulimit -n "$files" && exec "$analyze" csp --json some) >out 2>err
	case $? in
	0) cmp -s out truth || fail "with $files descriptors the answer is another one"
		answered=$((answered + 1)) ;;
	1) grep -q "Too many open files\|error while loading" out err ||
		fail "with $files descriptors nobody says why there is no answer: $(cat out err)"
		said=$((said + 1)) ;;
	127) grep -q "error while loading" err || fail "with $files descriptors: $(cat err)" ;; # not even its libraries
	*) fail "with $files descriptors it ends otherwise: $(cat err)" ;;
	esac
done
[ "$answered" -ge 5 ] && [ "$said" -ge 1 ] || fail "$answered answers, and $said were refused"

# A file that can be neither made nor long enough: what was decoded stays in memory.
TMPDIR=$tmp/nowhere expect 0 csp --json some
cmp -s out truth || fail "without a temporary directory the answer is another one"
says err "stay in memory; set TMPDIR"
(ulimit -f 600 && exec "$analyze" csp --json some) >out 2>err || fail "with a limit on files there is no answer: $(cat err)"
cmp -s out truth || fail "with a limit on files the answer is another one"
says err "File too large"
mkdir room
TMPDIR=$tmp/room expect 0 csp --json some
cmp -s out truth || fail "with another temporary directory the answer is another one"
[ -z "$(cat err; ls -A room)" ] || fail "a temporary file is left, or not used: $(cat err; ls -A room)"

# 10,000 threads.
awk 'BEGIN {
	print "dprof-text 1"
	for (h = 0; h < 4; h++) print "clock", h, "host=h" h, "ghz=2"
	for (t = 0; t < 10000; t++) print "thread", t, "clock=" t % 4, "rank=" t % 4
	print "site 0 kind=region name=body file=a.c line=1"
	for (t = 0; t < 10000; t++) for (i = 0; i < 12; i++)
		printf "e %d %d 0 enter id=%d\ne %d %d 0 exit\n", t, 1000 + 100 * i + t % 50, i, t, 1060 + 100 * i + t % 50
}' | "$analyze" pack - many || fail "no trace of 10,000 threads"
[ "$(ls many | grep -c events)" -eq 10000 ] || fail "10,000 threads have other files"
(ulimit -n 16 && [ -z "${SAN:-}" ] && ulimit -d 150000
exec "$analyze" csp --links packets many) >out 2>err || [ $? -eq 1 ] || fail "10,000 threads: $(cat err)"
says out "10000"

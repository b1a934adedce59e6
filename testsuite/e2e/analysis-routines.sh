#!/bin/bash
# SPDX-License-Identifier: MIT
#
# More than 16 threads are shown in groups by the routine they began in: how many they are, the highest score and
# around all others; -v and --json show each. Up to 16 are shown one by one.
. testsuite/fixtures/analysis/setup.sh
export PKG_CONFIG_PATH=$B/lib/pkgconfig

# $1 threads of each of $2 ranks come to three barriers, in which $3, $4 and $5 are late by 5000, 3000 and 1000 ticks. Of
# the threads of a rank the first one has no routine, a quarter begin in reader and the others in worker, which has
# two sites; inside of it they are in a function.
text() {
	awk -v threads="$1" -v ranks="$2" -v late="$3 $4 $5" '
	function e(t, at, site, what) { print "e", t, at, site, what }
	function place(n) { return n == 0 ? -1 : n <= threads / 4 ? 0 : 1 + n % 2 }
	BEGIN {
		split(late, who)
		split("5000 3000 1000", by)
		all = threads * ranks
		print "dprof-text 1\nclock 0 host=h0 ghz=1"
		for (r = 0; r < ranks; r++)
			print "process", r, "clock=0 rank=" r " size=" ranks " program=/bin/pool"
		for (t = 0; t < all; t++)
			print "thread", t, "clock=0 rank=" int(t / threads) " process=" int(t / threads) " number=" t % threads " name=pool"
		printf "group 1 threads=0"
		for (t = 1; t < all; t++)
			printf ",%d", t
		print "\nsite 0 kind=region name=reader file=pool.c line=10 auto=1"
		print "site 1 kind=region name=worker file=pool.c line=20 auto=1"
		print "site 2 kind=region name=worker file=pool.c line=20 auto=1"
		print "site 3 kind=region name=inner file=pool.c line=30 auto=1"
		print "site 4 kind=barrier name=pthread_barrier_wait file=pool.c line=40"
		for (t = 0; t < all; t++) {
			at = 1000
			body = place(t % threads)
			if (body >= 0) {
				e(t, at - 10, body, "enter")
				e(t, at - 5, 3, "enter")
			}
			for (b = 1; b <= 3; b++) {
				end = at + 1000 + by[b]
				e(t, at + (t == who[b] ? 1000 + by[b] : 1000), 4, "enter group=1 seq=" b - 1)
				e(t, end + 10, 4, "exit")
				at = end + 10
			}
			if (body >= 0) {
				e(t, at + 5, 3, "exit")
				e(t, at + 10, body, "exit")
			}
		}
	}'
}

# The table of groups in the file out is what the JSON of the same trace says, one thread after the other.
table_holds() { # directory "TITLE COUNT"...
	expect 0 csp --json "$1"
	mv out json
	for command in csp report; do
		expect 0 $command "$1"
		fits_80 out || fail "$command $1: wider than 80 columns"
		python3 - $command "${@:2}" <<'PYTHON' || fail "$command $1: $(cat out)"
import json, re, sys
groups = {}
for t in json.load(open("json"))["threads"]:
    if t["takes_part"]:
        groups.setdefault((t["rank"], t["routine"]), []).append(t)
of = {(t["rank"], t["thread"]): k for k, g in groups.items() for t in g}
counts = sorted(f"{key[1]} {len(g)}" for key, g in groups.items())
if counts != sorted(sys.argv[2:]):
    sys.exit(f"JSON has the groups {counts}")
def around(text, lo, hi, what):
    a, b = (float(text[0]) - float(text[2]), float(text[0]) + float(text[2])) if text[2] else map(float, (text[0], text[1] or text[0]))
    most = max(0.002, (hi - lo) / 4)
    if not (a <= lo + 1e-9 and lo - 1e-9 - a < most and hi - 1e-9 <= b and b - hi - 1e-9 < most):
        sys.exit(f"{what}: {a} .. {b}, but JSON says {lo} .. {hi}")
interval = r"(\d[\d.]*)(?: \.\. (\d[\d.]*)| ±(\d[\d.]*)|)"
share = re.sub(r"\((?!\?)", "(?:", interval)
shares, verdict, began = {"csp": ("", "(proved|undecided) ", "  +began in"), "report": (f"{share} +{share} +", "", "; began in")}[sys.argv[1]]
lines = open("out").read().split("\n")
at, key, seen, middles = max(i for i, l in enumerate(lines) if re.search("others wait(, %| for it)", l)), None, {}, []
for line in lines[at + 1:]:
    head = re.match(rf"  (?:rank (\d+) )?thread (\d+) +{shares}{interval} +{verdict}", line)
    tail = re.match(rf"    and (\d+) others?:? +{interval}{began} (.*)", line)
    if head:
        key = of[int(head[1] or -1), int(head[2])]
        scores = [t["straggler_percent"] for t in groups[key]]
        top = [t for t in groups[key] if t["thread"] == int(head[2])][0]
        score = top["straggler_percent"]
        if score["lo"] + score["hi"] < max(s["lo"] + s["hi"] for s in scores):
            sys.exit(f"{head[0]} is not the highest of its group")
        if verdict and head[6] != top["verdict"]:
            sys.exit(f"{head[0]}: JSON says {top['verdict']}")
        around(head.group(3, 4, 5), score["lo"], score["hi"], head[0])
        seen[key] = 1
        middles.append(score["lo"] + score["hi"])
    elif tail:
        rest = [t["straggler_percent"] for t in groups[key] if t is not top]
        around(tail.group(2, 3, 4), min(s["lo"] for s in rest), max(s["hi"] for s in rest), tail[0])
        if tail[5] != key[1]:
            sys.exit(f"{tail[0]}: JSON says {key[1]}")
        seen[key] += int(tail[1])
    else:
        break
if seen != {k: len(g) for k, g in groups.items()}:
    sys.exit(f"the table has {seen}")
if middles != sorted(middles, reverse=True):
    sys.exit("not the highest first")
if f"  {len(of)} threads in {len(groups)} groups by " not in line:
    sys.exit("no sum: " + line)
PYTHON
	done
}

rows() { grep -Ec '^  (rank|pid) [0-9]+ thread [0-9]+ ' out; }

# Each thread of 40: with -v, in csp and in the report.
text 40 1 30 5 31 | trace forty
table_holds forty "main thread 1" "reader (pool.c:10) 10" "worker (pool.c:20) 29"
says out "40 threads in 3 groups by the routine they began in; -v shows each"
for command in csp report; do
	expect 0 $command -v forty
	[ "$(rows)" -eq 40 ] || fail "$command -v: $(cat out)"
	says_not out "began in"
done
expect 0 csp forty
[ "$(rows)" -eq 3 ] || fail "three rows: $(cat out)"
grep -Eq '^  rank 0 thread 30 .* proved ' out || fail "the straggler is proved: $(cat out)"
grep -Eq '^    and 28 others  .* began in worker \(pool\.c:20\)$' out || fail "$(cat out)"
expect 2 clocks -v forty
says err "clocks has no option --verbose"

# Groups are of one process; up to 16 threads are none.
text 9 2 4 12 13 | trace ranks
table_holds ranks "main thread 1" "main thread 1" "reader (pool.c:10) 2" "reader (pool.c:10) 2" \
	"worker (pool.c:20) 6" "worker (pool.c:20) 6"
text 16 1 4 12 13 | trace sixteen
expect 0 csp sixteen
[ "$(rows)" -eq 16 ] || fail "sixteen rows: $(cat out)"
says_not out "began in"

# A real pool of 24. Its main thread waits for them.
"$B/bin/dprof-cc" "$fixtures/routines.c" -O2 -pthread -o program && timeout 60 ./program || fail "exit status $?"
line() { grep -n "^static void \*$1(" "$fixtures/routines.c" | cut -d: -f1; }
table_holds dprof-program* "main thread 1" "reader (routines.c:$(line reader)) 6" "worker (routines.c:$(line worker)) 14" \
	"writer (routines.c:$(line writer)) 4"
echo "as expected"

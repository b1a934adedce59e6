#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The paper's experiments in their smallest form: tables are well-formed, dprof's intervals hold the
# truth, and packets that lie are noticed.
. testsuite/lib.sh
at_once=1
about() { cat "$OUT/log"; }
export OUT=$dir RECORD_S=0.6 SIZES=2000 QUICK=1

bench/paper/run record table2 widths figure6 figure7 >"$OUT/log" 2>&1 || fail "the experiments failed"
awk '/^True times outside/ { seen = $6 == 0 && $8 + 0 > 100 } END { exit !seen }' "$OUT/log" ||
	fail "expected no true time outside dprof's intervals, of more than 100"

# The paper's figures are beside: by packets its formula, by messages the others; and no key is misspelt.
[ "$(grep -c '^  FreeZer formula (\*)  packets .* 0\.000 (0\.000 \.\. 0\.000)' "$OUT/log")" -ge 1 ] &&
	[ "$(grep -c '^  linear regression    messages .* 3\.142 (0\.075 \.\. 30\.790)' "$OUT/log")" -ge 1 ] &&
	grep -q '^Figure 6: .*(paper: 10^6 events in 197 ms and less than 51 MB)' "$OUT/log" &&
	grep -q 'FreeZer formula (\*) .*paper: FreeZer 0\.39 ' "$OUT/log" || fail "figures of the paper are missing"
for key in $(grep -oh 'known [a-z][a-z0-9.-]*)' bench/paper/*.sh | tr -d ')' | cut -d' ' -f2); do
	grep -q "^$key	." bench/paper/known.tsv || fail "the paper has no figure $key"
done

# A run's length before its zero the formula's bounds have crossed, whatever the packets; dprof's hold there, too.
awk -F '\t' '$2 == "steady" && !$6 { if ($3 ~ /^dprof/) bad = 1; if ($3 == "freezer-formula" && $4 < 0) crossed = 1 }
	END { exit bad || !crossed }' "$OUT/widths.tsv" || fail "expected bounds of the formula, and no others, to be false before the run"
awk -F '\t' 'NR > 1 && (NF != 6 || !($4 > 0) || !($5 > 0) || ($1 == "dprof") != ($6 > 0)) { bad = 1 }
	END { exit bad || NR != 31 }' "$OUT/figure6-capture.tsv" || fail "figure6-capture.tsv is not well-formed"

# Every method has its line; numbers where a number must be, "-" where a method promises nothing.
awk -F '\t' '
	NR == 1 { columns = NF; next }
	NF == 6 && $6 ~ /^(contradiction|too-little-evidence)$/ { lines++; next }
	NF != columns || $6 + 0 < ($1 == "congested" ? 1 : 10) || $7 > $8 || $8 > $6 { print "line " NR ": " $0; bad = 1 }
	{ points = $4 ~ /^(convex-hull|regression|fastest-middles|two-barriers)$/
	  if (points != ($11 == "-") || points != ($13 == "-")) { print "line " NR ": " $0; bad = 1 }
	  lines++; methods[$4]++ }
	END { for (m in methods) n++; exit bad || n != 8 || lines % 13 != 0 }' "$OUT/table2-fast-sends.tsv" ||
	fail "table2-fast-sends.tsv is not well-formed"
awk -F '\t' 'NR > 1 && (NF != 7 || $3 != 2000 || !($5 >= 0) || !($7 > 0)) { bad = 1 }
	END { exit bad || NR != 10 }' "$OUT/figure7-sync-time.tsv" || fail "figure7-sync-time.tsv is not well-formed"

# Packets of one direction that say they came before they were sent, all of them: the truth must be found outside of what is made of
# packets, not overlooked. (How many are outside depends on how often a busy machine lets messages go to and fro, and how fast.)
network=$(ls "$OUT"/data/*.run | head -1)
awk '
	NR == FNR { if ($1 == "packet" && $2 != 0 && (!least || $5 - $3 < least)) least = $5 - $3; next }
	$1 == "packet" && $2 == 0 { $5 = sprintf("%.0f", $3 - least / 2) }
	{ print }' "$network" "$network" >"$OUT/lies" && rm "$OUT"/data/*.run && mv "$OUT/lies" "$OUT/data/loopback.run"
bench/paper/run table2 >"$OUT/log" 2>&1 && fail "false packets were not noticed"
awk '/^True times outside/ { seen = $6 > 0 } END { exit !seen }' "$OUT/log" ||
	fail "expected true times outside, since the packets are false"

# A damaged recording is refused, with the line.
sed -i '3s/.*/packet 0 nonsense/' "$OUT/data/loopback.run"
"$B/bench/paper/widths" "$OUT/data/loopback.run" 1.3 >"$OUT/log" 2>&1 && fail "a damaged recording was taken"
grep -q 'line 3: expected a line of a recording' "$OUT/log" || fail "the damage was not named"
echo "as expected"

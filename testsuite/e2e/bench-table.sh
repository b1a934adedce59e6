#!/bin/bash
# SPDX-License-Identifier: MIT
#
# bench/table.sh: the interval of a median against all outcomes, what a goal is met by, and rows that fail; run
# refuses goals that it does not know.
. testsuite/lib.sh
at_once=1

here=$dir bench=test
: >"$dir/rows"
. bench/table.sh

# The k-th least and the k-th greatest of N enclose the median unless fewer than k of N throws are heads, or tails:
# counted over all 2^N outcomes.
for n in 1 2 5 6 7 9 11 12; do
	k=$(seq $n | estimate | cut -d' ' -f2)
	python3 - $n "$k" <<-'END' || fail "of $n numbers, the interval from number $k"
		import sys
		n, k = map(int, sys.argv[1:])
		heads = [bin(i).count("1") for i in range(2 ** n)]
		def missed(k): # how many outcomes leave the median out
		    return sum(h < k or n - h < k for h in heads) / 2 ** n
		sys.exit(not ((missed(k) <= 0.05 or k == 1) and (2 * k >= n or missed(k + 1) > 0.05)))
	END
done
[ "$(printf '3\n1\n\n2\n10\n' | estimate)" = "2.5 1 10" ] || fail "the median of 1 2 3 10"

printf '1 a 6\n1 b 4\n2 b 5\n2 a 10\n3 a 7\n' >"$dir/ways"
[ "$(paired ratio a b <"$dir/ways" | sort | tr '\n' ' ')" = "1.5 2 " ] || fail "ratios"
[ "$(paired percent a b <"$dir/ways" | sort -g | tr '\n' ' ')" = "50 100 " ] || fail "percent"
[ "$(paired difference a b <"$dir/ways" | sort | tr '\n' ' ')" = "2 5 " ] || fail "differences"

verdict() { # expected, then what row takes
	row "${@:2}" >"$dir/printed"
	tail -1 "$dir/rows" | grep -q "\"verdict\":\"$1\"" || fail "not \"$1\": $(cat "$dir/printed")"
}
table "A table" "In multiples of nothing." >/dev/null
verdict met "a" "1.05 1.01 1.09" x "<= 1.10"
verdict undecided "b" "1.05 1.01 1.11" x "<= 1.10"
verdict undecided "c" "1.2 1.0 1.3" x "<= 1.10"
verdict MISSED "c" "1.2 1.11 1.3" x "<= 1.10"
verdict MISSED "c" "40 30 49" M/s ">= 50"
verdict met "d" "60 50 70" M/s ">= 50"
verdict undecided "e" "60 49 70" M/s ">= 50"
verdict MISSED "f" 49 M/s ">= 50"
verdict "" "g" "-3.5" %
verdict failed "h" "" % "<= 1"
[ "$(why "a \"reason\" | & more")" = "" ] || fail "a reason without a miss"
verdict MISSED "i" 49 M/s ">= 50"
why 'a "reason" | & more' >/dev/null
python3 -c 'import json, sys; [json.loads(l) for l in open(sys.argv[1])]' "$dir/rows" || fail "no JSON"

row "a name of thirty characters!!!" "-100.45 -123.45 -99.9" ticks "<= -110" >"$dir/printed"
table "A title" "$(seq -s ' ' 100)" >>"$dir/printed"
fits_80 "$dir/printed" || fail "more than 80 columns: $(cat "$dir/printed")"

# Each goal says why it is missed, where it is; but laws, which nothing excuses.
laws='"<= 0"|">= 99.9"| ticks | B "<= 8"'
awk -v laws="$laws" 'goal != "" && !/^\t*why / { print "no reason: " goal }
	{ goal = /^\t*row .*"[<>]= / && $0 !~ laws ? $0 : "" }
	END { if (goal != "") print "no reason: " goal }' bench/goals/*.sh >"$dir/unsaid"
[ ! -s "$dir/unsaid" ] && [ "$(cat bench/goals/*.sh | grep -c '^	*why ')" -ge 40 ] || fail "$(cat "$dir/unsaid")"

bench/run nonsense >"$dir/printed" 2>&1
[ $? -eq 2 ] && grep -q 'there is no goal "nonsense"; there are: record' "$dir/printed" || fail "$(cat "$dir/printed")"

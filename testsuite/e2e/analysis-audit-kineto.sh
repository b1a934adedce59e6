#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Files of PyTorch's profiler, one of each rank: what is known of a run that is made up here is what audit says of it,
# whatever one of its clocks shows; operations that do not say who takes part prove nothing; what is none, or damaged,
# is refused by name and place.
. testsuite/lib.sh

# 60 steps of 3 ranks: a kernel of 1 ms (rank 2: 1.5 ms) on one stream, then an operation of all on another, which all
# leave 20 us after the last has come. Rank 1's clock is so many ns ahead; rank 0's file begins so many steps later.
make() { # directory ahead numbered lag operation...
	local directory=$1 ahead=$2 numbered=$3 lag=$4 rank
	mkdir -p "$directory"
	for rank in 0 1 2; do
		awk -v rank=$rank -v off="$((rank == 1 ? ahead : 0))" -v numbered="$numbered" -v lag="$((rank == 0 ? lag : 0))" -v says="${*:5}" '
		function slice(name, stream, from, to, args) {
			printf ",\n{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"%s\", \"pid\": 0, \"tid\": %s, \"ts\": %.3f, \"dur\": %.3f, \"args\": {%s}}",
				name, stream, (from + off) / 1000, (to - from) / 1000, args
		}
		BEGIN {
			printf "{\"schemaVersion\": 1, \"baseTimeNanoseconds\": 1700000000000000000,\n"
			printf "\"distributedInfo\": {\"backend\": \"nccl\", \"rank\": %d, \"world_size\": 3},\n\"traceEvents\": [", rank
			printf "{\"ph\": \"M\", \"name\": \"process_name\", \"pid\": 7, \"args\": {}}"
			for (i = lag; i < 60; i++) {
				begin = 50000000 + i * 1600000
				enter = begin + (rank == 2 ? 1500000 : 1000000)
				slice("gemm<\\u00e9>", 7, begin, enter, "\"stream\": 7")
				slice("ncclDevKernel_AllReduce", "\"stream 20\"", enter, begin + 1520000, says (numbered ? ", \"Seq\": " i + 1 : ""))
			}
			print "]}"
		}' >"$directory/rank$rank.json"
	done
}

all='"Collective name": "allreduce", "In msg nelems": 1024, "dtype": "Float", "Group size": 3, "Process Group Name": "0", "Process Group Ranks": "[0, 1, 2]"'

audited() { # directory status
	"$analyze" audit --json "$1"/rank2.json "$1"/rank0.json "$1"/rank1.json >"$dir/json" 2>"$dir/err"
	[ $? = "$2" ] || fail "$1: exit status is not $2: $(cat "$dir/err")"
}

contains() { # interval as "LO HI", truth
	is_true "${1% *} <= $2 && $2 <= ${1#* }"
}

# ---- Known truth --------------------------------------------------------------------------------------

for case in "0 1 0 Float" "30000000 1 0 Float" "-30000000 0 0 Half" "30000000 1 7 Other"; do
	read -r ahead numbered lag type <<<"$case"
	made=$dir/made.${case// /.}
	make "$made" "$ahead" "$numbered" "$lag" "${all/Float/$type}"
	audited "$made" $((ahead != 0 && !numbered)) # what may be wrong pairs is not impossible for certain
	jq -e --argjson n "$numbered" '.paired_by_order == ($n == 0)' "$dir/json" >"$dir/held" ||
		fail "$case: how it is paired is not said"
	about="ahead by $ahead ns, numbered $numbered, later by $lag steps"
	impossible=$(jq .impossible_orders "$dir/json")
	if [ "$ahead" = 0 ]; then
		[ "$impossible" = 0 ] || fail "$about: $impossible orders are impossible"
	else
		[ "$impossible" -ge 100 ] || fail "$about: only $impossible orders are impossible"
	fi
	[ "$(jq .orders "$dir/json")" = $(((60 - lag) * 6)) ] || fail "$about: $(jq .orders "$dir/json") orders"
	for end in first last; do
		offset=$(jq -r ".clocks[] | select(.process == \"rank 1\") | .${end}_offset_s | \"\(.lo) \(.hi)\"" "$dir/json")
		contains "$offset" "$ahead / 1e9" || fail "$about: its offset is $offset s"
		is_true "${offset#* } - ${offset% *} < 2e-3" || fail "$about: its offset is known only to $offset s"
	done
	jq -e --argjson n "$numbered" '[.notes[] | select(test("Seq"))] | length == 1 - $n' "$dir/json" >"$dir/held" ||
		fail "$about: $(jq -c .notes "$dir/json")"
done
"$analyze" audit "$made"/rank*.json >"$dir/text" || fail "exit status $?"
fits_80 "$dir/text" || fail "the text is wider than 80 columns"

# Whole microseconds: the begin of a slice is cut, and its length. Rank 0's operation ends at 101.9, which is 100 there, and rank 1
# has begun its own at 101.85; a tenth of that in tenths. Where it is more than that is impossible.
cut() { # ts and dur of rank 0, of rank 1's
	local rank
	mkdir -p "$dir/cut.us"
	for rank in 0 1; do
		echo "{\"distributedInfo\": {\"rank\": $rank, \"world_size\": 2}, \"traceEvents\": [
			{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"nccl\", \"pid\": 0, \"tid\": 7, $([ $rank = 0 ] && echo "$1" || echo "$2"), \"args\": {${all/3, \"Process/2, \"Process}, \"Seq\": 1}},
			{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"gemm\", \"pid\": 0, \"tid\": 7, \"ts\": 300, \"dur\": 100}]}" |
			sed 's/, 2\]"/]"/' >"$dir/cut.us/rank$rank.json"
	done
	"$analyze" audit --json "$dir"/cut.us/rank*.json 2>/dev/null | jq -r '"\(.orders) \(.impossible_orders)"'
}
[ "$(cut '"ts": 100, "dur": 0' '"ts": 101, "dur": 50')" = "2 0" ] || fail "what is rounded to microseconds is impossible"
[ "$(cut '"ts": 100, "dur": 0' '"ts": 101.85, "dur": 50')" = "2 0" ] || fail "a length is not rounded"
[ "$(cut '"ts": 100.9, "dur": 0.9' '"ts": 102, "dur": 50.1')" = "2 0" ] || fail "what is rounded to tenths of them is impossible"
[ "$(cut '"ts": 100, "dur": 0' '"ts": 106, "dur": 50')" = "2 1" ] || fail "6 us are rounded"
[ "$(cut '"ts": 100.001, "dur": 0' '"ts": 101.001, "dur": 50')" = "2 1" ] ||
	fail "what is known to a nanosecond and is 1 us off is not seen"

# Files whose ends are cut by as many operations at different ends, so that the n-th of one is not the n-th of the
# others. Numbers that are all the same are none.
make "$dir/shifted" 0 0 7 "$all, \"Seq\": 0"
for rank in 1 2; do
	jq -c '.traceEvents |= .[:1 + 2 * 53]' "$dir/shifted/rank$rank.json" >"$dir/cut" && mv "$dir/cut" "$dir/shifted/rank$rank.json"
done
audited "$dir/shifted" 1
[ "$(jq .impossible_orders "$dir/json")" -gt 50 ] || fail "shifted: it is not seen: $(cat "$dir/json")"
"$analyze" audit "$dir"/shifted/rank*.json >"$dir/text"
tr -s ' \n' ' ' <"$dir/text" |
	grep -q "If its operations are paired by their order, its times are impossible (else the pairs may be wrong): " ||
	fail "shifted: called impossible: $(cat "$dir/text")"
grep -q "^Its times are impossible" "$dir/text" && fail "shifted: it is called a fact"
fits_80 "$dir/text" || fail "shifted: wider than 80 columns"

# Files that do not say whose they are have ranks in their order, which is said; of a rank without a file it is said whose it lacks.
make "$dir/unranked" 0 1 0 "$all"
sed -i 's/"rank": [0-9], //' "$dir"/unranked/rank*.json
"$analyze" audit --json "$dir"/unranked/rank{2,0,1}.json >"$dir/json" || fail "unranked: exit status $?"
jq -e '[.notes[] | select(test("not every file says its rank.*rank2.json has rank 0$"))] | length == 1' "$dir/json" >"$dir/held" ||
	fail "unranked: $(jq -c .notes "$dir/json")"
make "$dir/ranked" 0 1 0 "$all"
"$analyze" audit --json "$dir"/ranked/rank{0,1}.json >"$dir/json" 2>"$dir/err"
jq -e --arg file "$dir/ranked/rank0.json" '.problems[0] | startswith($file + ": expected the files of 3 ranks")' "$dir/json" >"$dir/held" ||
	fail "a rank without a file: $(jq -c .problems "$dir/json")"
"$analyze" audit --json "$dir"/ranked/rank{0,1,2}.json >"$dir/json" && jq -e '.notes | length == 0' "$dir/json" >"$dir/held" ||
	fail "ranked: $(jq -c .notes "$dir/json")"

# ---- What proves nothing ------------------------------------------------------------------------------

proves_nothing() { # what
	audited "$dir/made" 1
	[ "$(jq .orders "$dir/json")" = 0 ] || fail "$1 proves $(jq .orders "$dir/json") orders"
	rm -rf "$dir/made"
}
make "$dir/made" 0 0 7 "$all"
proves_nothing "what has no numbers, in files of other steps,"
make "$dir/made" 0 1 0 "${all/allreduce/broadcast}"
proves_nothing "a broadcast"
make "$dir/made" 0 1 0 "${all/1024/0}"
proves_nothing "what sends nothing"
cut=${all/, 2]/, ...]}
make "$dir/made" 0 1 0 "$cut"
proves_nothing "a group whose ranks are cut"
make "$dir/made" 0 1 0 "${cut/\"Group size\": 3, /}"
proves_nothing "a group whose ranks are cut, and of no size,"
missing=${all/1, 2]/1, 2, 3]}
make "$dir/made" 0 1 0 "${missing/\"Group size\": 3/\"Group size\": 4}"
proves_nothing "a group of which a rank has no file"
make "$dir/made" 0 1 0 '"stream": 20'
proves_nothing "what says nothing"

# ---- What is none, or damaged -------------------------------------------------------------------------

refused() { # words file...
	"$analyze" audit "${@:2}" >"$dir/out" 2>"$dir/err"
	local status=$?
	[ $status -ge 1 ] && [ $status -le 2 ] || fail "$1: exit status $status"
	grep -q "$1" "$dir/err" || fail "expected '$1', found: $(cat "$dir/err")"
}
make "$dir/made" 0 1 0 "$all"
cd "$dir/made" || exit 1
refused "found two of rank 0" rank0.json rank0.json
# Packed ones say the same; cut ones nothing; one that would fill all memory is left.
"$analyze" audit --json rank0.json rank1.json rank2.json >"$dir/plain" && gzip -k rank0.json rank2.json &&
	"$analyze" audit --json rank0.json.gz rank1.json rank2.json.gz >"$dir/packed" || fail "packed files are not read"
cmp -s <(jq .findings "$dir/plain") <(jq .findings "$dir/packed") || fail "packed files say something else"
head -c 500 rank0.json.gz >cut.json.gz
refused "cut.json.gz: line [0-9]*: " cut.json.gz rank1.json
head -c 30000000 /dev/zero | tr '\0' ' ' | gzip >bomb.json.gz
refused "bomb.json.gz: expected a profile, found what is more than 200 times as long" bomb.json.gz rank1.json
head -c 20000 rank0.json >cut.json
refused "cut.json: line 95" cut.json rank1.json
sed 's/"ts": 5[0-9.]*/"ts": "soon"/' rank0.json >text.json
refused 'text.json: event 1 of "traceEvents": expected .* found "ts" "soon" and "dur" [0-9.]*$' text.json rank1.json
sed 's/"ts": 5[0-9.]*/"ts": 1e300/' rank0.json >late.json
refused 'late.json: event 1 of "traceEvents": expected .* found "ts" 1.*e+\?300' late.json rank1.json
sed 's/"rank": 0/"rank": -4/' rank0.json >rank.json
refused "found rank -4" rank.json rank1.json
echo '{"traceEvents": [{"ph": "B", "name": "step", "pid": 1, "tid": 1, "ts": 100}, {"ph": "E", "pid": 1, "tid": 1, "ts": 200}]}' >pairs.json
refused 'pairs.json: expected slices ("ph": "X"), .* found only such that begin and end apart ("B", "E"), first event 0' pairs.json
echo '{"traceEvents": 7}' >seven.json
refused 'expected a list "traceEvents"' seven.json
refused "expected a file" ../made/none.json
printf '[[[[[[' | head -c 100 >deep.json
yes '[' | head -c 100000 | tr -d '\n' >deep.json
refused "deep.json: line 1" deep.json
for seed in {1..12}; do
	awk -v seed="$seed" 'BEGIN { srand(seed) } { if (rand() < 0.02) next; if (rand() < 0.02) gsub(/[0-9]+/, int(rand() * 1e9)); print }' rank1.json >mutated.json
	"$analyze" audit rank0.json mutated.json rank2.json >"$dir/out" 2>&1
	[ $? -le 2 ] || fail "mutated by $seed: $(cat "$dir/out")"
done
exit $failed

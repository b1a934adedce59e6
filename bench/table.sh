# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# table.sh - how goals/*.sh print what they measured: tables of 80 columns, and a line of JSON a row.
#
#   table TITLE REFERENCE                            a heading; what its rows are measured against
#   row NAME "VALUE [LOW HIGH]" UNIT ["<= GOAL"] [REMARK]
#   why TEXT                                         the reason, printed if the row above is not met
#
# A goal (<= or >=) is met when the whole interval keeps to it, MISSED when none of the interval does, and undecided
# when it lies within the interval. A row without numbers says "failed", and run exits with 1.
set -u
rows=$here/rows

progress() { [ ! -t 2 ] || printf '\r\033[K  measuring %s' "$*" >&2; }

# Numbers, a line each -> "MEDIAN LOW HIGH". LOW and HIGH are the innermost of the numbers that enclose the
# median of what they were drawn from with 95 % confidence: the sign test's interval, which assumes nothing
# of the distribution. Of fewer than 6 numbers all that can be had is their least and greatest.
estimate() {
	grep '[0-9]' | sort -g | awk '
	{ v[NR] = $1 }
	END {
		if (!NR)
			exit
		tail = ways = 0.5 ^ NR # that at most k - 1 of NR throws are heads
		for (k = 1; k < NR / 2; k++) {
			ways *= (NR - k + 1) / k
			if ((tail += ways) > 0.025)
				break
		}
		print (v[int((NR + 1) / 2)] + v[int(NR / 2) + 1]) / 2, v[k], v[NR + 1 - k]
	}'
}

# KEY VALUE lines of ways that took turns -> the VALUE of WAY over that of BASE in each round ("ratio"), or by
# how much it is greater ("percent", "difference"). A line: ROUND WAY VALUE; without a value it does not count.
paired() { # ratio|percent|difference WAY BASE
	awk -v how="$1" -v way="$2" -v base="$3" '
	NF > 2 && $2 == way { a[$1] = $3 }
	NF > 2 && $2 == base { b[$1] = $3 }
	END {
		for (i in a)
			if (i in b && (how == "difference" || b[i] > 0))
				print how == "ratio" ? a[i] / b[i] : how == "percent" ? (a[i] / b[i] - 1) * 100 : a[i] - b[i]
	}'
}

# The VALUEs of one way, of the same lines.
only() { awk -v way="$1" '$2 == way { print $3 }'; }

table() {
	[ ! -t 2 ] || printf '\r\033[K' >&2
	title=$1 reference=$2
	printf '\n%s\n' "$1"
	fold_to 2 "$2"
	printf '  %-30s %7s %-5s %-15s %-7s\n' "" value "" "95 % interval" goal
}

fold_to() { fmt -w $((79 - $1)) <<<"$2" | sed "s/^/$(printf "%$1s" "")/"; }

row() {
	local value low high goal=${4:-}
	read -r value low high <<<"$2"
	awk -v bench="$bench" -v title="$title" -v reference="$reference" -v name="$1" -v value="$value" -v low="$low" \
		-v high="$high" -v unit="$3" -v op="${goal%% *}" -v goal="${goal##* }" -v remark="${5:-}" -v rows="$rows" '
	function number(x) {
		return x == int(x) && unit !~ /^[x%]/ || x >= 1000 || x <= -1000 ? sprintf("%.0f", x) : \
			x >= 100 || x <= -100 ? sprintf("%.1f", x) : x >= 10 || x <= -10 ? sprintf("%.2f", x) : \
			x >= 0.001 || x <= -0.001 || x == 0 ? sprintf("%.3f", x) : sprintf("%.0e", x)
	}
	function beyond(x) { return op == "<=" ? x + 0 > goal + 0 : x + 0 < goal + 0 }
	function json(x) { gsub(/["\\]/, "\\\\&", x); return "\"" x "\"" }
	function or_null(x) { return x == "" ? "null" : x }
	BEGIN {
		least = low == "" ? value : low
		most = high == "" ? value : high
		if (value !~ /^[-+]?[0-9.]/)
			verdict = "failed"
		else if (op != "")
			verdict = !beyond(least) && !beyond(most) ? "met" : beyond(least) && beyond(most) ? "MISSED" : "undecided"
		line = sprintf("  %-30s %7s %-5s %-15s %-7s %s", name, value == "" ? "-" : number(value + 0), unit,
			low == "" ? "" : number(low + 0) ".." number(high + 0), op == "" ? "" : op " " goal, verdict)
		sub(/ +$/, "", line)
		print line
		printf "{\"bench\":%s,\"table\":%s,\"reference\":%s,\"name\":%s,\"value\":%s,\"low\":%s,\"high\":%s,\"unit\":%s,\"goal\":%s,\"verdict\":%s,\"remark\":%s}\n",
			json(bench), json(title), json(reference), json(name), or_null(value), or_null(low), or_null(high),
			json(unit), op == "" ? "null" : json(op " " goal), json(verdict), json(remark) >>rows
	}' </dev/null
	[ -z "${5:-}" ] || fold_to 6 "$5"
}

why() {
	tail -1 "$rows" | grep -q '"verdict":"\(MISSED\|undecided\)"' || return 0
	fold_to 6 "why: $*"
	text=$* awk '
	NR > 1 { print last }
	{ last = $0 }
	END {
		text = ENVIRON["text"]
		gsub(/["\\]/, "\\\\&", text)
		print substr(last, 1, length(last) - 1) ",\"why\":\"" text "\"}"
	}' "$rows" >"$rows.new" && mv "$rows.new" "$rows"
}

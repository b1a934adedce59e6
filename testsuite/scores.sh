#!/bin/sh
# SPDX-License-Identifier: MIT
#
# scores.sh <JSON - "RANK LO HI" for each thread's straggler score in percent, and before them
# "span LO HI" in seconds, from the JSON that dprof-analyze csp prints.
tr -d ' \n' | awk -v RS='{"rank"' '
function bounds(key,    part) { # of the first interval of that name
	match($0, "\"" key "\":[{]\"lo\":[^}]*}")
	split(substr($0, RSTART, RLENGTH), part, /[:,}]/)
	return part[3] " " part[5]
}
NR == 1 { print "span", bounds("span_s") }
NR > 1 && /straggler_percent/ { print substr($0, 2, index($0, ",") - 2), bounds("straggler_percent") }'

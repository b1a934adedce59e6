#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Memory of csp and query is bounded by the window of unknown order, and that of coz and report by what is under way, not
# by the trace: what is enough for some 10^5 events is enough for ten times as many, but for the reader's index of 32
# bytes for each 4096 of them. (Links from the program's messages are kept, so not here.) Nor does what stays resident of
# the temporary file of the graph grow with the trace, once that file is larger than what may stay (SPILL_RESIDENT).
. testsuite/fixtures/analysis/setup.sh
ulimit -d 2>/dev/null >/dev/null || { echo "no limit on data can be set here"; exit 77; }
[ -z "${SAN:-}" ] || { echo "sanitizers want memory of their own"; exit 77; }

"$B/test/synthesize" --hosts 4 --messages 14000 | "$analyze" pack - small || fail "no small trace"
"$B/test/synthesize" --hosts 4 --messages 140000 | "$analyze" pack - big || fail "no big trace"
expect 0 check --links packets big
[ "$(sed -n 's/.* \([0-9]*\) events.*/\1/p' out)" -gt 800000 ] || fail "the big trace is small: $(cat out)"

# The least limit, in KB, with which a command runs.
limits="500 1000 2000 3000 4000 5000 6000 7000 8000 10000 12000 15000 20000 30000"
runs() { # limit arguments...
	(ulimit -d "$1" && "$analyze" "${@:2}" >/dev/null 2>&1)
}
need() { # arguments...
	local limit
	for limit in $limits; do
		runs "$limit" "$@" && echo "$limit" && return
	done
	echo 1000000
}
# The highest of them that is at most 1000 KB above that one.
next() { # limit
	local limit most
	for limit in $limits; do [ "$limit" -gt $(($1 + 1000)) ] || most=$limit; done
	echo "$most"
}
for command in "csp --links packets DIR" "csp --frames --links packets DIR" \
	"query --links packets DIR count(recv)>1" "coz --links packets DIR" "report --links packets DIR"; do
	small=$(need ${command/DIR/small})
	[ "$small" -lt 1000000 ] || fail "$command: no limit is enough for the small trace"
	most=$(next "$small")
	runs "$most" ${command/DIR/big} || fail "$command: $small KB are enough, and for ten times as many events $most KB are not"
	echo "$command: $small KB, and for ten times as many events $most KB"
done

# What is resident at most, in KB, where the arena may have 32 MB. A trace half as long again may have a tenth more, which is
# what the kernel maps as it likes, and would have nearly half as much again if nothing were let go of.
resident() { # arguments...
	python3 -c 'import resource, subprocess, sys
resource.setrlimit(resource.RLIMIT_DATA, (60000000, 60000000))
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)' "$analyze" "$@"
}
"$B/test/synthesize" --hosts 4 --messages 210000 | "$analyze" pack - longer || fail "no longer trace"
for command in coz path waits efficiency profile; do
	some=$(resident $command --links packets big) && more=$(resident $command --links packets longer) || fail "$command failed"
	echo "$command: $some KB are resident, and for half as many events again $more KB"
	[ "$some" -gt 49152 ] || fail "$command: a graph of $some KB is too small to be let go of"
	[ $((10 * more)) -le $((11 * some)) ] || fail "$command: $some KB are resident, and for half as many events again $more KB"
done

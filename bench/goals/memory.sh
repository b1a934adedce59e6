# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154
#
# memory.sh - what the analyses have in memory at once, and how that grows with the run. (Not the page cache, which holds
# what is written of a temporary file as long as there is room.)

made() { # directory synthesize-options...
	"$B/test/synthesize" --work 200 "${@:2}" | "$B/bin/dprof-analyze" pack - "$1" && "$B/bench/repack" "$1"
}
most() { # command directory: in KB
	progress "memory of $1"
	/usr/bin/time -f %M "$B/bin/dprof-analyze" "$1" --jobs 1 --links packets "$2" 2>&1 >/dev/null | tail -1
}
times=${LONG:+100} times=${times:-10}
commands="csp coz report waits path efficiency profile"

# As many packets, which are kept.
made "$here/few" --hosts 4 --messages 160000 --interval 0.25
made "$here/more" --hosts 4 --messages $((160000 * times)) --interval $((times / 4)).5
table "Memory of $times times as many events" "The most that there is at once, in multiples of that for 10^6 events."
for command in $commands; do
	row "$command" "$(echo "$(most "$command" "$here/more") $(most "$command" "$here/few")" | awk '{ print $1 / $2 }')" x "<= 1.1"
	why "arrays of the graph are in memory up to 512 MB, which 10^6 events do not fill; behind that it grows no more, but by 32 bytes for each 4096 events"
done
rm -rf "${here:?}/few" "${here:?}/more"

made "$here/ranks" --hosts 32 --ranks 1024 --messages $((160000 * times))
table "Memory at 1,024 ranks, $((times * 160000)) messages" "The most that there is at once, in MB."
for command in $commands; do
	row "$command" "$(most "$command" "$here/ranks" | awk '{ print $1 / 1000 }')" MB "<= 1000"
	why "each of 1,024 threads is at a place of its own in each of the graph's arrays, and 64 KB around that are mapped"
done
rm -rf "${here:?}/ranks"

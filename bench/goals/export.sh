# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154
#
# export.sh - how fast a long trace becomes what other tools read, and answers a question of SQL. Processor time, as
# files are written to whatever disk there is.

seconds() { # command...
	/usr/bin/time -f '%U %S' "$B/bin/dprof-analyze" "$@" 2>&1 >/dev/null | tail -1 | awk '{ print $1 + $2 }'
}
millions_a_second() { # format
	progress "export --to $1"
	seconds export --jobs 1 --to "$1" "$here/exported" "$here/long" | awk -v n="$events" '{ print n / $1 / 1e6 }'
	rm -rf "${here:?}/exported"
}

"$B/test/synthesize" --hosts 2 --messages 1600000 --work 5 | "$B/bin/dprof-analyze" pack - "$here/long"
events=$("$B/bin/dprof-analyze" query --json --sql 'SELECT count(*) AS n FROM events' "$here/long" | jq '.rows[0].n')
table "Export of $events events" "Millions of events a second of processor time, with reading the trace and solving its clocks; times are within their bounds."
for format in perfetto otf2 speedscope paje csv; do
	row "$format" "$(millions_a_second "$format")" M/s ">= 5"
	why "one event after the other, with the moment and both ends of each; and each file is some 40 bytes an event"
done
row sqlite "$(millions_a_second sqlite)" M/s "" "with all results, whose analyses are three quarters of it; a loop that inserts rows of events and visits alone reaches 1 M/s"

table "SQL over $events events" "Seconds of processor time, with reading the trace."
ask() { # name SELECT
	progress "$1"
	row "$1" "$(seconds query --jobs 1 --sql "$2" "$here/long")" s "<= 2"
	why "SQLite asks for each event by itself, a column at a time"
}
ask "count, earliest, latest" 'SELECT count(*), min(time_lo), max(time_hi) FROM events'
ask "events of each thread" 'SELECT thread, count(*), max(time_hi) FROM events GROUP BY thread'
ask "events of each site" 'SELECT site, count(*) FROM events GROUP BY site'
ask "visits of each site" 'SELECT site, count(*), sum(seconds_lo), sum(seconds_hi) FROM visits GROUP BY site'
why "SQLite sorts the rows by what they are grouped by"
rm -rf "${here:?}/long"

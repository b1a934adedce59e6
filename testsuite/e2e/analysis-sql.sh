#!/bin/bash
# SPDX-License-Identifier: MIT
#
# query --sql and export --to sqlite: the manual's five questions have their true answers, in the trace and in the file
# alike; tables have what the commands say; nothing but one SELECT is taken, and names are no SQL.
manual=$PWD/docs/dprof-sql.7.scd
. testsuite/fixtures/analysis/setup.sh

# Two hosts, 40 rounds of 2 ms. Rank 1 works for 1.5 ms in each, for 1.8 in the second half of the run; rank 0 for half
# a one. Rank 1's messages, of 1000 and of 2000 bytes in turn, take 10 us; the one of round 20 takes 6 ms.
{
	cat <<-'END'
	dprof-text 1
	clock 0 host=h0 ghz=1
	clock 1 host=h';--1 ghz=1
	link 0 1000 1 1400
	link 1 1400 0 1900
	link 0 90001000 1 90001400
	link 1 90001400 0 90001900
	thread 0 clock=0 rank=0
	thread 1 clock=1 rank=1
	group 1 threads=0,1
	site 0 kind=region name='%20OR%201=1;-- file=a"b.c line=1
	site 1 kind=region name=wörk file=%3Cx.c line=2
	site 2 kind=barrier name=MPI_Barrier file=x.c line=3
	site 3 kind=send name=MPI_Isend file=x.c line=4
	site 4 kind=recv name=MPI_Recv file=x.c line=5
	END
	t=2000
	for i in {0..39}; do
		slow=$((i < 20 ? 1500000 : 1800000)) late=$((i == 20 ? 6000000 : 10000))
		work 0 0 $t $((t + 500000))
		work 1 1 $t $((t + slow))
		echo "e 1 $((t + slow)) 3 enter group=1 peer=0 tag=1 bytes=$((1000 + i % 2 * 1000)) id=$((i + 1))"
		echo "e 1 $((t + slow + 100)) 3 exit"
		op 0 4 $((t + 500000)) $((t + slow + late)) group=1 peer=1 tag=1 bytes=$((1000 + i % 2 * 1000))
		op 0 2 $((t + slow + late)) $((t + slow + late + 20000)) group=1 seq=$i
		op 1 2 $((t + slow + 200)) $((t + slow + late + 20100)) group=1 seq=$i
		t=$((t + slow + late + 180000))
	done
} | trace two
expect 0 export --to sqlite two.db two
says out 'two.db: '

# ---- The manual's questions -----------------------------------------------------------------------

awk '/^```/ { if (q ~ /^SELECT/) print q; q = ""; next } { sub(/^ +/, ""); q = q (q == "" ? "" : " ") $0 }' "$manual" >questions
awk '/^```/ { shown = !shown } shown && length($0) > 72' "$manual" >wide # it stands 5 columns in, and a terminal has 80
[ ! -s wide ] || fail "questions that no terminal shows whole: $(cat wide)"
[ "$(wc -l <questions)" = 5 ] || fail "questions: $(cat questions)"
rounded() { jq -c 'walk(if type == "number" then . * 1e9 | round else . end) | map(with_entries(select(.value != null)))'; }
asked() { # number of a question -> answer
	question=$(sed -n "$1p" questions)
	expect 0 query --json --sql "$question" two
	jq .rows out | rounded >answer
	sqlite3 -json two.db "$question" | rounded | diff answer - >differ || fail "the file answers otherwise: $question: $(cat differ)"
}
holds() {
	jq -e "$1" answer >held || fail "$question: $(cat answer)"
}
asked 1
holds 'length == 5 and all(.[]; .rank == 1e9 and .name == "wörk" and .seconds_lo <= 1800000 and .seconds_hi >= 1800000 and .seconds_hi - .seconds_lo < 100)'
asked 2
holds 'map(.bytes / 1e9) == [1000, 2000] and all(.[]; .messages == 20e9) and .[0].lo <= 309500 and .[0].hi >= 309500 and .[1].lo <= 10000 and .[1].hi >= 10000'
asked 3
holds 'map(select(.name == "wörk") | .lo <= 1500000 and 1500000 <= .hi) == [true, false, false, false]'
holds 'map(select(.name == "wörk") | .lo <= 1800000 and 1800000 <= .hi) | .[2:] == [true, true]'
holds 'map(select(.name | startswith("'"'"'"))) | length == 4 and all(.[]; .lo <= 500000 and 500000 <= .hi)'
asked 4
holds '.[0] | .rank == 1e9 and .region == "wörk" and .straggler_percent_lo > 40e9 and .seconds_lo <= 46000000 and .seconds_hi >= 45000000'
asked 5
holds '. == [{"sender": "h'"'"';--1", "receiver": "h0", "slow": 1e9}]'

# Processes without ranks are told apart by their pids: each has what it kept others waiting by, and nothing of another's.
{
	printf '%s\n' "dprof-text 1" "clock 0 host=h ghz=1" "process 0 clock=0 pid=70" "process 1 clock=0 pid=71" \
		"thread 0 clock=0 process=0 number=0" "thread 1 clock=0 process=1 number=0" "group 1 threads=0,1" \
		"site 0 kind=region name=a file=x.c line=1" "site 1 kind=region name=b file=x.c line=2" "site 2 kind=barrier name=MPI_Barrier file=x.c line=3"
	work 0 0 1000 5000; op 0 2 5000 5010 group=1 seq=0; work 1 1 1000 3000; op 1 2 3000 5010 group=1 seq=0
	work 0 0 5010 6010; op 0 2 6010 8020 group=1 seq=1; work 1 1 5010 8010; op 1 2 8010 8020 group=1 seq=1
} | trace pids
expect 0 query --json --sql "$(sed -n 4p questions | sed 's/^SELECT s.rank,/SELECT s.pid, s.rank,/')" pids
jq -e '[.rows[] | select(.seconds_lo > 0) | [.pid, .rank, .region]] | sort == [[70, -1, "a"], [71, -1, "b"]]' out >held ||
	fail "pids: $(cat out)"
expect 0 query --json --sql 'SELECT t.pid, s.site FROM threads AS t JOIN stragglers AS s ON t.rank = s.rank AND t.pid = s.pid AND t.number = s.thread' pids
jq -e '.rows == [{pid: 70, site: "a"}, {pid: 71, site: "b"}]' out >held ||
	fail "a thread is not itself in another table: $(cat out)"

# What is wrong with a trace is there in JSON, too.
"$analyze" dump two | sed '$a lost 1 3' | trace lossy
expect 1 query --json --sql 'SELECT count(*) AS n FROM events' lossy
jq -e '(.rows | length == 1) and (.problems | length >= 1) and (.problems[0] | test("3 dropped"))' out >held || fail "problems: $(cat out)"

# ---- Tables ---------------------------------------------------------------------------------------

# As the commands say it.
same() { # SELECT command, what of its JSON
	expect 0 query --json --sql "$1" two
	jq .rows out | rounded >answer
	expect 0 $2 --json two
	jq "$3" out | rounded | diff answer - >differ || fail "$1, $2: $(cat differ)"
}
same 'SELECT rank, pid, straggler_percent_lo AS lo, straggler_percent_hi AS hi, site, line FROM stragglers' csp \
	'[.threads[] | {rank, pid, site, line} + .straggler_percent]'
same 'SELECT region, reduce_percent_lo AS at, expected_percent_lo AS lo, speedup_percent_hi AS hi FROM whatifs' coz \
	'[.regions[] | .region as $r | .curve[] | {region: $r, at: .reduce_percent.lo, lo: .expected_percent.lo, hi: .speedup_percent.hi}]'
same 'SELECT kind, caused_by_region AS region, seconds_hi AS hi, count FROM waits' waits \
	'[.waits[] | {kind, region: .caused_by.region, hi: .seconds.hi, count}]'
same 'SELECT name, rank, visits, exclusive_s_lo AS lo FROM profile_threads' profile \
	'[.flat[] | .name as $n | .each[] | {name: $n, rank, visits, lo: .exclusive_s.lo}]'
same 'SELECT name, seconds_lo AS lo, verdict FROM path' path '[.segments[] | {name, lo: .seconds.lo, verdict}]'
same 'SELECT serialisation_hi AS hi FROM efficiency' efficiency '[{hi: .serialisation.hi}]'
same 'SELECT host, width_s_max AS w, fastest_packets_s_lo AS lo, packets_exchanges AS n FROM clocks' clocks \
	'[.clocks[] | {host, w: .width_s.max, lo: .fastest_packets_s.lo, n: .packets.exchanges} | with_entries(select(.value != null))]'
same 'SELECT name, count, waiting_s_hi AS hi, caused_by_rank AS by, caused_by_region AS did FROM operations' profile \
	'[.operations[] | {name, count, hi: .waiting_s.hi, by: .caused_by.rank, did: .caused_by.region} | with_entries(select(.value != null))]'
same 'SELECT name, seconds_lo AS lo, imbalance_s_hi AS hi FROM path_regions' path \
	'[.regions[] | {name, lo: .seconds.lo, hi: .imbalance_s.hi} | with_entries(select(.value != null))]'
same 'SELECT factor, name, percent_lo AS lo, rank FROM efficiency_causes' efficiency '[.causes[] | {factor, name, lo: .percent.lo, rank}]'
same 'SELECT region, longest_rank AS rank, longest_pid AS pid FROM efficiency_regions' efficiency \
	'[.regions[] | {region, rank: .longest.rank, pid: .longest.pid}]'
same 'SELECT takes_part FROM stragglers' csp '[.threads[] | {takes_part: (if .takes_part then 1 else 0 end)}]'
same 'SELECT cause, "where" AS at FROM findings' diagnose '[.findings[] | {cause, at: .where}]'
same 'SELECT count(*) AS events FROM events' check '[{events}]'
expect 0 query --json --sql 'SELECT thread, stamp, time_lo AS lo, time_hi AS hi FROM events' two
"$analyze" dump --bounds two | sed -n 's/^e \([0-9]*\) \([0-9]*\) .*\[\(.*\),\(.*\)\]/\1 \2 \3 \4/p' >dumped
begin=$(cut -d ' ' -f 3 dumped | sort -n | head -1)
jq -r --argjson begin "$begin" '.rows[] | "\(.thread) \(.stamp) \((.lo * 1e9 + $begin) | round) \((.hi * 1e9 + $begin) | round)"' out >answer
paste answer dumped | awk '$1 != $5 || $2 != $6 || $3 - $7 > 2 || $7 - $3 > 2 || $4 - $8 > 2 || $8 - $4 > 2 { bad = 1; print } END { exit bad || NR != 480 }' >differ ||
	fail "events: $(head -3 differ)"
for thread in 0 1 2 -1 "'x'" 0.5 NULL; do
	expect 0 query --json --sql "SELECT (SELECT count(*) FROM events WHERE thread = $thread) = (SELECT count(*) FROM events WHERE +thread = $thread) AND
		(SELECT count(*) FROM visits WHERE thread = $thread) = (SELECT sum(thread IS $thread) FROM visits) OR thread AS same FROM threads WHERE +thread = 0" two
	jq -e '.rows[0].same == 1' out >held || fail "thread = $thread: $(cat out)"
done
for table in $(sqlite3 two.db "SELECT name FROM sqlite_master WHERE type = 'table'"); do
	grep -qw "$table" "$manual" || fail "not in the manual: $table"
	[ "$table" = path_messages ] || [ "$table" = traffic ] ||
		[ "$(sqlite3 two.db "SELECT count(*) FROM $table")" -gt 0 ] || fail "nothing in $table"
done
[ "$(sqlite3 two.db "SELECT count(*) FROM sqlite_master")" = 25 ] || fail "tables: $(sqlite3 two.db .tables)"
[ "$(sqlite3 two.db 'PRAGMA integrity_check')" = ok ] || fail "the file is not sound"

# The page.
expect 0 query --sql 'SELECT rank, name, 0.1 AS tenth, NULL AS "none" FROM visits JOIN sites USING (site) JOIN threads USING (thread) LIMIT 1' two
diff out - <<-'END' >differ || fail "page: $(cat differ)"
	  rank  name         tenth  none
	     0  ' OR 1=1;--    0.1
END

# ---- What SQL may call things, and give -------------------------------------------------------------

# Each column has a key of its own, and that is its name with whatever points; a blob is what hex() says.
keys() { # SELECT, the row as it is written
	expect 0 query --json --sql "$1" two
	[ "$(tr -d ' \n' <out)" = "{\"rows\":[{$2}],\"problems\":[]}" ] || fail "$1: $(cat out)"
}
keys 'SELECT a.rank, b.rank, 7 AS rank_2, 8 AS "" FROM threads a, threads b WHERE a.rank = 0 AND b.rank = 1' '"rank":0,"rank_2":1,"rank_2_2":7,"column":8'
keys 'SELECT max(a.rank), 1 AS "a.b", 2 AS c, 3 AS "a.d" FROM threads a' '"max(a.rank)":1,"a.b":1,"c":2,"a.d":3'
keys "SELECT x'00fF0a' AS some, x'' AS none, NULL AS unknown" '"some":"00FF0A","none":""'
expect 0 query --sql "SELECT x'00fF0a'" two
says out 00FF0A

# What follows --sql is the question, whatever it begins with.
for option in --sql -s --sq -js; do
	expect 0 query $option $'-- how many\nSELECT 42' two
	says out 42
done
expect 0 query $'--sql=-- how many\nSELECT 42' two
expect 2 query --json --sqk 'SELECT 1' two
says err 'there is no option --sqk'
expect 2 query --sql 'SELECT 1' --jsn two
says err 'there is no option --jsn'

# ---- What is refused ------------------------------------------------------------------------------

refused() { # text, what is said
	expect 2 query --sql "$1" two
	says err "$2"
}
refused 'SELECT * FROM event' 'no such table: event; there are threads, sites, events'
refused 'SELECT name FROM sqlite_master' 'is prohibited; there are threads, sites, events'
refused 'SELECT nobody FROM events' 'no such column'
refused 'SELECT 1; SELECT 2' 'expected one SELECT'
refused '' 'expected one SELECT'
refused 'DELETE FROM events' 'may not be modified'
refused 'CREATE TABLE x(y)' 'expected one SELECT: nothing here can be changed'
refused "ATTACH 'new.db' AS new" 'expected one SELECT: nothing here can be changed'
refused "VACUUM INTO 'new.db'" 'expected one SELECT'
refused "SELECT load_extension('x')" 'not authorized'
refused $'SELECT \e]0;x FROM events' 'unrecognized token'
! grep -q $'\e' err || fail "a terminal's escape is printed"
[ ! -e new.db ] || fail "a file was made"
expect 0 query --sql 'PRAGMA table_info(events)' two
says out 'time_lo'

# ---- Files that are there, or have no room ---------------------------------------------------------

expect 2 export --to sqlite two.db two
says err 'two.db is there already'
expect 0 export --to sqlite --force two.db two
expect 2 export --to sqlit new.db two
says err "there is no format 'sqlit': did you mean sqlite?"
expect 2 export new.db two
says err 'expected --to FORMAT'
expect 2 export --to sqlite two
says err 'expected the file to write and a trace directory'
expect 1 export --to sqlite nowhere/x.db two
(ulimit -f 16 && "$analyze" export --to sqlite new.db two >out 2>err)
[ $? -eq 1 ] && says err 'new.db: cannot be written: ' || fail "no room: $(cat out err)"
[ ! -e new.db ] && [ "$(find . -name '*.part*' | wc -l)" = 0 ] || fail "a half of a file was left: $(ls)"

# ---- Traces of which little is known ---------------------------------------------------------------

"$analyze" dump two | grep -v '^link' | trace unlinked
expect 1 query --json --links packets --sql 'SELECT sum(time_lo IS NULL) AS unknown, count(*) AS n FROM events' unlinked
jq -e '.rows[0] | .unknown == .n / 2' out >held || fail "times of a clock without a place: $(cat out)"
expect 2 query --links packets --sql 'SELECT * FROM waits' unlinked
says err 'nothing is known of waits'
expect 1 export --to sqlite --links packets unlinked.db unlinked
[ "$(sqlite3 unlinked.db 'SELECT count(*) FROM sqlite_master WHERE name = "waits"')" = 0 ] || fail "a table of what is not known"
printf 'dprof-text 1\nclock 0 host=h0 ghz=1\nthread 0 clock=0 rank=0\nsite 0 kind=region name=a file=x.c line=1\ne 0 5 0 enter\n' |
	trace open
expect 1 query --json --sql 'SELECT (SELECT count(*) FROM events) AS events, (SELECT count(*) FROM visits) AS visits' open
jq -e '.rows[0] == {events: 1, visits: 0}' out >held || fail "an open region: $(cat out)"
printf 'dprof-text 1\nclock 0 host=h0 ghz=1\nthread 0 clock=0 rank=0\n' | trace empty
expect 0 query --json --sql 'SELECT count(*) AS n FROM events' empty
expect 0 export --to sqlite empty.db empty
exit $failed

#!/bin/bash
# SPDX-License-Identifier: MIT
#
# export --to perfetto, otf2, speedscope, paje, callgrind, coz, dot, filter, source, csv: each is read by what reads it, has all
# that was recorded, and times that keep every message in order, within the bounds. Names of all kinds are only names.
export=$PWD/testsuite/fixtures/export
synthesize=$B/test/synthesize
. testsuite/fixtures/analysis/setup.sh

long=$(printf 'x%.0s' {1..10000})
{
	cat <<-'END'
	dprof-text 1
	clock 0 host=h0 ghz=1
	clock 1 host=h%3Cb%3E1 ghz=1
	link 0 1000 1 1400
	link 1 1400 0 1900
	link 0 90001000 1 90001400
	link 1 90001400 0 90001900
	thread 0 clock=0 rank=0
	thread 1 clock=1 rank=1
	group 1 threads=0,1
	site 0 kind=region name=%3C/script%3E"',;\%25%0A%1B]0;x%07 file=a'b"c,.c line=1
	site 1 kind=region name=w%C3%B6rk%F0%9F%92%A5%FF%FE file=x.c line=2
	site 3 kind=send name=MPI_Send file=x.c line=4
	site 4 kind=recv name=MPI_Recv file=x.c line=5
	site 5 kind=progress name=step file=x.c line=6
	END
	echo "site 2 kind=region name=$long file=$long.c line=3"
	for i in {0..39}; do
		t=$((2000 + i * 2000000))
		echo "e 0 $t 2 enter"
		work 0 0 $t $((t + 500000))
		echo "e 0 $((t + 500000)) 2 exit"
		op 0 4 $((t + 510000)) $((t + 1810000)) group=1 peer=1 tag=1 bytes=1000
		work 1 1 $t $((t + 1800000))
		op 1 3 $((t + 1800000)) $((t + 1801000)) group=1 peer=0 tag=1 bytes=1000
		echo "e 1 $((t + 1801000)) 5 point"
	done
} | trace two

# Events and messages of a trace, in the formats alike; 0 of what is not there.
perfetto() { # file -> decoded
	protoc --decode=perfetto.protos.Trace --proto_path="$export" perfetto.proto <"$1" >decoded || fail "$1: protoc cannot read it"
	! grep -qE '^ *[0-9]+[: ]' decoded || fail "$1: unknown fields: $(grep -E '^ *[0-9]+[: ]' decoded | head -3)"
}
# It clears tables of 185 MB before it looks at anything: in large pages that takes a third of the time.
otf2-print() {
	GLIBC_TUNABLES=glibc.malloc.hugetlb=1 command otf2-print "$@"
}
otf2() { # trace status options... -> printed, counted
	expect "$2" export "${@:3}" --to otf2 "$1.otf2" "$1"
	otf2-print -Werror "$1.otf2/traces.otf2" >printed 2>printed.err && [ ! -s printed.err ] || fail "$1: otf2-print: $(cat printed.err)"
	PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 "$export/read_otf2.py" "$1.otf2" >counted 2>&1 || fail "$1: otf2: $(cat counted)"
}
count() { # file pattern
	grep -cE "$2" "$1"
}
export_all() { # trace status -> trace.FORMAT
	for format in perfetto speedscope paje callgrind coz dot filter source csv; do
		expect "$2" export --force --to $format "$1.$format" "$1"
	done
	callgrind_annotate --threshold=100 "$1.callgrind" >annotated 2>err && [ ! -s err ] || fail "$1: callgrind_annotate: $(cat err)"
	dot -Tsvg "$1.dot" >drawn.svg 2>err && [ ! -s err ] || fail "$1: dot: $(cat err)"
	perfetto "$1.perfetto"
	otf2 "$1" "$2"
	pj_dump "$1.paje" >dumped 2>err || fail "$1: pj_dump: $(cat err)"
	[ "$(count "$1.paje" '^6 ')" = "$(count dumped '^State,')" ] && sed -n 's/^[4-9] \([0-9.]*\) .*/\1/p' "$1.paje" | sort -cg 2>err ||
		fail "$1: paje: of $(count "$1.paje" '^6 ') states pj_dump has $(count dumped '^State,'); out of order: $(cat err)"
	jq -e '[.profiles[].events | reduce .[] as $e ({depth: [], at: 0, ok: true};
		.ok = (.ok and $e.at >= .at and ($e.type == "O" or .depth[-1] == $e.frame)) | .at = $e.at |
		.depth = if $e.type == "O" then .depth + [$e.frame] else .depth[:-1] end) | .ok and .depth == []] | all' "$1.speedscope" >held ||
		fail "$1.speedscope: events do not nest"
}
export_all two 0
[ "$(count decoded 'type: TYPE_SLICE_BEGIN') $(count decoded 'type: TYPE_SLICE_END')" = "200 200" ] ||
	fail "perfetto: slices: $(head -50 decoded)"
[ "$(count decoded '^    flow_ids') $(count decoded '^    terminating_flow_ids')" = "40 40" ] || fail "perfetto: flows"
[ "$(count decoded 'type: TYPE_INSTANT')" = 120 ] || fail "perfetto: points"
[ "$(count decoded "name: \"$long\"") $(count decoded 'thread_name: "rank [01]"')" = "1 2" ] || fail "perfetto: names"
[ "$(jq '[.profiles[].events | length] | add' two.speedscope)" = 400 ] || fail "speedscope: events"
[ "$(count dumped '^State,') $(count dumped '^Link,')" = "200 40" ] || fail "paje: $(cut -d, -f1 dumped | sort | uniq -c)"
awk -F ', ' '/^State/ && $NF ~ /^x+$/ { n++; if (length($NF) != 10000 || $6 < 0.0004999 || $6 > 0.0005001) bad = 1 } END { exit bad || n != 40 }' dumped || fail "paje: the region with a long name"
python3 - "$long" <<-'END' >held || fail "csv: $(cat held)"
	import csv, sys
	rows = list(csv.DictReader(open("two.csv", newline="")))
	names = {r["name"] for r in rows}
	ok = len(rows) == 440 and sys.argv[1] in names and sum(r["op"] == "point" for r in rows) == 40
	ok = ok and all(0 <= int(r["time_hi_ns"]) - int(r["time_lo_ns"]) < 2000 for r in rows)
	ok = ok and any(r["file"] == "a'b\"c,.c" for r in rows) and {r["bytes"] for r in rows if r["kind"] == "send" and r["op"] == "enter"} == {"1000"}
	print(len(rows), [n for n in names if len(n) < 100])
	sys.exit(not ok)
END
! grep -q ',-[0-9]*,[0-9]*,[^,]*,[^,]*,[^,]*,[^,]*,[^,]*$' two.csv || fail "csv: before the run's begin: $(grep -m 1 ',-' two.csv)"
! grep -q $'[\e\a]' two.csv two.paje two.speedscope && ! grep -qE '\\(033|007)' decoded || fail "a terminal's escape was written"

[ "$(cat counted)" = "200 200 40 40 0 0" ] || fail "otf2: $(cat counted)"

# What stands on results says what the commands say.
awk '/PROGRAM TOTALS/ { gsub(",", ""); print $1 }' annotated >total
expect 0 profile --json two
jq -e --argjson total "$(cat total)" '.calls[0].inclusive_s | .lo * 1e9 - 10 <= $total and $total <= .hi * 1e9 + 10' out >held ||
	fail "callgrind: all is $(cat total)"
grep -q "[0-9].*:$long" annotated && grep -q 'x.c:wörk' annotated || fail "callgrind: names: $(cut -c 1-200 annotated)"
expect 0 coz --json two
jq -r '.span_s as $run | .regions[] | "\(.file):\(.line)" as $at | .curve[] |
	"\($at) \(.reduce_percent.lo) \(($run.lo + $run.hi) / 2e-9 * (1 - (.expected_percent.lo + .expected_percent.hi) / 200) | round)"' out | sort >asked
awk -F '\t' '/^experiment/ { split($2, at, "="); split($3, by, "="); split($4, took, "="); print at[2], by[2] * 100, took[2] }' two.coz | sort >kept
join -j 1 <(sed 's/ /@/' asked | sort) <(sed 's/ /@/' kept | sort) |
	awk '{ d = $2 - $3; if (d > 2 || d < -2) bad = 1 } END { exit bad || NR != 63 }' || fail "coz: $(diff asked kept | head -5)"
grep -c '<g id="node' drawn.svg >held && [ "$(cat held)" -ge 4 ] || fail "dot: $(cat two.dot)"
awk '/^x.c/ { here = 1 } here && / 2 \|/ && /w/ && $1 > 44 && $1 < 46 && $3 > 89 && $3 < 91 { found = 1 } END { exit !found }' two.source || fail "source: $(cut -c 1-200 two.source)"
printf 'one\n\ttwo \e]0;x\a\n' >x.c
expect 0 export --force --to source two.source two
grep -q ' 2 |         two ' two.source && ! grep -q $'[\e\a]' two.source || fail "source: $(cat -v two.source | cut -c 1-200)"
rm x.c && mkfifo x.c
expect 0 export --force --to source two.source two
says two.source 'x.c (cannot be read'
rm x.c

# Sites without a line have their own names, and no share is negative; lines that the file has no longer are there all the same.
{
	printf 'dprof-text 1\nclock 0 host=h0 ghz=1\nthread 0 clock=0 rank=0\nsite 0 kind=region name=here file=x.c line=9\n'
	printf 'site %s kind=region name=%s file=%s line=0\n' 1 nowhere '' 2 neither '' 3 somewhere x.c
	printf 'site %s kind=%s name=never\n' 4 io 5 wait
	for i in {0..9}; do
		for site in 0 1 2 3; do
			work 0 $site $((i * 10000 + site * 2000)) $((i * 10000 + site * 2000 + (site == 2 ? 1 : 1000)))
		done
	done
} | trace places
echo 'int one;' >x.c
expect 0 export --to source places.source places
says out "places.source: $(wc -c <places.source) bytes, source"
rm x.c
for name in 'Of no file' ' - | nowhere' ' - | neither' ' - | somewhere' ' 1 | int one;' ' 9 | here'; do
	says places.source "$name"
done
! grep -q never places.source && [ "$(grep -c . places.source)" = 14 ] && grep -n 'Of no file' places.source | grep -q '^13:' ||
	fail "source: of no file: $(cat places.source)"
! grep -E '^[^|]*-[0-9]' places.source || fail "source: negative: $(cat places.source)"

# A sleep in a region is the region's time, as it is the region's share of the path: columns of one line count the same.
{
	printf 'dprof-text 1\nclock 0 host=h0 ghz=1\nthread 0 clock=0 rank=0\n'
	printf 'site %s kind=%s name=%s file=x.c line=%s\n' 0 region load 1 1 sleep nanosleep 2
	printf 'e 0 %s %s\n' 0 '0 enter' 10000 '1 enter' 50000 '1 exit' 60000 '0 exit' 60000 '1 enter' 100000 '1 exit'
} | trace sleeps
printf 'int one;\nint two;\n' >x.c
expect 0 export --to source sleeps.source sleeps
# A line with several operations has the name of that which took most, whichever came first; and what it is a share of is said.
for most in 1 2; do
	{
		printf 'dprof-text 1\nclock 0 host=h0 ghz=1\nthread 0 clock=0 rank=0\n'
		printf 'site %d kind=%s file=none/y.c line=9\n' 0 'region name=r' 1 'wait name=read' 2 'wait name=write'
		for site in 1 2; do printf 'e 0 %d %d %s\n' $((site * 10000)) $site enter $((site * 10000 + (site == most ? 9000 : 100))) $site exit; done
	} | trace named
	expect 0 export --force --to source named.source named
	grep -q " 9 | $([ $most = 1 ] && echo read || echo write)\$" named.source || fail "named by another: $(cat named.source)"
	fits_80 named.source || fail "source: wider than 80 columns"
done
grep -q "of each while it was there" named.source || fail "of what it is a share is not said: $(cat named.source)"
rm x.c
grep -qE '^ *(60\.0 ±0\.1 +){2}30\.0 ±0\.1 * 1 [|] int one;' sleeps.source && grep -qE '^ *40\.0 ±0\.1 * 2 [|] int two;' sleeps.source ||
	fail "source: a sleep in a region: $(cat sleeps.source)"
expect 0 profile --json sleeps
jq -e '[.flat[] | [.name, (.own_s.lo * 1e6 | round)]] | sort == [["load", 60], ["nanosleep", 40]]' out >held || fail "own time: $(jq -c .flat out)"

# A region that is marked in two places has all of it at the first, and the other says so.
{
	printf 'dprof-text 1\nclock 0 host=h0 ghz=1\nthread 0 clock=0 rank=0\n'
	printf 'site %s kind=region name=%s file=x.c line=%s\n' 0 work 1 1 rest 2 2 work 3
	work 0 0 0 10000; work 0 1 10000 60000; work 0 2 60000 100000
} | trace halves
printf 'int one;\nint two;\nint three;\n' >x.c
expect 0 export --to source halves.source halves
rm x.c
grep -q '^ *50.0.* 1 | int one;' halves.source && grep -q '^ *see work (x.c:1) * 3 | int three;' halves.source ||
	fail "source: a region in two places: $(cat halves.source)"

# A filter leaves out functions that the plugin took, are often entered and take little by themselves: not what the user marked,
# loops, bodies of teams, what is rare, and what takes 1 us. Their names are no patterns.
{
	printf 'dprof-text 1\nclock 0 host=h0 ghz=1\nthread 0 clock=0 rank=0\n'
	name() { echo "site $1 kind=region name=$2 file=x.c line=1 auto=$3 function=$4"; }
	name 0 'n::v%3Cint,%202%3E::operator[]' 1 'n::v%3Cint,%202%3E::operator[]'
	name 1 a%23b%5C%2A 1 a%23b%5C%2A; name 2 marked 0 marked; name 3 loop:7 1 loop; name 4 'parallel%20x.c:1' 1 team
	name 5 rare 1 rare; name 6 long 1 long; name 7 main 1 main; name 8 inner 1 inner
	echo 'e 0 0 7 enter'
	for i in {0..299}; do
		t=$((i * 20000))
		for site in 0 1 2 3 4; do work 0 $site $((t + site * 2000)) $((t + site * 2000 + 990)); done
		echo "e 0 $((t + 12000)) 1 enter"; work 0 8 $((t + 12010)) $((t + 12990)); echo "e 0 $((t + 13000)) 1 exit"
		work 0 6 $((t + 14000)) $((t + 15000))
	done
	work 0 5 6000100 6000200
	echo 'e 0 6000300 7 exit'
} | trace short
expect 0 export --to filter short.filter short
printf '%s\n' SCOREP_REGION_NAMES_BEGIN '  EXCLUDE a\#b\\\* # 600 visits, of up to 0.50' \
	'  EXCLUDE n::v<int,\ 2>::operator\[\] # 300 visits, of up to 0.99' '  EXCLUDE inner # 300 visits, of up to 0.98' \
	SCOREP_REGION_NAMES_END >filter.want
sed -n '/^#/!s/. us$//p; /^SCOREP/p' short.filter | cmp -s - filter.want || fail "filter: $(cat short.filter)"
expect 0 export --force --to filter two.filter two
[ "$(grep -vc '^#' two.filter)" = 2 ] || fail "filter, of marked regions only: $(cat two.filter)"

expect 0 export --to callgrind places.callgrind places
callgrind_annotate --threshold=100 places.callgrind >annotated 2>err && [ ! -s err ] && grep -q '???:nowhere' annotated ||
	fail "callgrind_annotate, names without files: $(cat err annotated)"

# A trace of somebody else's does not have a file copied that is no source.
n=0
for name in secret .c secret.c.bak x.c; do
	echo 'what it says' >"$name"
	printf 'site %s kind=region name=there file=%s line=1\n' $((n++)) "$name"
done >sites
{
	printf 'dprof-text 1\nclock 0 host=h0 ghz=1\nthread 0 clock=0 rank=0\n' && cat sites
	for site in 0 1 2; do work 0 $site $((site * 2000)) $((site * 2000 + 1000)); done
} | trace foreign
expect 0 export --to source foreign.source foreign
rm x.c
[ "$(count foreign.source 'what it says') $(count foreign.source 'not named as source is') $(count foreign.source ' 1 [|] there')" = "1 3 3" ] ||
	fail "source of a foreign trace: $(cat foreign.source)"

# Every message is received behind its send, and every moment is within its bounds: of clocks that wander, and are known
# by packets only.
"$synthesize" --hosts 4 --messages 4000 --work 50 --topology mesh --seed "${SEED:-1}" | trace many
# And of clocks that are known to 900 ns, where messages take 10: there the middle of the bounds would have some arrive
# before they were sent.
{
	"$analyze" dump two | grep '^link'
	printf '%s\n' 'site 3 kind=send name=MPI_Send file=x.c line=4' 'site 4 kind=recv name=MPI_Recv file=x.c line=5' 'thread 0 clock=0 rank=0' 'thread 1 clock=1 rank=1' 'group 1 threads=0,1' 'site 9 kind=barrier name=MPI_Barrier file=x.c line=9'
	for i in {0..49}; do
		t=$((20000 + i * 1000000))
		for thread in 0 1; do # each sends, and the other one has waited for that
			at=$((t + thread * 500000))
			op $thread 3 $at $((at + 3)) group=1 peer=$((1 - thread)) tag=1 bytes=8
			op $((1 - thread)) 4 $((at - 400)) $((at + 10)) group=1 peer=$thread tag=1 bytes=8
		done
		op 0 9 $((t + 600000)) $((t + 900010)) group=1 seq=$i
		op 1 9 $((t + 900000)) $((t + 900010)) group=1 seq=$i
	done
} | sed '1i dprof-text 1\nclock 0 host=h0 ghz=1\nclock 1 host=h1 ghz=1' | trace tight

in_order() { # trace links, how many messages
	expect 0 export --force --links "$2" --to perfetto ordered.perfetto "$1"
	perfetto ordered.perfetto
	awk -v messages="$3" '$1 == "timestamp:" { at = $2 } $1 == "int_value:" { v[++n] = $2 } $1 == "track_event" { n = 0 }
		$1 == "flow_ids:" { sent[$2] = at } $1 == "terminating_flow_ids:" { got[$2] = at; flows++ }
		$1 == "sequence_flags:" && n >= 2 && (at < v[1] || at > v[2]) { out++ }
		END { for (f in got) if (!(f in sent) || got[f] < sent[f]) bad++; print flows, bad + 0, out + 0; exit bad || out || flows != messages }' decoded >held ||
		fail "$1, --links $2: messages, out of order, out of bounds: $(cat held)"
}
for links in all packets; do
	in_order many $links 4000
	in_order tight $links 100
	rm -rf tight.otf2 many.otf2
	otf2 tight 0 --links $links
	[ "$(cat counted)" = "300 300 100 100 100 0" ] || fail "otf2: $(cat counted)"
	otf2 many 0 --links $links
	read -r _ _ sends receives collectives _ <counted
	[ "$sends $receives" = "4000 4000" ] && [ "$collectives" -gt 100 ] || fail "otf2: $(cat counted)"
done
# Nor is what was received from any source, where another run may receive another one, and was there before the call was over.
{
	"$analyze" dump two | grep '^link'
	printf '%s\n' 'site 3 kind=send name=MPI_Send file=x.c line=4' 'site 4 kind=recv name=MPI_Recv file=x.c line=5' 'site 5 kind=recv name=received'
	printf 'thread %s clock=%s rank=%s\n' 0 0 0 1 1 1 2 1 2
	echo 'group 1 threads=0,1,2'
	for i in {0..49}; do
		at=$((20000 + i * 1000000))
		for to in 1 0; do # there and back, at once
			op $((1 - to)) 3 $at $((at + 3)) group=1 peer=$to tag=1 bytes=8
			echo "e $to $((at - 400)) 4 enter group=1 bytes=8"
			echo "e $to $((at + 10)) 5 point peer=$((1 - to)) tag=1 bytes=8"
			echo "e $to $((at + 90)) 4 exit"
			at=$((at + 500))
		done
	done
} | sed '1i dprof-text 1\nclock 0 host=h0 ghz=1\nclock 1 host=h1 ghz=1' | trace anyone
in_order anyone packets 100
in_order anyone all 100

# What only begins a message has a request, which the wait completes; ids come again.
{
	"$analyze" dump two | grep '^link'
	printf '%s\n' 'site 3 kind=send name=MPI_Isend file=x.c line=4' 'site 4 kind=recv name=MPI_Irecv file=x.c line=5' \
		'site 5 kind=recv name=received' 'site 6 kind=wait name=MPI_Wait file=x.c line=6' 'site 7 kind=send name=sent' \
		'site 8 kind=wait name=MPI_Waitall file=x.c line=8' 'thread 0 clock=0 rank=0' 'thread 1 clock=1 rank=1' 'group 1 threads=0,1'
	for i in {0..49}; do
		at=$((20000 + i * 1000000)) id=$((7 + i % 2))
		op 1 4 $((at - 500)) $((at - 400)) group=1 peer=0 tag=1 bytes=8 id=$id
		op 0 3 $at $((at + 3)) group=1 peer=1 tag=1 bytes=8 id=$id
		if ((i % 3)); then
			op 0 6 $((at + 100)) $((at + 200)) id=$id
		else
			echo "e 0 $((at + 100)) 8 enter"
			echo "e 0 $((at + 200)) 7 point id=$id"
			echo "e 0 $((at + 200)) 8 exit"
		fi
		echo "e 1 $((at + 400)) 8 enter"
		echo "e 1 $((at + 1200)) 5 point id=$id bytes=8"
		echo "e 1 $((at + 1200)) 8 exit"
	done
} | sed '1i dprof-text 1\nclock 0 host=h0 ghz=1\nclock 1 host=h1 ghz=1' | trace begun
otf2 begun 0
[ "$(cat counted)" = "200 200 50 50 0 100" ] || fail "otf2, requests: $(cat counted)"

# In a collective operation who only gives gets nothing, and the other way round.
{
	printf 'dprof-text 1\nclock 0 host=h0 ghz=1\n'
	printf 'site %d kind=coll name=%s file=x.c line=1\n' 0 MPI_Bcast 1 MPI_Reduce 2 MPI_Allreduce
	for t in 0 1 2; do echo "thread $t clock=0 rank=$t"; done
	echo 'group 1 threads=0,1,2'
	for t in 0 1 2; do
		op $t 0 1000 3000 group=1 seq=0 bytes=100 role=$((t == 0))
		op $t 1 4000 6000 group=1 seq=1 bytes=50 role=$((t == 1))
		op $t 2 7000 9000 group=1 seq=2 bytes=8
	done
} | trace moved
otf2 moved 0
sed -n 's/^MPI_COLLECTIVE_END  *\([0-9]*\) .*Operation: \([A-Z]*\),.*Sent: \([0-9]*\), Received: \([0-9]*\).*/\1 \2 \3 \4/p' printed |
	LC_ALL=C sort | tr '\n' ';' >held
[ "$(cat held)" = '0 ALLREDUCE 8 8;0 BCAST 100 0;0 REDUCE 50 0;1 ALLREDUCE 8 8;1 BCAST 0 100;1 REDUCE 50 50;2 ALLREDUCE 8 8;2 BCAST 0 100;2 REDUCE 50 0;' ] ||
	fail "otf2: bytes of collective operations: $(cat held)"

# Of windows there are regions, and messages of who posts and completes: no epochs, which would lack their other half.
{
	printf 'dprof-text 1\nclock 0 host=h0 ghz=1\nthread 0 clock=0 rank=0\nthread 1 clock=0 rank=1\ngroup 1 threads=0,1\n'
	printf 'site %d kind=%s name=%s file=x.c line=1\n' 0 coll MPI_Win_fence 1 lock MPI_Win_lock 2 wait MPI_Win_unlock 3 wait MPI_Win_post \
		4 wait MPI_Win_start 5 send MPI_Win%20posts 6 recv MPI_Win%20is%20posted 7 coll MPI_Win_create
	for t in 0 1; do op $t 7 1000 2000 group=1 seq=0; op $t 0 3000 4000 group=1 seq=1; done
	op 0 1 5000 5100; op 0 2 5200 5300
	echo 'e 0 6000 3 enter'; op 0 5 6100 6200 group=1 peer=1 tag=1 bytes=0; echo 'e 0 6300 3 exit'
	echo 'e 1 5000 4 enter'; op 1 6 5100 6300 group=1 peer=0 tag=1; echo 'e 1 6400 4 exit'
} | trace windows
otf2 windows 0
sed -n 's/^\(MPI_[A-Z_]*\|RMA_[A-Z_]*\) .*/\1/p' printed | sort | tr '\n' ' ' >held
[ "$(cat held)" = 'MPI_RECV MPI_SEND ' ] || fail "otf2, windows: $(cat held)"
[ "$(grep -c '^ENTER.*MPI_Win_' printed)" = 8 ] || fail "otf2, windows: not all regions are there"

# Who leaves a barrier does so behind the last that entered.
expect 0 export --links packets --to speedscope tight.speedscope tight
jq -e '(.shared.frames | map(.name) | index("MPI_Barrier")) as $b | [.profiles[] | [.events[] | select(.frame == $b)]] |
	[range(0; 100; 2)] as $i | . as $p | all($i[]; [$p[][.].at] as $in | [$p[][. + 1].at] as $out | ($in | max) <= ($out | min))' tight.speedscope >held ||
	fail "a barrier is left before all have entered"

# ---- Traces of which little is known, or damaged ---------------------------------------------------

printf 'dprof-text 1\nclock 0 host=h0 ghz=1\nthread 0 clock=0 rank=0\n' | trace empty
export_all empty 0
printf 'dprof-text 1\nclock 0 host=h0 ghz=1\nthread 0 clock=0 rank=0\nsite 0 kind=region name=a file=x.c line=1\nsite 1 kind=region name=b file=x.c line=2
e 0 5 0 enter\ne 0 7 1 enter\ne 0 9 0 exit\ne 0 10 1 exit\ne 0 11 0 enter\nlost 0 3\ne 0 20 1 enter\n' | trace crashed
export_all crashed 1
[ "$(count decoded 'type: TYPE_SLICE_BEGIN') $(count decoded 'type: TYPE_SLICE_END')" = "4 4" ] ||
	fail "perfetto, crashed: $(cat decoded)"
"$analyze" dump two | grep -v '^link' | trace unlinked
expect 1 export --links packets --to perfetto x unlinked
says err 'x: cannot be written: the clocks of some hosts could not be related'
expect 1 export --links packets --to csv unlinked.csv unlinked
grep -q '^1,1,enter,region,[^,]*,x.c,2,,,' unlinked.csv ||
	fail "csv of a clock without a place: $(grep '^1,' unlinked.csv | head -2)"
expect 2 export --force --to otf2 two.otf2 two
says err 'two.otf2 is a folder that is there already: name another, or remove it'
expect 2 export --to csv - two
says err 'found -: there is no writing to standard output'
[ ! -e ./- ] || fail "a file - was written"
for format in perfetto otf2 speedscope paje callgrind coz dot filter source csv; do
	said=$(ulimit -f 0 && "$analyze" export --to $format small two 2>&1)
	[ $? -eq 1 ] && grep -q 'small: cannot be written: ' <<<"$said" || fail "$format, no room: $said"
done
[ ! -e small ] && [ ! -e x ] && [ "$(find . -name '*.part*' | wc -l)" = 0 ] || fail "a half of a file was left: $(ls)"
# Bytes that one host gives another are no links between clocks: no reader has them before they are written, though the middles
# of the bounds are 250 ns the other way.
trace bytes <<'END'
dprof-text 1
clock 0 host=h0 ghz=1
clock 1 host=h1 ghz=1
link 0 1000 1 1400
link 1 1400 0 1900
link 0 90001000 1 90001400
link 1 90001400 0 90001900
process 0 clock=0 pid=10 program=a job=j
process 1 clock=1 pid=11 program=a job=j
thread 0 clock=0 process=0
thread 1 clock=1 process=1
site 1 kind=wait name=write file=x.c line=2
site 2 kind=wait name=read file=x.c line=3
e 0 5000 1 enter channel=7 offset=0 bytes=10 role=1 peer=72057594037927934
e 0 5100 1 exit
e 0 90001000 1 point
e 1 2400 2 enter channel=7 offset=0 bytes=10 peer=72057594037927934
e 1 4700 2 exit
e 1 90001000 2 point
END
expect 0 export --to paje bytes.paje bytes
awk '$1 == 6 && $4 == "T0" { written = $2 } $1 == 7 && $4 == "T1" { had = $2 } END { exit !(had >= written && written > 0) }' bytes.paje ||
	fail "bytes are read before they are written: $(grep -E '^[67] ' bytes.paje)"
exit $failed

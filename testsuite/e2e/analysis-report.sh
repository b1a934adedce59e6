#!/bin/bash
# SPDX-License-Identifier: MIT
#
# report fits 80 columns, is coloured only where that is wanted, and its last paragraph says what to look at,
# or why nothing can be said and what would help.
. testsuite/fixtures/analysis/setup.sh

head_of() { # hosts ranks
	echo "dprof-text 1"
	for h in $(seq 0 $(($1 - 1))); do echo "clock $h host=host-number-$h ghz=1"; done
	for r in $(seq 0 $(($2 - 1))); do echo "thread $r clock=$((r % $1)) rank=$r"; done
	echo "site 0 kind=region name=assign file=src/kmeans.c line=88"
	echo "site 1 kind=barrier name=MPI_Barrier file=src/kmeans.c line=90"
	echo "site 2 kind=region name=other file=src/kmeans.c line=91"
}

visit() { # thread site from to
	echo "e $1 $3 $2 enter"
	echo "e $1 $4 $2 exit"
}

advises() { # directory text
	expect 0 report "$1"
	tr '\n' ' ' <out >paragraph
	says paragraph "$2"
}

# Rank 1 works while rank 0 waits from 4000 to 8000 of 0 to 10000.
{
	head_of 1 2
	visit 0 0 1000 5000; visit 0 1 5000 9100; visit 0 0 9100 11000
	visit 1 0 1000 9000; visit 1 1 9000 9101; visit 1 0 9101 11000
} | trace straggler
advises straggler "Look at rank 1: it keeps everybody waiting for 40.01 ±0.03 % of the run (proved), mostly in region assign (kmeans.c:88). Halved there: 40.01 ±0.03 % shorter (proved), if nothing else changes."
says out "One host, one clock: no clock error."
[ "$(sed -n '/^$/{n;p;q}' out)" = "$(grep '^Look at' out)" ] || fail "what was found comes first: $(cat out)"
expect 0 report -v straggler
tr '\n' ' ' <out >paragraph
says paragraph "Assumed, and not measured here: the counters of all cores of "
says out "39.986 .. 40.025"
expect 0 report --json straggler
says out '"advice": "Look at rank 1'

# A line on clocks is no less than the widest of them.
"$analyze" pack "$fixtures/job.txt" job || fail "pack refused job.txt"
"$analyze" report --json job | jq '[.clocks[].width_s.max] | max * 1e6' >widest
"$analyze" report job | sed -n 's/^Clocks known to \([0-9.]*\) us\. .*/\1/p' >line
is_true "$(cat line) >= $(cat widest) && $(cat line) < $(cat widest) + 0.011" ||
	fail "clocks known to $(cat line) us, the widest is $(cat widest)"

# What that would buy, and a command that can be pasted; the name of a region may be anything.
# It is what less time on that rank would buy, not on all of them.
cp out "$dir/reported"
"$analyze" straggler | tr -s '\n ' ' ' >page
says out '"gain": "Half the time in region assign (kmeans.c:88) on rank 1 would make the run '
gain=$(sed -n 's/.*"gain": ".* make the run \([0-9. ]*\) % shorter (proved), if nothing else changes\.".*/\1/p' out)
"$analyze" coz --region assign --rank 1 --reduce 50 straggler | tr -s '\n ' ' ' >line
says line "Had region assign (kmeans.c:88) taken 50 % less time on rank 1 and nothing else changed, the run of"
"$analyze" coz --json --region assign --rank 1 --reduce 50 straggler | interval speedup_percent |
	awk -v gain="$gain" '{ split(gain, g); if (!(g[1] <= $1 && $2 <= g[3] && g[3] - g[1] < 0.1)) { print "gain " gain ", coz says " $0; exit 1 } }' ||
	fail "the gain is not that of rank 1"

# And what its removal would buy, which is what coz says of all its work.
without=$(interval without_straggler_percent <"$dir/reported")
expect 0 coz --json --all-work --rank 1 --reduce 100 straggler
[ -n "$without" ] && [ "$without" = "$(interval speedup_percent <out)" ] || fail "without rank 1: $without, coz says $(cat out)"
"$analyze" -v straggler | tr -s '\n ' ' ' >page
says page "If no work on rank 1 took any time, the run would be ${without%%.*}."
expect 0 report --json straggler
says out '"command": "dprof-analyze coz --region assign --rank 1 straggler"'
"$analyze" dump straggler | sed "s/name=assign/name=it's%20\$HOME/" | trace quoted
expect 0 report quoted
eval "$analyze $(sed -n 's/^More: dprof-analyze //p' out)" >again 2>&1 || fail "cannot be pasted: $(cat out again)"
eval "$analyze $(sed -n 's/^Why:  dprof-analyze //p' out)" >again 2>&1 || fail "cannot be pasted: $(cat out again)"
says again "What is slow in the run of"
says again "it's \$HOME"

# Bare, it is the report.
"$analyze" straggler >bare
expect 0 report straggler
cmp -s bare out || fail "dprof-analyze DIR is not the report"

# Ten ranks on three hosts, long names: 80 columns.
awk -v seed=7 -v hosts=3 -v ranks=10 -v truth=truth -f "$fixtures/world.awk" |
	sed 's/name=body/name=a_region_with_quite_a_long_name_that_goes_on/; s/made.c/a-directory-with-a-name\/and-a-long-file-name.cpp/' |
	trace wide
long=a_region_with_quite_a_long_name_that_goes_on
for command in report csp clocks "csp --instances $long" query; do
	# shellcheck disable=SC2086
	if [ "$command" = query ]; then expect 0 query wide "count($long) == 1"; else expect 0 $command wide; fi
	fits_80 out || fail "$command: nothing, or wider than 80 columns"
done

# ---- Of each rank and thread ---------------------------------------------------------------------------

row_of() { # name -> its row of shares and where it waits
	grep "^  $1 " out
}

# Where a thread mostly waits is where it waits longest, not most often.
{
	head_of 1 2
	echo "site 3 kind=coll name=MPI_Allreduce file=src/kmeans.c line=95"
	echo "group 1 threads=0,1"
	visit 0 0 1000 2000; visit 0 1 2000 6000
	for i in 0 1 2 3; do op 0 3 $((6000 + 1000 * i)) $((7000 + 1000 * i)) group=1 seq=$i; done
	visit 1 0 1000 6000; visit 1 1 6000 6001
	for i in 0 1 2 3; do visit 1 0 $((6001 + 1000 * i)) $((6900 + 1000 * i)); op 1 3 $((6900 + 1000 * i)) $((7000 + 1000 * i)) group=1 seq=$i; done
} | trace places
expect 0 report places
row_of "rank 0" | grep -q 'MPI_Barrier (kmeans.c:90)$' || fail "rank 0 waits longest at the barrier: $(cat out)"
row_of "rank 1" | grep -q 'MPI_Allreduce (kmeans.c:95)$' || fail "rank 1 waits longest in MPI_Allreduce: $(cat out)"

# A rank does what its threads do in the mean; and keeps all others waiting while one of them works.
{
	head_of 1 1 | sed 's/^thread 0 .*/& number=0/'
	echo "thread 1 clock=0 rank=0 number=1"
	echo "thread 2 clock=0 rank=1 number=0"
	visit 0 0 1000 9000; visit 0 1 9000 11000
	visit 1 0 1000 5000; visit 1 1 5000 11000
	visit 2 1 1000 11000
} | trace team
expect 0 report team
row_of "rank 0" | grep -Eq '^  rank 0 60.0 ±0.1 +40.0 ±0.1 +80' || fail "rank 0 works for 60 %: $(cat out)"
row_of "rank 0 thread 1" | grep -Eq '^  rank 0 thread 1 40.0 ±0.1 +60.0 ±0.1 +0' || fail "its thread 1 for 40 %: $(cat out)"

# The efficiencies are those that efficiency says, also where operations that only begin are no waiting.
{
	head_of 1 2
	echo "site 3 kind=send name=MPI_Isend file=src/kmeans.c line=95"
	echo "site 4 kind=recv name=MPI_Recv file=src/kmeans.c line=96"
	echo "group 1 threads=0,1"
	visit 0 0 1000 5000; op 0 3 5000 7000 group=1 peer=1 tag=1 bytes=8; visit 0 1 7000 9100
	visit 1 0 1000 9000; op 1 4 9000 9010 group=1 peer=0 tag=1 bytes=8; visit 1 1 9010 9101
} | trace begins
for trace in straggler begins places; do
	expect 0 efficiency --json $trace
	jq -c '[.parallel, .load_balance, .communication]' out >asked
	expect 0 report --json $trace
	jq -c '.efficiency | [.parallel, .load_balance, .communication]' out | diff asked - >is || fail "$trace: efficiencies: $(cat is)"
done

# Of a trace that is not whole it is not said that it is.
expect 0 report straggler
says out "; trace sound"
{ head_of 1 2; visit 0 0 1000 5000; visit 0 1 5000 9000; visit 1 0 1000 9000; echo "e 1 9000 0 exit"; } | trace unsound
expect 1 report unsound
says_not out "trace sound"

# Colour on a terminal only, and not with NO_COLOR.
escape=$(printf '\033')
expect 0 report straggler
says_not out "$escape"
if command -v script >/dev/null; then
	NO_COLOR= script -qec "$analyze straggler" /dev/null >out </dev/null
	says out "$escape"
	NO_COLOR=1 script -qec "$analyze straggler" /dev/null >out </dev/null
	says_not out "$escape"
	# Bars where a terminal has room for them; the user may say how wide it is.
	script -qec "stty cols 120; $analyze straggler" /dev/null >out </dev/null
	says out "█"
	script -qec "stty cols 80; $analyze straggler" /dev/null >out </dev/null
	says_not out "█"
	COLUMNS=120 script -qec "stty cols 80; $analyze straggler" /dev/null >out </dev/null
	says out "█"
	COLUMNS=50 NO_COLOR=1 script -qec "$analyze straggler" /dev/null </dev/null | sed -n '/^Look/,/^Eff/p' | tr -d '\r' >out
	LC_ALL=C tr -d '\200-\277' <out | awk 'length > 50 { exit 1 } END { exit NR < 4 }' || fail "a terminal of 50 columns: $(cat out)"
fi
COLUMNS=120 "$analyze" straggler | cmp -s - <("$analyze" straggler) || fail "COLUMNS matters where there is no terminal"

# The notation is explained where it first appears; --plain has no other than lo .. hi.
expect 0 report straggler
grep -qx 'Each x ±y and each lo .. hi contains the true value.' out || fail "no word of what an interval is: $(cat out)"
for command in report csp coz waits path efficiency profile clocks; do
	expect 0 $command --plain straggler
	says_not out "±"
	fits_80 out || fail "$command --plain is wider than 80 columns"
done
expect 0 report --plain straggler
says out "assign (kmeans.c:88)"
says out "Each lo .. hi contains the true value."

# With --quiet there are no remarks, only what is wrong.
"$analyze" straggler unsound 2>&1 >/dev/null | grep -q 'this is the newest' || fail "no word of which trace is shown"
[ -z "$("$analyze" --quiet straggler straggler 2>&1 >/dev/null)" ] ||
	fail "--quiet: $("$analyze" --quiet straggler straggler 2>&1 >/dev/null)"
"$analyze" --quiet unsound 2>&1 >/dev/null | grep -q . || fail "--quiet hides what is wrong with a trace"

# ---- What else there may be to say -----------------------------------------------------------------

{ head_of 1 2; visit 0 0 1000 9000; visit 1 0 1000 9000; } | trace no-barrier
advises no-barrier "No barrier, collective, receive, lock or join was recorded"

{ head_of 1 2; visit 0 1 1000 9000; visit 1 1 1000 9000; } | trace no-region
advises no-region "mark the work with #pragma dprof region(NAME)"
sed 's/kmeans\.c/kmeans.F90/' <<<"$(head_of 1 2; visit 0 1 1000 9000; visit 1 1 1000 9000)" | trace fortran
advises fortran "mark the work with call dprof_enter('NAME') and call dprof_exit('NAME') (include 'dprof.inc')"
expect 0 coz fortran
says_not out "#pragma"
{ sed 's/kmeans\.c/kmeans.F90/' <<<"$(head_of 1 2; visit 0 0 1000 9000; visit 1 0 1000 9000)"; } | trace fortran-alone
advises fortran-alone "Link with dprof-fort or dprof-mpifort"

{ head_of 1 1; visit 0 0 1000 8000; visit 0 1 8000 9000; } | trace one
advises one "Half the time in region assign (kmeans.c:88) would make the run 43.7"
says_not out "Stragglers"
advises one "Only one thread works or waits, so no other waits for it."
{ head_of 1 1 | sed 's/^thread 0 .*/process 0 pid=1 program=ninja job=1 ran=1\nthread 0 clock=0 process=0 number=0/'
  echo "site 3 kind=wait name=waitpid file=x.c line=3"; visit 0 0 1000 2000; visit 0 3 2000 10000; visit 0 0 10000 11000; } | trace shell
advises shell "of the run the only thread in this trace waits, most likely for the programs that it started"
says_not out "Only one thread works or waits"

{ head_of 1 2; } | trace nothing
expect 0 report nothing
tr '\n' ' ' <out >paragraph
says paragraph "Nothing was recorded"
says_not out " s; 0 events"
says_not out "What less time"
expect 0 csp nothing
says_not out "the run took"
expect 0 report --json nothing
says_not out speedup_percent

{ head_of 1 2; visit 0 0 1000 5000; visit 1 0 1000 5002; visit 0 1 5000 9000; visit 1 1 5002 9000; } | trace level
advises level "Nothing stands out: no rank works for more than"

{ head_of 1 2; visit 0 0 1000 9000; visit 1 0 1000 5000; visit 1 1 5000 5010; visit 1 0 5010 9000; } | trace never
advises never "but rank 0 never waits"

{ head_of 1 3; visit 0 0 1000 9000; visit 2 0 1000 9000; visit 1 0 1000 5000; visit 1 1 5000 8010; visit 1 0 8010 9000; } |
	trace never
advises never "but rank 0 never waits"

# Each waits half of the time for the other: who does longer is within a tick.
{
	head_of 1 2
	visit 0 0 1000 5000; visit 0 1 5000 9000
	visit 1 1 1000 5000; visit 1 0 5000 9000
} | trace even
advises even "Undecided: rank 0 keeps everybody waiting for"
says_not out "Halved there"

# Rank 1 works alone in three regions, in none for half of the time: half of all its work is asked, not half of one region.
{
	head_of 1 2
	echo "site 3 kind=region name=third file=src/kmeans.c line=92"
	visit 0 0 1000 2000; visit 0 1 2000 8000
	visit 1 0 1000 4100; visit 1 2 4100 6000; visit 1 3 6000 8000; visit 1 1 8000 8010
} | trace places
advises places "of the run (proved), in many places, longest in region assign (kmeans.c:88). Half of all work of rank 1 would make the run 4"

# Rank 0 is in no region for 3900 of 4100, rank 1 for 2900.
{
	head_of 1 2
	for r in 0 1; do visit $r 0 1000 1100; visit $r 1 $((5000 - 1000 * r)) 5100; done
} | trace outside
advises outside "Most of the threads' time, 83.0 ±0.2 %, is unclassified: outside of regions and operations, where work cannot be told from waiting. Mark what is done there with #pragma dprof region(NAME). In the rest nothing stands out: no rank works for more than"
{ head_of 1 2; for r in 0 1; do visit $r 0 1000 3900; visit $r 1 $((5000 - 1000 * r)) 5100; done; } | trace inside
advises inside " Nothing stands out: no rank works for more than"
says_not out "Most of the threads"

# A rank that was killed at work.
{ head_of 1 2; visit 0 0 1000 5000; visit 0 1 5000 9000; echo "e 1 1000 0 enter"; } | trace killed
"$analyze" csp --json killed >out 2>err
awk '/"rank": 1/ { seen = 1 } seen && /straggler_percent/ { print; exit }' out >score
says score '"lo": 0,'
says_not score '"hi": 0}'

# Regions have file and line in JSON, too; waiting has none.
expect 0 report --json straggler
python3 -c '
import json, sys
regions = json.load(sys.stdin)["regions"]
assert [(r["file"], r["line"]) for r in regions if r["region"] == "assign"] == 2 * [("src/kmeans.c", 88)], regions
assert all("file" not in r for r in regions if r["waiting"]), regions' <out || fail "regions in JSON"

# A name that has no room loses its middle; file and line stay.
{
	head_of 1 2
	visit 0 0 1000 5000; visit 0 1 5000 9100; visit 0 0 9100 11000
	visit 1 0 1000 9000; visit 1 1 9000 9101; visit 1 0 9101 11000
} | sed 's/name=assign/name=a_region_whose_name_is_really_quite_long_and_ends_with_its_purpose_which_is_to_assign/
	s/name=MPI_Barrier/name=MPI_a_barrier_with_a_name_as_long_as_that_of_other_people/' | trace long
expect 0 report long
grep -Eq '^  rank 1 .* MPI_a_b[a-z_]*\.\.[a-z_]*ple \(kmeans\.c:90\)$' out || fail "rank table: $(cat out)"
grep -Eq '^  a_region_[a-z_]*\.\.[a-z_]*_assign$' out || fail "profile: $(cat out)"
fits_80 out || fail "wider than 80 columns"
expect 0 report -v long
grep -Eq '^ *keeps others waiting in a_r[a-z_]*\.\.[a-z_]*ign \(kmeans\.c:88\)$' out || fail "ranking: $(cat out)"
grep -Eq '^  a_region_[a-z_]*\.\.[a-z_]*_assign \(kmeans\.c:88\)$' out || fail "regions: $(cat out)"
fits_80 out || fail "with -v wider than 80 columns"
# A command goes on in the next line where it is broken, and names no region that has no line.
grep -qx 'More: dprof-analyze coz long' out || fail "a command with a name that has no room: $(cat out)"
"$analyze" dump long | sed "s/name=a_region_[a-z_]*/name=it's%20a%20region%20of%20a%20length%20that%20leaves%20no%20room/" |
	trace broken
expect 0 report broken
sed -n '/^More: /,/[^\\]$/p' out | sed '1s/^More: dprof-analyze//' >command
[ "$(wc -l <command)" = 2 ] && fits_80 out && eval "$analyze $(cat command)" >again 2>&1 ||
	fail "cannot be pasted: $(cat command again)"
says again "it's a region of a length that leaves"

# A long name has a line of its own, and of a qualified one the end is kept, where there is little room.
{ head_of 1 2; visit 0 0 1000 9000; visit 1 0 1000 5000; visit 1 1 5000 9000; } |
	sed 's/^\(site 0 kind=region name=\)[^ ]*/\1LAMMPS_NS::PairLJCut::compute/' | trace qualified
expect 0 report qualified
grep -q '^  PairLJCut::compute   [0-9. ]*' out || fail "no end of the name: $(cat out)"
expect 0 report -v qualified
grep -q '^  LAMMPS_NS::PairLJCut::compute (.*)$' out || fail "no line of its own: $(cat out)"

# Of many ranks those are shown for whom others wait the longest, and of the rest how long that is at most.
"$B/test/synthesize" --hosts 2 --ranks 20 | trace twenty
expect 0 report --json twenty
most=$(jq '[.ranks[].straggler_percent.hi] | sort | reverse | .[8:] | max' out)
expect 0 report twenty
rest=$(sed -n 's/^  and 12 more, for each of which others wait for at most \([0-9.]*\) %: see -v$/\1/p' out)
is_true "$rest >= $most && $rest <= $most + 0.001" || fail "twenty ranks: of the others at most $most %, found '$rest': $(cat out)"

# Functions that the plugin took and that are entered a million times in a second cost time: a filter helps. The user knows what he
# has marked himself.
often() { # auto, visits, ticks from one to the next
	printf 'dprof-text 1\nclock 0 host=h0 ghz=1\nthread 0 clock=0 rank=0\nsite 0 kind=region name=f file=x.c line=1 auto=%s function=f\n' "$1"
	awk -v n="$2" -v step="$3" 'BEGIN { while (n-- > 0) { print "e 0", ++at * step, "0 enter"; print "e 0", at * step + 100, "0 exit" } }'
}
often 1 60000 1900 | trace often
expect 0 report often
says out 'note: rank 0 thread 0 has 1.1 million records a second, and the plugin made'
says out 'export --to filter FILE DIR writes a filter'
for other in "0 60000 1900" "1 60000 2100" "1 40000 1900"; do
	# shellcheck disable=SC2086
	often $other | trace often
	expect 0 report often
	! grep -q 'records a second' out || fail "often $other: $(cat out)"
done

# Both ends of all intervals beside threads with long names.
trace threads <<'END'
dprof-text 1
clock 0 host=h0 ghz=1
process 0 pid=158860 program=/home/me/app
thread 0 clock=0 process=0 number=0
thread 1 clock=0 process=0 number=1
thread 2 clock=0 process=0 number=2
group 1 threads=0,1,2
site 0 kind=region name=a file=x.c line=1
site 1 kind=barrier name=MPI_Barrier file=x.c line=2
e 0 1000 0 enter
e 0 412345 0 exit
e 0 412345 1 enter group=1 seq=0
e 0 923456 1 exit
e 1 1000 0 enter
e 1 923456 0 exit
e 1 923456 1 enter group=1 seq=0
e 1 923457 1 exit
e 2 1000 0 enter
e 2 412345 0 exit
e 2 412345 1 enter group=1 seq=0
e 2 923456 1 exit
END
expect 0 report -v threads
says out undecided
fits_80 out || fail "threads of a process, with -v: wider than 80 columns"

# Regions in which nobody was are not more of them.
{
	head_of 1 1
	for i in $(seq 3 22); do echo "site $i kind=region name=r$i file=src/kmeans.c line=$i"; done
	for i in $(seq 3 12); do visit 0 "$i" "${i}00" "${i}50"; done
} | trace visited
expect 0 report -v visited
says out "  and 2 more regions, see --json"

# A wavefront whose rank 1 has twice the work: it keeps only those behind it waiting, and the last rank works alone at
# the end. What costs most comes first, with the command that says more of that one. The barrier's straggler above is
# said as ever.
{
	printf '%s\n' 'dprof-text 1' 'clock 0 host=h0 ghz=1' 'site 0 kind=region name=cells file=x.c line=1' \
		'site 1 kind=recv name=MPI_Recv file=x.c line=2' 'site 2 kind=send name=MPI_Send file=x.c line=3' 'site 3 kind=barrier name=MPI_Barrier file=x.c line=4'
	printf 'thread %s clock=0 rank=%s\n' 0 0 1 1 2 2 3 3
	echo 'group 1 threads=0,1,2,3'
	awk 'function visit(site, from, to, keys) { print "e", rank, from, site, "enter", keys; print "e", rank, to, site, "exit" }
	BEGIN { for (rank = 0; rank < 4; rank++) {
			at = 1000
			for (block = 0; block < 12; block++) {
				if (rank > 0) {
					came = sent[rank - 1, block] + 10
					visit(1, at, came > at + 10 ? came : at + 10, "group=1 peer=" rank - 1 " tag=1 bytes=8")
					at = came > at + 10 ? came : at + 10
				}
				visit(0, at, at + (rank == 1 ? 200000 : 100000)); at += rank == 1 ? 200000 : 100000
				sent[rank, block] = at + 5
				if (rank < 3) { visit(2, at, at + 10, "group=1 peer=" rank + 1 " tag=1 bytes=8"); at += 10 }
			}
			end[rank] = at
		}
		for (rank = 0; rank < 4; rank++) visit(3, end[rank], end[3] + 20, "group=1 seq=0") }'
} | trace front
expect 0 report --json front
jq -e '(.first | test("^[0-9. ±]+ % of all threads. time: rank 1 has more to do in cells")) and (.gain | startswith("50 % less time in region cells (x.c:1) on rank 1 would")) and
	.command == "dprof-analyze coz --region cells --rank 1 front"' out >is || fail "a wavefront: $(jq -c '[.first, .advice, .gain, .command]' out)"
expect 0 report front
[[ $(sed -n 4p out) == *"% of all threads' time: rank 1 has more"* ]] &&
	says out 'More: dprof-analyze coz --region cells --rank 1 front' || fail "a wavefront: $(cat out)"
expect 0 report --json threads
jq -e 'has("first") | not' out >is || fail "what buys no more comes first: $(cat out)"

echo "as expected"

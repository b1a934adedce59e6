#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Links that contradict each other, or are too few, are told in words; what can be computed is, and is
# called proven only when it is.
. testsuite/fixtures/analysis/setup.sh

# 40 exchanges of packets in 2 s and between them two messages, which are faster. From the 20th on
# clock h1 is $1 ticks ahead; messages to h1 arrive $2 ticks early.
world() {
	cat <<-END
		dprof-text 1
		clock 0 host=h0 ghz=2 source=${3:-tsc}
		clock 1 host=h1 ghz=2 source=${3:-tsc}
		thread 0 clock=0 rank=0
		thread 1 clock=1 rank=1
		group 1 threads=0,1
		site 0 kind=region name=body file=made.c line=1
		site 1 kind=send name=MPI_Send file=made.c line=3
		site 2 kind=recv name=MPI_Recv file=made.c line=4
	END
	awk -v step="$1" -v early="$2" '
		function link(a, s, b, r) { printf "link %d %.0f %d %.0f\n", a, s, b, r }
		function event(t, s, what) { printf "e %d %.0f %s\n", t, s, what }
		BEGIN {
			for (i = 0; i < 40; i++) {
				t = 1e9 + i * 1e8
				ahead = 7000 + (i < 20 ? 0 : step)
				link(0, t, 1, t + 5000 + ahead)
				link(1, t + 20000 + ahead, 0, t + 25000)
				t += 5e6
				event(0, t, "1 enter group=1 peer=1 tag=3 bytes=8")
				event(0, t + 900, "1 exit")
				event(1, t + ahead - 1e6, "2 enter group=1 peer=0 tag=3 bytes=8")
				event(1, t + 600 + ahead - early, "2 exit")
				t += 10000
				event(1, t + ahead, "1 enter group=1 peer=0 tag=3 bytes=8")
				event(1, t + 900 + ahead, "1 exit")
				event(0, t - 100, "2 enter group=1 peer=1 tag=3 bytes=8")
				event(0, t + 600, "2 exit")
			}
		}'
}

widths() { # "least median most" of h1, in the file out
	sed -n 's/.*"\(min\|median\|max\)": \([0-9.e-]*\).*/\2/p' out | tail -n +4 | head -3 | tr '\n' ' '
}

# Messages tighten: 1200 ticks there and back instead of 10000.
world 0 0 | trace good
expect 0 clocks --json good
says out '"bounds": "proven"'
says out '"program_links": 80'
all=$(widths)
expect 0 clocks --json --links packets good
says out '"program_links": 0'
echo "$all $(widths)" | awk '{ exit !($3 < 0.7e-6 && $4 > 4.9e-6) }' || fail "widths: $all, $(widths)"
expect 0 clocks good
says out "80 links by packets, 80 by the program; 1 hop"
says out "width by packets alone: 5."
[ "$(awk '{ if (length > n) n = length } END { print n }' out)" -le 80 ] || fail "wider than 80: $(cat out)"
expect 2 clocks --links some good
says err "expected packets or all, found 'some'"

# A step of 25 us between the 20th and the 21st exchange.
world 50000 0 | trace step
expect 1 clocks --json step
says out '"status": "consistent"'
says out '"bounds": "consistent"'
expect 1 clocks step
says err 'contradict the assumption'
says err 'message from rank'
says err '(MPI_Send, made.c:3)'
says err 'it seems to have jumped ahead by about 25.'
says err 's of its run (its stamps '
says err 'is the least that reconciles them'
says err 'not proven'
sed -n 's/.*between \([0-9.]*\) and \([0-9.]*\) s of its run.*/\1 \2/p' err |
	awk '{ n++; if (!($1 > 0.94 && $1 <= 1 && $2 >= 1 && $2 < 1.01)) bad = 1 } END { exit bad || n != 1 }' ||
	fail "the step came after 1 s: $(cat err)"
for command in report csp coz; do
	expect 1 $command step
	says out 'but not proven'
	expect 1 $command --json step
	says out '"bounds": "consistent"'
done
expect 1 query step 'count(body) == 1'
says out 'but not proven'
expect 1 query --json step 'count(body) == 1'
says out '"bounds": "consistent"'
expect 1 clocks --links packets step
says err 'packet, h'

# Messages that arrive before they were sent do not spoil what packets say, but its proof.
world 0 100000 | trace early
expect 1 clocks --json early
says out '"links": "packets"'
says out '"status": "consistent"'
by_all=$(widths)
expect 0 clocks --json --links packets early
says out '"status": "proven"'
[ -n "$by_all" ] && [ "$by_all" = "$(widths)" ] || fail "widths: $by_all, $(widths)"
expect 1 clocks early
says err 'agree with, and those from the program contradict'
says err 'message from rank 0 (MPI_Send, made.c:3) to rank 1 (MPI_Recv, made.c:4)'
says err 'from packets alone, and are not proven'
says out '80 by the program (not used)'

# No link, one link, and many that are one.
grep -v '^link' <(world 0 0) | trace none
expect 1 clocks --links packets none
says err 'too few links with clock h0 (0 found)'
expect 0 clocks none
grep -v '^link 1' <(world 0 0) | awk '!/^link/ || !n++' | trace one
expect 1 clocks --links packets one
says err 'too few links with clock h0 (1 found)'
{ grep -v '^link' <(world 0 0) | grep -v '^e'; yes 'link 0 1000000000 1 1000012000' | head -50; } | trace same
expect 1 clocks --links packets same
says err 'too few links with clock h0 (50 found)'
{ grep -v '^link' <(world 0 0) | grep -v '^e'; for i in 1 2 3; do
	echo 'link 0 1000000000 1 1000000000'; echo 'link 1 1000000000 0 1000000000'; done; } | trace point
expect 1 clocks point
says err 'clock h1: too few links'

# Time that runs back: no drift reconciles that.
{ grep -v '^e' <(world 0 0); echo 'link 0 3000000000 1 1500000000'; grep '^e' <(world 0 0); } | trace back
expect 1 clocks --links packets back
says out 'contradiction'
says err 'no drift reconciles them'
expect 1 csp back
says err 'its threads are analysed on their own clock only'

# A host whose processes left nothing, and a log of packets that is cut in the middle.
world 0 0 | trace lost
rm lost/h1-1*
expect 1 clocks lost
says err 'expected the process of a host with clockid 1, found none'
world 0 0 | trace cut
for log in cut/*.sync; do truncate -s -7 "$log"; done
expect 1 clocks cut
says err '.sync'
says out 'h1           proven'

world 0 0 monotonic_raw | trace raw
expect 0 clocks raw
says out 'its clock is monotonic_raw'
expect 0 clocks --json raw
says out '"source": "monotonic_raw"'
echo "as expected"

# SPDX-License-Identifier: MIT
#
# nested_trace.awk - text of a trace for the cost of analyses: 4 ranks on 2 hosts, in each of `rounds` rounds a body
# with 20 regions, one in the other, and a barrier.
BEGIN {
	print "dprof-text 1"
	for (h = 0; h < 2; h++) print "clock", h, "host=h" h, "ghz=2.5"
	for (t = 0; t < 4; t++) print "thread", t, "clock=" t % 2, "rank=" t
	print "group 1 threads=0,1,2,3"
	for (r = 0; r <= 20; r++) print "site", r, "kind=region name=region" r, "file=x.c line=" r + 1
	print "site 21 kind=barrier name=MPI_Barrier file=x.c line=99"
	for (i = 0; i < 200; i++) {
		at = 1e6 + i * rounds * 500
		printf "link 0 %d 1 %d\nlink 1 %d 0 %d\n", at, at + 900, at + 2000, at + 2900
	}
	srand(1)
	now = 1e9
	for (i = 0; i < rounds; i++) {
		latest = 0
		for (t = 0; t < 4; t++) {
			at = now
			for (r = 0; r <= 20; r++) printf "e %d %d %d enter\n", t, at += 50 + int(100 * rand()), r
			for (r = 20; r >= 0; r--) printf "e %d %d %d exit\n", t, at += 50 + int(100 * rand()), r
			printf "e %d %d 21 enter group=1 seq=%d\n", t, at += 10, i
			latest = at > latest ? at : latest
		}
		for (t = 0; t < 4; t++) printf "e %d %d 21 exit\n", t, latest + 100 + 10 * t
		now = latest + 1000
	}
}

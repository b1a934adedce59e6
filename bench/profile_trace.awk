# SPDX-License-Identifier: MIT
#
# profile_trace.awk - text of a trace for the cost of analyses: 4 ranks on 2 hosts, 20 regions, a barrier
# in each of `rounds` rounds, before which every rank visits `visits` of the regions.
BEGIN {
	print "dprof-text 1"
	for (h = 0; h < 2; h++) print "clock", h, "host=h" h, "ghz=2.5"
	for (t = 0; t < 4; t++) print "thread", t, "clock=" t % 2, "rank=" t
	print "group 1 threads=0,1,2,3"
	for (r = 0; r < 20; r++) print "site", r, "kind=region name=region" r, "file=x.c line=" r + 1
	print "site 20 kind=barrier name=MPI_Barrier file=x.c line=99"
	srand(1)
	now = 1e9
	for (i = 0; i < rounds; i++) {
		latest = 0
		for (t = 0; t < 4; t++) {
			at[t] = now
			for (v = 0; v < visits; v++) {
				r = (i * visits + v) % 20
				from = at[t]
				at[t] += 200 + int(rand() * 2000)
				line[t] = line[t] sprintf("e %d %d %d enter\ne %d %d %d exit\n", t, from, r, t, at[t], r)
				at[t] += 20
			}
			latest = at[t] > latest ? at[t] : latest
		}
		for (t = 0; t < 4; t++) {
			line[t] = line[t] sprintf("e %d %d 20 enter group=1 seq=%d\ne %d %d 20 exit\n", t, at[t], i, t, latest + 500)
			printf "%s", line[t]
			line[t] = ""
		}
		now = latest + 520
		for (k = 0; k < 10 && i % 100 == 0; k++) {
			print "link 0", now - 15500 + k, 1, now - 500 + k
			print "link 1", now - 15500 + k, 0, now - 500 + k
		}
	}
}

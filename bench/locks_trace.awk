# SPDX-License-Identifier: MIT
#
# locks_trace.awk - text of a trace for the cost of analyses: 4 threads take a lock in turn, `rounds` times each, and do something
# while they have it and behind it; a barrier now and then.
BEGIN {
	print "dprof-text 1"
	print "clock 0 host=h0 ghz=1"
	print "process 0 pid=1 program=locks"
	for (t = 0; t < 4; t++) print "thread", t, "clock=0 process=0 number=" t
	print "group 1 threads=0,1,2,3"
	print "site 0 kind=region name=holds file=x.c line=1 function=f"
	print "site 1 kind=region name=works file=x.c line=2 function=f"
	print "site 2 kind=lock name=pthread_mutex_lock file=x.c line=3 function=f"
	print "site 3 kind=lock name=pthread_mutex_unlock file=x.c line=4 function=f"
	print "site 4 kind=barrier name=barrier file=x.c line=5 function=f"
	srand(1)
	now = 1e9
	for (i = 0; i < rounds; i++) {
		for (t = 0; t < 4; t++) {
			has = now + 20
			left = has + 200 + int(100 * rand())
			printf "e %d %d 2 enter id=8\ne %d %d 2 exit id=8\n", t, has - 20 - int(300 * rand()), t, has
			printf "e %d %d 0 enter\ne %d %d 0 exit\ne %d %d 3 point id=8\n", t, has, t, left, t, left
			printf "e %d %d 1 enter\ne %d %d 1 exit\n", t, left, t, left + 300
			now = left
		}
		now += 600
		if (i % 1000 != 999) continue
		for (t = 0; t < 4; t++) printf "e %d %d 4 enter group=1 seq=%d\ne %d %d 4 exit\n", t, now + t, i / 1000, t, now + 10
		now += 400
	}
}

#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Teams of threads of two processes that go by the same number are two groups: their barriers prove
# nothing of each other's clocks. A communicator of two ranks, of which two threads each take part, is
# one group, although each rank has as many threads in it as it has members.
. testsuite/fixtures/analysis/setup.sh

team() { # rank stamp
	cat <<-END
		dprof-text 1
		clock 0 host=h$1 ghz=2
		process 0 clock=0 rank=$1 size=2 pid=10$1
		thread 0 clock=0 rank=$1 process=0 number=0
		thread 1 clock=0 rank=$1 process=0 number=1
		group 7 threads=0,1
		site 0 kind=barrier name=GOMP_barrier file=made.c line=2
	END
	for t in 0 1; do
		for i in 0 1 2; do
			echo "e $t $(($2 + 1000 * i)) 0 enter group=7 seq=$i"
			echo "e $t $(($2 + 1000 * i + 100)) 0 exit"
		done
	done
}

team 0 5000 | trace t
team 1 900000 | trace other
sed -i -e "s/^clockid 0/clockid 1/" -e "1s/2$/1/" -e "/^sum /d" other/*.process # as one that was never summed
cp -n other/* t/
expect 1 clocks --json t
says out '"status": "unlinked"'
says_not out '"program_links": 6'
expect 0 dump t
[ "$(grep -c '^group' out)" -eq 2 ] || fail "groups: $(grep '^group' out)"
[ "$(grep -o 'enter group=[0-9]*' out | sort | uniq -c | awk '{ print $1 }' | tr '\n' ' ')" = "6 6 " ] ||
	fail "wait dependencies: $(cat out)"

cat >communicator.txt <<'END'
dprof-text 1
clock 0 host=h0 ghz=2
thread 0 clock=0 rank=0
thread 1 clock=0 rank=0
thread 2 clock=0 rank=1
thread 3 clock=0 rank=1
group 1 threads=0,1,2,3 size=2
site 0 kind=barrier name=MPI_Barrier file=made.c line=2
END
for t in 0 2 1 3; do
	printf 'e %d %d 0 enter group=1 seq=%d\ne %d %d 0 exit\n' $t $((1000 + t)) $((t % 2)) $t $((2000 + t))
done >>communicator.txt
trace communicator <communicator.txt
expect 0 dump communicator
says out 'group 1 threads=0,1,2,3 size=2'
[ "$(grep -c '^group' out)" -eq 1 ] || fail "groups: $(grep '^group' out)"
[ "$(grep -c 'enter group=1 ' out)" -eq 4 ] || fail "wait dependencies: $(cat out)"
echo "as expected"

#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What a thread did behind its last record is not known: a join waited for it, or did not, and who had a lock meanwhile
# may have been it; what was counted is the least. Without losses all of that is exact.
. testsuite/fixtures/analysis/setup.sh

# Thread 1 works from 1 to 90 ms (its records end at 2 ms), and has the lock from 30 to 60 ms; thread 0 wants that at 40
# ms, and joins thread 1 then.
text() { # of the end of thread 1
	cat <<T
dprof-text 1
clock 0 host=h ghz=1
process 0 pid=1 program=made job=1
thread 0 clock=0 process=0 number=0
thread 1 clock=0 process=0 number=1 ${1:-}
site 0 kind=region name=main file=a.c line=1
site 1 kind=region name=part file=a.c line=2
site 2 kind=lock name=pthread_mutex_lock file=a.c line=3
site 3 kind=join name=pthread_join file=a.c line=4
site 4 kind=lock name=pthread_mutex_unlock file=a.c line=5
e 0 0 0 enter
e 0 40000000 2 enter id=7
e 0 60000000 2 exit
e 0 61000000 4 enter id=7
e 0 61000000 4 exit
e 0 70000000 3 enter thread=1
e 0 91000000 3 exit
e 0 100000000 0 exit
e 1 1000000 1 enter
e 1 2000000 1 exit
T
}
took() { # KEY NAME LO HI: milliseconds of all threads; null: without end
	jq -e "[.flat[] | select(.name == \"$2\").$1][0] | .lo * 1000 <= $3 and (.hi == null or .hi * 1000 >= $4)" json >held ||
		fail "$2: expected $1 to hold $3 .. $4 ms, found $(jq -c ".flat[] | select(.name == \"$2\").$1" json)"
}
{ text; echo "lost 1 600000"; } | trace lost
"$analyze" profile --json lost >json 2>err
took waiting_s pthread_join 0 20
took transfer_s pthread_join 0 21
took waiting_s pthread_mutex_lock 0 20
took transfer_s pthread_mutex_lock 0 20
took inclusive_s part 1 89
jq -e '.lost == 600000' json >held || fail "600000 records are missing, found $(jq .lost json)"
expect 1 profile lost
[[ $(tr -s ' \n' ' ' <out) = *"Records are missing, at least 600000"*"there may have been more."* ]] || fail "profile: $(cat out)"
expect 1 waits lost
says out "It is not known that a thread waited for another."
says out "Of 1 wait it is not known what ended it"
expect 1 diagnose lost
grep -Eq '[1-9][0-9.]* \.\. [0-9.]* % what operations took|±[0-9.]* % what operations' out && fail "diagnose: $(cat out)"

# Killed, and joined all the same: it ended as nobody saw.
text complete=0 | trace killed
"$analyze" profile --json killed >json 2>err
took waiting_s pthread_join 0 20
took transfer_s pthread_join 0 21

# What is whole is exact.
{ text; echo "e 1 90000000 1 enter"; echo "e 1 90000000 1 exit"; } | trace whole
"$analyze" profile --json whole >json 2>err
exact() { # KEY NAME MS
	jq -e "[.flat[] | select(.name == \"$2\").$1][0] | (.lo * 1000 - $3 | fabs) < 0.01 and (.hi * 1000 - $3 | fabs) < 0.01" json >held ||
		fail "$2: expected $1 $3 ms, found $(jq -c ".flat[] | select(.name == \"$2\").$1" json)"
}
exact waiting_s pthread_join 20
exact transfer_s pthread_join 1
exact transfer_s pthread_mutex_lock 20
jq -e '.lost == 0' json >held || fail "nothing is missing, found $(jq .lost json)"
expect 0 profile whole
says_not out "missing"

# Behind its last record a thread may have been there no longer.
two() { printf '%s\n' 'dprof-text 1' 'clock 0 host=h0 ghz=1' 'thread 0 clock=0 rank=0' "thread 1 clock=0 rank=$1" 'group 1 threads=0,1' \
	'site 0 kind=region name=a file=x.c line=2' 'site 1 kind=coll name=MPI_Bcast file=x.c line=1' 'e 0 1000 0 enter' 'e 1 1000 0 enter'; }
{ two '0 number=1'; printf '%s\n' 'e 0 10000 0 exit' 'e 1 5000 0 exit' 'lost 1 1'; } | trace alive
expect 1 query alive --json 'count(alive) == 2'
jq -e '.holds_s | .lo > 3.9e-6 and .lo <= 4e-6 and .hi >= 9e-6 and .hi < 9.1e-6' out >held || fail "alive: $(cat out)"

# One does not leave a collective operation, whose other participant leaves it twice.
{ two 1; printf '%s\n' 'e 0 2000 0 exit' 'e 0 2000 1 enter group=1 seq=0' 'lost 0 1' 'e 0 9000 0 enter' 'e 0 9900 0 exit' 'e 1 2000 0 exit' \
	'e 1 2000 1 enter group=1 seq=0' 'e 1 3000 1 exit group=1 seq=0' 'e 1 3000 1 enter group=1 seq=0' 'e 1 3500 1 exit group=1 seq=0'; } | trace twice
for command in waits path profile efficiency coz diagnose; do
	expect 1 $command twice
done
exit $failed

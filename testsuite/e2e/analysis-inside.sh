#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What less work inside of an operation would buy, in a signal handler or in what MPI calls, and how long the operation
# waited besides: traces of which it is known.
. testsuite/lib.sh
cd "$dir" || exit 1

made() { # NAME EVENTS
	"$analyze" pack - "$1" <<T || fail "pack $1"
dprof-text 1
clock 0 host=vm ghz=1
process 0 pid=1 program=made job=1
thread 0 clock=0 process=0 number=0 jumps=0
thread 1 clock=0 process=0 number=1 jumps=0
group 1 threads=0,1
site 0 kind=wait name=sem_wait file=s.c line=1
site 1 kind=wait name=sem_post file=s.c line=2
site 2 kind=region name=X file=s.c line=3
site 3 kind=region name=other file=s.c line=4
site 4 kind=barrier name=pthread_barrier_wait file=s.c line=5
site 5 kind=coll name=MPI_Allreduce file=s.c line=6
site 6 kind=fork name=fork file=s.c line=7
site 7 kind=lock name=pthread_mutex_lock file=s.c line=8
site 8 kind=lock name=pthread_mutex_unlock file=s.c line=9
e 0 1000 3 enter
e 0 1500 3 exit
e 1 1000 3 enter
$2
T
}

buys() { # NAME LESS PERCENT, to within a tenth
	"$analyze" coz --region X --reduce "$2" --json "$1" >"$1.json" || fail "$1: status $?"
	interval expected_percent <"$1.json" | awk -v is="$3" '{ exit !($1 > is - 0.1 && $2 < is + 0.1) }' ||
		fail "$1 less $2: expected $3, found $(interval expected_percent <"$1.json")"
	interval speedup_percent <"$1.json" | awk '{ exit !($1 <= 0 && $2 >= 100) }' ||
		fail "$1: something is proved: $(interval speedup_percent <"$1.json")"
}

# Who was in the handler waited before it, and behind it, for the other one, that was in `other`: for so many ns.
waited() { # NAME LINE NS
	"$analyze" waits --json "$1" >"$1.json" || fail "waits $1: status $?"
	jq -e --argjson line "$2" --argjson ns "$3" 'def is: .lo <= $ns * 1e-9 and .hi >= $ns * 1e-9 and .hi - .lo < 1e-7;
		([.waits[] | select(.thread == 0)] | length == 1 and (.[0] | .site == "s.c:\($line)" and .caused_by.thread == 1 and (.seconds | is))) and
		([.places[] | select(.thread == 0)] | length == 1 and (.[0].seconds | is)) and
		([.delays[] | select(.thread == 0 and .region != "X" and .seconds.hi > 1e-5)] == [])' "$1.json" >/dev/null ||
		fail "waits $1: expected $3 ns at line $2, found $(jq -c '.waits, .places, .delays' "$1.json")"
}

# The same of the profile: that long at least, and not for longer than it was in no region inside.
profiled() { # NAME LINE NS LONGEST
	"$analyze" profile --json "$1" >"$1.json" || fail "profile $1: status $?"
	jq -e --argjson line "$2" --argjson ns "$3" --argjson most "$4" '[.operations[] | select(.line == $line)] | length == 1 and
		(.[0].waiting_s | .lo <= $ns * 1e-9 + 1e-12 and .lo > $ns * 1e-9 - 1e-7 and .hi >= $ns * 1e-9 and .hi < $most * 1e-9 + 1e-7)' \
		"$1.json" >/dev/null ||
		fail "profile $1: expected $3 ns at line $2, found $(jq -c '.operations[] | [.line, .waiting_s]' "$1.json")"
}

# The other one begins when the handler has posted: all of it is saved.
made posts 'e 0 2000 0 enter id=1
e 0 10000000 2 enter
e 0 60000000 2 exit
e 0 60000100 1 point id=2
e 0 99999000 0 exit id=1
e 0 100000000 3 enter
e 0 100000100 3 exit
e 1 2000 3 exit
e 1 3000 0 enter id=2
e 1 60001000 0 exit id=2
e 1 60002000 3 enter
e 1 99997000 3 exit
e 1 99998000 1 point id=1'
waited posts 1 49996000
buys posts 50 25.0
buys posts 80 40.0

# It has posted 10 ms before the handler is over: no more than that is saved.
made outlasts 'e 0 2000 0 enter id=1
e 0 10000000 2 enter
e 0 50000000 2 exit
e 0 50001000 0 exit id=1
e 0 50002000 3 enter
e 0 100000000 3 exit
e 1 39990000 3 exit
e 1 40000000 1 point id=1'
waited outlasts 1 9998000
buys outlasts 20 8.0
buys outlasts 50 10.0

# And 10 ms after it: nothing is.
made lasts 'e 0 2000 0 enter id=1
e 0 10000000 2 enter
e 0 50000000 2 exit
e 0 60001000 0 exit id=1
e 0 60002000 3 enter
e 0 100000000 3 exit
e 1 59990000 3 exit
e 1 60000000 1 point id=1'
waited lasts 1 19998000
buys lasts 50 0

# Between two handlers it waited as well.
made again 'e 0 2000 0 enter id=1
e 0 10000000 2 enter
e 0 20000000 2 exit
e 0 40000000 2 enter
e 0 50000000 2 exit
e 0 60001000 0 exit id=1
e 0 60002000 3 enter
e 0 100000000 3 exit
e 1 59990000 3 exit
e 1 60000000 1 point id=1'
waited again 1 39998000

# The other one has gone on from a barrier 10 ms before the handler is over.
made barrier 'e 0 2000 4 enter group=1 seq=0
e 0 10000000 2 enter
e 0 50000000 2 exit
e 0 50001000 4 exit group=1 seq=0
e 0 50002000 3 enter
e 0 100000000 3 exit
e 1 39990000 3 exit
e 1 40000000 4 enter group=1 seq=0
e 1 40001000 4 exit group=1 seq=0'
waited barrier 5 9998000
buys barrier 20 8.0
buys barrier 50 10.0

# What MPI calls when all have come: all of it is saved, of one of two.
made combines 'e 0 2000 5 enter group=1 seq=0
e 0 40001000 2 enter
e 0 80001000 2 exit
e 0 80002000 5 exit group=1 seq=0
e 0 80003000 3 enter
e 0 100000000 3 exit
e 1 39990000 3 exit
e 1 40000000 5 enter group=1 seq=0
e 1 40001000 2 enter
e 1 80001000 2 exit
e 1 80002000 5 exit group=1 seq=0'
buys combines 50 20.0

# Of one that calls it, for whom the other one waits: all of it is saved, whoever has come last; and of what the operation took
# nothing is proved to be its own.
made calls 'e 0 2000 5 enter group=1 seq=0
e 0 80002000 5 exit group=1 seq=0
e 0 80003000 3 enter
e 0 100000000 3 exit
e 1 20000000 3 exit
e 1 20001000 5 enter group=1 seq=0
e 1 20002000 2 enter
e 1 80001000 2 exit
e 1 80001500 5 exit group=1 seq=0'
buys calls 50 30.0
"$analyze" diagnose --json calls >calls.json || fail "diagnose calls: status $?"
[ "$(jq -c '[.findings[] | select(.cause == "communication" or .cause == "granularity") | .proved] | any' calls.json)" = false ] ||
	fail "an operation in which another one works is proved to take that time: $(jq -c .findings calls.json)"
"$analyze" path --json calls | jq -e '[.segments[] | select(.name == "X") | .share_percent] | length == 1 and .[0].hi > 59.9 and .[0].lo < 0.1' >/dev/null ||
	fail "what the other one most likely waits for is not on the path, or surely: $("$analyze" path calls)"

# One calls it twice, and the other one has what it needs after the first time.
made twice 'e 0 2000 5 enter group=1 seq=0
e 0 50002000 5 exit group=1 seq=0
e 0 50003000 3 enter
e 0 100000000 3 exit
e 1 20000000 3 exit
e 1 20001000 5 enter group=1 seq=0
e 1 20002000 2 enter
e 1 50001000 2 exit
e 1 50002000 2 enter
e 1 80001000 2 exit
e 1 80001500 5 exit group=1 seq=0'
buys twice 50 15.0

# The other one calls it, too, and then waits for the first one once more.
made both 'e 0 2000 5 enter group=1 seq=0
e 0 20003000 2 enter
e 0 30003000 2 exit
e 0 80002000 5 exit group=1 seq=0
e 0 80003000 3 enter
e 0 100000000 3 exit
e 1 20000000 3 exit
e 1 20001000 5 enter group=1 seq=0
e 1 20002000 2 enter
e 1 80001000 2 exit
e 1 80001500 5 exit group=1 seq=0'
buys both 50 30.0

# The handler forks, which is an operation, but no part of the wait around the handler.
made forks 'e 0 2000 0 enter id=1
e 0 10000000 2 enter
e 0 20000000 6 enter process=9
e 0 50000000 6 exit process=9
e 0 60000000 2 exit
e 0 99999000 0 exit id=1
e 0 100000000 3 enter
e 0 100000100 3 exit
e 1 99997000 3 exit
e 1 99998000 1 point id=1'
waited forks 1 49996000
profiled forks 1 49996000 49997000
profiled forks 7 0 0

# It waits for a lock, which nothing says: it may as well be what that itself took.
made locks 'e 0 2000 0 enter id=1
e 0 10000000 2 enter
e 0 20000000 7 enter id=3
e 0 50000000 7 exit id=3
e 0 50001000 8 point id=3
e 0 60000000 2 exit
e 0 99999000 0 exit id=1
e 0 100000000 3 enter
e 0 100000100 3 exit
e 1 2000 7 enter id=3
e 1 3000 7 exit id=3
e 1 49999000 8 point id=3
e 1 99997000 3 exit
e 1 99998000 1 point id=1'
"$analyze" profile --json locks >locks.json
jq -e '.operations[] | select(.line == 8 and .name == "pthread_mutex_lock") | .waiting_s | .lo == 0 and .hi > 0.0299 and .hi < 0.0301' locks.json >/dev/null ||
	fail "a wait in a handler in a wait: $(jq -c '.operations[] | [.line, .waiting_s]' locks.json)"
exit $failed

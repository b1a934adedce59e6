#!/bin/bash
# SPDX-License-Identifier: MIT
#
# check finds what is wrong with the events themselves, and says it once.
. testsuite/lib.sh

head='dprof-text 1
clock 0 host=h0 ghz=2
thread 0 clock=0 rank=0
thread 1 clock=0 rank=1
group 1 threads=0,1
site 0 kind=region name=a file=x.c line=1
site 1 kind=region name=b file=x.c line=2
site 2 kind=barrier name=MPI_Barrier file=x.c line=3'

check() { # lines; the diagnostics come from standard input. Notes are none
	rm -rf "$dir/t"
	printf '%s\n%b\n' "$head" "$1" | "$analyze" pack - "$dir/t" || failed=1
	cat >"$dir/wanted"
	"$analyze" check "$dir/t" 2>"$dir/err" | sed '/: \(fine:\|[0-9]* problems\?;\) [0-9]* hosts\?, /,$d; /^note: /d' >"$dir/out"
	if ! diff "$dir/wanted" "$dir/out" || [ -s "$dir/err" ]; then
		echo "FAILED '$1'"
		cat "$dir/err"
		failed=1
	fi
	local status=0
	"$analyze" check --json "$dir/t" >"$dir/json" || status=1
	[ -s "$dir/wanted" ] && expected=1 || expected=0
	[ $status -eq $expected ] || fail "'$1': status $status"
	while read -r diagnostic; do
		grep -qF "\"$diagnostic\"" "$dir/json" || fail "'$1': not in JSON: $diagnostic"
	done <"$dir/wanted"
}

check 'e 0 1 0 enter\ne 0 2 1 enter\ne 0 3 1 exit\ne 0 4 0 exit' </dev/null
check 'e 0 1 0 enter\ne 0 2 0 enter\ne 0 3 0 exit' <<'END'
rank 0, thread 0: 'a' (x.c:1) is entered and never left, 1 time, first at stamp 1
END
check 'e 0 1 0 exit\ne 0 2 0 exit' <<'END'
rank 0, thread 0: 'a' (x.c:1) is left without having been entered, 2 times, first at stamp 1
END
check 'e 0 1 0 enter\ne 0 2 1 enter\ne 0 3 0 exit\ne 0 4 1 exit' <<'END'
rank 0, thread 0: 'b' (x.c:2) is entered and never left, 1 time, first at stamp 2
rank 0, thread 0: 'b' (x.c:2) is left without having been entered, 1 time, first at stamp 4
END
# Who asks for a region that is not there is told that the trace is damaged, too: that may be why.
for command in 'csp "$dir/t" --work c' 'coz "$dir/t" --region c' 'query "$dir/t" "rank 0 in c"'; do
	eval "\"\$analyze\" $command" >"$dir/out" 2>"$dir/err"
	[ $? = 2 ] && grep -q '^dprof-analyze: .* found "c"' "$dir/err" && grep -q 'is left without having been entered' "$dir/err" ||
		fail "$command: $(cat "$dir/out" "$dir/err")"
done
check 'thread 2 clock=0 rank=1 lost=7\ne 2 1 0 enter\nlost 2 7' <<'END'
rank 1, thread 1: expected all records, found 7 dropped
END
check 'thread 2 clock=0 rank=1 complete=0\ne 2 1 0 enter' <<'END'
h0-1-1.events: expected an end in good order, found none: the thread still ran when its process ended
END
# A consumer that waits for the next job when its process ends is no problem, nor is the region around that; but one
# that did something afterwards, and the first thread, are.
wait='site 3 kind=wait name=pthread_cond_wait file=q.c line=7\nthread 2 clock=0 rank=1\n'
check "${wait}e 2 1 0 enter\ne 2 5 3 enter" </dev/null
check "${wait}e 2 1 0 enter\ne 2 5 3 enter\ne 2 6 1 enter\ne 2 7 1 exit" <<'END'
rank 1, thread 1: 'a' (x.c:1) is entered and never left, 1 time, first at stamp 1
rank 1, thread 1: 'pthread_cond_wait' (q.c:7) is entered and never left, 1 time, first at stamp 5
END
check "${wait}e 0 5 3 enter" <<'END'
rank 0, thread 0: 'pthread_cond_wait' (q.c:7) is entered and never left, 1 time, first at stamp 5
END
check 'e 0 1 2 enter group=1 seq=0\ne 0 2 2 exit\ne 1 1 2 enter group=1 seq=0\ne 1 2 2 exit' </dev/null
check 'site 3 kind=send name=MPI_Send\nsite 4 kind=recv name=MPI_Recv\ne 0 1 3 enter group=1 peer=1\ne 0 2 3 exit' </dev/null
check 'e 0 1 2 enter group=1 seq=0\ne 0 2 2 exit' <<'END'
group 1: expected each participant as often as the others (1), found rank 1, thread 0 less often (0)
END
# To rank 0 MPI returned an error: it need not have taken part as often.
check 'e 0 1 2 enter group=1 seq=0 peer=72057594037927935\ne 0 2 2 exit\ne 1 1 2 enter group=1 seq=0\ne 1 2 2 exit\ne 1 3 2 enter group=1 seq=1\ne 1 4 2 exit' </dev/null
check 'group 5 threads=0,1 size=3\ne 0 1 2 enter group=5\ne 0 2 2 exit\ne 1 1 2 enter group=5\ne 1 2 2 exit' <<'END'
group 5: expected 3 participants, found 2
END
check 'clock 1 host=h1 ghz=2\nthread 2 clock=1 rank=2\ne 2 5 0 enter\ne 2 6 0 exit' <<'END'
clock h1: too few links with clock h0 (0 found) to place it on its time line; its threads are analysed on their own clock only
END
check "$(for i in 1 2 3 4; do printf '%s\n' "clock $i host=h$i ghz=2" "thread $((i + 1)) clock=$i rank=$((i + 1))" "e $((i + 1)) 5 0 enter" "e $((i + 1)) 6 0 exit"; done)" <<'END'
4 clocks (h1, h2, h3, ...): too few links with clock h0 (0 found) to place them on its time line; their threads are analysed on their own clocks only
END
check 'e 0 1 - enter\ne 0 2 - exit' <<'END'
h0-0-0.events: offset 4104: expected an address in a module of its process, found 0x9: was the program stripped? (and 1 more like it)
END

# What no run of a program that keeps to MPI's and POSIX's rules can have done. `noted`: that is no damage of the trace.
noted() { # lines of the trace, status, text
	rm -rf "$dir/t"
	printf '%s\n%b\n' "$head" "$1" | "$analyze" pack - "$dir/t" || failed=1
	for command in check waits; do
		"$analyze" $command "$dir/t" >"$dir/out" 2>&1
		[ $? -eq "$2" ] && [[ $(tr -s ' \n' ' ' <"$dir/out") = *"$3"* ]] || fail "$command '$1': expected '$3', status $2, found $(cat "$dir/out")"
	done
}
unlike='not all called the same collective operation, or it has not one root, which MPI does not allow: 1 time, first rank'
colls='site 3 kind=coll name=MPI_Bcast\nsite 4 kind=coll name=MPI_Bcast_c\n'
together() { # what ranks 0 and 1 say
	echo "${colls}e 0 9000 $1\ne 0 9900 ${1%% *} exit\ne 1 100 $2\ne 1 9900 ${2%% *} exit"
}
noted "$(together '2 enter group=1 seq=0' '3 enter group=1 seq=0 bytes=8 role=1')" 0 "$unlike"
noted "$(together '3 enter group=1 seq=0 bytes=8 role=1' '3 enter group=1 seq=0 bytes=8 role=1')" 0 "$unlike"
"$analyze" waits --json "$dir/t" | grep -q '"proved"' && fail 'two roots: who waited for whom is proved'
noted "$(together '3 enter group=1 seq=0 bytes=8 role=0' '3 enter group=1 seq=0 bytes=8 role=0')" 0 "$unlike"
check "$(together '3 enter group=1 seq=0 bytes=8 role=1' '4 enter group=1 seq=0 bytes=8 role=0')" </dev/null
! "$analyze" check "$dir/t" 2>&1 | grep -q '^note: not all called' || fail 'MPI_Bcast_c is called another operation than MPI_Bcast'
check "$(together '3 enter group=1 seq=0 bytes=8' '3 enter group=1 seq=0 bytes=8')" </dev/null
threads='thread 2 clock=0 rank=0\nsite 3 kind=fork name=pthread_create\nsite 4 kind=join name=pthread_join\nsite 5 kind=lock name=pthread_mutex_lock\n'
born() { # when thread 1 of rank 0 begins and ends, and when its creation begins and its join ends
	echo "${threads}e 0 $3 3 enter thread=1\ne 0 $(($3 + 20)) 3 exit\ne 0 $((3000 > $3 + 30 ? 3000 : $3 + 30)) 4 enter thread=1\ne 0 $4 4 exit\ne 2 $1 0 enter\ne 2 $2 0 exit"
}
check "$(born 2000 4000 1000 5000)" </dev/null
noted "$(born 2000 4000 2500 5000)" 1 'a thread began before it was created: of that nothing is known: 1 time, first rank 0 thread 1'
head=$(sed 's/^thread.*/& jumps=0/' <<<"$head") noted "$(born 2000 4000 1000 3500)" 1 'a wait was over before what ended it: of that nothing is known: 1 time, first rank 0 thread 0 at pthread_join'
noted "$(born 2000 4000 1000 3500)" 0 '' # a handler may have jumped out of it
noted "$(born 1500 9000 1000 9500)\ne 2 9100 5 enter id=7\ne 2 9110 5 exit\ne 2 9400 5 point id=7\ne 0 9600 5 enter id=7\ne 0 9610 5 exit\ne 0 9700 5 point id=7" 0 ''
! grep -q 'a lock was taken' "$dir/out" || fail 'a lock that was free was not'
noted "${threads}e 0 100 5 enter id=7\ne 0 110 5 exit\ne 2 200 5 enter id=7\ne 2 210 5 exit\ne 2 300 5 point id=7\ne 0 400 5 point id=7" 0 'a lock was taken although it was not released before: 1 time'

# Who hangs, and where, when a job is killed: none lacks in an operation to which all have come, each to another one.
hang() { # what ranks 0 and 1 are in
	rm -rf "$dir/t"
	printf '%b\n' "$(sed 's/^thread.*/& jumps=0 complete=0/' <<<"$head")" "$colls" 'site 6 kind=recv name=MPI_Recv file=x.c line=6' \
		"e 0 100 0 enter\ne 0 9000 0 exit\ne 0 9000 $1\ne 1 100 0 enter\ne 1 200 0 exit\ne 1 200 $2" | "$analyze" pack - "$dir/t" || failed=1
	"$analyze" check "$dir/t" >"$dir/out" 2>&1
	"$analyze" report "$dir/t" >"$dir/report" 2>&1
	! grep -qE 'there for|began late|recorded only a part' "$dir/report" || fail "who hangs was not there: $(cat "$dir/report")"
}
hang '6 enter group=1 peer=1' '6 enter group=1 peer=0'
grep -qx 'note: 2 threads were in MPI_Recv (x.c:6) when their records end: rank 0 thread 0, rank 1 thread 0' "$dir/out" ||
	fail "two receives: $(cat "$dir/out")"
# Who may have jumped may still wait there, too.
"$analyze" dump "$dir/t" 2>/dev/null | sed 's/ jumps=0//; s/^process .*/& finished=0/' >"$dir/text"
rm -rf "$dir/t"
"$analyze" pack "$dir/text" "$dir/t" || failed=1
"$analyze" waits --json "$dir/t" 2>/dev/null | jq -e '.waiting_s.hi == null' >"$dir/is" || fail "who may have jumped does not wait: $(cat "$dir/is")"
"$analyze" waits "$dir/t" 2>/dev/null | grep -q '^It is not known that a thread waited' || fail 'who may have jumped does not wait'
hang '2 enter group=1 seq=0' '3 enter group=1 seq=0 role=1'
grep -qx 'note: 1 thread was in MPI_Bcast when its records end: rank 1 thread 0' "$dir/out" || fail "a barrier and a broadcast: $(cat "$dir/out")"
grep -q "^note: $unlike" "$dir/out" || fail "a barrier and a broadcast are one: $(cat "$dir/out")"
! grep -q 'lacks participants' "$dir/report" || fail "all have come: $(cat "$dir/report")"

# A communicator that means something else on each rank is two groups.
rm -rf "$dir/t"
printf '%s\n%b\n' "$head" 'e 0 1 2 enter group=1\ne 0 2 2 exit\ne 1 1 2 enter group=1\ne 1 2 2 exit' |
	"$analyze" pack - "$dir/t"
for rank in 0 1; do
	sed -i -e "1s/2$/1/" -e "/^sum /d" -e "/^threads /d" -e "s/^group 1 .*/group 1 ranks=0,1\ngroup 9 ranks=$rank/" "$dir/t/h0-$rank.process"
done
"$analyze" dump "$dir/t" | grep '^group' >"$dir/out"
diff "$dir/out" - <<'END' || fail 'groups'
group 0 threads= size=1
group 1 threads=0,1
group 9 threads= size=1
END

# Who takes a lock that is free, to look, waits for nobody there.
rm -rf "$dir/t"
"$analyze" pack testsuite/fixtures/whatif/traces/flag.txt "$dir/t" || failed=1
"$analyze" check "$dir/t" >"$dir/out"
grep -q '^3 of 16 waits' "$dir/out" || fail "looks with a lock: $(cat "$dir/out")"
exit $failed

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

check() { # lines; the diagnostics come from standard input
	rm -rf "$dir/t"
	printf '%s\n%b\n' "$head" "$1" | "$analyze" pack - "$dir/t" || failed=1
	cat >"$dir/wanted"
	"$analyze" check "$dir/t" 2>"$dir/err" | sed '/: \(fine:\|[0-9]* problems\?;\) [0-9]* hosts\?, /,$d' >"$dir/out"
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
exit $failed

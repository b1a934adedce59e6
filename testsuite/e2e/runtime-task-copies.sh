#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What a task's data take to be copied is work of whoever makes the task: it is said to be made behind that, and no wait
# is open meanwhile. (That who could run it then waits for its maker, analysis-tasks shows.)
. testsuite/lib.sh

"$B/bin/dprof-c++" -O2 -fopenmp -o "$dir/copies" testsuite/fixtures/threads/task_copies.cc 2>"$dir/err" || fail "$(cat "$dir/err")"

# Of each task behind how many copies it was said to be made, for the last time; "waits" where there was one in a wait.
copies() {
	awk '$1 == "site" { is[$2] = $3 }
	     $1 != "e" { next }
	     $5 == "enter" && / task=/ && is[$4] == "kind=region" { run[$2] = $4 }
	     $5 == "exit" && run[$2] == $4 { run[$2] = "" }
	     run[$2] != "" { next }
	     is[$4] == "kind=sleep" && $5 == "enter" { copied[$2]++; if (waits[$2]) bad = " waits" }
	     is[$4] == "kind=join" && $5 != "point" { waits[$2] = $5 == "enter" }
	     $5 == "point" && match($0, / task=[0-9]+/) {
		task = substr($0, RSTART, RLENGTH)
		if (!(task in made)) order[n++] = task
		made[task] = copied[$2] + 0
	     }
	     END { for (i = 0; i < n; i++) printf "%s%d", i ? " " : "", made[order[i]]; print bad }'
}

traced() { # trace way...
	mkdir "$dir/$1"
	DPROF_QUIET=1 DPROF_DIR=$dir/$1 "$dir/copies" "${@:2}" || fail "$1: status $?"
	"$analyze" check "$dir/$1"/dprof-* >"$dir/out" 2>&1 || fail "$1: $(cat "$dir/out")"
}

# way, what copies says
while read -r way expected; do
	traced "$way" "$way"
	got=$("$analyze" dump "$dir/$way"/dprof-* | copies)
	[ "$got" = "$expected" ] || fail "$way: $got, expected $expected"
done <<-'END'
	task 1 2 3 4
	task_now 1 2 3 4
	depend 1 2 3 4
	depend_now 0 0 1 1 2 2 3 3
	detach 1 2 3 4
	loop 4
	loop_now 4
	nogroup 4
END

# A copy that runs a task by itself does so in no wait.
for way in depend loop; do
	traced "nested_$way" "$way" nested
	"$analyze" dump "$dir/nested_$way"/dprof-* | copies | grep -q waits && fail "$way: a copy in a wait"
done
exit $failed

#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Every command answers the same of a trace and of what pack makes of its dump: of threads, of children that were forked
# and of programs that took their place, of threads that jumped, and of traces that are damaged; and what the process
# files say of a process (its start and end, MPI_Init) or a group has its words.
fixtures=$PWD/testsuite/fixtures
. testsuite/lib.sh
export DPROF_QUIET=1
cd "$dir" || exit 1
mkdir before after

# All lists of what is wrong with a trace name its files.
answers() { # folder: of its trace `run`, which has the same name in both
	local command condition
	cd "$1" || return
	"$analyze" check run >check 2>&1
	echo "check: exit status $?"
	for command in csp efficiency coz waits path profile report diagnose; do
		echo "\"$command\""
		"$analyze" --json $command run
	done >json 2>/dev/null
	for condition in 'count(working) >= 1' 'count(waiting) == 1'; do
		"$analyze" --json query run "$condition"
	done >>json 2>/dev/null
	jq 'if type == "object" then del(.problems, .notes) else . end' json || fail "$1: no JSON" >&2
	cd ..
}

same_answers() { # what: the trace is before/run
	rm -rf after/run
	"$analyze" dump before/run >text 2>err
	"$analyze" pack text after/run >err 2>&1 || fail "$1: pack: $(cat err)"
	"$analyze" dump after/run 2>err | cmp - text || fail "$1: dump, pack, dump: $(cat err)"
	answers before >said.before
	answers after >said.after
	[ "$(wc -l <said.before)" -gt 200 ] || fail "$1: too little is said: $(cat said.before)"
	diff said.before said.after >differs || fail "$1: other answers: $(head -20 differs)"
	rm -rf before/run
}

cp -r "$fixtures/analysis/packed-3" before/run && same_answers "threads"
cp -r "$fixtures/analysis/packed-3" before/run && : >before/run/8d8439d772fd1ab0.sites && same_answers "sites that cannot be read"
cp -r "$fixtures/analysis/packed-3" before/run && chmod u+w before/run/*.nursery &&
	printf x | dd of=before/run/h0-p20223.nursery bs=1 seek=4176 conv=notrunc 2>err && same_answers "a damaged header"

"$B/bin/dprof-cc" -O1 -pthread -Wall -Wextra -Werror -Wno-clobbered "$fixtures/analysis/forked.c" -o forked || exit 1
for way in twice jumps; do
	DPROF_DIR=$PWD ./forked $way || fail "$way: exit status $?"
	mv dprof-forked.* before/run && same_answers "forked, $way"
done
grep -q '^process .* started=[1-9][0-9]* forked=1 parent=0' text ||
	fail "no child is said to have been forked: $(grep ^process text)"

export PKG_CONFIG_PATH=$B/lib/pkgconfig
# shellcheck disable=SC2046
gcc -O1 -pthread $(pkg-config --cflags dprof) -o spawned "$fixtures/runtime/spawned.c" $(pkg-config --libs dprof) || exit 1
./spawned vfork ./spawned || fail "spawned: exit status $?"
mv dprof-spawned.* before/run && same_answers "a child that became another program"
grep -q '^process .* forked=1 parent=0 unborn=[1-9]' text ||
	fail "no child is said to have become another program: $(grep ^process text)"

# A child, of which it is not known which thread forked it (in a PID namespace it has another pid there), may be in any region.
"$analyze" pack - before/run <<'T' && same_answers "a child that was forked anywhere"
dprof-text 1
clock 0 host=h ghz=1
process 0 pid=838 program=p job=1 started=1000
process 1 pid=1 program=p job=1 started=1200000000 forked=1 parent=0
thread 0 clock=0 process=0 number=0 jumps=0
thread 1 clock=0 process=0 number=1 jumps=0
thread 2 clock=0 process=1 number=0 jumps=0
site 0 kind=region name=X file=x.c line=1
site 1 kind=region name=Y file=x.c line=2
e 0 1000000000 0 enter
e 0 1900000000 0 exit
e 1 1000000000 1 enter
e 1 1900000000 1 exit
e 2 1300000000 1 enter
e 2 1400000000 1 exit
T
grep -q '^thread 0 .* entered=1' text && grep -q '^e 0 1200000000 - enter$' text ||
	fail "it is not said that the child may be in any region: $(cat text)"
grep -q '^check: exit status 0$' said.after || fail "what was packed of a sound trace is not sound: $(cat after/check)"

# What is said by none of these.
cat >text <<'T'
dprof-text 1
clock 0 host=h ghz=1
process 0 rank=0 size=2 pid=1 program=p job=1 started=1000 init_from=2000 init_to=900000000 ended=2000009000
process 1 rank=1 size=2 pid=2 program=p job=1 started=1000 init_from=2000 init_to=900000000 ended=2000009000 marks=none
thread 0 clock=0 rank=0 process=0 number=0 lost=1 jumps=1500000000 ended=2000008000
thread 1 clock=0 rank=1 process=1 number=0 jumps=0
group 1 threads=0,1 by_rank=0
site 0 kind=region name=X file=x.c line=1
site 1 kind=coll name=MPI_Scan file=x.c line=2
damaged
e 0 1000000000 0 enter
e 0 1900000000 0 exit
e 0 1900001000 1 enter group=1 seq=0
e 0 2000000000 1 exit group=1 seq=0
e 1 1000000000 1 enter group=1 seq=0
e 1 2000000000 1 exit group=1 seq=0
T
"$analyze" pack text made && "$analyze" dump made 2>err | diff text - || fail "not the same text: $(cat err)"
grep -q 'made of a damaged one' err || fail "a damaged trace is whole again"
"$analyze" --json csp made 2>err >csp
jq -e '.outside_span | length == 2 and (.[0].mpi_init_s.lo > 0.8 and .[0].behind_s.hi < 0.00001)' csp >held ||
	fail "another begin or end: $(jq -c .outside_span csp)"

[ "$failed" = 0 ] && echo "as expected"
exit "$failed"

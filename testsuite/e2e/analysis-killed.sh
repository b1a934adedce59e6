#!/bin/bash
# SPDX-License-Identifier: MIT
#
# A process without an end in good order ran on for an unknown time, where it was: the run, its open regions and all shares have no
# upper bound then, in each command; but where another process was told of its end. Of a trace that has all ends nothing changes.
. testsuite/fixtures/analysis/setup.sh
export DPROF_DIR=$tmp DPROF_QUIET=1

# ---- programs ------------------------------------------------------------------------------------------------
"$B/bin/dprof-cc" -O2 "$fixtures/killed.c" -o killed || fail "killed.c does not compile"
now() { date +%s.%N; }
at_least() { # key, seconds, arguments...: its lower end is so much or less, and there is no upper one
	"$analyze" "${@:3}" >out 2>err
	[ $? = 1 ] || fail "${*:3}: not called damaged"
	read -r lo hi < <(interval "$1" <out)
	[ "$hi" = null ] && is_true "${lo:-9} <= $2" || fail "${*:3}: $1 was $2 s or less, of a run without an end, found $lo .. $hi"
}
for signal in 6 9 11 15; do
	rm -rf dprof-*
	before=$(now)
	{ took=$(./killed $signal); } 2>/dev/null
	most=$(awk "BEGIN { print $(now) - $before }")
	is_true "${took:-0} >= 0.03" || fail "signal $signal: the program says $took"
	for command in report csp coz path waits profile diagnose efficiency; do
		at_least span_s "$most" $command --json dprof-killed.*
	done
	at_least span_s "$most" query --json dprof-* 'count(part) == 1'
	at_least holds_s "$most" query --json dprof-* 'count(part) == 1'
	read -r lo hi < <(interval share_percent <out)
	is_true "${lo:-1} == 0 && ${hi:-0} == 100" || fail "signal $signal: part was 0 .. 100 % of the run, found $lo .. $hi"
	expect 1 report dprof-*
	grep -Eq 'at least [0-9]+\.[0-9]+ s' out || fail "signal $signal: $(cat out)"
	expect 1 report -v dprof-*
	[[ $(tr -s ' \n' ' ' <out) = *" part (killed.c:"*") "*" 1 at least "[0-9]*" 0.00 .. 100.00 "* ]] || fail "signal $signal: $(cat out)"
	expect 1 profile -v dprof-*
	[[ $(tr -s ' \n' ' ' <out) = *" part (killed.c:"*") 1 at least "*" at least "* ]] || fail "signal $signal: profile says $(cat out)"
	expect 1 path dprof-*
	grep -Eq ' 0 \.\. 100 .* part ' out || fail "signal $signal: path says $(cat out)"
	grep -E '^ +[0-9.]*[1-9][0-9.]* (\.\.|±)' out && fail "signal $signal: something is surely on the path"
done

# Nothing was asked of the kernel at its end; a bit that says it was, though no sum covers it, is not believed.
"$analyze" report --json dprof-* >said 2>err
for file in dprof-*/*.events; do printf '\017' | dd of="$file" bs=1 seek=208 conv=notrunc status=none; done
"$analyze" report --json dprof-* 2>err | cmp -s - said || fail "a bit of the header changes what the kernel has counted"

# A file that begins has room for records: one that is only a header was cut, and all of the thread's records may be lost.
for size in 4096 9000; do
	cp -r dprof-killed.* cut
	truncate -s $size cut/*-0.events
	expect 1 check cut
	grep -q -- "-0.events: expected a header and room for records, [0-9]* bytes, found $size: the file is cut short" out ||
		fail "cut to $size bytes: $(cat out)"
	expect 1 report cut
	grep -Eq '^Records are missing|no event can be read' out || fail "cut to $size bytes, nothing is missing: $(cat out)"
	rm -r cut
done

# A copy of a process under another name is no other process: a child, which is there to be waited for.
cat >forked.c <<'C'
#include <sys/wait.h>
#include <unistd.h>

int main(void)
{
	if (fork() == 0) {
#pragma dprof region(child)
		usleep(20000);
		_exit(0);
	}
	return wait(NULL) < 0;
}
C
rm -rf dprof-* && "$B/bin/dprof-cc" -O1 forked.c -o forked && ./forked || fail "forked: $?"
"$analyze" check dprof-* >out || fail "forked: $(cat out)"
stem=$(grep -l forked=1 dprof-*/*.process) && stem=${stem%.process}
for file in "$stem".process "$stem"-*.events; do cp "$file" "$stem-copy${file#"$stem"}"; done
expect 1 check dprof-*
says out "$(basename "$stem").process: expected another process than in $(basename "$stem")-copy.process, found pid "
expect 1 csp dprof-*
! grep -q 'proved ' out || fail "of two copies of a process something is proved: $(cat out)"
rm -r dprof-*

# What a thread recorded behind its slot in the nursery cannot be read: that is lost.
cat >slots.c <<'C'
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

static volatile int done;

static void *often(void *x)
{
	for (int i = 0; i < 4000; i++) {
#pragma dprof region(often)
		__asm__ volatile("");
	}
	done = 1;
	pause();
	return x;
}

int main(void)
{
	pthread_t thread;
	pthread_create(&thread, NULL, often, NULL);
	while (!done)
		usleep(1000);
	return raise(SIGKILL);
}
C
rm -rf dprof-*
"$B/bin/dprof-cc" -O2 -pthread slots.c -o slots || fail "slots.c does not compile"
(./slots) 2>/dev/null
lost() { "$analyze" report --json dprof-slots.* 2>err | jq .lost; }
dropped=$(lost) # where the helper came too late
[ "$dropped" -lt 1000 ] || fail "slots: $dropped records are lost"
printf 'no magic' | dd of="$(echo dprof-slots.*/*-1.events)" bs=1 conv=notrunc status=none
[ "$(lost)" -gt "$dropped" ] || fail "slots: nothing is lost, where most cannot be read"

# Its parent was told of its end.
rm -rf dprof-*
before=$(now)
took=$(./killed child)
most=$(awk "BEGIN { print $(now) - $before }")
"$analyze" query --json dprof-* 'count(part) == 1' >out 2>err
read -r lo hi < <(interval holds_s <out)
is_true "${lo:-9} <= $most && ${hi:-0} >= $took" || fail "child: part took $took .. $most s, found $lo .. $hi"
"$analyze" csp --json dprof-* >out 2>err
read -r lo hi < <(interval span_s <out)
is_true "$lo >= $took && $lo <= $most && $hi < 1.01 * $lo" || fail "child: the run took $took .. $most s, found $lo .. $hi"

# ---- made up ---------------------------------------------------------------------------------------------------
text() { # of the process, of its first thread
	cat <<END
dprof-text 1
clock 0 host=h0 ghz=1
process 0 clock=0 pid=7 program=/bin/a $1
thread 0 clock=0 process=0 $2
thread 1 clock=0 process=0
thread 2 clock=0 process=0 $3
site 0 kind=region name=body file=a.c line=3
site 1 kind=barrier name=pthread_barrier_wait file=a.c line=5
e 0 1000 0 enter
e 0 401000 0 exit
e 0 501000 0 enter
e 1 1000 0 enter
e 1 601000 0 exit
e 2 1000 0 enter
e 2 301000 0 exit
e 2 301001 1 enter id=1
END
}
span() { # trace, least, most (null: none)
	"$analyze" csp --json "$1" >out 2>err
	read -r lo hi < <(interval span_s <out)
	is_true "${lo:-9} <= $2 && $lo > $2 - 1e-8" || fail "$1: the run took $2 s or more, found $lo .. $hi"
	if [ "$3" = null ] || [ "$hi" = null ]; then
		[ "$hi" = "$3" ] || fail "$1: the run's upper end is $3, found $hi"
	else
		is_true "$hi >= $3 && $hi < $3 + 1e-8" || fail "$1: the run took at most $3 s, found $hi"
	fi
}
text "" "" "" | sed '/^e 0 501000/d; /id=1$/d' | trace whole
span whole 0.0006 0.0006
text finished=0 complete=0 "complete=0 jumps=0" | trace killed
span killed 0.0006 null
"$analyze" dump killed 2>err | trace again
span again 0.0006 null
expect 1 waits killed
says out "Of 1 wait it is not known what ended it"
expect 1 coz --region body --reduce 100 --json killed
read -r lo hi < <(interval speedup_percent <out)
is_true "${lo:-1} == 0 && ${hi:-0} == 100" || fail "killed: a what-if is 0 .. 100 %, found $lo .. $hi"
expect 1 path -v killed
grep -Eq '^  0\.000 \.\. 100\.000 .*pthread_barrier_wait|what is not known' out || fail "killed: path says $(cat out)"
"$analyze" query killed --sql 'select count(*) from slack where slack_s_hi is not null' >out 2>err
tail -1 out | grep -q '^ *0$' || fail "killed: so much slack at most: $(cat out)"
"$analyze" export --to callgrind called killed 2>err
grep -q '^summary: 1[0-9]*$' called || fail "killed: callgrind's format: $(cat called)"
expect 1 report --html page.html killed
grep -aq '"span": 599999' page.html || fail "killed: the page's time line: $(grep -aEo '"span": ?[0-9]*' page.html)"

# The thread that has no end ran until its process ended.
text finished=1 complete=0 complete=0 | trace ran
span ran 0.0006 0.0006

# Of another process that was told of its end; not of a pid that two processes have had.
text finished=0 complete=0 "complete=0 jumps=0" >killed.txt
cat >>killed.txt <<END
process 1 clock=0 pid=6 program=/bin/a
thread 3 clock=0 process=1
site 2 kind=wait name=waitpid file=a.c line=9
e 3 500 0 enter
e 3 700 0 exit
e 3 800 2 enter process=7 role=1 peer=72057594037927934
e 3 701000 2 exit
END
trace told <killed.txt
span told 0.0007005 0.0007005
{
	sed 's/^process 0 clock=0/& rank=0/' killed.txt
	echo "process 2 clock=0 rank=1 pid=7 program=/bin/a"
	echo "thread 4 clock=0 process=2"
	work 4 0 600 800
} | trace several
span several 0.0007005 null
# Nor before a process's last record.
sed 's/^e 3 701000 2 exit/e 3 450000 2 exit/' killed.txt | trace before
span before 0.0006005 null
{
	sed 's/^e 3 701000 2 exit/&\ne 3 702000 2 enter process=9 role=1 peer=72057594037927934\ne 3 703000 2 exit/' killed.txt
	echo "process 2 clock=0 pid=9 program=/bin/a finished=0"
	echo "thread 4 clock=0 process=2 complete=0"
	echo "e 4 704000 0 enter"
} | trace later
span later 0.0007035 null

# One that another process has killed is sound: what was sent before its end was told, to it or to several, of one host, and has
# ended it; or, where nobody was told, behind its last record. What it did then is as little known as of any other.
while read -r status who sent told; do
	{
		sed "s/^clock 0 .*/&\nclock 1 host=h1 ghz=1/; s/ process=7 role=1/& $told/" killed.txt
		echo "process 2 clock=${who#*,} pid=5 program=/bin/a"
		echo "site 3 kind=wait name=kill file=a.c line=7"
		echo "thread 4 clock=${who#*,} process=2"
		work 4 0 600 800
		echo "e ${who%,*} ${sent%%,*} 3 point ${sent//,/ }" | sed 's/ point [0-9]*/ point/'
	} | if [ "$told" = none ]; then sed '/^e 3 .* 2 /d'; else cat; fi | trace signal
	expect "$status" check signal
	[ "$status" = 1 ] && says_not out "was ended by" || noted "pid 7 was ended by SIGTERM, which pid 5 has sent at kill (a.c:7)"
	[ "$status" = 0 ] && says_not out "expected a line 'finished'" || says out "expected a line 'finished', found none"
	[ "$status" = 0 ] || continue
	expect 0 waits signal
	said=$(tr -s ' \n' ' ' <out)
	[[ $said = *"lack"*"may have waited for all of "* ]] || fail "signal: nothing is in doubt: $said"
done <<'T'
0 4,0 650000,process=7,tag=15 tag=15
0 4,0 650000,process=0,tag=15 tag=15
0 4,0 590000,process=7,tag=15 tag=15
1 4,0 650000,process=7,tag=15 tag=9
1 4,0 650000,process=7,tag=15
1 4,0 650000,process=8,tag=15 tag=15
1 4,0 702000,process=7,tag=15 tag=15
1 0,0 650000,process=7,tag=15 tag=15
1 4,1 650000,process=7,tag=15 tag=15
0 4,0 650000,process=7,tag=15 none
1 4,0 590000,process=7,tag=15 none
T
exit $failed

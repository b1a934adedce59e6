#!/bin/bash
# SPDX-License-Identifier: MIT
#
# pack refuses a text that is no trace: with the line, what was expected and what was found, status 1, and
# nothing left behind.
. testsuite/lib.sh

# Line 1 is "dprof-text 1", lines 2 to 5 are these; what is refused begins on line 6.
good='clock 0 host=h0 ghz=2
thread 0 clock=0 rank=0
site 0 kind=region name=body
e 0 100 0 enter'

check() { # text diagnostic
	printf '%b' "$1" | "$analyze" pack - "$dir/t" >"$dir/out" 2>"$dir/err"
	local status=$?
	if [ $status -ne 1 ] || [ "$(cat "$dir/err")" != "dprof-analyze: standard input$2" ] || [ -s "$dir/out" ]; then
		echo "FAILED '$1': status $status"
		echo "  expected: dprof-analyze: standard input$2"
		echo "  found:    $(cat "$dir/err")"
		failed=1
	fi
	if [ -n "$(ls -d "$dir"/t* 2>/dev/null)" ]; then
		echo "FAILED '$1': something is left behind"
		failed=1
	fi
	rm -rf "$dir"/t*
}

refused() { # lines diagnostic
	check "dprof-text 1\n$good\n$1\n" ":6: $2"
}

check '' ": expected 'dprof-text 1', found an empty file"
check '# only a remark\n' ": expected 'dprof-text 1', found an empty file"
check 'hello\n' ":1: expected 'dprof-text 1', found 'hello'"
check '\ndprof-text 2\n' ":2: expected 'dprof-text 1', found 'dprof-text 2'"
check 'dprof-text 1\n' ": expected a line 'clock', found none"
check 'dprof-text 1\nclock 0 host=a ghz=1\nprocess 0 rank=0\n' ":3: expected clock= or a thread of this process, found neither"

# Words and values
refused 'threed 1 clock=0' "expected 'thread', found 'threed'"
refused 'xyzzy' "expected a line like 'clock', found 'xyzzy'"
refused 'thread' "expected a number, found the end of the line"
refused 'thread x clock=0' "expected a number of at most 64 bits for a number, found 'x'"
refused 'thread -1 clock=0' "expected a number of at most 64 bits for a number, found '-1'"
refused 'thread 18446744073709551616 clock=0' "expected a number of at most 64 bits for a number, found '18446744073709551616'"
refused 'thread 1' "expected clock=, found the end of the line"
refused 'thread 1 clock=0 clock=0' "expected only one clock, found '0'"
refused 'thread 1 clock=0 rnak=1' "expected the key rank, found 'rnak'"
refused 'thread 1 clock=0 rank' "expected key=value, found 'rank'"
refused 'thread 1 clock=0 name=a%2' "expected two hexadecimal digits, not 00, after '%'"
refused 'thread 1 clock=0 name=a%00' "expected two hexadecimal digits, not 00, after '%'"
refused 'thread 1 clock=0 name=abcdefghijklmnop' "expected a name, in bytes, of at most 15, found 16"
check 'dprof-text 1\nclock 0 host=h ghz=1\nthread 7 clock=0 ended=99\nsite 0 kind=region name=x\ne 7 100 0 enter\n' ": thread 7: expected it to have ended at or behind its last event (100), found ended=99"
refused 'thread 1 clock=0 jumps=1' "expected 0 or a stamp above 1 for jumps, found it"
one='dprof-text 1\nclock 0 host=a ghz=1\nprocess 0 clock=0'
check "$one started=1 forked=1 parent=3\n" ":3: expected the number of another process for parent, found 3"
check "$one started=1 forked=1 parent=0\n" ":3: expected the number of another process for parent, found 0"
check "$one forked=1\n" ":3: expected started= beside forked=, found none"
check "$one started=1 unborn=1\n" ":3: expected forked= beside unborn=, found none"
check "$one init_to=1\n" ":3: expected init_from= beside init_to=, found none"
check "$one finished=0 ended=1\n" ":3: expected no ended= beside finished=0, found one"
check "$one marks=some\n" ":3: expected marks=none or marks=unknown, found something else"
refused 'clock 1 host=b ghz=-1' "expected a positive decimal for ghz, found '-1'"
refused 'clock 1 host=b ghz=nan' "expected a positive decimal for ghz, found 'nan'"
refused 'clock 1 host= ghz=1' "expected a name for host and source, found ''"
refused 'site 1 kind=regoin name=x' "expected a kind of site, such as region, found 'regoin'"
refused 'site 1 kind=region name=x line=4294967296' "expected line of at most 4294967295, found 4294967296"
refused 'link 0 1 0' "expected a stamp, found the end of the line"
refused 'link 0 1 0 2 3' "expected key=value, found '3'"
refused "site 1 kind=region name=$(printf 'x%.0s' {1..70000})" "expected name, file and function, in bytes together, of at most 65520, found 70032"
refused 'e 0 100 0 enter\0' "expected text, found a NUL byte"

# What belongs together
refused 'clock 0 host=b ghz=1' "expected each clock once, found clock 0 again"
refused 'thread 0 clock=0' "expected each thread once, found thread 0 again"
refused 'site 0 kind=region name=x' "expected each site once, found site 0 again"
refused 'thread 1 clock=7' "expected the number of a clock declared above, found 7"
refused 'thread 1 clock=0 process=3' "expected the number of a process declared above, found 3"
refused 'group 1 threads=0,9' "expected the number of a thread declared above, found 9"
refused 'group 1 threads=0,,1' "expected threads=N,N,..., found something else between the commas"
refused 'link 0 1 7 2' "expected the number of a clock declared above, found 7"
refused 'process 0 rank=0' "expected 'process' lines before all threads that do not say their process"
check "dprof-text 1\n$good\nclock 1 host=b ghz=1\nthread 1 clock=1 rank=0\n" ":7: expected clock 0 as for the rest of its process, found clock 1"
check 'dprof-text 1\nclock 0 host=a ghz=1\nprocess 0 rank=0\nprocess 1 rank=0\n' ":4: expected each rank once, found rank 0 in another process"
check 'dprof-text 1\nclock 0 host=a ghz=1\nprocess 0 rank=3 size=3\n' ":3: expected a rank below the size, found size 3"
twice='dprof-text 1\nclock 0 host=a ghz=1\nthread 0 clock=0 number=1\nthread 1 clock=0 number=1\n'
check "$twice" ": thread 1: expected a number of its own in its process, found 1 twice"

# Events
refused 'e 1 100 0 enter' "expected the number of a thread declared above, found 1"
refused 'e 0 100 1 enter' "expected the number of a site declared above, found 1"
refused 'e 0 99 0 exit' "expected a stamp of at least 100 (a thread's stamps never go back), found 99"
refused 'e 0 1e3 0 exit' "expected a stamp of at most 64 bits, found '1e3'"
refused 'e 0 100 0 leave' "expected enter, exit or point, found 'leave'"
refused 'e 0 100 0' "expected enter, exit or point, found the end of the line"
refused 'e 0 100 0 exit seqq=1' "expected a key of an event (group seq peer tag bytes id thread role), found 'seqq'"
refused 'e 0 100 0 exit seq=x' "expected a number of at most 64 bits, found 'x'"
refused 'e 0 100 0 exit seq=1 seq=2' "expected each key once, found 'seq'"
refused 'e 0 100 0 exit seq' "expected key=number, found 'seq'"
refused 'lost 0 0' "expected how many records were lost, found 0"
exit $failed

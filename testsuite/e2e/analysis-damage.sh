#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Each way in which a trace directory can be wrong gives its one diagnostic and status 1, and the rest is
# analysed.
. testsuite/lib.sh
cd "$(dirname "$0")/../.." || exit 1
root=$PWD
"$analyze" pack testsuite/fixtures/analysis/job.txt "$dir/job" || exit 1
sites=$(basename "$dir"/job/*.sites)

# The trace in this folder, as it was written before there were counts and sums.
unsummed() {
	for events in ./*.events; do
		printf '\3' | dd of="$events" bs=1 seek=8 conv=notrunc status=none
	done
	sed -i -e '1s/2$/1/' -e '/^sync /d' -e '/^threads /d' -e '/^sum /d' ./*.process
}
cp -r "$dir/job" "$dir/summed"
(cd "$dir/job" && unsummed)
"$analyze" check "$dir/job" >"$dir/out" || { echo "FAILED an old trace: $(cat "$dir/out")"; exit 1; }
fixture=$PWD/testsuite/fixtures/analysis/job.txt

# Copies a trace to $dir/t and damages the copy by the command, which runs there.
damage() { # name trace command...
	rm -rf "$dir/t"
	cp -r "$2" "$dir/t"
	cd "$dir/t" && "${@:3}" || fail "$1: cannot be damaged"
	cd "$root" || exit 1
}

# Compares what dump says of the damaged trace to standard input; "events N" is how many events are left.
damaged() { # name events-left command...
	local name=$1 left=$2 wanted said line events=0
	damage "$name" "$dir/job" "${@:3}"
	"$analyze" dump "$dir/t" >"$dir/out" 2>"$dir/err"
	local status=$?
	mapfile wanted
	wanted=("${wanted[@]/#/dprof-analyze: }")
	wanted=("${wanted[@]//@/$dir/t}")
	wanted=("${wanted[@]/SITES/$sites}")
	mapfile said <"$dir/err"
	[ $status -eq 1 ] && [ "${wanted[*]}" = "${said[*]}" ] ||
		fail "$name: status $status: $(printf '%s' "${wanted[@]}" | diff - "$dir/err")"
	while read -r line; do [[ $line != 'e '* ]] || events=$((events + 1)); done <"$dir/out"
	[ "$events" -eq "$left" ] || fail "$name: $events events are left"
}

poke() { # file offset bytes...
	printf "$3" | dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}

# ---- The directory
damaged 'empty directory' 0 eval 'rm ./*' <<'END'
@: expected a trace (files *.process and *.events), found an empty directory
END
damaged 'foreign directory' 0 eval 'rm ./*; touch a.txt' <<'END'
@: expected a trace (files *.process and *.events), found only other files
END
damaged 'directory of traces' 0 eval 'rm ./*; mkdir dprof-app.7' <<'END'
@: expected a trace, found a directory of traces: name one, such as @/dprof-app.7
END
damaged 'not a directory' 0 eval 'rm -r ../t; echo hello >../t' <<'END'
@: expected a trace directory, found something that is not a directory
END
damaged 'no directory' 0 rm -r ../t <<'END'
@: expected a trace directory, found nothing of that name
END
damaged 'only events' 0 eval 'rm ./*.process' <<'END'
@: expected a file HOST-RANK.process, found none
END
damaged 'no events' 0 eval 'rm ./*.events' <<'END'
@: expected events, found no thread that recorded any
END

# ---- Mixtures
damaged 'two jobs' 15 sed -i 's/^job 42/job 43/' h1-2.process <<'END'
h1-2.process: expected job '42' as in h0-0.process, found '43': is this directory a mixture?
@: expected the process of a host with clockid 1, found none
END

# Nothing relates what is of two jobs: no thread is proved to have waited for the other one, or not to.
apart() { # command...
	"$analyze" "$@" "$dir/t" >"$dir/out" 2>"$dir/err"
	[ $? -eq 1 ] || fail "$* of two jobs: $(cat "$dir/err")"
	! grep -q '[0-9]  *proved' "$dir/out" || fail "$* of two jobs proves something: $(cat "$dir/out")"
}
apart csp
apart waits
apart path
"$analyze" csp --json "$dir/t" 2>"$dir/err" | grep -q '"verdict": *"undecided"' || fail 'nothing is undecided of two jobs'
damaged 'two jobs, and no events of the other' 15 eval 'rm h1-2*.events; sed -i "s/^job 42/job 43/" h1-2.process' <<'END'
h1-2.process: expected job '42' as in h0-0.process, found '43': is this directory a mixture?
@: expected the process of a host with clockid 1, found none
END
apart csp
grep -q '^ *rank 2 .*undecided' "$dir/out" || fail "nothing is said of rank 2: $(cat "$dir/out")"
damaged 'two programs' 21 eval 'sed -i "s/^job 42/job ?/" ./*.process; sed -i "s/app/other/" h1-2.process' <<'END'
h1-2.process: expected program '/home/me/app' as in h0-0.process, found '/home/me/other': is this directory a mixture?
END
# One job may have several.
rm -rf "$dir/t"
cp -r "$dir/job" "$dir/t"
sed -i 's/app/other/' "$dir/t/h1-2.process"
"$analyze" csp "$dir/t" >"$dir/out" 2>&1 || fail "two programs of one job are damage: $(cat "$dir/out")"
tr -s ' \n' ' ' <"$dir/out" | grep -q 'note: the job has several programs: h0-0.process has /home/me/app, and h1-2.process /home/me/other' ||
	fail "two programs of one job: $(cat "$dir/out")"
damaged 'a rank twice' 12 eval 'sed "s/^pid 100/pid 300/" h0-0.process >h7-0.process' <<'END'
h7-0.process: expected each rank once, found rank 0 as in h0-0.process: what both recorded is left out
END
damaged 'another size' 21 sed -i 's/size 3/size 4/' h1-2.process <<'END'
h1-2.process: expected size 3 as in h0-0.process, found 4
END
damaged 'two clocks of one number' 21 sed -i 's/^clockid 1/clockid 0/' h1-2.process <<'END'
h1-2.process: expected a clockid of its own, found 0 as in h0-0.process, on another host
@: expected the process of a host with clockid 1, found none
END

# ---- Missing files
damaged 'missing rank' 15 eval 'rm h0-1*' <<'END'
@: expected the files of 3 ranks, found 2: rank 1 is missing
END
damaged 'missing ranks' 9 eval 'rm h0-1* h1*; sed -i "s/size 3/size 9/" h0-0.process' <<'END'
@: expected the files of 9 ranks, found 1: ranks 1-8 are missing
@: expected the process of a host with clockid 1, found none
END
damaged 'events without process' 15 rm h0-1.process <<'END'
@: expected the files of 3 ranks, found 2: rank 1 is missing
h0-1-0.events: expected the file HOST-RANK.process that it belongs to, found none: its events are left out
END
damaged 'missing sites' 0 eval 'rm ./*.sites' <<'END'
h0-0.process:11: expected the sites of /home/me/app in SITES, found nothing of that name
END
damaged 'a stripped program' 15 sed -i '/^module/d' h1-2.process <<'END'
h1-2-0.events: offset 4104: expected an address in a module of its process, found 0x36b0080000: was the program stripped? (and 5 more like it)
END

# ---- Files of events
damaged 'an empty file' 15 truncate -s 0 h0-1-0.events <<'END'
h0-1-0.events: expected a header of 4096 bytes, found an empty file (0 bytes)
END
damaged 'a cut header' 15 truncate -s 100 h0-1-0.events <<'END'
h0-1-0.events: expected a header of 4096 bytes, found a file that is cut short (100 bytes)
END
damaged 'a cut record' 16 truncate -s 4116 h0-1-0.events <<'END'
h0-1-0.events: offset 4112: expected a word of 8 bytes, found 4: the file is cut short
END
damaged 'a foreign file' 15 eval 'head -c 5000 /bin/sh >h0-1-0.events' <<'END'
h0-1-0.events: offset 0: expected 'dprofev2', found '\x7fELF\x02\x01\x01': no file of events
END
damaged 'another version' 15 poke h0-1-0.events 8 '\x06' <<'END'
h0-1-0.events: offset 8: expected version 5, found 6
END
damaged 'another word size' 15 poke h0-1-0.events 16 '\x10' <<'END'
h0-1-0.events: offset 16: expected word_size 8, found 16
END
damaged 'another thread' 15 poke h0-1-0.events 20 '\x08' <<'END'
h0-1-0.events: offset 20: expected thread 0, found 8
END
damaged 'of another process' 15 poke h0-1-0.events 32 '\x08' <<'END'
h0-1-0.events: offset 32: expected pid 101, found 8
END
damaged 'an operation that goes back' 20 poke h0-1-0.events 4123 '\x08\x00' <<'END' # and was not over yet
h0-1-0.events: offset 4120: expected a stamp from 39000 to 40000, found 8 (3 records are left out)
END
damaged 'a stamp that goes back' 20 poke h0-0-0.events 4171 '\x08\x00' <<'END'
h0-0-0.events: offset 4168: expected a stamp from 40000 to 40020, found 8 (1 record is left out)
END
damaged 'no record' 20 poke h0-1-0.events 4112 '\x0f' <<'END'
h0-1-0.events: offset 4112: expected a record, found 0x985808000f
END
damaged 'an address behind sites' 20 poke h0-1-0.events 4112 '\x12' <<'END'
h0-1-0.events: offset 4112: expected an address in a module of its process, found 0x9858080012: was the program stripped?
END
hole() { # in a thread of 100 points
	rm -r ../t
	{ sed '/^e /d' "$fixture"; seq -f 'e 1 %.0f 2 point' 1001 1100; } | "$analyze" pack - ../t
	dd if=/dev/zero of=../t/h0-0-1.events bs=8 seek=550 count=20 conv=notrunc status=none
	(cd ../t && unsummed)
}
damaged 'a hole' 80 hole <<'END'
h0-0-1.events: offset 4400: expected records, found 0x0 and as much behind it
END

# ---- Process files
damaged 'an empty process file' 15 truncate -s 0 h0-1.process <<'END'
h0-1.process: expected a process file, found an empty file
@: expected the files of 3 ranks, found 2: rank 1 is missing
h0-1-0.events: expected the file HOST-RANK.process that it belongs to, found none: its events are left out
END
damaged 'a damaged process file' 21 sed -i 's/^ghz 2.25/ghz fast/' h0-1.process <<'END'
h0-1.process:7: expected a positive decimal for ghz, found 'fast'
h0-1.process: expected a line 'ghz', found none
END
damaged 'an empty line' 21 sed -i '7G' h0-1.process <<'END'
h0-1.process:8: expected a line, found an empty one
END
damaged 'an unknown line' 21 sed -i 's/^clock tsc/clok tsc/' h0-1.process <<'END'
h0-1.process:8: expected 'clock', found 'clok'
END
damaged 'a foreign process file' 21 sed -i '1s/.*/hello/' h0-1.process <<'END'
h0-1.process:1: expected 'dprof-process 2', found 'hello'
END
damaged 'all killed' 21 eval 'sed -i /^finished/d ./*.process' <<'END'
h0-0.process, h0-1.process, h1-2.process: expected a line 'finished', found none: the processes still run, were killed, called _exit or exec, or lost the right to write here; what they have recorded is here
END
damaged 'killed' 21 sed -i '/^finished/d' h0-1.process <<'END'
h0-1.process: expected a line 'finished', found none: the process still runs, was killed, called _exit or exec, or lost the right to write here; what it has recorded is here
END

unfinished="expected a line 'finished', found none: the process still runs, was killed, called _exit or exec, or lost the right to write here; what it has recorded is here"
damaged 'killed, with room for more lines' 21 eval "sed -i '/^finished/d' h0-1.process; truncate -s 16384 h0-1.process" <<END
h0-1.process: $unfinished
END
damaged 'killed as it wrote a line' 21 eval "sed -i '/^finished/d' h0-1.process; printf '\0ote half\n' >>h0-1.process; truncate -s 16384 h0-1.process" <<END
h0-1.process: $unfinished
END
damaged 'killed, and text behind the room' 21 eval "sed -i '/^finished/d' h0-1.process; truncate -s 4096 h0-1.process; printf '\nnote x\n' >>h0-1.process" <<END
h0-1.process:$(($(wc -l <"$dir/job/h0-1.process"))): expected text, found a NUL byte
h0-1.process: $unfinished
END

damaged 'stopped for long' 15 sed -i '$a stopped 15000 400000000' h0-1.process <<'END'
h0-1-0.events: 14 records are left out: the process was stopped for so long that it is not known whether they stand before that or behind
END
rm -rf "$dir/t" && cp -r "$dir/job" "$dir/t" && echo 'stopped 400000000000 500000000000' >>"$dir/t/h0-1.process"
[ "$("$analyze" dump "$dir/t" | grep -c '^e ')" -eq 21 ] ||
	fail "stopped behind the last event: something is left out"

# ---- Sites and packets
damaged 'changed sites' 0 poke "$sites" 8 '\x0d' <<'END'
SITES: expected the name e0523112ed6667d1.sites that its content gives: it was changed or cut short, and is left out
END
damaged 'damaged sites' 0 poke "$sites" 0 'X' <<'END'
SITES: offset 0: expected a site's magic number, found 0x54495358 (48 of 144 bytes cannot be read)
END
damaged 'cut sites' 0 truncate -s 70 "$sites" <<'END'
SITES: offset 48: expected a site's size: a multiple of 16, from 48, that the file has room for, found 0x54495344 (22 of 70 bytes cannot be read)
END
damaged 'cut packets' 21 truncate -s -10 h0.sync <<'END'
h0.sync: offset 352: expected a record of 64 bytes, found the end after 54
END
damaged 'no packets' 21 truncate -s 0 h0.sync <<'END'
h0.sync: offset 0: expected a header of 160 bytes, found the end
END

# ---- What is lost, missing, cut or foreign, in a trace with counts and sums: every command says so
said() { # name command...
	local line lines count problem='"problems": \[ *"'
	damage "$1" "$dir/summed" eval "$2"
	count=$("$analyze" check "$dir/t" | grep -o '[0-9]* problems\?;')
	for ask in report csp coz clocks 'query count(working)>=1'; do
		"$analyze" ${ask%% *} "$dir/t" ${ask#"${ask%% *}"} >"$dir/out" 2>"$dir/err"
		local status=$?
		read -r line <"$dir/out"
		[ $status -eq 1 ] && [[ $line = "Damaged: ${count%;} "* ]] && [ -s "$dir/err" ] ||
			fail "$1: ${ask%% *}: status $status, expected $count, found $line"
		"$analyze" ${ask%% *} "$dir/t" ${ask#"${ask%% *}"} --json >"$dir/out" 2>"$dir/err"
		mapfile -t lines <"$dir/out"
		[[ ${lines[*]} =~ $problem ]] || fail "$1: ${ask%% *} --json names no problem"
	done
}
said 'no events of a thread' 'rm h0-0-1.events'
said 'no events' 'rm ./*.events'
said 'half of the events' 'truncate -s 4160 h0-1-0.events'
said 'no files of a rank' 'rm h0-1[.-]*'
said 'no packets' 'rm h0.sync'
said 'events of each other' 'mv h0-1-0.events x; mv h1-2-0.events h0-1-0.events; mv x h1-2-0.events'
said 'a process file without its end' "sed -i '\$d' h0-1.process"
said 'the sites of another program' 'head -c 4096 /bin/sh >"$sites"'
for ask in report csp coz clocks 'query count(working)>=1'; do
	"$analyze" ${ask%% *} "$dir/summed" ${ask#"${ask%% *}"} >"$dir/out" && [ -s "$dir/out" ] && ! grep -q '^Damaged' "$dir/out" ||
		fail "${ask%% *}: a whole trace is called damaged: $(cat "$dir/out")"
done
# ---- What counts and sums tell
# Every command names what is wrong, has a line on top that there is something, and ends with status 1.
named() { # what trace diagnostic command...
	local what=$1 trace=$2 diagnostic=$3 command line
	local on_top='^Damaged: [1-9][0-9]* problems? \(dprof-analyze check\); nothing (it|they) may change is proved\.$'
	damage "$what" "$trace" "${@:4}"
	for command in report csp coz clocks query; do
		local words=("$command" "$dir/t")
		[ $command = query ] && words+=('count(region) >= 1')
		"$analyze" "${words[@]}" >"$dir/out" 2>"$dir/commands/$command"
		[ $? = 1 ] || fail "$what: $command: status $?"
		read -r line <"$dir/out"
		[[ $line =~ $on_top ]] || fail "$what: $command: on top $line"
		"$analyze" "${words[@]}" --json 2>/dev/null >"$dir/json/$command"
	done
	all_name "$dir/commands" || fail "$what: not all commands say so: $(head "$dir"/commands/*)"
	jq -r '(input_filename | sub(".*/"; "")) + " " + .problems[]' "$dir"/json/* |
		awk -v to="$dir/problems/" 'BEGIN { while (split("report csp coz clocks query", of) > n) printf "" >(to of[++n]) }
			{ print substr($0, length($1) + 2) >(to $1) }'
	all_name "$dir/problems" || fail "$what: not all commands name it with --json: $(head "$dir"/problems/*)"
}
mkdir "$dir/commands" "$dir/json" "$dir/problems"

all_name() { # folder with a file of each of the five commands
	local naming
	mapfile -t naming < <(grep -l "$diagnostic" "$1"/*)
	[ ${#naming[@]} -eq 5 ]
}

poke_last() { # the byte so far from the end of the file: file offset
	poke "$1" $(($(stat -c %s "$1") - $2)) '\x77'
}

named 'a missing file of events' "$dir/summed" '^\(dprof-analyze: \)\?h0-1-0.events: expected the events of a thread' rm h0-1-0.events
named 'a file of events cut at a word' "$dir/summed" 'h0-1-0.events: ' truncate -s -8 h0-1-0.events
named 'a changed word' "$dir/summed" 'h0-0-0.events: ' poke h0-0-0.events 4160 '\x77'
named 'a changed last word' "$dir/summed" 'h0-0-0.events: ' poke_last h0-0-0.events 8
named 'a changed header' "$dir/summed" 'h0-1-0.events: offset 264: expected the sum' poke h0-1-0.events 56 '\x77'
for ((i = 272; i < 288; i++)); do # when the thread jumped first
	damage "byte $i of a header" "$dir/summed" poke h0-1-0.events $i '\x77'
	"$analyze" check "$dir/t" >"$dir/out" && fail "byte $i of a header: $(cat "$dir/out")"
	grep -q '^h0-1-0.events: offset 264: expected the sum' "$dir/out" || fail "byte $i of a header: $(cat "$dir/out")"
done
named 'a missing file of packets' "$dir/summed" 'h0-0.process: expected the file .*h0.sync.* of packets' rm h0.sync
named 'a missing rank' "$dir/summed" 'expected the files of 3 ranks, found 2: rank 1 is missing' eval 'rm h0-1*'
rm -rf "$dir/t" && cp -r "$dir/summed" "$dir/t" && truncate -s 16384 "$dir/t/h0-1.process" &&
	"$analyze" check "$dir/t" >"$dir/out" ||
	fail "room that was not given back: $(cat "$dir/out")"
named 'a cut process file' "$dir/summed" "h0-1.process: expected a line " sed -i '$d' h0-1.process
named 'a process file cut between lines' "$dir/summed" "h0-1.process: .*'finished', or room for more lines, found the end: the file is cut short" \
	sed -i '/^finished/,$d' h0-1.process
named 'a process file without its sum' "$dir/summed" "h0-1.process: .*'sum', or room for more lines, found the end: the file is cut short" \
	sed -i '/^sum/d; /^group/d' h0-1.process
named 'a process file without its clock' "$dir/summed" "h0-1.process: expected a line 'ghz', found none: what its threads recorded is left out" \
	eval "sed -i '/^ghz/d; /^sum/d' h0-1.process; truncate -s 16384 h0-1.process"
named 'the process file of one that was killed' "$dir/summed" "h0-1.process: expected a line 'finished', found none: .* was killed" \
	eval "sed -i '/^finished/,\$d' h0-1.process; truncate -s 16384 h0-1.process"
named 'an empty line behind the sum of a process file' "$dir/summed" \
	"h0-1.process:[0-9]*: expected the end, which is behind the line 'sum', found another line" eval 'echo >>h0-1.process'
named 'a line behind the sum of a process file' "$dir/summed" \
	"h0-1.process:[0-9]*: expected the end, which is behind the line 'sum', found another line" eval 'echo note x >>h0-1.process'
named 'a changed process file' "$dir/summed" 'h0-1.process: .*: it was changed, and what its threads recorded is left out' \
	sed -i 's/^ghz 2/ghz 1/' h0-1.process

# What cannot be believed is as wide as what is missing: of a process whose file was changed, of the time outside of
# operations where it is unknown whether sites are marks, and of a place whose site another one may be.
ranks() { # intervals of scores, by rank
	"$analyze" csp --json "$dir/t" 2>/dev/null | jq -c "$1"
}
rm -rf "$dir/t" && cp -r "$dir/summed" "$dir/t"
sed -i 's/^rank 1 /rank 2 /; s/^ghz 2/ghz 1/' "$dir/t/h0-1.process"
[ "$(ranks '[.threads[] | select(.rank == 1) | .straggler_percent] | unique')" = '[{"hi":100,"lo":0}]' ] &&
	[ "$(ranks '[.span_s.hi, ([.threads[].verdict] | unique)]')" = '[null,["undecided"]]' ] ||
	fail "a changed process file is believed: $(ranks .)"
rm -rf "$dir/t" && cp -r "$dir/summed" "$dir/t"
(cd "$dir/t" && sed -i '/^ghz/d; /^finished/,$d' h0-1.process && truncate -s 16384 h0-1.process)
[ "$(ranks '[.threads[] | select(.rank == 1) | .straggler_percent] | unique')" = '[{"hi":100,"lo":0}]' ] ||
	fail "a process file without its clock is believed: $(ranks .)"
(cd "$dir/t" && for file in *.process; do sed -i 's/^ghz 2/ghz 1/' "$file"; done)
"$analyze" csp "$dir/t" >"$dir/out" 2>"$dir/err"
[ $? = 1 ] && grep -q '^Nothing is known of this run' "$dir/out" && grep -q 'it was changed' "$dir/err" ||
	fail "of nothing that is believed there is an answer: $(cat "$dir/out")"
printf '%s\n' 'dprof-text 1' 'clock 0 host=h0 ghz=1' 'thread 0 clock=0 rank=0' 'thread 1 clock=0 rank=1' \
	'site 0 kind=region name=a file=x.c line=1' 'site 1 kind=barrier name=b' 'group 1 threads=0,1' \
	'e 0 1000 0 enter' 'e 0 2000 0 exit' 'e 0 9000 1 enter group=1 seq=0' 'e 0 10000 1 exit group=1 seq=0' \
	'e 1 1000 0 enter' 'e 1 2000 0 exit' 'e 1 4000 1 enter group=1 seq=0' 'e 1 10000 1 exit group=1 seq=0' >"$dir/text"

# A process without a rank, whose file is missing or empty, may have done anything; the one that is left waited for it, maybe.
printf '%s\n' 'dprof-text 1' 'clock 0 host=h0 ghz=1' 'process 0 pid=7' 'process 1 pid=8' 'thread 0 clock=0 process=0 number=0' \
	'thread 1 clock=0 process=1 number=0' 'site 0 kind=region name=a file=x.c line=1' 'site 1 kind=wait name=b' \
	'e 0 1000 0 enter' 'e 0 2000 0 exit' 'e 0 9000 1 enter' 'e 0 10000 1 exit' \
	'e 1 1000 0 enter' 'e 1 8000 0 exit' 'e 1 8000 1 enter' 'e 1 10000 1 exit' >"$dir/text"
for damage in 'rm h0-p7.process' 'truncate -s 0 h0-p7.process' 'rm h0-p8.process'; do
	rm -rf "$dir/t" && "$analyze" pack "$dir/text" "$dir/t"
	(cd "$dir/t" && eval "$damage")
	found=$(ranks '[([.threads[] | [.pid, .straggler_percent.lo, .verdict]] | sort), .span_s.hi]')
	[ "$found" = '[[[7,0,"undecided"],[8,0,"undecided"]],null]' ] || fail "$damage: found $found"
done

# A packed chunk that is there again, behind itself, counts once.
rm -rf "$dir/t" && cp -r testsuite/fixtures/analysis/packed-3 "$dir/t"
python3 - "$dir"/t/*.packed <<-'END'
	import sys
	for path in sys.argv[1:]:
	    parts, at = open(path, 'rb').read(), 0
	    with open(path, 'wb') as doubled:
	        while at < len(parts):
	            end = at + 32 + int.from_bytes(parts[at + 28:at + 32], 'little')
	            doubled.write(2 * parts[at:end])
	            at = end
END
"$analyze" dump "$dir/t" >"$dir/out" 2>&1
"$analyze" dump testsuite/fixtures/analysis/packed-3 | cmp -s - "$dir/out" ||
	fail "chunks that are there twice: $(grep -c ^e "$dir/out") events, $(head -3 "$dir/out")"

# Packed chunks of a thread that is not there: it may have done anything as well.
rm -rf "$dir/t" && "$analyze" pack "$dir/text" "$dir/t"
mkfifo "$dir/t/h0-p8-3.packed" "$dir/t/h0-p9-0.packed"
ranks '.problems[], (.threads[] | select(.thread == 3 or .pid == 9) | .straggler_percent)' >"$dir/out"
diff - "$dir/out" <<'END' || fail "packed chunks of nobody: $(cat "$dir/out")"
"h0-p8-3.packed: expected the file h0-p8-3.events of its thread, found none: its events are left out"
"h0-p9-0.packed: expected the file HOST-RANK.process that it belongs to, found none: its events are left out"
{"hi":100,"lo":0}
{"hi":100,"lo":0}
END

for damage in 'rm SITES' 'truncate -s 40 SITES' 'poke SITES 6 \x02'; do
	rm -rf "$dir/t" && "$analyze" pack "$dir/text" "$dir/t"
	(cd "$dir/t" && file=$(echo ./*.sites) && eval "${damage/SITES/$file}")
	found=$(ranks 'has("threads")')
	[ "$found" = false ] || fail "$damage: found $(ranks .)"
done

# ---- As the runtime writes it
export PKG_CONFIG_PATH=$B/lib/pkgconfig
unset DPROF_OFF DPROF_EVENTS
read -r -a flags < <(pkg-config --cflags dprof)
read -r -a libs < <(pkg-config --libs dprof)
gcc -O2 "${flags[@]}" testsuite/fixtures/runtime/loop.c -o "$dir/loop" "${libs[@]}" &&
	gcc -O2 "${flags[@]}" testsuite/fixtures/runtime/kept.c -o "$dir/keep" "${libs[@]}" || exit 1

# A thread of which the only chunk is missing may have been useful all the time, or never.
mkdir "$dir/waits" && (cd "$dir/waits" && DPROF_QUIET=1 "$B/examples/waits_threads" >/dev/null) || fail waits_threads
truncate -s 4096 "$dir"/waits/*/*-0.events
found=$("$analyze" efficiency --json "$dir"/waits/* 2>/dev/null | jq -c '[[.parallel, .load_balance, .communication] | .[] | .lo, .hi]')
[ "$found" = '[0,100,0,100,0,100]' ] || fail "efficiency without the records of a thread: $found"

# The place of a chunk, 4 KiB each, with a seal or without one; or nothing.
place_of() { # file of events, sealed or open
	local at size seal
	size=$(stat -c %s "$1")
	for ((at = 4096; at + 4096 <= size; at += 4096)); do
		[ "$(od -An -tu8 -j "$at" -N8 "$1" | tr -d ' ')" != 0 ] || continue
		seal=$(od -An -tu8 -j $((at + 4080)) -N8 "$1" | tr -d ' ')
		case $2$seal in open0 | sealed[1-9]*) echo "$at" && return ;; esac
	done
}

# Short programs, which the helper is about to look at when they end: nothing of them is called changed.
mkdir "$dir/runs"
for run in {1..20}; do
	rm -rf "$dir"/runs/*
	DPROF_DIR=$dir/runs DPROF_BUFFER=4K "$dir/loop" 2500 >/dev/null || fail 'loop'
	"$analyze" check "$dir"/runs/* >"$dir/out"
	grep -q ', [1-9][0-9]* events$' "$dir/out" || fail "run $run: check says $(cat "$dir/out")"
	grep -q 'expected the sum\|expected chunk\|changed' "$dir/out" && fail "run $run: $(cat "$dir/out")"
done

# One without a helper: its full chunks stay as they were recorded.
mkdir "$dir/kept"
DPROF_DIR=$dir/kept DPROF_BUFFER=4K "$dir/keep" 2500 || fail 'kept'
mv "$dir"/kept/* "$dir/recorded"
place=$(place_of "$dir"/recorded/*-0.events sealed)
[ -n "$place" ] || { echo 'FAILED a full chunk was packed'; exit 1; }
file=$(basename "$dir"/recorded/*-0.events)
"$analyze" check "$dir/recorded" >"$dir/out"
grep -q ' [1-9][0-9]* events' "$dir/out" && ! grep -q "$file" "$dir/out" || fail 'the recorded trace is damaged'
named 'a word in the middle of a full chunk' "$dir/recorded" "$file: offset $place" poke "$file" $((place + 2000)) '\x77'

# What a thread records behind its process's end is in no sum: beside damage it is not believed. Here, an event long
# after the end, and a word that is none.
mkdir "$dir/short"
DPROF_DIR=$dir/short "$dir/loop" >/dev/null || fail 'loop'
short=$(echo "$dir"/short/*)
events=$(basename "$short"/*-0.events)
behind=$((4096 + 8 * $(od -An -tu8 -j 248 -N8 "$short/$events")))
site=$(sed -n 's/^module .*at=0x\([0-9a-f]*\) .*\/loop$/\1/p' "$short"/*.process)
word() { # hexadecimal: the bytes of it, as poke wants them
	printf '%16s\n' "$1" | tr ' ' 0 | fold -w2 | tac | sed 's/^/\\x/' | tr -d '\n'
}
splice() { # file: a wide ENTER of the program's first site, and a word of no kind that there is
	poke "$1" $behind "$(word 9)$(word 4000000000000000)$(word "$site")$(word a0f)"
}
named 'spliced words' "$short" "$events: offset $behind: expected whole records behind the end of the process" splice "$events"
run=$("$analyze" report --json "$short" | jq -c .span_s)
[ "$("$analyze" report --json "$dir/t" 2>/dev/null | jq -c --argjson run "$run" '.span_s | .lo <= $run.hi and (.hi == null or .hi >= $run.lo)')" = true ] ||
	fail "spliced words are believed: the run took $run"
"$analyze" dump "$dir/t" 2>/dev/null | grep '^e ' >"$dir/out"
"$analyze" dump "$short" | grep '^e ' | diff - "$dir/out" || fail 'spliced words: other events'

# The child of a fork leaves regions that it never entered: nothing is missing then of one more exit, but that it is not
# later than the last.
cat >"$dir/child.c" <<'END'
#include <sys/wait.h>
#include <unistd.h>
int main(void)
{
#pragma dprof region(outer)
	if (fork() == 0) {
#pragma dprof region(inner)
		usleep(1000);
	}
	wait(NULL);
	return 0;
}
END
gcc -O2 "${flags[@]}" "$dir/child.c" -o "$dir/child" "${libs[@]}" || exit 1
mkdir "$dir/forked"
DPROF_DIR=$dir/forked "$dir/child" || fail 'child'
forked=$(echo "$dir"/forked/*)
events=$(basename "$(grep -l forked=1 "$forked"/*.process)" .process)-0.events
again() { # file, how many words behind its last: that word once more
	local last=$((4096 + 8 * $(od -An -tu8 -j 248 -N8 "$1") - 8))
	dd if="$1" of="$1" bs=1 count=8 skip=$last seek=$((last + 8 * $2)) conv=notrunc status=none
}
for words in 1 2 10; do
	named "the last word again, $words words on" "$forked" "$events: offset [0-9]*: expected whole records behind the end" \
		again "$events" $words
done

# A parent says which of its children had files when they were, or it was, over, and a child whose it is: nobody is
# forgotten of whom all files are gone. Children that execute something else, or are killed at once, have none, and are
# not missed.
cat >"$dir/family.c" <<'END'
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static void work(int ms)
{
#pragma dprof region(work)
	usleep(1000 * ms);
}
int main(void)
{
	siginfo_t over;
	pid_t child;
	int ready[2];
	if (fork() == 0) {
		if (fork() == 0)
			work(5);
		_exit(0);
	}
	if (fork() == 0) {
		work(30);
		exit(0);
	}
	if (fork() == 0)
		execl("/bin/true", "true", (char *)0);
	if ((child = fork()) == 0)
		pause();
	kill(child, SIGKILL);
	if (system("true") || waitid(P_PID, (id_t)child, &over, WEXITED | WNOWAIT))
		return 1;
	while (wait(NULL) > 0)
		;
	if (system("cat \"$DPROF_DIR\"/*/*.process | grep -ac '^child ' >\"$DPROF_DIR.said\"") || pipe(ready))
		return 1;
	if (fork() == 0) {
		work(1);
		return 0;
	}
	close(ready[1]);
	usleep(50000);
	return read(ready[0], ready, 1) != 0; /* that child is over, and nobody waited for it */
}
END
gcc -O2 "${flags[@]}" "$dir/family.c" -o "$dir/family" "${libs[@]}" || exit 1
mkdir "$dir/related"
DPROF_DIR=$dir/related "$dir/family" || fail 'family'
related=$(echo "$dir"/related/*)
[ "$(cat "$dir/related.said")" = 2 ] || fail "family: expected two children before the end, found $(cat "$dir/related.said")"
"$analyze" check "$related" >"$dir/out" && grep -q '5 processes' "$dir/out" || fail "family: $(cat "$dir/out")"
[ "$(cat "$related"/*.process | grep -ac '^child ')" -ge 3 ] || fail "family: expected three children: $(cat "$related"/*.process)"
remove() { rm "$1".* "$1"-*; }
unproved() { # who is missing
	"$analyze" csp "$dir/t" --json 2>/dev/null | jq -e '[.. | .proved? | select(. == true)] == []' >/dev/null ||
		fail "$1: something is proved of who works alone: $("$analyze" csp "$dir/t")"
}
parent=$(basename "$(grep -aL forked=1 "$related"/*.process)" .process)
for stem in $(sed -n 's/^child //p' "$related/$parent.process"); do
	named "all files of $stem" "$related" "$parent.process: expected the files of the process .*$stem.*, its child, found none" remove "$stem"
	unproved "$stem"
done
named 'all files of the parent' "$related" "expected the files of the process .*$parent.*, from which it was forked, found none" remove "$parent"
unproved "$parent"

# A process that becomes another program, or fails to, sums up what its file says until then.
cat >"$dir/becomes.c" <<'END'
#include <unistd.h>
int main(void)
{
#pragma dprof region(work)
	usleep(1000);
	execl("/nowhere", "nowhere", (char *)0);
	return execl("/bin/true", "true", (char *)0);
}
END
gcc -O2 "${flags[@]}" "$dir/becomes.c" -o "$dir/becomes" "${libs[@]}" || exit 1
mkdir "$dir/another"
DPROF_DIR=$dir/another "$dir/becomes" || fail 'becomes'
another=$(echo "$dir"/another/*)
"$analyze" check "$another" >"$dir/out" || fail "a process that became another program: $(cat "$dir/out")"
process=$(basename "$another"/*.process)
named 'another rate of what became another program' "$another" "$process: expected [0-9]* bytes with the sum .*it was changed" \
	sed -i 's/^ghz /ghz 1/' "$process"
# What its threads' headers say has none: counts of the kernel that may be anybody's are not believed.
counted=$(basename "$another"/*-0.events)
run=$("$analyze" report --json "$another" | jq -c 'del(.trace)')
cp -r "$another" "$dir/counted"
begun=$(od -An -tx8 -j 48 -N8 "$another/$counted" | tr -d ' ')
poke "$dir/counted/$counted" 104 "$(for n in $begun $begun 1000 2000 3 4 f; do word $n; done)"
[ "$("$analyze" report --json "$dir/counted" | jq -c 'del(.trace)')" = "$run" ] ||
	fail "counts that no sum vouches for are believed"

# However much that is, the chunk in which the thread was last has no sum: that is no damage. But none before it may be
# missing, and beside damage it is not believed.
cat >"$dir/on.c" <<'END'
void behind(void (*)(void));
static void visit(void)
{
	static volatile int n;
	for (int i = 0; i < 5000; i++) {
#pragma dprof region(body)
		n = i;
	}
}
int main(void)
{
	visit();
	behind(visit);
	return 0;
}
END
cat >"$dir/behind.c" <<'END'
static void (*function)(void);
void behind(void (*f)(void)) { function = f; }
static void __attribute__((destructor)) end(void) { function(); }
END
# libbehind stands last, so its destructor runs behind that of libdprof.
gcc -shared -fPIC "$dir/behind.c" -o "$dir/libbehind.so" && gcc -O2 "${flags[@]}" "$dir/on.c" -o "$dir/on" \
	"${libs[@]}" -L"$dir" -lbehind -Wl,-rpath,"$dir" || exit 1
mkdir "$dir/far"
DPROF_DIR=$dir/far DPROF_EVENTS=region DPROF_BUFFER=4K "$dir/on" || fail 'on'
far=$(echo "$dir"/far/*)
events=$(basename "$far"/*-0.events)
"$analyze" check "$far" >"$dir/out" && grep -q ' 20000 events' "$dir/out" || fail "far behind the end: $(cat "$dir/out")"
place=$(place_of "$far/$events" open)
[ -n "$place" ] || { echo 'FAILED no chunk was left open'; exit 1; }
named 'another number of an open chunk' "$far" "$events: expected chunk [0-9]* here or in" poke "$events" $((place + 3)) '\x77'
grep -q "$events: offset [0-9]*: expected whole records behind the end of the process" "$dir/commands/query" ||
	fail "records behind the end are believed beside damage: $(cat "$dir/commands/query")"

# For a process that is alone nobody waits; nor surely for one beside which there may be others.
fixture=testsuite/fixtures/analysis/coz-two-threads.txt
sed 's/^e 1 7700000000 2 exit$/lost 1 1/' "$fixture" | "$analyze" pack - "$dir/alone" && "$analyze" pack "$fixture" "$dir/whole" || fail "alone: not packed"
"$analyze" csp --json "$dir/whole" | jq -e '.ranks[0].alone_s == { lo: 0, hi: 0 }' >"$dir/out" || fail "alone: $(cat "$dir/out")"
"$analyze" csp --json "$dir/alone" 2>"$dir/err" | jq -c '.ranks[0]' >"$dir/out"
jq -e '.alone_s.lo == 0 and .verdict == "undecided"' "$dir/out" >"$dir/held" || fail "alone, and some of it lost: $(cat "$dir/out")"
exit $failed

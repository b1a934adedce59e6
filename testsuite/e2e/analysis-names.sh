#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Whatever bytes the names in a trace are, of regions, files, functions, hosts, programs, threads, jobs,
# notes and files: what the commands print is UTF-8 of printable characters, what they print with --json is
# JSON, `wörk` stays wörk, and dump and pack lose nothing.
. testsuite/lib.sh

# ESC [ 31 m, BEL, a C1 control, an override of direction, a byte that is no UTF-8, line feed, wörk
bad='%1B[31m%07%C2%9B%E2%80%AE%FF%0A'
cat >"$dir/text" <<END
dprof-text 1
clock 0 host=${bad}hwörk ghz=1 source=mono$bad
clock 1 host=h1$bad ghz=1
process 0 clock=0 rank=0 size=2 program=/p$bad/wörk job=job$bad
process 1 clock=1 rank=1 size=2 program=/p$bad/wörk job=job$bad
thread 0 clock=0 rank=0 process=0 number=0 name=%1B%07%C2%9B%FF%0A
thread 1 clock=1 rank=1 process=1 number=0
group 1 threads=0,1
site 0 kind=region name=wörk$bad file=/dir/file$bad.c line=12 function=fun$bad
site 1 kind=barrier name=MPI_Barrier file=ä$bad.c line=20
site 2 kind=progress name=step$bad file=a.c line=30
site 3 kind=region name=ääääääääääääääääääääääääääääääääääääääääääääääääää file=xööööööööööööööööööööö.c line=1
link 0 1000 1 5000
link 1 6000 0 3000
link 0 9000 1 12000
link 1 13000 0 10000
note something$bad%20to%20know
e 0 2000 0 enter
e 0 4000 0 exit
e 0 4100 2 point
e 0 4200 1 enter group=1 seq=0
e 0 4300 1 exit
e 0 4400 0 enter
e 1 4900 3 enter
e 1 5900 3 exit
e 1 6000 1 enter group=1 seq=0
e 1 7300 1 exit
END

# Names of 10,000 characters are cut in the middle, and no command to copy has them: nothing is wider than a terminal.
long=$(printf 'x%.0s' {1..10000})
printf '%s\n' 'dprof-text 1' "clock 0 host=$long ghz=1" "process 0 rank=0 size=2 program=$long" "process 1 rank=1 size=2 program=$long" \
	'thread 0 clock=0 rank=0 process=0 number=0' 'thread 1 clock=0 rank=1 process=1 number=0' 'group 1 threads=0,1' \
	"site 0 kind=region name=$long file=$long.c line=12345" "site 1 kind=barrier name=$long file=$long.c line=20" \
	'e 0 2000 0 enter' 'e 0 4000 0 exit' 'e 0 4200 1 enter group=1 seq=0' 'e 0 7300 1 exit' \
	'e 1 2000 0 enter' 'e 1 7000 0 exit' 'e 1 7100 1 enter group=1 seq=0' 'e 1 7300 1 exit' >"$dir/long"
"$analyze" pack "$dir/long" "$dir/longs" || fail "long names are refused"
for command in report 'report -v' csp 'csp --frames' coz waits path 'path -v' efficiency profile 'profile --calls' diagnose clocks; do
	# shellcheck disable=SC2086
	(cd "$dir" && "$analyze" $command longs >wide 2>/dev/null)
	fits_80 "$dir/wide" || fail "$command: a line is wider than 80 columns"
done

# Nor are names of characters that take two columns each, or none. (A region of 30 columns, a file of 14, a program of
# 16, a host of 8.)
{
	printf '%s\n' 'dprof-text 1' 'clock 0 host=ホスト ghz=1' 'clock 1 host=🚀🔥 ghz=1' 'link 0 1000 1 5000' 'link 1 5400 0 1500' \
		'process 0 clock=0 rank=0 size=2 program=並列プログラム' 'process 1 clock=1 rank=1 size=2 program=並列プログラム' \
		'thread 0 clock=0 rank=0 process=0 number=0' 'thread 1 clock=1 rank=1 process=1 number=0' 'group 1 threads=0,1' \
		'site 0 kind=region name=計算領域の中で一番長い仕事をする file=ファイル.c line=12' 'site 1 kind=barrier name=MPI_Barrier file=ファイル.c line=1234' \
		'site 2 kind=region name=🚀🚀🚀%20é́́́é́́é́́🔥🔥 file=ファイル.c line=13'
	for round in {0..9}; do
		for rank in 0 1; do
			at=$((2000 + 1000000 * round + 4000 * rank))
			echo "e $rank $at 0 enter"
			echo "e $rank $((at + 300000 + rank * 500000)) 0 exit"
			echo "e $rank $((at + 800010)) 2 enter"
			echo "e $rank $((at + 850000)) 2 exit"
			echo "e $rank $((at + 850000)) 1 enter group=1 seq=$round"
			echo "e $rank $((at + 860000)) 1 exit"
		done
	done
} >"$dir/wide-text"
"$analyze" pack "$dir/wide-text" "$dir/wide-trace" || fail "wide names are refused"
for command in report 'report -v' 'report --plain' csp coz waits path efficiency profile 'profile --calls' diagnose clocks; do
	# shellcheck disable=SC2086
	(cd "$dir" && "$analyze" $command wide-trace 2>/dev/null)
done >"$dir/pages"
"$analyze" query --sql "SELECT '並列' AS 並, 1 AS 計 UNION ALL SELECT 'x', 2" "$dir/wide-trace" >>"$dir/pages"
python3 - "$dir/pages" <<'END' || failed=1
import sys, unicodedata
def width(text):
    return sum(0 if unicodedata.category(c) == "Mn" else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)
lines = open(sys.argv[1], encoding="utf-8").read().split("\n")
wide = [line for line in lines if width(line) > 80]
rows = [line for line in lines if line.lstrip().startswith(("並列 ", "x  "))]
ends = {width(row) for row in rows}
if wide or len(lines) < 200 or len(rows) != 2 or len(ends) != 1:
    sys.exit(f"FAILED: of {len(lines)} lines wider than 80 columns: {wide}; rows of a table: {rows}")
END

# What each command says is kept, to be looked at in the end, in files of a number each.
mkdir "$dir/said"
n=0
run() { # command arguments...
	n=$((n + 1))
	said=$dir/said/$n
	echo "$*" >"$said.what"
	"$analyze" "$@" >"$said.out" 2>"$said.err"
}

both() { # command arguments...
	run "$@"
	[ -s "$said.out" ] || [ -s "$said.err" ] || fail "$*: says nothing"
	run "$@" --json
	mv "$said.out" "$said.json"
	[ -s "$said.json" ] || [ -s "$said.err" ] || fail "$*: no JSON, and no reason"
}

all() { # directory
	both report "$1"
	both csp "$1" --frames
	both csp "$1" --instances "wörk"
	both coz "$1"
	both query "$1" "count(barrier) == threads-1"
	both query "$1" "count($'\e') == 1"
	both query "$1" --sql $'select 1 as "\e[31m"'
	both clocks "$1"
	both check "$1"
	both dump "$1"
	run dump "$1" --bounds
}

"$analyze" pack "$dir/text" "$dir/t" || exit 1
all "$dir/t"
"$analyze" report "$dir/t" 2>&1 | grep -q 'wörk\\x1b\[31m\\x07' || fail 'wörk is not there, or what follows it is not shown'
"$analyze" dump "$dir/t" >"$dir/dumped" 2>/dev/null
grep -q 'name=wörk%1B\[31m%07%C2%9B%E2%80%AE%FF%0A' "$dir/dumped" || fail "$(grep '^site 0' "$dir/dumped")"
"$analyze" pack "$dir/dumped" "$dir/again" && "$analyze" dump "$dir/again" 2>/dev/null | cmp - "$dir/dumped" ||
	fail 'dump and pack lose something'

# ---- Names of files, and diagnostics about them
esc=$'\e[31m\a\xc2\x9b\xff\n'
hostile=$dir/"trace$esc"
cp -r "$dir/t" "$hostile"
printf 'bad%s\nrank \e x\nmodule at=1 sites=\e\xff.sites path=\e\n' "$esc" >>"$hostile/$(cd "$hostile" && ls *0.process)"
for suffix in sync process events packed sites; do
	echo "x$esc" >"$hostile/x$esc.$suffix"
done
all "$hostile"
for command in diff path efficiency; do
	both "$command" "$dir/t" "$hostile"
done
run "$hostile$esc"
run "$esc" "$hostile"
run pack "$hostile/x$esc.sync" "$hostile/out"
printf 'dprof-text 1\nclock 0 host=\e ghz=\e\n' >"$dir/bad$esc"
run pack "$dir/bad$esc" "$hostile/out"
mkdir "$dir/empty" "$dir/empty/dprof-$esc"
run "$dir/empty"

python3 - "$dir/said" $n <<'END' || failed=1
import json, os, sys, unicodedata
failed = 0
for n in range(1, int(sys.argv[2]) + 1):
    name = f"{sys.argv[1]}/{n}"
    what = open(name + ".what", errors="backslashreplace").read()
    for suffix in ".out", ".json", ".err":
        if not os.path.exists(name + suffix):
            continue
        data = open(name + suffix, "rb").read()
        try:
            text = data.decode("utf-8")
            bad = [c for c in text if unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp", "Cs") and c != "\n"]
            if bad:
                raise ValueError(f"{bad[:5]}: {text[:2000]!r}")
            if suffix == ".json" and text:
                json.loads(text)
        except ValueError as why:
            print(f"FAILED: {what!r} {suffix}: {why}")
            failed = 1
sys.exit(failed)
END
exit $failed

#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The command line: help and version on stdout with status 0; wrong usage on stderr with status 2 and what
# was probably meant; the bare command is the report.
. testsuite/lib.sh

about() { head -5 "$dir/out" "$dir/err"; }

run() { # arguments...
	"$analyze" "$@" >"$dir/out" 2>"$dir/err" </dev/null
}

good() { # pattern-in-stdout arguments...
	local pattern=$1
	shift
	run "$@" || fail "dprof-analyze $*: status $?"
	grep -qE -- "$pattern" "$dir/out" || fail "dprof-analyze $*: expected /$pattern/"
	[ ! -s "$dir/err" ] || fail "dprof-analyze $*: expected nothing on stderr"
}

wrong() { # diagnostic arguments...
	local diagnostic=$1
	shift
	run "$@"
	local status=$?
	[ $status -eq 2 ] || fail "dprof-analyze $*: status $status"
	local said
	read -r said <"$dir/err"
	[ "$said" = "dprof-analyze: $diagnostic" ] || fail "dprof-analyze $*: expected '$diagnostic'"
	[ ! -s "$dir/out" ] || fail "dprof-analyze $*: expected nothing on stdout"
}

"$analyze" pack testsuite/fixtures/analysis/job.txt "$dir/t" || exit 1
t=$dir/t

good '^Usage: .*DIR' --help
cp "$dir/out" "$dir/help"
good '' -h
cmp -s "$dir/help" "$dir/out" || fail '-h is not --help'
sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p' "$dir/help" >"$dir/commands"
sed -n '/^Commands:/,/^$/p' "$dir/help" | grep '^[^ C]' && fail "a command's line is longer than 80 columns"
[ "$(wc -l <"$dir/commands")" -ge 12 ] || fail "$(cat "$dir/help")"
good '^dprof-analyze [0-9]' --version

# Each command has help of its own, with an example that names it; what it lists it understands, and nothing else.
manual=docs/dprof-analyze.1.scd
options() { sed -n 's/^ *-[a-zA-Z], --\([a-z-]*\).*/\1/p' "$@" | grep -vE '^(help|version)$' | sort -u; }
general=$(options "$dir/help")
while read -r command; do
	good "^Usage: dprof-analyze .*$command " "$command" --help
	grep -qE "^  dprof-analyze ($command|dprof-app)" "$dir/out" || fail "$command --help: no example"
	cp "$dir/out" "$dir/help-$command"
	grep -q "^\*$command\*" $manual || fail "the manual page lacks $command"
	help=$(<"$dir/out")
	for option in $general; do
		[[ $help =~ --$option($|[^a-z-]) || $command =~ ^(pack|sites)$ ]] || fail "$command --help: expected --$option"
	done
done <"$dir/commands"
for file in "$dir"/help*; do
	fits_80 "$file" || fail "$(basename "$file") is wider than 80 columns"
done
all=$(options "$dir"/help-*)
[ "$(wc -w <<<"$all")" -ge 22 ] || fail "options: $all"
for option in $all; do
	grep -qE -- "\*-[a-zA-Z]\*, \*--$option\*" $manual || fail "the manual page lacks --$option"
done
# With a value or without, whichever it takes.
refuses() { # command option
	local value said
	for value in =1 =all =affine =tsc ''; do
		run "$1" "--$2$value" "$dir/none"
		read -r said <"$dir/err"
		[ "$said" = "dprof-analyze: $1 has no option --$2" ] && return
	done
	return 1
}
for command in csp check pack sites; do
	its=" $(options "$dir/help-$command" | tr '\n' ' ')"
	for option in $all; do
		listed=0 refused=0
		[[ $its != *" $option "* ]] || listed=1
		! refuses "$command" "$option" || refused=1
		[ $listed -ne $refused ] || fail "$command --$option: listed in its help: $listed, refused: $refused"
	done
done
good 'rank 1' "$t"
"$analyze" "$t" >"$dir/bare"
good '' report "$t"
cmp -s "$dir/bare" "$dir/out" || fail 'the bare command is not the report'
good '' "$t" --json
good '^.*fine: 2 hosts, 3 processes, 4 threads, 21 events, 4 links between clocks$' check "$t"
good '"verdict": "fine"' check --json "$t"
good '^dprof-text 1$' dump "$t"
good '^e 3 54000 1 exit group=1 seq=1 \[[0-9]+,[0-9]+\]$' dump --bounds "$t"
good '^e 3 54000 1 exit group=1 seq=1 \[54000,54001\]$' dump --bounds --base h1 "$t"
good '' clocks --clock-model affine "$t"
for drift in 10=10 8.2=8.2 0.001=0.001 0.0014=0.002 0.0001=0.001; do # no less is assumed than was asked for
	good "\"model\": \"drift:${drift#*=}\"" clocks --json --clock-model "drift:${drift%=*}" "$t"
done
good '' csp --work body --wait MPI_Barrier "$t"
good '"directory": ' pack --json testsuite/fixtures/analysis/job.txt "$dir/json"
good '"op": "enter"' dump --json --bounds "$t"
cp -r "$t" "$dir/dump"
(cd "$dir" && "$analyze" dump >out 2>err) || fail 'a directory that is called like a command'
(cd "$dir" && "$analyze" ./t/ >out 2>err) || fail 'a slash at the end'

wrong 'expected a trace directory, such as dprof-app.1234'
wrong "there is no command 'reprot': did you mean report?" reprot "$t"
wrong "there is no command 'effi': did you mean efficiency?" effi "$t"
wrong "there is no command 'frobnicate'" frobnicate "$t"
wrong 'there is no option --jsno: did you mean --json?' --jsno "$t"
wrong 'there is no option --clock-modle: did you mean --clock-model?' "$t" --clock-modle=affine
wrong 'there is no option --frobnicate' --frobnicate "$t"
wrong 'check: expected a trace directory behind the command' check
wrong "there is no command 'reprot': did you mean report?" "$t" reprot
wrong "expected a trace directory, found nothing of the name '$t/x'" csp "$t" "$t/x"
wrong "expected a trace directory, found '$analyze', which is none" csp "$t" "$analyze"
wrong "--html: expected the file to write, such as report.html, and behind it the trace directory; found only $t" report --html "$t"
wrong "audit: expected the file of another tool's trace, found the directory $t; a trace of dprof's own needs no audit: dprof-analyze check" \
	audit "$t"
wrong '--work: expected the name of a region of this trace, such as body; found "MPI_Barrier", which is an operation' \
	csp --work MPI_Barrier "$t"
wrong '--work: expected the name of a region of this trace, such as body; found "nothing"' csp --work nothing "$t"
wrong '--wait: expected the name of a region or site of this trace, such as MPI_Barrier; found "MPI_Barier"' \
	csp --wait MPI_Barier "$t"
wrong '--from: expected --to as well; found "x"' coz --from x "$t"
wrong '--to: expected --from as well; found "x"' coz --to x "$t"
wrong '--progress: expected either this or --from and --to; found "x"' coz --progress x --from y --to z "$t"
wrong 'pack: expected a text file (or -) and the directory to make' pack "$t"
wrong "there is no command 'a'" a b c d
wrong 'check has no option --bounds' check --bounds "$t"
wrong 'pack has no option --base' pack --base h0 - "$dir/u"
for model in linear drift drift: drift:0 drift:-1 drift:x drift:1e9 drift:nan; do
	wrong "--clock-model: expected affine or drift:PPM (0 < PPM < 1000000), found '$model'" --clock-model "$model" "$t"
done
wrong '--base: expected a host of the trace, such as h0; found "h2"' clocks --base h2 "$t"

"$analyze" "$dir/nowhere" csp >"$dir/out" 2>&1 && fail 'a directory that is not there'
grep -q "nowhere: expected a trace directory, found nothing of that name" "$dir/out" || fail "DIR csp, no DIR: $(cat "$dir/out")"

# A command may stand behind the directory, and some have two names.
same() { # words that mean the same as those of the output before
	run "$@"
	[ -s "$dir/out" ] && cmp -s "$dir/before" "$dir/out" || fail "dprof-analyze $*: another answer than in the usual order"
}
run csp "$t" && cp "$dir/out" "$dir/before"
same "$t" csp
same "$t" stragglers
same stragglers "$t"
run coz --json "$t" && cp "$dir/out" "$dir/before"
same "$t" whatif --json
same "$t" coz --json
run query "$t" 'count(barrier) == 1' && cp "$dir/out" "$dir/before"
same "$t" query 'count(barrier) == 1'

# Of several directories the newest one, which is said.
cp -r "$t" "$dir/new" && touch -d '2001-02-03 04:05:06' "$t"
for words in "$t $dir/new" "$dir/new $t" "csp $dir/new $t" "$t $dir/new csp" "$t $dir/new $t $t csp"; do
	# shellcheck disable=SC2086
	run $words || fail "dprof-analyze $words: status $?"
	[ "$(cat "$dir/err")" = "dprof-analyze: of $(grep -o "$dir/[tn]" <<<"$words" | wc -l) directories this is the newest: $dir/new" ] ||
		fail "dprof-analyze $words: expected $dir/new"
done
run query "$t" "$dir/new" 'count(barrier) == 1'
grep -q "newest: $dir/new" "$dir/err" || fail "query: expected $dir/new"

# What the user gave is shown as it may be on a terminal.
for words in "csp --work @" "csp --wait @" "csp --instances @" "csp --base @" "coz --region @" "coz --reduce @" "coz --rank @"; do
	run ${words/@/$'\e]0;x\a'} "$t"
	[ $? -ne 0 ] && [ -s "$dir/err" ] && ! grep -q $'[\e\a]' "$dir/err" || fail "$words: $(cat -v "$dir/err")"
done

run pack testsuite/fixtures/analysis/job.txt "$t"
[ $? -eq 1 ] && grep -q 'expected a name that is free, found one that exists' "$dir/err" || fail 'pack overwrites'
run pack /nonexistent "$dir/u"
[ $? -eq 1 ] && grep -q '/nonexistent: cannot be read: No such file' "$dir/err" || fail 'pack of nothing'
run pack testsuite/fixtures/analysis/job.txt /nonexistent/t
[ $? -eq 1 ] && grep -q 'cannot be written: No such file' "$dir/err" || fail 'pack to nowhere'
"$analyze" dump "$t" >/dev/full 2>"$dir/err"
[ $? -eq 1 ] && grep -q 'the output cannot be written: No space' "$dir/err" || fail 'a full disk'
exit $failed

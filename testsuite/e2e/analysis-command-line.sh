#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The command line: help and version on stdout with status 0; wrong usage on stderr with status 2 and what
# was probably meant; the bare command is the report.
set -u
: "${B:?the build folder}"
export LC_ALL=C
analyze=$B/bin/dprof-analyze
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
failed=0

complain() {
	echo "FAILED $*"
	head -5 "$dir/out" "$dir/err"
	failed=1
}

run() { # arguments...
	"$analyze" "$@" >"$dir/out" 2>"$dir/err" </dev/null
}

good() { # pattern-in-stdout arguments...
	local pattern=$1
	shift
	run "$@" || complain "dprof-analyze $*: status $?"
	grep -qE -- "$pattern" "$dir/out" || complain "dprof-analyze $*: expected /$pattern/"
	[ ! -s "$dir/err" ] || complain "dprof-analyze $*: expected nothing on stderr"
}

wrong() { # sentence arguments...
	local sentence=$1
	shift
	run "$@"
	local status=$?
	[ $status -eq 2 ] || complain "dprof-analyze $*: status $status"
	[ "$(head -1 "$dir/err")" = "dprof-analyze: $sentence" ] || complain "dprof-analyze $*: expected '$sentence'"
	[ ! -s "$dir/out" ] || complain "dprof-analyze $*: expected nothing on stdout"
}

"$analyze" pack testsuite/fixtures/analysis/job.txt "$dir/t" || exit 1
t=$dir/t

good '^Usage: .*DIR' --help
for command in report csp clocks check dump pack; do
	good "^  $command " --help
done
good '^dprof-analyze [0-9]' --version
good 'rank 1' "$t"
"$analyze" "$t" >"$dir/bare"
good '' report "$t"
cmp -s "$dir/bare" "$dir/out" || complain 'the bare command is not the report'
good '' "$t" --json
good '^.*fine: 2 hosts, 3 processes, 4 threads, 21 events, 4 links between clocks$' check "$t"
good '"verdict": "fine"' check --json "$t"
good '^dprof-text 1$' dump "$t"
good '^e 3 54000 1 exit group=1 seq=1 \[[0-9]+,[0-9]+\]$' dump --bounds "$t"
good '^e 3 54000 1 exit group=1 seq=1 \[54000,54001\]$' dump --bounds --base h1 "$t"
good '' clocks --clock-model affine "$t"
good '' csp --work body --wait MPI_Barrier "$t"
good '"directory": ' pack --json testsuite/fixtures/analysis/job.txt "$dir/json"
good '"op": "enter"' dump --json --bounds "$t"
cp -r "$t" "$dir/dump"
(cd "$dir" && "$analyze" dump >out 2>err) || complain 'a directory that is called like a command'
(cd "$dir" && "$analyze" ./t/ >out 2>err) || complain 'a slash at the end'

wrong 'expected a trace directory'
wrong "there is no command 'reprot': did you mean report?" reprot "$t"
wrong "there is no command 'frobnicate'" frobnicate "$t"
wrong 'there is no option --jsno: did you mean --json?' --jsno "$t"
wrong 'there is no option --clock-modle: did you mean --clock-model?' "$t" --clock-modle=affine
wrong 'there is no option --frobnicate' --frobnicate "$t"
wrong 'check: expected a trace directory behind the command' check
wrong 'check: expected one trace directory, found several' check "$t" "$t"
wrong "expected one trace directory, found several: '$t', '$t'; analyse one at a time" "$t" "$t"
wrong "expected one trace directory, found several: '$t', '$t', ...; analyse one at a time" "$t" "$t" "$t" "$t"
wrong '--from: expected --to as well; found "x"' coz --from x "$t"
wrong '--to: expected --from as well; found "x"' coz --to x "$t"
wrong '--progress: expected either this or --from and --to; found "x"' coz --progress x --from y --to z "$t"
wrong 'pack: expected a text file (or -) and the directory to make' pack "$t"
wrong "expected at most a command and its arguments, found 'd' as well" a b c d
wrong 'check has no option --bounds' check --bounds "$t"
wrong 'pack has no option --base' pack --base h0 - "$dir/u"
for model in linear drift drift: drift:0 drift:-1 drift:x drift:1e9 drift:nan; do
	wrong "--clock-model: expected affine or drift:PPM (0 < PPM <= 1000000), found '$model'" --clock-model "$model" "$t"
done
wrong '--base: expected a host of the trace, such as h0; found "h2"' clocks --base h2 "$t"

run pack testsuite/fixtures/analysis/job.txt "$t"
[ $? -eq 1 ] && grep -q 'expected a name that is free, found one that exists' "$dir/err" || complain 'pack overwrites'
run pack /nonexistent "$dir/u"
[ $? -eq 1 ] && grep -q '/nonexistent: cannot be read: No such file' "$dir/err" || complain 'pack of nothing'
run pack testsuite/fixtures/analysis/job.txt /nonexistent/t
[ $? -eq 1 ] && grep -q 'cannot be written: No such file' "$dir/err" || complain 'pack to nowhere'
"$analyze" dump "$t" >/dev/full 2>"$dir/err"
[ $? -eq 1 ] && grep -q 'the output cannot be written: No space' "$dir/err" || complain 'a full disk'
exit $failed

#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Two ends that share one clock must find offset 0 and rate 0 inside their bounds: over loopback and, for
# root, between two hosts in network namespaces. And what goes wrong is said, with the right status.
. testsuite/lib.sh
freezer=$B/bin/freezer
work=$dir
set_of_hosts=
server=

cleanup() {
	[ -n "$server" ] && kill "$server" 2>/dev/null
	[ -n "$set_of_hosts" ] && testsuite/hosts.sh down "$set_of_hosts"
	rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 143' TERM INT HUP

# Until FILE says what matches, but at most 10 s: the server may come to run late.
until_said() { # PATTERN FILE
	for _ in $(seq 200); do
		grep -q "$1" "$2" && return
		sleep 0.05
	done
	return 1
}

# start SERVE... : runs it in the background; $port is where it answers
start() {
	: >"$work/serve" # of an earlier one
	"$@" >"$work/serve" 2>"$work/serve-said" &
	server=$!
	until_said '^answering on port' "$work/serve" || fail "no port: $*"
	port=$(sed -n 's/^answering on port \([0-9]*\);.*/\1/p' "$work/serve")
}

stop() {
	kill "$server"
	wait "$server" || fail "serve ended with status $?"
	server=
	grep -q '^answered [0-9]*, dropped 0$' "$work/serve" || fail "serve said: $(tail -n 1 "$work/serve")"
}

# field NAME END: the lo or hi of an interval in the JSON
field() {
	sed -n "s/.*\"$1\":{[^}]*\"$2\":\([-+.e0-9]*\).*/\1/p" "$work/json"
}

# truth WHERE MEASURE...: 0 lies inside, each time, and not just because the bounds are wide
truth() {
	local where=$1
	shift
	one_of_six is_narrow "$where" "$@" || fail "$where: the bounds are wide: $(cat "$work/json")"
	echo "$where: width $(sed -n 's/.*"width_s":{\([^}]*\)}.*/\1/p' "$work/json")"
}
is_narrow() {
	local where=$1 name
	shift
	status_of 0 "$@"
	cp "$work/out" "$work/json"
	for name in offset_s rate_ppm; do
		is_true "$(field $name lo) <= 0 && $(field $name hi) >= 0 && $(field $name hi) > $(field $name lo)" ||
			fail "$where: 0 is not in $name: $(cat "$work/json")"
	done
	is_true "$(field width_s max) > 0 && $(field width_s max) < 0.001"
}

status_of() { # EXPECTED COMMAND...
	local expected=$1
	shift
	"$@" >"$work/out" 2>"$work/err"
	[ $? -eq "$expected" ] || fail "'${*#"$B"/}' should end with status $expected: $(cat "$work/err")"
}

key=000102030405060708090a0b0c0d0e0f
start "$freezer" serve --bind 127.0.0.1 --port 0 --key $key
status_of 0 "$freezer" measure "127.0.0.1:$port" --for 500ms --key $key
grep -q '^  offset   \[.*\] s' "$work/out" || fail "text: $(cat "$work/out")"
truth loopback "$freezer" measure "127.0.0.1:$port" --for 500ms --key $key --json
if command -v gnuplot >/dev/null; then
	status_of 0 "$freezer" measure "127.0.0.1:$port" "127.0.0.1:$port" --for 300ms --key $key --plot
	[ "$(grep -c 'less its mean rate' "$work/out")" -eq 2 ] || fail "two pictures on the terminal: $(cat "$work/out")"
	status_of 0 "$freezer" measure "127.0.0.1:$port" --for 300ms --key $key --json --plot="$work/picture.svg"
	grep -q '</svg>' "$work/picture.svg" && grep -q 'at most' "$work/picture.svg" || fail "no picture in a file"
fi
status_of 0 "$freezer" measure "127.0.0.1:$port" --for 300ms --key $key --drift 0 --json
grep -q '"drift_ppm":0' "$work/out" || fail "--drift 0: $(cat "$work/out")"
stop

start "$freezer" serve --bind 127.0.0.1 --port 0
status_of 1 "$freezer" measure "127.0.0.1:$port" --for 10ms --key $key
grep -q '^  no answer: no .freezer serve. there, or one with another --key$' "$work/out" || fail "another key: $(cat "$work/out")"
until_said '^freezer: packets with another --key than ours' "$work/serve-said" ||
	fail "another key: serve says $(cat "$work/serve-said")"
kill "$server"
wait "$server"
server=
grep -q '^answered 0, dropped [1-9]' "$work/serve" || fail "another key: $(tail -n 1 "$work/serve")"

status_of 0 "$freezer" --help
grep -q measure "$work/out" || fail "--help says nothing on stdout"
status_of 0 "$freezer" -h
grep -q measure "$work/out" || fail "-h is not --help"
status_of 0 "$freezer" --version
for command in measure serve cores; do
	status_of 0 "$freezer" $command --help
	mv "$work/out" "$work/help"
	status_of 0 "$freezer" $command -h
	cmp -s "$work/help" "$work/out" || fail "$command -h is not --help"
done
status_of 2 "$freezer"
status_of 2 "$freezer" thaw
status_of 2 "$freezer" measure
status_of 2 "$freezer" measure --for never 127.0.0.1
status_of 2 "$freezer" measure --drift none 127.0.0.1
status_of 2 "$freezer" measure --plot --json 127.0.0.1
status_of 2 "$freezer" measure --plot=picture.txt 127.0.0.1
grep -q "expected a name that ends in .png or .svg, found 'picture.txt'" "$work/err" || fail "--plot: $(cat "$work/err")"
touch "$work/there.svg"
status_of 2 "$freezer" measure "--plot=$work/there.svg" 127.0.0.1
grep -q "there.svg is there already: name another, or remove it" "$work/err" || fail "--plot: $(cat "$work/err")"
status_of 1 "$freezer" measure 127.0.0.1:99999
grep -q "expected a port from 1 to 65535, found '99999'" "$work/err" || fail "a port: $(cat "$work/err")"
"$freezer" cores >/dev/full 2>"$work/err" && fail "cores: a full device is not noticed"
grep -q "standard output cannot be written: No space left on device" "$work/err" || fail "cores: $(cat "$work/err")"
status_of 2 "$freezer" serve --key 12
grep -q "expected 32 hexadecimal digits, found '12'" "$work/err" || fail "--key: $(cat "$work/err")"
status_of 1 "$freezer" serve --bind 192.0.2.1
status_of 2 "$freezer" cores 1
# What is said to have begun has begun: not before a host answers that is stopped at first; but nobody waits long for
# one that never does. That is 2 s: in these who has a core answers.
delay_ms() { # PROCESS...: for which they have waited for a core
	local pid all=0 delay
	for pid; do
		read -r _ delay _ 2>/dev/null <"/proc/$pid/schedstat" && all=$((all + delay / 1000000))
	done
	echo $all
}
start "$freezer" serve --bind 127.0.0.1 --port 0
kill -STOP "$server"
for late in yes no; do
	rm -f "$work/log"
	"$freezer" measure "127.0.0.1:$port" --for 60s --log="$work/log" >"$work/out" 2>"$work/err" &
	measuring=$!
	for _ in $(seq 200); do [ -e "$work/log" ] && break; sleep 0.05; done
	sleep 0.5
	delay=$(delay_ms "$server" "$measuring")
	if [ $late = yes ]; then
		! grep -q begun "$work/err" || fail "begun before the host has answered: $(cat "$work/err")"
		kill -CONT "$server"
	fi
	until_said begun "$work/err" || fail "never begun: $(cat "$work/err")"
	not=$(grep -c 'begun; .* may begin, but not that of 127.0.0.1:[0-9]*, whose clocks have not all answered$' "$work/err")
	[ $late,"$not" = yes,0 ] || [ $late,"$not" = no,1 ] || { [ $late = yes ] && [ $(($(delay_ms "$server" "$measuring") - delay)) -ge 500 ]; } ||
		fail "stopped, answers at last: $late: $(cat "$work/err")"
	kill "$measuring"
	wait "$measuring"
	kill -STOP "$server"
done
kill -CONT "$server"
stop

# Where cores are busy for all of the time that it takes, they are not compared, which the status says.
compares() { # PATTERN option...: whether it does; with status 1 it has said of some core that it could not
	local status pattern=$1
	shift
	"$freezer" cores "$@" >"$work/out" 2>"$work/err"
	status=$?
	[ $status = 0 ] && { grep -q "$pattern" "$work/out" || fail "cores $*: $(cat "$work/out")"; return; }
	[ $status = 1 ] && grep -q 'too busy to be compared\|"core":[0-9]*}' "$work/out" ||
		fail "cores $*: status $status: $(cat "$work/out" "$work/err")"
	return 1
}
one_of_six compares '^Any stamp of [0-9]* cores* is within [0-9]* ticks' || fail "cores: $(cat "$work/out")"
one_of_six compares '"halfwidth_ticks":[0-9]*,"compared":'$(($(nproc) - 1)) --json || fail "cores: $(cat "$work/out")"

set_of_hosts=$(testsuite/hosts.sh up 2 2>/dev/null)
if [ -n "$set_of_hosts" ]; then
	start testsuite/hosts.sh exec "$set_of_hosts" 1 "$freezer" serve --port 0
	truth "between namespaces" testsuite/hosts.sh exec "$set_of_hosts" 0 "$freezer" measure "10.77.0.2:$port" --for 500ms --json
	stop
fi
exit $failed

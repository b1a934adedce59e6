#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Packets between hosts while the program runs: they come, at the pace and between the hosts that
# DPROF_SYNC_* says; the thread behind them does not disturb and survives a fork; and what a killed job had
# measured is there.
command -v mpicc >/dev/null && [ -e "$B/lib/libdprof-openmpi.so" ] || { echo "no MPI here"; exit 77; }
. testsuite/lib.sh
export PKG_CONFIG_PATH=$B/lib/pkgconfig
# shellcheck disable=SC2046
mpicc -O2 $(pkg-config --cflags dprof) testsuite/fixtures/runtime/sleeper.c -o "$dir/sleeper" \
	$(pkg-config --libs dprof) || exit 1
cat >"$dir/as-host" <<'END'
#!/bin/sh
export DPROF_HOST=h$OMPI_COMM_WORLD_RANK
exec "$@"
END
chmod +x "$dir/as-host"
cd "$dir" || exit 1

job() { # ranks arguments...: each rank a host of its own
	local n=$1
	shift
	rm -rf dprof-*
	timeout 60 mpirun --allow-run-as-root --oversubscribe --bind-to none --quiet --mca mpi_yield_when_idle 1 -n "$n" \
		./as-host ./sleeper "$@" >out 2>err
}

runs() {
	job "$@" || fail "$*: exit status $?: $(head -3 err)"
	[ ! -s out ] && [ ! -s err ] || fail "$*: printed $(head -3 out err)"
}

links() { # all links of the trace, as: FROM SENT TO RECEIVED
	"$analyze" dump dprof-* 2>why | sed -n 's/^link //p'
}

# What the runtime has to say, but for what is true of any busy machine.
notes() { grep -h '^note' dprof-*/*.process | grep -v -e '^note not%20all%20cores' -e '^note host%20[^ ]*%20answered%20only' \
	-e '^note host%20[^ ]*%20did%20not%20answer%20at%20the%20start' -e '^note two%20modules%20have%20sites'; }

# Who has no core for all of the start is not asked again before the end, which is noted.
unanswered() { grep -h '^note host%20[^ ]*%20did%20not%20answer%20at%20the%20start' dprof-*/*.process; }
answered() {
	runs "$@"
	! unanswered
}

# How many packets left clock 0 in the middle of the time between its first and its last.
in_the_middle() {
	links | awk '$1 == 0 { t[n++] = $2 - (first = first ? first : $2) }
		END { for (i in t) if (t[i] > t[n-1] * 0.2 && t[i] < t[n-1] * 0.8) middle++; print middle + 0 }'
}

# How many packets left clock 0 between the fork of its first thread and MPI_Finalize.
behind_the_fork() {
	"$analyze" dump dprof-* 2>why |
		awk '$1 == "site" { name[$2] = $4 } $1 == "thread" && $3 == "clock=0" && thread == "" { thread = $2 }
		$1 == "e" && $2 == thread && $5 == "exit" && name[$4] == "name=fork" { from = $3 }
		$1 == "e" && $2 == thread && $5 == "enter" && name[$4] == "name=MPI_Finalize" { to = $3 }
		$1 == "link" && $2 == 0 { t[n++] = $3 }
		END { for (i in t) if (t[i] > from && t[i] < to) behind++; print from && to ? behind + 0 : "no fork" }'
}

pairs() { links | awk '{ print ($1 < $3 ? $1 "-" $3 : $3 "-" $1) }' | sort -u -V | tr '\n' ' '; }

# ---- They come, at the pace that was asked for
export DPROF_SYNC_INTERVAL=20ms
all_the_time() { answered 2 1 && [ "$(in_the_middle)" -ge 40 ]; }
one_of_six all_the_time || fail "expected packets all the time, found $(in_the_middle) in the middle"
grep -q '^packets run exchanges=[1-9]' dprof-*/h0-0.process || fail "no line 'packets run': $(grep packets dprof-*/*.process)"
for phase in start run end; do
	grep -q "^packets $phase .* forged=0 stale=[0-9]* ns=[1-9]" dprof-*/h1-1.process ||
		fail "the answering side: no line 'packets $phase'"
done
notes && fail "notes where all is well"
for host in h0-0 h1-1; do
	grep -q "^cores halfwidth=[0-9]* pairs=$(($(nproc) - 1))$" dprof-*/$host.process ||
		grep -q '^note not%20all%20cores' dprof-*/$host.process ||
		fail "$host: the cores were not compared: $(grep '^cores' dprof-*/$host.process)"
done

DPROF_SYNC_INTERVAL=0 runs 2 1
[ "$(in_the_middle)" -eq 0 ] || fail "DPROF_SYNC_INTERVAL=0, and packets in the middle"
grep -hq '^packets run' dprof-*/*.process && fail "DPROF_SYNC_INTERVAL=0, and a line 'packets run'"

# ---- The thread: asleep, deaf to signals, on loopback where all hosts are this machine; then another job that
# binds where it is told. A fork leaves it alone.
with_a_fork() {
	rm -f looked
	job 2 1.2 fork looked &
	running=$!
	for _ in $(seq 100); do
		threads=$(grep -ls '^dprof-freezer$' /proc/[0-9]*/task/*/comm 2>/dev/null | while read -r comm; do
			[ "$(readlink "${comm%/task/*}/exe")" = "$dir/sleeper" ] && echo "${comm%/comm}"; done)
		[ "$(echo "$threads" | grep -c .)" -eq 2 ] && break
		sleep 0.05
	done
	for t in $threads; do
		grep -q '^SigBlk:.*fffffffe7ffbfeff$' "$t/status" || fail "signals reach the thread: $(grep SigBlk "$t/status")"
	done
	[ -n "$threads" ] || fail "no thread dprof-freezer"
	if command -v ss >/dev/null; then
		ss -Huanp 2>/dev/null | grep -E "$(sed 's|.proc.\([0-9]*\).*|pid=\1,|' <<<"$threads" | paste -sd'|')" | awk '{ print $4 }' >bound
		[ "$(grep -c '^127.0.0.1:' bound)" -eq 2 ] && ! grep -qv '^127.0.0.1:' bound ||
			fail "expected sockets on loopback, found $(cat bound)"
	fi
	ports=$(sed -n 's/^127.0.0.1:\([0-9]*\)$/\1/p' bound 2>/dev/null)
	for port in $ports; do # one who does not have the key
		for i in 1 2 3; do echo "let me in $i" >"/dev/udp/127.0.0.1/$port"; done 2>/dev/null
	done
	touch looked
	wait $running || fail "with a fork: exit status $?: $(head -3 err)"
	! unanswered
}
one_of_six with_a_fork || fail "with a fork: $(unanswered)"
[ "$(behind_the_fork)" -ge 5 ] || fail "a fork ends the measuring: $(behind_the_fork)"
if [ -n "$ports" ]; then
	grep -q '^packets \(run\|end\) .* forged=3 ' dprof-*/h1-1.process ||
		fail "forged packets were not counted: $(grep -h '^packets' dprof-*/*.process)"
	"$analyze" clocks dprof-* >out
	grep -q '3 forged' out && grep -q '^note: packets without the job.s key' out ||
		fail "clocks does not say what was dropped: $(cat out)"
fi

# ---- Who asks whom
export DPROF_SYNC_INTERVAL=50ms
while read -r topology files wanted; do
	DPROF_SYNC_TOPOLOGY=$topology one_of_six answered 6 0.3 || fail "$topology: $(unanswered)"
	[ "$(pairs)" = "$wanted " ] || fail "$topology: expected pairs $wanted, found $(pairs)"
	[ "$(cd dprof-* && echo *.sync)" = "${files//,/ }" ] || fail "$topology: expected $files, found $(ls dprof-*/*.sync)"
	[ "$(grep -l '^packets run exchanges=[1-9]' dprof-*/*.process | wc -l)" -eq "$(echo dprof-*/*.sync | wc -w)" ] ||
		fail "$topology: who keeps a log, asks: $(grep -h '^packets run' dprof-*/*.process)"
	notes && fail "$topology: notes"
done <<'END'
star h0.sync 0-1 0-2 0-3 0-4 0-5
tree:2 h0.sync,h1.sync,h2.sync 0-1 0-2 1-3 1-4 2-5
mesh h0.sync,h1.sync,h2.sync,h3.sync,h4.sync 0-1 0-2 0-3 0-4 0-5 1-2 1-5 2-3 3-4 4-5
END

# ---- Packets of another run are none of this one, though it was between the same hosts, and as many
unset DPROF_SYNC_INTERVAL
runs 2 0.1
rm -rf before && mv dprof-* before
sleep 1 # what is measured within 0.4 s behind a process's end may be its own
runs 2 0.1
"$analyze" check dprof-* >out 2>&1 || fail "check: $(cat out)"
for swapped in before dprof-*; do
	rm -rf mixed && cp -r before mixed
	[ $swapped != before ] || { rm -rf mixed && cp -r dprof-* mixed; }
	cp "$swapped"/h0.sync mixed
	"$analyze" csp mixed >out 2>err && fail "packets of another run: exit status 0"
	grep -Eq '^dprof-analyze: h0.sync: (.* expected packets of this run, .* is this directory a mixture|expected [0-9]* records, as .* says, found)' err ||
		fail "packets of another run: $(cat err)"
done
export DPROF_SYNC_INTERVAL=50ms

# ---- What cannot be understood is said; interfaces and networks may be named
DPROF_SYNC_INTERVAL=soon DPROF_SYNC_TOPOLOGY=knot DPROF_SYNC_BIND=nowhere runs 2 0.1
for name in INTERVAL TOPOLOGY BIND; do
	grep -hq "^note DPROF_SYNC_$name" dprof-*/h0-0.process || fail "no note about DPROF_SYNC_$name"
done
DPROF_SYNC_INTERVAL=soon DPROF_SYNC_TOPOLOGY=knot DPROF_SYNC_BIND=nowhere FREEZER_CLOCK=sundial runs 1 0.1
for name in DPROF_SYNC_INTERVAL DPROF_SYNC_TOPOLOGY DPROF_SYNC_BIND FREEZER_CLOCK; do
	[ "$(cat dprof-*/*.process | grep -c "^note $name%20is%20not")" -ge 1 ] || fail "one host: no note about $name"
done
binds() { # WHERE; who gets no core in time does not answer
	DPROF_SYNC_BIND=$1 runs 2 0.1
	grep -hq '^packets start exchanges=[1-9]' dprof-*/h0-0.process && ! notes
}
for where in lo 127.0.0.0/8 127.0.0.1; do
	one_of_six binds $where || fail "DPROF_SYNC_BIND=$where: $(grep -h '^packets\|^note' dprof-*/*.process)"
done

# ---- A job that is killed leaves what it had measured, undamaged
DPROF_SYNC_INTERVAL=10ms job 2 1.5 die
"$analyze" check dprof-* >check
grep -q '\.sync' check && fail "the log of a killed job is damaged: $(cat check)"
run=$(links | awk '$1 == 0 { if (!first) first = $2; last = $2 } END { printf "%d\n", (last - first) / 1e6 }')
ghz=$(sed -n 's/^ghz //p' dprof-*/h0-0.process)
is_true "$run / $ghz > 300" || fail "of a killed job: packets of the first $run million ticks"

[ "$failed" = 0 ] && echo "as expected"
exit "$failed"

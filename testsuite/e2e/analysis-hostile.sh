#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Whatever stands in a trace directory under the names of its files, each command comes to an end, in
# bounded time of a processor and bounded memory, with status 1, and says what it has found.
. testsuite/lib.sh
cd "$(dirname "$0")/../.." || exit 1
"$analyze" pack testsuite/fixtures/analysis/job.txt "$dir/job" || exit 1
sites=$(basename "$dir"/job/*.sites)

# The sanitizers reserve addresses without end.
memory=$([ -n "${SAN:-}" ] && echo unlimited || echo 1000000)

bounded() { # command...
	(ulimit -t 60 -v "$memory"; exec timeout 300 "$@")
}

commands=(report csp coz "query count(barrier)==threads-1" clocks check dump)
each_command_says() { # name diagnostic [command...]
	local name=$1 diagnostic=$2 command status words
	shift 2
	for command in "${@:-${commands[@]}}"; do
		read -r -a words <<<"$command"
		bounded "$analyze" "${words[0]}" "$dir/t" "${words[@]:1}" >"$dir/out" 2>"$dir/err" </dev/null
		status=$?
		[ $status -eq 1 ] || fail "$name: $command: status $status: $(tail -1 "$dir/err")"
		grep -qF -e "$diagnostic" "$dir/out" "$dir/err" ||
			fail "$name: $command does not say '$diagnostic' but: $(head -c 500 "$dir/err")"
	done
}

hostile() { # name diagnostic how [command...]
	local name=$1 diagnostic=$2 how=$3
	shift 3
	rm -rf "$dir/t"
	cp -r "$dir/job" "$dir/t"
	(cd "$dir/t" && eval "$how") || fail "$name: cannot be made"
	each_command_says "$name" "$diagnostic" "$@"
}

# ---- What is no file
socket() {
	python3 -c 'import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])' "$1"
}
for file in h0.sync h0-0.process h0-1-0.events h0-1-0.packed "$sites"; do
	case $file in
	*.packed) commands_for=(check report) ;;
	*) commands_for=("${commands[@]}") ;;
	esac
	hostile "FIFO $file" 'found a FIFO' "rm -f $file; mkfifo $file" "${commands_for[@]}"
	hostile "directory $file" 'found a directory' "rm -f $file; mkdir $file" check
	hostile "socket $file" 'found a socket' "rm -f $file; socket $file" check
	hostile "device $file" 'found a device' "rm -f $file; ln -s /dev/zero $file" check
	hostile "circle $file" 'symbolic links' "rm -f $file; ln -s $file $file" check
done

# A link to a file is a file.
cp "$dir/job/h0-1-0.events" "$dir/elsewhere"
rm -rf "$dir/t" && cp -r "$dir/job" "$dir/t" && ln -sf "$dir/elsewhere" "$dir/t/h0-1-0.events"
"$analyze" check "$dir/t" >"$dir/out" 2>&1 || fail "a symbolic link: $(cat "$dir/out")"

# ---- Files of any size
hostile 'sparse .sync' 'what follows is left out' 'truncate -s 100G h0.sync' check csp
hostile 'sparse .process' 'found a line that is far too long' 'truncate -s 3G h0-0.process' check csp
hostile 'a long line' 'found a line that is far too long' \
	'head -c 50000000 /dev/zero | tr "\0" x >>h0-0.process' check
hostile 'sparse .sites' 'found a file that is far too big' "truncate -s 100G $sites" check csp
hostile 'sparse .packed' 'expected packed records' 'truncate -s 100G h0-1-0.packed' check csp
hostile 'sparse .packed with something at its end' 'expected packed records' \
	'truncate -s 100G h0-1-0.packed; echo end >>h0-1-0.packed' check

# A sparse .events file is what a thread leaves that took much room and used little.
rm -rf "$dir/t" && cp -r "$dir/job" "$dir/t" && truncate -s 100G "$dir/t/h0-1-0.events"
bounded "$analyze" check "$dir/t" >"$dir/out" 2>&1 || fail "sparse .events: $(cat "$dir/out")"
hostile 'sparse .events of many places' 'expected the number of a chunk' \
	'truncate -s 100G h0-1-0.events; printf 12345678 >>h0-1-0.events
	 printf "\0\0\0\0\100\0\0\0\0\0\0\0\100\0\0\0" | dd of=h0-1-0.events bs=1 seek=88 conv=notrunc status=none' \
	check csp
hostile 'sparse .events with something at its end' 'expected records, found no end of zeros' \
	'sed -i "1s/2\$/1/; /^sum /d; /^threads /d" h0-1.process; printf "\3" | dd of=h0-1-0.events bs=1 seek=8 conv=notrunc status=none; truncate -s 100G h0-1-0.events; printf 12345678 >>h0-1-0.events' check csp

# ---- Many of all
hostile 'a million bad lines' 'what follows is left out' 'yes bad | head -1000000 >>h0-0.process' check
hostile 'a million lines' 'h0-0.process' \
	'sed -i "/^sum /d" h0-0.process; seq -f "group %.0f ranks=0,1" 100 600000 >>h0-0.process
	 seq -f "note n%.0f" 400000 >>h0-0.process; echo bad >>h0-0.process' check csp
hostile 'many files of packets' 'expected at most 64 files of packets, found another one' \
	'sed -i "/^sum /d" h0-0.process; seq -f "sync f%.0f" 1000000 >>h0-0.process' check
hostile 'many notes' 'expected at most 10000 notes, found another one' 'sed -i "/^sum /d" h0-0.process; seq -f "note n%.0f" 1000000 >>h0-0.process' check
hostile 'many modules' 'modules' 'sed -i "/^sum /d" h0-0.process; seq -f "module at=0x%.0f0 sites=none" 1000000 1100000 >>h0-0.process' check
hostile 'many files' 'expected the file HOST-RANK.process that it belongs to' \
	'seq -f "x%.0f-0.events" 30000 | xargs touch; seq -f "other%.0f" 30000 | xargs touch' check

exit $failed

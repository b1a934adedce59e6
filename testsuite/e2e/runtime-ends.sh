#!/bin/bash
# SPDX-License-Identifier: MIT
#
# However a process begins or ends, whatever it closes and whichever right it gives up: it prints and returns what
# it does without us, and each of its events is in the trace or counted as lost, which dprof-analyze says.
. testsuite/lib.sh
trap 'mountpoint -q "$dir/tiny" && umount "$dir/tiny"; rm -rf "$dir"' EXIT
chmod 755 "$dir"
export DPROF_EVENTS=-io,-sleep # whatever is lost is one of the program's regions
with=
source=testsuite/fixtures/runtime/ends.c
gcc -Wall -Wextra -Wno-unknown-pragmas -O1 -pthread $source -o "$dir/bare" || exit 1
"$B/bin/dprof-cc" -Wall -Wextra -O1 -pthread $source -o "$dir/ends" || exit 1
cd "$dir" || exit 1

# Runs the program in a folder of its own; what it says, how it ends and what it leaves in `file`.
run() { # program, commands before it ("" for none), way
	rm -rf run && mkdir run && chmod 777 run
	(
		cd run && export DPROF_DIR=${dprof_dir:-$PWD}
		(eval "$2 exec $with ../$1 $3") >../out 2>../err
		echo "status $?" >>../out
		[ "$3" != daemon ] || for ((i = 0; i < 200; i++)); do [ -e file ] && break; sleep 0.05; done
	) 2>/dev/null # "Killed", says the shell
	cat err >>out
	[ ! -e run/file ] || od -c run/file >>out
	mv out "said-$1"
}
# For each thread that recorded, events of the region in pairs; and what was lost.
recorded() {
	for trace in run/dprof-*; do
		"$analyze" dump "$trace" 2>>problems
	done | awk '$1 == "dprof-text" { file++ } $1 == "site" { name[file, $2] = $4 }
		$1 == "thread" && match($0, / lost=[0-9]+/) { lost += substr($0, RSTART + 6, RLENGTH - 6) }
		$1 == "e" && name[file, $4] == "name=work" { n[file, $2]++ }
		END { for (t in n) { all += n[t]; if (!lost) print n[t] / 2 } if (lost) print all + lost, "with lost" }' | sort -n | tr '\n' ' '
}
ends() { # way, what is recorded, the problem that is told ("" for none, or any), commands before it
	local what="$1${4:+ ($4)}"
	run bare "${4:-}" "$1"
	run ends "${4:-}" "$1"
	cmp -s said-bare said-ends || fail "$what: $(diff said-bare said-ends)"
	: >problems
	found=$(recorded)
	[ "$found" = "$2 " ] || fail "$what: expected $2, found $found"
	if [ "$3" = any ]; then
		return
	elif [ "$3" ]; then
		grep -qF -- "$3" problems || fail "$what: expected to hear \"$3\", found $(cat problems)"
	else
		[ ! -s problems ] || fail "$what: $(cat problems)"
	fi
}
open_end="expected a line 'finished', found none: the process still runs, was killed, called _exit or exec"
ends fork "10 20" ""
ends silence 10 ""
[ "$(cat run/dprof-ends.*/*.process | grep -ac "^finished ")/$(grep -alx "started [0-9]* forked=1 parent=[^ ]*" run/dprof-ends.*/*.process | wc -l)" = 3/2 ] ||
	fail "silence: expected the parent and the two children that did not execute something: $(ls run/dprof-ends.*)"
ends vfork 20 ""
ends vfork-first 20 ""
ends spawn "10 20" ""
ends clone 20 ""
ends exec "10 10" ""
ends return 10 ""
ends much 300010 ""
ends pthread_exit "10 10" ""
ends _exit 10 ""
ends exit_group 10 ""
ends thread_exit "10 10" "$open_end"
ends last_exit 10 "$open_end"
ends quick_exit 10 ""
ends abort 10 "$open_end"
ends sigkill 10 "$open_end"
ends daemon "10 10" ""
ends closing 600010 ""
ends opening 300010 ""
ends unshare 600010 ""
ends syscall 600010 ""
ends opening 300010 "" "exec <&- >&- 2>&-;"

# ---- DPROF_OFF=1: for programs that the kernel kills if anything but they themselves asks it ----------------
# shellcheck disable=SC2046
gcc -Wall -Wextra -O1 -shared -fPIC "$OLDPWD/testsuite/fixtures/runtime/confine.c" -o confine.so \
	$(PKG_CONFIG_PATH=$B/lib/pkgconfig pkg-config --libs dprof) || exit 1
"$B/bin/dprof-cc" -O2 -pthread -w "$OLDPWD/testsuite/fixtures/runtime/left-calls.c" -o left-calls || exit 1
"$B/bin/dprof-cc" -O2 -w -c "$OLDPWD/testsuite/fixtures/runtime/jumps.c" -o jumps.o &&
	"$B/bin/dprof-c++" -O2 -U_FORTIFY_SOURCE -pthread "$OLDPWD/testsuite/fixtures/runtime/jump-ways.cc" jumps.o -o ways || exit 1
confined="LD_PRELOAD=$dir/confine.so"
(env "$confined" ./ends return >said 2>&1) 2>said-shell && fail "confine.so: the kernel lets dprof record: $(cat said)"
for way in return fork silence vfork spawn clone exec pthread_exit thread_exit _exit quick_exit daemon unshare; do
	run bare "" $way
	run ends "DPROF_OFF=1 $confined" $way
	cmp -s said-bare said-ends || fail "DPROF_OFF=1, confined: $way: $(diff said-bare said-ends)"
done
for program in "left-calls stack" "ways nested-jump"; do
	env DPROF_OFF=1 "$confined" ./$program >said 2>&1 || fail "DPROF_OFF=1, confined: $program: exit status $?"
done

# ---- no room, or no right: what is lost is counted -----------------------------------------------------------
lost() { # way, how many records there were, commands before it
	ends "$1" "$2 with lost" any "${3:-}"
	"$analyze" check run/dprof-* >check
	[ $? = 1 ] && grep -Eq "^process [0-9]+ on .*, thread 0: expected all records, found [0-9]+ dropped" check ||
		fail "$1 ${3:-}: check says $(cat check)"
}
lost sigxfsz 600020
lost seccomp 600020
lost much 600020 "ulimit -f 200;"
lost narrowing 600020
if [ "$(id -u)" = 0 ]; then
	lost setuid 600020
	lost chroot 600020
	mkdir tiny && if mount -t tmpfs -o size=1m none tiny; then
		dprof_dir=$dir/tiny run ends "" much
		"$analyze" check tiny/dprof-* >check
		grep -Eq "thread 0: expected all records, found [0-9]+ dropped: the disk is full: set DPROF_DIR to another$" check || fail "a full disk: check says $(cat check)"
	fi
	# A program that has more rights than its user writes nothing where its user says.
	cp ends more && chmod u+s more
	with="setpriv --reuid=65534 --clear-groups" run more "" return
	[ "$(cat said-more)" = "status 3" ] || fail "setuid program: $(cat said-more)"
	[ -z "$(ls run)" ] || fail "a setuid program wrote $(ls run)"
fi

# ---- folders ---------------------------------------------------------------------------------------------------
for name in "a folder with  spaces" $'a\nline' "-n" "..." "$(printf 'long%.0s' {1..60})"; do
	mkdir -p "folders/$name"
	dprof_dir="$dir/folders/$name" run ends "" return
	[ "$(cat said-ends)" = "status 3" ] && [ "$("$analyze" dump "folders/$name"/dprof-ends.* | grep -c '^e .* enter')" = 10 ] ||
		fail "DPROF_DIR='$name': $(cat said-ends; ls "folders/$name")"
done
long=$dir
while [ ${#long} -lt 4200 ]; do long=$long/$(printf 'long%.0s' {1..60}); done
dprof_dir=${long:0:3900} run ends "mkdir -p \"\$DPROF_DIR\" &&" return
[ "$(cat said-ends)" = "status 3" ] || fail "a DPROF_DIR of 3900 bytes: $(cat said-ends)"
dprof_dir=$long run ends "" return
grep -q '^dprof: nothing is recorded: .*: File name too long' said-ends && [ "$(grep -v '^dprof: ' said-ends)" = "status 3" ] ||
	fail "a DPROF_DIR that is longer than any path: $(cat said-ends)"
[ "$failed" = 0 ] && echo "as expected"
exit "$failed"

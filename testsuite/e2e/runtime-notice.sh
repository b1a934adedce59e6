#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What the recorder says on standard error: one line where nothing can be recorded, and on a terminal one at the end,
# which tells the truth. Not a byte into what the program has put there since, and no harm where it is not read.
. testsuite/lib.sh
fixtures=$PWD/testsuite/fixtures/runtime
cd "$dir" || exit 1
"$B/bin/dprof-cc" -O2 "$fixtures/loop.c" -o loop || fail "loop.c"
"$B/bin/dprof-cc" -O2 "$fixtures/notice.c" -o notice || fail "notice.c"

# What a command writes where all three of its descriptors are a terminal.
on_terminal() {
	rm -rf dprof-*
	timeout 60 script -qec "$1" /dev/null </dev/null | tr -d '\r' >out
	sed -n '/^dprof: /p' out >said
}

# One line, which names the directory and as many events as are there.
tells() { # what it calls them, command
	on_terminal "$2"
	[ "$(wc -l <said)" = 1 ] || fail "$2: expected one line, found $(cat out)"
	sed -n "s/^dprof: $1 in \([^ ]*\); dprof-analyze \1$/\1/p" said >name
	[ -s name ] || fail "$2: expected 'dprof: $1 in', found $(cat said)"
}
events() { # of a trace, and of one thread
	"$analyze" dump "$1" | grep -c "^e ${2-}"
}

# ---- At the end, on a terminal --------------------------------------------------------------------------------
# One chunk, and many that are packed: of a thread that the helper still packs it says "at least".
for n in 3 200000; do
	tells '[a-z ]*[0-9]* events' "./loop $n"
	number=$(sed 's/^dprof: [a-z ]*\([0-9]*\) .*/\1/' said)
	case $(cat said) in
	'dprof: at least '*) [ "$number" -gt 0 ] && [ "$number" -le "$(events dprof-loop.*)" ] ;;
	*) [ "$number" = "$(events dprof-loop.*)" ] ;;
	esac || fail "loop $n: says $(cat said), and there are $(events dprof-loop.*)"
done
mkdir there
tells '[0-9]* events' "DPROF_DIR=there ./loop"
[ -d "$(cat name)" ] || fail "DPROF_DIR: no directory $(cat name)"
tells 'at least [0-9]* events' "./notice fork"
tells 'at least [0-9]* events' "./notice thread"
# What was lost, and why, as check says.
lost() { # cause
	[ "$(wc -l <said)" = 1 ] || fail "lost: expected one line, found $(cat out)"
	local n
	n=$(sed -n "s/^dprof: [a-z ]*[0-9]* events\? in [^ ]*, \([0-9]*\) more are lost: $1; dprof-analyze dprof-loop.*/\1/p" said)
	[ -n "$n" ] || fail "lost: expected how many and '$1', found $(cat said)"
	"$analyze" check dprof-loop.* >check
	[ "$(grep -F ": $1" check | sed -n 's/.* found \([0-9]*\) dropped: .*/\1/p' | awk "{ n += \$1 } END { print n }")" = "$n" ] || fail "lost: $n, but check says $(cat check)"
}
on_terminal "ulimit -f 64; ./loop 200000"
lost "the limit of a file's size is reached: raise it (ulimit -f)"
on_terminal "DPROF_QUIET=1 ./loop"
[ ! -s said ] || fail "DPROF_QUIET: $(cat said)"
on_terminal "DPROF_OFF=1 ./loop"
[ ! -s said ] || fail "DPROF_OFF: $(cat said)"
on_terminal "./loop 2>&1 | cat"
[ ! -s said ] || fail "a pipe: $(cat said)"
on_terminal "./notice closes"
[ ! -s said ] || fail "a program that closes its standard error: $(cat said)"
on_terminal "./notice file"
[ ! -s said ] && [ -e file ] && [ ! -s file ] || fail "a file of the program's: $(cat said file)"
mkdir "a b" && cd "a b" || exit 1
on_terminal "DPROF_DIR='$dir/a b' ../loop"
eval "\"$B/bin/\"$(sed -n 's/.*; \(dprof-analyze .*\)/\1/p' said)" >report || fail "cannot be pasted: $(cat said)"
cd ..

# ---- A job: rank 0 alone --------------------------------------------------------------------------------------
cat >mpi.c <<'END'
#include <mpi.h>
int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Finalize();
	return 0;
}
END
job() { # mpirun
	tells '[0-9]* events of rank 0' "$1 -n 2 ./mpi"
	[ "$(sed 's/^dprof: \([0-9]*\) .*/\1/' said)" = "$(events dprof-mpi.* '0 ')" ] || fail "$1: says $(cat said)"
	on_terminal "$1 -n 2 ./mpi 2>&1 | cat"
	[ ! -s said ] || fail "$1 in a pipe: $(cat said)"
	DPROF_DIR=nowhere $1 -n 3 ./mpi >out 2>said || fail "$1: status $? where nothing can be recorded"
	[ "$(grep -c '^dprof: nothing is recorded' said)" = 1 ] || fail "$1: 3 ranks on a host say $(cat said)"
}
"$B/bin/dprof-mpicc" mpi.c -o mpi || fail "mpi.c"
job "mpirun --allow-run-as-root --oversubscribe --quiet --mca mpi_yield_when_idle 1"
if command -v mpicc.mpich >/dev/null; then
	DPROF_MPICC=mpicc.mpich "$B/bin/dprof-mpicc" mpi.c -o mpi || fail "mpi.c with MPICH"
	job mpirun.mpich
fi

# ---- Nothing can be recorded ----------------------------------------------------------------------------------
cannot() { # why, command...
	local why=$1
	shift
	"$@" >out 2>said || fail "$*: status $?"
	[ "$(wc -l <said)" = 1 ] && grep -q "^dprof: nothing is recorded: cannot write .*: $why" said ||
		fail "$*: expected one line with '$why', found $(cat said)"
	DPROF_QUIET=1 "$@" >out 2>said || fail "$*: status $?"
	[ ! -s said ] || fail "$*: DPROF_QUIET: $(cat said)"
}
cannot "No such file or directory (see DPROF_DIR)" env DPROF_DIR=nowhere/at/all ./loop
touch plain
cannot "Not a directory" env DPROF_DIR=plain ./loop
cannot "No such file" env DPROF_DIR=nowhere ./notice fork
DPROF_DIR=$(printf 'nowhere\033]0;x') ./loop >out 2>said
grep -q "$(printf '\033')" said && fail "an escape sequence: $(cat -v said)"
( sleep 0.3; DPROF_DIR=nowhere ./loop 2>&1 >/dev/null; echo $? >status ) | true # whose reader is gone by then
[ "$(cat status)" = 0 ] || fail "not read: status $(cat status)"
DPROF_DIR=nowhere ./loop 2>&- >out || fail "no standard error: status $?"
bash -c 'set -o pipefail; (ulimit -f 0; DPROF_DIR=nowhere exec ./loop 2>said) | cat' >out ||
	fail "a file that may not grow: status $?"

# What is neither yes nor no is said in the report, and a name that dprof does not know.
rm -rf dprof-*
DPROF_OFF=maybe DPROF_QUIET=perhaps DPROF_BUFER=1M ./loop >out 2>said || fail "DPROF_OFF=maybe: status $?"
"$analyze" dprof-loop.* >report
grep -q '^note: DPROF_BUFER is no variable of dprof' report || fail "no note of a misspelt name: $(grep note report)"
for what in "DPROF_OFF is 'maybe'" "DPROF_QUIET is 'perhaps'"; do
	grep -q "^note: $what, which is neither" report || fail "no note: $what: $(grep note report)"
done
exit $failed

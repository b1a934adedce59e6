#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What a process does before the first event of the run and behind the last is in no share, and that is said where it
# is much: with intervals that contain what the process file and the events say.
. testsuite/fixtures/analysis/setup.sh
export DPROF_DIR=$tmp DPROF_QUIET=1
"$B/bin/dprof-cc" -O2 -pthread "$fixtures/run-ends.c" -o ends || fail "run-ends.c does not compile"

# In seconds, of a trace of one host: "BEFORE BEHIND"; from its frequency and the stamps of its first event and its last.
truth() { # trace process-file
	awk -v first="$first" -v last="$last" -v ghz="$ghz" '$1 == "started" { from = $2 } $1 == "finished" { to = $2 }
		END { printf "%.9f %.9f\n", (first - from) / ghz / 1e9, (to - last) / ghz / 1e9 }' "$2"
}
of() { # key: "LO HI" of the rank in $who
	jq -r --argjson who "$who" ".outside_span[] | select(.rank == \$who) | .$1 | \"\(.lo) \(.hi)\"" out
}
contains() { # what truth lo hi
	is_true "$3 <= $2 + 1e-7 && $2 <= $4 + 1e-7 && $4 - $3 < 1e-3" || fail "$way: $1: $2 is not in $3 .. $4"
}
checked() { # trace process-file: "before_s" and "behind_s" of the JSON in out
	read -r ghz first last < <("$analyze" dump "$1" | awk '$1 == "clock" { sub(".*ghz=", ""); ghz = $1 } $1 == "e" { if (!first || $3 < first) first = $3; if ($3 > last) last = $3 }
		END { printf "%s %.0f %.0f\n", ghz, first, last }')
	read -r before behind < <(truth "$1" "$2")
	contains before "$before" $(of before_s)
	contains behind "$behind" $(of behind_s)
}

# Whether it is said of the process: where one end is 5 % of the run. On a busy machine that may be so of any.
is_said() { # of $before and $behind in seconds, between stamps $first and $last
	awk "BEGIN { run = ($last - $first) / $ghz / 1e9; most = $before > $behind ? $before : $behind
		print (most < 0.05 * run ? \"never\" : most > 0.051 * run ? \"always\" : \"perhaps\") }"
}

who=-1
for way in before behind inside; do
	rm -rf dprof-*
	./ends $way || fail "$way: status $?"
	for ask in report csp; do
		expect 0 $ask --json dprof-*
		checked dprof-* dprof-*/*.process
		jq -r '.notes[]' out >notes
		case $(is_said) in
		never) says_not notes 'was there for' ;;
		always) grep -q "in no number here: pid [0-9]* was there for .*[0-9] s \(before\|behind\)" notes || fail "$way: $(cat notes)" ;;
		esac
		expect 0 $ask dprof-*
		[ "$(is_said)" != always ] || tr '\n' ' ' <out | tr -s ' ' | grep -q "was there for .* s \(before\|behind\)" ||
			fail "$way: $(cat out)"
	done
	# That or more: the machine may have done something else meanwhile.
	[ $way = inside ] || is_true "${!way} >= 0.2" || fail "$way: 0.2 s were computed there, found $before and $behind"
done

# Of a process that was killed it is not known when it ended.
sed -i -e '1s/2$/1/' -e '/^finished/d' -e '/^threads/d' -e '/^sum/d' dprof-*/*.process
expect 1 report --json dprof-*
[ "$(jq -r '.outside_span[0] | has("before_s"), has("behind_s")' out | tr '\n' ' ')" = 'true false ' ] ||
	fail "without an end: $(jq -c .outside_span out)"

# MPI_Init is told apart.
if command -v mpirun >/dev/null; then
	mpirun=(mpirun -n 2 --oversubscribe)
	[ "$(id -u)" -ne 0 ] || mpirun+=(--allow-run-as-root)
	"$B/bin/dprof-mpicc" -O2 -pthread -DWITH_MPI "$fixtures/run-ends.c" -o mpi-ends || fail "run-ends.c does not compile with MPI"
	rm -rf dprof-*
	"${mpirun[@]}" ./mpi-ends mpi || fail "mpi: status $?"
	expect 0 report --json dprof-*
	for who in 0 1; do
		way="rank $who"
		checked dprof-* dprof-*/*-$who.process
		init=$(awk -v first="$first" -v ghz="$ghz" ' # what of it was before the first event
			$1 == "init" { printf "%.9f\n", (($3 < first ? $3 : first) - $2) / ghz / 1e9 }' dprof-*/*-$who.process)
		contains MPI_Init "$init" $(of mpi_init_s)
	done
	jq -r '.notes[]' out | grep -q 'in no number here: rank 0 was there for [0-9. ]* s before (of which [0-9. ]* s in MPI_Init) and [0-9. ]* s behind, rank 1 was there for ' ||
		fail "mpi: $(jq .notes out)"
fi

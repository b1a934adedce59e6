#!/bin/bash
# SPDX-License-Identifier: MIT
#
# One name for one thing: each struct of the project has a name of its own, so that a search for it finds that one, and
# words that the field's terms have replaced do not come back.
. testsuite/lib.sh

# uPlot is others'; programs that are traced are no part of the project. A unit test has a solution of its own in place
# of freezer's.
sources() { find analysis bench examples freezer plugin pragmas runtime testsuite \( -path '*/fixtures' -o -path '*/uplot' \) -prune -o -type f "$@" -print; }

{ sources -name '*.c'; sources -name '*.h'; sources -name '*.cc'; } | xargs grep -HoE '\bstruct [A-Za-z_0-9]+ *\{' |
	sed -E 's/^([^:]*):struct ([A-Za-z_0-9]+).*/\2 \1/' | grep -v '^frz_solution testsuite/unit/' | sort >"$dir/structs"
[ "$(wc -l <"$dir/structs")" -gt 500 ] || fail "few structs are found: $(wc -l <"$dir/structs")"
awk '{ where[$1] = where[$1] " " $2; n[$1]++ } END { for (name in n) if (n[name] > 1) print "struct " name ":" where[name] }' "$dir/structs" >"$dir/twice"
[ ! -s "$dir/twice" ] || fail "names of several structs: $(cat "$dir/twice")"

words='meetings?|junctions?|ghosts?|blurs?|sieves?|wishes|strands?|census|how-manieth|half_width|dealers?|comings|naps|napped'
{ sources -name '*.[ch]'; sources -name '*.cc'; sources -name '*.clp'; ls README.md ARCHITECTURE.md docs/*.md docs/*.scd docs/concepts/*; } |
	xargs grep -niE "(^|[^a-z_])($words)([^a-z_]|\$)" >"$dir/words"
[ ! -s "$dir/words" ] || fail "words that were replaced: $(cat "$dir/words")"
exit $failed

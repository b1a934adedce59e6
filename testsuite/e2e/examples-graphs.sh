#!/bin/bash
# SPDX-License-Identifier: MIT
#
# PageRank and connected components: the same result, bit for bit, with any number of ranks and threads,
# with and without the plugin, balanced or not, at any pace, from plain and gzipped files, whatever ids
# the nodes have; and the one that networkx finds. On Debian's packages and on random graphs.
. testsuite/fixtures/examples/setup.sh
oracle=$root/testsuite/fixtures/examples/graph_oracle.py

run() { # PROGRAM RANKS output options... -> the line that it prints, without the time
	mpi "$2" "$B/examples/$1" --output "$3" "${@:4}" >line || fail "$*: status $?"
	sed 's/, [0-9.]* s$//' line
}

# As PageRank at a damping at which few iterations say nearly all, and as components.
check() { # graph damping iterations
	local name=${1##*/} ranks=(--damping "$2" --iterations "$3") line i=0
	line=$(run plain/pagerank 1 ranks -t 1 "${ranks[@]}" "$1") || fail "$line"
	line=$line$(run plain/cc 1 components -t 1 "$1") || fail "$line"
	[ -s ranks ] && [ -s components ] || fail "$name: no result"
	/usr/bin/python3 "$oracle" "$1" ranks "$2" components >said 2>&1 || fail "not what networkx finds: $(cat said)"
	while read -r where n more; do
		local again
		again=$(run "${where}pagerank" "$n" ranks2 $more "${ranks[@]}" "$1")
		again=$again$(run "${where}cc" "$n" components2 $more "$1")
		[ "$again" = "$line" ] || fail "$name, $n ranks $more: $again instead of $line"
		cmp ranks ranks2 && cmp components components2 || fail "$name, $n ranks $more: another result"
		i=$((i + 1))
	done
	echo "$name: $(cat said); $i other ways give the same bits"
}

"$B/examples/rmat" --scale 11 --seed 5 >dense
check dense 0.85 120 <<-END
	./ 4 -t 2
	./ 2 -t 1 --imbalance 1:50 --pace 20
END
"$B/examples/rmat" --scale 12 --edges 1 --seed 6 | gzip >sparse.gz
check sparse.gz 0.85 120 <<-END
	plain/ 3 -t 3 --imbalance 0:70
	./ 4 -t 1 --imbalance 2:300
END
check "$B/data/debian.txt.gz" 0.3 40 <<-END
	./ 1 -t 2
	./ 2 -t 1
	./ 4 -t 2
END

# The same graph under other ids, with remarks, blanks and line ends of another kind: only the ids differ.
sed '/^#/d; s/\t/000   /; s/$/000 \r/; s/^/ /; 3s/^/\n  # a remark\r\n\n/' <(zcat sparse.gz) >renamed
run plain/cc 2 components2 -t 1 renamed >said
run plain/cc 2 components -t 1 sparse.gz | diff - said || fail "other ids, another result"
awk '/^#/ { print; next } { print $1 * 1000 "\t" $2 * 1000 }' components | diff - components2 >/dev/null ||
	fail "other ids, other components"

# As many edges as wanted, the same each time, of all nodes' ids, and others for another seed.
"$B/examples/rmat" --scale 4 --edges 30 --seed 7 >small
[ "$(sed '/^#/d' small | wc -l)" -eq 480 ] || fail "rmat: expected 480 edges"
[ "$(cksum <small)" = "3189997147 2396" ] || fail "rmat: another graph than ever before: $(cksum <small)"
sed '/^#/d' small | tr '\t' '\n' | sort -nu | diff - <(seq 0 15) || fail "rmat: expected the ids 0 to 15"
"$B/examples/rmat" --scale 4 --edges 30 --seed 8 | cmp -s - small && fail "rmat: the seed changes nothing"
exit 0

# SPDX-License-Identifier: MIT
#
# awk -f packages.awk -v names=FILE - the graph of Debian's packages, from what `apt-cache dumpavail` prints,
# as SNAP's list of edges: who depends on whom.
#
# An edge goes from a package to each one that its Depends or Pre-Depends name, alternatives included, if
# that is a package of its own, not a virtual one. Of several versions all edges count. An id is the
# package's place among the sorted names, which go to FILE, "ID<tab>NAME" a line.
BEGIN { FS = "[ :(,|]+" }

/^Package: / { package = $2; exists[package] }

/^(Pre-)?Depends: / {
	count = split(substr($0, index($0, " ") + 1), dependency, / *[,|] */)
	for (i = 1; i <= count; i++) {
		sub(/[ :(].*/, "", dependency[i])
		edge[package "\t" dependency[i]]
	}
}

END {
	sorted = "LC_ALL=C sort >" names
	for (name in exists)
		print name | sorted
	close(sorted)
	for (n = 0; (getline name <names) > 0; n++) {
		id[name] = n
		name_of[n] = name
	}
	close(names)
	for (i = 0; i < n; i++)
		printf "%d\t%s\n", i, name_of[i] >names
	close(names)
	sorted = "LC_ALL=C sort -n -k1 -k2"
	print "# Debian's packages: an edge from each to those that it depends on"
	print "# FromNodeId\tToNodeId"
	fflush()
	for (e in edge) {
		split(e, end, "\t")
		if (end[2] in exists)
			printf "%d\t%d\n", id[end[1]], id[end[2]] | sorted
	}
	exit close(sorted)
}

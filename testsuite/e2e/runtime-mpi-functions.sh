#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Nothing of MPI is forgotten: each function that an mpi.h declares is in runtime/mpi/functions.def or is
# local; what is recorded is wrapped by the adapter and recognised by the plugin, as what the table says; what is
# not, the manual says.
. testsuite/lib.sh
# Functions that do not wait: they look something up, or make and change what is this rank's own.
local_functions='
	MPI_(Address|Alloc_mem|Free_mem|Get_address|Aint|Aint_add|Aint_diff|Pcontrol|Wtime|Wtick)
	MPI_(Initialized|Finalized|Query_thread|Is_thread_main|Get_(processor_name|version|library_version))
	MPI_(Error_(class|string)|Add_error_.*|Errhandler_.*|(Comm|Win|File|Session)_(call|create|get|set)_errhandler)
	MPI_(Info|Group|Type|Op|T|Keyval|Status)_.* MPI_Attr_(get|delete) MPI_Win_set_attr
	MPI_.*_(c2f|f2c|f2f08|c2f08|f082c|f082f)
	MPI_(Comm|Win)_(create_keyval|free_keyval|(delete|get)_attr|(get|set)_(name|info))
	MPI_Comm_(size|rank|group|compare|remote_size|remote_group|test_inter|get_parent)
	MPI_(Cart_(coords|get|map|rank|shift)|Cartdim_get|Dims_create|Topo_test|Graph_(get|map|neighbors.*)|Graphdims_get)
	MPI_Dist_graph_neighbors.*
	MPI_(Pack|Unpack)(_c|_size.*|_external.*)? MPI_Reduce_local(_c)? MPI_Register_datarep(_c)?
	MPI_Get_(count|elements)(_c|_x)? MPI_Buffer_attach(_c)?
	MPI_(Open|Close)_port MPI_(Publish|Unpublish|Lookup)_name
	MPI_Win_(attach|detach|get_group|shared_query(_c)?)
	MPI_File_get_.* MPI_File_seek
	MPI_Session_get_.*'
is_local=$(echo $local_functions | tr ' ' '|')

table() { # the table, as lines: what MPI_Name KIND
	echo '#define DPROF_MPI(name, kind) @ recorded MPI_##name kind
	      #define DPROF_MPI_LATER(name) @ later MPI_##name -
	      #define DPROF_MPI_NOT(name, why) @ not MPI_##name -
	      #include "runtime/mpi/functions.def"' | gcc -E -P -I. -x c - | tr '@' '\n' |
		awk 'NF == 3 { print $1, $2, $3 }'
}
table | sort -k2 >"$dir/table"
cut -d' ' -f2 "$dir/table" | uniq -d >"$dir/twice"
[ ! -s "$dir/twice" ] || fail "twice in the table: $(cat "$dir/twice")"
[ "$(wc -l <"$dir/table")" -gt 300 ] || fail "the table has only $(wc -l <"$dir/table") functions"
[ "$(wc -l <"$dir/table")" = "$(cut -d' ' -f2 "$dir/table" | grep -c '^MPI_')" ] || fail "the table cannot be read"
grep ^not "$dir/table" | cut -d' ' -f2 | while read -r f; do
	grep -q "[* ]${f%_c}\\b" docs/dprof.7.scd || echo "FAILED: dprof(7) does not say that $f is not recorded"
done | tee "$dir/unsaid"
[ ! -s "$dir/unsaid" ] || failed=1

# name and kind of each site of an object file, in order
sites() {
	objcopy -O binary --only-section=dprof_sites --set-section-flags dprof_sites=alloc "$1" "$dir/sites"
	python3 - "$dir/sites" <<-'END'
		import struct, sys
		kinds = "none REGION BARRIER COLL SEND RECV WAIT FORK JOIN LOCK PROGRESS".split()
		data, at = open(sys.argv[1], "rb").read(), 0
		while at + 16 <= len(data):
		    magic, size, kind, version = struct.unpack_from("<IHBB", data, at)
		    if magic != 0x54495344:
		        at += 16
		        continue
		    print(data[at + 16:at + size].split(b"\0")[0].decode(), kinds[kind])
		    at += size
	END
}

for mpi in openmpi mpich; do
	lib=$B/lib/libdprof-$mpi.so
	command -v mpicc.$mpi >/dev/null && [ -e "$lib" ] || continue
	tested=1
	echo '#include <mpi.h>' | mpicc.$mpi -E -P -x c - | tr '\n' ' ' | tr ';' '\n' |
		grep -oE '\bMPI_[A-Z][A-Za-z_0-9]* *\([^;]*' | sed 's/ *(/ (/' | sort -u -k1,1 >"$dir/declared"
	cut -d' ' -f1 "$dir/declared" >"$dir/names"
	[ "$(wc -l <"$dir/names")" -gt 350 ] || fail "$mpi: only $(wc -l <"$dir/names") functions in mpi.h"
	grep -vxE "$is_local" "$dir/names" | grep -vxFf <(cut -d' ' -f2 "$dir/table") >"$dir/forgotten"
	[ ! -s "$dir/forgotten" ] || fail "$mpi: neither in the table nor local: $(tr '\n' ' ' <"$dir/forgotten")"
	grep -xE "$is_local" "$dir/names" | grep -xFf <(cut -d' ' -f2 "$dir/table") >"$dir/both"
	[ ! -s "$dir/both" ] || fail "$mpi: in the table and local: $(tr '\n' ' ' <"$dir/both")"

	# What the adapter wraps is what it should, of what this MPI has.
	nm -D --defined-only "$lib" | awk '$3 ~ /^MPI_/ { print $3 }' | sort >"$dir/wrapped"
	grep -v ^not "$dir/table" | cut -d' ' -f2 | sort | comm -12 - <(sort "$dir/names") >"$dir/wanted"
	diff "$dir/wanted" "$dir/wrapped" || fail "$mpi: table (<) and adapter (>)"

	# A call of each, never made: the plugin makes a site of those that the table says.
	{
		echo '#include <mpi.h>'
		echo 'void all(void); void all(void) {'
		grep -f <(sed 's/^[a-z]* \(.*\) .*/^\1 /' "$dir/table") "$dir/declared" |
			awk -F'(' '{
				n = gsub(/,/, ",", $2) + 1
				if ($2 ~ /^ *(void)? *\)/) n = 0
				printf "\t%s(", $1
				for (i = 0; i < n; i++) printf i ? ", 0" : "0"
				print ");" }'
		echo '}'
	} >"$dir/calls.c"
	mpicc.$mpi -O1 -w -fplugin="$B/plugin/dprof.so" -c "$dir/calls.c" -o "$dir/calls.o" ||
		{ fail "$mpi: the calls do not compile"; continue; }
	sites "$dir/calls.o" | sort >"$dir/seen"
	grep ^recorded "$dir/table" | awk 'NR == FNR { has[$1]; next }
		$2 in has { sub(/_c$/, "", $2); print $2, $3 }' "$dir/names" - | sort >"$dir/want"
	diff "$dir/want" "$dir/seen" || fail "$mpi: table (<) and plugin (>)"
done
[ -n "${tested:-}" ] || { echo "no MPI here"; exit 77; }
[ "$failed" = 0 ] && echo "as expected"
exit "$failed"

#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What is said of the source's structure is so: the folders of analysis/ stand in ARCHITECTURE.md in an order in which
# each uses those above it, who lists the files of a folder lists them all, and a line of code fits 132 columns.
. testsuite/lib.sh

# ---- Folders ------------------------------------------------------------------------------------
sed -n 's/^| `\([a-z0-9]*\)\/` |.*/\1/p' ARCHITECTURE.md >"$dir/order"
ls -d analysis/*/ | cut -d/ -f2 | sort | diff <(sort "$dir/order") - >"$dir/folders" ||
	fail "ARCHITECTURE.md does not have each folder of analysis/ once: $(cat "$dir/folders")"
grep -roE --include='*.[ch]' --include='*.def' '^#include "analysis/[a-z0-9]+/' analysis |
	sed -E 's/^analysis\/([a-z0-9]+)\/.*"analysis\/([a-z0-9]+)\//\1 \2/' |
	sort -u >"$dir/uses"
[ "$(wc -l <"$dir/uses")" -gt 100 ] || fail "few folders are found to use others: $(wc -l <"$dir/uses")"
awk 'NR == FNR { at[$1] = NR; next } at[$2] > at[$1] { print $1 " uses " $2 }' "$dir/order" "$dir/uses" >"$dir/upward"
[ ! -s "$dir/upward" ] || fail "ARCHITECTURE.md has below a folder what that uses: $(cat "$dir/upward")"

# ---- Lists of files ----------------------------------------------------------------------------- Who uses what such a
# header declares is listed there, or in another one beside it, or has a header of its own. Not as one of "the files
# graph*.c", which says nothing.
listed() { awk 'FNR == 1 { head = 1 } head; /\*\// { head = 0 }' "$@" | grep -oE '\b[a-z_0-9*]+\.cc?\b' | grep -vE '^[a-z]+\*\.c$'; }
is_listed() {
	local pattern
	while read -r pattern; do
		# shellcheck disable=SC2053
		[[ $1 != $pattern ]] || return 0
	done <"$dir/list"
	return 1
}
lists=(analysis/{graph/graph,match/match,path/path,trace/trace,waits/waits,coz/greedy}_private.h plugin/parts.h
	runtime/{mpi/adapter,mpi/hosts,gomp/gomp,libc/libc,pthread/pthread}.h)
for list in "${lists[@]}"; do
	folder=${list%/*}
	case $folder in
	plugin) listed plugin/plugin.cc ;;
	runtime/mpi) listed runtime/mpi/adapter.h runtime/mpi/hosts.h ;;
	*) listed "$list" ;;
	esac >"$dir/list"
	[ "$(wc -l <"$dir/list")" -ge 4 ] || fail "$list lists few files: $(cat "$dir/list")"
	for file in $(grep -lF "#include \"$list\"" "$folder"/*.c*); do
		[ -e "${file%.c*}.h" ] || is_listed "${file##*/}" || fail "$list does not say what $file is"
	done
done

# ---- Lines ------------------------------------------------------------------------------------- A tab counts as one.
find analysis freezer plugin pragmas runtime -path '*/uplot' -prune -o \( -name '*.[ch]' -o -name '*.cc' \) -print |
	xargs awk 'length > 132 { print FILENAME ":" FNR }' >"$dir/wide"
[ ! -s "$dir/wide" ] || fail "lines of more than 132 columns: $(cat "$dir/wide")"

# ---- A build folder that was moved ------------------------------------------------------------------------------------------
# It knows what its objects depend on: else some would go on with the structs of before.
object=obj/guest/runtime/libc/opens
mkdir -p "$dir/moved/${object%/*}" && cp -p "$B/$object.o" "$B/$object.d" "$dir/moved/${object%/*}" && touch "$dir/moved/packages"
make -n B="$dir/moved" -W runtime/libc/libc.h "$dir/moved/$object.o" 2>&1 | grep -qF -- "-c runtime/libc/opens.c" ||
	fail "$object.o of a folder that was moved does not depend on runtime/libc/libc.h"

# ---- Scripts that can fail ----------------------------------------------------------------------- One that goes on behind what
# is wrong ends with what it has found, or it would pass: who does not stop at once, ends with the status of that, or of another
# program.
awk 'function ends() { if (script && (!at_once || undone) && last !~ /^exit |^exec |\$failed|^"\$B\/|^testsuite\/e2e\//) print script }
	FNR == 1 { ends(); script = FILENAME; at_once = undone = 0 }
	/^at_once=1|fixtures\/(analysis|examples)\/setup.sh/ { at_once = 1 }
	/^at_once=$/ { undone = 1 }
	{ last = $0 }
	END { ends() }' testsuite/e2e/*.sh >"$dir/go-on"
[ ! -s "$dir/go-on" ] || fail "they end with what they did last, and not with \$failed: $(cat "$dir/go-on")"
exit "$failed"

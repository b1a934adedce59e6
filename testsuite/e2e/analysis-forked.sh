#!/bin/bash
# SPDX-License-Identifier: MIT
#
# A child that was forked is in the regions of the thread that forked it, from its begin to its end, also where it leaves them by
# none of their own exits; unless it may have jumped, or its parent's records are missing: then it may be in them.
fixtures=$PWD/testsuite/fixtures/analysis
. testsuite/fixtures/analysis/setup.sh
export DPROF_QUIET=1
cd "$dir" || exit 1
"$B/bin/dprof-cc" -O1 -pthread -Wall -Wextra -Werror -Wno-clobbered "$fixtures/forked.c" -o forked || exit 1

begins() { # trace: the regions with which the last process begins, before it does anything
	local started
	started=$(sed -n 's/^started \([0-9]*\) forked=1.*/\1/p' "$1"/*.process | sort -n | tail -n 1)
	"$analyze" dump "$1" 2>/dev/null |
		awk -v started="$started" '$1 == "site" { sub(/^name=/, "", $4); site[$2] = $4 }
			$1 == "e" && $3 == started && $5 == "enter" && site[$4] != "forks" { printf "%s%s", n++ ? " " : "", site[$4] }'
}

bounds() { # trace region: the milliseconds that it takes at least and at most, of all threads together
	"$analyze" --json profile "$1" 2>/dev/null |
		jq -r ".flat[] | select(.name == \"$2\") | .inclusive_s | \"\(.lo * 1000 | floor) \(.hi * 1000 | ceil)\""
}

while read -r way milliseconds regions; do
	mkdir $way && DPROF_DIR=$way ./forked $way || fail "$way: exit status $?"
	for ((i = 0; i < 3000; i++)); do # the daemon is on its own
		files=($way/*/*.process)
		[ ${#files[@]} -ge 2 ] && [ -z "$(grep -aL '^finished' "${files[@]}")" ] && break
		sleep 0.02
	done
	[ "$(begins $way/*)" = "$regions" ] || fail "$way: expected a child that begins in $regions, found $(begins $way/*)"
	read -r lo hi <<<"$(bounds $way/* X)"
	[ "${lo:-0}" -ge $milliseconds ] || fail "$way: expected $milliseconds ms in X at least, found $lo .. $hi"
done <<-'END'
	_exit 20 outer X
	exit 20 outer X
	twice 60 outer X inner
	thread 20 X
	daemon 20 outer X
	behind 0 outer
END

mkdir jumps && DPROF_DIR=jumps ./forked jumps
read -r lo hi <<<"$(bounds jumps/* X)"
[ $((hi - lo)) -ge 20 ] || fail "a child that may have jumped: expected that its 20 ms are in X or not, found $lo .. $hi ms"

parent=$(basename "$(grep -aL 'forked=1' _exit/*/*.process)" .process)
rm _exit/*/"$parent"-0.events
"$analyze" --json coz --region X _exit/* 2>/dev/null >coz
jq -e '.regions[0].slope | .lo == 0 and .hi >= 0.5' coz >/dev/null ||
	fail "the parent's records are missing: expected that X may be worth nothing or all of the child, found $(jq -c .regions[0].slope coz)"
[ "$failed" = 0 ] && echo "as expected"
exit "$failed"

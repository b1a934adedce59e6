# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034
#
# lib.sh - what all scripts of e2e share; each sources it from the root of the tree, before it makes a file.
#
#   $dir       a folder of its own, which goes when the script ends (a trap of the script's own must see to that)
#   $analyze   dprof-analyze
#   fail WHAT  says what is wrong. The script goes on, and ends with status $failed; with at_once=1 it ends there
#   about      prints what the script is at, for messages: a script that repeats itself replaces it
#   interval KEY <JSON   "LO HI" of the first interval of that name
set -u
: "${B:?the build folder}"
unset MAKEFLAGS MFLAGS MAKEOVERRIDES # how many jobs we are made with is not for the makes of a test
analyze=$B/bin/dprof-analyze
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
failed=0 at_once=

about() { :; }

fail() {
	echo "FAILED: $(about)$*"
	failed=1
	[ -z "$at_once" ] || exit 1
}

interval() {
	tr -d ' \n' | grep -o "\"$1\":{[^}]*}" | head -1 | sed 's/.*"lo":\([^,]*\),"hi":\([^}]*\)}/\1 \2/'
}

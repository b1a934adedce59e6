# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154
#
# conversion.sh - what it costs to convert a stamp, against what others do.

progress "conversions"
bench/width "$here" 1 >/dev/null
"$B/bench/clock-conversion" >"$here/conversion"
"$B/bench/clock-methods" "$here"/loopback.1/dprof-*/a.sync 1 >"$here/methods"
cost_of() { awk -v m="$1" '$1 == m { print $2 }' "$here/conversion"; }
speed() { # of which, than which
	awk -v a="$(cost_of "$2")" -v b="$(cost_of "$1")" 'BEGIN { if (b > 0) print a / b }'
}

table "Speed of converting 10^7 stamps in order of time" "In multiples of the speed of linear regression in doubles, \
$(cost_of regression) ns a stamp compiled like dprof's loop and $(cost_of regression-vector) ns vectorised by GCC; batches of 1000; \
a linear program per stamp by GLPK."
for model in dprof dprof-drift; do
	row "$model" "$(speed $model regression)" x ">= 1"
	why "look at the load of the machine"
	row "$model, against vectorised" "$(speed $model regression-vector)" x ">= 1"
	why "two exact bounds of 96-bit products and 16 bytes for each stamp, against one rounded product and 8 bytes"
done
lp=$(awk '$1 == "lp" { print $4 }' "$here/methods")
row "dprof, against linear programs" "$(awk -v a="$lp" -v b="$(cost_of dprof)" 'BEGIN { if (b > 0) print a / b }')" x ">= 1000"
why "look at the load of the machine"

# SPDX-License-Identifier: MIT
#
# Figure 3: how the error of the clock's rate falls with the time of measuring.
. bench/paper/measuring.sh
measuring_time figure3-rate-error "error of the clock's rate" 4 ppb \
	"Figure 3: error of the clock's rate, in parts per billion, against the time of measuring"

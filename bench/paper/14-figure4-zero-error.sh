# SPDX-License-Identifier: MIT
#
# Figure 4: the error of the zero, where the two clocks stood when measuring began.
. bench/paper/measuring.sh
measuring_time figure4-zero-error "error of the zero" 6 us \
	"Figure 4: error of the zero (the time at which measuring began), in us, against the time of measuring"

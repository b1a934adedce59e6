#!/bin/bash
# SPDX-License-Identifier: MIT
#
# `make fuzz` in short: so many damaged traces, texts, questions and environments, of a number that is printed.
# SEED=NUMBER begins with another one; TIMES=N tries N times as many.
set -u
: "${B:?the build folder}"
exec testsuite/fuzz/run -s "${SEED:-${ANEW:-1}}" -n $((${TIMES:-1} * 100))

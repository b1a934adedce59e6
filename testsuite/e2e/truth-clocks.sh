#!/bin/bash
# SPDX-License-Identifier: MIT
#
# truth-clocks.sh - a short `make truth`: made-up clocks of every kind, packets of every kind, and no
# bound without the truth; clocks that break the assumption by much are always reported.
set -u
: "${B:?the build folder}"
"$B/test/truth-clocks" --conversions "${N:-5000000}" --broken "${BROKEN:-100}" --seed "${SEED:-1}"

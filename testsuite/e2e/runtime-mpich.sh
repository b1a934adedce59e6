#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The adapter for MPICH: what holds with OpenMPI holds there, from C and from Fortran.
: "${B:?the build folder}"
command -v mpicc.mpich >/dev/null || { echo "no MPICH here (Debian: mpich, libmpich-dev)"; exit 77; }
export MPI=mpich
testsuite/e2e/runtime-messages.sh && testsuite/e2e/runtime-fortran.sh

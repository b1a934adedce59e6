#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What recorded locks, messages and teams are good for: coz says what a program would gain, and the program that was really
# changed gains that. Of `make whatif` the short form.
exec testsuite/whatif/run short

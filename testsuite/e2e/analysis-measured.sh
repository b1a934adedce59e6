#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What an endpoint writes of its measuring into the process file is read: how far the cores of a host may
# differ, which survives dump and pack, and which packets it dropped.
. testsuite/fixtures/analysis/setup.sh

sed 's/^clock 1 .*/& halfwidth=170/' "$fixtures/job.txt" >text
trace t <text
says t/h1-2.process 'cores halfwidth=170 pairs=0'
expect 0 dump t
says out ' halfwidth=170'
[ "$(grep -c ' halfwidth=' out)" -eq 1 ] || fail "another clock got it, too: $(grep '^clock' out)"
cp out once
trace again <once
expect 0 dump again
cmp -s once out || fail "dump, pack, dump: $(diff once out)"

# The worst that a process of the host found counts; what endpoints counted is added up. (As in a file without a sum.)
sed -i -e '1s/2$/1/' -e '/^threads /d' -e '/^sum /d' t/h1-2.process
{
	echo 'cores halfwidth=230 pairs=3 disagree=1'
	echo 'packets start exchanges=200 unanswered=1 forged=0 stale=2 ns=5000000 cpu_ns=4000000'
	echo 'packets run exchanges=50 unanswered=0 forged=4 stale=0'
} >>t/h1-2.process
expect 0 dump t
says out ' halfwidth=230'
expect 0 clocks t
says out '250 exchanges, 1 unanswered; dropped 4 forged, 2 late or repeated'
[ "$(grep -c exchanges, out)" -eq 1 ] || fail "of h0, too: $(cat out)"
expect 0 clocks --json t
says out '"forged": 4'

echo 'cores halfwidth=1099511627777 pairs=1' >>t/h1-2.process
expect 1 clocks t
says err 'expected an uncertainty of at most 1099511627776 ticks, found 1099511627777'
sed 's/^clock 1 .*/& halfwidth=1099511627777/' "$fixtures/job.txt" >text
expect 1 pack text refused
says err 'halfwidth'
echo "as expected"

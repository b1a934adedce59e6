#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""second_opinion.py CLOCKED TRACE.json - who waited, and who worked while all others waited, added up from the
calls that clocked.so listed and compared with `dprof-analyze csp --json` of the same run.

Law: nothing here is dprof's but the figures on the right. The two read different clocks at different places: each
call is seen from two instructions that lie beside each other, so the figures may differ by what lies between them,
counted as MICROSECONDS_A_CALL for each call, and by what else the processor did there (a share of the run)."""
import json
import os
import sys

WAITS = """Barrier Bcast Reduce Allreduce Gather Gatherv Scatter Scatterv Allgather Allgatherv Alltoall Alltoallv Scan
Exscan Reduce_scatter Comm_dup Comm_split Comm_create Cart_create Recv Irecv Probe Sendrecv Wait Waitall Waitany
Waitsome Send Ssend Rsend Finalize""".split()
MICROSECONDS_A_CALL = 2
SHARE_OF_RUN = 0.001


def waiting_of_ranks(folder):
    """{rank: [(begin, end), ...]} in seconds, of calls that wait. MPI_Finalize waits until all have called it."""
    ranks = {}
    for name in os.listdir(folder):
        with open(os.path.join(folder, name)) as lines:
            rank = int(next(lines).split()[1])
            calls = (line.split() for line in lines)
            ranks[rank] = [(int(b) * 1e-9, int(e) * 1e-9) for call, b, e in calls if call[4:] in WAITS]
    all_there = max(calls[-1][0] for calls in ranks.values())
    for calls in ranks.values():
        calls[-1] = (calls[-1][0], all_there)
    return ranks


def alone_seconds(ranks):
    """For each rank, how long it did not wait while all others did. Time before a rank's first call and after
    its last is not looked at: there is one that does not wait."""
    turns = sorted((t, change, rank) for rank, calls in ranks.items() for b, e in calls for t, change in ((b, 1), (e, -1)))
    waits, alone, before = dict.fromkeys(ranks, 0), dict.fromkeys(ranks, 0.0), 0
    for t, change, rank in turns:
        working = [r for r in ranks if not waits[r]]
        if len(working) == 1:
            alone[working[0]] += t - before
        before = t
        waits[rank] += change
    return alone


def agree(seconds, bounds, slack):
    return bounds["lo"] - slack <= seconds <= bounds["hi"] + slack


def main(folder, report):
    ranks = waiting_of_ranks(folder)
    with open(report) as f:
        csp = json.load(f)
    alone, bad = alone_seconds(ranks), 0
    calls = sum(len(c) for c in ranks.values())
    slack = calls * MICROSECONDS_A_CALL * 1e-6 + SHARE_OF_RUN * csp["span_s"]["hi"]
    print(f"\n  Straggling: dprof beside CLOCK_MONOTONIC around the same {calls} calls; they may differ by {slack:.4f} s")
    print("    rank   alone, s: dprof           clocked     waiting, s: dprof         clocked")
    for thread in sorted(csp["threads"], key=lambda t: t["rank"]):
        r = thread["rank"]
        waited = sum(e - b for b, e in ranks[r])
        a, w = thread["alone_s"], thread["waiting_s"]
        fine = agree(alone[r], a, slack) and agree(waited, w, slack)
        bad += not fine
        print(f"    {r:4}   {a['lo']:9.5f} .. {a['hi']:9.5f}   {alone[r]:9.5f}   {w['lo']:9.5f} .. {w['hi']:9.5f}   "
              f"{waited:9.5f}   {'agree' if fine else 'DIFFER'}")
    return bad > 0


sys.exit(main(*sys.argv[1:]))

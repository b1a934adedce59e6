/* SPDX-License-Identifier: MIT
 *
 * sql_results.c - see sql_results.h; the columns are in the manual page dprof-sql(7), too. */
#include "analysis/commands/sql_results.h"

#include "analysis/commands/command.h"
#include "analysis/commands/related.h"
#include "analysis/report/relations.h"

#define THREAD "rank pid thread"
#define SUMS   "visits inclusive_s~ exclusive_s~ waiting_s~ transfer_s~ bytes"
#define SPREAD "threads least_s~ mean_s~ most_s~ imbalance_percent~"

static const struct sql_result results[] = {
	{ "run", "report", cmd_report, "",
	  "program$ processes hosts events lost span_s~ base$ model$ bounds$ verdict$ efficiency.parallel~ "
	  "efficiency.load_balance~ efficiency.communication~ advice$" },
	{ "stragglers", "csp", cmd_csp, "threads",
	  THREAD " host$ routine$ takes_part straggler_percent~ alone_s~ verdict$ site$ file$ line working_s~ waiting_s~ "
	  "unclassified_percent~ blocked_unrecorded_s~" },
	{ "whatifs", "coz", cmd_coz, "regions/curve",
	  "region$ file$ line reduce_percent~ speedup_percent~ expected_percent~ verdict$" },
	{ "waits", "waits", cmd_waits, "waits",
	  "kind$ " THREAD " name$ site$ seconds~ share_percent~ count verdict$ caused_by.rank caused_by.pid caused_by.thread "
	  "caused_by.region$ caused_by.site$" },
	{ "wait_places", "waits", cmd_waits, "places", "kind$ " THREAD " name$ site$ seconds~ share_percent~ count verdict$" },
	{ "delays", "waits", cmd_waits, "delays",
	  THREAD " region$ site$ seconds~ share_percent~ short_term_s~ long_term_s~ verdict$" },
	{ "path", "path", cmd_path, "segments", THREAD " name$ file$ line share_percent~ seconds~ verdict$" },
	{ "path_messages", "path", cmd_path, "messages", "from to seconds~ share_percent~ count verdict$" },
	{ "path_regions", "path", cmd_path, "regions", "name$ file$ line share_percent~ seconds~ mean_s~ imbalance_s~ slack_s~" },
	{ "slack", "path", cmd_path, "slack", THREAD " name$ file$ line seconds~ slack_s~" },
	{ "profile", "profile", cmd_profile, "flat", "name$ file$ line " SUMS " " SPREAD },
	{ "profile_threads", "profile", cmd_profile, "flat/each", "name$ file$ line " THREAD " " SUMS },
	{ "operations", "profile", cmd_profile, "operations",
	  "name$ file$ line count seconds~ waiting_s~ transfer_s~ bytes threads caused_by.rank caused_by.pid caused_by.thread "
	  "caused_by.region$ caused_by.file$ caused_by.line caused_by.seconds~" },
	{ "calls", "profile", cmd_profile, "calls", "parent depth name$ file$ line " SUMS " " SPREAD },
	{ "traffic", "profile", cmd_profile, "messages", "from.rank from.pid to.rank to.pid count bytes" },
	{ "efficiency", "efficiency", cmd_efficiency, "",
	  "threads processes span_s~ useful_s~ ideal_s~ parallel~ load_balance~ communication~ serialisation~ transfer~" },
	{ "efficiency_regions", "efficiency", cmd_efficiency, "regions",
	  "region$ file$ line threads time_s~ useful_s~ parallel~ load_balance~ communication~ serialisation~ transfer~ "
	  "longest.rank longest.pid longest.thread" },
	{ "efficiency_causes", "efficiency", cmd_efficiency, "causes",
	  "factor$ low$ verdict$ " THREAD " name$ file$ line percent~ caused_by.rank caused_by.pid caused_by.thread "
	  "caused_by.region$ caused_by.file$ caused_by.line" },
	{ "clocks", "clocks", cmd_clocks, "clocks",
	  "host$ source$ status$ links packet_links program_links hops rate~ width_s.min width_s.median width_s.max "
	  "width_by_packets_s.min width_by_packets_s.median width_by_packets_s.max fastest_packets_s~ packets.exchanges "
	  "packets.unanswered packets.forged packets.stale cores_half_width_s cores_compared" },
	{ "findings", "diagnose", cmd_diagnose, "findings",
	  "cause$ proved cost_percent~ where$ region$ what$ suggestion$ " THREAD " less_percent speedup_percent~ expected_percent~" },
};

static void answer_together(struct trace *trace, const struct times *times, const struct options *options,
			    const struct sql_together *to)
{
	struct diagnosis found;
	if (!relations_unanswered(times) &&
	    related_reply(trace, times, options, &(struct related_to){ to->begin, to->end, NULL, NULL, to->to }, &found))
		diagnosis_close(&found);
}

struct sql_source sql_source_of(struct trace *trace, const struct times *times, const struct options *options)
{
	return (struct sql_source){ trace, times, options, results, sizeof results / sizeof *results, answer_together };
}

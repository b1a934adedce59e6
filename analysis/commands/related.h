/* SPDX-License-Identifier: MIT
 *
 * related.h - the answers of waits, path, profile, efficiency and diagnose at once, of one graph: for whoever wants all of them.
 *
 * Law: each is what that command says, but for what relations_run() says beside it. */
#ifndef ANALYSIS_RELATED_H
#define ANALYSIS_RELATED_H

#include "analysis/diagnose/diagnose.h"
#include "analysis/path/path.h"
#include "analysis/tables/reply.h"

/* Who takes them: one reply after the other. */
struct related_to {
	struct reply *(*begin)(void *to, const char *command);
	void (*end)(void *to);
	void (*path)(void *to, struct path *); /* may be NULL; between two replies */
	void (*graph)(void *to, struct graph *, const struct diagnosis *); /* likewise; behind all, with the diagnosis or NULL */
	void *to;
};

/* Where it is known who waited for whom. Returns whether a diagnosis was found, which the caller closes. */
bool related_reply(struct trace *, const struct times *, const struct options *, const struct related_to *, struct diagnosis *);

#endif

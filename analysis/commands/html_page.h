/* SPDX-License-Identifier: MIT
 *
 * html_page.h - report --html FILE. */
#ifndef ANALYSIS_HTML_PAGE_COMMAND_H
#define ANALYSIS_HTML_PAGE_COMMAND_H

#include "analysis/base/options.h"
#include "analysis/tables/reply.h"
#include "analysis/trace/trace.h"

/* Writes the page to options->html, which must not be there unless options->force; nothing is left of a page that could
 * not be written whole. The exit status. */
int html_page(struct trace *, const struct options *, struct reply *);

#endif

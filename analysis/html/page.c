/* SPDX-License-Identifier: MIT
 *
 * page.c - see page.h. */
#include "analysis/html/page.h"

#include <string.h>

#define PART(name, file)                                                                           \
	__asm__(".section .rodata\n" #name ": .incbin \"analysis/html/" file "\"\n.byte 0\n.text\n"); \
	extern const char name[] __attribute__((visibility("hidden")))

PART(page_head, "page.html");
PART(page_body, "body.html");
PART(page_css, "page.css");
PART(page_js, "page.js");
PART(timeline_js, "timeline.js");
PART(uplot_css, "uplot/uPlot.css");
PART(uplot_js, "uplot/uPlot.js");
PART(uplot_licence, "uplot/LICENSE");

static void put_style(FILE *out, const char *text)
{
	fprintf(out, "<style>\n%s</style>\n", text);
}

static void put_script(FILE *out, const char *text)
{
	fprintf(out, "<script>\n%s</script>\n", text);
}

/* In JSON '<' stands in texts only, where it may be written so. */
static void put_data(FILE *out, const char *json)
{
	fputs("<script type=\"application/json\" id=\"data\">\n", out);
	for (size_t n; n = strcspn(json, "<"), fwrite(json, 1, n, out), json[n]; json += n + 1)
		fputs("\\u003c", out);
	fputs("\n</script>\n", out);
}

void page_write(FILE *out, const char *json)
{
	fputs(page_head, out);
	put_style(out, uplot_css);
	put_style(out, page_css);
	fputs(page_body, out);
	put_data(out, json);
	fprintf(out, "<!-- uPlot:\n%s-->\n", uplot_licence);
	put_script(out, uplot_js);
	put_script(out, timeline_js);
	put_script(out, page_js);
	fputs("</body>\n</html>\n", out);
}

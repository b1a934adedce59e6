#!/bin/bash
# SPDX-License-Identifier: MIT
#
# npm's axe-core finds nothing wrong with the page of report --html, light and wide, and dark and narrow; and finds what
# is broken on purpose.
. testsuite/fixtures/analysis/setup.sh
axe=$B/oracle/node_modules/axe-core/axe.min.js

[ -f "$axe" ] || timeout 60 npm install --fetch-retries=1 --fetch-retry-maxtimeout=1000 \
	--fetch-retry-mintimeout=1000 --silent --no-audit --no-fund --prefix "$B/oracle" axe-core@4.10.2 >log 2>&1 || {
	echo "npm's axe-core cannot be had: $(head -1 log)"
	exit 77
}
command -v chromium >/dev/null || { echo "chromium is not here"; exit 77; }

"$analyze" pack "$fixtures/job.txt" job || fail "pack refused job.txt"
expect 0 report --html page.html job

# What axe finds of a page in which a script ran before: [rule, impact, where], line by line.
violations() { # width script
	{
		sed '/<\/body>/,$d' page.html
		echo "<script>"
		cat "$axe"
		echo "</script><script>setTimeout(async () => { $2; const r = await axe.run(document, { resultTypes: ['violations'] });"
		echo "document.title = 'RESULT ' + JSON.stringify([r.passes.length, r.violations.map((v) => [v.id, v.impact, v.nodes[0].target])]); }, 500);</script></body></html>"
	} >tried.html
	HOME=$tmp timeout 120 chromium --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --window-size="$1",900 \
		--virtual-time-budget=30000 --dump-dom "file://$tmp/tried.html" 2>chromium.err |
		sed -n 's/.*<title>RESULT \(.*\)<\/title>.*/\1/p' >found
}

fine() {
	violations "$@"
	jq -e '.[0] > 10 and .[1] == []' found >held || fail "$*: $(cat found chromium.err)"
}
fine 1200 ''
fine 420 "document.getElementById('theme').click()"
violations 1200 "document.documentElement.removeAttribute('lang'); document.querySelector('h2').style.color = '#ddd'"
jq -e '[.[1][][0]] | index("html-has-lang") and index("color-contrast")' found >held ||
	fail "what is broken is not found: $(cat found chromium.err)"

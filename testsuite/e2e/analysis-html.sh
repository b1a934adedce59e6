#!/bin/bash
# SPDX-License-Identifier: MIT
#
# report --html writes one file that a browser shows by itself: its data are what the commands say, names are text and
# never markup, nothing is fetched, and it zooms, searches and changes its colours. Nothing is left of a page that could
# not be written, and no file is written over unasked.
. testsuite/fixtures/analysis/setup.sh

# Two ranks on two hosts, 40 rounds; the second is slower. Its names would be markup, if they could.
{
	cat <<-'END'
	dprof-text 1
	clock 0 host=h0 ghz=1
	clock 1 host=h%3Cb%3E1 ghz=1
	link 0 1000 1 1400
	link 1 1400 0 1900
	link 0 90001000 1 90001400
	link 1 90001400 0 90001900
	thread 0 clock=0 rank=0
	thread 1 clock=1 rank=1
	group 1 threads=0,1
	site 0 kind=region name=%3C/script%3E%3Cimg%20src=x%20onerror=alert(1)%3E file=a'b"c.c line=1
	site 1 kind=region name=wörk file=%3C!--x.c line=2
	site 2 kind=barrier name=MPI_Barrier file=x.c line=3
	site 3 kind=send name=MPI_Send file=x.c line=4
	site 4 kind=recv name=MPI_Recv file=x.c line=5
	END
	for i in {0..39}; do
		t=$((2000 + i * 2000000))
		work 0 0 $t $((t + 500000))
		op 0 3 $((t + 500000)) $((t + 510000)) group=1 peer=1 tag=1 bytes=1000
		op 0 2 $((t + 510000)) $((t + 1910000)) group=1 seq=$i
		work 1 1 $t $((t + 1800000))
		op 1 4 $((t + 1800000)) $((t + 1801000)) group=1 peer=0 tag=1 bytes=1000
		op 1 2 $((t + 1801000)) $((t + 1911000)) group=1 seq=$i
	done
} | trace two

# Their source, as far as it is there: markup, bytes that are no text, and more lines than are shown. x.c is another's, and no file.
{ echo '/* <script>alert(1)</script> */'; printf '\t\tinit();\033[31m\xff\n'; seq 3 40; } >"a'b\"c.c"
ln -s /dev/zero x.c

# ---- The file -------------------------------------------------------------------------------------

expect 0 report --html page.html two
says out 'page.html: '
[ "$(find . -name '*.part' | wc -l)" = 0 ] || fail "left: $(ls)"
sed -n '/id="data"/,/<\/script>/p' page.html | sed '1d;$d' >data.json
for command in waits path profile efficiency clocks diagnose; do
	expect 0 $command --json two
	jq . out >asked
	jq --arg c $command '.[$c] + (if .[$c].problems then {} else {problems: [], notes: []} end)' data.json >kept
	# What the report notes of time outside of marks is there once.
	jq --slurpfile page data.json '. + (if .problems then {} else {problems: [], notes: []} end) | .notes -= $page[0].report.notes' asked | diff - kept >differ || fail "$command: $(cat differ)"
done
expect 0 report --json two
jq 'del(.command)' out >asked
jq '.report | del(.command)' data.json | diff asked - >differ || fail "report: $(cat differ)"
# What is wrong with a trace is said once.
printf '%s\n' "dprof-text 1" "clock 0 host=h0 ghz=1" "clock 1 host=h1 ghz=1" "thread 0 clock=0 rank=0" "thread 1 clock=1 rank=1" \
	"site 0 kind=region name=a file=x.c line=1" "e 0 1000 0 enter" "e 0 9000 0 exit" "e 1 1000 0 enter" "e 1 5000 0 exit" | trace apart
expect 1 report --html apart.html apart
sed -n '/id="data"/,/<\/script>/p' apart.html | sed '1d;$d' | jq -e '.report.problems | length == 1' >held || fail "apart: $(cat err)"
! grep -qF '<img' page.html || fail "a name is markup"
! grep -qE '<(script|link|img|iframe)[^>]*(src|href)=' page.html || fail "something is fetched"
says page.html "default-src 'none'"

# Of the source what is around lines that were recorded, as text; of what cannot be read it is said why.
jq -e '.source | length == 3 and .[1].file == "a\u0027b\"c.c" and .[1].why == null and (.[1].lines | length == 14 and .[1] == "/* <script>alert(1)</script> */" and
	.[2] == 2 and (.[3] | startswith("        init();") and (contains("\u001b") | not)) and .[12] == 7) and
	all(.[0], .[2]; (.why | length > 0) and .lines == [])' data.json >held || fail "source: $(jq -c .source data.json)"

parts='def parts($n): range(0; length; $n) as $i | .[$i : $i + $n]; '
# Bars are as long as the thread was there, and wait as long as waits says.
jq -c "$parts"'.timeline | [.grain, (.threads[] | [.bars | parts(6)] | ([.[] | .[0] + .[1]] | add), ([.[] | .[3]] | add))]' data.json >bars
jq -e '.[0] == 0 and all(.[1], .[3]; . > 79900000 and . < 79920000) and .[2] > 40 * 1290000 and .[2] < 40 * 1300000 and .[4] < 1000000' bars >held ||
	fail "bars: $(cat bars)"
jq -e "$parts"'.timeline | [.path | parts(4) | select(.[0] == 1) | .[2] - .[1]] | add > 70000000' data.json >held ||
	fail "rank 1 is the critical path"
jq -e '.timeline.links | length >= 5 * 39' data.json >held || fail "who was waited for"

# A run of more steps than a page keeps: neighbours are put together into bars shorter than one grain, and nothing gets
# lost by that.
"$B/test/synthesize" --hosts 2 --messages 60000 --work 50 | trace many
expect 0 report --html many.html many
expect 0 profile --json many
waiting=$(jq '.calls[0].waiting_s | (.lo + .hi) / 2 * 1e9' out)
sed -n '/id="data"/,/<\/script>/p' many.html | sed '1d;$d' | jq -c --argjson waiting "$waiting" '.timeline | .grain as $grain | [.threads[].bars | . as $b | [range(0; length; 6) | $b[. : . + 6]]] |
	{ bars: (map(length) | add), grain: $grain, steps: (map(map(.[5]) | add) | add),
	  coarse: any(.[][]; .[5] > 1 and .[1] > $grain + 2), gaps: any(.[][1:][]; .[0] > 1), few: any(.[][]; .[5] > 1 and .[4] > .[1] + 2 * .[5]),
	  fine: any(.[]; . as $v | any(range(1; length); $v[.][1] + $v[. - 1][1] < 0.9 * $grain)),
	  waited: ((map(map(.[3]) | add) | add) / $waiting) }' >kept
jq -e '.bars > 20000 and .bars <= 150000 and .grain > 0 and .steps > 200000 and (.coarse or .gaps or .few or .fine | not) and .waited > 0.99 and .waited < 1.01' kept >held ||
	fail "many steps: $(cat kept)"

# ---- What is there, and what cannot be written ----------------------------------------------------

echo mine >page.html
expect 2 report --html page.html two
says err 'page.html is there already'
[ "$(cat page.html)" = mine ] || fail "a file was written over"
expect 0 report --html page.html --force two
says page.html '<!DOCTYPE html>'
mkfifo pipe && ln -s page.html link && chmod 600 page.html
for each in pipe link; do
	expect 2 report --html $each --force two
	says err 'expected the name of a file'
done
expect 0 report --html page.html --force two
[ "$(stat -c %a page.html) $(stat -c %F pipe link | tr '\n' ',')" = "600 fifo,symbolic link," ] ||
	fail "what was there: $(ls -l pipe link page.html)"
expect 1 report --html nowhere/page.html two
says err 'nowhere/page.html: cannot be written'
(ulimit -f 8 && "$analyze" report --html small.html two >out 2>err)
[ $? -eq 1 ] && says err 'small.html: cannot be written' || fail "no room: $(cat out err)"
[ ! -e small.html ] && [ "$(find . -name '*.part' | wc -l)" = 0 ] || fail "a half of a page was left: $(ls)"
expect 2 csp --html x.html two

# Traces of which little is known.
sed '$d' <<-END | trace one
	dprof-text 1
	clock 0 host=h0 ghz=1
	thread 0 clock=0 rank=0
	site 0 kind=region name=a file=x.c line=1
	e 0 1000 0 enter
	e 0 2000 0 exit
	-
END
expect 0 report --html one.html one
grep -v '^link' <("$analyze" dump two) | trace unlinked
expect 1 report --html unlinked.html --links packets unlinked
says unlinked.html '"version":1'

# ---- In a browser ---------------------------------------------------------------------------------

command -v chromium >/dev/null || fail "chromium is not here"

# Has a page shown with a script that runs behind its own. Chromium takes seconds to start: it does so once, at the end, for a page
# that has each of them in a frame.
shown=()
show() { # name page script width
	{
		sed '/<\/head>/i <script>window.wrong = []; onerror = (m) => wrong.push(m); onsecuritypolicyviolation = (e) => wrong.push(e.blockedURI);</script>' "$2" |
			sed '/<\/body>/,$d'
		echo '<script>setTimeout(() => { let said; try { said = (() => {'
		cat "$3"
		echo "})(); } catch (e) { said = 'threw ' + e; } parent.postMessage(['$1', said, wrong], '*'); }, 300);</script></body></html>"
	} >"$1.tried.html"
	shown+=("<iframe src='$1.tried.html' style='position: absolute; top: 0; left: 0; border: 0; width: ${4:-1200}px; height: 900px'></iframe>")
}

cat >look.js <<-'END'
	const pixels = () => { const c = document.getElementById('canvas'); return c.getContext('2d').getImageData(140, 26, 900, 48).data; };
	const range = () => document.getElementById('range').textContent;
	const key = (k) => document.getElementById('canvas').dispatchEvent(new KeyboardEvent('keydown', { key: k }));
	const all = range();
	key('+'); const zoomed = range();
	key('ArrowRight'); const moved = range();
	key('0'); const back = range();
	const canvas = document.getElementById('canvas'), at = canvas.getBoundingClientRect(), tip = document.getElementById('tip');
	const point = () => { canvas.dispatchEvent(new PointerEvent('pointermove', { clientX: at.left + 600, clientY: at.top + 40 })); return tip.textContent; };
	const pointed = [point()];
	for (let i = 0; i < 7; i++) key('+');
	pointed.push(tip.textContent, point());
	key('0');
	const search = document.getElementById('search');
	search.value = 'wörk'; search.dispatchEvent(new Event('input'));
	const hits = document.querySelectorAll('tr.hit').length;
	search.value = ''; search.dispatchEvent(new Event('input'));
	const dark = document.documentElement.classList.contains('dark');
	document.getElementById('theme').click();
	return { ready: document.documentElement.dataset.ready, sections: [...document.querySelectorAll('main > section')].map((s) => s.id), images: document.images.length,
		named: document.body.innerText.includes('<\/script><img src=x onerror=alert(1)>'), changed: all !== zoomed && zoomed !== moved && back === all,
		placed: [...document.querySelectorAll('#path table')].map((t) => [...t.querySelectorAll('tbody tr')].filter((tr) => /\.c:[0-9]/.test(tr.textContent)).length),
		factors: document.querySelectorAll('#efficiency tbody tr').length, source: [...document.querySelectorAll('#source tbody tr')].filter((tr) =>
			tr.textContent.includes('<script>alert(1)<\/script> */') && /^[0-9. ±]+/.test(tr.textContent)).length,
		hits, turned: dark !== document.documentElement.classList.contains('dark'), painted: new Set(pixels()).size > 4,
		charts: document.querySelectorAll('.uplot').length, pointed };
END
show look page.html look.js

# Where nothing relates the clocks nothing is known of what a region would buy, and no line is drawn in the middle of that.
cat >lines.js <<-'END'
	const drawn = [];
	uPlot = function (options, lines) { drawn.push(lines.slice(3)); };
	const said = data.report.profile.filter((row) => row.curve).map((row) => curve(row).textContent.includes('not known'));
	return [drawn.length, drawn.flat(2).filter((y) => y !== null && y !== 0).length, said.filter((not) => not).length];
END
show known page.html lines.js
show unknown unlinked.html lines.js

# Bars that are not of 100 % say of what they are: the second rank is waited for, for 64 to 65 %.
cat >bars.js <<-'END'
	return ['diagnosis', 'stragglers', 'waits', 'profile'].map((s) => (document.querySelector(`#${s} .caption`).textContent.match(/; a whole bar is about ([0-9.]+ (%|µs|ms|s))$/) || [])[1]);
END
show bars page.html bars.js

# What is shown of an interval holds it, in few digits; and where the page is narrow no text is beside it.
cat >digits.js <<-'END'
	let state = 1, bad = [], longest = 0;
	const random = () => (state = (state * 48271) % 2147483647) / 2147483647;
	for (let i = 0; i < 3000; i++) {
		const largest = 10 ** (3 - 8 * random()), unit = secondsUnit(largest), lo = largest * 10 ** (-9 * random()), half = random() < 0.1 ? 0 : lo * 10 ** (-12 * random());
		const x = { lo: random() < 0.1 ? 0 : lo - half / 2, hi: lo + half / 2 }, text = unit.of(x), factor = { s: 1, ms: 1e3, 'µs': 1e6 }[unit.unit];
		const [a, b] = text.split(/ ±| \.\. /).map(Number), [least, most] = text.includes('..') ? [a, b] : [a - (b || 0), a + (b || 0)];
		const near = 1e-12 * most;
		if (!(least <= x.lo * factor + near && x.hi * factor <= most + near) && !(b === undefined && Math.abs(a / lo / factor - 1) < 1e-4)) bad.push([text, x, unit.unit]);
		longest = Math.max(longest, text.length);
	}
	const cut = [...document.querySelectorAll('table.stack')].filter((t) => t.scrollWidth > t.parentElement.clientWidth + 1).length;
	return [bad.slice(0, 3), longest, document.querySelectorAll('.stack td[data-title]').length > 5, cut];
END
show digits page.html digits.js 400

# Of what a share is says each factor's cause: imbalance of the run, waiting of all threads' time. Two ranks take turns.
{
	"$analyze" dump two | grep -v '^e' | sed "s/name=w[^ ]*/name=$(printf 'n%.0s' {1..250})/"
	for i in {0..9}; do
		t=$((2000 + i * 2000000))
		work $((i % 2)) $((i % 2)) $t $((t + (i % 2 ? 1000000 : 1900000)))
		op 0 2 $((t + (i % 2 ? 1000 : 1900000))) $((t + 1910000)) group=1 seq=$i
		op 1 2 $((t + (i % 2 ? 1000000 : 1000))) $((t + 1910000)) group=1 seq=$i
	done
} | trace turns
expect 0 report --html turns.html turns
echo 'return [...document.querySelectorAll("#efficiency tbody tr")].map((tr) => (tr.lastChild.textContent.match(/ % (of .*)$/) || [])[1]);' >shares.js
show shares turns.html shares.js
# However long a name is, and however narrow the window, the page is no wider.
echo 'return [innerWidth, document.documentElement.scrollWidth];' >wide.js
show wide turns.html wide.js 600

# A region that is marked in two places has all of it at the first, and the other says so; in the legend they are two.
{
	printf '%s\n' "dprof-text 1" "clock 0 host=h0 ghz=1" "thread 0 clock=0 rank=0"
	for place in 1 2; do echo "site $place kind=region name=again file=/a/z$place.c line=7"; done | sed 's/site 1/site 0/; s/site 2/site 1/'
	work 0 0 1000 10000; work 0 1 10000 90000
} | trace again
expect 0 report --html again.html again
cat >again.js <<-'END'
	return [[...document.querySelectorAll('#source tbody tr')].map((tr) => tr.textContent), document.getElementById('timeline').textContent.includes('again (z2.c:7)')];
END
show again again.html again.js
echo 'return [...document.querySelectorAll("main > section")].length;' >count.js
for page in one unlinked; do
	show $page $page.html count.js
done

{
	echo '<!DOCTYPE html><html><head><title></title></head><body><script>'
	echo "const said = {}; onmessage = (m) => { said[m.data[0]] = m.data.slice(1); document.title = 'RESULT ' + JSON.stringify(said); };</script>"
	printf '%s\n' "${shown[@]}" '</body></html>'
} >frames.html
HOME=$tmp timeout 120 chromium --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --window-size=1200,900 --virtual-time-budget=5000 \
	--dump-dom "file://$tmp/frames.html" 2>chromium.err | sed -n 's/.*<title>RESULT \(.*\)<\/title>.*/\1/p' >all-seen
seen() { # name
	jq -c --arg name "$1" '.[$name]' all-seen >seen
}

seen look
jq -e '.[1] == [] and (.[0] | .ready == "yes" and .sections == ["summary", "diagnosis", "timeline", "efficiency", "stragglers", "whatif", "waits", "path", "profile", "source", "messages", "clocks"] and
	.images == 0 and (.placed | length == 2 and all(. > 0)) and .factors == 5 and .source == 1 and .named and .changed and .hits > 2 and .turned and .painted and .charts >= 3 and
	(.pointed | all(contains(" long")) and .[0] != .[1] and .[1] == .[2]))' seen >held || fail "in the browser: $(cat seen chromium.err)"
seen known
jq -e '.[1] == [] and (.[0] | .[0] == 2 and .[1] > 4 and .[2] == 0)' seen >held || fail "what is expected is not drawn: $(cat seen)"
seen unknown
jq -e '.[1] == [] and .[0] == [2, 0, 2]' seen >held || fail "what is not known is drawn as expected: $(cat seen)"
seen bars
jq -e '.[1] == [] and (.[0] | length == 4 and all(. != null) and (.[1] | endswith(" %") and (split(" ")[0] | tonumber) > 60 and (split(" ")[0] | tonumber) < 70) and (.[2] | endswith(" ms")))' seen >held ||
	fail "bars without a scale: $(cat seen)"
seen digits
jq -e '.[1] == [] and .[0][0] == [] and .[0][1] <= 26 and .[0][2] and .[0][3] == 0' seen >held ||
	fail "what is shown of intervals: $(cat seen)"
seen shares
jq -e '. == [[null, "of the run", null, "of all threads\u0027 time", "of all threads\u0027 time"], []]' seen >held ||
	fail "shares in the browser: $(cat seen chromium.err)"
seen wide
jq -e '.[1] == [] and (.[0] | .[0] == 600 and .[1] <= .[0])' seen >held || fail "a page is wider than the window: $(cat seen)"
seen again
jq -e '.[1] == [] and .[0][1] and (.[0][0] | length == 2 and any(.[]; startswith("see z1.c:7")))' seen >held || fail "a region in two places: $(cat seen chromium.err)"
for page in one unlinked; do
	seen $page
	jq -e '.[1] == [] and .[0] >= 2' seen >held || fail "$page in the browser: $(cat seen chromium.err)"
done
exit $failed

/* SPDX-License-Identifier: MIT
 *
 * timeline.js - all threads over time, on a canvas: the wheel zooms, dragging moves, a double click shows all; with the keyboard + - and
 * arrows. Bars are as analysis/html/drawn.h says; edges are as soft as the thread's clock is uncertain. */
'use strict';

const palette = ['#0072b2', '#e69f00', '#009e73', '#cc79a7', '#56b4e9', '#d55e00', '#b8a800', '#7a6bc9'];
const HEAD = 26, ROW = 20, GAP = 4, NAMES = 130;
const WORK = 0, OPERATION = 1, IDLE = 2, UNKNOWN = 3;

/* [gap, length, 4 * site + did, waited, most, count] in ns, after each other. */
function unpackBars(flat) {
  const n = flat.length / 6, bars = { n, from: new Float64Array(n), to: new Float64Array(n), what: new Int32Array(n), waited: new Float64Array(n),
    most: new Float64Array(n), count: new Float64Array(n) };
  let at = 0;
  for (let i = 0; i < n; i++) {
    at += flat[6 * i];
    bars.from[i] = at;
    at += flat[6 * i + 1];
    bars.to[i] = at;
    bars.what[i] = flat[6 * i + 2];
    bars.waited[i] = flat[6 * i + 3];
    bars.most[i] = flat[6 * i + 4];
    bars.count[i] = flat[6 * i + 5];
  }
  return bars;
}

function firstEndingAfter(bars, t) {
  let low = 0, high = bars.n;
  while (low < high) {
    const mid = (low + high) >> 1;
    if (bars.to[mid] <= t) low = mid + 1;
    else high = mid;
  }
  return low;
}

/* The sites that take longest have colours of their own. */
function coloursOf(t, threads) {
  const sums = new Map();
  for (const { bars } of threads)
    for (let i = 0; i < bars.n; i++)
      if ((bars.what[i] & 3) === WORK) sums.set(bars.what[i] >> 2, (sums.get(bars.what[i] >> 2) || 0) + bars.most[i]);
  const order = [...sums.keys()].filter((site) => site < t.sites.length && t.sites[site].kind === 'region').sort((a, b) => sums.get(b) - sums.get(a));
  return { of: new Map(order.slice(0, palette.length).map((site, i) => [site, palette[i]])), order };
}

function timeline(t) {
  const threads = t.threads.map((thread) => ({ ...thread, bars: unpackBars(thread.bars) }));
  const { of: colours, order } = coloursOf(t, threads);
  const rowsHeight = threads.length * (ROW + GAP) + HEAD;
  const canvas = element('canvas', { role: 'img', tabindex: 0, id: 'canvas',
    'aria-label': 'What each thread did over time. Plus and minus zoom, arrows move, 0 shows all.' });
  const tip = element('div', { id: 'tip', class: 'gone', role: 'status' });
  const box = element('div', { id: 'rows' }, canvas), showPath = element('input', { type: 'checkbox', id: 'show-path', checked: '' });
  const showLinks = element('input', { type: 'checkbox', id: 'show-links', checked: '' });
  const view = { from: 0, to: t.span, found: '' };
  const range = element('output', { id: 'range' });

  const paint = () => draw(canvas, t, threads, view, colours, { path: showPath.checked, links: showLinks.checked, height: rowsHeight });
  let asked = false;
  const again = () => {
    range.textContent = `${time(view.from)} to ${time(view.to)} (${time(view.to - view.from)})`;
    point();
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => { asked = false; paint(); });
  };
  const button = (text, label, action) => {
    const b = element('button', { type: 'button', 'aria-label': label }, text);
    b.addEventListener('click', () => { action(); again(); });
    return b;
  };
  const zoom = (factor, around = (view.from + view.to) / 2) => {
    const width = Math.max(10, Math.min(t.span, (view.to - view.from) * factor)), share = (around - view.from) / (view.to - view.from);
    place_view(view, t, around - share * width, width);
  };
  const move = (part) => place_view(view, t, view.from + part * (view.to - view.from), view.to - view.from);
  const all = () => place_view(view, t, 0, t.span);

  section('timeline', 'Timeline',
    element('div', { class: 'tools' }, button('+', 'Zoom in', () => zoom(0.5)), button('−', 'Zoom out', () => zoom(2)),
      button('←', 'Earlier', () => move(-0.3)), button('→', 'Later', () => move(0.3)), button('All', 'All of the run', all), range,
      element('label', {}, showPath, ' critical path'), element('label', {}, showLinks, ' who was waited for')),
    element('div', { id: 'drawing' }, box, tip),
    element('div', { class: 'legend' }, ...legend(t, colours, order)),
    element('p', { class: 'quiet' }, t.grain > 0 ? `The run has more than this page keeps: what is shorter than ${time(t.grain)} is put together, and shown as what took most of it.`
      : 'Each step of each thread is in this page.', t.links.length / 5 < t.all_links ? ` Of ${t.all_links.toLocaleString('en')} waits the longest ${(t.links.length / 5).toLocaleString('en')} have an arrow.` : ''));

  let under = null; // where the pointer is, to which the view moves
  const point = () => { if (under && !held) tell(tip, t, threads, under, timeAt(under), box); };
  const ratio = (event) => (event.offsetX - NAMES) / Math.max(1, canvas.clientWidth - NAMES);
  const timeAt = (event) => view.from + ratio(event) * (view.to - view.from);
  canvas.addEventListener('wheel', (event) => {
    if (event.shiftKey) move(event.deltaY > 0 ? 0.1 : -0.1);
    else zoom(event.deltaY > 0 ? 1.25 : 0.8, timeAt(event));
    event.preventDefault();
    again();
  }, { passive: false });
  let held = null;
  canvas.addEventListener('pointerdown', (event) => { held = { x: event.offsetX, from: view.from }; canvas.setPointerCapture(event.pointerId); });
  canvas.addEventListener('pointerup', () => { held = null; });
  canvas.addEventListener('pointermove', (event) => {
    if (held) {
      const width = view.to - view.from;
      place_view(view, t, held.from - ((event.offsetX - held.x) / (canvas.clientWidth - NAMES)) * width, width);
      again();
    }
    under = { offsetX: event.offsetX, offsetY: event.offsetY };
    point();
  });
  canvas.addEventListener('pointerleave', () => { under = null; tip.classList.add('gone'); });
  canvas.addEventListener('dblclick', () => { all(); again(); });
  canvas.addEventListener('keydown', (event) => {
    const keys = { '+': () => zoom(0.5), '=': () => zoom(0.5), '-': () => zoom(2), ArrowLeft: () => move(-0.2), ArrowRight: () => move(0.2), 0: all };
    if (!keys[event.key]) return;
    keys[event.key]();
    event.preventDefault();
    again();
  });
  for (const input of [showPath, showLinks]) input.addEventListener('change', again);
  document.addEventListener('theme', again);
  document.addEventListener('searched', (event) => { view.found = event.detail; again(); });
  new ResizeObserver(again).observe(box);
  again();
}

function place_view(view, t, from, width) {
  view.from = Math.max(0, Math.min(t.span - width, from));
  view.to = view.from + width;
}

function legend(t, colours, order) {
  const item = (text, colour) => element('span', { style: `--of:${colour}` }, text), named = order.filter((site) => colours.has(site));
  const again = (site) => named.some((other) => other !== site && t.sites[other].name === t.sites[site].name);
  const name = (site) => t.sites[site].name + (again(site) ? ` (${t.sites[site].file.replace(/.*\//, '')}:${t.sites[site].line})` : '');
  return [...named.map((site) => item(name(site), colours.get(site))), item('other work', 'var(--soft)'),
    item('waiting', 'var(--wait)'), item('operation: transfer', 'var(--link)'), item('idle', 'var(--idle)'), item('not known', 'var(--unknown)'),
    item('critical path', 'var(--path)')];
}

/* ---- Drawing -------------------------------------------------------------------------------------------------------- */

function draw(canvas, t, threads, view, colours, options) {
  const width = canvas.parentElement.clientWidth, scale = window.devicePixelRatio || 1, g = canvas.getContext('2d');
  if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(options.height * scale)) {
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(options.height * scale);
    canvas.style.height = options.height + 'px';
  }
  const ink = Object.fromEntries(['ground', 'ink', 'quiet', 'line', 'soft', 'wait', 'idle', 'unknown', 'path', 'link'].map((n) => [n, css('--' + n)]));
  const d = { g, t, threads, view, colours, ink, width, x: (ns) => NAMES + ((ns - view.from) / (view.to - view.from)) * (width - NAMES),
    y: (row) => HEAD + row * (ROW + GAP), perPixel: (view.to - view.from) / Math.max(1, width - NAMES) };
  g.setTransform(scale, 0, 0, scale, 0, 0);
  g.fillStyle = ink.ground;
  g.fillRect(0, 0, width, options.height);
  g.font = '12px system-ui, sans-serif';
  axis(d, options.height);
  threads.forEach((thread, row) => drawThread(d, thread, row));
  if (options.links) drawLinks(d);
  if (options.path) drawPath(d);
}

function axis(d, height) {
  const rough = (d.view.to - d.view.from) / 8, power = 10 ** Math.floor(Math.log10(rough)), step = power * (rough / power > 5 ? 10 : rough / power > 2 ? 5 : 2);
  d.g.strokeStyle = d.ink.line;
  d.g.fillStyle = d.ink.quiet;
  for (let at = Math.ceil(d.view.from / step) * step; at <= d.view.to; at += step) {
    d.g.beginPath();
    d.g.moveTo(d.x(at), HEAD - 6);
    d.g.lineTo(d.x(at), height);
    d.g.stroke();
    d.g.fillText(time(at), d.x(at) + 3, HEAD - 12);
  }
}

function colourOf(d, what) {
  const did = what & 3, site = what >> 2;
  if (did === IDLE) return d.ink.idle;
  if (did === UNKNOWN) return d.ink.unknown;
  if (did === OPERATION) return d.ink.link;
  return d.colours.get(site) || d.ink.soft;
}

function matches(d, what) {
  if (!d.view.found) return true;
  const site = d.t.sites[what >> 2];
  return Boolean(site) && (site.name + ' ' + (site.file || '')).toLowerCase().includes(d.view.found);
}

/* Bars narrower than a pixel share one, in the colours of what took most of it. */
function drawThread(d, thread, row) {
  const { g, ink } = d, { bars } = thread, y = d.y(row);
  g.fillStyle = ink.ink;
  g.fillText(thread.name, 4, y + 14, NAMES - 8);
  g.save();
  g.beginPath();
  g.rect(NAMES, y, d.width - NAMES, ROW);
  g.clip();
  let i = firstEndingAfter(bars, d.view.from);
  while (i < bars.n && bars.from[i] < d.view.to) {
    let last = i, best = i, waited = bars.waited[i];
    const end = bars.from[i] + d.perPixel;
    while (last + 1 < bars.n && bars.to[last + 1] <= end) {
      last++;
      waited += bars.waited[last];
      if (bars.most[last] > bars.most[best]) best = last;
    }
    drawBar(d, y, bars.from[i], bars.to[last], bars.what[best], waited, last > i || bars.count[i] > 1);
    i = last + 1;
  }
  g.restore();
  if (thread.uncertainty / d.perPixel > 1) softEdges(d, thread, y);
}

/* An operation waits first; of a mixture the lower part is as high as it waited long. */
function drawBar(d, y, from, to, what, waited, mixed) {
  const { g, ink } = d, x = d.x(from), w = Math.max(0.7, d.x(to) - x), part = to > from ? Math.min(1, waited / (to - from)) : 0;
  g.globalAlpha = matches(d, what) ? 1 : 0.2;
  g.fillStyle = colourOf(d, what);
  g.fillRect(x, y, w, ROW);
  g.fillStyle = ink.wait;
  if (part > 0 && (what & 3) !== IDLE) {
    if (mixed) g.fillRect(x, y + ROW * (1 - part), w, ROW * part);
    else g.fillRect(x, y, w * part, ROW);
  }
  g.globalAlpha = 1;
  const site = d.t.sites[what >> 2];
  if (w > 60 && site && (what & 3) === WORK) {
    g.fillStyle = '#ffffff';
    g.fillText(site.name, Math.max(x, NAMES) + 4, y + 14, Math.min(w, d.width - Math.max(x, NAMES)) - 8);
  }
}

function softEdges(d, thread, y) {
  const { bars } = thread;
  let drawn = 0;
  for (let i = firstEndingAfter(bars, d.view.from - thread.uncertainty); i < bars.n && bars.from[i] < d.view.to + thread.uncertainty && drawn < 400; i++, drawn++) {
    const x0 = d.x(bars.from[i] - thread.uncertainty), x1 = d.x(bars.from[i] + thread.uncertainty), fade = d.g.createLinearGradient(x0, 0, x1, 0);
    fade.addColorStop(0, 'rgba(128,128,128,0)');
    fade.addColorStop(0.5, 'rgba(128,128,128,0.75)');
    fade.addColorStop(1, 'rgba(128,128,128,0)');
    d.g.fillStyle = fade;
    d.g.fillRect(Math.max(NAMES, x0), y, x1 - Math.max(NAMES, x0), ROW);
  }
}

/* From what was waited for to the end of the wait; the longest ones that are in view. */
function drawLinks(d) {
  const { g, t } = d;
  let drawn = 0;
  g.save();
  g.beginPath();
  g.rect(NAMES, 0, d.width - NAMES, d.y(d.threads.length));
  g.clip();
  g.strokeStyle = d.ink.ink;
  g.lineWidth = 1;
  g.globalAlpha = 0.6;
  for (let i = 0; i < t.links.length && drawn < 300; i += 5) {
    const [from, to, sent, done, waited] = t.links.slice(i, i + 5);
    if (done < d.view.from || sent > d.view.to || waited < 2 * d.perPixel) continue;
    drawn++;
    g.beginPath();
    g.moveTo(d.x(sent), d.y(from) + ROW / 2);
    g.lineTo(d.x(done), d.y(to) + ROW / 2);
    g.stroke();
    g.beginPath();
    g.arc(d.x(done), d.y(to) + ROW / 2, 2.5, 0, 7);
    g.stroke();
  }
  g.restore();
}

function drawPath(d) {
  const { g, t } = d;
  for (let i = 0; i < t.path.length; i += 4) {
    const [thread, from, to, sure] = t.path.slice(i, i + 4);
    if (to < d.view.from || from > d.view.to) continue;
    const x = Math.max(NAMES, d.x(from));
    g.fillStyle = d.ink.path;
    g.globalAlpha = sure ? 1 : 0.45;
    g.fillRect(x, d.y(thread) + ROW, Math.max(1, Math.min(d.width, d.x(to)) - x), 3);
    g.globalAlpha = 1;
  }
}

function tell(tip, t, threads, event, at, box) {
  const row = Math.floor((event.offsetY - HEAD) / (ROW + GAP)), thread = threads[row];
  const i = thread && event.offsetX >= NAMES ? firstEndingAfter(thread.bars, at) : -1;
  if (i < 0 || i >= thread.bars.n || thread.bars.from[i] > at) {
    tip.classList.add('gone');
    return;
  }
  const { bars } = thread, site = t.sites[bars.what[i] >> 2] || { name: 'not known' }, long = bars.to[i] - bars.from[i];
  const did = ['work in ', '', 'idle after ', 'not known, '][bars.what[i] & 3];
  const lines = [`${thread.name}: ${did}${site.name}`, site.file ? `${site.file}:${site.line}` : '',
    `from ${time(bars.from[i])}, ${time(long)} long`, bars.waited[i] > 0 ? `waiting: ${time(bars.waited[i])}` : '',
    bars.count[i] > 1 ? `${bars.count[i].toLocaleString('en')} steps together; most is shown (${Math.round((100 * bars.most[i]) / long)} %)` : '',
    `each end known to ±${time(thread.uncertainty)}`].filter(Boolean);
  tip.replaceChildren(...lines.flatMap((line, k) => (k ? [element('br'), line] : [line])));
  tip.style.left = Math.min(event.offsetX + 14, box.clientWidth - 260) + 'px';
  tip.style.top = event.offsetY - box.scrollTop + 18 + 'px';
  tip.classList.remove('gone');
}

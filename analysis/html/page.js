/* SPDX-License-Identifier: MIT
 *
 * page.js - draws what dprof-analyze found, which lies in the page as JSON. Names come from the program: they are text, and never markup. */
'use strict';

const data = JSON.parse(document.getElementById('data').textContent);
const main = document.getElementById('main');

/* ---- Small things --------------------------------------------------------------------------------------------------- */

/* element('td', {class: 'n'}, 'text', child...) */
function element(tag, attributes, ...children) {
  const e = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes || {}))
    if (value !== undefined && value !== null && value !== false) e.setAttribute(key, value);
  e.append(...children.filter((child) => child !== undefined && child !== null));
  return e;
}

const known = (x) => x && Number.isFinite(x.lo) && Number.isFinite(x.hi);
const middle = (x) => (known(x) ? (x.lo + x.hi) / 2 : 0);

/* "31.2 ±0.1": the interval is inside of what is shown, with at most so many decimals. */
function shown(x, unit = '', most = 4) {
  if (!known(x)) return 'not known';
  if (x.lo === 0 && x.hi === 0) return '0' + unit;
  const half = (x.hi - x.lo) / 2, size = Math.max(Math.abs(x.lo), Math.abs(x.hi));
  if (half > size / 4 || size < 10 ** -most) return outward(x.lo, size, -1, most) + ' .. ' + outward(x.hi, size, 1, most) + unit;
  const digits = half > 0 ? Math.ceil(-Math.log10(half)) + 1 : 12;
  const decimals = Math.max(0, Math.min(most, digits, 5 - Math.ceil(Math.log10(size))));
  const text = ((x.lo + x.hi) / 2).toFixed(decimals), at = Number(text);
  const off = Math.max(x.hi - at, at - x.lo, 0), step = 10 ** -decimals;
  const beside = Math.ceil(off / step - 1e-9) * step;
  return text + (beside > 0 ? ' ±' + beside.toFixed(decimals) : '') + unit;
}

function outward(value, size, direction, most) {
  if (value === 0) return '0';
  const step = 10 ** Math.max(-most, Math.ceil(Math.log10(size)) - 3), decimals = Math.max(0, Math.min(12, -Math.round(Math.log10(step))));
  return (direction < 0 ? Math.floor(value / step) * step : Math.ceil(value / step) * step).toFixed(decimals);
}

const percent = (x) => shown(x, ' %');

/* In the unit that fits, which all numbers of a table share; a millionth of the largest is the least that is told. */
function secondsUnit(largest) {
  const [factor, unit] = largest >= 1 ? [1, 's'] : largest >= 1e-3 ? [1e3, 'ms'] : [1e6, 'µs'];
  const most = Math.max(0, Math.min(9, 6 - Math.ceil(Math.log10(Math.max(largest * factor, 1e-3)))));
  return { unit, factor, of: (x) => (known(x) ? shown({ lo: x.lo * factor, hi: x.hi * factor }, '', most) : 'not known') };
}

function time(ns) {
  const size = Math.abs(ns);
  const [factor, unit] = size >= 1e9 ? [1e9, 's'] : size >= 1e6 ? [1e6, 'ms'] : size >= 1e3 ? [1e3, 'µs'] : [1, 'ns'];
  return Number((ns / factor).toPrecision(6)) + ' ' + unit;
}

function who(x) {
  if (!x || x.rank === undefined) return '';
  const rank = x.rank >= 0 ? 'rank ' + x.rank : 'pid ' + x.pid;
  return x.thread > 0 || data.threaded ? rank + ' thread ' + x.thread : rank;
}

const whoCell = (x) => element('td', { class: 'who' }, who(x));
const textCell = (text) => element('td', { class: 'text' }, text || '');
const place = (x) => (x.file ? x.file + (x.line ? ':' + x.line : '') : x.site || '');
/* A place without a line goes by its name. */
const named = (name, where) => element('td', { class: 'name' }, String(name),
  ...(where && where !== String(name) ? [' ', element('span', { class: 'where' }, where)] : []));

/* The part of 0 .. most that is certain, and that is possible. */
function range(x, most) {
  if (!known(x) || !(most > 0)) return element('span', { class: 'range' });
  const part = (v) => Math.max(0, Math.min(100, (100 * v) / most));
  return element('span', { class: 'range', 'aria-hidden': 'true' },
    element('i', { style: `left:0;width:${part(x.lo)}%` }),
    element('i', { class: 'possible', style: `left:${part(x.lo)}%;width:${Math.max(0.5, part(x.hi) - part(x.lo))}%` }));
}

/* Behind a caption: bars that are not of 100 % have a scale of their own. */
const scale = (most, unit = { factor: 1, unit: '%' }) => (most > 0 ? `; a whole bar is about ${Number((most * unit.factor).toPrecision(3))} ${unit.unit}` : '');

/* columns: [title, row -> cell or text, numeric]. Long tables show their first rows until asked. Where the page is narrow, a table of class
 * "stack" has what is in a row one below the other, each behind its title. The caption is outside of what scrolls. */
function table(caption, columns, rows, most = 12, classes = null) {
  const body = element('tbody');
  const t = element('table', { class: classes, 'aria-label': caption },
    element('thead', {}, element('tr', {}, ...columns.map(([title, , numeric]) => element('th', { scope: 'col', class: numeric && 'n' },
      title || element('span', { class: 'unseen' }, 'drawn'))))), body);
  rows.forEach((row, i) => {
    const tr = element('tr', { class: i >= most ? 'gone more' : undefined });
    for (const [title, of, numeric] of columns) {
      const value = of(row), cell = value instanceof HTMLTableCellElement ? value : element('td', { class: numeric && 'n' }, value);
      if (title && cell.textContent) cell.dataset.title = title;
      tr.append(cell);
    }
    body.append(tr);
  });
  const box = element('div', {}, element('p', { class: 'caption' }, caption), element('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': caption }, t));
  if (rows.length > most) {
    const more = element('button', { type: 'button' }, `All ${rows.length} rows`);
    more.addEventListener('click', () => {
      body.querySelectorAll('.more').forEach((tr) => tr.classList.remove('gone'));
      more.remove();
    });
    box.append(more);
  }
  return box;
}

function section(id, title, ...content) {
  const s = element('section', { id, 'aria-labelledby': id + '-title' }, element('h2', { id: id + '-title' }, title), ...content);
  main.append(s);
  document.getElementById('views').append(element('a', { href: '#' + id }, title));
  return s;
}

const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/* ---- Summary -------------------------------------------------------------------------------------------------------- */

function card(title, value, note) {
  return element('div', { class: 'card' }, title, element('b', {}, value), note ? element('span', { class: 'quiet' }, note) : '');
}

/* What costs most, where the report itself has not looked for that (it does not in a long run). */
function costliest(r) {
  const first = ((data.diagnose || {}).findings || [])[0];
  if (r.findings || !first || !first.proved || !first.what) return '';
  return `${percent(first.cost_percent)} of all threads' time: ${first.what} (proved).` +
    (first.expected_percent ? ` ${first.less_percent} % less there: the run ${percent(first.expected_percent)} shorter.` : '');
}

const several = (count, what, ending = 's') => `${count} ${what}${count === 1 ? '' : ending}`;

function summary() {
  const r = data.report || {}, e = data.efficiency || {}, unit = secondsUnit(middle(r.span_s));
  document.getElementById('title').textContent = 'dprof: ' + (r.program || 'a run');
  document.title = 'dprof: ' + (r.program || 'a run');
  const s = section('summary', 'Summary');
  for (const problem of r.problems || []) s.append(element('p', { class: 'damage' }, problem));
  for (const line of r.first ? [`${r.first} ${r.gain}`, r.advice] : [r.advice, r.gain, costliest(r)]) if (line) s.append(element('p', { class: 'finding' }, line));
  if (r.command) s.append(element('p', { class: 'quiet' }, 'Next: ', element('code', {}, r.command)));
  s.append(element('div', { class: 'cards' },
    card('The run', known(r.span_s) ? unit.of(r.span_s) + ' ' + unit.unit : 'not known',
      [several(r.processes, 'process', 'es'), several((r.threads || []).length, 'thread'), several(r.hosts, 'clock')].join(', ')),
    card('Events', Number(r.events || 0).toLocaleString('en'), r.lost ? r.lost + ' lost' : 'none lost'),
    card('Parallel efficiency', percent(e.parallel || (r.efficiency || {}).parallel), 'useful time of all threads')));
  if ((r.notes || []).length)
    s.append(element('details', {}, element('summary', {}, `Notes (${r.notes.length})`), ...r.notes.map((note) => element('p', { class: 'quiet' }, note))));
}

/* ---- Efficiency ----------------------------------------------------------------------------------------------------- */

/* Each is the product of those below it. */
const factors = [
  ['parallel', 0, 'Parallel efficiency', 'useful time, of what all threads could have done'],
  ['load_balance', 1, 'Load balance', 'useful time on average, by the longest of a thread'],
  ['communication', 1, 'Communication', 'the longest useful time, by the run'],
  ['serialisation', 2, 'Serialisation', 'what is left behind waiting for each other on any network'],
  ['transfer', 2, 'Transfer', 'what is left behind the network and the operations themselves'],
];
const hybrid = [
  ['mpi.parallel', 1, 'MPI', 'if threads were useful whenever their process is outside of MPI'],
  ['mpi.load_balance', 2, 'Load balance of processes', ''], ['mpi.communication', 2, 'Communication of processes', ''],
  ['openmp.parallel', 1, 'Threads', 'the rest: what the processes\' threads lose'],
];

function efficiency() {
  const e = data.efficiency || {}, of = (key) => key.split('.').reduce((x, part) => (x || {})[part], e);
  if (!known(e.parallel)) return;
  const cause = (key) => {
    const c = (e.causes || []).find((x) => x.factor === key);
    if (!c) return '';
    const by = c.caused_by && c.caused_by.region !== undefined && c.caused_by.region !== null ? `, for ${who(c.caused_by)} in ${c.caused_by.region}` : '';
    return `${who(c)} in ${c.name}${by}: ${percent(c.percent)} ${key === 'load_balance' ? 'of the run' : "of all threads' time"}`;
  };
  const rows = [...factors, ...(known(of('mpi.parallel')) ? hybrid : [])];
  section('efficiency', 'Efficiency', table('How much of what the threads could have done was useful, and what kept them from it; each is the product of those below it', [
    ['factor', ([, depth, name]) => element('td', { class: 'who', style: `padding-left:${depth * 1.4}rem` }, name)],
    ['percent', ([key]) => shown(of(key)), true], ['', ([key]) => range(of(key), 100)],
    ['what it is', ([, , , what]) => textCell(what)], ['what keeps it low', ([key]) => textCell(cause(key.startsWith('openmp') ? 'openmp' : key))],
  ], rows, 12, 'stack'));
}

/* ---- Diagnosis ------------------------------------------------------------------------------------------------------ */

function diagnosis() {
  const d = data.diagnose || {}, findings = d.findings || [];
  if (!findings.length) return;
  const worst = Math.max(...findings.map((f) => (f.cost_percent || {}).hi || 0));
  section('diagnosis', 'Diagnosis', d.why_model ? element('p', {}, `Taken for: ${d.model}, since ${d.why_model}.`) : null,
    table('What is slow, why, and what to change' + scale(worst), [
      ['cost, % of all threads\' time', (f) => shown(f.cost_percent), true], ['', (f) => range(f.cost_percent, worst)],
      ['cause', (f) => f.cause], ['verdict', (f) => (f.proved ? 'proved' : 'undecided')], ['on', whoCell], ['where', (f) => named(f.region || '', f.where)],
      ['why', (f) => textCell(f.what)], ['suggestion', (f) => element('td', { class: 'text' }, f.suggestion || '', f.expected_percent ?
        element('span', { class: 'where' }, ` ${f.less_percent} % less there: the run ${percent(f.expected_percent)} shorter (proved ${d.proved_if ? `if ${d.proved_if}: ` : ''}${percent(f.speedup_percent)})`) : '')],
    ], findings, 8, 'stack'));
}

/* ---- Stragglers ----------------------------------------------------------------------------------------------------- */

function stragglers() {
  const threads = (data.report || {}).threads || [];
  if (!threads.length) return;
  const most = Math.max(...threads.map((t) => (t.straggler_percent ? t.straggler_percent.hi : 0)));
  const rows = [...threads].sort((a, b) => middle(b.straggler_percent) - middle(a.straggler_percent));
  const unit = secondsUnit(Math.max(...threads.map((t) => middle(t.working_s) + middle(t.waiting_s))));
  const open = data.report.open_work_percent.hi;
  section('stragglers', 'Stragglers', open < 0.001 ? '' : element('p', { class: 'quiet' }, 'Scores (others wait) take for work what may have been a wait that was ' +
    `not recorded: up to ${outward(open, open, 1, 3)} % of the run in one thread.`), table('For how much of the run all others wait for a thread' + scale(most), [
    ['thread', whoCell], ['others wait, % of run', (t) => shown(t.straggler_percent), true],
    ['', (t) => range(t.straggler_percent, most)], ['verdict', (t) => t.verdict || ''],
    ['mostly in', (t) => named(t.site || '', place({ file: t.file, line: t.line }))],
    [`works, ${unit.unit}`, (t) => unit.of(t.working_s), true], [`waits, ${unit.unit}`, (t) => unit.of(t.waiting_s), true],
    ['host', (t) => t.host || ''],
  ], rows, 16));
}

/* ---- What-ifs ------------------------------------------------------------------------------------------------------- */

/* From nothing to all that a region is less is what can be expected of any. */
const tells = (p) => known(p.expected_percent) && (p.expected_percent.lo > 0 || p.expected_percent.hi < middle(p.reduce_percent) || middle(p.reduce_percent) === 0);
const last = (region) => region.curve[region.curve.length - 1];

function curve(region) {
  const x = region.curve.map((p) => middle(p.reduce_percent));
  const end = (of, which, is = (p) => known(p[of])) => region.curve.map((p) => (is(p) ? p[of][which] : null));
  const figure = element('figure', {}, element('figcaption', {}, element('b', {}, who(region) ? `all work of ${who(region)}` : region.region), ' ',
    element('span', { class: 'where' }, place(region)), tells(last(region)) ? null : ' What is to be expected is not known.'));
  const ink = css('--quiet'), axis = { stroke: ink, grid: { stroke: css('--line') }, ticks: { stroke: css('--line') } };
  const options = {
    width: 360, height: 210, legend: { show: false }, cursor: { drag: { x: false, y: false } },
    scales: { x: { time: false }, y: { range: (u, lo, hi) => [Math.min(0, lo), Math.max(1, hi * 1.05)] } },
    axes: [{ ...axis, label: 'region shorter by, %' }, { ...axis, label: 'run shorter by, %' }],
    series: [{ label: 'less, %' },
      { label: 'proved from', stroke: css('--soft'), width: 1, points: { show: false } },
      { label: 'to', stroke: css('--soft'), width: 1, points: { show: false } },
      { label: 'expected from', stroke: css('--bar'), width: 2, points: { show: false } },
      { label: 'to', stroke: css('--bar'), width: 2, points: { show: false } }],
    bands: [{ series: [2, 1], fill: css('--wait') }],
  };
  new uPlot(options, [x, end('speedup_percent', 'lo'), end('speedup_percent', 'hi'), end('expected_percent', 'lo', tells), end('expected_percent', 'hi', tells)], figure);
  return figure;
}

function whatIfs() {
  const rows = ((data.report || {}).profile || []).filter((row) => row.curve && row.curve.length > 1);
  if (!rows.length) return;
  const charts = element('div', { class: 'charts' }), gain = (row) => (tells(last(row)) ? middle(last(row).expected_percent) : -Infinity);
  const first = [...rows].sort((a, b) => gain(b) - gain(a) || 0).slice(0, 6);
  const draw = () => charts.replaceChildren(...first.map(curve));
  draw();
  document.addEventListener('theme', draw);
  const condition = data.report.proved_if ? `, if ${data.report.proved_if} (see the notes)` : '';
  const at = (row, less) => row.curve.find((p) => Math.abs(middle(p.reduce_percent) - less) < 0.01) || {};
  section('whatif', 'What if',
    element('p', {}, `How much shorter the run would be (below 0: longer) if a region took less time, and nothing else changed. The line is what is expected, where two lines are something between them; the band is what is proved${condition}. Both assume that what threads do depends neither on a clock nor on what others change unseen: in memory, in files, or in the kernel.`), charts,
    table('Run shorter by, %', [
      ['region', (row) => named(who(row) ? `all work of ${who(row)}` : row.region, who(row) ? '' : place(row))],
      ...[25, 50, 100].flatMap((less) => [[`${less} % less: expected`, (row) => shown(at(row, less).expected_percent), true],
        [condition ? 'proved if work' : 'proved', (row) => shown(at(row, less).speedup_percent), true]]),
    ], rows));
}

/* ---- Waits ---------------------------------------------------------------------------------------------------------- */

const kindNames = { late_sender: 'late sender', late_receiver: 'late receiver', wait_at_barrier: 'barrier', wait_at_nxn: 'all to all',
  late_broadcast: 'late broadcast', early_reduce: 'early reduce', task_starvation: 'no task', imbalance: 'end of team' };

function waits() {
  const w = data.waits || {}, rows = w.waits || [], delays = w.delays || [];
  if (!rows.length) return;
  const unit = secondsUnit(Math.max(...rows.map((row) => middle(row.seconds)))), most = Math.max(...rows.map((row) => row.seconds.hi || 0));
  const s = section('waits', 'Waits', table('Who waited, for whom, and for how long' + scale(most, unit), [
    ['kind', (x) => element('td', { class: 'who' }, kindNames[x.kind] || x.kind)], ['who', whoCell], ['at', (x) => named(x.name, x.site)],
    [`time, ${unit.unit}`, (x) => unit.of(x.seconds), true], ['', (x) => range(x.seconds, most)], ['verdict', (x) => x.verdict || ''],
    ['for', (x) => whoCell(x.caused_by)], ['which was in', (x) => named((x.caused_by || {}).region || '', (x.caused_by || {}).site)],
    ['times', (x) => String(x.count), true],
  ], rows));
  if (delays.length)
    s.append(table('What that goes back to: what was longer elsewhere', [
      ['who', whoCell], ['was longer in', (x) => named(x.region, x.site)], [`cost, ${unit.unit}`, (x) => unit.of(x.seconds), true],
      ['% of all waiting', (x) => shown(x.share_percent), true], ['', (x) => range(x.share_percent, 100)], ['verdict', (x) => x.verdict || ''],
    ], delays));
}

/* ---- Critical path -------------------------------------------------------------------------------------------------- */

function path() {
  const p = data.path || {}, rows = p.segments || [];
  if (!rows.length) return;
  const unit = secondsUnit(middle(p.length_s));
  const s = section('path', 'Critical path', table('What the end of the run waited for, back to its begin', [
    ['% of it', (x) => shown(x.share_percent), true], ['', (x) => range(x.share_percent, 100)], ['on', whoCell],
    ['in', (x) => named(x.name, place(x))], [`time, ${unit.unit}`, (x) => unit.of(x.seconds), true], ['verdict', (x) => x.verdict || ''],
  ], rows));
  if ((p.slack || []).length)
    s.append(table('What is nearly on it: how much longer it could take before the run does', [
      ['on', whoCell], ['in', (x) => named(x.name, place(x))], [`takes, ${unit.unit}`, (x) => unit.of(x.seconds), true],
      [`slack, ${unit.unit}`, (x) => (x.slack_s && x.slack_s.hi === null ? 'no limit known' : unit.of(x.slack_s)), true],
    ], p.slack, 6));
}

/* ---- Profile and messages ------------------------------------------------------------------------------------------- */

function profile() {
  const p = data.profile || {}, flat = p.flat || [];
  if (!flat.length) return;
  const unit = secondsUnit(Math.max(...flat.map((x) => middle(x.inclusive_s)))), most = Math.max(...flat.map((x) => x.exclusive_s.hi || 0));
  section('profile', 'Profile', table('Regions and operations, of all threads together' + scale(most, unit), [
    ['name', (x) => named(x.name, place(x))], ['visits', (x) => Number(x.visits).toLocaleString('en'), true],
    [`exclusive, ${unit.unit}`, (x) => unit.of(x.exclusive_s), true], ['', (x) => range(x.exclusive_s, most)],
    [`inclusive, ${unit.unit}`, (x) => unit.of(x.inclusive_s), true], [`waiting, ${unit.unit}`, (x) => unit.of(x.waiting_s), true],
    ['bytes', (x) => Number(x.bytes).toLocaleString('en'), true], ['imbalance, %', (x) => shown(x.imbalance_percent), true],
  ], flat, 20));
}

/* What was found of each line: time and path, in percent; and by how much the run is expected to be shorter if the region there took half as long. */
function lineFacts() {
  const facts = new Map(), whole = ((data.profile || {}).calls || [])[0];
  const at = (x) => {
    const key = `${x.file}:${x.line}`;
    if (!facts.has(key)) facts.set(key, { names: [] });
    return facts.get(key);
  };
  const add = (x, y) => ({ lo: Math.min(100, (x ? x.lo : 0) + y.lo), hi: Math.min(100, (x ? x.hi : 0) + y.hi) });
  for (const x of (data.profile || {}).flat || []) {
    if (!x.line) continue;
    const f = at(x);
    f.names.push(x.name);
    if (whole && whole.inclusive_s.lo > 0)
      f.time = add(f.time, { lo: (100 * x.own_s.lo) / whole.inclusive_s.hi, hi: (100 * x.own_s.hi) / whole.inclusive_s.lo });
  }
  for (const x of (data.path || {}).regions || []) if (x.line) at(x).path = add(at(x).path, x.share_percent);
  for (const x of (data.report || {}).profile || []) {
    const half = x.line && !who(x) && (x.curve || []).find((p) => Math.abs(middle(p.reduce_percent) - 50) < 0.01);
    if (half && (!at(x).gain || half.expected_percent.hi > at(x).gain.hi)) at(x).gain = half.expected_percent;
  }
  // A region that is marked in several places has all of that at the first: the others say which that is.
  const first = new Map();
  for (const x of (data.timeline || {}).sites || []) {
    if (x.kind !== 'region' || !x.line) continue;
    if (!first.has(x.name)) first.set(x.name, x);
    else if (!facts.has(`${x.file}:${x.line}`)) Object.assign(at(x), { names: [x.name], see: first.get(x.name) });
  }
  return facts;
}

/* A file's lines, and those that it has no text of by their names; where lines are left out, a row says so. */
function sourceRows(file, facts) {
  const rows = [], found = new Map([...facts].filter(([key]) => key.startsWith(file.file + ':') && /^\d+$/.test(key.slice(file.file.length + 1)))
    .map(([key, f]) => [Number(key.slice(file.file.length + 1)), f]));
  for (let i = 0; i < file.lines.length; i += 2) {
    if (i && file.lines[i] > file.lines[i - 2] + 1) rows.push({ gap: file.lines[i] - file.lines[i - 2] - 1 });
    rows.push({ number: file.lines[i], text: file.lines[i + 1], ...found.get(file.lines[i]) });
    found.delete(file.lines[i]);
  }
  for (const [number, f] of [...found].sort((a, b) => a[0] - b[0])) rows.push({ number, ...f });
  return rows;
}

function sourceLine(row) {
  if (row.gap) return element('tr', { class: 'quiet' }, element('td', { colspan: 5 }, `⋯ ${row.gap} line${row.gap === 1 ? '' : 's'}`));
  const share = (x) => element('td', { class: 'n' }, !x || x.hi === 0 ? '' : x.hi < 0.1 ? '< 0.1' : shown(x));
  const shares = row.see ? [element('td', { colspan: 3, class: 'n quiet' }, `see ${row.see.file.replace(/.*\//, '')}:${row.see.line}`)]
    : [share(row.time), share(row.path), share(row.gain)];
  const tr = element('tr', {}, ...shares, element('td', { class: 'n where' }, String(row.number)),
    element('td', {}, row.text === undefined ? element('i', {}, row.names ? row.names.join(', ') : '') : element('code', { class: 'line' }, row.text)));
  const most = Math.max(row.time ? row.time.hi : 0, row.path ? row.path.hi : 0);
  if (most > 0) tr.style.background = `color-mix(in srgb, var(--soft) ${Math.round(8 + most * 0.5)}%, transparent)`;
  return tr;
}

function sourceListing() {
  const facts = lineFacts(), most = (rows) => Math.max(0, ...rows.map((row) => (row.time ? row.time.hi : 0)));
  const files = (data.source || []).map((file) => ({ ...file, rows: sourceRows(file, facts) })).sort((a, b) => most(b.rows) - most(a.rows));
  if (!files.length) return;
  section('source', 'Source', element('p', { class: 'quiet' }, 'Each line\'s share of all threads\' time and of the critical path, in percent; and by how much ' +
    'the run is expected to be shorter, in percent, if the region there took half as long. A region that is marked in several places has all of that at the first of them. Sleeps, input and output count for the region that they are in.'),
  ...files.map((file, i) => element('details', { open: i < 2 && most(file.rows) > 0 && '' }, element('summary', {}, file.file + (file.why || '')),
    element('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': file.file }, element('table', { class: 'source' },
      element('thead', {}, element('tr', {}, ...['time, %', 'path, %', 'half: −%', 'line'].map((t) => element('th', { scope: 'col', class: 'n' }, t)),
        element('th', { scope: 'col' }, 'source'))),
      element('tbody', {}, ...file.rows.map(sourceLine)))))));
}

function messages() {
  const rows = (data.profile || {}).messages || [];
  if (!rows.length) return;
  const ranks = [...new Set(rows.flatMap((m) => [m.from, m.to].map((x) => (x && x.rank !== undefined ? x.rank : x))))].sort((a, b) => a - b);
  const number = (x) => (x && x.rank !== undefined ? x.rank : x), of = new Map(rows.map((m) => [number(m.from) + ' ' + number(m.to), m]));
  const s = section('messages', 'Messages');
  if (ranks.length <= 64) {
    const most = Math.max(...rows.map((m) => Number(m.bytes) || 1));
    const cell = (from, to) => {
      const m = of.get(from + ' ' + to), td = element('td', {}, m ? Number(m.count).toLocaleString('en') : '');
      if (m) {
        td.style.background = `color-mix(in srgb, var(--soft) ${Math.round(15 + (70 * Number(m.bytes)) / most)}%, transparent)`;
        td.title = `rank ${from} to rank ${to}: ${m.count} messages, ${m.bytes} bytes`;
      }
      return td;
    };
    s.append(element('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Message matrix' }, element('table', { class: 'matrix' },
      element('caption', {}, 'Messages from each rank (rows) to each (columns); the darker, the more bytes'),
      element('tr', {}, element('th', { scope: 'col' }, 'from \\ to'), ...ranks.map((to) => element('th', { scope: 'col', class: 'n' }, String(to)))),
      ...ranks.map((from) => element('tr', {}, element('th', { scope: 'row' }, String(from)), ...ranks.map((to) => cell(from, to)))))));
  }
  const sorted = [...rows].sort((a, b) => Number(b.bytes) - Number(a.bytes));
  s.append(table('Pairs, most bytes first', [['from', (m) => 'rank ' + number(m.from)], ['to', (m) => 'rank ' + number(m.to)],
    ['messages', (m) => Number(m.count).toLocaleString('en'), true], ['bytes', (m) => Number(m.bytes).toLocaleString('en'), true]], sorted, 8));
}

/* ---- Clocks --------------------------------------------------------------------------------------------------------- */

function widths(t) {
  const figure = element('figure', {}, element('figcaption', {}, 'How uncertain each clock is during the run'));
  const draw = () => {
    figure.querySelectorAll('.uplot').forEach((e) => e.remove());
    const ink = css('--quiet'), axis = { stroke: ink, grid: { stroke: css('--line') }, ticks: { stroke: css('--line') } };
    const colours = [css('--bar'), '#d55e00', '#009e73', '#cc79a7', '#e69f00'];
    new uPlot({ width: Math.min(760, main.clientWidth - 30), height: 240, scales: { x: { time: false } }, cursor: { drag: { x: false, y: false } },
      axes: [{ ...axis, label: 'seconds since the begin' }, { ...axis, label: 'µs wide', size: 60 }],
      series: [{ label: 's' }, ...t.clocks.slice(0, 16).map((c, i) => ({ label: c.host, stroke: colours[i % colours.length], width: 2,
        value: (u, v) => (v === null ? '' : v.toFixed(3)) }))] },
      [t.moments.map((ns) => ns / 1e9), ...t.clocks.slice(0, 16).map((c) => c.widths.map((ns) => ns / 1e3))], figure);
  };
  draw();
  document.addEventListener('theme', draw);
  return figure;
}

function clocks() {
  const c = (data.clocks || {}).clocks || [], s = section('clocks', 'Clocks');
  if (data.timeline && data.timeline.clocks.length > 1) s.append(widths(data.timeline));
  const us = (v) => (v === null || v === undefined ? 'not known' : (v * 1e6).toPrecision(4));
  s.append(table('The clock of each host, and how well it is known', [
    ['host', (x) => x.host], ['bounds', (x) => x.status || ''], ['links', (x) => Number(x.links).toLocaleString('en'), true],
    ['packets answered', (x) => (x.packets ? Number(x.packets.exchanges).toLocaleString('en') : ''), true],
    ['least wide, µs', (x) => us((x.width_s || {}).min), true], ['median', (x) => us((x.width_s || {}).median), true],
    ['widest', (x) => us((x.width_s || {}).max), true],
  ], c, 16));
  const assumptions = ['report', 'path', 'waits', 'efficiency', 'profile'].map((key) => (data[key] || {}).assumptions).filter(Boolean);
  for (const text of new Set(assumptions)) s.append(element('p', { class: 'quiet' }, text));
}

/* ---- All of it ------------------------------------------------------------------------------------------------------ */

function search() {
  const input = document.getElementById('search');
  input.addEventListener('input', () => {
    const text = input.value.trim().toLowerCase();
    for (const tr of main.querySelectorAll('tbody tr'))
      tr.classList.toggle('hit', text !== '' && tr.textContent.toLowerCase().includes(text));
    document.dispatchEvent(new CustomEvent('searched', { detail: text }));
  });
}

function theme() {
  const set = (dark) => {
    document.documentElement.classList.toggle('dark', dark);
    document.dispatchEvent(new Event('theme'));
  };
  document.documentElement.classList.toggle('dark', matchMedia('(prefers-color-scheme: dark)').matches);
  document.getElementById('theme').addEventListener('click', () => set(!document.documentElement.classList.contains('dark')));
}

theme();
data.threaded = new Set(((data.report || {}).threads || []).map((t) => t.rank)).size < ((data.report || {}).threads || []).length;
summary();
diagnosis();
if (data.timeline) timeline(data.timeline);
efficiency();
stragglers();
whatIfs();
waits();
path();
profile();
sourceListing();
messages();
clocks();
search();
document.documentElement.dataset.ready = 'yes';

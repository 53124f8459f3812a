"use strict";
// Draws the timeline and sorts the table. The address may end in #from=MS&to=MS&sort=COLUMN&find=NAME.

const data = JSON.parse(document.getElementById("data").textContent);
const canvas = document.getElementById("canvas");
const box = document.getElementById("timeline");
const tip = document.getElementById("tip");
const selection = document.getElementById("selection");
const brush = canvas.getContext("2d");

const LABELS = 210, RIGHT = 12, AXIS = 26, SPAN = 18, GAP = 6, HEADING = 24, CURVE = 84;
const NARROWEST = 1; // microseconds from edge to edge
const view = {from: 0, to: Math.max(data.duration, NARROWEST)};
let chosen = null; // the number of the name that is looked for
let drawn = []; // [left, top, right, bottom, span], for the pointer
let areas = []; // [top, bottom, device], for the pointer

// Spans of a row lie one after the other in the columns.
const firsts = data.rows.map(() => 0), ends = data.rows.map(() => 0);
for (let span = data.row.length - 1; span >= 0; span--) {
  const row = data.row[span];
  firsts[row] = span;
  ends[row] = ends[row] || span + 1;
}

function number(value) { return value >= 99.95 ? value.toFixed(0) : String(+value.toPrecision(3)); }

function timeText(us) {
  if (us >= 1e6) return number(us / 1e6) + " s";
  if (us >= 1e3) return number(us / 1e3) + " ms";
  return number(us) + " \u00b5s";
}

function bytesText(bytes) {
  for (const [size, unit] of [[1e9, "GB"], [1e6, "MB"], [1e3, "kB"]])
    if (bytes >= size) return number(bytes / size) + " " + unit;
  return bytes + " bytes";
}

function color(name) { return getComputedStyle(document.documentElement).getPropertyValue(name).trim(); }

// One name has one color wherever it stands; operators and what is around them differ in strength.
const hues = data.names.map((name) => {
  let hash = 7;
  for (const letter of name) hash = (hash * 31 + letter.codePointAt(0)) % 360;
  return hash;
});

function plot() {
  return {left: LABELS, width: Math.max(box.clientWidth - LABELS - RIGHT, 50)};
}

function xOf(time) {
  const {left, width} = plot();
  return left + (time - view.from) / (view.to - view.from) * width;
}

function timeAt(x) {
  const {left, width} = plot();
  return view.from + (x - left) / width * (view.to - view.from);
}

function heightOfAll() {
  let height = AXIS, process = null;
  for (const row of data.rows) {
    if (row.process !== process) height += HEADING;
    process = row.process;
    height += row.depth * SPAN + GAP;
  }
  const devices = Object.keys(data.memory).length;
  return height + devices * (CURVE + HEADING) + 8;
}

function fitText(text, width) {
  if (brush.measureText(text).width <= width) return text;
  let low = 0, high = text.length;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (brush.measureText(text.slice(0, middle) + "\u2026").width <= width) low = middle;
    else high = middle - 1;
  }
  return low ? text.slice(0, low) + "\u2026" : "";
}

function stepOf(width) {
  const rough = (view.to - view.from) / Math.max(width / 110, 1);
  const power = 10 ** Math.floor(Math.log10(rough));
  return power * [1, 2, 5, 10].find((factor) => factor * power >= rough);
}

function drawAxis(colors, height) {
  const {left, width} = plot();
  const step = stepOf(width);
  brush.font = "12px system-ui, sans-serif";
  brush.textAlign = "center";
  for (let tick = Math.ceil(view.from / step); tick * step <= view.to; tick++) {
    const x = Math.round(xOf(tick * step)) + 0.5;
    brush.strokeStyle = colors.line;
    brush.beginPath();
    brush.moveTo(x, AXIS - 4);
    brush.lineTo(x, height);
    brush.stroke();
    brush.fillStyle = colors.quiet;
    const near = Math.min(Math.max(x, left + 20), left + width - 24);
    brush.fillText(tick ? timeText(tick * step) : "0", near, 16);
  }
  brush.textAlign = "left";
}

// Where to begin drawing a row: at the last of its outermost spans that began before the view.
function firstInView(row) {
  let low = firsts[row], high = ends[row];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (data.start[middle] < view.from) low = middle + 1; else high = middle;
  }
  do low -= 1; while (low > firsts[row] && data.depth[low] > 0);
  return Math.max(low, firsts[row]);
}

function spanColor(span, colors) {
  if (chosen !== null) return data.name[span] === chosen ? colors.memory : colors.faded;
  const category = data.categories[data.category[span]];
  const quiet = ["segment", "push", "wait", "exchange"].includes(category);
  if (quiet || data.names[data.name[span]] === "waiting for ranks") return colors.chrome;
  return `hsl(${hues[data.name[span]]} ${colors.hues} ${colors.lightness})`;
}

function drawRow(row, top, colors) {
  const {left, width} = plot();
  const last = []; // by depth, the right edge of what is drawn: what is hidden behind it is left out
  let count = 0;
  brush.font = "12px system-ui, sans-serif";
  for (let span = firstInView(row); span < ends[row]; span++) {
    const start = data.start[span];
    if (start > view.to) break;
    const depth = data.depth[span];
    const from = Math.max(xOf(start), left), to = Math.min(xOf(start + data.time[span]), left + width);
    if (to < left || from > left + width) continue;
    const right = Math.max(to, from + 1);
    const wanted = chosen !== null && data.name[span] === chosen;
    if (!wanted && right <= (last[depth] ?? -1)) continue;
    last[depth] = right;
    const y = top + depth * SPAN;
    const wide = right - from;
    brush.fillStyle = spanColor(span, colors);
    brush.fillRect(from, y, wide > 3 ? wide - 0.7 : wide, SPAN - 2);
    if (wide > 34) {
      brush.fillStyle = chosen !== null && !wanted ? colors.quiet : colors.barText;
      brush.fillText(fitText(data.names[data.name[span]], wide - 8), from + 4, y + 12);
    }
    drawn.push([from, y, right, y + SPAN - 2, span]);
    count += 1;
  }
  return count;
}

function drawCurve(device, top, colors) {
  const {left, width} = plot();
  const {at, bytes} = data.memory[device];
  const most = Math.max(1, bytes.reduce((a, b) => Math.max(a, b), 0));
  const yOf = (value) => top + CURVE - value / most * (CURVE - 14);
  brush.beginPath();
  brush.moveTo(left, top + CURVE);
  let y = top + CURVE;
  for (let i = 0; i < at.length && at[i] <= view.to; i++) {
    const x = Math.min(Math.max(xOf(at[i]), left), left + width);
    brush.lineTo(x, y);
    y = yOf(bytes[i]);
    brush.lineTo(x, y);
  }
  brush.lineTo(left + width, y);
  brush.lineTo(left + width, top + CURVE);
  brush.closePath();
  brush.fillStyle = colors.memoryFill;
  brush.fill();
  brush.strokeStyle = colors.memory;
  brush.stroke();
  brush.fillStyle = colors.quiet;
  brush.font = "12px system-ui, sans-serif";
  brush.textAlign = "right";
  brush.fillText(bytesText(most), left - 10, top + 18);
  brush.fillText("0", left - 10, top + CURVE);
  brush.textAlign = "left";
  areas.push([top, top + CURVE, device]);
}

function heading(text, top, colors) {
  brush.font = "600 13px system-ui, sans-serif";
  brush.fillStyle = colors.text;
  brush.fillText(text, 10, top + 17);
}

function draw() {
  const height = heightOfAll(), ratio = window.devicePixelRatio || 1;
  canvas.style.height = height + "px";
  canvas.width = Math.round(box.clientWidth * ratio);
  canvas.height = Math.round(height * ratio);
  brush.setTransform(ratio, 0, 0, ratio, 0, 0);
  const colors = {
    line: color("--line"), text: color("--text"), quiet: color("--quiet"), faded: color("--faded"),
    chrome: color("--chrome"), barText: color("--bar-text"), memory: color("--memory"),
    memoryFill: color("--memory-fill"), hues: color("--hues"), lightness: color("--lightness"),
  };
  drawn = [];
  areas = [];
  drawAxis(colors, height);
  let top = AXIS, process = null, count = 0;
  data.rows.forEach((row, place) => {
    if (row.process !== process) {
      heading(row.process, top, colors);
      top += HEADING;
    }
    process = row.process;
    brush.font = "12px system-ui, sans-serif";
    brush.fillStyle = colors.quiet;
    brush.fillText(fitText(row.name, LABELS - 30), 20, top + 12);
    count += drawRow(place, top, colors);
    top += row.depth * SPAN + GAP;
  });
  for (const device of Object.keys(data.memory)) {
    heading("memory of " + device, top, colors);
    top += HEADING;
    drawCurve(device, top, colors);
    top += CURVE;
  }
  canvas.dataset.drawn = count;
  canvas.dataset.from = view.from;
  canvas.dataset.to = view.to;
}

function look(from, to) {
  const whole = Math.max(data.duration, NARROWEST);
  const width = Math.min(Math.max(to - from, NARROWEST), whole);
  view.from = Math.min(Math.max(from, 0), whole - width);
  view.to = view.from + width;
  tip.hidden = true;
  draw();
}

function zoom(factor, center = (view.from + view.to) / 2) {
  look(center - (center - view.from) * factor, center + (view.to - center) * factor);
}

function shift(part) {
  const by = (view.to - view.from) * part;
  look(view.from + by, view.to + by);
}

// The last one drawn at a place lies on top there.
function spanUnder(x, y) {
  for (let i = drawn.length - 1; i >= 0; i--) {
    const [left, top, right, bottom, span] = drawn[i];
    if (x >= left - 0.5 && x <= right + 0.5 && y >= top && y <= bottom) return span;
  }
  return null;
}

function memoryUnder(x, y) {
  const area = areas.find(([top, bottom]) => y >= top && y <= bottom);
  if (!area || x < LABELS) return null;
  const {at, bytes} = data.memory[area[2]], time = timeAt(x);
  let low = 0, high = at.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (at[middle] <= time) low = middle + 1; else high = middle;
  }
  return `${area[2]} holds ${bytesText(low ? bytes[low - 1] : 0)}\nat ${timeText(time)}`;
}

function textOf(span) {
  const lines = [
    data.names[data.name[span]],
    `${timeText(data.time[span])}, from ${timeText(data.start[span])} on`,
  ];
  const category = data.categories[data.category[span]];
  if (category !== "operator") lines[0] += ` (${category})`;
  const detail = data.details[data.detail[span]];
  return detail ? lines.concat(detail).join("\n") : lines.join("\n");
}

function showTip(x, y) {
  const span = spanUnder(x, y);
  const text = span === null ? memoryUnder(x, y) : textOf(span);
  tip.hidden = text === null;
  if (text === null) return;
  tip.textContent = text;
  tip.style.left = Math.max(4, Math.min(x + 14, box.clientWidth - tip.offsetWidth - 8)) + "px";
  const below = y + 18 + tip.offsetHeight < box.clientHeight;
  tip.style.top = Math.max(4, below ? y + 18 : y - tip.offsetHeight - 10) + "px";
}

let dragged = null;
canvas.addEventListener("pointerdown", (event) => {
  if (event.button !== 0 || event.offsetX < LABELS) return;
  dragged = event.offsetX;
  canvas.setPointerCapture(event.pointerId);
});
canvas.addEventListener("pointermove", (event) => {
  if (dragged === null) return showTip(event.offsetX, event.offsetY);
  const x = Math.max(event.offsetX, LABELS);
  selection.hidden = false;
  selection.style.left = Math.min(dragged, x) + "px";
  selection.style.width = Math.abs(x - dragged) + "px";
});
canvas.addEventListener("pointerup", (event) => {
  if (dragged === null) return;
  const x = Math.max(event.offsetX, LABELS), from = Math.min(dragged, x), to = Math.max(dragged, x);
  dragged = null;
  selection.hidden = true;
  if (to - from > 4) look(timeAt(from), timeAt(to));
});
canvas.addEventListener("pointerleave", () => { tip.hidden = true; });
canvas.addEventListener("dblclick", () => look(0, data.duration));
canvas.addEventListener("wheel", (event) => {
  if (!event.ctrlKey) return; // without it the page scrolls
  event.preventDefault();
  zoom(event.deltaY < 0 ? 0.8 : 1.25, timeAt(event.offsetX));
}, {passive: false});
const buttons = {
  "zoom-in": () => zoom(0.5),
  "zoom-out": () => zoom(2),
  earlier: () => shift(-0.5),
  later: () => shift(0.5),
  whole: () => look(0, data.duration),
};
for (const [id, press] of Object.entries(buttons)) document.getElementById(id).onclick = press;

const table = document.getElementById("operators");

function sortBy(column, descending) {
  const rows = [...table.tBodies[0].rows];
  const key = (row) => column ? +row.cells[column].dataset.value : row.dataset.name;
  rows.sort((a, b) => {
    const order = column ? key(a) - key(b) : key(a).localeCompare(key(b));
    return descending ? -order : order;
  });
  table.tBodies[0].append(...rows);
  [...table.tHead.rows[0].cells].forEach((cell, place) => {
    if (place === column) cell.setAttribute("aria-sort", descending ? "descending" : "ascending");
    else cell.removeAttribute("aria-sort");
  });
}

for (const button of table.tHead.querySelectorAll("button")) {
  button.onclick = () => {
    const cell = button.closest("th"), column = +button.dataset.column;
    const before = cell.getAttribute("aria-sort");
    sortBy(column, before ? before === "ascending" : column > 0);
  };
}

function find(name) {
  const place = data.names.indexOf(name);
  chosen = place < 0 || place === chosen ? null : place;
  for (const row of table.tBodies[0].rows)
    row.classList.toggle("chosen", chosen !== null && row.dataset.name === data.names[chosen]);
  draw();
}

table.tBodies[0].addEventListener("click", (event) => {
  const row = event.target.closest("tr");
  if (row) find(row.dataset.name);
});

if (data.left_out) {
  const note = document.getElementById("left-out");
  note.hidden = false;
  note.textContent = `The ${data.row.length.toLocaleString("en")} longest events are shown; `
    + `${data.left_out.toLocaleString("en")} shorter ones are in the trace only.`;
}

const asked = new URLSearchParams(location.hash.slice(1));
if (asked.has("from") || asked.has("to")) {
  view.from = 1e3 * (asked.get("from") ?? 0);
  view.to = asked.has("to") ? 1e3 * asked.get("to") : data.duration;
}
look(view.from, view.to);
if (asked.has("sort")) sortBy(+asked.get("sort"), asked.get("order") !== "ascending");
if (asked.has("find")) find(asked.get("find"));
new ResizeObserver(draw).observe(box);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);

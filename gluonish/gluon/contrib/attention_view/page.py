"""The page of an `AttentionView`: HTML with its data and its program inside."""

import json
from base64 import b64encode
from collections.abc import Sequence
from typing import Any
from uuid import uuid4

import numpy as np

_LEVELS = 255

# `ID` and `DATA` are replaced. Labels are written by `fillText` and `textContent` only, so that a
# token is never read as HTML.
_PAGE = """<div id="ID" style="background:#fff;color:#222;font:13px sans-serif;padding:8px">
<label>layer <select></select></label> <label>head <select></select></label>
<span style="margin-left:1em"></span>
<div style="overflow:auto;margin-top:6px"><canvas></canvas></div>
<script>(function () {
const root = document.getElementById("ID"), data = DATA;
const [layerBox, headBox] = root.querySelectorAll("select");
const note = root.querySelector("span"), canvas = root.querySelector("canvas");
const draw = canvas.getContext("2d"), layers = [...new Set(data.panels.map(p => p.layer))];
let panel, cell, left, top;
function fill(box, entries) {
  box.replaceChildren(...entries.map(([text, value]) => {
    const option = document.createElement("option");
    option.textContent = text; option.value = value; return option;
  }));
}
function values(p) {
  if (!p.bytes) p.bytes = Uint8Array.from(atob(p.data), c => c.charCodeAt(0));
  return p.bytes;
}
function label(list, i) { return list ? list[i] : String(i); }
function cut(text) { return text.length > 24 ? text.slice(0, 23) + "\\u2026" : text; }
function weight(row, column) {
  return values(panel)[row * panel.keys + column] / LEVELS * panel.most;
}
function widest(list, count) {
  let most = 0;
  for (let i = 0; i < count; i++)
    most = Math.max(most, draw.measureText(cut(label(list, i))).width);
  return most;
}
function show(row, column) {
  const font = Math.min(13, Math.max(cell, 8)), every = Math.ceil(10 / cell);
  draw.setTransform(1, 0, 0, 1, 0, 0);
  draw.fillStyle = "#fff"; draw.fillRect(0, 0, canvas.width, canvas.height);
  for (let t = 0; t < panel.queries; t++) for (let s = 0; s < panel.keys; s++) {
    const x = weight(t, s) / (panel.most || 1);
    draw.fillStyle = `rgb(${247 - 239 * x},${251 - 203 * x},${255 - 148 * x})`;
    draw.fillRect(left + s * cell, top + t * cell, cell, cell);
  }
  draw.font = font + "px sans-serif"; draw.textBaseline = "middle"; draw.textAlign = "right";
  for (let t = 0; t < panel.queries; t++) {
    if (t % every && t !== row) continue;
    draw.fillStyle = t === row ? "#c00" : "#222";
    draw.fillText(cut(label(data.labels, t)), left - 6, top + (t + 0.5) * cell);
  }
  draw.textAlign = "left";
  for (let s = 0; s < panel.keys; s++) {
    if (s % every && s !== column) continue;
    draw.fillStyle = s === column ? "#c00" : "#222";
    draw.save(); draw.translate(left + (s + 0.5) * cell, top - 6); draw.rotate(-Math.PI / 2);
    draw.fillText(cut(label(data.keys, s)), 0, 0); draw.restore();
  }
  draw.strokeStyle = "#c00";
  if (row >= 0) draw.strokeRect(left + column * cell, top + row * cell, cell, cell);
  note.textContent = row >= 0
    ? `${label(data.labels, row)} \\u2192 ${label(data.keys, column)}: `
      + weight(row, column).toFixed(3)
    : `queries are rows, keys columns; darkest is ${panel.most.toFixed(3)}`;
}
function choose() {
  panel = data.panels.find(p => p.layer === layerBox.value && String(p.head) === headBox.value);
  cell = Math.max(3, Math.min(28, Math.floor(720 / Math.max(panel.queries, panel.keys))));
  draw.font = "13px sans-serif";
  left = widest(data.labels, panel.queries) + 12; top = widest(data.keys, panel.keys) + 12;
  canvas.width = left + panel.keys * cell + 12; canvas.height = top + panel.queries * cell + 4;
  show(-1, -1);
}
function heads() {
  const before = headBox.value, of = data.panels.filter(p => p.layer === layerBox.value);
  fill(headBox, of.map(p => [p.head, p.head]));
  if (of.some(p => String(p.head) === before)) headBox.value = before;
  choose();
}
canvas.onmousemove = event => {
  const column = Math.floor((event.offsetX - left) / cell);
  const row = Math.floor((event.offsetY - top) / cell);
  const inside = row >= 0 && row < panel.queries && column >= 0 && column < panel.keys;
  show(inside ? row : -1, inside ? column : -1);
};
canvas.onmouseleave = () => show(-1, -1);
layerBox.onchange = heads; headBox.onchange = choose;
fill(layerBox, layers.map((name, i) => [`${i}: ${name}`, name])); heads();
})();</script></div>"""


def page_of(
    panels: Sequence[tuple[str, int, np.ndarray]],
    labels: list[str] | None,
    key_labels: list[str] | None,
) -> str:
    """Return the page of some heads, whose weights are rounded to 1/255 of the greatest.

    Args:
        panels: Layer, head and weights (T, S) of each.
        labels: Of the queries, or None.
        key_labels: Of the keys, or None.
    """
    data = {
        "labels": labels,
        "keys": key_labels,
        "panels": [_encoded(layer, head, weights) for layer, head, weights in panels],
    }
    text = json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")
    page = _PAGE.replace("LEVELS", str(_LEVELS)).replace("ID", f"attention-{uuid4().hex}")
    return page.replace("DATA", text, 1)


def _encoded(layer: str, head: int, weights: np.ndarray) -> dict[str, Any]:
    most = float(weights.max(initial=0))
    levels = np.rint(np.nan_to_num(weights) / (most or 1) * _LEVELS).clip(0, _LEVELS)
    return {
        "layer": layer,
        "head": head,
        "queries": weights.shape[0],
        "keys": weights.shape[1],
        "most": most,
        "data": b64encode(levels.astype(np.uint8).tobytes()).decode(),
    }

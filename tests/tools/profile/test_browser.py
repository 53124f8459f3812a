"""The page in a browser without a window: what its program makes of it."""

import html
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from gluonish.tools.profile.advice import advice
from gluonish.tools.profile.page import page
from gluonish.tools.profile.summary import summarize
from gluonish.tools.profile.trace import read_trace
from tests.tools.profile import traces

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
BROWSER = next((path for name in NAMES if (path := shutil.which(name))), None)
# What a person does: points at a span and at the memory, drags over a part, sorts, and chooses.
DEEDS = """
<script>
const results = {};
const point = (kind, x, y) => {
  const box = canvas.getBoundingClientRect();
  const at = {clientX: box.left + x, clientY: box.top + y, bubbles: true, pointerId: 1, button: 0};
  canvas.dispatchEvent(new PointerEvent(kind, at));
};
canvas.setPointerCapture = () => {};
const find_drawn = (name) => drawn.find(([, , , , span]) => data.names[data.name[span]] === name);
const [left, top_, right, bottom] = find_drawn("relu");
point("pointermove", (left + right) / 2, (top_ + bottom) / 2);
results.span = tip.textContent;
const [first, , device] = areas[0];
point("pointermove", xOf(500), first + 20);
results.memory = tip.textContent;
point("pointermove", 5, 5);
results.hidden = tip.hidden;
point("pointerdown", xOf(400), 40);
point("pointermove", xOf(600), 40);
point("pointerup", xOf(600), 40);
results.part = [view.from, view.to].map(Math.round);
document.getElementById("whole").click();
results.whole = [view.from, view.to];
document.getElementById("zoom-in").click();
results.closer = [view.from, view.to];
document.getElementById("later").click();
results.later = [view.from, view.to];
const order = () => [...table.tBodies[0].rows].map((row) => row.dataset.name);
const heads = table.tHead.querySelectorAll("button");
heads[1].click();
results.most_runs = order()[0];
heads[1].click();
results.fewest_runs_last = order()[2];
heads[0].click();
results.names = order();
table.tBodies[0].rows[0].cells[0].click();
results.chosen = data.names[chosen];
document.body.dataset.results = JSON.stringify(results);
</script>
"""
SETTINGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--hide-scrollbars",
    "--window-size=1200,1000",
    "--virtual-time-budget=2000",
)
pytestmark = pytest.mark.skipif(
    BROWSER is None, reason=f"no browser: none of {', '.join(NAMES)} in PATH"
)


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("page")
    trace = read_trace(traces.write(folder / "a.json", traces.events()))
    summary = summarize(trace)
    text = page("train.py", trace, summary, advice(trace, summary))
    (folder / "a.html").write_text(text, "utf-8")
    (folder / "deeds.html").write_text(text.replace("</body>", f"{DEEDS}</body>"), "utf-8")
    return (folder / "a.html").as_uri()


def browse(address: str, folder: Path, *settings: str) -> tuple[str, "np.ndarray[Any, Any]"]:
    """Open an address; return the document as its program left it, and how it looks."""
    shot = folder / "shot.png"
    own = (f"--user-data-dir={folder / 'user'}", f"--screenshot={shot}", "--dump-dom")
    done = subprocess.run(
        [str(BROWSER), *SETTINGS, *own, *settings, address],
        capture_output=True,
        timeout=60,
        check=True,
    )
    assert b"Uncaught" not in done.stderr, done.stderr.decode()
    with Image.open(shot) as image:
        return done.stdout.decode(), np.asarray(image.convert("RGB")).astype(int)


def drawn(document: str) -> dict[str, float]:
    (tag,) = re.findall("<canvas[^>]*>", document)
    return {name: float(value) for name, value in re.findall(r'data-(\w+)="([^"]*)"', tag)}


def operators(document: str) -> list[str]:
    return re.findall('<tr data-name="([^"]*)"', document)


def stands_out(pixels: "np.ndarray[Any, Any]") -> tuple[float, float]:
    """The part of a picture that is not its ground, and the part of that which is colored."""
    shown = pixels[np.abs(pixels - pixels[5, 5]).sum(axis=2) > 60]
    colored = shown.max(axis=1) - shown.min(axis=1) > 40
    return shown.size / pixels.size, float(colored.mean())


def test_the_whole_run_is_drawn_and_the_longest_operator_is_first(
    address: str, tmp_path: Path
) -> None:
    document, pixels = browse(address, tmp_path)
    assert drawn(document) == {"drawn": 8, "from": 0, "to": 1000}
    assert operators(document) == ["Convolution", "dot&lt;/script&gt;", "relu"]
    assert pixels[5, 5].tolist() == [255, 255, 255]
    part, colored = stands_out(pixels)
    assert 0.02 < part < 0.5
    assert colored > 0.02


def test_an_address_asks_for_a_part_an_order_and_an_operator_in_the_dark(
    address: str, tmp_path: Path
) -> None:
    asked = "#from=0.55&to=0.65&sort=4&order=ascending&find=relu"
    document, pixels = browse(address + asked, tmp_path, "--force-dark-mode")
    # The segment, relu, the second convolution, and the wait; the blocks have ended.
    assert drawn(document) == {"drawn": 4, "from": 550, "to": 650}
    assert operators(document) == ["relu", "dot&lt;/script&gt;", "Convolution"]
    assert re.findall('<tr data-name="([^"]*)" class="chosen"', document) == ["relu"]
    assert re.search('<th [^>]*aria-sort="ascending"[^>]*><button[^>]*>Longest', document)
    assert pixels[5, 5].max() < 60
    part, colored = stands_out(pixels)
    assert 0.02 < part < 0.5
    assert colored > 0.02


def test_pointing_dragging_sorting_and_choosing(address: str, tmp_path: Path) -> None:
    document, _ = browse(address.replace("a.html", "deeds.html"), tmp_path)
    (text,) = re.findall('data-results="([^"]*)"', document)
    results = json.loads(html.unescape(text))
    assert results == {
        "span": "relu\n100 \u00b5s, from 500 \u00b5s on\n"
        "reads float32 (8, 3) (96 bytes)\nwrites float32 (8, 3) (96 bytes)\nnode: relu0",
        "memory": "cpu/0 holds 2.5 MB\nat 500 \u00b5s",
        "hidden": True,
        "part": [400, 600],
        "whole": [0, 1000],
        "closer": [250, 750],
        "later": [500, 1000],
        "most_runs": "Convolution",
        "fewest_runs_last": "Convolution",
        "names": ["Convolution", "dot</script>", "relu"],
        "chosen": "Convolution",
    }

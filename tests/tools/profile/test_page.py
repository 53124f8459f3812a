"""The page's structure and figures, without a browser."""

import json
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from gluonish.tools.profile import page as page_module
from gluonish.tools.profile.advice import advice
from gluonish.tools.profile.page import page
from gluonish.tools.profile.summary import summarize
from gluonish.tools.profile.trace import read_trace
from tests.tools.profile import traces

_VOID = {"meta", "br", "link", "img", "input"}


class Reader(HTMLParser):
    """Refuses unbalanced tags; keeps attributes, table rows and the data."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[tuple[str, dict[str, str | None]]] = []
        self.attributes: list[tuple[str, str, str | None]] = []
        self.rows: list[list[str]] = []
        self.data = ""
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.attributes += [(tag, name, value) for name, value in attrs]
        if tag not in _VOID:
            self.open.append((tag, dict(attrs)))
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open[-1][0] == tag
        self.open.pop()

    def handle_data(self, data: str) -> None:
        tag, attributes = self.open[-1] if self.open else ("", {})
        if attributes.get("id") == "data":
            self.data += data
        elif tag not in ("script", "style"):
            self.text += data
        if any(name in ("td", "th") for name, _ in self.open):
            self.rows[-1][-1] += data


def made(folder: Path, events: list[dict[str, Any]], title: str = "train.py") -> Reader:
    trace = read_trace(traces.write(folder / "a.json", events))
    summary = summarize(trace)
    reader = Reader()
    text = page(title, trace, summary, advice(trace, summary))
    reader.feed(text)
    reader.close()
    assert not reader.open
    return reader


def test_page_needs_nothing_but_itself(tmp_path: Path) -> None:
    reader = made(tmp_path, traces.events())
    loads = [entry for entry in reader.attributes if entry[1] in ("src", "href", "action")]
    assert loads == []
    style = Path(page_module.__file__).with_name("page.css").read_text("utf-8")
    program = Path(page_module.__file__).with_name("page.js").read_text("utf-8")
    for word in ("url(", "@import"):
        assert word not in style
    for word in ("fetch(", "XMLHttpRequest", "http:", "https:", "import(", "innerHTML", "</"):
        assert word not in program


def test_data_are_those_of_the_trace(tmp_path: Path) -> None:
    data = json.loads(made(tmp_path, traces.events()).data)
    columns = zip(data["row"], data["name"], data["start"], data["time"], strict=True)
    rows = [f"{row['process']} {row['name']}" for row in data["rows"]]
    found = {(rows[row], data["names"][name], start, time) for row, name, start, time in columns}
    titles = {
        traces.FIRST: "cpu/0 compute worker 1",
        traces.SECOND: "cpu/1 compute worker 1",
        traces.PROGRAM: "python MainThread",
    }
    spans = [event for event in traces.events() if event["ph"] == "X"]
    assert found == {
        (titles[one["pid"], one["tid"]], one["name"], one["ts"] - traces.START_US, one["dur"])
        for one in spans
    }
    assert data["memory"] == {
        "cpu/0": {"at": [100, 300, 900], "bytes": [1_000_000, 2_500_000, 500_000]}
    }
    assert data["duration"] == 1000
    details = {data["details"][number] for number in data["detail"]}
    arrays = "reads float32 (8, 3) (96 bytes)\nwrites float32 (8, 3) (96 bytes)"
    assert f"{arrays}\nnode: relu0" in details


def test_tables_have_the_sums(tmp_path: Path) -> None:
    rows = made(tmp_path, traces.events()).rows
    assert ["cpu/0", "700 µs", "70.0 %", "", "2.5 MB"] in rows
    assert ["cpu/1", "200 µs", "20.0 %", "", ""] in rows
    assert [row for row in rows if row[0] in ("Convolution", "relu", "dot</script>")] == [
        ["Convolution", "2", "600 µs", "300 µs", "400 µs", "66.7 %", "384 bytes"],
        ["dot</script>", "1", "200 µs", "200 µs", "200 µs", "22.2 %", "32 bytes"],
        ["relu", "1", "100 µs", "100 µs", "100 µs", "11.1 %", "192 bytes"],
    ]


def test_names_cannot_become_tags(tmp_path: Path) -> None:
    events = [traces.span("<b>&\"'", "operator", traces.FIRST, 0, 10)]
    reader = made(tmp_path, [*traces.names(), *events], "<i>$title</i>.py")
    assert "<i>$title</i>.py" not in {name for name, *_ in reader.attributes}
    assert not {tag for tag, *_ in reader.attributes} & {"b", "i"}
    assert json.loads(reader.data)["names"] == ["<b>&\"'"]


def test_an_empty_trace_has_a_page(tmp_path: Path) -> None:
    reader = made(tmp_path, [])
    assert "No operator ran" in reader.text


def test_of_too_many_spans_the_longest_are_drawn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page_module, "MOST_SPANS", 3)
    data = json.loads(made(tmp_path, traces.events()).data)
    assert sorted(data["time"]) == [400, 500, 700]
    assert data["left_out"] == 5

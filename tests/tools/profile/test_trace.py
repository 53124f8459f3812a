from pathlib import Path

import pytest

from gluonish.core.errors import FileFormatError, MissingFileError
from gluonish.tools.profile.trace import read_trace
from tests.tools.profile import traces


def test_rows_are_devices_first_and_the_program_last(tmp_path: Path) -> None:
    trace = read_trace(traces.write(tmp_path / "a.json", traces.events()))
    rows = [(row.process, row.name, row.is_device, row.depth) for row in trace.rows]
    assert rows == [
        ("cpu/0", "compute worker 1", True, 2),
        ("cpu/1", "compute worker 1", True, 1),
        ("python", "MainThread", False, 2),
    ]


def test_times_count_from_the_first_event_to_the_end_of_the_last(tmp_path: Path) -> None:
    trace = read_trace(traces.write(tmp_path / "a.json", traces.events()))
    assert trace.duration_us == 1000
    first = [span for span in trace.spans if span.row == traces.FIRST[1]]
    assert [(span.name, span.start_us, span.duration_us, span.depth) for span in first] == [
        ("net0", 100, 700, 0),
        ("Convolution", 100, 400, 1),
        ("relu", 500, 100, 1),
        ("Convolution", 600, 200, 1),
    ]
    assert first[2].details["node"] == "relu0"


def test_memory_is_a_curve_in_order_by_device(tmp_path: Path) -> None:
    trace = read_trace(traces.write(tmp_path / "a.json", traces.events()[::-1]))
    curve = [(100, 1_000_000), (300, 2_500_000), (900, 500_000)]
    assert trace.memory == {"cpu/0": curve}


def test_missing_events_are_known(tmp_path: Path) -> None:
    assert read_trace(traces.write(tmp_path / "a.json", traces.events(), 17)).dropped == 17


def test_a_trace_may_be_empty(tmp_path: Path) -> None:
    trace = read_trace(traces.write(tmp_path / "a.json", []))
    assert (trace.rows, trace.spans, trace.memory, trace.duration_us) == ([], [], {}, 0)


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"traceEvents": [{}]}', '{"traceEvents": [{"ph": "X", "ts": 1}]}']
)
def test_another_file_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "a.json"
    path.write_text(text)
    with pytest.raises(FileFormatError, match=r"profile: expected a trace in '.*a\.json', got "):
        read_trace(path)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(MissingFileError, match=r"none\.json"):
        read_trace(tmp_path / "none.json")

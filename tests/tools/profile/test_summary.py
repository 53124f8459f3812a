from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gluonish.tools.profile.page import bytes_text, share_text, time_text
from gluonish.tools.profile.summary import Summary, covered_us, summarize
from gluonish.tools.profile.trace import read_trace
from tests.tools.profile import traces


@pytest.fixture
def summary(tmp_path: Path) -> Summary:
    return summarize(read_trace(traces.write(tmp_path / "a.json", traces.events())))


def test_operators_are_added_up_by_name_and_the_longest_is_first(summary: Summary) -> None:
    assert [operator[:5] for operator in summary.operators] == [
        ("Convolution", 2, 600, 300, 400),
        ("dot</script>", 1, 200, 200, 200),
        ("relu", 1, 100, 100, 100),
    ]
    shares = [operator.share for operator in summary.operators]
    assert shares == pytest.approx([6 / 9, 2 / 9, 1 / 9])
    assert [operator.nbytes for operator in summary.operators] == [384, 32, 192]


def test_a_segment_is_not_counted_beside_its_operators(summary: Summary) -> None:
    assert summary.operator_us == 900
    assert summary.in_graphs == 3


def test_a_device_is_busy_while_any_of_its_rows_is(summary: Summary) -> None:
    first, second = summary.devices
    assert (first.name, first.busy_us, first.peak_nbytes) == ("cpu/0", 700, 2_500_000)
    assert (second.name, second.busy_us, second.peak_nbytes) == ("cpu/1", 200, None)
    assert first.lanes == [("compute worker 1", 700)]
    assert covered_us(first.busy, second.busy) == 100


def test_rows_at_the_same_time_count_once_for_their_device(tmp_path: Path) -> None:
    other = (1, 12)
    events = [*traces.events(), traces.span("copy", "operator", other, 600, 300)]
    events.append(traces.metadata("thread_name", *other, name="copy worker 1"))
    device = summarize(read_trace(traces.write(tmp_path / "b.json", events))).devices[0]
    assert [(lane.name, lane.busy_us) for lane in device.lanes] == [
        ("compute worker 1", 700),
        ("copy worker 1", 300),
    ]
    assert device.busy_us == 800


def test_waits_inside_waits_count_once(tmp_path: Path) -> None:
    events = [*traces.events(), traces.span("wait", "wait", traces.PROGRAM, 600, 100)]
    found = summarize(read_trace(traces.write(tmp_path / "b.json", events)))
    assert (found.waits, found.wait_us) == (2, 500)


intervals = st.sets(st.integers(0, 60), max_size=12).map(
    lambda ends: list(zip(*[iter(sorted(ends))] * 2, strict=False))
)


@given(intervals, intervals)
def test_overlap_is_that_of_the_points(
    left: list[tuple[int, int]], right: list[tuple[int, int]]
) -> None:
    points = [{at for begin, end in side for at in range(begin, end)} for side in (left, right)]
    assert covered_us(left, right) == len(points[0] & points[1])


@pytest.mark.parametrize(
    ("time_us", "text"),
    [
        (0, "0 µs"),
        (0.25, "0.25 µs"),
        (7.5, "7.5 µs"),
        (999.0, "999 µs"),
        (1234.5, "1.23 ms"),
        (123_456, "123 ms"),
        (2_500_000, "2.5 s"),
        (99.97, "100 µs"),
    ],
)
def test_times_have_the_unit_that_fits(time_us: float, text: str) -> None:
    assert time_text(time_us) == text


@pytest.mark.parametrize(
    ("nbytes", "text"),
    [(0, "0 bytes"), (999, "999 bytes"), (1500, "1.5 kB"), (25_690_112, "25.7 MB"), (3e9, "3 GB")],
)
def test_sizes_are_in_powers_of_ten(nbytes: float, text: str) -> None:
    assert bytes_text(nbytes) == text


def test_shares_are_percent() -> None:
    assert share_text(0.0312) == "3.1 %"

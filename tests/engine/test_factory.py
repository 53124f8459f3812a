from typing import Any

import pytest

from gluonish_engine import create_engine


def test_unknown_kind_is_refused_with_the_choices() -> None:
    with pytest.raises(ValueError, match=r"NaiveEngine, ThreadedEngine.*got 'Fast'"):
        create_engine("Fast")


@pytest.mark.parametrize(
    "option",
    [
        {"cpu_workers": 0},
        {"copy_workers": 0},
        {"priority_workers": -1},
        {"stack_trace_depth": -1},
    ],
)
def test_number_out_of_range_is_refused(option: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="expected"):
        create_engine("ThreadedEngine", **option)

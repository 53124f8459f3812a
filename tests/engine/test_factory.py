from typing import Any

import pytest

from gluonish_engine import EngineError, create_engine


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


def test_engines_with_threads_need_the_global_lock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys._is_gil_enabled", lambda: False, raising=False)
    with pytest.raises(EngineError, match="MXNET_ENGINE_TYPE=NaiveEngine"):
        create_engine("ThreadedEngine")
    assert create_engine("NaiveEngine")

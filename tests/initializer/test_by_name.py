import logging
from pathlib import Path

import numpy as np
import pytest

import gluonish.ndarray as nd
from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.initializer import Constant, InitDesc, Load, Mixed, One, Zero


def filled(init: Mixed | Load, name: str) -> list[float]:
    arr = nd.full((2,), 7.0)
    init(InitDesc(name), arr)
    return arr.asnumpy().tolist()


def test_mixed_takes_the_first_pattern_that_matches() -> None:
    init = Mixed(["a_", ".*"], [Constant(5.0), One()])
    assert filled(init, "a_weight") == [5, 5]
    assert filled(init, "b_weight") == [1, 1]


def test_mixed_without_a_match_is_refused() -> None:
    with pytest.raises(ArgumentError, match="matches 'b_weight'"):
        filled(Mixed(["a_"], [Zero()]), "b_weight")


def test_mixed_needs_one_initializer_a_pattern() -> None:
    with pytest.raises(ArgumentError, match="each of 1 patterns, got 0"):
        Mixed(["a"], [])


def test_load_takes_arrays_by_name(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    init = Load({"arg:a_weight": nd.array([1, 2]), "aux:b": nd.array([3, 4])}, One(), verbose=True)
    assert filled(init, "a_weight") == [1, 2]
    assert filled(init, "b") == [3, 4]
    assert filled(init, "c_weight") == [1, 1]
    assert caplog.messages == [
        "Initialized a_weight by loading",
        "Initialized b by loading",
        "Initialized c_weight by default",
    ]


def test_load_reads_a_file(tmp_path: Path) -> None:
    path = str(tmp_path / "a.params")
    nd.save(path, {"arg:a_weight": nd.array([1, 2])})
    assert filled(Load(path), "a_weight") == [1, 2]
    nd.save(path, [nd.array([1, 2])])
    with pytest.raises(ArgumentTypeError, match="arrays with names, got list"):
        Load(path)


def test_load_refuses_another_shape_and_a_missing_array() -> None:
    init = Load({"a": nd.array(np.zeros(3))})
    with pytest.raises(ArgumentError, match=r"shape \(2,\), got \(3,\)"):
        filled(init, "a")
    with pytest.raises(ArgumentError, match="'b' among the arrays"):
        filled(init, "b")

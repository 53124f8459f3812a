from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from tests.onnx.exporting.judge import evaluated

SHAPE = (200, 100)
# What each makes, with the mean and the standard deviation that it should have.
CASES = {
    "uniform": (lambda s: s.random.uniform(2, 4, shape=SHAPE), 3, 2 / 12**0.5),
    "normal": (lambda s: s.random.normal(1, 0.5, shape=SHAPE), 1, 0.5),
    "exponential": (lambda s: s.random.exponential(2, shape=SHAPE), 2, 2),
    "randint": (lambda s: s.random.randint(0, 6, shape=SHAPE), 2.5, (35 / 12) ** 0.5),
}


@pytest.mark.parametrize("name", CASES)
def test_numbers_have_the_distribution(name: str, tmp_path: Path) -> None:
    make, mean, deviation = CASES[name]
    path = str(tmp_path / "x.onnx")
    mx.onnx.export_model(make(mx.sym), {}, [], np.float32, path)
    (y,) = evaluated(path, [])
    assert y.shape == SHAPE
    assert abs(float(y.mean()) - mean) < 0.05 * max(1, mean)
    assert abs(float(y.std()) - deviation) < 0.05 * deviation


def test_dropout_is_gone(tmp_path: Path) -> None:
    x = mx.sym.var("x")
    sym: Any = mx.sym.Dropout(x, p=0.5, mode="always")
    path = str(tmp_path / "x.onnx")
    mx.onnx.export_model(sym, {}, [(3,)], np.float32, path)
    np.testing.assert_array_equal(evaluated(path, [np.ones(3, np.float32)])[0], np.ones(3))

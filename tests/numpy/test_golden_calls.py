"""The calls of tests/golden/np_face_calls.py answer as MXNet 1.9.1 did."""

from pathlib import Path
from typing import Any

import numpy
import pytest

from gluonish import autograd
from gluonish import numpy as np
from gluonish import numpy_extension as npx
from gluonish.core.mxnet_rules import follow_mxnet
from tests.golden.np_face_calls import CALLS, GRADIENTS, inputs

GOLDEN = Path(__file__).parents[1] / "golden" / "np_face.npz"
# Numbers of NumPy in MXNet, arrays of shape () here: they have a gradient.
ARRAYS = ("np.ptp(a)", "np.nanmax(n)")
TOLERANCE = {"float16": 2e-2, "float32": 2e-5, "float64": 1e-6}


@pytest.fixture(scope="module")
def stored() -> Any:
    with numpy.load(GOLDEN) as file:
        return dict(file)


def put(array: Any, key: Any, value: Any) -> Any:
    array[key] = value
    return array


def arrays() -> dict[str, Any]:
    return {name: np.array(value, dtype=value.dtype) for name, value in inputs().items()}


def evaluate(call: str, given: dict[str, Any]) -> Any:
    names = {"np": np, "npx": npx, "numpy": numpy, "put": put, **given}
    return eval(call, names)


def kind_of(answer: Any) -> str:
    if isinstance(answer, list | tuple):
        return type(answer).__name__
    return "array" if isinstance(answer, np.ndarray) else "number"


def check_close(found: Any, expected: Any) -> None:
    if isinstance(found, np.ndarray):
        found = found.asnumpy()
        assert found.dtype == expected.dtype
    assert numpy.shape(found) == expected.shape
    tolerance = TOLERANCE.get(expected.dtype.name, 0)
    numpy.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("call", CALLS)
def test_call_answers_as_mxnet_did(call: str, stored: Any) -> None:
    key = stored["calls"].tolist().index(call)
    before = follow_mxnet()  # as the golden values are those of 1.9
    try:
        answer = evaluate(call, arrays())
    finally:
        follow_mxnet(before)
    if call not in ARRAYS:
        assert kind_of(answer) == str(stored[f"{key}.kind"])
    parts = list(answer) if isinstance(answer, list | tuple) else [answer]
    assert f"{key}.{len(parts)}" not in stored
    for place, part in enumerate(parts):
        check_close(part, stored[f"{key}.{place}"])


@pytest.mark.parametrize("call", GRADIENTS)
def test_gradients_are_those_of_mxnet(call: str, stored: Any) -> None:
    key = stored["gradients"].tolist().index(call)
    given = arrays()
    for array in given.values():
        if array.dtype.kind == "f":
            array.attach_grad()
    with autograd.record():
        answer = evaluate(call, given).sum()
    answer.backward()
    names = [name for name in given if f"g.{key}.{name}" in stored]
    assert names
    for name in names:
        assert type(given[name].grad) is np.ndarray
        check_close(given[name].grad, stored[f"g.{key}.{name}"])

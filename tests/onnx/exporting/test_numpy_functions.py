"""Exported functions of NumPy that MXNet 1.9 has not: the file gives what NumPy gives."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gluonish.core.spec import Spec
from gluonish.graph.ir import append, variable
from gluonish.ops.registry import find_operator
from gluonish.symbol.symbol import Symbol
from tests.onnx.exporting.judge import exported

INF, NAN = float("inf"), float("nan")
FLOATS = [[1.0, -7.5, 0.3, -INF, INF, NAN, 2.0, -1.0], [0.1, 2.0, -0.1, -INF, 3.0, 1.0, NAN, INF]]
WHOLE = [[7, -7, 7, -7, 0, -128, 5], [2, 2, -2, -2, 3, 3, 0]]


def _made(path: Path, name: str, arrays: list[Any], **attrs: Any) -> Any:
    op = find_operator(f"_npi_{name}")
    inputs = [variable(f"x{i}", Spec(x.shape, x.dtype)) for i, x in enumerate(arrays)]
    symbol = Symbol([append(op, inputs, op.schema.parse(op.name, attrs))])
    return exported(path / "x.onnx", symbol, {}, arrays)[0]


@pytest.mark.parametrize("dtype", ["float32", "float64", "int8", "int32"])
@pytest.mark.parametrize(
    "name",
    [
        *("floor_divide", "fmod", "fmax", "fmin", "logaddexp"),
        *("logical_and", "logical_or", "logical_xor"),
    ],
)
def test_exported_function_of_two_arrays_gives_what_numpy_gives(
    name: str, dtype: str, tmp_path: Path
) -> None:
    if name == "logaddexp" and dtype.startswith("int"):
        pytest.skip("takes floats only")
    a, b = np.array(FLOATS if dtype.startswith("float") else WHOLE, dtype)
    with np.errstate(all="ignore"):
        wanted = getattr(np, name)(a, b)
        number = getattr(np, name)(a, np.array(3, dtype))
    np.testing.assert_allclose(_made(tmp_path, name, [a, b]), wanted, rtol=1e-6)
    got = _made(tmp_path, f"{name}_scalar", [a], scalar=3.0, is_int=True)
    np.testing.assert_allclose(got, number, rtol=1e-6)


def test_exported_upper_triangle_is_that_of_numpy(tmp_path: Path) -> None:
    x = np.arange(1, 13, dtype=np.float32).reshape(3, 4)
    np.testing.assert_array_equal(_made(tmp_path, "triu", [x], k=1), np.triu(x, 1))

"""Reading and adding at positions, by all cores, against the reference kernels."""

from typing import Any

import numpy as np
import pytest

from gluonish.core.errors import OperatorError
from gluonish.core.mxnet_rules import follow_mxnet
from gluonish.kernels.compiler import available
from gluonish.kernels.generated import gathering as _gathering  # noqa: F401  # hangs its kernels
from gluonish.kernels.generated import one_hot_and_sequences as _numbered  # noqa: F401  # the same
from gluonish.kernels.generated import scattering as _scattering  # noqa: F401  # the same
from gluonish.ops.kernel import FastKernel
from gluonish.ops.registry import find_operator
from tests.checking.values import run_kernel, spec_of

pytestmark = pytest.mark.skipif(not available(), reason="llvmlite is not there")


def _fast(name: str) -> FastKernel:
    (found,) = [f for f in find_operator(name).fast_kernels if f.name == f"generated.{name}"]
    return found


def compare(name: str, inputs: list[Any], **given: Any) -> None:
    """Run both kernels; the fast one must take the inputs."""
    op = find_operator(name)
    attrs = op.schema.parse(name, given)
    fast = _fast(name)
    assert fast.supports(*map(spec_of, inputs), **attrs)
    (want,) = run_kernel(op, op.kernel, inputs, attrs, attrs)
    (got,) = run_kernel(op, fast.kernel, inputs, attrs, attrs)
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)


def whole(*shape: int, dtype: str = "float32") -> Any:
    """Small whole numbers: their sums are exact."""
    return np.random.default_rng(shape[-1]).integers(-8, 8, shape).astype(dtype)


def places(low: int, high: int, *shape: int, dtype: str = "float32") -> Any:
    return np.random.default_rng(7).integers(low, high, shape).astype(dtype)


@pytest.mark.parametrize("dtype", ["float32", "float16", "float64", "int8"])
@pytest.mark.parametrize("mode", ["clip", "wrap", "raise"])
@pytest.mark.parametrize(("shape", "axis"), [((50, 40), 0), ((20, 50), 1), ((5, 50, 3, 7), 1)])
def test_take(shape: tuple[int, ...], axis: int, mode: str, dtype: str) -> None:
    outside = 0 if mode == "raise" else 60
    index = places(-outside, 50 + outside, 30, 90)
    compare("take", [whole(*shape, dtype=dtype), index], axis=axis, mode=mode)


def test_positions_outside_are_still_refused() -> None:
    op = find_operator("take")
    attrs = op.schema.parse("take", {"mode": "raise"})
    inputs = [whole(50, 40), np.arange(51.0)]
    with pytest.raises(OperatorError, match="positions from 0 to 50"):
        run_kernel(op, _fast("take").kernel, inputs, attrs, attrs)


@pytest.mark.parametrize("kind", ["float32", "float64", "int8", "uint8", "int32", "int64", "int16"])
def test_embedding_with_positions_of_all_types(kind: str) -> None:
    index = places(0, 60, 2000, dtype=kind)
    compare("Embedding", [index % 50, whole(50, 40)], input_dim=50, output_dim=40)
    before = follow_mxnet(True)
    try:
        compare("Embedding", [index, whole(50, 40)], input_dim=50, output_dim=40)
    finally:
        follow_mxnet(before)
    grad = whole(2000, 40)
    compare("_embedding_backward", [grad, index], input_dim=50, output_dim=40)


def test_gather_nd() -> None:
    compare("gather_nd", [whole(50, 40), places(-50, 50, 1, 2000)])
    data, points = whole(9, 8, 7, 5), places(-7, 7, 3, 9000)
    compare("gather_nd", [data, points])
    compare("_backward_gather_nd", [whole(9000, 5), points], shape=data.shape)


def test_rows_of_their_own() -> None:
    for axis, shape in ((1, (40, 900)), (0, (50, 900)), (1, (3, 20, 700))):
        index = places(-5, 60, *shape)
        data = whole(*[50 if i == axis else n for i, n in enumerate(shape)])
        for mode in ("clip", "wrap"):
            compare("_take_along", [data, index], axis=axis, mode=mode)
            attrs = {"shape": data.shape, "axis": axis, "mode": mode}
            compare("_add_along", [whole(*shape), index], **attrs)
    compare("pick", [whole(30, 20, 1800), places(0, 20, 30, 1800)], axis=1)
    compare("batch_take", [whole(40000, 3), places(0, 4, 40000)])


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16", "int32", "int64"])
@pytest.mark.parametrize(
    ("shape", "axis"), [((50, 70), 0), ((50, 9), 0), ((20, 50), 1), ((3, 50, 90), 1)]
)
def test_adding(shape: tuple[int, ...], axis: int, dtype: str) -> None:
    grad = whole(*shape[:axis], 1000, *shape[axis + 1 :]).astype(
        np.dtype(dtype) if dtype != "bfloat16" else pytest.importorskip("ml_dtypes").bfloat16
    )
    compare("_take_add", [grad, places(-60, 60, 1000)], shape=shape, axis=axis, mode="wrap")


def test_nothing_to_add_gives_zeros() -> None:
    grad, index = np.zeros((0, 256), np.float32), np.zeros(0, np.float32)
    compare("_embedding_backward", [grad, index], input_dim=50, output_dim=256)


@pytest.mark.parametrize("dtype", ["float32", "float16", "int8", "int64"])
def test_one_hot(dtype: str) -> None:
    given = {"depth": 40, "on_value": 3.0, "off_value": -1.0, "dtype": dtype}
    compare("one_hot", [places(-3, 44, 1000)], **given)


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("kind", ["float32", "int32"])
def test_sequences(kind: str, axis: int) -> None:
    data, lengths = whole(30, 30, 50), places(0, 34, 30, dtype=kind)
    given = {"use_sequence_length": True}
    compare("SequenceMask", [data, lengths], axis=axis, value=-2.5, **given)
    if not axis:
        compare("SequenceReverse", [data, lengths], **given)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64"])
@pytest.mark.parametrize("repeat", [1, 3])
def test_arange(dtype: str, repeat: int) -> None:
    given = {"start": -7.3, "stop": 90000, "step": 1.7, "repeat": repeat, "dtype": dtype}
    compare("_arange", [], **given)

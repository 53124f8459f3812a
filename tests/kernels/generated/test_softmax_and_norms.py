from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from gluonish.core.dtype import BFLOAT16, FLOAT16
from gluonish.core.spec import Spec
from gluonish.kernels.generated import softmax_and_norms  # noqa: F401  # hangs the kernels on
from gluonish.kernels.generated.loops import is_narrow
from gluonish.ops.kernel import FastKernel
from gluonish.ops.registry import Operator, find_operator

SHAPES = [(3, 24), (5, 64), (2, 3, 100), (300, 130)]
SOFTMAX = {"axis": -1, "temperature": None, "dtype": None, "use_length": False}
BACK = {"axis": -1, "factor": 0.5, "dtype": np.dtype(np.float32)}
L2 = {"eps": 1e-5, "mode": "instance"}


def fast(op: Operator) -> FastKernel:
    (found,) = [kernel for kernel in op.fast_kernels if kernel.name.endswith("_rows")]
    return found


def filled(op: Operator, kernel: Any, inputs: Sequence[Any], attrs: dict[str, Any]) -> list[Any]:
    known = {name: value for name, value in attrs.items() if name in op.schema.attributes}
    specs = op.infer(*[Spec(x.shape, x.dtype) for x in inputs], **known)
    outputs = [np.empty(spec.shape, spec.dtype) for spec in specs]
    with np.errstate(all="ignore"):
        kernel(np, outputs[0] if op.single else tuple(outputs), *inputs, **attrs)
    return outputs


def check(name: str, inputs: Sequence[Any], attrs: dict[str, Any]) -> None:
    op = find_operator(name)
    kernel = fast(op)
    assert kernel.supports(*[Spec(x.shape, x.dtype) for x in inputs], **attrs)
    got = filled(op, kernel.kernel, inputs, attrs)
    wanted = filled(op, op.kernel, inputs, attrs)
    for a, b in zip(got, wanted, strict=True):
        np.testing.assert_allclose(a, b, rtol=2e-5, atol=2e-5)


def arrays(*shapes: tuple[int, ...]) -> list[Any]:
    random = np.random.default_rng(0)
    return [random.standard_normal(shape).astype(np.float32) for shape in shapes]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
def test_softmax(name: str, shape: tuple[int, ...]) -> None:
    check(name, [arrays(shape)[0] * 20], SOFTMAX)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("place", [0, 20, 99])
def test_softmax_of_special_values(value: float, place: int) -> None:
    (x,) = arrays((2, 100))
    x[0, place] = value
    check("softmax", [x], SOFTMAX)
    check("log_softmax", [x], SOFTMAX)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("log", [False, True])
def test_softmax_gradient(log: bool, shape: tuple[int, ...]) -> None:
    check("_softmax_backward", arrays(shape, shape), {**BACK, "log": log})


@pytest.mark.parametrize("shape", SHAPES)
def test_l2_normalization(shape: tuple[int, ...]) -> None:
    grad, x = arrays(shape, shape)
    check("L2Normalization", [x], L2)
    norms = np.sqrt(np.square(x).reshape(len(x), -1).sum(1))
    check("_l2_normalization_backward", [grad, x, norms], L2)


def test_l2_normalization_of_each_channel_at_its_places() -> None:
    check("L2Normalization", arrays((2, 3, 5, 8)), {"eps": 1e-5, "mode": "spatial"})


@pytest.mark.parametrize("shape", SHAPES[:3])
def test_layer_norm(shape: tuple[int, ...]) -> None:
    grad, x, gamma, beta = arrays(shape, shape, shape[-1:], shape[-1:])
    check("LayerNorm", [x, gamma, beta], {"axis": -1, "eps": 1e-5})
    mean, std = x.mean(-1, keepdims=True), x.std(-1, keepdims=True)
    check("_layer_norm_backward", [grad, x, gamma, mean, std], {"axis": -1, "eps": 1e-5})


@pytest.mark.parametrize("shape", [*SHAPES, (2, 5000)], ids=str)
@pytest.mark.parametrize("parameters", [np.dtype(np.float32), None], ids=["float32", "equal"])
@pytest.mark.parametrize("dtype", [BFLOAT16, FLOAT16], ids=str)
def test_layer_norm_of_16_bits_is_that_of_float32_rounded(
    dtype: np.dtype[Any], parameters: np.dtype[Any] | None, shape: tuple[int, ...]
) -> None:
    if not is_narrow(dtype):
        pytest.skip("this processor does not convert float16")
    op, attrs = find_operator("LayerNorm"), {"axis": -1, "eps": 1e-5}
    x, gamma, beta = arrays(shape, shape[-1:], shape[-1:])
    inputs = [x.astype(dtype), gamma.astype(parameters or dtype), beta.astype(parameters or dtype)]
    assert fast(op).supports(*[Spec(a.shape, a.dtype) for a in inputs], **attrs)
    got = filled(op, fast(op).kernel, inputs, attrs)
    wide = filled(op, op.kernel, [a.astype(np.float32) for a in inputs], attrs)
    step = 2.0**-8 if dtype == BFLOAT16 else 2.0**-10
    for a, b in zip(got, wide, strict=True):
        np.testing.assert_allclose(a.astype(np.float32), b, rtol=step, atol=1e-5)


def test_what_is_not_contiguous_goes_to_another_kernel() -> None:
    (x,) = arrays((40, 64))
    op = find_operator("softmax")
    got = filled(op, fast(op).kernel, [x.T], SOFTMAX)
    np.testing.assert_allclose(got[0], filled(op, op.kernel, [x.T], SOFTMAX)[0], rtol=1e-5)


@pytest.mark.parametrize(
    ("shape", "dtype", "axis"),
    [((4, 10), "float32", -1), ((64, 64), "float32", 0), ((4, 64), "float16", -1)],
)
def test_short_rows_other_axes_and_other_dtypes_are_not_taken(
    shape: tuple[int, ...], dtype: str, axis: int
) -> None:
    supports = fast(find_operator("softmax")).supports
    assert not supports(Spec(shape, np.dtype(dtype)), **{**SOFTMAX, "axis": axis})

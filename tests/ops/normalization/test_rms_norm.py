"""rms_norm and add_rms_norm: values, gradients of both orders, 16 bits, kernels and refusals."""

from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import gluonish as mx
from gluonish.core.dtype import BFLOAT16, FLOAT16, FLOAT32
from gluonish.core.errors import OperatorError
from gluonish.core.spec import PartialSpec, Spec
from gluonish.kernels import openmp
from gluonish.kernels.compiler import available
from gluonish.kernels.generated.loops import is_narrow
from gluonish.ops.normalization.rms_norm import ADD_RMS_NORM, RMS_NORM, RMS_NORM_BACKWARD
from tests.checking.check_operator import check_operator
from tests.checking.values import run_kernel, spec_of

_RANDOM = np.random.default_rng(9)
_GOLDEN = np.load(Path(__file__).resolve().parents[2] / "golden" / "transformer_operators.npz")
_compiled = pytest.mark.skipif(not available(), reason="llvmlite is not there")
ATTRS = {"axis": -1, "eps": 1e-6, "offset": False}
SHAPES = [(3, 8), (200, 30), (4096, 16), (1031, 33), (257, 700), (2, 3000), (3, 8, 40), (12,)]


def _normalized(data: Any, gamma: Any) -> Any:
    return data / np.sqrt((data * data).mean(-1, keepdims=True) + 1e-6) * gamma


def _arrays(*shapes: tuple[int, ...]) -> list[Any]:
    return [_RANDOM.standard_normal(shape) for shape in shapes]


def test_the_last_axis_is_normalized() -> None:
    inputs = _arrays((3, 12), (12,))
    check_operator(RMS_NORM, inputs, {}, _normalized, zero_size=[inputs[0][:0], inputs[1]])


@pytest.mark.parametrize("axis", [0, 1, -2])
@pytest.mark.parametrize("offset", [False, True])
def test_any_axis_is_differentiable_twice(axis: int, offset: bool) -> None:
    inputs = _arrays((4, 3, 2), ((4, 3, 2)[axis],))
    attrs = {"axis": axis, "eps": 0.01, "offset": offset}
    check_operator(RMS_NORM, inputs, attrs, half_tolerance=5e-2)


@pytest.mark.parametrize("offset", [False, True])
def test_the_sum_is_normalized_and_returned(offset: bool) -> None:
    def expected(data: Any, residual: Any, gamma: Any) -> Any:
        return _normalized(data + residual, gamma + offset), data + residual

    inputs = _arrays((3, 12), (3, 12), (12,))
    check_operator(ADD_RMS_NORM, inputs, {"offset": offset}, expected, half_tolerance=5e-2)


@pytest.mark.parametrize("heads", [(True, False), (False, True), (True, True)])
def test_gradients_of_the_sum_reach_both_terms(heads: tuple[bool, bool]) -> None:
    x, r, g, *weights = map(mx.nd.array, _arrays((3, 12), (3, 12), (12,), (3, 12), (3, 12)))
    found = []
    for written_out in (False, True):
        for v in (x, r, g):
            v.attach_grad()
        with mx.autograd.record():
            both = (mx.nd.rms_norm(x + r, g), x + r) if written_out else mx.nd.add_rms_norm(x, r, g)
            terms = [y * w for y, w, used in zip(both, weights, heads, strict=True) if used]
            loss: Any = sum(terms)
        loss.backward()
        found.append([v.grad.asnumpy() for v in (x, r, g)])
    for a, b in zip(*found, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("hybridize", [False, True])
@pytest.mark.parametrize(
    ("case", "attrs"),
    [
        ("rms_norm", {"eps": 1e-5}),
        ("rms_norm_offset", {"offset": True}),
        ("add_rms_norm", {"eps": 1e-5}),
    ],
)
def test_values_and_gradients_are_those_of_pytorch(
    case: str, attrs: dict[str, Any], hybridize: bool
) -> None:
    name = case.removesuffix("_offset")
    count = 3 if name == "add_rms_norm" else 2
    inputs = [mx.nd.array(_GOLDEN[f"{case}.x{i}"]) for i in range(count)]
    net = mx.gluon.nn.HybridLambda(
        lambda F, *x: (
            getattr(F, name)(*x, **attrs)[0] if count == 3 else getattr(F, name)(*x, **attrs)
        )
    )
    net.hybridize(hybridize)
    for x in inputs:
        x.attach_grad()
    with mx.autograd.record():
        y = net(*inputs)
    y.backward(mx.nd.array(_GOLDEN[f"{case}.head"]))
    for got, wanted in [
        (y, _GOLDEN[f"{case}.y"]),
        *((x.grad, _GOLDEN[f"{case}.dx{i}"]) for i, x in enumerate(inputs)),
    ]:
        assert np.abs(got.asnumpy() - wanted).max() < 2e-6 * np.abs(wanted).max()


def _chosen(op: Any, inputs: list[Any], attrs: dict[str, Any]) -> Any:
    found = op.select_fast("cpu", [spec_of(x) for x in inputs], attrs)
    assert found is not None
    assert found.name.startswith("generated.")
    return found.kernel


def _calls(shape: tuple[int, ...], dtype: Any, wide: Any) -> list[tuple[Any, list[Any], Any]]:
    """Return calls of the three operators in a dtype, with gamma in another."""
    row, statistic = shape[-1:], (*shape[:-1], 1)
    grad, data, other = (x.astype(dtype) for x in _arrays(shape, shape, shape))
    gamma = _arrays(row)[0].astype(wide)
    inverse = np.abs(_arrays(statistic)[0]).astype(np.float32) + np.float32(0.1)
    made: list[tuple[Any, list[Any], Any]] = []
    for offset in (False, True):
        attrs = {**ATTRS, "offset": offset}
        made.append((RMS_NORM, [data, gamma], attrs))
        made.append((ADD_RMS_NORM, [data, other, gamma], attrs))
        for plus in (False, True):
            more = [other] if plus else []
            back = [grad, data, gamma, inverse, *more]
            made.append((RMS_NORM_BACKWARD, back, {**attrs, "plus": plus}))
    return made


@_compiled
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_generated_kernels_are_near_float64(shape: tuple[int, ...]) -> None:
    for op, inputs, attrs in _calls(shape, FLOAT32, FLOAT32):
        kernel = _chosen(op, inputs, attrs)
        got = run_kernel(op, kernel, inputs, attrs, attrs)
        exact = run_kernel(op, op.kernel, [x.astype(np.float64) for x in inputs], attrs, attrs)
        for found, wanted in zip(got, exact, strict=True):
            assert np.abs(found - wanted).max() < 2e-6 * np.abs(wanted).max()


@_compiled
@pytest.mark.parametrize("shape", [(3, 24), (300, 40), (5, 3, 700)], ids=str)
@pytest.mark.parametrize("wide", [True, False])
@pytest.mark.parametrize("dtype", [BFLOAT16, FLOAT16], ids=str)
def test_kernels_of_16_bits_round_once(dtype: Any, wide: bool, shape: tuple[int, ...]) -> None:
    if not is_narrow(dtype):
        pytest.skip("this processor does not convert float16")
    step = 2.0**-7 if dtype == BFLOAT16 else 2.0**-10  # one unit in the last place
    for op, inputs, attrs in _calls(shape, dtype, FLOAT32 if wide else dtype):
        got = run_kernel(op, _chosen(op, inputs, attrs), inputs, attrs, attrs)
        exact = run_kernel(op, op.kernel, inputs, attrs, attrs)
        for found, wanted in zip(got, exact, strict=True):
            assert found.dtype == wanted.dtype
            np.testing.assert_allclose(
                found.astype(np.float32), wanted.astype(np.float32), rtol=step, atol=2e-4
            )


@_compiled
@pytest.mark.parametrize("shape", [(4096, 64), (1031, 33)], ids=str)
def test_threads_do_not_change_a_bit(shape: tuple[int, ...]) -> None:
    for op, inputs, attrs in _calls(shape, FLOAT32, FLOAT32):
        before = openmp.team().threads()
        found = []
        try:
            for threads in (1, 2, 3):
                openmp.team().set_threads(threads)
                found.append(run_kernel(op, _chosen(op, inputs, attrs), inputs, attrs, attrs))
        finally:
            openmp.team().set_threads(before)
        for other in found[1:]:
            for a, b in zip(found[0], other, strict=True):
                np.testing.assert_array_equal(a, b)


@_compiled
def test_strided_arrays_are_left_to_the_reference_kernel() -> None:
    for op, inputs, attrs in _calls((64, 32), FLOAT32, FLOAT32):
        at = 0 if op is not RMS_NORM_BACKWARD else 1
        strided = [np.repeat(x, 2, 1)[:, ::2] if i == at else x for i, x in enumerate(inputs)]
        got = run_kernel(op, _chosen(op, inputs, attrs), strided, attrs, attrs)
        for found, wanted in zip(got, run_kernel(op, op.kernel, inputs, attrs, attrs), strict=True):
            np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-5)


def test_bfloat16_with_gamma_in_float32_is_rounded_once() -> None:
    x, gamma = _arrays((64, 256), (256,))
    narrow = x.astype(ml_dtypes.bfloat16)
    exact = _normalized(narrow.astype(np.float64), gamma)
    got = mx.nd.rms_norm(mx.nd.array(x).astype("bfloat16"), mx.nd.array(gamma))
    found = got.astype("float32").asnumpy()
    assert (np.abs(found - exact) <= 2.0**-8 * np.abs(exact) + 1e-7).all()


@pytest.mark.parametrize("shape", [(0, 64), (3, 0, 16), (4, 0)], ids=str)
def test_arrays_without_elements(shape: tuple[int, ...]) -> None:
    x, gamma = mx.nd.zeros(shape), mx.nd.ones(shape[-1:])
    for v in (x, gamma):
        v.attach_grad()
    with mx.autograd.record():
        y, joined = mx.nd.add_rms_norm(x, x, gamma)
    y.backward()
    assert y.shape == joined.shape == x.grad.shape == shape
    assert not gamma.grad.asnumpy().any()


@pytest.mark.parametrize(
    ("shapes", "message"),
    [
        (((2, 3), (2,)), r"rms_norm: expected data with 2 channels along axis -1, got 3"),
        (((2, 3), (3, 1)), r"rms_norm: expected gamma float32\(3,\)"),
    ],
)
def test_gamma_of_another_shape_is_refused(shapes: Any, message: str) -> None:
    with pytest.raises(OperatorError, match=message):
        RMS_NORM.infer(*[Spec(s, FLOAT32) for s in shapes], **ATTRS)


def test_other_arguments_that_do_not_fit_are_refused() -> None:
    x = mx.nd.ones((2, 3))
    with pytest.raises(OperatorError, match=r"add_rms_norm: expected residual float32\(2, 3\)"):
        mx.nd.add_rms_norm(x, mx.nd.ones((3,)), mx.nd.ones((3,)))
    with pytest.raises(OperatorError, match="rms_norm: expected floating data, got int32"):
        mx.nd.rms_norm(x.astype("int32"), mx.nd.ones((3,)))
    with pytest.raises(OperatorError, match=r"expected axis in \[-2, 2\)"):
        mx.nd.rms_norm(x, mx.nd.ones((3,)), axis=2)


def test_gamma_follows_from_the_data() -> None:
    attrs = {**ATTRS, "axis": 1}
    inputs = [PartialSpec((2, 5, 3), BFLOAT16), PartialSpec()]
    outputs = [PartialSpec()] * 2
    RMS_NORM.complete(inputs, outputs, attrs)  # type: ignore[misc]
    assert inputs[1] == PartialSpec((5,), BFLOAT16)
    assert outputs[1] == PartialSpec((2, 1, 3), FLOAT32)
    inputs = [PartialSpec(), PartialSpec((2, 5, 3), None), PartialSpec((5,), FLOAT32)]
    outputs = [PartialSpec()] * 3
    ADD_RMS_NORM.complete(inputs, outputs, attrs)  # type: ignore[misc]
    assert inputs[0].shape == outputs[1].shape == (2, 5, 3)


def test_numpy_arrays_are_taken() -> None:
    x, gamma = mx.np.array([[3.0, 4.0]]), mx.np.array([1.0, 2.0])
    wanted = np.array([[3.0, 8.0]]) / np.sqrt(12.5)
    np.testing.assert_allclose(mx.npx.rms_norm(x, gamma).asnumpy(), wanted, rtol=1e-6)
    both = mx.npx.add_rms_norm(x, x, gamma)
    np.testing.assert_allclose(both[0].asnumpy(), wanted, rtol=1e-6)
    np.testing.assert_array_equal(both[1].asnumpy(), [[6.0, 8.0]])

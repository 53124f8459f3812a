from typing import Any

import ml_dtypes
import numpy as np
import pytest

from gluonish.core.errors import OperatorError
from gluonish.core.spec import PartialSpec, Spec
from gluonish.ops.normalization.batch_norm import BATCH_NORM, BATCH_NORM_BACKWARD
from tests.checking.check_operator import check_operator
from tests.checking.values import ArrayValue

_RANDOM = np.random.default_rng(7)


def _inputs(*shape: int, axis: int = 1) -> list[Any]:
    n = shape[axis]
    return [
        _RANDOM.standard_normal(shape),
        *(_RANDOM.uniform(0.5, 2, n) for _ in range(4)),
    ]


def _attrs(**given: Any) -> dict[str, Any]:
    return BATCH_NORM.schema.parse("BatchNorm", given)


def _run(inputs: list[Any], *, train: bool, **given: Any) -> list[Any]:
    attrs = _attrs(**given)
    specs = BATCH_NORM.infer(*[Spec(x.shape, x.dtype) for x in inputs], **attrs)
    outputs = [np.full(spec.shape, np.nan, spec.dtype) for spec in specs]
    BATCH_NORM.kernel(np, tuple(outputs), *inputs, **attrs, train=train)
    return outputs


@pytest.mark.parametrize(
    ("shape", "attrs"),
    [
        ((3, 2, 4), {"fix_gamma": False}),
        ((3, 2, 4), {}),
        ((4, 2, 3), {"fix_gamma": False, "axis": -1, "eps": 0.1}),
        ((3, 2, 4), {"fix_gamma": False, "use_global_stats": True}),
    ],
)
def test_gradients_agree_with_differences_to_second_order(
    shape: tuple[int, ...], attrs: dict[str, Any]
) -> None:
    inputs = _inputs(*shape, axis=attrs.get("axis", 1))
    check_operator(BATCH_NORM, inputs, attrs, half=False, wrt=(0, 1, 2))


def test_outside_training_the_gradient_is_that_of_global_statistics() -> None:
    inputs = _inputs(3, 2, 4)
    outputs = _run(inputs, train=False, fix_gamma=False)
    values = [ArrayValue(x) for x in (*inputs, *outputs)]
    head = ArrayValue(_RANDOM.standard_normal((3, 2, 4)))
    found = [
        BATCH_NORM.gradient((head, None, None), *values, **attrs, train=train)  # type: ignore[misc]
        for attrs, train in (
            (_attrs(fix_gamma=False), False),
            (_attrs(fix_gamma=False, use_global_stats=True), True),
        )
    ]
    for a, b in zip(found[0][:3], found[1][:3], strict=True):
        np.testing.assert_array_equal(a.array, b.array)


def test_inference_uses_moving_statistics_and_leaves_them() -> None:
    inputs = _inputs(2, 3, 4)
    kept = [x.copy() for x in inputs]
    out, mean, inverse_std = _run(inputs, train=False, fix_gamma=False)
    data, gamma, beta, moving_mean, moving_var = (
        x.reshape(-1, 1) if x.ndim == 1 else x for x in kept
    )
    expected = (data - moving_mean) / np.sqrt(moving_var + 1e-3) * gamma + beta
    np.testing.assert_allclose(out, expected)
    np.testing.assert_array_equal(mean, kept[3])
    np.testing.assert_allclose(inverse_std, 1 / np.sqrt(kept[4] + 1e-3))
    for x, old in zip(inputs, kept, strict=True):
        np.testing.assert_array_equal(x, old)


def test_training_moves_the_statistics_toward_the_batch() -> None:
    inputs = _inputs(4, 3, 5)
    old = [x.copy() for x in inputs[3:]]
    _run(inputs, train=True, momentum=0.8)
    batch = [inputs[0].mean((0, 2)), inputs[0].var((0, 2))]
    for moved, before, new in zip(inputs[3:], old, batch, strict=True):
        np.testing.assert_allclose(moved, 0.8 * before + 0.2 * new)


def test_global_statistics_do_not_move() -> None:
    inputs = _inputs(4, 3)
    old = inputs[3].copy()
    _run(inputs, train=True, use_global_stats=True)
    np.testing.assert_array_equal(inputs[3], old)


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
def test_narrow_data_has_float32_statistics(dtype: Any) -> None:
    inputs = _inputs(64, 2, 3)
    narrow = [inputs[0].astype(dtype), *(x.astype(np.float32) for x in inputs[1:])]
    outputs = _run(narrow, train=True, fix_gamma=False)
    assert [y.dtype for y in outputs] == [dtype, np.float32, np.float32]
    exact = _run([x.astype(np.float64) for x in narrow], train=True, fix_gamma=False)
    for got, want in zip(outputs, exact, strict=True):
        np.testing.assert_allclose(got.astype(np.float64), want, atol=3e-2, rtol=1e-2)


def test_an_empty_batch_leaves_the_statistics() -> None:
    inputs = _inputs(0, 3, 5)
    old = inputs[3].copy()
    assert _run(inputs, train=True)[0].shape == (0, 3, 5)
    np.testing.assert_array_equal(inputs[3], old)


@pytest.mark.parametrize(
    ("specs", "message"),
    [
        ([((2, 3), "int32"), *[((3,), "float32")] * 4], "expected floating data, got int32"),
        ([((2, 3), "float32"), *[((4,), "float32")] * 4], "data with 4 channels"),
        ([((2, 3), "float16"), *[((3,), "float16")] * 4], r"expected gamma float32\(3,\)"),
        ([((2,), "float32"), *[((3,), "float32")] * 4], "expected axis"),
    ],
)
def test_inputs_that_do_not_fit_are_refused(specs: list[Any], message: str) -> None:
    given = [Spec(shape, np.dtype(dtype)) for shape, dtype in specs]
    with pytest.raises(OperatorError, match=message):
        BATCH_NORM.infer(*given, **_attrs())


def test_parameters_follow_from_the_data() -> None:
    inputs = [PartialSpec((2, 5, 3), np.dtype(np.float16)), *[PartialSpec()] * 4]
    outputs = [PartialSpec()] * 3
    BATCH_NORM.complete(inputs, outputs, _attrs(axis=-1))  # type: ignore[misc]
    assert set(inputs[1:]) == {PartialSpec((3,), np.dtype(np.float32))}
    assert outputs[0] == inputs[0]


def test_the_backward_operator_has_three_outputs() -> None:
    specs = [Spec(s, np.dtype(np.float32)) for s in ((2, 3), (2, 3), (3,), (3,), (3,))]
    attrs = BATCH_NORM_BACKWARD.schema.parse("_", {})
    assert [s.shape for s in BATCH_NORM_BACKWARD.infer(*specs, **attrs)] == [(2, 3), (3,), (3,)]

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from gluonish.core.dtype import BFLOAT16
from gluonish.core.spec import Spec
from gluonish.kernels import openmp
from gluonish.kernels.compiler import available
from gluonish.kernels.generated.pooling import pooling, pooling_backward
from gluonish.ops.kernel import Bound, RefusedError
from gluonish.ops.nn.pooling import POOLING, POOLING_BACKWARD
from tests.checking.values import run_kernel

pytestmark = pytest.mark.skipif(not available(), reason="llvmlite is not there")

FORWARD, BACKWARD = (
    next(fast for fast in op.fast_kernels if fast.name == name)
    for op, name in (
        (POOLING, "generated.pooling"),
        (POOLING_BACKWARD, "generated.pooling_backward"),
    )
)

# Data, attributes. Compiling takes most of the time: the cases share few kernels.
PADDED = {"kernel": (3, 2), "stride": (2, 1), "pad": (1, 1)}
BARE = PADDED | {"pad": (0, 0)}
CASES: dict[str, tuple[tuple[int, ...], dict[str, Any]]] = {
    "padded": ((2, 20, 9, 8), PADDED),
    "padding_wider_than_data": ((2, 20, 3, 1), PADDED),
    "beyond_padding": ((2, 5, 8, 8), PADDED | {"pooling_convention": "full"}),
    "beyond_data": ((2, 16, 6, 8), BARE | {"pooling_convention": "full"}),
    "from_zero": ((2, 16, 4, 7), BARE | {"pooling_convention": "same"}),
    "overlapping": ((2, 20, 9, 7), {"kernel": (3, 1), "stride": (2, 1)}),
    "overlapping_but_for_a_rest": ((2, 20, 10, 7), {"kernel": (3, 1), "stride": (2, 1)}),
    "tiling": ((9, 35, 6, 4), {"kernel": (2, 1), "stride": (2, 1)}),
    "tiling_but_for_a_rest": ((1, 70, 7, 5), {"kernel": (2, 1), "stride": (2, 1)}),
    "with_gaps": ((2, 17, 9, 9), {"kernel": (2, 1), "stride": (3, 4)}),
    "small_global": ((3, 40, 2, 1), {"kernel": (1, 1), "global_pool": True}),
    "global": ((3, 1100, 5, 4), {"kernel": (1, 1), "global_pool": True}),
    "many_elements": ((2, 18, 9, 9), {"kernel": (5, 4), "stride": (1, 2), "pad": (3, 2)}),
    "tiling_padded": ((2, 18, 5, 6), {"kernel": (2, 1), "stride": (2, 1), "pad": (1, 0)}),
    "line": ((2, 18, 11), {"kernel": (2,), "stride": (1,), "pad": (1,)}),
    "volume": ((2, 18, 4, 5, 6), {"kernel": (2, 2, 1), "stride": (1, 1, 2), "pad": (1, 1, 0)}),
}
MEANS = ("padded", "padding_wider_than_data", "beyond_padding", "tiling", "global", "many_elements")
KINDS = (
    {"pool_type": "max"},
    {"pool_type": "avg"},
    {"pool_type": "avg", "count_include_pad": False},
)


def attributes(**given: Any) -> dict[str, Any]:
    return POOLING.schema.parse("Pooling", given)


def last(array: Any) -> Any:
    """A copy whose channels are last in memory."""
    return np.moveaxis(np.ascontiguousarray(np.moveaxis(array, 1, -1)), -1, 1)


def whole(shape: tuple[int, ...], dtype: Any = np.float32) -> Any:
    """Few different numbers, so that windows have equal ones."""
    return np.random.default_rng(0).integers(-3, 4, shape).astype(dtype)


def references(data: Any, attrs: dict[str, Any]) -> tuple[Any, Any, Any]:
    """Output, a gradient of it, and the gradient of the data."""
    (out,) = run_kernel(POOLING, POOLING.kernel, [data], attrs, attrs)
    grad = np.random.default_rng(1).standard_normal(out.shape).astype(data.dtype)
    inputs = [grad, data, out]
    (back,) = run_kernel(POOLING_BACKWARD, POOLING_BACKWARD.kernel, inputs, attrs, attrs)
    return out, grad, back


def run(bound: Bound, *arrays: Any) -> None:
    bound.plan.run(*bound.order(arrays))


def check(data: Any, attrs: dict[str, Any]) -> None:
    out, grad, back = references(data, attrs)
    data, grad, want = last(data), last(grad), last(out)
    got = last(np.full_like(out, np.nan))
    run(pooling([got], [data], attrs), got, data)
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)
    got = last(np.full_like(back, np.nan))
    run(pooling_backward([got], [grad, data, want], attrs), got, grad, data, want)
    np.testing.assert_allclose(got, back, rtol=1e-5, atol=1e-5)


@pytest.fixture(params=[1, 3], ids=["alone", "team"])
def _threads(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    team = openmp.team()
    monkeypatch.setattr(team, "threads", lambda: request.param)


@pytest.mark.parametrize("name", CASES)
def test_maximum_is_the_references(name: str) -> None:
    shape, given = CASES[name]
    check(whole(shape), attributes(**given, pool_type="max"))


@pytest.mark.parametrize("kind", KINDS[1:], ids=["mean", "mean_of_data"])
@pytest.mark.parametrize("name", MEANS)
def test_mean_is_the_references(name: str, kind: dict[str, Any]) -> None:
    shape, given = CASES[name]
    check(whole(shape), attributes(**given, **kind))


@pytest.mark.usefixtures("_threads")
@pytest.mark.parametrize("samples", [1, 11])
def test_threads_share_large_arrays(samples: int) -> None:
    check(whole((samples, 96, 20, 21)), attributes(**PADDED, pool_type="max"))


@pytest.mark.parametrize("name", ["padded", "many_elements"])
def test_nan_and_infinities_are_treated_as_in_the_reference(name: str) -> None:
    rng = np.random.default_rng(3)
    data = rng.choice([np.nan, np.inf, -np.inf, 1], (2, 32, 8, 8), p=[0.02, 0.02, 0.9, 0.06])
    given = CASES[name][1]
    for kind in KINDS:
        check(data.astype(np.float32), attributes(**given, **kind))


@pytest.mark.parametrize(("extents", "kind"), [((2, 1), KINDS[0]), ((5, 4), KINDS[1])], ids=str)
def test_bfloat16_is_rounded_once(extents: tuple[int, int], kind: dict[str, Any]) -> None:
    data = np.random.default_rng(4).standard_normal((3, 40, *extents)).astype(BFLOAT16)
    attrs = attributes(kernel=(1, 1), global_pool=True, **kind)
    out, grad, back = references(data, attrs)
    data, grad = last(data), last(grad)
    got = last(np.zeros_like(out))
    run(pooling([got], [data], attrs), got, data)
    np.testing.assert_allclose(got.astype(np.float32), out.astype(np.float32), 1e-2, 1e-3)
    got, want = last(np.zeros_like(back)), last(out)
    run(pooling_backward([got], [grad, data, want], attrs), got, grad, data, want)
    np.testing.assert_array_equal(got.astype(np.float32), back.astype(np.float32))


def test_bfloat16_is_not_added_up_in_memory() -> None:
    attrs = attributes(kernel=(3, 3), stride=(2, 2), pool_type="max")
    data, out = last(np.zeros((2, 32, 7, 7), BFLOAT16)), last(np.zeros((2, 32, 3, 3), BFLOAT16))
    with pytest.raises(RefusedError, match="float32"):
        pooling_backward([data], [out, data, out], attrs)


def test_arrays_with_other_layouts_are_refused() -> None:
    attrs = attributes(kernel=(2, 2), stride=(2, 2), pool_type="max")
    data, out = np.zeros((2, 8, 4, 4), np.float32), np.zeros((2, 8, 2, 2), np.float32)
    for arrays in ((data, last(out)), (last(data), out)):
        with pytest.raises(RefusedError, match="channels"):
            pooling([arrays[1]], [arrays[0]], attrs)
        with pytest.raises(RefusedError, match="channels"):
            pooling_backward([arrays[0]], [last(out), last(data), arrays[1]], attrs)


@pytest.mark.parametrize("kind", KINDS[:2], ids=["maximum", "mean"])
@pytest.mark.parametrize("name", ["padded", "tiling", "many_elements", "volume"])
def test_the_gradient_of_the_output_may_lie_channel_by_channel(
    name: str, kind: dict[str, Any]
) -> None:
    shape, given = CASES[name]
    attrs = attributes(**given, **kind)
    data = whole(shape)
    out, grad, back = references(data, attrs)
    assert grad.flags.c_contiguous
    got, data, out = last(np.full_like(back, np.nan)), last(data), last(out)
    run(pooling_backward([got], [grad, data, out], attrs), got, grad, data, out)
    np.testing.assert_allclose(got, back, rtol=1e-5, atol=1e-5)


def test_windows_without_data_are_refused() -> None:
    attrs = attributes(kernel=(1, 1), stride=(3, 3), pool_type="max", pooling_convention="full")
    data, out = last(np.zeros((2, 32, 5, 5), np.float32)), last(np.zeros((2, 32, 3, 3), np.float32))
    with pytest.raises(RefusedError, match="elements of the data"):
        pooling([out], [data], attrs)


@pytest.mark.parametrize("own", [False, True], ids=["other_layout", "channels_last"])
def test_registered_kernels_take_any_layout(own: bool) -> None:
    attrs = attributes(**PADDED, pool_type="max")
    data = np.random.default_rng(5).standard_normal((3, 32, 14, 15)).astype(np.float32)
    out, grad, back = references(data, attrs)
    arrays = [grad, data, out]
    if own:
        arrays = list(map(last, arrays))
    assert FORWARD.supports(Spec(data.shape, data.dtype), **attrs)
    (got,) = run_kernel(POOLING, FORWARD.kernel, [arrays[1]], attrs, attrs)
    np.testing.assert_allclose(got, out, rtol=1e-6)
    (got,) = run_kernel(POOLING_BACKWARD, BACKWARD.kernel, arrays, attrs, attrs)
    np.testing.assert_allclose(got, back, rtol=1e-5, atol=1e-6)


def test_layout_attribute_puts_the_channels_last() -> None:
    attrs = attributes(kernel=(2, 1), stride=(2, 1), pool_type="avg", layout="NHWC")
    data = np.random.default_rng(6).standard_normal((4, 8, 8, 64)).astype(np.float32)
    out, grad, back = references(data, attrs)
    got, result = np.full_like(out, np.nan), np.full_like(data, np.nan)
    run(pooling([got], [data], attrs), got, data)
    np.testing.assert_allclose(got, out, rtol=1e-5, atol=1e-6)
    run(pooling_backward([result], [grad, data, out], attrs), result, grad, data, out)
    np.testing.assert_allclose(result, back, rtol=1e-6)


def test_plan_is_found_again() -> None:
    attrs = attributes(kernel=(2, 1), stride=(2, 1), pool_type="max")
    data, out = last(np.zeros((2, 8, 4, 4), np.float32)), last(np.zeros((2, 8, 2, 4), np.float32))
    plans = [pooling([out], [data], attrs).plan for _ in range(3)]
    assert all(a is b for a, b in pairwise(plans))


@pytest.mark.parametrize(
    ("shape", "given", "taken"),
    [
        ((4, 64, 14, 14), {}, True),
        ((4, 14, 14, 64), {"layout": "NHWC"}, True),
        ((4, 14, 14, 64), {}, False),
        ((1, 64, 4, 4), {}, False),
        ((4, 64, 14, 14), {"pool_type": "sum"}, False),
    ],
    ids=str,
)
def test_large_arrays_with_enough_channels_are_taken(
    shape: tuple[int, ...], given: dict[str, Any], taken: bool
) -> None:
    spec = Spec(shape, np.dtype(np.float32))
    assert FORWARD.supports(spec, **attributes(kernel=(2, 2), **given)) is taken

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from gluonish.core.errors import OperatorError
from gluonish.core.spec import Spec
from gluonish.ops.normalization.fold_batch_norm import FOLD_BATCH_NORM
from tests.checking.check_operator import check_operator
from tests.checking.values import run_operator

_RANDOM = np.random.default_rng(3)


def _normal(*shape: int) -> Any:
    return _RANDOM.standard_normal(shape)


def _statistics(channels: int) -> list[Any]:
    positive = _RANDOM.uniform(0.5, 2, channels)
    return [_normal(channels), _normal(channels), _normal(channels), positive]


@pytest.mark.parametrize("fix_gamma", [False, True])
@pytest.mark.parametrize("no_bias", [False, True])
@pytest.mark.parametrize("groups", [1, 2])
def test_a_convolution_with_it_is_the_convolution_and_the_normalization(
    groups: int, no_bias: bool, fix_gamma: bool
) -> None:
    data, weight, statistics = _normal(2, 4, 5, 5), _normal(6, 4 // groups, 3, 3), _statistics(6)
    bias = [] if no_bias else [_normal(6)]
    window = {"kernel": (3, 3), "num_filter": 6, "num_group": groups}
    settings = {"eps": 0.01, "fix_gamma": fix_gamma}
    plain = run_operator("Convolution", data, weight, *bias, **window, no_bias=no_bias)
    want = run_operator("BatchNorm", plain, *statistics, **settings, use_global_stats=True)
    folded = run_operator(
        "_fold_batch_norm", weight, *bias, *statistics, **settings, no_bias=no_bias
    )
    got = run_operator("Convolution", data, *folded, **window)
    np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("no_bias", [False, True])
@pytest.mark.parametrize("fix_gamma", [False, True])
def test_gradients(fix_gamma: bool, no_bias: bool) -> None:
    bias = [] if no_bias else [_normal(3)]
    inputs = [_normal(3, 2), *bias, *_statistics(3)]
    attrs = {"fix_gamma": fix_gamma, "no_bias": no_bias}
    check_operator(FOLD_BATCH_NORM, inputs, attrs, half=False)


def test_16_bit_weights_are_folded_in_float32() -> None:
    weight = _normal(4, 3).astype(ml_dtypes.bfloat16)
    statistics = [x.astype(np.float32) for x in _statistics(4)]
    attrs = {"fix_gamma": False, "no_bias": True}
    got = run_operator("_fold_batch_norm", weight, *statistics, **attrs)
    want = run_operator("_fold_batch_norm", weight.astype(np.float32), *statistics, **attrs)
    for x, y in zip(got, want, strict=True):
        assert x.dtype == weight.dtype
        np.testing.assert_array_equal(x, y.astype(weight.dtype))


def test_statistics_of_another_size_are_refused() -> None:
    single = np.dtype("f4")
    specs = [Spec((4, 3), single), *[Spec((3,), single)] * 4]
    with pytest.raises(OperatorError, match=r"_fold_batch_norm: expected float32\(4,\)"):
        FOLD_BATCH_NORM.infer(*specs, eps=0.1, fix_gamma=True, no_bias=True)

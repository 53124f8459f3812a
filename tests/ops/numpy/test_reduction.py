"""Reductions of arrays without elements: what NumPy gives, and its refusals."""

import warnings
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish import np as mnp
from gluonish.core.errors import OperatorError
from gluonish.core.mxnet_rules import follow_mxnet

EMPTY = [((0,), None), ((0,), 0), ((2, 0), 1), ((2, 0), 0), ((0, 3), 0), ((2, 0, 3), (0, 1))]


class _Called(mx.gluon.HybridBlock):
    def __init__(self, name: str, **attrs: Any) -> None:
        super().__init__()
        self._name, self._attrs = name, attrs

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        return getattr(F.np, self._name)(x, **self._attrs)


@pytest.mark.parametrize("hybridize", [False, True])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("name", ["mean", "var", "std", "average", "sum", "prod"])
def test_reductions_of_nothing_are_numpys(name: str, dtype: str, hybridize: bool) -> None:
    for shape, axis in EMPTY:
        with warnings.catch_warnings(), mx.util.np_shape(True), mx.util.np_array(True):
            warnings.simplefilter("ignore")
            of_numpy = np.mean if name == "average" else getattr(np, name)
            wanted = of_numpy(np.zeros(shape, dtype), axis=axis)
            net = _Called(name, axis=axis)
            net.hybridize(hybridize)
            found = net(mnp.zeros(shape, dtype=dtype)).asnumpy()
        np.testing.assert_array_equal(found, wanted, err_msg=f"{name} {shape} {axis}")
        assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)


def test_means_of_no_integers() -> None:
    with mx.util.np_shape(True):
        empty = mnp.zeros((2, 0), dtype="int32")
        np.testing.assert_array_equal(mnp.mean(empty, axis=1).asnumpy(), [np.nan, np.nan])
        assert mnp.mean(empty, axis=1, dtype="int32").asnumpy().tolist() == [0, 0]
        assert np.isnan(mnp.mean(empty, keepdims=True).asnumpy()).all()


def test_the_mean_of_nothing_is_nan_in_symbols_and_classic_arrays() -> None:
    with mx.util.np_shape(True):
        x = mx.sym.np.mean(mx.sym.var("x").as_np_ndarray(), axis=1)
        found = x.bind(mx.cpu(), {"x": mnp.zeros((2, 0))}).forward()[0]
        np.testing.assert_array_equal(found.asnumpy(), [np.nan, np.nan])
        classic = mx.nd.mean(mx.nd.zeros((2, 0)), axis=1)
        np.testing.assert_array_equal(classic.asnumpy(), [np.nan, np.nan])


@pytest.mark.parametrize("name", ["max", "min", "argmax", "argmin", "percentile"])
def test_reductions_without_a_value_for_nothing_refuse_it(name: str) -> None:
    given = (50,) if name == "percentile" else ()
    with mx.util.np_shape(True), pytest.raises(OperatorError, match="element"):
        getattr(mnp, name)(mnp.zeros((2, 0)), *given, axis=1).wait_to_read()


def test_the_mean_of_nothing_is_0_by_mxnets_rules() -> None:
    before = follow_mxnet()
    try:
        with mx.util.np_shape(True):
            assert mnp.mean(mnp.zeros((0, 5)), axis=0).asnumpy().tolist() == [0] * 5
    finally:
        follow_mxnet(before)

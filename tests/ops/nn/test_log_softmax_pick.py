"""_log_softmax_pick is pick of log_softmax, with all its gradients."""

from typing import Any

import numpy as np
import pytest

from gluonish.core.errors import OperatorError
from tests.checking.check_operator import check_operator
from tests.checking.values import run_operator


def expected(axis: int, keepdims: bool) -> Any:
    def compute(x: Any, index: Any) -> Any:
        x = np.moveaxis(x.astype(np.float64), axis, -1)
        logs = x - np.log(np.exp(x).sum(-1, keepdims=True))
        positions = np.clip(index.reshape(x.shape[:-1]).astype(int), 0, x.shape[-1] - 1)
        found = np.take_along_axis(logs, positions[..., None], -1)
        return np.moveaxis(found, -1, axis) if keepdims else found[..., 0]

    return compute


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize(("axis", "index"), [(-1, (3, 2)), (1, (3, 4)), (0, (1, 2, 4))])
def test_results_and_gradients(axis: int, index: tuple[int, ...], keepdims: bool) -> None:
    random = np.random.default_rng(4)
    x = random.standard_normal((3, 2, 4)).astype(np.float32)
    positions = random.integers(-1, 5, index).astype(np.float32)
    if axis == -1:
        x = x.reshape(3, 2, 4)
    check_operator(
        "_log_softmax_pick",
        [x, positions],
        {"axis": axis, "keepdims": keepdims},
        expected(axis, keepdims),
        wrt=(0,),
        zero_size=[x[:, :, :0].reshape(0, 2, 4), np.zeros((0, 2), np.float32)]
        if axis == -1
        else None,
    )


def test_scale_is_a_factor_on_the_result_and_the_gradient() -> None:
    x = np.random.default_rng(4).standard_normal((3, 4)).astype(np.float32)
    check_operator(
        "_log_softmax_pick",
        [x, np.array([0, 3, 1], np.float32)],
        {"scale": -1.5},
        lambda *arrays: -1.5 * expected(-1, False)(*arrays),
        wrt=(0,),
    )


def test_large_scores_do_not_overflow() -> None:
    x = np.array([[1e4, 1e4 - 1]], np.float32)
    found = run_operator("_log_softmax_pick", x, np.array([1], np.float32))
    np.testing.assert_allclose(found, [-1 - np.log1p(np.exp(-1))], rtol=1e-4)


def test_whole_numbers_are_refused() -> None:
    with pytest.raises(OperatorError, match="expected floating data, got int32"):
        run_operator("_log_softmax_pick", np.ones((2, 3), np.int32), np.zeros(2, np.float32))

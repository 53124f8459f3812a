import numpy as np
import pytest

from gluonish.core.errors import OperatorError
from gluonish.ops.normalization.batch_norm import BATCH_NORM
from gluonish.ops.normalization.fold_batch_norm import BATCH_NORM_APPLY
from tests.checking.values import run_operator
from tests.ops.cases import between, normal

SHAPE = (2, 3, 4, 5)
ATTRS = {"fix_gamma": False, "eps": 1e-3}


def _normalized(
    dtype: str = "float32", **attrs: object
) -> tuple[list[np.ndarray], list[np.ndarray]]:
    data = (normal(*SHAPE) * 3 + 2).astype(dtype)
    channels = SHAPE[attrs.get("axis", 1)]
    inputs = [data, between(0.5, 2, channels), normal(channels)]
    moving = [normal(channels), between(0.5, 2, channels)]
    given = {**BATCH_NORM.schema.defaults, **ATTRS, **attrs}
    outputs = [np.empty_like(data), np.empty_like(inputs[1]), np.empty_like(inputs[1])]
    BATCH_NORM.kernel(np, tuple(outputs), *inputs, *moving, **given, train=True)
    return inputs, outputs


@pytest.mark.parametrize("attrs", [{}, {"fix_gamma": True}, {"axis": 3}, {"axis": -2}])
@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_it_gives_what_batch_norm_gave(dtype: str, attrs: dict[str, object]) -> None:
    inputs, (out, mean, inverse_std) = _normalized(dtype, **attrs)
    given = {"fix_gamma": False, "axis": 1, **attrs}
    got = run_operator("_batch_norm_apply", *inputs, mean, inverse_std, **given)
    np.testing.assert_array_equal(got, out)


def test_an_addend_and_a_rectifier_come_behind() -> None:
    inputs, (out, *statistics) = _normalized()
    addend = normal(*SHAPE)
    got = run_operator(
        "_batch_norm_apply", *inputs, *statistics, addend, fix_gamma=False, add=True, relu=True
    )
    np.testing.assert_array_equal(got, np.maximum(out + addend, 0))


def test_an_addend_of_another_shape_is_refused() -> None:
    inputs, (_, *statistics) = _normalized()
    with pytest.raises(OperatorError, match="_batch_norm_apply: expected addend float32"):
        run_operator("_batch_norm_apply", *inputs, *statistics, normal(2, 3), add=True)


def test_statistics_of_another_size_are_refused() -> None:
    inputs, _ = _normalized()
    with pytest.raises(OperatorError, match="expected moving_mean"):
        run_operator("_batch_norm_apply", *inputs, normal(2), normal(2))


def test_nobody_differentiates_it() -> None:
    assert BATCH_NORM_APPLY.gradient is None

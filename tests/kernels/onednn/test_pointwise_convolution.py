import numpy as np
import pytest

from gluonish.core.spec import Spec
from gluonish.kernels.onednn.pointwise_convolution import supports, weight_gradient
from gluonish.ops.kernel import RefusedError
from gluonish.ops.nn.convolution import CONVOLUTION_BACKWARD_WEIGHT

ATTRS = CONVOLUTION_BACKWARD_WEIGHT.schema.parse(
    "test", {"kernel": (1, 1), "num_filter": 128, "weight_shape": (128, 32, 1, 1)}
)
F32 = np.dtype(np.float32)


def _last(*shape: int) -> np.ndarray:
    values = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
    return np.moveaxis(np.moveaxis(values, 1, -1).copy(), -1, 1)


def test_it_equals_the_reference_kernel() -> None:
    grad, data = _last(2, 128, 48, 50), _last(2, 32, 48, 50)
    out, wanted = np.empty((128, 32, 1, 1), F32), np.empty((128, 32, 1, 1), F32)
    weight_gradient(np, out, grad, data, **ATTRS)
    CONVOLUTION_BACKWARD_WEIGHT.kernel(np, wanted, grad, data, **ATTRS)
    np.testing.assert_allclose(out, wanted, rtol=1e-4, atol=2e-3)


def test_other_layouts_are_refused() -> None:
    grad, data = _last(2, 128, 8, 8), np.ascontiguousarray(_last(2, 32, 8, 8))
    with pytest.raises(RefusedError, match="channels last"):
        weight_gradient(np, np.empty((128, 32, 1, 1), F32), grad, data, **ATTRS)


@pytest.mark.parametrize(
    ("shapes", "changed", "expected"),
    [
        (((2, 128, 64, 64), (2, 32, 64, 64)), {}, True),
        (((2, 128, 32, 32), (2, 32, 64, 64)), {"stride": (2, 2)}, False),
        (((2, 128, 66, 66), (2, 32, 64, 64)), {"pad": (1, 1)}, False),
        (((2, 128, 64, 64), (2, 64, 64, 64)), {}, False),
        (((2, 128, 8, 8), (2, 32, 8, 8)), {}, False),
        (((2, 128, 64, 64), (2, 32, 64, 64)), {"num_group": 2}, False),
    ],
)
def test_it_takes_what_it_is_faster_at(
    shapes: tuple[tuple[int, ...], ...], changed: dict[str, object], expected: bool
) -> None:
    specs = [Spec(shape, F32) for shape in shapes]
    assert supports(*specs, **{**ATTRS, **changed}) is expected

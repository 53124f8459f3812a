from typing import Any

import numpy as np
import pytest

from gluonish.core.errors import OperatorError
from gluonish.core.spec import PartialSpec, Spec
from gluonish.ops.nn.upsampling import UPSAMPLING
from tests.checking.check_operator import check_operator
from tests.checking.values import run_operator

FLOAT = np.dtype(np.float32)


def _values(*shape: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).standard_normal(shape).astype(FLOAT)


def _attrs(**given: Any) -> dict[str, Any]:
    return UPSAMPLING.schema.parse("UpSampling", {"num_args": 2, **given})


@pytest.mark.parametrize("scale", [1, 2, 3, 4])
def test_bilinear_scaling_is_a_deconvolution_of_each_channel(scale: int) -> None:
    width = 2 * scale - scale % 2
    data, weight = _values(2, 3, 4, 5), _values(3, 1, width, width, seed=1)
    given = {"scale": scale, "sample_type": "bilinear", "num_filter": 3}
    plain = {"kernel": (width,) * 2, "stride": (scale,) * 2, "pad": (scale // 2,) * 2}
    want = run_operator("Deconvolution", data, weight, num_filter=3, num_group=3, **plain)
    assert want.shape == (2, 3, 4 * scale, 5 * scale)
    check_operator("UpSampling", [data, weight], given, want, half=False)


def test_sum_of_inputs_of_several_sizes() -> None:
    data, other = _values(1, 2, 2, 2), _values(1, 2, 4, 4, seed=1)
    want = data.repeat(4, 2).repeat(4, 3) + other.repeat(2, 2).repeat(2, 3)
    given = {"scale": 4, "sample_type": "nearest", "multi_input_mode": "sum"}
    check_operator("UpSampling", [data, other], given, want)


def test_one_input_may_lie_channels_last() -> None:
    data = _values(2, 3, 4, 5).transpose(0, 3, 1, 2)
    out = run_operator("UpSampling", data, scale=2, sample_type="nearest")
    np.testing.assert_array_equal(out, data.repeat(2, 2).repeat(2, 3))


def test_the_weight_follows_from_the_data() -> None:
    inputs, outputs = [PartialSpec((2, 3, 4, 5), FLOAT), PartialSpec()], [PartialSpec()]
    assert UPSAMPLING.complete is not None
    UPSAMPLING.complete(inputs, outputs, _attrs(scale=3, sample_type="bilinear"))
    assert inputs[1] == PartialSpec((3, 1, 5, 5), FLOAT)
    assert outputs == [PartialSpec((2, 3, 12, 15), FLOAT)]


def test_the_output_follows_from_all_inputs() -> None:
    inputs = [PartialSpec((2, 3, 4, 4), FLOAT), PartialSpec((2, 1, 8, 8), FLOAT)]
    outputs = [PartialSpec()]
    assert UPSAMPLING.complete is not None
    UPSAMPLING.complete(inputs, outputs, _attrs(scale=2, sample_type="nearest"))
    assert outputs == [PartialSpec((2, 4, 8, 8), FLOAT)]


@pytest.mark.parametrize(
    ("shapes", "given", "message"),
    [
        ([(1, 2, 3)], {"sample_type": "nearest"}, r"expected data \(N, C, H, W\)"),
        ([(1, 2, 4, 4), (1, 2, 3, 3)], {"sample_type": "nearest"}, "integer factors"),
        ([(1, 2, 4, 4), (2, 2, 4, 4)], {"sample_type": "nearest"}, "of one batch size"),
        ([(1, 2, 4, 4)], {"sample_type": "bilinear"}, "expected data and weight"),
    ],
)
def test_inputs_that_do_not_fit_are_refused(
    shapes: list[tuple[int, ...]], given: dict[str, Any], message: str
) -> None:
    with pytest.raises(OperatorError, match=message):
        UPSAMPLING.infer(*[Spec(shape, FLOAT) for shape in shapes], **_attrs(scale=2, **given))

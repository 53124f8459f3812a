from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gluonish.kernels.onednn import RefusedError
from gluonish.kernels.onednn.deconvolution import deconvolution
from gluonish.ops.kernel import Array
from gluonish.ops.nn.deconvolution import DECONVOLUTION
from tests.kernels.onednn.planned import (
    LAYOUTS,
    Layout,
    blank,
    channels_last,
    check,
    contiguous,
    parsed,
    random,
    run,
)

Close = Callable[[Array, Array], None]

CASES: dict[str, tuple[tuple[int, ...], dict[str, Any]]] = {
    "1-D": ((2, 3, 9), {"kernel": (3,), "num_filter": 4}),
    "2-D": ((2, 3, 5, 6), {"kernel": (3, 2), "num_filter": 5, "stride": (2, 1), "pad": (1, 0)}),
    "3-D": ((1, 2, 3, 4, 3), {"kernel": (2, 2, 3), "num_filter": 3, "stride": (2, 2, 2)}),
    "adj": (
        (2, 4, 5, 5),
        {"kernel": (4, 4), "num_filter": 2, "stride": (3, 3), "pad": (1, 1), "adj": (2, 1)},
    ),
    "groups": ((2, 6, 4, 4), {"kernel": (3, 3), "num_filter": 4, "num_group": 2}),
    "depthwise": ((2, 16, 4, 4), {"kernel": (4, 4), "num_filter": 16, "num_group": 16}),
    "dilated": ((1, 3, 5, 5), {"kernel": (3, 3), "num_filter": 2, "dilate": (2, 2)}),
    "aimed": ((1, 3, 5, 5), {"kernel": (4, 4), "num_filter": 2, "stride": (2, 2)}),
}


def _inputs(name: str, dtype: Any, bias: bool) -> tuple[list[Array], dict[str, Any]]:
    shape, given = CASES[name]
    if name == "aimed":
        given = {**given, "target_shape": (9, 10)}
    attrs = parsed(DECONVOLUTION, **given, no_bias=not bias)
    filters = given["num_filter"]
    weight = random(shape[1], filters // attrs["num_group"], *attrs["kernel"], seed=1)
    inputs = [random(*shape), weight, *[random(filters, seed=2)] * bias]
    return [x.astype(dtype) for x in inputs], attrs


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", CASES)
def test_forward(name: str, layout: Layout, bias: bool, dtype: Any, close: Close) -> None:
    inputs, attrs = _inputs(name, dtype, bias)
    check(DECONVOLUTION, deconvolution, inputs, attrs, close, layout)


def test_only_the_weight_of_channels_last_data_is_reordered() -> None:
    data, weight = channels_last(random(2, 16, 6, 6)), random(16, 32, 4, 4)
    attrs = parsed(DECONVOLUTION, kernel=(4, 4), num_filter=32, stride=(2, 2), pad=(1, 1))
    outputs = blank(DECONVOLUTION, [data, weight], channels_last, attrs)
    plan = run(deconvolution, outputs, [data, weight], attrs)
    assert len(plan.steps) <= 2


def test_a_weight_of_another_dtype_is_refused() -> None:
    inputs, attrs = _inputs("2-D", np.float32, False)
    outputs = blank(DECONVOLUTION, inputs, contiguous, attrs)
    inputs[1] = inputs[1].astype(np.float64)
    with pytest.raises(RefusedError, match=r"deconvolution: .*float64"):
        run(deconvolution, outputs, inputs, attrs)

"""The generated kernel of CTCLoss gives what the reference kernel gives."""

from typing import Any

import numpy as np
import pytest

from gluonish.kernels.compiler import available
from gluonish.ops.outputs.ctc_loss import CTC_LOSS

pytestmark = pytest.mark.skipif(not available(), reason="needs llvmlite")


def _run(kernel: Any, inputs: list[Any], attrs: dict[str, Any]) -> tuple[Any, Any]:
    data = inputs[0]
    outputs = np.full(data.shape[1], 9, np.float32), np.full(data.shape, 9, np.float32)
    kernel(np, outputs, *inputs, **attrs)
    return outputs


@pytest.mark.parametrize("shape", [(20, 4, 10, 5), (60, 3, 7, 20), (64, 2, 2, 1)], ids=str)
@pytest.mark.parametrize("with_lengths", [False, True])
def test_results_are_those_of_the_reference(shape: tuple[int, ...], with_lengths: bool) -> None:
    steps, batch, classes, width = shape
    random = np.random.default_rng(2)
    data = random.standard_normal((steps, batch, classes)).astype(np.float32) * 3
    inputs = [data, random.integers(0, classes, (batch, width)).astype(np.float32)]
    if with_lengths:
        inputs += [random.integers(0, n + 1, batch).astype(np.float32) for n in (steps, width)]
    attrs = {
        "use_data_lengths": with_lengths,
        "use_label_lengths": with_lengths,
        "blank_label": "last" if with_lengths else "first",
    }
    fast = next(k for k in CTC_LOSS.fast_kernels if k.name == "generated.ctc_loss")
    got, want = _run(fast.kernel, inputs, attrs), _run(CTC_LOSS.kernel, inputs, attrs)
    np.testing.assert_allclose(got[0], want[0], rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(got[1], want[1], atol=1e-4)

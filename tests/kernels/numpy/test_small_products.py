"""Products that OpenBLAS would compute with threads of its own belong to oneDNN's team."""

from typing import Any

import numpy as np
import pytest

from gluonish.core.spec import Spec
from gluonish.kernels.numpy.dense import SMALL_PRODUCT
from gluonish.ops.kernel import BackEnd
from gluonish.ops.registry import find_operator

DENSE = {"num_hidden": 64, "no_bias": True, "flatten": True}
DOT = {"transpose_a": False, "transpose_b": True, "forward_stype": None}


@pytest.mark.parametrize(
    ("name", "attrs"), [("FullyConnected", DENSE), ("dot", DOT)], ids=["dense", "dot"]
)
def test_who_multiplies(name: str, attrs: dict[str, Any]) -> None:
    rows = SMALL_PRODUCT // (64 * 64)
    found = []
    for n, dtype in ((rows, "f4"), (rows + 1, "f4"), (rows + 1, "f8"), (1000 * rows, "f8")):
        specs = [Spec(shape, np.dtype(dtype)) for shape in ((n, 64), (64, 64))]
        fast = find_operator(name).select_fast("cpu", specs, attrs)
        found.append(None if fast is None else fast.back_end)
    assert found == [BackEnd.NUMPY, BackEnd.ONEDNN, BackEnd.NUMPY, None]

"""scaled_dot_product_attention, exported: the file gives what the operator does."""

from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import gluonish as mx
from gluonish.core.errors import NotSupportedError
from tests.onnx.exporting.judge import exported

RANDOM = np.random.default_rng(3)
MASK = RANDOM.standard_normal((2, 1, 5, 7)).astype(np.float32)
MASK[:, :, 2] = -np.inf
CASES: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({}, {}),
    ({"causal": True, "scale": 0.3}, {}),
    ({"window": 2, "softcap": 1.5}, {}),
    ({"swapped": True}, {}),
    ({}, {"mask": MASK}),
    ({"causal": True}, {"mask": MASK > 0, "valid_length": np.array([0, 4], np.int32)}),
    ({}, {"valid_length": np.array([[2, 5], [7, 3]], np.int64)}),
]


def hold(path: Path, arrays: Any, attrs: Any, optional: Any, tolerance: float = 2e-6) -> None:
    names = ("q", "k", "v", *optional)
    q, k, v, *_ = map(mx.sym.var, names)
    given = {name: mx.sym.var(name) for name in optional}
    symbol = mx.sym.scaled_dot_product_attention(q, k, v, **given, **attrs)
    every = [*arrays, *optional.values()]
    ours = [mx.nd.array(x, dtype=x.dtype) for x in every]
    given = dict(zip(optional, ours[3:], strict=True))
    expected = mx.nd.scaled_dot_product_attention(*ours[:3], **given, **attrs).asnumpy()
    found = exported(path / "x.onnx", symbol, {}, every)[0]
    assert found.dtype == expected.dtype
    np.testing.assert_allclose(
        found.astype(np.float64), expected.astype(np.float64), rtol=0, atol=tolerance
    )


@pytest.mark.parametrize(("attrs", "optional"), CASES)
@pytest.mark.parametrize("groups", [4, 2])
def test_file_computes_what_the_operator_does(
    attrs: Any, optional: Any, groups: int, tmp_path: Path
) -> None:
    shapes = [(2, 4, 5, 8), (2, groups, 7, 8), (2, groups, 7, 6)]
    hold(tmp_path, [RANDOM.standard_normal(x).astype(np.float32) for x in shapes], attrs, optional)


@pytest.mark.parametrize("layout", ["NTHC", "TNHC"])
def test_layouts(layout: str, tmp_path: Path) -> None:
    axes = {"NTHC": (0, 2, 1, 3), "TNHC": (2, 0, 1, 3)}[layout]
    shapes = [(2, 4, 5, 8), (2, 2, 7, 8), (2, 2, 7, 6)]
    arrays = [RANDOM.standard_normal(x).astype(np.float32).transpose(axes) for x in shapes]
    hold(tmp_path, arrays, {"layout": layout}, {"mask": MASK > 0})


def test_without_heads_and_in_16_bits(tmp_path: Path) -> None:
    arrays = [RANDOM.standard_normal(x) for x in ((2, 5, 8), (2, 7, 8), (2, 7, 6))]
    lengths = {"valid_length": np.array([3, 7], np.int32)}
    hold(tmp_path, [x.astype(np.float32) for x in arrays], {}, lengths)
    hold(tmp_path, [x.astype(np.float16) for x in arrays], {"causal": True}, {}, 2e-3)
    hold(tmp_path, [x.astype(ml_dtypes.bfloat16) for x in arrays], {"causal": True}, {}, 2e-2)


def test_groups_behind_several_axes_are_refused(tmp_path: Path) -> None:
    shapes = [(2, 3, 4, 5, 8), (2, 3, 2, 7, 8), (2, 3, 2, 7, 6)]
    with pytest.raises(NotSupportedError, match="behind several axes of samples"):
        hold(tmp_path, [np.ones(x, np.float32) for x in shapes], {}, {})

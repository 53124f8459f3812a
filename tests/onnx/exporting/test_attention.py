"""scaled_dot_product_attention, exported: the file gives what the operator does."""

from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import onnx
import pytest

import gluonish as mx
from gluonish.core.errors import NotSupportedError
from tests.onnx.exporting.judge import ATTENTION_OPSETS, evaluated, exported

RANDOM = np.random.default_rng(3)
MASK = RANDOM.standard_normal((2, 1, 5, 7)).astype(np.float32)
MASK[:, :, 2] = -np.inf
OPSETS = [None, *ATTENTION_OPSETS]
CASES: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({}, {}),
    ({"causal": True, "scale": 0.3}, {}),
    ({"window": 2, "softcap": 1.5}, {}),
    ({"swapped": True}, {}),
    ({}, {"mask": MASK}),
    ({"causal": True}, {"mask": MASK > 0, "valid_length": np.array([0, 4], np.int32)}),
    ({}, {"valid_length": np.array([[2, 5], [7, 3]], np.int64)}),
]


def hold(
    path: Path,
    arrays: Any,
    attrs: Any,
    optional: Any,
    tolerance: float = 2e-6,
    opset: int | None = None,
) -> None:
    names = ("q", "k", "v", *optional)
    q, k, v, *_ = map(mx.sym.var, names)
    given = {name: mx.sym.var(name) for name in optional}
    symbol = mx.sym.scaled_dot_product_attention(q, k, v, **given, **attrs)
    every = [*arrays, *optional.values()]
    ours = [mx.nd.array(x, dtype=x.dtype) for x in every]
    given = dict(zip(optional, ours[3:], strict=True))
    expected = mx.nd.scaled_dot_product_attention(*ours[:3], **given, **attrs).asnumpy()
    file = path / "x.onnx"
    found = exported(file, symbol, {}, every, opset_version=opset)[0]
    kinds = [node.op_type for node in onnx.load(file).graph.node]
    assert ("Attention" in kinds) == (opset is not None) == ("Softmax" not in kinds)
    assert found.dtype == expected.dtype
    np.testing.assert_allclose(
        found.astype(np.float64), expected.astype(np.float64), rtol=0, atol=tolerance
    )


@pytest.mark.parametrize(("attrs", "optional"), CASES)
@pytest.mark.parametrize("groups", [4, 2])
@pytest.mark.parametrize("opset", OPSETS)
def test_file_computes_what_the_operator_does(
    attrs: Any, optional: Any, groups: int, opset: int | None, tmp_path: Path
) -> None:
    shapes = [(2, 4, 5, 8), (2, groups, 7, 8), (2, groups, 7, 6)]
    arrays = [RANDOM.standard_normal(x).astype(np.float32) for x in shapes]
    hold(tmp_path, arrays, attrs, optional, opset=opset)


@pytest.mark.parametrize("opset", OPSETS)
@pytest.mark.parametrize("queries", [7, 9])
@pytest.mark.parametrize("optional", [{}, {"valid_length": np.array([0, 4], np.int32)}])
def test_causality(queries: int, optional: Any, opset: int | None, tmp_path: Path) -> None:
    arrays = [RANDOM.standard_normal((2, 3, n, 8)).astype(np.float32) for n in (queries, 7, 7)]
    hold(tmp_path, arrays, {"causal": True}, optional, opset=opset)
    hold(tmp_path, arrays, {"causal": True, "window": 3}, optional, opset=opset)
    attrs = {"causal": True, "layout": "NTHC"}
    hold(tmp_path, [x.swapaxes(1, 2) for x in arrays], attrs, optional, opset=opset)


@pytest.mark.parametrize("opset", OPSETS)
@pytest.mark.parametrize("layout", ["NTHC", "TNHC"])
def test_layouts(layout: str, opset: int | None, tmp_path: Path) -> None:
    axes = {"NTHC": (0, 2, 1, 3), "TNHC": (2, 0, 1, 3)}[layout]
    shapes = [(2, 4, 5, 8), (2, 2, 7, 8), (2, 2, 7, 6)]
    arrays = [RANDOM.standard_normal(x).astype(np.float32).transpose(axes) for x in shapes]
    hold(tmp_path, arrays, {"layout": layout}, {"mask": MASK > 0}, opset=opset)


@pytest.mark.parametrize("opset", OPSETS)
def test_without_heads_and_in_other_dtypes(opset: int | None, tmp_path: Path) -> None:
    arrays = [RANDOM.standard_normal(x) for x in ((2, 5, 8), (2, 7, 8), (2, 7, 6))]
    lengths = {"valid_length": np.array([3, 7], np.int32)}
    rows = {"mask": MASK[:, 0]}
    singles, doubles, halves, brains = (
        [x.astype(dtype) for x in arrays] for dtype in ("f4", "f8", "f2", ml_dtypes.bfloat16)
    )
    hold(tmp_path, singles, {}, lengths, opset=opset)
    hold(tmp_path, singles, {"causal": True}, rows, opset=opset)
    hold(tmp_path, doubles, {"window": 3}, lengths, 1e-12, opset=opset)
    hold(tmp_path, halves, {"causal": True}, {}, 2e-3, opset=opset)
    hold(tmp_path, halves, {}, rows, 2e-3, opset=opset)
    hold(tmp_path, brains, {"causal": True}, {}, 2e-2, opset=opset)


@pytest.mark.parametrize("layout", ["NHTC", "NTHC"])
@pytest.mark.parametrize(
    "attrs", [{}, {"causal": True}, {"causal": True, "window": 2}, {"window": 3, "softcap": 2.0}]
)
@pytest.mark.parametrize("lengths", [1, 2])
@pytest.mark.parametrize("opset", OPSETS)
def test_dynamic_lengths(
    layout: str, attrs: Any, lengths: int, opset: int | None, tmp_path: Path
) -> None:
    names = ("q", "k", "v", "lengths")
    q, k, v, counts = map(mx.sym.var, names)
    options = {"layout": layout, **attrs}
    symbol = mx.sym.scaled_dot_product_attention(q, k, v, valid_length=counts, **options)
    path = str(tmp_path / "x.onnx")

    def shapes(batch: Any, queries: Any, keys: Any) -> list[tuple[Any, ...]]:
        made = [(batch, 3, n, 4) for n in (queries, keys, keys)]
        made = [tuple(x[i] for i in (0, 2, 1, 3)) for x in made] if layout == "NTHC" else made
        return [*made, (batch,) if lengths == 1 else (2, batch)]

    types = [np.float32] * 3 + [np.int64]
    given = shapes("batch", "queries", "keys")
    mx.onnx.export_model(symbol, {}, given, types, path, opset_version=opset)
    for sizes in ((2, 5, 7), (3, 7, 7), (1, 6, 2)):
        *data, last = shapes(*sizes)
        arrays = [RANDOM.standard_normal(x).astype(np.float32) for x in data]
        arrays.append(RANDOM.integers(0, sizes[2] + 1, last))
        *ours, number = [mx.nd.array(x, dtype=x.dtype) for x in arrays]
        wanted = mx.nd.scaled_dot_product_attention(*ours, valid_length=number, **options)
        found = evaluated(path, arrays)[0]
        np.testing.assert_allclose(found, wanted.asnumpy(), rtol=0, atol=2e-6)


@pytest.mark.parametrize("opset", OPSETS)
def test_layer_of_self_attention_with_a_dynamic_length(opset: int | None, tmp_path: Path) -> None:
    layer = mx.gluon.nn.MultiHeadAttention(8, 4, 2, causal=True, in_units=8)
    layer.initialize()
    layer.hybridize()
    path = str(tmp_path / "x.onnx")
    layer(mx.nd.ones((1, 2, 8)))
    mx.onnx.export_model(
        layer, None, [("batch", "length", 8)], np.float32, path, opset_version=opset
    )
    kinds = [node.op_type for node in onnx.load(path).graph.node]
    assert ("Attention" in kinds) == (opset is not None) == ("Softmax" not in kinds)
    assert not {"Where", "Range", "Expand"} & {*kinds} or opset is None
    for shape in ((2, 5, 8), (3, 1, 8)):
        x = RANDOM.standard_normal(shape).astype(np.float32)
        wanted = layer(mx.nd.array(x)).asnumpy()
        np.testing.assert_allclose(evaluated(path, [x])[0], wanted, rtol=0, atol=2e-6)


def test_groups_behind_several_axes_are_refused(tmp_path: Path) -> None:
    shapes = [(2, 3, 4, 5, 8), (2, 3, 2, 7, 8), (2, 3, 2, 7, 6)]
    with pytest.raises(NotSupportedError, match="behind several axes of samples"):
        hold(tmp_path, [np.ones(x, np.float32) for x in shapes], {}, {})

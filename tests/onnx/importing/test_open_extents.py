"""Symbols of files that leave extents open, on models made with the package onnx."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

import gluonish.ndarray as nd
from gluonish.core.context import cpu
from gluonish.core.errors import NotSupportedError
from gluonish.onnx.importing import import_model, import_to_gluon

Node = helper.make_node


def _model(nodes: Sequence[Any], shape: Sequence[Any], **tensors: Any) -> onnx.ModelProto:
    graph = helper.make_graph(
        list(nodes),
        "net",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(np.asarray(x), name) for name, x in tensors.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])


_ONE, _TWO, _THREE = (np.array([i], np.int64) for i in (1, 2, 3))
_BATCH = [
    Node("Shape", ["x"], ["shape"]),
    Node("Slice", ["shape", "zero", "one"], ["n"]),
    Node("Slice", ["shape", "one", "two"], ["t"]),
]
_MODELS = {
    "heads are split and joined": _model(
        [
            *_BATCH,
            Node("Concat", ["n", "t", "three", "two"], ["heads"], axis=0),
            Node("Reshape", ["x", "heads"], ["h"]),
            Node("Transpose", ["h"], ["s"], perm=[0, 2, 1, 3]),
            Node("Transpose", ["s"], ["back"], perm=[0, 2, 1, 3]),
            Node("Concat", ["n", "t", "six"], ["whole"], axis=0),
            Node("Reshape", ["back", "whole"], ["y"]),
        ],
        ["batch", "time", 6],
        zero=np.array([0], np.int64),
        one=_ONE,
        two=_TWO,
        three=_THREE,
        six=np.array([6], np.int64),
    ),
    "rows of all sequences": _model(
        [
            *_BATCH,
            Node("Mul", ["n", "t"], ["rows"]),
            Node("Concat", ["rows", "six"], ["flat"], axis=0),
            Node("Reshape", ["x", "flat"], ["f"]),
            Node("Relu", ["f"], ["y"]),
        ],
        ["batch", "time", 6],
        zero=np.array([0], np.int64),
        one=_ONE,
        two=_TWO,
        six=np.array([6], np.int64),
    ),
    "one number in any shape": _model(
        [
            *_BATCH,
            Node("Concat", ["two", "n", "six"], ["whole"], axis=0),
            Node("ConstantOfShape", ["whole"], ["zeros"]),
            Node("Slice", ["x", "zero", "one", "one"], ["first"]),
            Node("Squeeze", ["first", "one"], ["row"]),
            Node("Add", ["zeros", "row"], ["y"]),
        ],
        ["batch", "time", 6],
        zero=np.array([0], np.int64),
        one=_ONE,
        two=_TWO,
        six=np.array([6], np.int64),
    ),
    "a row for each of the batch": _model(
        [
            *_BATCH,
            Node("Concat", ["n", "t", "six"], ["whole"], axis=0),
            Node("Expand", ["row", "whole"], ["rows"]),
            Node("Mul", ["x", "rows"], ["y"]),
        ],
        ["batch", "time", 6],
        zero=np.array([0], np.int64),
        one=_ONE,
        two=_TWO,
        six=np.array([6], np.int64),
        row=np.arange(6, dtype=np.float32),
    ),
    "the last step": _model(
        [
            *_BATCH,
            Node("Sub", ["t", "one"], ["last"]),
            Node("Slice", ["x", "last", "t", "one"], ["y"]),
        ],
        ["batch", "time", 6],
        zero=np.array([0], np.int64),
        one=_ONE,
        two=_TWO,
    ),
}


@pytest.mark.parametrize("name", _MODELS)
def test_one_symbol_computes_what_onnx_does_for_each_shape(name: str) -> None:
    symbol, arguments, _ = import_model(_MODELS[name].SerializeToString())
    for shape in ((2, 3, 6), (5, 4, 6), (1, 7, 6)):
        x = np.random.default_rng(0).normal(size=shape).astype(np.float32)
        (expected,) = ReferenceEvaluator(_MODELS[name]).run(None, {"x": x})
        (found,) = symbol.bind(cpu(), {"x": nd.array(x), **arguments}).forward()
        np.testing.assert_array_equal(found.asnumpy(), expected)


def test_what_needs_numbers_is_refused_and_runs_as_a_block() -> None:
    nodes = [
        Node("Shape", ["x"], ["shape"]),
        Node("Cast", ["shape"], ["numbers"], to=TensorProto.FLOAT),
        Node("Mul", ["x", "numbers"], ["y"]),
    ]
    model = _model(nodes, ["n", 2])
    with pytest.raises(NotSupportedError, match=r"constants that do not depend on open extents"):
        import_model(model.SerializeToString())
    net = import_to_gluon(model.SerializeToString())
    net.hybridize()
    for count in (3, 4):
        np.testing.assert_array_equal(net(nd.ones((count, 2))).asnumpy(), [[count, 2]] * count)
    symbol, arguments, _ = import_model(model.SerializeToString(), {"x": (3, 2)})
    (found,) = symbol.bind(cpu(), {"x": nd.ones((3, 2)), **arguments}).forward()
    np.testing.assert_array_equal(found.asnumpy(), [[3, 2]] * 3)

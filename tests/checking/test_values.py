import numpy as np

from gluonish.ops.reductions.reduction import sum_
from gluonish.ops.registry import apply, find_operator
from tests.checking.values import ArrayValue


def test_arithmetic_runs_at_once() -> None:
    x = ArrayValue(np.array([1.0, 2.0], np.float32))
    assert ((2 - x) * x / 4).array.tolist() == [0.25, 0.0]


def test_operator_with_several_outputs_gives_a_list() -> None:
    x = ArrayValue(np.arange(4, dtype=np.float32).reshape(1, 4))
    op = find_operator("SliceChannel")
    pieces = apply(op, (x,), op.schema.parse("SliceChannel", {"num_outputs": 2}))
    assert [piece.array.tolist() for piece in pieces] == [[[0, 1]], [[2, 3]]]


def test_hidden_outputs_are_not_shown() -> None:
    x = ArrayValue(np.array([2.0, 1.0], np.float32))
    op = find_operator("sort")
    assert apply(op, (x,), op.schema.parse("sort", {})).array.tolist() == [1.0, 2.0]


def test_shape_and_dtype_are_those_of_the_array() -> None:
    x = sum_(ArrayValue(np.ones((2, 3), np.float16)))
    assert x.shape == (1,)
    assert x.dtype == np.float16

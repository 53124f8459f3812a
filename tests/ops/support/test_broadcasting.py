import numpy as np
import pytest
from hypothesis import given
from hypothesis.extra import numpy as hnp

from gluonish.core.errors import OperatorError
from gluonish.core.spec import PartialSpec, Spec
from gluonish.ops.support.broadcasting import broadcast_shapes, complete_same, infer_broadcast

F32 = np.dtype("float32")


@given(hnp.mutually_broadcastable_shapes(num_shapes=2, min_side=0))
def test_shapes_broadcast_as_numpys_do(case: hnp.BroadcastableShapes) -> None:
    assert broadcast_shapes("op", *case.input_shapes) == case.result_shape


@pytest.mark.parametrize(("a", "b"), [((2,), (3,)), ((2, 3), (2,)), ((0,), (2,))])
def test_shapes_that_do_not_broadcast_are_refused(a: tuple[int], b: tuple[int]) -> None:
    with pytest.raises(OperatorError, match="op: expected shapes that broadcast"):
        broadcast_shapes("op", a, b)


def test_like_specs_give_the_first_itself() -> None:
    a = Spec((2,), F32)
    assert infer_broadcast("op", a, Spec((2,), F32)) is a


def test_unknown_shapes_and_dtypes_are_filled_in_both_ways() -> None:
    inputs, outputs = [PartialSpec((2, 3)), PartialSpec()], [PartialSpec(None, F32)]
    complete_same(inputs, outputs, {})
    assert inputs == [PartialSpec((2, 3), F32)] * 2
    assert outputs == [PartialSpec((2, 3), F32)]


def test_shapes_that_broadcast_are_left_alone() -> None:
    inputs, outputs = [PartialSpec((2, 3)), PartialSpec((1, 3))], [PartialSpec()]
    complete_same(inputs, outputs, {})
    assert inputs[1].shape == (1, 3)

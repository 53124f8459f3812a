import numpy as np
import pytest

from gluonish.core.errors import OperatorError
from gluonish.core.spec import (
    MOST_ELEMENTS,
    UNKNOWN,
    PartialSpec,
    Spec,
    checked_spec,
    merge_dtypes,
    merge_shapes,
)

F32, I32 = np.dtype("float32"), np.dtype("int32")


def test_size_and_bytes() -> None:
    assert (Spec((2, 3), F32).size, Spec((2, 3), F32).nbytes) == (6, 24)
    assert (Spec((), F32).size, Spec((0, 3), F32).size) == (1, 0)
    assert str(Spec((2,), F32)) == "float32(2,)"


def test_spec_from_attributes_has_extents_and_room() -> None:
    assert checked_spec("op", (MOST_ELEMENTS, 1), F32) == Spec((MOST_ELEMENTS, 1), F32)
    for shape in ((2, -1), (MOST_ELEMENTS, 2)):
        with pytest.raises(OperatorError, match="op: expected sizes of at least 0 and at most"):
            checked_spec("op", shape, F32)


def test_partial_spec_is_known_when_everything_is() -> None:
    assert PartialSpec((2, 3), F32).known()
    for spec in (PartialSpec(None, F32), PartialSpec((2, UNKNOWN), F32), PartialSpec((2,), None)):
        assert not spec.known()


def test_shapes_complete_each_other() -> None:
    assert merge_shapes((2, UNKNOWN), (UNKNOWN, 3), "x") == (2, 3)
    assert merge_shapes(None, (2,), "x") == merge_shapes((2,), None, "x") == (2,)
    assert merge_shapes(None, None, "x") is None


@pytest.mark.parametrize("other", [(2, 4), (2,), (2, 3, 1)])
def test_contradicting_shapes_are_refused(other: tuple[int, ...]) -> None:
    with pytest.raises(OperatorError, match=r"dense weight: expected shape \(2, 3\), got"):
        merge_shapes((2, 3), other, "dense weight")


def test_unknown_extents_print_as_a_question_mark() -> None:
    with pytest.raises(OperatorError, match=r"expected shape \(\?, 3\)"):
        merge_shapes((UNKNOWN, 3), (2, 4), "x")


def test_dtypes_complete_each_other_or_are_refused() -> None:
    assert merge_dtypes(None, F32, "x") is merge_dtypes(F32, None, "x") is F32
    float64 = np.dtype("float64")  # which is equal to None
    assert merge_dtypes(float64, None, "x") is merge_dtypes(None, float64, "x") is float64
    with pytest.raises(OperatorError, match="x: expected dtype float32, got int32"):
        merge_dtypes(F32, I32, "x")

import numpy as np

from gluonish.core.spec import PartialSpec
from gluonish.ops.support.dtype_rules import complete_same_dtype, dtype_rule, named_dtype

OPEN = PartialSpec()
HALF, INT, DOUBLE = (PartialSpec(None, np.dtype(name)) for name in ("float16", "int32", "float64"))


def test_one_known_dtype_is_that_of_all() -> None:
    inputs, outputs = [OPEN, DOUBLE], [OPEN, OPEN]
    complete_same_dtype(inputs, outputs, {})
    assert [spec.dtype for spec in (*inputs, *outputs)] == [DOUBLE.dtype] * 4


def test_an_output_tells_the_inputs() -> None:
    inputs = [OPEN]
    complete_same_dtype(inputs, [HALF], {})
    assert inputs == [HALF]


def test_different_dtypes_and_shapes_are_left_as_they_are() -> None:
    inputs, outputs = [HALF, INT, PartialSpec((2, 3))], [OPEN]
    complete_same_dtype(inputs, outputs, {})
    assert inputs == [HALF, INT, PartialSpec((2, 3))]
    assert outputs == [OPEN]
    shaped = [PartialSpec((2, 3))]
    complete_same_dtype(shaped, [HALF], {})
    assert shaped == [PartialSpec((2, 3), HALF.dtype)]


def test_inputs_outside_the_rule_tell_and_learn_nothing() -> None:
    inputs, outputs = [OPEN, INT], [OPEN]
    dtype_rule(0)(inputs, outputs, {})
    assert (inputs, outputs) == ([OPEN, INT], [OPEN])
    inputs = [HALF, OPEN]
    dtype_rule(0)(inputs, outputs, {})
    assert (inputs, outputs) == ([HALF, OPEN], [HALF])


def test_a_named_dtype_is_that_of_the_output_only() -> None:
    inputs, outputs = [OPEN], [OPEN]
    named_dtype(inputs, outputs, {"dtype": np.dtype("int32")})
    assert (inputs, outputs) == ([OPEN], [INT])

from typing import Any

import numpy as np
import pytest

from gluonish.core.errors import OperatorError
from gluonish.core.spec import Spec
from gluonish.ops.fused.pointwise import (
    FUSED_POINTWISE,
    FUSED_POINTWISE_MANY,
    FUSED_POINTWISE_RANDOM,
    Instruction,
    Program,
)
from gluonish.ops.registry import find_operator

FLOAT = np.dtype(np.float32)


def step(name: str, *inputs: int, **attrs: Any) -> Instruction:
    op = find_operator(name)
    runtime = {"train": attrs.pop("train")} if "train" in attrs else {}
    return Instruction(op, inputs, {**op.schema.parse(name, attrs), **runtime})


SCALED = Program(2, [step("broadcast_mul", 0, 1), step("relu", 2)], [3])


def test_a_program_prints_as_its_lines() -> None:
    assert str(SCALED) == "[%2 = broadcast_mul(%0, %1); %3 = relu(%2); return %3]"


def test_programs_of_one_text_are_equal() -> None:
    same = Program(2, [step("broadcast_mul", 0, 1), step("relu", 2)], [3])
    assert same == SCALED
    assert hash(same) == hash(SCALED)
    assert Program(2, same.instructions, [2]) != SCALED


def test_attributes_that_compare_equal_but_differ_make_two_programs() -> None:
    plus, minus = (Program(1, [step("_mul_scalar", 0, scalar=s)], [1]) for s in (0.0, -0.0))
    assert plus != minus


def test_inference_goes_through_the_program() -> None:
    specs = (Spec((4, 1), FLOAT), Spec((3,), FLOAT))
    assert FUSED_POINTWISE.infer(*specs, num_args=2, program=SCALED) == (Spec((4, 3), FLOAT),)


def test_an_operator_of_the_program_refuses_what_does_not_fit() -> None:
    with pytest.raises(OperatorError, match="broadcast_mul: expected shapes that broadcast"):
        FUSED_POINTWISE.infer(Spec((4,), FLOAT), Spec((3,), FLOAT), num_args=2, program=SCALED)


def test_another_object_is_no_program() -> None:
    with pytest.raises(OperatorError, match="expected program to be a Program"):
        FUSED_POINTWISE.schema.parse("_fused_pointwise", {"num_args": 1, "program": "relu"})


def test_the_output_may_lie_on_an_input() -> None:
    x = np.array([-1, 2, -3], np.float32)
    program = Program(1, [step("negative", 0), step("elemwise_add", 1, 0), step("exp", 0)], [3])
    wanted = np.exp(x)
    FUSED_POINTWISE.kernel(np, x, x, num_args=1, program=program)
    np.testing.assert_array_equal(x, wanted)


def test_several_outputs_are_filled() -> None:
    x = np.array([-1, 2], np.float32)
    program = Program(1, [step("relu", 0), step("square", 1)], [1, 2])
    outputs = (np.empty_like(x), np.empty_like(x))
    FUSED_POINTWISE_MANY.kernel(np, outputs, x, num_args=1, program=program)
    np.testing.assert_array_equal(outputs, [[0, 2], [0, 4]])
    assert FUSED_POINTWISE_MANY.num_outputs({"num_args": 1, "program": program}) == 2


def test_the_random_operator_gets_the_key() -> None:
    x = np.ones(50, np.float32)
    program = Program(1, [step("Dropout", 0, p=0.5, train=True), step("square", 1)], [3])
    out, wanted, mask = (np.empty_like(x) for _ in range(3))
    attrs = {"num_args": 1, "program": program, "key": (3, 4)}
    FUSED_POINTWISE_RANDOM.kernel(np, (out,), x, **attrs)
    instruction = program.instructions[0]
    instruction.op.kernel(np, (wanted, mask), x, **instruction.attrs, key=(3, 4))
    np.testing.assert_array_equal(out, wanted**2)

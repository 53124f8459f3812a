from typing import Any

import ml_dtypes
import numpy as np
import pytest

from gluonish.core.spec import Spec
from gluonish.kernels.generated.expressions import supports
from gluonish.kernels.generated.numpy_expressions import NUMPY_RULES
from gluonish.kernels.generated.pointwise import plan_pointwise
from gluonish.ops.fused.pointwise import Instruction, Program
from gluonish.ops.registry import find_operator

DTYPES = [np.dtype(x) for x in ("float32", "int32", "bool", ml_dtypes.bfloat16)]
PAIRS = [(a, b) for a in DTYPES for b in DTYPES]


def calls(name: str) -> list[tuple[list[Spec], dict[str, Any]]]:
    """Inputs of all dtypes that the generated kernel takes."""
    op = find_operator(name)
    given = {"scalar": 1.0} if "scalar" in op.schema.attributes else {}
    attrs = op.schema.parse(name, given)
    if len(op.inputs) == 1:
        specs = [[Spec((3, 4), a)] for a in DTYPES]
    elif len(op.inputs) == 2:
        specs = [[Spec((3, 4), a), Spec(s, b)] for a, b in PAIRS for s in [(4,), ()]]
    else:
        specs = [[Spec((4,), a), Spec((3, 4), b), Spec((), b)] for a, b in PAIRS]
    return [(given, attrs) for given in specs if supports(op, attrs, given)]


@pytest.mark.parametrize("name", sorted(NUMPY_RULES))
def test_the_generated_kernel_gives_what_the_operator_gives(name: str) -> None:
    op, random, found = find_operator(name), np.random.default_rng(0), calls(name)
    assert found
    arrays: list[Any] = []
    steps, outs, wanted = [], [], []
    for specs, attrs in found:
        numbers = tuple(range(len(arrays), len(arrays) + len(specs)))
        arrays += [np.asarray(random.integers(0, 3, s.shape)).astype(s.dtype) for s in specs]
        steps.append(Instruction(op, numbers, attrs))
        (spec,) = op.infer(*specs, **attrs)
        out = np.empty(spec.shape, spec.dtype)
        op.kernel(np, out, *[arrays[i] for i in numbers], **attrs)
        wanted.append(out)
        outs.append(np.empty_like(out))
    for first in range(0, len(steps), 6):
        _run(steps[first : first + 6], arrays, outs[first : first + 6])
    for out, expected in zip(outs, wanted, strict=True):
        np.testing.assert_array_equal(out.astype(np.float64), expected.astype(np.float64))


def _run(steps: list[Instruction], arrays: list[Any], outs: list[Any]) -> None:
    """Run some steps as one kernel."""
    used = sorted({i for step in steps for i in step.inputs})
    renumbered = [
        Instruction(step.op, tuple(used.index(i) for i in step.inputs), step.attrs)
        for step in steps
    ]
    count = len(used)
    program = Program(count, renumbered, range(count, count + len(steps)))
    inputs = [arrays[i] for i in used]
    plan_pointwise(tuple(outs), inputs, program).plan.run(*outs, *inputs, key=None)


def test_operands_of_one_dtype_are_left_to_the_classic_operator() -> None:
    spec = Spec((4,), np.dtype(np.float32))
    assert not supports(find_operator("_npi_add"), {}, [spec, spec])


def test_integers_meet_numbers_in_the_reference_kernel() -> None:
    spec = Spec((4,), np.dtype(np.int32))
    attrs = {"scalar": 0.5, "is_int": False}
    assert not supports(find_operator("_npi_greater_scalar"), attrs, [spec])

from typing import Any

import numpy as np

from gluonish.autograd.rule_fusion import fuse
from gluonish.autograd.rule_trace import Rule, trace_rule
from gluonish.core.spec import Spec
from gluonish.ndarray import NDArray  # noqa: F401  # registers all operators and kernels
from gluonish.ops.registry import find_operator

FLOAT = np.dtype(np.float32)
DATA, ROW = Spec((4, 8), FLOAT), Spec((4,), FLOAT)


def rule(name: str, *inputs: Spec, outputs: tuple[Spec, ...] = (), **attrs: object) -> Rule:
    op = find_operator(name)
    parsed = op.schema.parse(name, attrs)
    (head,) = op.infer(*inputs, **parsed)
    found = trace_rule(op, parsed, [head], inputs, outputs, [True] * len(inputs))
    assert found is not None
    return found


def names(found: Rule) -> list[str]:
    return [step.op.name for step in found.steps]


def test_steps_are_those_of_the_rule() -> None:
    found = rule("softsign", DATA)
    assert names(found) == ["abs", "_plus_scalar", "square", "broadcast_div"]
    assert found.results == (len(found.specs) - 1,)


def test_a_gradient_that_is_a_given_value_needs_no_step() -> None:
    found = rule("broadcast_add", DATA, DATA)
    assert (names(found), found.results) == ([], (0, 0))


def test_a_rule_that_needs_numbers_has_no_list() -> None:
    op = find_operator("exp")
    assert trace_rule(op, {}, [None], [DATA], [DATA], [True]) is None


def test_steps_on_single_elements_become_one() -> None:
    found = fuse(rule("softsign", DATA), "softsign", 1)
    assert found is not None
    assert found.steps == (found.joined,)
    assert found.joined.inputs == (0, 1)


def test_steps_on_smaller_arrays_stay_in_front() -> None:
    found = fuse(rule("max", DATA, outputs=(ROW,), axis=1), "max", 1)
    assert found is not None
    assert [step.op.name for step in found.steps][:-1] == ["Reshape", "Reshape"]
    assert found.steps[-1] is found.joined


def test_the_sum_of_what_was_stretched_stays_behind() -> None:
    found = fuse(rule("broadcast_div", DATA, Spec((4, 1), FLOAT)), "broadcast_div", 1)
    assert found is not None
    assert [step.op.name for step in found.steps][-1] == "_sum_to_shape"


def test_what_surrounds_a_sum_is_not_fused() -> None:
    attrs: Any = {"axis": -1, "factor": 1.0, "log": False, "dtype": FLOAT}
    assert fuse(rule("_softmax_backward", DATA, DATA, **attrs), "_softmax_backward", 1) is None


def test_single_steps_and_small_arrays_are_not_fused() -> None:
    assert fuse(rule("negative", DATA), "negative", 1) is None
    assert fuse(rule("softsign", DATA), "softsign", DATA.size + 1) is None

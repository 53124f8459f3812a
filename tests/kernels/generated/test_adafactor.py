"""Generated kernels of Adafactor against the reference kernel."""

from typing import Any

import numpy as np
import pytest

from gluonish.core.dtype import BFLOAT16
from gluonish.kernels.generated.adafactor import AdafactorStep
from gluonish.kernels.generated.optimizer import fused_step
from gluonish.ops.updates.matrices import ADAFACTOR, MUON
from tests.kernels.factored import factored_groups, steps
from tests.kernels.updates import check_equal, step_by_reference

pytest.importorskip("llvmlite")


def firsts(arrays: list[list[Any]]) -> list[Any]:
    return [group[0] for group in arrays]


@pytest.mark.parametrize("narrow", [None, BFLOAT16, np.dtype(np.float16)], ids=str)
def test_kernel_equals_the_reference_to_the_bit(narrow: Any) -> None:
    ours, wanted = factored_groups(narrow), factored_groups(narrow)
    step = AdafactorStep(firsts(ours), ours)
    for columns, given in steps():
        step.run(columns, given)
        step_by_reference(ADAFACTOR, wanted, columns, given, narrow is not None)
        check_equal(ours, wanted)


def test_new_weights_may_go_elsewhere() -> None:
    ours, wanted = factored_groups(None), factored_groups(None)
    outs = [np.empty_like(group[0]) for group in ours]
    columns, given = steps()[0]
    AdafactorStep(outs, ours).run(columns, given)
    check_equal([firsts(ours)], [firsts(wanted)])
    step_by_reference(ADAFACTOR, wanted, columns, given, False)
    check_equal([outs], [firsts(wanted)])


@pytest.mark.parametrize("place", [0, 1])
def test_zeros_give_what_the_reference_gives(place: int) -> None:
    ours, wanted = factored_groups(None), factored_groups(None)
    for group in (*ours, *wanted):
        for state in (group[place], *group[2:]):
            state[...] = 0
    columns, given = steps()[0]
    AdafactorStep(firsts(ours), ours).run(columns, given)
    step_by_reference(ADAFACTOR, wanted, columns, given, False)
    check_equal(ours, wanted)


def test_what_is_not_finite_stays_so() -> None:
    ours, wanted = factored_groups(None), factored_groups(None)
    for group in (*ours, *wanted):
        group[1].reshape(-1)[:1] = np.nan
    columns, given = steps()[0]
    AdafactorStep(firsts(ours), ours).run(columns, given)
    step_by_reference(ADAFACTOR, wanted, columns, given, False)
    for one, other in zip(ours, wanted, strict=True):
        for x, y in zip(one, other, strict=True):
            np.testing.assert_array_equal(x, y)


def test_only_empty_weights_are_no_work() -> None:
    arrays = [group for group in factored_groups(None) if not group[0].size]
    columns, given = [0.3, 0.25, 0.9], steps()[1][1]
    AdafactorStep(firsts(arrays), arrays).run(columns, given)
    assert len(arrays) == 2


def test_optimizers_get_the_step_and_muon_keeps_its_products() -> None:
    arrays = factored_groups(None)
    assert isinstance(fused_step(np, ADAFACTOR, firsts(arrays), arrays, False), AdafactorStep)
    assert fused_step(np, MUON, firsts(arrays), arrays, False) is None

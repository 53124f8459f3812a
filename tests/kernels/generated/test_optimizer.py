"""Generated kernels of updates against the reference kernels, over all rules."""

import platform
from typing import Any

import numpy as np
import pytest

from gluonish.core.dtype import BFLOAT16
from gluonish.core.spec import Spec
from gluonish.kernels import openmp
from gluonish.kernels.generated import optimizer
from gluonish.kernels.generated.optimizer import BLOCK, FusedStep, fused_step
from gluonish.kernels.optimizer_formulas import FORMULAS
from gluonish.ops.registry import find_operator
from gluonish.ops.updates.adaptive import (
    ADABELIEF,
    ADADELTA,
    ADAMAX,
    FTML_STEPS,
    FTRL,
    NADAM,
    RADAM,
)
from gluonish.ops.updates.layerwise import LANS, LARS, LARS_MOMENTUM
from gluonish.ops.updates.multi_update import MULTI_UPDATES
from gluonish.ops.updates.rules import LAMB, RULES, SGD, SGD_MOMENTUM, Rule, apply_rule
from gluonish.ops.updates.rules2 import RULES2
from gluonish.ops.updates.sign import DCASGD, DCASGD_MOMENTUM, LION, SIGNSGD, SIGNUM_STEPS
from tests.kernels.updates import check_equal, groups, rates, scalars

pytest.importorskip("llvmlite")

# None of a vector's length; an empty one, one below a lane, one over several blocks.
SHAPES = [(3,), (0,), (17, 33), (BLOCK + 21,), (1,), (2, BLOCK)]
MORE_RULES = (
    ADABELIEF,
    ADADELTA,
    ADAMAX,
    DCASGD,
    DCASGD_MOMENTUM,
    FTML_STEPS,
    FTRL,
    LANS,
    LARS,
    LARS_MOMENTUM,
    LION,
    NADAM,
    RADAM,
    *RULES2,
    SIGNSGD,
    SIGNUM_STEPS,
)
CASES = [(rule, None) for rule in (*RULES, *MORE_RULES)]
CASES += [(rule, BFLOAT16) for rule in (*RULES, *MORE_RULES)]
CASES += [(SGD_MOMENTUM, np.dtype(np.float16)), (LAMB, np.dtype(np.float16))]  # type: ignore[list-item]
NAMES = [f"{rule.name}-{narrow or 'float32'}" for rule, narrow in CASES]


def test_every_rule_has_a_formula() -> None:
    assert set(FORMULAS) == {*RULES, *MORE_RULES}


@pytest.mark.parametrize("pieces", [1, 3])
@pytest.mark.parametrize(("rule", "narrow"), CASES, ids=NAMES)
def test_kernel_equals_the_reference_to_the_bit(
    rule: Rule, narrow: Any, pieces: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(optimizer, "_PIECE", 8)
    monkeypatch.setattr(openmp.team(), "threads", lambda: pieces)
    ours, wanted = groups(rule, narrow, SHAPES), groups(rule, narrow, SHAPES)
    step = FusedStep(rule, [group[0] for group in ours], ours)
    for clip, columns in ((1.0, rates(rule, len(SHAPES))), (-1.0, [0.3] * len(rule.rates))):
        given = scalars(rule, clip_gradient=clip)
        step.run(columns, given)
        for i, group in enumerate(wanted):
            own = [column[i] if isinstance(column, list) else column for column in columns]
            apply_rule(np, rule, group[0], group, narrow is not None, own, given)
    check_equal(ours, wanted)


def test_radam_without_rectification_equals_the_reference() -> None:
    ours, wanted = groups(RADAM, None, SHAPES), groups(RADAM, None, SHAPES)
    columns, given = [0.3, 0.1, 0.0, 0.9], scalars(RADAM)
    FusedStep(RADAM, [group[0] for group in ours], ours).run(columns, given)
    for group in wanted:
        apply_rule(np, RADAM, group[0], group, False, columns, given)
    check_equal(ours, wanted)


@pytest.mark.parametrize(
    "rule", [rule for rule in FORMULAS if FORMULAS[rule].norms], ids=lambda r: r.name
)
@pytest.mark.parametrize("zero", [(0,), (1,), (0, 1)])
def test_norms_of_zero_are_those_of_the_reference(rule: Rule, zero: tuple[int, ...]) -> None:
    ours, wanted = groups(rule, None, SHAPES), groups(rule, None, SHAPES)
    for group in (*ours, *wanted):
        for place in zero:
            group[place][...] = 0
    columns = rates(rule, len(SHAPES))
    FusedStep(rule, [group[0] for group in ours], ours).run(columns, scalars(rule))
    for i, group in enumerate(wanted):
        own = [column[i] for column in columns]
        apply_rule(np, rule, group[0], group, False, own, scalars(rule))
    check_equal(ours, wanted)


def test_new_weights_may_go_elsewhere() -> None:
    ours, wanted = groups(SGD, None, SHAPES), groups(SGD, None, SHAPES)
    outs = [np.empty_like(group[0]) for group in ours]
    columns = rates(SGD, len(SHAPES))
    FusedStep(SGD, outs, ours).run(columns, scalars(SGD))
    check_equal(ours, groups(SGD, None, SHAPES))
    for i, group in enumerate(wanted):
        apply_rule(np, SGD, group[0], group, False, [c[i] for c in columns], scalars(SGD))
        np.testing.assert_array_equal(outs[i], group[0])


def test_threads_share_the_elements() -> None:
    """So many that the team is woken: one large weight beside small ones."""
    shapes = [(5,), (1 << 20,), (7,)]
    ours, wanted = groups(SGD, None, shapes), groups(SGD, None, shapes)
    FusedStep(SGD, [group[0] for group in ours], ours).run([0.5, 0.25], scalars(SGD))
    for group in wanted:
        apply_rule(np, SGD, group[0], group, False, (0.5, 0.25), scalars(SGD))
    check_equal(ours, wanted)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_pieces_of_weights_are_updated_like_whole_ones(
    monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    monkeypatch.setattr(optimizer, "_PIECE", 8)
    monkeypatch.setattr(openmp.team(), "threads", lambda: count)
    shapes = [(5, 9), (0,), (2, 3), (64, 7), (100,), (1, 50)]
    ours, wanted = groups(SGD, None, shapes), groups(SGD, None, shapes)
    columns = rates(SGD, len(shapes))
    FusedStep(SGD, [group[0] for group in ours], ours).run(columns, scalars(SGD))
    for i, group in enumerate(wanted):
        apply_rule(np, SGD, group[0], group, False, [c[i] for c in columns], scalars(SGD))
    check_equal(ours, wanted)


@pytest.mark.parametrize("rate", [0.5, np.float32(0.5), np.array(0.5), 1], ids=repr)
def test_a_rate_that_all_weights_share_may_be_any_number(
    monkeypatch: pytest.MonkeyPatch, rate: Any
) -> None:
    monkeypatch.setattr(openmp.team(), "threads", lambda: 2)
    shapes = [(128, 128), (3,)]
    ours, wanted = groups(SGD, None, shapes), groups(SGD, None, shapes)
    FusedStep(SGD, [group[0] for group in ours], ours).run([rate, 0.25], scalars(SGD))
    for group in wanted:
        apply_rule(np, SGD, group[0], group, False, (float(rate), 0.25), scalars(SGD))
    check_equal(ours, wanted)


def test_rows_of_a_weight_are_neighbours_of_the_same_rows_of_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(optimizer, "_PIECE", 8)
    weights = [np.empty(shape) for shape in ((5, 9), (100,), (64, 7))]
    owners, firsts, sizes = optimizer._pieces(weights, 2)
    assert owners.tolist() == [0, 1, 2, 0, 2]
    assert firsts.tolist() == [0, 0, 0, 3 * 9, 32 * 7]
    assert sizes.tolist() == [3 * 9, 100, 32 * 7, 2 * 9, 32 * 7]


@pytest.mark.skipif(platform.machine() != "x86_64", reason="other CPUs compute these fast")
def test_a_momentum_that_vanishes_becomes_zero() -> None:
    """A unit that no input activates has no gradient; its momentum must not stay subnormal."""
    ours = groups(SGD_MOMENTUM, None, [(64,)])
    ours[0][1][:] = 0.0
    ours[0][2][:] = np.linspace(1e-40, 1.1e-38, 64)
    FusedStep(SGD_MOMENTUM, [ours[0][0]], ours).run([0.5, 0.0], scalars(SGD_MOMENTUM))
    assert not ours[0][2].any()
    assert np.float32(1e-40) * np.float32(1.0) != 0.0  # in this thread as before


def test_what_is_not_finite_stays_so() -> None:
    ours = groups(SGD_MOMENTUM, None, [(64,)])
    ours[0][1][:3] = np.nan, np.inf, -np.inf
    wanted = [[x.copy() for x in ours[0]]]
    FusedStep(SGD_MOMENTUM, [ours[0][0]], ours).run([0.5, 0.25], scalars(SGD_MOMENTUM))
    given = scalars(SGD_MOMENTUM)
    apply_rule(np, SGD_MOMENTUM, wanted[0][0], wanted[0], False, (0.5, 0.25), given)
    assert np.isnan(ours[0][0][0])
    for x, y in zip(ours[0], wanted[0], strict=True):
        np.testing.assert_array_equal(x, y)


@pytest.mark.parametrize(
    "change",
    [
        lambda x: x.astype(np.float64),
        lambda x: np.asfortranarray(x),
        lambda x: np.repeat(x, 2, axis=1)[:, ::2],
    ],
    ids=["float64", "transposed", "strided"],
)
def test_other_arrays_are_left_to_the_reference(change: Any) -> None:
    arrays = groups(SGD, None, [(200, 200)])
    assert fused_step(np, SGD, [arrays[0][0]], arrays, False) is not None
    changed = [[change(x) for x in arrays[0]]]
    assert fused_step(np, SGD, [changed[0][0]], changed, False) is None


def test_little_work_is_left_to_the_reference() -> None:
    few, many = groups(SGD, None, [(3,)] * 2), groups(SGD, None, [(3,)] * 64)
    assert fused_step(np, SGD, [group[0] for group in few], few, False) is None
    assert fused_step(np, SGD, [group[0] for group in many], many, False) is not None


@pytest.mark.parametrize("multi", MULTI_UPDATES, ids=lambda multi: multi.name)
def test_operators_take_many_float32_or_mixed_weights(multi: Any) -> None:
    op = find_operator(multi.name)
    narrow = BFLOAT16 if multi.mixed else np.dtype(np.float32)
    kinds = [narrow if role in ("weight", "grad") else np.float32 for role in multi.roles]
    specs = [Spec((200, 200), np.dtype(kind)) for kind in kinds] * 2
    specs += [Spec((multi.shared,), np.dtype(np.float32))] * multi.shared
    columns = ("lrs", "wds", "etas", "learning_rates", "step_count")
    given = {name: (1, 1) for name in columns if op.schema.accepts(name)}
    attrs = op.schema.parse(op.name, {**given, multi.count: 2, "num_args": len(specs)})
    assert op.select_fast("cpu", specs, attrs).name == f"generated.{multi.name}"
    small = [Spec((2,), spec.dtype) for spec in specs]
    assert op.select_fast("cpu", small, attrs) is None


def test_kernel_of_an_operator_equals_its_reference() -> None:
    op = find_operator("preloaded_multi_sgd_mom_update")
    shared = [np.array([0.1, 0.2], np.float32), np.array([0.01, 0.0], np.float32)]
    attrs = {**scalars(SGD_MOMENTUM), "num_weights": 2, "num_args": 8}
    results = []
    for kernel in (op.kernel, op.fast_kernels[0].kernel):
        arrays = groups(SGD_MOMENTUM, None, [(200, 200), (3,)])
        outs = [np.empty_like(group[0]) for group in arrays]
        kernel(np, outs, *arrays[0], *arrays[1], *shared, **attrs)
        results.append([outs, arrays[0], arrays[1]])
    check_equal(*results)


def test_adamw_kernel_leaves_out_a_step_whose_scale_is_no_use() -> None:
    op = find_operator("_multi_adamw_update")
    rule = next(multi.rule for multi in MULTI_UPDATES if multi.name == op.name)
    (arrays,) = groups(rule, None, [(200, 200)])
    before = [x.copy() for x in arrays]
    attrs = {**scalars(rule), "lrs": (0.1,), "wds": (0.1,), "etas": (1.0,), "num_weights": 1}
    out = np.empty_like(arrays[0])
    op.fast_kernels[0].kernel(np, (out,), *arrays, np.array([np.nan], np.float32), **attrs)
    check_equal([[out], arrays], [[before[0]], before])

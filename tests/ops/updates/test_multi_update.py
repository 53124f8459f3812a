"""Updates of several weights, and those of one with more rules, against MXNet 1.9.1."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gluonish.ops.updates.multi_update  # noqa: F401  # registers the operators
from gluonish.core.errors import OperatorError
from gluonish.ndarray import NDArray, array
from gluonish.ndarray.namespace import operator_function
from gluonish.ops.registry import find_operator
from gluonish.ops.updates.multi_update import MULTI_UPDATES
from gluonish.ops.updates.rules import apply_rule
from tests.checking.values import run_operator

GOLDEN = Path(__file__).parents[2] / "golden" / "optimizer"
CASES = json.loads((GOLDEN / "update_cases.json").read_text(encoding="utf-8"))["operators"]
# "_multi_nag_update" and the like are ours: they are compared with their rules below.
OWN = (
    "_multi_nag_update",
    "_multi_mp_nag_update",
    "_multi_adam_update",
    "_multi_mp_adam_update",
    "_multi_rmsprop_update",
    "_multi_mp_rmsprop_update",
    "_multi_rmspropalex_update",
    "_multi_mp_rmspropalex_update",
    "_multi_adagrad_update",
    "_multi_mp_adagrad_update",
)
COMPARED = {
    "_adamw_update",
    "_mp_adamw_update",
    "_multi_adamw_update",
    "_multi_lamb_update",
    "_multi_mp_adamw_update",
    "_multi_mp_lamb_update",
    "lamb_update_phase1",
    "lamb_update_phase2",
    "mp_lamb_update_phase1",
    "mp_lamb_update_phase2",
    "multi_mp_sgd_mom_update",
    "multi_mp_sgd_update",
    "multi_sgd_mom_update",
    "multi_sgd_update",
    "preloaded_multi_mp_sgd_mom_update",
    "preloaded_multi_mp_sgd_update",
    "preloaded_multi_sgd_mom_update",
    "preloaded_multi_sgd_update",
    "rmsprop_update",
    "rmspropalex_update",
}
SHAPE = (2, 3)


def values(role: str, rng: np.random.Generator) -> Any:
    """What make_updates.py beside the golden data makes."""
    ranges = {"w": (-1, 1), "g": (-3, 3), "s": (1, 2), "t": (-0.5, 0.5), "r": (0.05, 0.2)}
    low, high = ranges.get(role.lower(), (0.5, 0.5))
    size = {"r": 2, "c": 1}.get(role, 5)
    return rng.uniform(low, high, size).astype("float16" if role.isupper() else "float32")


def inputs(number: int) -> list[NDArray]:
    rng = np.random.default_rng(0)
    made = [[values(role, rng) for role in roles] for _, roles, _ in CASES[: number + 1]]
    return [array(x, dtype=x.dtype) for x in made[number]]


def test_all_operators_of_several_weights_are_compared() -> None:
    assert {case[0] for case in CASES} == COMPARED
    assert {multi.name for multi in MULTI_UPDATES} <= COMPARED | set(OWN)


@pytest.mark.parametrize("number", range(len(CASES)), ids=[case[0] for case in CASES])
def test_results_are_mxnets(number: int) -> None:
    name, roles, attrs = CASES[number]
    arrays = inputs(number)
    before = [x.asnumpy() for x in arrays]
    new = operator_function(name)(*arrays, **attrs)
    found = [x.asnumpy() for x in (*(new if isinstance(new, list) else [new]), *arrays)]
    with np.load(GOLDEN / "updates.npz") as golden:
        expected = golden[str(number)]
    tolerance = 2e-3 if any(x.dtype == np.float16 for x in found) else 2e-6
    outputs = len(found) - len(arrays)
    ends = np.cumsum([x.size for x in found])
    for i, (x, wanted) in enumerate(zip(found, np.split(expected, ends[:-1]), strict=True)):
        # MXNet's _adamw_update leaves its gradient clipped, which is no result.
        if i >= outputs and roles[i - outputs] in "gG":
            wanted = before[i - outputs]
        np.testing.assert_allclose(x, wanted, rtol=tolerance, atol=tolerance / 2, err_msg=str(i))


@pytest.mark.parametrize("scale", [0.0, np.inf, np.nan])
@pytest.mark.parametrize("name", ["_adamw_update", "_multi_adamw_update"])
def test_adamw_leaves_out_a_step_whose_scale_is_no_use(name: str, scale: float) -> None:
    number = next(n for n, case in enumerate(CASES) if case[0] == name)
    *arrays, _ = inputs(number)
    before = [x.asnumpy() for x in arrays]
    new = operator_function(name)(*arrays, array([scale]), **CASES[number][2])
    first = new[0] if isinstance(new, list) else new
    np.testing.assert_array_equal(first.asnumpy(), before[0])
    for x, old in zip(arrays, before, strict=True):
        np.testing.assert_array_equal(x.asnumpy(), old)


@pytest.mark.parametrize("name", OWN)
def test_own_operators_apply_their_rule_to_each_weight(name: str) -> None:
    multi = next(multi for multi in MULTI_UPDATES if multi.name == name)
    rng = np.random.default_rng(2)
    narrow = np.float16 if multi.mixed else np.float32
    dtypes = [narrow if role in ("weight", "grad") else np.float32 for role in multi.roles]
    groups = [[rng.uniform(1, 2, SHAPE).astype(dtype) for dtype in dtypes] for _ in range(2)]
    scalars = {key: attribute.default for key, attribute in multi.rule.scalars.items()}
    scalars |= {"rescale_grad": 0.5, "clip_gradient": 0.7}
    expected = [[x.copy() for x in group] for group in groups]
    for group, lr, wd in zip(expected, (0.1, 0.2), (0.3, 0.0), strict=True):
        apply_rule(np, multi.rule, group[0], group, multi.mixed, (lr, wd), scalars)
    flat = [x for group in groups for x in group]
    new = run_operator(name, *flat, lrs=(0.1, 0.2), wds=(0.3, 0.0), num_weights=2, **scalars)
    for x, group, wanted in zip(new, groups, expected, strict=True):
        np.testing.assert_array_equal(x, wanted[0])
        for state, other in zip(group[2:], wanted[2:], strict=True):
            np.testing.assert_array_equal(state, other)


def test_rates_must_be_as_many_as_weights() -> None:
    weight = np.ones(3, np.float32)
    with pytest.raises(OperatorError, match="expected lrs of 2 numbers, got 1"):
        run_operator("multi_sgd_update", *[weight] * 4, lrs=(1,), wds=(0, 0), num_weights=2)
    with pytest.raises(OperatorError, match=r"expected rates of 1 numbers, got \(3,\)"):
        run_operator("preloaded_multi_sgd_update", *[weight] * 4, num_weights=1)


def test_arrays_must_fill_all_roles() -> None:
    weight = np.ones(3, np.float32)
    with pytest.raises(OperatorError, match="expected 3 arrays for each of 1 weights"):
        run_operator("multi_sgd_mom_update", weight, weight, lrs=(1,), wds=(0,))


def test_states_change_and_shared_arrays_do_not() -> None:
    op = find_operator("_multi_mp_adamw_update")
    assert op.mutated_inputs({"num_args": 13, "num_weights": 2}) == (2, 3, 4, 7, 8, 9)


def test_norms_of_lamb_have_one_element() -> None:
    weight, norm = np.ones(3, np.float32), np.ones(1, np.float32)
    for norms in ((weight, weight), (weight, norm), (norm, weight)):
        with pytest.raises(OperatorError, match="norms of one element"):
            run_operator("lamb_update_phase2", weight, weight, *norms, lr=1)

"""Fused optimizer steps on a real device: what ``cpu(0)`` computes, in few launches."""

from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish import autograd, gluon, nd
from gluonish.core.dtype import BFLOAT16, FLOAT16
from gluonish.kernels.cupy import optimizer
from gluonish.kernels.cupy.optimizer_source import BLOCK
from gluonish.kernels.optimizer_formulas import FORMULAS
from gluonish.ops.updates.layerwise import LANS
from gluonish.ops.updates.rules import ADAM, ADAMW, LAMB, SGD_MOMENTUM, Rule
from gluonish.optimizer.weight_update import WeightUpdate
from tests.contrib.amp.device_scale_runs import run
from tests.kernels.updates import groups, rates, scalars, step_by_reference

pytestmark = [pytest.mark.gpu, pytest.mark.timeout(300)]

GPU = mx.gpu(0)
SHAPES = [(3,), (0,), (17, 33), (5 * BLOCK + 21,), (1,), (), (2, BLOCK)]
SHAPES += [(7,)] * 100  # more than one launch has room for
# Each case compiles its kernels; all rules in all dtypes run on the double.
CASES: list[tuple[Rule, Any]] = [(rule, None) for rule in FORMULAS]
CASES += [(SGD_MOMENTUM, BFLOAT16), (ADAMW, BFLOAT16), (LAMB, BFLOAT16)]
CASES += [(ADAM, FLOAT16), (LANS, FLOAT16)]
IDS = [f"{rule.name}-{narrow or 'float32'}" for rule, narrow in CASES]


def counted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list that the names of the launches of fused steps will be appended to."""
    names: list[str] = []
    plain = optimizer._Kernels.launch

    def launch(
        self: Any, name: str, blocks: int, arguments: tuple[Any, ...], gate: tuple[Any, ...] = ()
    ) -> None:
        names.append(name)
        plain(self, name, blocks, arguments, gate)

    monkeypatch.setattr(optimizer._Kernels, "launch", launch)
    return names


def stepped(rule: Rule, narrow: Any) -> list[list[Any]]:
    """Return the arrays of weights after two steps on the device."""
    arrays = [
        [nd.array(x, ctx=GPU, dtype=x.dtype) for x in group]
        for group in groups(rule, narrow, SHAPES)
    ]
    update = WeightUpdate(rule, arrays, narrow is not None)
    for columns in (rates(rule, len(SHAPES)), [0.3] * len(rule.rates)):
        update.push(columns, scalars(rule))
    return [[x.asnumpy() for x in group] for group in arrays]


@pytest.mark.parametrize(("rule", "narrow"), CASES, ids=IDS)
def test_step_is_that_of_the_cpu(rule: Rule, narrow: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    launches = counted(monkeypatch)
    found = stepped(rule, narrow)
    assert 2 <= len(launches) <= 2 * 3 * (1 + 2 * len(FORMULAS[rule].norms))
    wanted = groups(rule, narrow, SHAPES)
    for columns in (rates(rule, len(SHAPES)), [0.3] * len(rule.rates)):
        step_by_reference(rule, wanted, columns, scalars(rule), narrow is not None)
    for group, reference in zip(found, wanted, strict=True):
        for x, y in zip(group, reference, strict=True):
            tolerance = {2: 1e-2, 4: 2e-6}[x.dtype.itemsize]
            a, b = x.astype(np.float64), y.astype(np.float64)
            np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)
    if not rule.uses_norms:  # norms are summed in another order; all else is the same to the bit
        assert [x.tobytes() for group in found for x in group] == [
            x.tobytes() for group in wanted for x in group
        ]


@pytest.mark.parametrize("rule", [r for r in FORMULAS if r.uses_norms], ids=lambda rule: rule.name)
def test_equal_runs_give_equal_norms(rule: Rule) -> None:
    first, second = stepped(rule, None), stepped(rule, None)
    assert [x.tobytes() for group in first for x in group] == [
        x.tobytes() for group in second for x in group
    ]


@pytest.mark.parametrize(("name", "most"), [("sgd", 2), ("adam", 3), ("lamb", 9)])
def test_a_step_of_many_weights_is_a_few_launches(
    name: str, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    parameters = [
        gluon.Parameter(f"p{i}_weight", shape=(3, 2), init=mx.init.One()) for i in range(161)
    ]
    for parameter in parameters:
        parameter.initialize(ctx=GPU)
    settings = {"momentum": 0.9} if name == "sgd" else {}
    trainer = gluon.Trainer({p.name: p for p in parameters}, name, settings)
    launches = counted(monkeypatch)
    for _ in range(2):
        with autograd.record():
            sums = [p.data().sum() for p in parameters]
        autograd.backward(sums)
        trainer.step(1)
    nd.waitall()
    assert len(launches) == 2 * most
    assert all(np.isfinite(p.data().asnumpy()).all() for p in parameters)


@pytest.mark.filterwarnings("ignore:.*encountered in:RuntimeWarning")
@pytest.mark.filterwarnings("ignore:.*updating 16-bit weights:UserWarning")
@pytest.mark.parametrize("name", ["sgd", "adam", "lamb"])
def test_steps_skipped_on_the_device_are_those_that_the_host_skips(name: str) -> None:
    settings = {"multi_precision": True}
    found = [run(name, settings, device=device, seed=3).facts() for device in (True, False)]
    assert found[0] == found[1]

"""Fused optimizer steps on the double: the reference's bits, in few launches, for every rule."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish import autograd, gluon, nd
from gluonish.core.config import MXNET_GPU_WORKER_NSTREAMS
from gluonish.core.dtype import BFLOAT16, FLOAT16
from gluonish.kernels.cupy.optimizer import FusedStep, fused_step
from gluonish.kernels.cupy.optimizer_source import BLOCK, layout_of
from gluonish.kernels.cupy.source import inputs_of, translated
from gluonish.kernels.optimizer_formulas import FORMULAS
from gluonish.ops.registry import find_operator
from gluonish.ops.updates.multi_update import MULTI_UPDATES
from gluonish.ops.updates.rules import ADAM, LAMB, RULES, SGD, SGD_MOMENTUM, Rule
from tests.checking.values import spec_of
from tests.kernels.cupy.install import gpu_contexts
from tests.kernels.cupy.machine import Machine, Race
from tests.kernels.cupy.one_device import COMPILED, OneDevice
from tests.kernels.updates import check_equal, groups, rates, scalars, step_by_reference

pytestmark = [COMPILED, pytest.mark.timeout(120)]

SHAPES = [(3,), (0,), (17, 33), (BLOCK + 21,), (1,), (), (2, BLOCK)]
NARROW = [None, BFLOAT16, FLOAT16]
RULES_HERE = sorted(FORMULAS, key=lambda rule: rule.name)
WITH_NORMS = [rule for rule in RULES_HERE if rule.uses_norms]


def named(rule: Rule) -> str:
    return rule.name


def uploaded(device: OneDevice, arrays: list[list[Any]]) -> list[list[Any]]:
    return [[device.upload(x) for x in group] for group in arrays]


def on_host(arrays: list[list[Any]]) -> list[list[Any]]:
    return [[x._raw for x in group] for group in arrays]


def firsts(arrays: list[list[Any]]) -> list[Any]:
    return [group[0] for group in arrays]


@pytest.mark.parametrize("narrow", NARROW, ids=str)
@pytest.mark.parametrize("rule", RULES_HERE, ids=named)
def test_step_equals_the_reference_to_the_bit(device: OneDevice, rule: Rule, narrow: Any) -> None:
    wanted = groups(rule, narrow, SHAPES)
    ours = uploaded(device, wanted)
    step = FusedStep(device.cupy, rule, firsts(ours), ours)
    for clip, columns in ((1.0, rates(rule, len(SHAPES))), (-1.0, [0.3] * len(rule.rates))):
        given = scalars(rule, clip_gradient=clip)
        step.run(columns, given)
        step_by_reference(rule, wanted, columns, given, narrow is not None)
    check_equal(on_host(ours), wanted)


@pytest.mark.parametrize("narrow", NARROW, ids=str)
@pytest.mark.parametrize("rule", [SGD, ADAM, LAMB], ids=named)
def test_arrays_at_odd_addresses_are_updated_to_the_same_bits(
    device: OneDevice, rule: Rule, narrow: Any
) -> None:
    shapes = [(3,), (1027,), (BLOCK + 3,)]
    wanted = groups(rule, narrow, shapes)
    ours = []
    for group in wanted:
        shifted = [device.upload(np.append(np.zeros(1, x.dtype), x)) for x in group]
        ours.append([x[1:] for x in shifted])
    columns = rates(rule, len(shapes))
    FusedStep(device.cupy, rule, firsts(ours), ours).run(columns, scalars(rule))
    step_by_reference(rule, wanted, columns, scalars(rule), narrow is not None)
    check_equal(on_host(ours), wanted)


@pytest.mark.parametrize("rule", [SGD_MOMENTUM, LAMB], ids=named)
def test_more_weights_than_one_launch_has_room_for(device: OneDevice, rule: Rule) -> None:
    count = 2 * layout_of(rule, np.dtype(np.float32), False).most + 5
    wanted = groups(rule, None, [(1 + i % 7,) for i in range(count)])
    ours = uploaded(device, wanted)
    step = FusedStep(device.cupy, rule, firsts(ours), ours)
    before = device.launches
    step.run(rates(rule, count), scalars(rule))
    assert device.launches - before == 3 * (3 if rule.uses_norms else 1)
    step_by_reference(rule, wanted, rates(rule, count), scalars(rule), False)
    check_equal(on_host(ours), wanted)


@pytest.mark.parametrize("zero", [(0,), (1,), (0, 1)])
@pytest.mark.parametrize("rule", WITH_NORMS, ids=named)
def test_norms_of_zero_are_those_of_the_reference(
    device: OneDevice, rule: Rule, zero: tuple[int, ...]
) -> None:
    wanted = groups(rule, None, SHAPES)
    for group in wanted:
        for place in zero:
            group[place][...] = 0
    ours = uploaded(device, wanted)
    columns = rates(rule, len(SHAPES))
    FusedStep(device.cupy, rule, firsts(ours), ours).run(columns, scalars(rule))
    step_by_reference(rule, wanted, columns, scalars(rule), False)
    check_equal(on_host(ours), wanted)


@pytest.mark.parametrize("rule", [SGD, ADAM, LAMB], ids=named)
def test_new_weights_may_go_elsewhere(device: OneDevice, rule: Rule) -> None:
    wanted = groups(rule, None, SHAPES)
    ours = uploaded(device, wanted)
    outs = [device.upload(np.zeros_like(group[0])) for group in wanted]
    columns = rates(rule, len(SHAPES))
    FusedStep(device.cupy, rule, outs, ours).run(columns, scalars(rule))
    check_equal([firsts(on_host(ours))], [firsts(wanted)])
    step_by_reference(rule, wanted, columns, scalars(rule), False)
    check_equal([[out._raw for out in outs]], [firsts(wanted)])


def test_what_is_not_finite_stays_so(device: OneDevice) -> None:
    wanted = groups(SGD_MOMENTUM, None, [(64,)])
    wanted[0][1][:3] = np.nan, np.inf, -np.inf
    ours = uploaded(device, wanted)
    FusedStep(device.cupy, SGD_MOMENTUM, firsts(ours), ours).run([0.5, 0.25], scalars(SGD_MOMENTUM))
    step_by_reference(SGD_MOMENTUM, wanted, [0.5, 0.25], scalars(SGD_MOMENTUM), False)
    assert np.isnan(wanted[0][0][0])
    for x, y in zip(on_host(ours)[0], wanted[0], strict=True):
        np.testing.assert_array_equal(x, y)


@pytest.mark.parametrize(
    "change",
    [lambda x: x.astype(np.float64), lambda x: x.T, lambda x: x[:, ::2]],
    ids=["float64", "transposed", "strided"],
)
def test_other_arrays_are_left_to_the_reference(device: OneDevice, change: Any) -> None:
    arrays = uploaded(device, groups(SGD, None, [(8, 8)]))
    assert fused_step(device.cupy, SGD, firsts(arrays), arrays, False) is not None
    changed = [[change(x) for x in arrays[0]]]
    assert fused_step(device.cupy, SGD, firsts(changed), changed, False) is None


def test_weight_that_stands_twice_is_left_to_the_reference(device: OneDevice) -> None:
    arrays = uploaded(device, groups(SGD, None, [(8,)])) * 2
    assert fused_step(device.cupy, SGD, firsts(arrays), arrays, False) is None


@pytest.mark.parametrize("place", [0, 1])
def test_double_sees_what_a_step_touches(device: OneDevice, place: int) -> None:
    """What the kernel has addresses of only, written on another stream and not waited for."""
    arrays = uploaded(device, groups(SGD, None, [(8,)]))
    other = device.machine.new_stream(non_blocking=True)
    with other:
        arrays[0][place].fill(1)
    step = FusedStep(device.cupy, SGD, firsts(arrays), arrays)
    with pytest.raises(Race):
        step.run([0.5, 0.25], scalars(SGD))


@pytest.mark.parametrize("multi", MULTI_UPDATES, ids=lambda multi: multi.name)
def test_operators_take_float32_or_mixed_weights(multi: Any) -> None:
    op = find_operator(multi.name)
    narrow = BFLOAT16 if multi.mixed else np.dtype(np.float32)
    kinds = [narrow if role in ("weight", "grad") else np.float32 for role in multi.roles]
    specs = [spec_of(np.zeros(2, kind)) for kind in kinds] * 2
    specs += [spec_of(np.zeros(max(1, multi.shared), np.float32))] * multi.shared
    columns = ("lrs", "wds", "etas", "learning_rates", "step_count")
    given = {name: (1, 1) for name in columns if op.schema.accepts(name)}
    attrs = op.schema.parse(op.name, {**given, multi.count: 2, "num_args": len(specs)})
    assert op.select_fast("gpu", specs, attrs).name == f"cupy.{multi.name}"
    wide = [spec_of(np.zeros(2)) for _ in specs]
    assert op.select_fast("gpu", wide, attrs) is None


def test_statements_become_cuda() -> None:
    lines = ["g = minimum(g, clip) * -w", "old = select(fabs(g) > float32(0), g, w) - g / w"]
    assert inputs_of(lines) == {"g", "clip", "w"}
    assert translated(lines, ("g", "clip", "w")) == [
        "g = (minimum(g, clip) * (-w));",
        "auto old = (((fabsf(g) > 0.0f) ? g : w) - (g / w));",
    ]


@pytest.mark.parametrize(
    "line", ["w = w ** g", "w = w * 2", "w = exp(g)", "w = g if w else g", "w = 0 < g < w"]
)
def test_statement_that_cuda_would_compute_otherwise_is_refused(line: str) -> None:
    with pytest.raises(NotImplementedError, match="expression that CUDA supports"):
        translated([line], ("w", "g"))


OPTIMIZERS = [
    ("sgd", {"momentum": 0.9, "wd": 0.01}),
    ("sgd", {"learning_rate": 0.1, "clip_gradient": 0.3}),
    ("nag", {"momentum": 0.9}),
    ("adam", {"wd": 0.01}),
    ("adamw", {"wd": 0.01}),
    ("lamb", {"wd": 0.01}),
    ("lars", {"momentum": 0.9, "wd": 0.01}),
    ("lans", {"wd": 0.01}),
    ("rmsprop", {"centered": True}),
    ("ftrl", {}),
    ("signum", {"momentum": 0.9}),
]
IDS = [f"{name}-{'-'.join(settings) or 'plain'}" for name, settings in OPTIMIZERS]
SIZES = [(4, 3), (7,), (BLOCK + 3,), (2, 2, 5)]


def trained(context: mx.Context, name: str, settings: dict[str, Any], dtype: str) -> list[Any]:
    """Return weights and states after three steps along gradients that every device computes."""
    random = np.random.default_rng(5)
    parameters = [
        gluon.Parameter(f"p{i}_weight", shape=shape, dtype=dtype, init=mx.init.Zero())
        for i, shape in enumerate(SIZES)
    ]
    for parameter in parameters:
        parameter.initialize(ctx=context)
        parameter.set_data(nd.array(random.normal(size=parameter.shape), dtype=dtype))
    trainer = gluon.Trainer(
        {p.name: p for p in parameters},
        name,
        {"multi_precision": dtype != "float32", **settings},
    )
    for _ in range(3):
        slopes = [nd.array(random.normal(size=s), ctx=context, dtype=dtype) for s in SIZES]
        with autograd.record():
            products = [(p.data() * s).sum() for p, s in zip(parameters, slopes, strict=True)]
        autograd.backward(products)
        trainer.step(2)
        trainer.set_learning_rate(trainer.learning_rate * 0.5)
    return [p.data().asnumpy() for p in parameters]


def check_training(name: str, settings: dict[str, Any], dtype: str) -> None:
    found = trained(mx.gpu(0), name, settings, dtype)
    for got, want in zip(found, trained(mx.cpu(0), name, settings, dtype), strict=True):
        np.testing.assert_array_equal(got.view(np.uint8), want.view(np.uint8))


@pytest.mark.parametrize(("name", "settings"), OPTIMIZERS, ids=IDS)
def test_trainer_gives_what_it_gives_on_the_cpu(
    gpus: Any, name: str, settings: dict[str, Any]
) -> None:
    check_training(name, settings, "float32")


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
@pytest.mark.parametrize(("name", "settings"), OPTIMIZERS, ids=IDS)
def test_trainer_of_16_bits_gives_what_it_gives_on_the_cpu(
    machine: Machine, name: str, settings: dict[str, Any], dtype: str
) -> None:
    with gpu_contexts(machine, "ThreadedEngine"):
        check_training(name, settings, dtype)


@pytest.mark.parametrize("name", ["sgd", "lans"])
def test_steps_on_several_streams_are_in_order(machine: Machine, name: str) -> None:
    with gpu_contexts(machine, "ThreadedEngine"), MXNET_GPU_WORKER_NSTREAMS.override(3):
        check_training(name, {"wd": 0.01}, "float32")


@pytest.mark.parametrize(
    ("name", "most"), [("sgd", 2), ("adam", 3), ("adamw", 3), ("lamb", 9), ("lans", 15)]
)
def test_a_step_of_many_weights_is_a_few_launches(
    gpus: Any, machine: Machine, name: str, most: int
) -> None:
    parameters = [
        gluon.Parameter(f"p{i}_weight", shape=(3, 2), init=mx.init.One()) for i in range(161)
    ]
    for parameter in parameters:
        parameter.initialize(ctx=mx.gpu(0))
    schedule = mx.lr_scheduler.FactorScheduler(step=1, factor=0.9, base_lr=0.1)
    settings = {"lr_scheduler": schedule, "momentum": 0.9}
    trainer = gluon.Trainer(
        {p.name: p for p in parameters}, name, settings if name == "sgd" else {"wd": 0.1}
    )
    counts = []
    for _ in range(3):
        with autograd.record():
            total = sum((p.data().sum() for p in parameters), nd.zeros((1,), ctx=mx.gpu(0)))
        total.backward()
        nd.waitall()
        before = machine.counts.launches, machine.counts.copies
        trainer.step(1)
        nd.waitall()
        counts.append((machine.counts.launches - before[0], machine.counts.copies - before[1]))
    assert counts[1:] == [(most, 0)] * 2
    assert all(np.isfinite(p.data().asnumpy()).all() for p in parameters)


def test_rules_of_operators_are_all_here() -> None:
    assert set(RULES) <= set(FORMULAS)
    assert len({rule.name for rule in FORMULAS}) == len(FORMULAS)
    assert all(a.name < b.name for a, b in pairwise(RULES_HERE))

"""Fused steps of Adafactor on the double: the reference's bits, in few launches."""

from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish.core.dtype import BFLOAT16, FLOAT16
from gluonish.kernels.cupy.adafactor import _MOST, AdafactorStep
from gluonish.kernels.cupy.optimizer import fused_step
from gluonish.ops.updates.matrices import ADAFACTOR, MUON
from tests.kernels.cupy.install import gpu_contexts
from tests.kernels.cupy.machine import Machine
from tests.kernels.cupy.one_device import COMPILED, OneDevice
from tests.kernels.factored import factored_groups, steps
from tests.kernels.updates import check_equal, step_by_reference
from tests.optimizer.test_recent import train

pytestmark = [COMPILED, pytest.mark.timeout(120)]


def uploaded(device: OneDevice, arrays: list[list[Any]]) -> list[list[Any]]:
    return [[device.upload(x) for x in group] for group in arrays]


def on_host(arrays: list[list[Any]]) -> list[list[Any]]:
    return [[x._raw for x in group] for group in arrays]


def firsts(arrays: list[list[Any]]) -> list[Any]:
    return [group[0] for group in arrays]


@pytest.mark.parametrize("narrow", [None, BFLOAT16, FLOAT16], ids=str)
def test_step_equals_the_reference_to_the_bit(device: OneDevice, narrow: Any) -> None:
    wanted = factored_groups(narrow)
    ours = uploaded(device, wanted)
    step = AdafactorStep(device.cupy, firsts(ours), ours)
    for columns, given in steps():
        before = device.launches
        step.run(columns, given)
        assert device.launches - before == 5
        step_by_reference(ADAFACTOR, wanted, columns, given, narrow is not None)
        check_equal(on_host(ours), wanted)


def test_more_weights_than_one_launch_has_room_for(device: OneDevice) -> None:
    wanted = factored_groups(None)[:4] * (_MOST // 2)
    wanted = [[x.copy() for x in group] for group in wanted]
    ours = uploaded(device, wanted)
    step = AdafactorStep(device.cupy, firsts(ours), ours)
    columns, given = [0.3, 0.25, 0.9], steps()[0][1]
    before = device.launches
    step.run(columns, given)
    assert device.launches - before == 2 * 4  # without matrices in several chunks
    step_by_reference(ADAFACTOR, wanted, columns, given, False)
    check_equal(on_host(ours), wanted)


def test_new_weights_may_go_elsewhere(device: OneDevice) -> None:
    wanted = factored_groups(None)
    ours = uploaded(device, wanted)
    outs = [device.upload(np.zeros_like(group[0])) for group in wanted]
    columns, given = steps()[0]
    AdafactorStep(device.cupy, outs, ours).run(columns, given)
    check_equal([firsts(on_host(ours))], [firsts(wanted)])
    step_by_reference(ADAFACTOR, wanted, columns, given, False)
    check_equal([[out._raw for out in outs]], [firsts(wanted)])


def test_optimizers_get_the_step_and_muon_keeps_its_products(device: OneDevice) -> None:
    arrays = uploaded(device, factored_groups(None))
    assert isinstance(
        fused_step(device.cupy, ADAFACTOR, firsts(arrays), arrays, False), AdafactorStep
    )
    assert fused_step(device.cupy, MUON, firsts(arrays), arrays, False) is None


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_optimizer_gives_what_it_gives_on_the_cpu(machine: Machine, dtype: str) -> None:
    mixed = {"multi_precision": dtype != "float32"}
    wanted = train("adafactor_all", dtype, steps=20, **mixed)
    with gpu_contexts(machine, "ThreadedEngine"), mx.gpu(0):
        found = train("adafactor_all", dtype, steps=20, **mixed)
    for got, want in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(got, want)

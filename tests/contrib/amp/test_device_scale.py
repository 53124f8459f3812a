"""Overflow checks that stay on the GPU: the bits of checks on the host, and no wait."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.contrib.amp.device_scale_runs import run
from tests.kernels.cupy import host_kernels
from tests.kernels.cupy.install import gpu_contexts, importable_cupyx
from tests.kernels.cupy.machine import Machine

RULES: dict[str, dict[str, Any]] = {
    "sgd": {"momentum": 0.9, "wd": 0.01},
    "adam": {},
    "lamb": {"wd": 0.01},
    "nadam": {},
}

pytestmark = [
    pytest.mark.skipif(host_kernels.COMPILER is None, reason="no C++ compiler for the sources"),
    pytest.mark.filterwarnings("ignore:.*encountered in:RuntimeWarning"),
    pytest.mark.filterwarnings("ignore:.*updating 16-bit weights:UserWarning"),
]


@pytest.fixture
def machine() -> Iterator[Machine]:
    machine = Machine()
    with importable_cupyx(), gpu_contexts(machine, "ThreadedEngine"):
        yield machine


@pytest.mark.parametrize("name", RULES)
def test_steps_have_the_bits_of_a_check_on_the_host(machine: Machine, name: str) -> None:
    settings = {**RULES[name], "multi_precision": True}
    ours = run(name, settings, device=True, seed=3)
    theirs = run(name, settings, device=False, seed=3)
    assert (ours.on_device, theirs.on_device) == (True, False)
    for one, other in zip(ours.facts(), theirs.facts(), strict=True):
        assert one == other

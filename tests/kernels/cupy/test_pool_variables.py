"""The checks of variables that act on a GPU's memory, run on the double."""

from typing import Any

import pytest

from gluonish.core import config
from gluonish.core import device as device_module
from gluonish.kernels.cupy.pool import make_pool
from gluonish.tools.env_checks import CHECKS, NotHereError
from gluonish.tools.env_checks.process import CheckFailedError
from tests.kernels.cupy.machine import Machine

NAMES = sorted(name for name in CHECKS if name.startswith("MXNET_GPU_MEM_"))


def test_there_are_five() -> None:
    assert len(NAMES) == 5


@pytest.mark.parametrize("name", NAMES)
def test_variable_acts_and_leaves_nothing(gpus: Any, machine: Machine, name: str) -> None:
    assert CHECKS[name]()
    assert machine.reserved[0] == 0


@pytest.mark.parametrize("name", NAMES)
def test_variable_that_nobody_reads_is_found_out(
    gpus: Any, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    flag = getattr(config, name)

    def ignorant(*device: Any) -> Any:
        with flag.override(flag._default):
            return make_pool(*device)

    monkeypatch.setattr("gluonish.tools.env_checks.memory.make_pool", ignorant)
    with pytest.raises(CheckFailedError, match=name):
        CHECKS[name]()


@pytest.mark.parametrize("name", NAMES)
def test_without_a_gpu_the_check_says_so(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(device_module, "_gpu_support", [])
    with pytest.raises(NotHereError, match="needs a GPU"):
        CHECKS[name]()

"""Devices that are missing, full or forked say so, and say what to do."""

import os
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish import nd
from gluonish.context import gpu_memory_info, num_gpus
from gluonish.core.errors import DeviceError
from gluonish.kernels.cupy import CuPySupport
from tests.kernels.cupy.double import make_cupy
from tests.kernels.cupy.machine import Machine


def missing() -> Any:
    raise ImportError("No module named 'cupy'")


def unwritable() -> Any:
    raise PermissionError("cannot create the kernel cache")


def without_devices() -> Any:
    return make_cupy(Machine(devices=0))


@pytest.mark.parametrize(
    ("load", "got"),
    [
        (missing, r"no CuPy \(No module named 'cupy'\)"),
        (unwritable, "a CuPy that does not start"),
        (without_devices, r"CuPy [\d.]+ without a usable driver \(cudaErrorNoDevice"),
    ],
)
def test_missing_parts_are_named_with_what_to_install(load: Any, got: str) -> None:
    support = CuPySupport(load)
    for use in (lambda: support.make_device(mx.gpu(0)), lambda: support.memory(0)):
        with pytest.raises(
            DeviceError,
            match=rf"^gpu\(0\): expected CuPy and a CUDA device, got {got}.*; install gluonish",
        ):
            use()
    assert support.count() == 0


def test_device_number_that_is_not_there_is_refused(machine: Machine) -> None:
    support = CuPySupport(lambda: make_cupy(machine))
    with pytest.raises(DeviceError, match=r"gpu\(2\): .* got 2 CUDA devices, counted from 0"):
        support.make_device(mx.gpu(2))


def test_failed_device_is_tried_again_at_the_next_use(gpus: Any, machine: Machine) -> None:
    machine.devices = 0
    with pytest.raises(DeviceError, match="gpu"):
        nd.ones((2,), ctx=mx.gpu(0))
    machine.devices = 1
    np.testing.assert_array_equal(nd.ones((2,), ctx=mx.gpu(0)).asnumpy(), [1, 1])


def test_numbers_of_the_machine(gpus: Any) -> None:
    assert num_gpus() == 2
    assert gpu_memory_info(1) == (1010, 1 << 30)


def test_empty_cache_frees_the_blocks_of_its_device(gpus: Any) -> None:
    mx.gpu(1).empty_cache()
    assert gpus.freed == [1, "pinned"]
    mx.cpu().empty_cache()
    assert gpus.freed == [1, "pinned"]


def test_full_memory_is_tried_again_after_the_cache_is_freed(gpus: Any, machine: Machine) -> None:
    nd.ones((2,), ctx=mx.gpu(0))
    machine.out_of_memory = 1
    np.testing.assert_array_equal(nd.ones((2,), ctx=mx.gpu(0)).asnumpy(), [1, 1])
    assert gpus.freed


def test_full_memory_is_refused_with_shape_and_dtype(gpus: Any, machine: Machine) -> None:
    nd.ones((2,), ctx=mx.gpu(0))
    machine.out_of_memory = 2
    with pytest.raises(
        DeviceError, match=r"gpu\(0\): expected memory for \(3, 4\) of float16, got"
    ):
        nd.ones((3, 4), ctx=mx.gpu(0), dtype="float16")


def test_forked_child_is_refused(gpus: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    nd.ones((2,), ctx=mx.gpu(0))
    monkeypatch.setattr(os, "getpid", lambda: -1)
    with pytest.raises(DeviceError, match="got a forked child of it; start processes with spawn"):
        nd.ones((2,), ctx=mx.gpu(0))


def test_broken_copy_to_the_host_is_a_device_error(gpus: Any, machine: Machine) -> None:
    x = nd.ones((2,), ctx=mx.gpu(0))
    x.wait_to_read()
    machine.broken = gpus.cuda.runtime.CUDARuntimeError("cudaErrorIllegalAddress")
    with pytest.raises(DeviceError, match=r"gpu\(0\): expected a copy to the host to succeed"):
        x._device.to_host(x.handle)
    machine.broken = None

"""Devices that are missing, full or forked say so, and say what to do."""

import os
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish import nd
from gluonish.core.devices import gpu_memory_info, num_gpus
from gluonish.core.errors import DeviceError, OutOfMemoryError
from gluonish.kernels.cupy import CuPySupport
from tests.kernels.cupy.double import make_cupy
from tests.kernels.cupy.install import support_of
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
            match=rf"^gpu\(0\): expected CuPy and a CUDA device, got {got}.*; install ",
        ):
            use()
    assert support.count() == 0


def test_missing_library_is_named_before_any_kernel(machine: Machine) -> None:
    tried = []

    def load_libraries(cupy: Any) -> None:
        tried.append(cupy)
        if len(tried) == 1:
            raise DeviceError("cuBLAS: expected libcublas.so.13, got none; pip install something")

    support = CuPySupport(lambda: make_cupy(machine), load_libraries)
    with pytest.raises(DeviceError, match="cuBLAS: expected libcublas"):
        support.make_device(mx.gpu(0))
    assert support.memory(0)[1] > 0  # which needs no library
    support.make_device(mx.gpu(0))  # after something was installed
    support.make_device(mx.gpu(1))
    assert len(tried) == 2


def test_device_number_that_is_not_there_is_refused(machine: Machine) -> None:
    support = support_of(make_cupy(machine))
    with pytest.raises(DeviceError, match=r"gpu\(2\): .* got 2 CUDA devices, counted from 0"):
        support.make_device(mx.gpu(2))


def test_failed_device_is_tried_again_at_the_next_use(gpus: Any, machine: Machine) -> None:
    machine.devices = 0
    with pytest.raises(DeviceError, match="gpu"):
        nd.ones((2,), ctx=mx.gpu(0))
    machine.devices = 1
    np.testing.assert_array_equal(nd.ones((2,), ctx=mx.gpu(0)).asnumpy(), [1, 1])


def test_numbers_of_the_machine(gpus: Any, machine: Machine) -> None:
    held = nd.zeros((1 << 20,), ctx=mx.gpu(0))
    assert num_gpus() == 2
    assert gpu_memory_info(1) == (1 << 30, 1 << 30)
    assert gpu_memory_info(0) == ((1 << 30) - machine.reserved[0], 1 << 30)
    del held


def test_empty_cache_frees_the_blocks_of_its_device(gpus: Any, machine: Machine) -> None:
    nd.zeros((1000,), ctx=mx.gpu(1)).wait_to_read()
    assert machine.reserved[1] > 0
    mx.gpu(1).empty_cache()
    assert machine.reserved[1] == 0
    assert machine.freed == [1, "pinned"]
    mx.cpu().empty_cache()
    assert machine.freed == [1, "pinned"]


def test_full_memory_is_tried_again_after_the_cache_is_freed(gpus: Any, machine: Machine) -> None:
    machine.capacity = 12 << 20
    nd.ones((2 << 20,), ctx=mx.gpu(0)).wait_to_read()  # 8 of 12 MiB, kept by the pool
    assert nd.ones((9 << 18,), ctx=mx.gpu(0)).sum().asscalar() == 9 << 18
    assert machine.reserved[0] <= 12 << 20


def test_memory_that_other_streams_keep_goes_back_too(gpus: Any, machine: Machine) -> None:
    machine.capacity = 12 << 20
    nd.ones((2 << 20,)).as_in_context(mx.gpu(0))  # kept until the upload is over
    assert nd.ones((9 << 18,), ctx=mx.gpu(0)).sum().asscalar() == 9 << 18


def test_full_memory_is_refused_with_what_was_asked_and_who_has_it(
    gpus: Any, machine: Machine
) -> None:
    machine.capacity = 10 << 20
    held = [nd.ones((1 << 20,), ctx=mx.gpu(0)) for _ in range(2)]
    with pytest.raises(
        OutOfMemoryError,
        match=r"_full: expected memory for float16\(3, 1048576\) of 6291456 bytes on gpu\(0\), got "
        r"none, while 8\.4 MB are in use: arrays float32\(1048576,\) \(2 arrays, 8\.4 MB\)"
        r"(, .* bytes\))?; use",
    ):
        nd.ones((3, 1 << 20), ctx=mx.gpu(0), dtype="float16")
    assert float(held[0][0].asscalar()) == 1
    with pytest.raises(OutOfMemoryError, match=r"broadcast_add: expected memory for .* on gpu"):
        held[0].reshape((2, -1)) + held[1][:1]


def test_forked_child_is_refused(gpus: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    nd.ones((2,), ctx=mx.gpu(0))
    monkeypatch.setattr(os, "getpid", lambda: -1)
    with pytest.raises(DeviceError, match="got a forked child of it; start processes with spawn"):
        nd.ones((2,), ctx=mx.gpu(0))


def test_broken_copy_to_the_host_is_a_device_error(gpus: Any, machine: Machine) -> None:
    x = nd.ones((2,), ctx=mx.gpu(0))
    x.wait_to_read()
    machine.broken = gpus.cuda.runtime.CUDARuntimeError(401)
    with pytest.raises(DeviceError, match=r"gpu\(0\): expected a copy to the host to succeed"):
        x._device.to_host(x.handle)
    machine.broken = None

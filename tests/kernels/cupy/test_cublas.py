"""Handles of cuBLAS: one for each stream, made in the order that cuBLAS asks for."""

import os
import threading
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from gluonish.core.errors import DeviceError, OperatorError
from gluonish.kernels.cupy import cublas
from gluonish.kernels.cupy.cublas import PROTOTYPES, STATUS_NAMES, CuBLAS, Matrix, current_handle
from gluonish.kernels.cupy.gemm import multiply
from tests.kernels.cupy.arrays import allocate
from tests.kernels.cupy.double import make_cupy
from tests.kernels.cupy.machine import Machine


def _product(machine: Machine, cupy: Any, stream: Any, device: int = 0, count: int = 1) -> None:
    with cupy.cuda.Device(device), stream:
        a, b, out = (allocate(machine, (2, 2), np.float32) for _ in range(3))
        for _ in range(count):
            multiply(cupy, out, a, b)


def _stream(machine: Machine, cupy: Any, device: int = 0) -> Any:
    with cupy.cuda.Device(device):
        return machine.new_stream(non_blocking=True)


def test_a_handle_is_made_once_in_the_order_that_keeps_its_workspace(machine: Machine) -> None:
    cupy = make_cupy(machine)
    _product(machine, cupy, _stream(machine, cupy), count=3)
    assert machine.cublas.calls == [  # type: ignore[attr-defined]
        "cublasCreate_v2",
        "cublasSetStream_v2",
        "cublasSetWorkspace_v2",
        "cublasSetPointerMode_v2",
        "cublasSetMathMode",
        *["cublasGemmStridedBatchedEx"] * 3,
    ]


def test_each_stream_of_each_device_has_its_own_handle(machine: Machine) -> None:
    cupy = make_cupy(machine)
    for device in (0, 0, 1):
        _product(machine, cupy, _stream(machine, cupy, device), device, count=2)
    assert machine.cublas.calls.count("cublasCreate_v2") == 3  # type: ignore[attr-defined]


@pytest.mark.parametrize(("capability", "nbytes"), [("90", 32 << 20), ("86", 4 << 20)])
def test_the_workspace_is_as_large_as_the_device_wants(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, capability: str, nbytes: int
) -> None:
    cupy = make_cupy(machine)
    given: list[int] = []
    monkeypatch.setattr(type(cupy.cuda.Device(0)), "compute_capability", capability)
    library = SimpleNamespace(**{name: lambda *_: 0 for name in PROTOTYPES})
    library.cublasSetWorkspace_v2 = lambda handle, address, size: given.append(size)
    with cupy.cuda.Device(0), _stream(machine, cupy):
        CuBLAS(library).handle(cupy)
    assert given == [nbytes]


def test_a_forked_child_does_not_meet_the_handles_of_its_parent(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    cupy = make_cupy(machine)
    with cupy.cuda.Device(0), _stream(machine, cupy):
        first = current_handle(cupy)
        assert current_handle(cupy) is first
        monkeypatch.setattr(os, "getpid", lambda: -1)
        assert current_handle(cupy) is not first


def test_threads_on_one_stream_multiply_one_after_the_other(machine: Machine) -> None:
    cupy = make_cupy(machine)
    stream = _stream(machine, cupy)
    inside, most = 0, 0
    function = machine.cublas.cublasGemmStridedBatchedEx  # type: ignore[attr-defined]
    both = threading.Barrier(2, timeout=10)

    def counted(*args: Any) -> int:
        nonlocal inside, most
        inside += 1
        most = max(most, inside)
        status: int = function(*args)
        inside -= 1
        return status

    machine.cublas.cublasGemmStridedBatchedEx = counted  # type: ignore[attr-defined]
    cublas.adopt(cupy, machine.cublas)  # type: ignore[attr-defined]

    def work() -> None:
        both.wait()
        _product(machine, cupy, stream, count=50)

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=20)
    assert most == 1
    assert machine.cublas.calls.count("cublasGemmStridedBatchedEx") == 100  # type: ignore[attr-defined]


@pytest.mark.parametrize("status", sorted(set(STATUS_NAMES) - {0}))
def test_a_failure_is_told_by_its_name(status: int) -> None:
    library = CuBLAS(SimpleNamespace(**{name: lambda *_: status for name in PROTOTYPES}))
    with pytest.raises(DeviceError, match=rf"SUCCESS, got {STATUS_NAMES[status]} \({status}\)"):
        library.call("cublasSetMathMode", 1, 0)


def test_extents_beyond_an_int_are_refused_before_they_wrap_around(machine: Machine) -> None:
    cupy = make_cupy(machine)
    matrix = Matrix(0, 0, 2**31, 0)
    with cupy.cuda.Device(0), _stream(machine, cupy):
        handle = current_handle(cupy)
        with pytest.raises(OperatorError, match="expected sizes of at most 2147483647"):
            handle.bind((1, 1, 1), (1.0, 0.0), matrix, matrix, matrix, 1, 68, False)


@pytest.mark.parametrize(
    ("kinds", "compute"),
    [((2, 2), 77), ((14, 2), 68), ((0, 2), 68), ((1, 1), 68), ((0, 0), 70), ((14, 14), 64)],
)
def test_the_double_refuses_types_that_cublas_refuses(
    machine: Machine, kinds: tuple[int, int], compute: int
) -> None:
    cupy = make_cupy(machine)
    with cupy.cuda.Device(0), _stream(machine, cupy):
        array = allocate(machine, (4, 4), np.float64)
        a, c = (Matrix(kind, 0, 2, 0) for kind in kinds)
        handle, address = current_handle(cupy), array.data.ptr
        product = handle.bind((2, 2, 2), (1.0, 0.0), a, a, c, 1, compute, False)
        with pytest.raises(DeviceError, match=r"CUBLAS_STATUS_NOT_SUPPORTED \(15\)"):
            product.run(address, address, address)


def test_the_double_takes_the_workspace_away_with_a_new_stream(machine: Machine) -> None:
    cupy = make_cupy(machine)
    stream = _stream(machine, cupy)
    _product(machine, cupy, stream)
    (handle,) = machine.cublas._handles.values()  # type: ignore[attr-defined]
    assert handle.workspace is not None
    machine.cublas.cublasSetStream_v2(next(iter(machine.cublas._handles)), stream.ptr)  # type: ignore[attr-defined]
    assert handle.workspace is None


def test_the_double_wants_an_aligned_workspace(machine: Machine) -> None:
    cupy = make_cupy(machine)
    with cupy.cuda.Device(0), _stream(machine, cupy):
        array = allocate(machine, (1024,), np.uint8)
        current_handle(cupy)
        number = next(iter(machine.cublas._handles))  # type: ignore[attr-defined]
        assert machine.cublas.cublasSetWorkspace_v2(number, array.data.ptr + 8, 256) == 7  # type: ignore[attr-defined]

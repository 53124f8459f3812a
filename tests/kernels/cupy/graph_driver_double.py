"""A stand-in for libcuda's functions on graphs of a `Machine`, after cuda.h.

Functions are real C pointers made from `PROTOTYPES`. Kernels of gluonish have the arguments that
they were launched with, and run with those that an executable graph was given since. CuPy's kernels
have one structure with the addresses of their arrays; those of libraries have the addresses as they
are, and a CUkernel instead of a CUfunction.
"""

import ctypes
from collections.abc import Callable
from typing import Any

from gluonish.kernels.cupy.moving_arrays import PROTOTYPES, KernelParams, adopt
from tests.kernels.cupy.cublas_double import Function
from tests.kernels.cupy.machine import Machine
from tests.kernels.cupy.streams import Graph, Step

_SUCCESS, _INVALID_VALUE = 0, 1
_KERNEL, _MEMCPY = 0, 1
_DEVICE = 2  # CU_MEMORYTYPE_DEVICE
_LIBRARIES = ("cuDNN", "gemm", "matmul")
_SOURCE_TYPE, _SOURCE, _TARGET = 32, 48, 136  # offsets in CUDA_MEMCPY3D


def _arguments(step: Step) -> tuple[bytes, ...]:
    """Return the arguments of a kernel."""
    if step.kernel is not None:
        return step.kernel.arguments
    addresses = [memory.start.to_bytes(8, "little") for memory, _ in step.memories]
    return tuple(addresses) if _is_library(step) else (b"".join([*addresses, bytes(8)]),)


def _is_library(step: Step) -> bool:
    return step.what.startswith(_LIBRARIES)


class GraphDriverDouble:
    """The driver.

    Args:
        machine: Whose graphs it knows.

    Attributes:
        calls: Names of the functions that were called, in order.
        changes: Graphs, with the number of the node, whose arguments were set, in order.
        fails: Names of functions that report an error.
    """

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._nodes: dict[int, tuple[int, int]] = {}  # graph and number
        self._kernels: dict[tuple[Any, ...], int] = {}
        self._sizes: dict[int, list[int]] = {}
        self.calls: list[str] = []
        self.changes: list[tuple[Graph, int]] = []
        self.fails: set[str] = set()
        for name, prototype in PROTOTYPES.items():
            body = getattr(self, "_" + name.removeprefix("cu").removesuffix("_v2").lower())
            setattr(self, name, Function(prototype, self._logged(name, body)))

    def _logged(self, name: str, body: Callable[..., int]) -> Callable[..., int]:
        def call(*args: Any) -> int:
            self.calls.append(name)
            return 999 if name in self.fails else body(*args)

        return call

    def _graphgetnodes(self, graph: int, nodes: int | None, count: Any) -> int:
        found = self._machine.graphs[graph]
        steps = found._capture.steps
        handles = [id(step) for step in steps]
        self._nodes.update((handle, (graph, i)) for i, handle in enumerate(handles))
        if nodes is None:
            count[0] = len(handles)
            return _SUCCESS
        assert count[0] == len(handles), "room for fewer nodes: not known to this double"
        shown = (ctypes.c_void_p * len(handles))(*handles)
        ctypes.memmove(nodes, shown, ctypes.sizeof(shown))
        return _SUCCESS

    def _step(self, node: int) -> Step:
        graph, number = self._nodes[node]
        return self._machine.graphs[graph]._capture.steps[number]

    def _graphnodegettype(self, node: int, kind: Any) -> int:
        kind[0] = _MEMCPY if self._step(node).what == "d2d" else _KERNEL
        return _SUCCESS

    def _graphkernelnodegetparams(self, node: int, params: Any) -> int:
        step = self._step(node)
        arguments = _arguments(step)
        buffers = [ctypes.create_string_buffer(x, len(x)) for x in arguments]
        places = (ctypes.c_void_p * len(buffers))(*map(ctypes.addressof, buffers))
        graph, _ = self._nodes[node]
        # They are the node's, and go with it.
        self._machine.graphs[graph]._capture.owned.append((buffers, places))
        made = KernelParams(values=ctypes.addressof(places))
        if step.kernel is not None:
            made.func, made.grid, made.block = step.kernel.function, *map(_three, step.kernel[1:3])
        elif _is_library(step):
            made.kernel = self._handle(step, arguments)
        else:
            made.func = self._handle(step, arguments)
        handle = int(made.func or made.kernel)
        self._sizes[handle] = [len(x) for x in arguments]
        params[0] = made
        return _SUCCESS

    def _handle(self, step: Step, arguments: tuple[bytes, ...]) -> int:
        key = (step.what, *map(len, arguments))
        return self._kernels.setdefault(key, 0xF000 + len(self._kernels))

    def _graphmemcpynodegetparams(self, node: int, params: int) -> int:
        (target, _), (source, _) = self._step(node).memories
        for offset, value, size in (
            (_SOURCE_TYPE, _DEVICE, 4),
            (_SOURCE, source.start, 8),
            (_TARGET, target.start, 8),
        ):
            ctypes.memmove(params + offset, value.to_bytes(size, "little"), size)
        return _SUCCESS

    def _graphmemsetnodegetparams(self, node: int, params: int) -> int:
        return _INVALID_VALUE

    def _funcgetparaminfo(self, function: int, number: int, offset: Any, size: Any) -> int:
        sizes = self._sizes[function]
        if number >= len(sizes):
            return _INVALID_VALUE
        offset[0], size[0] = sum(sizes[:number]), sizes[number]
        return _SUCCESS

    _kernelgetparaminfo = _funcgetparaminfo

    def _graphexeckernelnodesetparams(self, executable: int, node: int, params: Any) -> int:
        graph = self._machine.graphs.get(executable)
        number = self._nodes[node][1]
        step = None if graph is None else graph._capture.steps[number]
        if graph is None or step is None or id(step) != node or step.kernel is None:
            return _INVALID_VALUE
        given, kernel = params[0], step.kernel
        if given.func != kernel.function or given.extra:
            return _INVALID_VALUE
        same = [_three(x) for x in kernel[1:3]] == [tuple(given.grid), tuple(given.block)]
        assert same, "another grid: not known to this double"
        sizes = [len(x) for x in kernel.arguments]
        places = (ctypes.c_void_p * len(sizes)).from_address(given.values)
        graph._arguments[number] = tuple(
            ctypes.string_at(x, n) for x, n in zip(places, sizes, strict=True)
        )
        self.changes.append((graph, number))
        return _SUCCESS


def _three(sizes: Any) -> tuple[int, ...]:
    return tuple(int(x) for x in (*sizes, 1, 1)[:3])


def install(cupy: Any, machine: Machine) -> GraphDriverDouble:
    """Let graphs of a double of CuPy be changed by a driver of its own, and return that."""
    driver = GraphDriverDouble(machine)
    adopt(cupy, driver)
    machine.graph_driver = driver  # type: ignore[attr-defined]  # for tests that ask it
    return driver

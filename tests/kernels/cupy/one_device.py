"""Kernels on arrays of the double directly: one device, one stream, and its launches counted."""

import sys
from types import ModuleType
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from gluonish.kernels import fused_updates
from gluonish.kernels.cupy.register import serve_reference_kernels
from gluonish.kernels.cupy.source import launch_blocks
from gluonish.ops.kernel import BackEnd, FastKernel
from gluonish.ops.registry import Operator
from tests.checking.values import run_kernel, runtime_attrs, spec_of
from tests.kernels.cupy import host_compiler
from tests.kernels.cupy.arrays import Array, allocate
from tests.kernels.cupy.double import make_cupy
from tests.kernels.cupy.machine import Machine

serve_reference_kernels()  # as the first real device does

DTYPES = [np.float16, ml_dtypes.bfloat16, np.float32, np.float64]
COMPILED = pytest.mark.skipif(
    host_compiler.COMPILER is None, reason="no C++ compiler to run CUDA sources on the host"
)


def note_launches(monkeypatch: pytest.MonkeyPatch, *modules: ModuleType) -> list[str]:
    """Return the names of kernels that modules launch by blocks, as they are launched."""
    names: list[str] = []

    def noted(xp: Any, source: str, function: str, *args: Any, **more: Any) -> None:
        names.append(function)
        launch_blocks(xp, source, function, *args, **more)

    for module in modules:
        monkeypatch.setattr(module, "launch_blocks", noted)
    return names


def needs_compiler(fast: FastKernel) -> bool:
    """Whether a kernel is CUDA C++."""
    module = sys.modules[(fast.plan or fast.run).__module__]
    return fast.back_end is BackEnd.CUPY and (
        any(hasattr(module, name) for name in ("launch", "launch_blocks", "launch_rows"))
        or module is fused_updates
    )


class OneDevice:
    """A device and a stream that a test makes current.

    Args:
        machine: Where they are.
    """

    def __init__(self, machine: Machine) -> None:
        self.cupy = make_cupy(machine)
        self.machine = machine
        self.random = np.random.default_rng(11)
        with self.cupy.cuda.Device(0):
            self.stream = machine.new_stream(non_blocking=True)

    def upload(self, values: Any) -> Array:
        """Return an array with these values, without a launch."""
        array = allocate(self.machine, values.shape, values.dtype)
        array._raw[...] = values
        return array

    def normal(self, *shape: int, dtype: Any = np.float32) -> Array:
        """Return random numbers."""
        return self.upload(self.random.standard_normal(shape).astype(dtype))

    @property
    def launches(self) -> int:
        """Launches so far."""
        return self.machine.counts.launches

    def launches_of(self, op: Operator, *inputs: Any, **attrs: Any) -> int:
        """Return how many launches a call takes."""
        before = self.launches
        self.run(op, *inputs, **attrs)
        return self.launches - before

    def run(self, op: Operator, *inputs: Any, **attrs: Any) -> list[Any]:
        """Return what the kernel of a GPU gives for NumPy's arrays, as such arrays."""
        parsed = op.schema.parse(op.name, attrs)
        specs = tuple(map(spec_of, inputs))
        runtime = runtime_attrs(op, parsed)
        kernel = op.select_kernel("gpu", specs, runtime)
        outputs = [allocate(self.machine, s.shape, s.dtype) for s in op.infer(*specs, **parsed)]
        arrays = [self.upload(x) for x in inputs]
        kernel(self.cupy, outputs[0] if op.single else tuple(outputs), *arrays, **runtime)
        return [out._raw.copy() for out in outputs]  # the memory goes to the next array

    def check(self, op: Operator, *inputs: Any, **attrs: Any) -> None:
        """Hold the GPU's kernel to the reference."""
        parsed = op.schema.parse(op.name, attrs)
        wanted = run_kernel(op, op.kernel, list(inputs), parsed, runtime_attrs(op, parsed))
        for got, want in zip(self.run(op, *inputs, **attrs), wanted, strict=True):
            tolerance = {2: 2e-2, 4: 1e-5, 8: 1e-12}[want.dtype.itemsize]
            exact = want.astype(np.float64)
            np.testing.assert_allclose(
                got.astype(np.float64),
                exact,
                rtol=tolerance,
                atol=tolerance * max(1, np.abs(exact).max(initial=0)),
            )

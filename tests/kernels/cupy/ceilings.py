"""What each operator costs on a GPU: ceilings.json has the most that one of its calls needs.

``launches`` are kernels, ``synchronizations`` waits of the host, ``copies`` those from or to the
host; ``capturable`` says whether all calls can be part of a CUDA graph. The table is written by
``python -m tests.kernels.cupy.ceilings``, after what an operator costs was changed on purpose.
"""

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from gluonish.kernels.cupy.register import serve_reference_kernels
from tests.checking.values import spec_of
from tests.kernels.cupy.arrays import Array, allocate
from tests.kernels.cupy.double import make_cupy
from tests.kernels.cupy.install import importable_cupyx
from tests.kernels.cupy.machine import Counts, Machine
from tests.kernels.cupy.operator_names import NAMES
from tests.kernels.cupy.streams import CUDARuntimeError, Graph
from tests.ops.operator_runs import Call, calls_of

_PATH = Path(__file__).resolve().parent / "ceilings.json"
CEILINGS: dict[str, dict[str, Any]] = (
    json.loads(_PATH.read_text(encoding="utf-8")) if _PATH.exists() else {}
)


class _Run:
    """A call on ``gpu(0)`` of a new machine, with the kernel that is taken there."""

    def __init__(self, call: Call) -> None:
        self.machine = Machine()
        self.cupy = make_cupy(self.machine)
        self.call = call
        self.stream = self.machine.new_stream(non_blocking=True)
        fast = call.op.select_fast("gpu", [spec_of(x) for x in call.inputs], call.attrs)
        self._kernel = call.op.kernel if fast is None else fast.kernel

    def prepare(self) -> None:
        """Put the inputs on the device, and make the outputs."""
        self.inputs = [self._put(x) for x in self.call.inputs]
        self.outputs = [self._put(np.zeros_like(y)) for y in self.call.run()]

    def _put(self, values: Any) -> Array:
        array = allocate(self.machine, values.shape, values.dtype)
        array._raw[...] = values
        return array

    def launch(self) -> None:
        """Run the kernel; what it measures first belongs to it."""
        op, runtime = self.call.op, self.call.runtime
        if op.measure is not None:
            op.measure(self.cupy, *self.inputs, **runtime)
        out = self.outputs[0] if op.single else tuple(self.outputs)
        self._kernel(self.cupy, out, *self.inputs, **runtime)

    def capture(self) -> Graph | None:
        """Return a graph of the call; None where it cannot be captured."""
        self.stream.begin_capture()
        try:
            self.launch()
            return self.stream.end_capture()
        except (NotImplementedError, RuntimeError):
            if self.stream.is_capturing():
                with suppress(CUDARuntimeError):
                    self.stream.end_capture()
            return None


def _cost(call: Call) -> tuple[Counts, bool]:
    """Return what a call needs, and whether it can be captured."""
    run = _Run(call)
    with run.cupy.cuda.Device(0), run.stream:
        run.prepare()
        run.launch()  # what is made once is there
        run.machine.counts = Counts()
        if run.capture() is not None:
            return run.machine.counts, True
        run.machine.counts = Counts()
        run.launch()
        return run.machine.counts, False


def replayed(call: Call) -> list[Any] | None:
    """Return what a graph of the call computes; None where it cannot be captured."""
    run = _Run(call)
    with run.cupy.cuda.Device(0), run.stream:
        run.prepare()
        run.launch()  # what is made once is there
        run.prepare()
        graph = run.capture()
        if graph is None:
            return None
        graph.launch()
        return [y._raw for y in run.outputs]


def measured(name: str) -> dict[str, Any]:
    """Return the row of an operator as it is now."""
    costs = [_cost(call) for call in calls_of(name)]
    return {
        "launches": max(counts.launches for counts, _ in costs),
        "synchronizations": max(counts.synchronizations for counts, _ in costs),
        "copies": max(counts.copies for counts, _ in costs),
        "capturable": all(capturable for _, capturable in costs),
    }


def _write() -> None:
    serve_reference_kernels()  # as the first device does
    with importable_cupyx():
        rows = [f'"{name}": {json.dumps(measured(name))}' for name in NAMES]
    _PATH.write_text("{\n" + ",\n".join(rows) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    _write()

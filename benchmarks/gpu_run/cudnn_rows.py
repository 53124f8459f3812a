"""Rows of stage 2 about cuDNN: convolutions in each layout and precision, norms, attention."""

import functools
from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.gpu_run.captures import capture
from benchmarks.gpu_run.cudnn_plans import BITS, DTYPES, Convolution, Plan, convolution_plan
from benchmarks.gpu_run.norm_plans import add_operation
from benchmarks.gpu_run.place import Place
from benchmarks.gpu_run.rows import Note, Table
from benchmarks.gpu_run.timing import Contender, in_turns

_KINDS = ("forward", "data", "filter")
# Largest errors by the norm of the difference through that of the reference, both in the precision.
_LIMITS = {"float32": 1e-4, "TF32": 3e-3, "float16": 3e-3, "bfloat16": 2e-2}
_SHAPES = {
    "3x3": (Convolution((64, 64, 56, 56), 64, 3, 1, 1), Convolution((2, 8, 6, 6), 8, 3, 1, 1)),
    "1x1": (Convolution((64, 256, 56, 56), 64, 1), Convolution((2, 8, 6, 6), 4, 1)),
    "3x3 of stride 2": (
        Convolution((64, 128, 56, 56), 128, 3, 2, 1),
        Convolution((2, 8, 6, 6), 8, 3, 2, 1),
    ),
    "7x7 of stride 2": (
        Convolution((64, 3, 224, 224), 64, 7, 2, 3),
        Convolution((2, 3, 9, 9), 4, 7, 2, 3),
    ),
    "3x3 in 32 groups": (
        Convolution((64, 128, 56, 56), 128, 3, 1, 1, 32),
        Convolution((2, 8, 6, 6), 8, 3, 1, 1, 4),
    ),
    "3x3 depthwise": (
        Convolution((64, 128, 56, 56), 128, 3, 1, 1, 128),
        Convolution((2, 8, 6, 6), 8, 3, 1, 1, 8),
    ),
}
_NORMS = {
    "batch norm": ((64, 64, 56, 56), (2, 8, 4, 4)),
    "layer norm": ((4096, 768, 1, 1), (4, 8, 1, 1)),
    "attention": ((32, 12, 128, 64), (2, 2, 8, 8)),
}


class _Case:
    """A convolution in a precision and a layout, with its arrays on a stream of CuPy."""

    def __init__(self, place: Place, shape: str, precision: str, layout: str) -> None:
        self.place, self.precision, self.layout = place, precision, layout
        self.convolution = place.pick(*_SHAPES[shape])
        self.dtype = DTYPES[precision][1]
        self.bits = BITS[self.dtype.itemsize]
        self.stream = place.cupy.cuda.Stream(non_blocking=True)
        self.handle = place.frontend.create_handle()
        place.frontend.set_stream(handle=self.handle, stream=self.stream.ptr)
        random, c = np.random.default_rng(3), self.convolution
        shapes = {1: c.data, 2: c.weight, 3: c.output}
        self.values = {
            number: random.standard_normal(shape, np.float32).astype(self.dtype)
            for number, shape in shapes.items()
        }
        with self.stream:
            self.arrays = {number: self._upload(v) for number, v in self.values.items()}
        self.stream.synchronize()

    def _upload(self, values: Any) -> Any:
        laid = values.transpose(0, 2, 3, 1) if self.layout == "NHWC" else values
        return self.place.cupy.asarray(np.ascontiguousarray(laid).view(self.bits))

    def fetch(self, array: Any) -> Any:
        """Return an array of the device as float32 (N, C, H, W)."""
        with self.stream:
            values = array.get().view(self.dtype).astype(np.float32)
        return values.transpose(0, 3, 1, 2) if self.layout == "NHWC" else values

    def plan(self, kind: str) -> tuple[Plan, dict[int, int], Any]:
        """Return a plan, the addresses it runs with, and the array that it fills."""
        place = self.place
        plan = Plan(place.frontend, place.cupy, self.handle, self.precision)
        *reads, writes = convolution_plan(plan, kind, self.convolution, self.layout)
        with self.stream:
            plan.build()
            out = place.cupy.empty(self.arrays[writes].shape, self.bits)
            out.fill(7)
        addresses = {number: self.arrays[number].data.ptr for number in reads}
        return plan, {**addresses, writes: out.data.ptr}, out

    def reference(self) -> dict[str, Any]:
        """Return what gluonish's convolution without cuDNN gives in float32, by kind."""
        mx, c = self.place.mx, self.convolution
        x, w, g = (mx.nd.array(self.values[n].astype(np.float32), ctx=mx.gpu(0)) for n in (1, 2, 3))
        for array in (x, w):
            array.attach_grad()
        with mx.autograd.record():
            y = mx.nd.Convolution(
                x, w, kernel=(c.kernel,) * 2, stride=(c.stride,) * 2, pad=(c.padding,) * 2,
                num_filter=c.filters, num_group=c.groups, no_bias=True, cudnn_off=True,
            )  # fmt: skip
        y.backward(g)
        return {"forward": y.asnumpy(), "data": x.grad.asnumpy(), "filter": w.grad.asnumpy()}


def _convolutions(place: Place, note: Note, *, shape: str, precision: str, layout: str) -> None:
    """Build, check and time the three plans of a convolution."""
    case = _Case(place, shape, precision, layout)
    want = case.reference()
    failures = []
    for kind in _KINDS:
        try:
            _one(case, kind, want[kind], note)
        except place.frontend.cudnnGraphNotSupportedError as error:
            note(kind, f"not supported: {str(error)[:120]}")
        except AssertionError as error:
            failures.append(str(error))
    assert not failures, "; ".join(failures)


def _one(case: _Case, kind: str, want: Any, note: Note) -> None:
    place = case.place
    plan, addresses, out = case.plan(kind)
    ordered = [addresses[number] for number in sorted(addresses)]
    plan.run(addresses)
    got = case.fetch(out)
    error = float(np.linalg.norm(got - want) / np.linalg.norm(want))
    calls = {
        "by number": lambda: plan.run(addresses),
        "in order": lambda: plan.run_in_order(ordered),
    }
    timer = place.stream_timer(case.stream)
    contenders = {name: Contender(call, timer) for name, call in calls.items()}
    took = in_turns(contenders, 3, place.pick(0.03, 0.002))
    best = took["by number"]
    note(
        kind,
        1e3 * best.device_ms,
        "us",
        tflops=case.convolution.flops / best.device_ms / 1e9,
        plan_ms=plan.build_ms,
        host_us=1e3 * best.host_ms,
        host_in_order_us=1e3 * took["in order"].host_ms,
        error=error,
    )
    limit = _LIMITS[case.precision]
    assert error < limit, f"{kind}: expected an error below {limit}, got {error}"


def _replay(place: Place, note: Note) -> None:
    """Capture the three plans, and compare a replay with the run itself."""
    case = _Case(place, "3x3", "bfloat16", "NHWC")
    for kind in _KINDS:
        plan, addresses, out = case.plan(kind)
        captured = capture(place, case.stream, functools.partial(plan.run, addresses))
        want = case.fetch(out)
        with case.stream:
            out.fill(7)
            captured.graph.launch(case.stream)
        difference = float(np.abs(case.fetch(out) - want).max())
        contender = Contender(
            functools.partial(captured.graph.launch, case.stream), place.stream_timer(case.stream)
        )
        took = in_turns({"replay": contender}, 3, 0.03)["replay"]
        note(kind, 1e3 * took.device_ms, "us", host_us=1e3 * took.host_ms, difference=difference)
        assert difference == 0, f"{kind}: a replay differs by {difference}"


def _norm(place: Place, note: Note, *, kind: str, precision: str) -> None:
    """Ask cuDNN for a normalization or attention, both ways, and time what it has."""
    cupy, frontend = place.cupy, place.frontend
    dims = place.pick(*_NORMS[kind])
    stream = cupy.cuda.Stream(non_blocking=True)
    handle = frontend.create_handle()
    frontend.set_stream(handle=handle, stream=stream.ptr)
    dtype = DTYPES[precision][1]
    for backward in (False, True):
        way = "backward" if backward else "forward"
        plan = Plan(frontend, cupy, handle, precision)
        try:
            needs = add_operation(plan, kind, dims, backward=backward)
            with stream:
                plan.build()
        except (frontend.cudnnGraphNotSupportedError, RuntimeError, ValueError) as error:
            note(way, f"refused: {type(error).__name__}: {str(error)[:120]}")
            continue
        with stream:
            arrays = {
                number: _ones(cupy, size, np.dtype(np.float32) if single else dtype)
                for number, (size, single) in needs.sizes.items()
            }
        addresses = {number: array.data.ptr for number, array in arrays.items()}
        addresses |= {number: value.ctypes.data for number, value in needs.numbers.items()}
        call = functools.partial(plan.run, addresses)
        call()
        stream.synchronize()
        contender = Contender(call, place.stream_timer(stream))
        took = in_turns({way: contender}, 3, place.pick(0.03, 0.002))[way]
        nbytes = sum(array.nbytes for array in arrays.values())
        note(
            way,
            1e3 * took.device_ms,
            "us",
            plan_ms=plan.build_ms,
            gb_s=nbytes / took.device_ms / 1e6,
        )


def _ones(cupy: Any, size: int, dtype: np.dtype[Any]) -> Any:
    bits = BITS[dtype.itemsize]
    return cupy.full(size, int(np.ones(1, dtype).view(bits)[0]), bits)


def _add_convolution(table: Table, shape: str, precision: str, layout: str) -> None:
    body = functools.partial(_convolutions, shape=shape, precision=precision, layout=layout)
    table.add(f"cuDNN convolution {shape}, {precision}, {layout}", 40, body)


def add_rows(table: Table) -> Iterator[str]:
    """Add the rows to a stage, the most telling first; stop once, where others are worth more."""
    for precision in ("bfloat16", "TF32", "float16", "float32"):
        _add_convolution(table, "3x3", precision, "NHWC")
    table.add("cuDNN convolutions, captured and replayed", 40, _replay)
    for precision in ("float32", "TF32", "bfloat16", "float16"):
        _add_convolution(table, "3x3", precision, "NCHW")
    yield "the main ones"
    for kind in _NORMS:
        for precision in ("bfloat16", "float32"):
            body = functools.partial(_norm, kind=kind, precision=precision)
            table.add(f"cuDNN {kind}, {precision}", 30, body)
    for shape in list(_SHAPES)[1:]:
        for precision in ("bfloat16", "TF32"):
            _add_convolution(table, shape, precision, "NHWC")
    for precision in ("bfloat16", "TF32"):
        _add_convolution(table, "1x1", precision, "NCHW")

"""Rows of stage 2 about CuPy and CUDA: what calls cost the host, what can be captured, pools."""

import functools
import importlib
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from benchmarks.gpu_run.captures import capture
from benchmarks.gpu_run.place import Place
from benchmarks.gpu_run.rows import Note, Table
from benchmarks.gpu_run.timing import Contender, in_turns

SCALE = """
extern "C" __global__ void scale(const float* x, float* y, float factor, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) y[i] = factor * x[i];
}
"""
_BLOCK = 256
Call = Callable[[], Any]


def _scale(place: Place, x: Any, y: Any) -> Call:
    """Return a launch of our own kernel: y = 3 x."""
    place.require(place.cupy, "RawModule")
    kernel = place.cupy.RawModule(code=SCALE).get_function("scale")
    grid = -(-x.size // _BLOCK)
    arguments = (x, y, np.float32(3), np.int32(x.size))
    return lambda: kernel((grid,), (_BLOCK,), arguments)


class _Arrays:
    """Arrays of CuPy on a stream: x holds 1, y is 0, square ones hold random numbers."""

    def __init__(self, place: Place, size: int) -> None:
        self.stream = place.cupy.cuda.Stream(non_blocking=True)
        random = np.random.default_rng(5)
        side = place.pick(512, 8)
        with self.stream:
            self.x = place.cupy.ones((size,), np.float32)
            self.y = place.cupy.zeros((size,), np.float32)
            self.numbers = place.cupy.asarray(random.random(size, np.float32))
            self.places = place.cupy.asarray(random.permutation(size))
            self.a = place.cupy.asarray(random.random((side, side), np.float32))
            self.b = place.cupy.asarray(random.random((side, side), np.float32))
            self.c = place.cupy.zeros((side, side), np.float32)
        self.stream.synchronize()


def _product(place: Place, arrays: _Arrays) -> Call:
    """Return a product by the kernel that gluonish's own products take."""
    dot = importlib.import_module("gluonish.kernels.cupy.gemm").dot
    assert place.mx
    a, b, c = arrays.a, arrays.b, arrays.c
    return lambda: dot(place.cupy, c, a, b, transpose_a=False, transpose_b=False)


def _capturable(place: Place, arrays: _Arrays, what: str) -> tuple[Call, Any]:
    """Return work for a stream, and the array that it fills."""
    cupy, x, y = place.cupy, arrays.x, arrays.y
    if what == "own kernel":
        return _scale(place, x, y), y
    if what == "product of gluonish":
        return _product(place, arrays), arrays.c
    calls: dict[str, tuple[Call, Any]] = {
        "ufunc": (lambda: cupy.multiply(x, np.float32(3), out=y), y),
        "sum": (lambda: cupy.sum(x, out=y[0]), y),
        "product of CuPy": (lambda: cupy.matmul(arrays.a, arrays.b, out=arrays.c), arrays.c),
        "sort": (lambda: cupy.copyto(y, cupy.sort(arrays.numbers)), y),
        "argsort": (lambda: cupy.copyto(y, cupy.argsort(arrays.numbers), casting="unsafe"), y),
        "take": (lambda: cupy.take(arrays.numbers, arrays.places, out=y), y),
        "advanced indexing": (lambda: cupy.copyto(y, arrays.numbers[arrays.places]), y),
        "assignment by indices": (lambda: y.__setitem__(arrays.places, arrays.numbers), y),
        "cumsum": (lambda: cupy.cumsum(arrays.numbers, axis=0, out=y), y),
    }
    return calls[what]


_CAPTURED = (
    *("ufunc", "own kernel", "product of gluonish", "sum", "sort", "argsort", "take"),
    *("advanced indexing", "assignment by indices", "cumsum", "product of CuPy"),
)


def _captured(place: Place, note: Note, *, what: str) -> None:
    """Capture, replay over poisoned memory, and compare with the run itself."""
    arrays = _Arrays(place, place.pick(1 << 16, 64))
    run, out = _capturable(place, arrays, what)
    try:
        captured = capture(place, arrays.stream, run)
    except (NotImplementedError, RuntimeError) as error:
        note("refused", f"{type(error).__name__}: {str(error)[:150]}")
        return
    with arrays.stream:
        out.fill(-1)
        run()
        want = out.get()
        out.fill(-1)
        captured.graph.launch(arrays.stream)
        got = out.get()
    np.testing.assert_array_equal(got, want)
    assert not (got == -1).all(), "neither the run nor the replay wrote anything"
    contender = Contender(
        lambda: captured.graph.launch(arrays.stream), place.stream_timer(arrays.stream)
    )
    took = in_turns({what: contender}, 3, place.pick(0.02, 0.001))[what]
    note("replay", 1e3 * took.device_ms, "us", host_us=1e3 * took.host_ms)


def _graph_launch(place: Place, note: Note) -> None:
    """Time launches of graphs of few and of many nodes."""
    arrays = _Arrays(place, 256)
    one = _scale(place, arrays.x, arrays.y)
    for nodes in place.pick((1, 10, 100, 1000), (1, 4)):

        def run(count: int = nodes) -> None:
            for _ in range(count):
                one()

        begin = time.perf_counter()
        captured = capture(place, arrays.stream, run)
        made_ms = 1e3 * (time.perf_counter() - begin)
        contenders = {
            "graph": Contender(
                functools.partial(captured.graph.launch, arrays.stream),
                place.stream_timer(arrays.stream),
            ),
            "launches": Contender(run, place.stream_timer(arrays.stream)),
        }
        with arrays.stream:
            took = in_turns(contenders, 3, place.pick(0.05, 0.001))
        graph, launches = took["graph"], took["launches"]
        note(f"graph of {nodes}", 1e3 * graph.host_ms, "us", device_us=1e3 * graph.device_ms,
             capture_ms=made_ms)  # fmt: skip
        note(f"{nodes} launches", 1e3 * launches.host_ms, "us", device_us=1e3 * launches.device_ms)


def _host_calls(place: Place, arrays: _Arrays) -> dict[str, Call]:
    """Return calls whose cost on the host is asked."""
    cupy, stream = place.cupy, arrays.stream
    event = cupy.cuda.Event(disable_timing=True)
    # On the double work has to come behind an event before it can be waited for.
    event.record(stream)
    return {
        "ufunc with out": lambda: cupy.add(arrays.x, arrays.x, out=arrays.y),
        "ufunc": lambda: cupy.add(arrays.x, arrays.x),
        "empty": lambda: cupy.empty((1024,), np.float32),
        "sum": lambda: cupy.sum(arrays.x),
        "event, new and recorded": lambda: cupy.cuda.Event(disable_timing=True).record(stream),
        "event recorded": lambda: event.record(stream),
        "wait for an event": lambda: stream.wait_event(event),
        "product of gluonish": _product(place, arrays),
    }


def _costs(place: Place, note: Note) -> None:
    """Time calls of CuPy, by what they cost the host."""
    arrays = _Arrays(place, 1024)
    count = place.pick(400, 3)
    timer = place.stream_timer(arrays.stream)
    with arrays.stream:
        for name, call in _host_calls(place, arrays).items():
            for _ in range(3):
                call()
            found = min(timer.time(call, count).host_ms for _ in range(3))
            note(name, 1e3 * found, "us")


def _raw_cost(place: Place, note: Note) -> None:
    """Time a launch of a kernel of our own."""
    arrays = _Arrays(place, 1024)
    call, timer = _scale(place, arrays.x, arrays.y), place.stream_timer(arrays.stream)
    with arrays.stream:
        call()
        samples = [timer.time(call, place.pick(400, 3)) for _ in range(3)]
    note("own kernel", 1e3 * min(s.host_ms for s in samples), "us",
         device_us=1e3 * min(s.device_ms for s in samples))  # fmt: skip


def _gluonish_costs(place: Place, note: Note) -> None:
    """Time calls of gluonish on small arrays, and PyTorch's beside them."""
    mx = place.mx
    x = mx.nd.ones((32, 32), ctx=mx.gpu(0))
    out = mx.nd.zeros((32, 32), ctx=mx.gpu(0))
    x.attach_grad()
    net = mx.gluon.nn.Dense(32, in_units=32)
    net.initialize(ctx=mx.gpu(0))
    net.hybridize(static_alloc=True, static_shape=True)

    def recorded() -> None:
        with mx.autograd.record():
            x + x

    calls: dict[str, Call] = {
        "add": lambda: x + x,
        "add with out": lambda: mx.nd.elemwise_add(x, x, out=out),
        "add, recorded": recorded,
        "dense, hybridized": lambda: net(x),
    }
    timer, count = place.timer(), place.pick(300, 3)
    for name, call in calls.items():
        for _ in range(3):
            call()
        note(name, 1e3 * min(timer.time(call, count).host_ms for _ in range(3)), "us")
    if place.has_torch:
        torch = place.torch
        there = torch.ones((32, 32), device=place.torch_device)
        timer = place.torch_timer()
        timer.time(lambda: there + there, 3)
        best = min(timer.time(lambda: there + there, count).host_ms for _ in range(3))
        note("torch's add", 1e3 * best, "us")


def _hazard(place: Place, note: Note) -> None:
    """See whether a replay writes into memory that was given to another array since."""
    cupy, size = place.cupy, 1 << 12
    place.require(cupy.cuda, "MemoryPool", "using_allocator")
    for private in place.pick((False, True), (False,)):  # pools of the double keep nothing
        arrays = _Arrays(place, size)

        def run(arrays: _Arrays = arrays) -> None:
            between = cupy.multiply(arrays.x, np.float32(3))
            cupy.add(between, arrays.x, out=arrays.y)

        captured = capture(place, arrays.stream, run, private=private)
        with arrays.stream:
            others = [cupy.full((size,), 7, np.float32) for _ in range(4)]
            captured.graph.launch(arrays.stream)
            spoilt = any((other.get() != 7).any() for other in others)
        note("private pool" if private else "shared pool", "spoilt" if spoilt else "whole")
        assert not (private and spoilt), "a private pool's block was given to another array"


def _stacks(place: Place, note: Note) -> None:
    """Time stacks of products: gluonish's own way, and CuPy's matmul."""
    mx, cupy = place.mx, place.cupy
    shape = place.pick((384, 128, 128), (2, 4, 4))
    for dtype in ("float32", "float16", "bfloat16"):
        pair = [mx.nd.ones(shape, ctx=mx.gpu(0), dtype=dtype) for _ in range(2)]
        out = mx.nd.zeros(shape, ctx=mx.gpu(0), dtype=dtype)
        call = functools.partial(mx.nd.batch_dot, *pair, out=out)
        call()
        took = in_turns({"ours": Contender(call, place.timer())}, 3, place.pick(0.03, 0.001))
        note(f"batch_dot {dtype}", 1e3 * took["ours"].device_ms, "us")
        stream = importlib.import_module("gluonish.core.device").device_of(mx.gpu(0)).compute.raw
        theirs = functools.partial(cupy.matmul, *(x.handle for x in pair))
        try:
            with stream:
                theirs()
                contender = Contender(theirs, place.stream_timer(stream))
                took = in_turns({"CuPy": contender}, 3, place.pick(0.03, 0.001))
            note(f"CuPy's matmul {dtype}", 1e3 * took["CuPy"].device_ms, "us")
        except (TypeError, NotImplementedError) as error:
            note(f"CuPy's matmul {dtype}", f"{type(error).__name__}: {str(error)[:100]}")


def _nccl(place: Place, note: Note) -> None:
    """Sum over one device with NCCL, on a stream of its own."""
    nccl, cupy = place.nccl, place.cupy
    [communicator] = nccl.NcclCommunicator.initAll([0])
    stream = cupy.cuda.Stream(non_blocking=True)
    size = 1 << 24
    with stream:
        source, target = cupy.ones((size,), np.float32), cupy.zeros((size,), np.float32)
    stream.synchronize()

    def call() -> None:
        communicator.allReduce(
            source.data.ptr, target.data.ptr, size, nccl.NCCL_FLOAT32, nccl.NCCL_SUM, stream.ptr
        )

    call()
    with stream:
        assert float(target.sum()) == size
    took = in_turns({"sum": Contender(call, place.stream_timer(stream))}, 3, 0.03)["sum"]
    note("allReduce of 64 MiB", 1e3 * took.device_ms, "us", host_us=1e3 * took.host_ms)


def _nccl_store(place: Place, note: Note) -> None:
    """Push and pull through the key-value store over NCCL, on one device."""
    mx = place.mx
    store = mx.kv.create("nccl")
    value = mx.nd.ones((8,), ctx=mx.gpu(0))
    store.init(3, value)
    store.push(3, value * 4)
    store.pull(3, out=value)
    note("pulled", float(value.asnumpy()[0]))
    assert value.asnumpy().tolist() == [4.0] * 8


class _Alone:
    """The ranks of a job of one process, without MPI."""

    def gather(self, value: Any, what: str) -> list[Any]:
        return [value]

    def exchange(
        self, what: str, named: Any, act: Callable[[], None], arrays: Sequence[Any], lane: Any
    ) -> None:
        engine = importlib.import_module("gluonish.engine").current_engine()
        engine.push(act, (), [x._var for x in arrays], lane, 0, what)


def nccl_exchange(place: Place, note: Note) -> None:
    """Add up over the devices of all processes, which are one with one device: dist_device_sync."""
    mx, ours = place.mx, importlib.import_module("gluonish.kvstore.nccl_exchange")
    exchange = ours.NCCLExchange(place.nccl, _Alone())
    size = place.pick(1 << 22, 1 << 6)
    for dtype in ("float32", "float16", "bfloat16", "float64"):
        values = [mx.nd.ones((size,), ctx=mx.gpu(0), dtype=dtype) * i for i in range(1, 4)]
        assert all(exchange.can_sum([x]) for x in values), "one communicator was made"
        names = list(map(str, range(3)))
        exchange.allreduce(names, [[x] for x in values], "three sums")
        after = [x + 1 for x in values]  # behind the sums, which compute does not wait for
        found = [sorted(set(x.astype("float32").asnumpy().tolist())) for x in after]
        assert found == [[2.0], [3.0], [4.0]], found
        if dtype == "float32":
            call = functools.partial(exchange.allreduce, names, [[x] for x in values], "three sums")
            took = in_turns({"sums": Contender(call, place.timer())}, 3, 0.03)["sums"]
            nbytes = 12 * size
            note(
                f"three arrays, {nbytes} bytes",
                1e3 * took.device_ms,
                "us",
                host_us=1e3 * took.host_ms,
            )


def add_captures(table: Table) -> None:
    """Add the rows of what can be captured, and what graphs cost."""
    for what in _CAPTURED:
        table.add(f"captured: {what}", 30, functools.partial(_captured, what=what))
    table.add("graphs of many nodes", 60, _graph_launch)
    table.add("memory of a graph and of other arrays", 30, _hazard, fresh=True)


def add_costs(table: Table) -> None:
    """Add the rows of what calls cost the host."""
    table.add("host time of calls of CuPy", 40, _costs)
    table.add("host time of a kernel of our own", 30, _raw_cost)
    table.add("host time of calls of gluonish", 40, _gluonish_costs)
    table.add("stacks of products", 40, _stacks)
    table.add("NCCL of one device", 40, _nccl, fresh=True)
    table.add("kvstore nccl of one device", 40, _nccl_store, fresh=True)
    table.add("sums of dist_device_sync, one process and device", 40, nccl_exchange, fresh=True)

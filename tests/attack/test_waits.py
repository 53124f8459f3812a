"""A handler that waits for another thread, at places in the middle of our own code.

The thread does what the handler interrupted, or other work with arrays. Whatever the interrupted
code holds, the thread must come to its end.
"""

import itertools
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish import autograd, gluon, nd, profiler
from gluonish.core import device as devices
from gluonish.core import registry, timeout_lock
from gluonish.core.allocation_observers import AllocationTally
from gluonish.core.context import Context, cpu
from gluonish.core.device import device_of
from gluonish.engine import use_engine
from gluonish.gluon.data.service_threads import ServiceThreads
from gluonish.io.prefetching_iter import ReadAhead
from gluonish.kernels import (
    openmp,
)
from gluonish.kernels.compiler import (
    compile as compiler,
)
from gluonish.kernels.compiler import (
    machine_code,
)
from gluonish.kernels.onednn import register
from gluonish.kvstore.core_shares import share_cores
from gluonish.ndarray import rendezvous
from gluonish.ndarray.rendezvous import Rendezvous
from gluonish.profiler import objects
from gluonish.profiler.recorder import Recorder
from gluonish.recordio import MXIndexedRecordIO
from gluonish_engine import MemoryPool, linear_sizes
from tests.engine.places import act_at

pytestmark = [pytest.mark.timeout(100)]

X = np.arange(6, dtype=np.float32).reshape(2, 3)
LONG_S = 10.0


@pytest.fixture(autouse=True)
def little_patience(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(timeout_lock, "PATIENCE_S", 0.02)
    monkeypatch.chdir(tmp_path)  # where the profiler writes


def in_a_thread(work: Callable[[], Any]) -> Callable[[], None]:
    """Return what has a thread do some work, and waits for its end."""

    def act() -> None:
        failed: list[BaseException] = []

        def run() -> None:
            try:
                work()
            except BaseException as error:
                failed.append(error)

        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        thread.join(LONG_S)
        assert not thread.is_alive(), "the thread waits for what its waiter holds"
        assert not failed, repr(failed[0])

    return act


def at_each_place(
    program: Callable[[], Any], nested: Callable[[], Any], files: tuple[str, ...], most: int = 40
) -> int:
    """Run a program with other work at places of it, spread over all; return how many it has."""
    with act_at(1 << 40, lambda: None, files=files) as at:
        program()
    places = (1 << 40) - at.left
    assert places
    for place in range(0, places, max(1, places // most)):
        with act_at(place, nested, files=files):
            program()
    return places


class Memory:
    def allocate(self, nbytes: int) -> bytearray:
        return bytearray(nbytes)

    def free_and_total(self) -> tuple[int, int]:
        return 1 << 30, 1 << 30


def dense(hybrid: bool = True) -> Callable[[], None]:
    """Return the first call of a network, which traces, plans and fills its parameters."""

    def first() -> None:
        net = gluon.nn.Dense(2)
        net.initialize(mx.init.One())
        if hybrid:
            net.hybridize(static_alloc=True, static_shape=True)
        expected = X.sum(axis=1, keepdims=True) * np.ones((1, 2))

        def call() -> None:
            np.testing.assert_allclose(net(nd.array(X)).asnumpy(), expected)

        shared.append(call)
        call()

    shared: list[Callable[[], None]] = []
    first.shared = shared  # type: ignore[attr-defined]
    return first


def test_first_calls_of_one_network() -> None:
    first: Any = dense()

    def same() -> None:
        in_a_thread(first.shared[-1])()

    def program() -> None:
        first.shared.append(lambda: None)
        first()

    files = (
        "gluonish/gluon/block/hybrid_block",
        "parameter/parameter",
        "graph/executable",
        "core/timeout_lock",
    )
    at_each_place(program, same, files, most=80)


def test_states_of_graphs_that_are_kept() -> None:
    net = gluon.nn.Dense(2, in_units=3)
    net.initialize(mx.init.One())

    def program() -> None:
        net.hybridize(static_alloc=True)
        x = nd.array(X)
        x.attach_grad()
        with autograd.record():
            y = net(x)
        y.backward(retain_graph=True)
        y.backward()
        assert x.grad.asnumpy().tolist() == [[2, 2, 2], [2, 2, 2]]

    at_each_place(program, in_a_thread(program), ("graph/call_plan", "graph/body"), most=25)


def test_kernels_are_compiled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MXNET_HOME", str(tmp_path))
    source = "def body(begin, end, words):\n    x = f32(words[0])\n    x[0] = float32({})"
    numbers = itertools.count()
    current = [0]

    def compile_one() -> None:
        compiler.compile_kernel(source.format(current[0]))

    def program() -> None:
        current[0] = next(numbers)
        compile_one()

    files = ("kernels/compiler", "core/helper_thread", "core/timeout_lock")
    at_each_place(program, in_a_thread(compile_one), files, most=6)
    assert machine_code.host()[0]


def test_libraries_are_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    def program() -> None:
        register._loaded.clear()
        monkeypatch.setattr(openmp._State, "team", None)
        enabled = register.enabled()
        assert enabled == register.enabled()
        assert openmp.team() is openmp.team()

    def nested() -> None:
        register.enabled()
        openmp.team()

    before = register.onednn.status()  # type: ignore[attr-defined]
    try:
        at_each_place(program, in_a_thread(nested), ("onednn/register", "kernels/openmp"), most=12)
    finally:
        register.onednn.install(before)  # type: ignore[attr-defined]


def test_engines_are_made_and_devices() -> None:
    numbers = itertools.count(50)
    current = [50]

    def one() -> None:
        assert device_of(cpu(current[0])) is device_of(Context("cpu", current[0]))

    def program() -> None:
        current[0] = next(numbers)
        with use_engine("ThreadedEnginePerDevice") as engine:
            one()
            engine.wait_all()

    def nested() -> None:
        one()
        (nd.ones((2,)) + 1).asnumpy()

    at_each_place(program, in_a_thread(nested), ("gluonish/engine.py", "core/device"), most=60)
    assert devices.device_of(cpu()) is device_of(cpu())


def test_profiler() -> None:
    def program() -> None:
        profiler.set_state("run")
        (nd.ones((2,)) + 1).asnumpy()
        profiler.set_state("stop")

    def nested() -> None:
        profiler.set_state("run")
        profiler.dumps()
        profiler.set_state("stop")

    try:
        at_each_place(
            program, in_a_thread(nested), ("profiler/state", "core/timeout_lock"), most=40
        )
        at_each_place(program, nested, ("profiler/state", "core/timeout_lock"), most=200)
        at_each_place(program, in_a_thread(nested), ("profiler/recorder",), most=40)
        assert not profiler.state._unhook, "hooks of a profiler that does not run"
    finally:
        profiler.set_state("stop")


def test_a_nested_start_and_stop_leave_what_came_last() -> None:
    """The state that was asked for last holds, wherever the other change was interrupted."""

    def program() -> None:
        profiler.set_state("run")

    for last in ("run", "stop"):

        def nested(last: str = last) -> None:
            profiler.set_state("stop")
            profiler.set_state(last)

        with act_at(1 << 40, lambda: None, files=("profiler/state",)) as at:
            program()
        profiler.set_state("stop")
        for place in range((1 << 40) - at.left):
            with act_at(place, nested, files=("profiler/state",)) as at_place:
                program()
            wanted = profiler.state._running
            assert bool(profiler.state._unhook) == wanted, place
            assert profiler.state.recorder.active == wanted, place  # type: ignore[attr-defined]
            assert at_place.left < 0
            profiler.set_state("stop")


def test_counts_and_tables() -> None:
    plain = devices.CPUDevice.__dict__["empty"]
    counter = objects.Counter(profiler.Domain("domain"), "counter")
    recorder = Recorder()
    recorder.active = recorder.keeps_totals = True
    pool = MemoryPool(Memory(), linear_sizes(64, 1 << 20))
    tally = AllocationTally()

    class Base:
        pass

    make = registry.get_register_func(Base, "base")
    counted = itertools.count()

    def program() -> None:
        next(counted)
        counter.increment()
        recorder.span("category", "name", 0, 5)
        recorder.memory("cpu/0", 8)
        recorder.totals()
        pool.free(pool.allocate(64))
        tally.allocated(cpu(), 3, "name")
        tally.freed(cpu(), 1, "name")
        tally.holdings()
        make(type("Derived", (Base,), {}), f"name{next(counted)}")
        with AllocationTally() as own:
            array = nd.ones((4,))
            assert own.nbytes(cpu()) >= 16
            del array

    files = ("profiler/", "memory_pool", "core/allocation_watch", "core/registry")
    at_each_place(program, in_a_thread(program), files, most=150)
    runs = counter._value
    spans = recorder.totals()["category", "name"]
    assert spans.count == runs
    assert tally.nbytes(cpu()) == 2 * runs
    assert pool.statistics().used == 0
    assert devices.CPUDevice.__dict__["empty"] is plain


def test_devices_that_meet() -> None:
    values: list[float] = []

    def meet() -> None:
        place = Rendezvous("meeting", "key", 2)
        first = place.join(nd.ones((2,), ctx=mx.cpu(0)), 1)
        second = place.join(nd.ones((2,), ctx=mx.cpu(1)) * 3, 1)
        assert first is second
        assert not place._rounds
        values.append(float(first.total[0].asscalar()))

    files = ("ndarray/rendezvous",)
    at_each_place(meet, in_a_thread(meet), files)
    at_each_place(meet, meet, files, most=300)
    assert set(values) == {2.0}


def test_devices_meet_in_the_middle_of_meeting() -> None:
    """Both devices of another round join one place while a device joins it."""
    place = Rendezvous("meeting", "key", 2)
    totals: list[float] = []

    def join(device: int, value: float) -> Any:
        return place.join(nd.full((2,), value, ctx=mx.cpu(device)), 1)

    def pair() -> None:
        first, second = join(0, 1.0), join(1, 3.0)
        for met in {id(one): one for one in (first, second)}.values():
            totals.append(met)

    at_each_place(pair, pair, ("ndarray/rendezvous",), most=300)
    assert not place._rounds
    assert {float(met.total[0].asscalar()) for met in totals} == {2.0}  # type: ignore[attr-defined]


def test_a_watcher_ends_and_another_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rendezvous, "PATIENCE_S", 0.05)
    monkeypatch.setattr(rendezvous, "_LINGER_S", 0.0)
    for _ in range(3):
        lonely = Rendezvous("meeting", "key", 2).join(nd.ones((2,)), 1)
        with pytest.raises(mx.base.MXNetError, match="expected calls on 2 devices"):
            lonely.total.asnumpy()


def test_files_and_iterators(tmp_path: Path) -> None:
    path = tmp_path / "a.rec"
    writer = MXIndexedRecordIO(str(tmp_path / "a.idx"), str(path), "w")
    for i in range(20):
        writer.write_idx(i, bytes([i]) * 50)
    writer.close()
    reader = MXIndexedRecordIO(str(tmp_path / "a.idx"), str(path), "r")
    keys = itertools.cycle(range(20))

    def read() -> None:
        key = next(keys)
        assert reader.read_idx(key) == bytes([key]) * 50

    at_each_place(read, read, ("recordio/",), most=200)
    at_each_place(read, in_a_thread(read), ("recordio/",), most=100)

    def go_on() -> None:
        found = reader.read_idx(3)
        assert found == bytes([3]) * 50
        assert reader.read() == bytes([4]) * 50

    go_on()
    ahead = ReadAhead(lambda: iter(range(100000)), 4, "reader")
    seen: list[int] = []

    def step() -> None:
        seen.append(next(ahead))

    at_each_place(step, in_a_thread(step), ("io/prefetching_iter",))
    at_each_place(step, step, ("io/prefetching_iter",))
    assert sorted(seen) == list(range(len(seen)))
    ahead.close()


class Quiet:
    """Something that a thread of its own runs until it is told to stop."""

    def __init__(self) -> None:
        self.begun = threading.Event()
        self._end = threading.Event()

    def run(self) -> None:
        self.begun.set()
        self._end.wait(10)

    def stop(self) -> None:
        self._end.set()

    def fail(self, error: Exception) -> None:
        raise error


def test_batches_of_a_native_iterator() -> None:
    data = mx.io.NDArrayIter(np.zeros((4, 2)), batch_size=2)
    assert data is not None
    service_threads = ServiceThreads()
    services: list[Quiet] = []

    def program() -> None:
        services.append(Quiet())
        service_threads.start(services[-1], "quiet")
        assert services[-1].begun.wait(10)
        services[-1].stop()
        service_threads.wait(services[-1])
        service_threads.finish()

    def nested() -> None:
        service_threads.start(Quiet(), "nested")
        service_threads.finish()

    at_each_place(program, in_a_thread(nested), ("data/service_threads",))
    at_each_place(program, nested, ("data/service_threads",))


def test_pools_of_a_loader_and_shares_of_cores() -> None:
    dataset = gluon.data.ArrayDataset(np.arange(8, dtype=np.float32))
    loaders: list[Any] = []

    def pass_over() -> None:
        found = [float(x) for batch in loaders[-1] for x in batch.asnumpy()]
        assert found == list(range(8))

    def program() -> None:
        loaders.append(gluon.data.DataLoader(dataset, 4, num_workers=1, thread_pool=True))
        pass_over()
        owner = type("Owner", (), {})()
        share_cores([mx.cpu(0), mx.cpu(1)], owner)
        nd.waitall()

    files = ("data/dataloader", "kvstore/core_shares")

    def nested() -> None:
        if loaders:
            pass_over()
        share_cores([mx.cpu(0), mx.cpu(1)], Memory())

    at_each_place(program, in_a_thread(nested), files, most=50)

"""Stream lanes on a double: kernels run late, in any order that streams and events leave open."""

import random
import threading
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any

import hypothesis
import pytest
from hypothesis import strategies as st

from gluonish_engine import Engine, EngineError, Var, create_engine

pytestmark = pytest.mark.timeout(120)

CPU = ("cpu", 0, "compute")
LONG_S = 30


class Event:
    def __init__(self, stream: "FakeStream") -> None:
        self.stream = stream
        self.done = False


class FakeDevice:
    """Holds all launched kernels back until somebody synchronizes, then picks at random."""

    def __init__(self, seed: int = 0) -> None:
        self.lock = threading.RLock()
        self.random = random.Random(seed)
        self.streams: list[FakeStream] = []
        self.log: list[tuple[Any, ...]] = []
        self.broken: Exception | None = None
        self.current = threading.local()

    def kernel(self, run: Callable[[], None]) -> None:
        """Queue a kernel on the stream that is current in this thread."""
        with self.lock:
            self.current.stream.queue.append(run)

    def step(self) -> None:
        able = [stream for stream in self.streams if stream.able()]
        assert able, "streams wait for one another"
        item = (stream := self.random.choice(able)).queue.popleft()
        if isinstance(item, Event):
            item.done = item.done or item.stream is stream
        else:
            item()


class FakeStream:
    def __init__(self, device: FakeDevice, name: str) -> None:
        self.device, self.name = device, name
        self.queue: deque[Any] = deque()
        device.streams.append(self)

    def able(self) -> bool:
        if not self.queue:
            return False
        head = self.queue[0]
        return not isinstance(head, Event) or head.stream is self or head.done

    def launch(self, fn: Callable[[], None], name: str) -> None:
        self.device.log.append(("launch", self.name))
        self.device.current.stream = self
        fn()

    def record(self) -> Event:
        with self.device.lock:
            self.device.log.append(("record", self.name))
            event = Event(self)
            self.queue.append(event)
            return event

    def wait_event(self, event: Event) -> None:
        with self.device.lock:
            self.device.log.append(("wait", self.name, event.stream.name))
            self.queue.append(event)

    def synchronize_event(self, event: Event) -> None:
        with self.device.lock:
            self.device.log.append(("synchronize", event.stream.name))
            if self.device.broken is not None:
                raise self.device.broken
            while not event.done:
                self.device.step()

    def event_done(self, event: Event) -> bool:
        return event.done


@pytest.fixture
def device() -> FakeDevice:
    return FakeDevice()


@pytest.fixture
def gpu(threaded: Engine, device: FakeDevice) -> Engine:
    for name in ("compute", "copy"):
        threaded.register_stream_lane(name, FakeStream(device, name))
    return threaded


def test_push_launches_in_the_calling_thread_at_once(gpu: Engine, device: FakeDevice) -> None:
    where: list[int] = []
    gpu.push(lambda: where.append(threading.get_ident()), (), (Var(),), "compute")
    assert where == [threading.get_ident()]
    assert device.log == [("launch", "compute")]


def test_one_stream_needs_no_events(gpu: Engine, device: FakeDevice) -> None:
    x, y = Var(), Var()
    for reads, writes in (((), (x,)), ((x,), (y,)), ((y,), (x,))):
        gpu.push(lambda: None, reads, writes, "compute")
    assert device.log == [("launch", "compute")] * 3


def test_other_stream_waits_for_an_event_recorded_then(gpu: Engine, device: FakeDevice) -> None:
    x = Var()
    gpu.push(lambda: None, (), (x,), "copy")
    gpu.push(lambda: None, (x,), (Var(),), "compute")
    assert device.log[1:] == [
        ("record", "copy"),
        ("wait", "compute", "copy"),
        ("launch", "compute"),
    ]


def test_stream_waits_once_for_the_same_launch(gpu: Engine, device: FakeDevice) -> None:
    x = Var()
    gpu.push(lambda: None, (), (x,), "copy")
    for _ in range(3):
        gpu.push(lambda: None, (x,), (Var(),), "compute")
    assert device.log.count(("wait", "compute", "copy")) == 1
    assert device.log.count(("record", "copy")) == 1


def test_what_is_marked_is_not_waited_for_with_later_launches(
    gpu: Engine, device: FakeDevice
) -> None:
    x, ran = Var(), list[str]()
    gpu.push(lambda: device.kernel(lambda: ran.append("x")), (), (x,), "compute")
    gpu.mark("compute")
    gpu.push(lambda: device.kernel(lambda: ran.append("later")), (), (Var(),), "compute")
    gpu.wait(x)
    assert ran == ["x"]
    assert device.log.count(("record", "compute")) == 1
    gpu.wait_all()
    assert ran == ["x", "later"]


def test_marks_are_bounded_and_the_oldest_give_way_to_later_ones(
    gpu: Engine, device: FakeDevice
) -> None:
    first, ran = Var(), list[int]()
    for i in range(200):
        var = first if i == 0 else Var()
        gpu.push(lambda i=i: device.kernel(lambda: ran.append(i)), (), (var,), "compute")
        gpu.mark("compute")
    lane: Any = gpu._lanes["compute"]
    assert len(lane._events) < 100
    gpu.wait(first)
    assert 0 in ran
    assert len(ran) < 200


def test_mark_of_a_lane_of_workers_does_nothing(gpu: Engine, device: FakeDevice) -> None:
    gpu.push(lambda: None, (), (Var(),), CPU)
    gpu.mark(CPU)
    gpu.mark("never used")
    gpu.mark("compute")  # without a launch
    assert device.log == []


def test_write_waits_for_reads_on_other_streams(gpu: Engine, device: FakeDevice) -> None:
    x = Var()
    gpu.push(lambda: None, (x,), (), "copy")
    gpu.push(lambda: None, (), (x,), "compute")
    assert ("wait", "compute", "copy") in device.log


def test_reads_on_two_streams_do_not_wait_for_each_other(gpu: Engine, device: FakeDevice) -> None:
    x = Var()
    gpu.push(lambda: None, (x,), (), "copy")
    gpu.push(lambda: None, (x,), (), "compute")
    assert device.log == [("launch", "copy"), ("launch", "compute")]


def test_host_wait_synchronizes_once(gpu: Engine, device: FakeDevice) -> None:
    x, ran = Var(), []
    gpu.push(lambda: device.kernel(lambda: ran.append(1)), (), (x,), "compute")
    assert ran == []
    gpu.wait(x)
    gpu.wait(x)
    assert ran == [1]
    assert device.log.count(("synchronize", "compute")) == 1


def test_wait_to_write_waits_for_reads_and_wait_does_not(gpu: Engine, device: FakeDevice) -> None:
    x, ran = Var(), []
    gpu.push(lambda: device.kernel(lambda: ran.append(1)), (x,), (), "compute")
    gpu.wait(x)
    assert ran == []
    gpu.wait_to_write(x)
    assert ran == [1]


def test_wait_all_drains_every_stream(gpu: Engine, device: FakeDevice) -> None:
    ran: list[str] = []
    for lane in ("compute", "copy"):
        gpu.push(lambda lane=lane: device.kernel(lambda: ran.append(lane)), (), (), lane)
    gpu.wait_all()
    assert sorted(ran) == ["compute", "copy"]


def test_cpu_operator_waits_for_the_event_in_a_worker(gpu: Engine, device: FakeDevice) -> None:
    x, out, order, where = Var(), Var(), [], []

    def read() -> None:
        order.append("cpu")
        where.append(threading.get_ident())

    gpu.push(lambda: device.kernel(lambda: order.append("gpu")), (), (x,), "compute")
    gpu.push(read, (x,), (out,), CPU, inline=True)
    gpu.wait(out)
    assert order == ["gpu", "cpu"]
    assert where != [threading.get_ident()]


def test_cpu_operator_is_inline_again_when_the_event_is_done(
    gpu: Engine, device: FakeDevice
) -> None:
    x, other, where = Var(), Var(), []
    gpu.push(lambda: device.kernel(lambda: None), (), (x,), "compute")
    gpu.push(lambda: device.kernel(lambda: None), (), (other,), "compute")
    gpu.wait(other)
    gpu.push(lambda: where.append(threading.get_ident()), (x,), (Var(),), CPU, inline=True)
    assert where == [threading.get_ident()]


def test_stream_push_waits_for_pending_cpu_work(gpu: Engine, device: FakeDevice) -> None:
    x, order = Var(), []
    started, go = threading.Event(), threading.Event()

    def write() -> None:
        started.set()
        assert go.wait(LONG_S)
        order.append("cpu")

    gpu.push(write, (), (x,), CPU)
    assert started.wait(LONG_S)
    threading.Timer(0.01, go.set).start()
    gpu.push(lambda: order.append("launch"), (x,), (), "compute")
    assert order == ["cpu", "launch"]


def test_stream_push_on_what_the_pushing_operator_writes_is_launched_at_once(
    gpu: Engine,
) -> None:
    x, order = Var(), []

    def run() -> None:
        gpu.push(lambda: order.append("inner"), (x,), (), "compute")
        order.append("outer")

    gpu.push(run, (), (x,), CPU, name="op")
    gpu.wait(x)
    assert order == ["inner", "outer"]


def test_error_at_the_launch_is_kept_for_the_wait(gpu: Engine) -> None:
    x = Var()
    gpu.push(lambda: 1 // 0 and None, (), (x,), "compute", name="conv")
    with pytest.raises(EngineError, match=r"^conv: failed with ZeroDivisionError"):
        gpu.wait(x)


def test_update_that_a_stream_skips_is_forgiven_after_the_raise(
    gpu: Engine, device: FakeDevice
) -> None:
    bad, weight, out, ran = Var(), Var(), Var(), []
    gpu.push(lambda: 1 // 0 and None, (), (bad,), "copy", name="conv")
    for _ in range(2):
        gpu.push(lambda: ran.append("sgd"), (weight, bad), (weight,), "compute", name="sgd")
    with pytest.raises(EngineError, match=r"^conv"):
        gpu.wait(weight)
    gpu.push(lambda: device.kernel(lambda: ran.append("dot")), (weight,), (out,), "compute")
    gpu.wait(out)
    gpu.wait(weight)
    assert ran == ["dot"]


def test_broken_device_leaves_more_than_a_stale_mark(gpu: Engine, device: FakeDevice) -> None:
    bad, x = Var(), Var()
    gpu.push(lambda: None, (), (x,), "compute")
    gpu.push(lambda: 1 // 0 and None, (), (bad,), CPU, name="conv")
    gpu.push(lambda: None, (bad, x), (x,), "compute")
    device.broken = OSError("illegal address")
    for _ in range(2):
        with pytest.raises(EngineError, match="illegal address"):
            gpu.wait(x)
    device.broken = None


@pytest.mark.parametrize("all_at_once", [False, True])
def test_error_of_the_device_is_raised_at_the_wait(
    gpu: Engine, device: FakeDevice, all_at_once: bool
) -> None:
    x = Var()
    gpu.push(lambda: None, (), (x,), "compute")
    device.broken = OSError("illegal address")
    with pytest.raises(EngineError, match="illegal address"):
        gpu.wait_all() if all_at_once else gpu.wait(x)
    device.broken = None
    gpu.wait_all()


def test_error_of_the_device_fails_the_cpu_operator_that_waits(
    gpu: Engine, device: FakeDevice
) -> None:
    x, out = Var(), Var()
    gpu.push(lambda: None, (), (x,), "compute")
    device.broken = OSError("illegal address")
    gpu.push(lambda: None, (x,), (out,), CPU, name="asnumpy")
    with pytest.raises(EngineError, match="asnumpy: failed with OSError: illegal address"):
        gpu.wait(out)
    device.broken = None


def test_naive_engine_synchronizes_after_each_launch(make_engine: Any, device: FakeDevice) -> None:
    engine, ran = make_engine("NaiveEngine"), []
    engine.register_stream_lane("compute", FakeStream(device, "compute"))
    engine.push(lambda: device.kernel(lambda: ran.append(1)), (), (Var(),), "compute")
    assert ran == [1]


def test_key_in_use_and_incomplete_stream_are_refused(gpu: Engine, device: FakeDevice) -> None:
    with pytest.raises(ValueError, match="key not in use"):
        gpu.register_stream_lane("compute", FakeStream(device, "again"))
    with pytest.raises(TypeError, match="expected stream with method launch"):
        gpu.register_stream_lane("new", object())  # type: ignore[arg-type]


PUSH = st.tuples(
    st.lists(st.integers(0, 3), max_size=2),
    st.lists(st.integers(0, 3), max_size=2),
    st.sampled_from(("compute", "copy", "comm", CPU)),
    st.booleans(),
    st.sampled_from((False,) * 5 + (True,)),
)
# A number waits for that variable; a name marks that lane.
LANES = st.sampled_from(("compute", "copy", "comm"))
PROGRAM = st.lists(st.one_of(PUSH, PUSH, PUSH, st.integers(0, 3), LANES), max_size=30)


def outcome(engine: Engine, device: FakeDevice, program: list[Any]) -> tuple[Any, ...]:
    variables, cells, said = [Var() for _ in range(4)], [0, 1, 2, 3], []

    def observe(wait: Callable[[], None]) -> None:
        try:
            wait()
            said.append("")
        except EngineError as error:
            said.append(str(error))

    for name in ("compute", "copy", "comm"):
        engine.register_stream_lane(name, FakeStream(device, name))
    for index, step in enumerate(program):
        if not isinstance(step, tuple):
            wait = partial(engine.wait, variables[step]) if isinstance(step, int) else None
            observe(wait or partial(engine.mark, step))
            continue
        reads, writes, lane, inline, fails = step

        def compute(index: int = index, reads: Any = reads, writes: Any = writes) -> None:
            value = hash((index, *(cells[i] for i in reads)))
            for i in writes:
                cells[i] = value

        def run(lane: Any = lane, fails: bool = fails, compute: Any = compute) -> None:
            if fails:
                raise ArithmeticError("injected")
            if lane == CPU:
                compute()
            else:
                device.kernel(compute)

        arguments = [variables[i] for i in reads], [variables[i] for i in writes]
        engine.push(run, *arguments, lane, name=f"op{index}", inline=inline)
    observe(engine.wait_all)
    for var in variables:
        observe(lambda var=var: engine.wait(var))
    return cells, said


@hypothesis.settings(max_examples=150)
@hypothesis.given(program=PROGRAM, seed=st.integers(0, 99))
def test_random_programs_over_streams_give_what_naive_gives(program: list[Any], seed: int) -> None:
    expected = outcome(create_engine("NaiveEngine"), FakeDevice(seed), program)
    engine = create_engine("ThreadedEnginePerDevice")
    try:
        assert outcome(engine, FakeDevice(seed), program) == expected
    finally:
        engine.shutdown(timeout_s=20)

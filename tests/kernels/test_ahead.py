import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

import pytest

from gluonish.kernels import ahead, openmp

ROOT = Path(__file__).resolve().parents[2]


class Steps:
    """Something with work, which notes what was done."""

    def __init__(self, count: int) -> None:
        self.done: list[int] = []
        self.finished = threading.Event()
        self.count = count

    def preparations(self) -> Sequence[Callable[[], object]]:
        return [lambda i=i: self.do(i) for i in range(self.count)]  # type: ignore[misc]

    def do(self, i: int) -> None:
        assert ahead.is_ahead()
        self.done.append(i)
        if len(self.done) == self.count:
            self.finished.set()
        if i == 1:
            raise ValueError("an error that a call will meet, too")


@pytest.fixture(autouse=True)
def _alone(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    wait_for_the_end()
    ahead._announced.clear()
    monkeypatch.setattr(openmp.team(), "threads", lambda: 2)
    monkeypatch.setattr(ahead, "_IDLE_S", 0.05)
    yield
    wait_for_the_end()


def wait_for_the_end() -> None:
    deadline = time.monotonic() + 60
    while ahead._State.threads and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not ahead._State.threads


def test_work_is_done_in_order_once_a_kernel_is_compiled_whatever_it_raises() -> None:
    first, second = Steps(5), Steps(3)
    ahead.announce(first)
    ahead.announce(second)
    ahead.begin()
    assert first.finished.wait(60)
    assert second.finished.wait(60)
    assert (first.done, second.done) == ([0, 1, 2, 3, 4], [0, 1, 2])
    assert not ahead.is_ahead()


def test_nothing_is_done_before() -> None:
    steps = Steps(2)
    ahead.announce(steps)
    assert not ahead._State.threads
    assert steps.done == []


def test_what_is_announced_meanwhile_is_done_at_once() -> None:
    first, second = Steps(2), Steps(2)
    ahead.announce(first)
    ahead.begin()
    ahead.announce(second)
    assert second.finished.wait(60)


def test_with_one_core_nothing_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(openmp.team(), "threads", lambda: 1)
    steps = Steps(2)
    ahead.announce(steps)
    ahead.begin()
    assert not ahead._State.threads
    assert steps.done == []


def test_an_object_that_is_gone_is_skipped() -> None:
    gone, steps = Steps(2), Steps(2)
    ahead.announce(gone)
    ahead.announce(steps)
    done = gone.done
    del gone
    ahead.begin()
    assert steps.finished.wait(60)
    assert done == []


def test_a_thread_calls_at_its_end_what_it_was_given() -> None:
    ended = threading.Event()

    class One:
        def preparations(self) -> Any:
            return [lambda: ahead.at_end(ended.set)]

    one = One()
    ahead.announce(one)
    ahead.begin()
    assert ended.wait(60)
    wait_for_the_end()


def test_work_that_comes_as_a_thread_is_about_to_end_is_done(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    steps = Steps(1)

    class Late(SimpleQueue):  # type: ignore[type-arg]
        def get(self, *args: Any, **kwargs: Any) -> Any:
            try:
                return super().get(*args, **kwargs)
            except Empty:
                if not steps.done:
                    self.put(lambda: steps.do(0))
                raise

    monkeypatch.setattr(ahead, "_queue", Late())
    ahead.announce(Steps(0))
    ahead.begin()
    assert steps.finished.wait(60)


# A thread compiles ahead in its process; the interpreter ends meanwhile.
ENDING = """
import sys, threading, time
from gluonish.kernels import ahead, openmp
from gluonish.kernels.compiler import helper_process, machine_code, object_code

openmp.team().threads = lambda: 2
text = "define void @gluonish_body(i64 %a, i64 %b, i64* %c) { ret void }"
object_code.generate = lambda *_: print("compiled by the interpreter that ends")
asked = threading.Event()
request = object_code.request

def slow(*arguments):
    asked.set()
    arguments[1].read()  # until the process has ended
    raise EOFError

object_code.request = slow

class One:
    def preparations(self):
        return [lambda: machine_code.generate(text)] * 3

one = One()
ahead.announce(one)
ahead.begin()
assert asked.wait(60)
(helper,) = helper_process._open
print(helper._process.pid)
"""


def test_the_end_of_the_interpreter_ends_threads_and_processes() -> None:
    paths = os.pathsep.join([str(ROOT), str(ROOT / "engine")])
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", ENDING],
        env=os.environ | {"PYTHONPATH": paths},
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    (pid,) = done.stdout.split()
    assert done.stderr == ""
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid), 0)


# Trains a network of convolutions, and prints the loss, digests of parameters, the number of
# kernels and how many of them threads that work ahead have compiled.
TRAINING = """
import hashlib, sys
import numpy as np
import gluonish as mx
from gluonish.kernels import ahead, openmp
from gluonish.kernels.compiler import compile, machine_code

threads = int(sys.argv[1])
openmp.team().threads = lambda: threads
made = []
generate = machine_code.generate
machine_code.generate = lambda text: made.append((text, ahead.is_ahead())) or generate(text)
mx.random.seed(3)
net = mx.gluon.nn.HybridSequential()
for channels in (32, 64):
    net.add(mx.gluon.nn.Conv2D(channels, 3, padding=1), mx.gluon.nn.BatchNorm())
    net.add(mx.gluon.nn.Activation("relu"), mx.gluon.nn.MaxPool2D(3, 2, 1))
net.add(mx.gluon.nn.GlobalAvgPool2D(), mx.gluon.nn.Dense(10))
net.initialize(mx.init.Xavier())
net.hybridize(static_alloc=True)
trainer = mx.gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1, "momentum": 0.9})
x = mx.nd.array(np.random.default_rng(1).standard_normal((8, 3, 40, 40)).astype("float32"))
for _ in range(3):
    with mx.autograd.record():
        loss = (net(x) ** 2).mean()
    loss.backward()
    trainer.step(1)
digest = hashlib.sha256()
for parameter in net.collect_params().values():
    digest.update(parameter.data().asnumpy().tobytes())
texts = [text for text, _ in made]
assert len({*texts}) == len(texts), "a kernel was compiled twice"
print(float(loss.asscalar()), digest.hexdigest(), len(made))
print(sum(by for _, by in made), file=sys.stderr)
"""


def train(home: Path, threads: int, *options: str) -> tuple[str, int]:
    paths = os.pathsep.join([str(ROOT), str(ROOT / "engine")])
    environment = {"PYTHONPATH": paths, "MXNET_HOME": str(home), "OMP_NUM_THREADS": "1"}
    environment["MXNET_ENFORCE_DETERMINISM"] = "1"
    done = subprocess.run(
        [sys.executable, "-c", TRAINING, str(threads)],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=240,
        check=True,
    )
    return done.stdout, int(done.stderr)


def test_results_do_not_depend_on_who_compiles(tmp_path: Path) -> None:
    alone, none_ahead = train(tmp_path / "alone", 1)
    ahead_of_calls, some = train(tmp_path / "ahead", 2)
    assert alone == ahead_of_calls
    assert none_ahead == 0
    assert some > 0
    warm, none = train(tmp_path / "ahead", 2)
    assert warm.split()[:2] == alone.split()[:2]
    assert (warm.split()[2], none) == ("0", 0)

"""Programs that train while something comes in between; `test_interruptions.py` runs them.

    python -m tests.attack.interruptions signals|destructors|ctrl_c|loaders SECONDS SEED [VARIANT]

Each ends with a line of JSON that says what happened, or with an error.
"""

import contextlib
import faulthandler
import gc
import json
import os
import random
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import gluonish as mx
from gluonish import autograd, gluon, nd
from gluonish.gluon.data.channel import WorkerError

THRESHOLDS = (1, 5, 50, 700)


class Training:
    """A small network that learns to add up its inputs."""

    def __init__(self, seed: int) -> None:
        mx.random.seed(seed)
        self.random = random.Random(seed)
        self.net = gluon.nn.HybridSequential()
        self.net.add(gluon.nn.Dense(32, activation="relu"), gluon.nn.BatchNorm())
        self.net.add(gluon.nn.Dropout(0.1), gluon.nn.Dense(1))
        self.net.initialize()
        if seed % 2:
            self.net.hybridize(static_alloc=seed % 4 == 1)
        update = {"learning_rate": 0.01, "momentum": 0.9} if seed % 3 else {"learning_rate": 0.01}
        kind = "sgd" if seed % 3 else "adam"
        self.trainer = gluon.Trainer(self.net.collect_params(), kind, update)
        self.loss = gluon.loss.L2Loss()
        self.data = nd.array(np.random.RandomState(seed).uniform(-1, 1, (64, 8)))
        self.label = self.data.sum(axis=1, keepdims=True)
        self.net(self.data)  # the shapes of its parameters are known now
        self.steps = 0

    def step(self) -> float:
        """Do one step; return the loss, which must be a number."""
        with autograd.record():
            loss = self.loss(self.net(self.data), self.label)
        loss.backward()
        self.trainer.step(len(self.data))
        self.steps += 1
        value = float(loss.mean().asscalar())
        assert np.isfinite(value), value
        return value

    def works(self) -> None:
        """Check that all is as it was when nothing comes in between."""
        assert not autograd.is_recording(), "recording is left on"
        assert not autograd.is_training(), "training mode is left on"
        nd.waitall()
        for _ in range(5):
            self.step()
        heavy = nd.ones((300, 300))
        out = nd.dot(heavy, heavy)  # in a worker
        assert float(out.sum().asscalar()) == 300.0**3
        nd.waitall()


def signals(seconds: float, seed: int) -> dict[str, Any]:
    """Save weights and states in a handler that is called a hundred times a second."""
    training = Training(seed)
    saved = 0
    busy = False
    with tempfile.TemporaryDirectory() as folder:
        weights, states = os.path.join(folder, "net.params"), os.path.join(folder, "net.states")

        def save(*_: object) -> None:
            nonlocal busy, saved
            if busy:
                return
            busy = True
            try:
                training.net.save_parameters(weights)
                training.trainer.save_states(states)
                if saved % 10 == 0:
                    nd.waitall()
                    for name, value in nd.load(weights).items():
                        assert np.isfinite(value.asnumpy()).all(), name
                saved += 1
            finally:
                busy = False

        signal.signal(signal.SIGALRM, save)
        signal.setitimer(signal.ITIMER_REAL, 0.01, 0.01)
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            training.step()
        signal.setitimer(signal.ITIMER_REAL, 0)
        training.works()
    return {"saved": saved, "steps": training.steps}


class _Garbage:
    """Something in a cycle, whose destructor works with arrays."""

    worked = 0

    def __init__(self, array: Any) -> None:
        self.array = array
        self.cycle = self

    def __del__(self) -> None:
        total = float((self.array * 2).sum().asscalar())
        assert total == 2.0 * self.array.size, total
        nd.waitall() if _Garbage.worked % 20 == 0 else None
        _Garbage.worked += 1


def destructors(seconds: float, seed: int) -> dict[str, Any]:
    """Let the collector run destructors that work with arrays, at all places it comes to."""
    lost: list[str] = []
    sys.unraisablehook = lambda what: lost.append(f"{what.exc_value!r} in {what.object!r}")
    training = Training(seed)
    gc.set_threshold(THRESHOLDS[seed % len(THRESHOLDS)])
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for size in (3, 500, 40000):
            _Garbage(nd.ones((size,)))
        training.step()
    gc.collect()
    gc.set_threshold(700)
    assert not lost, lost[:3]
    training.works()
    return {"destroyed": _Garbage.worked, "steps": training.steps}


def ctrl_c(seconds: float, seed: int) -> dict[str, Any]:
    """Train on after each interrupt; one comes every 3 to 10 ms."""
    lost: list[str] = []
    sys.unraisablehook = lambda what: lost.append(f"{what.exc_value!r} in {what.object!r}")
    training = Training(seed)
    stop, interrupts = threading.Event(), 0

    def send() -> None:
        while not stop.wait(training.random.uniform(0.003, 0.010)):
            os.kill(os.getpid(), signal.SIGINT)

    sender = threading.Thread(target=send, daemon=True)
    end = time.monotonic() + seconds
    on = 0
    try:
        sender.start()  # it may interrupt its own start
    except KeyboardInterrupt:
        interrupts += 1
    while time.monotonic() < end:
        try:
            while time.monotonic() < end:
                training.step()
        except KeyboardInterrupt:
            interrupts += 1
        try:
            on += autograd.is_recording()
        except KeyboardInterrupt:
            interrupts += 1
    while True:
        try:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            stop.set()
            sender.join()
            break
        except KeyboardInterrupt:
            interrupts += 1
    assert not on, f"recording was on after {on} of {interrupts} interrupts"
    training.works()
    return {"interrupts": interrupts, "steps": training.steps, "lost": lost}


LOADERS: dict[str, dict[str, Any]] = {
    "processes": {"num_workers": 2},
    "threads": {"num_workers": 2, "thread_pool": True},
    "group": {"num_workers": 2},
    "nested": {"num_workers": 2},
    "unfinished": {"num_workers": 2},
    "reloading": {"num_workers": 2, "auto_reload": True},
}


def _values(batches: Any) -> list[int]:
    return [int(x) for batch in batches for x in batch.asnumpy()]


def _inside(frame: Any, code: Any) -> bool:
    """Whether a function runs in a frame, or has called what runs there."""
    while frame is not None and frame.f_code is not code:
        frame = frame.f_back
    return frame is not None


def loaders(seconds: float, seed: int, variant: str) -> dict[str, Any]:
    """Iterate on with the same loader after each interrupt; one comes every 0.5 to 8 ms."""
    draws = random.Random(seed)
    loader = gluon.data.DataLoader(list(range(40)), 2, **LOADERS[variant])
    assert _values(loader) == list(range(40))
    left: list[Any] = []
    end = time.monotonic() + seconds
    interrupts = passes = 0

    def send(*_: object) -> None:
        # The later ones are for an interrupt that comes in here, before this.
        signal.setitimer(signal.ITIMER_REAL, draws.uniform(0.0005, 0.008), 0.05)
        if variant == "group":
            os.killpg(0, signal.SIGINT)
        else:
            signal.raise_signal(signal.SIGINT)

    def interrupt(_: int, frame: Any) -> None:
        nonlocal interrupts
        if _inside(frame, work.__code__):  # what is around it must go on
            interrupts += 1
            raise KeyboardInterrupt

    def work() -> None:
        nonlocal passes
        if variant == "unfinished" and len(left) < 3:
            left.append(iter(loader))
            next(left[-1])
        for batch in loader:
            first = int(batch.asnumpy()[0])
            if variant == "nested" and first == 2:
                assert _values(loader) == list(range(40))
        passes += 1

    signal.signal(signal.SIGINT, interrupt)
    signal.signal(signal.SIGALRM, send)
    signal.setitimer(signal.ITIMER_REAL, 0.004, 0.05)
    try:
        while time.monotonic() < end:
            with contextlib.suppress(KeyboardInterrupt):
                work()
    finally:
        signal.signal(signal.SIGALRM, signal.SIG_IGN)
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    begun = time.monotonic()
    for _ in range(2):
        assert _values(loader) == list(range(40))
    for batches in left:
        with contextlib.suppress(WorkerError):
            list(batches)
    took_s = time.monotonic() - begun
    return {"interrupts": interrupts, "passes": passes, "epochs_s": took_s, "end": time.time()}


PROGRAMS: dict[str, Callable[..., dict[str, Any]]] = {
    "signals": signals,
    "destructors": destructors,
    "ctrl_c": ctrl_c,
    "loaders": loaders,
}

if __name__ == "__main__":
    name, seconds, seed = sys.argv[1], float(sys.argv[2]), int(sys.argv[3])
    faulthandler.dump_traceback_later(seconds + 60, exit=True)
    sys.stdout.write(json.dumps(PROGRAMS[name](seconds, seed, *sys.argv[4:])) + "\n")

"""Imports that something comes into the middle of; `test_half_imports.py` runs them.

    python -m tests.attack.half_imports fail|inside|signal SECONDS SEED

``fail``: an exception at a line of a module's code, or of the import system, then a second import.
``inside``: work with arrays and files at a line of a module's code, in the thread that imports.
``signal``: the same in the handler of a signal that is sent there, to a program that loads the
module at its first use. Each try is a forked process. It ends with a line of JSON.
"""

import faulthandler
import importlib
import json
import os
import random
import signal
import sys
import tempfile
import threading
import time
import traceback
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

import gluonish as mx
from gluonish import autograd, gluon, nd
from gluonish.core.loading import load
from gluonish.gluon import nn
from gluonish.ops import registry
from tests.attack.processes import forked

ROOT = Path(mx.__file__).parent
TRY_S = 60
FOLDER = tempfile.mkdtemp()

net = nn.HybridSequential()
net.add(nn.Dense(4, in_units=3), nn.BatchNorm(in_channels=4))
net.initialize()
trainer = gluon.Trainer(net.collect_params(), "adam")


def not_loaded() -> list[str]:
    """Return the modules of gluonish's that its import, and the network here, do not need."""
    names = []
    for path in sorted(ROOT.rglob("*.py")):
        parts = ("gluonish", *path.relative_to(ROOT).with_suffix("").parts)
        name = ".".join(parts).removesuffix(".__init__")
        runs = "__main__" in name or "as_mxnet" in name or "-" in name
        if not runs and name not in sys.modules:
            names.append(name)
    return names


def work() -> None:
    """What a handler does in the first steps: save, compute, train."""
    path = os.path.join(FOLDER, str(os.getpid()))
    net.save_parameters(f"{path}.params")
    trainer.save_states(f"{path}.states")
    with autograd.record():
        loss = (net(nd.ones((4, 3))) ** 2).sum()
    loss.backward()
    trainer.step(1)
    scaled = nd.LRN(nd.ones((1, 3, 2, 2)), nsize=3, alpha=0.0).asnumpy()
    np.testing.assert_allclose(scaled, 2.0**-0.75, rtol=1e-5)  # 1 / 2 ** 0.75, as knorm is 2
    nd.waitall()
    for name in ("params", "states"):
        os.remove(f"{path}.{name}")


def text_of(error: BaseException) -> str:
    """Return the end of an error's traceback."""
    return "".join(traceback.format_exception(error))[-1500:]


def tried(run: Callable[[], Any]) -> Any:
    """Return what a function returns in a forked process; what went wrong as a text."""

    def guarded() -> Any:
        try:
            return run()
        except BaseException as error:
            return text_of(error)

    said, status = forked(guarded)
    return f"it ended with {status}" if status else said


def _is_module(frame: FrameType) -> bool:
    return frame.f_code.co_name == "<module>" and "gluonish" in frame.f_code.co_filename


# Functions of the import system with a lock of Python's, which an exception there leaves locked.
_LOCKS = ("ModuleLock", "ImportLock", "_lock", "_find_spec")


def _is_python(frame: FrameType) -> bool:
    return not any(name in frame.f_code.co_qualname for name in _LOCKS)


class At:
    """Does something before the line of a number among those that are run; see `watch`."""

    def __init__(self, line: int, act: Callable[[], object], every: bool = False) -> None:
        self.lines, self.line, self.act = 0, line, act
        self.watched = _is_python if every else _is_module

    def __call__(self, frame: FrameType, event: str, _: object) -> Any:
        return self._line if self.watched(frame) else None

    def _line(self, frame: FrameType, event: str, _: object) -> Any:
        if event == "line":
            self.lines += 1
            if self.lines == self.line:
                sys.settrace(None)
                threading.settrace(None)
                self.act()
        return self._line

    def watch(self, run: Callable[[], object]) -> None:
        """Run a function with this in place, in this thread and those that start."""
        threading.settrace(self)
        sys.settrace(self)
        try:
            run()
        finally:
            sys.settrace(None)
            threading.settrace(None)


def state(name: str) -> dict[str, Any]:
    """Return what an import of a module leaves, to be compared.

    A package's submodules are no content of it, as any other work may import them: whether each
    is in its package is looked at below.
    """
    names = sorted(one for one in sys.modules if one.startswith("gluonish"))
    content = {
        key: type(value).__name__
        for key, value in vars(sys.modules[name]).items()
        if not key.startswith("__") and f"{name}.{key}" not in sys.modules
    }
    stale = []
    for one in names:
        parent, _, last = one.rpartition(".")
        if parent and not hasattr(sys.modules[parent], last):
            stale.append(f"{one} is not in its package")
        for key, value in list(vars(sys.modules[one]).items()):
            if isinstance(value, registry.Operator) and registry._names.get(value.name) != value:
                stale.append(f"{one}.{key} is not the operator")
        for op, _ in getattr(sys.modules[one], "KERNELS", ()):
            if registry._names.get(op.name) is not op:
                stale.append(f"{one} has kernels of another {op.name}")
    return {"content": content, "modules": names, "stale": sorted(stale)}


def clean_import(name: str, every: bool) -> Any:
    """Return what an undisturbed import leaves, and how many lines it runs."""
    at = At(-1, int, every)
    at.watch(lambda: importlib.import_module(name))
    return [state(name), at.lines]


def fail(name: str, line: int, clean: Any, drawn: float, every: bool) -> str | None:
    """Let an import fail, and import again."""
    kind: type[BaseException] = KeyboardInterrupt if drawn < 0.5 else MemoryError

    def act() -> None:
        raise kind("on purpose")

    try:
        At(line, act, every).watch(lambda: importlib.import_module(name))
    except kind:
        warnings.simplefilter("error")
        importlib.import_module(name)
        found = state(name)
        return None if found == clean else f"{_first_difference(found, clean)}"
    return None  # it caught that, as if something optional were missing


def _first_difference(found: Any, clean: Any) -> str:
    for key, value in clean.items():
        if found[key] != value:
            one, other = (set(x.items() if isinstance(x, dict) else x) for x in (found[key], value))
            return f"{key}: {sorted(one ^ other)[:3]}"
    return ""


def inside(name: str, line: int, clean: Any, drawn: float, every: bool) -> str | None:
    """Work in the middle of an import, in its thread, and again when it is done."""
    failed: list[BaseException] = []

    def act() -> None:
        try:
            work()
        except BaseException as error:  # the import goes on, as a destructor's error is ignored
            failed.append(error)

    how = load if drawn < 0.5 else importlib.import_module
    At(line, act).watch(lambda: how(name))
    if failed:
        raise failed[0]
    work()
    found = state(name)
    return None if found["content"] == clean["content"] else _first_difference(found, clean)


def by_signal(name: str, line: int, clean: Any, drawn: float, every: bool) -> str | None:
    """Work in a signal's handler that comes in the middle of an import at a first use."""
    done: list[str | None] = []

    def handler(*_: object) -> None:
        try:
            work()
            done.append(None)
        except BaseException as error:
            done.append(text_of(error))

    signal.signal(signal.SIGTERM, handler)

    def act() -> None:
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(0.002)  # the main thread, which waits, runs the handler meanwhile

    At(line, act).watch(lambda: load(name))
    while not done:
        time.sleep(0.001)
    return done[0]


MODES: dict[str, Callable[[str, int, Any, float, bool], str | None]] = {
    "fail": fail,
    "inside": inside,
    "signal": by_signal,
}


def attack(mode: str, seconds: float, seed: int) -> dict[str, Any]:
    """Try for some time; return how many tries there were, and what broke."""
    draws = random.Random(seed)
    names = not_loaded()
    draws.shuffle(names)
    end, tries, broke, modules = time.monotonic() + seconds, 0, [], 0
    for name in names:
        if time.monotonic() > end:
            break
        every = mode == "fail" and draws.random() < 0.5
        said = tried(partial(clean_import, name, every))
        assert isinstance(said, list), (name, said)
        clean, lines = said
        modules += 1
        for line in draws.sample(range(1, lines + 1), min(3, lines)):
            wrong = tried(partial(MODES[mode], name, line, clean, draws.random(), every))
            tries += 1
            if wrong is not None:
                broke.append([name, line, every, wrong])
    return {"modules": modules, "tried": tries, "broke": broke}


if __name__ == "__main__":
    mode, seconds, seed = sys.argv[1], float(sys.argv[2]), int(sys.argv[3])
    faulthandler.dump_traceback_later(seconds + 4 * TRY_S, exit=True)
    sys.stdout.write(json.dumps(attack(mode, seconds, seed)) + "\n")

"""SIGTERM in the middle of saves; `test_terminated_saves.py` runs this.

    python -m tests.attack.terminated_saves SAVER|all POINTS SEED

Each try is a forked process that has saved once, and saves other content when the signal comes: at
an operation on a file, which an audit hook sees, or at a line of Python. Either the default action
ends it there, or a handler saves a third content under the same names and exits. Afterwards each
file is one of those whole; temporary files are left by the default action only, and the next save
removes them. It ends with a line of JSON.
"""

import faulthandler
import gc
import hashlib
import json
import os
import random
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

import gluonish as mx
from gluonish import gluon
from gluonish.gluon.contrib.estimator import CheckpointHandler, Estimator
from tests.attack.processes import forked
from tests.attack.savers import SAVERS as FILES
from tests.attack.savers import Saver

OLD, NEW, LAST = 4, 8, 12  # how much there is to write: which content it is
OPERATIONS = frozenset(("open", "os.rename", "os.remove", "os.link", "os.chmod", "os.truncate"))
LEFT = ".gluonish.tmp"


def _module(folder: Path, units: int) -> None:
    out = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=units, name="fc")
    module = mx.mod.Module(out, label_names=None)
    module.bind([("data", (2, 4))], for_training=True)
    module.init_params(mx.init.One())
    module.init_optimizer(optimizer="sgd", optimizer_params={"momentum": 0.9})
    module.save_checkpoint(str(folder / "module"), 1, save_optimizer_states=True)


def _estimator(folder: Path, units: int) -> None:
    net = gluon.nn.Dense(units, in_units=4)
    net.initialize("ones")
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"momentum": 0.9})
    estimator = Estimator(net, gluon.loss.L2Loss(), trainer=trainer)
    handler = CheckpointHandler(str(folder), "estimator", max_checkpoints=2)
    handler.train_begin(estimator)
    handler.epoch_end(estimator)


def _npz(folder: Path, units: int) -> None:
    mx.nd.save(str(folder / "a.npz"), {"a": mx.nd.ones((units, 64))})


def _safetensors(folder: Path, units: int) -> None:
    mx.nd.save(str(folder / "a.safetensors"), {"a": mx.nd.ones((units, 64))})


# What else it holds than the content, such as times, tells no content from another.
SAVERS: dict[str, Saver] = {
    **{name: saver for name, saver in FILES.items() if name not in ("profiler.dump", "a plot")},
    "Module.save_checkpoint": _module,
    "CheckpointHandler": _estimator,
    "nd.save of npz": _npz,
    "nd.save of safetensors": _safetensors,
}


class Point:
    """Does something once, at an operation on a file or a line of Python of some number."""

    def __init__(self, number: int, act: Callable[[], object]) -> None:
        self.number, self.act = number, act
        self.count, self.on, self.busy = 0, True, False

    def pass_by(self) -> None:
        """Count, and act if it is the turn."""
        if not self.on:
            return
        self.count += 1
        if self.count == self.number:
            self.on = False
            sys.settrace(None)
            self.act()

    def operations(self, run: Callable[[], object]) -> None:
        """Run a function, passing by before each operation on a file."""
        sys.addaudithook(lambda event, _: self.pass_by() if event in OPERATIONS else None)
        run()
        self.on = False

    def lines(self, run: Callable[[], object]) -> None:
        """Run a function, passing by before each line that this thread runs."""

        def line(frame: FrameType, event: str, _: object) -> Any:
            if event == "line":
                self.pass_by()
            return line

        sys.settrace(line)
        try:
            run()
        finally:
            sys.settrace(None)


def contents(folder: Path) -> dict[str, str]:
    """Return a digest of each file in a folder."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def _count(saver: Saver, kind: str) -> int:
    with tempfile.TemporaryDirectory() as folder:
        saver(Path(folder), OLD)
        point = Point(-1, int)
        getattr(point, kind)(lambda: saver(Path(folder), NEW))
        return point.count


def _terminated(saver: Saver, folder: Path, kind: str, number: int, handles: bool) -> str:
    """Save with a signal at a point; the process ends there."""

    def handler(*_: object) -> None:
        with mx.autograd.pause():  # the saver trains, in the scope of what it interrupts
            saver(folder, LAST)
        sys.exit(7)

    if handles:
        signal.signal(signal.SIGTERM, handler)
    point = Point(number, lambda: signal.raise_signal(signal.SIGTERM))
    getattr(point, kind)(lambda: saver(folder, NEW))
    return "it ended before the signal"


def attempt(name: str, kind: str, number: int, handles: bool) -> str | None:
    """Try one point; return what is wrong afterwards."""
    saver = SAVERS[name]
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        saver(folder, OLD)
        old = set(contents(folder))
        _, status = forked(partial(_terminated, saver, folder, kind, number, handles))
        ended = 7 << 8 if handles else int(signal.SIGTERM)
        if status not in (ended, 0):
            return f"it ended with {status}"
        left = [one for one in contents(folder) if one.endswith(LEFT)]
        if left and (handles or len(left) > len(old)):
            return f"left {left}"
        wrong = check(name, folder)
        if wrong is not None:
            return wrong
        if left:
            return _next_save_removes(saver, folder, left)
    return None


def check(name: str, folder: Path) -> str | None:
    """Return which file is not whole."""
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.name.endswith(LEFT):
            try:
                READERS.get(path.suffix, _read_arrays)(path)
            except Exception as error:
                return f"{name}: {path.name} is not whole: {error!r}"
    return None


def _next_save_removes(saver: Saver, folder: Path, left: list[str]) -> str | None:
    past = time.time() - 100.0
    for one in left:
        os.utime(folder / one, (past, past))
    saver(folder, NEW)
    after = [one for one in contents(folder) if one.endswith(LEFT)]
    return f"not removed: {after}" if after else None


def _read_arrays(path: Path) -> None:
    read = mx.nd.load(str(path))
    for value in read.values() if isinstance(read, dict) else read:
        array = value.asnumpy()
        assert array.size == 0 or len(np.unique(array)) <= 2, "numbers of two contents"


def _read_states(path: Path) -> None:
    # The states of an optimizer are a pickle that ends with a full stop.
    data = path.read_bytes()
    assert data, "it is empty"
    assert data[:1] in (b"\x80", b"\x00") or set(data) == {0}, data[:8]


def _read_json(path: Path) -> None:
    json.loads(path.read_text())


def _read_anything(path: Path) -> None:
    assert path.read_bytes()


def _read_params(path: Path) -> None:
    if set(path.read_bytes()) != {0}:  # the training's stand for any bytes
        _read_arrays(path)


READERS: dict[str, Callable[[Path], None]] = {
    ".json": _read_json,
    ".states": _read_states,
    ".params": _read_params,
    ".rec": _read_anything,
    ".idx": _read_anything,
    "": _read_json,
}


def attack(names: list[str], points: int, seed: int) -> dict[str, Any]:
    """Try some points of savers, half of them operations; return how many, and what broke."""
    draws = random.Random(seed)
    tried, broke = 0, []
    for name in names:
        with tempfile.TemporaryDirectory() as warm:
            SAVERS[name](Path(warm), OLD)
        for kind in ("operations", "lines"):
            count, status = forked(partial(_count, SAVERS[name], kind))
            assert status == 0, (name, kind, status)
            for number in draws.sample(range(1, count + 1), min(points, count)):
                for handles in (False, True):
                    wrong = attempt(name, kind, number, handles)
                    tried += 1
                    if wrong is not None:
                        broke.append([name, kind, number, handles, wrong])
    return {"tried": tried, "broke": broke}


if __name__ == "__main__":
    which, points, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    gc.freeze()
    faulthandler.dump_traceback_later(3000, exit=True)
    draws = random.Random(seed)
    chosen = list(SAVERS) if which == "all" else draws.sample(list(SAVERS), int(which))
    sys.stdout.write(json.dumps(attack(chosen, points, seed)) + "\n")

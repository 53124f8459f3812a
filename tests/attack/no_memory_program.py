"""Programs in which one allocation of Python's after the other fails, for `test_no_memory.py`.

    python -m tests.attack.no_memory_program NAME FIRST STEP COUNT

The last line is JSON: how many runs ended with an error, and what went wrong.
"""

import _testcapi
import faulthandler
import gc
import json
import sys
import traceback
from collections.abc import Callable
from typing import Any

import numpy as np

import gluonish as mx
from gluonish import autograd, gluon, nd
from gluonish.engine import current_engine
from gluonish_engine import Var

HANG_S = 20.0
# What Python and NumPy say in place of a MemoryError.
OTHER_WORDS = (
    "can't allocate lock",
    "can't start new thread",
    "returned NULL without setting an exception",
    "error return without exception set",
    "MemoryError",  # ctypes, of an argument
)
X = np.arange(12, dtype=np.float32).reshape(4, 3)


def pushes() -> Callable[[], None]:
    """Inline operators, operators in a lane, and a chain between two lanes."""
    heavy = nd.ones((200, 200))

    def run() -> None:
        engine = current_engine()
        first, second = Var(), Var()
        total: list[int] = []
        for i in range(6):
            engine.push(lambda i=i: total.append(i), [second], [first], "compute", name="one")
            engine.push(lambda i=i: total.append(i), [first], [second], "copy", i % 2, "two")
        y = (nd.ones((3,)) + 1) * 2
        z = nd.dot(heavy, heavy)
        engine.wait(second)
        assert y.asnumpy().tolist() == [4, 4, 4]
        assert float(z[0, 0].asscalar()) == 200.0
        assert total == [i for i in range(6) for _ in range(2)], total

    return run


def network(kind: str, hybrid: bool) -> Callable[[], None]:
    """Training, step by step."""
    net = gluon.nn.HybridSequential()
    net.add(gluon.nn.Dense(4, activation="relu", in_units=3), gluon.nn.Dense(1, in_units=4))
    net.initialize(mx.init.Constant(0.1))
    if hybrid:
        net.hybridize(static_alloc=True)
    trainer = gluon.Trainer(net.collect_params(), kind, {"learning_rate": 0.01})
    loss_of = gluon.loss.L2Loss()
    data, label = nd.array(X), nd.array(X.sum(axis=1))

    def run() -> None:
        with autograd.record():
            loss = loss_of(net(data), label)
        loss.backward()
        trainer.step(4)
        assert np.isfinite(loss.asnumpy()).all()

    return run


def gradients() -> Callable[[], None]:
    """A recorded computation and its backward pass."""
    x = nd.array(X)
    x.attach_grad()

    def run() -> None:
        with autograd.record():
            y = (x * x + x).sum()
        y.backward()
        assert x.grad.asnumpy().tolist() == (2 * X + 1).tolist()

    return run


def loader() -> Callable[[], None]:
    """A pass over a dataset in this process."""
    batches = gluon.data.DataLoader(gluon.data.ArrayDataset(X, X), 2)

    def run() -> None:
        found = [data.asnumpy() for data, _ in batches]
        assert np.concatenate(found).tolist() == X.tolist()

    return run


PROGRAMS: dict[str, Callable[[], Callable[[], None]]] = {
    "pushes": pushes,
    "gradients": gradients,
    "sgd": lambda: network("sgd", hybrid=False),
    "adam": lambda: network("adam", hybrid=True),
    "loader": loader,
}


def is_of_memory(error: BaseException | None) -> bool:
    """Whether an error says that there was no memory, or follows from one that does."""
    while error is not None:
        if isinstance(error, MemoryError) or any(words in str(error) for words in OTHER_WORDS):
            return True
        error = error.__cause__ or error.__context__
    return False


def settle() -> str:
    """Wait for what is pending, as often as something failed; return what is wrong."""
    for _ in range(20):
        try:
            nd.waitall()
        except Exception as error:
            if not is_of_memory(error):
                return f"waitall: {error!r}"
        else:
            return ""
    return "waitall fails again and again"


def attack(run: Callable[[], None], again: Callable[[], None], start: int) -> tuple[bool, str]:
    """Let one allocation fail; return whether the program ended so, and what is wrong.

    Args:
        run: The program.
        again: It with arrays of its own: weights whose update failed carry that error.
        start: How many allocations come before.
    """
    failed, wrong = False, ""
    _testcapi.set_nomemory(start, start + 1)
    try:
        run()
    except BaseException as error:
        _testcapi.remove_mem_hooks()
        failed = True
        if not is_of_memory(error):
            wrong = "".join(traceback.format_exception(error))[-1500:]
    finally:
        _testcapi.remove_mem_hooks()
    wrong = wrong or settle()
    if autograd.is_recording() or autograd.is_training():
        wrong = wrong or "recording is left on"
        autograd.set_recording(False)
        autograd.set_training(False)
    try:
        again()
    except BaseException as error:
        wrong = wrong or "afterwards: " + "".join(traceback.format_exception(error))[-1500:]
    return failed, wrong


def main(name: str, first: int, step: int, count: int) -> dict[str, Any]:
    """Attack a program at some of its allocations."""
    lost: list[Any] = []
    sys.unraisablehook = lost.append
    run = PROGRAMS[name]()
    for _ in range(3):
        run()
    nd.waitall()
    gc.collect()
    ended, problems = 0, []
    again = PROGRAMS[name]()
    for start in range(first, first + step * count, step):
        faulthandler.dump_traceback_later(HANG_S, exit=True)
        sys.stderr.write(f"{start}\n")
        failed, wrong = attack(run, again, start)
        if failed:
            run = PROGRAMS[name]()
            run()
        ended += failed
        if wrong:
            problems.append(f"{start}: {wrong}")
    faulthandler.cancel_dump_traceback_later()
    return {"ended": ended, "problems": problems}


if __name__ == "__main__":
    sys.stdout.write(json.dumps(main(sys.argv[1], *map(int, sys.argv[2:5]))) + "\n")

"""How many Python calls of ours stand between an operator and its launch."""

import gc
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import gluonish
import gluonish_engine
from gluonish import autograd, nd
from gluonish.core.context import gpu
from gluonish.ndarray import NDArray, eager
from tests.kernels.cupy.install import gpu_contexts
from tests.kernels.cupy.machine import Machine

_FOLDERS = tuple(f"{Path(str(m.__file__)).parent}{os.sep}" for m in (gluonish, gluonish_engine))
_WARM_UP = 4  # calls after which memory comes from the pool, and kernels are chosen

# At most so many calls. On a device each is about 0.1 us of the host.
CEILINGS: dict[str, int] = {"add": 12, "add, recorded": 14, "product": 17, "two adds": 24}


def calls_of(run: Callable[[], Any]) -> list[str]:
    """Return the functions of ours that a call runs."""
    found: list[str] = []

    def see(frame: FrameType, event: str, argument: Any) -> None:
        code = frame.f_code
        # From Python 3.12 on a comprehension is no call.
        if event == "call" and code.co_filename.startswith(_FOLDERS) and code.co_name[0] != "<":
            found.append(f"{Path(code.co_filename).stem}.{code.co_name}")

    gc.collect()
    gc.disable()  # destructors of earlier arrays are not of this call
    sys.setprofile(see)
    try:
        run()
    finally:
        sys.setprofile(None)
        gc.enable()
    return found


@pytest.fixture
def programs(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Callable[[], Any]]]:
    # Mixed precision, which another test may have turned on, wraps calls for good.
    monkeypatch.setattr(NDArray, "__apply__", staticmethod(eager.invoke))
    with gpu_contexts(Machine(), "ThreadedEnginePerDevice"):
        a, b = nd.ones((8, 8), ctx=gpu()), nd.ones((8, 8), ctx=gpu())
        x = nd.ones((8, 8), ctx=gpu())
        x.attach_grad()
        yield {
            "add": lambda: a + b,
            "add, recorded": lambda: x + b,
            "product": lambda: nd.dot(a, b),
            "two adds": lambda: (a + b) + b,
        }


@pytest.mark.parametrize("what", CEILINGS)
def test_operator_needs_fewcalls_of(programs: dict[str, Callable[[], Any]], what: str) -> None:
    run = programs[what]
    with autograd.record():
        for _ in range(_WARM_UP):
            run()
        calls = calls_of(run)
    assert len(calls) <= CEILINGS[what], calls
    # A ceiling far above says nothing.
    assert len(calls) >= CEILINGS[what] - 4, f"lower the ceiling to {len(calls)}"

"""A process that may have no more memory says what it asked for, and who has it."""

import os
import re
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish import nd
from gluonish.core import out_of_memory
from gluonish.core.context import cpu
from gluonish.core.cpu_memory import MemoryInfo
from gluonish.core.device import CPUDevice
from gluonish.core.errors import ArgumentError, DeviceError, OutOfMemoryError
from gluonish.core.memory_owners import MemoryUse
from gluonish.core.spec import Spec
from gluonish.engine import use_engine
from gluonish.kvstore.device_sums import private_array

TIMEOUT_S = 100

linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")

# Prints the error of each statement, one a line, with 150 MB of addresses left.
PROGRAM = """
import resource
import gluonish as mx
from gluonish import nd

net = mx.gluon.nn.HybridSequential(prefix="net_")
with net.name_scope():
    net.add(mx.gluon.nn.Dense(20000, in_units=50), mx.gluon.nn.Dense(10, in_units=20000))
net.initialize()
net.hybridize(static_alloc=True)
with mx.autograd.record():
    net(nd.ones((10, 50))).backward()
nd.waitall()
with open("/proc/self/statm") as file:
    addresses = int(file.read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (addresses + 150_000_000,) * 2)
held = [nd.ones((1000, 1000)) for _ in range(5)]
nd.waitall()

def infer():
    net(nd.ones((3000, 50))).wait_to_read()

def keep():
    with mx.autograd.record():
        net(nd.ones((3000, 50))).wait_to_read()

def initialize():
    mx.gluon.nn.Dense(9000, in_units=9000).initialize()

for use in (
    lambda: nd.zeros((20000, 10000)),
    lambda: nd.ones((9000, 1)) * nd.ones((9000,)),
    lambda: nd.array([[1.0]]).broadcast_to((9000, 9000)),
    lambda: nd.ones((1, 9000)).copyto(mx.cpu(1)).tile((9000, 1)),
    infer, keep, initialize,
):
    try:
        use()
        nd.waitall()
        print("no error")
    except Exception as error:
        print(type(error).__name__, str(error).replace(chr(10), " "))
print(float((held[0] + 1).sum().asscalar()))
"""


@pytest.fixture(scope="module")
def lines() -> list[str]:
    found = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    assert found.returncode == 0, found.stderr[-2000:]
    return found.stdout.splitlines()


HELD = (
    r"while \d+\.\d MB are in use: arrays float32\(1000, 1000\) \(5 arrays, 20\.0 MB\), "
    r"parameters"
)


@linux
@pytest.mark.parametrize(
    ("index", "asked"),
    [
        (0, r"_full: expected memory for float32\(20000, 10000\) of 800000000 bytes on cpu\(0\)"),
        (1, r"broadcast_mul: expected memory for float32\(9000, 9000\) of 324000000 bytes on"),
        (2, r"broadcast_to: expected memory for float32\(9000, 9000\) of 324000000 bytes on"),
        (3, r"tile: expected memory for float32\(9000, 9000\) of 324000000 bytes on cpu\(1\)"),
        (4, r"net: failed with OutOfMemoryError: net:arena: expected memory for uint8\(240000"),
        (5, r"net:kept for backward: expected memory for uint8\(240000"),
        (6, r"Parameter dense0_weight: _full: expected memory for float32\(9000, 9000\) of 324000"),
    ],
)
def test_error_says_what_was_asked_and_who_holds_the_rest(
    lines: list[str], index: int, asked: str
) -> None:
    assert re.match(rf"OutOfMemoryError {asked}.*, got none, {HELD}", lines[index]), lines[index]
    assert lines[index].endswith("; use smaller arrays, or free some")


@linux
def test_process_goes_on_afterwards(lines: list[str]) -> None:
    assert lines[7:] == ["2000000.0"]


def test_caches_go_back_before_an_array_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    empties: list[Any] = []
    made = CPUDevice.__dict__["empty"].__func__

    def empty(shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
        if not empties:
            raise MemoryError
        return made(shape, dtype)

    x = nd.ones((2, 3))
    x.wait_to_read()
    monkeypatch.setattr(CPUDevice, "empty", staticmethod(empty))
    monkeypatch.setattr(CPUDevice, "empty_cache", lambda self: empties.append(self.context))
    for use in (
        lambda: x + 1,
        lambda: nd.ones((2, 3)) + 1,
        lambda: nd.array([2.0, 2.0]),
        lambda: nd.broadcast_add(x.reshape((1, 2, 3)), x.reshape((1, 2, 3))),
    ):
        empties.clear()
        assert use().asnumpy().ravel()[0] == 2
        assert empties == [cpu()]
    empties.clear()
    assert private_array(x, cpu()).shape == x.shape
    assert empties == [cpu()]


def test_an_error_of_the_arguments_is_raised_once() -> None:
    x, out = nd.ones((2, 3)), nd.ones((5,))
    with pytest.raises(ArgumentError) as caught:
        nd.relu(x, out=out)
    assert caught.value.__context__ is None


def test_class_of_the_error() -> None:
    assert issubclass(OutOfMemoryError, DeviceError)
    assert issubclass(OutOfMemoryError, MemoryError)
    assert issubclass(OutOfMemoryError, mx.MXNetError)


@pytest.mark.parametrize("kind", ["NaiveEngine", "ThreadedEngine", "ThreadedEnginePerDevice"])
def test_operator_that_finds_no_memory_while_it_runs_is_such_an_error(kind: str) -> None:
    x = nd.ones((2,))

    def fail(out: Any) -> None:
        raise MemoryError("Unable to allocate 7 GiB")

    with use_engine(kind):
        x._write(fail, name="sort")
        with pytest.raises(OutOfMemoryError, match=r"^sort: failed with MemoryError: Unable"):
            x.asnumpy()


def test_of_many_holders_the_largest_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    many = [MemoryUse(cpu(), f"n{i}", 10**9 >> i, 1 + i % 2) for i in range(6)]
    monkeypatch.setattr(out_of_memory, "memory_by_owner", lambda context: many)
    info = MemoryInfo(0, 0, 0, 5_000_000, 0)
    monkeypatch.setattr(CPUDevice, "memory_info", lambda self: info)
    error = out_of_memory.out_of_memory_error("op", [Spec((2,), np.dtype(np.float32))], cpu())
    assert str(error) == (
        "op: expected memory for float32(2,) of 8 bytes on cpu(0), got none, while 1.97 GB are in "
        "use: n0 (1.00 GB), n1 (2 arrays, 500.0 MB), n2 (250.0 MB), n3 (2 arrays, 125.0 MB), "
        "others (93.8 MB), cached (5.0 MB); use smaller arrays, or free some"
    )


def test_where_even_the_search_finds_no_memory_the_error_is_short(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(context: Any) -> Any:
        raise MemoryError

    monkeypatch.setattr(out_of_memory, "memory_by_owner", fail)
    error = out_of_memory.out_of_memory_error("op", [Spec((2,), np.dtype(np.float32))], cpu())
    assert "got none; use smaller arrays" in str(error)

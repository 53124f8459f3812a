"""Models in two files, whose writer is killed before each of its changes to the folder."""

import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import gluonish as mx
from gluonish.core.errors import MissingFileError
from gluonish.gluon import SymbolBlock
from tests.gluon.data.programs import ENVIRONMENT

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(300),
    pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL"),
]

INPUT = [[-2.0, 3.0]]
# Both networks have the same parameters by name and shape; only the graph tells them apart.
WRITER = """
import os, signal, sys
from os.path import dirname
import gluonish as mx
from gluonish.gluon import nn

kind, prefix, activation, value, left = *sys.argv[1:4], float(sys.argv[4]), int(sys.argv[5])
net = nn.HybridSequential(prefix="net_")
with net.name_scope():
    net.add(nn.Dense(2, in_units=2, activation=activation, prefix="dense_"))
net.initialize(mx.init.Constant(value))
net.hybridize()
net(mx.nd.ones((1, 2))).wait_to_read()
symbol, arrays = net(mx.sym.var("data")), net.collect_params()

def watch(event, arguments):
    global left
    if event not in ("open", "os.rename", "os.remove") or dirname(prefix) not in str(arguments[0]):
        return
    left -= 1
    if left == 0:
        os.kill(os.getpid(), signal.SIGKILL)

sys.addaudithook(watch)
if kind == "export":
    net.export(prefix)
else:
    values = {name: parameter.data() for name, parameter in arrays.items()}
    mx.model.save_checkpoint(prefix, 0, symbol, values, {})
"""


def write(kind: str, prefix: Path, activation: str, value: float, at: int = 0) -> int:
    program = [sys.executable, "-c", WRITER, kind, str(prefix), activation, str(value), str(at)]
    return subprocess.run(program, env=ENVIRONMENT, timeout=60, check=False).returncode


def read(prefix: Path) -> list[float]:
    """Return the parameter, and what comes out: it tells the graph."""
    net = SymbolBlock.imports(f"{prefix}-symbol.json", ["data"], f"{prefix}-0000.params")
    weight = next(p for name, p in net.collect_params().items() if name.endswith("weight"))
    out = net(mx.nd.array(INPUT)).asnumpy().ravel()
    return [float(weight.data().asnumpy()[0, 0]), float(out[0])]


@pytest.mark.parametrize("kind", ["export", "save_checkpoint"])
def test_reader_gets_one_writers_model_or_is_told(
    kind: str, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    old, new = [1.0, 1.0], [0.5, float(np.tanh(np.float32(0.5)))]
    first = tmp_path / "first"
    first.mkdir()
    assert write(kind, first / "net", "relu", 1.0) == 0
    assert read(first / "net") == pytest.approx(old)
    seen: list[str] = []
    code: int | None = None
    for at in range(1, 40):
        folder = tmp_path / f"{at}"
        shutil.copytree(first, folder)
        code = write(kind, folder / "net", "tanh", 0.5, at)
        if (folder / "net-symbol.json").exists():
            found = read(folder / "net")
            assert found in (pytest.approx(old), pytest.approx(new)), at
            seen.append("old" if found == pytest.approx(old) else "new")
        else:
            seen.append("none")
            with pytest.raises(MissingFileError, match=r"net-symbol\.json"):
                read(folder / "net")
        if code == 0:
            break
        assert code == -signal.SIGKILL
    assert (code, seen[0], seen[-1]) == (0, "old", "new")
    record_property("kills", len(seen) - 1)

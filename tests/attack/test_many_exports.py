"""A network exported and imported again and again: the same numbers, and nothing piles up.

``ATTACK_ROUNDS=20000 pytest -m slow -o faulthandler_timeout=0 tests/attack/test_many_exports.py``
makes 20,000 rounds of each kind, instead of 2,000.
"""

import os
from collections.abc import Callable

import numpy as np
import pytest

from tests.gluon.data.programs import run

ROUNDS = int(os.environ.get("ATTACK_ROUNDS", "2000"))
TIMEOUT_S = 120 + ROUNDS // 5
pytestmark = [pytest.mark.slow, pytest.mark.timeout(TIMEOUT_S + 30)]

# Writes a network and reads it back in one of several ways, checks what the copy computes, and
# prints, forty times: rounds, resident bytes, objects that the collector knows, open files, files.
PROGRAM = """
import gc, os, sys, tempfile
import numpy as np
import gluonish as mx
from gluonish import nd
from gluonish.gluon import SymbolBlock, nn

kind, rounds = sys.argv[1], int(sys.argv[2])
os.chdir(tempfile.mkdtemp())

def network():
    net = nn.HybridSequential()
    net.add(nn.Conv2D(4, 3), nn.BatchNorm(), nn.Activation("relu"), nn.Flatten(), nn.Dense(3))
    return net

net = network()
net.initialize()
net.hybridize()
x = nd.array(np.random.default_rng(0).standard_normal((2, 3, 6, 6)))
expected = net(x).asnumpy()
names = list(net.collect_params().keys())

def exported():
    files = net.export("net")
    return SymbolBlock.imports(files[0], ["data"], files[1])

def parameters():
    net.save_parameters("net.params")
    copy = network()
    copy.load_parameters("net.params")
    return copy

def symbol():
    files = net.export("net")
    return SymbolBlock(mx.sym.load(files[0]), mx.sym.var("data"), params=net.collect_params())

def checkpoint():
    net.export("net", 3)
    found, args, states = mx.model.load_checkpoint("net", 3)
    executor = found.bind(mx.cpu(), {**args, "data": x}, aux_states=states)
    return lambda x: executor.forward()[0]

def onnx():
    mx.onnx.export_model(net, in_shapes=[x.shape], onnx_file_path="net.onnx")
    return mx.contrib.onnx.import_to_gluon("net.onnx", mx.cpu())

make = {f.__name__: f for f in (exported, parameters, symbol, checkpoint, onnx)}[kind]
page = os.sysconf("SC_PAGE_SIZE")
for done in range(1, rounds + 1):
    found = make()(x).asnumpy()
    assert np.allclose(found, expected, rtol=1e-5, atol=1e-6), done
    if done % max(1, rounds // 40) == 0:
        gc.collect()
        with open("/proc/self/statm") as file:
            resident = int(file.read().split()[1]) * page
        opened = len(os.listdir("/proc/self/fd"))
        print(done, resident, len(gc.get_objects()), opened, len(os.listdir(".")), flush=True)
"""
# Caches that wait for the collector fill and empty again; what grows goes on growing.
MAX_BYTES = 3_000_000
MAX_OBJECTS = 1500


@pytest.mark.parametrize("kind", ["exported", "parameters", "symbol", "checkpoint", "onnx"])
def test_nothing_piles_up(kind: str, record_property: Callable[[str, object], None]) -> None:
    program = f"import sys\nsys.argv[1:] = [{kind!r}, '{ROUNDS}']\n{PROGRAM}"
    done = run(program, timeout_s=TIMEOUT_S)
    assert (done.returncode, done.stderr) == (0, "")
    rows = np.array([[float(x) for x in line.split()] for line in done.stdout.splitlines()])
    assert rows[-1, 0] == ROUNDS
    assert len({*rows[:, 3]}) == 1, "open files"
    assert len({*rows[:, 4]}) == 1, "files"
    quarter = len(rows) // 4
    before, after = rows[quarter : 2 * quarter], rows[-quarter:]
    resident, objects = (after.max(axis=0) - before.max(axis=0))[1:3]
    record_property("bytes, objects", (float(resident), float(objects)))
    assert objects < MAX_OBJECTS, rows[::4]
    assert resident < MAX_BYTES, rows[::4]

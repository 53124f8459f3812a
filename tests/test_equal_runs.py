"""A program that runs twice computes the same bits: whatever time its kernels took, and whatever
the first run left on disk."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

# Arrays are large enough for generated kernels and for teams of threads.
PROGRAM = """
import hashlib, sys
import numpy as np
import gluonish as mx
from gluonish import autograd, gluon, nd
from gluonish.gluon import nn, rnn

kind, hybrid = sys.argv[1], sys.argv[2] == "hybrid"
mx.random.seed(7)
rng = np.random.default_rng(7)
if kind == "dense":
    net = nn.HybridSequential()
    net.add(nn.Dense(512, activation="tanh"), nn.Dropout(0.3), nn.LayerNorm(), nn.GELU(),
            nn.Dense(10))
    x = nd.array(rng.standard_normal((257, 300)))
elif kind == "convolutions":
    net = nn.HybridSequential()
    net.add(nn.Conv2D(16, 3, padding=1), nn.BatchNorm(), nn.Swish(), nn.MaxPool2D(),
            nn.Conv2D(8, 3), nn.Activation("softrelu"), nn.GlobalAvgPool2D(), nn.Dense(10))
    x = nd.array(rng.standard_normal((9, 3, 41, 41)))
else:
    net = nn.HybridSequential()
    net.add(rnn.LSTM(65, layout="NTC", dropout=0.1), nn.Dense(10))
    x = nd.array(rng.standard_normal((33, 19, 70)))
# As features are made ready: operators of their own on arrays that are larger still.
features = nd.array(rng.standard_normal((1031, 1033)))
for _ in range(25):
    noise = nd.random.normal(shape=features.shape)
    features = nd.erf(features) + nd.log1p(nd.abs(features)) - nd.expm1(noise)
label = nd.array(rng.integers(0, 10, x.shape[0]))
net.initialize(mx.init.Xavier())
if hybrid:
    net.hybridize()
loss = gluon.loss.SoftmaxCrossEntropyLoss()
trainer = gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.01})
for step in range(12):
    with autograd.record():
        found = loss(net(x * (1 + step % 3)), label)
    found.backward()
    trainer.step(x.shape[0])
digest = hashlib.sha256(found.asnumpy().tobytes() + features.asnumpy().tobytes())
for name, parameter in sorted(net._collect_params_with_prefix().items()):
    digest.update(parameter.data().asnumpy().tobytes())
print(digest.hexdigest())
"""


@pytest.mark.parametrize("mode", ["eager", "hybrid"])
@pytest.mark.parametrize("kind", ["dense", "convolutions", "recurrent"])
def test_two_runs_give_the_same_bits(kind: str, mode: str, tmp_path: Path) -> None:
    environment = os.environ | {
        "MXNET_HOME": str(tmp_path),  # empty for the first
        "MXNET_ENGINE_TYPE": "ThreadedEnginePerDevice",
        "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "engine")]),
    }
    environment.pop("MXNET_ENFORCE_DETERMINISM", None)
    found = {
        subprocess.run(
            [sys.executable, "-c", PROGRAM, kind, mode],
            env=environment,
            capture_output=True,
            text=True,
            timeout=120,
            check=True,
        ).stdout
        for _ in range(2)
    }
    assert len(found) == 1

"""``gluonish profile --model``: a program on a GPU that is not there."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from gluonish.core.errors import NotSupportedError
from gluonish.tools.profile import modelled

_CHECKOUT = Path(__file__).resolve().parents[3]

PROGRAM = """
import sys
import gluonish as mx
net = mx.gluon.nn.Dense(3, in_units=5)
net.initialize(ctx=mx.gpu(0))
trainer = mx.gluon.Trainer(net.collect_params(), "sgd")
x = mx.nd.ones((1 << 20, 5), ctx=mx.gpu(0))
for _ in range(int(sys.argv[1])):
    with mx.autograd.record():
        y = net(x)
    y.backward()
    trainer.step(1)
print(y.asnumpy().sum())
sys.exit(4)
"""


def profile(folder: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    """Run this checkout's command in a process of its own, as its GPU is the model for good."""
    (folder / "program.py").write_text(PROGRAM)
    command = [sys.executable, "-m", "gluonish", "profile", *words]
    return subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(_CHECKOUT)},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def test_figures_trace_and_page_are_written_and_the_status_is_the_scripts(tmp_path: Path) -> None:
    done = profile(tmp_path, "--model", "h200", "--output", "run", "program.py", "3")
    assert (done.returncode, done.stdout) == (4, "0.0\n")
    found = json.loads((tmp_path / "run.model.json").read_text())
    assert found["device"] == "NVIDIA H200"
    assert [step["name"] for step in found["steps"]][:3] == ["Trainer.step"] * 3
    assert found["memory"]["peak"] >= (1 << 20) * 8 * 4
    assert json.loads((tmp_path / "run.json").read_text())["traceEvents"]
    assert "modelled on NVIDIA H200" in (tmp_path / "run.html").read_text("utf-8")
    assert "FullyConnected" in done.stderr


def test_unknown_device_is_refused(tmp_path: Path) -> None:
    done = profile(tmp_path, "--model", "h300", "program.py", "3")
    assert done.returncode != 0
    assert "--model: expected one of h200, got 'h300'" in done.stderr


def test_installed_package_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(modelled, "_ROOT", tmp_path)
    with pytest.raises(NotSupportedError, match="expected a checkout of gluonish"):
        modelled.run_modelled("h200", "program.py", [], tmp_path / "run")

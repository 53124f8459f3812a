"""Layers, recurrent layers, losses and networks of the zoo give in ONNX what they give here."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from tests.onnx.exporting.judge import evaluated
from tests.onnx.exporting.subjects import LAYERS, LOSSES, RECURRENT, ZOO, build, network

# The evaluator of onnx does not compute these; by_onnxruntime.py, run by hand, does.
_NOT_EVALUATED = {f"RNN-{directions}-{layers}" for directions in (1, 2) for layers in (1, 2)}
SUBJECTS = {
    name: subject
    for name, subject in {**LAYERS, **RECURRENT, **LOSSES}.items()
    if name not in _NOT_EVALUATED
}


def _compare(path: Path, block: Any, arrays: list[Any], wanted: list[Any], **options: Any) -> None:
    shapes = [x.shape for x in arrays]
    mx.onnx.export_model(block, None, shapes, np.float32, str(path), **options)
    got = evaluated(path, arrays)
    assert [y.shape for y in got] == [y.shape for y in wanted]
    for a, b in zip(got, wanted, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", SUBJECTS)
def test_a_layer_or_loss_gives_the_same(name: str, tmp_path: Path) -> None:
    make, arrays = SUBJECTS[name]
    block, wanted = build(make, arrays)
    _compare(tmp_path / "x.onnx", block, arrays, wanted)


@pytest.mark.slow
@pytest.mark.parametrize("name", ZOO)
def test_a_network_of_the_zoo_gives_the_same(name: str, tmp_path: Path) -> None:
    _compare(tmp_path / "x.onnx", *network(name))


def test_a_small_network_of_the_zoo_gives_the_same(tmp_path: Path) -> None:
    _compare(tmp_path / "x.onnx", *network("mobilenet0.25"))

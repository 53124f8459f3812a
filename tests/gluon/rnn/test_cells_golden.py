"""The cells against MXNet 1.9.1: outputs, gradients, names, and the graphs of unrollings."""

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish.gluon import rnn
from gluonish.gluon.contrib import rnn as contrib
from tests.golden.rnn_cell_cases import CASES, LAYERS, described, filled, graph, run, run_layer

GOLDEN = Path(__file__).parents[2] / "golden"
VALUES = dict(np.load(GOLDEN / "rnn_cells.npz"))
WORDS: dict[str, Any] = json.loads(gzip.decompress((GOLDEN / "rnn_cells.json.gz").read_bytes()))


def check_values(name: str, found: dict[str, Any]) -> None:
    """Compare with a vector of all results, one after the other."""
    at = 0
    for key, value in found.items():
        want = VALUES[name][at : at + value.size].reshape(value.shape)
        np.testing.assert_allclose(value, want, rtol=1e-4, atol=1e-5, err_msg=f"{name}: {key}")
        at += value.size
    assert at == VALUES[name].size


@pytest.mark.parametrize("hybridize", [False, True])
@pytest.mark.parametrize("name", CASES)
def test_outputs_and_gradients_are_mxnets(name: str, hybridize: bool) -> None:
    case = CASES[name]
    cell = filled(mx, case.make(rnn, contrib))
    if hybridize:
        cell.hybridize()
    check_values(name, run(mx, case, cell))
    check_values(name, run(mx, case, cell))


@pytest.mark.parametrize("name", CASES)
def test_names_shapes_and_words_are_mxnets(name: str) -> None:
    found = described(CASES[name].make(rnn, contrib))
    assert found == {key: value for key, value in WORDS[name].items() if key != "graph"}


@pytest.mark.parametrize("name", [name for name in CASES if "graph" in WORDS[name]])
def test_graphs_of_unrollings_are_mxnets(name: str) -> None:
    found = graph(mx, CASES[name], CASES[name].make(rnn, contrib))
    for node, want in zip(found, WORDS[name]["graph"], strict=True):
        assert node == want


@pytest.mark.parametrize("hybridize", [False, True])
@pytest.mark.parametrize("name", LAYERS)
def test_layers_are_mxnets(name: str, hybridize: bool) -> None:
    layer = filled(mx, LAYERS[name](rnn))
    layer.hybridize(active=hybridize)
    check_values(name, run_layer(mx, layer))

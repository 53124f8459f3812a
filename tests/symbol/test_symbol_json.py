"""Graphs that gluonish writes, against what MXNet 1.9.1 made of them (golden/make_symbol_json.py).

The script fails if MXNet writes another text for the same program; so equal texts are MXNet's, too.
"""

import json
from pathlib import Path

import numpy as np
import pytest

import gluonish as mx
from tests.golden.symbol_programs import PROGRAMS

GOLDEN = Path(__file__).parents[1] / "golden"
TEXTS: dict[str, str] = json.loads((GOLDEN / "symbol_json.json").read_text())


@pytest.fixture
def _new_names() -> None:
    mx.AttrScope._subgraph_names.clear()


@pytest.mark.usefixtures("_new_names")
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_writes_the_text_that_mxnet_loaded(name: str) -> None:
    with mx.name.NameManager():
        symbol, _ = PROGRAMS[name](mx)
    assert symbol.tojson() == TEXTS[name]


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_text_is_read_and_written_again_byte_for_byte(name: str) -> None:
    assert mx.sym.load_json(TEXTS[name]).tojson() == TEXTS[name]


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_text_computes_what_mxnet_computes(name: str) -> None:
    symbol = mx.sym.load_json(TEXTS[name])
    with np.load(GOLDEN / "symbol_json.npz") as stored:
        arrays = {k.removeprefix(f"{name}."): stored[k] for k in stored if k.startswith(f"{name}.")}
    arguments = {k: mx.nd.array(arrays[f"in.{k}"]) for k in symbol.list_arguments()}
    auxiliary = {k: mx.nd.array(arrays[f"in.{k}"]) for k in symbol.list_auxiliary_states()}
    grads = {k: mx.nd.zeros(x.shape) for k, x in arguments.items() if f"grad.{k}" in arrays}
    executor = symbol.bind(mx.cpu(), arguments, grads, aux_states=auxiliary)
    outputs = executor.forward(is_train=bool(grads))
    for i, y in enumerate(outputs):
        np.testing.assert_allclose(y.asnumpy(), arrays[f"out.{i}"], rtol=1e-4, atol=1e-5)
    executor.backward([mx.nd.ones(y.shape) for y in outputs])
    for key, gradient in grads.items():
        np.testing.assert_allclose(
            gradient.asnumpy(), arrays[f"grad.{key}"], rtol=1e-4, atol=1e-5, err_msg=key
        )

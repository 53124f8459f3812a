"""Every layer against MXNet: names, representation, parameters, graph, results."""

import contextvars
import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import gluonish.symbol as sym
from gluonish.autograd import record
from gluonish.gluon import nn
from gluonish.gluon.block import Block
from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.gluon.parameter import Parameter, ParameterDict
from gluonish.ndarray import NDArray, array

FOLDER = Path(__file__).parents[2] / "golden"
GOLDEN: dict[str, dict[str, Any]] = json.loads((FOLDER / "gluon.json").read_text("utf-8"))["layers"]
RESULTS = np.load(FOLDER / "gluon.npz")


class Made(NamedTuple):
    layer: Any
    nodes: list[list[Any]] | None


def nodes(layer: Block) -> list[list[Any]]:
    output = layer(sym.var("data"))
    return [
        [node["op"], node["name"], node.get("attrs", {}), node["inputs"]]
        for node in json.loads(output.tojson())["nodes"]
    ]


def make_all() -> dict[str, Made]:
    """Make all layers in the golden order, where nothing was named before."""
    made = {}
    for text in GOLDEN:
        layer = eval(text, {"nn": nn})
        made[text] = Made(layer, nodes(layer) if isinstance(layer, HybridBlock) else None)
    return made


@pytest.fixture(scope="module")
def layers() -> dict[str, Made]:
    return contextvars.Context().run(make_all)


def fill(parameters: ParameterDict) -> None:
    """Give the parameters the values of golden/make_gluon.py."""
    for i, (name, parameter) in enumerate(parameters.items()):
        assert parameter.shape is not None
        values = np.sin(np.arange(np.prod(parameter.shape)) * 1.7 + i).reshape(parameter.shape)
        if name.endswith("running_var"):
            values = np.abs(values) + 0.5
        parameter.set_data(array(values * 0.5))


def data(text: str) -> NDArray:
    shape = GOLDEN[text]["shape"]
    if shape is None:
        return array([[1, 3, 9], [0, 3, 2]])
    return array(np.cos(np.arange(np.prod(shape)) * 0.9).reshape(shape))


def init_name(parameter: Parameter) -> str | None:
    init: Any = parameter.init
    return init if init is None or isinstance(init, str) else str(init.dumps())


@pytest.mark.parametrize("text", GOLDEN)
def test_name_and_representation_are_those_of_mxnet(text: str, layers: dict[str, Made]) -> None:
    layer, golden = layers[text].layer, GOLDEN[text]
    found = [layer.name, repr(eval(text, {"nn": nn})), list(layer._children)]
    assert found == [golden["name"], golden["repr"], golden["children"]]


@pytest.mark.parametrize("text", GOLDEN)
def test_parameters_are_those_of_mxnet(text: str, layers: dict[str, Made]) -> None:
    layer = eval(text, {"nn": nn})
    found = [[list(p.shape), init_name(p), p.grad_req] for p in layer.params.values() if p.shape]
    assert found == [entry[1:] for entry in GOLDEN[text]["params"]]
    names = [name for name, *_ in GOLDEN[text]["params"]]
    assert list(layers[text].layer.params) == names


@pytest.mark.parametrize("text", [text for text in GOLDEN if "nodes" in GOLDEN[text]])
def test_graph_is_that_of_mxnet(text: str, layers: dict[str, Made]) -> None:
    found = layers[text].nodes
    assert found is not None
    # An entry's version counts in-place changes; readers ignore it.
    expected = [[*node[:3], [e[:2] for e in node[3]]] for node in GOLDEN[text]["nodes"]]
    assert [[*node[:3], [e[:2] for e in node[3]]] for node in found] == expected


@pytest.mark.parametrize("hybridize", [False, True])
@pytest.mark.parametrize("text", GOLDEN)
def test_result_is_that_of_mxnet(text: str, hybridize: bool) -> None:
    layer, x = eval(text, {"nn": nn}), data(text)
    layer.initialize()
    layer(x)
    fill(layer.collect_params())
    layer.hybridize(hybridize)
    key = f"layer{list(GOLDEN).index(text)}"
    np.testing.assert_allclose(layer(x).asnumpy(), RESULTS[key], rtol=2e-5, atol=2e-6)
    assert repr(layer) == GOLDEN[text]["repr_after"]


@pytest.mark.parametrize("hybridize", [False, True])
@pytest.mark.parametrize("text", [text for text in GOLDEN if "BatchNorm" in text])
def test_batch_norm_trains_as_in_mxnet(text: str, hybridize: bool) -> None:
    layer, x = eval(text, {"nn": nn}), data(text)
    layer.initialize()
    layer(x)
    fill(layer.collect_params())
    layer.hybridize(hybridize)
    key = f"layer{list(GOLDEN).index(text)}"
    with record():
        y = layer(x)
    np.testing.assert_allclose(y.asnumpy(), RESULTS[key + "_train"], rtol=2e-5, atol=2e-6)
    mean = layer.running_mean.data().asnumpy()
    np.testing.assert_allclose(mean, RESULTS[key + "_mean"], rtol=2e-5, atol=2e-6)

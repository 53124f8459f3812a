"""The small residual networks against those that were published for CIFAR-10."""

import contextvars
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gluonish.symbol as sym
from gluonish.core.errors import ArgumentError
from gluonish.gluon.block.symbol_block import SymbolBlock
from gluonish.model_zoo import vision
from gluonish.ndarray import array, zeros

FOLDER = Path(__file__).parents[2] / "golden" / "pretrained"
PUBLISHED = ("cifar_resnet20_v1", "cifar_resnet20_v2")
# The files say JSON version 20000.
pytestmark = pytest.mark.filterwarnings("ignore:symbol. expected a version up to 10901")


def images() -> Any:
    return array(np.random.default_rng(5).normal(size=(4, 3, 32, 32)))


def loaded(name: str) -> Any:
    """The network with the published weights, whose names count from 0."""
    net = contextvars.Context().run(vision.get_model, name)
    net.load_parameters(FOLDER / f"{name}-0000.params")
    return net


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_weights_give_the_logits_of_the_published_graph(name: str) -> None:
    published = SymbolBlock.imports(
        FOLDER / f"{name}-symbol.json", ["data"], FOLDER / f"{name}-0000.params"
    )
    net, x = loaded(name), images()
    expected = published(x).asnumpy()
    np.testing.assert_allclose(net(x).asnumpy(), expected, rtol=1e-4, atol=1e-4)
    net.hybridize(static_alloc=True)
    np.testing.assert_allclose(net(x).asnumpy(), expected, rtol=1e-4, atol=1e-4)


def nodes(graph: dict[str, Any]) -> list[Any]:
    """Operator, name, attributes and inputs of each node, without what depends on the writer."""
    found = []
    for node in graph["nodes"]:
        attributes = dict(node.get("attrs", {}))
        attributes.pop("__profiler_scope__", None)
        found.append([node["op"], node["name"], attributes, [i[:2] for i in node["inputs"]]])
    return found


@pytest.mark.parametrize("name", PUBLISHED)
def test_graph_is_the_published_one(name: str) -> None:
    def graph() -> dict[str, Any]:
        graph: dict[str, Any] = json.loads(loaded(name)(sym.var("data")).tojson())
        return graph

    published = json.loads((FOLDER / f"{name}-symbol.json").read_text("utf-8"))
    found, expected = contextvars.Context().run(graph), nodes(published)
    if name.endswith("v2"):
        # Its gamma is 1, and no parameter to train; the writer of the file did not say so here.
        first = next(node for node in expected if node[0] == "BatchNorm")
        assert first[2].pop("fix_gamma") == "False"
        first[2]["fix_gamma"] = "True"
    assert nodes(found) == expected


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("depth", [20, 32, 44, 56, 110])
def test_depth_counts_the_layers_with_weights(depth: int, version: int) -> None:
    net = vision.get_model(f"cifar_resnet{depth}_v{version}", classes=7)
    shapes = [parameter.shape for parameter in net.collect_params(".*weight").values()]
    # The two projections of shortcuts count as none.
    assert len(shapes) == depth + 2
    net.initialize()
    assert net(zeros((2, 3, 32, 32))).shape == (2, 7)


def test_parameter_count_is_that_of_the_paper() -> None:
    """He et al. 2015, table 6: 0.27 and 1.7 million for 20 and 110 layers."""
    for depth, millions in ((20, 0.27), (110, 1.7)):
        net = vision.get_model(f"cifar_resnet{depth}_v1")
        net.infer_shape(zeros((1, 3, 32, 32)))
        trained = [p for p in net.collect_params().values() if p.grad_req != "null"]
        count = sum(int(np.prod(parameter.shape or ())) for parameter in trained)
        assert count / 1e6 == pytest.approx(millions, rel=0.03)


@pytest.mark.parametrize("num_layers", [2, 18, 34])
def test_other_depths_are_refused(num_layers: int) -> None:
    with pytest.raises(ArgumentError, match=r"num_layers of 6 n \+ 2, such as 20 or 110, got"):
        vision.get_cifar_resnet(1, num_layers)


def test_other_versions_are_refused() -> None:
    with pytest.raises(ArgumentError, match="expected version 1 or 2, got 3"):
        vision.get_cifar_resnet(3, 20)


def test_pretrained_weights_are_not_in_the_store() -> None:
    with pytest.raises(ArgumentError, match="cifar_resnet20_v1"):
        vision.get_model("cifar_resnet20_v1", pretrained=True)

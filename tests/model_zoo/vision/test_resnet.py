import contextvars
import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gluonish.symbol as sym
from gluonish.core.context import cpu
from gluonish.core.errors import ArgumentError
from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.gluon.parameter import ParameterDict
from gluonish.model_zoo import vision
from gluonish.model_zoo.vision import classifier
from gluonish.ndarray import array, zeros

FOLDER = Path(__file__).parents[2] / "golden"
GOLDEN: dict[str, dict[str, Any]] = json.loads((FOLDER / "gluon.json").read_text("utf-8"))[
    "resnets"
]
RESULTS = np.load(FOLDER / "gluon.npz")
PARAMETERS: dict[str, list[str]] = json.loads(
    gzip.decompress((FOLDER / "resnet_params.json.gz").read_bytes())
)


def fill(parameters: ParameterDict) -> None:
    """Give the parameters the values of golden/make_gluon.py."""
    for i, (name, parameter) in enumerate(parameters.items()):
        assert parameter.shape is not None
        values = np.sin(np.arange(np.prod(parameter.shape)) * 1.7 + i).reshape(parameter.shape)
        if name.endswith("running_var"):
            values = np.abs(values) + 0.5
        parameter.set_data(array(values * 0.5))


def make(text: str) -> Any:
    return contextvars.Context().run(eval, text, {"vision": vision})


@pytest.mark.parametrize("name", PARAMETERS)
def test_parameters_are_those_of_the_published_files(name: str) -> None:
    net = vision.get_model(name)
    net.infer_shape(zeros((1, 3, 32, 32)))
    found = [
        f"{path} {','.join(map(str, parameter.shape or ()))}"
        for path, parameter in net._collect_params_with_prefix().items()
    ]
    assert found == PARAMETERS[name]


@pytest.mark.parametrize("text", GOLDEN)
def test_graph_is_that_of_mxnet(text: str) -> None:
    def nodes() -> list[list[Any]]:
        graph = json.loads(eval(text, {"vision": vision})(sym.var("data")).tojson())
        return [[n["op"], n["name"], n.get("attrs", {}), n["inputs"]] for n in graph["nodes"]]

    found = contextvars.Context().run(nodes)
    # An entry's version counts in-place changes; readers ignore it.
    expected = [[*node[:3], [e[:2] for e in node[3]]] for node in GOLDEN[text]["nodes"]]
    assert [[*node[:3], [e[:2] for e in node[3]]] for node in found] == expected


@pytest.mark.parametrize("hybridize", [False, True])
@pytest.mark.parametrize("text", GOLDEN)
def test_result_is_that_of_mxnet(text: str, hybridize: bool) -> None:
    net, size = make(text), GOLDEN[text]["size"]
    x = array(np.cos(np.arange(6 * size * size) * 0.9).reshape(2, 3, size, size))
    net.initialize()
    net(x)
    fill(net.collect_params())
    net.hybridize(hybridize)
    expected = RESULTS[f"resnet{list(GOLDEN).index(text)}"]
    np.testing.assert_allclose(net(x).asnumpy(), expected, rtol=1e-4, atol=1e-4)


def test_unknown_size_and_version_are_refused() -> None:
    with pytest.raises(ArgumentError, match=r"num_layers in \[18, 34, 50, 101, 152\], got 19"):
        vision.get_resnet(1, 19)
    with pytest.raises(ArgumentError, match="version 1 or 2, got 3"):
        vision.get_resnet(3, 18)


def test_channels_that_do_not_fit_the_stages_are_refused() -> None:
    with pytest.raises(ArgumentError, match=r"expected 3 channels.*got \[4, 8\]"):
        vision.ResNetV1(vision.BasicBlockV1, [1, 1], [4, 8])


def test_pretrained_weights_are_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = vision.get_resnet(1, 18, classes=10, thumbnail=True)
    made.initialize()
    made(zeros((1, 3, 8, 8)))
    made.save_parameters(tmp_path / "x.params")
    asked: list[Any] = []

    def find(name: str, root: str | None) -> str:
        asked.append((name, root))
        return str(tmp_path / "x.params")

    monkeypatch.setattr(classifier, "get_model_file", find)
    net: HybridBlock = vision.resnet18_v1(
        pretrained=True, root="here", ctx=cpu(1), classes=10, thumbnail=True
    )
    assert asked == [("resnet18_v1", "here")]
    assert net.collect_params().list_ctx() == [cpu(1)]
    for a, b in zip(made.collect_params().values(), net.collect_params().values(), strict=True):
        np.testing.assert_array_equal(a.data().asnumpy(), b.data().asnumpy())

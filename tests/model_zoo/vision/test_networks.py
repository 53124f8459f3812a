"""Networks beside the residual ones: MXNet's names, shapes, initializers, graphs and arguments."""

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
from gluonish.model_zoo import vision
from gluonish.model_zoo.vision import classifier, densenet, squeezenet
from gluonish.model_zoo.vision.mobilenet import RELU6, LinearBottleneck
from gluonish.ndarray import array, zeros
from tests.golden.zoo_values import input_shape

GOLDEN: dict[str, dict[str, Any]] = json.loads(
    gzip.decompress((Path(__file__).parents[2] / "golden" / "zoo.json.gz").read_bytes())
)


def new(name: str) -> HybridBlock:
    """A network whose names count from 0."""
    return contextvars.Context().run(vision.get_model, name)


@pytest.mark.parametrize("name", GOLDEN)
def test_parameters_are_those_of_the_published_files(name: str) -> None:
    net = new(name)
    net.infer_shape(zeros(input_shape(name)))
    found = [
        f"{path} {','.join(map(str, parameter.shape or ()))}"
        for path, parameter in net._collect_params_with_prefix().items()
    ]
    assert found == GOLDEN[name]["parameters"]


@pytest.mark.parametrize("name", GOLDEN)
def test_names_and_initializers_are_those_of_mxnet(name: str) -> None:
    found = [
        f"{key} {getattr(p.init, 'dumps', lambda init=p.init: init)()}"
        for key, p in new(name).collect_params().items()
    ]
    assert found == GOLDEN[name]["names"]


@pytest.mark.parametrize("name", [name for name in GOLDEN if GOLDEN[name]["nodes"]])
def test_graph_is_that_of_mxnet(name: str) -> None:
    def nodes() -> list[list[Any]]:
        graph = json.loads(vision.get_model(name)(sym.var("data")).tojson())
        return [[n["op"], n["name"], n.get("attrs", {}), n["inputs"]] for n in graph["nodes"]]

    found, expected = contextvars.Context().run(nodes), GOLDEN[name]["nodes"]
    # An entry's version counts in-place changes; readers ignore it.
    plain = [[[*node[:3], [e[:2] for e in node[3]]] for node in g] for g in (found, expected)]
    assert plain[0] == plain[1]


FUNCTIONS = {
    "alexnet": vision.alexnet,
    "densenet169": vision.densenet169,
    "inceptionv3": vision.inception_v3,
    "mobilenet0.75": vision.mobilenet0_75,
    "mobilenet1.0": lambda **kwargs: vision.get_mobilenet(1, **kwargs),
    "mobilenetv2_0.5": vision.mobilenet_v2_0_5,
    "mobilenetv2_0.25": lambda **kwargs: vision.get_mobilenet_v2(0.25, **kwargs),
    "squeezenet1.1": vision.squeezenet1_1,
    "vgg13": vision.vgg13,
    "vgg16_bn": vision.vgg16_bn,
    "vgg19_bn": lambda **kwargs: vision.get_vgg(19, batch_norm=True, **kwargs),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_pretrained_weights_are_loaded(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []

    def load(net: HybridBlock, path: str, ctx: Any) -> None:
        asked.extend((path, ctx))

    monkeypatch.setattr(classifier, "get_model_file", lambda name, root: f"{root}/{name}")
    monkeypatch.setattr(HybridBlock, "load_parameters", load)
    FUNCTIONS[name](pretrained=True, root="here", ctx=cpu(1), classes=10)  # type: ignore[operator]
    assert asked == [f"here/{name}", cpu(1)]


def test_weights_that_were_not_published_are_refused() -> None:
    with pytest.raises(ArgumentError, match="pretrained model for inception_bn is not available"):
        vision.get_model("inception_bn", pretrained=True)
    with pytest.raises(ArgumentError, match=r"pretrained model for mobilenet0\.3 is not"):
        vision.get_mobilenet(0.3, pretrained=True)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: vision.get_vgg(12), r"get_vgg: .* in \[11, 13, 16, 19\], got 12"),
        (lambda: vision.VGG([1, 1], [4]), r"VGG: expected filters for each of 2 .* \[4\]"),
        (lambda: vision.SqueezeNet("2.0"), "SqueezeNet: expected .* '1.0' or '1.1', got '2.0'"),
        (lambda: squeezenet.get_squeezenet("1.2"), "SqueezeNet: .* got '1.2'"),
        (lambda: densenet.get_densenet(5), r"get_densenet: .* in \[121, .*\], got 5"),
    ],
)
def test_unknown_size_is_refused(make: Any, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        make()


@pytest.mark.parametrize(
    ("net", "size"),
    [
        (lambda: vision.MobileNet(0.25, classes=3), 32),
        (lambda: vision.MobileNetV2(0.25, 3), 32),
        (lambda: vision.DenseNet(4, 2, [1, 2], bn_size=2, classes=3), 56),
        (lambda: vision.VGG([1, 1], [2, 3], classes=3, batch_norm=True), 8),
        (lambda: vision.InceptionBN(3), 32),
    ],
)
def test_classes_are_outputs(net: Any, size: int) -> None:
    made = net()
    made.initialize()
    assert made(zeros((2, 3, size, size))).shape == (2, 3)


def test_dense_layers_may_drop() -> None:
    net = vision.DenseNet(4, 2, [1, 2], dropout=0.5)
    assert repr(net).count("Dropout(p = 0.5, axes=())") == 3
    assert "Dropout" not in repr(vision.DenseNet(4, 2, [1, 2]))


def test_bottleneck_adds_its_input_where_shapes_agree() -> None:
    adding = LinearBottleneck(4, 4, 6, 1)
    assert adding.use_shortcut
    assert not LinearBottleneck(4, 4, 6, 2).use_shortcut
    assert not LinearBottleneck(4, 8, 6, 1).use_shortcut
    adding.initialize(init="zeros")
    x = array(np.arange(36).reshape(1, 4, 3, 3))
    np.testing.assert_array_equal(adding(x).asnumpy(), x.asnumpy())


def test_relu6_clips() -> None:
    found = RELU6()(array([-1, 0, 5, 6, 7])).asnumpy()
    assert found.tolist() == [0, 0, 5, 6, 6]


def test_inception_bn_has_the_sizes_of_the_paper() -> None:
    net = vision.inception_bn()
    x = sym.var("data")
    found = {}
    for layer in net.features:
        x = layer(x)
        shape = x.infer_shape(data=(1, 3, 224, 224))[1][0]
        found[layer.name.removeprefix(net.prefix)] = shape[1:3]
    modules = {name: shape for name, shape in found.items() if name[0].isdigit()}
    assert modules == {
        "3a": (256, 28),
        "3b": (320, 28),
        "3c": (576, 14),
        "4a": (576, 14),
        "4b": (576, 14),
        "4c": (608, 14),
        "4d": (608, 14),
        "4e": (1056, 7),
        "5a": (1024, 7),
        "5b": (1024, 7),
    }

"""Every layer with many settings against MXNet: parameters, results, gradients; wrong arguments."""

import contextvars
import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish.core.errors import GluonishError
from gluonish.gluon import contrib, nn
from gluonish.gluon.contrib import cnn as _cnn  # noqa: F401  # loaded under contrib
from gluonish.gluon.contrib import nn as _nn  # noqa: F401  # the same

FOLDER = Path(__file__).parents[2] / "golden"
RECORDED = json.loads((FOLDER / "layers.json").read_text("utf-8"))
LAYERS: dict[str, dict[str, Any]] = RECORDED["layers"]
RESULTS = np.load(FOLDER / "layers.npz")
KEYS = {text: f"layer{i}" for i, text in enumerate(LAYERS)}
WORDS = "words"

# What MXNet takes without a word and cannot run, or runs wrong: refused here when it is made (or,
# with data, when it is called). And the other way round.
DIFFERENT = {
    "nn.Dropout('a')": "not a number",
    "nn.BatchNorm(in_channels=3)(x(2, 4))": "reads beyond its parameters there",
    "nn.Sequential().add(3)": "no Block",
    "contrib.cnn.DeformableConvolution(2, (3, 3), layout='NHWC')": "fails at the first call there",
    "contrib.cnn.DeformableConvolution(2, (3, 3), op_name='Foo')(x(1, 2, 5, 5))": "ignored there",
}

# Where MXNet's gradient is not that of what it computes, outside training or always.
FAULTS = {
    "_predict_x": ("nn.SELU", "nn.AvgPool3D((2, 1, 2), c", "nn.MaxPool", "nn.BatchNormReLU"),
    "_train_x": ("nn.SELU", "nn.AvgPool3D((2, 1, 2), c"),
    "_predict_0": ("nn.BatchNormReLU",),
    "_predict_1": ("nn.BatchNormReLU",),
}


def x(*shape: int) -> mx.nd.NDArray:
    return mx.nd.ones(shape)


def make(text: str) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return eval(text, {"nn": nn, "contrib": contrib})


def values(shape: Any, seed: int) -> Any:
    return mx.nd.array(np.cos(np.arange(np.prod(shape)) * 0.9 + seed).reshape(shape))


def data(text: str) -> Any:
    shape = LAYERS[text]["shape"]
    return mx.nd.array([[1, 3, 9], [0, 3, 2]]) if shape == WORDS else values(shape, 0)


def fill(parameters: Any) -> None:
    """Give the parameters the values of golden/make_layers.py."""
    for i, (name, parameter) in enumerate(parameters.items()):
        found = np.sin(np.arange(np.prod(parameter.shape)) * 1.7 + i).reshape(parameter.shape)
        if name.endswith("running_var"):
            found = np.abs(found) + 0.5
        parameter.set_data(mx.nd.array(found * 0.5))


def init_name(parameter: Any) -> str | None:
    init = parameter.init
    return init if init is None or isinstance(init, str) else init.dumps()


def describe(parameters: Any) -> list[list[Any]]:
    return [
        [p.name, list(p.shape), np.dtype(p.dtype).name, p.grad_req, init_name(p)]
        for p in parameters.values()
    ]


def made_as_there() -> dict[str, dict[str, Any]]:
    """Describe all layers in the recorded order, where nothing was named before."""
    found = {}
    for text in LAYERS:
        layer = make(text)
        entry = {"name": layer.name, "repr": repr(layer)}
        layer.initialize()
        layer(data(text))
        entry |= {"repr_after": repr(layer), "params": describe(layer.collect_params())}
        layer.cast("float16")
        entry["float16"] = [np.dtype(p.dtype).name for p in layer.collect_params().values()]
        found[text] = entry
    return found


@pytest.fixture(scope="module")
def described() -> dict[str, dict[str, Any]]:
    return contextvars.Context().run(made_as_there)


@pytest.mark.parametrize("text", LAYERS)
def test_layer_looks_as_in_mxnet(text: str, described: dict[str, dict[str, Any]]) -> None:
    found = described[text]
    if "in_channels" in text and "Deformable" in text:
        found["repr"] = found["repr"].replace("(2 -> ", "(None -> ")  # known from the start
    assert found == {name: LAYERS[text][name] for name in found}


@pytest.mark.parametrize("hybridize", [False, True])
@pytest.mark.parametrize("train", [False, True])
@pytest.mark.parametrize("text", LAYERS)
@pytest.mark.filterwarnings("ignore:nothing to hybridize")
def test_results_and_gradients_are_those_of_mxnet(text: str, train: bool, hybridize: bool) -> None:
    layer, given = make(text), data(text)
    layer.initialize()
    layer(given)
    parameters = layer.collect_params()
    fill(parameters)
    layer.hybridize(hybridize)
    if LAYERS[text]["shape"] != WORDS:
        given.attach_grad()
    with mx.autograd.record(train_mode=train):
        y = layer(given)
    mode = "train" if train else "predict"
    y.backward(values(y.shape, 2), train_mode=train)
    found = {f"_{mode}": y, f"_{mode}_x": given.grad}
    for i, p in enumerate(parameters.values()):
        if p.grad_req != "null":
            found[f"_{mode}_{i}"] = p.grad()
        elif train:
            found[f"_{i}"] = p.data()
    stypes = [p.grad().stype for p in parameters.values() if p.grad_req != "null"]
    if "Modulated" not in text:  # no gradients there
        assert [*stypes, *stypes] == LAYERS[text].get("grad_stypes", [])
        assert all(KEYS[text] + name in RESULTS for name, v in found.items() if v is not None)
    if "scale=False" in text and "BatchNorm" in text:
        found.pop("_0", None)  # gamma counts as 1; MXNet writes that into it
    for name, array in found.items():
        key = KEYS[text] + name
        if key in RESULTS and not text.startswith(FAULTS.get(name, ())):
            expected = RESULTS[key]
            np.testing.assert_allclose(array.asnumpy(), expected, 1e-4, 2e-5, err_msg=name)


def answer(question: str) -> str:
    made, call, shape = question.partition("(x(")
    try:
        layer = make(made)
        if call:
            layer.initialize()
            layer(eval(f"x({shape[:-1]}", {"x": x})).wait_to_read()
    except (GluonishError, TypeError, IndexError) as error:
        return type(error).__name__
    return "ok"


@pytest.mark.parametrize("question", RECORDED["answers"])
def test_wrong_arguments_are_refused_as_in_mxnet(question: str) -> None:
    found, recorded = answer(question), RECORDED["answers"][question]
    if question in DIFFERENT:
        assert (found != "ok") != (recorded != "ok"), found
    else:
        assert (found != "ok") == (recorded != "ok"), (found, recorded)

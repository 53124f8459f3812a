"""Networks of timm's families: timm's logits, feature maps and gradients, and its names."""

import gzip
import hashlib
import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish.model_zoo.pretrained.timm import timm_table
from gluonish.model_zoo.registry import get_model, model_names
from gluonish.model_zoo.vision.efficientnet import Units
from gluonish.ndarray.list_file import StoredArray
from tests.golden.foreign_values import values
from tests.golden.timm_network_cases import CASES, CLASSES, images, pattern, summary

FOLDER = Path(__file__).parents[2] / "golden"
GOLDEN = np.load(FOLDER / "timm_networks.npz")
PUBLISHED: dict[str, Any] = json.loads(
    gzip.decompress((FOLDER / "timm_variants.json.gz").read_bytes())
)
SIDE = 64
_LEAST = 1e-3  # scale of gradients that are zero but for rounding, such as of biases of keys
# One of a family is enough for every day.
DAILY = ("tf_mobilenetv3_small_100",)


def filled(net: Any) -> Any:
    """Give a network the weights that follow from timm's names."""
    stored = {
        name: StoredArray(shape, np.dtype(np.float32), lambda n=name, s=shape: values(n, s))
        for name, shape in shapes(net).items()
    }

    def set_values(parameter: Any, found: Any) -> None:
        parameter.initialize(init="zeros")
        parameter.set_data(mx.nd.array(found))

    timm_table(net).load(stored, "test", set_values, lambda _: False, lambda _: False)
    return net


def shapes(net: Any) -> dict[str, tuple[int, ...]]:
    """Return timm's names of a network's weights, and their shapes."""
    return {name: array.shape for name, array in timm_table(net).tensors().items()}


@cache
def small(case: str) -> Any:
    """Return the network of a case."""
    name, arguments, _ = CASES[case]
    if "stages" in arguments:
        stages = [[Units(*units) for units in stage] for stage in arguments["stages"]]
        arguments = {**arguments, "stages": stages}
    return filled(get_model(name, classes=CLASSES, **arguments))


@pytest.fixture(autouse=True)
def _on_new_devices() -> None:
    """Forget networks on GPUs, which tests on the double of CuPy have for themselves."""
    if mx.current_context().device_type == "gpu":
        small.cache_clear()


def close(found: Any, want: Any, bound: float, what: str = "") -> None:
    found = np.asarray(found, np.float64)
    assert found.shape == want.shape, what
    apart = np.abs(found - want).max() / max(np.abs(want).max(), _LEAST)
    assert apart < bound, f"{what}: {apart}"


@pytest.mark.parametrize("hybridized", [False, True])
@pytest.mark.parametrize("case", CASES)
def test_outputs_are_those_of_timm(case: str, hybridized: bool) -> None:
    net = small(case)
    net.hybridize(hybridized)
    x = mx.nd.array(images(CASES[case][2]))
    close(net(x).asnumpy(), GOLDEN[f"{case} output"], 2e-5)
    body = net.features
    maps = body.stem(x)
    if case.startswith("swin"):
        maps = maps.transpose((0, 2, 3, 1))
    found = []
    for stage in body.stages:
        maps = stage(maps)
        found.append(summary(maps.asnumpy()))
    for made, want in zip(found, GOLDEN[f"{case} stages"], strict=True):
        close(made, want, 2e-5)


@pytest.mark.parametrize("case", CASES)
def test_gradients_are_those_of_timm(case: str) -> None:
    net = small(case)
    net.hybridize()
    x = mx.nd.array(images(CASES[case][2]))
    weights = mx.nd.array(pattern(GOLDEN[f"{case} output"]))
    net.apply(freeze)
    with mx.autograd.record():
        loss = (net(x) * weights).sum()
    loss.backward()
    trained = {k: v for k, v in gradients(net).items() if "running" not in k}
    for (name, found), want in zip(
        sorted(trained.items()), GOLDEN[f"{case} gradients"], strict=True
    ):
        close(summary(found), want, 1e-4, name)


def gradients(net: Any) -> dict[str, Any]:
    """Return gradients by timm's names."""
    return {
        name: entry.form.split(entry.parameter.grad().asnumpy(), entry.sizes)[i]
        for entry in timm_table(net)._entries
        if entry.parameter.grad_req != "null"
        for i, name in enumerate(entry.names)
    }


def freeze(block: Any) -> None:
    """Have batch normalizations use the running statistics."""
    if "use_global_stats" in getattr(block, "_kwargs", {}):
        block._kwargs["use_global_stats"] = True


def test_every_network_of_timm_is_compared() -> None:
    assert set(model_names("timm")) == PUBLISHED.keys()


@pytest.mark.parametrize(
    "name",
    [n if n in DAILY else pytest.param(n, marks=pytest.mark.slow) for n in PUBLISHED],
)
def test_published_networks_have_the_weights_and_logits_of_timm(name: str) -> None:
    net: Any = get_model(name)
    lines = [f"{key} {shape}" for key, shape in sorted(shapes(net).items())]
    assert hashlib.sha1("\n".join(lines).encode()).hexdigest() == PUBLISHED[name]["sha1"]
    if "logits" not in PUBLISHED[name]:
        return
    side = net.body._images[0] if name.startswith("swin") else SIDE
    filled(net).hybridize()
    logits = net(mx.nd.array(images((1, 3, side, side)))).asnumpy()[0]
    assert abs(np.abs(logits).max() / PUBLISHED[name]["scale"] - 1) < 1e-4
    apart = np.abs(logits[:8] - PUBLISHED[name]["logits"]).max()
    assert apart < 1e-4 * PUBLISHED[name]["scale"]

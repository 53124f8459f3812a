"""Initializers against MXNet 1.9.1; tests/golden/initializer/make.py wrote what it does."""

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish import gluon, initializer, nd
from gluonish.core.errors import ArgumentError
from gluonish.initializer import InitDesc

FOUND = json.loads(
    (Path(__file__).parents[1] / "golden" / "initializer" / "initializer.json").read_text("utf-8")
)


@pytest.mark.parametrize("face", ["nd", "np"])
@pytest.mark.parametrize(
    ("kind", "arguments", "name", "shape", "attributes", "plain", "values"), FOUND["fills"]
)
def test_arrays_are_filled_as_by_mxnet(
    kind: str,
    arguments: dict[str, Any],
    name: str,
    shape: list[int],
    attributes: dict[str, str] | None,
    plain: bool,
    values: Any,
    face: str,
) -> None:
    array = nd.full(tuple(shape), 7) if face == "nd" else mx.np.full(tuple(shape), 7.0)
    fill = getattr(initializer, kind)(**arguments)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        if values is None:
            with pytest.raises(ArgumentError, match="expected a name that ends in"):
                fill(name if plain else InitDesc(name, attributes), array)
            return
        fill(name if plain else InitDesc(name, attributes), array)
    np.testing.assert_allclose(array.asnumpy(), values, rtol=1e-6)


@pytest.mark.parametrize(("kind", "arguments", "text"), FOUND["texts"])
def test_texts_are_mxnets(kind: str, arguments: dict[str, Any], text: str) -> None:
    made = getattr(initializer, kind)(**arguments)
    assert made.dumps() == text
    assert initializer.create(text) == made


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize(
    ("made", "deviation", "bound"),
    [
        (initializer.Uniform(0.5), 0.5 / 3**0.5, 0.5),
        (initializer.Normal(0.5), 0.5, None),
        (initializer.Xavier(), (1 / 450) ** 0.5, (3 / 450) ** 0.5),
        (initializer.Xavier(factor_type="in"), (1 / 300) ** 0.5, (3 / 300) ** 0.5),
        (initializer.Xavier(factor_type="out", magnitude=6), (2 / 600) ** 0.5, (6 / 600) ** 0.5),
        (initializer.Xavier("gaussian", "avg", 2), (2 / 450) ** 0.5, None),
        (initializer.Xavier("gaussian", "in", 2), (2 / 300) ** 0.5, None),
        (initializer.Xavier("gaussian", "out", 2), (2 / 600) ** 0.5, None),
        (initializer.MSRAPrelu(), (2 / (1 + 0.25**2) / 450) ** 0.5, None),
        (initializer.MSRAPrelu("in", 0), (2 / 300) ** 0.5, None),
    ],
)
def test_random_weights_have_their_moments(
    made: initializer.Initializer, deviation: float, bound: float | None, dtype: str
) -> None:
    mx.random.seed(3)
    array = nd.zeros((200, 100, 3), dtype=dtype)
    made(InitDesc("x_weight"), array)
    values = array.asnumpy().astype(np.float64)
    assert abs(values.mean()) < 5 * deviation / values.size**0.5
    assert values.std() == pytest.approx(deviation, rel=0.01)
    kurtosis = (values**4).mean() / values.var() ** 2
    assert kurtosis == pytest.approx(3 if bound is None else 1.8, abs=0.1)
    if bound is not None:
        assert bound * 0.99 < abs(values).max() <= bound * 1.001


MIXED = initializer.Mixed(["bias", ".*weight"], [initializer.One(), initializer.Constant(3)])


@pytest.mark.parametrize(
    ("chosen", "weight", "bias"),
    [
        (initializer.Constant(3), 3, 0),
        ("ones", 1, 0),
        (initializer.Constant(4).dumps(), 4, 0),
        (MIXED, 3, 0),
        (initializer.Load({"net_weight": nd.full((2, 3), 9)}, "one"), 9, 0),
    ],
)
def test_block_is_initialized_by_object_name_or_text(
    chosen: Any, weight: float, bias: float
) -> None:
    net = gluon.nn.Dense(2, in_units=3, prefix="net_")
    net.initialize(chosen)
    assert set(net.weight.data().asnumpy().ravel()) == {weight}
    assert set(net.bias.data().asnumpy().ravel()) == {bias}


@pytest.mark.parametrize(
    "chosen", [initializer.Constant(5), "fifth", initializer.Constant(5).dumps()]
)
def test_layers_own_initializer_goes_first(chosen: Any) -> None:
    if chosen == "fifth":

        @initializer.register
        class Fifth(initializer.Constant):
            def __init__(self) -> None:
                super().__init__(5)

    net = gluon.nn.Dense(2, in_units=3, weight_initializer=chosen, bias_initializer=chosen)
    net.initialize(initializer.Zero())
    assert set(net.weight.data().asnumpy().ravel()) == {5}
    assert set(net.bias.data().asnumpy().ravel()) == {5}


def test_variables_attribute_holds_the_initializers_text() -> None:
    assert mx.sym.var("x", init=initializer.Xavier()).attr("__init__") == (
        initializer.Xavier().dumps()
    )
    assert mx.sym.var("x", init="one").attr("__init__") == "one"

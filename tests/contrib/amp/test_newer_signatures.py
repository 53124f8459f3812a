"""Calls as MXNet 2.0 writes them convert as those of MXNet 1.9 do."""

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish.contrib import amp
from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.gluon import nn

X = mx.nd.array(np.random.RandomState(3).randn(4, 3, 8, 8))


def network() -> nn.HybridSequential:
    mx.random.seed(4)
    net = nn.HybridSequential(prefix="net_")
    with net.name_scope():
        net.add(nn.Conv2D(6, 3), nn.BatchNorm(), nn.Activation("relu"), nn.Dense(5))
    net.initialize(mx.init.Xavier())
    return net


def model() -> tuple[Any, dict[str, Any], dict[str, Any]]:
    """Return a graph with its parameters and its auxiliary states."""
    net = network()
    net(X)
    sym = net(mx.sym.var("data"))
    values = {name: p.data() for name, p in net.collect_params().items()}
    aux = {name: values.pop(name) for name in sym.list_auxiliary_states()}
    return sym, values, aux


def text(sym: Any) -> str:
    return str(sym.tojson(remove_amp_cast=False))


@pytest.mark.parametrize("offline", [False, True])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_symbols_by_the_newer_order(dtype: str, offline: bool) -> None:
    sym, args, aux = model()
    told = dict.fromkeys([*args, *aux], "float32")
    data: Any = {"data": np.float32}
    wanted = text(amp.convert_symbol(sym, dtype, data_names=["data"], cast_optional_params=offline))
    assert "amp_cast" in wanted
    lists: tuple[Any, ...] = (None, None, None, [])
    assert text(amp.convert_symbol(sym, data, told, dtype, *lists, offline)) == wanted
    by_name = {"input_dtypes": data, "param_dtypes": told, "target_dtype": dtype}
    assert text(amp.convert_symbol(sym, **by_name, cast_params_offline=offline)) == wanted
    assert text(amp.convert_symbol(sym, data, told, dtype, cast_params_offline=offline)) == wanted


@pytest.mark.parametrize("offline", [False, True])
def test_models_by_the_newer_order(offline: bool) -> None:
    sym, args, aux = model()
    wanted = amp.convert_model(sym, args, aux, "bfloat16", cast_optional_params=offline)
    excluded: Any = (None, None, None, [], offline)
    made = amp.convert_model(sym, args, aux, {"data": "float32"}, "bfloat16", *excluded)
    assert text(made[0]) == text(wanted[0])
    for found, other in zip(made[1:], wanted[1:], strict=True):
        assert {n: x.dtype for n, x in found.items()} == {n: x.dtype for n, x in other.items()}


def test_excluded_names_stand_where_the_newer_order_has_them() -> None:
    sym, args, aux = model()
    name = next(n["name"] for n in json.loads(sym.tojson())["nodes"] if n["op"] == "Convolution")
    wanted = amp.convert_model(sym, args, aux, excluded_sym_names=[name])[0]
    made = amp.convert_model(sym, args, aux, {"data": "float32"}, "float16", *[None] * 3, [name])[0]
    assert text(made) == text(wanted)
    assert text(made) != text(amp.convert_model(sym, args, aux)[0])


def test_inputs_have_the_dtypes_that_are_told() -> None:
    """What comes in 16 bits is not cast to them, and the graph says what comes."""
    sym, args, aux = model()
    made, _, _ = amp.convert_model(sym, args, aux, {"data": "float16"}, "float16")
    nodes = json.loads(text(made))["nodes"]
    names = [node["name"] for node in nodes]
    convolution = next(node for node in nodes if node["op"] == "Convolution")
    assert names[convolution["inputs"][0][0]] == "data"
    values = {**args, "data": X.astype("float16")}
    out = made.bind(mx.cpu(), values, aux_states=aux, grad_req="null").forward()[0]
    assert out.dtype == np.float32
    types, _, _ = made.infer_type()
    assert dict(zip(made.list_arguments(), types, strict=True))["data"] == np.float16


@pytest.mark.parametrize("called", ["never", "hybridized", "eager"])
@pytest.mark.parametrize("example", [X, [X], (X,)], ids=["array", "list", "tuple"])
def test_blocks_by_an_example(example: Any, called: str) -> None:
    net = network()
    if called == "hybridized":
        net.hybridize()
    if called != "never":
        net(X)
    made = amp.convert_hybrid_block(net, example, "bfloat16", device=mx.cpu())
    assert net._active == (called == "hybridized")
    other = network()
    other.hybridize()
    other(X)
    wanted = amp.convert_hybrid_block(other, "bfloat16")
    assert np.array_equal(made(X).asnumpy(), wanted(X).asnumpy())
    assert not np.array_equal(made(X).asnumpy(), net(X).asnumpy())
    narrow = amp.convert_hybrid_block(
        net, data_example=example, target_dtype="bfloat16", cast_params_offline=True
    )
    assert "bfloat16" in {np.dtype(p.dtype).name for p in narrow.collect_params().values()}
    assert np.array_equal(narrow(X).asnumpy(), wanted(X).asnumpy())
    again = amp.convert_hybrid_block(made, example, "bfloat16")
    assert np.array_equal(again(X).asnumpy(), wanted(X).asnumpy())


@pytest.fixture
def numpy_arrays() -> Iterator[None]:
    mx.npx.set_np()
    yield
    mx.npx.reset_np()


class Joined(nn.HybridBlock):
    """Reads its second input first."""

    def __init__(self) -> None:
        super().__init__()
        self.dense = nn.Dense(3)

    def forward(self, x: Any, y: Any) -> Any:
        return mx.np.tanh(self.dense(y)) + 2 * x


@pytest.mark.usefixtures("numpy_arrays")
def test_a_block_of_the_newer_style_keeps_the_order_of_its_inputs() -> None:
    net = Joined()
    net.initialize()
    x, y = mx.np.random.uniform(size=(2, 3)), mx.np.random.uniform(size=(2, 4))
    made = amp.convert_hybrid_block(net, (x, y), "bfloat16")
    out, exact = made(x, y), net(x, y)
    assert isinstance(out, mx.np.ndarray)
    np.testing.assert_allclose(out.asnumpy(), exact.asnumpy(), atol=0.02)
    assert not np.array_equal(out.asnumpy(), exact.asnumpy())


def test_wrong_calls_are_refused() -> None:
    sym, args, aux = model()
    data = {"data": "float32"}
    with pytest.raises(ArgumentError, match="expected one value for target_dtype, got two"):
        amp.convert_model(sym, args, aux, data, "float16", target_dtype="float16")
    with pytest.raises(ArgumentError, match="one value for cast_optional_params, got two"):
        amp.convert_model(sym, args, aux, cast_optional_params=True, cast_params_offline=True)
    with pytest.raises(ArgumentTypeError, match="convert_symbol: expected at most 9 arguments"):
        amp.convert_symbol(sym, data, {}, "float16", None, None, None, [], False, 3)

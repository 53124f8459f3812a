"""convert_symbol, convert_model and convert_hybrid_block: graphs as MXNet converts them."""

import importlib.util
import json
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish.contrib import amp
from gluonish.core.errors import ArgumentError, ArgumentTypeError, GraphError
from gluonish.gluon import nn

FOLDER = Path(__file__).parents[2] / "golden"


def load_calls() -> ModuleType:
    spec = importlib.util.spec_from_file_location("amp_calls", FOLDER / "amp_calls.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


calls = load_calls()
GOLDEN = json.loads((FOLDER / "amp.json").read_text())


@pytest.mark.parametrize("case", GOLDEN["converted"], ids=lambda case: f"{case[0]}-{case[1]}"[:60])
def test_graphs_are_those_of_mxnet(case: Any) -> None:
    name, told, wanted = case
    made = amp.convert_symbol(calls.graph(mx.sym, name), **told)
    nodes = json.loads(made.tojson(remove_amp_cast=False))["nodes"]
    assert calls.described(nodes) == sorted(wanted, key=str)


@pytest.mark.parametrize("name", GOLDEN["lists"])
def test_lists_for_float16_begin_with_those_of_mxnet(name: str) -> None:
    found = getattr(amp, f"list_{name}")("float16")
    wanted = GOLDEN["lists"][name]
    if wanted is None:
        assert found is None
    else:
        assert json.loads(json.dumps(found[: len(wanted)])) == wanted


def network() -> nn.HybridSequential:
    mx.random.seed(4)
    net = nn.HybridSequential()
    net.add(nn.Conv2D(6, 3), nn.BatchNorm(), nn.Activation("relu"), nn.Dense(5))
    net.initialize(mx.init.Xavier())
    return net


X = mx.nd.array(np.random.RandomState(3).randn(4, 3, 8, 8))


@pytest.mark.parametrize("optional", [False, True])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_a_converted_network_computes_saves_loads_and_exports(
    dtype: str, optional: bool, tmp_path: Path
) -> None:
    net = network()
    net.hybridize()
    exact = net(X).asnumpy()
    made = amp.convert_hybrid_block(net, dtype, cast_optional_params=optional)
    out = made(X)
    assert out.dtype == np.float32
    np.testing.assert_allclose(out.asnumpy(), exact, atol=0.05)
    assert not np.array_equal(out.asnumpy(), exact)
    narrow = {name for name, p in made.collect_params().items() if p.dtype != np.float32}
    weights = {n for n in net.collect_params() if "conv" in n or "dense" in n}
    assert narrow == (weights if optional else set())
    made.save_parameters(str(tmp_path / "net.params"))
    made.load_parameters(str(tmp_path / "net.params"))
    assert np.array_equal(made(X).asnumpy(), out.asnumpy())
    made.export(str(tmp_path / "net"), remove_amp_cast=False)
    loaded = mx.gluon.SymbolBlock.imports(
        str(tmp_path / "net-symbol.json"), ["data"], str(tmp_path / "net-0000.params")
    )
    assert np.array_equal(loaded(X).asnumpy(), out.asnumpy())
    again = amp.convert_hybrid_block(loaded, dtype)
    assert np.array_equal(again(X).asnumpy(), out.asnumpy())


def test_convert_model_casts_the_parameters_that_it_says_it_does() -> None:
    sym = calls.graph(mx.sym, "network")
    shapes, _, moving = sym.infer_shape(data=(2, 3, 9, 9))
    args = {n: mx.nd.ones(s) for n, s in zip(sym.list_arguments(), shapes, strict=True)}
    del args["data"], args["softmax_label"]
    aux = {n: mx.nd.ones(s) for n, s in zip(sym.list_auxiliary_states(), moving, strict=True)}
    _, plain, _ = amp.convert_model(sym, args, aux)
    assert {x.dtype for x in plain.values()} == {np.float32}
    _, cast, still = amp.convert_model(sym, args, aux, "bfloat16", cast_optional_params=True)
    kinds = {name: np.dtype(x.dtype).name for name, x in cast.items()}
    assert {n for n, kind in kinds.items() if kind == "float32"} == {"bn_gamma", "bn_beta"}
    assert set(kinds.values()) == {"bfloat16", "float32"}
    assert {x.dtype for x in still.values()} == {np.float32}


class _SecondFirst(mx.gluon.HybridBlock):
    """A network whose graph reads its second input first."""

    def __init__(self) -> None:
        super().__init__()
        self.dense = nn.Dense(2, in_units=2)

    def hybrid_forward(self, F: Any, x: Any, y: Any) -> Any:
        return F.broadcast_sub(self.dense(y), x)


def test_inputs_of_a_converted_network_are_in_the_order_of_the_call() -> None:
    net = _SecondFirst()
    net.initialize(mx.init.Normal(1.0))
    net.hybridize()
    x, y = mx.nd.array([[1.0, 2.0]]), mx.nd.array([[4.0, 8.0]])
    wanted = net(x, y).asnumpy()
    assert [name.name for name in net._cached_graph[0]] == ["data0", "data1"]
    found = amp.convert_hybrid_block(net, "bfloat16")(x, y)
    np.testing.assert_allclose(found.asnumpy(), wanted, rtol=0, atol=2e-2 * np.abs(wanted).max())


def test_wrong_arguments_are_refused() -> None:
    sym = calls.graph(mx.sym, "elu")
    with pytest.raises(ArgumentTypeError, match="convert_symbol: expected a Symbol, got int"):
        amp.convert_symbol(3)
    with pytest.raises(ArgumentError, match="float16 or bfloat16, got 'float32'"):
        amp.convert_symbol(sym, "float32")
    with pytest.raises(ArgumentTypeError, match="expected arg_params to be a dict of arrays"):
        amp.convert_model(sym, 3, {})
    with pytest.raises(ArgumentTypeError, match="expected a HybridBlock, got int"):
        amp.convert_hybrid_block(3)
    with pytest.raises(GraphError, match="to be hybridized and called once"):
        amp.convert_hybrid_block(network())

import json
from pathlib import Path
from typing import Any

import pytest

from gluonish.core.errors import ParameterError
from gluonish.gluon import nn
from gluonish.gluon.block import Block
from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.ndarray import ones

GOLDEN = json.loads((Path(__file__).parents[2] / "golden" / "gluon.json").read_text("utf-8"))


class Shared(HybridBlock):
    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        with self.name_scope():
            self.d0 = nn.Dense(3, in_units=3)
            self.d1 = nn.Dense(3, in_units=3, params=self.d0.params)
            self.k = self.params.get("k", shape=(2, 2), grad_req="null")
            self.s = nn.HybridSequential()
            self.s.add(nn.Dense(3, in_units=3, activation="relu"))

    def hybrid_forward(self, F: Any, x: Any, y: Any, k: Any) -> Any:
        return self.s(self.d1(self.d0(x))), [y, (x, y)]


def test_table_is_that_of_mxnet(capsys: pytest.CaptureFixture[str]) -> None:
    net = Shared()
    net.initialize()
    net.summary(ones((2, 3)), ones((1,)))
    assert capsys.readouterr().out == GOLDEN["summary"]


def test_shapes_found_out_on_the_way_have_no_lines(capsys: pytest.CaptureFixture[str]) -> None:
    net = nn.HybridSequential()
    net.add(nn.Dense(3, activation="relu"), nn.Dense(2))
    net.initialize()
    net.summary(ones((2, 5)))
    printed = capsys.readouterr().out
    assert "Symbol" not in printed
    assert [line.split()[0] for line in printed.splitlines()[3:7]] == [
        "Input",
        "Activation-1",
        "Dense-2",
        "Dense-3",
    ]
    assert "Total params: 26" in printed


def test_hooks_are_gone_afterwards(capsys: pytest.CaptureFixture[str]) -> None:
    net = Shared()
    net.initialize()
    net.summary(ones((2, 3)), ones((1,)))
    hooks: list[int] = []
    net.apply(lambda block: hooks.append(len(block._hooks)))
    assert set(hooks) == {0}


def test_inputs_may_be_nested_or_none(capsys: pytest.CaptureFixture[str]) -> None:
    class First(Block):
        def forward(self, x: Any, y: Any) -> Any:
            return x[0]

    First().summary([ones((2,)), ones((3,))], None)
    assert "[(2,), (3,)], None" in capsys.readouterr().out


@pytest.mark.parametrize("called", [False, True])
def test_hybridized_network_has_the_table_of_the_imperative_one(
    called: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    net = Shared()
    net.initialize()
    net.hybridize(static_alloc=True)
    if called:
        net(ones((2, 3)), ones((1,)))
    net.summary(ones((2, 3)), ones((1,)))
    assert capsys.readouterr().out == GOLDEN["summary"]


def test_hybridized_network_keeps_its_graphs() -> None:
    net = Shared()
    net.initialize()
    net.hybridize()
    inputs = ones((2, 3)), ones((1,))
    expected = net(*inputs)[0].asnumpy()
    (graph,) = net._graphs.values()
    net.summary(*inputs)
    assert (net(*inputs)[0].asnumpy() == expected).all()
    assert list(net._graphs.values()) == [graph]
    active: list[bool] = []
    net.apply(lambda block: active.append(vars(block)["_active"]))
    assert set(active) == {True}


def test_hybridized_forward_without_F_runs_layer_by_layer(
    capsys: pytest.CaptureFixture[str],
) -> None:
    class Net(HybridBlock):
        def __init__(self) -> None:
            super().__init__()
            self.hidden = nn.Dense(4)
            self.output = nn.Dense(2)

        def forward(self, x: Any) -> Any:
            return self.output(self.hidden(x))

    net = Net()
    net.initialize()
    tables = []
    for active in (True, False):
        net.hybridize(active)
        net.summary(ones((3, 5)))
        tables.append(capsys.readouterr().out)
    assert tables[0] == tables[1]
    assert [line.split()[0] for line in tables[0].splitlines()[4:6]] == ["Dense-1", "Dense-2"]
    assert "Total params: 34" in tables[0]  # 5 * 4 + 4 + 4 * 2 + 2


def test_network_without_values_is_refused() -> None:
    net = nn.Dense(2)
    with pytest.raises(ParameterError, match="initialize"):
        net.summary(ones((2, 3)))
    assert not net._hooks

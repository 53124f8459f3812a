from pathlib import Path
from typing import Any

import pytest

import gluonish.ndarray as nd
from gluonish import autograd
from gluonish.core.errors import ParameterError
from gluonish.gluon.block import Block
from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.gluon.block.symbol_block import SymbolBlock
from gluonish.gluon.nn import Dense
from gluonish.gluon.parameter import Constant, Parameter, ParameterDict
from gluonish.gluon.trainer import Trainer
from gluonish.ndarray import load, ones


class Linear(HybridBlock):
    """As one writes it in MXNet 2.0."""

    def __init__(self, units: int, in_units: int = 0, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.weight = Parameter("weight", shape=(units, in_units), allow_deferred_init=True)
        self.bias = Parameter("bias", shape=(units,), init="zeros")

    def infer_shape(self, x: Any, *args: Any) -> None:
        self.weight.shape = (self.weight.shape[0], x.shape[1])  # type: ignore[index]

    def forward(self, x: Any) -> Any:
        units = self.weight.shape[0]  # type: ignore[index]
        return nd.FullyConnected(x, self.weight.data(), self.bias.data(), num_hidden=units)


class Net(HybridBlock):
    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.encoder = Linear(3)
        self.decoder = Linear(2, prefix="out_")

    def forward(self, x: Any) -> Any:
        return self.decoder(nd.relu(self.encoder(x)))


def test_parameters_that_were_made_by_themselves_are_collected() -> None:
    net = Net()
    first = net.encoder.prefix
    names = [f"{first}weight", f"{first}bias", "out_weight", "out_bias"]
    assert [*net.collect_params().keys()] == names
    assert [p.name for p in net.collect_params().values()] == names


@pytest.mark.parametrize("active", [False, True])
def test_they_train_and_are_settled_by_infer_shape(active: bool) -> None:
    net = Net()
    net.initialize()
    net.hybridize(active)
    trainer = Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1})
    x = ones((1, 4))
    losses = []
    for _ in range(3):
        with autograd.record():
            loss = ((net(x) - 1) ** 2).sum()
        autograd.backward(loss)
        trainer.step(1)
        losses.append(loss.asscalar())
    assert losses[2] < losses[0]


def test_they_are_saved_by_path_and_exported_by_name(tmp_path: Path) -> None:
    net = Net()
    net.initialize()
    net.hybridize()
    y = net(ones((1, 4)))
    net.save_parameters(tmp_path / "x.params")
    paths = ["decoder.bias", "decoder.weight", "encoder.bias", "encoder.weight"]
    assert sorted(load(tmp_path / "x.params")) == paths
    files = net.export(tmp_path / "x")
    again = SymbolBlock.imports(files[0], "data", files[1])
    assert (again(ones((1, 4))) == y).asnumpy().all()


def test_collected_parameters_are_found_by_path() -> None:
    net = Net()
    collected = net.collect_params()
    assert collected["decoder.weight"] is net.decoder.weight
    assert "decoder.weight" in collected
    assert "decoder.wait" not in collected
    assert "encoder.bias" not in net.collect_params("out_.*")


def test_a_pattern_that_no_name_matches_is_held_against_paths() -> None:
    net = Net()
    assert [*net.collect_params("decoder.*").values()] == [net.decoder.weight, net.decoder.bias]
    assert [*net.collect_params("out_.*").values()] == [net.decoder.weight, net.decoder.bias]
    assert [*net.collect_params("nothing").keys()] == []


def test_a_parameter_of_another_block_keeps_its_name() -> None:
    class Tied(Block):
        def __init__(self, layer: Dense) -> None:
            super().__init__()
            self.layer = layer
            self.weight = layer.weight

    layer = Dense(2, in_units=3, prefix="layer_")
    tied = Tied(layer)
    assert layer.weight.name == "layer_weight"
    assert [*tied.collect_params().keys()] == ["layer_weight", "layer_bias"]


def test_a_parameter_of_a_block_outside_is_collected_last() -> None:
    class Head(HybridBlock):
        def __init__(self, table: Dense) -> None:
            super().__init__()
            self.table = table.weight
            self.own = Dense(2, in_units=3, prefix="own_")

        def forward(self, x: Any) -> Any:
            return nd.dot(self.own(x), self.table.data())

    table = Dense(2, in_units=3, prefix="table_")
    head = Head(table)
    assert [*head.collect_params().keys()] == ["own_weight", "own_bias", "table_weight"]
    head.initialize()
    want = head(ones((1, 3))).asnumpy()
    head.hybridize()
    assert head(ones((1, 3))).asnumpy().tolist() == want.tolist()


def test_shared_parameters_take_the_place_of_new_ones() -> None:
    first = Linear(3, 4)
    second = Linear(3, 4, params=first.params)
    assert second.weight is first.weight
    assert [*second.collect_params().keys()] == [*first.collect_params().keys()]


def test_two_parameters_of_one_name_are_refused() -> None:
    class Wrong(Block):
        def __init__(self) -> None:
            super().__init__(prefix="wrong_")
            self.first = self.params.get("weight", shape=(1,))
            self.weight = Parameter("weight", shape=(2,))

    with pytest.raises(ParameterError, match=r"parameter 'wrong_weight' that params\.get created"):
        Wrong()


def test_a_constant_attribute_is_part_of_the_graph() -> None:
    class Shifted(HybridBlock):
        def __init__(self) -> None:
            super().__init__(prefix="shifted_")
            self.shift = Constant("shift", [1, 2])

        def hybrid_forward(self, F: Any, x: Any, shift: Any) -> Any:
            return F.broadcast_add(x, shift)

    net = Shifted()
    net.initialize()
    net.hybridize()
    assert [*net.collect_params().keys()] == ["shifted_shift"]
    assert net(ones((2,))).asnumpy().tolist() == [2, 3]


def test_a_class_may_collect_in_a_way_of_its_own() -> None:
    class Frozen(Dense):
        def collect_params(self, select: str | None = None) -> ParameterDict:
            return ParameterDict()

    class Outer(Block):
        def __init__(self) -> None:
            super().__init__()
            self.frozen = Frozen(2)
            self.free = Dense(2, prefix="free_")

    assert [*Outer().collect_params().keys()] == ["free_weight", "free_bias"]

import json
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import gluonish.gluon.nn as nn
from gluonish.core.errors import FileFormatError, MissingFileError, ParameterError
from gluonish.gluon.block import Block
from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.initializer import Normal
from gluonish.ndarray import NDArray, array, ones
from gluonish.symbol import NameManager

GOLDEN = Path(__file__).parents[2] / "golden"


class Pair(HybridBlock):
    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        with self.name_scope():
            self.a = nn.Dense(2, in_units=3)
            self.b = nn.Dense(4, in_units=2)

    def hybrid_forward(self, F: ModuleType, x: Any, y: Any) -> Any:
        return self.b(self.a(x)), [x + y, self.a(y)]


class Net(Block):
    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        with self.name_scope():
            self.pair = Pair()
            self.tail = nn.HybridSequential()
            self.tail.add(nn.BatchNorm(in_channels=4), nn.Dense(1, in_units=4))

    def forward(self, x: Any, y: Any) -> Any:
        return self.tail(self.pair(x, y)[0])


def inputs() -> tuple[NDArray, NDArray, np.ndarray[Any, Any]]:
    with np.load(GOLDEN / "model.npz") as stored:
        return array(stored["x"]), array(stored["y"]), stored["out"]


def test_what_mxnet_saved_computes_the_same() -> None:
    x, y, out = inputs()
    net = Net(prefix="other_")
    net.load(GOLDEN / "model")
    np.testing.assert_allclose(net(x, y).asnumpy(), out, rtol=1e-5)


def test_names_and_keys_of_parameters_are_those_of_the_file() -> None:
    net = Net(prefix="other_")
    net.load(GOLDEN / "model")
    assert (net.name, net.pair.name, net.pair.a.name) == ("net0", "net0_pair0", "net0_pair0_dense0")
    assert "net0_batchnorm0_gamma" in net.collect_params()
    assert all(name.startswith("net0_") for name in net.collect_params())


def test_what_ran_as_a_graph_does_again() -> None:
    net = Net()
    net.load(GOLDEN / "model")
    assert (net.pair._active, net.tail._active, net.pair.a._active) == (True, True, False)


def test_files_are_byte_for_byte_those_of_mxnet(tmp_path: Path) -> None:
    x, y, _ = inputs()
    with NameManager():
        net = Net()
    net.load_parameters(GOLDEN / "model-model.params")
    net.hybridize()
    net(x, y)
    net.save(tmp_path / "model")
    for name in ("model-model.json", "model-model.params"):
        assert (tmp_path / name).read_bytes() == (GOLDEN / name).read_bytes()


def test_a_network_that_was_not_hybridized_has_no_graph(tmp_path: Path) -> None:
    layer = nn.Dense(2, in_units=3, prefix="d_")
    layer.initialize()
    layer.save(tmp_path / "x")
    content = json.loads((tmp_path / "x-model.json").read_text())
    assert content == {"dense0": {"orig_name": "d", "hybridized": False, "children": {}}}
    other = nn.Dense(2, in_units=3)
    other.load(tmp_path / "x")
    assert not other._active
    np.testing.assert_array_equal(other.weight.data().asnumpy(), layer.weight.data().asnumpy())


def test_a_layer_that_stands_at_two_places_is_saved_and_loaded(tmp_path: Path) -> None:
    net, other = nn.HybridSequential(), nn.HybridSequential()
    for stack in (net, other):
        layer = nn.Dense(2, in_units=2)
        stack.add(layer, layer)
    net.initialize()
    net.save(tmp_path / "x")
    other.load(tmp_path / "x")
    x = ones((1, 2))
    np.testing.assert_array_equal(other(x).asnumpy(), net(x).asnumpy())


def test_a_network_without_values_is_not_saved(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="initialize"):
        nn.Dense(2, in_units=3).save(tmp_path / "x")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "change",
    [
        lambda content: {"pair0": content["net0"]},
        lambda content: [content],
        lambda content: {"net0": {**content["net0"], "orig_name": 3}},
        lambda content: {"net0": {**content["net0"], "children": {"x": "y"}}},
        lambda content: {"net0": {**content["net0"], "children": None}},
        lambda content: {"net0": {**content["net0"], "pair1": 3}},
    ],
)
def test_files_of_another_network_are_refused_and_change_nothing(
    change: Any, tmp_path: Path
) -> None:
    content = json.loads((GOLDEN / "model-model.json").read_text())
    (tmp_path / "x-model.json").write_text(json.dumps(change(content)))
    (tmp_path / "x-model.params").write_bytes((GOLDEN / "model-model.params").read_bytes())
    net = Net(prefix="n_")
    with pytest.raises(FileFormatError, match=r"x-model\.json: expected"):
        net.load(tmp_path / "x")
    assert net.name == "n"
    assert net.pair.a.weight._data is None


@pytest.mark.parametrize("text", ["", "{", "[" * 100_000, "\xff"])
def test_what_is_no_json_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "x-model.json").write_bytes(text.encode("latin1"))
    with pytest.raises(FileFormatError, match="expected the JSON of a network"):
        Net().load(tmp_path / "x")


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(MissingFileError, match=r"x-model\.json"):
        Net().load(tmp_path / "x")


class Numbered(Block):
    """Enters its children itself, under names that count on from network to network."""

    def __init__(self) -> None:
        super().__init__()
        for i in range(2):
            with self.name_scope():
                child = nn.Dense(3, in_units=3)
            self._children[f"{child.name}{i}"] = child

    def forward(self, x: Any) -> Any:
        for child in self._children.values():
            x = child(x)
        return x


def test_children_that_a_program_entered_are_known_by_their_place(tmp_path: Path) -> None:
    first, second = Numbered(), Numbered()
    assert list(first._children) != list(second._children)
    first.initialize(Normal(1))
    first.save(tmp_path / "net")
    second.load(tmp_path / "net")
    x = ones((1, 3))
    assert second(x).asnumpy().tolist() == first(x).asnumpy().tolist()
    assert list(second.collect_params()) == list(first.collect_params())

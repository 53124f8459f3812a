import contextvars
import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import gluonish.symbol as sym
from gluonish.gluon import nn
from gluonish.gluon.block import Block

GOLDEN = json.loads((Path(__file__).parents[2] / "golden" / "gluon.json").read_text("utf-8"))


class Inner(Block):
    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        with self.name_scope():
            self.d0 = nn.Dense(3)
            self.d1 = nn.Dense(4, in_units=3, activation="relu")


class Net(Block):
    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        with self.name_scope():
            self.a = Inner()
            self.b = Inner(prefix="bb_")
            self.c = nn.Sequential(prefix="")
            with self.c.name_scope():
                self.c.add(nn.Dense(2), nn.BatchNorm(), nn.Conv2D(2, 3))
            self.w = self.params.get("w", shape=(3, 4))
            self.e = nn.Dense(7)
        self.out = nn.Dense(8)


def fresh(run: Callable[[], Any]) -> Any:
    """Run where no name was given yet."""
    return contextvars.Context().run(run)


def test_nested_names_are_those_of_mxnet() -> None:
    def run() -> None:
        assert list(Net().collect_params()) == GOLDEN["names"]
        assert list(Net().collect_params()) == GOLDEN["second"]
        named = Net(prefix="x_")
        assert list(named.collect_params()) == GOLDEN["named"]
        shared = Net(params=named.collect_params())
        found = [shared.prefix, shared.params.prefix, list(shared.collect_params())]
        assert found == GOLDEN["shared"]
        assert shared.a.d0.weight is named.a.d0.weight

    fresh(run)


def test_nested_repr_and_paths_are_those_of_mxnet() -> None:
    def run() -> None:
        net = Net()
        assert repr(net) == GOLDEN["repr"]
        assert repr(net.a.collect_params()) == GOLDEN["params_repr"]
        assert list(net._collect_params_with_prefix()) == GOLDEN["structural"]
        assert list(net.collect_params(".*weight|.*_w")) == GOLDEN["weights"]

    fresh(run)


def test_scope_goes_on_counting_when_entered_again() -> None:
    def run() -> None:
        net = Block(prefix="a_")
        with net.name_scope():
            assert nn.Dense(1).name == "a_dense0"
        with net.name_scope():
            assert nn.Dense(1).name == "a_dense1"
            assert nn.Dense(1, prefix="zz").prefix == "a_zz"

    fresh(run)


def test_empty_prefix_leaves_names_to_the_scope_around() -> None:
    def run() -> None:
        with Block(prefix="").name_scope():
            assert nn.Dense(1).name == "dense0"

    fresh(run)


def test_blocks_and_symbols_share_counters() -> None:
    def run() -> None:
        x = sym.var("x")
        assert sym.Dropout(x).name == "dropout0"
        assert nn.Dropout(0.5).name == "dropout1"
        assert sym.Dropout(x).name == "dropout2"

    fresh(run)


def test_symbols_in_a_scope_have_the_prefix() -> None:
    def run() -> None:
        x = sym.var("x")
        with Block(prefix="a_").name_scope():
            assert sym.Dropout(x).name == "a_dropout0"
            assert sym.Dropout(x, name="fwd").name == "a_fwd"
            assert sym.var("q").name == "q"

    fresh(run)


def test_name_prefix_counts_for_blocks() -> None:
    with sym.Prefix("pre_"):
        assert nn.Dense(1).name == "pre_dense0"


def test_thread_has_its_own_counters_and_no_scope() -> None:
    names: list[str] = []
    with Block(prefix="a_").name_scope():
        thread = threading.Thread(target=lambda: names.append(nn.Dense(1).name))
        thread.start()
        thread.join(30)
    assert names == ["dense0"]


def test_scope_ends_when_a_constructor_fails() -> None:
    def run() -> None:
        block = Block(prefix="a_")
        with pytest.raises(ZeroDivisionError), block.name_scope():
            1 / 0  # noqa: B018  # raises
        assert nn.Dense(1).name == "dense0"

    fresh(run)


def test_parameters_are_shared_by_name() -> None:
    first = nn.Dense(3, in_units=2)
    second = nn.Dense(3, in_units=2, params=first.params)
    assert second.weight is first.weight
    assert second.prefix != first.prefix

import threading
from typing import Any

import numpy as np
import pytest

from gluonish.core.context import cpu
from gluonish.core.errors import ArgumentTypeError, NotSupportedError, ParameterError
from gluonish.gluon import nn
from gluonish.gluon.block import Block
from gluonish.gluon.parameter import Parameter
from gluonish.ndarray import NDArray, ones


class Pair(Block):
    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        with self.name_scope():
            self.first = nn.Dense(3, in_units=2)
            self.second = nn.Dense(2, in_units=3)
            self.scale = self.params.get("scale", shape=(1,), init="ones")

    def forward(self, x: NDArray) -> NDArray:
        y: NDArray = self.second(self.first(x)) * self.scale.data()
        return y


def test_call_runs_forward() -> None:
    net = Pair()
    net.initialize(init="ones")
    assert net(ones((1, 2))).asnumpy().tolist() == [[6, 6]]


def test_class_without_forward_is_refused() -> None:
    with pytest.raises(NotSupportedError, match=r"Block: expected a class that defines forward"):
        Block()(1)


def test_attributes_register_children_and_parameters() -> None:
    net = Pair()
    assert list(net._children) == ["first", "second"]
    assert list(net._reg_params) == ["scale"]


def test_attribute_may_be_replaced_by_its_kind_only() -> None:
    net = Pair()
    net.first = nn.Dense(5)
    assert net._children["first"] is net.first
    for value in (3, None, nn.Flatten()):
        with pytest.raises(ArgumentTypeError, match="attribute first to stay a Dense"):
            net.first = value  # type: ignore[assignment]  # the mistake


def test_parameter_attribute_is_replaced() -> None:
    net = Pair()
    net.scale = Parameter("other", shape=(1,))
    assert [p for p in net.collect_params().values() if p is net.scale] == [net.scale]
    assert list(net._reg_params) == ["scale"]


def test_attribute_before_the_base_constructor_is_refused() -> None:
    class Hasty(Block):
        def __init__(self) -> None:
            self.layer = nn.Dense(1)

    with pytest.raises(ParameterError, match=r"super\(\).__init__\(\) before attribute layer"):
        Hasty()


def test_plain_attribute_may_become_a_block() -> None:
    net = Pair()
    net.extra: Any = None  # type: ignore[misc]  # an attribute like those of user code
    net.extra = nn.Dense(1)
    assert "extra" in net._children


def test_registered_child_has_a_number_or_a_name() -> None:
    net = Block()
    net.register_child(nn.Dense(2))
    net.register_child(nn.Dense(2), "named")
    assert list(net._children) == ["0", "named"]
    with pytest.raises(ArgumentTypeError, match="children to be Blocks, got int"):
        net.register_child(3)  # type: ignore[arg-type]  # the mistake


def test_blocks_in_a_list_are_warned_of() -> None:
    net = Pair()
    net.more = {"a": [(nn.Dense(2),)]}
    net.known = [net.first]
    with pytest.warns(UserWarning, match=r"Pair.more holds Blocks that are not registered"):
        net.collect_params()


def test_selection_is_by_the_beginning_of_names() -> None:
    net = Pair(prefix="p_")
    assert list(net.collect_params(".*weight|.*scale")) == [
        "p_scale",
        "p_dense0_weight",
        "p_dense1_weight",
    ]
    assert list(net.collect_params("weight")) == []


def test_initialize_takes_devices_and_force() -> None:
    net = Pair()
    net.initialize(ctx=[cpu(0), cpu(1)])
    assert net.collect_params().list_ctx() == [cpu(0), cpu(1)]
    net.initialize(init="zeros", force_reinit=True)
    assert net.first.weight.data().asnumpy().sum() == 0


def test_apply_visits_children_first_and_returns_the_block() -> None:
    net = Pair(prefix="p_")
    seen: list[str] = []
    assert net.apply(lambda block: seen.append(block.name)) is net
    assert seen == ["p_dense0", "p_dense1", "p"]


def test_cast_reaches_all() -> None:
    net = Pair()
    net.cast("float64")
    net.initialize()
    assert net(ones((1, 2), dtype="float64")).dtype == np.float64


def test_hybridize_reaches_hybrid_children() -> None:
    net = Pair()
    net.initialize()
    expected = net(ones((1, 2))).asnumpy()
    net.hybridize(static_alloc=True)
    assert net.first._active
    np.testing.assert_allclose(net(ones((1, 2))).asnumpy(), expected, rtol=1e-6)


def test_operator_hook_reaches_hybrid_children() -> None:
    net = Pair()
    net.initialize()
    seen: list[str] = []
    net.register_op_hook(lambda name, op, value: seen.append(op))
    net.hybridize()
    net(ones((1, 2)))
    assert len(seen) == 2


def test_repr_of_an_empty_block() -> None:
    assert repr(Block()) == "Block(\n\n)"


def test_blocks_run_in_several_threads() -> None:
    net = Pair()
    net.initialize()
    expected = net(ones((1, 2))).asnumpy()
    results: list[Any] = []
    threads = [
        threading.Thread(target=lambda: results.append(net(ones((1, 2))).asnumpy()))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert len(results) == 4
    for result in results:
        np.testing.assert_array_equal(result, expected)

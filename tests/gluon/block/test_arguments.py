from types import ModuleType
from typing import Any

import pytest

from gluonish import autograd
from gluonish.core.errors import ArgumentTypeError
from gluonish.gluon.block.arguments import by_position
from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.gluon.nn import Dense
from gluonish.ndarray import array, ones


class Scaled(HybridBlock):
    def forward(
        self, x: Any, shift: Any = None, factor: float = 1, *rest: Any, twice: bool = False
    ) -> Any:
        y = x * factor if shift is None else x * factor + shift
        return y * 2 if twice else y


class Old(HybridBlock):
    def __init__(self) -> None:
        super().__init__()
        self.weight = self.params.get("weight", shape=(1,), init="ones")

    def hybrid_forward(self, F: ModuleType, x: Any, shift: Any = 0, *, weight: Any) -> Any:
        return F.broadcast_mul(x, weight) + shift


def test_keywords_go_where_the_signature_has_them() -> None:
    assert by_position(Scaled(), (1,), {"factor": 3}) == ((1, None, 3), {})
    assert by_position(Scaled(), (), {"x": 1, "shift": 2}) == ((1, 2), {})
    assert by_position(Old(), (1,), {"shift": 2}) == ((1, 2), {})


def test_what_is_only_a_keyword_stays_one() -> None:
    assert by_position(Scaled(), (1,), {"twice": True, "shift": 2}) == ((1, 2, 1), {"twice": True})


def test_more_arguments_than_names_are_kept() -> None:
    args = (1, 2, 3, 4, 5)
    assert by_position(Scaled(), args, {"twice": True}) == (args, {"twice": True})


@pytest.mark.parametrize(
    ("block", "keywords", "message"),
    [
        (Scaled(), {"offset": 1}, "unexpected keyword argument 'offset'"),
        (Scaled(), {"x": 1}, "multiple values for argument 'x'"),
        (Old(), {"weight": 1}, "no argument with the name of a parameter, got 'weight'"),
    ],
)
def test_arguments_that_a_block_does_not_take_are_refused(
    block: HybridBlock, keywords: dict[str, Any], message: str
) -> None:
    with pytest.raises(ArgumentTypeError, match=message):
        by_position(block, (0,), keywords)


@pytest.mark.parametrize("active", [False, True])
def test_a_block_is_called_with_keywords(active: bool) -> None:
    net, old = Scaled(), Old()
    old.initialize()
    for block in (net, old):
        block.hybridize(active)
    x = array([1, 2])
    assert net(x, factor=3).asnumpy().tolist() == [3, 6]
    assert net(x=x, shift=x).asnumpy().tolist() == [2, 4]
    assert old(x, shift=x).asnumpy().tolist() == [2, 4]


class Marked(HybridBlock):
    """Takes an array, a flag and others by keyword only."""

    def __init__(self) -> None:
        super().__init__()
        self.scaled = Scaled()
        self.traces = 0

    def forward(self, x: Any, *, mask: Any, twice: bool = False, **rest: Any) -> Any:
        self.traces += 1
        return self.scaled(x, shift=mask, twice=twice) + rest.get("offset", 0)


def test_arguments_by_keyword_only_are_part_of_the_graph() -> None:
    net, x, mask = Marked(), array([1, 2]), array([10, 20])
    for active in (False, True):
        net.hybridize(active)
        assert net(x, mask=mask).asnumpy().tolist() == [11, 22]
        assert net(x, mask=x, twice=True).asnumpy().tolist() == [4, 8]
        assert net(x, twice=True, mask=mask, offset=5).asnumpy().tolist() == [27, 49]
        assert net(x=x, mask=mask, offset=mask).asnumpy().tolist() == [21, 42]


def test_each_set_of_keywords_is_traced_once() -> None:
    net, x = Marked(), array([1, 2])
    net.hybridize()
    for _ in range(2):
        net(x, mask=x, offset=1)
        net(x, offset=1, mask=x)
    assert net.traces == 1
    net(x, mask=x, offset=2)
    assert net.traces == 2


def test_gradients_flow_to_arrays_by_keyword_only() -> None:
    net, x, mask = Marked(), array([1, 2]), array([10, 20])
    net.hybridize()
    mask.attach_grad()
    with autograd.record():
        y = net(x, mask=mask, twice=True)
    y.backward()
    assert mask.grad.asnumpy().tolist() == [2, 2]


def test_deferred_shapes_are_settled_with_keywords() -> None:
    class Net(HybridBlock):
        def __init__(self) -> None:
            super().__init__()
            self.dense = Dense(3)

        def forward(self, x: Any, *, scale: Any) -> Any:
            return self.dense(x) * scale

    net = Net()
    net.initialize()
    net.hybridize()
    assert net(ones((2, 4)), scale=2).shape == (2, 3)


def test_a_keyword_that_cannot_be_hashed_is_refused() -> None:
    net = Marked()
    net.hybridize()
    with pytest.raises(ArgumentTypeError, match="arrays or hashable"):
        net(array([1]), mask=array([1]), offset={1})


def test_hybrid_forward_takes_its_arguments_by_position() -> None:
    class Keyword(HybridBlock):
        def hybrid_forward(self, F: ModuleType, x: Any, *, twice: bool = False) -> Any:
            return x * 2 if twice else x

    with pytest.raises(ArgumentTypeError, match="keyword-only twice; define forward"):
        Keyword()(array([1]), twice=True)


def test_hooks_get_arguments_by_position() -> None:
    net, seen = Scaled(), []
    net.register_forward_pre_hook(lambda block, inputs: seen.append(len(inputs)))
    net(array([1]), factor=2)
    assert seen == [3]

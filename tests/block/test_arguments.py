from types import ModuleType
from typing import Any

import pytest

from gluonish.block.arguments import by_position
from gluonish.core.errors import ArgumentTypeError
from gluonish.hybrid_block import HybridBlock
from gluonish.ndarray import array


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
        (Old(), {"weight": 1}, "no argument for its own parameter, got 'weight'"),
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


def test_an_argument_by_keyword_only_cannot_be_part_of_a_graph() -> None:
    net = Scaled()
    assert net(array([1]), twice=True).asscalar() == 2
    net.hybridize()
    with pytest.raises(ArgumentTypeError, match="got twice by keyword only; do not hybridize"):
        net(array([1]), twice=True)


def test_hooks_get_arguments_by_position() -> None:
    net, seen = Scaled(), []
    net.register_forward_pre_hook(lambda block, inputs: seen.append(len(inputs)))
    net(array([1]), factor=2)
    assert seen == [3]

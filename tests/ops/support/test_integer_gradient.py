import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import gluonish as mx
from gluonish import autograd
from gluonish.core.mxnet_rules import follow_mxnet

GOLDEN = json.loads((Path(__file__).parents[2] / "golden" / "integer_gradients.json").read_text())


class Computed(mx.gluon.HybridBlock):
    """Computes an expression of two arrays."""

    def __init__(self, expression: str, face: Any) -> None:
        super().__init__()
        self._code = compile(expression, expression, "eval")
        self._face = face

    def forward(self, x: Any, y: Any) -> Any:
        return eval(self._code, {"f": self._face, "x": x, "y": y})


@pytest.fixture(params=["nd", "np"])
def kind(request: pytest.FixtureRequest) -> Iterator[str]:
    if request.param == "np":
        mx.npx.set_np()
    yield request.param
    mx.npx.reset_np()


@pytest.fixture
def mxnet_rules() -> Iterator[None]:
    """In 1.9 a float beside a NumPy array of integers is cut; otherwise it widens the array."""
    before = follow_mxnet()
    yield
    follow_mxnet(before)


@pytest.mark.usefixtures("mxnet_rules")
@pytest.mark.parametrize("hybridize", [False, True])
def test_gradients_of_integers_are_those_of_mxnet(kind: str, hybridize: bool) -> None:
    face = getattr(mx, kind)
    for expression, rows in GOLDEN[kind].items():
        for dtype, wanted in rows.items():
            arrays = [face.array(values, dtype=dtype) for values in ([1, 2, 3], [3, 2, 1])]
            for x in arrays:
                x.attach_grad()
            block = Computed(expression, face)
            block.hybridize(hybridize)
            with autograd.record():
                output = block(*arrays)
            output.backward()
            found = [x.grad.asnumpy().tolist() for x in arrays]
            assert found == wanted, (expression, dtype)


def test_large_integers_keep_all_their_digits(kind: str) -> None:
    face = getattr(mx, kind)
    x = face.array([3], dtype="int64")
    x.attach_grad()
    with autograd.record():
        y = x * face.array([2**60 + 1], dtype="int64")
    y.backward()
    assert x.grad.asnumpy().tolist() == [2**60 + 1]


def test_an_integer_beside_a_float_has_no_gradient() -> None:
    x, y = mx.np.array([1, 2], dtype="int32"), mx.np.array([1.5, 2.5])
    for array in (x, y):
        array.attach_grad()
    with autograd.record():
        z = x * y
    z.backward()
    assert x.grad.asnumpy().tolist() == [0, 0]
    assert y.grad.asnumpy().tolist() == [1, 2]

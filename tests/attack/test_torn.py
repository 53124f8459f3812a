"""What a handler reads in the middle of a write: the value before, or the one after, no other."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish import nd
from gluonish.optimizer import weight_update
from tests.engine.places import act_at

pytestmark = pytest.mark.timeout(100)

# At most about so many places of one program are tried, spread over all that it has.
MOST = 40
# Kernels, and what calls them.
FILES = ("gluonish/ops/", "optimizer/weight_update", "ndarray/copying", "ndarray/indexing")


@pytest.fixture(autouse=True)
def reference_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of other libraries run wholly between two steps of Python."""
    monkeypatch.setattr(weight_update, "fused_step", lambda *_: None)
    monkeypatch.setenv("MXNET_MKLDNN_ENABLED", "0")


def filled(value: float) -> Any:
    return nd.array(np.full((3, 4), value), dtype="float64")


def updates(kind: str, **options: Any) -> Callable[[], tuple[list[Any], Callable[[], None]]]:
    """Return what makes a weight with its states, and an update of them."""

    def make() -> tuple[list[Any], Callable[[], None]]:
        optimizer = mx.optimizer.create(kind, learning_rate=0.5, wd=0.01, **options)
        weight, gradient = filled(1.0), filled(2.0)
        states = optimizer.create_state(0, weight)
        held = [
            one for one in (states if isinstance(states, tuple) else (states,)) if one is not None
        ]
        optimizer.update(0, weight, gradient, states)
        return [weight, *held], lambda: optimizer.update(0, weight, gradient, states)

    return make


def changes(change: Callable[[Any, Any], object]) -> Any:
    """Return what makes an array, and changes it in place with the help of another."""

    def make() -> tuple[list[Any], Callable[[], None]]:
        x, other = filled(7.0), filled(3.0)
        return [x], lambda: (change(x, other), None)[1]

    return make


def assign(x: Any, y: Any) -> None:
    x[:] = y


def assign_some(x: Any, y: Any) -> None:
    x[1:, ::2] = 5.0


def statistics() -> tuple[list[Any], Callable[[], None]]:
    data = nd.array(np.arange(24).reshape(2, 3, 4), dtype="float64")
    ones, zeros = nd.ones((3,), dtype="float64"), nd.zeros((3,), dtype="float64")
    mean, var = nd.full((3,), 9.0, dtype="float64"), nd.full((3,), 4.0, dtype="float64")

    def run() -> None:
        with mx.autograd.train_mode():
            nd.BatchNorm(data, ones, zeros, mean, var, fix_gamma=False)

    return [mean, var], run


CHANGES: dict[str, Any] = {
    "sgd": updates("sgd"),
    "momentum": updates("sgd", momentum=0.9),
    "nag": updates("nag", momentum=0.9),
    "adam": updates("adam"),
    "rmsprop": updates("rmsprop"),
    "ftrl": updates("ftrl"),
    "adagrad": updates("adagrad"),
    "lamb": updates("lamb"),
    "x[:] = y": changes(assign),
    "x[1:, ::2] = 5": changes(assign_some),
    "x += y": changes(lambda x, y: x.__iadd__(y)),
    "x %= y": changes(lambda x, y: x.__imod__(y)),
    "softmax": changes(lambda x, y: nd.softmax(y, out=x)),
    "softsign": changes(lambda x, y: nd.softsign(y, out=x)),
    "sigmoid": changes(lambda x, y: nd.sigmoid(y, out=x)),
    "gelu": changes(lambda x, y: nd.LeakyReLU(y, act_type="gelu", out=x)),
    "clip": changes(lambda x, y: nd.clip(y, 0, 2, out=x)),
    "layer_norm": changes(lambda x, y: nd.LayerNorm(y, y[0], y[1], out=x)),
    "dense": changes(
        lambda x, y: nd.FullyConnected(
            y, nd.ones((4, 4), dtype="float64"), y[0], num_hidden=4, out=x
        )
    ),
    "sum of three": changes(lambda x, y: nd.add_n(y, y, y, out=x)),
    "concat": changes(lambda x, y: nd.concat(y[:1], y[:2], dim=0, out=x)),
    "stack": changes(lambda x, y: nd.stack(y[0], y[1], y[2], out=x)),
    "log_softmax": changes(lambda x, y: nd.log_softmax(y, out=x)),
    "normalize": changes(lambda x, y: nd.L2Normalization(y, out=x)),
    "one_hot": changes(lambda x, y: nd.one_hot(y[:, 0], 4, dtype="float64", out=x)),
    "smooth_l1": changes(lambda x, y: nd.smooth_l1(y, out=x)),
    "pick along": changes(lambda x, y: nd.where(y > 1, y, x * 2, out=x)),
    "moving statistics": statistics,
}


@pytest.mark.parametrize("name", list(CHANGES))
def test_a_handler_reads_no_value_that_never_was(name: str) -> None:
    make = CHANGES[name]
    arrays, run = make()
    before = [x.asnumpy() for x in arrays]
    run()
    after = [x.asnumpy() for x in arrays]
    with act_at(1 << 40, lambda: None, files=FILES) as at:
        make()[1]()
    places = (1 << 40) - at.left
    assert places
    for place in range(0, places, max(1, places // MOST)):
        arrays, run = make()
        seen: list[Any] = []

        def look(arrays: list[Any] = arrays, seen: list[Any] = seen) -> None:
            seen.extend(x.asnumpy() for x in arrays)

        with act_at(place, look, files=FILES):
            run()
        for value, old, new in zip(seen, before, after, strict=False):
            whole = np.array_equal(value, old) or np.array_equal(value, new)
            assert whole, (
                f"{place}: {value.ravel()[:3]} between {old.ravel()[:3]} and {new.ravel()[:3]}"
            )
        for x, new in zip(arrays, after, strict=True):
            np.testing.assert_array_equal(x.asnumpy(), new)

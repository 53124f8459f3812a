"""States: kept, moved between devices, written and read."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gluonish.core.context import cpu
from gluonish.core.errors import FileFormatError, NotSupportedError
from gluonish.lr_scheduler import FactorScheduler, LRScheduler
from gluonish.ndarray import NDArray, array
from gluonish.ndarray.array_file import SparseRecord
from gluonish.optimizer import SGD, Adam, Optimizer, Updater, create, get_updater, register
from gluonish.optimizer.states import ArrayState, ForeignObject, dump_states

GOLDEN = Path(__file__).parents[1] / "golden"
EXPECTED = json.loads((GOLDEN / "expected.json").read_text(encoding="utf-8"))


def inputs(seed: int, steps: int, shapes: list[tuple[int, ...]]) -> tuple[list[Any], list[Any]]:
    rng = np.random.default_rng(seed)
    weights = [rng.uniform(-1, 1, shape).astype("float32") for shape in shapes]
    return weights, [
        [rng.uniform(-2, 2, s).astype("float32") for s in shapes] for _ in range(steps)
    ]


def golden(name: str) -> Updater:
    updater = get_updater(create("sgd"))
    updater.set_states((GOLDEN / f"trainer_{name}.states").read_bytes())
    return updater


def last(state: Any) -> NDArray:
    found: NDArray = state[-1] if isinstance(state, tuple) else state
    return found


@pytest.mark.parametrize("name", ["sgd", "adam", "sgd_fp16"])
def test_training_goes_on_from_mxnets_states(name: str) -> None:
    updater = golden(name)
    indices = sorted(updater.states)
    assert indices == sorted(EXPECTED[f"trainer_{name}.states"]["keys"])
    dtype = "float16" if name == "sgd_fp16" else "float32"
    values, steps = inputs(1, 4, [last(updater.states[i]).shape for i in indices])
    weights = [array(w, dtype=dtype) for w in values]
    for gradients in steps:
        updater(indices, [array(g, dtype=dtype) for g in gradients], weights)
    tolerance = {"rtol": 1e-3, "atol": 5e-4} if dtype == "float16" else {"rtol": 5e-6, "atol": 1e-6}
    with np.load(GOLDEN / "optimizer" / "resumed.npz") as wanted:
        for i, weight in zip(indices, weights, strict=True):
            np.testing.assert_allclose(weight.asnumpy(), wanted[f"{name}/{i}"], **tolerance)


def test_optimizer_comes_with_the_states() -> None:
    optimizer = golden("adam").optimizer
    assert type(optimizer) is Adam
    assert type(optimizer.lr_scheduler) is FactorScheduler
    assert (optimizer.num_update, optimizer.lr_scheduler.base_lr) == (5, 0.0025)
    assert optimizer._index_update_count is optimizer._all_index_update_counts[0]


@pytest.mark.parametrize("name", ["sgd", "adam", "sgd_fp16"])
def test_states_written_are_the_states_read(name: str) -> None:
    first = golden(name)
    second = get_updater(create("sgd"))
    second.set_states(first.get_states(dump_optimizer=True))
    settings = {**vars(first.optimizer), "lr_scheduler": None}
    assert {**vars(second.optimizer), "lr_scheduler": None} == settings
    for i, state in first.states.items():
        np.testing.assert_array_equal(last(second.states[i]).asnumpy(), last(state).asnumpy())


def test_states_without_optimizer_leave_the_optimizer() -> None:
    updater = golden("sgd")
    kept = SGD(momentum=0.5)
    other = get_updater(kept)
    other.set_states(updater.get_states())
    assert other.optimizer is kept
    assert set(other.states) == set(updater.states)
    assert not any(other.states_synced.values())


def test_states_move_to_the_weights_device() -> None:
    updater = get_updater(SGD(learning_rate=1.0, momentum=0.5))
    updater(0, array([1.0]), array([0.0]))
    other = get_updater(SGD(learning_rate=1.0, momentum=0.5))
    other.set_states(updater.get_states())
    weight = array([0.0], ctx=cpu(1))
    other(0, array([1.0], ctx=cpu(1)), weight)
    assert other.states[0].context == cpu(1)
    assert weight.asnumpy()[0] == -1.5


def test_empty_call_does_nothing() -> None:
    updater = get_updater(SGD())
    updater([], [], [])
    assert updater.states == {}


def test_weights_may_have_names() -> None:
    updater = get_updater(SGD(learning_rate=1.0, momentum=0.5))
    updater("w", array([1.0]), array([0.0]))
    other = get_updater(SGD())
    other.set_states(updater.get_states())
    assert other.states["w"].asnumpy()[0] == -1.0


def test_own_optimizer_and_scheduler_come_back() -> None:
    class Fixed(LRScheduler):
        def __call__(self, num_update: int) -> float:
            return self.base_lr

    class Own(Optimizer):
        def __init__(self, speed: int, **kwargs: Any) -> None:
            super().__init__(**kwargs)
            self.speed = speed

        def update(self, index: Any, weight: Any, grad: Any, state: Any) -> None:
            self._update_count(index)

    try:
        register(Own)
        first = get_updater(Own(3, lr_scheduler=Fixed(0.5)))
        first(0, array([1.0]), array([1.0]))
        second = get_updater(Own(7, lr_scheduler=Fixed(0.25)))
        second.set_states(first.get_states(dump_optimizer=True))
        assert (second.optimizer.speed, second.optimizer.num_update) == (3, 1)  # type: ignore[attr-defined]
        assert second.optimizer.learning_rate == 0.5
    finally:
        del Optimizer.opt_registry["own"]


@pytest.mark.parametrize(
    ("told", "error", "message"),
    [
        (ForeignObject("mxnet.optimizer.optimizer.Ouch", {}), NotSupportedError, "Ouch"),
        (ForeignObject("mxnet.optimizer.optimizer.SGD", {"update": 3}), FileFormatError, "update"),
        (
            ForeignObject("mxnet.optimizer.optimizer.SGD", {"_all_index_update_counts": {0: 7}}),
            FileFormatError,
            "counts of updates",
        ),
        (
            ForeignObject("mxnet.optimizer.optimizer.SGD", {"lr_scheduler": 3}),
            FileFormatError,
            "scheduler, got int",
        ),
        (
            ForeignObject(
                "mxnet.optimizer.optimizer.SGD",
                {"lr_scheduler": ForeignObject("mxnet.lr_scheduler.Ouch", {})},
            ),
            NotSupportedError,
            "scheduler Ouch",
        ),
    ],
)
def test_strange_optimizer_is_refused_and_nothing_changes(
    told: ForeignObject, error: type[Exception], message: str
) -> None:
    optimizer = Adam()
    updater = get_updater(optimizer)
    with pytest.raises(error, match=message):
        updater.set_states(dump_states({0: None}, told))
    assert updater.optimizer is optimizer
    assert updater.states == {}


def test_sparse_state_comes_back_sparse() -> None:
    record = SparseRecord(
        "row_sparse", (3, 2), np.ones((1, 2), np.float32), (np.zeros(1, np.int64),)
    )
    updater = get_updater(SGD())
    updater.set_states(dump_states({0: ArrayState(record)}))
    state = updater.states[0]
    assert state.stype == "row_sparse"
    assert state.asnumpy().tolist() == [[1, 1], [0, 0], [0, 0]]
    again = get_updater(SGD())
    again.set_states(updater.get_states())
    assert again.states[0].stype == "row_sparse"
